// build: -I..
// The ladder of prefix sums. Rungs 1 to 4 scan tiles, scan the tile totals, and add them back: every item is read twice
// and written twice. Look-back does with one of each.
#include <warpbeam/algorithms/device/scan.cuh>

#include "ladder.h"

constexpr int kThreads = 256;
constexpr int kTile = 2 * kThreads;  // items per block of rungs 2 and 3; rungs 1 and 4 use one per thread, twice

// 1. Hillis and Steele: log n steps of n additions. Simple, but does n log n work: look at executed instructions.
__global__ void hillis_steele(const int* in, int* out, int* totals) {
  __shared__ int shared[2][kTile];
  int base = blockIdx.x * kTile, from = 0;
  for (int i = threadIdx.x; i < kTile; i += kThreads) shared[0][i] = in[base + i];
  __syncthreads();
  for (int step = 1; step < kTile; step *= 2, from ^= 1) {
    for (int i = threadIdx.x; i < kTile; i += kThreads)
      shared[from ^ 1][i] = shared[from][i] + (i >= step ? shared[from][i - step] : 0);
    __syncthreads();
  }
  for (int i = threadIdx.x; i < kTile; i += kThreads) out[base + i] = i > 0 ? shared[from][i - 1] : 0;
  if (threadIdx.x == 0) totals[blockIdx.x] = shared[from][kTile - 1];
}

// 2. Blelloch: up and down a tree, 2 n additions. Less work, but the strides are powers of two: bank conflicts.
// 3. With a word of padding after every 32 the strides spread over the banks.
template <bool kPadded>
__global__ void blelloch(const int* in, int* out, int* totals) {
  __shared__ int shared[kTile + kTile / 32];
  auto at = [](int i) { return kPadded ? i + i / 32 : i; };
  int base = blockIdx.x * kTile, t = threadIdx.x;
  shared[at(t)] = in[base + t];
  shared[at(t + kThreads)] = in[base + t + kThreads];
  int stride = 1;
  for (int pairs = kThreads; pairs > 0; pairs /= 2, stride *= 2) {
    __syncthreads();
    if (t < pairs) shared[at(stride * (2 * t + 2) - 1)] += shared[at(stride * (2 * t + 1) - 1)];
  }
  __syncthreads();
  if (t == 0) {
    totals[blockIdx.x] = shared[at(kTile - 1)];
    shared[at(kTile - 1)] = 0;
  }
  for (int pairs = 1; pairs <= kThreads; pairs *= 2) {
    stride /= 2;
    __syncthreads();
    if (t < pairs) {
      int low = at(stride * (2 * t + 1) - 1), high = at(stride * (2 * t + 2) - 1);
      int left = shared[low];
      shared[low] = shared[high];
      shared[high] += left;
    }
  }
  __syncthreads();
  out[base + t] = shared[at(t)];
  out[base + t + kThreads] = shared[at(t + kThreads)];
}

// Exclusive scan of two items per thread with shuffles; returns the tile's total to every thread.
__device__ int scan_pairs(int first, int second, int* warp_totals, int* before) {
  int sum = first + second, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int through = sum;
  for (int step = 1; step < 32; step *= 2) {
    int other = __shfl_up_sync(0xffffffffu, through, step);
    if (lane >= step) through += other;
  }
  if (lane == 31) warp_totals[warp] = through;
  __syncthreads();
  int total = 0, outer = 0;
  for (int w = 0; w < kThreads / 32; ++w) {
    if (w == warp) outer = total;
    total += warp_totals[w];
  }
  *before = outer + through - sum;
  return total;
}

