// build: -lcuda -arch=sm_90
// cuda::ptx: words, shuffles and registers; a tensor map that a kernel changes before another reads through it; tiles that
// are added to a tensor, and tiles that arrive in both blocks of a cluster.
#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <cuda/barrier>
#include <cuda/ptx>

namespace ptx = cuda::ptx;

static int failures = 0;

static void expect(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  printf("FAIL %s\n", what);
}

struct Words {
  uint32_t find[4], shift, clamp, wrap, permuted[7];
  int16_t narrow;
  int32_t left, right, far;
  uint64_t wide;
  int shuffled[4];
  bool valid[2];
  uint32_t warps, dynamic, explicit_cluster;
};

__global__ void words(Words* out) {
  const int lane = threadIdx.x % 32;
  bool up, down;
  const int value = 3 * lane;  // toolkit 13.0 gives the bits of a float as a number
  const int a = ptx::shfl_sync_idx(value, 5, 0x1f, ~0u), b = ptx::shfl_sync_bfly(value, 3, 0x1f, ~0u);
  const int c = ptx::shfl_sync_up(value, up, 2, 0, ~0u), d = ptx::shfl_sync_down(value, down, 4, 0x1f, ~0u);
  if (threadIdx.x != 30) return;
  out->find[0] = ptx::bfind(0x00f00000u);
  out->find[1] = ptx::bfind(-2);
  out->find[2] = ptx::bfind(uint64_t{1} << 40);
  out->find[3] = ptx::bfind(int64_t{0});
  out->shift = ptx::bfind_shiftamt(0x00f00000u);
  out->clamp = ptx::bmsk_clamp(4u, 40u);
  out->wrap = ptx::bmsk_wrap(4u, 40u);
  const uint32_t x = 0x33221100u, y = 0x77665544u;
  out->permuted[0] = ptx::prmt(x, y, 0x7410u);
  out->permuted[1] = ptx::prmt_f4e(x, y, 2u);
  out->permuted[2] = ptx::prmt_b4e(x, y, 1u);
  out->permuted[3] = ptx::prmt_rc8(x, y, 3u);
  out->permuted[4] = ptx::prmt_ecl(x, y, 1u);
  out->permuted[5] = ptx::prmt_ecr(x, y, 1u);
  out->permuted[6] = ptx::prmt_rc16(x, y, 1u);
  out->narrow = ptx::shr(int16_t{-32768}, 20u);
  out->left = ptx::shl(3, 31u);
  out->right = ptx::shr(-8, 1u);
  out->far = ptx::shl(3, 32u);
  out->wide = ptx::shr(uint64_t{1} << 63, 62u);
  out->shuffled[0] = a, out->shuffled[1] = b, out->shuffled[2] = c, out->shuffled[3] = d;
  out->valid[0] = up, out->valid[1] = down;
  out->warps = ptx::get_sreg_nwarpid() >= 2;
  out->dynamic = ptx::get_sreg_dynamic_smem_size();
  out->explicit_cluster = ptx::get_sreg_is_explicit_cluster();
}

static void test_words() {
  Words* w;
  cudaMallocManaged(&w, sizeof *w);
  words<<<1, 64, 256>>>(w);
  expect(cudaDeviceSynchronize() == cudaSuccess, "words");
  expect(w->find[0] == 23 && w->find[1] == 0 && w->find[2] == 40 && w->find[3] == ~0u && w->shift == 8, "bfind");
  expect(w->clamp == 0xfffffff0u && w->wrap == 0xff0u, "bmsk");
  const uint32_t permuted[] = {0x77441100u, 0x55443322u, 0x66770011u, 0x33333333u, 0x33221111u, 0x11111100u, 0x33223322u};
  for (int i = 0; i < 7; ++i) expect(w->permuted[i] == permuted[i], "prmt");
  expect(w->narrow == -1 && w->left == INT32_MIN && w->right == -4 && w->far == 0 && w->wide == 2, "shl, shr");
  expect(w->shuffled[0] == 15 && w->shuffled[1] == 87 && w->shuffled[2] == 84 && w->shuffled[3] == 90, "shuffles");
  expect(w->valid[0] && !w->valid[1], "lanes that a shuffle does not reach");
  expect(w->warps && w->dynamic == 256 && w->explicit_cluster == 0, "registers");
  cudaFree(w);
}

constexpr int kWidth = 64, kHeight = 32, kBox = 16;

static CUtensorMap map_of(int* data) {
  CUtensorMap map;
  const cuuint64_t size[] = {kWidth, kHeight}, stride[] = {kWidth * sizeof(int)};
  const cuuint32_t box[] = {kBox, kBox}, step[] = {1, 1};
  expect(cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, data, size, stride, box, step,
                                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS, "cuTensorMapEncodeTiled");
  return map;
}

