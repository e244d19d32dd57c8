// SPDX-License-Identifier: MIT
// The particles of a zone: those that come, those that leave, and the order in which they lie.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "gpu/kernels/all.hpp"
#include "gpu/launch.hpp"

namespace gpu {

template <class On>
class ZoneParticles {
public:
    explicit ZoneParticles(On& on) : on_(on) { count_.resize(2); }

    std::int64_t size() const { return size_; }
    Particles views() const { return {id_.data(), x_.data(), y_.data(), vx_.data(), vy_.data()}; }
    /// Room for one number a particle, for whoever works on them until the next call of a function here.
    Array<On, std::int32_t>& numbers() {
        numbers_.resize(static_cast<std::size_t>(size_));
        return numbers_;
    }

    void insert(std::span<const md::Particle> particles);
    /// Takes out every particle that lies outside the block.
    std::vector<md::Particle> take_outside(const Extent& block);
    /// order[i]: the particle that becomes number i.
    void reorder(const std::int32_t* order);
    std::vector<md::Particle> read() const;

private:
    static constexpr std::size_t most_records = 1 << 20;  // particles that are copied at a time

    std::array<Array<On, std::int64_t>*, 5> arrays() { return {&id_, &x_, &y_, &vx_, &vy_}; }
    void close_gaps(const Extent& block, std::int64_t outside);

    On& on_;
    std::int64_t size_ = 0;
    Array<On, std::int64_t> id_{on_}, x_{on_}, y_{on_}, vx_{on_}, vy_{on_}, spare_{on_};
    Array<On, std::int32_t> numbers_{on_}, gaps_{on_}, count_{on_};
    Array<On, md::Particle> records_{on_};
};

template <class On>
void ZoneParticles<On>::insert(std::span<const md::Particle> particles) {
    for (Array<On, std::int64_t>* a : arrays()) a->grow(static_cast<std::size_t>(size_) + particles.size());
    for (; !particles.empty(); particles = particles.subspan(records_.size())) {
        records_.resize(std::min(particles.size(), most_records));
        on_.to_device(records_.data(), particles.data(), records_.size() * sizeof(md::Particle));
        launch(on_, static_cast<std::int64_t>(records_.size()), Append{records_.data(), views(), size_});
        on_.wait();
        size_ += static_cast<std::int64_t>(records_.size());
    }
}

template <class On>
std::vector<md::Particle> ZoneParticles<On>::take_outside(const Extent& block) {
    if (size_ == 0) return {};
    on_.clear(count_.data(), 2 * sizeof(std::int32_t));
    launch(on_, size_, FindOutside{views(), block, numbers().data(), count_.data()});
    const std::int64_t outside = download(on_, count_)[0];
    if (outside == 0) return {};
    std::vector<md::Particle> taken(static_cast<std::size_t>(outside));
    for (std::size_t first = 0; first < taken.size(); first += records_.size()) {
        records_.resize(std::min(taken.size() - first, most_records));
        launch(on_, static_cast<std::int64_t>(records_.size()),
               TakeListed{views(), numbers_.data() + first, records_.data()});
        on_.to_host(&taken[first], records_.data(), records_.size() * sizeof(md::Particle));
        on_.wait();
    }
    close_gaps(block, outside);
    return taken;
}

// The particles that stay become the first ones.
template <class On>
void ZoneParticles<On>::close_gaps(const Extent& block, std::int64_t outside) {
    const std::int64_t kept = size_ - outside;
    gaps_.resize(static_cast<std::size_t>(2 * outside));
    std::int32_t *movers = gaps_.data(), *holes = gaps_.data() + outside;
    on_.clear(count_.data(), 2 * sizeof(std::int32_t));
    launch(on_, outside, FindMovers{views(), block, kept, movers, count_.data()});
    launch(on_, outside, FindHoles{numbers_.data(), kept, holes, count_.data() + 1});
    launch(on_, outside, FillHoles{views(), movers, holes, count_.data()});
    on_.wait();
    size_ = kept;
    for (Array<On, std::int64_t>* a : arrays()) a->grow(static_cast<std::size_t>(kept));
}

template <class On>
void ZoneParticles<On>::reorder(const std::int32_t* order) {
    const auto n = static_cast<std::size_t>(size_);
    spare_.resize(n);
    for (Array<On, std::int64_t>* a : arrays()) {
        launch(on_, size_, Reorder{a->data(), order, spare_.data()});
        a->swap(spare_);
        spare_.resize(n);
    }
}

template <class On>
std::vector<md::Particle> ZoneParticles<On>::read() const {
    const auto n = static_cast<std::size_t>(size_);
    std::vector<md::Particle> all(n);
    std::vector<std::int64_t> values(n);
    const auto take = [&](const Array<On, std::int64_t>& from, std::int64_t md::Particle::*member) {
        on_.to_host(values.data(), from.data(), n * sizeof(std::int64_t));
        on_.wait();
        for (std::size_t i = 0; i < n; ++i) all[i].*member = values[i];
    };
    take(id_, &md::Particle::id);
    take(x_, &md::Particle::x);
    take(y_, &md::Particle::y);
    take(vx_, &md::Particle::vx);
    take(vy_, &md::Particle::vy);
    return all;
}

}  // namespace gpu
