// SPDX-License-Identifier: MIT
#include "app/output/directory/growing_file.hpp"

#include <algorithm>
#include <utility>

#include "app/common/errors.hpp"
#include "comm/file/durable.hpp"

namespace app {

GrowingFile::GrowingFile(RunDirectory& results, std::string name, std::string head, const Past& past)
    : results_(results), name_(std::move(name)), head_(std::move(head)) {
    on_rank_0(results_.comm(), [&] {
        results_.require_ours();
        std::string rows;
        if (const std::string path = results_.path() + "/" + name_; results_.continued()) {
            if (comm::file_size(path) >= 0) {
                CsvPast found = csv_past(results_.read(name_), head_, past.end, past.rules);
                if (!found.obstacle.empty()) results_.put_aside(name_, found.obstacle);
                if (found.gap) results_.note_gap(name_, *found.gap);
                rows = std::move(found.rows), last_past_row_ = std::move(found.last);
            } else if (past.expected) {
                results_.note_missing(name_);
            }
        }
        require(file_.start(results_.path() + "/" + name_, head_ + "\n" + rows, !rows.empty()));
    });
}

void GrowingFile::append(const std::string& rows) {
    if (rows.empty()) return;
    results_.require_undamaged(name_, file_.damage());
    require(file_.append(rows));
}

void GrowingFile::rewrite(const std::function<std::string(std::string_view rows)>& change) {
    on_rank_0(results_.comm(), [&] {
        results_.require_undamaged(name_, file_.damage());
        const std::string text = results_.read(name_);
        const std::size_t head = std::min(head_.size() + 1, text.size());
        require(file_.start(results_.path() + "/" + name_, head_ + "\n" + change(std::string_view(text).substr(head)),
                            true));
    });
}

void GrowingFile::require(bool good) const {
    if (!good) throw results_.cannot_write(name_);
}

}  // namespace app
