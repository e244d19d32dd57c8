// SPDX-License-Identifier: MIT
// CPU time that Linux allows a control group: containers and batch systems limit it so, and the affinity mask says
// nothing of it. A process with more threads than that is stopped for a part of each period.
#pragma once
#include <string>

namespace comm {

/// CPUs that a process may use at a time: the least quota of its control groups and their parents. Infinite without a
/// quota.
/// groups: the contents of /proc/self/cgroup.
/// root: the mount point of control groups, as /sys/fs/cgroup.
double cpu_quota(const std::string& groups, const std::string& root);

/// Threads of a rank by default, at least 1.
/// cores: in its affinity mask.  sharing: ranks that have the same mask.
/// quota: CPUs of all ranks of a node together, as cpu_quota().  ranks: of the node.
int threads_of_rank(int cores, int sharing, double quota, int ranks);

}  // namespace comm
