// SPDX-License-Identifier: MIT
#include "app/output/file_kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "app/output/checkpoint_front.hpp"

namespace app {
namespace {

constexpr const char* give = "give a file checkpoint_<step>.h5";
constexpr std::string_view hdf5_signature = "\x89HDF\r\n\x1a\n";

bool is_text(std::string_view front) {
    return std::none_of(front.begin(), front.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte == 0x7f || (byte < 0x20 && c != '\n' && c != '\r' && c != '\t');
    });
}

// HDF5 keeps the names in its root group near the beginning. They are looked for as bytes: the library isn't made for
// files that may be damaged.
std::string hdf5_kind(std::string_view front) {
    const auto has = [&](std::string_view name) { return front.find(name) != std::string_view::npos; };
    if (has("h5md")) return "is a trajectory, not a checkpoint; open it with MDAnalysis or h5py";
    if (has("owner") && has("particles"))
        return "holds fields of cells, it is not a checkpoint; open it with h5py, or its .xdmf file with ParaView";
    return fmt::format("is an HDF5 file, but not a checkpoint; {}", give);
}

std::string text_kind(std::string_view front) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", space = " \t\r";
    for (std::size_t begin = 0; begin < front.size();) {
        const std::size_t end = std::min(front.find('\n', begin), front.size());
        std::string_view line = front.substr(begin, end - begin);
        begin = end + 1;
        line.remove_prefix(std::min(line.find_first_not_of(space), line.size()));
        line = line.substr(0, line.find_last_not_of(space) + 1);
        if (line.empty() || line[0] == '#' || line == "---") continue;
        const std::size_t word = line.find_first_not_of(letters);
        if (word == 0 || word >= line.size()) break;
        if (line[word] == ',') return "is a CSV table, not a checkpoint; open it with a spreadsheet or pandas";
        if (line[word] == ':')
            return "is a deck or another YAML file, not a checkpoint; steelyard check and steelyard run take decks";
        break;
    }
    return fmt::format("is a text file, not a checkpoint; {}", give);
}

}  // namespace

std::string why_no_checkpoint(const std::string& path, const std::string& front) {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) return fmt::format("there is no such file; {}", give);
    if (fs::is_directory(status)) return "is a directory, not a checkpoint; give one of its files checkpoint_<step>.h5";
    if (!fs::is_regular_file(status)) return fmt::format("is a pipe or device, not a checkpoint; {}", give);
    if (fs::file_size(path, error) == 0 && !error) return fmt::format("is empty; {}", give);
    if (front.empty()) return "cannot be read; check its permissions";
    if (front.starts_with("steelyard checkpoint") ||
        front.substr(std::min(front.size(), front_bytes)).starts_with(hdf5_signature))
        return "is a checkpoint that is damaged or of another version; use another checkpoint";
    if (front.starts_with(hdf5_signature)) return hdf5_kind(front);
    if (is_text(front)) return text_kind(front);
    return fmt::format("is not a checkpoint; {}", give);
}

}  // namespace app
