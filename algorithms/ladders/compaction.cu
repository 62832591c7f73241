// build: -I..
// The ladder of stream compaction: keep the even integers. Rungs 1 and 2 lose the order, the others keep it.
#include <warpbeam/algorithms/device/scan.cuh>
#include <warpbeam/algorithms/device/select.cuh>

#include "ladder.h"

constexpr int kThreads = 256;

struct Even {
  __host__ __device__ bool operator()(int x) const { return x % 2 == 0; }
};

// 1. One atomic per kept item: all of them queue at one address.
__global__ void atomic_per_item(const int* in, int* out, unsigned long long* kept, int count) {
  int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < count && Even{}(in[i])) out[atomicAdd(kept, 1ull)] = in[i];
}

// 2. One atomic per warp: a vote counts the warp's items, one lane reserves room for all.
__global__ void atomic_per_warp(const int* in, int* out, unsigned long long* kept, int count) {
  int i = blockIdx.x * kThreads + threadIdx.x, lane = threadIdx.x % 32;
  int item = i < count ? in[i] : 1;
  unsigned mask = __ballot_sync(0xffffffffu, Even{}(item));
  unsigned long long base = 0;
  if (lane == 0) base = atomicAdd(kept, static_cast<unsigned long long>(__popc(mask)));
  base = __shfl_sync(0xffffffffu, base, 0);
  if (mask >> lane & 1) out[base + __popc(mask & ((1u << lane) - 1))] = item;
}

// 3. Flags, a scan of the flags, a scatter: order kept, at the price of six times the traffic.
__global__ void make_flags(const int* in, int* flags, int count) {
  int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < count) flags[i] = Even{}(in[i]);
}
__global__ void scatter(const int* in, const int* places, int* out, unsigned long long* kept, int count) {
  int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= count) return;
  if (Even{}(in[i])) out[places[i]] = in[i];
  if (i == count - 1) *kept = places[i] + Even{}(in[i]);
}

int main() {
  const int count = ladder::kSmall ? 1 << 13 : 1 << 27;
  ladder::copy_ceiling("compaction", 4ull * count);
  ladder::Array<int> in(ladder::random_values<int>(count, 1000000)), out(count), flags(count), places(count);
  ladder::Array<unsigned long long> kept(1);
  std::vector<int> want;
  for (int x : in.host())
    if (Even{}(x)) want.push_back(x);
  std::vector<int> sorted = want;
  std::sort(sorted.begin(), sorted.end());
  auto climb = [&](const char* name, bool ordered, const std::function<void()>& run) {
    out.poison();
    ladder::rung("compaction", name, 4.0 * (count + want.size()), "GB/s",
                 [&] {
                   LADDER_CHECK(cudaMemsetAsync(kept.data, 0, 8));
                   run();
                 },
                 [&] {
                   if (kept.host()[0] != want.size()) return false;
                   auto got = out.host();
                   got.resize(want.size());
                   if (ordered) return got == want;
                   std::sort(got.begin(), got.end());
                   return got == sorted;
                 });
  };
  const int blocks = count / kThreads;
  climb("1 atomic per item", false, [&] { atomic_per_item<<<blocks, kThreads>>>(in.data, out.data, kept.data, count); });
  climb("2 atomic per warp", false, [&] { atomic_per_warp<<<blocks, kThreads>>>(in.data, out.data, kept.data, count); });
  size_t bytes = 0, more = 0;
  LADDER_CHECK(warpbeam::exclusive_sum(warpbeam::on().measure(&bytes), flags.data, flags.data + count, places.data));
  LADDER_CHECK(warpbeam::copy_if(warpbeam::on().measure(&more), in.data, in.data + count, out.data, reinterpret_cast<long long*>(kept.data), Even{}));
  bytes = std::max(bytes, more);
  ladder::Array<char> storage(bytes);
  auto policy = warpbeam::on().with_storage(storage.data, bytes);
  climb("3 flags, scan, scatter", true, [&] {
    make_flags<<<blocks, kThreads>>>(in.data, flags.data, count);
    LADDER_CHECK(warpbeam::exclusive_sum(policy, flags.data, flags.data + count, places.data));
    scatter<<<blocks, kThreads>>>(in.data, places.data, out.data, kept.data, count);
  });
  // 4. One pass: ranks inside the tile, look-back between tiles, packed writes.
  climb("4 the library", true, [&] { LADDER_CHECK(warpbeam::copy_if(policy, in.data, in.data + count, out.data, reinterpret_cast<long long*>(kept.data), Even{})); });
  return ladder::wrong ? 1 : 0;
}