// 4. Shuffles inside the warps: two barriers per tile instead of eighteen.
__global__ void with_shuffles(const int2* in, int2* out, int* totals) {
  __shared__ int warp_totals[kThreads / 32];
  int index = blockIdx.x * kThreads + threadIdx.x, before;
  int2 pair = in[index];
  int total = scan_pairs(pair.x, pair.y, warp_totals, &before);
  out[index] = make_int2(before, before + pair.x);
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

__global__ void add_back(int* out, const int* offsets) {
  out[blockIdx.x * kTile + threadIdx.x] += offsets[blockIdx.x];
  out[blockIdx.x * kTile + threadIdx.x + kThreads] += offsets[blockIdx.x];
}

// 5. Look-back, one state at a time: a tile waits until its predecessors have published, then goes on. Memory traffic
// halves; what is left is the latency of the chain.
__global__ void simple_look_back(const int2* in, int2* out, volatile unsigned long long* states, unsigned* ticket) {
  __shared__ int warp_totals[kThreads / 32], shared_tile, shared_prefix;
  if (threadIdx.x == 0) shared_tile = atomicAdd(ticket, 1);
  __syncthreads();
  int tile = shared_tile, index = tile * kThreads + threadIdx.x, before;
  int2 pair = in[index];
  int total = scan_pairs(pair.x, pair.y, warp_totals, &before);
  if (threadIdx.x == 0) {
    int prefix = 0;
    if (tile > 0) states[tile] = 1ull << 32 | static_cast<unsigned>(total);
    for (int back = tile - 1; back >= 0;) {
      unsigned long long state = states[back];
      if (state >> 32 == 0) continue;
      prefix += static_cast<int>(state);
      if (state >> 32 == 2) break;
      --back;
    }
    states[tile] = 2ull << 32 | static_cast<unsigned>(prefix + total);
    shared_prefix = prefix;
  }
  __syncthreads();
  before += shared_prefix;
  out[index] = make_int2(before, before + pair.x);
}

int main() {
  const int count = ladder::kSmall ? 1 << 13 : 1 << 27;
  ladder::copy_ceiling("scan", 4ull * count);
  ladder::Array<int> in(ladder::random_values<int>(count, 10)), out(count);
  std::vector<int> want(count);
  auto host = in.host();
  for (int i = 1; i < count; ++i) want[i] = want[i - 1] + host[i - 1];
  auto climb = [&](const char* name, const std::function<void()>& run) {
    out.poison();
    ladder::rung("scan", name, 8.0 * count, "GB/s", run, [&] { return out.host() == want; });
  };
  const int tiles = count / kTile;
  ladder::Array<int> totals(tiles), offsets(tiles);
  size_t bytes = 0;
  LADDER_CHECK(warpbeam::exclusive_sum(warpbeam::on().measure(&bytes), in.data, in.data + count, out.data));
  ladder::Array<char> storage(bytes);
  auto policy = warpbeam::on().with_storage(storage.data, bytes);
  auto finish = [&] {
    LADDER_CHECK(warpbeam::exclusive_sum(policy, totals.data, totals.data + tiles, offsets.data));
    add_back<<<tiles, kThreads>>>(out.data, offsets.data);
  };
  climb("1 Hillis-Steele", [&] { hillis_steele<<<tiles, kThreads>>>(in.data, out.data, totals.data); finish(); });
  climb("2 Blelloch", [&] { blelloch<false><<<tiles, kThreads>>>(in.data, out.data, totals.data); finish(); });
  climb("3 Blelloch padded", [&] { blelloch<true><<<tiles, kThreads>>>(in.data, out.data, totals.data); finish(); });
  climb("4 shuffles", [&] {
    with_shuffles<<<tiles, kThreads>>>(reinterpret_cast<int2*>(in.data), reinterpret_cast<int2*>(out.data), totals.data);
    finish();
  });
  ladder::Array<unsigned long long> states(tiles + 1);
  climb("5 simple look-back", [&] {
    LADDER_CHECK(cudaMemsetAsync(states.data, 0, (tiles + 1) * 8));
    simple_look_back<<<tiles, kThreads>>>(reinterpret_cast<int2*>(in.data), reinterpret_cast<int2*>(out.data), states.data,
                                          reinterpret_cast<unsigned*>(states.data + tiles));
  });
  climb("6 the library", [&] { LADDER_CHECK(warpbeam::exclusive_sum(policy, in.data, in.data + count, out.data)); });
  return ladder::wrong ? 1 : 0;
}
