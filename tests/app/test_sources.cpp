// SPDX-License-Identifier: MIT
// Text files of particles: what is taken, refused and noted. Each case is a small file; no run is started.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/state/h5md_elements.hpp"
#include "app/state/particle_source.hpp"

using namespace app;

namespace {

struct Taken {
    std::string error;  // empty: the file is read
    std::vector<std::string> notes;
    std::vector<md::Particle<3>> rows;  // positions

    bool noted(const std::string& what) const { return notes.size() == 1 && notes[0].find(what) != std::string::npos; }
    bool refused(const std::string& what) const {
        return error.find(what) != std::string::npos && error.find("; ") != std::string::npos;
    }
    bool read() const { return error.empty() && rows.size() == 4 && notes.empty(); }
};

Taken take(const std::string& content, std::optional<std::int64_t> frame = {}, const std::string& group = "") {
    const std::string path =
        (std::filesystem::temp_directory_path() / ("steelyard_source_" + std::to_string(getpid()))).string();
    std::ofstream(path, std::ios::binary) << content;
    Taken taken;
    md::StateFile file;
    file.file = path, file.frame = frame, file.group = group;
    try {
        const auto source = open_source(file);
        for (SourcePiece piece = source->next(); !piece.rows.empty(); piece = source->next())
            if (piece.positions) taken.rows.insert(taken.rows.end(), piece.rows.begin(), piece.rows.end());
        taken.notes = source->notes();
    } catch (const std::exception& e) {
        taken.error = e.what();
    }
    std::filesystem::remove(path);
    return taken;
}

const std::string header = "own\n\n4 atoms\n2 atom types\n\n0 7 xlo xhi\n0 7 ylo yhi\n0 7 zlo zhi\n\n";
const std::string atoms = "Atoms # atomic\n\n1 1 .5 .5 .5\n2 1 3.5 .5 .5\n3 1 .5 3.6 .5\n4 1 3.5 3.5 3.4\n\n";
const std::string velocities = "Velocities\n\n1 .1 0 0\n2 0 .2 0\n3 0 0 -.1\n4 -.1 -.2 .1\n";
const std::string labels = "Atom Type Labels\n\n1 Xa\n2 Xb\n\n";

std::string replaced(std::string text, const std::string& old, const std::string& by) {
    for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at + by.size()))
        text.replace(at, old.size(), by);
    return text;
}
// By the name of its type, "1 Xa .5 .5 .5".
const std::string labelled = replaced(atoms, " 1 ", " Xa ");

std::string frame_of(const std::string& columns, const std::vector<std::string>& rows) {
    std::string text = "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n" + std::to_string(rows.size()) +
                       "\nITEM: BOX BOUNDS pp pp pp\n0 7\n0 7\n0 7\nITEM: ATOMS " + columns + "\n";
    for (const std::string& row : rows) text += row + "\n";
    return text;
}
// Four particles; more: a column that is `most` but for the last one.
std::string dump(const std::string& column, const std::string& most, const std::string& last) {
    return frame_of("x y z " + column + " id", {".5 .5 .5 " + most + " 1", "3.5 .5 .5 " + most + " 2",
                                                ".5 3.6 .5 " + most + " 3", "3.5 3.5 3.4 " + last + " 4"});
}

}  // namespace

TEST_CASE("the mass of the type in use is looked at, whatever way it is written") {
    const auto file = [](const std::string& masses, const std::string& rows) {
        return take(header + labels + masses + rows + velocities);
    };
    CHECK(file("Masses\n\nXa 1\nXb 7\n\n", labelled).read());
    CHECK(file("Masses\n\n1 1.0\n2 7 # Xb\n\n", labelled).read());
    CHECK(file("Masses\n\nXa 1.0 # 40\n\n", atoms).read());
    CHECK(file("", labelled).read());
    for (const char* masses : {"Masses\n\nXa 40\n\n", "Masses\n\n1 40\n\n", "Masses # in u\n\n\tXa\t40 # 1\n\n",
                               "Masses\r\n\r\nXb 1\r\nXa 40.0\r\n\r\n", "Masses\n\n1 nan\n\n"})
        for (const std::string& rows : {labelled, atoms, replaced(atoms, "3 1 ", "3 Xa ")}) {
            CHECK(file(masses, rows).refused("particles of mass "));
            CHECK(take(header + labels + rows + velocities + "\n" + masses).refused("particles of mass "));
        }
    CHECK(take(header + labelled + velocities + "\nMasses\n\n1 40\n\n" + labels).refused("particles of mass 40"));
    CHECK(file("Masses\n\nXb 1\n\n", labelled).refused("Masses says nothing of type Xa"));
    CHECK(file("Masses\n\nXa heavy\n\n", labelled).refused("Masses says nothing of type Xa"));
    CHECK(file("Masses\n\nXa 1\n\nMasses\n\nXa 40\n\n", labelled).refused("section Masses is there twice"));
    CHECK(file("", replaced(labelled, "4 Xa", "4 Xb")).refused("particles of types Xa and Xb"));
    CHECK(file("", replaced(labelled, "4 Xa", "4 2")).refused("particles of types Xa and 2"));
}

