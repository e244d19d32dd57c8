// SPDX-License-Identifier: MIT
// METIS (Karypis & Kumar 1998), where it was there when this was built: multilevel k-way partitioning.
#include "balance/partition/cell_graph.hpp"

#ifdef STEELYARD_METIS
#include <metis.h>
#endif

#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace balance {

#ifdef STEELYARD_METIS
namespace {

// METIS prints to stdout if one of its first cuts leaves a part without a cell, although it finds parts even then.
// While this lives, such words go nowhere. The GNU C library lets a program set stdout, and prints to what is set.
class Silence {
public:
    Silence() : lock_(mutex()) {
#ifdef __GLIBC__
        nowhere_ = std::fopen("/dev/null", "w");
        if (nowhere_) out_ = std::exchange(stdout, nowhere_);
#endif
    }
    ~Silence() {
#ifdef __GLIBC__
        if (!nowhere_) return;
        stdout = out_;
        std::fclose(nowhere_);
#endif
    }
    Silence(const Silence&) = delete;
    Silence& operator=(const Silence&) = delete;

private:
    static std::mutex& mutex() {
        static std::mutex one;
        return one;
    }
    std::lock_guard<std::mutex> lock_;
    [[maybe_unused]] std::FILE *nowhere_ = nullptr, *out_ = nullptr;
};

static_assert(sizeof(idx_t) == sizeof(std::int32_t), "METIS with 32-bit numbers is needed");

std::vector<std::int32_t> by_metis(const CellGraph& graph, std::span<const double> weights) {
    auto cells = static_cast<idx_t>(graph.weight.size()), parts = static_cast<idx_t>(weights.size()), one = idx_t{1};
    std::vector<real_t> wanted(weights.begin(), weights.end());
    std::vector<idx_t> first = graph.first, neighbours = graph.neighbours, weight = graph.weight, part(cells);
    std::array<idx_t, METIS_NOPTIONS> options{};
    METIS_SetDefaultOptions(options.data());
    options[METIS_OPTION_SEED] = 1;     // the same parts each time
    options[METIS_OPTION_UFACTOR] = 1;  // a thousandth more than the mean is allowed, not 3 %
    idx_t cut = 0;
    const Silence silence;
    if (METIS_PartGraphKway(&cells, &one, first.data(), neighbours.data(), weight.data(), nullptr, nullptr, &parts,
                            wanted.data(), nullptr, options.data(), &cut, part.data()) != METIS_OK)
        throw std::runtime_error("METIS cannot partition the graph of the cells");
    return {part.begin(), part.end()};
}

}  // namespace

Partition partition_metis(const PartitionInput& in, const PartitionOptions& options, Scattered<Split>&) {
    return partition_graph(in, options, by_metis);
}
#else
Partition partition_metis(const PartitionInput&, const PartitionOptions&, Scattered<Split>&) {
    throw std::invalid_argument("this was built without METIS");
}
#endif

}  // namespace balance
