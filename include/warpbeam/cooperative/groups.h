// Cooperative groups: the block, the grid, the cluster, and any set of lanes of a warp.
#ifndef WARPBEAM_COOPERATIVE_GROUPS_H
#define WARPBEAM_COOPERATIVE_GROUPS_H

#include "../prelude.h"

#define WB_GROUP __forceinline__ __attribute__((nodebug)) __device__

namespace cooperative_groups {

namespace wb {

WB_GROUP unsigned int lane() { return __nvvm_read_ptx_sreg_laneid(); }
WB_GROUP unsigned int block_size() { return blockDim.x * blockDim.y * blockDim.z; }
WB_GROUP unsigned int rank_in_block() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
WB_GROUP unsigned long long block_count() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
WB_GROUP unsigned long long rank_of_block() {
  return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}

// Any type goes through a shuffle word by word.
template <class T, class Shuffle>
WB_GROUP T shuffle_words(const T& value, Shuffle shuffle) {
  unsigned int words[(sizeof(T) + 3) / 4] = {};
  memcpy(words, &value, sizeof(T));
  for (unsigned int i = 0; i < (sizeof(T) + 3) / 4; i++) words[i] = shuffle(words[i]);
  T result;
  memcpy(&result, words, sizeof(T));
  return result;
}

enum class Kind : unsigned int { Block, Grid, Grids, Cluster, Lanes, Warps };

// `size` threads of consecutive whole warps meet. Each way of dividing the block has barriers of its own as long as there
// are enough: all of the block, two halves, and so on.
WB_GROUP void sync_warps(unsigned int size) {
  const unsigned int count = (block_size() + size - 1) / size, index = rank_in_block() / size;
  if (count == 1) {
    __syncthreads();
    return;
  }
  const unsigned int id = count <= 8 ? (1u << (32 - __clz((int)count - 1))) + index : index;
  asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(size) : "memory");
}

// The barrier of a cooperative launch lies in a workspace whose address the launch leaves in two registers.
WB_GROUP unsigned int* grid_barrier() {
  unsigned int low, high;
  asm("mov.u32 %0, %%envreg2;" : "=r"(low));
  asm("mov.u32 %0, %%envreg1;" : "=r"(high));
  const unsigned long long workspace = (unsigned long long)high << 32 | low;
  return workspace ? (unsigned int*)(workspace + 4) : nullptr;
}

// Every block adds one, the first enough to carry into the top bit with the last arrival. Whoever sees that bit change
// may go on, and the next time it changes back.
WB_GROUP unsigned int grid_arrive(unsigned int* barrier) {
  unsigned int old = 0;
  __syncthreads();
  if (rank_in_block() == 0) {
    const unsigned int others = (unsigned int)block_count() - 1;
    __threadfence();
    old = atomicAdd(barrier, rank_of_block() == 0 ? 0x80000000u - others : 1u);
  }
  return old;
}
WB_GROUP void grid_wait(unsigned int* barrier, unsigned int old) {
  if (rank_in_block() == 0) {
    while ((((*(volatile unsigned int*)barrier) ^ old) & 0x80000000u) == 0) {
    }
    __threadfence();
  }
  __syncthreads();
}
WB_GROUP void grid_sync() {
  unsigned int* barrier = grid_barrier();
  if (!barrier) __trap();  // not a cooperative launch
  grid_wait(barrier, grid_arrive(barrier));
}

WB_GROUP unsigned long long rank_of_grid_thread() { return rank_of_block() * block_size() + rank_in_block(); }

// Of a launch on several devices, behind this grid's own barrier.
struct OtherGrids {
  unsigned int* barrier;  // arrivals and rounds; none for a grid alone
  unsigned int count, rank;
};
WB_GROUP const OtherGrids* other_grids() {
  unsigned int* barrier = grid_barrier();
  if (!barrier) __trap();  // not a cooperative launch
  return (const OtherGrids*)(barrier + 1);
}
WB_GROUP void grids_sync() {
  const OtherGrids* others = other_grids();
  grid_sync();
  if (others->count > 1) {
    if (rank_of_block() == 0 && rank_in_block() == 0) {
      volatile unsigned int* round = others->barrier + 1;
      const unsigned int before = *round;
      __threadfence_system();
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600  // before there were scopes
      const unsigned int arrived = atomicAdd(others->barrier, 1u);
#else
      const unsigned int arrived = atomicAdd_system(others->barrier, 1u);
#endif
      if (arrived == others->count - 1) {
        others->barrier[0] = 0;
        __threadfence_system();
        *round = before + 1;
      } else {
        while (*round == before) {
        }
      }
      __threadfence_system();
    }
    grid_sync();
  }
}

}  // namespace wb

