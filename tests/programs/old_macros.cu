// String literals followed by a macro without a space and register variables, as programs from before C++11 write them,
// and a loop that lanes leave at different times before they shuffle.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("at "__FILE__":%d: %s\n", __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

__device__ __noinline__ int sum_of_warp(int v) {
  for (int by = 16; by > 0; by /= 2) v += __shfl_xor_sync(0xffffffffu, v, by);
  return v;
}

__global__ void leave_early(int* out) {
  register int steps = 0;
#pragma unroll (2)
  for (int i = threadIdx.x; i < 70; i += 7) {
    if (i % 3 == 2) continue;
    if (i > 60) break;
    ++steps;
  }
  out[threadIdx.x] = sum_of_warp(steps);
}

int main() {
  char text[32];
  std::snprintf(text, sizeof text, "%"PRIu64"|%c", (uint64_t)5, '"');
  int out[64], *d_out, bad = std::strcmp(text, "5|\"") != 0;
  CHECK(cudaMalloc(&d_out, sizeof out));
  leave_early<<<1, 64>>>(d_out);
  CHECK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
  for (int warp = 0; warp < 2; ++warp) {
    int want = 0;
    for (int t = warp * 32; t < warp * 32 + 32; ++t)
      for (int i = t; i < 70; i += 7) {
        if (i % 3 == 2) continue;
        if (i > 60) break;
        ++want;
      }
    for (int t = warp * 32; t < warp * 32 + 32; ++t) bad += out[t] != want;
  }
  std::printf("old_macros: %s\n", bad ? "FAILED" : "PASSED");
  return bad != 0;
}
