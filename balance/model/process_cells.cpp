// SPDX-License-Identifier: MIT
// Both the host of a process and the homes of its cells know its boxes, so each knows which rows come from whom.
#include "balance/model/process_cells.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "balance/transfer.hpp"

namespace balance {
namespace {

// Between the homes and the cells of the processes that members host.
FieldPlan plan_of(const Team& team, const Grid& grid, const ProcessBoxes& known, const Hosts& hosts) {
    std::vector<int> members;
    for (const std::int64_t p : known.processes)
        if (const int m = hosts.member_of(p); members.empty() || members.back() != m) members.push_back(m);
    const auto boxes_of = [&](int member) {
        const IndexRange hosted = hosts.processes_of(member);
        const auto begin = std::ranges::lower_bound(known.processes, hosted.begin) - known.processes.begin(),
                   end = std::ranges::lower_bound(known.processes, hosted.end) - known.processes.begin();
        return std::vector<Box>(known.boxes.begin() + known.first[begin], known.boxes.begin() + known.first[end]);
    };
    return {team, Homes{grid, team.size()}, members, boxes_of};
}

}  // namespace

void ProcessCells::add(std::int64_t process, std::vector<Box> boxes) {
    const std::int64_t cells = cells_in(boxes);
    pieces_.push_back({process, std::move(boxes), this->cells(), cells});
}

std::vector<Box> ProcessCells::boxes() const {
    std::vector<Box> all;
    for (const Piece& p : pieces_) all.insert(all.end(), p.boxes.begin(), p.boxes.end());
    return all;
}

ProcessCells ProcessCells::whole_processes(const Team& team, const Grid& grid, const ProcessBoxes& known,
                                           const Hosts& hosts) {
    const IndexRange mine = hosts.processes_of(team.rank());
    ProcessCells all(team, grid, hosts);
    all.plan_.emplace(plan_of(team, grid, known, hosts));
    for (std::int64_t i = 0; i < known.size(); ++i)
        if (const std::int64_t p = known.processes[i]; mine.contains(p))
            all.add(p, {known.of(i).begin(), known.of(i).end()});
    return all;
}

ProcessCells ProcessCells::at_home(const Team& team, const Grid& grid, const ProcessBoxes& known, const Hosts& hosts) {
    const Homes homes{grid, team.size()};
    const IndexRange mine = hosts.processes_of(team.rank());
    ProcessCells here(team, grid, hosts);
    std::map<int, Partner> partners;
    const auto partner = [&](int member) -> Partner& {
        return partners.try_emplace(member, Partner{member, {}, {}}).first->second;
    };
    for (std::int64_t i = 0; i < known.size(); ++i) {
        const std::int64_t p = known.processes[i];
        std::vector<Box> boxes;
        for (const Box& b : known.of(i))
            if (const Box common = intersection(b, here.home_); !common.empty()) boxes.push_back(common);
        if (!boxes.empty()) {
            partner(hosts.member_of(p)).pieces.push_back(here.pieces_.size());
            here.add(p, std::move(boxes));
        }
        if (!mine.contains(p)) continue;
        const auto place = static_cast<std::size_t>(p - mine.begin);
        for (const Box& b : known.of(i))
            homes.for_each_in(b, [&](int home) {
                std::vector<std::size_t>& hosted = partner(home).hosted;
                if (hosted.empty() || hosted.back() != place) hosted.push_back(place);
            });
    }
    for (auto& [member, found] : partners) here.partners_.push_back(std::move(found));
    return here;
}

template <class T, class Put>
void ProcessCells::exchange(std::span<const T> rows, std::size_t width, Places from, Places to, Put put) const {
    std::vector<PeerMoves<const Partner*>> links;
    for (const Partner& p : partners_) {
        if (p.member != team_.rank()) {
            links.push_back({p.member, {&p}, {&p}});
            continue;
        }
        for (std::size_t i = 0; i < (p.*from).size(); ++i) put((p.*to)[i], &rows[(p.*from)[i] * width]);
    }
    if (team_.size() == 1) return;
    Transfer<const Partner*, T> transfer(team_.channel());
    transfer.lay_out(
        std::span<const PeerMoves<const Partner*>>(links), [&](const Partner* p) { return width * (p->*from).size(); },
        [&](const Partner* p) { return width * (p->*to).size(); });
    transfer.start(SerialLoop{}, [&](const Partner* p, T* out) {
        for (const std::size_t place : p->*from) out = std::copy_n(&rows[place * width], width, out);
    });
    transfer.finish(SerialLoop{}, [&](const Partner* p, const T* in) {
        for (const std::size_t place : p->*to) put(place, std::exchange(in, in + width));
    });
}

std::vector<std::int64_t> ProcessCells::piece_sums(std::span<const std::int64_t> at_home) const {
    if (are_whole()) throw std::logic_error("whole processes have cells beyond the home; this is a bug");
    std::vector<std::int64_t> sums;
    sums.reserve(pieces_.size());
    for (const Piece& p : pieces_) {
        std::int64_t sum = 0;
        for (const Box& b : p.boxes) sum += sum_in(home_, b, at_home);
        sums.push_back(sum);
    }
    return sums;
}

template <class T>
std::vector<T> ProcessCells::sums_at_hosts(const std::vector<T>& rows, std::size_t width) const {
    if (are_whole()) return rows;
    std::vector<T> sums(hosted_.size() * width, T{});
    if (width == 0) return sums;
    exchange(std::span(rows), width, &Partner::pieces, &Partner::hosted, [&](std::size_t place, const T* row) {
        for (std::size_t i = 0; i < width; ++i) sums[place * width + i] += row[i];
    });
    return sums;
}
template std::vector<double> ProcessCells::sums_at_hosts(const std::vector<double>&, std::size_t) const;
template std::vector<std::int64_t> ProcessCells::sums_at_hosts(const std::vector<std::int64_t>&, std::size_t) const;

std::vector<double> ProcessCells::for_pieces(std::span<const double> of_hosted, std::size_t width) const {
    if (are_whole()) return {of_hosted.begin(), of_hosted.end()};
    std::vector<double> rows(pieces_.size() * width);
    if (width == 0) return rows;
    exchange(of_hosted, width, &Partner::hosted, &Partner::pieces,
             [&](std::size_t place, const double* row) { std::copy_n(row, width, &rows[place * width]); });
    return rows;
}

}  // namespace balance
