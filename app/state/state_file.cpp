// SPDX-License-Identifier: MIT
// A file is gone through twice: for what the deck has to know before anything is made, then for the particles. Its
// digest says that it is the same file. Between the two a checkpoint's deck can take the place of the first.
#include "app/state/state_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "app/common/errors.hpp"
#include "app/deck/deck.hpp"
#include "app/deck/wording.hpp"
#include "app/output/checkpoint/front.hpp"
#include "balance/team.hpp"
#include "comm/file/durable.hpp"
#include "comm/file/file.hpp"
#include "comm/file/number_file.hpp"
#include "comm/file/posix_file.hpp"
#include "comm/machine/topology.hpp"
#include "md/random.hpp"

namespace app {
namespace {

constexpr std::int64_t most_in_file = std::int64_t{1} << 40, most_id = std::int64_t{1} << 60;
constexpr double particle_bytes = 100;  // on the way to its owner

[[noreturn]] void refuse(const std::string& path, const std::string& what, const std::string& remedy) {
    throw InputError("{}: {}; {}", path, what, remedy);
}

enum class TextFormat { none, dump, data };

// By the first line of a dump, or by the number of atoms in the header of a data file.
TextFormat text_format(std::string_view front) {
    constexpr std::string_view space = " \t\r\n\f\v", mark = "\xEF\xBB\xBF";
    if (front.find('\0') != std::string_view::npos) return TextFormat::none;
    if (front.starts_with(mark)) front.remove_prefix(mark.size());
    if (front.substr(std::min(front.size(), front.find_first_not_of(space))).starts_with("ITEM:"))
        return TextFormat::dump;
    for (std::size_t at = front.find("atoms"); at != std::string_view::npos; at = front.find("atoms", at + 1))
        if (at > 0 && space.find(front[at - 1]) != std::string_view::npos) return TextFormat::data;
    return TextFormat::none;
}

// Runs body() on rank 0; also errors of HDF5 are those of an input file.
template <class Body>
void reading(const comm::Communicator& comm, Body body) {
    on_rank_0(comm, [&] {
        try {
            body();
        } catch (const comm::ReadError& e) {
            throw InputError(printable(e.what()));  // it may hold names of groups
        }
    });
}

void check_head(const SourceHead& head, const std::string& path, int ranks_of_node, int ranks) {
    if (head.particles > most_in_file)
        refuse(path, fmt::format("announces {} particles, more than 2^40", head.particles), "give a smaller file");
    const double needed = static_cast<double>(head.particles) * particle_bytes * ranks_of_node / ranks,
                 there = comm::memory_bytes();
    if (needed > there)
        refuse(path,
               fmt::format("announces {} particles, which take about {:.3g} GB of a node's {:.3g} GB", head.particles,
                           needed * 1e-9, there * 1e-9),
               "use more nodes, or a whole file");
    for (int a = 0; a < head.dimensions; ++a)
        if (quanta(head.lower[a]) == no_quanta || !(head.length[a] >= 0 && head.length[a] <= longest_side))
            refuse(path,
                   fmt::format("its box is {} long along {}, from {} on", head.length[a], "xyz"[a], head.lower[a]),
                   "give one from 0 to 2^20 long");
}

void check_row(const md::Particle<3>& p, const SourcePiece& piece, const std::string& path) {
    const auto of = [&](const char* what) { return fmt::format("the {} of particle {}", what, p.id); };
    if (p.id < 0 || p.id > most_id) refuse(path, fmt::format("an id is {}", p.id), "use ids from 0 to 2^60");
    constexpr auto too_fast = static_cast<std::int64_t>(fastest / md::velocity_unit);
    for (int a = 0; a < 3; ++a) {
        constexpr std::int64_t furthest = std::int64_t{1} << (21 + md::position_bits);
        if (piece.positions && (p.x[a] < -furthest || p.x[a] > furthest))
            refuse(path, of("position") + " is no number, or beyond 2^21", "mend the file");
        if (piece.velocities && p.v[a] == no_quanta)
            refuse(path, of("velocity") + " is no number, or beyond 1e6", "mend the file");
        if (piece.velocities && std::abs(p.v[a]) > too_fast)
            refuse(path, of("velocity") + " is beyond 1e6", "mend the file");
    }
}

// Facts of all particles together.
struct Survey {
    std::int64_t positions = 0, velocities = 0;
    std::int64_t z = 0;
    bool flat = true;
    double fastest = 0;

