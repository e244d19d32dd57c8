// SPDX-License-Identifier: MIT
#include "app/deck/compare.hpp"

#include <algorithm>

#include "app/deck/key.hpp"

namespace app {
namespace {

struct Value {
    std::string path, text;
    bool may_change;
};

std::vector<Value> values_of(Deck deck) {
    std::vector<Value> values;
    for_each_key(deck_keys(deck), [&](const std::string& path, const Key& key, bool may_change) {
        const std::string text = key.text ? key.text() : "";
        if (!text.empty()) values.push_back({path, text, may_change});
    });
    return values;
}

}  // namespace

std::vector<DeckChange> changes(const Deck& before, const Deck& now) {
    const std::vector<Value> old_values = values_of(before), new_values = values_of(now);
    const auto find = [](const std::vector<Value>& values, const std::string& path) {
        const auto at = std::find_if(values.begin(), values.end(), [&](const Value& v) { return v.path == path; });
        return at == values.end() ? std::string() : at->text;
    };
    std::vector<DeckChange> out;
    for (const auto& [path, value, may_change] : new_values)
        if (const std::string old_value = find(old_values, path); old_value != value)
            out.push_back({path, old_value, value, !may_change && value != "auto"});
    for (const auto& [path, value, may_change] : old_values)
        if (find(new_values, path).empty()) out.push_back({path, value, "", !may_change});
    return out;
}

}  // namespace app
