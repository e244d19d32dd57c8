// SPDX-License-Identifier: MIT
// The wording of deck errors: one line `WHERE: WHAT; REMEDY`, quoting of what the user wrote, and suggestions for
// misspelt words.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace app {

/// Throws DeckError with the line `WHERE: WHAT; REMEDY`.
[[noreturn]] void fail(std::string_view where, std::string_view what, std::string_view remedy);

/// `text` with everything that could break or disturb a line of a terminal written as \xNN.
std::string printable(std::string_view text);

/// `text` in single quotes, printable, cut to about 40 bytes.
std::string quote(std::string_view text);

/// The word with its ASCII capitals as small letters.
std::string in_lower_case(std::string_view word);

/// The candidate that `word` most likely meant, by edit distance (adjacent letters swapped count once); empty if none
/// is near.
std::string closest(std::string_view word, const std::vector<std::string>& candidates);

/// "did you mean 'x'?" or, if nothing is near, "use one of a, b, c".
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace app
