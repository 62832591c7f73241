// Atomics by the number of addresses that threads meet at: one, 32, 1024, many; results used or not; floats, maxima, locks.
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

__global__ void add_to(unsigned* data, unsigned mask) { atomicAdd(&data[(blockIdx.x * blockDim.x + threadIdx.x) & mask], 1u); }

__global__ void add_scattered(unsigned* data, unsigned mask) {
  atomicAdd(&data[(blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u & mask], 1u);
}

__global__ void tickets(unsigned* counter, unsigned* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(counter, 1u);
}

__global__ void add_floats(float* data, unsigned mask) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&data[i * 40503u & mask], i * 0.5f);
}

__global__ void maxima(int* data, unsigned mask) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicMax(&data[i & mask], int(i * 2654435761u >> 1));
}

__global__ void float_maximum_by_cas(unsigned* data, const float* in) {
  float v = in[blockIdx.x * blockDim.x + threadIdx.x];
  unsigned* to = &data[threadIdx.x % 64];
  unsigned old = *to;
  while (__uint_as_float(old) < v) {
    unsigned seen = atomicCAS(to, old, __float_as_uint(v));
    if (seen == old) break;
    old = seen;
  }
}

__global__ void aggregated(unsigned* data, int rounds) {
  unsigned sum = 0;
  for (int i = 0; i < rounds; ++i) sum += __popc(i ^ threadIdx.x);
  sum = __reduce_add_sync(0xffffffff, sum);
  if (threadIdx.x % 32 == 0) atomicAdd(data, sum);
}

__global__ void shared_counters(unsigned* data, int distinct) {
  __shared__ unsigned local[1024];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = 0; i < 16; ++i) atomicAdd(&local[(threadIdx.x + i * 7) % distinct], 1u);
  __syncthreads();
  data[blockIdx.x * blockDim.x + threadIdx.x] = local[threadIdx.x];
}

int main() {
  const int n = 1 << 18;
  unsigned *data, *out;
  CHECK(cudaMalloc(&data, 1 << 24));
  CHECK(cudaMalloc(&out, n * 4));
  CHECK(cudaMemset(data, 0, 1 << 24));
  CHECK(cudaMemset(out, 0, n * 4));
  for (unsigned mask : {0u, 31u, 1023u, (1u << 20) - 1}) THRICE add_to<<<n / 256, 256>>>(data, mask);
  for (unsigned mask : {255u, 65535u, (1u << 22) - 1}) THRICE add_scattered<<<n / 256, 256>>>(data, mask);
  THRICE tickets<<<n / 4 / 256, 256>>>(data, out);
  for (unsigned mask : {15u, 16383u}) THRICE add_floats<<<n / 256, 256>>>((float*)data, mask);
  THRICE maxima<<<n / 128, 128>>>((int*)data, 4095);
  THRICE float_maximum_by_cas<<<64, 256>>>(data, (float*)out);
  THRICE aggregated<<<528, 256>>>(data, 20);
  for (int distinct : {1, 32, 1024}) THRICE shared_counters<<<132, 1024>>>(out, distinct);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
