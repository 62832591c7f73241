// Forces among bodies: all pairs from global memory, in tiles of shared memory, several bodies a thread.
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

__device__ float3 pull(float4 a, float4 b, float3 force) {
  float dx = b.x - a.x, dy = b.y - a.y, dz = b.z - a.z;
  float square = dx * dx + dy * dy + dz * dz + 0.01f;
  float inverse = rsqrtf(square), s = b.w * inverse * inverse * inverse;
  force.x += dx * s;
  force.y += dy * s;
  force.z += dz * s;
  return force;
}

__global__ void from_global(const float4* bodies, float4* forces, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 own = bodies[i];
  float3 f = make_float3(0, 0, 0);
  for (int j = 0; j < n; ++j) f = pull(own, bodies[j], f);
  forces[i] = make_float4(f.x, f.y, f.z, 0);
}

__global__ void tiled(const float4* bodies, float4* forces, int n) {
  extern __shared__ float4 tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 own = bodies[i];
  float3 f = make_float3(0, 0, 0);
  for (int t = 0; t < n; t += blockDim.x) {
    tile[threadIdx.x] = bodies[t + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < blockDim.x; ++j) f = pull(own, tile[j], f);
    __syncthreads();
  }
  forces[i] = make_float4(f.x, f.y, f.z, 0);
}

__global__ void split(const float4* bodies, float* forces, int n, int part) {
  __shared__ float4 tile[128];
  int i = blockIdx.x * 128 + threadIdx.x, first = blockIdx.y * part;
  float4 own = bodies[i];
  float3 f = make_float3(0, 0, 0);
  for (int t = first; t < first + part; t += 128) {
    tile[threadIdx.x] = bodies[t + threadIdx.x];
    __syncthreads();
#pragma unroll 16
    for (int j = 0; j < 128; ++j) f = pull(own, tile[j], f);
    __syncthreads();
  }
  atomicAdd(&forces[4 * i], f.x);
  atomicAdd(&forces[4 * i + 1], f.y);
  atomicAdd(&forces[4 * i + 2], f.z);
}

__global__ void integrate(float4* bodies, const float4* forces, float dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 b = bodies[i], f = forces[i];
  bodies[i] = make_float4(b.x + f.x * dt, b.y + f.y * dt, b.z + f.z * dt, b.w);
}

int main() {
  const int n = 2048;
  std::vector<float4> host(n);
  for (int i = 0; i < n; ++i) host[i] = make_float4(i % 17 * 0.1f, i % 29 * 0.2f, i % 31 * 0.3f, 1);
  float4 *bodies, *forces;
  CHECK(cudaMalloc(&bodies, n * sizeof(float4)));
  CHECK(cudaMalloc(&forces, n * sizeof(float4)));
  CHECK(cudaMemcpy(bodies, host.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(forces, 0, n * sizeof(float4)));
  THRICE from_global<<<n / 128, 128>>>(bodies, forces, n);
  THRICE tiled<<<n / 128, 128, 128 * sizeof(float4)>>>(bodies, forces, n);
  THRICE tiled<<<n / 32, 32, 32 * sizeof(float4)>>>(bodies, forces, n);
  THRICE split<<<dim3(n / 128, 8), 128>>>(bodies, (float*)forces, n, n / 8);
  THRICE integrate<<<n / 256, 256>>>(bodies, forces, 0.01f, n);
  CHECK(cudaMemcpy(host.data(), bodies, n * sizeof(float4), cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[7].x);
  return 0;
}
