// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>

#include "comm/file/durable.hpp"
#include "comm/file/file.hpp"
#include "comm/file/posix_file.hpp"

namespace {

// One name for all ranks of this job and for no other job.
std::string file_name(const comm::Communicator& world) {
    std::string name =
        world.rank() == 0
            ? (std::filesystem::temp_directory_path() / ("steelyard_" + std::to_string(getpid()) + ".h5")).string()
            : "";
    world.broadcast(name);
    return name;
}

}  // namespace

TEST_CASE("rows come back in rank order, in any shares and whatever the size of pieces") {
    const comm::Communicator world;
    const std::string name = file_name(world);
    const std::int64_t mine = 60000 * world.rank() + 5;  // more than one piece; rank 0 has few
    const std::int64_t before = world.exclusive_sum(mine);
    std::int64_t total = mine;
    world.sum(std::span(&total, 1));
    {
        comm::FileWriter file(name, world, 512);
        std::int64_t next = before;
        file.rows<std::int64_t>("/a/made", mine, 4, false, [&](std::span<std::int64_t> out) {
            for (std::size_t i = 0; i < out.size(); i += 4, ++next)
                for (int c = 0; c < 4; ++c) out[i + c] = 4 * next + c;
        });
        std::vector<double> given(mine);
        for (std::int64_t i = 0; i < mine; ++i) given[i] = 0.5 * static_cast<double>(before + i);
        file.rows("/a/given", std::span<const double>(given));
        file.close();
    }
    comm::FileReader file(name, world);
    CHECK(file.row_count<std::int64_t>("/a/made", 4) == total);
    CHECK(file.row_count<double>("/a/given") == total);
    // Backwards: the last rank's share first.
    const int r = world.size() - 1 - world.rank();
    const std::int64_t begin = total * r / world.size(), n = total * (r + 1) / world.size() - begin;
    const std::vector<std::int64_t> made = file.rows<std::int64_t>("/a/made", begin, n, 4);
    const std::vector<double> given = file.rows<double>("/a/given", begin, n);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < 4 * n; ++i) wrong += made[i] != 4 * begin + i;
    for (std::int64_t i = 0; i < n; ++i) wrong += given[i] != 0.5 * static_cast<double>(begin + i);
    world.sum(std::span(&wrong, 1));
    CHECK(wrong == 0);
    CHECK_THROWS_AS(file.row_count<double>("/a/made", 4), comm::ReadError);  // another type
    CHECK_THROWS_AS(file.row_count<std::int64_t>("/a/made", 3), comm::ReadError);
    CHECK_THROWS_AS(file.row_count<double>("/none"), comm::ReadError);
    world.barrier();
    if (world.rank() == 0) std::filesystem::remove(name);
}

TEST_CASE("a digest does not depend on who computes it, and notices every change") {
    const comm::Communicator world;
    const std::string name = file_name(world);
    const std::int64_t size = (std::int64_t{9} << 20) + 77;  // three blocks
    std::string text(size, '\0');
    for (std::int64_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 2654435761 >> 29);
    const auto digest = [&] {
        world.barrier();
        const std::uint64_t d = comm::file_digest(name, 512, size, world);
        world.barrier();
        return d;
    };
    const auto put = [&](std::int64_t at, std::string bytes) {
        if (world.rank() != 0) return;
        std::FILE* f = std::fopen(name.c_str(), at < 0 ? "wb" : "r+b");
        std::fseek(f, std::max<std::int64_t>(at, 0), SEEK_SET);
        std::fwrite(bytes.data(), 1, bytes.size(), f);
        std::fclose(f);
    };
    put(-1, text);
    const std::uint64_t whole = digest();
    CHECK(whole == 0xd3b4385fa7dcacd8u);
    put(0, "other");  // before its range
    CHECK(digest() == whole);
    put(5 << 20, std::string(1, static_cast<char>(text[5 << 20] ^ 1)));
    CHECK(digest() != whole);
    put(5 << 20, text.substr(5 << 20, 1));
    CHECK(digest() == whole);
    // Two blocks exchanged.
    put(512, text.substr(512 + (4 << 20), 4 << 20));
    put(512 + (4 << 20), text.substr(512, 4 << 20));
    CHECK(digest() != whole);
    world.barrier();
    if (world.rank() == 0) std::filesystem::remove(name);
}

TEST_CASE("a file that is none is refused on all ranks") {
    const comm::Communicator world;
    CHECK_THROWS_AS(comm::FileReader("no_such_file.h5", world), comm::ReadError);
    CHECK_THROWS_AS(comm::FileReader("/", world), comm::ReadError);
    CHECK_THROWS_AS(comm::FileWriter("/no/such/folder/file.h5", world), comm::WriteError);
    CHECK_FALSE(comm::lack_of_space("/tmp", std::int64_t{1} << 60).empty());
    CHECK(comm::lack_of_space("/tmp", 1).empty());
}

TEST_CASE("a text file takes its name when it is whole, and no link is followed") {
    const comm::Communicator world;
    const std::string name = file_name(world), other = name + ".other";
    if (world.rank() == 0) {
        CHECK(comm::replace_file(other, "precious"));
        std::filesystem::create_symlink(other, comm::unfinished(name));
        std::filesystem::create_symlink(other, name);
        CHECK(comm::read_text(name).empty());  // a link is no file of ours
        comm::TextFile file;
        CHECK(file.start(name, "one\n"));
        CHECK(file.append("two\n"));
        CHECK(comm::read_text(name) == "one\ntwo\n");
        CHECK(comm::read_text(other) == "precious");
        CHECK_FALSE(std::filesystem::is_symlink(name));
        CHECK_FALSE(comm::replace_file("/no/such/folder/file", "text"));
        std::filesystem::remove(name);
        std::filesystem::remove(other);
    }
    world.barrier();
}