TEST_CASE("a data file may hold other sections, in any order") {
    const std::string others = "Pair Coeffs # lj/cut\n\nXa 1 1\n2 1 1\n\nPairIJ Coeffs\n\nXa Xb 1 1\n\nBond Coeffs\n\n";
    CHECK(take(header + labels + others + labelled + velocities).read());
    CHECK(take(header + velocities + "\n" + others + atoms).read());
    CHECK(take(header + others + "Masses\n\n1 40\n\n" + atoms).refused("particles of mass 40"));
    CHECK(take(header + "Bonds\n\n1 1 1 2\n\n" + atoms).refused("section Bonds: particles here are points"));
    CHECK(take(header + velocities).refused("has no section Atoms"));
    const std::string title = "LAMMPS data file via write_data, version 2 Aug 2023, timestep = 0, units = ";
    CHECK(take(replaced(header, "own", title + "lj") + atoms).read());
    CHECK(take(replaced(header, "own", title + "metal") + atoms).refused("the units are metal"));
}

TEST_CASE("white space of any kind stands between words") {
    const std::string whole = header + labels + "Masses\n\nXa 1\n\n" + atoms + velocities;
    CHECK(take(replaced(whole, " ", "\t")).read());
    CHECK(take(replaced(replaced(whole, " ", " \t "), "\n", " \r\n")).read());
    CHECK(take(replaced(whole, "\n", "\f\n")).read());
    CHECK(take("\xEF\xBB\xBF" + whole).read());
    const std::string plain = dump("type", "1", "1");
    CHECK(take(replaced(plain, " ", "\t")).read());
    CHECK(take("\n\n" + replaced(plain, "\n", "\r\n")).read());
    CHECK(take("\xEF\xBB\xBF" + plain).read());
}

TEST_CASE("text behind Atoms is a comment unless it names a style of atoms") {
    const auto behind = [](const std::string& text, const std::string& flags = "") {
        return take(header + replaced(replaced(atoms, "# atomic", text), "5 .5\n", "5 .5" + flags + "\n") + velocities);
    };
    for (const char* text : {"", "#", "#atomic", "# Atomic", "# in units of sigma", "# id type x y z", "# full of it",
                             "# I", "# atomic/kk"})
        CHECK(behind(text).read());
    CHECK(behind("# positions", " 0 -1 2").read());
    for (const char* style : {"full", "charge", "Molecular", "full/kk", "hybrid", "bpm/sphere"})
        CHECK(behind(std::string("# ") + style).refused(std::string("atom_style is ") + style));
    CHECK(behind("# hybrid atomic charge").refused("atom_style is hybrid"));
    CHECK(behind("# comment", " 0.5").refused("6 words in a line of Atoms"));
    CHECK(behind("", " 0.5 1 1").refused("word 6 of the line is no image flag"));  // another style has 8 words too
}

TEST_CASE("columns of a dump that tell particles apart are looked at in every row") {
    for (const char* column : {"type", "typelabel", "element"}) {
        CHECK(take(dump(column, "7", "7")).read());
        CHECK(take(dump(column, "Ar", "Kr")).refused(std::string("particles of ") + column + "s Ar and Kr"));
    }
    CHECK(take(dump("type element", "1 Ar", "1 Kr")).refused("particles of elements Ar and Kr"));
    CHECK(take(dump("mass", "1.0", "1")).read());
    CHECK(take(dump("mass", "1", "40")).refused("particles of mass 40"));
    CHECK(take(dump("type mass", "1 39.948", "1 39.948")).refused("particles of mass 39.948"));
    CHECK(take(dump("mass", "1", "nan")).refused("particles of mass nan"));
}