// What all groups have in common; every group converts to it.
class thread_group {
 protected:
  wb::Kind kind_;
  unsigned int mask_;   // of lanes, for groups within a warp; for groups of whole warps the number of threads
  unsigned int count_;  // how many groups the parent was divided into
  unsigned int index_;  // and which of them this is

  WB_GROUP thread_group(wb::Kind kind, unsigned int mask = 0, unsigned int count = 1, unsigned int index = 0)
      : kind_(kind), mask_(mask), count_(count), index_(index) {}
  friend WB_GROUP thread_group tiled_partition(const thread_group& parent, unsigned int size);

 public:
  WB_GROUP unsigned long long size() const {
    return kind_ == wb::Kind::Block  ? wb::block_size()
           : kind_ == wb::Kind::Grid ? wb::block_count() * wb::block_size()
           : kind_ == wb::Kind::Grids ? wb::other_grids()->count * wb::block_count() * wb::block_size()
           : kind_ == wb::Kind::Warps ? mask_
#if WB_HAS_ARCH(900)
           : kind_ == wb::Kind::Cluster ? __clusterSizeInBlocks() * wb::block_size()
#endif
                                     : (unsigned long long)__popc(mask_);
  }
  WB_GROUP unsigned long long num_threads() const { return size(); }
  WB_GROUP unsigned long long thread_rank() const {
    return kind_ == wb::Kind::Block  ? wb::rank_in_block()
           : kind_ == wb::Kind::Grid ? wb::rank_of_grid_thread()
           : kind_ == wb::Kind::Grids
               ? wb::other_grids()->rank * wb::block_count() * wb::block_size() + wb::rank_of_grid_thread()
           : kind_ == wb::Kind::Warps ? wb::rank_in_block() & (mask_ - 1)
#if WB_HAS_ARCH(900)
           : kind_ == wb::Kind::Cluster ? __clusterRelativeBlockRank() * wb::block_size() + wb::rank_in_block()
#endif
                                     : (unsigned long long)__popc(mask_ & __nvvm_read_ptx_sreg_lanemask_lt());
  }
  WB_GROUP void sync() const {
    if (kind_ == wb::Kind::Block) __syncthreads();
    if (kind_ == wb::Kind::Grid) wb::grid_sync();
    if (kind_ == wb::Kind::Grids) wb::grids_sync();
    if (kind_ == wb::Kind::Lanes) __syncwarp(mask_);
    if (kind_ == wb::Kind::Warps) wb::sync_warps(mask_);
#if WB_HAS_ARCH(900)
    if (kind_ == wb::Kind::Cluster) {
      __cluster_barrier_arrive();
      __cluster_barrier_wait();
    }
#endif
  }
  WB_GROUP bool is_valid() const { return (kind_ != wb::Kind::Grid && kind_ != wb::Kind::Grids) || wb::grid_barrier() != nullptr; }
  WB_GROUP unsigned int wb_mask() const { return mask_; }
};

class thread_block : public thread_group {
  WB_GROUP thread_block() : thread_group(wb::Kind::Block) {}
  friend WB_GROUP thread_block this_thread_block();

 public:
  struct arrival_token {};
  static WB_GROUP void sync() { __syncthreads(); }
  static WB_GROUP unsigned int size() { return wb::block_size(); }
  static WB_GROUP unsigned int num_threads() { return wb::block_size(); }
  static WB_GROUP unsigned int thread_rank() { return wb::rank_in_block(); }
  static WB_GROUP dim3 group_index() { return blockIdx; }
  static WB_GROUP dim3 thread_index() { return threadIdx; }
  static WB_GROUP dim3 group_dim() { return blockDim; }
  static WB_GROUP dim3 dim_threads() { return blockDim; }
  // Arriving early only allows others to go on; waiting for all at the later point is as good.
  WB_GROUP arrival_token barrier_arrive() const { return arrival_token(); }
  WB_GROUP void barrier_wait(arrival_token&&) const { __syncthreads(); }
};
WB_GROUP thread_block this_thread_block() { return thread_block(); }

