// SPDX-License-Identifier: MIT
#include "app/output/checkpoint/front.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "comm/file/durable.hpp"

namespace app {
namespace {

constexpr int schema = 1;

}  // namespace

std::string text_of(const Front& f) {
    std::string text = fmt::format(
        "steelyard checkpoint\nschema {}\nstep {}\nparticles {}\nstate_hash {:016x}\nbytes {}\nbody {:016x}\n", schema,
        f.step, f.particles, f.state_hash, f.bytes, f.body);
    text += fmt::format("front {:016x}\n", comm::text_digest(text));
    text.resize(front_bytes, '\n');
    return text;
}

std::optional<Front> parse_front(const std::string& text) {
    Front f;
    const auto number = [&](std::string_view key, auto& value, int base) {
        const std::size_t at = text.find("\n" + std::string(key) + " ");
        if (at == std::string::npos) return false;
        const char* begin = text.data() + at + key.size() + 2;
        return std::from_chars(begin, text.data() + text.size(), value, base).ec == std::errc();
    };
    if (!number("step", f.step, 10) || !number("particles", f.particles, 10) ||
        !number("state_hash", f.state_hash, 16) || !number("bytes", f.bytes, 10) || !number("body", f.body, 16) ||
        text_of(f) != text || f.step < 0 || f.particles < 0)
        return std::nullopt;
    return f;
}

}  // namespace app
