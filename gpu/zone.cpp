// SPDX-License-Identifier: MIT
#include "gpu/zone.hpp"

#include "gpu/cuda/cuda.hpp"
#include "gpu/host/host.hpp"
#include "gpu/zone_on.hpp"

namespace gpu {

int accelerator_count(Backend backend) { return backend == Backend::host ? 1 : cuda::device_count(); }

bool built_with_cuda() { return cuda::built; }

std::string why_no_cuda() { return cuda::why_none(); }

std::string accelerator_name(Backend backend, int accelerator, int threads) {
    if (backend == Backend::cuda) return cuda::device_name(accelerator);
    return std::to_string(threads) + (threads == 1 ? " thread" : " threads") +
           " of this processor, in the place of a device";
}

template <int D>
std::unique_ptr<Zone<D>> make_zone(Backend backend, int accelerator, int threads, const ZoneSetup& setup,
                                   std::uint64_t shuffle) {
    if (backend == Backend::cuda) return cuda::make_zone<D>(accelerator, setup);
    return std::make_unique<ZoneOn<D, Host>>(std::make_unique<Host>(threads, shuffle, setup.isa), setup);
}
template std::unique_ptr<Zone<2>> make_zone(Backend, int, int, const ZoneSetup&, std::uint64_t);
template std::unique_ptr<Zone<3>> make_zone(Backend, int, int, const ZoneSetup&, std::uint64_t);

}  // namespace gpu
