// What every pass of the radix sort needs to know about digits, and the pass that counts them all beforehand.
#pragma once

#include "../config.cuh"
#include "../thread/radix_key.cuh"
#include "../thread/vector.cuh"
#include "../warp/shuffle.cuh"

namespace warpbeam {

struct NoValue {};

namespace detail {

inline constexpr int kRadixBits = 8;
inline constexpr int kRadix = 1 << kRadixBits;

template <class Word>
__device__ unsigned digit_of(Word word, int shift, unsigned digit_mask) {
  return static_cast<unsigned>(word >> shift) & digit_mask;
}

// Counts the digits of all passes. Lanes spread over kColumns copies of every counter, so that equal keys do not queue.
template <int kPasses>
struct RadixHistogramShape {
  static constexpr int kThreads = 1024;
  static constexpr int kColumns = kPasses <= 4 ? 32 : 16;
  static constexpr size_t kShared = static_cast<size_t>(kPasses) * kRadix * kColumns * sizeof(unsigned);
};

// kAllBits: the sort is over whole keys, so that every shift is a constant.
template <class Codec, int kPasses, bool kAllBits, class Key>
__global__ void __launch_bounds__(RadixHistogramShape<kPasses>::kThreads)
    radix_histogram(const Key* keys, long long count, int begin_bit, int end_bit, unsigned long long* counts) {
  constexpr int kThreads = RadixHistogramShape<kPasses>::kThreads;
  constexpr int kColumns = RadixHistogramShape<kPasses>::kColumns;
  constexpr int kUnroll = 2;
  constexpr int kVec = kVectorItems<Key>;
  extern __shared__ unsigned columns[];
  for (int i = threadIdx.x; i < kPasses * kRadix * kColumns; i += kThreads) columns[i] = 0;
  __syncthreads();
  unsigned* column = columns + threadIdx.x % kColumns;
  using Word = typename Codec::Word;
  const int bits = end_bit - begin_bit;
  const Word used = bits >= Codec::kBits ? static_cast<Word>(~Word{0}) : static_cast<Word>((Word{1} << bits) - 1);
  auto add = [&](Key key) {
    Word word = Codec::encode(key);
    if constexpr (!kAllBits) word = static_cast<Word>(word >> begin_bit) & used;
#pragma unroll
    for (int pass = 0; pass < kPasses; ++pass)
      if (kAllBits || pass * kRadixBits < bits)
        atomicAdd(column + (pass * kRadix + (static_cast<unsigned>(word >> (pass * kRadixBits)) & (kRadix - 1))) * kColumns, 1u);
  };
  auto address = reinterpret_cast<uintptr_t>(keys);
  long long head = min(static_cast<long long>((16 - address % 16) % 16 / sizeof(Key)), count);
  const Key* body = keys + head;
  long long vectors = (count - head) / kVec;
  const long long stride = static_cast<long long>(gridDim.x) * kThreads;
  long long index = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  for (; index + (kUnroll - 1) * stride < vectors; index += kUnroll * stride) {
    Vector<Key, kVec> loaded[kUnroll];
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) loaded[i] = load_streaming<Key, kVec>(body + (index + i * stride) * kVec);
#pragma unroll
    for (int i = 0; i < kUnroll; ++i)
#pragma unroll
      for (int j = 0; j < kVec; ++j) add(loaded[i].item[j]);
  }
  for (; index < vectors; index += stride) {
    Vector<Key, kVec> loaded = load_streaming<Key, kVec>(body + index * kVec);
    for (int j = 0; j < kVec; ++j) add(loaded.item[j]);
  }
  if (blockIdx.x == 0) {
    for (long long i = threadIdx.x; i < head; i += kThreads) add(keys[i]);
    for (long long i = head + vectors * kVec + threadIdx.x; i < count; i += kThreads) add(keys[i]);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < kPasses * kRadix; bin += kThreads) {
    unsigned sum = 0;
#pragma unroll
    for (int i = 0; i < kColumns; ++i) sum += columns[bin * kColumns + (i + threadIdx.x) % kColumns];
    if (sum) atomicAdd(&counts[bin], static_cast<unsigned long long>(sum));
  }
}

// Turns the digit counts of one pass per block into the place where each digit starts.
template <int kUnused>
__global__ void __launch_bounds__(kRadix) radix_starts(unsigned long long* counts) {
  __shared__ unsigned long long warp_totals[kRadix / kWarpSize];
  unsigned long long* mine = counts + blockIdx.x * kRadix;
  unsigned long long count = mine[threadIdx.x];
  auto plus = [](unsigned long long a, unsigned long long b) { return a + b; };
  unsigned long long through = warp_inclusive_scan(count, plus);
  if (lane_id() == kWarpSize - 1) warp_totals[warp_id()] = through;
  __syncthreads();
  for (int warp = 0; warp < warp_id(); ++warp) through += warp_totals[warp];
  mine[threadIdx.x] = through - count;
}

}  // namespace detail
}  // namespace warpbeam
