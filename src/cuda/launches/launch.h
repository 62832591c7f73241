// Launching kernels.
#pragma once
#include <optional>

#include "cuda/modules/modules.h"
#include "cuda/streams/ops.h"

namespace warpbeam::cuda {

struct LaunchRequest {
  dim3 grid, block;
  size_t shared = 0;
  cudaStream_t stream = nullptr;
  bool cooperative = false;
  vm::OtherGrids others{};  // of a cooperative launch on several devices
  dim3 cluster{0, 0, 0};  // zeros: as the kernel says
  std::optional<int> priority = std::nullopt;  // nothing: the stream's
};

// Checks the configuration and makes the Work of it; `arguments` points at one value per parameter.
cudaError_t prepare_launch(Function& function, const LaunchRequest& request, void** arguments, LaunchWork* work);
cudaError_t launch(const void* handle, const LaunchRequest& request, void** arguments);

}  // namespace warpbeam::cuda
