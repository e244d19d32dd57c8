// SPDX-License-Identifier: MIT
// A loop over ranks, or over machines, on all threads.
#pragma once
#include <cstdint>
#include <exception>

namespace predict {

/// Calls body(i) for each i below n, on all threads of OpenMP, in any order. Throws what a call throws; where several
/// do, one of these errors.
template <class Body>
void on_threads(std::int64_t n, Body body) {
    std::exception_ptr failed;
#pragma omp parallel for schedule(dynamic, 1)
    for (std::int64_t i = 0; i < n; ++i) {
        try {
            body(i);
        } catch (...) {
#pragma omp critical(steelyard_predict_failed)
            failed = std::current_exception();
        }
    }
    if (failed) std::rethrow_exception(failed);
}

}  // namespace predict
