// SPDX-License-Identifier: MIT
// Only names that this program gives its own results are ever moved or removed.
#include "app/output/directory/result_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/common/errors.hpp"
#include "app/common/words.hpp"
#include "comm/file/posix_file.hpp"

namespace app {

namespace fs = std::filesystem;

namespace {

// The first of them, and how many more there are: there may be one for each step.
std::string some_of(const std::vector<std::string>& names) {
    const auto shown = std::min<std::size_t>(names.size(), 8);
    const std::string more = shown < names.size() ? fmt::format(" and {} more", names.size() - shown) : "";
    return fmt::format("{}{}", fmt::join(names.begin(), names.begin() + shown, ", "), more);
}

}  // namespace

std::optional<std::int64_t> step_in_name(std::string_view name, std::string_view kind, std::string_view ending) {
    if (!name.starts_with(kind) || !name.ends_with(ending) || name.size() <= kind.size() + ending.size())
        return std::nullopt;
    name.remove_prefix(kind.size());
    name.remove_suffix(ending.size());
    const auto step = number_in<std::int64_t>(name);
    return step && std::to_string(*step) == name ? step : std::nullopt;
}

std::optional<std::int64_t> checkpoint_step(std::string_view name) { return step_in_name(name, "checkpoint_", ".h5"); }

std::optional<std::int64_t> ResultKind::step_in(std::string_view file) const {
    const std::size_t star = name.find('*');
    if (star == std::string_view::npos) return std::nullopt;
    return step_in_name(file, name.substr(0, star), name.substr(star + 1));
}

const ResultKind* kind_of(std::string_view name, const ResultKinds& kinds) {
    const auto kind =
        std::ranges::find_if(kinds, [&](const ResultKind& k) { return k.name == name || k.step_in(name); });
    return kind == kinds.end() ? nullptr : &*kind;
}

Contents contents_of(const std::string& directory, const ResultKinds& kinds) {
    Contents found;
    std::error_code error;
    fs::directory_iterator it(directory, error);
    for (const fs::directory_iterator end; !error && it != end; it.increment(error)) {
        const std::string name = it->path().filename().string();
        constexpr std::string_view tmp = ".tmp";
        if (is_result(name, kinds)) found.results.push_back(name);
        else if (name.ends_with(tmp)) {
            const std::string_view final_name = std::string_view(name).substr(0, name.size() - tmp.size());
            const ResultKind* kind = kind_of(final_name, kinds);
            if (kind ? !kind->folder : checkpoint_step(final_name).has_value()) found.unfinished.push_back(name);
        }
    }
    if (error)
        throw OutputError("{}: cannot look what it holds: {}; make it readable or choose another with --out", directory,
                          error.message());
    std::ranges::sort(found.results);
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
    const std::string from = directory_ + "/" + name;
    const fs::file_status there = fs::symlink_status(from, error_);
    if (!fs::is_directory(there) && !fs::is_regular_file(there)) return;
    make(name);
    const std::string to = folder_ + "/" + name;
    if (fs::is_directory(there)) fs::copy(from, to, fs::copy_options::recursive, error_);
    else if (!comm::copy_file(from, to)) error_ = std::make_error_code(std::errc::io_error);
    check(name);
    names_.push_back(name);
}

bool Aside::has(const std::string& name) const {
    std::error_code error;
    return !folder_.empty() && fs::exists(fs::symlink_status(folder_ + "/" + name, error));
}

void Aside::sync() {
    if (std::exchange(copied_, false) && !comm::sync_file_system(directory_))
        throw OutputError("{}: cannot be brought to the disk; check the disk", directory_);
}

void Aside::report(const char* why) {
    if (names_.empty()) return;
    sync();
    say_note("{}: {} {} put aside into {}: {}", directory_, counted(std::ssize(names_), "file"), why, folder_,
             some_of(names_));
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
        throw OutputError("{}: cannot put {} aside: {}; choose another directory with --out", directory_, what,
                          error_.message());
}

std::string why_no_file(const std::string& directory, const std::string& name, bool folder) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(directory + "/" + name, error);
    if (folder) return fs::is_directory(status) ? "" : "only directories have this name";
    if (fs::is_regular_file(status)) return {};
    if (fs::is_directory(status)) return "directories are no files of a run";
    if (!fs::is_symlink(status)) return "only regular files are continued";
    // A checkpoint is never written again: it may lie elsewhere.
    return checkpoint_step(name) && fs::is_regular_file(fs::status(directory + "/" + name, error))
               ? ""
               : "symbolic links are not followed";
}

void Aside::move_no_files(const std::map<std::string, std::vector<std::string>>& names) {
    for (const auto& [what, alike] : names) {
        for (const std::string& name : alike) move(name);
        say_note("{}: {}: {}; put aside into {}, and begun anew where the run writes it", directory_, some_of(alike),
                 what, folder_);
    }
    names_.clear();
}

}  // namespace app
