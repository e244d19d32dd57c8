// SPDX-License-Identifier: MIT
// Threads of this processor in the place of a device: they take the launches of a zone one after the other, while the
// caller's threads go on. See launch.hpp.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "gpu/host/table.hpp"
#include "gpu/kernels/all.hpp"

namespace gpu {

class Host {
public:
    /// threads: number of its own threads, at least one. They may run on every processor that this process had at its
    /// start, even if the caller's thread is bound to one.
    /// shuffle: if not 0, every launch is cut into small blocks. Threads take the blocks in a random order, and the
    /// functor's threads within each block too.
    /// isa: see host_table().
    Host(int threads, std::uint64_t shuffle, const std::string& isa);
    /// Waits for what was started.
    ~Host();
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    void* allocate(std::size_t bytes);
    void release(void* p);
    void* allocate_shared(std::size_t bytes) { return allocate(bytes); }
    void release_shared(void* p) { release(p); }
    std::int64_t bytes() const { return bytes_; }

    std::int64_t copied() const { return copied_; }

    void to_device(void* to, const void* from, std::size_t bytes) { cross(to, from, bytes); }
    void to_host(void* to, const void* from, std::size_t bytes) { cross(to, from, bytes); }
    void copy(void* to, const void* from, std::size_t bytes);
    void clear(void* to, std::size_t bytes);
    void start_clock() { started_ = Clock::now(); }  // a thread that has to wake up first is late for the caller too
    void stop_clock() { read_clock(stopped_); }
    double seconds() const { return std::chrono::duration<double>(stopped_ - started_).count(); }
    void wait();

    template <class F>
    void launch(std::int64_t n, const F& functor) {
        constexpr int place = place_in<F>(AllKernels{});
        static_assert(place >= 0, "the functor is missing in gpu/kernels/all.hpp");
        enqueue({table_.run[place], n, true, functor});
    }

private:
    using Clock = std::chrono::steady_clock;
    struct Job {
        template <class F>
        Job(RunChunk run_, std::int64_t size_, bool in_any_order_, const F& f)
            : run(run_), size(size_), in_any_order(in_any_order_) {
            static_assert(std::is_trivially_copyable_v<F> && sizeof(F) <= sizeof functor);
            std::memcpy(functor, &f, sizeof f);
        }
        RunChunk run;
        std::int64_t size;
        bool in_any_order;  // may be shuffled
        alignas(64) std::byte functor[1024]{};
        // While it is the first of the queue:
        std::int64_t block = 0, next = 0;  // size of a block; blocks taken
        std::vector<std::int32_t> order;   // of blocks, where shuffled
        std::uint64_t seed = 0;
    };

    void cross(void* to, const void* from, std::size_t bytes) {
        copied_ += static_cast<std::int64_t>(bytes);
        copy(to, from, bytes);
    }
    void read_clock(Clock::time_point& to);
    void join();
    void enqueue(const Job& job);
    void begin_first(int awake);
    void work();
    void run_block(const Job& job, std::int64_t block) const;
    bool blocks_left() const;

    const HostTable& table_;
    const std::uint64_t shuffle_;
    std::int64_t bytes_ = 0, copied_ = 0;
    std::unordered_map<void*, std::size_t> sizes_;
    Clock::time_point started_, stopped_;

    std::mutex mutex_;  // of all that follows
    std::condition_variable more_, done_;
    std::deque<Job> jobs_;
    int running_ = 0;  // blocks of the first job
    std::uint64_t launches_ = 0;
    bool stop_ = false;
    std::vector<std::thread> threads_;
};

template <class F>
void launch(Host& on, std::int64_t n, const F& functor) {
    if (n > 0) on.launch(n, functor);
}

}  // namespace gpu
