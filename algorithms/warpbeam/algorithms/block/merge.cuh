// Merging sorted sequences by merge path: where the merged output is cut, a binary search says how the inputs are cut.
#pragma once

#include "../config.cuh"
#include "../warp/shuffle.cuh"

namespace warpbeam {

struct Less {
  template <class T>
  __host__ __device__ bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

// How many of the first `diagonal` merged items come from `a`. Equal items come from `a` first, which keeps merges
// stable.
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

// The same for kRuns sorted runs: low[r] becomes the number of items of run r, of `length[r]`, among the first `rest`
// of all. Of equal items those of the earlier run come first. `at(r, i)` is item i of run r.
//
// The middles of what is undecided of each run are compared. Either too few items are wanted to reach the greatest
// middle: it and what follows it in its run are out. Or so many are wanted that the smallest middle and what precedes
// it are in.
template <int kRuns, class Key, class At, class Compare>
__device__ void multiway_path(At at, const long long (&length)[kRuns], long long rest, long long (&low)[kRuns],
                              Compare less) {
  long long high[kRuns];
  Key middle[kRuns];
#pragma unroll
  for (int r = 0; r < kRuns; ++r) {
    low[r] = 0;
    high[r] = length[r] < rest ? length[r] : rest;
    if (high[r] > 0) middle[r] = at(r, high[r] / 2);
  }
  while (rest > 0) {
    long long before = 0;
    int runs = 0, smallest = 0, greatest = 0;
    Key smallest_key = middle[0], greatest_key = middle[0];
#pragma unroll
    for (int r = 0; r < kRuns; ++r) {
      if (low[r] < high[r]) {
        before += (high[r] - low[r]) / 2;
        if (runs == 0 || less(middle[r], smallest_key)) smallest = r, smallest_key = middle[r];
        if (runs == 0 || !less(middle[r], greatest_key)) greatest = r, greatest_key = middle[r];
        ++runs;
      }
    }
    const bool shorten = rest < before + runs;
    const int changed = shorten ? greatest : smallest;
#pragma unroll
    for (int r = 0; r < kRuns; ++r) {
      if (r == changed) {
        const long long half = (high[r] - low[r]) / 2;
        if (shorten) {
          high[r] = low[r] + half;
        } else {
          rest -= half + 1;
          low[r] += half + 1;
        }
        if (low[r] < high[r]) middle[r] = at(r, low[r] + (high[r] - low[r]) / 2);
      }
    }
  }
}

// The same by one whole warp, for when there are few places to find and fewer than 2^31 items: kWarpSize samples decide
// several bits at once. Every sample is compared with every other, which bounds how many undecided items precede it. If
// at least `rest` do for certain, the sample and what follows it in its run are out; if fewer than `rest` can, it and
// what precedes it are in.
template <int kRuns, class Key, class At, class Compare>
__device__ void multiway_path_in_warp(At at, const int (&length)[kRuns], int rest, int (&low)[kRuns], Compare less) {
  constexpr int kSamples = kWarpSize / kRuns;
  constexpr unsigned kOneRun = kSamples == 32 ? ~0u : (1u << kSamples) - 1;
  const int run = lane_id() / kSamples;
  int left[kRuns];
#pragma unroll
  for (int r = 0; r < kRuns; ++r) {
    low[r] = 0;
    left[r] = length[r] < rest ? length[r] : rest;
  }
  // Sample j of a run with `items` undecided ones is its item number
  auto sample = [](int j, int items) {
    return static_cast<int>((2 * j + 1) * static_cast<unsigned long long>(items) / (2 * kSamples));
  };
  while (rest > 0) {
    int mine_low = low[0], mine_left = left[0];
#pragma unroll
    for (int r = 1; r < kRuns; ++r)
      if (run == r) mine_low = low[r], mine_left = left[r];
    const int position = sample(lane_id() % kSamples, mine_left);
    Key key{};
    if (mine_left > 0) key = at(run, mine_low + position);
    // How many samples of each run precede this one; a search in all runs at once.
    int samples[kRuns] = {};
#pragma unroll
    for (int step = kSamples; step > 0; step /= 2) {
#pragma unroll
      for (int r = 0; r < kRuns; ++r) {
        const int probe = samples[r] + step - 1;
        const Key other = shuffle_from(key, r * kSamples + min(probe, kSamples - 1));
        const bool precedes = r <= run ? !less(key, other) : less(other, key);
        if (probe < kSamples && precedes) samples[r] += step;
      }
    }
    int at_least = position, at_most = position;
#pragma unroll
    for (int r = 0; r < kRuns; ++r) {
      if (r == run || left[r] == 0) continue;
      if (samples[r] > 0) at_least += sample(samples[r] - 1, left[r]) + 1;
      at_most += samples[r] < kSamples ? sample(samples[r], left[r]) : left[r];
    }
    const unsigned in = __ballot_sync(kFullWarp, mine_left > 0 && at_most < rest);
    const unsigned out = __ballot_sync(kFullWarp, mine_left > 0 && at_least >= rest);
#pragma unroll
    for (int r = 0; r < kRuns; ++r) {
      if (left[r] == 0) continue;
      const unsigned run_in = in >> (r * kSamples) & kOneRun, run_out = out >> (r * kSamples) & kOneRun;
      const int from = run_in ? sample(31 - __clz(run_in), left[r]) + 1 : 0;
      const int to = run_out ? sample(__ffs(run_out) - 1, left[r]) : left[r];
      low[r] += from;
      left[r] = to - from;
      rest -= from;
    }
  }
}

// Merges kItems items from two runs of `keys`; from[i] is the place the i-th came from. Reads stay inside the array,
// and items behind the end of both runs are not meaningful.
template <int kItems, class Key, class Compare>
__device__ void merge_serial(const Key* keys, int a, int a_end, int b, int b_end, Key (&item)[kItems],
                             int (&from)[kItems], Compare less) {
  Key a_key = keys[a < a_end ? a : 0];
  Key b_key = keys[b < b_end ? b : 0];
  if (a + kItems < a_end && b + kItems < b_end) {
    // Neither run can end here, which is so for nearly every thread.
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const bool take_b = less(b_key, a_key);
      item[i] = take_b ? b_key : a_key;
      from[i] = take_b ? b : a;
      if (take_b) {
        b_key = keys[++b];
      } else {
        a_key = keys[++a];
      }
    }
    return;
  }
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

// A stable sorting network for the few items of one thread. Items whose index is not below `end` go behind all others;
// kWhole says that there are none.
template <bool kWhole, int kItems, class Key, class Compare>
__device__ void sort_in_thread(Key (&key)[kItems], int (&index)[kItems], int end, Compare less) {
#pragma unroll
  for (int round = 0; round < kItems; ++round) {
#pragma unroll
    for (int i = round % 2; i + 1 < kItems; i += 2) {
      const Key low = key[i], high = key[i + 1];
      const int low_index = index[i], high_index = index[i + 1];
      const bool swap = kWhole ? less(high, low) : high_index < end && (low_index >= end || less(high, low));
      key[i] = swap ? high : low;
      key[i + 1] = swap ? low : high;
      index[i] = swap ? high_index : low_index;
      index[i + 1] = swap ? low_index : high_index;
    }
  }
}

}  // namespace warpbeam
