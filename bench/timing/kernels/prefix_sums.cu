// Prefix sums of four million integers in three steps, by different ways within a block; compaction by what they give.
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

__global__ void hillis_steele(const int* in, int* out, int* totals) {
  __shared__ int buffer[2][512];
  int t = threadIdx.x, i = blockIdx.x * 512 + t, from = 0, to = 1;
  buffer[0][t] = in[i];
  __syncthreads();
  for (int o = 1; o < 512; o *= 2) {
    buffer[to][t] = t >= o ? buffer[from][t] + buffer[from][t - o] : buffer[from][t];
    __syncthreads();
    from = to;
    to = 1 - to;
  }
  out[i] = buffer[from][t];
  if (t == 511) totals[blockIdx.x] = buffer[from][t];
}

__global__ void work_efficient(const int* in, int* out, int* totals) {
  __shared__ int s[1024];
  int t = threadIdx.x, base = blockIdx.x * 1024;
  s[2 * t] = in[base + 2 * t];
  s[2 * t + 1] = in[base + 2 * t + 1];
  int offset = 1;
  for (int d = 512; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) {
    totals[blockIdx.x] = s[1023];
    s[1023] = 0;
  }
  for (int d = 1; d < 1024; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1, v = s[a];
      s[a] = s[b];
      s[b] += v;
    }
  }
  __syncthreads();
  out[base + 2 * t] = s[2 * t];
  out[base + 2 * t + 1] = s[2 * t + 1];
}

__global__ void four_a_thread(const int4* in, int4* out, int* totals) {
  __shared__ int sums[8];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, i = blockIdx.x * 256 + threadIdx.x;
  int4 v = in[i];
  v.y += v.x;
  v.z += v.y;
  v.w += v.z;
  int sum = v.w;
  for (int o = 1; o < 32; o *= 2) {
    int t = __shfl_up_sync(0xffffffff, sum, o);
    if (lane >= o) sum += t;
  }
  if (lane == 31) sums[warp] = sum;
  __syncthreads();
  int before = sum - v.w;
  for (int w = 0; w < warp; w++) before += sums[w];
  out[i] = make_int4(before, before + v.x, before + v.y, before + v.z);
  if (threadIdx.x == 255) totals[blockIdx.x] = before + v.w;
}

__global__ void add_totals(int* out, const int* totals) { out[blockIdx.x * blockDim.x + threadIdx.x] += totals[blockIdx.x]; }

__global__ void compact(const int* in, const int* places, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && in[i] != 0) out[places[i]] = i;
}

int main() {
  const int n = 4 << 20;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i * 7LL % 13 < 5;
  int *in, *out, *totals, *places;
  CHECK(cudaMalloc(&in, n * 4));
  CHECK(cudaMalloc(&out, n * 4));
  CHECK(cudaMalloc(&places, n * 4));
  CHECK(cudaMalloc(&totals, 16384 * 4));
  CHECK(cudaMemset(totals, 0, 16384 * 4));
  CHECK(cudaMemcpy(in, host.data(), n * 4, cudaMemcpyHostToDevice));
  for (int i = 0, sum = 0; i < n; ++i) {
    int v = host[i];
    host[i] = sum;
    sum += v;
  }
  CHECK(cudaMemcpy(places, host.data(), n * 4, cudaMemcpyHostToDevice));
  THRICE hillis_steele<<<n / 512, 512>>>(in, out, totals);
  THRICE work_efficient<<<n / 1024, 512>>>(in, out, totals);
  THRICE four_a_thread<<<n / 1024, 256>>>(reinterpret_cast<int4*>(in), reinterpret_cast<int4*>(out), totals);
  THRICE add_totals<<<n / 512, 512>>>(out, totals);
  THRICE compact<<<n / 256, 256>>>(in, places, out, n);
  CHECK(cudaMemcpy(host.data(), out, 4096, cudaMemcpyDeviceToHost));
  std::printf("%d\n", host[77]);
  return 0;
}
