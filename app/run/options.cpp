// SPDX-License-Identifier: MIT
#include "app/run/options.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "app/common/errors.hpp"
#include "app/deck/from_file.hpp"
#include "app/deck/machine_file.hpp"
#include "app/output/restart.hpp"
#include "app/state/state_file.hpp"
#include "comm/file/durable.hpp"
#include "comm/file/posix_file.hpp"

namespace app {
namespace {

// What a restart knows of the file of particles from its checkpoint, or, where the checkpoint is still to be found,
// from the effective deck that lies beside it. It needs the file no more.
std::optional<FoundState> known_state(const Options& options, const Deck& named, const comm::Communicator& comm) {
    if (options.restart.empty()) return std::nullopt;
    if (options.restart != "auto") return found_by(read_checkpoint(options.restart, comm).deck);
    const std::string path = output_path(options, named, comm) + "/deck.yaml";
    std::string text;
    if (comm.rank() == 0) text = comm::read_text(path);
    comm.broadcast(text);
    try {
        return text.empty() ? std::nullopt : found_by(parse_deck(text, path));
    } catch (const DeckError&) {
        return std::nullopt;  // no deck of such a run
    }
}

// A file that is there counts, also at a restart: it may be another one.
FoundState found_state(const md::StateFile& file, const std::optional<FoundState>& known,
                       const comm::Communicator& comm) {
    std::int64_t there = comm.rank() == 0 && comm::file_size(file.file) >= 0;
    comm.broadcast(std::span(&there, 1));
    return known && there == 0 ? *known : look_at_state(file, comm);
}

void require_slow_enough(const Deck& deck, const comm::Communicator& comm) {
    const md::StateFile& from = deck.system.from;
    comm::require(comm, from.fastest * deck.run.dt < deck.grid.cell, [&] {
        return InputError(fmt::format(
            "{}: a particle crosses a cell of {} in one step: its speed is {:.4g}, dt {}; use a smaller run.dt",
            from.file, deck.grid.cell, from.fastest, deck.run.dt));
    });
}

}  // namespace

// Rank 0 reads the file; all ranks parse the same bytes.
Deck read_deck(const Options& options, const comm::Communicator& comm) {
    std::string text, path = options.deck;
    on_rank_0(comm, [&] { text = deck_bytes(path); });
    comm.broadcast(text);
    comm.broadcast(path);
    Deck deck;
    deck.name = std::filesystem::path(path).stem().string();
    deck.system.from = agreed(comm, [&] { return state_file_of(text, path, options.settings); });
    std::optional<FoundState> found;
    if (!deck.system.from.file.empty()) found = found_state(deck.system.from, known_state(options, deck, comm), comm);
    deck = agreed(comm, [&] { return parse_deck(text, path, options.settings, found ? &*found : nullptr); });
    if (found) require_slow_enough(deck, comm);
    if (!options.machine.empty())
        if (const MachineFile file = read_machine(options.machine, comm); file.has_nodes) deck.machine = file.nodes;
    return deck;
}

std::string output_path(const Options& options, const Deck& deck, const comm::Communicator& comm) {
    if (!options.out.empty()) return options.out;
    comm::require(comm, !deck.name.empty() && deck.name != "." && deck.name != "..", [&] {
        return UsageError(fmt::format(
            "{}: a deck of this name gives no name for an output directory; choose one with --out", options.deck));
    });
    return "out/" + deck.name;
}

}  // namespace app
