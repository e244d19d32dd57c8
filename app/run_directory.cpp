// SPDX-License-Identifier: MIT
// Rank 0 alone looks at and changes the directory; the others learn what they need. Everything that could fail is done before the
// first file of the new run is written, and each step leaves a directory from which `--restart auto` goes on rightly: checkpoints
// that are in the way go first, then run.json says who writes from now on.
#include "app/run_directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <string_view>

#include "app/errors.hpp"

namespace app {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 6> single_results{"deck.yaml", "thermo.csv", "timing.csv", "balance.csv", "summary.json", "run.json"};

// The step of a file `<kind>_<step><ending>`, empty for any other name.
std::optional<std::int64_t> step_in(std::string_view name, std::string_view kind, std::string_view ending) {
    if (!name.starts_with(kind) || !name.ends_with(ending) || name.size() <= kind.size() + ending.size()) return std::nullopt;
    name.remove_prefix(kind.size());
    name.remove_suffix(ending.size());
    std::int64_t step = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
    if (error != std::errc() || end != name.data() + name.size() || std::to_string(step) != name) return std::nullopt;
    return step;
}

std::optional<std::int64_t> checkpoint_step(std::string_view name) { return step_in(name, "checkpoint_", ".h5"); }

// The step of a file that holds the state or the fields of one step.
std::optional<std::int64_t> frame_step(std::string_view name) {
    for (const auto& [kind, ending] : {std::pair("fields_", ".h5"), std::pair("fields_", ".xdmf"), std::pair("trajectory_", ".h5")})
        if (const auto step = step_in(name, kind, ending)) return step;
    return std::nullopt;
}

bool is_single(std::string_view name) { return std::find(single_results.begin(), single_results.end(), name) != single_results.end(); }
bool is_result(std::string_view name) { return is_single(name) || checkpoint_step(name) || frame_step(name); }

// Names of this program's files in a directory: results, and what was never finished.
struct Contents {
    std::vector<std::string> results, unfinished;
};

Contents contents_of(const std::string& directory) {
    Contents found;
    std::error_code error;
    for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
        const std::string name = it->path().filename().string();
        constexpr std::string_view tmp = ".tmp";
        if (is_result(name)) found.results.push_back(name);
        else if (name.ends_with(tmp) && is_result(std::string_view(name).substr(0, name.size() - tmp.size()))) found.unfinished.push_back(name);
    }
    std::sort(found.results.begin(), found.results.end());
    return found;
}

// Moves (or copies) files into a new previous_<n>/; the first file makes it.
class Aside {
public:
    explicit Aside(const std::string& directory) : directory_(directory) {}
    void move(const std::string& name) {
        make();
        fs::rename(directory_ + "/" + name, folder_ + "/" + name, error_);
        check(name);
        ++count_;
    }
    void copy(const std::string& name) {
        if (!fs::is_regular_file(fs::symlink_status(directory_ + "/" + name, error_))) return;
        make();
        fs::copy_file(directory_ + "/" + name, folder_ + "/" + name, error_);
        check(name);
    }
    void say(const char* why) const {
        if (count_ > 0) fmt::print(stderr, "steelyard: note: {}: {} {} {} put aside into {}\n", directory_, count_, count_ == 1 ? "file" : "files", why, folder_);
    }

private:
    void make() {
        for (int n = 1; folder_.empty(); ++n) {
            const std::string name = fmt::format("{}/previous_{}", directory_, n);
            if (fs::exists(fs::symlink_status(name, error_))) continue;
            fs::create_directory(name, error_);
            folder_ = name;
            check(name);
        }
    }
    void check(const std::string& what) const {
        if (error_) throw OutputError(fmt::format("{}: cannot put {} aside: {}; choose another directory with --out", directory_, what, error_.message()));
    }
    std::string directory_, folder_;
    std::error_code error_;
    int count_ = 0;
};

std::string lineage_text(const Lineage& lineage) {
    nlohmann::ordered_json j;
    j["program"] = std::string("steelyard ") + STEELYARD_VERSION;
    j["starts"] = nlohmann::json::array();
    for (const Start& s : lineage) j["starts"].push_back({{"id", fmt::format("{:016x}", s.id)}, {"step", s.step}});
    return j.dump(2) + "\n";
}

// Empty for a text that no run wrote.
Lineage lineage_in(const std::string& text) {
    Lineage lineage;
    try {
        const nlohmann::json j = nlohmann::json::parse(text);
        for (const auto& s : j.at("starts")) lineage.push_back({std::stoull(s.at("id").get<std::string>(), nullptr, 16), s.at("step").get<std::int64_t>()});
    } catch (const std::exception&) {
        return {};
    }
    return lineage;
}

std::uint64_t new_id() {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
}

}  // namespace

std::string checkpoint_name(std::int64_t step) { return fmt::format("checkpoint_{}.h5", step); }

RunDirectory::RunDirectory(std::string path, const comm::Communicator& comm) : path_(std::move(path)), comm_(comm) {
    on_rank_0(comm_, [&] {
        std::error_code error;
        fs::create_directories(path_, error);
        if (!fs::is_directory(path_, error))
            throw OutputError(fmt::format("{}: cannot make this directory; check that its parent is writable, or choose another with --out", path_));
        if (const std::string owner = lock_.take(path_); !owner.empty())
            throw UsageError(fmt::format("{}: another run is writing to this directory, {}; wait for its end or choose another directory with --out", path_, owner));
        const Contents contents = contents_of(path_);
        for (const std::string& name : contents.unfinished) fs::remove(path_ + "/" + name, error);
        has_results_ = !contents.results.empty();
        lineage_ = lineage_in(comm::read_text(path_ + "/run.json"));
        for (const std::string& name : contents.results)
            if (const auto step = checkpoint_step(name)) checkpoints_.push_back(*step);
        std::sort(checkpoints_.begin(), checkpoints_.end());
    });
}

