// The kernels of the radix sort. Each pass reads every key once and writes it once ("one sweep", Adinolfi and Merrill,
// 2022): a tile ranks its keys by digit, learns by look-back how many keys of each digit the earlier tiles hold, and
// writes every key to its final place of this pass. Where a digit starts is known beforehand from one histogram pass
// that counts the digits of all passes at once.
#pragma once

#include "../block/lookback.cuh"
#include "../config.cuh"
#include "../thread/radix_key.cuh"
#include "../thread/vector.cuh"

namespace warpbeam {

struct NoValue {};

template <int kThreadsV, int kItemsV, int kBlocksV>
struct RadixTuning {
  static constexpr int kThreads = kThreadsV;
  static constexpr int kItems = kItemsV;    // keys per thread
  static constexpr int kBlocks = kBlocksV;  // blocks per multiprocessor
  static constexpr int kTile = kThreads * kItems;
};

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

// A digit count of one tile with its status in the top two bits.
template <class Word>
struct DigitState {
  static constexpr int kShift = 8 * sizeof(Word) - 2;
  static constexpr Word kMask = (Word{1} << kShift) - 1;
  __device__ static void publish(Word* to, TileStatus status, Word value) {
    *static_cast<volatile Word*>(to) = static_cast<Word>(status) << kShift | value;
  }
  // How many keys of one digit the tiles before `tile` hold. A few states are requested at once.
  __device__ static Word look_back(const Word* states, int tile, int digit) {
    constexpr int kAhead = 4;
    Word sum = 0;
    for (int newest = tile - 1; newest >= 0; newest -= kAhead) {
      Word word[kAhead];
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        const volatile Word* from = states + static_cast<long long>(max(newest - i, 0)) * kRadix + digit;
        word[i] = *from;
      }
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        if (newest - i < 0) break;
        const volatile Word* from = states + static_cast<long long>(newest - i) * kRadix + digit;
        while (word[i] >> kShift == 0) word[i] = *from;
        sum += word[i] & kMask;
        if (word[i] >> kShift == static_cast<Word>(TileStatus::inclusive)) return sum;
      }
    }
    return sum;
  }
};

// The lanes of the warp that hold the same digit. In PTX, because a test, a vote, a conditional complement and a join per
// bit is what it takes, and compilers make more of it.
__device__ inline unsigned lanes_with(unsigned digit) {
  unsigned same = kFullWarp;
#pragma unroll
  for (int bit = 0; bit < kRadixBits; ++bit) {
    asm volatile(
        "{\n\t.reg .pred p;\n\t.reg .b32 v;\n\t"
        "and.b32 v, %1, %2;\n\t"
        "setp.ne.u32 p, v, 0;\n\t"
        "vote.sync.ballot.b32 v, p, 0xffffffff;\n\t"
        "@!p not.b32 v, v;\n\t"
        "and.b32 %0, %0, v;\n\t}"
        : "+r"(same)
        : "r"(digit), "r"(1u << bit));
  }
  return same;
}

// Without a branch, which would part the warp at every key.
__device__ inline void store_if(bool condition, int* shared, int value) {
  asm volatile(
      "{\n\t.reg .pred p;\n\t"
      "setp.ne.u32 p, %0, 0;\n\t"
      "@p st.shared.u32 [%1], %2;\n\t}" ::"r"(static_cast<unsigned>(condition)),
      "r"(static_cast<unsigned>(__cvta_generic_to_shared(shared))), "r"(value)
      : "memory");
}

template <class Tuning, class Key, class Value>
struct RadixShared {
  static constexpr int kWarps = Tuning::kThreads / kWarpSize;
  static constexpr size_t kKeyBytes = sizeof(Key) * Tuning::kTile;
  static constexpr size_t kValueBytes = std::is_same_v<Value, NoValue> ? 0 : sizeof(Value) * Tuning::kTile;
  static constexpr size_t kCounterBytes = sizeof(int) * kWarps * kRadix;
  // The counters are dead before the keys are scattered, and the keys before the values are.
  static constexpr size_t kTileBytes = kKeyBytes > kValueBytes ? kKeyBytes : kValueBytes;
  static constexpr size_t kBytes = kTileBytes > kCounterBytes ? kTileBytes : kCounterBytes;
};

