// SPDX-License-Identifier: MIT
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <tuple>

#include "comm/message_plan.hpp"
#include "comm/schedule.hpp"

using comm::Aggregate;
using comm::MessageOrder;
using comm::MessagePlan;
using comm::NodeMap;
using comm::Schedule;
using Sizes = std::vector<std::size_t>;

namespace {

std::mt19937 random_numbers(7);
int random_below(int n) { return static_cast<int>(random_numbers() % static_cast<unsigned>(n)); }

template <class Enum>
Enum any() {
    const auto words = words_of(Enum{});
    return words[random_below(static_cast<int>(words.size()))].value;
}

Sizes random_sizes(int most) {
    Sizes sizes(1 + random_below(20));
    for (std::size_t& s : sizes) s = 1 + random_below(most);
    return sizes;
}

Sizes lengths(const Sizes& ends) {
    Sizes out(ends.size());
    std::adjacent_difference(ends.begin(), ends.end(), out.begin());
    return out;
}

}  // namespace

TEST_CASE("messages cover all bytes once and keep to the limits") {
    for (int trial = 0; trial < 2000; ++trial) {
        const Sizes sizes = random_sizes(trial % 2 ? 300 : 9000);
        const std::size_t sum = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
        for (const auto aggregate : {Aggregate::none, Aggregate::process, Aggregate::automatic}) {
            Schedule schedule{MessageOrder::plain, aggregate, false, 1000,
                              trial % 3 ? std::size_t{4096} : std::size_t{1} << 30};
            const Sizes ends = message_ends(sizes, schedule);
            REQUIRE(ends.back() == sum);
            const Sizes bytes = lengths(ends);
            REQUIRE(
                std::all_of(bytes.begin(), bytes.end(), [&](std::size_t n) { return n > 0 && n <= schedule.piece; }));
            if (aggregate == Aggregate::none && sizes.front() <= schedule.piece) REQUIRE(ends.front() == sizes.front());
            if (aggregate == Aggregate::process && sum <= schedule.piece) REQUIRE(ends.size() == 1);
        }
    }
}

TEST_CASE("auto sends messages of the threshold's size, but no more than there are parts") {
    const Schedule schedule{MessageOrder::plain, Aggregate::automatic, false, 100};
    CHECK(comm::message_ends(Sizes{30, 30, 30, 30}, schedule) == Sizes{100, 120});
    CHECK(comm::message_ends(Sizes{30, 150, 30}, schedule) == Sizes{100, 200, 210});
    CHECK(comm::message_ends(Sizes{30, 30, 500, 400, 30, 30}, schedule) == Sizes{60, 560, 960, 1020});
    CHECK(comm::message_ends(Sizes{90, 90, 500}, schedule) == Sizes{90, 180, 680});
    CHECK(comm::message_ends(Sizes{50, 50, 500}, schedule) == Sizes{100, 600});
    CHECK(comm::message_ends(Sizes{2500}, schedule) == Sizes{2500});
    CHECK(comm::message_ends(Sizes{50, 50, 65536, 50}, schedule) == Sizes{100, 65636, 65686});  // large: stays alone
    CHECK(comm::message_ends(Sizes{2500}, {MessageOrder::plain, Aggregate::automatic, false, 100, 1000}) ==
          Sizes{1000, 2000, 2500});
    CHECK(comm::message_ends(Sizes{120, 30, 500}, {MessageOrder::plain, Aggregate::automatic, false, 300, 300}) ==
          Sizes{300, 600, 650});  // none may be longer
    for (int trial = 0; trial < 2000; ++trial) {
        const Sizes sizes = random_sizes(trial % 2 ? 300 : 100000);
        REQUIRE(comm::message_ends(sizes, schedule).size() <= sizes.size());
    }
    CHECK(comm::message_ends(Sizes{30, 40}, {MessageOrder::plain, Aggregate::none}) == Sizes{30, 70});
    CHECK(comm::message_ends(Sizes{}, schedule).empty());
}

TEST_CASE("aggregated messages grow by the paper's factor, up to the longest that may be") {
    CHECK(comm::aggregation_growth(1, 1) == 1.5);
    CHECK(comm::aggregation_growth(4, 8) == 4.5);
    CHECK(comm::aggregation_growth(8, 4) == 4.5);
    CHECK(lengths(comm::aggregated_message_ends(Sizes(20, 1), 1.5, 100)) == Sizes{1, 2, 3, 5, 8, 1});
    CHECK(lengths(comm::aggregated_message_ends(Sizes(20, 1), 1.5, 4)) == Sizes{1, 2, 3, 4, 4, 4, 2});
    CHECK(lengths(comm::aggregated_message_ends(Sizes{2, 9, 9, 2, 2}, 4, 10)) == Sizes{2, 9, 9, 4});
    CHECK(comm::aggregated_message_ends(Sizes{}, 1.5, 100).empty());
    for (int trial = 0; trial < 500; ++trial) {
        const Sizes sizes = random_sizes(100);
        const auto piece = static_cast<std::size_t>(100 + random_below(1000));
        const Sizes ends = comm::aggregated_message_ends(sizes, 1.5 + random_below(5), piece);
        CHECK(ends.front() == sizes.front());
        CHECK(ends.back() == std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}));
        CHECK(std::is_sorted(ends.begin(), ends.end()));
        const Sizes bytes = lengths(ends);
        CHECK(*std::max_element(bytes.begin(), bytes.end()) <= piece);
    }
}

