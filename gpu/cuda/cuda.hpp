// SPDX-License-Identifier: MIT
// Zones on CUDA devices. zone.cu implements this where the program is built with CUDA, none.cpp elsewhere.
#pragma once
#include <memory>
#include <string>

#include "gpu/zone.hpp"

namespace gpu::cuda {

extern const bool built;
/// Visible devices; 0 where there are none or no driver.
int device_count();
/// Why there is none, in a line; "" where there is one.
std::string why_none();
std::string device_name(int device);
template <int D>
std::unique_ptr<Zone<D>> make_zone(int device, const ZoneSetup& setup);

}  // namespace gpu::cuda
