// SPDX-License-Identifier: MIT
// What checkpoints keep of the search for slow processes. It is gathered on member 0; what comes back is believed only
// where it can be such.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "balance/model/speeds.hpp"

namespace balance {

std::vector<double> Speeds::memory(const Team& team) const {
    std::vector<double> m = prior_.numbers();
    m.push_back(static_cast<double>(parts_.size()));
    for (std::size_t k = 0; k < parts_.size(); ++k) {
        const std::vector<double> times = gather<double>(team, records_[k].times),
                                  sums = gather<double>(team, records_[k].sums);
        const std::vector<BlockPart> parts = gather<BlockPart>(team, parts_[k].unpacked());
        if (team.rank() != 0) continue;
        m.insert(m.end(), times.begin(), times.end());
        m.insert(m.end(), sums.begin(), sums.end());
        m.push_back(static_cast<double>(parts.size()));
        for (const BlockPart& p : parts) {
            for (const std::int32_t n : {p.process, p.x, p.y, p.cells}) m.push_back(n);
            for (const std::int64_t s : p.sums) m.push_back(static_cast<double>(s));
        }
    }
    if (team.rank() != 0) return {};
    const auto waiting = patience_.numbers();
    if (std::ranges::any_of(waiting, [](double n) { return n > 0; })) m.insert(m.end(), waiting.begin(), waiting.end());
    return m;
}

std::int64_t Speeds::bytes() const {
    std::size_t bytes = unequal_.capacity() * sizeof(SpeedOf);
    for (const PackedParts& parts : parts_) bytes += parts.bytes();
    for (const Record& r : records_)
        bytes += (r.times.capacity() + r.sums.capacity() + r.excess.capacity()) * sizeof(double);
    return static_cast<std::int64_t>(bytes);
}

bool Speeds::restore(const Range& hosted, std::span<const double> found, std::optional<std::span<const double>> saved) {
    if (std::ssize(found) != processes_ ||
        !std::all_of(found.begin(), found.end(), [](double s) { return s >= 1e-6 && s <= 1e6; }))
        return false;
    if (!saved) {
        set(found);
        return true;
    }
    const std::span<const double> memory = *saved;
    std::size_t at = 0;
    bool good = true;
    // The next number, if it lies in a range.
    const auto next = [&](double low, double high) {
        good = good && at < memory.size() && memory[at] >= low && memory[at] <= high;
        return good ? memory[at++] : low;
    };
    const auto whole = [&](double low, double high) { return static_cast<std::int64_t>(next(low, high)); };
    Prior prior = prior_;
    std::vector<Record> records;
    std::vector<PackedParts> parts;
    const auto is_here = [&](std::int64_t process) { return process >= hosted.begin && process < hosted.end; };
    std::vector<double> numbers;
    for (std::size_t i = 0; i < Prior::count; ++i) numbers.push_back(next(0, 1e100));
    prior.set_numbers(numbers);
    const std::int64_t n = whole(0, most_records);
    for (std::int64_t k = 0; k < n && good; ++k) {
        Record r;
        const auto read = [&](std::vector<double>& to, int of_each) {
            for (std::int64_t i = 0; i < processes_ * of_each; ++i)
                if (const double value = next(0, 1e30); is_here(i / of_each)) to.push_back(value);
        };
        read(r.times, 1);
        read(r.sums, features);
        const std::int64_t here = whole(0, static_cast<double>(memory.size()));
        std::vector<BlockPart> of_hosted;
        for (std::int64_t i = 0; i < here && good; ++i) {
            BlockPart p{};
            p.process = static_cast<std::int32_t>(whole(0, static_cast<double>(processes_ - 1)));
            for (std::int32_t* count : {&p.x, &p.y, &p.cells}) *count = static_cast<std::int32_t>(whole(0, 1 << 29));
            for (std::int64_t& s : p.sums) s = whole(0, 1e15);
            if (is_here(p.process)) of_hosted.push_back(p);
        }
        parts.emplace_back(of_hosted);
        records.push_back(std::move(r));
    }
    std::array<double, Patience::count> waiting{};
    if (at < memory.size())  // where nothing is waited for, and in older checkpoints, they are left out
        for (double& patience : waiting) patience = next(0, 1e9);
    if (!good || at != memory.size()) return false;
    patience_.set_numbers(waiting);
    prior_ = prior;
    set(found);
    records_ = std::move(records);
    parts_ = std::move(parts);
    return true;
}

}  // namespace balance
