// SPDX-License-Identifier: MIT
// The names of a run's results in its directory, and what puts them aside. The program's own list of results is
// app/output/results.hpp.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace app {

/// The step of a file `<kind><step><ending>`, empty for any other name.
std::optional<std::int64_t> step_in_name(std::string_view name, std::string_view kind, std::string_view ending);
/// The step of a checkpoint's file, empty for any other name.
std::optional<std::int64_t> checkpoint_step(std::string_view name);

/// A result, as far as its directory has to know it.
struct ResultKind {
    std::string_view name;           ///< a * stands for the step, where there is a file for each step
    bool follows_processes = false;  ///< the content depends on who owns the cells
    bool folder = false;
    /// Last step in the file or folder at this path; -1 if it is not known. Empty for CSV files, whose rows tell, and
    /// for files without steps.
    std::function<std::int64_t(const std::string& path)> last_step = {};

    /// The step in the name of a file of this kind; empty for any other name, and where the name has no step.
    std::optional<std::int64_t> step_in(std::string_view file) const;
};
using ResultKinds = std::vector<ResultKind>;

/// The kind of a file or folder of this name; null for a checkpoint and for a name that is no result's.
const ResultKind* kind_of(std::string_view name, const ResultKinds& kinds);
inline bool is_result(std::string_view name, const ResultKinds& kinds) {
    return checkpoint_step(name) || kind_of(name, kinds);
}

/// Names of this program's files in a directory: results, and what was never finished.
struct Contents {
    std::vector<std::string> results, unfinished;
};
/// Throws OutputError when the directory cannot be read.
Contents contents_of(const std::string& directory, const ResultKinds& kinds);

/// Empty for a file or folder that a run can go on with; else why it is none. folder: of a kind that is one.
std::string why_no_file(const std::string& directory, const std::string& name, bool folder);

/// Moves (or copies) files into a new previous_<n>/; the first file makes it, and a file whose name is there already
/// makes the next. Throws OutputError.
class Aside {
public:
    explicit Aside(const std::string& directory) : directory_(directory) {}
    void move(const std::string& name);
    /// Whether the file was put aside already.
    bool has(const std::string& name) const;
    void copy(const std::string& name);
    /// Moves what is no file, and says why. names: by the reason.
    void move_no_files(const std::map<std::string, std::vector<std::string>>& names);
    /// Brings copies to the disk, since what they were made of is overwritten next. Throws OutputError.
    void sync();
    /// As sync(), and says what was put aside since the last report. why: "of later steps".
    void report(const char* why);
    const std::string& folder() const { return folder_; }  ///< empty as long as nothing was put aside

private:
    void make(const std::string& name_of_file);
    void check(const std::string& what) const;
    std::string directory_, folder_;
    std::error_code error_;
    bool copied_ = false;             // since the last sync()
    std::vector<std::string> names_;  // of what was put aside since the last report
};

}  // namespace app