// As many bytes as a deck allows: three parts in one message would have more than MPI counts.
TEST_CASE("no message through an aggregator is longer than MPI can count") {
    constexpr std::size_t most = std::size_t{1} << 30;
    const Schedule schedule{MessageOrder::plain, Aggregate::node, false, most};
    const NodeMap nodes({0, 1});
    const std::vector<balance::Part> parts(20, {1, most - 1});
    comm::NodeTraffic traffic{std::vector<comm::ForwardedPart>(20, {0, 1, most - 1}), {1, 0}, {0, 1}};
    const MessagePlan sender = plan_messages(0, parts, {}, nodes, schedule, traffic);
    const MessagePlan receiver =
        plan_messages(1, {}, std::vector<balance::Part>(20, {0, most - 1}), nodes, schedule, traffic);
    CHECK(sender.sends.size() == 20);
    CHECK(receiver.receives.size() == 20);
    for (const auto& message : sender.sends) CHECK(message.bytes <= most);
    for (const auto& message : receiver.receives) CHECK(message.bytes <= most);
}

TEST_CASE("near nodes come first, and pairs of one pair of nodes together, larger ones first, the own node last") {
    const NodeMap nodes({0, 0, 1, 1, 2, 2, 3, 3});
    const std::vector<comm::Outgoing> outgoing{{7, 5}, {0, 1}, {4, 10}, {5, 20}, {3, 1}, {6, 5}};  // of rank 2
    const auto targets = [&](MessageOrder order) {
        std::vector<int> out;
        for (const std::size_t i : issue_order(2, outgoing, nodes, order)) out.push_back(outgoing[i].to);
        return out;
    };
    CHECK(targets(MessageOrder::plain) == std::vector<int>{0, 3, 4, 5, 6, 7});
    CHECK(targets(MessageOrder::near_first) == std::vector<int>{0, 5, 4, 6, 7, 3});
    CHECK(targets(MessageOrder::far_first) == std::vector<int>{6, 7, 0, 5, 4, 3});
    // Every order takes each message once.
    for (const auto& order : words_of(MessageOrder{})) {
        std::vector<int> sorted = targets(order.value);
        std::sort(sorted.begin(), sorted.end());
        CHECK(sorted == std::vector<int>{0, 3, 4, 5, 6, 7});
    }
    const NodeMap tree({0, 1, 2, 3, 4, 5}, 2);
    CHECK(tree.distance(0, 1) == 2);
    CHECK(tree.distance(1, 2) == 4);
    CHECK(tree.distance(3, 3) == 0);
}

TEST_CASE("the rank that gets most is the aggregator of its node") {
    CHECK(comm::aggregator_of(std::vector<balance::Part>{{3, 10}, {5, 11}, {3, 2}}) == 3);
    CHECK(comm::aggregator_of(std::vector<balance::Part>{{6, 10}, {5, 10}}) == 5);
}

namespace {

/// The plans of all ranks together, carried out on paper: each byte of each part takes the way that the plans say.
class OnPaper {
public:
    OnPaper() {
        for (int from = 0; from < ranks_; ++from)
            for (int to = 0; to < ranks_; ++to)
                for (int k = random_below(4); k > 0 && from != to; --k)
                    parts_.push_back({from, to, static_cast<std::size_t>(1 + random_below(300))});
        for (int r = 0; r < ranks_; ++r) plan(r);
    }

    void carry_out() {
        for (int r = 0; r < ranks_; ++r)
            for (const MessagePlan::Send& s : plans_[r].sends)
                mail_[{r, s.to, s.tag}].push_back({out_[r].begin() + s.at, out_[r].begin() + s.at + s.bytes});
        for (const bool aggregated : {true, false})
            for (int r = 0; r < ranks_; ++r)
                for (const MessagePlan::Receive& m : plans_[r].receives)
                    if (m.forwards.empty() != aggregated) receive(r, m, aggregated ? forwarding_[r] : in_[r]);
        for (const auto& [key, box] : mail_) REQUIRE(box.empty());
    }

