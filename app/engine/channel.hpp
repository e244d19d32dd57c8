// SPDX-License-Identifier: MIT
// The channels that the engine's plans go through.
#pragma once
#include <memory>
#include <string_view>

#include "app/engine/setup.hpp"
#include "comm/communicator.hpp"
#include "comm/exchange.hpp"

namespace app {

/// Messages as setup.network says, added to `traffic` if there is one. Each plan is shown to setup.on_plan, under this
/// name, when it is laid out. All three must stay. kind: a literal.
inline std::unique_ptr<balance::Channel> make_channel(const Setup& setup, const comm::Communicator& comm,
                                                      std::string_view kind, comm::Traffic* traffic = nullptr) {
    comm::Exchange::Observer on_plan;
    if (setup.on_plan) on_plan = [&setup, kind](auto sent) { setup.on_plan(kind, sent); };
    return std::make_unique<comm::Exchange>(comm, setup.network, traffic, std::move(on_plan));
}

}  // namespace app
