// Bitonic networks over tiles in shared memory: sorting tiles, and merging neighbouring sorted tiles. Not stable; fast
// for small tiles because every step is the same for all threads.
#pragma once

#include "../block/merge.cuh"
#include "../policy.cuh"
#include "launch.cuh"

namespace warpbeam {

namespace detail {

// Compares the pairs at distance `distance`; the smaller goes to the lower place.
template <int kItems, int kThreads, class Key, class Compare>
__device__ void bitonic_step(Key* keys, int distance, Compare less) {
  for (int i = threadIdx.x; i < kItems / 2; i += kThreads) {
    int low = i / distance * (2 * distance) + i % distance;
    int high = low + distance;
    if (less(keys[high], keys[low])) {
      Key key = keys[low];
      keys[low] = keys[high];
      keys[high] = key;
    }
  }
  __syncthreads();
}

// Merges two sorted halves of every `width` keys: the second half is read backwards, which makes the whole bitonic.
template <int kItems, int kThreads, class Key, class Compare>
__device__ void bitonic_merge(Key* keys, int width, Compare less) {
  for (int i = threadIdx.x; i < kItems / 2; i += kThreads) {
    int low = i / (width / 2) * width + i % (width / 2);
    int high = i / (width / 2) * width + width - 1 - i % (width / 2);
    if (less(keys[high], keys[low])) {
      Key key = keys[low];
      keys[low] = keys[high];
      keys[high] = key;
    }
  }
  __syncthreads();
  for (int distance = width / 4; distance > 0; distance /= 2) bitonic_step<kItems, kThreads>(keys, distance, less);
}

// From runs of `from` sorted keys to runs of kItems.
template <int kItems, int kThreads, class Key, class Compare>
__global__ void __launch_bounds__(kThreads) bitonic_tiles(Key* keys, long long count, int from, Key last, Compare less) {
  extern __shared__ __align__(128) unsigned char memory[];
  Key* tile = reinterpret_cast<Key*>(memory);
  const long long start = static_cast<long long>(blockIdx.x) * kItems;
  for (int i = threadIdx.x; i < kItems; i += kThreads) tile[i] = start + i < count ? keys[start + i] : last;
  __syncthreads();
  for (int width = 2 * from; width <= kItems; width *= 2) bitonic_merge<kItems, kThreads>(tile, width, less);
  for (int i = threadIdx.x; i < kItems; i += kThreads)
    if (start + i < count) keys[start + i] = tile[i];
}

}  // namespace detail

// Sorts every kTile keys in place, given that every `sorted` neighbouring keys are sorted already (1 for none); both are
// powers of two. `last` is a key that no other is behind.
template <int kTile = 2048, class Key, class Compare = Less>
cudaError_t bitonic_merge_tiles(const Policy& policy, Key* keys, long long count, int sorted, Key last,
                                Compare less = Compare()) {
  static_assert((kTile & (kTile - 1)) == 0 && kTile >= 64, "a power of two");
  Workspace workspace(policy);
  WB_ACQUIRE(workspace);
  if (count < 0 || sorted < 1 || sorted > kTile || (sorted & (sorted - 1)) != 0) return cudaErrorInvalidValue;
  const long long tiles = ceil_div(count, static_cast<long long>(kTile));
  if (tiles == 0) return cudaSuccess;
  if (tiles > INT32_MAX) return cudaErrorInvalidValue;
  constexpr int kThreads = kTile / 2 < 512 ? kTile / 2 : 512;
  auto kernel = detail::bitonic_tiles<kTile, kThreads, Key, Compare>;
  WB_RETURN_IF_FAILED(allow_shared(kernel, kTile * sizeof(Key)));
  kernel<<<static_cast<unsigned>(tiles), kThreads, kTile * sizeof(Key), policy.stream>>>(keys, count, sorted, last, less);
  return cudaGetLastError();
}

}  // namespace warpbeam
