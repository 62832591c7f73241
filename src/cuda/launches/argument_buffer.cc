#include "cuda/launches/argument_buffer.h"

#include <cuda.h>

#include <algorithm>

namespace warpbeam::cuda {

cudaError_t read_arguments(const Function& function, void** extra, ArgumentBuffer* arguments) {
  const char* buffer = nullptr;
  size_t size = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = static_cast<const char*>(extra[1]);
    else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1]) size = *static_cast<const size_t*>(extra[1]);
    else return cudaErrorInvalidValue;
  }
  const auto& parameters = function.kernel.params;
  size_t all = 0;
  for (const auto& parameter : parameters) all = std::max<size_t>(all, parameter.offset + parameter.size);
  if (all && !buffer) return cudaErrorInvalidValue;
  if (size > all) return cudaErrorLaunchOutOfResources;
  arguments->bytes.assign(buffer, buffer + size);
  arguments->bytes.resize(all);
  for (const auto& parameter : parameters) arguments->each.push_back(arguments->bytes.data() + parameter.offset);
  return cudaSuccess;
}

}  // namespace warpbeam::cuda