bool RunDirectory::holds(const CheckpointInfo& info) const {
    if (!lineage_.empty() && !info.lineage.empty()) return is_moment_of(info.lineage, info.step, lineage_);
    // Where one side has no lineage, the place tells, and that the directory's run began no earlier.
    std::error_code error;
    return (lineage_.empty() || info.step <= lineage_.front().step) && fs::equivalent(path_, fs::absolute(info.path).parent_path(), error) && !error;
}

std::optional<CheckpointInfo> RunDirectory::newest_checkpoint(OldResults old) const {
    std::vector<std::int64_t> steps{static_cast<std::int64_t>(checkpoints_.size()), has_results_};
    comm_.broadcast(std::span(steps));
    const std::int64_t count = steps[0];
    const bool has_results = steps[1] != 0;
    steps.assign(checkpoints_.rbegin(), checkpoints_.rend());
    steps.resize(count);
    comm_.broadcast(std::span(steps));
    std::int64_t damaged = 0;
    const auto warn = [&](const std::string& what) {
        if (comm_.rank() == 0) fmt::print(stderr, "steelyard: warning: {}\n", what);
    };
    for (const std::int64_t step : steps) {
        try {
            CheckpointInfo info = read_checkpoint(path_ + "/" + checkpoint_name(step), comm_);
            std::int64_t ours = comm_.rank() == 0 && holds(info);
            comm_.broadcast(std::span(&ours, 1));
            if (ours) return info;
            warn(info.path + ": is of another run than the other results in its directory; it is passed over");
        } catch (const InputError& e) {
            warn(e.what());
        }
        ++damaged;
    }
    if (has_results && old == OldResults::refuse)
        throw InputError(fmt::format("{}: holds results of a run, but no checkpoint to go on from{}; add --force to put them aside and start from the deck", path_,
                                     damaged > 0 ? fmt::format(" (none of {} can be used)", damaged) : ""));
    return std::nullopt;
}

void RunDirectory::prepare(const std::optional<CheckpointInfo>& restart, OldResults old, const Deck& deck, const std::string& deck_path) {
    on_rank_0(comm_, [&] { make_room(restart, old, deck, deck_path); });
    // The others need the lineage for checkpoints, and to know whether they continue.
    std::vector<std::int64_t> shared{continued_, static_cast<std::int64_t>(lineage_.size())};
    comm_.broadcast(std::span(shared));
    continued_ = shared[0] != 0;
    lineage_.resize(shared[1]);
    std::vector<std::int64_t> numbers;
    for (const Start& s : lineage_) numbers.insert(numbers.end(), {static_cast<std::int64_t>(s.id), s.step});
    comm_.broadcast(std::span(numbers));
    for (std::size_t i = 0; i < lineage_.size(); ++i) lineage_[i] = {static_cast<std::uint64_t>(numbers[2 * i]), numbers[2 * i + 1]};
}

void RunDirectory::make_room(const std::optional<CheckpointInfo>& restart, OldResults old, const Deck& deck, const std::string& deck_path) {
    std::error_code error;
    continued_ = restart && has_results_ && old == OldResults::refuse && holds(*restart);
    Aside aside(path_);
    if (continued_) {
        const std::int64_t step = restart->step;
        const bool same_trajectory = restart->deck.run.dt == deck.run.dt && restart->deck.run.precision == deck.run.precision;
        const bool checkpoints_in_the_way = !checkpoints_.empty() && checkpoints_.back() > step;
        for (const std::string& name : contents_of(path_).results) {
            const auto frame = frame_step(name), checkpoint = checkpoint_step(name);
            if ((checkpoint && *checkpoint > step) || (frame && *frame > step && !same_trajectory)) aside.move(name);
            else if (checkpoints_in_the_way && is_single(name)) aside.copy(name);  // their rows past this step are going to be replaced
        }
        aside.say("of later steps");
        fs::remove(path_ + "/summary.json", error);  // of a run that is no longer finished
        std::erase_if(checkpoints_, [&](std::int64_t s) { return s > step; });
    } else {
        if (has_results_ && !restart && old == OldResults::refuse) {
            if (fs::equivalent(deck_path, path_ + "/deck.yaml", error) && !error)
                throw UsageError(fmt::format("{}: the run would replace this deck by the effective one; choose another directory with --out, or move the deck", deck_path));
            throw UsageError(fmt::format("{}: holds results already; choose another directory with --out, go on with --restart auto, or add --force to put them aside", path_));
        }
        for (const std::string& name : contents_of(path_).results) aside.move(name);
        aside.say("of an earlier run");
        checkpoints_.clear();
    }
    lineage_ = restart ? restart->lineage : Lineage{};
    lineage_.push_back({new_id(), restart ? restart->step : 0});
    if (!comm::replace_file(path_ + "/run.json", lineage_text(lineage_)))
        throw OutputError(fmt::format("{}: cannot write run.json; check that the directory is writable and not full, or choose another with --out", path_));
}

}  // namespace app
