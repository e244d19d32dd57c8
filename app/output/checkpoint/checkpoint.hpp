// SPDX-License-Identifier: MIT
// Writing checkpoints: the exact state in one HDF5 file (H5MD for readers, integers for us), from which a run goes on
// bit by bit on any number of ranks (restart.hpp).
//
// A file has its final name only when it is complete: written as *.tmp, read back and compared with the state in
// memory, flushed to the disk, renamed. Its first 512 bytes are text: schema, step, particles, state hash, size, and a
// digest of all other bytes. A file is believed when its size and every byte agree with that text, before HDF5 gets to
// see it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "app/balancing/load_balancer.hpp"
#include "app/engine/engine.hpp"
#include "app/output/checkpoint/checkpoint_info.hpp"
#include "comm/communicator.hpp"

namespace app {

struct CheckpointCost {
    std::int64_t count = 0, bytes = 0;
    double write_seconds = 0;   ///< making the file, up to its flush to the disk
    double verify_seconds = 0;  ///< digest, reading back and comparing
    double remove_seconds = 0;  ///< renaming it, removing old ones
    CheckpointCost& operator+=(const CheckpointCost& other);
};

/// Writes checkpoint_<step>.h5 into `directory`. own: steps of the run's checkpoints in that directory, ascending; the
/// new one is added, and the oldest beyond info.deck.checkpoint.keep are removed, on rank 0. The velocities must be at
/// the whole step. Collective. Throws OutputError.
CheckpointCost write_checkpoint(const std::string& directory, const CheckpointInfo& info, const Engine& engine,
                                const LoadBalancer& balancer, const comm::Communicator& comm,
                                std::vector<std::int64_t>& own);

/// Bytes that a checkpoint takes: what the particles take, and at least what all else takes. Collective.
std::int64_t checkpoint_bytes(std::int64_t particles, int dimensions, const Deck& deck, const LoadBalancer& balancer);

}  // namespace app
