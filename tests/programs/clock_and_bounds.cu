// Clocks move forward; __launch_bounds__, __noinline__, __forceinline__, #pragma unroll, restrict, ldg and cache hints,
// __builtin_assume, aligned structs, grid-stride loops with few threads, very many small blocks, and special registers.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

__device__ __noinline__ float slow_path(float x) { return x * 3.0f + 1.0f; }
__device__ __forceinline__ float fast_path(float x) { return x * 0.5f; }

__global__ void __launch_bounds__(128) bounded(const float* __restrict__ in, float* __restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __builtin_assume(n > 0);
  if (i < n) {
    float x = __ldg(in + i), sum = 0;
#pragma unroll 4
    for (int k = 0; k < 10; k++) sum += x * k;
#pragma unroll 1
    for (int k = 0; k < 3; k++) sum += k;
    out[i] = (i & 1 ? slow_path(x) : fast_path(x)) + sum;
  }
}

__global__ void cached(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = __ldcg(in + i) + __ldca(in + i) + __ldcs(in + i) + __ldlu(in + i) + __ldcv(in + i);
  int4 four = __ldg((const int4*)in + i / 4);
  v += (&four.x)[i % 4];
  __stcs(out + i, v);
  __stwb(out + n + i, v);
  __stcg(out + 2 * n + i, v);
  __stwt(out + 3 * n + i, v);
}

__global__ void clocks(long long* t, int* ok) {
  long long a = clock64();
  clock_t c = clock();
  unsigned long long g;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g));
  unsigned x = threadIdx.x;
  for (int i = 0; i < 200; i++) x = x * 1664525u + 1013904223u;
  long long b = clock64();
  clock_t d = clock();
  t[threadIdx.x] = b - a;
  ok[threadIdx.x] = b > a && (int)(d - c) > 0 && g > 0 && (x | 1);
}

__global__ void registers(unsigned* out) {
  unsigned lane, warp, nwarp, sm, nsm, grid;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
  asm volatile("mov.u32 %0, %%nwarpid;" : "=r"(nwarp));
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u32 %0, %%nsmid;" : "=r"(nsm));
  asm volatile("mov.u32 %0, %%nctaid.x;" : "=r"(grid));
  out[blockIdx.x * blockDim.x + threadIdx.x] =
      lane == threadIdx.x % 32 && warp < nwarp && sm < nsm && grid == gridDim.x && warpSize == 32;
}

__global__ void tiny_blocks(unsigned* counter) { atomicAdd(counter, blockIdx.x % 3 + 1); }
__global__ void strided(int* data, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) data[i] += i;
}

int main() {
  const int n = 1000;
  std::vector<float> in(n), out(n);
  for (int i = 0; i < n; i++) in[i] = (float)i;
  float *d_in, *d_out;
  CHECK(cudaMalloc(&d_in, n * 4));
  CHECK(cudaMalloc(&d_out, n * 16));
  CHECK(cudaMemcpy(d_in, in.data(), n * 4, cudaMemcpyHostToDevice));
  bounded<<<(n + 127) / 128, 128>>>(d_in, d_out, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out.data(), d_out, n * 4, cudaMemcpyDeviceToHost));
  int bad = 0;
  for (int i = 0; i < n; i++) bad += out[i] != (i & 1 ? i * 3.0f + 1 : i * 0.5f) + i * 45.0f + 3;
  std::vector<int> a(n), b(4 * n);
  for (int i = 0; i < n; i++) a[i] = i * 5;
  CHECK(cudaMemcpy(d_in, a.data(), n * 4, cudaMemcpyHostToDevice));
  cached<<<(n + 63) / 64, 64>>>((int*)d_in, (int*)d_out, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(b.data(), d_out, n * 16, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 4 * n; i++) bad += b[i] != 30 * (i % n);

  long long t[64], *d_t;
  int ok[64], *d_ok;
  CHECK(cudaMalloc(&d_t, sizeof t));
  CHECK(cudaMalloc(&d_ok, sizeof ok));
  clocks<<<1, 64>>>(d_t, d_ok);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(t, d_t, sizeof t, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(ok, d_ok, sizeof ok, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; i++) bad += !ok[i] || t[i] <= 0;
  registers<<<4, 96>>>((unsigned*)d_out);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(b.data(), d_out, 4 * 96 * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 4 * 96; i++) bad += b[i] != 1;
  unsigned counter = 0, want = 0;
  CHECK(cudaMemset(d_ok, 0, 4));
  tiny_blocks<<<20001, 1>>>((unsigned*)d_ok);
  CHECK(cudaMemcpy(&counter, d_ok, 4, cudaMemcpyDeviceToHost));
  for (unsigned i = 0; i < 20001; i++) want += i % 3 + 1;
  bad += counter != want;
  CHECK(cudaMemset(d_in, 0, n * 4));
  strided<<<1, 7>>>((int*)d_in, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(a.data(), d_in, n * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) bad += a[i] != i;
  printf("clock_and_bounds: %d wrong, %s\n", bad, bad ? "FAILED" : "PASSED");
  return bad != 0;
}
