// SPDX-License-Identifier: MIT
// ASCII alone, since some terminals show other characters twice as wide; borders between processes are '|' and the
// underline of a character, so that they take no room from the map.
#include "app/output/live_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "app/common/words.hpp"
#include "balance/words.hpp"

namespace app {
namespace {

constexpr std::string_view shades = " .:-=+*#%@";
// Of the 256 colours of terminals, from dark to light; none is as light as the borders.
constexpr std::array<int, 10> colours{233, 234, 53, 89, 125, 161, 203, 209, 215, 222};
constexpr int border_colour = 231;
constexpr int numbers_lines = 3, most_map_lines = 24, least_columns = 24;

// A part of an axis of n places that the character i of `many` stands for: a range, never empty.
struct Range {
    int begin, end;
    int middle() const { return (begin + end - 1) / 2; }
};
Range range_of(int i, int many, int n) {
    const auto at = [&](int k) { return static_cast<int>(std::int64_t{k} * n / many); };
    return {at(i), std::max(at(i) + 1, at(i + 1))};
}

struct Borders {
    std::vector<bool> left, below;
    explicit Borders(const CharacterMap& map) : left(map.owner.size()), below(map.owner.size()) {
        const auto width = static_cast<std::size_t>(map.width);
        std::size_t characters = 0;
        for (std::size_t i = 0; i < map.owner.size(); ++i) {
            left[i] = i % width > 0 && map.owner[i] != map.owner[i - 1];
            below[i] = i + width < map.owner.size() && map.owner[i] != map.owner[i + width];
            characters += left[i] || below[i];
        }
        if (2 * characters > map.owner.size()) left.assign(left.size(), false), below.assign(below.size(), false);
    }
};

Lines map_lines(const CharacterMap& map, bool coloured) {
    const Borders borders(map);
    const double top = *std::max_element(map.value.begin(), map.value.end());
    Lines lines;
    for (int y = 0; y < map.height; ++y) {
        std::string line, style;
        for (int x = 0; x < map.width; ++x) {
            const std::size_t i = static_cast<std::size_t>(y) * map.width + x;
            const double part = top > 0 ? map.value[i] / top : 0;
            const auto most = static_cast<double>(shades.size() - 1);
            const auto level = static_cast<std::size_t>(std::ceil(std::clamp(part, 0.0, 1.0) * most));
            std::string wanted = borders.below[i] ? "\033[0;4" : "\033[0";
            if (coloured) wanted += fmt::format(";38;5;{};48;5;{}", border_colour, colours[level]);
            wanted += 'm';
            if (wanted != (style.empty() ? "\033[0m" : style)) line += wanted, style = wanted;
            line += borders.left[i] ? '|' : coloured ? ' ' : shades[level];
        }
        lines.push_back(line + (style.empty() ? "" : "\033[0m"));
    }
    return lines;
}

std::string legend(const MapRow& last, const CharacterMap& map) {
    const double top = *std::max_element(map.value.begin(), map.value.end());
    const std::string most = map.load ? fmt::format("{:.3g} times the mean", map.mean > 0 ? top / map.mean : 0.0)
                                      : fmt::format("{:.3g}", top);
    const bool space = last.cells.upper[2] > 1;
    return fmt::format("{} of a cell{} at step {}, at most {}", map.load ? "load" : "particles",
                       space ? ", mean along z," : "", last.step, most);
}

std::string progress_line(const LiveView& v, std::size_t width) {
    const double done =
        v.last > v.first ? static_cast<double>(v.step - v.first) / static_cast<double>(v.last - v.first) : 1;
    std::vector<std::string> parts{fmt::format("step {}/{}", v.step, v.last)};
    if (v.rate > 0 && v.step < v.last)
        parts.push_back("ETA " + duration(static_cast<double>(v.last - v.step) / v.rate));
    const std::string words = one_line_of(parts, width);
    const std::size_t room = width > words.size() + 16 ? std::min<std::size_t>(width - words.size() - 10, 40) : 0;
    if (room == 0) return words;
    const auto full = static_cast<std::size_t>(done * static_cast<double>(room));
    return fmt::format("[{:<{}}] {:3.0f} %  {}", std::string(full, '#'), room, std::floor(100 * done), words);
}

}  // namespace

void Pace::at(std::int64_t step, double seconds) {
    constexpr double long_ago = 10;
    now_ = {step, seconds};
    if (!begin_) begin_ = now_;
    if (!middle_ && seconds - begin_->seconds >= long_ago / 2) middle_ = now_;
    if (seconds - begin_->seconds > long_ago) begin_ = middle_, middle_ = now_;
}

double Pace::rate() const {
    const double seconds = begin_ ? now_->seconds - begin_->seconds : 0;
    return seconds > 0 ? static_cast<double>(now_->step - begin_->step) / seconds : 0;
}

CharacterMap character_map(const std::vector<MapRow>& frame, int columns, int rows) {
    const std::array<int, 3>& cells = frame.back().cells.upper;  // of the grid: the last block ends where it does
    const balance::Box& block = frame.front().cells;
    const int side = std::max({block.extent(0), block.extent(1), block.extent(2)});
    std::array<int, 3> n{};  // blocks along each axis
    for (int a = 0; a < 3; ++a) n[a] = (cells[a] + side - 1) / side;
    CharacterMap map;
    const double shape = 2.0 * cells[0] / cells[1];  // characters along x for one along y
    map.height = std::clamp(static_cast<int>(std::lround(columns / shape)), 1, rows);
    map.width = std::clamp(static_cast<int>(std::lround(map.height * shape)), 1, columns);
    map.load = std::all_of(frame.begin(), frame.end(), [](const MapRow& r) { return std::isfinite(r.load); });
    const auto value = [&](const MapRow& r) { return map.load ? r.load : static_cast<double>(r.particles); };
    for (int y = map.height - 1; y >= 0; --y)
        for (int x = 0; x < map.width; ++x) {
            const Range along_x = range_of(x, map.width, n[0]), along_y = range_of(y, map.height, n[1]);
            double sum = 0, volume = 0;
            for (int i = along_x.begin; i < along_x.end; ++i)
                for (int j = along_y.begin; j < along_y.end; ++j)
                    for (int k = 0; k < n[2]; ++k) {
                        const MapRow& r = frame[(static_cast<std::size_t>(i) * n[1] + j) * n[2] + k];
                        sum += value(r), volume += static_cast<double>(r.cells.cells());
                    }
            map.value.push_back(sum / volume);
            const auto column = static_cast<std::size_t>(along_x.middle()) * n[1] + along_y.middle();
            map.owner.push_back(frame[column * n[2] + n[2] / 2].owner);
        }
    for (const MapRow& r : frame) map.mean += value(r);
    map.mean /= static_cast<double>(std::int64_t{cells[0]} * cells[1] * cells[2]);
    return map;
}

Lines numbers_of(const LiveView& v, const Screen& screen) {
    if (screen.columns <= least_columns || screen.rows <= numbers_lines) return {};
    const auto width = static_cast<std::size_t>(screen.columns - 1);
    std::vector<std::string> speed, state;
    if (v.rate > 0)
        speed.push_back(fmt::format("{:.2f} M atom-steps/s", v.rate * static_cast<double>(v.particles) * 1e-6));
    if (v.balance && v.balance->mean_seconds > 0)
        speed.push_back(fmt::format("LBE {:.2f} % at step {}", 100 * v.balance->lbe, v.balance->step));
    if (v.balance) speed.emplace_back(balance::word_of(v.balance->decision));
    if (v.thermo) {
        const md::Thermo& t = v.thermo->values;
        state = {fmt::format("total {:.7g}", t.total()), fmt::format("T {:.4g}", t.temperature),
                 fmt::format("p {:.4g}", t.pressure), fmt::format("at step {}", v.thermo->step)};
    }
    return {progress_line(v, width), one_line_of(speed, width), one_line_of(state, width)};
}

Lines map_of(const std::vector<MapRow>& frame, const Screen& screen) {
    const int columns = screen.columns - 1;
    const int rows =
        std::min(screen.rows - numbers_lines - 2, most_map_lines);  // one for the legend, one for the cursor
    if (frame.empty() || columns < least_columns || rows < 1) return {};
    const CharacterMap map = character_map(frame, columns, rows);
    Lines lines = map_lines(map, screen.colours);
    lines.push_back(legend(frame.back(), map).substr(0, columns));
    return lines;
}

std::string redrawn(const Lines& old, const std::string& above, const Lines& next) {
    std::string text = old.empty() ? "\r" : fmt::format("\033[{}A\r", old.size());
    if (!above.empty()) text += above + "\033[K\n";
    const bool in_place = above.empty() && old.size() == next.size();
    std::size_t same = 0;  // lines that the cursor passes over, since they are there already
    for (std::size_t i = 0; i < next.size(); ++i) {
        if (in_place && next[i] == old[i]) {
            ++same;
            continue;
        }
        if (same > 0) text += fmt::format("\033[{}B", std::exchange(same, 0));
        text += next[i] + "\033[K\n";
    }
    if (same > 0) text += fmt::format("\033[{}B", same);
    return text + "\033[J";  // what is left of a picture that was higher
}

std::string duration(double seconds) {
    const auto s = static_cast<long long>(seconds + 0.5);
    return s < 60     ? fmt::format("{:.1f} s", seconds)
           : s < 3600 ? fmt::format("{}:{:02} min", s / 60, s % 60)
                      : fmt::format("{}:{:02}:{:02} h", s / 3600, s / 60 % 60, s % 60);
}

}  // namespace app
