// histogram: byte counts with atomics on global memory, on a shared copy per block, and on a shared copy per warp.
// Look at where threads collide: everywhere, within a block, within a warp. The counts are the same.
#include <cuda_runtime.h>

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

constexpr int kBins = 256, kThreads = 256, kWarps = kThreads / 32;

__global__ void global_bins(const unsigned char* data, int n, unsigned* bins) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&bins[data[i]], 1u);
}

__global__ void shared_bins(const unsigned char* data, int n, unsigned* bins) {
  __shared__ unsigned mine[kBins];
  for (int b = threadIdx.x; b < kBins; b += blockDim.x) mine[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&mine[data[i]], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < kBins; b += blockDim.x) atomicAdd(&bins[b], mine[b]);
}

__global__ void warp_bins(const uchar4* data, int quads, unsigned* bins) {
  __shared__ unsigned mine[kWarps][kBins];
  for (int b = threadIdx.x; b < kWarps * kBins; b += blockDim.x) mine[0][b] = 0;
  __syncthreads();
  unsigned* bank = mine[threadIdx.x / 32];
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += blockDim.x * gridDim.x) {
    uchar4 four = data[i];
    atomicAdd(&bank[four.x], 1u);
    atomicAdd(&bank[four.y], 1u);
    atomicAdd(&bank[four.z], 1u);
    atomicAdd(&bank[four.w], 1u);
  }
  __syncthreads();
  unsigned sum = 0;
  for (int w = 0; w < kWarps; ++w) sum += mine[w][threadIdx.x];
  atomicAdd(&bins[threadIdx.x], sum);
}

int main(int argc, char** argv) {
  const int n = (argc > 1 ? std::atoi(argv[1]) : 1 << 19) / 4 * 4;
  std::vector<unsigned char> data(n);
  unsigned state = 12345, expected[kBins] = {}, bins[kBins];
  for (int i = 0; i < n; ++i) {
    state = state * 1664525u + 1013904223u;
    data[i] = (unsigned char)((state >> 24) & (state >> 16));  // small values are more frequent
    ++expected[data[i]];
  }
  unsigned char* d_data;
  unsigned* d_bins;
  CHECK(cudaMalloc(&d_data, n));
  CHECK(cudaMalloc(&d_bins, sizeof bins));
  CHECK(cudaMemcpy(d_data, data.data(), n, cudaMemcpyHostToDevice));

  int wrong = 0;
  for (int version = 0; version < 3; ++version) {
    CHECK(cudaMemset(d_bins, 0, sizeof bins));
    if (version == 0) global_bins<<<32, kThreads>>>(d_data, n, d_bins);
    if (version == 1) shared_bins<<<32, kThreads>>>(d_data, n, d_bins);
    if (version == 2) warp_bins<<<32, kThreads>>>((const uchar4*)d_data, n / 4, d_bins);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(bins, d_bins, sizeof bins, cudaMemcpyDeviceToHost));
    int bad = 0;
    for (int b = 0; b < kBins; ++b) bad += bins[b] != expected[b];
    const char* names[] = {"global bins", "bins per block", "bins per warp"};
    std::printf("%-16s bin 0 holds %u, %d bins wrong\n", names[version], bins[0], bad);
    wrong += bad;
  }
  CHECK(cudaFree(d_data));
  CHECK(cudaFree(d_bins));
  std::printf("histogram: %d bytes, %s\n", n, wrong ? "FAILED" : "all counts agree");
  return wrong != 0;
}
