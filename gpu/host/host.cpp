// SPDX-License-Identifier: MIT
// A launch is cut into blocks, which the threads take one by one; the next launch begins when all are done. All state
// of the queue is behind one lock, which is held for as long as it takes to take a block.
#include "gpu/host/host.hpp"

#include <sched.h>

#include <algorithm>
#include <new>
#include <string>
#include <system_error>

#include "gpu/zone.hpp"
#include "md/random.hpp"

namespace gpu {
namespace {

// OpenMP may bind the first thread of a program to one core before main() begins, when its library is loaded, and new
// threads would be bound there too. The code of this section runs before that.
cpu_set_t processors_at_start;
__attribute__((no_sanitize("address", "undefined", "thread"))) void read_processors() {
    sched_getaffinity(0, sizeof processors_at_start, &processors_at_start);
}
#ifdef STEELYARD_SIMULATED  // a library, which may not have that section
[[gnu::section(".init_array"), gnu::used]] void (*const when_loaded)() = read_processors;
#else
[[gnu::section(".preinit_array"), gnu::used]] void (*const before_all_libraries)() = read_processors;
#endif

constexpr std::int64_t least_block = 512;  // of threads of a functor; a block costs about 0.2 us
constexpr std::int64_t shuffled_block = 64;
constexpr std::align_val_t alignment{64};

struct CopyBytes {
    std::byte* to;
    const std::byte* from;
};
void copy_bytes(const void* functor, std::int64_t begin, std::int64_t end) {
    const CopyBytes c = *static_cast<const CopyBytes*>(functor);
    std::memcpy(c.to + begin, c.from + begin, static_cast<std::size_t>(end - begin));
}
void clear_bytes(const void* functor, std::int64_t begin, std::int64_t end) {
    const CopyBytes c = *static_cast<const CopyBytes*>(functor);
    std::memset(c.to + begin, 0, static_cast<std::size_t>(end - begin));
}

// The numbers from 0 to n - 1 in a random order.
std::vector<std::int32_t> random_order(std::int64_t n, std::uint64_t seed) {
    std::vector<std::int32_t> order(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
        const auto j =
            static_cast<std::size_t>(md::mix(seed + static_cast<std::uint64_t>(i)) % static_cast<std::uint64_t>(i + 1));
        order[static_cast<std::size_t>(i)] = order[j];
        order[j] = static_cast<std::int32_t>(i);
    }
    return order;
}

}  // namespace

Host::Host(int threads, std::uint64_t shuffle, const std::string& isa) : table_(host_table(isa)), shuffle_(shuffle) {
    try {
        for (int t = 0; t < std::max(threads, 1); ++t)
            threads_.emplace_back([this] {
                sched_setaffinity(0, sizeof processors_at_start, &processors_at_start);
                work();
            });
    } catch (const std::system_error& e) {
        join();
        throw Error("thread " + std::to_string(threads_.size() + 1) + " of " + std::to_string(threads) +
                        " that stand in for an accelerator cannot be started: " + e.what(),
                    "use fewer accelerator.threads or accelerator.devices");
    }
}

Host::~Host() {
    wait();
    join();
}

void Host::join() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    more_.notify_all();
    for (std::thread& t : threads_) t.join();
}

void* Host::allocate(std::size_t bytes) {
    void* p = ::operator new(bytes, alignment);
    sizes_[p] = bytes;
    bytes_ += static_cast<std::int64_t>(bytes);
    return p;
}

void Host::release(void* p) {
    wait();
    bytes_ -= static_cast<std::int64_t>(sizes_.at(p));
    sizes_.erase(p);
    ::operator delete(p, alignment);
}

void Host::copy(void* to, const void* from, std::size_t bytes) {
    if (bytes == 0) return;
    const CopyBytes c{static_cast<std::byte*>(to), static_cast<const std::byte*>(from)};
    enqueue({copy_bytes, static_cast<std::int64_t>(bytes), false, c});
}

void Host::clear(void* to, std::size_t bytes) {
    if (bytes == 0) return;
    const CopyBytes c{static_cast<std::byte*>(to), nullptr};
    enqueue({clear_bytes, static_cast<std::int64_t>(bytes), false, c});
}

void Host::read_clock(Clock::time_point& to) {
    enqueue({[](const void* functor, std::int64_t, std::int64_t) {
                 **static_cast<Clock::time_point* const*>(functor) = Clock::now();
             },
             1, false, &to});
}

void Host::enqueue(const Job& job) {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(job);
    if (jobs_.size() == 1) begin_first(0);
}

// Cuts the first job into blocks and wakes as many threads as can work on it. awake: threads that are awake and will
// take blocks. The lock is held.
void Host::begin_first(int awake) {
    Job& job = jobs_.front();
    const auto threads = std::ssize(threads_);
    job.seed = md::mix(shuffle_ + ++launches_);
    const bool shuffled = shuffle_ != 0 && job.in_any_order;
    job.block = shuffled ? shuffled_block : std::max(job.size / (8 * threads), least_block);
    const std::int64_t blocks = (job.size + job.block - 1) / job.block;
    if (shuffled) job.order = random_order(blocks, job.seed);
    if (blocks > 1) more_.notify_all();
    else if (awake == 0) more_.notify_one();
}

bool Host::blocks_left() const {
    return !jobs_.empty() && jobs_.front().next * jobs_.front().block < jobs_.front().size;
}

void Host::run_block(const Job& job, std::int64_t block) const {
    const std::int64_t begin = block * job.block, end = std::min(begin + job.block, job.size);
    if (job.order.empty()) return job.run(job.functor, begin, end);
    for (const std::int32_t i : random_order(end - begin, job.seed ^ md::mix(static_cast<std::uint64_t>(block))))
        job.run(job.functor, begin + i, begin + i + 1);
}

void Host::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        more_.wait(lock, [this] { return stop_ || blocks_left(); });
        if (stop_) return;
        Job& job = jobs_.front();  // stays where it is until its last block is done
        const std::int64_t taken = job.next++;
        ++running_;
        lock.unlock();
        run_block(job, job.order.empty() ? taken : job.order[static_cast<std::size_t>(taken)]);
        lock.lock();
        if (--running_ > 0 || blocks_left()) continue;
        jobs_.pop_front();
        if (jobs_.empty()) done_.notify_all();
        else begin_first(1);
    }
}

void Host::wait() {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return jobs_.empty(); });
}

}  // namespace gpu
