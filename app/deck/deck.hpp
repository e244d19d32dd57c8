// SPDX-License-Identifier: MIT
// The deck: everything a run depends on, validated. Its keys, with ranges and meanings: table.cpp. Rank 0 reads the
// file, and all ranks parse its bytes.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "app/common/errors.hpp"
#include "balance/contender.hpp"
#include "balance/decision.hpp"
#include "balance/model/load_model.hpp"
#include "balance/model/work.hpp"
#include "balance/nested/nested.hpp"
#include "balance/partition/partition.hpp"
#include "balance/words.hpp"
#include "balance/zone/border.hpp"
#include "balance/zone/controller.hpp"
#include "comm/schedule.hpp"
#include "md/system.hpp"

namespace app {

struct FoundState;

/// The values of each particle in a trajectory.
enum class Column { position, velocity, force };
constexpr auto words_of(Column) {
    return std::to_array<balance::Word<Column>>(
        {{Column::position, "position"}, {Column::velocity, "velocity"}, {Column::force, "force"}});
}
/// The clock of the threads, for balancing by thread timers.
enum class ThreadTimer { automatic, wall, cpu };
constexpr auto words_of(ThreadTimer) {
    return std::to_array<balance::Word<ThreadTimer>>(
        {{ThreadTimer::automatic, "auto"}, {ThreadTimer::wall, "wall"}, {ThreadTimer::cpu, "cpu"}});
}
/// Who computes the cells that a rank does not leave to its CPU.
enum class AcceleratorBackend { none, host, cuda };
constexpr auto words_of(AcceleratorBackend) {
    return std::to_array<balance::Word<AcceleratorBackend>>(
        {{AcceleratorBackend::none, "none"}, {AcceleratorBackend::host, "host"}, {AcceleratorBackend::cuda, "cuda"}});
}
/// Keys of balance.partition that a run may choose.
inline constexpr std::array<const char*, 4> choosable_partition_keys{"kind", "order", "patches_per_process", "cut"};
/// Where `steelyard partition` takes the load of the cells from.
enum class LoadKind { slabs, uniform, checkpoint, dataset };
constexpr auto words_of(LoadKind) {
    return std::to_array<balance::Word<LoadKind>>({{LoadKind::slabs, "slabs"},
                                                   {LoadKind::uniform, "uniform"},
                                                   {LoadKind::checkpoint, "checkpoint"},
                                                   {LoadKind::dataset, "dataset"}});
}

/// In what formats of other programs a run writes its balancings.
enum class BalanceFormat { lbaf, metis };
constexpr auto words_of(BalanceFormat) {
    return std::to_array<balance::Word<BalanceFormat>>(
        {{BalanceFormat::lbaf, "lbaf"}, {BalanceFormat::metis, "metis"}});
}

// Numbers beyond which a deck leaves the fixed-point formats; no sensible deck comes near them.

/// Limit of box sides and coordinates, lengths: 2^60 position quanta. Positions must not overflow on the way out.
inline constexpr double longest_side = 1 << 20;
inline constexpr double fastest = 1e6, hottest = 1e6, densest = 1e6;
/// Limit of a particle's velocity along an axis: 2^51 quanta. A run ends if a particle reaches it.
inline constexpr double most_velocity = 2048;
/// Its potential energy anywhere in the box, in quanta, must not overflow.
inline constexpr double strongest_gravity = 1000;
inline constexpr std::int64_t most_particles = std::int64_t{1} << 40;
inline constexpr std::int64_t last_step = 1'000'000'000'000'000;
inline constexpr std::int64_t most_processes = 1 << 24;
/// The effective deck, which spells out every key of slabs and bodies, must itself stay below max_deck_nodes and
/// max_deck_bytes.
inline constexpr std::size_t most_slabs = 500;
inline constexpr std::size_t most_bodies = 100;

struct Deck {
    std::string name;  ///< file name without folder and extension
    struct System : md::System {
        bool box_fit = false;  ///< box: fit (then one slab with `cells` and periodic boundaries): `box` holds what fits
        std::map<std::string, int> given;  ///< by path: values that the deck gives for axes, 2 or 3; or a lattice, 1
    } system;
    struct Run {
        double dt = 0.001;
        std::int64_t steps = 0;  ///< number of the last step
        md::Precision precision = md::Precision::mixed;
    } run;
    struct Grid {
        double cell = 0;                         ///< smallest side of a cell; 0 until the deck is complete: the cutoff
        std::optional<double> skin;              ///< empty: auto
        std::optional<balance::TileShape> tile;  ///< cells along each axis; empty: auto
    } grid;
    struct Balance {
        bool chooses = false;                   ///< the key `auto`: the run chooses what the deck does not give
        std::set<std::string> given;            ///< of what it may choose, by path below `balance`
        std::int64_t every = 0;                 ///< steps; 0: never
        balance::ActiveSteps active;            ///< steps at which the run may balance
        std::string model = "r1";               ///< the driver
        std::optional<std::int64_t> processes;  ///< virtual processes; empty: one a rank
        balance::BalanceClock clock = balance::BalanceClock::wall;
        ThreadTimer timer = ThreadTimer::automatic;
        balance::CriterionOptions criterion;  ///< the driver's
        bool names_criterion = false;         ///< the key `criterion` stands in the deck
        balance::SpeedSource speeds = balance::SpeedSource::measured;
        double noise = 0;                     ///< relative, of the times that models see
        balance::PartitionOptions partition;  ///< the driver's (processes: see above)
        /// Evaluated beside the driver on the same trajectory.
        struct Compared : balance::Contender {
            bool plain = true;                                  ///< the deck gives a model alone
            bool own_criterion = false, own_partition = false;  ///< else as the driver
        };
        std::vector<Compared> compare;
        balance::NestedOptions nested;
        balance::ModelConstants constants;
        balance::WorkCosts work;
        /// Name of the driver in files.
        const std::string& driver() const { return chooses && every > 0 ? automatic : model; }
        inline static const std::string automatic = "auto";
    } balance;
    struct Output {
        std::int64_t every = 100;
        std::map<std::string, std::int64_t> intervals;  ///< steps between what outputs.hpp names; 0: never
        std::int64_t interval(const std::string& name) const {
            const auto found = intervals.find(name);
            return found == intervals.end() ? 0 : found->second;
        }
        std::vector<Column> trajectory_columns{Column::position, Column::velocity};
        std::vector<BalanceFormat> balance_formats;
        std::int64_t map_frames = 128;  ///< most frames of map.csv and ranks.csv; 0: none
    } output;
    struct Checkpoint {
        std::int64_t every = 0;                    ///< steps; 0: only when stopped early
        std::int64_t keep = 2;                     ///< newest checkpoints that stay
        std::optional<double> time_limit_seconds;  ///< of wall time, then stop with a checkpoint
    } checkpoint;
    struct Machine {
        std::optional<std::int64_t> nodes;  ///< empty: as found
        // One value for all nodes, or one of each.
        std::vector<std::int64_t> cpus_per_node, cores_per_cpu;  ///< empty: as found
        std::vector<std::int64_t> accelerators_per_node{0};
        std::vector<double> core_speed{1}, accelerator_speed{12};
        friend bool operator==(const Machine&, const Machine&) = default;

