// SPDX-License-Identifier: MIT
// Decks. A line `# --set key=value` is an override of the command line.
#include "app/deck/deck.hpp"

#include <array>
#include <string>
#include <vector>

#include "app/deck/from_file.hpp"
#include "app/deck/setup.hpp"
#include "fuzz.hpp"
#include "md/initial.hpp"
#include "md/profile.hpp"
#include "md/region.hpp"

namespace {

std::vector<std::string> settings_in(const std::string& text) {
    const std::string mark = "# --set ";
    std::vector<std::string> settings;
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
        at += mark.size();
        settings.push_back(text.substr(at, text.find('\n', at) - at));
    }
    return settings;
}

// As if each file that the deck names held a cube of particles.
std::vector<app::FoundState> states_for(const std::string& text, const std::vector<std::string>& settings) {
    md::System system = app::named_system(text, "deck.yaml", settings);
    std::vector<app::FoundState> found;
    for (const app::NamedFile& named : app::files_of(system)) {
        app::FoundState state{*named.state, 3, {20, 20, 20}, true};
        state.state.particles = 100;
        state.state.fastest = 1;
        state.state.digest = "0123456789abcdef";
        found.push_back(state);
    }
    return found;
}

// Profiles are probabilities.
void check_profiles(const md::System& system) {
    constexpr double rounding = 1e-12;
    for (const md::Body& body : md::all_bodies(system)) {
        if (body.fill != md::Fill::random) continue;
        const md::Region region(body);
        const auto axis = static_cast<std::size_t>(body.profile.axis);
        for (int k = 0; k < 8; ++k) {
            const std::int64_t at = region.lower[axis] + (region.upper[axis] - region.lower[axis]) / 8 * k;
            const double density = md::relative_density(body, at);
            fuzz::require(density >= 0 && density <= 1 + rounding, "a relative density is from 0 to 1");
        }
        const md::ProfileMeans means = md::means_of(body);
        fuzz::require(means.first > 0 && means.second > 0 && means.second <= means.first + rounding,
                      "means of relative densities are from 0 to 1");
    }
}

}  // namespace

void fuzz::read(std::string_view input) {
    const std::string text(input);
    const std::vector<std::string> settings = settings_in(text);
    accepted([&] { app::parse_balance(text, "deck.yaml", settings); });
    const app::Deck deck = app::parse_deck(text, "deck.yaml", settings, states_for(text, settings));
    const std::string written = app::to_yaml(deck);
    require(accepted([&] {
                const app::Deck again = app::parse_deck(written, "deck.yaml", {}, app::found_by(deck));
                require(app::to_yaml(again) == written, "an effective deck is its own effective deck");
            }),
            "an effective deck is a deck");
    require(md::particle_count(deck.system) >= 0, "numbers of particles can be counted");
    check_profiles(deck.system);
    app::make_setup(deck, "scalar");
}
