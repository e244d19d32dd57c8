// SPDX-License-Identifier: MIT
#include "app/common/errors.hpp"

#include <new>

#include "app/common/words.hpp"
#include "comm/file/file.hpp"
#include "comm/session.hpp"
#include "gpu/zone.hpp"

namespace app {
namespace {

constexpr const char* no_memory = "memory: not enough; use more ranks, or fewer particles or cells";

}  // namespace

comm::Failure failure_of(const std::exception& error) {
    const std::string what = error.what();
    if (const auto* e = dynamic_cast<const RunError*>(&error)) return {e->code, what};
    if (dynamic_cast<const comm::ReadError*>(&error)) return {3, what};
    if (dynamic_cast<const comm::WriteError*>(&error)) return {5, what};
    if (const auto* e = dynamic_cast<const md::SimulationError*>(&error)) return {4, "run: " + what + "; " + e->remedy};
    if (const auto* e = dynamic_cast<const gpu::Error*>(&error)) return {4, "accelerator: " + what + "; " + e->remedy};
    if (dynamic_cast<const std::bad_alloc*>(&error)) return {4, no_memory};
    return {1, "internal: " + what + "; this is a bug"};
}

int ended_by(const std::exception& error, const comm::Communicator& world, const char* program) {
    // No other rank waits for a single rank, and MPI_Abort would print a message of its own.
    if (world.size() > 1 && !comm::thrown_by_all(error, world)) end_job_for_this_exception();
    const comm::Failure failure = failure_of(error);
    if (world.rank() == 0) say(stderr, "{}: error: {}\n", program, failure.text);
    return failure.code;
}

void end_job_for_this_exception() {
    try {
        throw;
    } catch (const std::bad_alloc&) {
        comm::fatal(4, no_memory);  // without a string, for which there may be no memory
    } catch (const std::exception& e) {
        const comm::Failure failure = failure_of(e);
        comm::fatal(failure.code, failure.text);
    } catch (...) {
        comm::fatal(1, "internal: an unknown exception; this is a bug");
    }
}

void throw_first(const comm::Communicator& comm, const comm::Failure& mine) {
    const comm::Failure first = comm::first_failure(comm, mine);
    if (first.code == 0) return;
    const std::string text = first.rank == 0 ? first.text : "rank " + std::to_string(first.rank) + ": " + first.text;
    if (first.code == 2) comm::require(comm, false, [&] { return UsageError(text); });
    if (first.code == 3) comm::require(comm, false, [&] { return InputError(text); });
    if (first.code == 5) comm::require(comm, false, [&] { return OutputError(text); });
    comm::require(comm, false, [&] { return RunError(first.code, text); });
}

}  // namespace app
