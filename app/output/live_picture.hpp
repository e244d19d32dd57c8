// SPDX-License-Identifier: MIT
// What `run --live` draws, as text: pure functions of the numbers and of the terminal's size.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/common/terminal.hpp"
#include "app/output/tables.hpp"
#include "md/observables.hpp"

namespace app {

/// How fast a run has been of late.
class Pace {
public:
    /// The run has come to a step, `seconds` after some moment. Both ascend.
    void at(std::int64_t step, double seconds);
    /// Steps a second over the last 5 to 10 seconds, or as long as there are; 0 before there are two moments.
    double rate() const;

private:
    struct Moment {
        std::int64_t step;
        double seconds;
    };
    std::optional<Moment> begin_, middle_, now_;
};

/// A run, as the live view shows it.
struct LiveView {
    std::int64_t step = 0, first = 0, last = 0;  ///< now, at the start, at the end
    std::int64_t particles = 0;
    double rate = 0;                    ///< steps a second of late; 0: not known yet
    std::optional<ThermoRow> thermo;    ///< the last row of thermo.csv
    std::optional<BalanceRow> balance;  ///< the driver's last row of balance.csv
};

/// The box, as many characters wide and high as fit: y upwards; in three dimensions the mean along z, with the owners
/// in the middle.
struct CharacterMap {
    int width = 0, height = 0;  ///< a character is taken to be twice as high as wide
    bool load = false;          ///< values are loads; else particles
    std::vector<double> value;  ///< of a cell, mean over the cells that a character stands for; from the upper left
    std::vector<std::int64_t> owner;
    double mean = 0;  ///< over all cells
};
/// frame: the rows of one step of map.csv, at least one; columns, rows: room for it, at least 1.
CharacterMap character_map(const std::vector<MapRow>& frame, int columns, int rows);

/// Lines of a picture.
using Lines = std::vector<std::string>;

/// The numbers, in three lines; none where the screen has no room. As all lines of the picture they are narrower than
/// the screen.
Lines numbers_of(const LiveView& view, const Screen& screen);
/// The map and what it shows, so high that with the numbers the picture has fewer lines than the screen; none where
/// there is no frame or no room. Each line leaves the terminal's colours as they were.
Lines map_of(const std::vector<MapRow>& frame, const Screen& screen);

/// What to print so that `above`, if that is not empty, stands where the picture `old` began, and the next picture
/// below it. The cursor is below the picture, before and after.
std::string redrawn(const Lines& old, const std::string& above, const Lines& next);

/// Seconds in words: "12.3 s", "4:56 min", "7:08:09 h".
std::string duration(double seconds);

}  // namespace app
