// SPDX-License-Identifier: MIT
#include "gpu/cuda/cuda.hpp"

namespace gpu::cuda {

const bool built = false;
int device_count() { return 0; }
std::string why_none() { return "this program was built without CUDA"; }
std::string device_name(int) { return ""; }
std::unique_ptr<Zone> make_zone(int, const ZoneSetup&) {
    throw Error(why_none(), "build with -DSTEELYARD_CUDA=ON, or choose another backend");
}

}  // namespace gpu::cuda
