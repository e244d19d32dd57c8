// SPDX-License-Identifier: MIT
// The channels that the engine's plans go through.
#pragma once
#include <memory>
#include <string_view>

#include "app/engine/setup.hpp"
#include "balance/team.hpp"
#include "comm/communicator.hpp"
#include "comm/exchange.hpp"

namespace app {

/// Messages as setup.network says, added to `traffic` if there is one. Each plan is shown to setup.on_plan, under this
/// name, when it is laid out. All three must stay. kind: a literal.
std::unique_ptr<balance::Channel> make_channel(const Setup& setup, const comm::Communicator& comm,
                                               std::string_view kind, comm::Traffic* traffic = nullptr);

}  // namespace app
