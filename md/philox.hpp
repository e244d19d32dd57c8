// SPDX-License-Identifier: MIT
// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, SC'11): 128 random bits of a counter and a key, without any state. Its
// known-answer vectors, those of the library Random123, are in a test.
#pragma once
#include <cstdint>

#include "md/kernels/hd.hpp"

namespace md {

struct Philox {
    struct Counter {
        std::uint32_t word[4];
    };
    std::uint32_t key[2];

    HD Counter operator()(Counter c) const {
        std::uint32_t k0 = key[0], k1 = key[1];
        for (int round = 0; round < 10; ++round) {
            const std::uint64_t a = std::uint64_t{0xD2511F53} * c.word[0], b = std::uint64_t{0xCD9E8D57} * c.word[2];
            c = {{static_cast<std::uint32_t>(b >> 32) ^ c.word[1] ^ k0, static_cast<std::uint32_t>(b),
                  static_cast<std::uint32_t>(a >> 32) ^ c.word[3] ^ k1, static_cast<std::uint32_t>(a)}};
            k0 += 0x9E3779B9, k1 += 0xBB67AE85;
        }
        return c;
    }
};

}  // namespace md
