// SPDX-License-Identifier: MIT
#include "app/output/formats/balance_formats.hpp"

#include <algorithm>
#include <filesystem>

namespace app {

BalanceFormats::BalanceFormats(RunDirectory& results, const std::vector<BalanceFormat>& formats,
                               const balance::Grid& grid, std::int64_t processes, std::int64_t last)
    : results_(results) {
    const auto wanted = [&](BalanceFormat format) {
        return std::find(formats.begin(), formats.end(), format) != formats.end();
    };
    const auto there = [&](BalanceFormat format) {
        std::error_code error;
        return results.continued() &&
               std::filesystem::is_directory(results.path() + "/" + std::string(balance::word_of(format)), error);
    };
    on_rank_0(results.comm(), [&] {
        using enum BalanceFormat;
        if (wanted(lbaf) || there(lbaf)) lbaf_.emplace(results, grid, processes, last);
        if (wanted(metis) || there(metis)) metis_.emplace(results, grid, last);
        if (lbaf_ && !wanted(lbaf)) lbaf_->finish(), lbaf_.reset();
        if (!wanted(metis)) metis_.reset();
    });
}

void BalanceFormats::write(const BalancedCells& before) {
    on_rank_0(results_.comm(), [&] {
        results_.require_ours();
        if (lbaf_) lbaf_->add(before);
        if (metis_) metis_->add(before);
    });
}

void BalanceFormats::finish() {
    on_rank_0(results_.comm(), [&] {
        if (lbaf_) lbaf_->finish();
    });
}

}  // namespace app
