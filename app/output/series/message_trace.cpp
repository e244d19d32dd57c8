// SPDX-License-Identifier: MIT
#include "app/output/series/message_trace.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <utility>
#include <vector>

#include "app/common/errors.hpp"
#include "app/deck/wording.hpp"
#include "comm/team.hpp"

namespace app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view header = "plan,kind,step,source,target,bytes,source_node,target_node\n";

// A part, on its way to rank 0.
struct TracedMessage {
    std::int32_t source, target;
    std::int64_t bytes;
};

fs::path folder_of(const std::string& path) {
    const fs::path folder = fs::path(path).parent_path();
    return folder.empty() ? "." : folder;
}

}  // namespace

MessageTrace::MessageTrace(std::string path, OldResults old, const ResultKinds& kinds, const comm::NodeMap& nodes,
                           std::int64_t step, const comm::Communicator& comm)
    : path_(std::move(path)), nodes_(nodes), comm_(comm), step_(step), unwritten_(header) {
    on_rank_0(comm_, [&] {
        std::error_code error;
        const fs::file_status there = fs::symlink_status(path_, error);
        const std::string name = fs::path(path_).filename().string();
        if (name.empty() || is_result(name, kinds) || (fs::exists(there) && !fs::is_regular_file(there)))
            throw UsageError(
                "--trace-messages: {} is a directory or a device, or the name of another file of a run; choose another "
                "name",
                printable(path_));
        if (!fs::is_directory(folder_of(path_), error))
            throw OutputError("{}: the directory of this file is not there; make it, or choose another name",
                              printable(path_));
        if (fs::exists(there) && old == OldResults::refuse)
            throw UsageError(
                "{}: exists already; choose another name with --trace-messages, or add --force to put it aside",
                printable(path_));
    });
}

void MessageTrace::check(bool good) const {
    if (!good)
        throw OutputError(
            "{}: cannot be written; check that its directory is writable and not full, or choose another name",
            printable(path_));
}

void MessageTrace::open() {
    on_rank_0(comm_, [&] {
        std::error_code error;
        if (fs::exists(fs::symlink_status(path_, error))) {
            Aside aside(folder_of(path_).string());
            aside.move(fs::path(path_).filename().string());
            aside.report("of an earlier run");
        }
        check(file_.start(path_, std::exchange(unwritten_, {})));
    });
    open_ = true;
}

void MessageTrace::add(std::string_view kind, std::span<const balance::Part> sent) {
    std::vector<TracedMessage> mine;
    for (const balance::Part& p : sent) mine.push_back({comm_.rank(), p.member, static_cast<std::int64_t>(p.bytes)});
    for (const TracedMessage& r : balance::gather<TracedMessage>(comm::Ranks(comm_), mine))
        fmt::format_to(std::back_inserter(unwritten_), "{},{},{},{},{},{},{},{}\n", plans_, kind, step_, r.source,
                       r.target, r.bytes, nodes_.of(r.source), nodes_.of(r.target));
    ++plans_;
    if (open_)
        on_rank_0(comm_, [&] {
            require_undamaged(printable(path_), file_.damage());
            check(file_.append(std::exchange(unwritten_, {})));
        });
}

}  // namespace app
