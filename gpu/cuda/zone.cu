// SPDX-License-Identifier: MIT

#include "gpu/cuda/cuda.hpp"
#include "gpu/cuda/device.hpp"
#include "gpu/zone_on.hpp"

namespace gpu::cuda {
namespace {

cudaError_t count_devices(int& n) {
    n = 0;
    const cudaError_t code = cudaGetDeviceCount(&n);
    cudaGetLastError();  // a machine without a device is no failure of what follows
    return code;
}

}  // namespace

const bool built = true;

int device_count() {
    int n = 0;
    return count_devices(n) == cudaSuccess ? n : 0;
}

std::string why_none() {
    int n = 0;
    const cudaError_t code = count_devices(n);
    if (code == cudaSuccess) return n > 0 ? "" : "the CUDA driver shows no device";
    return std::string("CUDA says: ") + cudaGetErrorString(code);
}

std::string device_name(int device) {
    cudaDeviceProp properties;
    STEELYARD_CHECK_CUDA(cudaGetDeviceProperties(&properties, device));
    return std::string(properties.name) + ", " + std::to_string(properties.totalGlobalMem >> 30) + " GiB";
}

template <int D>
std::unique_ptr<Zone<D>> make_zone(int device, const ZoneSetup& setup) {
    if (const std::string why = why_none(); !why.empty())
        throw Error(why, "choose another accelerator.backend, or a machine with a device");
    return std::make_unique<ZoneOn<D, Device>>(std::make_unique<Device>(device), setup);
}
template std::unique_ptr<Zone<2>> make_zone(int, const ZoneSetup&);
template std::unique_ptr<Zone<3>> make_zone(int, const ZoneSetup&);

}  // namespace gpu::cuda
