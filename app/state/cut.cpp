// SPDX-License-Identifier: MIT
// Ids follow the shuffled order of the file's ids (ById), and for each of its particles the order of its images: so
// they are the same on any number of ranks, although no rank knows the file.

#include <fmt/format.h>

#include <span>
#include <vector>

#include "app/state/state_file.hpp"
#include "md/initial.hpp"
#include "md/region.hpp"

namespace app {
namespace {

// The images, in a body, of this rank's particles of its file, one piece after the other.
class Cut {
public:
    Cut(const md::Body& body, const comm::Communicator& comm) : body_(body), region_(body) {
        md::Domain periodic;  // of the file's box alone
        periodic.dimensions = region_.dimensions;
        for (md::Axis& axis : periodic.axes()) axis.periodic = true;
        FileBox placed;
        particles_ = read_particles(body.from, periodic, comm, &placed);
        length_ = placed.length;
    }

    void rewind() { next_ = 0, image_ = {}; }
    /// The next ones, with velocities of the file and of the spin; at most a piece, none at the end.
    std::vector<md::Particle<3>> take() {
        std::vector<md::Particle<3>> piece;
        while (next_ < particles_.size() && std::ssize(piece) < ParticleSource::piece_rows) {
            const md::Particle<3>& p = particles_[next_];
            const md::Point at = position(p);
            if (region_.contains(at)) {
                piece.push_back(md::make_particle<3>(body_, 0, 0, at));
                for (int a = 0; a < region_.dimensions; ++a) piece.back().v[a] += p.v[a];
            }
            advance(p);
        }
        return piece;
    }

private:
    md::Point position(const md::Particle<3>& p) const {
        md::Point at{};
        for (int a = 0; a < region_.dimensions; ++a) at[a] = region_.lower[a] + image_[a] * length_[a] + p.x[a];
        return at;
    }
    // To the next image within the corners of the body, or to the next particle.
    void advance(const md::Particle<3>& p) {
        for (int a = 0; a < region_.dimensions; ++a) {
            ++image_[a];
            if (position(p)[a] < region_.upper[a]) return;
            image_[a] = 0;
        }
        ++next_;
    }

    const md::Body& body_;
    const md::Region region_;
    std::vector<md::Particle<3>> particles_;
    md::Point length_{}, image_{};
    std::size_t next_ = 0;
};

void fill_body(const md::Body& body, std::int64_t first_id, Engine& engine, const balance::Decomposition& owners,
               const comm::Communicator& comm) {
    Cut cut(body, comm);
    std::array<md::Int128, 4> sum{};  // of velocities, and their number
    std::int64_t pieces = 0;
    for (auto piece = cut.take(); !piece.empty(); piece = cut.take(), ++pieces) {
        const auto its = md::velocity_sum<3>(piece);
        for (int a = 0; a < 3; ++a) sum[a] += its[a];
        sum[3] += std::ssize(piece);
    }
    std::int64_t id = first_id + comm.exclusive_sum(static_cast<std::int64_t>(sum[3]));
    comm.sum(sum);
    pieces = comm.max_of(pieces);
    refuse_unless<InputError>(comm, sum[3] == body.from.particles,
                              "{}: {} of its particles lie in the body, and the deck names {}; start again",
                              body.from.file, static_cast<std::int64_t>(sum[3]), body.from.particles);
    const auto change = md::to_drift<3>(body, std::span<const md::Int128, 3>(sum.data(), 3), body.from.particles);
    cut.rewind();
    for (std::int64_t k = 0; k < pieces; ++k) {
        std::vector<md::Particle<3>> piece = cut.take();
        for (md::Particle<3>& p : piece) {
            p.id = id++;
            for (int a = 0; a < 3; ++a) p.v[a] += change[a];
        }
        engine.distribute(piece, owners);
    }
}

}  // namespace

std::int64_t count_of_file(const md::Body& body, const comm::Communicator& comm) {
    Cut cut(body, comm);
    std::int64_t count = 0;
    for (auto piece = cut.take(); !piece.empty(); piece = cut.take()) count += std::ssize(piece);
    return comm.sum_of(count);
}

void fill_from_files(const Deck& deck, Engine& engine, const balance::Decomposition& owners,
                     const comm::Communicator& comm) {
    std::int64_t first_id = 0;
    for (const md::Body& body : md::all_bodies(deck.system)) {
        if (body.fill == md::Fill::file) fill_body(body, first_id, engine, owners, comm);
        first_id += md::particle_count(body);
    }
}

}  // namespace app
