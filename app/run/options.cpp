// SPDX-License-Identifier: MIT
#include "app/run/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "app/common/errors.hpp"
#include "app/common/words.hpp"
#include "app/deck/from_file.hpp"
#include "app/deck/machine_file.hpp"
#include "app/deck/setup.hpp"
#include "app/output/checkpoint/restart.hpp"
#include "app/run/start.hpp"
#include "app/state/state_file.hpp"
#include "comm/file/durable.hpp"
#include "comm/file/posix_file.hpp"

namespace app {
namespace {

// Facts of the files of particles for a restart, so that it does not need the files any more. They come from its
// checkpoint. If the checkpoint is still to be found, they come from the effective deck beside it.
std::vector<FoundState> known_states(const Options& options, const Deck& named, const comm::Communicator& comm) {
    if (options.restart.empty()) return {};
    if (options.restart != "auto") return found_by(read_checkpoint(options.restart, comm).deck);
    const std::string path = output_path(options, named, comm) + "/deck.yaml";
    std::string text;
    on_rank_0(comm, [&] { text = comm::read_text(path); });
    comm.broadcast(text);
    try {
        return text.empty() ? std::vector<FoundState>() : found_by(parse_deck(text, path));
    } catch (const DeckError&) {
        return {};  // no deck of such a run
    }
}

// Files that are there count, also at a restart: they may be others.
std::vector<FoundState> found_states(const std::vector<NamedFile>& files, std::vector<FoundState> known,
                                     const comm::Communicator& comm) {
    known.resize(std::min(known.size(), files.size()));
    std::set<std::string> said;
    for (std::size_t i = 0; i < files.size(); ++i) {
        const md::StateFile& file = *files[i].state;
        const bool there = comm.from_rank_0(comm.rank() == 0 && comm::file_size(file.file) >= 0) != 0;
        if (i < known.size() && !there) continue;
        known.resize(std::max(known.size(), i + 1));
        known[i] = look_at_state(file, files[i].path, comm);
        known[i].counted = files[i].path == "system.from";
        for (const std::string& note : known[i].notes)
            if (said.insert(note).second) say_note("{}", note);
    }
    return known;
}

// How many particles of its file are in a body can be said when the deck is complete, which says where the body is.
void count_in_bodies(const Deck& complete, std::vector<FoundState>& found, const comm::Communicator& comm) {
    std::size_t i = 0;
    for (const md::Body& body : complete.system.bodies) {
        if (body.fill != md::Fill::file) continue;
        if (!found[i].counted) found[i].state.particles = count_of_file(body, comm);
        found[i++].counted = true;
    }
}

void require_slow_enough(const Deck& deck, const comm::Communicator& comm) {
    const md::StateFile& from = deck.system.from;
    if (from.file.empty()) return;
    refuse_unless<InputError>(
        comm, from.fastest * deck.run.dt < deck.grid.cell,
        "{}: a particle crosses a cell of {} in one step: its speed is {:.4g}, dt {}; use a smaller run.dt", from.file,
        deck.grid.cell, from.fastest, deck.run.dt);
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
    md::System named = agreed(comm, [&] { return named_system(text, path, options.settings); });
    std::vector<FoundState> found;
    const std::vector<NamedFile> files = files_of(named);
    if (!files.empty()) found = found_states(files, known_states(options, deck, comm), comm);
    const auto parsed = [&] { return parse_deck(text, path, options.settings, found); };
    deck = agreed(comm, parsed);
    if (!std::ranges::all_of(found, [](const FoundState& f) { return f.counted; })) {
        agreed(comm, [&] { require_memory(deck, make_setup(deck, ""), comm); });  // counting takes time
        count_in_bodies(deck, found, comm);
        deck = agreed(comm, parsed);
    }
    require_slow_enough(deck, comm);
    if (!options.machine.empty())
        if (const MachineFile file = read_machine(options.machine, comm); file.has_nodes) deck.machine = file.nodes;
    return deck;
}

std::string output_path(const Options& options, const Deck& deck, const comm::Communicator& comm) {
    if (!options.out.empty()) return options.out;
    refuse_unless<UsageError>(comm, !deck.name.empty() && deck.name != "." && deck.name != "..",
                              "{}: a deck of this name gives no name for an output directory; choose one with --out",
                              options.deck);
    return "out/" + deck.name;
}

}  // namespace app
