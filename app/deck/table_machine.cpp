// SPDX-License-Identifier: MIT
// The part of the table for machines: nodes that may differ, accelerators, messages, and the load of the cells that
// `steelyard partition` takes.
#include <fmt/format.h>

#include <algorithm>

#include "app/deck/deck.hpp"
#include "app/deck/key.hpp"

namespace app {
namespace {

// One value for all nodes, or a list with one of each node. item: describes a value.
template <class T, class Item>
Key by_node(const char* name, std::vector<T>& xs, Item item, const char* example, std::string meaning) {
    T shape{};
    Key key{name, std::move(meaning), item(shape).allowed + ", or a list with one of each"};
    key.read = [&xs, item, example](const Node& node, const std::string& path) {
        if (node.kind != Node::Kind::list) {
            xs.assign(1, {});
            return item(xs[0]).read(node, path);
        }
        xs.assign(to_list(node, path, 0, example).size(), {});
        if (xs.empty()) fail(node.where, path + " is empty", fmt::format("write it as in {}", example));
        for (std::size_t i = 0; i < xs.size(); ++i) item(xs[i]).read(node.items[i], below(path, std::to_string(i)));
    };
    key.text = [&xs, item] {
        std::vector<std::string> texts;
        for (T& x : xs) texts.push_back(item(x).text());
        return texts.size() == 1 ? texts[0] : fmt::format("[{}]", fmt::join(texts, ", "));
    };
    return key;
}

Key cells_key(std::optional<std::vector<std::int64_t>>& cells) {
    constexpr std::int64_t most = 1 << 20;
    const char* example = "[600, 400, 400]";
    Key key{"cells", "2D: along x and y; 3D: along x, y and z; auto: the deck's grid",
            "a list of 2 or 3, each " + allowed(1, most) + ", with kind: uniform"};
    key.read = [&cells, example](const Node& node, const std::string& path) {
        const std::vector<Node>& items = to_list(node, path, 2, example, 3);
        cells.emplace();
        for (std::size_t i = 0; i < items.size(); ++i)
            cells->push_back(to_integer(items[i], below(path, std::to_string(i)), 1, most));
    };
    key.text = [&cells] { return fmt::format("[{}]", fmt::join(cells.value_or(std::vector<std::int64_t>()), ", ")); };
    return or_other(std::move(key), "auto", cells);
}

}  // namespace

std::vector<Key> machine_keys(Deck::Machine& m) {
    static constexpr std::int64_t most_nodes = 1 << 20, most_parts = 4096;
    static constexpr NumberRange speed{0, 1e6, true};
    const auto accelerators = [](std::int64_t& n) { return integer("", n, 0, most_parts, ""); };
    const auto one_speed = [](double& s) { return number("", s, speed, ""); };
    const auto parts = [](std::int64_t& n) { return integer("", n, 1, most_parts, ""); };
    return {
        integer("nodes", m.nodes, 1, most_nodes, "auto: those of this job", "auto"),
        or_other(by_node("cpus_per_node", m.cpus_per_node, parts, "[2, 1]", "sockets; auto: those found"), "auto",
                 m.cpus_per_node),
        or_other(by_node("cores_per_cpu", m.cores_per_cpu, parts, "[12, 64]", "auto: those found"), "auto",
                 m.cores_per_cpu),
        by_node("accelerators_per_node", m.accelerators_per_node, accelerators, "[0, 3]",
                "the same for all nodes, or of each"),
        by_node("core_speed", m.core_speed, one_speed, "[1.0, 0.5]",
                "of one core, any unit; for all nodes, or of each"),
        by_node("accelerator_speed", m.accelerator_speed, one_speed, "[6.0, 3.0]",
                "of one accelerator, the same unit; for all nodes, or of each"),
    };
}

std::vector<Key> accelerator_keys(Deck::Accelerator& a) {
    static constexpr NumberRange speed{0.01, 1e6};
    const auto of_rank = [](double& s) { return number("", s, speed, ""); };
    return {
        word("backend", a.backend, "none; host: threads of this processor stand in for a device; cuda: NVIDIA GPUs"),
        word("controller", a.controller, balance::controller_names(),
             "who moves the border between CPU and accelerator; fixed: share stays"),
        number("share", a.share, {0, 1}, "of a rank's load on its accelerators, at first; auto: 0.5", "auto"),
        integer("every", a.every, 1, last_step, "steps between checks of the border, after 1, 2, 4, ... at the start"),
        integer("threads", a.threads, 1, 4096, "of each accelerator, with backend: host"),
        integer("devices", a.devices, 1, 64, "accelerators of a rank; auto: those of the node, dealt to its ranks",
                "auto"),
        word("reach", a.reach,
             "border: accelerators may have all cells of a rank; inner: one box of cells that no other rank needs"),
        by_node("speed", a.speed, of_rank, "[4.0, 8.0]",
                "of one accelerator relative to its rank's CPU, by counted work; of all ranks, or of each"),
    };
}

std::vector<Key> comm_keys(Deck::Comm& c) {
    static constexpr std::int64_t most_bytes = 1 << 30;
    return {
        word("order", c.order,
             "of the messages that a rank sends: by the receivers' numbers, or by the distance of their nodes"),
        word("aggregate", c.aggregate,
             "none: one message for each pair of patches; process: one for each rank; node: small ones for all ranks "
             "of a node go to one of them; auto: only small ones are merged"),
        integer("threshold_bytes", c.threshold_bytes, 1, most_bytes,
                "of a message, with auto; smaller contents are small, with node; auto: what MPI sends at once, at most "
                "16384",
                "auto"),
        word("overlap", c.overlap,
             "none: one message after the other; links: all at once; full: and cells are computed meanwhile"),
        integer(
            "piece_bytes", c.piece_bytes, 64, most_bytes,
            "longer messages are cut; auto: like threshold_bytes with aggregate: auto and overlap: full, else not cut",
            "auto"),
        integer("ranks_per_node", c.ranks_per_node, 1, std::int64_t{1} << 24,
                "consecutive ranks that count as a node; auto: those that share memory", "auto"),
        integer("nodes_per_switch", c.nodes_per_switch, 1, std::int64_t{1} << 24,
                "consecutive nodes on one switch of a fat tree; null: nodes lie in a row", "null"),
    };
}

std::vector<Key> load_keys(Deck::Load& l) {
    const auto only = [&l](Key key, std::vector<LoadKind> kinds, std::string way_out) {
        return unless(with_default(std::move(key)),
                      unlike(l.kind, std::move(kinds), "has no meaning for this load.kind"), std::move(way_out));
    };
    return {
        word("kind", l.kind,
             "slabs: counted work of the initial particles; uniform: 1 a cell; checkpoint, dataset: from a file"),
        only(required(text("file", l.file, "a path, with kind: checkpoint or dataset", "checkpoint, or HDF5 file"),
                      "give the path of the file"),
             {LoadKind::checkpoint, LoadKind::dataset}, "remove it, or write kind: checkpoint or dataset"),
        only(text("dataset", l.dataset, "a path, with kind: dataset", "numbers >= 0; 2D: [ny, nx]; 3D: [nz, ny, nx]"),
             {LoadKind::dataset}, "remove it, or write kind: dataset"),
        only(cells_key(l.cells), {LoadKind::uniform}, "remove it, or write kind: uniform"),
        only(integer("bytes_per_cell", l.bytes_per_cell, 0, 1'000'000,
                     "bytes of a ghost cell; particles take 8 bytes each"),
             {LoadKind::uniform, LoadKind::dataset}, "remove it, or write kind: uniform or dataset"),
    };
}

}  // namespace app
