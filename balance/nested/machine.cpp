// SPDX-License-Identifier: MIT
#include "balance/nested/machine.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace balance {
namespace {

void check(const NodeSpec& node, std::size_t number) {
    const std::string name = "node " + std::to_string(number) + " of the machine ";
    if (node.cpus < 1 || node.cores_per_cpu < 1)
        throw std::invalid_argument(name + "has " + std::to_string(node.cpus) + " CPUs of " +
                                    std::to_string(node.cores_per_cpu) + " cores; it needs at least one core");
    if (node.accelerators < 0)
        throw std::invalid_argument(name + "has " + std::to_string(node.accelerators) + " accelerators");
    const auto check_speed = [&](double speed, const char* of) {
        if (!(speed > 0) || !std::isfinite(speed))
            throw std::invalid_argument(name + "has a speed of " + std::to_string(speed) + " for " + of +
                                        "; give a number above 0");
    };
    check_speed(node.core_speed, "a core");
    if (node.accelerators > 0) check_speed(node.accelerator_speed, "an accelerator");
}

}  // namespace

void check(const MachineSpec& machine) {
    if (machine.nodes.empty()) throw std::invalid_argument("a machine needs at least one node");
    for (std::size_t n = 0; n < machine.nodes.size(); ++n) check(machine.nodes[n], n);
}

std::vector<Resource> resources_of(const MachineSpec& machine) {
    check(machine);
    std::vector<Resource> resources;
    for (std::size_t n = 0; n < machine.nodes.size(); ++n) {
        const NodeSpec& node = machine.nodes[n];
        const auto number = static_cast<std::int32_t>(n);
        for (int cpu = 0; cpu < node.cpus; ++cpu)
            resources.insert(resources.end(), node.cores_per_cpu, {ResourceKind::core, number, cpu, node.core_speed});
        resources.insert(resources.end(), node.accelerators,
                         {ResourceKind::accelerator, number, -1, node.accelerator_speed});
    }
    return resources;
}

}  // namespace balance
