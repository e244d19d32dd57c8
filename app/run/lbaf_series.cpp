// SPDX-License-Identifier: MIT
#include "app/run/lbaf_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>

#include "app/common/errors.hpp"
#include "app/common/say.hpp"
#include "app/common/words.hpp"
#include "app/deck/wording.hpp"
#include "app/output/result_files.hpp"
#include "balance/partition/decomposition.hpp"
#include "comm/file/durable.hpp"
#include "comm/file/posix_file.hpp"

namespace app {
namespace {

namespace fs = std::filesystem;

struct Object {
    std::uint64_t id = 0;
    double time = 0;
    std::optional<balance::Box> box;  // of cells, in files of this program
    std::vector<int> index;
    bool migratable = true;
};
struct LbafPhase {
    std::int64_t id = 0, step = 0;
    std::vector<Object> objects;
};
struct Files {
    std::vector<LbafPhase> phases;  // of all ranks
    balance::Grid grid;             // where boxes are known
    std::int64_t ranks = 0;         // that there should be; 0: not known
};

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
    throw InputError(printable(path) + ": " + what);
}

// Something in a file that is valid JSON and makes no sense here.
struct Senseless : std::runtime_error {
    using std::runtime_error::runtime_error;
};

constexpr std::int64_t most_along = 1 << 20;                // cells along an axis
constexpr std::int64_t most_cells = std::int64_t{1} << 31;  // of a grid

std::int64_t whole_number_of(const nlohmann::json& number, std::int64_t least, std::int64_t most) {
    const bool whole = number.is_number_integer() &&
                       !(number.is_number_unsigned() && number.get<std::uint64_t>() > std::uint64_t{INT64_MAX});
    if (!whole || number.get<std::int64_t>() < least || number.get<std::int64_t>() > most)
        throw Senseless(fmt::format("{} is no whole number from {} to {}", number.dump(), least, most));
    return number.get<std::int64_t>();
}

std::vector<int> whole_numbers_of(const nlohmann::json& list, std::int64_t least, std::int64_t most) {
    if (!list.is_array()) throw Senseless(list.dump() + " is no list");
    std::vector<int> numbers;
    for (const nlohmann::json& number : list) numbers.push_back(static_cast<int>(whole_number_of(number, least, most)));
    return numbers;
}

// What a library says, without its own name; of a value of the file, which may be long, the beginning.
std::string reason_of(const std::exception& e) {
    constexpr std::size_t longest = 200;
    const std::string what = e.what();
    const std::size_t end = what.starts_with("[json.exception") ? what.find("] ") : std::string::npos;
    return printable((end == std::string::npos ? what : what.substr(end + 2)).substr(0, longest));
}

constexpr const char* missing = "it is missing or cannot be read; give the files of all ranks";

// NAME.RANK.json, or compressed NAME.RANK.json.br; nothing where a file is called otherwise.
struct RankFile {
    std::string name;
    std::int64_t rank = 0;
    bool compressed = false;
};
std::optional<RankFile> rank_file(std::string_view file) {
    RankFile found;
    if ((found.compressed = file.ends_with(".br"))) file.remove_suffix(3);
    const std::size_t dot = file.substr(0, file.rfind('.')).rfind('.');
    if (dot == 0 || dot == std::string_view::npos) return std::nullopt;
    const auto rank = step_in_name(file.substr(dot), ".", ".json");
    if (!rank || *rank < 0 || *rank > 999'999'999) return std::nullopt;
    found.name = file.substr(0, dot), found.rank = *rank;
    return found;
}

// The files of all ranks in the order of the ranks, at least that of rank 0.
std::vector<std::string> files_at(const std::string& path) {
    std::error_code error;
    const bool directory = fs::is_directory(path, error);
    const fs::path folder = directory ? fs::path(path) : fs::path(path).parent_path();
    std::set<std::string> names;
    std::set<std::int64_t> ranks;
    bool unfinished = false;
    const std::string file = fs::path(path).filename().string();
    if (!directory) {
        const auto given = rank_file(file);
        if (!given) refuse(path, "is not called NAME.RANK.json; give such a file");
        names.insert(given->name);
    }
    for (fs::directory_iterator it(folder.empty() ? "." : folder, error), end; !error && it != end;
         it.increment(error)) {
        const std::string found = it->path().filename().string();
        unfinished = unfinished || found.ends_with(".json.tmp");
        const auto one = rank_file(found);
        if (!one || (!directory && one->name != *names.begin())) continue;
        if (one->compressed)
            refuse(it->path().string(), "is compressed; decompress the files of all ranks: brotli -d --rm *.br");
        names.insert(one->name);
        ranks.insert(one->rank);
    }
    if (names.size() > 1)
        refuse(path,
               fmt::format("holds files of the names {}, {}{}; give the first file of one", printable(*names.begin()),
                           printable(*std::next(names.begin())), names.size() > 2 ? ", ..." : ""));
    if (ranks.empty() && unfinished)
        refuse(path, "its files are unfinished (.json.tmp); a restart of the run that wrote them finishes them");
    if (ranks.empty())
        refuse(path, "there are no files NAME.RANK.json; give a directory that holds them, or an HDF5 file");
    std::vector<std::string> files;
    for (const std::int64_t r : ranks) {
        const std::int64_t expected = std::ssize(files);
        files.push_back((folder / fmt::format("{}.{}.json", *names.begin(), expected)).string());
        if (r != expected) refuse(files.back(), missing);
    }
    return files;
}

balance::Box box_of(const nlohmann::json& corners) {
    balance::Box box{{0, 0, 0}, {1, 1, 1}};
    const std::vector<int> lower = whole_numbers_of(corners.at("lower"), 0, most_along),
                           upper = whole_numbers_of(corners.at("upper"), 0, most_along);
    if (lower.size() != upper.size() || lower.size() > 3) throw Senseless("the corners of a box do not fit together");
    for (std::size_t a = 0; a < lower.size(); ++a) box.lower[a] = lower[a], box.upper[a] = upper[a];
    return box;
}

Object object_of(const nlohmann::json& task) {
    const nlohmann::json& entity = task.at("entity");
    const nlohmann::json& id = entity.at(entity.contains("id") ? "id" : "seq_id");
    if (!id.is_number_unsigned() && !(id.is_number_integer() && id.get<std::int64_t>() >= 0))
        throw Senseless(fmt::format("the id {} is no whole number >= 0", id.dump()));
    if (!task.at("time").is_number()) throw Senseless(fmt::format("the time {} is no number", task["time"].dump()));
    Object object{id.get<std::uint64_t>(), task["time"].get<double>(), {}, {}, entity.value("migratable", true)};
    if (!(object.time >= 0)) throw Senseless(fmt::format("the time is {}; give times >= 0", object.time));
    if (entity.contains("index")) object.index = whole_numbers_of(entity["index"], INT32_MIN, INT32_MAX);
    if (task.contains("user_defined") && task["user_defined"].contains("lower"))
        object.box = box_of(task["user_defined"]);
    return object;
}

// Adds the phases of a rank to those of the ranks before.
void add(const nlohmann::json& file, const std::string& path, bool first, Files& all) {
    const nlohmann::json& phases = file.at("phases");
    const auto differ = [&] {
        refuse(path, "its phases are not those of the file of rank 0; give files of one run, all of them whole");
    };
    if (first) all.phases.resize(phases.size());
    if (phases.size() != all.phases.size()) differ();
    for (std::size_t i = 0; i < phases.size(); ++i) {
        LbafPhase& phase = all.phases[i];
        const std::int64_t id = whole_number_of(phases[i].at("id"), INT64_MIN, INT64_MAX);
        const nlohmann::json said = phases[i].value("user_defined", nlohmann::json::object());
        const std::int64_t step = said.contains("step") ? whole_number_of(said["step"], 0, INT64_MAX) : id;
        if (first) phase.id = id, phase.step = step;
        if (phase.id != id || phase.step != step) differ();
        const nlohmann::json& tasks = phases[i].at("tasks");
        for (std::size_t k = 0; k < tasks.size(); ++k) try {
                if (tasks[k].at("entity").value("type", "object") == "object")
                    phase.objects.push_back(object_of(tasks[k]));
            } catch (const std::exception& e) {
                refuse(path,
                       fmt::format("task {} of phase {} makes no sense: {}; docs/replay.md says what it has to hold", k,
                                   id, reason_of(e)));
            }
    }
    const nlohmann::json attributes =
        file.value("metadata", nlohmann::json::object()).value("attributes", nlohmann::json::object());
    if (!first || !attributes.contains("cells")) return;
    all.ranks = whole_number_of(attributes.at("processes"), 1, INT32_MAX);
    const std::vector<int> cells = whole_numbers_of(attributes["cells"], 1, most_along);
    const auto boundary = attributes.value("boundary", std::vector<std::string>(cells.size()));
    if (cells.size() < 2 || cells.size() > 3 || boundary.size() != cells.size())
        refuse(path, "its metadata name no cells and boundaries of 2 or 3 axes; mend them");
    all.grid.dimensions = static_cast<int>(cells.size());
    for (std::size_t a = 0; a < cells.size(); ++a)
        all.grid.cells[a] = cells[a], all.grid.periodic[a] = boundary[a] == "periodic";
    if (all.grid.box().cells() > most_cells)
        refuse(path, fmt::format("its metadata name {} cells; use at most 2^31", all.grid.box().cells()));
}

// A file is parsed as a whole; of all files together the objects stay.
void require_memory(const std::vector<std::string>& files, const std::string& path) {
    double total = 0, largest = 0;
    for (const std::string& file : files) {
        const auto size = static_cast<double>(std::max<std::int64_t>(0, comm::file_size(file)));
        total += size, largest = std::max(largest, size);
    }
    constexpr double parsed = 10;  // bytes for one of the file
    if (const std::string lack = comm::lack_of_memory(total + parsed * largest); !lack.empty())
        refuse(path, lack + "; give fewer phases");
}

// The library that parses a text descends into it by recursion, where it copies or prints.
bool nests_deeply(std::string_view text) {
    constexpr int most = 100;
    int depth = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size() && text[i] != '\0' && depth <= most; ++i) {
        if (text[i] == '\\' && quoted) ++i;
        else if (text[i] == '"') quoted = !quoted;
        else if (!quoted && (text[i] == '[' || text[i] == '{')) ++depth;
        else if (!quoted && (text[i] == ']' || text[i] == '}')) --depth;
    }
    return depth > most;
}

