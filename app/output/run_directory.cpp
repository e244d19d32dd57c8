// SPDX-License-Identifier: MIT
// Rank 0 alone looks at and changes the directory; the others learn what they need. Everything that could fail is done
// before the first file of the new run is written, and each step leaves a directory from which `--restart auto` goes on
// rightly: checkpoints that are in the way go first, then run.json says who writes from now on.
#include "app/output/run_directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <random>
#include <string_view>

#include "app/common/errors.hpp"
#include "app/common/say.hpp"
#include "app/common/words.hpp"
#include "app/output/json_text.hpp"
#include "app/output/series.hpp"
#include "comm/file/durable.hpp"
#include "comm/file/file.hpp"
#include "comm/file/posix_file.hpp"

namespace app {
namespace {

namespace fs = std::filesystem;

Trajectory trajectory_of(const Deck& deck) { return {deck.run.dt, std::string(balance::word_of(deck.run.precision))}; }

// Whether a deck would lose something, as its comments, if it were replaced by its effective one.
bool has_words_of_its_own(const std::string& path) {
    const std::string text = comm::read_text(path);
    try {
        return to_yaml(parse_deck(text, path)) != text;
    } catch (const DeckError&) {
        return true;
    }
}

constexpr const char* summary_before = "/summary_before.json";

std::uint64_t new_id() {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
}

}  // namespace

std::string checkpoint_name(std::int64_t step) { return fmt::format("checkpoint_{}.h5", step); }

RunDirectory::RunDirectory(std::string path, const comm::Communicator& comm)
    : path_(std::move(path)), comm_(comm), aside_(path_) {
    on_rank_0(comm_, [&] {
        std::error_code error;
        made_ = fs::create_directories(path_, error);
        if (!fs::is_directory(path_, error))
            throw OutputError(fmt::format(
                "{}: cannot make this directory; check that its parent is writable, or choose another with --out",
                path_));
        if (const std::string owner = lock_.take(path_); !owner.empty())
            throw UsageError(
                fmt::format("{}: another run is writing to this directory, {}; wait for its end or choose another "
                            "directory with --out",
                            path_, owner));
        const Contents contents = contents_of(path_);
        has_results_ = !contents.results.empty();
        lineage_ = lineage_in(comm::read_text(path_ + "/run.json"), trajectory_);
        for (const std::string& name : contents.results)
            if (const auto step = checkpoint_step(name)) checkpoints_.push_back(*step);
        std::sort(checkpoints_.begin(), checkpoints_.end());
    });
}

RunDirectory::~RunDirectory() {
    if (made_ && !prepared_) lock_.remove_if_empty();
}

bool RunDirectory::holds(const CheckpointInfo& info) const {
    if (!lineage_.empty() && !info.lineage.empty()) return is_moment_of(info.lineage, info.step, lineage_);
    // Where one side has no lineage, the place tells, and that the directory's run began no earlier.
    return (lineage_.empty() || info.step <= lineage_.front().step) && lies_here(info);
}

bool RunDirectory::lies_here(const CheckpointInfo& info) const {
    std::error_code error;
    return fs::equivalent(path_, fs::absolute(info.path).parent_path(), error) && !error;
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
        if (comm_.rank() == 0) say(stderr, "steelyard: warning: {}\n", what);
    };
    for (const std::int64_t step : steps) {
        try {
            CheckpointInfo info = read_checkpoint(path_ + "/" + checkpoint_name(step), comm_);
            std::int64_t ours = comm_.rank() == 0 && holds(info);
            comm_.broadcast(std::span(&ours, 1));
            if (ours) return info;
            warn(info.path + ": is of another run than the other results in its directory; it is passed over");
        } catch (const comm::Agreed<InputError>& e) {
            warn(e.what());
        }
        ++damaged;
    }
    comm::require(comm_, !has_results || old != OldResults::refuse, [&] {
        return InputError(
            fmt::format("{}: holds results, but no checkpoint to go on from{}; --restart auto --force puts them aside "
                        "and starts from the deck",
                        path_, damaged > 0 ? fmt::format(" (none of {} can be used)", damaged) : ""));
    });
    return std::nullopt;
}

