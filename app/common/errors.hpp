// SPDX-License-Identifier: MIT
// What can go wrong outside the physics, with its exit code. Everything here is thrown on all ranks alike, so that they
// can leave together and rank 0 says why. What one rank alone meets (no memory, a lost particle) is any other
// exception: main ends the whole job for it.
#pragma once
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "comm/communicator.hpp"

namespace app {

/// An error that ends the run with exit code `code`. what(): `WHERE: WHAT; REMEDY`, one line.
struct RunError : std::runtime_error {
    RunError(int exit_code, const std::string& what) : std::runtime_error(what), code(exit_code) {}
    int code;
};

/// A command that can't be carried out as it was given (exit code 2).
struct UsageError : RunError {
    explicit UsageError(const std::string& what) : RunError(2, what) {}
};

/// A checkpoint or another input file cannot be used (exit code 3).
struct InputError : RunError {
    explicit InputError(const std::string& what) : RunError(3, what) {}
};

/// The output directory or a file in it cannot be written (exit code 5).
struct OutputError : RunError {
    explicit OutputError(const std::string& what) : RunError(5, what) {}
};

/// Runs body() on rank 0; an error of these types that it throws there is thrown on all ranks. Collective.
template <class Body>
void on_rank_0(const comm::Communicator& comm, Body body) {
    std::int64_t code = 0;
    std::string error;
    if (comm.rank() == 0) {
        try {
            body();
        } catch (const RunError& e) {
            code = e.code;
            error = e.what();
        }
    }
    comm.broadcast(std::span(&code, 1));
    if (code == 0) return;
    comm.broadcast(error);
    if (code == 2) throw UsageError(error);
    if (code == 3) throw InputError(error);
    throw OutputError(error);
}

}  // namespace app
