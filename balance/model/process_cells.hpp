// SPDX-License-Identifier: MIT
// The cells of processes, in pieces for a load model. A piece is a whole process on the member that hosts it. Or it is
// the part of a process within one member's home, and no value of a cell has to travel.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "balance/grid/field.hpp"
#include "balance/partition/hosts.hpp"
#include "balance/partition/process_boxes.hpp"
#include "balance/team.hpp"

namespace balance {

/// Some cells of one process.
struct Piece {
    std::int64_t process;
    std::vector<Box> boxes;
    std::int64_t first, cells;  ///< among the values of all pieces: those from `first` on, box by box
};

/// The pieces that one member looks at. The team must live as long as it.
class ProcessCells {
public:
    /// All cells of the processes that a member hosts. known: the result of around_home().
    static ProcessCells whole_processes(const Team& team, const Grid& grid, const ProcessBoxes& known,
                                        const Hosts& hosts);
    /// The cells of each process in the member's home.
    static ProcessCells at_home(const Team& team, const Grid& grid, const ProcessBoxes& known, const Hosts& hosts);

    bool are_whole() const { return plan_.has_value(); }
    std::int64_t processes() const { return processes_; }      ///< of all members
    const IndexRange& hosted() const { return hosted_; }       ///< the processes that this member hosts
    std::span<const Piece> pieces() const { return pieces_; }  ///< in the order of their processes
    std::int64_t cells() const { return pieces_.empty() ? 0 : pieces_.back().first + pieces_.back().cells; }
    const Box& home() const { return home_; }
    /// See FieldPlan.
    std::int64_t packed_values() const { return plan_ ? plan_->packed_values() : 0; }

    /// Values of the cells of the member's home in the order of the pieces. Collective.
    template <class T>
    std::vector<T> to_pieces(std::span<const T> at_home) const {
        return plan_ ? plan_->to_boxes(at_home) : FieldPlan::reordered(at_home, std::span(&home_, 1), boxes());
    }
    /// Back again. Collective.
    template <class T>
    void to_home(std::span<const T> values, std::span<T> at_home) const {
        if (plan_) {
            plan_->to_home(values, at_home);
            return;
        }
        const std::vector<T> back = FieldPlan::reordered(values, boxes(), std::span(&home_, 1));
        std::ranges::copy(back, at_home.begin());
    }

    /// Sum over the cells of each piece. at_home: whole numbers, of the cells of the member's home. Not for pieces that
    /// are whole processes.
    std::vector<std::int64_t> piece_sums(std::span<const std::int64_t> at_home) const;
    /// Rows of `width` numbers of each piece, added up for each process that this member hosts. The order of the sum
    /// depends on the team, so they must be whole numbers. Sums of doubles must stay below 2^53. Collective.
    template <class T>
    std::vector<T> sums_at_hosts(const std::vector<T>& rows, std::size_t width) const;
    /// Such a row of each process that this member hosts, for each of the pieces. Collective.
    std::vector<double> for_pieces(std::span<const double> of_hosted, std::size_t width) const;

private:
    /// A member, perhaps this one, with which rows are exchanged.
    struct Partner {
        int member;
        std::vector<std::size_t> pieces;  ///< places of this member's pieces whose processes the partner hosts
        std::vector<std::size_t> hosted;  ///< places, among the processes hosted here, of those with cells in its home
    };
    using Places = std::vector<std::size_t> Partner::*;

    ProcessCells(const Team& team, const Grid& grid, const Hosts& hosts)
        : team_(team),
          home_(Homes{grid, team.size()}.of(team.rank())),
          processes_(hosts.processes()),
          hosted_(hosts.processes_of(team.rank())) {}
    void add(std::int64_t process, std::vector<Box> boxes);
    std::vector<Box> boxes() const;
    /// Takes rows from places here to places of partners, and calls put(place, row) for each that arrives.
    template <class T, class Put>
    void exchange(std::span<const T> rows, std::size_t width, Places from, Places to, Put put) const;

    const Team& team_;
    Box home_;
    std::int64_t processes_;
    IndexRange hosted_;
    std::optional<FieldPlan> plan_;  // between the homes and whole processes
    std::vector<Piece> pieces_;
    std::vector<Partner> partners_;  // by member
};

}  // namespace balance
