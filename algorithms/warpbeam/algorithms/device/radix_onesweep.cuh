// The kernels of the radix sort. Each pass reads every key once and writes it once ("one sweep", Adinolfi and Merrill,
// 2022): a tile counts its keys by digit, ranks them, learns by look-back how many keys of each digit the earlier tiles
// hold, and writes every key to its final place of this pass. Where a digit starts is known beforehand from one
// histogram pass that counts the digits of all passes at once.
#pragma once

#include "../block/lookback.cuh"
#include "../config.cuh"
#include "../thread/radix_key.cuh"
#include "radix_digits.cuh"

namespace warpbeam {

template <int kThreadsV, int kItemsV, int kBlocksV>
struct RadixTuning {
  static constexpr int kThreads = kThreadsV;
  // Keys per thread. A tile of an odd number of keys per digit keeps evenly spread digits of sorted input from meeting in
  // one bank when they are scattered.
  static constexpr int kItems = kItemsV;
  static constexpr int kBlocks = kBlocksV;  // blocks per multiprocessor
  static constexpr int kTile = kThreads * kItems;
};

namespace detail {

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

// The lanes of the warp that hold the same digit: per bit a test, a vote, and a complement where the bit is zero. In PTX,
// because compilers make more of it. Bit operations are what a pass is busiest with, so the complement is left to the
// multiply-add unit, as -1 * v - 1, with a minus one that the compiler does not know to be one.
__device__ inline unsigned lanes_with(unsigned digit) {
  const int minus_one = static_cast<int>(threadIdx.y) - 1;
  unsigned votes[kRadixBits];
#pragma unroll
  for (int bit = 0; bit < kRadixBits; ++bit) {
    asm volatile(
        "{\n\t.reg .pred p;\n\t.reg .b32 v;\n\t"
        "and.b32 v, %1, %2;\n\t"
        "setp.ne.u32 p, v, 0;\n\t"
        "vote.sync.ballot.b32 %0, p, 0xffffffff;\n\t"
        "@!p mad.lo.u32 %0, %0, %3, %3;\n\t}"
        : "=r"(votes[bit])
        : "r"(digit), "r"(1u << bit), "r"(minus_one));
  }
  return (votes[0] & votes[1] & votes[2]) & (votes[3] & votes[4]) & (votes[5] & votes[6] & votes[7]);
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
  // The keys are dead before the values are scattered.
  static constexpr size_t kBytes = kCounterBytes + (kKeyBytes > kValueBytes ? kKeyBytes : kValueBytes);
};

// Thread d looks after digit d. Returns how many keys of smaller digits the block has; called by all threads.
__device__ inline int digits_before(int count, int* scan_totals) {
  int through = 0;
  if (threadIdx.x < kRadix) {
    through = warp_inclusive_scan(count, [](int a, int b) { return a + b; });
    if (lane_id() == kWarpSize - 1) scan_totals[warp_id()] = through;
  }
  __syncthreads();
  if (threadIdx.x < kRadix)
    for (int warp = 0; warp < warp_id(); ++warp) through += scan_totals[warp];
  return through - count;
}

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
  Key* sorted_keys = reinterpret_cast<Key*>(memory + RadixShared<Tuning, Key, Value>::kCounterBytes);

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

  // Every warp counts its digits, so that later tiles learn this tile's counts before its keys are ranked.
  int* mine = counters + warp_id() * kRadix;
#pragma unroll
  for (int i = 0; i < kItems; ++i) atomicAdd(&mine[digit(key[i])], 1);
  __syncthreads();
  int tile_count = 0;
  int in_warp[kWarps];
  if (threadIdx.x < kRadix) {
#pragma unroll
    for (int warp = 0; warp < kWarps; ++warp) {
      in_warp[warp] = counters[warp * kRadix + threadIdx.x];
      tile_count += in_warp[warp];
    }
    State* state = states + static_cast<long long>(tile) * kRadix + threadIdx.x;
    States::publish(state, tile == 0 ? TileStatus::inclusive : TileStatus::aggregate, static_cast<State>(tile_count));
  }
  const int place = digits_before(tile_count, scan_totals);
  if (threadIdx.x < kRadix) {
    int running = place;
#pragma unroll
    for (int warp = 0; warp < kWarps; ++warp) {
      counters[warp * kRadix + threadIdx.x] = running;
      running += in_warp[warp];
    }
  }
  __syncthreads();

