// SPDX-License-Identifier: MIT
// LBDatafiles as a load series: what DARMA/vt, its Load Balancing Analysis Framework (LBAF) and runs with
// output.balance_formats: [lbaf] write. docs/replay.md says how objects become cells.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/file/field_reader.hpp"

namespace app {

/// Rank 0 holds the whole content. Throws InputError on all ranks alike.
class LbafSeries final : public comm::FieldSeries {
public:
    /// path: a directory of files <name>.<rank>.json, or one of them. Collective.
    LbafSeries(const std::string& path, const comm::Communicator& comm);

    /// Whether a path is meant to be read by this class and not as an HDF5 file. This rank only.
    static bool is_meant(const std::string& path);

    /// What an object took in one phase, and the cells over which that is spread.
    struct Piece {
        balance::Box box;
        double time = 0;
    };

    bool has(const std::string& dataset) const override { return dataset == "/load" || dataset == "/step"; }
    Shape shape(const std::string& dataset) const override;
    std::vector<double> whole(const std::string& dataset, std::int64_t t) const override;
    std::vector<double> home(const std::string& dataset, std::int64_t t) const override;
    std::vector<std::int64_t> integers(const std::string& dataset) const override;
    std::vector<std::string> texts(const std::string& attribute) const override;

private:
    const comm::Communicator& comm_;
    balance::Grid grid_;
    std::vector<std::int64_t> steps_;
    std::vector<std::vector<Piece>> phases_;  // rank 0
};

}  // namespace app