TEST_CASE("columns of a dump that are not used are noted once, where they are not neutral") {
    CHECK(take(dump("q", "0", "0.0")).read());
    CHECK(take(dump("diameter radius", "1 0.5", "1 0")).read());
    CHECK(take(dump("c_energy proc fx", "3 4 5", "6 7 8")).read());
    for (const char* column : {"q", "mol", "mux", "radius", "diameter"}) {
        CHECK(take(dump(column, "0", "3")).noted(std::string("the column ") + column + " is not used"));
        CHECK(take(dump(std::string("element ") + column, "Ar 3", "Ar 4")).noted(column));
    }
}

TEST_CASE("frames that are not asked for are not judged") {
    const std::string empty = frame_of("id type x y z", {}), full = dump("type", "1", "1"),
                      tilted = replaced(replaced(full, "BOUNDS pp", "BOUNDS xy xz yz pp"), "0 7", "0 7 1"),
                      mixed = dump("type", "1", "2"), other = frame_of("id q", {"1 1"});
    for (const std::string& before : {empty, tilted, mixed, other}) {
        CHECK(take(before + full).read());
        CHECK(take(before + full, 1).read());
        CHECK(take(full + before, 0).read());
        CHECK_FALSE(take(full + before).error.empty());
        CHECK_FALSE(take(before + full, 0).error.empty());
    }
    CHECK(take(full + empty).refused("the number of atoms must be at least 1"));
    CHECK(take(empty + full, 2).refused("has frames 0 to 1, not 2"));
    CHECK(take("ITEM: UNITS\nmetal\n" + empty + full).refused("the units are not lj"));
}

TEST_CASE("a general triclinic box is called so, though it may be rectangular") {
    const std::string general = replaced(replaced(dump("type", "1", "1"), "BOUNDS pp", "BOUNDS abc origin pp"),
                                         "0 7\n0 7\n0 7\n", "7 0 0 0\n0 7 0 0\n0 0 7 0\n");
    CHECK(take(general).refused("general triclinic form (abc origin); dump it with"));
    CHECK(take(replaced(header, "0 7 xlo xhi", "7 0 0 avec") + atoms).refused("general triclinic form (avec"));
    CHECK(take(replaced(header, "0 7 zlo zhi", "0 7 zlo zhi\n0 0 0 xy xz yz") + atoms).read());
}

TEST_CASE("a last line without line feed is read, and noted") {
    const std::string data = header + atoms + velocities, frame = dump("type", "1", "1");
    const auto cut = [](const std::string& text) { return text.substr(0, text.size() - 1); };
    CHECK(take(cut(data)).noted("its last line has no line feed, so its last number may be cut off"));
    CHECK(take(cut(frame)).noted("no line feed"));
    CHECK(take(frame + cut(frame), 0).read());
    CHECK(take(frame + cut(frame)).noted("no line feed"));
}

TEST_CASE("a file in another one is called so, with what opens it") {
    using namespace std::string_literals;
    const std::vector<std::pair<std::string, std::string>> packed{{"\x1f\x8b\x08\0\0"s, "gzip"},
                                                                  {"\xfd"
                                                                   "7zXZ\0"s,
                                                                   "xz"},
                                                                  {"\x28\xb5\x2f\xfd"s, "zstd"},
                                                                  {"BZh9"s, "bzip2"},
                                                                  {"PK\x03\x04"s, "zip"}};
    for (const auto& [bytes, what] : packed) CHECK(take(bytes + dump("type", "1", "1")).refused(what));
    CHECK(take(dump("type", "1", "1"), {}, "all").refused("has no groups of particles"));
    CHECK(take("It was a dark night.\n").refused("is no H5MD file, LAMMPS data file or LAMMPS dump"));
}

TEST_CASE("what is written at fewer steps than positions holds until it is written again") {
    const std::vector<std::int64_t> steps{0, 10, 20, 10};
    CHECK(last_until(steps, 15) == 3u);  // the last of several
    CHECK(last_until(steps, 20) == 2u);
    CHECK(last_until(steps, 9) == 0u);
    CHECK_FALSE(last_until(steps, -1));
    CHECK_FALSE(last_until({}, 5));
}

TEST_CASE("units are reduced ones, or none") {
    for (const char* unit : {"", "1", "sigma", "sigma tau-1", "sigma/tau", "LJ", "lj units", "dimensionless"})
        CHECK(is_reduced_unit(unit));
    for (const char* unit : {"nm", "Angstrom", "nm ps-1", "sigma ps-1", "?", "\xc3\x85", "m", "reduced nm"})
        CHECK_FALSE(is_reduced_unit(unit));
}