  // The counters now say where the warp's next key of each digit goes.
  int place_of[kPairs ? kItems : 1];
  const unsigned lanes_before = (1u << lane_id()) - 1;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const unsigned my_digit = digit(key[i]);
    const unsigned same = lanes_with(my_digit);
    const int first = mine[my_digit];
    const int behind = __popc(same & lanes_before);
    __syncwarp();
    store_if(behind == 0, &mine[my_digit], first + __popc(same));
    __syncwarp();
    sorted_keys[first + behind] = key[i];
    if constexpr (kPairs) place_of[i] = first + behind;
  }
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
    Value* sorted_values = reinterpret_cast<Value*>(sorted_keys);
    Value value[kItems];
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      int index = warp_first + i * kWarpSize;
      if (index < valid) value[i] = values_in[start + index];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kItems; ++i) sorted_values[place_of[i]] = value[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      int index = i * kThreads + threadIdx.x;
      if (index < valid) values_out[target[i]] = sorted_values[index];
    }
  }
}

// A pass that may leave keys of equal digits in any order: the first one over whole keys that have no values. Nothing is
// ranked and nobody waits for an earlier tile; returning atomics give every key a place of its own, in the tile and for
// the tile. `next_places` says where the next key of each digit goes.
template <class Tuning, class Codec, class Key, class Index>
__global__ void __launch_bounds__(Tuning::kThreads, Tuning::kBlocks)
    radix_first_pass(const Key* keys_in, Key* keys_out, long long count, unsigned digit_mask,
                     unsigned long long* next_places) {
  constexpr int kThreads = Tuning::kThreads;
  constexpr int kItems = Tuning::kItems;
  static_assert(kThreads >= kRadix, "a thread per digit");
  extern __shared__ __align__(128) unsigned char memory[];
  // Spread, so that digits that are multiples of a power of two do not meet in one bank.
  auto counter_at = [](unsigned digit) { return digit + digit / kWarpSize; };
  __shared__ int counters[kRadix + kRadix / kWarpSize];
  __shared__ int scan_totals[kRadix / kWarpSize];
  __shared__ Index digit_base[kRadix];
  Key* sorted_keys = reinterpret_cast<Key*>(memory);
  const long long start = static_cast<long long>(blockIdx.x) * Tuning::kTile;
  const int valid = count - start < Tuning::kTile ? static_cast<int>(count - start) : Tuning::kTile;
  const bool full = valid == Tuning::kTile;
  auto digit = [=](const Key& key) { return digit_of(Codec::encode(key), 0, digit_mask); };
  auto exists = [=](int i) { return full || i * kThreads + static_cast<int>(threadIdx.x) < valid; };

  keys_in += start;
  Key key[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i)
    if (exists(i)) key[i] = keys_in[i * kThreads + threadIdx.x];
  if (threadIdx.x < kRadix) counters[counter_at(threadIdx.x)] = 0;
  __syncthreads();
  int rank[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i)
    if (exists(i)) rank[i] = atomicAdd(&counters[counter_at(digit(key[i]))], 1);
  __syncthreads();
  int tile_count = 0;
  Index base = 0;
  if (threadIdx.x < kRadix) {
    tile_count = counters[counter_at(threadIdx.x)];
    if (tile_count > 0)
      base = static_cast<Index>(atomicAdd(&next_places[threadIdx.x], static_cast<unsigned long long>(tile_count)));
  }
  const int place = digits_before(tile_count, scan_totals);
  if (threadIdx.x < kRadix) {
    counters[counter_at(threadIdx.x)] = place;
    digit_base[threadIdx.x] = base - static_cast<Index>(place);
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kItems; ++i)
    if (exists(i)) sorted_keys[rank[i] + counters[counter_at(digit(key[i]))]] = key[i];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (!exists(i)) continue;
    const int index = i * kThreads + threadIdx.x;
    const Key out_key = sorted_keys[index];
    keys_out[digit_base[digit(out_key)] + static_cast<Index>(index)] = out_key;
  }
}

}  // namespace detail
}  // namespace warpbeam
