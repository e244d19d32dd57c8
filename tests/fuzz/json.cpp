// SPDX-License-Identifier: MIT
// JSON that the program reads back: predict.json, run.json, summary.json.
#include <stdexcept>
#include <string>

#include "app/output/directory/run_json.hpp"
#include "app/output/summary/prediction.hpp"
#include "fuzz.hpp"

void fuzz::read(std::string_view input) {
    const std::string text(input);
    try {
        const app::Prediction prediction = app::prediction_in(text, 2, 100);
        require(prediction.seconds.step > 0, "a prediction has seconds");
    } catch (const std::invalid_argument&) {
    }
    app::ends_with(text, 100, 1);
    app::Trajectory trajectory;
    const app::Lineage lineage = app::lineage_in(text, trajectory);
    if (lineage.empty()) return;
    app::Trajectory again;
    const bool same = app::lineage_in(app::text_of(lineage, trajectory), again) == lineage &&
                      again.dt == trajectory.dt && again.precision == trajectory.precision &&
                      again.settings == trajectory.settings && again.steps == trajectory.steps &&
                      again.processes == trajectory.processes;
    require(same, "run.json is read back as it was written");
}
