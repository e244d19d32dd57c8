// SPDX-License-Identifier: MIT
// Rank 0 alone looks at and changes the directory. The others learn the result. Everything that could fail comes before
// the first file of the new run is written. After each step `--restart auto` goes on rightly: checkpoints in the way go
// first, then run.json gets the lineage of the new run.
#include "app/output/directory/run_directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <tuple>
#include <utility>

#include "app/common/words.hpp"
#include "app/output/checkpoint/front.hpp"
#include "comm/file/durable.hpp"
#include "comm/file/file.hpp"

namespace app {
namespace {

namespace fs = std::filesystem;

// Whether a deck would lose something, as its comments, if it were replaced by its effective one.
bool has_words_of_its_own(const std::string& text, const std::string& path) {
    if (text.empty()) return false;
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

RunDirectory::RunDirectory(std::string path, const ResultKinds& kinds, const comm::Communicator& comm)
    : path_(std::move(path)), kinds_(kinds), comm_(comm), aside_(path_) {
    on_rank_0(comm_, [&] {
        std::error_code error;
        made_ = fs::create_directories(path_, error);
        if (!fs::is_directory(path_, error))
            throw OutputError(
                "{}: cannot make this directory; check that its parent is writable, or choose another with --out",
                path_);
        if (const std::string owner = lock_.take(path_); !owner.empty())
            throw UsageError(
                "{}: another run is writing to this directory, {}; wait for its end or choose another directory with "
                "--out",
                path_, owner);
        if (!lock_.held())
            say_note(
                "{}: this file system has no locks, so nobody keeps a second run out of the "
                "directory; start one at a time",
                path_);
        const Contents contents = contents_of(path_, kinds_);
        has_results_ = !contents.results.empty();
        run_json_ = read("run.json");
        lineage_ = lineage_in(run_json_, trajectory_);
        for (const std::string& name : contents.results)
            if (const auto named = checkpoint_step(name)) {
                const std::optional<Front> front = parse_front(comm::read_front(path_ + "/" + name, front_bytes));
                saved_.push_back({*named, front ? front->step : *named});
            }
        std::sort(
            saved_.begin(), saved_.end(), [](const Saved& a, const Saved& b) {  // of alike ones that with its name
                return std::tuple(a.step, a.named == a.step, a.named) > std::tuple(b.step, b.named == b.step, b.named);
            });
        for (const Saved& s : saved_)
            if (s.named == s.step) checkpoints_.push_back(s.step);
        std::ranges::reverse(checkpoints_);
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

// Prints once the checkpoints with the name of another step.
void RunDirectory::note_names() {
    if (std::exchange(names_noted_, true)) return;
    for (const Saved& s : saved_)
        if (s.named != s.step)
            say_note("{}/{}: holds the state of step {}, which counts, and not its name", path_,
                     checkpoint_name(s.named), s.step);
}

std::optional<CheckpointInfo> RunDirectory::newest_checkpoint(OldResults old) {
    const bool has_results = comm_.from_rank_0(has_results_) != 0;
    if (comm_.rank() == 0) note_names();
    std::vector<std::int64_t> steps;
    for (const Saved& s : saved_) steps.push_back(s.named);
    comm_.broadcast_list(steps);
    std::int64_t damaged = 0;
    const auto warn = [&](const std::string& what) {
        if (comm_.rank() == 0) say(stderr, "steelyard: warning: {}\n", what);
    };
    for (const std::int64_t step : steps) {
        try {
            CheckpointInfo info = read_checkpoint(path_ + "/" + checkpoint_name(step), comm_);
            if (comm_.from_rank_0(comm_.rank() == 0 && holds(info))) return info;
            warn(info.path + ": is of another run than the other results in its directory; it is passed over");
        } catch (const comm::Agreed<InputError>& e) {
            warn(e.what());
        }
        ++damaged;
    }
    refuse_unless<InputError>(comm_, !has_results || old != OldResults::refuse,
                              "{}: holds results, but no checkpoint to go on from{}; --restart auto --force puts them "
                              "aside and starts from the deck",
                              path_, damaged > 0 ? fmt::format(" (none of {} can be used)", damaged) : "");
    return std::nullopt;
}

void RunDirectory::prepare(const std::optional<CheckpointInfo>& restart, OldResults old, const Deck& deck,
                           const std::string& deck_path) {
    prepared_ = true;
    if (restart) keep_own_checkpoints(restart->step);
    on_rank_0(comm_, [&] { make_room(restart, old, deck, deck_path); });
    // The others need the lineage for checkpoints, and to know whether they continue.
    continued_ = comm_.from_rank_0(continued_) != 0;
    std::vector<std::int64_t> numbers = numbers_of(lineage_);
    comm_.broadcast_list(numbers);
    lineage_ = lineage_from(numbers);
}

void RunDirectory::refuse_results(OldResults old, const std::string& deck_path) const {
    if (!has_results_ || old != OldResults::refuse) return;
    std::error_code error;
    if (fs::equivalent(deck_path, path_ + "/deck.yaml", error) && !error)
        throw UsageError(
            "{}: the run would replace this deck by the effective one; choose another directory with --out, or move "
            "the deck",
            deck_path);
    throw UsageError(
        "{}: holds results already; choose another directory with --out, add --force to put them aside, or go on with "
        "a run by --restart auto",
        path_);
}

void RunDirectory::require_room(OldResults old, const std::string& deck_path) const {
    on_rank_0(comm_, [&] { refuse_results(old, deck_path); });
}

// The last step in a result; -1 if it is not known.
std::int64_t RunDirectory::last_step_in(const std::string& name, const ResultKind& kind) const {
    if (const auto step = kind.step_in(name)) return *step;
    if (kind.last_step) return kind.last_step(path_ + "/" + name);
    return name.ends_with(".csv") ? last_csv_step(read(name)) : -1;
}

// True if this start writes all content of a result after `step` again, bit by bit except for seconds. For that the
// last start must have gone through that state with the same settings, at least up to the result's end. Fields of a run
// that balances have loads, and a restart does not know these before its first balancing.
bool RunDirectory::comes_again(const std::string& name, std::int64_t step, const Trajectory& now) const {
    const ResultKind* kind = kind_of(name, kinds_);
    const std::int64_t last = kind ? last_step_in(name, *kind) : -1;
    if (last > step && now.balances && kind->step_in(name)) return false;
    return last <= step || (!lineage_.empty() && lineage_.back().step <= step && trajectory_.settings == now.settings &&
                            (trajectory_.processes == now.processes || !kind->follows_processes) &&
                            (trajectory_.steps == now.steps || last < std::min(trajectory_.steps, now.steps)));
}

// Makes room for the run from the restart on. Checkpoints are put aside, and all results that would lose content.
void RunDirectory::make_room_for_past(const CheckpointInfo& restart, const Trajectory& now) {
    const std::int64_t step = restart.step;
    std::vector<std::string> names, lossy, in_the_way;
    std::map<std::string, std::vector<std::string>> no_files;
    for (const std::string& name : contents_of(path_, kinds_).results) {
        const ResultKind* kind = kind_of(name, kinds_);
        const std::string why = why_no_file(path_, name, kind && kind->folder);
        (why.empty() ? names : no_files[why]).push_back(name);
    }
    bool later = false;  // is something lost?
    for (const Saved& s : saved_) {
        const std::string name = checkpoint_name(s.named);
        if (s.named <= step || is_misnamed_restart(s, restart)) continue;
        if (std::ranges::find(names, name) == names.end()) continue;
        in_the_way.push_back(name);
        later |= s.step > step;
    }
    for (const std::string& name : names)
        if (!comes_again(name, step, now))
            (kind_of(name, kinds_)->step_in(name) ? in_the_way : lossy).push_back(name), later = true;
    // All small files go with the endangered results, so that these can be matched to their run.
    if (later)
        for (const std::string& name : names)
            if (const ResultKind* kind = kind_of(name, kinds_);
                kind && kind->name == name && !kind->last_step && std::ranges::find(lossy, name) == lossy.end())
                lossy.push_back(name);
    for (const std::string& name : lossy)  // copies first: a run that is killed here has lost nothing
        if (!aside_.has(name)) aside_.copy(name);
    for (const std::string& name : in_the_way) aside_.move(name);
    aside_.report("of later steps");
    aside_.move_no_files(no_files);
    name_restart(restart);
}

// Whether a checkpoint is the one from which the run goes on, and has the name of a step that is to come. Not where
// another one has the right name.
bool RunDirectory::is_misnamed_restart(const Saved& s, const CheckpointInfo& restart) const {
    std::error_code error;
    return s.named > restart.step && fs::equivalent(path_ + "/" + checkpoint_name(s.named), restart.path, error) &&
           std::ranges::none_of(
               saved_, [&](const Saved& other) { return other.named == restart.step && other.step == restart.step; });
}

// Such a checkpoint gets its own name: else the run would write another one over it.
void RunDirectory::name_restart(const CheckpointInfo& restart) {
    const std::string own = checkpoint_name(restart.step);
    for (const Saved& s : saved_) {
        if (!is_misnamed_restart(s, restart)) continue;
        const std::string name = checkpoint_name(s.named);
        std::error_code error;
        if (fs::exists(fs::symlink_status(path_ + "/" + own, error))) aside_.move(own);
        aside_.report("with the name of another step");
        fs::rename(path_ + "/" + name, path_ + "/" + own, error);
        if (error) throw cannot_write(own);
        say_note("{}: {} is called {} now", path_, name, own);
        checkpoints_.push_back(restart.step);
        return;
    }
}

void RunDirectory::make_room(const std::optional<CheckpointInfo>& restart, OldResults old, const Deck& deck,
                             const std::string& deck_path) {
    std::error_code error;
    require_nobody_came();
    continued_ = restart && has_results_ && old == OldResults::refuse && holds(*restart);
    const Trajectory now = trajectory_of(deck, comm_.size());
    if (continued_) {
        written_here_ = lies_here(*restart);
        note_names();
        if (has_words_of_its_own(read("deck.yaml"), path_)) aside_.copy("deck.yaml");
        aside_.report("with words of its own");
        make_room_for_past(*restart, now);
    } else {
        if (!restart) refuse_results(old, deck_path);
        for (const std::string& name : contents_of(path_, kinds_).results) aside_.move(name);
        aside_.report("of an earlier run");
        checkpoints_.clear();
    }
    for (const std::string& name : contents_of(path_, kinds_).unfinished)
        if (!fs::is_directory(fs::symlink_status(path_ + "/" + name, error))) fs::remove(path_ + "/" + name, error);
    lineage_ = restart ? restart->lineage : Lineage{};
    lineage_.push_back({new_id(), restart ? restart->step : 0});
    if (!own_.start(path_ + "/run.json", text_of(lineage_, now), true)) throw cannot_write("run.json");
    // The run is no longer finished, so programs that wait for the file must not find it. The summary stays under
    // another name until the next one.
    if (fs::exists(path_ + "/summary.json", error)) {
        fs::rename(path_ + "/summary.json", path_ + summary_before, error);
        if (error) throw cannot_write("summary_before.json");
    }
}

void RunDirectory::forget_summary_before() const {
    std::error_code error;
    fs::remove(path_ + summary_before, error);
}

// The names of files of this run. Other files belong to somebody else and are never removed.
void RunDirectory::keep_own_checkpoints(std::int64_t last) {
    comm_.broadcast_list(checkpoints_);
    std::erase_if(checkpoints_, [&](std::int64_t step) {
        if (step > last) return true;
        CheckpointInfo info;
        info.path = path_ + "/" + checkpoint_name(step);
        info.step = step;  // its name tells, as checkpoints_ has it
        try {
            comm::FileReader file(info.path, comm_);
            if (file.has("/exact/lineage")) info.lineage = lineage_from(file.all<std::int64_t>("/exact/lineage"));
        } catch (const comm::Agreed<comm::ReadError>&) {
            return true;
        }
        return comm_.from_rank_0(comm_.rank() == 0 && holds(info)) == 0;
    });
}

bool RunDirectory::has(const std::string& name) const {
    return comm_.from_rank_0(comm_.rank() == 0 && comm::file_size(path_ + "/" + name) >= 0) != 0;
}

void RunDirectory::require_ours() {
    if (const std::string what = lock_.lost(); !what.empty())
        throw OutputError(
            "{}: {}; go on from the last checkpoint, if there is one, by --restart FILE into another --out", path_,
            what);
    if (lock_.held()) return;
    if (const std::string damage = own_.damage(); !damage.empty())
        throw OutputError(
            "{}: run.json {} by another run, which this file system without locks lets in; go on from the last "
            "checkpoint, if there is one, by --restart FILE into another --out",
            path_, damage);
}

// Without locks another run may have begun since this one has looked at the directory: that one stays.
void RunDirectory::require_nobody_came() {
    if (!lock_.held() && read("run.json") != run_json_)
        throw UsageError(
            "{}: another run has begun in this directory, which this file system without locks lets in; choose another "
            "directory with --out",
            path_);
}

std::string RunDirectory::read(const std::string& name) const {
    std::optional<std::string> text = comm::read_whole(path_ + "/" + name);
    if (text) return std::move(*text);
    throw OutputError(
        "{}: cannot read {}, and what is written instead would lose it; check the disk and the rights of the file",
        path_, name);
}

void RunDirectory::copy_aside(const std::string& name, const std::string& why) {
    aside_.copy(name);
    aside_.sync();
    say_note("{}: {} {}; a copy of all is put aside into {}", path_, name, why, aside_.folder());
}

void RunDirectory::put_aside(const std::string& name, const std::string& why) {
    aside_.move(name);
    say_note("{}: {} {}, so it is put aside into {} and begun anew", path_, name, why, aside_.folder());
}

void RunDirectory::note_missing(const std::string& name) const {
    if (aside_.has(name)) return;
    say_note("{}: {} of the run that is continued is missing, so it is begun anew", path_, name);
}

void RunDirectory::note_gap(const std::string& name, const CsvGap& gap) const {
    say_note("{}: {} has lost {}; the run goes on and does not write them again", path_, name, in_words(gap));
}

void RunDirectory::require_undamaged(const std::string& name, const std::string& damage) {
    require_ours();
    app::require_undamaged(path_ + "/" + name, damage);
}

void require_undamaged(const std::string& path, const std::string& damage) {
    if (!damage.empty())
        throw OutputError(
            "{}: {} by another program while the run was writing it; keep others away from results: --restart auto "
            "goes on from the last checkpoint",
            path, damage);
}

void RunDirectory::write(const std::string& name, const std::string& text, bool durable) const {
    if (!comm::replace_file(path_ + "/" + name, text, durable)) throw cannot_write(name);
}

OutputError RunDirectory::cannot_write(const std::string& name) const {
    return OutputError(
        "{}: cannot write {}; check that the directory is writable and not full, or choose another with --out", path_,
        name);
}

bool RunDirectory::finished(const CheckpointInfo& info) const {
    bool done = false;
    on_rank_0(comm_, [&] {
        done = holds(info) && ends_with(comm::read_text(path_ + "/summary.json"), info.step, info.state_hash);
    });
    return comm_.from_rank_0(done) != 0;
}

std::int64_t RunDirectory::last_step(const CheckpointInfo& info) const {
    std::int64_t last = -1;
    on_rank_0(comm_, [&] {
        if (!holds(info)) return;
        for (const std::string& name : contents_of(path_, kinds_).results)
            if (const ResultKind* kind = kind_of(name, kinds_); kind && why_no_file(path_, name, kind->folder).empty())
                last = std::max(last, last_step_in(name, *kind));
    });
    return last;
}

}  // namespace app
