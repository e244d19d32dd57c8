// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "app/common/errors.hpp"
#include "app/common/json.hpp"
#include "app/common/words.hpp"
#include "app/run/run.hpp"
#include "comm/clock.hpp"
#include "comm/file/posix_file.hpp"
#include "md/kernels/kernels.hpp"
#include "tools/commands.hpp"

namespace app {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 2> decks{"tiny", "collision_3d"};

// A row of expected.csv.
struct Expected {
    std::string deck;
    std::int64_t steps = 0;
    std::string precision, state_hash;
};

// The shortest runs of the decks, in the order of the table.
std::vector<Expected> expected_in(const std::string& table) {
    std::vector<Expected> rows;
    for (const std::string& line : parts_of(comm::read_text(table), '\n')) {
        const std::vector<std::string> cells = parts_of(line, ',');  // deck, particles, steps, precision, hash, ...
        if (cells.size() < 5) continue;
        const Expected row{cells[0], std::atoll(cells[2].c_str()), cells[3], cells[4]};
        const auto longer = [&](const Expected& r) { return r.deck == row.deck && r.steps < row.steps; };
        if (std::ranges::find(decks, row.deck) != decks.end() && std::ranges::none_of(rows, longer))
            rows.push_back(row);
    }
    if (rows.size() != 2 * decks.size() || std::ranges::any_of(rows, [](const Expected& r) { return r.steps < 2; }))
        throw InputError("{}: is not the table of expected results; give --inputs the directory inputs/", table);
    return rows;
}

// The directory of an installation, or of the sources above the program.
std::string directory_of_decks() {
    const fs::path program = fs::read_symlink("/proc/self/exe");
    std::error_code error;  // of folders that this user may not read
    for (fs::path above = program.parent_path(); above.has_relative_path(); above = above.parent_path())
        for (const char* inputs : {"share/steelyard/inputs", "inputs"})
            if (fs::exists(above / inputs / "expected.csv", error)) return (above / inputs).string();
    throw InputError("{}: no inputs/expected.csv is near it; give --inputs the directory of the decks",
                     program.string());
}

// The sets of kernels that all ranks can run, best first.
std::vector<std::string> common_kernels(const comm::Communicator& comm) {
    const std::vector<const md::Kernels*> mine = md::available_kernels();
    std::vector<std::string> all = md::built_kernels();
    std::vector<std::int64_t> available;
    for (const std::string& isa : all)
        available.push_back(std::ranges::any_of(mine, [&](const md::Kernels* k) { return k->isa == isa; }));
    comm.min(available);
    std::erase_if(all, [&, i = 0](const std::string&) mutable { return available[i++] == 0; });
    return all;
}

// A directory that goes with this object; its path is known to all ranks.
class ScratchDirectory {
public:
    explicit ScratchDirectory(const comm::Communicator& comm) : comm_(comm) {
        on_rank_0(comm, [&] {
            std::error_code error;
            path_ = (fs::temp_directory_path(error) / "steelyard-XXXXXX").string();
            if (error || !mkdtemp(path_.data()))
                throw OutputError(path_ + ": cannot be made; set TMPDIR to a directory");
        });
        comm.broadcast(path_);
    }
    ~ScratchDirectory() {
        std::error_code error;
        if (comm_.rank() == 0) fs::remove_all(path_, error);
    }
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;
    const std::string& path() const { return path_; }

private:
    const comm::Communicator& comm_;
    std::string path_;
};

// The runs, and how many of them went wrong.
class Runs {
public:
    Runs(std::string inputs, const comm::Communicator& comm)
        : inputs_(std::move(inputs)), comm_(comm), scratch_(comm) {}

    // A run with these kernels, in one piece or with a restart on the way.
    void compare(const Expected& row, const std::string& isa, bool restarted) {
        setenv("STEELYARD_ISA", isa.c_str(), 1);
        Options options;
        options.deck = fmt::format("{}/{}.yaml", inputs_, row.deck);
        options.out = fmt::format("{}/{}", scratch_.path(), count_);
        options.quiet = true;
        options.settings = {"run.precision=" + row.precision};
        if (restarted) {
            options.settings.push_back(fmt::format("checkpoint.every={}", row.steps));
            run_until(row.steps / 2, options);
            options.restart = "auto";
        }
        run_until(row.steps, options);
        std::int64_t wrong = 0;
        if (comm_.rank() == 0) {
            const Json summary = Json::parse(comm::read_text(options.out + "/summary.json"));
            const std::string found = summary.at("state_hash");
            wrong = found != row.state_hash;
            say(stdout, "  {:<14} {:<7} {:<9} {:<9} {}\n", row.deck, row.precision, isa,
                whole(summary.at("first_step")) > 0 ? "restarted" : "",
                wrong ? fmt::format("WRONG: {} instead of {}", found, row.state_hash) : "as expected");
            std::error_code error;
            fs::remove_all(options.out, error);  // a selftest that is killed leaves one run at most
        }
        ++count_, wrong_ += comm_.max_of(wrong);
    }

    std::int64_t count() const { return count_; }
    std::int64_t wrong() const { return wrong_; }

private:
    void run_until(std::int64_t step, Options options) const {
        options.settings.push_back(fmt::format("run.steps={}", step));
        run(options, comm_);
    }

    std::string inputs_;
    const comm::Communicator& comm_;
    ScratchDirectory scratch_;
    std::int64_t count_ = 0, wrong_ = 0;
};

}  // namespace

int selftest(const Options& options, const comm::Communicator& comm) {
    const double start = comm::now();
    std::string inputs = options.inputs;
    if (inputs.empty()) on_rank_0(comm, [&] { inputs = directory_of_decks(); });
    comm.broadcast(inputs);
    const std::vector<Expected> table = agreed(comm, [&] { return expected_in(inputs + "/expected.csv"); });
    const std::vector<std::string> kernels = common_kernels(comm);
    if (comm.rank() == 0) say(stdout, "selftest on {}, runs of {}\n", counted(comm.size(), "rank"), inputs);
    Runs runs(inputs, comm);
    for (const std::string& isa : kernels)
        for (const Expected& row : table) runs.compare(row, isa, false);
    for (const Expected& row : table) runs.compare(row, kernels.front(), true);
    comm::require(comm, runs.wrong() == 0, [&] {
        return RunError(4, fmt::format("selftest: {} of {} runs have another state hash than on other machines; see "
                                       "which kernels do, and try another compiler (docs/expected.md)",
                                       runs.wrong(), runs.count()));
    });
    if (comm.rank() == 0)
        say(stdout, "passed: {} as expected, {:.1f} s\n", counted(runs.count(), "run"), comm::now() - start);
    return 0;
}

}  // namespace app
