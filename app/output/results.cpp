// SPDX-License-Identifier: MIT
#include "app/output/results.hpp"

#include "app/output/formats/balance_formats.hpp"
#include "app/output/series/series.hpp"

namespace app {

const ResultKinds& result_kinds() {
    static const ResultKinds all = [] {
        ResultKinds kinds{{"balance.csv", true},
                          {"resources.csv", true},
                          {"zones.csv", true},
                          {"lbaf", true, true, last_lbaf_step},
                          {"metis", true, true, last_metis_step}};
        for (const char* name :
             {"deck.yaml", "run.json", "summary.json", "summary_before.json", "thermo.csv", "timing.csv", "map.csv",
              "ranks.csv", "partition.json", "predict.json", "machine.yaml", "extrap.jsonl"})
            kinds.push_back({name});
        for (const SeriesKind& series : series_kinds())
            for (const std::string_view file : series.files) {
                ResultKind kind{.name = file, .follows_processes = file.find('*') != std::string_view::npos};
                if (series.frame_steps)
                    kind.last_step = [steps_in = series.frame_steps](const std::string& path) {
                        const std::vector<std::int64_t> steps = steps_in(path);
                        return steps.empty() ? -1 : steps.back();
                    };
                kinds.push_back(std::move(kind));
            }
        return kinds;
    }();
    return all;
}

}  // namespace app
