// SPDX-License-Identifier: MIT
// Words of enums. They stand beside the enum, in a table that argument-dependent lookup finds from any folder:
//
//     enum class BalanceClock { wall, work };
//     constexpr auto words_of(BalanceClock) { return std::to_array<balance::Word<BalanceClock>>({{BalanceClock::wall,
//     "wall"}, ...}); }
//
// Decks, command lines and files are read and written by this table alone, so the order of enumerators means nothing.
#pragma once
#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace balance {

template <class Enum>
struct Word {
    Enum value;
    std::string_view word;
};

/// The word of an enumerator. Throws std::logic_error where the table lacks it.
template <class Enum>
constexpr std::string_view word_of(Enum value) {
    for (const auto& w : words_of(value))
        if (w.value == value) return w.word;
    throw std::logic_error("an enumerator has no word");
}

/// The enumerator that a word stands for; none for another word.
template <class Enum>
constexpr std::optional<Enum> value_of(std::string_view word) {
    for (const auto& w : words_of(Enum{}))
        if (w.word == word) return w.value;
    return std::nullopt;
}

/// All words of an enum, in the order of its table.
template <class Enum>
std::vector<std::string> all_words() {
    std::vector<std::string> all;
    for (const auto& w : words_of(Enum{})) all.emplace_back(w.word);
    return all;
}

}  // namespace balance
