// SPDX-License-Identifier: MIT
#include "app/output/prediction.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "app/common/errors.hpp"
#include "app/deck/deck.hpp"
#include "app/deck/wording.hpp"
#include "app/output/json_text.hpp"

namespace app {

Prediction read_prediction(const std::string& path, std::int64_t ranks, std::int64_t particles,
                           const comm::Communicator& comm) {
    const std::string text = input_bytes(path, "prediction", comm);
    return agreed(comm, [&] {
        try {
            Prediction prediction = prediction_in(text, ranks, particles);
            prediction.file = path;
            return prediction;
        } catch (const std::invalid_argument& e) {
            throw InputError(fmt::format("{}: {}", printable(path), e.what()));
        }
    });
}

}  // namespace app
