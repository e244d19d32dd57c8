// SPDX-License-Identifier: MIT
#include "app/output/prediction.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "app/common/errors.hpp"
#include "app/output/json_text.hpp"
#include "comm/file/posix_file.hpp"

namespace app {

Prediction read_prediction(const std::string& path, std::int64_t ranks, std::int64_t particles,
                           const comm::Communicator& comm) {
    std::string text;
    if (comm.rank() == 0) text = comm::read_text(path);
    comm.broadcast(text);
    try {
        return {path, prediction_in(text, ranks, particles)};
    } catch (const std::invalid_argument& e) {
        throw InputError(fmt::format("{}: {}", path, e.what()));
    }
}

}  // namespace app
