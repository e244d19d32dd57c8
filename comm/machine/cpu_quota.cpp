// SPDX-License-Identifier: MIT
#include "comm/machine/cpu_quota.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace comm {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

double number_in(const std::string& path, double otherwise) {
    std::ifstream file(path);
    double value = 0;
    return file >> value ? value : otherwise;  // "max" is no number
}

// Version 2: one file with quota and period. Version 1: one for each, and -1 for no quota.
double quota_of(const std::string& group) {
    double quota = -1, period = 0;
    if (std::ifstream both(group + "/cpu.max"); !(both >> quota >> period)) {
        quota = number_in(group + "/cpu.cfs_quota_us", -1);
        period = number_in(group + "/cpu.cfs_period_us", 0);
    }
    return quota > 0 && period > 0 ? quota / period : unlimited;
}

}  // namespace

// A line is `number:controllers:path`; version 2 has no controllers there. A container may see its group as the root of
// the mount although the path names more folders, so folders that are not there are no error.
double cpu_quota(const std::string& groups, const std::string& root) {
    double least = unlimited;
    std::istringstream lines(groups);
    for (std::string line; std::getline(lines, line);) {
        const auto first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        std::vector<std::string> mounts;
        if (controllers.empty()) mounts = {root, root + "/unified"};
        else if (("," + controllers + ",").find(",cpu,") != std::string::npos)
            mounts = {root + "/" + controllers, root + "/cpu"};
        for (const std::string& mount : mounts)
            for (std::string path = line.substr(second + 1);; path.resize(path.rfind('/'))) {
                least = std::min(least, quota_of(mount + path));
                if (path.rfind('/') == std::string::npos) break;
            }
    }
    return least;
}

int threads_of_rank(int cores, int sharing, double quota, int ranks) {
    const double share = std::min<double>(cores, quota / ranks);
    return std::max(1, std::min(cores / sharing, static_cast<int>(share)));
}

}  // namespace comm
