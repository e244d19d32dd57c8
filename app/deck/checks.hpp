// SPDX-License-Identifier: MIT
// Checks across keys: geometry that can't work is refused before anything is allocated.
#pragma once
#include <functional>
#include <span>
#include <string>

#include "app/deck/deck.hpp"
#include "balance/grid/grid.hpp"

namespace app {

struct FoundState;

/// The location of the value at a dotted path.
using Where = std::function<std::string(const std::string& path)>;

/// Derives what the schema alone can't (the fitted and rounded box, extents of slabs and bodies), then throws DeckError
/// for a deck that can't work. found: see parse_deck().
void complete_and_check(Deck& deck, std::span<const FoundState> found, const Where& where);

/// Gives bodies their corners and density where the deck says them in another way. Throws DeckError where a body can't
/// be.
void complete_bodies(Deck::System& system, std::span<const FoundState> found, const Where& where);

/// Throws DeckError where slabs and bodies overlap, are too fast or hold too many particles.
void check_bodies(const Deck& deck, const Where& where);

/// Throws DeckError where gravity, walls or a thermostat cannot be.
void check_external(const Deck& deck, const Where& where);

/// The path of a key of number `body` of all slabs and bodies.
std::string path_in(const md::System& system, std::size_t body, const char* key);

/// Throws DeckError where the keys of the section balance do not fit each other.
void check_balance(const Deck& deck, const Where& where);

/// Calls use(contender, section) for the driver and all that is compared with it; section: where its keys stand, as in
/// `balance.compare.0`.
void for_each_contender(const Deck::Balance& balance,
                        const std::function<void(const balance::Contender&, const std::string& section)>& use);

/// Throws DeckError if a grid does not hold the parts of a contender's partition at their least width.
void check_partitions(const Deck::Balance& balance, const balance::Grid& grid, std::int64_t processes);

/// Throws DeckError if a format of output.balance_formats cannot hold the cells of the grid.
void check_formats(const Deck::Output& output, const balance::Grid& grid);

/// Words of what a load series lacks, for messages; empty: it has some.
struct SeriesLacks {
    std::string particles, ahead;
};

/// Throws DeckError where the section balance does not suit a replay of a load series. grid: of the series.
void check_replay(const Deck& deck, const balance::Grid& grid, const SeriesLacks& lacks, bool optimum, int ranks);

/// The message if no partition keeps the limit of particles. advice: what helps, without "more processes".
std::string no_partition(std::int64_t step, const balance::Infeasible& dead_end, const char* advice);

/// Throws DeckError if no partition keeps the limit of particles.
void require_partition(std::int64_t step, const std::optional<balance::Infeasible>& dead_end);

/// Throws DeckError where lists do not fit the nodes, or the machine is too large. section: where the machine's keys
/// are, empty for a file of their own.
void check_machine(const Deck::Machine& machine, const std::string& section, const Where& where);

}  // namespace app
