// Functions that newer toolkits removed and older programs call.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <mutex>
#include <vector>

#include "cuda/edge.h"
#include "cuda/launches/launch.h"
#include "cuda/memory/memory.h"
#include "cuda/notes.h"

namespace warpbeam::cuda {

namespace {

void removed(const char* old_name, const char* new_name) {
  note_once(old_name, [&] { return fmt::format("{} was removed from CUDA; today it is {}", old_name, new_name); });
}

// cudaConfigureCall, cudaSetupArgument, cudaLaunch: a launch in three calls.
thread_local std::vector<std::byte>* arguments = nullptr;

std::array<uint32_t, 3> extents(const dim3& d) { return {d.x, d.y, d.z}; }

// Where the grids of one launch meet. Many launches later its place serves again: by then those grids have ended.
cudaError_t place_to_meet(uint64_t* barrier) {
  constexpr size_t kPlaces = 64, kBytes = 64;
  static std::mutex mutex;
  static uint64_t base = 0;
  static size_t next = 0;
  std::lock_guard lock(mutex);
  vm::DeviceMemory& memory = process().contexts[0]->memory;
  auto places = base ? memory.find(base) : std::nullopt;  // a reset takes it away
  if (!places) {
    auto a = memory.allocate(kPlaces * kBytes, kBytes, vm::MemoryKind::Pinned, "the meeting place of grids on several devices");
    if (!a) return cudaErrorMemoryAllocation;
    base = a->base;
    places = *a;
  }
  for_each_context([&](Context& context) {
    if (!context.memory.find(base)) show(context, *places);
  });
  *barrier = base + kBytes * (next++ % kPlaces);
  std::memset(reinterpret_cast<void*>(*barrier), 0, kBytes);
  return cudaSuccess;
}

// One grid per device, each cooperative; all can meet as a multi_grid_group.
cudaError_t launch_on_devices(const cudaLaunchParams* list, unsigned count, unsigned flags) {
  constexpr unsigned kFlags = cudaCooperativeLaunchMultiDeviceNoPreSync | cudaCooperativeLaunchMultiDeviceNoPostSync;
  return edge([&]() -> cudaError_t {
    if (!list || count == 0 || count > static_cast<unsigned>(device_count()) || (flags & ~kFlags)) return cudaErrorInvalidValue;
    std::vector<StreamRef> streams;
    for (unsigned i = 0; i < count; ++i) {
      StreamRef stream = process().streams.find(list[i].stream);
      if (!stream) return cudaErrorInvalidResourceHandle;  // default streams are refused
      for (const StreamRef& other : streams)
        if (other->context.ordinal == stream->context.ordinal) return cudaErrorInvalidDevice;
      if (extents(list[i].gridDim) != extents(list[0].gridDim) || extents(list[i].blockDim) != extents(list[0].blockDim) ||
          list[i].sharedMem != list[0].sharedMem)
        return cudaErrorInvalidValue;
      streams.push_back(std::move(stream));
    }
    int device = 0;
    cudaError_t status = cudaGetDevice(&device);
    vm::OtherGrids others{.count = count};
    if (status == cudaSuccess && count > 1) status = place_to_meet(&others.barrier);
    for (unsigned i = 0; i < count && status == cudaSuccess; ++i) {
      status = cudaSetDevice(streams[i]->context.ordinal);
      others.rank = i;
      if (status == cudaSuccess)
        status = launch(list[i].func, {list[i].gridDim, list[i].blockDim, list[i].sharedMem, list[i].stream, true, others}, list[i].args);
    }
    cudaSetDevice(device);
    return status;
  });
}

}  // namespace
}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaThreadSynchronize(void) {
  removed("cudaThreadSynchronize", "cudaDeviceSynchronize");
  return cudaDeviceSynchronize();
}

cudaError_t cudaThreadExit(void) {
  removed("cudaThreadExit", "cudaDeviceReset");
  return cudaDeviceReset();
}

cudaError_t cudaThreadSetLimit(cudaLimit limit, size_t value) {
  removed("cudaThreadSetLimit", "cudaDeviceSetLimit");
  return cudaDeviceSetLimit(limit, value);
}

cudaError_t cudaThreadGetLimit(size_t* value, cudaLimit limit) {
  removed("cudaThreadGetLimit", "cudaDeviceGetLimit");
  return cudaDeviceGetLimit(value, limit);
}

cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) {
  removed("cudaThreadSetCacheConfig", "cudaDeviceSetCacheConfig");
  return cudaDeviceSetCacheConfig(config);
}

cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* config) {
  removed("cudaThreadGetCacheConfig", "cudaDeviceGetCacheConfig");
  return cudaDeviceGetCacheConfig(config);
}

// They rounded doubles for devices without double precision; since then there is nothing to do.
cudaError_t cudaSetDoubleForDevice(double*) { return cudaSuccess; }
cudaError_t cudaSetDoubleForHost(double*) { return cudaSuccess; }

cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  removed("cudaConfigureCall", "cudaLaunchKernel");
  return edge([&] {
    ThreadState& thread = this_thread();
    if (thread.configuration_count == ThreadState::kMaxPendingConfigurations) return cudaErrorInvalidConfiguration;
    thread.configurations[thread.configuration_count++] = {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, stream};
    if (arguments) arguments->clear();
    return cudaSuccess;
  });
}

cudaError_t cudaSetupArgument(const void* argument, size_t size, size_t offset) {
  return edge([&] {
    if (this_thread().configuration_count == 0) return cudaErrorMissingConfiguration;
    if (!arguments) arguments = new std::vector<std::byte>;
    if (arguments->size() < offset + size) arguments->resize(offset + size);
    std::memcpy(arguments->data() + offset, argument, size);
    return cudaSuccess;
  });
}

cudaError_t cudaLaunch(const void* handle) {
  return edge([&]() -> cudaError_t {
    ThreadState& thread = this_thread();
    if (thread.configuration_count == 0) return cudaErrorMissingConfiguration;
    const CallConfiguration& top = thread.configurations[--thread.configuration_count];
    Context* context = nullptr;
    if (cudaError_t status = current_context(&context); status != cudaSuccess) return status;
    Function* function = nullptr;
    if (cudaError_t status = find_function(*context, handle, &function); status != cudaSuccess) return status;
    std::vector<void*> pointers;
    for (const auto& param : function->kernel.params) {
      if (!arguments || param.offset + param.size > arguments->size()) return cudaErrorInvalidValue;
      pointers.push_back(arguments->data() + param.offset);
    }
    return launch(handle,
                  {dim3(top.grid[0], top.grid[1], top.grid[2]), dim3(top.block[0], top.block[1], top.block[2]), top.shared, top.stream},
                  pointers.data());
  });
}

cudaError_t cudaLaunchCooperativeKernelMultiDevice(cudaLaunchParams* list, unsigned count, unsigned flags) {
  removed("cudaLaunchCooperativeKernelMultiDevice", "cudaLaunchCooperativeKernel, once for each device");
  return launch_on_devices(list, count, flags);
}

}  // extern "C"