    void add(const SourcePiece& piece) {
        for (const md::Particle<3>& p : piece.rows) {
            if (piece.positions && positions++ == 0) z = p.x[2];
            flat = flat && (!piece.positions || p.x[2] == z) && p.v[2] == 0;
            velocities += piece.velocities;
            double square = 0;  // by operations that all machines round alike: a restart compares it
            for (const std::int64_t quanta : p.v) {
                const double v = static_cast<double>(quanta) * md::velocity_unit;
                square += v * v;
            }
            fastest = std::max(fastest, std::sqrt(square));
        }
    }
};

// On rank 0.
FoundState surveyed(ParticleSource& source, const md::StateFile& file) {
    const SourceHead& head = source.head();
    Survey survey;
    for (SourcePiece piece = source.next(); !piece.rows.empty(); piece = source.next()) {
        for (const md::Particle<3>& p : piece.rows) check_row(p, piece, file.file);
        survey.add(piece);
    }
    if (survey.positions != head.particles || (survey.velocities != 0 && survey.velocities != head.particles))
        refuse(file.file,
               fmt::format("holds {} positions and {} velocities of {} particles", survey.positions, survey.velocities,
                           head.particles),
               "give a whole file");
    FoundState found{{}, head.dimensions == 3 && survey.flat ? 2 : head.dimensions, head.length};
    for (const std::string& note : source.notes()) found.notes.push_back(fmt::format("{}: {}", file.file, note));
    found.state.particles = head.particles;
    found.state.fastest = survey.fastest;
    return found;
}

// The file as bytes: their digest, and, of a checkpoint, whether they are those that were written.
std::string digest_of(const std::string& path, const comm::Communicator& comm) {
    const std::int64_t size = comm.from_rank_0(comm.rank() == 0 ? comm::file_size(path) : 0);
    std::string look = comm.rank() == 0 ? comm::read_front(path, front_bytes) : "";
    comm.broadcast(look);
    agreed(comm, [&] {
        if (comm::file_size(path) != size)
            refuse(path, "this rank sees no such file, or another one than rank 0", "put it where all nodes see it");
    });
    if (const std::optional<Front> front = parse_front(look))
        comm::require(
            comm, front->bytes == size && comm::file_digest(path, front_bytes, size, comm) == front->body, [&] {
                return InputError(path + ": is damaged: its bytes don't match its digest; use another checkpoint");
            });
    return fmt::format("{:016x}", comm::file_digest(path, 0, size, comm));
}

// Deck of the run that wrote a file; empty if it is not known.
std::string deck_text(const std::string& path) {
    constexpr std::int64_t most = 1 << 22;
    const std::filesystem::path file(path);
    if (!parse_front(comm::read_front(path, front_bytes)))
        return file.filename() == "trajectory.h5" ? comm::read_text(file.parent_path() / "deck.yaml") : "";
    try {
        comm::NumberFile checkpoint(path);
        std::vector<std::int64_t> letters(std::min(most, checkpoint.shape("/exact/deck").at(0)));
        checkpoint.read("/exact/deck", std::vector<std::int64_t>{0}, std::vector<std::int64_t>{std::ssize(letters)},
                        std::span(letters));
        return {letters.begin(), letters.end()};
    } catch (const std::exception&) {
        return "";
    }
}

void require_file(const std::string& path, const std::string& key, const comm::Communicator& comm) {
    on_rank_0(comm, [&] {
        const std::string give = fmt::format("give {}.file the path of one", key);
        namespace fs = std::filesystem;
        std::error_code error;
        const fs::file_status status = fs::status(path, error);
        if (!fs::exists(status)) refuse(printable(path), "there is no such file", give);
        if (!fs::is_regular_file(status)) refuse(printable(path), "is no file", give);
        if (fs::file_size(path, error) == 0) refuse(printable(path), "is empty", "give a file that holds particles");
    });
}

std::uint64_t place_of(std::int64_t id) { return md::mix(static_cast<std::uint64_t>(id)); }

// Particles on their way from a file. Each waits at a rank that its id alone chooses. There its position meets its
// velocity, and two particles of one id meet each other. Ranks have runs of a shuffled order of ids. The order is the
// same for any number of ranks.
class ById {
public:
    explicit ById(const comm::Communicator& comm) : comm_(comm) {}