void RunDirectory::prepare(const std::optional<CheckpointInfo>& restart, OldResults old, const Deck& deck,
                           const std::string& deck_path) {
    prepared_ = true;
    if (restart) keep_own_checkpoints(restart->step);
    on_rank_0(comm_, [&] { make_room(restart, old, deck, deck_path); });
    // The others need the lineage for checkpoints, and to know whether they continue.
    std::vector<std::int64_t> shared{continued_, static_cast<std::int64_t>(lineage_.size())};
    comm_.broadcast(std::span(shared));
    continued_ = shared[0] != 0;
    lineage_.resize(shared[1]);
    std::vector<std::int64_t> numbers = numbers_of(lineage_);
    comm_.broadcast(std::span(numbers));
    lineage_ = lineage_from(numbers);
}

void RunDirectory::refuse_results(OldResults old, const std::string& deck_path) const {
    if (!has_results_ || old != OldResults::refuse) return;
    std::error_code error;
    if (fs::equivalent(deck_path, path_ + "/deck.yaml", error) && !error)
        throw UsageError(
            fmt::format("{}: the run would replace this deck by the effective one; choose another directory "
                        "with --out, or move the deck",
                        deck_path));
    throw UsageError(
        fmt::format("{}: holds results already; choose another directory with --out, add --force to put "
                    "them aside, or go on with a run by --restart auto",
                    path_));
}

void RunDirectory::require_room(OldResults old, const std::string& deck_path) const {
    on_rank_0(comm_, [&] { refuse_results(old, deck_path); });
}

void RunDirectory::make_room(const std::optional<CheckpointInfo>& restart, OldResults old, const Deck& deck,
                             const std::string& deck_path) {
    std::error_code error;
    continued_ = restart && has_results_ && old == OldResults::refuse && holds(*restart);
    if (continued_) {
        const std::int64_t step = restart->step;
        written_here_ = lies_here(*restart);
        std::vector<std::string> names, no_files;
        for (const std::string& name : contents_of(path_).results)
            (why_no_file(path_, name).empty() ? names : no_files).push_back(name);
        // What was written of later steps comes again bit by bit where the last start went through this state and did
        // what this one does.
        const bool again = !lineage_.empty() && lineage_.back().step <= step && trajectory_ == trajectory_of(deck);
        const auto later_row = [&](const std::string& name) {
            const SeriesKind* framed = framed_kind(name);
            if (!framed) return name.ends_with(".csv") && last_csv_step(comm::read_text(path_ + "/" + name)) > step;
            const std::vector<std::int64_t> steps = framed->frame_steps(path_ + "/" + name);
            return !steps.empty() && steps.back() > step;
        };
        const auto in_the_way = [&](const std::string& name) {
            const auto frame = frame_step(name), checkpoint = checkpoint_step(name);
            return (checkpoint && *checkpoint > step) || (frame && *frame > step && !again);
        };
        const bool lossy = std::any_of(names.begin(), names.end(),
                                       [&](const std::string& n) { return in_the_way(n) || (later_row(n) && !again); });
        const bool own_deck = fs::equivalent(deck_path, path_ + "/deck.yaml", error) && !error &&
                              has_words_of_its_own(path_ + "/deck.yaml");
        for (const std::string& name : names)  // copies first: a run that is killed here has lost nothing
            if (is_single(name) &&
                ((lossy && (!framed_kind(name) || later_row(name))) || (own_deck && name == "deck.yaml")))
                aside_.copy(name);
        for (const std::string& name : names)
            if (in_the_way(name)) aside_.move(name);
        aside_.report("of later steps");
        aside_.move_no_files(no_files);
    } else {
        if (!restart) refuse_results(old, deck_path);
        for (const std::string& name : contents_of(path_).results) aside_.move(name);
        aside_.report("of an earlier run");
        checkpoints_.clear();
    }
    for (const std::string& name : contents_of(path_).unfinished) fs::remove(path_ + "/" + name, error);
    lineage_ = restart ? restart->lineage : Lineage{};
    lineage_.push_back({new_id(), restart ? restart->step : 0});
    if (!comm::replace_file(path_ + "/run.json", text_of(lineage_, trajectory_of(deck))))
        throw cannot_write("run.json");
    // Of a run that is no longer finished: whoever waits for the file must not find it. It stays until the next one.
    if (fs::exists(path_ + "/summary.json", error)) {
        fs::rename(path_ + "/summary.json", path_ + summary_before, error);
        if (error) throw cannot_write("summary_before.json");
    }
}

