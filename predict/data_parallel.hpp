// SPDX-License-Identifier: MIT
// The time of an iterative program whose domain is cut into subdomains: a general model, for any program.
//
// Source: Shu, Zheng, Shen, Wang (2000), performance analysis for massive problem data parallel computing, eqs. (2) to
// (8). Left behind are its misprints: eq. (1) has (n - e)^2 points where eq. (3) has n^2; the row of I_m in table 1
// lacks a factor; section 2.2 takes a bracket to be I_p to find the best size, which does not follow from eq. (8).
// docs/prediction.md
#pragma once
#include <cstdint>
#include <functional>

namespace predict {

/// What the largest subdomain computes and exchanges in one iteration.
struct Subdomain {
    double points = 0;       ///< that it computes
    double inner = 0;        ///< of them, those that need no values of other subdomains
    double transferred = 0;  ///< points that go over its links, in both directions
    double one_link = 0;     ///< of them over one link in one direction
    double messages = 0;     ///< that it sends and receives
};

/// One of P x P squares of a domain of D x D points whose outer e points are needed by the four neighbours: 8 messages,
/// also where P is 1, as in the paper. D, P > 0, e >= 0; D / P - 2 e counts as 0 where it is negative.
Subdomain square(double D, double P, double e);

/// The widest of `parts` strips of a domain of `columns` columns of `height` points; neighbouring strips share
/// `overlap` columns, so together they have overlap (parts - 1) columns more than the domain (Schwarz domain
/// decomposition).
Subdomain strip(double columns, double height, std::int64_t parts, double overlap);

/// Seconds: to compute a point, to transfer one, to start a message.
struct PointTimes {
    double calculate = 0, transfer = 0, start = 0;
};

/// Iterations to the wanted accuracy.
struct Iterations {
    double serial = 1;    ///< I_1: without subdomains
    double parallel = 1;  ///< I_p: with them
    double inner = 1;     ///< mean over the I_p iterations of I_m: inner iterations of the slowest subdomain
};

/// What goes on at the same time (section 2.1).
enum class Overlapped {
    nothing,   ///< eq. (3)
    links,     ///< transfers over all links
    compute,   ///< these, and the points that need no values of others
    hardware,  ///< everything: hardware of its own starts and carries messages
};

/// Eq. (2): without subdomains, of D^2 = points of the whole domain.
double sequential_seconds(double points, const PointTimes& times, const Iterations& iterations);

/// Eq. (3), or T1, T2, T3 of section 2.1: always nothing >= links >= compute >= hardware.
double parallel_seconds(const Subdomain& part, const PointTimes& times, const Iterations& iterations,
                        Overlapped overlapped = Overlapped::nothing);

/// A count and what it takes.
struct BestCount {
    std::int64_t count = 1;
    double seconds = 0;
};
/// The count from `first` to `last` (1 <= first <= last) with the least seconds(count), of several the smallest. Tries
/// all up to 100, then counts that are 2 % apart, and all between the neighbours of the best of these: exact where
/// seconds() has no dips narrower than that. Over 100000 counts between them are narrowed down in the same way, a
/// thousandth apart. This takes the place of the zero of eq. (7).
BestCount best_count(const std::function<double(std::int64_t)>& seconds, std::int64_t first, std::int64_t last);

}  // namespace predict