// Objects that may not migrate, in the phase that has most of them.
void note_pinned(const Files& all, const std::string& path) {
    std::size_t pinned = 0, objects = 0;
    for (const LbafPhase& phase : all.phases) {
        const auto here =
            std::count_if(phase.objects.begin(), phase.objects.end(), [](const Object& o) { return !o.migratable; });
        if (static_cast<std::size_t>(here) > pinned) pinned = here, objects = phase.objects.size();
    }
    if (pinned > 0)
        say(stderr,
            "steelyard: note: {}: {} of {} may not migrate (migratable: false); a replay moves them like the others, "
            "so a run may not come to its load balance\n",
            printable(path), pinned, counted(static_cast<std::int64_t>(objects), "object"));
}

Files read(const std::string& path) {
    Files all;
    const std::vector<std::string> files = files_at(path);
    require_memory(files, path);
    for (const std::string& file : files) {
        std::string text;
        if (comm::read_input(file, std::numeric_limits<std::size_t>::max(), text) != 0) refuse(file, missing);
        if (nests_deeply(text)) refuse(file, "is no LBDatafile: it nests lists or objects over 100 deep; give another");
        try {
            add(nlohmann::json::parse(text), file, &file == &files.front(), all);
        } catch (const nlohmann::json::parse_error& e) {
            refuse(file, fmt::format("is no JSON from byte {} on; is it truncated, or is there a NaN?", e.byte));
        } catch (const nlohmann::json::exception& e) {
            refuse(file, fmt::format("is no LBDatafile ({}); docs/replay.md says what it has to hold", reason_of(e)));
        } catch (const Senseless& e) {
            refuse(file, fmt::format("is no LBDatafile ({}); docs/replay.md says what it has to hold", reason_of(e)));
        }
    }
    if (all.ranks > std::ssize(files))
        refuse(path,
               fmt::format("there are files of {} ranks, and {} have written some; give all", files.size(), all.ranks));
    if (all.phases.empty()) refuse(path, "there are no phases; give one at least");
    return all;
}