    // Takes what rank 0 gives; what others give is not looked at. Collective.
    void add(const SourcePiece& piece) {
        std::vector<std::vector<std::byte>> to_rank(comm_.size());
        if (comm_.rank() == 0)
            for (const md::Particle<3>& p : piece.rows) {
                using Wide = unsigned __int128;
                balance::append(to_rank[static_cast<std::size_t>(Wide{place_of(p.id)} * to_rank.size() >> 64)], p);
            }
        const bool has_positions = comm_.from_rank_0(piece.positions) != 0;
        const auto in = balance::elements_in<md::Particle<3>>(comm_.all_to_all(to_rank));
        auto& list = has_positions ? particles_ : velocities_;
        list.insert(list.end(), in.begin(), in.end());
    }

    // The least id that two particles have, or that has a velocity and no position or the other way round; -1: none.
    // Collective, once, after all pieces.
    std::int64_t fault() {
        constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
        std::int64_t least = none;
        const auto less = [](const md::Particle<3>& a, const md::Particle<3>& b) { return a.id < b.id; };
        for (auto* list : {&particles_, &velocities_}) {
            std::sort(list->begin(), list->end(), less);
            const auto twice =
                std::adjacent_find(list->begin(), list->end(), [](auto& a, auto& b) { return a.id == b.id; });
            if (twice != list->end()) least = std::min(least, twice->id);
        }
        const std::int64_t velocities = comm_.sum_of(std::ssize(velocities_));
        for (std::size_t i = 0; velocities > 0 && least == none; ++i) {
            const bool position = i < particles_.size(), velocity = i < velocities_.size();
            if (!position && !velocity) break;
            if (position && velocity && particles_[i].id == velocities_[i].id)
                std::copy_n(velocities_[i].v, 3, particles_[i].v);
            else least = std::min(position ? particles_[i].id : none, velocity ? velocities_[i].id : none);
        }
        velocities_ = {};
        least = comm_.min_of(least);
        return least == none ? -1 : least;
    }

