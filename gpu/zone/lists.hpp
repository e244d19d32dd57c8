// SPDX-License-Identifier: MIT
// The neighbour lists of a zone: a row for each particle, the rows of a group side by side.
#pragma once
#include <cstdint>

#include "gpu/kernels/all.hpp"
#include "gpu/launch.hpp"
#include "gpu/zone/scan.hpp"

namespace gpu {

template <int D, class On>
class ZoneLists {
public:
    explicit ZoneLists(On& on) : on_(on) {}

    /// Lists what `search` finds for each of `particles` particles.
    void build(const NeighbourSearch<D>& search, std::int64_t particles) {
        const std::int64_t groups = (particles + group - 1) / group;
        length_.resize(particles);
        base_.resize(static_cast<std::size_t>(groups) + 1);
        on_.clear(base_.data() + groups, sizeof(std::int64_t));
        launch(on_, particles, CountRows<D>{search, length_.data()});
        launch(on_, groups, MeasureGroups{length_.data(), particles, base_.data()});
        scan_(base_.data(), groups + 1);
        std::int64_t fours = 0;
        on_.to_host(&fours, base_.data() + groups, sizeof fours);
        on_.wait();
        fours_.resize(static_cast<std::size_t>(fours) + group);  // empty rows begin somewhere too
        launch(on_, particles, FillRows<D>{search, rows()});
        on_.wait();
    }
    Rows rows() const { return {base_.data(), length_.data(), fours_.data()}; }

private:
    On& on_;
    Array<On, std::int64_t> base_{on_};  // as in Rows, as the others
    Array<On, std::int32_t> length_{on_};
    Array<On, Four> fours_{on_};
    Scan<On, std::int64_t> scan_{on_};
};

}  // namespace gpu
