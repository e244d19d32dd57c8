// SPDX-License-Identifier: MIT
// Going on from a checkpoint. A file is verified byte by byte first; what its digest can't vouch for (somebody may have
// made the digest anew) is checked for sense before it is used. Errors are InputErrors, on all ranks alike.
#pragma once
#include <string>
#include <vector>

#include "app/balancing/load_balancer.hpp"
#include "app/common/errors.hpp"
#include "app/engine/engine.hpp"
#include "app/output/checkpoint/checkpoint_info.hpp"
#include "comm/communicator.hpp"

namespace app {

/// Error for a checkpoint that cannot be used: `PATH: WHAT; use another checkpoint`. or_else: a second remedy, added at
/// the end.
InputError unusable(const std::string& path, const std::string& what, const std::string& or_else = "");

/// Verifies a checkpoint and reads all but the particles and what balancing has learnt. Collective. Throws InputError.
CheckpointInfo read_checkpoint(const std::string& path, const comm::Communicator& comm);

/// A model whose balancing is stored in a checkpoint.
struct SavedBalancing {
    std::string model;
    std::int64_t processes = 0, last_step = 0;  ///< last_step: of the last balancing
};
/// The models whose balancing a checkpoint holds. info: from read_checkpoint(). Collective. Throws comm::ReadError.
std::vector<SavedBalancing> saved_balancing(const CheckpointInfo& info, const comm::Communicator& comm);

/// Sum over the hashes of the particles in a checkpoint's file: its state hash if it is whole. Collective. Throws
/// comm::ReadError.
std::uint64_t hash_in_file(const std::string& path, std::int64_t particles, int dimensions,
                           const comm::Communicator& comm);

/// Throws InputError naming the first key of `system` or `grid` (but `skin`) in which the deck differs from the
/// checkpoint's.
void require_same_system(const Deck& deck, const CheckpointInfo& info);

/// Fills the engine with the particles, every rank reading its share of the file, and compares the state hash. owners:
/// the engine's decomposition. Collective. Throws InputError.
void load_particles(const CheckpointInfo& info, Engine& engine, const balance::Decomposition& owners,
                    const comm::Communicator& comm);

/// Gives each model of `balancer` the state that the same model has in the checkpoint. With another number of
/// processes, partition and history start anew. A model that the checkpoint lacks starts anew. Returns a sentence for
/// each model whose knowledge is dropped or missing. Collective. Throws InputError.
std::vector<std::string> load_balance(const CheckpointInfo& info, LoadBalancer& balancer,
                                      const comm::Communicator& comm);

}  // namespace app
