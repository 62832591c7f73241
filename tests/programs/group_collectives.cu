// Cooperative groups: what blocks, tiles, coalesced lanes, grids and clusters can be asked and made to do.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda/atomic>
#include <utility>
#define CK(x)                                                                     \
  do {                                                                            \
    auto e_ = (x);                                                                \
    if (e_ != cudaSuccess) {                                                      \
      printf("%s:%d %s -> %s\n", __FILE__, __LINE__, #x, cudaGetErrorString(e_)); \
      exit(1);                                                                    \
    }                                                                             \
  } while (0)
#define REQ(c)                                              \
  do {                                                      \
    if (!(c)) {                                             \
      printf("%s:%d failed: %s\n", __FILE__, __LINE__, #c); \
      exit(1);                                              \
    }                                                       \
  } while (0)
namespace cg = cooperative_groups;
struct S3 {
  int a;
  double b;
  float c;
};
__global__ void k1(int* o) {
  __shared__ cg::block_tile_memory<256> mem;
  auto b = cg::this_thread_block(mem);
  auto t = cg::tiled_partition<128>(b);
  int r = cg::reduce(t, (int)t.thread_rank(), cg::plus<int>());
  if (t.thread_rank() == 0) o[t.meta_group_rank()] = r;
  t.sync();
  int any = t.any(b.thread_rank() == 200);
  if (b.thread_rank() == 130) o[2] = any;
  if (b.thread_rank() == 1) o[3] = any;
  int all = t.all(1);
  if (b.thread_rank() == 0) o[4] = all;
  int s = t.shfl((int)b.thread_rank(), 100);
  if (b.thread_rank() == 128) o[5] = s;
  o[6] = t.size();
  o[7] = t.meta_group_size();
  int sc = cg::inclusive_scan(t, 1);
  if (b.thread_rank() == 127) o[8] = sc;
  if (b.thread_rank() == 255) o[9] = sc;
}
__global__ void k2(int* o) {
  auto b = cg::this_thread_block();
  auto t = cg::tiled_partition<32>(b);
  int i = t.thread_rank();
  o[0] = cg::reduce(t, i, cg::greater<int>());
  o[1] = cg::reduce(t, i + 5, cg::less<int>());
  o[2] = cg::reduce(t, 1 << i, cg::bit_or<int>());
  o[3] = cg::reduce(t, ~(1 << i), cg::bit_and<int>());
  o[4] = cg::reduce(t, i, cg::bit_xor<int>());
  double d = cg::reduce(t, i * .5, cg::greater<double>());
  o[5] = (int)(d * 2);
  S3 s{i, i * 2.0, 1.f};
  S3 x = t.shfl(s, 7);
  o[6] = x.a + (int)x.b;
  S3 y = t.shfl_xor(s, 1);
  if (i == 4) o[7] = y.a;
  unsigned m = t.match_any(i / 8);
  if (i == 9) o[8] = m;
  int pred;
  m = t.match_all(3, pred);
  o[9] = pred;
  float f = cg::reduce(t, (float)i, [](float a, float b) { return a > b ? a : b; });
  o[10] = f;
  auto t8 = cg::tiled_partition<8>(t);
  int q = cg::reduce(t8, i, cg::plus<int>());
  if (i == 31) o[11] = q;
  o[12] = t8.meta_group_size();
}
template <typename T>
struct has {};
__global__ void k3(int* o) {
  auto b = cg::this_thread_block();
  cg::thread_group g = b;
  o[0] = g.size();
  cg::thread_group t = cg::tiled_partition(g, 4);
  o[1] = t.size();
  if (b.thread_rank() == 6) o[2] = t.thread_rank();
  cg::thread_group tt = cg::tiled_partition(t, 2);
  if (b.thread_rank() == 7) o[3] = tt.thread_rank();
  t.sync();
  cg::sync(b);
  if (threadIdx.x % 3 == 0) {
    auto c = cg::coalesced_threads();
    int r = cg::exclusive_scan(c, 1);
    if (threadIdx.x == 30) o[4] = r;
    o[5] = c.size();
    auto cc = cg::tiled_partition(c, 4);
    if (threadIdx.x == 15) o[6] = cc.thread_rank();
    if (threadIdx.x == 0) {
      o[7] = cc.size();
      o[8] = c.num_threads();
    }
    o[9] = c.shfl((int)threadIdx.x, 3);
    int u = c.shfl_up((int)threadIdx.x, 1);
    if (threadIdx.x == 3) o[10] = u;
  }
  __syncwarp();
  auto one = cg::coalesced_threads();
  cg::invoke_one(one, [&] { atomicAdd(&o[11], 1); });
  int v = cg::invoke_one_broadcast(one, [&] { return 42; });
  if (threadIdx.x == 31) o[12] = v;
  o[13] = b.dim_threads().x;
  o[14] = b.group_dim().x;
  o[15] = b.num_threads();
  if (b.thread_index().x == 5) o[16] = b.thread_index().x;
  o[17] = cg::this_grid().dim_blocks().x;
  o[18] = 32;
  if (b.thread_rank() == 3) o[19] = cg::thread_rank(g);
}
__global__ void k4(int* o) {
  auto g = cg::this_grid();
  auto tok = g.barrier_arrive();
  g.barrier_wait(std::move(tok));
  if (g.thread_rank() == 0) {
    o[0] = g.num_threads();
    o[1] = g.num_blocks();
    o[2] = g.is_valid();
  }
  auto b = cg::this_thread_block();
  auto t = b.barrier_arrive();
  b.barrier_wait(std::move(t));
  atomicAdd(&o[3], 1);
  g.sync();
  if (g.block_rank() == 1 && b.thread_rank() == 0) o[4] = o[3];
}
__global__ void k5(int* o) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> a;
  auto b = cg::this_thread_block();
  if (b.thread_rank() == 0) a.store(0);
  b.sync();
  auto t = cg::tiled_partition<32>(b);
  cg::reduce_update_async(t, a, (int)1, cg::plus<int>());
  b.sync();
  if (b.thread_rank() == 0) o[0] = a.load();
  __shared__ int dst;
  cg::reduce_store_async(t, &dst, 3, cg::plus<int>());
  b.sync();
  if (b.thread_rank() == 0) o[1] = dst;
  cuda::atomic_ref<int, cuda::thread_scope_device> r(o[2]);
  int ofs = cg::exclusive_scan_update(t, r, 2, cg::plus<int>());
  if (b.thread_rank() % 32 == 31) o[3 + b.thread_rank() / 32] = ofs;
}
__global__ void __cluster_dims__(2, 1, 1) k6(int* o) {
  auto c = cg::this_cluster();
  __shared__ int x;
  x = c.block_rank() * 100;
  c.sync();
  int* p = c.map_shared_rank(&x, c.block_rank() ^ 1);
  if (threadIdx.x == 0) o[blockIdx.x] = *p;
  o[4] = c.query_shared_rank(p);
  o[5] = c.num_threads();
  o[6] = c.dim_blocks().x;
  auto t = c.barrier_arrive();
  c.barrier_wait(std::move(t));
  if (c.thread_rank() == 40) o[7] = c.thread_index().x;
  o[8] = c.num_blocks();
  c.sync();
}
// Atomic references made on the spot, a place that is not atomic, and a thread by itself.
__global__ void k7(int* o) {
  auto w = cg::tiled_partition<32>(cg::this_thread_block());
  typedef cuda::atomic_ref<int, cuda::thread_scope_device> Ref;
  const int at = cg::exclusive_scan_update(w, Ref(o[0]), 1);
  const int up = cg::inclusive_scan_update(w, Ref(o[1]), 2, cg::plus<int>());
  if (at == 1) o[2] = up;
  cg::reduce_update_async(w, Ref(o[3]), 1, cg::plus<int>());
  cg::reduce_store_async(w, Ref(o[4]), at, cg::greater<int>());
  cg::reduce_store_async(w, o + 5, at - at, cg::less<int>());
  const auto t = cg::this_thread();
  t.sync();
  if (w.thread_rank() == 3) o[6] = t.size() * 100 + t.meta_group_size() * 10 + t.thread_rank() + t.meta_group_rank();
  const auto g = cg::this_grid();
  if (g.thread_rank() == 37) o[7] = g.thread_index().x + 100 * g.dim_threads().x;
}
int main() {
  int* o;
  CK(cudaMallocManaged(&o, 1024));
  auto z = [&] { memset(o, 0, 1024); };
  z();
  k1<<<1, 256>>>(o);
  CK(cudaDeviceSynchronize());
  REQ(o[0] == 127 * 64 && o[1] == 127 * 64 && o[2] == 1 && o[3] == 0 && o[4] && o[5] == 228 && o[6] == 128 &&
      o[7] == 2 && o[8] == 128 && o[9] == 128);
  z();
  k2<<<1, 32>>>(o);
  CK(cudaDeviceSynchronize());
  REQ(o[0] == 31 && o[1] == 5 && o[2] == -1 && o[3] == 0 && o[4] == 0 && o[5] == 31 && o[6] == 21 && o[7] == 5 &&
      o[8] == 0xff00 && o[9] == 1 && o[10] == 31 && o[11] == 220 && o[12] == 4);
  z();
  k3<<<1, 32>>>(o);
  CK(cudaDeviceSynchronize());
  REQ(o[0] == 32 && o[1] == 4 && o[2] == 2 && o[3] == 1 && o[4] == 10 && o[5] == 11 && o[6] == 1 && o[8] == 11 &&
      o[9] == 9);
  printf("%d %d %d\n", o[7], o[10], o[11]);
  REQ(o[11] == 1 && o[12] == 42 && o[13] == 32 && o[14] == 32 && o[16] == 5 && o[17] == 1 && o[18] == 32 && o[19] == 3);
  z();
  void* a[] = {&o};
  CK(cudaLaunchCooperativeKernel((void*)k4, 4, 64, a, 0, 0));
  CK(cudaDeviceSynchronize());
  REQ(o[0] == 256 && o[1] == 4 && o[2] == 1 && o[4] == 256);
  z();
  k5<<<1, 64>>>(o);
  CK(cudaDeviceSynchronize());
  printf("%d %d %d %d %d\n", o[0], o[1], o[2], o[3], o[4]);
  REQ(o[0] == 64 && o[1] == 96 && o[2] == 128);
  z();
  k6<<<2, 32>>>(o);
  CK(cudaDeviceSynchronize());
  REQ(o[0] == 100 && o[1] == 0 && o[5] == 64 && o[6] == 2 && o[8] == 2);
  printf("%d\n", o[7]);
  z();
  k7<<<2, 32>>>(o);
  CK(cudaDeviceSynchronize());
  REQ(o[0] == 64 && o[1] == 128 && (o[2] == 4 || o[2] == 68) && o[3] == 64 && (o[4] == 31 || o[4] == 63) && o[5] == 0 && o[6] == 110 &&
      o[7] == 6437);
  puts("PASSED");
}