    void check_received() const {
        for (int r = 0; r < ranks_; ++r)
            for (std::size_t i = 0; i < received_[r].size(); ++i)
                for (std::size_t b = 0; b < parts_[received_[r][i]].bytes; ++b)
                    REQUIRE(in_[r][plans_[r].places.received[i] + b] == Byte{received_[r][i], b});
    }

private:
    struct Part {
        int from, to;
        std::size_t bytes;
    };
    using Byte = std::pair<std::size_t, std::size_t>;  // the part's number and the place in it
    using Lists = std::vector<std::vector<Byte>>;      // one of each rank

    static NodeMap nodes_of(int ranks, int per_node) {
        std::vector<int> node(ranks);
        for (int r = 0; r < ranks; ++r) node[r] = r / per_node;
        return NodeMap(node);
    }
    std::vector<balance::Part> parts_of(int rank, int Part::*me, int Part::*other, Sizes& numbers) const {
        std::vector<balance::Part> list;
        for (int r = 0; r < ranks_; ++r)
            for (std::size_t p = 0; p < parts_.size(); ++p)
                if (parts_[p].*me == rank && parts_[p].*other == r)
                    list.push_back({r, parts_[p].bytes}), numbers.push_back(p);
        return list;
    }
    comm::NodeTraffic traffic_of(int rank) const {
        comm::NodeTraffic traffic;
        std::map<int, std::set<int>> towards, coming;
        traffic.targets.resize(nodes_.nodes()), traffic.sources.resize(nodes_.nodes());
        for (const Part& p : parts_) {
            if (!comm::is_forwarded(p.bytes, p.from, p.to, nodes_, schedule_)) continue;
            if (nodes_.of(p.to) == nodes_.of(rank)) traffic.parts.push_back({p.from, p.to, p.bytes});
            towards[nodes_.of(p.from)].insert(nodes_.of(p.to));
            coming[nodes_.of(p.to)].insert(nodes_.of(p.from));
        }
        for (const auto& [n, nodes] : towards) traffic.targets[n] = std::ssize(nodes);
        for (const auto& [n, nodes] : coming) traffic.sources[n] = std::ssize(nodes);
        return traffic;
    }
    static std::size_t bytes_of(const std::vector<balance::Part>& parts) {
        std::size_t bytes = 0;
        for (const balance::Part& p : parts) bytes += p.bytes;
        return bytes;
    }
    void plan(int r) {
        Sizes sent;
        const auto to = parts_of(r, &Part::from, &Part::to, sent),
                   from = parts_of(r, &Part::to, &Part::from, received_[r]);
        plans_.push_back(plan_messages(r, to, from, nodes_, schedule_, traffic_of(r)));
        out_[r].resize(bytes_of(to));
        for (std::size_t i = 0; i < to.size(); ++i)
            for (std::size_t b = 0; b < to[i].bytes; ++b) out_[r][plans_[r].places.sent[i] + b] = {sent[i], b};
        in_[r].assign(bytes_of(from), {~std::size_t{0}, 0});
        forwarding_[r].resize(plans_[r].forwarding_bytes);
    }
    void receive(int r, const MessagePlan::Receive& m, std::vector<Byte>& room) {
        auto& box = mail_[{m.from, r, m.tag}];
        REQUIRE(!box.empty());
        const std::vector<Byte> message = box.front();
        box.erase(box.begin());
        REQUIRE(message.size() == m.bytes);
        REQUIRE(m.bytes <= schedule_.piece);
        std::copy(message.begin(), message.end(), room.begin() + m.at);
        for (const MessagePlan::Forward& h : m.forwards) {
            const auto begin = forwarding_[r].begin() + h.at, end = begin + h.bytes;
            if (h.to == r) std::copy(begin, end, in_[r].begin() + h.place);
            else mail_[{r, h.to, h.tag}].push_back({begin, end});
        }
    }

    const int ranks_ = 2 + random_below(9);
    const NodeMap nodes_ = nodes_of(ranks_, 1 + random_below(4));
    const Schedule schedule_{any<MessageOrder>(), any<Aggregate>(), false, 200,
                             random_below(2) ? std::size_t{150} : std::size_t{1} << 30};
    std::vector<Part> parts_;
    std::vector<MessagePlan> plans_;
    std::vector<Sizes> received_ = std::vector<Sizes>(ranks_);  // numbers of parts
    Lists out_ = Lists(ranks_), in_ = Lists(ranks_), forwarding_ = Lists(ranks_);
    std::map<std::tuple<int, int, int>, Lists> mail_;  // to be received, by sender, receiver and tag
};

}  // namespace

TEST_CASE("the plans of all ranks fit together") {
    for (int trial = 0; trial < 300; ++trial) {
        OnPaper all;
        all.carry_out();
        all.check_received();
    }
}
