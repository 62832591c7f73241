// Sums in the ways that books show: interleaved, sequential, shuffles, atomics; a scan and a histogram; host timers around each.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                       \
  do {                                                                                    \
    const cudaError_t error = call;                                                       \
    if (error != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                                       \
    }                                                                                     \
  } while (0)

static double seconds() { return std::chrono::duration<double>(std::chrono::high_resolution_clock::now().time_since_epoch()).count(); }

// The median of what some runs of it take, in microseconds.
template <class Work>
static double time_us(int runs, Work work) {
  std::vector<double> all;
  for (int k = 0; k < runs; ++k) {
    const double begin = seconds();
    work();
    all.push_back((seconds() - begin) * 1e6);
  }
  std::nth_element(all.begin(), all.begin() + runs / 2, all.end());
  return all[runs / 2];
}

__global__ void interleaved(const int* in, int* out, int n) {
  extern __shared__ int part[];
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = at < n ? in[at] : 0;
  __syncthreads();
  for (int step = 1; step < blockDim.x; step *= 2) {
    if (threadIdx.x % (2 * step) == 0) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
__global__ void sequential(const int* in, int* out, int n) {
  extern __shared__ int part[];
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  part[threadIdx.x] = at < n ? in[at] : 0;
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
__global__ void shuffles(const int* in, int* out, int n) {
  int sum = 0;
  for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < n; at += gridDim.x * blockDim.x) sum += in[at];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
__global__ void all_atomic(const int* in, int* out, int n) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n) atomicAdd(out, in[at]);
}
__global__ void histogram(const int* in, int* out, int n) {
  __shared__ int bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < n; at += gridDim.x * blockDim.x) atomicAdd(&bins[in[at] & 255], 1);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
__global__ void scan_blocks(const int* in, int* out) {
  __shared__ int part[512];
  part[threadIdx.x] = in[blockIdx.x * 512 + threadIdx.x];
  for (int step = 1; step < 512; step *= 2) {
    __syncthreads();
    const int other = threadIdx.x >= step ? part[threadIdx.x - step] : 0;
    __syncthreads();
    part[threadIdx.x] += other;
  }
  out[blockIdx.x * 512 + threadIdx.x] = part[threadIdx.x];
}

int main() {
  const int n = 1 << 22;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i * 2654435761u >> 20;
  int *in, *out;
  CHECK(cudaMalloc(&in, n * sizeof(int)));
  CHECK(cudaMalloc(&out, n * sizeof(int)));
  CHECK(cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(out, 0, n * sizeof(int)));
  const auto report = [&](const char* name, auto launch) {
    launch();
    CHECK(cudaDeviceSynchronize());
    std::printf("%s: %.3f us\n", name, time_us(5, [&] {
                  launch();
                  CHECK(cudaDeviceSynchronize());
                }));
  };
  report("interleaved", [&] { interleaved<<<n / 512, 512, 2048>>>(in, out, n); });
  report("sequential", [&] { sequential<<<n / 512, 512, 2048>>>(in, out, n); });
  report("shuffles", [&] { shuffles<<<528, 256>>>(in, out, n); });
  report("all_atomic", [&] { all_atomic<<<n / 16 / 256, 256>>>(in, out, n / 16); });
  report("histogram", [&] { histogram<<<264, 256>>>(in, out, n); });
  report("scan_blocks", [&] { scan_blocks<<<n / 512, 512>>>(in, out); });
  int total;
  report("two_passes_and_copy", [&] {
    sequential<<<n / 512, 512, 2048>>>(in, out, n);
    sequential<<<n / 512 / 512, 512, 2048>>>(out, out + n / 2, n / 512);
    CHECK(cudaMemcpy(&total, out + n / 2, sizeof total, cudaMemcpyDeviceToHost));
  });
}
