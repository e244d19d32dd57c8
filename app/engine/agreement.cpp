// SPDX-License-Identifier: MIT
// The lists are exact while no particle has moved further than the limit. So every rank must know of the first particle
// beyond it before it uses the lists again. A rank waits for the largest displacement of a pass only if it could be
// beyond the limit. That is so if the last known displacement plus `reach` times the longest step so far exceeds it. (A
// particle that starts to move from rest under a constant force makes its second step 3 times as long as its first one;
// later steps grow less.) If a particle of this rank still leaves the limit unforeseen, its rank sees that at once. It
// ends the job before anything was computed with outdated lists.
#include "app/engine/agreement.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "comm/agreed.hpp"

namespace app {
namespace {

constexpr double reach = 3;

const char* what_is_wrong(md::FaultKind kind) {
    switch (kind) {
        case md::FaultKind::velocity: return " has a velocity of 2048 or more along an axis";
        case md::FaultKind::speed: return " moves more than a cell in one step";
        default: return " feels a force out of the exact range";
    }
}

// In the first pass, where forces act at the first positions.
std::string remedy_at_the_start(md::FaultKind kind) {
    const char* other = kind == md::FaultKind::velocity ? "give it a smaller velocity, or "
                        : kind == md::FaultKind::speed  ? "use a smaller dt, or "
                                                        : "";
    return std::string(other) + "move it away from the particle or wall that it is too near to";
}

}  // namespace

void Agreement::lists_built(double limit) {
    limit_ = limit;
    displaced_ = false;
    farthest_ = 0;
    longest_before_ = std::exchange(longest_step_, 0.0);
}

void Agreement::add(const md::StepResult& mine, std::int64_t stop, bool moved, const Holdings& particles) {
    if (on_its_way_) take(1);
    mine_ = mine;
    moved_ = moved;
    particles_ = particles;
    // A float that is not negative has bits in the order of its values.
    on_its_way_.emplace(
        comm_, comm::Reduction::Values{std::bit_cast<std::int32_t>(mine.displacement2),
                                       mine.fault.kind != md::FaultKind::none, stop, particles.held - particles.given});
    const double step = std::max(longest_step_, longest_before_);
    passes_ += moved;
    if (!late_ || !moved || step == 0 || farthest_ + reach * step > limit_) return take(0);
    ++passes_late_;
    if (std::sqrt(static_cast<double>(mine.displacement2)) > limit_ && mine.fault.kind == md::FaultKind::none)
        throw md::SimulationError("a particle moves more than " + std::to_string(static_cast<int>(reach)) +
                                      " times as far in one step as any before",
                                  "use a smaller dt, or comm.overlap: links");
}

void Agreement::finish() {
    if (on_its_way_) take(1);
}

void Agreement::take(int passes_ago) {
    const auto [displacement, fault, stop, surplus] = on_its_way_->wait();
    on_its_way_.reset();
    stop_ = stop;
    if (fault) throw_fault(passes_ago);
    if (surplus) throw_lost(passes_ago);
    if (moved_) take_displacement(std::bit_cast<float>(static_cast<std::int32_t>(displacement)));
}

void Agreement::throw_fault(int passes_ago) const {
    const std::int64_t id = comm_.min_of(mine_.fault.id);
    const std::int64_t kind = comm_.max_of(mine_.fault.id == id ? static_cast<std::int64_t>(mine_.fault.kind) : 0);
    comm::require(comm_, false, [&] {
        const auto wrong = static_cast<md::FaultKind>(kind);
        md::SimulationError error("particle " + std::to_string(id) + what_is_wrong(wrong));
        if (passes_ <= 1) error.remedy = remedy_at_the_start(wrong);
        error.passes_ago = passes_ago;
        return error;
    });
}

void Agreement::throw_lost(int passes_ago) const {
    std::array<std::int64_t, 2> sums{particles_.held, particles_.given};
    comm_.sum(sums);
    comm::require(comm_, false, [&, held = sums[0], given = sums[1]] {
        md::SimulationError error(
            held < given
                ? std::to_string(given - held) + " of " + std::to_string(given) + " particles are lost"
                : "there are " + std::to_string(held) + " particles, and " + std::to_string(given) + " at the start",
            "restart from the last checkpoint, and report this bug");
        error.passes_ago = passes_ago;
        return error;
    });
}

// The largest displacement grows by no more than the longest step of the pass, and by just that in the first one.
void Agreement::take_displacement(float displacement2) {
    const double moved = std::sqrt(static_cast<double>(displacement2));
    longest_step_ = std::max(longest_step_, moved - farthest_);
    farthest_ = moved;
    displaced_ = displaced_ || moved > limit_;
}

}  // namespace app
