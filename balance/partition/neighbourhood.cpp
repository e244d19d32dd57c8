// SPDX-License-Identifier: MIT
// A member that hosts one process with a few boxes tells a few homes, and is told of a few neighbours, however many
// processes there are.
#include "balance/partition/neighbourhood.hpp"

#include <algorithm>
#include <set>

#include "balance/delivery.hpp"
#include "balance/grid/for_each.hpp"

namespace balance {
namespace {

// Calls visit(box) for a box with a halo, clipped to the grid, and for owned images that meet the grid.
template <class Visit>
void for_each_part(const Grid& grid, const Box& box, int width, Visit visit) {
    const Box wide = with_halo(box, halo_of(grid, width));
    for_each_image(grid, width, [&](const std::array<int, 3>& image) {
        const Box there = intersection(shifted(wide, offset_of(grid, image)), grid.box());
        if (!there.empty()) visit(there);
    });
}

// The members at whose homes such cells are.
std::set<int> homes_of(const Homes& homes, std::span<const Box> boxes, int width) {
    std::set<int> members;
    for (const Box& b : boxes)
        for_each_part(homes.grid, b, width,
                      [&](const Box& there) { homes.for_each_in(there, [&](int m) { members.insert(m); }); });
    return members;
}

// Those that own such cells, of the processes that are known here.
ProcessBoxes owners_of(const Grid& grid, const ProcessBoxes& known, std::span<const Box> boxes, int width) {
    std::vector<Box> wanted;
    for (const Box& b : boxes) for_each_part(grid, b, width, [&](const Box& there) { wanted.push_back(there); });
    ProcessBoxes found;
    for (std::int64_t i = 0; i < known.size(); ++i) {
        const std::span<const Box> owned = known.of(i);
        if (std::ranges::any_of(owned, [&](const Box& b) {
                return std::ranges::any_of(wanted, [&](const Box& w) { return meet(b, w); });
            }))
            found.add(known.processes[i], owned);
    }
    return found;
}

}  // namespace

ProcessBoxes around_home(const Team& team, const Grid& grid, const ProcessBoxes& hosted) {
    std::vector<Parcel<std::int32_t>> parcels;
    for (const int home : homes_of({grid, team.size()}, hosted.boxes, 1))
        if (home != team.rank()) parcels.push_back({home, to_words(hosted)});
    std::vector<ProcessBoxes> known{hosted};
    for (const Parcel<std::int32_t>& p : deliver(team, parcels)) known.push_back(from_words(p.list));
    return united(known);
}

std::vector<ProcessBoxes> around_boxes(const Team& team, const Grid& grid, std::span<const ProcessBoxes> at_home,
                                       std::span<const Box> boxes, int width) {
    std::vector<Parcel<Box>> asked;
    for (const int home : homes_of({grid, team.size()}, boxes, width))
        asked.push_back({home, {boxes.begin(), boxes.end()}});
    std::vector<Parcel<std::int32_t>> answers;  // to each who asks, one for each partition
    for (const Parcel<Box>& p : deliver(team, asked))
        for (const ProcessBoxes& known : at_home)
            answers.push_back({p.member, to_words(owners_of(grid, known, p.list, width))});
    std::vector<std::vector<ProcessBoxes>> heard(at_home.size());
    std::size_t next = 0;  // from each home they come in their order
    for (const Parcel<std::int32_t>& p : deliver(team, answers))
        heard[next++ % heard.size()].push_back(from_words(p.list));
    std::vector<ProcessBoxes> found;
    for (const std::vector<ProcessBoxes>& lists : heard) found.push_back(united(lists));
    return found;
}

MigrationKnowledge around_migration(const Team& team, const Grid& grid, const LocalPartition& before,
                                    const LocalPartition& after, int width) {
    std::vector<Box> boxes = before.hosted.boxes;
    boxes.insert(boxes.end(), after.hosted.boxes.begin(), after.hosted.boxes.end());
    const std::array at_home{before.around_home, after.around_home};
    const std::vector<ProcessBoxes> around = around_boxes(team, grid, at_home, boxes, width);
    return {united(std::array{around[0], before.hosted}), united(std::array{around[1], after.hosted})};
}

}  // namespace balance
