// Decoupled look-back: how a tile learns the combination of all tiles before it while the input is read only once
// (Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016).
//
// Every tile publishes its own aggregate as soon as it knows it, and its inclusive prefix later. A tile walks backwards
// over published states, adding aggregates, until it meets an inclusive prefix. Tiles are handed out by a ticket, so
// every predecessor of a running tile is running or done, and waiting always ends.
#pragma once

#include "../config.cuh"
#include "../warp/shuffle.cuh"

namespace warpbeam {

enum class TileStatus : unsigned { empty = 0, aggregate = 1, inclusive = 2 };

template <class T>
struct TileState {
  TileStatus status;
  T value;
};

// The published states of all tiles. A small value travels with its status in one word that is read and written whole;
// a larger one is written first and its status released after it.
template <class T>
class TileStates {
 public:
  static constexpr bool kOneWord = sizeof(T) <= 4 && std::is_trivially_copyable_v<T>;
  static constexpr size_t kStatusBytes = 16;  // the widest form; all of it starts as zero

  static size_t bytes(long long tiles) { return tiles * (kStatusBytes + 2 * sizeof(T)); }
  static size_t zeroed_bytes(long long tiles) { return tiles * kStatusBytes; }

  TileStates() = default;
  TileStates(char* memory, long long tiles)
      : words_(memory), aggregates_(reinterpret_cast<T*>(memory + tiles * kStatusBytes)), inclusives_(aggregates_ + tiles) {}

  __device__ void publish(int tile, TileStatus status, const T& value) const {
    if constexpr (kOneWord) {
      unsigned bits = 0;
      __builtin_memcpy(&bits, &value, sizeof(T));
      unsigned long long word = static_cast<unsigned long long>(status) << 32 | bits;
      volatile unsigned long long* to = reinterpret_cast<unsigned long long*>(words_) + tile;
      *to = word;
    } else {
#if WB_BULK_COPY
      if constexpr (sizeof(T) == 8) {
        unsigned long long bits;
        __builtin_memcpy(&bits, &value, 8);
        asm volatile("st.relaxed.gpu.global.v2.b64 [%0], {%1, %2};" ::"l"(words_ + static_cast<size_t>(tile) * 16),
                     "l"(static_cast<unsigned long long>(status)), "l"(bits)
                     : "memory");
        return;
      }
#endif
      T* to = (status == TileStatus::inclusive ? inclusives_ : aggregates_) + tile;
      store_words(to, value);
      __threadfence();
      volatile unsigned* flag = reinterpret_cast<unsigned*>(words_) + tile;
      *flag = static_cast<unsigned>(status);
    }
  }

  __device__ TileState<T> read(int tile) const {
    TileState<T> state;
    if constexpr (kOneWord) {
      const volatile unsigned long long* from = reinterpret_cast<const unsigned long long*>(words_) + tile;
      unsigned long long word = *from;
      state.status = static_cast<TileStatus>(word >> 32);
      unsigned bits = static_cast<unsigned>(word);
      __builtin_memcpy(&state.value, &bits, sizeof(T));
    } else {
#if WB_BULK_COPY
      if constexpr (sizeof(T) == 8) {
        unsigned long long status, bits;
        asm volatile("ld.relaxed.gpu.global.v2.b64 {%0, %1}, [%2];"
                     : "=l"(status), "=l"(bits)
                     : "l"(words_ + static_cast<size_t>(tile) * 16)
                     : "memory");
        state.status = static_cast<TileStatus>(status);
        __builtin_memcpy(&state.value, &bits, 8);
        return state;
      }
#endif
      const volatile unsigned* flag = reinterpret_cast<const unsigned*>(words_) + tile;
      state.status = static_cast<TileStatus>(*flag);
      __threadfence();
      if (state.status != TileStatus::empty)
        load_words(&state.value, (state.status == TileStatus::inclusive ? inclusives_ : aggregates_) + tile);
    }
    return state;
  }

