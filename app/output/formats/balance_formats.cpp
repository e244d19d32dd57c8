// SPDX-License-Identifier: MIT
#include "app/output/formats/balance_formats.hpp"

#include <algorithm>
#include <filesystem>

namespace app {

BalanceFormats::BalanceFormats(RunDirectory& results, const std::vector<BalanceFormat>& formats,
                               const balance::Grid& grid, std::int64_t processes, std::int64_t last)
    : results_(results) {
    const auto wanted = [&](BalanceFormat format) { return std::ranges::find(formats, format) != formats.end(); };
    const auto there = [&](BalanceFormat format) {
        std::error_code error;
        return results.continued() &&
               std::filesystem::is_directory(results.path() + "/" + std::string(balance::word_of(format)), error);
    };
    on_rank_0(results.comm(), [&] {
        using enum BalanceFormat;
        if (wanted(lbaf) || there(lbaf)) formats_.push_back(make_lbaf(results, grid, processes, last));
        if (!formats_.empty() && !wanted(lbaf)) formats_.back()->finish(), formats_.clear();
        if (wanted(metis) || there(metis)) formats_.push_back(make_metis(results, grid, last));
        if (!formats_.empty() && there(metis) && !wanted(metis)) formats_.pop_back();
    });
}

void BalanceFormats::write(const BalancedCells& before) {
    on_rank_0(results_.comm(), [&] {
        results_.require_ours();
        for (const auto& format : formats_) format->add(before);
    });
}

void BalanceFormats::finish() {
    on_rank_0(results_.comm(), [&] {
        for (const auto& format : formats_) format->finish();
    });
}

}  // namespace app
