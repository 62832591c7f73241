// build: -I..
// The ladder of histograms: bytes into 256 bins, on uniform and on constant data.
#include <warpbeam/algorithms/device/histogram.cuh>

#include "ladder.h"

constexpr int kThreads = 256;

// 1. Atomics on global memory: every sample is a trip to the second-level cache.
__global__ void global_atomics(const unsigned char* in, unsigned* counts, int count) {
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < count; i += gridDim.x * kThreads) atomicAdd(&counts[in[i]], 1u);
}

// 2. A histogram per block in shared memory: the trips become short, but equal samples queue at one word.
__global__ void shared_atomics(const unsigned char* in, unsigned* counts, int count) {
  __shared__ unsigned mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < count; i += gridDim.x * kThreads) atomicAdd(&mine[in[i]], 1u);
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}

// 3. A histogram per warp, and four samples per load: warps no longer queue behind each other.
__global__ void per_warp(const uchar4* in, unsigned* counts, int count) {
  __shared__ unsigned mine[kThreads / 32][256];
  for (int w = 0; w < kThreads / 32; ++w) mine[w][threadIdx.x] = 0;
  __syncthreads();
  unsigned* table = mine[threadIdx.x / 32];
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < count / 4; i += gridDim.x * kThreads) {
    uchar4 four = in[i];
    atomicAdd(&table[four.x], 1u);
    atomicAdd(&table[four.y], 1u);
    atomicAdd(&table[four.z], 1u);
    atomicAdd(&table[four.w], 1u);
  }
  __syncthreads();
  unsigned sum = 0;
  for (int w = 0; w < kThreads / 32; ++w) sum += mine[w][threadIdx.x];
  atomicAdd(&counts[threadIdx.x], sum);
}

int main() {
  const int count = ladder::kSmall ? 1 << 14 : 1 << 28;
  for (bool constant : {false, true}) {
    auto host = constant ? std::vector<unsigned char>(count, 77) : ladder::random_values<unsigned char>(count, 256);
    ladder::Array<unsigned char> in(host);
    ladder::Array<unsigned> counts(256);
    std::vector<unsigned> want(256);
    for (unsigned char x : host) ++want[x];
    auto climb = [&](const char* name, auto launch) {
      ladder::rung(constant ? "histogram, constant" : "histogram, uniform", name, count, "GB/s",
                   [&] {
                     LADDER_CHECK(cudaMemsetAsync(counts.data, 0, 256 * sizeof(unsigned)));
                     launch();
                   },
                   [&] { return counts.host() == want; });
    };
    ladder::copy_ceiling(constant ? "histogram, constant" : "histogram, uniform", count);
    const int blocks = ladder::kSmall ? 8 : 1056;
    climb("1 global atomics", [&] { global_atomics<<<blocks, kThreads>>>(in.data, counts.data, count); });
    climb("2 shared atomics", [&] { shared_atomics<<<blocks, kThreads>>>(in.data, counts.data, count); });
    climb("3 a table per warp", [&] { per_warp<<<blocks, kThreads>>>(reinterpret_cast<uchar4*>(in.data), counts.data, count); });
    // 4. A column of counters per lane: no two lanes of a warp ever meet in a bank, whatever the data.
    climb("4 the library", [&] { LADDER_CHECK(warpbeam::histogram_even(warpbeam::on(), in.data, static_cast<long long>(count), counts.data, 256, 0, 256)); });
  }
  return ladder::wrong ? 1 : 0;
}
