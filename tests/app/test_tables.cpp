// SPDX-License-Identifier: MIT
// CSV files: what a restart keeps of one, and that docs/output.md says what its columns are.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "app/output/directory/csv_rows.hpp"
#include "app/output/series/tables.hpp"
#include "balance/clairvoyant.hpp"

using app::csv_past;
using app::last_csv_step;

namespace {

const std::string head = "step,a,b", table = "step,a,b\n0,1,2\n10,3,4\n10,5,6\n20,7,8\n";

std::string page() {
    std::ifstream file(STEELYARD_SOURCE_DIR "/docs/output.md");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// The section of a file in docs/output.md holds the table of its columns.
template <class Row>
void check_page(const std::string& name, const app::Columns<Row>& columns) {
    const std::string all = page();
    const std::size_t begin = all.find("\n## " + name + "\n");
    REQUIRE(begin != std::string::npos);
    const std::string section = all.substr(begin, all.find("\n## ", begin + 1) - begin);
    std::string expected = "| column | unit | meaning |\n|---|---|---|\n";
    for (const auto& c : columns)
        expected += "| `" + c.name + "` | " + c.unit + (c.unit.empty() ? "| " : " | ") + c.meaning + " |\n";
    INFO("docs/output.md has to have this table of " << name << ":\n" << expected);
    CHECK(section.find(expected) != std::string::npos);
}

}  // namespace

TEST_CASE("rows before a restart's step are kept, and what editors do to a file does no harm") {
    const std::string kept = "0,1,2\n10,3,4\n10,5,6\n";
    const auto rows = [](const std::string& text, std::int64_t end) {
        const app::CsvPast past = csv_past(text, head, end);
        CHECK(past.obstacle.empty());
        return past.rows;
    };
    CHECK(rows(table, 20) == kept);
    CHECK(rows(table, 21) == kept + "20,7,8\n");
    CHECK(rows(table, 0).empty());
    CHECK(rows("step,a,b\n", 5).empty());
    CHECK(rows("step,a,b", 5).empty());
    CHECK(rows("\xEF\xBB\xBFstep,a,b\r\n\r\n0,1,2\r\n \t\n10,3,4\r\r\n10,5,6", 20) == kept);
    CHECK(rows("\n\nstep,a,b\n0,1,2\n10,3,4\n10,5,6\n\n\n", 20) == kept);
    CHECK(rows(kept.empty() ? "" : "step,a,b\n" + kept + "12,3", 20) == kept);  // a killed run left half a row
    CHECK(rows("step,a,b\n" + kept + "1", 20) == kept);
    for (const std::int64_t end : {0, 10, 21}) CHECK(csv_past(std::string(table) + "30,9", head, end).last == "20,7,8");
    CHECK(csv_past("step,a,b\n", head, 5).last.empty());
}

TEST_CASE(
    "a file that is no table of these columns is not continued, also for what is wrong after the restart's step") {
    const auto obstacle = [](const std::string& text) { return csv_past(text, head, 15).obstacle; };
    for (const char* text : {"", "\n\n", "\xEF\xBB\xBF"}) CHECK(obstacle(text) == "is empty");
    for (const char* text :
         {"step,a\n0,1\n", "step,b,a\n", "step,a,b,c\n", "step;a;b\n", "# step,a,b\n", "0,1,2\n", "Step,a,b\n"})
        CHECK(obstacle(text) == "names other columns in its first line");
    CHECK(obstacle("step,a,b\n0,1,2\n10,3\n20,1,2\n") == "has no row of its columns in line 3");
    CHECK(obstacle("step,a,b\n0,1,2,3\n") == "has no row of its columns in line 2");
    CHECK(obstacle("step,a,b\n0;1;2\n") == "has no row of its columns in line 2");
    CHECK(obstacle("step,a,b\n-1,1,2\n") == "has no row of its columns in line 2");
    CHECK(obstacle("step,a,b\n0.5,1,2\n") == "has no row of its columns in line 2");
    CHECK(obstacle("step,a,b\n20,1,2\nmine\n") == "has no row of its columns in line 3");
    CHECK(obstacle("step,a,b\n20,1,2\n10,1,2\n") == "has no ascending steps from line 3 on");
}

TEST_CASE("the last step of a table, whatever has been done to it") {
    CHECK(last_csv_step(table) == 20);
    CHECK(last_csv_step("") == -1);
    CHECK(last_csv_step("step,a,b\n") == -1);
    CHECK(last_csv_step(table + "30,9") == 20);  // cut
    CHECK(last_csv_step(table + "30,9,1") == 30);
    CHECK(last_csv_step("\xEF\xBB\xBF"
                        "30;1\r\n\r\n20;1\r\n\n") == 30);
}

TEST_CASE("docs/output.md names the columns of each CSV file") {
    md::System system;
    system.dimensions = 3;
    system.gravity[1] = 1;
    system.thermostat.kind = md::ThermostatKind::langevin;
    system.walls = {{.velocity = 1}};
    check_page("thermo.csv", app::thermo_columns(system));
    check_page("timing.csv", app::timing_columns());
    check_page("balance.csv", app::balance_columns());
    check_page("resources.csv", app::resource_columns());
    check_page("zones.csv", app::zone_columns());
    check_page("map.csv", app::map_columns());
    check_page("ranks.csv", app::rank_columns());
}

TEST_CASE("the best schedule of a replay takes memory by opportunities, cells and processes") {
    CHECK(balance::Clairvoyant::bytes(10, 1000, 99, 1) == 10 * (24.0 * 1000 + 8 * 100));
    CHECK(balance::Clairvoyant::bytes(10, 1000, 99, 4) == 10 * (24.0 * 250 + 8 * 100));
    CHECK(balance::Clairvoyant::bytes(10'000'000, std::int64_t{1} << 31, 220'000, 1) > 5e17);
}
