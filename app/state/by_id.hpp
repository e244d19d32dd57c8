// SPDX-License-Identifier: MIT
// Particles on their way from a file. Each waits at a rank that its id alone chooses. There its position meets its
// velocity, and two particles of one id meet each other. Ranks have runs of a shuffled order of ids. The order is the
// same for any number of ranks.
#pragma once
#include <cstdint>
#include <vector>

#include "app/state/particle_source.hpp"
#include "comm/communicator.hpp"
#include "md/particles.hpp"

namespace app {

class ById {
public:
    explicit ById(const comm::Communicator& comm) : comm_(comm) {}

    /// Takes what rank 0 gives; what others give is not looked at. Collective.
    void add(const SourcePiece& piece);

    /// The least id that two particles have, or that has a velocity and no position or the other way round; -1: none.
    /// Collective, once, after all pieces.
    std::int64_t fault();

    /// This rank's, in the shuffled order: those of rank 0 come first, then those of rank 1, and so on. Once, at the
    /// end.
    std::vector<md::Particle<3>> take();

private:
    const comm::Communicator& comm_;
    std::vector<md::Particle<3>> particles_, velocities_;
};

}  // namespace app
