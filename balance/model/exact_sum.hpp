// SPDX-License-Identifier: MIT
// A sum of seconds that is the same in whichever order, and by whichever members, the seconds are added.
#pragma once

namespace balance {

/// Two sums of whole numbers: of ticks of 2^-40 s, and of what each summand is beside them, in ticks of 2^-64 s. Exact
/// as long as the seconds add up to less than 8192, and there are no more than 2^30 of them.
struct ExactSum {
    double coarse = 0, fine = 0;

    void add(double seconds) {
        const double ticks = seconds * coarse_ticks, whole = nearest(ticks);
        coarse += whole;
        fine += nearest((ticks - whole) * fine_ticks);
    }
    double seconds() const { return (coarse + fine / fine_ticks) / coarse_ticks; }

private:
    static constexpr double coarse_ticks = 0x1p40, fine_ticks = 0x1p24;
    // The whole number next to it: numbers beside 2^52 have no fraction. Compilers have no faster way without
    // instructions that not every processor has.
    static double nearest(double value) {
        constexpr double beyond = 0x1.8p52;
        return (value + beyond) - beyond;
    }
};

}  // namespace balance
