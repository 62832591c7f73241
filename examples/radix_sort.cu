// radix_sort: tiles are sorted bit by bit in shared memory, then pairs of tiles are merged until one is left.
// Look at `split`: zeros keep their order in front, ones keep theirs behind, and an exclusive scan of the
// inverted bit tells each zero its place.
#include <cuda_runtime.h>

#include <algorithm>
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

constexpr int kTile = 256;

// Exclusive prefix sum of one value per thread of the block.
__device__ int exclusive_scan(int value, int* temp) {
  int t = threadIdx.x;
  temp[t] = value;
  __syncthreads();
  for (int offset = 1; offset < kTile; offset *= 2) {
    int add = t >= offset ? temp[t - offset] : 0;
    __syncthreads();
    temp[t] += add;
    __syncthreads();
  }
  return temp[t] - value;
}

__device__ unsigned split(unsigned key, int bit, unsigned* keys, int* temp, int* total_zeros) {
  int t = threadIdx.x;
  int b = (key >> bit) & 1, e = 1 - b;
  int f = exclusive_scan(e, temp);
  if (t == kTile - 1) *total_zeros = e + f;
  __syncthreads();
  int place = b ? t - f + *total_zeros : f;
  keys[place] = key;
  __syncthreads();
  key = keys[t];
  __syncthreads();
  return key;
}

__global__ void sort_tiles(unsigned* data) {
  __shared__ unsigned keys[kTile];
  __shared__ int temp[kTile];
  __shared__ int total_zeros;
  unsigned key = data[blockIdx.x * kTile + threadIdx.x];
  for (int bit = 0; bit < 32; ++bit) key = split(key, bit, keys, temp, &total_zeros);
  data[blockIdx.x * kTile + threadIdx.x] = key;
}

// Bitonic merge of neighbouring sorted runs: the first step compares mirrored elements, so the second run need not be
// stored backwards; after that ordinary half-cleaners finish.
__global__ void mirror_step(unsigned* data, int run) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int pair = i / run, k = i % run;
  unsigned* lower = &data[pair * 2 * run + k];
  unsigned* upper = &data[pair * 2 * run + 2 * run - 1 - k];
  if (*lower > *upper) {
    unsigned t = *lower;
    *lower = *upper;
    *upper = t;
  }
}
__global__ void half_cleaner(unsigned* data, int distance) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int at = i / distance * 2 * distance + i % distance;
  if (data[at] > data[at + distance]) {
    unsigned t = data[at];
    data[at] = data[at + distance];
    data[at + distance] = t;
  }
}

int main(int argc, char** argv) {
  int n = kTile;
  const int wanted = argc > 1 ? std::atoi(argv[1]) : 16384;
  while (n < wanted) n *= 2;
  std::vector<unsigned> keys(n), sorted(n);
  unsigned state = 2463534242u;
  for (unsigned& key : keys) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    key = state % 7 == 0 ? state & 0xff : state;  // with duplicates
  }
  unsigned* d_keys;
  CHECK(cudaMalloc(&d_keys, n * sizeof(unsigned)));
  CHECK(cudaMemcpy(d_keys, keys.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
  sort_tiles<<<n / kTile, kTile>>>(d_keys);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(sorted.data(), d_keys, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
  int unsorted_tiles = 0;
  for (int tile = 0; tile < n / kTile; ++tile)
    unsorted_tiles += !std::is_sorted(sorted.begin() + tile * kTile, sorted.begin() + (tile + 1) * kTile);
  std::printf("%d tiles of %d keys, %d not sorted\n", n / kTile, kTile, unsorted_tiles);

  for (int run = kTile; run < n; run *= 2) {
    mirror_step<<<n / 2 / 128, 128>>>(d_keys, run);
    for (int distance = run / 2; distance > 0; distance /= 2) half_cleaner<<<n / 2 / 128, 128>>>(d_keys, distance);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(sorted.data(), d_keys, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d_keys));
  std::sort(keys.begin(), keys.end());
  bool ok = unsorted_tiles == 0 && sorted == keys;
  std::printf("radix_sort: %d keys from %u to %u, %s\n", n, sorted.front(), sorted.back(), ok ? "sorted" : "FAILED");
  return ok ? 0 : 1;
}
