// SPDX-License-Identifier: MIT
#include "predict/data_parallel.hpp"

#include <algorithm>
#include <cmath>

namespace predict {

Subdomain square(double D, double P, double e) {
    const double n = D / P, inside = std::max(0.0, n - 2 * e);
    return {n * n, inside * inside, 8 * e * n, e * n, 8};
}

Subdomain strip(double columns, double height, std::int64_t parts, double overlap) {
    const auto p = static_cast<double>(parts);
    const double width = std::ceil((columns + overlap * (p - 1)) / p);
    const double neighbours = std::min(2.0, p - 1);
    return {width * height, std::max(0.0, width - neighbours * overlap) * height, 2 * neighbours * overlap * height,
            neighbours > 0 ? overlap * height : 0, 2 * neighbours};
}

double sequential_seconds(double points, const PointTimes& times, const Iterations& iterations) {
    return iterations.serial * points * times.calculate;
}

double parallel_seconds(const Subdomain& part, const PointTimes& times, const Iterations& iterations,
                        Overlapped overlapped) {
    const double start = part.messages * times.start, all = iterations.inner * part.points * times.calculate;
    const double inner = iterations.inner * part.inner * times.calculate, link = part.one_link * times.transfer;
    double iteration = 0;
    switch (overlapped) {
        case Overlapped::nothing: iteration = part.transferred * times.transfer + start + all; break;
        case Overlapped::links: iteration = link + start + all; break;
        case Overlapped::compute: iteration = start + std::max(link, inner) + (all - inner); break;
        case Overlapped::hardware: iteration = all; break;
    }
    return iterations.parallel * iteration;
}

namespace {

// The best of some counts, and those that were tried before and after it.
struct Found {
    BestCount best;
    std::int64_t before = 0, after = 0;
};

// Tries `first`, then counts that are step(count) further on, then `last`.
template <class Step>
Found best_of(const std::function<double(std::int64_t)>& seconds, std::int64_t first, std::int64_t last, Step step) {
    Found found{{first, seconds(first)}, first, first};
    for (std::int64_t count = first; count < last;) {
        const std::int64_t before = count;
        count += std::min(last - count, step(count));
        if (found.best.count == before) found.after = count;
        if (const double s = seconds(count); s < found.best.seconds) found = {{count, s}, before, count};
    }
    return found;
}

}  // namespace

BestCount best_count(const std::function<double(std::int64_t)>& seconds, std::int64_t first, std::int64_t last) {
    constexpr std::int64_t most = 100'000, pieces = 1000;  // up to 4e7 counts lie between two that are 2 % apart
    Found found =
        best_of(seconds, first, last, [](std::int64_t count) { return std::max<std::int64_t>(1, count / 50); });
    while (found.after - found.before > most)
        found = best_of(seconds, found.before, found.after,
                        [step = (found.after - found.before) / pieces](std::int64_t) { return step; });
    return best_of(seconds, found.before, found.after, [](std::int64_t) { return std::int64_t{1}; }).best;
}

}  // namespace predict
