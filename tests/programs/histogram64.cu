// 64-bin histogram with byte counters per thread in shared memory, merged as words.
#include <cstdio>
#include <cstdlib>
#include <vector>

typedef unsigned int uint;
typedef unsigned char uchar;

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

#define BINS 64
#define THREADS 128
#define CHUNK 48

__device__ inline void addByte(uchar* s_ThreadBase, uint data) { s_ThreadBase[data * THREADS]++; }

__device__ inline void addWord(uchar* base, uint data) {
  addByte(base, (data >> 2) & 0x3FU);
  addByte(base, (data >> 10) & 0x3FU);
  addByte(base, (data >> 18) & 0x3FU);
  addByte(base, (data >> 26) & 0x3FU);
}

__global__ void histogram64Kernel(uint* d_Partial, uint4* d_Data, uint dataCount) {
  const uint threadPos =
      ((threadIdx.x & ~(BINS - 1)) << 0) | ((threadIdx.x & 15U) << 2) | ((threadIdx.x & (BINS - 1)) >> 4);
  __shared__ uchar s_Hist[THREADS * BINS];
  uchar* s_ThreadBase = s_Hist + threadPos;
#pragma unroll
  for (uint i = 0; i < (BINS / 4); i++) ((uint*)s_Hist)[threadIdx.x + i * THREADS] = 0;
  __syncthreads();
  for (uint pos = blockIdx.x * blockDim.x + threadIdx.x; pos < dataCount; pos += blockDim.x * gridDim.x) {
    uint4 data = d_Data[pos];
    addWord(s_ThreadBase, data.x);
    addWord(s_ThreadBase, data.y);
    addWord(s_ThreadBase, data.z);
    addWord(s_ThreadBase, data.w);
  }
  __syncthreads();
  if (threadIdx.x < BINS) {
    uchar* s_HistBase = s_Hist + threadIdx.x * THREADS;
    uint sum = 0, pos = 4 * (threadIdx.x & 31);
    for (uint i = 0; i < (THREADS / 4); i++) {
      sum += s_HistBase[pos + 0] + s_HistBase[pos + 1] + s_HistBase[pos + 2] + s_HistBase[pos + 3];
      pos = (pos + 4) & (THREADS - 1);
    }
    d_Partial[blockIdx.x * BINS + threadIdx.x] = sum;
  }
}

__global__ void merge(uint* d_Histogram, uint* d_Partial, uint count) {
  __shared__ uint data[64];
  uint sum = 0;
  for (uint i = threadIdx.x; i < count; i += 64) sum += d_Partial[blockIdx.x + i * BINS];
  data[threadIdx.x] = sum;
  for (uint stride = 32; stride > 0; stride >>= 1) {
    __syncthreads();
    if (threadIdx.x < stride) data[threadIdx.x] += data[threadIdx.x + stride];
  }
  if (threadIdx.x == 0) d_Histogram[blockIdx.x] = data[0];
}

int main() {
  const uint blocks = 20, vectors = blocks * THREADS * 3, bytes = vectors * 16;  // at most 48 counts per thread
  std::vector<uchar> data(bytes);
  uint want[BINS] = {}, got[BINS], s = 4;
  for (uchar& b : data) {
    b = (uchar)((s = s * 1664525u + 1013904223u) >> 24);
    want[b >> 2]++;
  }
  uint4* d_data;
  uint *d_part, *d_hist;
  CHECK(cudaMalloc(&d_data, bytes));
  CHECK(cudaMalloc(&d_part, blocks * BINS * 4));
  CHECK(cudaMalloc(&d_hist, BINS * 4));
  CHECK(cudaMemcpy(d_data, data.data(), bytes, cudaMemcpyHostToDevice));
  histogram64Kernel<<<blocks, THREADS>>>(d_part, d_data, vectors);
  merge<<<BINS, 64>>>(d_hist, d_part, blocks);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got, d_hist, sizeof got, cudaMemcpyDeviceToHost));
  int bad = 0;
  for (int i = 0; i < BINS; i++) bad += got[i] != want[i];
  printf("histogram64: bin 0 %u, bin 63 %u, %s\n", got[0], got[63], bad ? "FAILED" : "PASSED");
  return bad != 0;
}
