// Clusters and launch bounds on one kernel, in every order: both count, whichever comes first.
#include <cooperative_groups.h>
#include <cstdio>

namespace cg = cooperative_groups;

template <int A, int B>
struct Shape {
  static constexpr int threads = A * B;
};

__device__ void say(int* out) {
  if (threadIdx.x == 0) out[blockIdx.x] = cg::this_cluster().num_blocks();
}

__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(64) cluster_first(int* out) { say(out); }
__global__ void __launch_bounds__(64) __cluster_dims__(2, 1, 1) bounds_first(int* out) { say(out); }
__launch_bounds__(64, 2) __cluster_dims__(2) __global__ void before_all(int* out) { say(out); }
__cluster_dims__(2, 1) /* ( */ __global__ void
__launch_bounds__(
    64,
    1) apart(int* out) { say(out); }
template <int N>
__global__ void __launch_bounds__(Shape<N, 32>::threads) __cluster_dims__(N, 1, 1) from_template(int* out) {
  say(out);
}
__global__ void __cluster_dims__(2) alone(int* out) { say(out); }
__global__ void __launch_bounds__(64) only_bounds(int* out) { say(out); }

bool check(const char* name, void (*kernel)(int*), int cluster, bool bounded) {
  int* out;
  cudaMallocManaged(&out, 64);
  out[0] = 0;
  kernel<<<4, 64>>>(out);
  cudaError_t run = cudaDeviceSynchronize();
  cudaFuncAttributes facts;
  cudaFuncGetAttributes(&facts, kernel);
  kernel<<<4, 128>>>(out);
  cudaError_t large = cudaGetLastError();
  cudaDeviceSynchronize();
  bool right = run == cudaSuccess && out[0] == cluster && (large == cudaErrorInvalidValue) == bounded &&
               (facts.maxThreadsPerBlock == 64) == bounded;
  if (!right) printf("%s: %s, cluster %d, %d threads at most, more give %s\n", name, cudaGetErrorName(run), out[0], facts.maxThreadsPerBlock, cudaGetErrorName(large));
  cudaFree(out);
  return right;
}

int main() {
  bool right = true;
#define CHECK(kernel, cluster, bounded) right &= check(#kernel, kernel, cluster, bounded)
  CHECK(cluster_first, 2, true);
  CHECK(bounds_first, 2, true);
  CHECK(before_all, 2, true);
  CHECK(apart, 2, true);
  CHECK(from_template<2>, 2, true);
  CHECK(alone, 2, false);
  CHECK(only_bounds, 1, true);
  puts(right ? "PASSED" : "FAILED");
  return !right;
}
