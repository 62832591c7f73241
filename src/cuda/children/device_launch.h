// Grids and other work that device code puts into device-side streams: the rules; vm/child_grids.h has the mechanism.
#pragma once
#include "cuda/launches/launch.h"
#include "vm/child_grids.h"

namespace warpbeam::cuda {

// Device-side handles that name a stream without being made.
enum class NamedStream : uint64_t { Default = 0, Legacy = 1, PerThread = 2, TailLaunch = 3, FireAndForget = 4 };

// Too many grids are pending, but the thread has launched some of them in this turn and they can begin: on a device they
// would have by now, so the call is repeated after the block has given way. A limit that the program has set is exact.
bool wait_for_room(vm::Block& block, unsigned thread);

cudaError_t launch_from_device(vm::Block& block, const vm::Kernel& kernel, const vm::LaunchConfiguration& configuration,
                               vm::Arguments params);
// Device memory that a kernel writes launch parameters into. Without a kernel it is named at the launch.
cudaError_t parameter_buffer(vm::Block& block, const vm::Kernel* kernel, const vm::LaunchConfiguration& configuration, uint64_t bytes,
                             uint64_t* buffer);
cudaError_t launch_from_buffer(vm::Block& block, const vm::Kernel* kernel, const vm::LaunchConfiguration* configuration, uint64_t buffer,
                               uint64_t stream);
cudaError_t queue_device_work(vm::Block& block, std::function<void()> work, uint64_t stream);

uint64_t make_device_stream(vm::Block& block);
bool forget_device_stream(vm::Block& block, uint64_t handle);
uint64_t make_device_event(vm::Block& block);
bool forget_device_event(vm::Block& block, uint64_t handle);
cudaError_t record_device_event(vm::Block& block, uint64_t event, uint64_t stream);
cudaError_t wait_device_event(vm::Block& block, uint64_t stream, uint64_t event);

// The kernel at a code address as a function of the context; null if there is none.
Function* device_function(const vm::Launch& launch, uint64_t address);
// True if every row of the region lies in memory that kernels of the context can touch.
bool in_device_memory(Context& context, const Region& region, size_t width, size_t height, size_t depth);
// A string of the runtime in device memory.
uint64_t device_string(Context& context, const char* text);
// How deep a grid may be that waits for its children.
unsigned sync_depth(Context& context);

}  // namespace warpbeam::cuda
