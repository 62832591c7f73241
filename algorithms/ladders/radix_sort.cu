// build: -I..
// The ladder of radix sort: 32-bit keys.
#include <warpbeam/algorithms/device/radix_sort.cuh>
#include <warpbeam/algorithms/device/scan.cuh>

#include "ladder.h"

constexpr int kThreads = 256;

// 1. A split per bit: zeros to the front, ones behind, each in order. 32 passes, three trips through memory each.
__global__ void zero_flags(const unsigned* keys, int* flags, int bit, int count) {
  int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < count) flags[i] = !(keys[i] >> bit & 1);
}
__global__ void split(const unsigned* keys, const int* zeros_before, unsigned* out, int bit, int count) {
  int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= count) return;
  int zeros = zeros_before[count - 1] + !(keys[count - 1] >> bit & 1);
  bool one = keys[i] >> bit & 1;
  out[one ? zeros + i - zeros_before[i] : zeros_before[i]] = keys[i];
}

// 2. A digit of four bits per pass: count digits per block, scan the counts digit by digit, scatter. 8 passes.
constexpr int kDigits = 16;
__global__ void count_digits(const unsigned* keys, int* counts, int shift, int count) {
  __shared__ int mine[kDigits];
  if (threadIdx.x < kDigits) mine[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < count) atomicAdd(&mine[keys[i] >> shift & (kDigits - 1)], 1);
  __syncthreads();
  if (threadIdx.x < kDigits) counts[threadIdx.x * gridDim.x + blockIdx.x] = mine[threadIdx.x];
}
__global__ void scatter_digits(const unsigned* keys, const int* starts, unsigned* out, int shift, int count) {
  __shared__ int warp_counts[kThreads / 32][kDigits];
  int i = blockIdx.x * kThreads + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane < kDigits) warp_counts[warp][lane] = 0;
  __syncwarp();
  unsigned key = i < count ? keys[i] : 0;
  int digit = i < count ? static_cast<int>(key >> shift & (kDigits - 1)) : kDigits;
  unsigned same = 0xffffffffu;
  for (int bit = 0; bit < 5; ++bit) {
    unsigned voters = __ballot_sync(0xffffffffu, digit >> bit & 1);
    same &= digit >> bit & 1 ? voters : ~voters;
  }
  int before = __popc(same & ((1u << lane) - 1));
  if (before == 0 && digit < kDigits) warp_counts[warp][digit] = __popc(same);
  __syncthreads();
  if (digit == kDigits) return;
  for (int w = 0; w < warp; ++w) before += warp_counts[w][digit];
  out[starts[digit * gridDim.x + blockIdx.x] + before] = key;
}

int main() {
  const int count = ladder::kSmall ? 1 << 12 : 1 << 26;
  ladder::Array<unsigned> keys(ladder::random_values<unsigned>(count, 0xffffffffu)), out(count), other(count);
  auto want = keys.host();
  std::sort(want.begin(), want.end());
  auto climb = [&](const char* name, const std::function<void()>& run) {
    out.poison();
    ladder::rung("radix sort", name, count, "Gkey/s", run, [&] { return out.host() == want; });
  };
  const int blocks = (count + kThreads - 1) / kThreads;
  ladder::Array<int> flags(count), places(count), counts(blocks * kDigits), starts(blocks * kDigits);
  size_t bytes = 0, more = 0;
  LADDER_CHECK(warpbeam::exclusive_sum(warpbeam::on().measure(&bytes), flags.data, flags.data + count, places.data));
  LADDER_CHECK(warpbeam::sort_keys(warpbeam::on().measure(&more), keys.data, out.data, static_cast<long long>(count)));
  bytes = std::max(bytes, more);
  ladder::Array<char> storage(bytes);
  auto policy = warpbeam::on().with_storage(storage.data, bytes);
  // The ceiling is a single copy of the keys; every pass of a sort is at least one.
  ladder::rung("radix sort", "device-to-device copy", count, "Gkey/s",
               [&] { LADDER_CHECK(cudaMemcpyAsync(other.data, keys.data, 4ull * count, cudaMemcpyDeviceToDevice)); }, [] { return true; });
  climb("1 split by bits", [&] {
    const unsigned* from = keys.data;
    for (int bit = 0; bit < 32; ++bit) {
      unsigned* to = bit % 2 ? out.data : other.data;
      zero_flags<<<blocks, kThreads>>>(from, flags.data, bit, count);
      LADDER_CHECK(warpbeam::exclusive_sum(policy, flags.data, flags.data + count, places.data));
      split<<<blocks, kThreads>>>(from, places.data, to, bit, count);
      from = to;
    }
  });
  climb("2 digits of four bits", [&] {
    const unsigned* from = keys.data;
    for (int pass = 0; pass < 8; ++pass) {
      unsigned* to = pass % 2 ? out.data : other.data;
      count_digits<<<blocks, kThreads>>>(from, counts.data, pass * 4, count);
      LADDER_CHECK(warpbeam::exclusive_sum(policy, counts.data, counts.data + blocks * kDigits, starts.data));
      scatter_digits<<<blocks, kThreads>>>(from, starts.data, to, pass * 4, count);
      from = to;
    }
  });
  // 3. Digits of eight bits, counted once for all passes; look-back instead of a scan between the passes; keys are put in
  // order in shared memory first, so that they leave in runs. 4 passes, two trips each; the first of them need not keep
  // equal digits in order, so it does without ranking.
  climb("3 the library: one sweep", [&] { LADDER_CHECK(warpbeam::sort_keys(policy, keys.data, out.data, static_cast<long long>(count))); });
  return ladder::wrong ? 1 : 0;
}
