// SPDX-License-Identifier: MIT
// Cell fields from HDF5 files of others, which number_file.hpp reads: any numbers, in any layout that HDF5 reads by
// itself.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "balance/grid/field.hpp"
#include "balance/grid/for_each.hpp"
#include "comm/communicator.hpp"
#include "comm/file/number_file.hpp"

namespace comm {

struct ReadField {
    std::array<int, 3> cells{1, 1, 1};  ///< of the whole field along x, y, z
    std::vector<double> values;         ///< of this rank's home (balance/grid/field.hpp), x slowest, then y, then z
};

/// A dataset [ny, nx] or [nz, ny, nx] of integers or floating-point numbers. Rank 0 reads; each rank gets its home.
/// Collective. Throws Agreed<ReadError>.
ReadField read_field(const std::string& path, const std::string& dataset, const Communicator& comm);

/// The values of all cells, on rank 0, to the ranks at whose homes they are: ordered by x, then y, then z. Collective.
template <class T>
std::vector<T> to_homes(const std::vector<T>& all, const balance::Grid& grid, const Communicator& comm) {
    std::vector<std::vector<std::byte>> to_rank(comm.size());
    for (int r = 0; comm.rank() == 0 && r < comm.size(); ++r) {
        const balance::Box home = balance::Homes{grid, comm.size()}.of(r);
        std::vector<T> its;
        balance::for_each_cell(
            home, [&](int x, int y, int z) { its.push_back(all[balance::place_in(grid.box(), x, y, z)]); });
        const auto bytes = std::as_bytes(std::span(its));
        to_rank[r].assign(bytes.begin(), bytes.end());
    }
    return balance::elements_in<T>(comm.all_to_all(to_rank));
}

/// A series of fields of cells in an HDF5 file: datasets [t, ny, nx] or [t, nz, ny, nx], read one field a time. Rank 0
/// has the file open. All calls are collective and throw Agreed<ReadError>.
class FieldSeriesReader {
public:
    FieldSeriesReader(const std::string& path, const Communicator& comm);
    ~FieldSeriesReader();
    FieldSeriesReader(const FieldSeriesReader&) = delete;
    FieldSeriesReader& operator=(const FieldSeriesReader&) = delete;

    bool has(const std::string& dataset) const;

    struct Shape {
        std::int64_t times = 0;
        std::array<int, 3> cells{1, 1, 1};
        int dimensions = 2;
        friend bool operator==(const Shape&, const Shape&) = default;
    };
    /// Extents of a dataset of numbers with 3 or 4 dimensions.
    Shape shape(const std::string& dataset) const;

    /// The field of time t, x slowest, then y, then z. On rank 0; nothing elsewhere.
    std::vector<double> whole(const std::string& dataset, std::int64_t t) const;
    /// The same of this rank's home.
    std::vector<double> home(const std::string& dataset, std::int64_t t) const;

    /// A dataset [n] of whole numbers.
    std::vector<std::int64_t> integers(const std::string& dataset) const;
    /// An attribute of the file's root that is a list of 1 to 3 texts; empty if there is none.
    std::vector<std::string> texts(const std::string& attribute) const;

private:
    std::unique_ptr<NumberFile> file_;  // on rank 0
    const Communicator& comm_;
};

}  // namespace comm
