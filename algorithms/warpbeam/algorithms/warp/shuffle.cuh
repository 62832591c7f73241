// Shuffles for values of any trivially copyable type, and the reductions and scans of one warp built on them.
#pragma once

#include "../config.cuh"

namespace warpbeam {

namespace detail {

template <class T, class Exchange>
__device__ T shuffle_words(const T& value, Exchange exchange) {
  static_assert(std::is_trivially_copyable_v<T>, "values travel between lanes as raw words");
  constexpr int kWords = (sizeof(T) + 3) / 4;
  union Bits {
    unsigned words[kWords];
    unsigned char bytes[kWords * 4];
  } bits;
  if constexpr (sizeof(T) == 4) {
    __builtin_memcpy(&bits.words[0], &value, 4);
  } else {
    bits.words[kWords - 1] = 0;
    __builtin_memcpy(bits.bytes, &value, sizeof(T));
  }
#pragma unroll
  for (int i = 0; i < kWords; ++i) bits.words[i] = exchange(bits.words[i]);
  T result;
  __builtin_memcpy(&result, bits.bytes, sizeof(T));
  return result;
}

}  // namespace detail

template <class T>
__device__ T shuffle_up(const T& value, unsigned distance) {
  return detail::shuffle_words(value, [=](unsigned word) { return __shfl_up_sync(kFullWarp, word, distance); });
}

template <class T>
__device__ T shuffle_down(const T& value, unsigned distance) {
  return detail::shuffle_words(value, [=](unsigned word) { return __shfl_down_sync(kFullWarp, word, distance); });
}

template <class T>
__device__ T shuffle_xor(const T& value, unsigned mask) {
  return detail::shuffle_words(value, [=](unsigned word) { return __shfl_xor_sync(kFullWarp, word, mask); });
}

template <class T>
__device__ T shuffle_from(const T& value, int lane) {
  return detail::shuffle_words(value, [=](unsigned word) { return __shfl_sync(kFullWarp, word, lane); });
}

// The result is valid in lane 0. Operands keep their order, so the operator need not commute.
template <class T, class Op>
__device__ T warp_reduce(T value, Op op) {
#pragma unroll
  for (int distance = 1; distance < kWarpSize; distance *= 2) {
    T other = shuffle_down(value, distance);
    value = op(value, other);
  }
  return value;
}

// The same over the first `count` lanes.
template <class T, class Op>
__device__ T warp_reduce(T value, Op op, int count) {
#pragma unroll
  for (int distance = 1; distance < kWarpSize; distance *= 2) {
    T other = shuffle_down(value, distance);
    if (lane_id() + distance < count) value = op(value, other);
  }
  return value;
}

template <class T, class Op>
__device__ T warp_inclusive_scan(T value, Op op) {
#pragma unroll
  for (int distance = 1; distance < kWarpSize; distance *= 2) {
    T other = shuffle_up(value, distance);
    if (lane_id() >= distance) value = op(other, value);
  }
  return value;
}

}  // namespace warpbeam
