// SPDX-License-Identifier: MIT
// loads.h5: what the cells cost and hold, step by step: a load series, which `steelyard replay` balances again.
#pragma once
#include <vector>

#include "app/output/frame_series.hpp"
#include "balance/round.hpp"

namespace app {

class LoadSeries final : public FrameSeries {
public:
    explicit LoadSeries(const SeriesContext& context);

private:
    void write_frame(std::int64_t frame, const Moment& now) override;
    std::vector<comm::FramePlace> describe(comm::FileWriter& file, std::int64_t frames, std::int64_t capacity) const;

    balance::Grid grid_;
    balance::WorkCosts work_;
    std::vector<double> box_;
    std::vector<std::string> boundary_;
};

}  // namespace app
