// SPDX-License-Identifier: MIT
#include "balance/partition/chain_line.hpp"

#include <cstring>
#include <utility>

namespace balance::chain {
namespace {

constexpr std::size_t message_bytes = sizeof(Sweep) * Line::most_sweeps;

}  // namespace

void Line::lead_to(int member, std::int64_t messages, IndexRange members) {
    target_ = member;
    members_ = members;
    std::array<std::vector<Part>, 2> sent, received;
    if (sends()) sent[channel_of(onwards())].push_back({onwards(), message_bytes});
    for (const int from : {team_.rank() - 1, team_.rank() + 1})
        if (comes_from(from)) received[channel_of(from)].push_back({from, message_bytes});
    for (std::size_t c = 0; c < channels_.size(); ++c) {
        channels_[c]->lay_out(sent[c], received[c]);
        missing_[c] = received[c].empty() ? 0 : messages;
        listen(c);
    }
}

void Line::listen(std::size_t channel) {
    if (missing_[channel] == 0) return;
    --missing_[channel];
    received_[channel].resize(message_bytes);
    channels_[channel]->start({}, received_[channel]);
}

std::vector<Sweep> Line::receive(int from) {
    const std::size_t channel = channel_of(from);
    channels_[channel]->finish();
    std::vector<Sweep> sweeps = elements_in<Sweep>(received_[channel]);
    listen(channel);
    return sweeps;
}

void Line::send(std::span<const Sweep> sweeps) {
    if (!sends()) return;
    finish();
    sent_.resize(message_bytes);
    std::memcpy(sent_.data(), sweeps.data(), sweeps.size_bytes());
    sending_ = channels_[channel_of(onwards())].get();
    sending_->start(sent_, {});
}

void Line::finish() {
    if (sending_) std::exchange(sending_, nullptr)->finish();
}

}  // namespace balance::chain