void RunDirectory::forget_summary_before() const {
    std::error_code error;
    fs::remove(path_ + summary_before, error);
}

// Of the names there, those whose files are of this run: the others are somebody's, and never removed.
void RunDirectory::keep_own_checkpoints(std::int64_t last) {
    auto count = static_cast<std::int64_t>(checkpoints_.size());
    comm_.broadcast(std::span(&count, 1));
    checkpoints_.resize(count);
    comm_.broadcast(std::span(checkpoints_));
    std::erase_if(checkpoints_, [&](std::int64_t step) {
        if (step > last) return true;
        CheckpointInfo info;
        info.path = path_ + "/" + checkpoint_name(step);
        info.step = step;
        try {
            comm::FileReader file(info.path, comm_);
            if (file.has("/exact/lineage")) info.lineage = lineage_from(file.all<std::int64_t>("/exact/lineage"));
        } catch (const comm::Agreed<comm::ReadError>&) {
            return true;
        }
        std::int64_t ours = comm_.rank() == 0 && holds(info);
        comm_.broadcast(std::span(&ours, 1));
        return ours == 0;
    });
}

bool RunDirectory::has(const std::string& name) const {
    std::int64_t found = comm_.rank() == 0 && comm::file_size(path_ + "/" + name) >= 0;
    comm_.broadcast(std::span(&found, 1));
    return found != 0;
}

bool RunDirectory::whole() const { return comm_.all_agree(losses_ == 0); }

void RunDirectory::require_ours() {
    if (const std::string what = lock_.lost(); !what.empty())
        throw OutputError(
            fmt::format("{}: {}; go on from the last checkpoint, if there is one, by --restart FILE into another --out",
                        path_, what));
}

void RunDirectory::put_aside(const std::string& name, const std::string& why) {
    aside_.move(name);
    say(stderr, "steelyard: note: {}: {} {}, so it is put aside into {} and begun anew\n", path_, name, why,
        aside_.folder());
}

void RunDirectory::note_missing(const std::string& name) const {
    std::error_code error;
    if (!aside_.folder().empty() && fs::exists(fs::symlink_status(aside_.folder() + "/" + name, error))) return;
    say(stderr, "steelyard: note: {}: {} of the run that is continued is missing, so it is begun anew\n", path_, name);
}

void RunDirectory::note_gap(const std::string& name, const CsvGap& gap) const {
    say(stderr, "steelyard: note: {}: {} has lost {}; the run goes on and does not write them again\n", path_, name,
        in_words(gap));
}

void RunDirectory::lost(const std::string& name, const std::string& damage) {
    require_ours();  // a directory that is gone takes its files with it
    ++losses_;
    std::error_code error;
    const bool there = fs::exists(fs::symlink_status(path_ + "/" + name, error));
    if (there) aside_.move(name);
    say(stderr,
        "steelyard: error: {}/{}: {} by another program{}; it is begun anew, the run goes on and ends with exit code "
        "5\n",
        path_, name, damage, there ? ", what is there now is put aside into " + aside_.folder() : "");
}

OutputError RunDirectory::cannot_write(const std::string& name) const {
    return OutputError(
        fmt::format("{}: cannot write {}; check that the directory is writable and not full, or choose another with "
                    "--out",
                    path_, name));
}

bool RunDirectory::finished(const CheckpointInfo& info) const {
    std::int64_t done = 0;
    on_rank_0(comm_, [&] {
        done = holds(info) && ends_with(comm::read_text(path_ + "/summary.json"), info.step, info.state_hash);
    });
    comm_.broadcast(std::span(&done, 1));
    return done != 0;
}

}  // namespace app
