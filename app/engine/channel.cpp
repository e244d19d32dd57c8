// SPDX-License-Identifier: MIT
#include "app/engine/channel.hpp"

#include <utility>

namespace app {
namespace {

// A channel whose plans are shown to an observer.
class Watched final : public balance::Channel {
public:
    Watched(std::unique_ptr<balance::Channel> channel, const PlanObserver& observer, std::string_view kind)
        : channel_(std::move(channel)), observer_(observer), kind_(kind) {}
    Places lay_out(std::span<const balance::Part> sent, std::span<const balance::Part> received) override {
        observer_(kind_, sent);
        return channel_->lay_out(sent, received);
    }
    void start(std::span<const std::byte> sent, std::span<std::byte> received,
               std::shared_ptr<const void> owner) override {
        channel_->start(sent, received, std::move(owner));
    }
    std::vector<std::size_t> wait_for_some() override { return channel_->wait_for_some(); }
    void finish() override { channel_->finish(); }

private:
    std::unique_ptr<balance::Channel> channel_;
    const PlanObserver& observer_;
    std::string_view kind_;
};

}  // namespace

std::unique_ptr<balance::Channel> make_channel(const Setup& setup, const comm::Communicator& comm,
                                               std::string_view kind, comm::Traffic* traffic) {
    auto channel = std::make_unique<comm::Exchange>(comm, setup.network, traffic);
    if (!setup.on_plan) return channel;
    return std::make_unique<Watched>(std::move(channel), setup.on_plan, kind);
}

}  // namespace app
