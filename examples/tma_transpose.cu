// A matrix transposed by the copy engine of sm_90: a tensor map describes the matrix, one thread asks for a tile by its
// coordinates, a barrier in shared memory says when its bytes have come, and another map takes the transposed tile
// back. What to see: a matrix whose sides are no multiples of the tile; what lies outside is zeros, and is not written.
#include <cuda.h>

#include <cstdio>
#include <cuda/barrier>
#include <vector>

namespace cde = cuda::device::experimental;
using barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int kTile = 32;

__global__ void transpose(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to) {
  __shared__ alignas(128) float in[kTile][kTile], out[kTile][kTile];
  __shared__ barrier arrived;
  const int x = blockIdx.x * kTile, y = blockIdx.y * kTile;
  if (threadIdx.x == 0) {
    init(&arrived, blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_tensor_2d_global_to_shared(in, &from, x, y, arrived);
    token = cuda::device::barrier_arrive_tx(arrived, 1, sizeof(in));
  } else {
    token = arrived.arrive();
  }
  arrived.wait(std::move(token));
  for (int i = threadIdx.x; i < kTile * kTile; i += blockDim.x) out[i % kTile][i / kTile] = in[i / kTile][i % kTile];
  cde::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_tensor_2d_shared_to_global(&to, y, x, out);
    cde::cp_async_bulk_commit_group();
    cde::cp_async_bulk_wait_group_read<0>();
  }
}

static bool describe(CUtensorMap* map, float* matrix, cuuint64_t width, cuuint64_t height) {
  const cuuint64_t size[] = {width, height}, pitch[] = {width * sizeof(float)};
  const cuuint32_t box[] = {kTile, kTile}, steps[] = {1, 1};
  return cuTensorMapEncodeTiled(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, matrix, size, pitch, box, steps,
                                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

int main() {
  const int width = 100, height = 76;
  std::vector<float> a(width * height), b(width * height);
  for (size_t i = 0; i < a.size(); i++) a[i] = (float)i;
  float *da, *db;
  cudaMalloc(&da, a.size() * sizeof(float));
  cudaMalloc(&db, b.size() * sizeof(float));
  cudaMemcpy(da, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice);
  CUtensorMap from, to;
  if (!describe(&from, da, width, height) || !describe(&to, db, height, width))
    return std::printf("FAIL: no tensor map\n"), 1;
  transpose<<<dim3((width + kTile - 1) / kTile, (height + kTile - 1) / kTile), 128>>>(from, to);
  cudaMemcpy(b.data(), db, b.size() * sizeof(float), cudaMemcpyDeviceToHost);
  int wrong = cudaGetLastError() != cudaSuccess;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) wrong += b[x * height + y] != a[y * width + x];
  std::printf("%d x %d: %d wrong\n%s\n", width, height, wrong, wrong ? "FAIL" : "PASS");
  return wrong != 0;
}
