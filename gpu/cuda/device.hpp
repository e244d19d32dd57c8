// SPDX-License-Identifier: MIT
// A CUDA device, or a part of its time: one stream of launches and copies. See launch.hpp. Only zone.cu includes it.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "gpu/zone.hpp"

namespace gpu {

/// Throws Error if a CUDA function has failed. what: its call.
inline void check_cuda(cudaError_t code, const char* what, const char* file, int line) {
    if (code == cudaSuccess) return;
    throw Error(std::string(file) + ":" + std::to_string(line) + ": " + what + ": " + cudaGetErrorString(code),
                "run on another accelerator, or with accelerator.backend none");
}
#define STEELYARD_CHECK_CUDA(call) ::gpu::check_cuda((call), #call, __FILE__, __LINE__)

constexpr unsigned threads_a_block = 128;

template <class F>
__global__ void __launch_bounds__(threads_a_block) run(const F functor, std::int64_t n) {
    const std::int64_t i = std::int64_t{blockIdx.x} * threads_a_block + threadIdx.x;
    if (i < n) functor(i);
}

class Device {
public:
    explicit Device(int number) : number_(number) {
        STEELYARD_CHECK_CUDA(cudaInitDevice(number, cudaDeviceScheduleBlockingSync, cudaInitDeviceFlagsAreValid));
        use();
        STEELYARD_CHECK_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        for (cudaEvent_t* event : {&started_, &stopped_})
            STEELYARD_CHECK_CUDA(cudaEventCreateWithFlags(event, cudaEventBlockingSync));
        STEELYARD_CHECK_CUDA(cudaEventCreateWithFlags(&done_, cudaEventBlockingSync | cudaEventDisableTiming));
    }
    // A device that has failed can't free; the error has been told where it happened.
    ~Device() {
        cudaSetDevice(number_);
        for (cudaEvent_t event : {started_, stopped_, done_}) cudaEventDestroy(event);
        cudaStreamDestroy(stream_);
    }
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;

    void* allocate(std::size_t bytes) {
        use();
        void* p = nullptr;
        if (const cudaError_t code = cudaMalloc(&p, bytes); code == cudaErrorMemoryAllocation) {
            cudaGetLastError();  // not an error of what follows
            std::size_t free = 0, all = 0;
            STEELYARD_CHECK_CUDA(cudaMemGetInfo(&free, &all));
            throw Error("the zone does not fit into the accelerator's memory: " + std::to_string(bytes) +
                            " more bytes are wanted and " + std::to_string(free) + " of " + std::to_string(all) +
                            " are free",
                        "give the accelerator a smaller share, or use more accelerators");
        } else {
            check_cuda(code, "cudaMalloc", __FILE__, __LINE__);
        }
        sizes_[p] = bytes;
        bytes_ += static_cast<std::int64_t>(bytes);
        return p;
    }
    void release(void* p) {
        cudaSetDevice(number_);
        cudaStreamSynchronize(stream_);
        cudaFree(p);
        bytes_ -= static_cast<std::int64_t>(sizes_.at(p));
        sizes_.erase(p);
    }
    void* allocate_shared(std::size_t bytes) {
        use();
        void* p = nullptr;
        STEELYARD_CHECK_CUDA(cudaHostAlloc(&p, bytes, cudaHostAllocDefault));
        return p;
    }
    void release_shared(void* p) {
        cudaSetDevice(number_);
        cudaStreamSynchronize(stream_);
        cudaFreeHost(p);
    }
    std::int64_t bytes() const { return bytes_; }
    std::int64_t copied() const { return copied_; }

    void to_device(void* to, const void* from, std::size_t bytes) { cross(to, from, bytes, cudaMemcpyHostToDevice); }
    void to_host(void* to, const void* from, std::size_t bytes) { cross(to, from, bytes, cudaMemcpyDeviceToHost); }
    void copy(void* to, const void* from, std::size_t bytes) { copy(to, from, bytes, cudaMemcpyDeviceToDevice); }
    void clear(void* to, std::size_t bytes) {
        if (bytes == 0) return;
        use();
        STEELYARD_CHECK_CUDA(cudaMemsetAsync(to, 0, bytes, stream_));
    }
    void start_clock() { record(started_); }
    void stop_clock() { record(stopped_); }
    double seconds() const {
        float milliseconds = 0;
        STEELYARD_CHECK_CUDA(cudaEventElapsedTime(&milliseconds, started_, stopped_));
        return 1e-3 * milliseconds;
    }
    /// Sleeps: an event that is waited for by blocking does not spin.
    void wait() {
        record(done_);
        STEELYARD_CHECK_CUDA(cudaEventSynchronize(done_));
    }

    template <class F>
    void launch(std::int64_t n, const F& functor) {
        use();
        const auto blocks = static_cast<unsigned>((n + threads_a_block - 1) / threads_a_block);
        run<<<blocks, threads_a_block, 0, stream_>>>(functor, n);
        STEELYARD_CHECK_CUDA(cudaGetLastError());
    }

private:
    // The caller's thread may have used another device.
    void use() const { STEELYARD_CHECK_CUDA(cudaSetDevice(number_)); }
    void record(cudaEvent_t event) {
        use();
        STEELYARD_CHECK_CUDA(cudaEventRecord(event, stream_));
    }
    void cross(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
        copied_ += static_cast<std::int64_t>(bytes);
        copy(to, from, bytes, kind);
    }
    void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
        if (bytes == 0) return;
        use();
        STEELYARD_CHECK_CUDA(cudaMemcpyAsync(to, from, bytes, kind, stream_));
    }

    int number_;
    cudaStream_t stream_ = nullptr;
    cudaEvent_t started_ = nullptr, stopped_ = nullptr, done_ = nullptr;
    std::int64_t bytes_ = 0, copied_ = 0;
    std::unordered_map<void*, std::size_t> sizes_;
};

template <class F>
void launch(Device& on, std::int64_t n, const F& functor) {
    if (n > 0) on.launch(n, functor);
}

}  // namespace gpu
