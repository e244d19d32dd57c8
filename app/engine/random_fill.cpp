// SPDX-License-Identifier: MIT
// All ranks together find the end of the trials. They double the epochs until the body is full. Then a bisection over
// the marks of the last epoch finds the moment of the body's last particle. Ids follow the blocks, so they do not
// depend on the number of ranks.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "app/common/run_error.hpp"
#include "app/engine/migration.hpp"
#include "app/engine/thread_schedule.hpp"
#include "comm/agreed.hpp"
#include "md/initial.hpp"
#include "md/random_filling.hpp"

namespace app {
namespace {

using Blocks = std::vector<std::vector<md::Placed>>;  // of this rank

// Moment of particle number `wanted` of all ranks; nothing where there are fewer.
std::optional<md::TrialMoment> moment_of(std::int64_t wanted, const Blocks& blocks, int epochs,
                                         const comm::Communicator& comm) {
    std::vector<std::int64_t> counts(epochs, 0);
    for (const auto& block : blocks)
        for (const md::Placed& p : block) ++counts[p.when.epoch];
    comm.sum(counts);
    int last = 0;
    while (last < epochs && counts[last] < wanted) wanted -= counts[last++];
    if (last == epochs) return std::nullopt;
    std::vector<std::uint64_t> marks;  // of mine in the last epoch
    for (const auto& block : blocks)
        for (const md::Placed& p : block)
            if (p.when.epoch == last) marks.push_back(p.when.mark);
    std::ranges::sort(marks);
    std::uint64_t mark = 0;
    for (int bit = 63; bit >= 0; --bit) {  // the largest mark before which fewer than `wanted` lie
        const std::uint64_t next = mark | std::uint64_t{1} << bit;
        const std::int64_t before = std::ranges::lower_bound(marks, next) - marks.begin();
        if (comm.sum_of(before) < wanted) mark = next;
    }
    return md::TrialMoment{last, mark};
}

// This rank's blocks, with the particles that the body gets of them.
Blocks full(md::RandomFilling& filling, std::int64_t wanted, const std::string& name, const comm::Communicator& comm) {
    const balance::IndexRange mine = balance::block(filling.blocks(), comm.rank(), comm.size());
    Blocks blocks(mine.end - mine.begin);
    for (int epochs = 2;; epochs = std::min(2 * epochs, filling.most_epochs())) {
        parallel_for(blocks.size(), [&](std::size_t b) { blocks[b] = filling.placed(mine.begin + b, epochs); });
        if (const std::optional<md::TrialMoment> last = moment_of(wanted, blocks, epochs, comm)) {
            filling.set_last(*last);
            for (auto& block : blocks) std::erase_if(block, [&](const md::Placed& p) { return p.when > *last; });
            return blocks;
        }
        std::int64_t found = 0;
        for (const auto& block : blocks) found += static_cast<std::int64_t>(block.size());
        found = comm.sum_of(found);
        comm::require(comm, epochs < filling.most_epochs(), [&] {
            return RunError(2,
                            name + ": " + std::to_string(found) + " of " + std::to_string(wanted) +
                                " particles have found a place at this spacing; use a smaller one, or fewer particles");
        });
    }
}

}  // namespace

template <int D>
void fill_at_random(const md::System& system, std::span<const md::Body> bodies, std::span<const std::int64_t> first_id,
                    const md::Domain& domain, const comm::Communicator& comm,
                    const std::function<void(const std::vector<md::Particle<D>>&)>& take) {
    std::vector<std::unique_ptr<md::Filling>> fillings;
    std::vector<const md::Filling*> others;  // known before the next body is filled
    for (const md::Body& body : bodies)
        if (body.fill == md::Fill::lattice) {
            fillings.push_back(std::make_unique<md::LatticeFilling>(domain, body));
            others.push_back(fillings.back().get());
        }
    std::vector<md::Body> solid;
    for (const md::Body& body : bodies)
        if (body.fill == md::Fill::file) solid.push_back(body);
    others.reserve(bodies.size());  // fillings look at a part of it
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        if (bodies[i].fill != md::Fill::random) continue;
        auto filling = std::make_unique<md::RandomFilling>(domain, bodies[i], i, system.seed, std::span(others), solid);
        const std::string name = md::body_path(system, i) + ".spacing";
        const std::int64_t n = first_id[i + 1] - first_id[i];
        const Blocks blocks = full(*filling, n, name, comm);
        std::int64_t size = 0;
        for (const auto& block : blocks) size += static_cast<std::int64_t>(block.size());
        std::int64_t id = first_id[i] + comm.exclusive_sum(size);
        std::vector<md::Particle<D>> particles;
        particles.reserve(size);
        for (const auto& block : blocks)
            for (const md::Placed& p : block)
                particles.push_back(md::make_particle<D>(bodies[i], system.seed, id++, p.at));
        std::array<md::Int128, D> sum = md::velocity_sum<D>(particles);
        comm.sum(sum);
        const std::array<std::int64_t, D> change = md::to_drift<D>(bodies[i], sum, n);
        for (md::Particle<D>& p : particles)
            for (int a = 0; a < D; ++a) p.v[a] += change[a];
        take(particles);
        others.push_back(filling.get());
        fillings.push_back(std::move(filling));
    }
}
template void fill_at_random<2>(const md::System&, std::span<const md::Body>, std::span<const std::int64_t>,
                                const md::Domain&, const comm::Communicator&,
                                const std::function<void(const std::vector<md::Particle<2>>&)>&);
template void fill_at_random<3>(const md::System&, std::span<const md::Body>, std::span<const std::int64_t>,
                                const md::Domain&, const comm::Communicator&,
                                const std::function<void(const std::vector<md::Particle<3>>&)>&);

}  // namespace app
