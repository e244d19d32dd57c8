// SPDX-License-Identifier: MIT
// Changes of bytes hardly ever leave JSON whole. So every other change gives a value, somewhere in the tree, another
// type, or removes it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

using Json = nlohmann::ordered_json;

void change(Json& value, std::minstd_rand& random) {
    constexpr const char* others[] = {"null", "true", "[]", "{}", "[0]", "\"a\"", "-1", "0.5", "1e300", "4294967296"};
    if (!value.is_structured() || value.empty() || random() % 8 == 0) {
        value = Json::parse(others[random() % std::size(others)]);
        return;
    }
    auto child = value.begin();
    std::advance(child, random() % value.size());
    if (random() % 4 == 0) value.erase(child);
    else change(*child, random);
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned int seed) {
    std::minstd_rand random(seed + 1);
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::size_t end = std::min(text.find("\n===\n"), size);  // of the file of the first rank
    Json root = random() % 2 == 0 ? Json() : Json::parse(text.substr(0, end), nullptr, false);
    if (root.is_discarded() || !root.is_structured()) return LLVMFuzzerMutate(data, size, most);
    change(root, random);
    const std::string changed =
        root.dump(-1, ' ', false, Json::error_handler_t::replace) + std::string(text.substr(end));
    if (changed.size() > most) return LLVMFuzzerMutate(data, size, most);
    std::memcpy(data, changed.data(), changed.size());
    return changed.size();
}
