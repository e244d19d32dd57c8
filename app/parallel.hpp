// SPDX-License-Identifier: MIT
// A loop over tiles on all threads.
#pragma once
#include <cstddef>
#include <exception>

namespace app {

/// Runs body(i) for i in [0, n) on all threads, then, if there was any, done() on each; an exception of any of them is thrown again here (it may not
/// leave the region).
template <class Body, class Done>
void parallel_for(std::size_t n, Body body, Done done) {
    if (n == 0) return;
    std::exception_ptr error;
#pragma omp parallel
    {
#pragma omp for schedule(dynamic, 1) nowait
        for (std::size_t i = 0; i < n; ++i) {
            try {
                body(i);
            } catch (...) {
#pragma omp critical(steelyard_error)
                error = std::current_exception();
            }
        }
        done();
    }
    if (error) std::rethrow_exception(error);
}
template <class Body>
void parallel_for(std::size_t n, Body body) {
    parallel_for(n, body, [] {});
}

}  // namespace app