 private:
  // Past the first-level cache, which is not kept coherent between multiprocessors.
  __device__ static void store_words(T* to, const T& value) {
    constexpr size_t kChunk = sizeof(T) % 4 == 0 && alignof(T) >= 4 ? 4 : 1;
    using Chunk = std::conditional_t<kChunk == 4, unsigned, unsigned char>;
    const Chunk* from = reinterpret_cast<const Chunk*>(&value);
    for (size_t i = 0; i < sizeof(T) / kChunk; ++i) reinterpret_cast<volatile Chunk*>(to)[i] = from[i];
  }
  __device__ static void load_words(T* to, const T* from) {
    constexpr size_t kChunk = sizeof(T) % 4 == 0 && alignof(T) >= 4 ? 4 : 1;
    using Chunk = std::conditional_t<kChunk == 4, unsigned, unsigned char>;
    Chunk* words = reinterpret_cast<Chunk*>(to);
    for (size_t i = 0; i < sizeof(T) / kChunk; ++i) words[i] = reinterpret_cast<const volatile Chunk*>(from)[i];
  }

  char* words_ = nullptr;
  T* aggregates_ = nullptr;
  T* inclusives_ = nullptr;
};

// Called by one whole warp for a tile other than the first: the combination of all earlier tiles, in every lane.
// kWindows states per lane are requested before the first is looked at, so a distant prefix costs one round trip.
template <int kWindows, class T, class Op>
__device__ T look_back(const TileStates<T>& states, int tile, Op op) {
  auto reversed = [&](const T& newer, const T& older) { return op(older, newer); };
  T prefix{};
  bool have = false;
  for (int newest = tile - 1;; newest -= kWindows * kWarpSize) {
    TileState<T> window[kWindows];
#pragma unroll
    for (int i = 0; i < kWindows; ++i) {
      int index = newest - i * kWarpSize - lane_id();
      window[i].status = TileStatus::empty;
      if (index >= 0) window[i] = states.read(index);
    }
#pragma unroll
    for (int i = 0; i < kWindows; ++i) {
      int index = newest - i * kWarpSize - lane_id();
      unsigned inclusive;
      for (;;) {
        inclusive = __ballot_sync(kFullWarp, window[i].status == TileStatus::inclusive);
        unsigned empty = __ballot_sync(kFullWarp, index >= 0 && window[i].status == TileStatus::empty);
        // Only the states up to the nearest inclusive prefix matter.
        unsigned needed = inclusive ? inclusive ^ (inclusive - 1) : kFullWarp;
        if ((empty & needed) == 0) break;
        if (index >= 0 && window[i].status == TileStatus::empty) window[i] = states.read(index);
      }
      int count = inclusive ? __ffs(inclusive) : kWarpSize;
      T part = shuffle_from(warp_reduce(window[i].value, reversed, count), 0);
      prefix = have ? op(part, prefix) : part;
      have = true;
      if (inclusive) return prefix;
    }
  }
}

// Called by all warps of a block, where every block has one tile: asks all tiles in front of `tile` at once, and leaves
// the combination of the first 32 aggregates in prefixes[0], of the next 32 in prefixes[1], and so on.
template <class T, class Op>
__device__ void gather_aggregates(const TileStates<T>& states, int tile, T* prefixes, Op op) {
  const int warps = blockDim.x / kWarpSize;
  for (int group = warp_id(); group * kWarpSize < tile; group += warps) {
    const int from = group * kWarpSize + lane_id();
    TileState<T> state{};
    if (from < tile) {
      do {
        state = states.read(from);
      } while (state.status == TileStatus::empty);
    }
    __syncwarp();
    const T part = warp_reduce(state.value, op, min(kWarpSize, tile - group * kWarpSize));
    if (lane_id() == 0) prefixes[group] = part;
  }
}

}  // namespace warpbeam
