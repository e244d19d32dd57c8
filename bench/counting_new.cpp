// SPDX-License-Identifier: MIT
// Memory for a program whose members take turns: what is allocated is charged to a member, and given back to the same
// one, whoever's turn it is then. In a file of its own, so that the compiler sees no body of these where they are used.
#include <cstdlib>
#include <new>

#include "turn_team.hpp"

namespace {

// In front of each block: who is charged for it, and its bytes.
struct alignas(16) Header {
    turns::Memory* owner;
    std::size_t bytes;
};

}  // namespace

void* operator new(std::size_t bytes) {
    auto* const header = static_cast<Header*>(std::malloc(sizeof(Header) + bytes));
    if (!header) throw std::bad_alloc();
    *header = {turns::charged, bytes};
    if (turns::Memory* const m = header->owner) {
        m->now += static_cast<std::int64_t>(bytes);
        m->most = std::max(m->most, m->now);
    }
    return header + 1;
}
void operator delete(void* block) noexcept {
    if (!block) return;
    Header* const header = static_cast<Header*>(block) - 1;
    if (header->owner) header->owner->now -= static_cast<std::int64_t>(header->bytes);
    std::free(header);
}
void operator delete(void* block, std::size_t) noexcept { operator delete(block); }
