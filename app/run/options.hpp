// SPDX-License-Identifier: MIT
// The options of a command, and the steps that all commands take with them.
#pragma once
#include <string>
#include <vector>

#include "app/deck/deck.hpp"
#include "app/output/directory/run_directory.hpp"
#include "comm/communicator.hpp"

namespace app {

struct Options {
    std::string deck;     ///< for replay: empty where there is none
    std::string out;      ///< empty: out/<deck name>
    std::string restart;  ///< a checkpoint's path, `auto`, or empty
    std::vector<std::string> settings;
    std::string trace;       ///< A file for plans of messages, or empty.
    std::string prediction;  ///< run: a predict.json for comparison with the measured times, or empty.
    bool force = false;      ///< Put results aside that are in the way.
    bool quiet = false;
    bool brief = false;           ///< info: without the deck.
    std::string machine;          ///< A machine file in place of the deck's machine. predict then measures nothing.
    std::string kind = "nested";  ///< partition: the partitioner.
    std::string loads;            ///< replay: the file of the load series.
    bool optimum = false;         ///< replay: find the best schedule of balancings in hindsight.
    std::string processes;        ///< predict: a list of numbers.
    double length = 1;            ///< predict: factor of all lengths of the deck.
    double efficiency = 0;        ///< predict: find the most ranks that keep it; 0: not asked for.
    double seconds = 0;           ///< predict: find the fewest ranks for a run of this time; 0: not asked for.
    std::int64_t ranks = 0;       ///< check: of the run; 0: those that are there.
    std::string inputs;           ///< selftest: the directory of the decks; empty: looked for.
    std::vector<std::string> command_line;
};

/// The deck that the options name, with their settings and their machine. Collective. Throws comm::Agreed<UsageError>,
/// comm::Agreed<InputError>.
Deck read_deck(const Options& options, const comm::Communicator& comm);

/// Where results go. Collective. Throws comm::Agreed<UsageError>.
std::string output_path(const Options& options, const Deck& deck, const comm::Communicator& comm);

/// Treatment of older results in the output directory.
inline OldResults old_results(const Options& options) { return options.force ? OldResults::aside : OldResults::refuse; }

}  // namespace app
