// What the runtime remembers for each host thread. Trivially destructible on purpose: destructors of a program's global
// objects call the runtime after the main thread's thread_local objects are gone.
#pragma once
#include <array>
#include <cstddef>

#include "cuda/api.h"

namespace warpbeam::cuda {

struct CallConfiguration {  // between <<<…>>> and the launch stub
  unsigned grid[3], block[3];
  size_t shared;
  cudaStream_t stream;
};

struct ThreadState {
  static constexpr int kMaxDevices = 64;
  static constexpr int kMaxPendingConfigurations = 16;  // arguments of a launch may contain launches

  cudaError_t last_error = cudaSuccess;
  int device = -1;  // -1: none chosen yet
  bool in_host_function = false;
  unsigned long long id = 0;  // names the thread's default streams
  int valid_device_count = 0;  // 0: all, in order
  int configuration_count = 0;
  std::array<int, kMaxDevices> valid_devices{};
  std::array<CallConfiguration, kMaxPendingConfigurations> configurations{};
  cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
};

ThreadState& this_thread();

}  // namespace warpbeam::cuda
