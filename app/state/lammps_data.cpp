// SPDX-License-Identifier: MIT
// LAMMPS data files (read_data, write_data) of atom_style atomic: a header of counts and box, then sections. Velocities
// are a section of their own, in any order, and so a second run of rows.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "app/common/errors.hpp"
#include "app/state/particle_source.hpp"
#include "app/state/text_lines.hpp"

namespace app {
namespace {

constexpr const char* atomic = "write it with atom_style atomic";

class LammpsData final : public ParticleSource {
public:
    explicit LammpsData(const md::StateFile& file);
    SourcePiece next() override;

private:
    bool next_words();
    bool read_header_line();
    void enter(const std::string& section);
    void skip_section();
    void read_masses();
    void check_type(std::string_view type);
    double number(std::size_t word) const;
    md::Particle<3> atom();
    md::Particle<3> velocity();

    TextLines lines_;
    std::string hint_;  // of the section's line, behind #
    std::vector<std::string_view> words_;
    enum class Section { none, atoms, velocities } section_ = Section::none;
    std::int64_t left_ = 0;  // rows of it
    bool has_atoms_ = false, has_velocities_ = false, at_end_ = false;
    std::string type_;  // of all particles
    std::map<std::string, double, std::less<>> mass_;
};

// The next line that holds words; false at the end.
bool LammpsData::next_words() {
    while (const auto line = lines_.next()) {
        split(*line, words_);
        if (words_.empty()) continue;
        const std::size_t hash = line->find('#');
        std::vector<std::string_view> hint;
        if (hash != std::string_view::npos) split(line->substr(hash + 1), hint);
        hint_ = hint.empty() ? "" : hint[0];
        return true;
    }
    at_end_ = true;
    return false;
}

double LammpsData::number(std::size_t word) const {
    const auto x = word < words_.size() ? real_number(words_[word]) : std::nullopt;
    if (!x) lines_.refuse(fmt::format("word {} of the line is no number", word + 1), "mend the file");
    return *x;
}

// A line of the header; false where a section begins.
bool LammpsData::read_header_line() {
    if (std::isalpha(static_cast<unsigned char>(words_[0][0]))) return false;
    const auto is = [&](std::initializer_list<std::string_view> names) {
        return words_.size() >= names.size() && std::equal(names.begin(), names.end(), words_.end() - names.size());
    };
    const auto count = whole_number(words_[0]);
    if (is({"atoms"})) {
        if (!count || *count < 1) lines_.refuse("the number of atoms must be at least 1", "give a file of particles");
        head_.particles = *count;
    } else if (is({"xlo", "xhi"}) || is({"ylo", "yhi"}) || is({"zlo", "zhi"})) {
        const int axis = words_.back()[0] - 'x';
        head_.lower[axis] = number(0);
        head_.length[axis] = number(1) - number(0);
    } else if (is({"xy", "xz", "yz"})) {
        if (number(0) != 0 || number(1) != 0 || number(2) != 0)
            lines_.refuse("the box is triclinic", "give a rectangular one");
    } else if (is({"avec"}) || is({"bvec"}) || is({"cvec"})) {
        lines_.refuse("the box is a general triclinic one", "write the file with a restricted, rectangular box");
    } else if (count && *count != 0 && words_.size() == 2 &&
               (is({"bonds"}) || is({"angles"}) || is({"dihedrals"}) || is({"impropers"}) || is({"ellipsoids"}) ||
                is({"lines"}) || is({"triangles"}) || is({"bodies"}))) {
        lines_.refuse(fmt::format("{} {}: particles here are points without bonds", *count, words_[1]), atomic);
    }
    return true;
}

LammpsData::LammpsData(const md::StateFile& file) : lines_(file.file) {
    if (file.frame.value_or(0) > 0) lines_.refuse_file("a data file has one frame", "remove system.from.frame");
    lines_.next();  // the title
    while (next_words() && read_header_line()) {
    }
    if (head_.particles == 0) lines_.refuse_file("its header names no number of atoms", "give a whole data file");
    constexpr std::int64_t shortest_row = 10;
    if (head_.particles > lines_.size() / shortest_row)
        lines_.refuse_file(
            fmt::format("announces {} atoms, which its {} bytes cannot hold", head_.particles, lines_.size()),
            "give a whole file");
}

void LammpsData::enter(const std::string& section) {
    if (section == "Atoms") {
        if (!hint_.empty() && hint_ != "atomic")
            lines_.refuse(fmt::format("atom_style is {}, and only atomic is known", hint_), atomic);
        section_ = Section::atoms;
        has_atoms_ = true;
    } else if (section == "Velocities") {
        section_ = Section::velocities;
        has_velocities_ = true;
    } else if (section == "Bonds" || section == "Angles" || section == "Dihedrals" || section == "Impropers" ||
               section == "Ellipsoids" || section == "Lines" || section == "Triangles" || section == "Bodies") {
        lines_.refuse(fmt::format("section {}: particles here are points without bonds", section), atomic);
    }
    left_ = section_ == Section::none ? 0 : head_.particles;
}

// Masses are 1 here; all other numbers of such sections belong to LAMMPS's own settings.
void LammpsData::read_masses() {
    constexpr std::size_t most_types = 10000;
    while (next_words() && !std::isalpha(static_cast<unsigned char>(words_[0][0]))) {
        mass_.emplace(words_[0], number(1));
        if (mass_.size() > most_types) lines_.refuse("over 10000 types of atoms", "give a file of one type");
    }
    if (!type_.empty()) check_type(type_);
}

void LammpsData::skip_section() {
    while (next_words() && !std::isalpha(static_cast<unsigned char>(words_[0][0]))) {
    }
}

void LammpsData::check_type(std::string_view type) {
    if (!type_.empty() && type_ != type)
        lines_.refuse(fmt::format("particles of types {} and {}", type_, type), "give a file of one type");
    type_ = type;
    if (const auto mass = mass_.find(type); mass != mass_.end() && mass->second != 1)
        lines_.refuse_file(fmt::format("particles of mass {}", mass->second), "use reduced units, where it is 1");
}

md::Particle<3> LammpsData::atom() {
    if (words_.size() != 5 && words_.size() != 8)
        lines_.refuse(fmt::format("{} words in a line of Atoms, where atom_style atomic has 5, or 8 with image flags",
                                  words_.size()),
                      atomic);
    const auto id = whole_number(words_[0]);
    if (!id) lines_.refuse("the id is no whole number", "mend the file");
    if (type_ != words_[1]) check_type(words_[1]);
    return {*id, {quanta(number(2)), quanta(number(3)), quanta(number(4))}, {}};
}

md::Particle<3> LammpsData::velocity() {
    const auto id = whole_number(words_[0]);
    if (!id || words_.size() != 4) lines_.refuse("a line of Velocities is id vx vy vz", atomic);
    return {*id, {}, {quanta(number(1)), quanta(number(2)), quanta(number(3))}};
}

SourcePiece LammpsData::next() {
    while (left_ == 0 && !at_end_) {  // words_ are those of a section's line
        section_ = Section::none;
        const std::string section(words_[0]);
        if ((section == "Atoms" && has_atoms_) || (section == "Velocities" && has_velocities_))
            lines_.refuse(fmt::format("section {} is there twice", section), "remove one");
        enter(section);
        if (left_ > 0) break;
        if (section == "Masses") read_masses();
        else skip_section();
    }
    SourcePiece piece{{}, section_ == Section::atoms, section_ == Section::velocities};
    for (; left_ > 0 && std::ssize(piece.rows) < piece_rows; --left_) {
        if (!next_words())
            lines_.refuse_file(fmt::format("ends {} lines before the end of its section {}", left_,
                                           piece.positions ? "Atoms" : "Velocities"),
                               "give a whole file");
        piece.rows.push_back(piece.positions ? atom() : velocity());
    }
    if (left_ == 0 && !piece.rows.empty() && next_words() && !std::isalpha(static_cast<unsigned char>(words_[0][0])))
        lines_.refuse("more lines in the section than atoms were announced", "mend the file");
    if (piece.rows.empty() && !has_atoms_) lines_.refuse_file("has no section Atoms", "give a whole data file");
    return piece;
}

}  // namespace

std::unique_ptr<ParticleSource> open_lammps_data(const md::StateFile& file) {
    return std::make_unique<LammpsData>(file);
}

}  // namespace app
