// SPDX-License-Identifier: MIT
// libFuzzer calls the two functions at the end; a finding is an abort.
#include "fuzz.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "app/common/errors.hpp"
#include "comm/session.hpp"

namespace fuzz {

const comm::Communicator& world() {
    static const comm::Communicator world;
    return world;
}

std::string file_of(std::string_view bytes, const std::string& name) {
    static const std::string folder = [] {
        const auto path = std::filesystem::temp_directory_path() / ("fuzz_" + std::to_string(getpid()));
        std::filesystem::create_directories(path);
        return path.string();
    }();
    const std::string path = folder + "/" + name;
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    require(file.good(), "a file can be written where TMPDIR says");
    return path;
}

bool accepted(const std::function<void()>& body) {
    try {
        body();
        return true;
    } catch (const std::exception& e) {
        const comm::Failure failure = app::failure_of(e);
        const bool one_line = std::none_of(failure.text.begin(), failure.text.end(), [](char c) {
            const auto byte = static_cast<unsigned char>(c);
            return byte < 0x20 || byte == 0x7f;
        });
        if (failure.code != 2 && failure.code != 3) std::fprintf(stderr, "%s\n", failure.text.c_str());
        require(failure.code == 2 || failure.code == 3, "what cannot be used is refused with exit code 2 or 3");
        require(one_line, "a refusal is one line without control characters");
        return false;
    }
}

void require(bool good, const char* claim) {
    if (good) return;
    std::fprintf(stderr, "FINDING: does not hold: %s\n", claim);
    std::abort();
}

}  // namespace fuzz

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
    static comm::Session session(*argc, *argv);
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::accepted([&] { fuzz::read({reinterpret_cast<const char*>(data), size}); });
    return 0;
}
