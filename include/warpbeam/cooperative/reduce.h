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

namespace wb {

template <class G, class T, class Op>
WB_GROUP T reduce_across(const G& tile, T value, Op op) {
  for (unsigned int distance = tile.size() / 2; distance > 0; distance /= 2) {
    value = op(value, tile.shfl_xor(value, (int)distance));
  }
  return value;
}

// Combined as nvcc's headers do, a thread's own value first: it shows with operations that are not commutative.
template <class G, class T, class Op>
WB_GROUP T scan_across(const G& group, T value, Op op) {
  const unsigned int rank = group.thread_rank();
  for (unsigned int distance = 1; distance < group.size(); distance *= 2) {
    const T before = group.shfl_up(value, distance);
    if (rank >= distance) value = op(value, before);
  }
  return value;
}

}  // namespace wb

// In a tile every lane meets its counterpart at each distance and ends with the result.
template <unsigned int Size, class T, class Op>
WB_GROUP T reduce(const wb::tile<Size, false>& tile, T value, Op op) {
  return wb::reduce_across(tile, value, op);
}
template <unsigned int Size, class T, class Op>
WB_GROUP T reduce(const wb::tile<Size, true>& tile, T value, Op op) {
  return tile.fold(wb::reduce_across(tiled_partition<32>(this_thread_block()), value, op), op);
}

// Other groups are scanned, and the last lane tells the others; a whole warp is as good as a tile.
template <class T, class Op>
WB_GROUP T reduce(const coalesced_group& group, T value, Op op) {
  if (group.size() == 32) return wb::reduce_across(tiled_partition<32>(this_thread_block()), value, op);
  return group.shfl(wb::scan_across(group, value, op), group.size() - 1);
}

template <unsigned int Size, class T, class Op>
WB_GROUP T inclusive_scan(const wb::tile<Size, false>& tile, T value, Op op) {
  return wb::scan_across(tile, value, op);
}
template <class T, class Op>
WB_GROUP T inclusive_scan(const coalesced_group& group, T value, Op op) {
  return wb::scan_across(group, value, op);
}
template <unsigned int Size, class T, class Op>
WB_GROUP T inclusive_scan(const wb::tile<Size, true>& tile, T value, Op op) {
  const auto warp = tiled_partition<32>(this_thread_block());
  value = wb::scan_across(warp, value, op);
  T before = value;
  return tile.fold_before(warp.shfl(value, 31), op, before) ? op(value, before) : value;
}
template <class G, class T>
WB_GROUP T inclusive_scan(const G& group, T value) { return inclusive_scan(group, value, plus<T>()); }

namespace wb {
// What comes before a thread, from the inclusive scan; nothing comes before the first, which gets `first`.
template <class G, class T>
WB_GROUP T before_across(const G& group, const T& scanned, const T& first) {
  const T result = group.shfl_up(scanned, 1);
  return group.thread_rank() == 0 ? first : result;
}
template <unsigned int Size, class T>
WB_GROUP T before(const tile<Size, false>& group, const T& scanned, const T& first) {
  return before_across(group, scanned, first);
}
template <class T>
WB_GROUP T before(const coalesced_group& group, const T& scanned, const T& first) {
  return before_across(group, scanned, first);
}
template <unsigned int Size, class T>
WB_GROUP T before(const tile<Size, true>& group, const T& scanned, const T& first) {
  const auto warp = tiled_partition<32>(this_thread_block());
  const T in_warp = warp.shfl_up(scanned, 1);
  T of_warps = first;
  group.fold_before(warp.shfl(scanned, 31), [](const T& own, const T&) { return own; }, of_warps);
  return group.thread_rank() == 0 ? first : wb::lane() == 0 ? of_warps : in_warp;
}
}  // namespace wb

