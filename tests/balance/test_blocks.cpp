// SPDX-License-Identifier: MIT
// Blocks of a team: who is in which, and that they are made once.
#include <catch2/catch.hpp>

#include "thread_team.hpp"

using namespace balance;

TEST_CASE("blocks hold all members, in their order, and are kept") {
    for (int members = 1; members <= 9; ++members)
        for (int count = 1; count <= members; ++count) {
            struct Seen {
                int block, place, inside, across;
                bool kept, summed;
            };
            const std::vector<Seen> seen = ThreadTeam::run(members, [&](const Team& team) {
                const Team::Blocks& b = team.blocks(count);
                std::vector<std::int64_t> sum{1};
                b.inside->sum(sum);
                return Seen{b.mine,           b.inside->rank(),          b.inside->size(),
                            b.across->size(), &team.blocks(count) == &b, sum[0] == b.inside->size()};
            });
            int total = 0;
            for (int m = 0; m < members; ++m) {
                CAPTURE(members, count, m);
                const Seen& s = seen[m];
                CHECK(s.kept);
                CHECK(s.summed);
                const bool first = m == 0 || seen[m - 1].block != s.block;
                CHECK(s.block == (m == 0 ? 0 : seen[m - 1].block + first));
                CHECK(s.place == (first ? 0 : seen[m - 1].place + 1));
                CHECK((s.inside == members / count || s.inside == members / count + 1));
                if (first) CHECK(s.across == count);
                total += first ? s.inside : 0;
            }
            CHECK(total == members);
            CHECK(seen.back().block == count - 1);
        }
}