// Another array, half as high, boxes half as wide.
__global__ void change(const __grid_constant__ CUtensorMap map, CUtensorMap* changed, int* other) {
  __shared__ alignas(128) CUtensorMap mine;
  if (threadIdx.x == 0) {
    mine = map;
    ptx::tensormap_replace_global_address(ptx::space_shared, &mine, other);
    ptx::tensormap_replace_global_dim(ptx::space_shared, &mine, ptx::n32_t<1>(), kHeight / 2);
    ptx::tensormap_replace_box_dim(ptx::space_shared, &mine, ptx::n32_t<0>(), kBox / 2);
  }
  __syncwarp();
  ptx::tensormap_cp_fenceproxy(ptx::sem_release, ptx::scope_gpu, changed, &mine, ptx::n32_t<128>());
}

__global__ void read_through(const CUtensorMap* map, int x, int y, int* out) {
  __shared__ alignas(128) int tile[kBox][kBox / 2];
  __shared__ uint64_t bar;
  if (threadIdx.x == 0) {
    ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_sys, map, ptx::n32_t<128>());
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_proxy_async(ptx::space_shared);
    const int32_t at[2] = {x, y};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, map, at, &bar);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof tile);
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {
  }
  for (int i = threadIdx.x; i < kBox * kBox / 2; i += blockDim.x) out[i] = (&tile[0][0])[i];
}

__global__ void add_tile(const __grid_constant__ CUtensorMap map, int x, int y) {
  __shared__ alignas(128) int tile[kBox * kBox];
  for (int i = threadIdx.x; i < kBox * kBox; i += blockDim.x) tile[i] = 1000 * i;
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    const int32_t at[2] = {x, y};
    ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &map, at, tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
  }
}

__global__ void __cluster_dims__(2, 1, 1) share_tile(const __grid_constant__ CUtensorMap map, int* out) {
  __shared__ alignas(128) int tile[kBox * kBox];
  __shared__ uint64_t bar;
  const uint32_t rank = ptx::get_sreg_cluster_ctarank();
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&bar, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof tile);
  }
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
  if (threadIdx.x == 0 && rank == 0) {
    const int32_t at[2] = {16, 8};
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &map, at, &bar, uint16_t{3});
  }
  while (!ptx::mbarrier_try_wait_parity(&bar, 0)) {
  }
  for (int i = threadIdx.x; i < kBox * kBox; i += blockDim.x) out[rank * kBox * kBox + i] = tile[i];
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
}

static void test_maps() {
  int *first, *second, *out;
  CUtensorMap* changed;
  cudaMallocManaged(&first, kWidth * kHeight * sizeof(int));
  cudaMallocManaged(&second, kWidth * kHeight * sizeof(int));
  cudaMallocManaged(&out, 2 * kBox * kBox * sizeof(int));
  cudaMalloc(&changed, sizeof *changed);
  for (int i = 0; i < kWidth * kHeight; ++i) first[i] = i, second[i] = -1 - i;
  const CUtensorMap map = map_of(first);
  change<<<1, 32>>>(map, changed, second);
  read_through<<<1, 64>>>(changed, 8, kHeight / 2 - 4, out);
  expect(cudaDeviceSynchronize() == cudaSuccess, "a changed map");
  for (int i = 0; i < kBox * kBox / 2; ++i) {
    const int x = 8 + i % (kBox / 2), y = kHeight / 2 - 4 + i / (kBox / 2);
    expect(out[i] == (y < kHeight / 2 ? second[y * kWidth + x] : 0), "through a changed map");
  }
  add_tile<<<1, 64>>>(map, 8, kHeight - 8);
  share_tile<<<2, 64>>>(map, out);
  expect(cudaDeviceSynchronize() == cudaSuccess, "tiles");
  for (int i = 0; i < kWidth * kHeight; ++i) {
    const int x = i % kWidth - 8, y = i / kWidth - (kHeight - 8);
    const bool inside = x >= 0 && x < kBox && y >= 0;
    expect(first[i] == i + (inside ? 1000 * (y * kBox + x) : 0), "a tile that is added");
  }
  for (int i = 0; i < 2 * kBox * kBox; ++i) {
    const int x = 16 + i % kBox, y = 8 + i / kBox % kBox;
    expect(out[i] == first[y * kWidth + x], "a tile in both blocks");
  }
}

int main() {
  test_words();
  test_maps();
  printf(failures ? "%d FAILED\n" : "PASSED\n", failures);
  return failures != 0;
}
