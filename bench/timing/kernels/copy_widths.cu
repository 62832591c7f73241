// Copies memory with accesses of 1 to 16 bytes, and with several loads in flight in each thread.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    cudaError_t error_ = (call);                                                             \
    if (error_ != cudaSuccess) {                                                             \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error_));           \
      return 1;                                                                              \
    }                                                                                        \
  } while (0)
#define THRICE for (int round = 0; round < 3; ++round)

template <class T>
__global__ void copy(const T* in, T* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

template <int Count>
__global__ void copy_many(const int4* in, int4* out, int n) {
  int first = blockIdx.x * blockDim.x * Count + threadIdx.x;
  int4 v[Count];
#pragma unroll
  for (int k = 0; k < Count; ++k)
    if (first + k * blockDim.x < n) v[k] = in[first + k * blockDim.x];
#pragma unroll
  for (int k = 0; k < Count; ++k)
    if (first + k * blockDim.x < n) out[first + k * blockDim.x] = v[k];
}

template <class T>
void run(char* in, char* out, int bytes) {
  const int n = bytes / sizeof(T);
  THRICE copy<T><<<(n + 255) / 256, 256>>>((T*)in, (T*)out, n);
}

int main() {
  const int bytes = 32 << 20;
  char *in, *out;
  CHECK(cudaMalloc(&in, bytes));
  CHECK(cudaMalloc(&out, bytes));
  CHECK(cudaMemset(in, 7, bytes));
  run<char>(in, out, 2 << 20);
  run<short>(in, out, 4 << 20);
  run<int>(in, out, 8 << 20);
  run<int2>(in, out, 16 << 20);
  run<int4>(in, out, bytes);
  const int n = bytes / 16;
  THRICE copy_many<2><<<n / 256 / 2, 256>>>((int4*)in, (int4*)out, n);
  THRICE copy_many<4><<<n / 256 / 4, 256>>>((int4*)in, (int4*)out, n);
  THRICE copy_many<8><<<n / 128 / 8, 128>>>((int4*)in, (int4*)out, n);
  CHECK(cudaDeviceSynchronize());
  char last;
  CHECK(cudaMemcpy(&last, out + bytes - 1, 1, cudaMemcpyDeviceToHost));
  std::printf("%d\n", last);
  return 0;
}
