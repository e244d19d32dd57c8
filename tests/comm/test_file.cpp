// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "comm/file/directory_lock.hpp"
#include "comm/file/durable.hpp"
#include "comm/file/file.hpp"
#include "comm/file/posix_file.hpp"
#include "comm/simulation.hpp"

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

TEST_CASE("what a file or a node cannot hold is told") {
    CHECK(comm::lack_of_memory(1).empty());
    CHECK(comm::lack_of_memory(1e18).empty() == comm::simulated);
    CHECK(comm::packing_of(std::string("\x1f\x8b\x08", 3)) == "is compressed by gzip; unpack it: gunzip");
    CHECK(comm::packing_of("PK\x03\x04").starts_with("is a zip archive"));
    CHECK(comm::packing_of("\x89HDF").empty());
    CHECK(comm::packing_of("").empty());
}

TEST_CASE("what another program does to a text file is noticed") {
    const comm::Communicator world;
    if (world.rank() != 0) return;
    const std::string name = "/tmp/steelyard_test_file_" + std::to_string(getpid());
    const auto after = [&](auto damage) {
        comm::TextFile file;
        CHECK((file.start(name, "one\n") && file.append("two\n") && file.damage().empty()));
        damage();
        return file.damage();
    };
    CHECK(after([] {}).empty());
    CHECK(after([&] { std::filesystem::remove(name); }) == "was removed");
    CHECK(after([&] { std::filesystem::resize_file(name, 0); }) == "was changed");
    CHECK(after([&] { std::filesystem::resize_file(name, 100); }) == "was changed");
    CHECK(after([&] { CHECK(comm::replace_file(name, "one\ntwo\n")); }) == "was replaced");
    CHECK(after([&] {
              std::filesystem::rename(name, name + ".other");
              std::filesystem::create_symlink(name + ".other", name);
          }) == "was replaced");
    std::filesystem::remove(name);
    std::filesystem::remove(name + ".other");
}

TEST_CASE("a pipe or a device is no input, and nobody waits for it") {
    const comm::Communicator world;
    if (world.rank() != 0) return;
    const std::string name = "/tmp/steelyard_test_input_" + std::to_string(getpid());
    std::string text;
    CHECK(comm::read_input(name, 10, text) == ENOENT);
    CHECK(mkfifo(name.c_str(), 0600) == 0);
    CHECK(comm::read_input(name, 10, text) == comm::no_regular_file);
    CHECK(comm::read_input("/dev/null", 10, text) == comm::no_regular_file);
    CHECK(comm::read_input("/tmp", 10, text) == comm::no_regular_file);
    std::filesystem::remove(name);
    CHECK(comm::replace_file(name, "some text"));
    CHECK((comm::read_input(name, 4, text) == 0 && text == "some"));
    CHECK((comm::read_input(name, 40, text) == 0 && text == "some text"));
    std::filesystem::remove(name);
}

TEST_CASE("a directory has one owner, also where the file of its lock is removed") {
    const comm::Communicator world;
    if (world.rank() != 0) return;
    namespace fs = std::filesystem;
    const fs::path folder = "/tmp/steelyard_test_lock_" + std::to_string(getpid()), lock = folder / ".steelyard.lock";
    fs::create_directory(folder);
    {
        comm::DirectoryLock first;
        CHECK(first.take(folder).empty());
        CHECK(comm::DirectoryLock().take(folder).find("process") == 0);
        CHECK(first.lost().empty());
        fs::remove(lock);
        CHECK_FALSE(comm::DirectoryLock().take(folder).empty());
        CHECK(first.lost().empty());
        CHECK(fs::exists(lock));  // again
        {                         // A reader that looks whether a run goes on is no other run.
            fs::remove(lock);
            const comm::Descriptor reader(lock, O_RDWR | O_CREAT);
            CHECK(flock(reader, LOCK_SH) == 0);
            CHECK(first.lost().empty());
        }
        // Another program has the file of the lock, as on a file system that has no locks of directories.
        fs::remove(lock);
        const comm::Descriptor other(lock, O_RDWR | O_CREAT);
        CHECK(flock(other, LOCK_EX) == 0);
        CHECK(first.lost().find("another run") != std::string::npos);
        fs::rename(folder, folder.string() + "_away");
        CHECK(first.lost().find("was removed") == 0);
        fs::create_directory(folder);
        CHECK(first.lost().find("was removed") == 0);
    }
    fs::remove_all(folder.string() + "_away");
    {
        comm::DirectoryLock again;
        CHECK(again.take(folder).empty());
        CHECK(comm::replace_file(folder / "mine", "text"));
        again.remove_if_empty();
        CHECK((fs::exists(lock) && fs::exists(folder / "mine")));
        fs::remove(folder / "mine");
        again.remove_if_empty();
        CHECK_FALSE(fs::exists(folder));
    }
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
