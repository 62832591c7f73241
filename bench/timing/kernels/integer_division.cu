// Divisions and remainders by variables and constants, in 32 and 64 bits; digits; modular powers; big products.
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

__global__ void by_variable(const unsigned* in, unsigned* out, unsigned d, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] / d + in[i] % (d + i % 3);
}

__global__ void by_constant(const unsigned* in, unsigned* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] / 10 + in[i] % 7 + in[i] / 641;
}

__global__ void wide(const unsigned long long* in, unsigned long long* out, unsigned long long d, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] / (d + i) + in[i] % d;
}

__global__ void index_arithmetic(const float* in, float* out, int nx, int ny, int nz) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nx * ny * nz) return;
  int x = i % nx, y = i / nx % ny, z = i / (nx * ny);
  out[(x * ny + y) * nz + z] = in[i];
}

__global__ void digits(const unsigned* in, unsigned* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = in[i], sum = 0;
  while (v) {
    sum += v % 10;
    v /= 10;
  }
  out[i] = sum;
}

__global__ void modular_power(unsigned* out, unsigned m, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long base = i + 2, result = 1;
  for (unsigned e = 65537; e; e >>= 1) {
    if (e & 1) result = result * base % m;
    base = base * base % m;
  }
  out[i] = unsigned(result);
}

int main() {
  const int n = 1 << 19;
  std::vector<unsigned> host(2 * n);
  for (size_t i = 0; i < host.size(); ++i) host[i] = unsigned(i) * 2654435761u;
  unsigned *in, *out;
  CHECK(cudaMalloc(&in, 2 * n * 4));
  CHECK(cudaMalloc(&out, 2 * n * 4));
  CHECK(cudaMemcpy(in, host.data(), 2 * n * 4, cudaMemcpyHostToDevice));
  THRICE by_variable<<<n / 256, 256>>>(in, out, 17, n);
  THRICE by_constant<<<n / 256, 256>>>(in, out, n);
  THRICE wide<<<(1 << 17) / 256, 256>>>((unsigned long long*)in, (unsigned long long*)out, 1000003, 1 << 17);
  THRICE index_arithmetic<<<n / 256, 256>>>((float*)in, (float*)out, 128, 64, 64);
  THRICE digits<<<(1 << 17) / 128, 128>>>(in, out, 1 << 17);
  THRICE modular_power<<<64, 128>>>(out, 1000000007u, 8192);
  CHECK(cudaMemcpy(host.data(), out, 4, cudaMemcpyDeviceToHost));
  std::printf("%u\n", host[0]);
  return 0;
}
