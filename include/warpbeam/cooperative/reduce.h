// Cooperative groups: reductions and scans over the lanes of a group, and their operations.
#ifndef WARPBEAM_COOPERATIVE_REDUCE_H
#define WARPBEAM_COOPERATIVE_REDUCE_H

#include "tiles.h"

namespace cooperative_groups {

#define WB_OPERATION(name, expression)                                             \
  template <class T>                                                               \
  struct name {                                                                    \
    __forceinline__ __host__ __device__ T operator()(const T& a, const T& b) const { \
      return expression;                                                           \
    }                                                                              \
  };
WB_OPERATION(plus, a + b)
WB_OPERATION(less, b < a ? b : a)
WB_OPERATION(greater, a < b ? b : a)
WB_OPERATION(bit_and, a & b)
WB_OPERATION(bit_or, a | b)
WB_OPERATION(bit_xor, a ^ b)
#undef WB_OPERATION

// In a tile every lane meets its counterpart at each distance and ends with the result.
template <unsigned int Size, class Parent, class T, class Op>
WB_GROUP T reduce(const thread_block_tile<Size, Parent>& tile, T value, Op op) {
  for (unsigned int distance = Size / 2; distance > 0; distance /= 2) {
    value = op(value, tile.shfl_xor(value, (int)distance));
  }
  return value;
}

// In other groups the upper half folds onto the lower, and the first lane tells the others.
template <class T, class Op>
WB_GROUP T reduce(const coalesced_group& group, T value, Op op) {
  const unsigned int rank = group.thread_rank();
  for (unsigned int size = group.size(); size > 1;) {
    const unsigned int half = (size + 1) / 2;
    const T other = group.shfl_down(value, half);
    if (rank + half < size) value = op(value, other);
    size = half;
  }
  return group.shfl(value, 0);
}

template <class G, class T, class Op>
WB_GROUP T inclusive_scan(const G& group, T value, Op op) {
  const unsigned int rank = group.thread_rank();
  for (unsigned int distance = 1; distance < group.size(); distance *= 2) {
    const T before = group.shfl_up(value, distance);
    if (rank >= distance) value = op(before, value);
  }
  return value;
}
template <class G, class T>
WB_GROUP T inclusive_scan(const G& group, T value) { return inclusive_scan(group, value, plus<T>()); }

// The first thread, which nothing comes before, gets T().
template <class G, class T, class Op>
WB_GROUP T exclusive_scan(const G& group, T value, Op op) {
  const T before = group.shfl_up(inclusive_scan(group, value, op), 1);
  return group.thread_rank() == 0 ? T() : before;
}
template <class G, class T>
WB_GROUP T exclusive_scan(const G& group, T value) { return exclusive_scan(group, value, plus<T>()); }

}  // namespace cooperative_groups

#endif