    // This rank's, in the shuffled order: those of rank 0 come first, then those of rank 1, and so on. Once, at the
    // end.
    std::vector<md::Particle<3>> take() {
        std::ranges::sort(particles_, [](const md::Particle<3>& a, const md::Particle<3>& b) {
            return place_of(a.id) < place_of(b.id);
        });
        return std::move(particles_);
    }

private:
    const comm::Communicator& comm_;
    std::vector<md::Particle<3>> particles_, velocities_;
};

}  // namespace

std::unique_ptr<ParticleSource> open_source(const md::StateFile& file) {
    constexpr std::size_t look = 1 << 14;
    const std::string front = comm::read_front(file.file, look);
    if (comm::is_hdf5(file.file)) return open_h5md(file);
    if (const std::string packing = comm::packing_of(front); !packing.empty())
        throw InputError(file.file + ": " + packing);
    const TextFormat format = text_format(front);
    if (format != TextFormat::none && !file.group.empty())
        refuse(file.file, "has no groups of particles, and the deck names one", "remove the key `group`");
    if (format == TextFormat::dump) return open_lammps_dump(file);
    if (format == TextFormat::data) return open_lammps_data(file);
    refuse(file.file, front.empty() ? "cannot be read" : "is no H5MD file, LAMMPS data file or LAMMPS dump",
           "scripts/import_state.py converts files of other programs");
}

FoundState look_at_state(const md::StateFile& file, const std::string& key, const comm::Communicator& comm) {
    require_file(file.file, key, comm);
    std::unique_ptr<ParticleSource> source;
    reading(comm, [&] {  // a digest of a large file takes time, so its head is looked at first
        source = open_source(file);
        check_head(source->head(), file.file, comm.node_size(), comm.size());
    });
    const std::string digest = digest_of(file.file, comm);
    refuse_unless<InputError>(
        comm, file.digest.empty() || file.digest == digest,
        "{}: its digest is {}, and {}.digest names {}; give the file that it names, or remove the key", file.file,
        digest, key, file.digest);
    FoundState found;
    reading(comm, [&] { found = surveyed(*source, file); });
    const auto share = [&](auto& value) { comm.broadcast(std::as_writable_bytes(std::span(&value, 1))); };
    share(found.dimensions);
    share(found.state.particles);
    share(found.state.fastest);
    share(found.box);
    found.state.digest = digest;
    return found;
}

std::optional<Deck> deck_of_state(const std::string& path, const comm::Communicator& comm) {
    std::string text = comm.rank() == 0 && !path.empty() ? deck_text(path) : "";
    comm.broadcast(text);
    if (text.empty()) return std::nullopt;
    try {
        return parse_deck(text, path);
    } catch (const DeckError&) {
        return std::nullopt;
    }
}

std::vector<md::Particle<3>> read_particles(const md::StateFile& file, const md::Domain& domain,
                                            const comm::Communicator& comm, FileBox* placed) {
    require_file(file.file, "from", comm);
    const std::string digest = digest_of(file.file, comm);
    refuse_unless<InputError>(comm, digest == file.digest,
                              "{}: its digest is {}, and was {} before; start again when nobody writes it", file.file,
                              digest, file.digest);
    std::unique_ptr<ParticleSource> source;
    FileBox box{domain, {}, {}};
    reading(comm, [&] {
        source = open_source(file);
        box = file_box(domain, source->head());
    });
    comm.broadcast(box.lower);
    comm.broadcast(box.length);
    if (placed) *placed = box;
    ById by_id(comm);
    for (std::int64_t rows = 1; rows > 0;) {
        SourcePiece piece;
        reading(comm, [&] {
            piece = source->next();
            for (md::Particle<3>& p : piece.rows) {
                check_row(p, piece, file.file);
                if (const std::string why = piece.positions ? place(p, box) : ""; !why.empty())
                    refuse(file.file, fmt::format("particle {} {}", p.id, why), "give a larger box, or a periodic one");
            }
        });
        rows = comm.from_rank_0(std::ssize(piece.rows));
        if (rows > 0) by_id.add(piece);
    }
    source.reset();
    const std::int64_t fault = by_id.fault();
    refuse_unless<InputError>(
        comm, fault < 0,
        "{}: id {} is there twice, or has no position or velocity beside the other; give each particle its own id",
        file.file, fault);
    return by_id.take();
}

void load_state(const Deck& deck, Engine& engine, const balance::Decomposition& owners,
                const comm::Communicator& comm) {
    const std::vector<md::Particle<3>> mine = read_particles(deck.system.from, engine.setup().domain, comm);
    const std::int64_t most = comm.max_of(std::ssize(mine));
    for (std::int64_t at = 0; at < most; at += ParticleSource::piece_rows) {
        const auto end = [&](std::int64_t k) { return mine.begin() + std::min(k, std::ssize(mine)); };
        engine.distribute({end(at), end(at + ParticleSource::piece_rows)}, owners);
    }
}

}  // namespace app
