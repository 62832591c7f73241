// Plain C++ with CUDA's headers.
#include <cuda_runtime_api.h>

#include <vector>

int checked(const std::vector<float>& values, float factor) {
  int devices = 0, wrong = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 1) return -1;
  for (std::size_t i = 0; i < values.size(); ++i) wrong += values[i] != factor * i;
  return wrong;
}
