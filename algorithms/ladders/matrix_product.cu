// build: -I..
// The ladder of matrix products, C = A B in fp32, ending on the tensor cores.
#include <warpbeam/algorithms/device/gemm.cuh>
#include <warpbeam/algorithms/device/transpose.cuh>

#include "ladder.h"

// 1. One thread per result, everything from global memory: bound by load instructions.
__global__ void naive(const float* a, const float* b, float* c, int n) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}

// 2. Tiles in shared memory: global traffic falls by the tile's side.
__global__ void tiled(const float* a, const float* b, float* c, int n) {
  constexpr int kSide = 32;
  __shared__ float tile_a[kSide][kSide], tile_b[kSide][kSide];
  int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * kSide + y, column = blockIdx.x * kSide + x;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += kSide) {
    tile_a[y][x] = a[row * n + k0 + x];
    tile_b[y][x] = b[(k0 + y) * n + column];
    __syncthreads();
    for (int k = 0; k < kSide; ++k) sum += tile_a[y][k] * tile_b[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

// 3. 8 x 8 results per thread in registers: 16 shared loads feed 64 multiply-adds instead of 2 feeding 1.
// 4. With 16-byte loads from global and shared memory: a quarter of the load instructions.
template <bool kVector>
__global__ void __launch_bounds__(256) register_tiled(const float* a, const float* b, float* c, int n) {
  constexpr int kSide = 128, kK = 8;
  __shared__ __align__(16) float tile_a[kK][kSide + 4], tile_b[kK][kSide];
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  int row0 = blockIdx.y * kSide, column0 = blockIdx.x * kSide;
  float sum[8][8] = {};
  for (int k0 = 0; k0 < n; k0 += kK) {
    if constexpr (kVector) {
      int row = threadIdx.x / 2, k = threadIdx.x % 2 * 4;
      float4 from_a = *reinterpret_cast<const float4*>(&a[(row0 + row) * n + k0 + k]);
      tile_a[k][row] = from_a.x, tile_a[k + 1][row] = from_a.y, tile_a[k + 2][row] = from_a.z, tile_a[k + 3][row] = from_a.w;
      int line = threadIdx.x / 32, column = threadIdx.x % 32 * 4;
      *reinterpret_cast<float4*>(&tile_b[line][column]) = *reinterpret_cast<const float4*>(&b[(k0 + line) * n + column0 + column]);
    } else {
      for (int i = threadIdx.x; i < kSide * kK; i += 256) {
        tile_a[i % kK][i / kK] = a[(row0 + i / kK) * n + k0 + i % kK];
        tile_b[i / kSide][i % kSide] = b[(k0 + i / kSide) * n + column0 + i % kSide];
      }
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kK; ++k) {
      float left[8], right[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        // Two groups of four neighbours: one 16-byte load each where the compiler may.
        left[i] = tile_a[k][i / 4 * 64 + ty * 4 + i % 4];
        right[i] = tile_b[k][i / 4 * 64 + tx * 4 + i % 4];
      }
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[i][j] += left[i] * right[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j)
      c[(row0 + i / 4 * 64 + ty * 4 + i % 4) * n + column0 + j / 4 * 64 + tx * 4 + j % 4] = sum[i][j];
}

int main() {
  const int n = ladder::kSmall ? 128 : 4096;
  const size_t count = static_cast<size_t>(n) * n;
  // Small integers: every partial sum is exact in fp32, and the operands in tf32.
  ladder::Array<float> a(ladder::random_values<float>(count, 8)), b(ladder::random_values<float>(count, 8)), turned(count), c(count);
  LADDER_CHECK(warpbeam::transpose(warpbeam::on(), b.data, turned.data, n, n));
  auto ha = a.host(), hb = b.host();
  auto right = [&] {
    auto got = c.host();
    for (int sample = 0; sample < 5; ++sample) {
      int row = (sample * 1237 + 11) % n;
      std::vector<float> want(n, 0.0f);
      for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j) want[j] += ha[static_cast<size_t>(row) * n + k] * hb[static_cast<size_t>(k) * n + j];
      for (int j = 0; j < n; ++j)
        if (got[static_cast<size_t>(row) * n + j] != want[j]) return false;
    }
    return true;
  };
  auto climb = [&](const char* name, const std::function<void()>& run) {
    c.poison();
    ladder::rung("matrix product", name, 2.0 * n * n * n, "GFLOP/s", run, right);
  };
  // What the arithmetic units could do at the highest clock: 128 multiply-adds per cycle in a multiprocessor of compute
  // capability 9.0, and 1024 of tf32 in its tensor cores.
  int multiprocessors = 0, kilohertz = 0, major = 0;
  LADDER_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  LADDER_CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0));
  LADDER_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  if (major == 9 && kilohertz > 0) {
    const double cycles = multiprocessors * (kilohertz / 1e6);
    ladder::ceiling("matrix product", "fp32 units", cycles * 2 * 128, "GFLOP/s");
    ladder::ceiling("matrix product", "tensor cores", cycles * 2 * 1024, "GFLOP/s");
  }
  const dim3 grid(n / 32, n / 32), block(32, 32);
  climb("1 naive", [&] { naive<<<grid, block>>>(a.data, b.data, c.data, n); });
  climb("2 tiled", [&] { tiled<<<grid, block>>>(a.data, b.data, c.data, n); });
  climb("3 register tiles", [&] { register_tiled<false><<<dim3(n / 128, n / 128), 256>>>(a.data, b.data, c.data, n); });
  climb("4 vector loads", [&] { register_tiled<true><<<dim3(n / 128, n / 128), 256>>>(a.data, b.data, c.data, n); });
  // 5. Two stages: the next slice travels while the current one is multiplied, 8 x 16 results per thread. Fewer stalls on
  // loads, and fewer values read from shared memory per multiply-add.
  climb("5 double-buffered", [&] {
    using Tile = warpbeam::detail::Fp32Tile<128, 256, 16, 1>;
    const int tiles_m = (n + Tile::kM - 1) / Tile::kM, tiles_n = (n + Tile::kN - 1) / Tile::kN;
    auto kernel = warpbeam::detail::gemm_fp32<Tile, 4>;
    LADDER_CHECK(warpbeam::allow_shared(kernel, Tile::kShared));
    kernel<<<tiles_m * tiles_n, Tile::kThreads, Tile::kShared>>>(
        warpbeam::detail::Fp32Problem{a.data, b.data, c.data, n, n, n, n, n, n, 1, 0, true}, tiles_m, tiles_n);
  });
  // 6. A ring of stages that the copy engine fills far ahead, from A transposed beforehand: warps wait for data only, never
  // for each other, and spend no instructions on moving it. Stalls at barriers go.
  size_t bytes = 0;
  LADDER_CHECK(warpbeam::gemm_fp32(warpbeam::on().measure(&bytes), n, n, n, a.data, n, b.data, n, c.data, n));
  ladder::Array<char> storage(bytes);
  auto policy = warpbeam::on().with_storage(storage.data, bytes);
  climb("6 the library: a ring", [&] { LADDER_CHECK(warpbeam::gemm_fp32(policy, n, n, n, a.data, n, b.data, n, c.data, n)); });
  // 7. The tensor cores take whole tiles from shared memory; operands are rounded to tf32.
  climb("7 tensor cores", [&] { LADDER_CHECK(warpbeam::gemm_tf32(warpbeam::on(), n, n, n, a.data, n, turned.data, n, c.data, n)); });
  return ladder::wrong ? 1 : 0;
}
