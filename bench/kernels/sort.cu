// The bitonic network: near partners in shared memory, far ones a launch for each step. And a radix sort that takes
// four bits at a time.
#include <algorithm>

#include "kernels/scan.cuh"
#include "reference/reference.h"

#define TILE 1024  // what a block sorts in shared memory

// Compares and exchanges partners `distance` apart, upwards or downwards in runs of `run`.
__global__ void bitonic_step(int* data, int distance, int run) {
  unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned i = 2 * t - (t & (distance - 1));
  int a = data[i], b = data[i + distance];
  bool up = (i & run) == 0;
  if ((a > b) == up) {
    data[i] = b;
    data[i + distance] = a;
  }
}

// All steps of the runs from `first` to `last` whose partners lie in one tile.
__global__ void bitonic_tile(int* data, int first, int last) {
  __shared__ int tile[TILE];
  int t = threadIdx.x, base = blockIdx.x * TILE;
  tile[t] = data[base + t];
  tile[t + TILE / 2] = data[base + t + TILE / 2];
  for (int run = first; run <= last; run *= 2) {
    for (int distance = min(run, TILE) / 2; distance > 0; distance /= 2) {
      __syncthreads();
      int i = 2 * t - (t & (distance - 1));
      int a = tile[i], b = tile[i + distance];
      bool up = ((base + i) & run) == 0;
      if ((a > b) == up) {
        tile[i] = b;
        tile[i + distance] = a;
      }
    }
  }
  __syncthreads();
  data[base + t] = tile[t];
  data[base + t + TILE / 2] = tile[t + TILE / 2];
}

#define RADIX 16
#define SORT_BLOCK 256
#define SORT_ROUNDS 8

// How often each digit occurs in a block's piece; all blocks' counts of one digit stand together.
__global__ void count_digits(const unsigned* keys, int* counts, int n, int shift) {
  __shared__ int count[RADIX];
  if (threadIdx.x < RADIX) count[threadIdx.x] = 0;
  __syncthreads();
  int begin = blockIdx.x * SORT_BLOCK * SORT_ROUNDS;
  for (int round = 0; round < SORT_ROUNDS; ++round) {
    int i = begin + round * SORT_BLOCK + threadIdx.x;
    if (i < n) atomicAdd(&count[(keys[i] >> shift) % RADIX], 1);
  }
  __syncthreads();
  if (threadIdx.x < RADIX) counts[threadIdx.x * gridDim.x + blockIdx.x] = count[threadIdx.x];
}

// Writes each key to where its digit begins for this block, in order: lanes of a warp with the same digit find each
// other by votes, warps by counts in shared memory.
__global__ void scatter_digits(const unsigned* keys, unsigned* out, const int* begins, int n, int shift) {
  __shared__ int at[RADIX];
  __shared__ int of_warp[SORT_BLOCK / 32][RADIX];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x < RADIX) at[threadIdx.x] = begins[threadIdx.x * gridDim.x + blockIdx.x];
  int begin = blockIdx.x * SORT_BLOCK * SORT_ROUNDS;
  for (int round = 0; round < SORT_ROUNDS; ++round) {
    int i = begin + round * SORT_BLOCK + threadIdx.x;
    bool valid = i < n;
    unsigned key = valid ? keys[i] : 0;
    int digit = (key >> shift) % RADIX;
    unsigned peers = __ballot_sync(0xffffffff, valid);
    for (int bit = 0; bit < 4; ++bit) {
      unsigned ones = __ballot_sync(0xffffffff, digit >> bit & 1);
      peers &= digit >> bit & 1 ? ones : ~ones;
    }
    int rank = __popc(peers & ((1u << lane) - 1));
    if (lane < RADIX) of_warp[warp][lane] = 0;
    __syncwarp();
    if (valid && rank == 0) of_warp[warp][digit] = __popc(peers);
    __syncthreads();
    int before = 0;
    if (valid) {
      before = at[digit];
      for (int w = 0; w < warp; ++w) before += of_warp[w][digit];
      out[before + rank] = key;
    }
    __syncthreads();
    if (threadIdx.x < RADIX)
      for (int w = 0; w < SORT_BLOCK / 32; ++w) at[threadIdx.x] += of_warp[w][threadIdx.x];
    __syncthreads();
  }
}

namespace bench {
namespace {

struct Bitonic : Work {
  explicit Bitonic(bool quick) : n(quick ? 1 << 14 : 1 << 22), input(n), data(n), d_input(n), d_data(n) {
    for (size_t k = 0; k < n; ++k) input[k] = static_cast<int>(mix(k));
    d_input.upload(input);
  }
  void prepare_ours() override { d_data.copy_from(d_input); }
  void prepare_reference() override { std::copy(input.begin(), input.end(), data.begin()); }
  void ours() override {
    const unsigned tiles = static_cast<unsigned>(n / TILE);
    bitonic_tile<<<tiles, TILE / 2>>>(d_data.data(), 2, TILE);
    for (int run = 2 * TILE; run <= static_cast<int>(n); run *= 2) {
      for (int distance = run / 2; distance >= TILE; distance /= 2)
        bitonic_step<<<n / 512, 256>>>(d_data.data(), distance, run);
      bitonic_tile<<<tiles, TILE / 2>>>(d_data.data(), run, run);
    }
  }
  void reference() override { ::reference::bitonic_sort(data.data(), n); }
  std::string difference() override {
    if (!std::is_sorted(data.begin(), data.end())) return "the reference is not sorted";
    return compare_exactly(d_data.download(), data.data(), n);
  }

  size_t n;
  HostArray<int> input, data;
  DeviceArray<int> d_input, d_data;
};

struct Radix : Work {
  explicit Radix(bool quick)
      : n(quick ? 1 << 18 : 1 << 24),
        blocks(blocks_for(n, SORT_BLOCK * SORT_ROUNDS)),
        input(n),
        keys(n),
        other(n),
        d_input(n),
        d_keys(n),
        d_other(n),
        d_counts(RADIX * blocks),
        scan(RADIX * blocks, Scan::Kind::Balanced) {
    for (size_t k = 0; k < n; ++k) input[k] = mix(k);
    d_input.upload(input);
  }
  void prepare_ours() override { d_keys.copy_from(d_input); }
  void prepare_reference() override { std::copy(input.begin(), input.end(), keys.begin()); }
  void ours() override {
    unsigned *from = d_keys.data(), *to = d_other.data();
    for (int shift = 0; shift < 32; shift += 4) {
      count_digits<<<blocks, SORT_BLOCK>>>(from, d_counts.data(), static_cast<int>(n), shift);
      scan.run(d_counts.data(), d_counts.data());
      scatter_digits<<<blocks, SORT_BLOCK>>>(from, to, d_counts.data(), static_cast<int>(n), shift);
      std::swap(from, to);
    }
  }
  void reference() override { ::reference::radix_sort(keys.data(), other.data(), n); }
  std::string difference() override {
    if (!std::is_sorted(keys.begin(), keys.end())) return "the reference is not sorted";
    return compare_exactly(d_keys.download(), keys.data(), n);
  }

  size_t n;
  unsigned blocks;
  HostArray<unsigned> input, keys, other;
  DeviceArray<unsigned> d_input, d_keys, d_other;
  DeviceArray<int> d_counts;
  Scan scan;
};

}  // namespace

std::unique_ptr<Work> make_bitonic(bool quick) { return std::make_unique<Bitonic>(quick); }
std::unique_ptr<Work> make_radix(bool quick) { return std::make_unique<Radix>(quick); }

}  // namespace bench
