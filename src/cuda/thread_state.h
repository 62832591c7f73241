// What the runtime remembers for each host thread. Trivially destructible on purpose: destructors of a program's global
// objects call the runtime after the main thread's thread_local objects are gone.
#pragma once
#include <array>
#include <cstddef>

#include "cuda/api.h"
#include "observe/tool.h"

namespace warpbeam::cuda {

struct CallConfiguration {  // between <<<…>>> and the launch stub
  unsigned grid[3], block[3];
  size_t shared;
  cudaStream_t stream;
};

class Context;

// What a copy or a fill reads or writes, and is not memory to the end; width 0: nothing.
struct BadBytes {
  observe::Bytes bytes;
  bool writes;
  const void* destination;
  const vm::DeviceMemory* memory;
};

struct ThreadState {
  static constexpr int kMaxDevices = 64;
  static constexpr int kMaxContexts = 128;  // deep: pushes without pops
  static constexpr int kMaxPendingConfigurations = 16;  // arguments of a launch may contain launches

  cudaError_t last_error = cudaSuccess;
  int device = -1;  // of cudaSetDevice; -1: none chosen yet
  // The contexts that cuCtxPushCurrent stacked; the top one is current for both APIs. The ids tell whether a context is
  // still the one that was pushed: its place may have been given to another.
  struct Pushed {
    Context* context;
    unsigned long long id;
  };
  int context_count = 0;
  bool in_host_function = false;
  bool in_driver_call = false;  // what runs now was called through the driver API
  const void* bad_free = nullptr;  // what the call that is about to fail was to free
  std::array<char, 256> bad_launch{};  // what is wrong with the configuration of a launch
  BadBytes bad_bytes;              // what it was to copy or to fill
  unsigned long long id = 0;  // names the thread's default streams
  int valid_device_count = 0;  // 0: all, in order
  int configuration_count = 0;
  std::array<int, kMaxDevices> valid_devices{};
  std::array<CallConfiguration, kMaxPendingConfigurations> configurations{};
  std::array<Pushed, kMaxContexts> contexts{};
  cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
};

ThreadState& this_thread();

}  // namespace warpbeam::cuda
