// 32 lanes as one vector value, for what the loop vectoriser does not find by itself: answers as bit masks.
#pragma once
#include <bit>
#include <cstring>
#include <type_traits>

#include "vm/warp.h"

// Over the 32 lanes. Unrolled early, before the vectoriser looks, such a loop would stay scalar.
#define WB_EACH_LANE(l) _Pragma("clang loop unroll(disable)") for (int l = 0; l < kWarpSize; ++l)

namespace warpbeam::vm {

template <class T>
using Vector __attribute__((ext_vector_type(kWarpSize))) = T;
using BoolVector __attribute__((ext_vector_type(kWarpSize))) = bool;

template <class V>
inline uint32_t to_mask(V truth) {
  return std::bit_cast<uint32_t>(__builtin_convertvector(truth, BoolVector));
}

// 1 in the lanes of the mask, else 0.
template <class T>
inline Vector<T> from_mask(uint32_t mask) {
  return __builtin_convertvector(std::bit_cast<BoolVector>(mask), Vector<T>);
}

template <class T>
inline Vector<T> load_vector(const T* lanes) {
  Vector<T> v;
  std::memcpy(&v, lanes, sizeof(v));
  return v;
}
template <class T>
inline Vector<T> load_vector(Warp& w, int32_t slot) {
  return load_vector(w.lanes<T>(slot));
}

// a in the lanes of the mask, else b.
template <class T>
inline Vector<T> blend(uint32_t mask, Vector<T> a, Vector<T> b) {
  using I = std::conditional_t<sizeof(T) == 1, int8_t,
                               std::conditional_t<sizeof(T) == 2, int16_t, std::conditional_t<sizeof(T) == 4, int32_t, int64_t>>>;
  return from_mask<I>(mask) != 0 ? a : b;
}

template <class T>
inline void store_vector(T* d, Vector<T> v, uint32_t mask) {
  if (mask != ~0u) v = blend<T>(mask, v, load_vector<T>(d));
  std::memcpy(d, &v, sizeof(v));
}

template <class T>
[[gnu::always_inline]] inline void store_lanes(T* d, const T* values, uint32_t mask) {
  if constexpr (std::is_arithmetic_v<T>) {
    store_vector<T>(d, load_vector<T>(values), mask);
  } else {
    for (int l = 0; l < kWarpSize; ++l)
      if (mask >> l & 1) d[l] = values[l];
  }
}

}  // namespace warpbeam::vm
