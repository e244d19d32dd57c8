// SPDX-License-Identifier: MIT
#include "comm/agreed.hpp"

#include <cstring>
#include <limits>
#include <vector>

namespace comm {

bool thrown_by_all(const std::exception& error, const Communicator& comm) {
    const auto* all = dynamic_cast<const ThrownByAll*>(&error);
    return all && all->ranks() == comm.size();
}

Failure first_failure(const Communicator& comm, const Failure& mine) {
    constexpr std::int64_t codes = 256, none = std::numeric_limits<std::int64_t>::max();
    const std::int64_t first = comm.min_of(mine.code == 0 ? none : comm.rank() * codes + mine.code);
    if (first == none) return {};
    Failure failure{static_cast<int>(first % codes), {}, static_cast<int>(first / codes)};
    // The text comes from one rank, which need not be rank 0: a sum to which the others add zeros.
    const bool here = failure.rank == comm.rank();
    const std::int64_t size = comm.max_of(here ? std::ssize(mine.text) : 0);
    std::vector<std::int64_t> words((size + sizeof(std::int64_t) - 1) / sizeof(std::int64_t), 0);
    if (here) std::memcpy(words.data(), mine.text.data(), mine.text.size());
    comm.sum(words);
    failure.text.resize(size);
    std::memcpy(failure.text.data(), words.data(), size);
    return failure;
}

}  // namespace comm
