// SPDX-License-Identifier: MIT
// Values of cells that lie beside each other are much alike, and in a vacuum the same. Packed they take a fraction of
// their bytes. First comes the number of values. Each stretch of values is packed as its first value and the
// differences of the others from it. Each difference takes the low bytes that the largest one of the stretch needs. A
// stretch of equal values takes next to no time.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace balance {

namespace packing {

inline constexpr std::size_t stretch = 64;        ///< values
inline constexpr std::int64_t equal_stretch = 8;  ///< see numbers_in()
/// Follow the packed values, so that whole words can be read and written.
inline constexpr std::size_t margin = sizeof(std::uint64_t);

/// Words of which values consist, each packed by itself: numbers of eight bytes are one word, structures are taken for
/// words of four bytes.
template <class T>
using Word =
    std::conditional_t<std::is_arithmetic_v<T> && sizeof(T) == sizeof(std::uint64_t), std::uint64_t, std::uint32_t>;

template <class T>
inline constexpr std::size_t words = sizeof(T) / sizeof(Word<T>);
/// Bytes before the differences: the width of a difference, and the first word.
template <class T>
inline constexpr std::size_t head = 1 + sizeof(Word<T>);

template <class T>
Word<T> word_of(const T& value, std::size_t which) {
    Word<T> word;
    std::memcpy(&word, reinterpret_cast<const std::byte*>(&value) + which * sizeof word, sizeof word);
    return word;
}

template <class T>
bool all_equal(std::span<const T> values) {
    return std::memcmp(values.data(), values.data() + 1, (values.size() - 1) * sizeof(T)) == 0;
}
/// Whether all values of a packed stretch are equal.
template <class T>
bool all_equal(const std::byte* packed) {
    std::byte widths{0};
    for (std::size_t w = 0; w < words<T>; ++w) widths |= packed[w * head<T>];  // the next head follows if this one is 0
    return widths == std::byte{0};
}

}  // namespace packing

/// The values in fewer bytes; values that have nothing in common, such as noise, take a little more.
template <class T>
std::vector<std::byte> packed(std::span<const T> values) {
    using Word = packing::Word<T>;
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(Word) == 0);
    static_assert(std::endian::native == std::endian::little, "low bytes come first");
    constexpr std::size_t words = packing::words<T>;
    const std::size_t stretches = (values.size() + packing::stretch - 1) / packing::stretch;
    const std::uint64_t number = values.size();
    std::vector<std::byte> bytes(sizeof number + values.size_bytes() + stretches * words + packing::margin);
    std::memcpy(bytes.data(), &number, sizeof number);
    std::byte* to = bytes.data() + sizeof number;
    for (; !values.empty(); values = values.subspan(std::min(packing::stretch, values.size()))) {
        const std::span<const T> here = values.first(std::min(packing::stretch, values.size()));
        const bool equal = packing::all_equal(here);
        for (std::size_t w = 0; w < words; ++w) {
            const Word first = packing::word_of(here[0], w);
            Word differences = 0;
            if (!equal)
                for (const T& value : here) differences |= packing::word_of(value, w) ^ first;
            const auto width = static_cast<int>((std::bit_width(differences) + 7) / 8);
            *to++ = static_cast<std::byte>(width);
            std::memcpy(to, &first, sizeof first);
            to += sizeof first;
            if (width == 0) continue;
            for (const T& value : here.subspan(1)) {
                const Word difference = packing::word_of(value, w) ^ first;
                std::memcpy(to, &difference, sizeof difference);
                to += width;
            }
        }
    }
    bytes.resize(to - bytes.data() + packing::margin);
    return bytes;
}

/// How many numbers were packed one by one; a stretch of equal values counts as `packing::equal_stretch` for each of
/// their words, which is about what it takes.
template <class T>
std::int64_t numbers_in(const std::vector<std::byte>& bytes) {
    const std::byte* from = bytes.data();
    std::uint64_t left = 0;
    if (bytes.size() > sizeof left) std::memcpy(&left, from, sizeof left);
    std::int64_t numbers = 0;
    for (from += sizeof left; left > 0; left -= std::min<std::uint64_t>(packing::stretch, left)) {
        const auto here = std::min<std::int64_t>(packing::stretch, static_cast<std::int64_t>(left));
        numbers += (packing::all_equal<T>(from) ? packing::equal_stretch : here) *
                   static_cast<std::int64_t>(packing::words<T>);
        for (std::size_t w = 0; w < packing::words<T>; ++w)
            from += static_cast<std::int64_t>(packing::head<T>) + (here - 1) * static_cast<int>(*from);
    }
    return numbers;
}

/// Unpacks the values of packed(). Throws std::logic_error if their number is another.
template <class T>
void unpack(const std::vector<std::byte>& bytes, std::span<T> values) {
    using Word = packing::Word<T>;
    constexpr std::size_t words = packing::words<T>;
    const std::byte* from = bytes.data();
    std::uint64_t number = 0;
    if (bytes.size() > sizeof number) std::memcpy(&number, from, sizeof number);
    if (number != values.size())
        throw std::logic_error(std::to_string(values.size()) + " values were due and " + std::to_string(number) +
                               " have come; this is a bug");
    from += sizeof number;
    for (; !values.empty(); values = values.subspan(std::min(packing::stretch, values.size()))) {
        const std::span<T> here = values.first(std::min(packing::stretch, values.size()));
        if (packing::all_equal<T>(from)) {
            for (std::size_t w = 0; w < words; ++w, from += packing::head<T>)
                std::memcpy(reinterpret_cast<std::byte*>(here.data()) + w * sizeof(Word), from + 1, sizeof(Word));
            std::fill(here.begin() + 1, here.end(), here[0]);
            continue;
        }
        for (std::size_t w = 0; w < words; ++w) {
            const auto put = [&](T& value, Word word) {
                std::memcpy(reinterpret_cast<std::byte*>(&value) + w * sizeof word, &word, sizeof word);
            };
            const int width = static_cast<int>(*from++);
            Word first;
            std::memcpy(&first, from, sizeof first);
            from += sizeof first;
            put(here[0], first);
            const Word mask = width == 0 ? 0 : ~Word{0} >> 8 * (sizeof(Word) - width);
            for (T& value : here.subspan(1)) {
                Word difference;
                std::memcpy(&difference, from, sizeof difference);
                put(value, (difference & mask) ^ first);
                from += width;
            }
        }
    }
}

}  // namespace balance
