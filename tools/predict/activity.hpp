// SPDX-License-Identifier: MIT
// Signs of life of a program that computes for minutes.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "app/common/words.hpp"

namespace app {

/// While it exists, a thread of its own says every few seconds what the program does. to: null: nothing is said.
class Activity {
public:
    explicit Activity(std::FILE* to, std::chrono::milliseconds interval = std::chrono::seconds(5))
        : teller_([this, to, interval](const std::stop_token& end) {
              std::unique_lock lock(mutex_);
              for (auto since = interval; !wake_.wait_for(lock, end, interval, [&] { return end.stop_requested(); });
                   since += interval)
                  if (to) say(to, "steelyard: {:g} s: {}\n", 1e-3 * static_cast<double>(since.count()), what_);
          }) {}
    /// what: from now on, in words.
    void begin(std::string what) {
        const std::lock_guard lock(mutex_);
        what_ = std::move(what);
    }

private:
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::string what_ = "begins";
    std::jthread teller_;  // last: it ends before what it uses
};

}  // namespace app