class grid_group : public thread_group {
  WB_GROUP grid_group() : thread_group(wb::Kind::Grid) {}
  friend WB_GROUP grid_group this_grid();

 public:
  struct arrival_token {
    unsigned int old;
  };
  WB_GROUP void sync() const { wb::grid_sync(); }
  WB_GROUP arrival_token barrier_arrive() const {
    if (!wb::grid_barrier()) __trap();
    return arrival_token{wb::grid_arrive(wb::grid_barrier())};
  }
  WB_GROUP void barrier_wait(arrival_token&& token) const { wb::grid_wait(wb::grid_barrier(), token.old); }
  WB_GROUP bool is_valid() const { return wb::grid_barrier() != nullptr; }
  static WB_GROUP unsigned long long size() { return wb::block_count() * wb::block_size(); }
  static WB_GROUP unsigned long long num_threads() { return size(); }
  static WB_GROUP unsigned long long thread_rank() {
    return wb::rank_of_grid_thread();
  }
  static WB_GROUP unsigned long long num_blocks() { return wb::block_count(); }
  static WB_GROUP unsigned long long block_rank() { return wb::rank_of_block(); }
  static WB_GROUP dim3 dim_blocks() { return gridDim; }
  static WB_GROUP dim3 group_dim() { return gridDim; }
  static WB_GROUP dim3 block_index() { return blockIdx; }
  static WB_GROUP dim3 dim_threads() {
    return dim3(gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z);
  }
  static WB_GROUP dim3 thread_index() {
    return dim3(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
                blockIdx.z * blockDim.z + threadIdx.z);
  }
#if WB_HAS_ARCH(900)
  static WB_GROUP dim3 dim_clusters() { return __clusterGridDimInClusters(); }
  static WB_GROUP unsigned long long num_clusters() {
    const dim3 clusters = dim_clusters();
    return (unsigned long long)clusters.x * clusters.y * clusters.z;
  }
  static WB_GROUP dim3 cluster_index() { return __clusterIdx(); }
  static WB_GROUP unsigned long long cluster_rank() {
    const dim3 clusters = dim_clusters(), index = cluster_index();
    return ((unsigned long long)index.z * clusters.y + index.y) * clusters.x + index.x;
  }
#endif
};
WB_GROUP grid_group this_grid() { return grid_group(); }

// The grids of cudaLaunchCooperativeKernelMultiDevice, one per device. Toolkit 13 dropped both.
class multi_grid_group : public thread_group {
  WB_GROUP multi_grid_group() : thread_group(wb::Kind::Grids) {}
  friend WB_GROUP multi_grid_group this_multi_grid();

 public:
  WB_GROUP unsigned int num_grids() const { return wb::other_grids()->count; }
  WB_GROUP unsigned int grid_rank() const { return wb::other_grids()->rank; }
};
WB_GROUP multi_grid_group this_multi_grid() { return multi_grid_group(); }

#if WB_HAS_ARCH(900)
class cluster_group : public thread_group {
  WB_GROUP cluster_group() : thread_group(wb::Kind::Cluster) {}
  friend WB_GROUP cluster_group this_cluster();

 public:
  struct arrival_token {};
  static WB_GROUP void sync() {
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
  }
  static WB_GROUP arrival_token barrier_arrive() {
    __cluster_barrier_arrive();
    return arrival_token();
  }
  static WB_GROUP void barrier_wait() { __cluster_barrier_wait(); }
  static WB_GROUP void barrier_wait(arrival_token&&) { __cluster_barrier_wait(); }
  static WB_GROUP unsigned int num_blocks() { return __clusterSizeInBlocks(); }
  static WB_GROUP unsigned int block_rank() { return __clusterRelativeBlockRank(); }
  static WB_GROUP unsigned int num_threads() { return num_blocks() * wb::block_size(); }
  static WB_GROUP unsigned int size() { return num_threads(); }
  static WB_GROUP unsigned int thread_rank() { return block_rank() * wb::block_size() + wb::rank_in_block(); }
  static WB_GROUP dim3 dim_blocks() { return __clusterDim(); }
  static WB_GROUP dim3 block_index() { return __clusterRelativeBlockIdx(); }
  static WB_GROUP dim3 dim_threads() {
    const dim3 blocks = __clusterDim();
    return dim3(blocks.x * blockDim.x, blocks.y * blockDim.y, blocks.z * blockDim.z);
  }
  static WB_GROUP dim3 thread_index() {
    const dim3 block = __clusterRelativeBlockIdx();
    return dim3(block.x * blockDim.x + threadIdx.x, block.y * blockDim.y + threadIdx.y,
                block.z * blockDim.z + threadIdx.z);
  }
  static WB_GROUP unsigned int query_shared_rank(const void* address) { return __cluster_query_shared_rank(address); }
  template <class T>
  static WB_GROUP T* map_shared_rank(T* address, int rank) {
    return (T*)__cluster_map_shared_rank(address, (unsigned int)rank);
  }
};
WB_GROUP cluster_group this_cluster() { return cluster_group(); }
#endif

