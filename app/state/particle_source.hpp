// SPDX-License-Identifier: MIT
// A file of particles, whatever its format: what it says of itself, then its particles in bounded pieces. One rank
// reads it (state_file.hpp hands the particles to their owners). A new format is one class here and one line in
// open_source().
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "md/domain.hpp"
#include "md/particles.hpp"
#include "md/system.hpp"

namespace app {

struct SourceHead {
    std::int64_t particles = 0;
    std::array<double, 3> lower{};   ///< corner of the box, lengths
    std::array<double, 3> length{};  ///< of the box; 0 where the file does not say
    int dimensions = 3;              ///< 2: there is no z
};

/// Rows of the file in its order. Numbers are rounded to the quanta of a state. Positions are as in the file: the
/// file's lower corner is not yet subtracted.
struct SourcePiece {
    std::vector<md::Particle<3>> rows;
    bool positions = true, velocities = true;  ///< what the rows hold; the rest is 0
};

class ParticleSource {
public:
    virtual ~ParticleSource() = default;
    const SourceHead& head() const { return head_; }
    /// At most piece_rows rows; none at the end. Throws InputError, comm::ReadError.
    virtual SourcePiece next() = 0;
    /// Lines on what the file holds and nothing uses; complete after the last piece.
    const std::vector<std::string>& notes() const { return notes_; }

    static constexpr std::int64_t piece_rows = 1 << 16;

protected:
    SourceHead head_;
    std::vector<std::string> notes_;
};

/// Stands for a coordinate that is no number, infinite, or beyond 2^21.
inline constexpr std::int64_t no_quanta = std::numeric_limits<std::int64_t>::min();

/// A length or speed in 2^-40, the nearest one; no_quanta where there is none.
inline std::int64_t quanta(double x) {
    constexpr double most = 1 << 21;
    return x > -most && x < most ? std::llrint(std::ldexp(x, md::position_bits)) : no_quanta;
}

/// Where the particles of a file lie in the deck's box: pure functions of integers.
struct FileBox {
    md::Domain domain;
    std::array<std::int64_t, 3> lower{};   ///< corner of the file's box, 2^-40
    std::array<std::int64_t, 3> length{};  ///< of the file's box, 2^-40; that of the domain where the file says none
};

/// source: of the file. Lengths of its box are rounded as the domain's are.
FileBox file_box(const md::Domain& domain, const SourceHead& source);

/// Moves a position into the box, from the file's lower corner to the origin. A periodic axis adds whole lengths of the
/// file's box. A position at an upper wall moves by a quantum. Returns why it can't be done, empty if it was.
std::string place(md::Particle<3>& p, const FileBox& box);

/// By what the file holds, not by its name. Throws InputError for what is no file, or of no format that is known here.
std::unique_ptr<ParticleSource> open_source(const md::StateFile& file);

// The formats. Throw InputError, comm::ReadError.
std::unique_ptr<ParticleSource> open_h5md(const md::StateFile& file);
std::unique_ptr<ParticleSource> open_lammps_data(const md::StateFile& file);
std::unique_ptr<ParticleSource> open_lammps_dump(const md::StateFile& file);

}  // namespace app