template <class Tuning, class Codec, class Key, class Value, class State>
__global__ void __launch_bounds__(Tuning::kThreads, Tuning::kBlocks)
    radix_pass(const Key* keys_in, Key* keys_out, const Value* values_in, Value* values_out, long long count, int shift,
               unsigned digit_mask, const unsigned long long* starts, State* states, unsigned* ticket) {
  constexpr int kThreads = Tuning::kThreads;
  constexpr int kItems = Tuning::kItems;
  constexpr int kWarps = kThreads / kWarpSize;
  constexpr bool kPairs = !std::is_same_v<Value, NoValue>;
  static_assert(kThreads >= kRadix, "a thread per digit");
  using States = DigitState<State>;
  using Index = State;  // positions wrap around, which is harmless because only their sums are used
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ int tile_shared;
  __shared__ int scan_totals[kRadix / kWarpSize];
  __shared__ Index digit_base[kRadix];
  int* counters = reinterpret_cast<int*>(memory);
  Key* sorted_keys = reinterpret_cast<Key*>(memory);

  if (threadIdx.x == 0) tile_shared = static_cast<int>(atomicAdd(ticket, 1));
  for (int i = threadIdx.x; i < kWarps * kRadix; i += kThreads) counters[i] = 0;
  __syncthreads();
  const int tile = tile_shared;
  const long long start = static_cast<long long>(tile) * Tuning::kTile;
  const int valid = count - start < Tuning::kTile ? static_cast<int>(count - start) : Tuning::kTile;
  const int warp_first = warp_id() * kWarpSize * kItems + lane_id();

  auto digit = [=](const Key& key) { return digit_of(Codec::encode(key), shift, digit_mask); };
  keys_in += start;

  // Keys behind the end take the last digit and the last places, where nobody writes them out.
  Key key[kItems];
  const bool full = valid == Tuning::kTile;
  if (full) {
#pragma unroll
    for (int i = 0; i < kItems; ++i) key[i] = keys_in[warp_first + i * kWarpSize];
  } else {
#pragma unroll
    for (int i = 0; i < kItems; ++i)
      key[i] = warp_first + i * kWarpSize < valid ? keys_in[warp_first + i * kWarpSize] : Codec::last();
  }

  int rank[kItems];
  int* mine = counters + warp_id() * kRadix;
  const unsigned lanes_before = (1u << lane_id()) - 1;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    unsigned my_digit = digit(key[i]);
    unsigned same = lanes_with(my_digit);
    int before = mine[my_digit];
    int behind = __popc(same & lanes_before);
    __syncwarp();
    store_if(behind == 0, &mine[my_digit], before + __popc(same));
    __syncwarp();
    rank[i] = before + behind;
  }
  __syncthreads();

  // Thread d looks after digit d: its count in this tile, its place in the tile, and its place in the output.
  int tile_count = 0, place = 0;
  if (threadIdx.x < kRadix) {
#pragma unroll
    for (int warp = 0; warp < kWarps; ++warp) tile_count += counters[warp * kRadix + threadIdx.x];
    State* state = states + static_cast<long long>(tile) * kRadix + threadIdx.x;
    States::publish(state, tile == 0 ? TileStatus::inclusive : TileStatus::aggregate, static_cast<State>(tile_count));
    place = warp_inclusive_scan(tile_count, [](int a, int b) { return a + b; });
    if (lane_id() == kWarpSize - 1) scan_totals[warp_id()] = place;
  }
  __syncthreads();
  if (threadIdx.x < kRadix) {
    for (int warp = 0; warp < warp_id(); ++warp) place += scan_totals[warp];
    place -= tile_count;
    int running = place;
#pragma unroll
    for (int warp = 0; warp < kWarps; ++warp) {
      int in_warp = counters[warp * kRadix + threadIdx.x];
      counters[warp * kRadix + threadIdx.x] = running;
      running += in_warp;
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kItems; ++i) rank[i] += mine[digit(key[i])];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kItems; ++i) sorted_keys[rank[i]] = key[i];
  if (threadIdx.x < kRadix) {
    State before = 0;
    if (tile > 0) {
      before = States::look_back(states, tile, threadIdx.x);
      States::publish(states + static_cast<long long>(tile) * kRadix + threadIdx.x, TileStatus::inclusive,
                      before + static_cast<State>(tile_count));
    }
    digit_base[threadIdx.x] = static_cast<Index>(starts[threadIdx.x]) + before - static_cast<Index>(place);
  }
  __syncthreads();

  Index target[kPairs ? kItems : 1];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    int index = i * kThreads + threadIdx.x;
    Key out_key = sorted_keys[index];
    Index to = digit_base[digit(out_key)] + static_cast<Index>(index);
    if (full || index < valid) keys_out[to] = out_key;
    if constexpr (kPairs) target[i] = to;
  }
  if constexpr (kPairs) {
    Value* sorted_values = reinterpret_cast<Value*>(memory);
    Value value[kItems];
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      int index = warp_first + i * kWarpSize;
      if (index < valid) value[i] = values_in[start + index];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kItems; ++i) sorted_values[rank[i]] = value[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      int index = i * kThreads + threadIdx.x;
      if (index < valid) values_out[target[i]] = sorted_values[index];
    }
  }
}

}  // namespace detail
}  // namespace warpbeam
