// SPDX-License-Identifier: MIT
#include "comm/machine/topology.hpp"

#include <fmt/format.h>
#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <sstream>

#include "comm/machine/cpu_quota.hpp"
#include "comm/team.hpp"

namespace comm {
namespace {

std::string read_groups() {
    std::ifstream file("/proc/self/cgroup");
    return {std::istreambuf_iterator<char>(file), {}};
}

// Calls look(topology of this node), if hwloc can tell it.
template <class Look>
void look_at_node(Look look) {
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0) return;
    if (hwloc_topology_load(topology) == 0) look(topology);
    hwloc_topology_destroy(topology);
}

}  // namespace

double memory_bytes() {
    return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

Topology detect(const Communicator& comm) {
    Topology t;
    char host[256] = "unknown";
    gethostname(host, sizeof host - 1);
    t.host = host;
    look_at_node([&](hwloc_topology_t node) {
        hwloc_bitmap_t mask = hwloc_bitmap_alloc();
        if (hwloc_get_cpubind(node, mask, HWLOC_CPUBIND_PROCESS) == 0) {
            t.cores_available = std::max(1, hwloc_bitmap_weight(mask));
            char text[256];
            hwloc_bitmap_list_snprintf(text, sizeof text, mask);
            t.units = text;
        }
        hwloc_bitmap_free(mask);
        if (hwloc_obj_t package = hwloc_get_obj_by_type(node, HWLOC_OBJ_PACKAGE, 0))
            if (const char* model = hwloc_obj_get_info_by_name(package, "CPUModel")) t.cpu_model = model;
    });
    // Ranks of one node with one mask share it: nobody bound them.
    std::string sharing;
    if (const std::vector<std::string> all = comm.gather(t.host + " " + t.units); comm.rank() == 0) {
        std::map<std::string, int> users;
        int most = 1;
        for (const std::string& a : all) most = std::max(most, ++users[a]);
        sharing = std::to_string(most);
    }
    comm.broadcast(sharing);
    const int shared = t.sharing = std::stoi(sharing);
    t.cpu_quota = cpu_quota(read_groups(), "/sys/fs/cgroup");
    t.default_threads = threads_of_rank(t.cores_available, shared, t.cpu_quota, comm.node_size());
    t.binding = fmt::format("cores {}{}{}", t.units.empty() ? "unknown" : t.units,
                            shared > 1 ? fmt::format(" shared by {} ranks", shared) : "",
                            std::isfinite(t.cpu_quota) ? fmt::format(", CPU quota {:.3g}", t.cpu_quota) : "");
    return t;
}

std::vector<NodeShape> detect_nodes(const Communicator& comm) {
    std::vector<NodeShape> mine;
    if (comm.node_rank() == 0) {
        mine.emplace_back();
        look_at_node([&](hwloc_topology_t node) {
            mine[0] = {std::max(1, hwloc_get_nbobjs_by_type(node, HWLOC_OBJ_PACKAGE)),
                       std::max(1, hwloc_get_nbobjs_by_type(node, HWLOC_OBJ_CORE))};
        });
    }
    return balance::all_gather(Ranks(comm), std::span<const NodeShape>(mine));
}

bool unit_for_each_thread(const Topology& topology, int threads, const Communicator& comm) {
    const double quota = std::min(topology.cpu_quota, 1e9);
    const std::string mine = fmt::format("{} {} {} {}", topology.host, threads, quota, topology.units);
    std::string verdict = "yes";
    if (const std::vector<std::string> all = comm.gather(mine); comm.rank() == 0) {
        struct Node {
            hwloc_bitmap_t units = hwloc_bitmap_alloc();
            int threads = 0;
            double quota = 1e9;
        };
        std::map<std::string, Node> nodes;
        const hwloc_bitmap_t units = hwloc_bitmap_alloc();
        for (const std::string& rank : all) {
            std::istringstream words(rank);
            std::string host, list;
            int n = 0;
            double allowed = 0;
            words >> host >> n >> allowed >> list;
            if (list.empty() || hwloc_bitmap_list_sscanf(units, list.c_str()) != 0 || hwloc_bitmap_weight(units) < n)
                verdict = "no";
            Node& node = nodes[host];
            node.threads += n;
            node.quota = std::min(node.quota, allowed);
            hwloc_bitmap_or(node.units, node.units, units);
        }
        for (const auto& [host, node] : nodes) {
            if (hwloc_bitmap_weight(node.units) < node.threads || node.quota < node.threads) verdict = "no";
            hwloc_bitmap_free(node.units);
        }
        hwloc_bitmap_free(units);
    }
    comm.broadcast(verdict);
    return verdict == "yes";
}

}  // namespace comm
