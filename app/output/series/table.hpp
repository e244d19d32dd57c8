// SPDX-License-Identifier: MIT
// CSV files by their columns. Each file has one list of {name, unit, value, meaning}; its first line, its rows and, by
// a test, its table in docs/output.md follow from that list.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "app/common/errors.hpp"
#include "app/output/directory/growing_file.hpp"

namespace app {

template <class Row>
struct TableColumn {
    std::string name, unit;                                   ///< unit: empty for a number or a word
    std::function<void(const Row&, std::string& to)> append;  ///< adds the text of its value
    std::string meaning;                                      ///< as docs/output.md has it
    bool word = false;                                        ///< else its values are numbers
};
template <class Row>
using Columns = std::vector<TableColumn<Row>>;

/// value: a member of Row, or a function of a row. format: of the value, by fmt.
template <class Row, class Value>
TableColumn<Row> column(std::string name, const char* unit, Value value, std::string meaning,
                        const char* format = "{}") {
    return {std::move(name), unit,
            [value, format](const Row& row, std::string& to) {
                const auto& v = std::invoke(value, row);
                using V = std::decay_t<decltype(v)>;
                if constexpr (std::is_integral_v<V>) {
                    static_cast<void>(format);
                    const fmt::format_int digits(v);  // most columns of large files
                    to.append(digits.data(), digits.size());
                } else {
                    if constexpr (std::is_floating_point_v<V>)
                        if (std::isnan(v)) return void(to += "nan");  // a column of a large file where nothing balances
                    fmt::format_to(std::back_inserter(to), fmt::runtime(format), v);
                }
            },
            std::move(meaning), !std::is_arithmetic_v<std::decay_t<std::invoke_result_t<Value&, const Row&>>>};
}

/// The first line of the file, without its line feed.
template <class Row>
std::string head_of(const Columns<Row>& columns) {
    std::string head;
    for (const TableColumn<Row>& c : columns) head += (head.empty() ? "" : ",") + c.name;
    return head;
}

/// The rules for the part of an earlier file that stays, with the words of its columns.
template <class Row>
GrowingFile::Past past_of(const Columns<Row>& columns, GrowingFile::Past past) {
    for (const TableColumn<Row>& c : columns) past.rules.words.push_back(c.word);
    return past;
}

template <class Row>
class Table : public GrowingFile {
public:
    /// As GrowingFile.
    Table(RunDirectory& results, const std::string& name, const Columns<Row>& columns, const Past& past)
        : GrowingFile(results, name, head_of(columns), past_of(columns, past)), columns_(columns) {}

    /// Adds the rows of rank 0. Collective. Throws OutputError.
    void add(std::span<const Row> rows) {
        on_rank_0(comm(), [&] { append(rows); });
    }
    /// As add(), but called by rank 0 alone, inside on_rank_0(), so that rows of several tables need one agreement of
    /// all ranks. Throws OutputError.
    void append(std::span<const Row> rows) {
        std::string text;
        text.reserve(rows.size() * 8 * columns_.size());
        for (const Row& row : rows)
            for (const TableColumn<Row>& c : columns_) {
                c.append(row, text);
                text += &c == &columns_.back() ? '\n' : ',';
            }
        GrowingFile::append(text);
    }

private:
    const Columns<Row> columns_;
};

}  // namespace app
