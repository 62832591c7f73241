// Memory from alloca: of a size each thread chooses, in loops, in recursion, and too much of it.
#include <cstdio>
#include <cstdlib>

__device__ int sum_of(int n, int seed) {
  int* values = static_cast<int*>(__builtin_alloca(n * sizeof(int)));
  for (int i = 0; i < n; ++i) values[i] = seed + i;
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += values[(i * 5 + 3) % n];
  return sum;
}

__device__ __noinline__ int nested(int depth, int n) {
  volatile int* mine = static_cast<volatile int*>(__builtin_alloca((depth + 1) * sizeof(int)));
  for (int i = 0; i <= depth; ++i) mine[i] = n + i;
  const int below = depth > 0 ? nested(depth - 1, n * 2) : 0;
  int sum = below;
  for (int i = 0; i <= depth; ++i) sum += mine[i];  // still ours after the calls
  return sum;
}

__global__ void sizes_differ(int* out) {
  const int t = threadIdx.x;
  int total = 0;
  for (int round = 0; round < 3; ++round) total += sum_of(1 + (t + round) % 13 * 2 + 1, t);
  out[t] = total;
}

__global__ void recursion(int* out) {
  const int t = threadIdx.x;
  out[t] = t % 3 == 0 ? -1 : nested(t % 5, t) + nested(2, 7);
}

__global__ void too_much(int* out, int n) {
  volatile char* p = static_cast<volatile char*>(__builtin_alloca(n));
  p[0] = 1;
  out[0] = p[0];
}

int expected_sum(int n, int seed) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += seed + (i * 5 + 3) % n;
  return sum;
}
int expected_nested(int depth, int n) {
  int sum = depth > 0 ? expected_nested(depth - 1, n * 2) : 0;
  for (int i = 0; i <= depth; ++i) sum += n + i;
  return sum;
}

int main() {
  int* d;
  cudaMalloc(&d, 64 * sizeof(int));
  int h[64];
  sizes_differ<<<1, 64>>>(d);
  if (cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost) != cudaSuccess) return std::printf("sizes_differ failed\n"), 1;
  for (int t = 0; t < 64; ++t) {
    int want = 0;
    for (int round = 0; round < 3; ++round) want += expected_sum(1 + (t + round) % 13 * 2 + 1, t);
    if (h[t] != want) return std::printf("thread %d: %d instead of %d\n", t, h[t], want), 1;
  }
  cudaDeviceSetLimit(cudaLimitStackSize, 4096);
  recursion<<<1, 64>>>(d);
  if (cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost) != cudaSuccess) return std::printf("recursion failed\n"), 1;
  for (int t = 0; t < 64; ++t) {
    const int want = t % 3 == 0 ? -1 : expected_nested(t % 5, t) + expected_nested(2, 7);
    if (h[t] != want) return std::printf("thread %d: %d instead of %d\n", t, h[t], want), 1;
  }
  too_much<<<1, 1>>>(d, 1 << 24);
  const cudaError_t e = cudaDeviceSynchronize();
  if (e == cudaSuccess) return std::printf("16 MiB of stack were given\n"), 1;
  std::printf("alloca: sizes per thread, recursion and overflow (%s) as expected\n", cudaGetErrorName(e));
}
