// SPDX-License-Identifier: MIT
// Checkpoints, up to what a run takes over from them. Digests are made anew, so that damage gets past them: whoever
// forges a file can do that too.
#include "app/output/checkpoint/checkpoint.hpp"

#include <array>
#include <charconv>
#include <string>

#include "app/balancing/load_balancer.hpp"
#include "app/deck/checks.hpp"
#include "app/deck/setup.hpp"
#include "app/output/checkpoint/front.hpp"
#include "app/output/checkpoint/restart.hpp"
#include "app/run/plain_engine.hpp"
#include "comm/file/durable.hpp"
#include "fuzz.hpp"
#include "md/initial.hpp"

namespace {

std::uint64_t number_behind(const std::string& text, const std::string& key, int base) {
    std::uint64_t n = 0;
    if (const std::size_t at = text.find(key); at != std::string::npos)
        std::from_chars(text.data() + at + key.size(), text.data() + text.size(), n, base);
    return n;
}

// If the input begins as a checkpoint, returns it with a front that fits its bytes. Returns other inputs unchanged.
std::string with_front(std::string bytes, std::uint64_t state_hash) {
    if (bytes.size() < app::front_bytes || !bytes.starts_with("steelyard")) return bytes;
    const std::string path = fuzz::file_of(bytes), old = bytes.substr(0, app::front_bytes);
    app::Front front;
    front.step = static_cast<std::int64_t>(number_behind(old, "\nstep ", 10) & INT64_MAX);
    front.particles = static_cast<std::int64_t>(number_behind(old, "\nparticles ", 10) & INT64_MAX);
    front.bytes = std::ssize(bytes);
    front.state_hash = state_hash;
    front.body = comm::file_digest(path, app::front_bytes, front.bytes, fuzz::world());
    bytes.replace(0, app::front_bytes, app::text_of(front));
    return bytes;
}

// A run of many cells or particles would only take time.
bool is_small(const app::CheckpointInfo& info) {
    constexpr std::int64_t most = 4096;
    return app::make_setup(info.deck, "scalar").domain.grid().box().cells() <= most && info.particles <= most &&
           info.deck.balance.processes.value_or(1) <= most;
}

void go_on(const app::CheckpointInfo& info) {
    app::PlainEngine plain(info.deck, fuzz::world());
    const balance::Grid grid = plain.setup.domain.grid();
    const std::int64_t processes = info.deck.balance.processes.value_or(1);
    if (processes < 1 || processes > grid.box().cells()) return;
    fuzz::accepted([&] { app::load_particles(info, *plain.engine, plain.owners, fuzz::world()); });
    if (info.deck.balance.every > 0) app::check_partitions(info.deck.balance, grid, processes);
    app::LoadBalancer balancer(info.deck, grid, processes, fuzz::world(), plain.timers);
    app::load_balance(info, balancer, fuzz::world());
}

}  // namespace

void fuzz::read(std::string_view input) {
    const std::string path = file_of(with_front(std::string(input), 0));
    app::CheckpointInfo info = app::read_checkpoint(path, world());
    app::require_same_system(info.deck, info);
    app::saved_balancing(info, world());
    if (!is_small(info)) return;
    info.state_hash = app::hash_in_file(path, info.particles, info.deck.system.dimensions, world());
    go_on(info);
}
