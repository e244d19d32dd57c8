// SPDX-License-Identifier: MIT
// An exclusive scan of numbers on an accelerator, level by level (kernels/scan.hpp).
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/kernels/all.hpp"
#include "gpu/launch.hpp"

namespace gpu {

template <class On, class T>
class Scan {
public:
    explicit Scan(On& on) : on_(on) {}

    /// Each of n numbers becomes the sum of those before it.
    void operator()(T* values, std::int64_t n, std::size_t level = 0) {
        const std::int64_t runs = (n + scanned - 1) / scanned;
        if (runs <= 1) return launch(on_, runs, ScanRuns<T>{values, n, nullptr});
        if (sums_.size() == level) sums_.push_back(std::make_unique<Array<On, T>>(on_));
        Array<On, T>& sums = *sums_[level];
        sums.resize(runs);
        launch(on_, runs, SumRuns<T>{values, n, sums.data()});
        (*this)(sums.data(), runs, level + 1);
        launch(on_, runs, ScanRuns<T>{values, n, sums.data()});
    }

private:
    On& on_;
    std::vector<std::unique_ptr<Array<On, T>>> sums_;  // by level
};

}  // namespace gpu
