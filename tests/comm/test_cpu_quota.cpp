// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "comm/machine/cpu_quota.hpp"

namespace {

// Control groups in a directory that is gone in the end.
struct Groups {
    std::string root =
        (std::filesystem::temp_directory_path() / ("steelyard_groups_" + std::to_string(getpid()))).string();
    ~Groups() { std::filesystem::remove_all(root); }
    void write(const std::string& path, const std::string& text) const {
        std::filesystem::create_directories(std::filesystem::path(root + path).parent_path());
        std::ofstream(root + path) << text << "\n";
    }
    double quota(const std::string& groups) const { return comm::cpu_quota(groups, root); }
};

}  // namespace

TEST_CASE("the quota of a control group of version 2 is that of itself and its parents") {
    Groups g;
    CHECK(std::isinf(g.quota("0::/job/step\n")));
    g.write("/job/step/cpu.max", "max 100000");
    CHECK(std::isinf(g.quota("0::/job/step\n")));
    g.write("/job/cpu.max", "250000 100000");
    CHECK(g.quota("0::/job/step\n") == 2.5);
    g.write("/job/step/cpu.max", "50000 100000");
    CHECK(g.quota("0::/job/step\n") == 0.5);
    CHECK(g.quota("0::/job\n") == 2.5);
    CHECK(std::isinf(g.quota("0::/\n")));
    g.write("/cpu.max", "100000 100000");  // a container sees its own group as the root
    CHECK(g.quota("0::/somewhere/outside\n") == 1);
    CHECK(g.quota("0::/\n") == 1);
}

TEST_CASE("the quota of a control group of version 1, and where both versions are there") {
    Groups g;
    const std::string groups = "9:name=systemd:/\n8:cpuset:/set\n4:cpu,cpuacct:/job/step\n0::/\n";
    CHECK(std::isinf(g.quota(groups)));
    g.write("/cpu,cpuacct/job/step/cpu.cfs_quota_us", "-1");
    g.write("/cpu,cpuacct/job/step/cpu.cfs_period_us", "100000");
    CHECK(std::isinf(g.quota(groups)));
    g.write("/cpu,cpuacct/job/cpu.cfs_quota_us", "300000");
    g.write("/cpu,cpuacct/job/cpu.cfs_period_us", "100000");
    CHECK(g.quota(groups) == 3);
    g.write("/cpu/cpu.cfs_quota_us", "20000");
    g.write("/cpu/cpu.cfs_period_us", "10000");
    CHECK(g.quota(groups) == 2);
    CHECK(g.quota("1:cpu:/\n") == 2);
    CHECK(std::isinf(g.quota("1:cpuset:/\n")));
    g.write("/unified/cpu.max", "150000 100000");
    CHECK(g.quota(groups) == 1.5);
}

TEST_CASE("damaged or strange files of control groups set no quota") {
    Groups g;
    for (const char* text : {"", "max", "100000", "0 100000", "100000 0", "-1 100000", "a b"}) {
        g.write("/cpu.max", text);
        CHECK(std::isinf(g.quota("0::/\n")));
    }
    for (const char* groups : {"", "0", "0:", "0::", "::", "\n\n", "cpu"}) CHECK(std::isinf(g.quota(groups)));
}

TEST_CASE("threads of a rank: its share of the cores, and no more than its share of the quota") {
    constexpr double none = INFINITY;
    CHECK(comm::threads_of_rank(8, 1, none, 1) == 8);
    CHECK(comm::threads_of_rank(8, 4, none, 4) == 2);
    CHECK(comm::threads_of_rank(8, 1, 3.9, 1) == 3);
    CHECK(comm::threads_of_rank(8, 4, 4, 4) == 1);
    CHECK(comm::threads_of_rank(8, 2, 6, 2) == 3);
    CHECK(comm::threads_of_rank(4, 1, 8, 4) == 2);  // ranks that are bound apart share the quota
    CHECK(comm::threads_of_rank(2, 1, 0.1, 1) == 1);
    CHECK(comm::threads_of_rank(1, 3, none, 3) == 1);
}
