// SPDX-License-Identifier: MIT
// Only names that this program gives its own results are ever moved or removed.
#include "app/output/result_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <utility>

#include "app/common/errors.hpp"
#include "app/common/say.hpp"
#include "app/common/words.hpp"
#include "app/deck/deck.hpp"
#include "app/output/series.hpp"
#include "comm/file/posix_file.hpp"

namespace app {

namespace fs = std::filesystem;

namespace {

// Beside the files of series (series.hpp).
constexpr auto single_results = std::to_array<std::string_view>(
    {"zones.csv", "resources.csv", "deck.yaml", "thermo.csv", "timing.csv", "balance.csv", "map.csv", "ranks.csv",
     "summary.json", "summary_before.json", "run.json", "partition.json", "predict.json", "machine.yaml",
     "extrap.jsonl", "lbaf", "metis"});

// The first of them, and how many more there are: there may be one for each step.
std::string some_of(const std::vector<std::string>& names) {
    const auto shown = std::min<std::size_t>(names.size(), 8);
    const std::string more = shown < names.size() ? fmt::format(" and {} more", names.size() - shown) : "";
    return fmt::format("{}{}", fmt::join(names.begin(), names.begin() + shown, ", "), more);
}

// Those that are directories: of the formats of other programs.
bool is_folder(std::string_view name) {
    const std::vector<std::string> names = balance::all_words<BalanceFormat>();
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::optional<std::int64_t> step_in_name(std::string_view name, std::string_view kind, std::string_view ending) {
    if (!name.starts_with(kind) || !name.ends_with(ending) || name.size() <= kind.size() + ending.size())
        return std::nullopt;
    name.remove_prefix(kind.size());
    name.remove_suffix(ending.size());
    std::int64_t step = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
    if (error != std::errc() || end != name.data() + name.size() || std::to_string(step) != name) return std::nullopt;
    return step;
}

std::optional<std::int64_t> checkpoint_step(std::string_view name) { return step_in_name(name, "checkpoint_", ".h5"); }

std::optional<std::int64_t> frame_step(std::string_view name) {
    for (const SeriesKind& kind : series_kinds())
        for (const std::string_view file : kind.files)
            if (const std::size_t star = file.find('*'); star != std::string_view::npos)
                if (const auto step = step_in_name(name, file.substr(0, star), file.substr(star + 1))) return step;
    return std::nullopt;
}

bool is_single(std::string_view name) {
    const auto has = [&](const auto& names) { return std::find(names.begin(), names.end(), name) != names.end(); };
    return has(single_results) || std::any_of(series_kinds().begin(), series_kinds().end(),
                                              [&](const SeriesKind& kind) { return has(kind.files); });
}
bool is_result(std::string_view name) { return is_single(name) || checkpoint_step(name) || frame_step(name); }

Contents contents_of(const std::string& directory) {
    Contents found;
    std::error_code error;
    fs::directory_iterator it(directory, error);
    for (const fs::directory_iterator end; !error && it != end; it.increment(error)) {
        const std::string name = it->path().filename().string();
        constexpr std::string_view tmp = ".tmp";
        if (is_result(name)) found.results.push_back(name);
        else if (name.ends_with(tmp)) {
            const std::string_view final_name = std::string_view(name).substr(0, name.size() - tmp.size());
            if (is_result(final_name) && !is_folder(final_name)) found.unfinished.push_back(name);
        }
    }
    if (error)
        throw OutputError(
            fmt::format("{}: cannot look what it holds: {}; make it readable or choose another with --out", directory,
                        error.message()));
    std::sort(found.results.begin(), found.results.end());
    return found;
}

void Aside::move(const std::string& name) {
    make(name);
    fs::rename(directory_ + "/" + name, folder_ + "/" + name, error_);
    check(name);
    names_.push_back(name);
}

void Aside::copy(const std::string& name) {
    copied_ = true;
    if (is_folder(name)) {
        make(name);
        fs::copy(directory_ + "/" + name, folder_ + "/" + name, fs::copy_options::recursive, error_);
        check(name);
        names_.push_back(name);
        return;
    }
    if (!fs::is_regular_file(fs::symlink_status(directory_ + "/" + name, error_))) return;
    make(name);
    if (!comm::copy_file(directory_ + "/" + name, folder_ + "/" + name))
        error_ = std::make_error_code(std::errc::io_error);
    check(name);
    names_.push_back(name);
}

bool Aside::has(const std::string& name) const {
    std::error_code error;
    return !folder_.empty() && fs::exists(fs::symlink_status(folder_ + "/" + name, error));
}

void Aside::sync() {
    if (std::exchange(copied_, false) && !comm::sync_file_system(directory_))
        throw OutputError(fmt::format("{}: cannot be brought to the disk; check the disk", directory_));
}

void Aside::report(const char* why) {
    if (names_.empty()) return;
    sync();
    say(stderr, "steelyard: note: {}: {} {} put aside into {}: {}\n", directory_, counted(std::ssize(names_), "file"),
        why, folder_, some_of(names_));
    names_.clear();
}

void Aside::make(const std::string& name_of_file) {
    if (has(name_of_file)) folder_.clear();  // put aside twice
    error_.clear();
    for (int n = 1; folder_.empty(); ++n) {
        const std::string name = fmt::format("{}/previous_{}", directory_, n);
        if (fs::exists(fs::symlink_status(name, error_))) continue;
        fs::create_directory(name, error_);
        folder_ = name;
        check(name);
    }
}

void Aside::check(const std::string& what) const {
    if (error_)
        throw OutputError(fmt::format("{}: cannot put {} aside: {}; choose another directory with --out", directory_,
                                      what, error_.message()));
}

std::string why_no_file(const std::string& directory, const std::string& name) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(directory + "/" + name, error);
    if (is_folder(name)) return fs::is_directory(status) ? "" : "only directories have this name";
    if (fs::is_regular_file(status)) return {};
    if (fs::is_directory(status)) return "directories are no files of a run";
    if (!fs::is_symlink(status)) return "only regular files are continued";
    // A checkpoint is never written again: it may lie elsewhere.
    return checkpoint_step(name) && fs::is_regular_file(fs::status(directory + "/" + name, error))
               ? ""
               : "symbolic links are not followed";
}

void Aside::move_no_files(const std::vector<std::string>& names) {
    std::map<std::string, std::vector<std::string>> by_kind;
    for (const std::string& name : names) by_kind[why_no_file(directory_, name)].push_back(name);
    for (const auto& [what, alike] : by_kind) {
        for (const std::string& name : alike) move(name);
        say(stderr, "steelyard: note: {}: {}: {}; put aside into {}, and begun anew where the run writes it\n",
            directory_, some_of(alike), what, folder_);
    }
    names_.clear();
}

}  // namespace app
