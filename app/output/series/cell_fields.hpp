// SPDX-License-Identifier: MIT
// HDF5 files of cell fields, one for each step, with descriptions for ParaView.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "balance/grid/grid.hpp"
#include "comm/file/file.hpp"
#include "comm/file/posix_file.hpp"

namespace app {

class RunDirectory;

/// Cell fields of one step: this rank's part.
struct CellFields {
    template <class T>
    struct Field {
        std::string name;
        std::vector<comm::FieldBlock<T>> blocks;
        std::optional<std::int64_t> step = {};  ///< of which the values are, where that may be another one
    };
    balance::Grid grid;
    std::array<double, 3> box{1, 1, 1};  ///< lengths; 1 along z where there are two dimensions
    std::int64_t step = 0;
    double time = 0;
    std::vector<Field<std::int32_t>> integers;
    std::vector<Field<double>> numbers;
};

/// fields_<step>.h5 holds fields [ny, nx], in three dimensions [nz, ny, nx]. For ParaView fields_<step>.xdmf describes
/// one of them, fields.xdmf all.
class FieldFiles {
public:
    /// results: prepared.
    explicit FieldFiles(RunDirectory& results) : results_(results) {}

    /// The series goes on after the files up to `step` that this run has written. On rank 0 alone, inside on_rank_0().
    /// Throws OutputError.
    void go_on(std::int64_t step);
    /// Collective. Throws OutputError, comm::WriteError.
    void write(const CellFields& fields);

private:
    void describe(const CellFields& fields);

    RunDirectory& results_;
    std::string past_;  // what go_on() found
    comm::TextFile series_;
    bool series_started_ = false;
};

}  // namespace app
