// SPDX-License-Identifier: MIT
// The state of the load balancer from a checkpoint. Each record is checked for sense before it is used.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "app/common/words.hpp"
#include "app/output/checkpoint/restart.hpp"
#include "balance/grid/field.hpp"
#include "comm/file/file.hpp"

namespace app {
namespace {

// The records of one model in a checkpoint.
struct SavedModel {
    balance::Partition partition;
    std::vector<balance::Split> splits;
    std::vector<double> memory, record, state;  // state: of this rank's home
    std::vector<double> criterion;              // what it remembers; empty: nothing since the last migration
    std::vector<double> spent;                  // by each process; empty: nothing, or not known
};

SavedModel read_model(comm::FileReader& file, const std::string& path, const LoadBalancer& balancer,
                      const comm::Communicator& comm) {
    SavedModel s;
    s.partition.first = file.all<std::int64_t>(path + "/first");
    const std::vector<std::int64_t> boxes = file.all<std::int64_t>(path + "/boxes"),
                                    splits = file.all<std::int64_t>(path + "/splits");
    const auto to_int = [](std::int64_t n) {
        return static_cast<int>(std::clamp<std::int64_t>(n, -1, INT32_MAX));
    };                                                                       // what it cuts is no number of a cell
    const auto axes = static_cast<std::size_t>(balancer.grid().dimensions);  // a box has two corners
    for (std::size_t i = 0; i + 2 * axes <= boxes.size(); i += 2 * axes) {
        balance::Box box;
        for (std::size_t a = 0; a < axes; ++a)
            box.lower[a] = to_int(boxes[i + a]), box.upper[a] = to_int(boxes[i + axes + a]);
        s.partition.boxes.push_back(box);
    }
    if (boxes.size() % (2 * axes) != 0) s.partition.boxes.clear();
    if (splits.size() % 2 != 0) s.splits.push_back({-1, -1});  // half a split: refused
    for (std::size_t i = 0; i + 2 <= splits.size(); i += 2)
        s.splits.push_back({to_int(splits[i]), to_int(splits[i + 1])});
    s.memory = file.all<double>(path + "/memory");
    s.record = file.all<double>(path + "/record");
    if (file.has(path + "/criterion")) s.criterion = file.all<double>(path + "/criterion");
    if (file.has(path + "/spent")) s.spent = file.all<double>(path + "/spent");
    if (file.row_count<double>(path + "/state") == balancer.grid().box().cells()) {
        const balance::FieldPlan file_order = balance::plan_by_columns(balancer.team(), balancer.grid());
        const std::vector<double> state =
            file.rows<double>(path + "/state", comm.exclusive_sum(file_order.cells()), file_order.cells());
        s.state.resize(balancer.home_cells());
        file_order.to_home(std::span<const double>(state), std::span(s.state));
    }
    return s;
}

// Could a partitioner with these options have left as many splits?
bool fits(const std::vector<balance::Split>& splits, const balance::Grid& grid,
          const balance::PartitionOptions& options) {
    const auto boxes = balance::kind_of(options).bisected_boxes;
    return !boxes ||
           static_cast<std::int64_t>(splits.size()) == std::max<std::int64_t>(0, 2 * boxes(grid, options) - 1);
}

// Empty, or what of it makes no sense for the model `b`; the same on all ranks. saved_by: as the run that saved it knew
// it.
std::string nonsense_in(const SavedModel& s, const BalancedModel& b, const balance::Contender& saved_by,
                        std::int64_t step, const LoadBalancer& balancer, bool candidate,
                        const comm::Communicator& comm) {
    const int axes = balancer.grid().dimensions;
    const bool splits = std::ranges::all_of(
        s.splits, [axes](const balance::Split& x) { return x.axis >= -1 && x.axis < axes && x.left >= 0; });
    // One rank looks at what all have read: with thousands of processes it takes a while.
    if (!comm.all_agree(comm.rank() != 0 || balance::is_partition_of(s.partition, balancer.grid()))) return "boxes";
    balance::PartitionOptions options = saved_by.partition;
    options.processes = s.partition.processes();
    if (!splits || !(s.splits.empty() || fits(s.splits, balancer.grid(), options))) return "splits";
    if (!b.model->accepts_memory(s.memory)) return "memory";
    if (!balance::History::accepts(s.record, s.partition.processes(), step)) return "record";
    const std::size_t remembered = balance::make_criterion(saved_by.criterion)->memory_size();
    if (!s.criterion.empty() && s.criterion.size() != remembered) return "criterion";
    if (!std::ranges::all_of(s.criterion, [](double v) { return std::abs(v) <= 1e30; })) return "criterion";
    if (!s.spent.empty() && std::ssize(s.spent) != s.partition.processes()) return "spent";
    if (!std::ranges::all_of(s.spent, [](double v) { return v >= 0 && v <= 1e30; })) return "spent";
    // Once a model has learnt from times, no cell is without a state, which some models mark by a negative one.
    const balance::History record =
        balance::History::from_numbers(std::span(s.record).first<balance::History::numbers>());
    const bool state = (candidate && s.state.empty()) ||  // it has not learnt
                       (s.state.size() == static_cast<std::size_t>(balancer.home_cells()) &&
                        std::ranges::all_of(s.state, [&](double v) {
                            return b.model->accepts_state(v) && (v >= 0 || record.updates == 0);
                        }));
    return comm.all_agree(state) ? "" : "state";
}

// Seconds that the hosted processes have spent; empty if they are not known.
std::vector<double> spent_here(const std::vector<double>& spent, const balance::IndexRange& hosted) {
    if (spent.empty()) return {};
    return {spent.begin() + hosted.begin, spent.begin() + hosted.end};
}

// Names of the contenders in a run of this deck: the driver first.
std::map<std::string, balance::Contender> contenders_of(const Deck::Balance& b) {
    std::map<std::string, balance::Contender> all;
    if (b.every == 0) return all;
    all[b.driver()] = {b.driver(), b.model, b.criterion, b.partition};
    for (const balance::Contender& c : b.compare) all[c.name] = c;
    return all;
}

// The model and the partition that the run of a checkpoint had chosen go to `driver`. This run takes them over if it
// has the same candidates. Returns whether these go on with what they knew, which takes the same processes, too.
bool load_choice(comm::FileReader& file, const CheckpointInfo& info, balance::Contender& driver, LoadBalancer& balancer,
                 const comm::Communicator& comm) {
    balance::Policy old;
    old.partition = info.deck.balance.partition;
    old.clock = info.deck.balance.clock;
    add_candidates(old, info.deck.balance, balancer.grid(),
                   {info.deck.accelerator.backend != AcceleratorBackend::none});
    balance::Choice choice;
    const bool good = choice.restore(file.all<std::int64_t>(choice_path + "/chosen"), old.candidates);
    comm::require(comm, good, [&] {
        return unusable(info.path, choice_path + " makes no sense", ", or restart with balance.every = 0");
    });
    driver.model = old.candidates.models[choice.model].model;
    driver.partition = old.candidates.partitions[choice.partition].partition;
    if (balancer.choosable().names() != old.candidates.names()) return false;
    const bool goes_on =
        file.row_count<std::int64_t>("/balance/" + driver.name + "/first") - 1 == balancer.hosts().processes();
    if (!goes_on) choice.round = 0;
    balancer.choose(choice);
    return goes_on;
}

// processes: of the run that saved them.
void load_speeds(comm::FileReader& file, const std::string& path, std::int64_t processes, LoadBalancer& balancer,
                 std::vector<std::string>& notes, const comm::Communicator& comm) {
    if (!file.has("/balance/speeds")) return;  // they were off, or the version knew none
    const std::vector<double> found = file.all<double>("/balance/speeds/found");
    if (processes != balancer.hosts().processes() && processes == static_cast<std::int64_t>(found.size())) {
        notes.push_back(fmt::format("the speeds of {} are dropped", counted(processes, "process")));
        return;
    }
    std::optional<std::vector<double>> memory;
    if (file.has("/balance/speeds/records") || file.has("/balance/speeds/memory"))
        notes.push_back("what the speeds were found from is dropped: another version of the program wrote it");
    else memory = file.all<double>("/balance/speeds/reference");
    const bool good = balancer.speeds().restore(balancer.hosts().processes_of(comm.rank()), found, memory);
    comm::require(comm, good, [&] {
        return unusable(path, "/balance/speeds makes no sense", ", or restart with balance.speeds = off");
    });
}

}  // namespace

std::vector<std::string> load_balance(const CheckpointInfo& info, LoadBalancer& balancer,
                                      const comm::Communicator& comm) {
    std::vector<std::string> notes;
    const Deck::Balance& old = info.deck.balance;
    std::map<std::string, balance::Contender> before = contenders_of(old);  // those that this run doesn't have stay
    std::int64_t processes = 0;
    try {
        comm::FileReader file(info.path, comm);
        const std::string& driver = old.driver();
        const bool same_candidates = balancer.on() && before.contains(driver) && file.has(choice_path + "/chosen") &&
                                     load_choice(file, info, before[driver], balancer, comm);
        const auto restore = [&](BalancedModel& b, const std::string& path, const balance::Contender& saved_by,
                                 bool candidate) {
            const std::string& name = b.contender.name;
            SavedModel saved = read_model(file, path, balancer, comm);
            const std::vector<std::int64_t> last = file.all<std::int64_t>("/balance/step");
            if (candidate && !fits(saved.splits, balancer.grid(), b.contender.partition)) saved.splits.clear();
            std::string wrong = nonsense_in(saved, b, saved_by, info.step, balancer, candidate, comm);
            if (last.size() != 1 || last[0] < 0 || last[0] > info.step) wrong = "step";
            comm::require(comm, wrong.empty(), [&] {
                return unusable(info.path, path + "/" + wrong + " makes no sense",
                                ", or restart with balance.every = 0");
            });
            b.state = std::move(saved.state);
            b.model->set_memory(saved.memory);
            if (saved.partition.processes() != balancer.hosts().processes()) {
                notes.push_back(fmt::format(
                    "{} keeps what it has learnt of the cells; its partition, made for {}, starts anew with {}", name,
                    counted(saved.partition.processes(), "process"), balancer.hosts().processes()));
                return;
            }
            if (!balance::kind_of(b.contender.partition).follows_loads &&
                saved_by.partition.kind != b.contender.partition.kind) {
                notes.push_back(
                    fmt::format("{} begins with the even partition of kind {}", name, b.contender.partition.kind));
                return;
            }
            b.partition = balance::hosted_of(saved.partition, balancer.hosts(), balancer.team().rank());
            if (fits(saved.splits, balancer.grid(), b.contender.partition))
                b.splits = {balancer.team(), saved.splits};  // else the partition is of another kind now
            b.history = balance::History::from_numbers(std::span(saved.record).first<balance::History::numbers>());
            if (saved_by.criterion.name != b.contender.criterion.name) b.history.lost_seconds = 0;  // it was another's
            else b.watch = {spent_here(saved.spent, balancer.hosts().processes_of(comm.rank())), saved.criterion};
            if (&b == &balancer.models().front()) balancer.set_last_step(last[0]), balancer.set_timed_from(info.step);
        };
        for (BalancedModel& b : balancer.models()) {
            if (!balancer.on()) break;
            const std::string& name = b.contender.name;
            const auto found = before.find(name);
            if (found == before.end() || found->second.model != b.contender.model || !file.has("/balance/" + name)) {
                notes.push_back(fmt::format("{} starts anew: the checkpoint holds nothing of it", name));
                continue;
            }
            const balance::Contender saved_by = found->second;
            before.erase(found);
            restore(b, "/balance/" + name, saved_by, false);
        }
        for (BalancedModel& b : balancer.candidates()) {
            if (!same_candidates) break;
            const std::string path = choice_path + "/" + b.contender.name;
            restore(b, path, b.contender, true);
            const auto rating = balance::Rating::from_numbers(file.all<double>(path + "/rating"));
            comm::require(comm, rating.has_value(), [&] {
                return unusable(info.path, path + "/rating makes no sense", ", or restart with balance.every = 0");
            });
            b.rating = *rating;
        }
        if (const std::string first = "/balance/" + driver + "/first"; old.every > 0 && file.has(first))
            processes = file.row_count<std::int64_t>(first) - 1;
        if (balancer.finds_speeds()) load_speeds(file, info.path, processes, balancer, notes, comm);
        if (balancer.zones().learns() && file.has("/zones")) {
            const bool good = balancer.zones().restore(file.all<double>("/zones/of_ranks"));
            comm::require(comm, good, [&] {
                return unusable(info.path, "/zones makes no sense", ", or restart with accelerator.backend = none");
            });
        }
    } catch (const comm::ReadError& e) {
        comm::throw_in_place_of(e, InputError(e.what()));
    }
    for (const auto& [name, contender] : before) notes.push_back(fmt::format("what {} had learnt is dropped", name));
    return notes;
}

}  // namespace app