namespace wb {
template <unsigned int Size, class T, class Op>
WB_GROUP T exclusive(const tile<Size, false>& group, const T& value, Op op) {
  return before_across(group, scan_across(group, value, op), T());
}
template <class T, class Op>
WB_GROUP T exclusive(const coalesced_group& group, const T& value, Op op) {
  return before_across(group, scan_across(group, value, op), T());
}
template <unsigned int Size, class T, class Op>
WB_GROUP T exclusive(const tile<Size, true>& group, const T& value, Op op) {
  const auto warp = tiled_partition<32>(this_thread_block());
  const T scanned = scan_across(warp, value, op);
  const T in_warp = warp.shfl_up(scanned, 1);
  T of_warps = T();
  const bool later = group.fold_before(warp.shfl(scanned, 31), op, of_warps);
  return wb::lane() == 0 ? of_warps : later ? op(in_warp, of_warps) : in_warp;
}
}  // namespace wb
// The first thread, which nothing comes before, gets T().
template <class G, class T, class Op>
WB_GROUP T exclusive_scan(const G& group, T value, Op op) {
  return wb::exclusive(group, value, op);
}
template <class G, class T>
WB_GROUP T exclusive_scan(const G& group, T value) { return exclusive_scan(group, value, plus<T>()); }

// --- with an object that many groups share ------------------------------------------------------------------------

namespace wb {
// Makes an atomic object, or what a reference made on the spot refers to, `op` of itself and the value; gives what it was.
template <class Atomic, class T, class Op>
WB_GROUP T update(Atomic&& object, const T& value, Op op) {
  auto old = object.load();
  while (!object.compare_exchange_weak(old, op(old, value))) {
  }
  return old;
}
template <class Atomic, class T>
WB_GROUP T update(Atomic&& object, const T& value, plus<T>) { return object.fetch_add(value); }
}  // namespace wb

template <class G, class Atomic, class T, class Op>
WB_GROUP void reduce_update_async(const G& group, Atomic&& object, T value, Op op) {
  const T result = reduce(group, value, op);
  if (group.thread_rank() == 0) wb::update(object, result, op);
}
namespace wb {
template <class T>
WB_GROUP void put(T* place, const T& value) { *place = value; }
template <class Atomic, class T>
WB_GROUP auto put(Atomic&& object, const T& value) -> decltype(object.store(value)) { object.store(value); }
}  // namespace wb

template <class G, class Place, class T, class Op>
WB_GROUP void reduce_store_async(const G& group, Place&& place, T value, Op op) {
  const T result = reduce(group, value, op);
  if (group.thread_rank() == 0) wb::put(place, result);
}

// The group's total goes into the object; the scan goes on from what the object was.
template <class G, class Atomic, class T, class Op>
WB_GROUP T inclusive_scan_update(const G& group, Atomic&& object, T value, Op op) {
  value = inclusive_scan(group, value, op);
  const unsigned int last = (unsigned int)group.size() - 1;
  T old = value;
  if (group.thread_rank() == last) old = wb::update(object, value, op);
  return op(group.shfl(old, last), value);
}
template <class G, class Atomic, class T>
WB_GROUP T inclusive_scan_update(const G& group, Atomic&& object, T value) {
  return inclusive_scan_update(group, object, value, plus<T>());
}
template <class G, class Atomic, class T, class Op>
WB_GROUP T exclusive_scan_update(const G& group, Atomic&& object, T value, Op op) {
  const T scanned = inclusive_scan(group, value, op);
  const unsigned int last = (unsigned int)group.size() - 1;
  T old = scanned;
  if (group.thread_rank() == last) old = wb::update(object, scanned, op);
  old = group.shfl(old, last);
  const T before = wb::before(group, scanned, old);
  return group.thread_rank() == 0 ? old : op(old, before);
}
template <class G, class Atomic, class T>
WB_GROUP T exclusive_scan_update(const G& group, Atomic&& object, T value) {
  return exclusive_scan_update(group, object, value, plus<T>());
}

}  // namespace cooperative_groups

#endif
