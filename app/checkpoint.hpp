// SPDX-License-Identifier: MIT
// Checkpoints: the exact state in one HDF5 file (H5MD for readers, integers for us), from which a run goes on bit by bit on
// any number of ranks.
//
// A file has its final name only when it is complete: written as *.tmp, read back and compared with the state in memory,
// flushed to the disk, renamed. Its first 512 bytes are text: schema, step, particles, state hash, size, and a digest of all
// other bytes. A file is believed when its size and every byte agree with that text, before HDF5 gets to see it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/deck.hpp"
#include "app/errors.hpp"
#include "app/rebalance.hpp"
#include "app/tiles.hpp"
#include "comm/communicator.hpp"

namespace app {

/// Physical time of each step, also after dt was changed at a restart.
struct Clock {
    std::int64_t step = 0;     ///< where the present dt came into force
    double time = 0, dt = 0;   ///< time of that step
    double at(std::int64_t s) const { return time + static_cast<double>(s - step) * dt; }
};

/// What a checkpoint says of itself and of its run.
struct CheckpointInfo {
    std::string path;
    std::int64_t step = 0, particles = 0;
    std::uint64_t state_hash = 0;
    double energy_first = 0, largest_kinetic = 0;  ///< for energy_drift
    Clock clock;                                   ///< time of each step
    Deck deck;                                     ///< of the run that wrote it
};

struct CheckpointCost {
    std::int64_t count = 0, bytes = 0;
    double write_seconds = 0;   ///< making the file, up to its flush to the disk
    double verify_seconds = 0;  ///< digest, reading back and comparing
    double remove_seconds = 0;  ///< renaming it, removing old ones
};

/// Writes checkpoint_<step>.h5 into `directory`, then removes all but the newest `keep`. The velocities must be at the whole
/// step. Throws OutputError (exit code 5) on all ranks when there is no space.
CheckpointCost write_checkpoint(const std::string& directory, const CheckpointInfo& info, const Tiles& tiles, const Rebalance& rebalance, const comm::Communicator& comm);

/// Verifies a checkpoint and reads all but the particles. Throws InputError.
CheckpointInfo read_checkpoint(const std::string& path, const comm::Communicator& comm);

/// Fills `tiles` with the particles, every rank reading its share of the file, and compares the state hash. Throws InputError.
void load_particles(const CheckpointInfo& info, Tiles& tiles, const comm::Communicator& comm);

/// Gives each model of `rebalance` what the same model knew when the checkpoint was written, as far as the number of processes
/// is the same; others start anew. Throws InputError.
void load_balance(const CheckpointInfo& info, Rebalance& rebalance, const comm::Communicator& comm);

/// Paths of all checkpoints in a directory, newest first. This rank only.
std::vector<std::string> all_checkpoints(const std::string& directory);

/// The newest valid checkpoint in `directory`, by step number; empty if there is none. Warns of the invalid ones it passes.
std::optional<CheckpointInfo> newest_checkpoint(const std::string& directory, const comm::Communicator& comm);

/// Throws InputError naming the first key of `system` or `grid` in which the deck differs from the checkpoint's.
void require_same_system(const Deck& deck, const CheckpointInfo& info);

}  // namespace app
