// Cooperative groups: block, grid, cluster, tiles, coalesced lanes; shuffles, votes, reductions, scans, copies.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

struct Wide {
  double a;
  int b, c;
};

template <class G>
__device__ int sum(G group, int value) {
  for (int i = group.size() / 2; i > 0; i /= 2) value += group.shfl_down(value, i);
  return value;
}
template <int Size>
__device__ int reduce_tile(cg::thread_block_tile<Size> g, int value) {
  return sum(g, value);
}
__device__ int generic(cg::thread_group g, int value) {
  g.sync();
  return value + (int)g.size() + (int)g.thread_rank();
}

__global__ void groups(int* out, const int* in) {
  __shared__ int buffer[256];
  cg::thread_block block = cg::this_thread_block();
  cg::grid_group grid = cg::this_grid();
  block.sync();
  cg::sync(block);
  cg::memcpy_async(block, buffer, in, sizeof(int) * 256);
  cg::wait(block);
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  auto four = cg::tiled_partition<4>(warp);
  int v = sum(warp, buffer[block.thread_rank()]) + reduce_tile<4>(four, 1) + four.shfl_xor(1, 1) + four.shfl(2, 0) + four.shfl_up(3, 1);
  v += four.any(v) + four.all(v) + (int)four.ballot(v) + four.meta_group_rank() + four.meta_group_size();
  v += (int)warp.shfl(Wide{1, 2, 3}, 0).a + (int)warp.shfl(2.0, 1) + (int)warp.shfl_down(2ull, 1);
  v += generic(block, v) + generic(four, v) + generic(cg::tiled_partition(block, 8), v);
  v += cg::reduce(warp, v, cg::plus<int>()) + cg::reduce(four, v, cg::greater<int>()) + cg::reduce(warp, v, cg::less<int>()) +
       cg::reduce(warp, v, cg::bit_xor<int>());
  v += cg::inclusive_scan(warp, v, cg::plus<int>()) + cg::exclusive_scan(four, v);
  if (v % 3) {
    cg::coalesced_group active = cg::coalesced_threads();
    v += (int)active.size() + active.shfl(v, 0) + (int)active.ballot(v & 1) + active.any(v) + cg::reduce(active, v, cg::plus<int>()) +
         cg::inclusive_scan(active, v) + generic(active, v);
    auto odd = cg::binary_partition(active, v & 1);
    v += (int)odd.thread_rank();
#if __CUDA_ARCH__ >= 700
    v += (int)cg::labeled_partition(active, v & 3).meta_group_rank() + (int)active.match_any(v) + (int)warp.match_any(v);
#endif
  }
  cg::invoke_one(warp, [&] { out[1] = v; });
  out[grid.thread_rank()] = v + block.group_index().x + block.thread_index().x + block.group_dim().x + (int)grid.num_blocks();
  if (grid.is_valid()) grid.sync();
#if __CUDA_ARCH__ >= 900
  cg::cluster_group cluster = cg::this_cluster();
  cluster.sync();
  out[0] = *cluster.map_shared_rank(buffer, 0) + cluster.block_rank() + cluster.num_blocks();
#endif
}
__global__ void large_tiles(int* out) {
  auto block = cg::this_thread_block();
  auto tile = cg::tiled_partition<64>(block);
  out[0] = cg::reduce(tile, out[1], cg::plus<int>()) + cg::inclusive_scan(tile, 1) + cg::exclusive_scan(tile, 2);
  tile.sync();
  out[2] = tile.any(1) + tile.all(1) + tile.shfl(out[3], 40);
  cg::thread_group group = tile;
  out[4] = static_cast<int>(group.size());
}
