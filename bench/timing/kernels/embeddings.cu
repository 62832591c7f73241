// Rows gathered from a table and gradients added to it; dropout with a generator by hash; GELU and bias; an optimizer's step.
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

__global__ void gather(const float* table, const int* ids, float* out, int width) {
  const float* row = table + size_t(ids[blockIdx.x]) * width;
  for (int i = threadIdx.x; i < width; i += blockDim.x) out[size_t(blockIdx.x) * width + i] = row[i];
}

__global__ void scatter_add(float* table, const int* ids, const float* gradient, int width) {
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    atomicAdd(&table[size_t(ids[blockIdx.x]) * width + i], gradient[size_t(blockIdx.x) * width + i]);
}

__device__ unsigned hash(unsigned a, unsigned b) {
  unsigned h = a * 0x9e3779b9u ^ b;
  for (int i = 0; i < 3; ++i) {
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    h ^= h >> 12;
    h *= 0x297a2d39u;
  }
  return h ^ h >> 15;
}

__global__ void dropout(const float4* in, float4* out, unsigned seed, float keep, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = in[i];
  float scale = 1.0f / keep;
  unsigned limit = unsigned(keep * 4294967295.0f);
  v.x = hash(seed, 4 * i) < limit ? v.x * scale : 0;
  v.y = hash(seed, 4 * i + 1) < limit ? v.y * scale : 0;
  v.z = hash(seed, 4 * i + 2) < limit ? v.z * scale : 0;
  v.w = hash(seed, 4 * i + 3) < limit ? v.w * scale : 0;
  out[i] = v;
}

__global__ void bias_gelu(float* x, const float* bias, int n, int width) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float v = x[i] + bias[i % width];
    x[i] = 0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
  }
}

__global__ void adam(float* weight, const float* gradient, float* first, float* second, float rate, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float g = gradient[i], m = first[i] = 0.9f * first[i] + 0.1f * g, v = second[i] = 0.999f * second[i] + 0.001f * g * g;
  weight[i] -= rate * m / (sqrtf(v) + 1e-8f);
}

int main() {
  const int rows = 20000, width = 128, count = 8192;
  std::vector<int> ids(count);
  for (int i = 0; i < count; ++i) ids[i] = int(i * 2654435761u % rows);
  float *table, *out;
  int* d_ids;
  CHECK(cudaMalloc(&table, size_t(rows) * width * 4));
  CHECK(cudaMalloc(&out, size_t(count) * width * 4));
  CHECK(cudaMalloc(&d_ids, count * 4));
  CHECK(cudaMemset(table, 0, size_t(rows) * width * 4));
  CHECK(cudaMemcpy(d_ids, ids.data(), count * 4, cudaMemcpyHostToDevice));
  const int n = count * width;
  THRICE gather<<<count, 128>>>(table, d_ids, out, width);
  THRICE scatter_add<<<count, 64>>>(table, d_ids, out, width);
  THRICE dropout<<<n / 4 / 256, 256>>>((float4*)out, (float4*)out, 17, 0.9f, n / 4);
  THRICE bias_gelu<<<528, 256>>>(out, table, n, width);
  THRICE adam<<<(1 << 19) / 256, 256>>>(table, out, table + (1 << 19), table + (1 << 20), 0.001f, 1 << 19);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
