// SPDX-License-Identifier: MIT
#include "app/output/summary/prediction.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "app/common/errors.hpp"
#include "app/common/json.hpp"
#include "app/common/words.hpp"
#include "app/deck/deck.hpp"
#include "app/deck/wording.hpp"

namespace app {

Prediction prediction_in(const std::string& text, std::int64_t ranks, std::int64_t particles) {
    try {
        const Json j = Json::parse(text);
        if (j.at("particles").get<double>() != static_cast<double>(particles))
            throw std::invalid_argument(
                fmt::format("it is of {} particles, and the run has {}; give the prediction of this deck",
                            j.at("particles").dump(), particles));
        for (const Json& f : j.at("forecasts")) {
            if (f.at("ranks") != ranks) continue;
            const auto seconds = [&](const Json& value) {
                const auto s = value.get<double>();
                constexpr double longest = 1e9;
                if (!(s >= 0 && s <= longest))
                    throw std::invalid_argument(
                        fmt::format("{} seconds for {}; make it anew", value.dump(), counted(ranks, "rank")));
                return s;
            };
            const Json& s = f.at("seconds");
            Prediction p{.file = {}, .threads = static_cast<int>(j.contains("threads") ? whole(j["threads"]) : 0)};
            p.seconds = {seconds(f.at("step_seconds")), seconds(s.at("compute")), seconds(s.at("imbalance")),
                         seconds(s.at("rebalancing")), seconds(s.at("communication"))};
            if (p.seconds.step == 0)
                throw std::invalid_argument(
                    fmt::format("0 seconds a step for {}; make it anew", counted(ranks, "rank")));
            return p;
        }
    } catch (const Json::exception&) {
        throw std::invalid_argument(
            "it is no predict.json of a deck; give the file that `steelyard predict` has written");
    }
    throw std::invalid_argument(
        fmt::format("it says nothing of {}; name them in `steelyard predict --processes`", counted(ranks, "rank")));
}

Prediction read_prediction(const std::string& path, std::int64_t ranks, std::int64_t particles,
                           const comm::Communicator& comm) {
    const std::string text = input_bytes(path, "prediction", comm);
    return agreed(comm, [&] {
        try {
            Prediction prediction = prediction_in(text, ranks, particles);
            prediction.file = path;
            return prediction;
        } catch (const std::invalid_argument& e) {
            throw InputError("{}: {}", printable(path), e.what());
        }
    });
}

}  // namespace app
