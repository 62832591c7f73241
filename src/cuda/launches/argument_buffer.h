// A kernel's arguments as one buffer, which `extra` of a launch or of a graph's node describes.
#pragma once
#include <vector>

#include "cuda/modules/modules.h"

namespace warpbeam::cuda {

struct ArgumentBuffer {
  std::vector<char> bytes;
  std::vector<void*> each;  // by parameter
};

// `extra` is name, value, name, value, …, CU_LAUNCH_PARAM_END. A buffer that ends early leaves the rest open, as devices do.
cudaError_t read_arguments(const Function& function, void** extra, ArgumentBuffer* arguments);

}  // namespace warpbeam::cuda
