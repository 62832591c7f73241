// Cooperative groups: dividing a group into tiles of a fixed size, by a condition or by a label.
#ifndef WARPBEAM_COOPERATIVE_TILES_H
#define WARPBEAM_COOPERATIVE_TILES_H

#include "groups.h"

namespace cooperative_groups {

namespace wb {

// A tile of Size consecutive threads of a block. Up to a warp's size it lies within one warp.
template <unsigned int Size, bool BeyondWarp>
class tile : public thread_group {
 protected:
  WB_GROUP tile(unsigned int count, unsigned int index)
      : thread_group(wb::Kind::Lanes, Size == 32 ? 0xffffffffu : ((1u << (Size % 32)) - 1) << (wb::lane() & (32 - Size)),
                     count, index) {}

 public:
  static constexpr WB_GROUP unsigned int size() { return Size; }
  static constexpr WB_GROUP unsigned int num_threads() { return Size; }
  static WB_GROUP unsigned int thread_rank() { return wb::rank_in_block() & (Size - 1); }
  WB_GROUP unsigned int meta_group_size() const { return count_; }
  WB_GROUP unsigned int meta_group_rank() const { return index_; }
  WB_GROUP void sync() const { __syncwarp(mask_); }

#define WB_SHUFFLE(name, Operand)                                                                                   \
  template <class T>                                                                                                \
  WB_GROUP T name(const T& value, Operand operand) const {                                                          \
    const unsigned int mask = mask_;                                                                                \
    return wb::shuffle_words(value,                                                                                 \
                             [mask, operand](unsigned int w) { return __##name##_sync(mask, w, operand, Size); }); \
  }
  WB_SHUFFLE(shfl, int)
  WB_SHUFFLE(shfl_up, unsigned int)
  WB_SHUFFLE(shfl_down, unsigned int)
  WB_SHUFFLE(shfl_xor, int)
#undef WB_SHUFFLE
  WB_GROUP int any(int predicate) const { return (__ballot_sync(mask_, predicate) & mask_) != 0; }
  WB_GROUP int all(int predicate) const { return (__ballot_sync(mask_, predicate) & mask_) == mask_; }
  WB_GROUP unsigned int ballot(int predicate) const { return ranks(__ballot_sync(mask_, predicate)); }
#if WB_HAS_ARCH(700)
  template <class T>
  WB_GROUP unsigned int match_any(T value) const { return ranks(__match_any_sync(mask_, value)); }
  template <class T>
  WB_GROUP unsigned int match_all(T value, int& predicate) const {
    return ranks(__match_all_sync(mask_, value, &predicate));
  }
#endif

 private:
  WB_GROUP unsigned int ranks(unsigned int lanes) const { return (lanes & mask_) >> (wb::lane() & (32 - Size) & 31); }
};

// Larger tiles are made of whole warps, which meet at a named barrier and exchange values in shared memory.
template <unsigned int Size>
class tile<Size, true> : public thread_group {
  // A place for each warp of the block.
  template <class T>
  static WB_GROUP T* slots() {
    __shared__ __align__(alignof(T)) unsigned char bytes[32 * sizeof(T)];
    return (T*)bytes;
  }
  static WB_GROUP unsigned int warp() { return wb::rank_in_block() / 32; }
  static WB_GROUP unsigned int first_warp() { return warp() & ~(Size / 32 - 1); }

 protected:
  WB_GROUP tile(unsigned int count, unsigned int index) : thread_group(wb::Kind::Warps, Size, count, index) {}

 public:
  static constexpr WB_GROUP unsigned int size() { return Size; }
  static constexpr WB_GROUP unsigned int num_threads() { return Size; }
  static WB_GROUP unsigned int thread_rank() { return wb::rank_in_block() & (Size - 1); }
  WB_GROUP unsigned int meta_group_size() const { return count_; }
  WB_GROUP unsigned int meta_group_rank() const { return index_; }
  WB_GROUP void sync() const { wb::sync_warps(Size); }

  template <class T>
  WB_GROUP T shfl(const T& value, unsigned int rank) const {
    T* slot = slots<T>() + first_warp();
    if (thread_rank() == rank % Size) *slot = value;
    sync();
    const T result = *slot;
    sync();
    return result;
  }
  WB_GROUP int any(int predicate) const {
    return fold(__any_sync(0xffffffffu, predicate), [](int a, int b) { return a | b; });
  }
  WB_GROUP int all(int predicate) const {
    return fold(__all_sync(0xffffffffu, predicate), [](int a, int b) { return a & b; });
  }

  // For reduce and the scans: values of whole warps combined as their lanes' are, over all of the tile, or over the warps
  // before this one, of which the first has none. Floating-point sums depend on the order.
  template <class T, class Op>
  WB_GROUP T fold(const T& of_warp, Op op) const {
    T value = gather(of_warp);
    for (unsigned int distance = Size / 64; distance > 0; distance /= 2) {
      value = op(value, wb::shuffle_words(value, [distance](unsigned int w) { return __shfl_xor_sync(0xffffffffu, w, (int)distance); }));
    }
    return from_lane(value, warp() - first_warp());
  }
  template <class T, class Op>
  WB_GROUP bool fold_before(const T& of_warp, Op op, T& result) const {
    T value = gather(of_warp);
    const unsigned int rank = wb::lane() & (Size / 32 - 1);
    for (unsigned int distance = 1; distance < Size / 32; distance *= 2) {
      const T before = wb::shuffle_words(value, [distance](unsigned int w) { return __shfl_up_sync(0xffffffffu, w, distance); });
      if (rank >= distance) value = op(value, before);
    }
    const unsigned int index = warp() - first_warp();
    value = from_lane(value, (index - 1) & 31);
    if (index) result = value;
    return index != 0;
  }

 private:
  // The values of the tile's warps, one a lane and again from the front in the lanes that are left.
  template <class T>
  WB_GROUP T gather(const T& of_warp) const {
    T* slot = slots<T>();
    if (wb::lane() == 0) slot[warp()] = of_warp;
    sync();
    const T result = slot[first_warp() + (wb::lane() & (Size / 32 - 1))];
    sync();
    return result;
  }
  template <class T>
  static WB_GROUP T from_lane(const T& value, unsigned int lane) {
    return wb::shuffle_words(value, [lane](unsigned int w) { return __shfl_sync(0xffffffffu, w, (int)lane); });
  }
};

}  // namespace wb

template <unsigned int Size, class Parent = void>
class thread_block_tile : public wb::tile<Size, (Size > 32)> {
  static_assert(Size > 0 && (Size & (Size - 1)) == 0, "the size of a tile is a power of two");
  static_assert(Size <= 1024, "a tile lies within a block");

