// SPDX-License-Identifier: MIT
// launch(on, n, functor) runs functor(i) for all i in [0, n): by the threads of a device (cuda/device.hpp), or by those
// of this processor in its place (host/host.hpp). Launches and copies of one zone run one after the other, in the
// order of the calls, which return at once.
//
// A functor is one text for both: raw views and `HD void operator()(std::int64_t i) const`. Its threads may run in any
// order, also one after the other, so none may wait for another; what they share is changed through atomics.hpp. Every
// functor that is launched stands in the list of kernels/all.hpp.
//
// Host and Device have the same members:
// * allocate(bytes), release(p): memory of the accelerator. release() waits for all started work.
// * allocate_shared(bytes), release_shared(p): memory of the processor that copies may reach at any time.
// * to_device(to, from, bytes): copies in order. `from` must not change before wait() returns.
// * to_host(to, from, bytes): copies back, likewise.
// * copy(to, from, bytes), clear(to, bytes): on the accelerator.
// * start_clock(), stop_clock(): seconds() is the accelerator's time between them, after wait().
// * wait(): sleeps until all is done.
// * bytes(): allocated memory.
// * copied(): bytes that to_device() and to_host() have copied so far.
#pragma once
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "gpu/atomics.hpp"

namespace gpu {

/// Numbers in the memory of an accelerator, or (shared) in memory of the processor that it can reach.
template <class On, class T, bool shared = false>
class Array {
public:
    static_assert(std::is_trivially_copyable_v<T>);
    explicit Array(On& on) : on_(&on) {}
    ~Array() { release(); }
    Array(Array&& other) noexcept : on_(other.on_) { swap(other); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;

    T* data() const { return data_; }
    std::size_t size() const { return size_; }

    /// Changes the size. The old content is lost.
    void resize(std::size_t n) {
        if (n > capacity_) {
            release();  // before there is a larger array: one of the two may not fit
            data_ = allocate(with_slack(n));
            capacity_ = with_slack(n);
        }
        size_ = n;
    }
    /// Changes the size and keeps what was there.
    void grow(std::size_t n) {
        if (n <= capacity_) return static_cast<void>(size_ = n);
        Array larger(*on_);
        larger.resize(n);
        if (size_) on_->copy(larger.data_, data_, size_ * sizeof(T));
        swap(larger);
    }
    void swap(Array& other) {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }

private:
    // Doubling would cost more memory than everything else.
    static std::size_t with_slack(std::size_t n) { return n + n / 32 + 32; }
    T* allocate(std::size_t n) {
        return static_cast<T*>(shared ? on_->allocate_shared(n * sizeof(T)) : on_->allocate(n * sizeof(T)));
    }
    void release() {
        if (data_) shared ? on_->release_shared(data_) : on_->release(data_);
        data_ = nullptr;
        capacity_ = 0;
    }

    On* on_;
    T* data_ = nullptr;
    std::size_t size_ = 0, capacity_ = 0;
};

/// Copies numbers to an accelerator.
template <class On, class T>
void upload(On& on, Array<On, T>& to, const std::vector<T>& from) {
    to.resize(from.size());
    on.to_device(to.data(), from.data(), from.size() * sizeof(T));
    on.wait();  // `from` is the caller's
}

/// Copies numbers from an accelerator, once it has done all that was started.
template <class On, class T>
std::vector<T> download(On& on, const Array<On, T>& from) {
    std::vector<T> to(from.size());
    on.to_host(to.data(), from.data(), from.size() * sizeof(T));
    on.wait();
    return to;
}

}  // namespace gpu
