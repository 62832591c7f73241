// Plain C++ with the driver API.
#include <cuda.h>

int main() {
  int devices = 0;
  return cuInit(0) != CUDA_SUCCESS || cuDeviceGetCount(&devices) != CUDA_SUCCESS || devices < 1;
}