        /// Of one node.
        template <class T>
        static T at(const std::vector<T>& values, std::int64_t node, std::type_identity_t<T> where_empty = {}) {
            return values.empty() ? where_empty : values.size() == 1 ? values[0] : values[node];
        }
    } machine;
    struct Accelerator {
        AcceleratorBackend backend = AcceleratorBackend::none;
        std::string controller = "measured_speed";  ///< One of balance::controller_names().
        std::optional<double> share;                ///< Part of a rank's load, at first; empty: auto.
        std::int64_t every = 100;                   ///< Steps between checks of the border.
        std::int64_t threads = 1;                   ///< Threads of each accelerator, with backend host.
        std::optional<std::int64_t> devices;        ///< Accelerators of a rank; empty: auto.
        balance::ZoneReach reach = balance::ZoneReach::border;
        std::vector<double> speed{4};  ///< By counted work, relative to the CPU: one, or one a rank.
        double speed_of(std::int64_t rank) const { return speed.size() == 1 ? speed[0] : speed[rank]; }
    } accelerator;
    struct Comm {
        comm::MessageOrder order = comm::MessageOrder::near_first;
        comm::Aggregate aggregate = comm::Aggregate::automatic;
        comm::Overlap overlap = comm::Overlap::full;
        std::optional<std::int64_t> threshold_bytes, piece_bytes;  ///< empty: auto
        std::optional<std::int64_t> ranks_per_node;                ///< empty: those that share memory
        std::optional<std::int64_t> nodes_per_switch;              ///< of a fat tree; empty: nodes in a row
    } comm;
    struct Load {
        LoadKind kind = LoadKind::slabs;
        std::string file, dataset = "/load";
        std::optional<std::vector<std::int64_t>> cells;  ///< along x, y and, in 3D, z; empty: the deck's grid
        std::int64_t bytes_per_cell = 8;
    } load;
};

/// Bad deck (exit code 2): one line `WHERE: WHAT; REMEDY`, WHERE being `file.yaml:line:column` or `--set key.path`.
struct DeckError : UsageError {
    using UsageError::UsageError;
};

/// Parses and validates the text of a deck. Throws DeckError.
///
/// file: the name shown in messages.
///
/// settings: `key.path=value` overrides, in order.
///
/// found: facts from the files of its particles (from_file.hpp), or nothing if the deck states them itself.
Deck parse_deck(const std::string& text, const std::string& file, const std::vector<std::string>& settings = {},
                std::span<const FoundState> found = {});

/// A deck of which the section balance counts, by counted work, its output, and the seed of its system for noise: what
/// `steelyard replay` is told. It may have all sections of a deck, or be empty. If it does not say how often to
/// balance, each entry is an opportunity. Throws DeckError.
Deck parse_balance(const std::string& text, const std::string& file, const std::vector<std::string>& settings);

/// The bytes of a deck file, or of another short text (what), for parse_deck(), cut just beyond the most that it
/// accepts. Throws DeckError for a missing or unreadable file.
std::string deck_bytes(const std::string& path, const char* what = "deck");
/// The same of another file than the deck, read by rank 0 for all ranks. Throws InputError. Collective.
std::string input_bytes(const std::string& path, const char* what, const comm::Communicator& comm);

/// The effective deck as YAML: every key with its value; parsing it again gives an equal deck.
std::string to_yaml(const Deck& deck);

/// Its section balance alone.
std::string balance_yaml(const Deck& deck);

/// A key whose values differ between two decks.
struct DeckChange {
    std::string key, before, now;  ///< values as the effective deck writes them; empty where a deck has no such key
    /// A restart may not make this change. It may change any key to auto: what a run chooses by itself, it may choose
    /// otherwise after a restart.
    bool refused;
};

/// Every key that differs in the effective decks, in their order.
std::vector<DeckChange> changes(const Deck& before, const Deck& now);

/// docs/deck.md: every key of a deck with its default, the values it may have, and its meaning, in Markdown.
std::string deck_reference();

}  // namespace app
