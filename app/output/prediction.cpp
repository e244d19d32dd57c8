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
    std::string text;
    on_rank_0(comm, [&] {
        try {
            text = deck_bytes(path, "prediction");
        } catch (const DeckError& e) {
            throw InputError(e.what());
        }
    });
    comm.broadcast(text);
    try {
        return {path, prediction_in(text, ranks, particles)};
    } catch (const std::invalid_argument& e) {
        throw InputError(fmt::format("{}: {}", printable(path), e.what()));
    }
}

}  // namespace app
