// SPDX-License-Identifier: MIT
// Cell fields from HDF5 files of others, which number_file.hpp reads: any numbers, in any layout that HDF5 reads by
// itself.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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

    /// The field of time t in this rank's home, x slowest, then y, then z.
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
