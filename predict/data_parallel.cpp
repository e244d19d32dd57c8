// SPDX-License-Identifier: MIT
#include "predict/data_parallel.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

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

BestCount best_count(const std::function<double(std::int64_t)>& seconds, std::int64_t first, std::int64_t last) {
    std::vector<BestCount> tried;
    for (std::int64_t count = first; count < last; count += std::max<std::int64_t>(1, count / 50))
        tried.push_back({count, seconds(count)});
    tried.push_back({last, seconds(last)});
    const auto fewer_seconds = [](const BestCount& a, const BestCount& b) { return a.seconds < b.seconds; };
    const auto coarse = std::min_element(tried.begin(), tried.end(), fewer_seconds);
    std::vector<BestCount> near;
    const std::int64_t from = coarse == tried.begin() ? first : (coarse - 1)->count;
    const std::int64_t to = coarse + 1 == tried.end() ? last : (coarse + 1)->count;
    for (std::int64_t count = from; count <= to; ++count) near.push_back({count, seconds(count)});
    return *std::min_element(near.begin(), near.end(), fewer_seconds);
}

}  // namespace predict
