// SPDX-License-Identifier: MIT
#include "app/run/options.hpp"

#include <fmt/format.h>

#include "app/common/errors.hpp"
#include "app/deck/machine_file.hpp"

namespace app {

// Rank 0 reads the file; all ranks parse the same bytes.
Deck read_deck(const Options& options, const comm::Communicator& comm) {
    std::string text, path = options.deck;
    on_rank_0(comm, [&] { text = deck_bytes(path); });
    comm.broadcast(text);
    comm.broadcast(path);
    Deck deck = agreed(comm, [&] { return parse_deck(text, path, options.settings); });
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