// The places of these objects in a grid: by their indices, if these are all different ones of two or three axes and not
// negative; else in a row.
std::vector<balance::Box> places_of(const std::vector<Object>& objects, balance::Grid& grid, const std::string& path) {
    const std::size_t axes = objects.front().index.size();
    std::set<std::vector<int>> different;
    grid = {};
    bool fits = axes == 2 || axes == 3;
    for (const Object& o : objects) {
        fits = fits && o.index.size() == axes && different.insert(o.index).second;
        for (std::size_t a = 0; fits && a < axes; ++a) {
            fits = o.index[a] >= 0;
            if (o.index[a] >= most_along)
                refuse(path, fmt::format("object {} has the index {}; use indices below 2^20", o.id, o.index[a]));
            grid.cells[a] = std::max(grid.cells[a], o.index[a] + 1);
        }
    }
    constexpr std::int64_t most_holes = 1 << 20;  // a few objects in a huge grid would only cost memory
    if (fits && grid.box().cells() > most_holes + 64 * std::ssize(objects))
        refuse(path, fmt::format("the indices of {} objects span {} cells; number them more densely", objects.size(),
                                 grid.box().cells()));
    if (!fits) grid.cells = {static_cast<int>(objects.size()), 1, 1};
    grid.dimensions = fits ? static_cast<int>(axes) : 2;
    std::vector<balance::Box> places;
    for (std::size_t i = 0; i < objects.size(); ++i) {
        balance::Box place{{static_cast<int>(i), 0, 0}, {0, 0, 0}};
        for (std::size_t a = 0; fits && a < axes; ++a) place.lower[a] = objects[i].index[a];
        for (int a = 0; a < 3; ++a) place.upper[a] = place.lower[a] + 1;
        places.push_back(place);
    }
    return places;
}

