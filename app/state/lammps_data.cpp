// SPDX-License-Identifier: MIT
// LAMMPS data files (read_data, write_data) of atom_style atomic: a header of counts and box, then sections. Velocities
// are a section of their own, in any order, and so a second run of rows.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "app/deck/wording.hpp"
#include "app/state/particle_source.hpp"
#include "app/state/text_lines.hpp"

namespace app {
namespace {

constexpr const char* atomic = "write it with atom_style atomic";
constexpr std::size_t most_types = 10000;

// Other styles of atoms, which LAMMPS writes behind `Atoms #`.
bool is_other_style(const std::string& word) {
    static const std::set<std::string, std::less<>> styles{
        "amoeba", "angle",  "apip",      "body",     "bond",      "bpm/sphere", "charge",       "dielectric",
        "dipole", "dpd",    "edpd",      "electron", "ellipsoid", "full",       "hybrid",       "line",
        "mdpd",   "mesont", "molecular", "oxdna",    "peri",      "rheo",       "rheo/thermal", "smd",
        "sph",    "sphere", "spin",      "tdpd",     "template",  "tri",        "wavepacket"};
    const std::string lower = in_lower_case(word);
    return styles.contains(lower) || styles.contains(lower.substr(0, lower.rfind('/')));
}

// Counts of the header, and sections, of atoms that are more than points.
bool is_of_bonds(const std::string& word) {
    static const std::set<std::string> names{"bonds",      "angles", "dihedrals", "impropers",
                                             "ellipsoids", "lines",  "triangles", "bodies"};
    return names.contains(word);
}

class LammpsData final : public ParticleSource {
public:
    explicit LammpsData(const md::StateFile& file) : lines_(file.file) {
        if (file.frame.value_or(0) > 0) lines_.refuse_file("a data file has one frame", "remove system.from.frame");
        read_title();
        while (next_words() && read_header_line()) {
        }
        if (head_.particles == 0) lines_.refuse_file("its header names no number of atoms", "give a whole data file");
        constexpr std::int64_t shortest_row = 10;
        if (head_.particles > lines_.size() / shortest_row)
            lines_.refuse_file(
                fmt::format("announces {} atoms, which its {} bytes cannot hold", head_.particles, lines_.size()),
                "give a whole file");
    }
    SourcePiece next() override {
        while (left_ == 0 && !at_end_) read_section();  // words_ are those of a section's line
        SourcePiece piece{{}, positions_, !positions_};
        for (; left_ > 0 && std::ssize(piece.rows) < piece_rows; --left_) {
            if (!next_words())
                lines_.refuse_file(fmt::format("ends {} lines before the end of its section {}", left_,
                                               piece.positions ? "Atoms" : "Velocities"),
                                   "give a whole file");
            piece.rows.push_back(piece.positions ? atom() : velocity());
        }
        if (left_ == 0 && !piece.rows.empty() && next_words() && !at_section())
            lines_.refuse("more lines in the section than atoms were announced", "mend the file");
        if (piece.rows.empty()) check_end();
        return piece;
    }

private:
    // The next line that holds words; false at the end.
    bool next_words() {
        while (const auto line = lines_.next()) {
            split(*line, words_);
            if (words_.empty()) continue;
            const std::size_t hash = line->find('#');
            std::vector<std::string_view> comment;
            if (hash != std::string_view::npos) split(line->substr(hash + 1), comment);
            comment_.assign(comment.begin(), comment.end());
            return true;
        }
        at_end_ = true;
        return false;
    }
    // write_data names the units.
    void read_title() {
        const auto title = lines_.next();
        constexpr std::string_view units = "units = ";
        const std::size_t at = title && title->starts_with("LAMMPS") ? title->find(units) : std::string_view::npos;
        if (at == std::string_view::npos) return;
        split(title->substr(at + units.size()), words_);
        if (!words_.empty() && words_[0] != "lj")
            lines_.refuse(fmt::format("the units are {}, not lj", words_[0]),
                          "convert it with scripts/import_state.py");
    }
    // Rows of sections begin with a number, or with the label of a type, and then hold a number.
    bool at_section() const {
        return std::isalpha(static_cast<unsigned char>(words_[0][0])) &&
               std::ranges::none_of(words_, [](std::string_view word) { return real_number(word).has_value(); });
    }
    // A line of the header; false where a section begins.
    bool read_header_line() {
        if (std::isalpha(static_cast<unsigned char>(words_[0][0]))) return false;
        const auto is = [&](std::initializer_list<std::string_view> names) {
            return words_.size() >= names.size() && std::equal(names.begin(), names.end(), words_.end() - names.size());
        };
        const auto count = whole_number(words_[0]);
        if (is({"atoms"})) {
            if (!count || *count < 1)
                lines_.refuse("the number of atoms must be at least 1", "give a file of particles");
            head_.particles = *count;
        } else if (is({"xlo", "xhi"}) || is({"ylo", "yhi"}) || is({"zlo", "zhi"})) {
            const int axis = words_.back()[0] - 'x';
            head_.lower[axis] = number(0);
            head_.length[axis] = number(1) - number(0);
        } else if (is({"xy", "xz", "yz"})) {
            if (number(0) != 0 || number(1) != 0 || number(2) != 0)
                lines_.refuse("the box is triclinic", "give a rectangular one");
        } else if (is({"avec"}) || is({"bvec"}) || is({"cvec"})) {
            lines_.refuse("the box is in the general triclinic form (avec, bvec, cvec)",
                          "write it as xlo xhi, ylo yhi, zlo zhi: write_data without triclinic/general");
        } else if (count && *count != 0 && words_.size() == 2 && is_of_bonds(std::string(words_[1]))) {
            lines_.refuse(fmt::format("{} {}: particles here are points without bonds", *count, words_[1]), atomic);
        }
        return true;
    }
    // Begins with the rows of a section, or reads a section that holds no rows of particles. Masses are 1 here, and all
    // other numbers of such sections belong to LAMMPS's own settings.
    void read_section() {
        const std::string section(words_[0]);
        const bool labels = section == "Atom" && words_.size() == 3 && words_[1] == "Type",
                   masses = section == "Masses";
        positions_ = section == "Atoms";
        const bool rows = positions_ || section == "Velocities";
        if ((rows || labels || masses) && !seen_.insert(section).second)
            lines_.refuse(fmt::format("section {} is there twice", section), "remove one");
        // Any other text is a comment; the number of words in a row decides.
        if (positions_ && !comment_.empty() && (comment_.size() == 1 || comment_[0] == "hybrid") &&
            is_other_style(comment_[0]))
            lines_.refuse(fmt::format("atom_style is {}, and only atomic is known", comment_[0]), atomic);
        if (is_of_bonds(in_lower_case(section)))
            lines_.refuse(fmt::format("section {}: particles here are points without bonds", section), atomic);
        left_ = rows ? head_.particles : 0;
        while (!rows && next_words() && !at_section()) {
            if (labels && words_.size() != 2)
                lines_.refuse("a line of Atom Type Labels is a type and its label", "mend the file");
            if (labels) number_of_label_.emplace(words_[1], words_[0]);
            if (masses) mass_.emplace(words_[0], Mass{number(1), lines_.place().line});
            if (std::max(mass_.size(), number_of_label_.size()) > most_types)
                lines_.refuse(fmt::format("over {} types of atoms", most_types), "give a file of one type");
        }
    }
    // The number of a type that is given by number or by label.
    std::string type_of(std::string_view word) const {
        const auto label = number_of_label_.find(word);
        const std::string_view known = label == number_of_label_.end() ? word : label->second;
        const auto number = whole_number(known);
        return number ? fmt::format("{}", *number) : std::string(known);
    }
    void check_type(std::string_view type) {
        if (!type_.empty() && type_of(type_) != type_of(type))
            lines_.refuse(fmt::format("particles of types {} and {}", type_, type), "give a file of one type");
        type_ = type;
    }
    // Checks that need all sections, which come in any order.
    void check_end() {
        if (!seen_.contains("Atoms")) lines_.refuse_file("has no section Atoms", "give a whole data file");
        bool found = !seen_.contains("Masses");
        for (const auto& [type, mass] : mass_) {
            if (type_of(type) != type_of(type_)) continue;
            found = true;
            if (mass.mass != 1)
                lines_.refuse_file(fmt::format("particles of mass {} (line {})", mass.mass, mass.line),
                                   "use reduced units, where it is 1");
        }
        if (!found)
            lines_.refuse_file(
                fmt::format("its section Masses says nothing of type {}", printable(type_.substr(0, 40))),
                "mend the file");
        if (lines_.open_end()) notes_.emplace_back(no_line_feed);
    }
    double number(std::size_t word) const {
        const auto x = word < words_.size() ? real_number(words_[word]) : std::nullopt;
        if (!x) lines_.refuse(fmt::format("word {} of the line is no number", word + 1), "mend the file");
        return *x;
    }
    md::Particle<3> atom() {
        if (words_.size() != 5 && words_.size() != 8)
            lines_.refuse(
                fmt::format("{} words in a line of Atoms, where atom_style atomic has 5, or 8 with image flags",
                            words_.size()),
                atomic);
        const auto id = whole_number(words_[0]);
        if (!id) lines_.refuse("the id is no whole number", "mend the file");
        for (std::size_t flag = 5; flag < words_.size(); ++flag)
            if (!whole_number(words_[flag]))
                lines_.refuse(fmt::format("word {} of the line is no image flag", flag + 1), atomic);
        if (type_ != words_[1]) check_type(words_[1]);
        return {*id, {quanta(number(2)), quanta(number(3)), quanta(number(4))}, {}};
    }
    md::Particle<3> velocity() {
        const auto id = whole_number(words_[0]);
        if (!id || words_.size() != 4) lines_.refuse("a line of Velocities is id vx vy vz", atomic);
        return {*id, {}, {quanta(number(1)), quanta(number(2)), quanta(number(3))}};
    }

    TextLines lines_;
    std::vector<std::string> comment_;  // words behind # of the section's line
    std::vector<std::string_view> words_;
    bool positions_ = false;      // whether the section is that of positions; else that of velocities
    std::int64_t left_ = 0;       // rows of it
    std::set<std::string> seen_;  // sections
    bool at_end_ = false;
    std::string type_;  // of all particles
    struct Mass {
        double mass;
        std::int64_t line;
    };
    std::map<std::string, Mass> mass_;  // by type
    std::map<std::string, std::string, std::less<>> number_of_label_;
};

}  // namespace

std::unique_ptr<ParticleSource> open_lammps_data(const md::StateFile& file) {
    return std::make_unique<LammpsData>(file);
}

}  // namespace app