// A set of lanes of one warp, ranked in lane order.
class coalesced_group : public thread_group {
  friend WB_GROUP coalesced_group coalesced_threads();
  friend WB_GROUP coalesced_group tiled_partition(const coalesced_group& parent, unsigned int size);
  template <class G>
  friend WB_GROUP coalesced_group binary_partition(const G& group, bool condition);
  template <class G, class L>
  friend WB_GROUP coalesced_group labeled_partition(const G& group, L label);

  // The lane of a rank, and a mask of lanes as one of ranks.
  WB_GROUP unsigned int lane_of(unsigned int rank) const {
    return rank == 0 ? __ffs((int)mask_) - 1u : mask_ == 0xffffffff ? rank : __fns(mask_, 0, (int)rank + 1);
  }
  WB_GROUP unsigned int ranks(unsigned int lanes) const {
    if (mask_ == 0xffffffff) return lanes;
    unsigned int result = 0, rank = 0;
    for (unsigned int rest = mask_; rest; rest &= rest - 1, rank++) {
      if (lanes & rest & (0 - rest)) result |= 1u << rank;
    }
    return result;
  }

 protected:
  WB_GROUP explicit coalesced_group(unsigned int mask, unsigned int count = 1, unsigned int index = 0)
      : thread_group(wb::Kind::Lanes, mask, count, index) {}

 public:
  WB_GROUP unsigned int size() const { return (unsigned int)__popc(mask_); }
  WB_GROUP unsigned int num_threads() const { return size(); }
  WB_GROUP unsigned int thread_rank() const { return (unsigned int)__popc(mask_ & __nvvm_read_ptx_sreg_lanemask_lt()); }
  WB_GROUP unsigned int meta_group_size() const { return count_; }
  WB_GROUP unsigned int meta_group_rank() const { return index_; }
  WB_GROUP void sync() const { __syncwarp(mask_); }

  template <class T>
  WB_GROUP T shfl(const T& value, unsigned int rank) const {
    const unsigned int lane = lane_of(rank % size()), mask = mask_;
    return wb::shuffle_words(value, [lane, mask](unsigned int w) { return __shfl_sync(mask, w, (int)lane); });
  }
  template <class T>
  WB_GROUP T shfl_up(const T& value, unsigned int delta) const {
    const unsigned int rank = thread_rank();
    return shfl(value, rank >= delta ? rank - delta : rank);
  }
  template <class T>
  WB_GROUP T shfl_down(const T& value, unsigned int delta) const {
    const unsigned int rank = thread_rank();
    return shfl(value, rank + delta < size() ? rank + delta : rank);
  }
  WB_GROUP int any(int predicate) const { return __any_sync(mask_, predicate); }
  WB_GROUP int all(int predicate) const { return __all_sync(mask_, predicate); }
  WB_GROUP unsigned int ballot(int predicate) const { return ranks(__ballot_sync(mask_, predicate)); }
#if WB_HAS_ARCH(700)
  template <class T>
  WB_GROUP unsigned int match_any(T value) const { return ranks(__match_any_sync(mask_, value)); }
  template <class T>
  WB_GROUP unsigned int match_all(T value, int& predicate) const {
    return ranks(__match_all_sync(mask_, value, &predicate));
  }
#endif
};
WB_GROUP coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

}  // namespace cooperative_groups

#endif