  template <unsigned int S, class P>
  friend WB_GROUP thread_block_tile<S, P> tiled_partition(const P& parent);
  friend WB_GROUP thread_block_tile<1, void> this_thread();

  WB_GROUP thread_block_tile(unsigned int count, unsigned int index) : wb::tile<Size, (Size > 32)>(count, index) {}

 public:
  // The parent may be left out of the type.
  template <class OtherParent>
  WB_GROUP thread_block_tile(const thread_block_tile<Size, OtherParent>& other)
      : wb::tile<Size, (Size > 32)>(other.meta_group_size(), other.meta_group_rank()) {}
};

template <unsigned int Size, class Parent>
WB_GROUP thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
  return thread_block_tile<Size, Parent>(((unsigned int)parent.size() + Size - 1) / Size,
                                         (unsigned int)parent.thread_rank() / Size);
}

// The calling thread as a group, of which there is one.
WB_GROUP thread_block_tile<1, void> this_thread() { return thread_block_tile<1, void>(1, 0); }

// Memory that older devices need for tiles of several warps; the tiles here have their own.
template <unsigned int MaxBlockSize = 1024>
struct block_tile_memory {
  unsigned char unused;
};
template <unsigned int MaxBlockSize>
WB_GROUP thread_block this_thread_block(block_tile_memory<MaxBlockSize>&) { return this_thread_block(); }

namespace experimental {
template <unsigned int CommunicationSize = 8, unsigned int MaxBlockSize = 1024>
struct block_tile_memory {
  unsigned char unused;
};
template <unsigned int CommunicationSize, unsigned int MaxBlockSize>
WB_GROUP thread_block this_thread_block(block_tile_memory<CommunicationSize, MaxBlockSize>&) {
  return cooperative_groups::this_thread_block();
}
using cooperative_groups::tiled_partition;
}  // namespace experimental

WB_GROUP thread_group tiled_partition(const thread_group& parent, unsigned int size) {
  const unsigned int rank = (unsigned int)parent.thread_rank();
  const unsigned int count = ((unsigned int)parent.size() + size - 1) / size;
  if (parent.kind_ == wb::Kind::Block) {
    const unsigned int first = wb::lane() & ~(size - 1);
    return thread_group(wb::Kind::Lanes, size >= 32 ? 0xffffffffu : ((1u << size) - 1) << first, count, rank / size);
  }
  unsigned int mask = 0, r = 0;
  for (unsigned int rest = parent.mask_; rest; rest &= rest - 1, r++) {
    if (r / size == rank / size) mask |= rest & (0 - rest);
  }
  return thread_group(wb::Kind::Lanes, mask, count, rank / size);
}

WB_GROUP coalesced_group tiled_partition(const coalesced_group& parent, unsigned int size) {
  const unsigned int rank = parent.thread_rank();
  unsigned int mask = 0, r = 0;
  for (unsigned int rest = parent.mask_; rest; rest &= rest - 1, r++) {
    if (r / size == rank / size) mask |= rest & (0 - rest);
  }
  return coalesced_group(mask, (parent.size() + size - 1) / size, rank / size);
}

// The lanes of the group that share this one's answer.
template <class G>
WB_GROUP coalesced_group binary_partition(const G& group, bool condition) {
  const unsigned int mask = group.wb_mask();
  const unsigned int members = __ballot_sync(mask, 1);
  const unsigned int yes = __ballot_sync(mask, condition);
  return coalesced_group(condition ? yes : members & ~yes, 2, condition ? 1 : 0);
}

#if WB_HAS_ARCH(700)
template <class G, class L>
WB_GROUP coalesced_group labeled_partition(const G& group, L label) {
  const unsigned int mask = group.wb_mask();
  const unsigned int same = __match_any_sync(mask, label);
  // Groups are numbered by their first lanes.
  const bool leader = (same & __nvvm_read_ptx_sreg_lanemask_lt()) == 0;
  const unsigned int leaders = __ballot_sync(mask, leader);
  return coalesced_group(same, (unsigned int)__popc(leaders), (unsigned int)__popc(leaders & ((same & (0 - same)) - 1)));
}
#endif

template <class G>
WB_GROUP void sync(const G& group) { group.sync(); }
template <class G>
WB_GROUP void synchronize(const G& group) { group.sync(); }
template <class G>
WB_GROUP bool is_valid(const G& group) { return group.is_valid(); }
template <class G>
WB_GROUP unsigned int thread_rank(const G& group) { return (unsigned int)group.thread_rank(); }
template <class G>
WB_GROUP unsigned int group_size(const G& group) { return (unsigned int)group.size(); }

// One thread of the group calls; with _broadcast all get its result.
template <class G, class F, class... Args>
WB_GROUP void invoke_one(const G& group, F&& function, Args&&... args) {
  if (group.thread_rank() == 0) function(args...);
}
template <class G, class F, class... Args>
WB_GROUP auto invoke_one_broadcast(const G& group, F&& function, Args&&... args) -> decltype(function(args...)) {
  decltype(function(args...)) result{};
  if (group.thread_rank() == 0) result = function(args...);
  return group.shfl(result, 0);
}

}  // namespace cooperative_groups

#endif
