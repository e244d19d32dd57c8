// SPDX-License-Identifier: MIT
#include "app/run/options.hpp"

#include <fmt/format.h>

#include "app/common/errors.hpp"
#include "app/deck/machine_file.hpp"

namespace app {

// Rank 0 reads the file; all ranks parse the same bytes, and come to the same deck or the same error.
Deck read_deck(const Options& options, const comm::Communicator& comm) {
    std::string text, path = options.deck;
    on_rank_0(comm, [&] { text = deck_bytes(path); });
    comm.broadcast(text);
    comm.broadcast(path);
    Deck deck = parse_deck(text, path, options.settings);
    if (!options.machine.empty()) deck.machine = read_machine(options.machine, comm).nodes;
    return deck;
}

std::string output_path(const Options& options, const Deck& deck) {
    if (!options.out.empty()) return options.out;
    if (deck.name.empty() || deck.name == "." || deck.name == "..")
        throw UsageError(fmt::format(
            "{}: a deck of this name gives no name for an output directory; choose one with --out", options.deck));
    return "out/" + deck.name;
}

}  // namespace app
