// SPDX-License-Identifier: MIT
#include "gpu/cuda/cuda.hpp"

namespace gpu::cuda {

const bool built = false;
int device_count() { return 0; }
std::string why_none() { return "this program was built without CUDA"; }
std::string device_name(int) { return ""; }
template <int D>
std::unique_ptr<Zone<D>> make_zone(int, const ZoneSetup&) {
    throw Error(why_none(), "build with -DSTEELYARD_CUDA=ON, or choose another backend");
}
template std::unique_ptr<Zone<2>> make_zone(int, const ZoneSetup&);
template std::unique_ptr<Zone<3>> make_zone(int, const ZoneSetup&);

}  // namespace gpu::cuda
