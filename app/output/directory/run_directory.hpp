// SPDX-License-Identifier: MIT
// The output directory of a run: one run at a time writes to it, and results of different runs never mix in it.
// Whatever a new run can't go on from is put aside, into previous_<n>/ inside the directory; nothing is overwritten or
// deleted but what this run wrote itself.
//
// run.json holds the lineage of the run whose results the directory holds (checkpoint_info.hpp).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/common/errors.hpp"
#include "app/output/checkpoint/restart.hpp"
#include "app/output/directory/csv_rows.hpp"
#include "app/output/directory/result_files.hpp"
#include "app/output/directory/run_json.hpp"
#include "comm/communicator.hpp"
#include "comm/file/directory_lock.hpp"
#include "comm/file/posix_file.hpp"

namespace app {

/// Treatment of results that are there already.
enum class OldResults {
    refuse,  ///< a fresh run ends with UsageError; a restart puts aside what it doesn't go on from
    aside,   ///< all are put aside (--force)
};

class RunDirectory {
public:
    /// Makes the directory, locks it for the life of this object, and looks what it holds. Collective. Throws
    /// OutputError; UsageError when another run has the lock. kinds: of all results that may be there.
    RunDirectory(std::string path, const ResultKinds& kinds, const comm::Communicator& comm);
    /// A directory that was made for a run that has not come to prepare() is removed.
    ~RunDirectory();
    RunDirectory(const RunDirectory&) = delete;
    RunDirectory& operator=(const RunDirectory&) = delete;

    const std::string& path() const { return path_; }
    const comm::Communicator& comm() const { return comm_; }

    /// `--restart auto`: the latest valid checkpoint of the directory's run. The step inside a file counts, not the
    /// step in its name. Checkpoints that are damaged or of another run are passed over with a warning. Empty if the
    /// directory holds no results. Collective. Throws InputError if it holds results, but no such checkpoint, unless
    /// the results are to be put aside.
    std::optional<CheckpointInfo> newest_checkpoint(OldResults old);

    /// Throws UsageError where prepare() would for a run that starts from its deck. Collective.
    void require_room(OldResults old, const std::string& deck_path) const;

    /// Makes room for a run that starts from `restart`, or from its deck: after this the directory holds results of
    /// that run's past only. Call it when nothing else can be refused any more. deck_path: as given on the command
    /// line. Collective. Throws UsageError, OutputError.
    void prepare(const std::optional<CheckpointInfo>& restart, OldResults old, const Deck& deck,
                 const std::string& deck_path);

    /// Whether the directory's run has ended at the step of this checkpoint, and its results are all there. Collective.
    bool finished(const CheckpointInfo& info) const;

    /// Last step of the results that a run from this checkpoint continues; -1 if it continues none. Known on rank 0
    /// alone. Collective. Throws OutputError.
    std::int64_t last_step(const CheckpointInfo& info) const;

    // After prepare():
    /// Whether there is a file of this name. Collective.
    bool has(const std::string& name) const;
    const Lineage& lineage() const { return lineage_; }
    bool continued() const { return continued_; }  ///< CSV files hold this run's past
    /// Steps of this run's checkpoints, ascending; without those whose names say another step.
    std::vector<std::int64_t>& checkpoints() { return checkpoints_; }

    // After prepare(), on rank 0 alone, inside on_rank_0():
    /// Throws OutputError where the directory is no longer the one that this run has locked, or another run has it.
    void require_ours();
    /// What a file of this name holds; an empty text where there is none. Throws OutputError where it cannot be read:
    /// what is written instead would lose it. Also before prepare().
    std::string read(const std::string& name) const;
    /// Puts a copy of a file aside of which a part goes, and says so. why: "keeps fewer frames".
    void copy_aside(const std::string& name, const std::string& why);
    /// Moves a result that this run can't go on with into previous_<n>/, and says so. why: "names other columns".
    void put_aside(const std::string& name, const std::string& why);
    /// Notes that a file of the continued run is missing and begun anew. Prints nothing for a file that was put aside,
    /// because that has its own note.
    void note_missing(const std::string& name) const;
    /// Says which rows a file lacks that this run goes on with.
    void note_gap(const std::string& name, const CsvGap& gap) const;
    /// Whether the checkpoint from which the run goes on was written here, by the last of the starts that it knows.
    bool has_written_checkpoint() const { return written_here_; }
    /// Removes the summary of an earlier start, in whose place there is a new one.
    void forget_summary_before() const;
    /// Throws OutputError if another program has done something to a file that the run is writing. damage: "was
    /// removed", or empty. Throws as require_ours() first, because a lost directory takes its files with it.
    void require_undamaged(const std::string& name, const std::string& damage);
    /// Gives this text to a file (comm::replace_file). On rank 0 alone, inside on_rank_0(). Throws OutputError.
    void write(const std::string& name, const std::string& text, bool durable = false) const;
    OutputError cannot_write(const std::string& name) const;

private:
    struct Saved {
        std::int64_t named = 0, step = 0;  ///< by its name; in its file, where that is readable
    };
    void make_room(const std::optional<CheckpointInfo>& restart, OldResults old, const Deck& deck,
                   const std::string& deck_path);
    void make_room_for_past(const CheckpointInfo& restart, const Trajectory& now);
    bool is_misnamed_restart(const Saved& s, const CheckpointInfo& restart) const;
    void name_restart(const CheckpointInfo& restart);
    void require_nobody_came();
    void note_names();
    std::int64_t last_step_in(const std::string& name, const ResultKind& kind) const;
    bool comes_again(const std::string& name, std::int64_t step, const Trajectory& now) const;
    void refuse_results(OldResults old, const std::string& deck_path) const;
    bool holds(const CheckpointInfo& info) const;
    bool lies_here(const CheckpointInfo& info) const;
    void keep_own_checkpoints(std::int64_t last);

    std::string path_;
    const ResultKinds& kinds_;
    const comm::Communicator& comm_;
    comm::DirectoryLock lock_;
    Lineage lineage_;
    std::vector<std::int64_t> checkpoints_;
    std::vector<Saved> saved_;  // rank 0: the directory's checkpoints, the newest first
    std::string run_json_;      // rank 0: as it was found
    comm::TextFile own_;        // rank 0: run.json of this run
    Trajectory trajectory_;     // of the run that wrote last
    Aside aside_;
    bool made_ = false, prepared_ = false, continued_ = false, has_results_ = false;
    bool written_here_ = false, names_noted_ = false;  // rank 0
};

/// Throws OutputError with the path if `damage` is not empty: another program has damaged a file that a run writes.
void require_undamaged(const std::string& path, const std::string& damage);

}  // namespace app