// Objects without boxes have to be the same in all phases.
void require_same_objects(Files& all, const std::string& path) {
    for (LbafPhase& phase : all.phases) {
        std::sort(phase.objects.begin(), phase.objects.end(),
                  [](const Object& a, const Object& b) { return a.id < b.id; });
        const std::vector<Object>&objects = phase.objects, &first = all.phases.front().objects;
        const auto same_id = [](const Object& a, const Object& b) { return a.id == b.id; };
        if (std::adjacent_find(objects.begin(), objects.end(), same_id) != objects.end())
            refuse(path, fmt::format("phase {} holds an object twice; give each an id of its own", phase.id));
        if (objects.empty()) refuse(path, fmt::format("phase {} holds no objects; give one at least", phase.id));
        if (!std::equal(objects.begin(), objects.end(), first.begin(), first.end(), same_id))
            refuse(path,
                   fmt::format("the objects of phase {} are not those of phase {}; give phases of the same objects",
                               phase.id, all.phases.front().id));
    }
}

std::vector<std::vector<LbafSeries::Piece>> pieces_of(Files& all, const std::string& path) {
    const bool boxes = std::all_of(all.phases.begin(), all.phases.end(), [&](const LbafPhase& phase) {
        return std::all_of(phase.objects.begin(), phase.objects.end(),
                           [](const Object& o) { return o.box.has_value(); });
    });
    if (all.ranks > 0 && !boxes)
        refuse(path,
               "its metadata name cells, and some objects have no box of them; give the files as they were written");
    std::vector<balance::Box> places;
    if (all.ranks == 0) {
        require_same_objects(all, path);
        places = places_of(all.phases.front().objects, all.grid, path);
    }
    std::vector<std::vector<LbafSeries::Piece>> pieces;
    for (const LbafPhase& phase : all.phases) {
        std::vector<LbafSeries::Piece>& now = pieces.emplace_back();
        balance::Partition partition{{}, {0}};
        for (const Object& o : phase.objects) {
            now.push_back({places.empty() ? *o.box : places[now.size()], o.time});
            partition.boxes.push_back(now.back().box);
        }
        partition.first.push_back(std::ssize(partition.boxes));
        if (places.empty() && !is_partition_of(partition, all.grid))
            refuse(path,
                   fmt::format(
                       "the boxes of phase {} do not cover each cell once; give the files of all ranks, and no others",
                       phase.id));
    }
    return pieces;
}

}  // namespace

bool LbafSeries::is_meant(const std::string& path) {
    std::error_code error;
    return fs::is_directory(path, error) || path.ends_with(".json") || path.ends_with(".json.br");
}

LbafSeries::LbafSeries(const std::string& path, const comm::Communicator& comm) : comm_(comm) {
    std::int64_t phases = 0;
    on_rank_0(comm, [&] {
        Files all = read(path);
        phases_ = pieces_of(all, path);
        note_pinned(all, path);
        grid_ = all.grid;
        for (const LbafPhase& phase : all.phases) steps_.push_back(phase.step);
        phases = std::ssize(steps_);
    });
    // What the other ranks need to know.
    comm.broadcast(std::as_writable_bytes(std::span(&grid_, 1)));
    comm.broadcast(std::span(&phases, 1));
    steps_.resize(phases);
    comm.broadcast(std::span(steps_));
}

comm::FieldSeries::Shape LbafSeries::shape(const std::string&) const {
    return {std::ssize(steps_), grid_.cells, grid_.dimensions};
}

std::vector<double> LbafSeries::whole(const std::string&, std::int64_t t) const {
    if (comm_.rank() != 0) return {};
    std::vector<double> load(grid_.box().cells(), 0);
    for (const Piece& piece : phases_[t])
        for (int x = piece.box.lower[0]; x < piece.box.upper[0]; ++x)
            for (int y = piece.box.lower[1]; y < piece.box.upper[1]; ++y)
                for (int z = piece.box.lower[2]; z < piece.box.upper[2]; ++z)
                    load[balance::place_in(grid_.box(), x, y, z)] = piece.time / static_cast<double>(piece.box.cells());
    return load;
}

std::vector<double> LbafSeries::home(const std::string& dataset, std::int64_t t) const {
    return comm::to_homes(whole(dataset, t), grid_, comm_);
}

std::vector<std::int64_t> LbafSeries::integers(const std::string&) const { return steps_; }

std::vector<std::string> LbafSeries::texts(const std::string&) const {
    std::vector<std::string> boundary;
    for (int a = 0; a < grid_.dimensions; ++a) boundary.emplace_back(grid_.periodic[a] ? "periodic" : "wall");
    return boundary;
}

}  // namespace app
