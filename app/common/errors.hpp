// SPDX-License-Identifier: MIT
// Errors outside the physics, with their exit codes. If all ranks agree on an error (comm/agreed.hpp), each rank ends
// by itself, and rank 0 prints the reason. An error of one rank alone ends the whole job at once.
#pragma once
#include <fmt/format.h>

#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "app/common/run_error.hpp"
#include "comm/agreed.hpp"
#include "comm/communicator.hpp"

namespace app {

/// A RunError by a text, or by a format and its values.
template <int exit_code>
struct ErrorOf : RunError {
    explicit ErrorOf(const std::string& what) : RunError(exit_code, what) {}
    template <class Value, class... More>
    ErrorOf(fmt::format_string<Value, More...> what, Value&& value, More&&... more)
        : ErrorOf(fmt::format(what, std::forward<Value>(value), std::forward<More>(more)...)) {}
};

/// A command that can't be carried out as it was given.
struct UsageError : ErrorOf<2> {
    using ErrorOf::ErrorOf;
};

/// A checkpoint or another input file cannot be used.
struct InputError : ErrorOf<3> {
    using ErrorOf::ErrorOf;
};

/// The output directory or a file in it cannot be written.
struct OutputError : ErrorOf<5> {
    using ErrorOf::ErrorOf;
};

/// Throws comm::Agreed<Error> of the format and its values unless all ranks are `good`. Collective.
template <class Error, class... Values>
void refuse_unless(const comm::Communicator& comm, bool good, fmt::format_string<Values...> what, Values&&... values) {
    comm::require(comm, good, [&] { return Error(fmt::format(what, std::forward<Values>(values)...)); });
}

/// The exit code and the line for an error of this program, its libraries or the standard library.
comm::Failure failure_of(const std::exception& error);

/// Ends the program for the error that it is handling. If all ranks throw it, rank 0 prints the reason and each rank
/// returns the exit code. An error of this rank alone ends the job (comm::fatal).
int ended_by(const std::exception& error, const comm::Communicator& world, const char* program = "steelyard");

/// Ends the job (comm::fatal) for the exception that is being handled, which is this rank's own.
[[noreturn]] void end_job_for_this_exception();

/// Throws nothing for code 0, else a comm::Agreed<> of UsageError, InputError, OutputError or RunError, by the code of
/// the first rank that failed. A text that is not rank 0's says whose it is. Collective.
void throw_first(const comm::Communicator& comm, const comm::Failure& mine);

/// Runs body() on every rank and returns its result. body() calls nothing collective on `comm`. If it throws on one
/// rank, all ranks throw that error (throw_first). Collective.
template <class Body>
auto agreed(const comm::Communicator& comm, Body body) {
    using Result = decltype(body());
    constexpr bool returns = !std::is_void_v<Result>;
    std::conditional_t<returns, std::optional<Result>, int> result{};
    comm::Failure mine;
    try {
        if constexpr (returns) result.emplace(body());
        else body();
    } catch (const std::exception& e) {
        mine = failure_of(e);
    }
    throw_first(comm, mine);
    if constexpr (returns) return std::move(*result);
}

/// Like the function above, with a body that runs on rank 0 alone. Collective.
template <class Body>
void on_rank_0(const comm::Communicator& comm, Body body) {
    agreed(comm, [&] {
        if (comm.rank() == 0) body();
    });
}

}  // namespace app
