// SPDX-License-Identifier: MIT
#include "app/state/by_id.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

#include "balance/team.hpp"
#include "md/random.hpp"

namespace app {

namespace {

std::uint64_t place_of(std::int64_t id) { return md::mix(static_cast<std::uint64_t>(id)); }

}  // namespace

void ById::add(const SourcePiece& piece) {
    std::vector<std::vector<std::byte>> to_rank(comm_.size());
    if (comm_.rank() == 0)
        for (const md::Particle<3>& p : piece.rows) {
            using Wide = unsigned __int128;
            auto& out = to_rank[static_cast<std::size_t>(Wide{place_of(p.id)} * to_rank.size() >> 64)];
            const auto bytes = std::as_bytes(std::span(&p, 1));
            out.insert(out.end(), bytes.begin(), bytes.end());
        }
    const bool has_positions = comm_.from_rank_0(piece.positions) != 0;
    const auto in = balance::elements_in<md::Particle<3>>(comm_.all_to_all(to_rank));
    auto& list = has_positions ? particles_ : velocities_;
    list.insert(list.end(), in.begin(), in.end());
}

std::int64_t ById::fault() {
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
    std::int64_t least = none;
    const auto less = [](const md::Particle<3>& a, const md::Particle<3>& b) { return a.id < b.id; };
    for (auto* list : {&particles_, &velocities_}) {
        std::sort(list->begin(), list->end(), less);
        const auto twice =
            std::adjacent_find(list->begin(), list->end(), [](auto& a, auto& b) { return a.id == b.id; });
        if (twice != list->end()) least = std::min(least, twice->id);
    }
    const std::int64_t velocities = comm_.sum_of(std::ssize(velocities_));
    for (std::size_t i = 0; velocities > 0 && least == none; ++i) {
        const bool position = i < particles_.size(), velocity = i < velocities_.size();
        if (!position && !velocity) break;
        if (position && velocity && particles_[i].id == velocities_[i].id)
            std::copy_n(velocities_[i].v, 3, particles_[i].v);
        else least = std::min(position ? particles_[i].id : none, velocity ? velocities_[i].id : none);
    }
    velocities_ = {};
    least = comm_.min_of(least);
    return least == none ? -1 : least;
}

std::vector<md::Particle<3>> ById::take() {
    std::sort(particles_.begin(), particles_.end(),
              [](const md::Particle<3>& a, const md::Particle<3>& b) { return place_of(a.id) < place_of(b.id); });
    return std::move(particles_);
}

}  // namespace app
