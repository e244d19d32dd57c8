// SPDX-License-Identifier: MIT
// The particles of a zone: arrivals, departures, and the order in memory.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/kernels/all.hpp"
#include "gpu/launch.hpp"

namespace gpu {

template <int D, class On>
class ZoneParticles {
public:
    explicit ZoneParticles(On& on) : on_(on) {
        for (int k = 0; k < 2 * D + 1; ++k) arrays_.emplace_back(on);
        count_.resize(2);
    }

    std::int64_t size() const { return size_; }
    Particles<D> views() const {
        Particles<D> all{arrays_[0].data(), {}, {}};
        for (int a = 0; a < D; ++a) all.x[a] = arrays_[1 + a].data(), all.v[a] = arrays_[1 + D + a].data();
        return all;
    }
    /// Room for one number a particle, for whoever works on them until the next call of a function here.
    Array<On, std::int32_t>& numbers() {
        numbers_.resize(size_);
        return numbers_;
    }

    void insert(std::span<const md::Particle<D>> particles) {
        for (auto& a : arrays_) a.grow(static_cast<std::size_t>(size_) + particles.size());
        for (; !particles.empty(); particles = particles.subspan(records_.size())) {
            records_.resize(std::min(particles.size(), most_records));
            on_.to_device(records_.data(), particles.data(), records_.size() * sizeof(md::Particle<D>));
            launch(on_, records_.size(), Append<D>{records_.data(), views(), size_});
            on_.wait();
            size_ += std::ssize(records_);
        }
    }
    /// Takes out every particle that lies outside the blocks.
    std::vector<md::Particle<D>> take_outside(const Blocks<D>& blocks) {
        if (size_ == 0) return {};
        on_.clear(count_.data(), 2 * sizeof(std::int32_t));
        launch(on_, size_, FindOutside<D>{views(), blocks, numbers().data(), count_.data()});
        const std::int64_t outside = download(on_, count_)[0];
        if (outside == 0) return {};
        std::vector<md::Particle<D>> taken(static_cast<std::size_t>(outside));
        for (std::size_t first = 0; first < taken.size(); first += records_.size()) {
            records_.resize(std::min(taken.size() - first, most_records));
            launch(on_, records_.size(), TakeListed<D>{views(), numbers_.data() + first, records_.data()});
            on_.to_host(&taken[first], records_.data(), records_.size() * sizeof(md::Particle<D>));
            on_.wait();
        }
        close_gaps(blocks, outside);
        return taken;
    }
    /// order[i]: the particle that becomes number i.
    void reorder(const std::int32_t* order) {
        const auto n = static_cast<std::size_t>(size_);
        spare_.resize(n);
        for (auto& a : arrays_) {
            launch(on_, size_, Reorder{a.data(), order, spare_.data()});
            a.swap(spare_);
            spare_.resize(n);
        }
    }
    std::vector<md::Particle<D>> read() const {
        const auto n = static_cast<std::size_t>(size_);
        std::vector<md::Particle<D>> all(n);
        std::vector<std::int64_t> values(n);
        for (std::size_t k = 0; k < arrays_.size(); ++k) {
            on_.to_host(values.data(), arrays_[k].data(), n * sizeof(std::int64_t));
            on_.wait();
            const std::size_t axis = (k - 1) % D;
            for (std::size_t i = 0; i < n; ++i)
                (k == 0 ? all[i].id : k <= D ? all[i].x[axis] : all[i].v[axis]) = values[i];
        }
        return all;
    }

private:
    static constexpr std::size_t most_records = 1 << 20;  // particles that are copied at a time

    // The particles that stay become the first ones.
    void close_gaps(const Blocks<D>& blocks, std::int64_t outside) {
        const std::int64_t kept = size_ - outside;
        gaps_.resize(2 * outside);
        std::int32_t *movers = gaps_.data(), *holes = gaps_.data() + outside;
        on_.clear(count_.data(), 2 * sizeof(std::int32_t));
        launch(on_, outside, FindMovers<D>{views(), blocks, kept, movers, count_.data()});
        launch(on_, outside, FindHoles{numbers_.data(), kept, holes, count_.data() + 1});
        launch(on_, outside, FillHoles<D>{views(), movers, holes, count_.data()});
        on_.wait();
        size_ = kept;
        for (auto& a : arrays_) a.grow(kept);
    }

    On& on_;
    std::int64_t size_ = 0;
    // Ids, coordinates by axis, velocities by axis.
    std::vector<Array<On, std::int64_t>> arrays_;
    Array<On, std::int64_t> spare_{on_};
    Array<On, std::int32_t> numbers_{on_}, gaps_{on_}, count_{on_};
    Array<On, md::Particle<D>> records_{on_};
};

}  // namespace gpu
