// Merging sorted sequences by merge path: where the merged output is cut, a binary search says how the inputs are cut.
#pragma once

#include "../config.cuh"

namespace warpbeam {

struct Less {
  template <class T>
  __host__ __device__ bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

// How many of the first `diagonal` merged items come from `a`. Equal items come from `a` first, which keeps merges stable.
template <class Index, class A, class B, class Compare>
__device__ Index merge_path(A a, Index a_count, B b, Index b_count, Index diagonal, Compare less) {
  Index low = diagonal > b_count ? diagonal - b_count : 0;
  Index high = diagonal < a_count ? diagonal : a_count;
  while (low < high) {
    Index middle = low + (high - low) / 2;
    if (less(b[diagonal - 1 - middle], a[middle])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Merges kItems items from two runs of `keys`; from[i] is the place the i-th came from. Reads stay inside the array, and
// items behind the end of both runs are not meaningful.
template <int kItems, class Key, class Compare>
__device__ void merge_serial(const Key* keys, int a, int a_end, int b, int b_end, Key (&item)[kItems],
                             int (&from)[kItems], Compare less) {
  Key a_key = keys[a < a_end ? a : 0];
  Key b_key = keys[b < b_end ? b : 0];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    bool take_b = b < b_end && (a >= a_end || less(b_key, a_key));
    item[i] = take_b ? b_key : a_key;
    from[i] = take_b ? b : a;
    if (take_b) {
      ++b;
      if (b < b_end) b_key = keys[b];
    } else {
      ++a;
      if (a < a_end) a_key = keys[a];
    }
  }
}

// A stable sorting network for the few items of one thread. Items whose index is not below `end` go behind all others.
template <int kItems, class Key, class Compare>
__device__ void sort_in_thread(Key (&key)[kItems], int (&index)[kItems], int end, Compare less) {
#pragma unroll
  for (int round = 0; round < kItems; ++round) {
#pragma unroll
    for (int i = round % 2; i + 1 < kItems; i += 2) {
      const bool swap = index[i + 1] < end && (index[i] >= end || less(key[i + 1], key[i]));
      if (swap) {
        Key key_low = key[i + 1];
        key[i + 1] = key[i];
        key[i] = key_low;
        int index_low = index[i + 1];
        index[i + 1] = index[i];
        index[i] = index_low;
      }
    }
  }
}

}  // namespace warpbeam
