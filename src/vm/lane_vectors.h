// 32 lanes as one vector value, for what the loop vectoriser does not find by itself: answers as bit masks.
#pragma once
#include <bit>
#include <cstring>

#include "vm/warp.h"

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
inline Vector<T> load_vector(Warp& w, int32_t slot) {
  Vector<T> v;
  std::memcpy(&v, w.lanes<T>(slot), sizeof(v));
  return v;
}

}  // namespace warpbeam::vm
