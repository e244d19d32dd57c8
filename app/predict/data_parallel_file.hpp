// SPDX-License-Identifier: MIT
// Any iterative data-parallel program, described by a YAML file with a section data_parallel: for the model of
// predict/data_parallel.hpp.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/run/options.hpp"
#include "comm/communicator.hpp"
#include "predict/data_parallel.hpp"

namespace app {

enum class Cutting { strips, squares };
constexpr auto words_of(Cutting) {
    return std::to_array<balance::Word<Cutting>>({{Cutting::strips, "strips"}, {Cutting::squares, "squares"}});
}

struct DataParallelProgram {
    std::string name;
    Cutting cut = Cutting::strips;
    double columns = 1;  ///< of the domain; squares: its side
    double height = 1;   ///< points of a column; squares: unused
    double overlap = 1;  ///< columns that neighbours share; squares: the points of the rim
    predict::PointTimes times{1e-6, 0, 0};
    double serial = 1, inner = 1;         ///< I_1, I_m
    std::map<double, double> parallel;    ///< I_p by number of subdomains (squares: along a side); between them linear
    std::map<double, double> by_overlap;  ///< its factor by overlap; empty: 1
    std::vector<std::int64_t> counts{1, 2, 4, 8};
    std::map<double, double> measured;  ///< seconds by count, shown beside

    /// I_p. Throws DeckError where the tables do not reach.
    predict::Iterations iterations(std::int64_t count) const;
    /// Seconds on so many subdomains.
    double seconds(std::int64_t count, predict::Overlapped overlapped = predict::Overlapped::nothing) const;
    double sequential() const;
    double processors(std::int64_t count) const;
};

/// Nothing where the file is none of these (a deck). Collective. Throws DeckError.
std::optional<DataParallelProgram> read_data_parallel(const Options& options, const comm::Communicator& comm);

/// Prints the table and writes predict.json. Collective.
int predict_data_parallel(const DataParallelProgram& program, const Options& options, const comm::Communicator& comm);

}  // namespace app
