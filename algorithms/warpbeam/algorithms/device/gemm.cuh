// Matrix products. Matrices are row-major with explicit leading dimensions.
//
//   gemm_fp32    C = alpha A B + beta C      A m x k, B k x n, fp32 throughout
//   gemm_tf32    C = alpha A B^T + beta C    A m x k, B n x k, operands rounded to tf32, sums in fp32
//   gemm_bf16    C = alpha A B^T + beta C    A m x k, B n x k, operands bf16, sums in fp32, C fp32 or bf16
#pragma once

#include <cuda_bf16.h>

#include <algorithm>

#include "../policy.cuh"
#include "../thread/vector.cuh"
#include "gemm_fp32.cuh"
#include "gemm_fp32_bulk.cuh"
#include "gemm_tensor.cuh"
#include "gemm_tensor_choice.cuh"
#include "launch.cuh"
#include "transpose.cuh"

namespace warpbeam {

namespace detail {

#if !WB_PORTABLE
// How many rows of tiles to transpose before the product starts: those of the first round's whole groups, and the next
// group's too where the blocks that would have to wait for it could not make up for that in an unfilled last round.
inline long long rows_before(long long tiles_m, long long tiles_n, int multiprocessors) {
  const long long group = kFp32Group * tiles_n, tiles = tiles_m * tiles_n;
  const long long groups = std::max(multiprocessors / group, 1LL);
  const long long waiting = std::max(multiprocessors - groups * group, 0LL);
  const long long idle = static_cast<long long>(round_up(tiles, multiprocessors)) - tiles;
  return kFp32Group * (waiting <= idle ? groups : groups + 1);
}

// `transposed` is room for A with rows and columns exchanged, with rows of `pitch`.
template <class Tile>
cudaError_t launch_fp32_bulk(cudaStream_t stream, const Fp32Problem& p, int multiprocessors, float* transposed,
                             long long pitch) {
  CUtensorMap map_a, map_b;
  constexpr auto kType = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  const long long tiles_m = ceil_div(p.m, static_cast<long long>(Tile::kM));
  const long long tiles_n = ceil_div(p.n, static_cast<long long>(Tile::kN));
  long long before = p.m;
  if (Tile::kLeavesRoom) before = std::min(p.m, rows_before(tiles_m, tiles_n, multiprocessors) * Tile::kM);
  WB_RETURN_IF_FAILED(transpose(on(stream), p.a, transposed, before, p.k, 1, p.lda, pitch));
  if (before < p.m) {
    WB_RETURN_IF_FAILED(launch(transpose_aside<0>, multiprocessors, kAsideThreads, 0, stream, true,
                               p.a + before * p.lda, transposed + before, p.m - before, p.k, p.lda, pitch));
  }
  WB_RETURN_IF_FAILED(make_tensor_map(&map_a, kType, transposed, 4, p.k, p.m, pitch, Tile::kK, Tile::kM));
  WB_RETURN_IF_FAILED(make_tensor_map(&map_b, kType, p.b, 4, p.k, p.n, p.ldb, Tile::kK, Tile::kN));
  auto kernel = gemm_fp32_bulk<Tile>;
  WB_RETURN_IF_FAILED(allow_shared(kernel, Tile::kShared));
  const int ready_rows = before < p.m ? static_cast<int>(before) : 0;
  return launch(kernel, static_cast<unsigned>(tiles_m * tiles_n), Tile::kThreads, Tile::kShared, stream, true, map_a,
                map_b, p, ready_rows, static_cast<int>(tiles_m), static_cast<int>(tiles_n));
}
#endif

}  // namespace detail

namespace detail {

template <class Tile>
cudaError_t launch_fp32(cudaStream_t stream, const Fp32Problem& p, bool wide) {
  const long long tiles_m = ceil_div(p.m, static_cast<long long>(Tile::kM));
  const long long tiles_n = ceil_div(p.n, static_cast<long long>(Tile::kN));
  if (tiles_m * tiles_n > INT32_MAX) return cudaErrorInvalidValue;
  auto kernel = wide ? gemm_fp32<Tile, 4> : gemm_fp32<Tile, 1>;
  WB_RETURN_IF_FAILED(allow_shared(kernel, Tile::kShared));
  kernel<<<static_cast<unsigned>(tiles_m * tiles_n), Tile::kThreads, Tile::kShared, stream>>>(
      p, static_cast<int>(tiles_m), static_cast<int>(tiles_n));
  return cudaGetLastError();
}

}  // namespace detail

namespace detail {

// How fp32 products are cut: results per tile in units of 32 x 32, and what a unit took for each k when every
// multiprocessor had one, in tenths of a nanosecond.
struct Fp32Choice {
  long long m, n;
  int cost;
  long long time(const Fp32Problem& p, int multiprocessors) const {
    const long long tiles = ceil_div(p.m, m) * ceil_div(p.n, n);
    return ceil_div(tiles, static_cast<long long>(multiprocessors)) * (m * n / 1024) * cost * p.k;
  }
};

template <class Tile>
constexpr Fp32Choice choice(int cost) {
  return {Tile::kM, Tile::kN, cost};
}

}  // namespace detail

inline cudaError_t gemm_fp32(const Policy& policy, long long m, long long n, long long k, const float* a, long long lda,
                             const float* b, long long ldb, float* c, long long ldc, float alpha = 1, float beta = 0) {
  if (m < 0 || n < 0 || k < 0 || lda < k || ldb < n || ldc < n) return cudaErrorInvalidValue;
  const bool even_b = is_aligned(b, 16) && ldb % 4 == 0;
  const bool even_in = is_aligned(a, 16) && lda % 4 == 0 && even_b;
  const bool even_out = is_aligned(c, 16) && ldc % 4 == 0;
  const detail::Fp32Problem problem{a, b, c, m, n, k, lda, ldb, ldc, alpha, beta, even_out};
  Workspace workspace(policy);
  DeviceTraits device;
  WB_RETURN_IF_FAILED(device_traits(&device));
  // The fastest of each kind for this shape.
  using Launch = cudaError_t (*)(cudaStream_t, const detail::Fp32Problem&, bool);
  using Large = detail::Fp32Tile<128, 256, 16, 1>;
  using Middle = detail::Fp32Tile<64, 64, 64, 1, 8, 8, 4>;
  using Flat = detail::Fp32Tile<64, 32, 64, 1, 8, 8, 8>;
  using Small = detail::Fp32Tile<32, 32, 64, 2, 4, 8, 4>;
  Launch run = detail::launch_fp32<Large>;
  long long least = detail::choice<Large>(60).time(problem, device.multiprocessors);
  auto consider = [&](auto launch, const detail::Fp32Choice& choice, auto& chosen, long long& least_of_kind) {
    const long long time = choice.time(problem, device.multiprocessors);
    if (time < least_of_kind) chosen = launch, least_of_kind = time;
  };
  consider(detail::launch_fp32<Middle>, detail::choice<Middle>(80), run, least);
  consider(detail::launch_fp32<Flat>, detail::choice<Flat>(97), run, least);
  consider(detail::launch_fp32<Small>, detail::choice<Small>(98), run, least);
#if !WB_PORTABLE
  using BulkLaunch = cudaError_t (*)(cudaStream_t, const detail::Fp32Problem&, int, float*, long long);
  using Bulk = detail::BulkFp32Tile<128, 256, 32, 3>;
  using FewTiles = detail::BulkFp32Tile<128, 256, 16, 4>;
  using MiddleBulk = detail::BulkFp32Tile<64, 128, 64, 3, 4>;
  using SmallBulk = detail::BulkFp32Tile<64, 64, 64, 3, 8>;
  constexpr long long kFewRounds = 8;
  const bool few = ceil_div(m, 128LL) * ceil_div(n, 256LL) < kFewRounds * device.multiprocessors;
  BulkLaunch run_bulk = few ? detail::launch_fp32_bulk<FewTiles> : detail::launch_fp32_bulk<Bulk>;
  long long least_bulk = detail::choice<Bulk>(52).time(problem, device.multiprocessors);
  consider(detail::launch_fp32_bulk<MiddleBulk>, detail::choice<MiddleBulk>(57), run_bulk, least_bulk);
  consider(detail::launch_fp32_bulk<SmallBulk>, detail::choice<SmallBulk>(61), run_bulk, least_bulk);
  // Besides, A has to be transposed, which takes 4 us at least.
  constexpr long long kLaunch = 40000;
  constexpr long long kMost = INT32_MAX - 1024;  // the copy engine's coordinates are 32 bits wide
  const bool bulk = device.level != CodeLevel::portable && even_b && n < kMost && m < kMost && k >= 128 && k < kMost &&
                    least_bulk + least_bulk / 32 + kLaunch < least && device.shared_per_block >= Bulk::kShared &&
                    device.shared_per_block >= MiddleBulk::kShared;
  const long long pitch = static_cast<long long>(round_up(m, 8));
  const size_t transposed_at = workspace.reserve(bulk ? pitch * k * sizeof(float) : 0);
#endif
  WB_ACQUIRE(workspace);
  if (m == 0 || n == 0) return cudaSuccess;
#if !WB_PORTABLE
  if (bulk)
    return run_bulk(policy.stream, problem, device.multiprocessors, workspace.template at<float>(transposed_at), pitch);
#endif
  return run(policy.stream, problem, even_in && even_out && k % 4 == 0 && n % 4 == 0);
}

namespace detail {

template <class T>
__device__ float operand(T value) {
  if constexpr (std::is_same_v<T, float>) {
    // tf32 keeps ten bits of mantissa; the tensor cores ignore the rest.
    return __uint_as_float(__float_as_uint(value) & 0xffffe000u);
  } else {
    return __bfloat162float(value);
  }
}

// The portable form: square tiles through shared memory.
template <class T, class Out>
__global__ void __launch_bounds__(256)
    gemm_transposed_tiles(const T* a, long long lda, const T* b, long long ldb, Out* c, TensorProblem p) {
  constexpr int kSide = 16;
  __shared__ float tile_a[kSide][kSide + 1], tile_b[kSide][kSide + 1];
  const int x = threadIdx.x % kSide, y = threadIdx.x / kSide;
  const long long row = static_cast<long long>(blockIdx.y) * kSide + y;
  const long long column0 = static_cast<long long>(blockIdx.x) * kSide;
  float sum = 0;
  for (long long k0 = 0; k0 < p.k; k0 += kSide) {
    tile_a[y][x] = row < p.m && k0 + x < p.k ? operand(a[row * lda + k0 + x]) : 0.0f;
    tile_b[y][x] = column0 + y < p.n && k0 + x < p.k ? operand(b[(column0 + y) * ldb + k0 + x]) : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kSide; ++i) sum += tile_a[y][i] * tile_b[x][i];
    __syncthreads();
  }
  if (row < p.m && column0 + x < p.n) {
    Out* to = c + row * p.ldc + column0 + x;
    float value = p.alpha * sum;
    if (p.beta != 0) value += p.beta * static_cast<float>(*to);
    *to = static_cast<Out>(value);
  }
}

// Copies rows to a pitch the copy engine accepts.
template <class T>
__global__ void __launch_bounds__(256)
    repitch(const T* in, long long in_pitch, T* out, long long out_pitch, long long rows, long long columns) {
  for (long long row = blockIdx.x; row < rows; row += gridDim.x)
    for (long long column = threadIdx.x; column < columns; column += blockDim.x)
      out[row * out_pitch + column] = in[row * in_pitch + column];
}

template <class T, class Out>
cudaError_t gemm_transposed(const Policy& policy, long long m, long long n, long long k, const T* a, long long lda,
                            const T* b, long long ldb, Out* c, long long ldc, float alpha, float beta) {
  if (m < 0 || n < 0 || k < 0 || lda < k || ldb < k || ldc < n) return cudaErrorInvalidValue;
  DeviceTraits device;
  WB_RETURN_IF_FAILED(device_traits(&device));
  bool tensor = device.level == CodeLevel::wgmma && k > 0 && device.shared_per_block >= kTensorShared;
  auto regular = [](const T* pointer, long long pitch) {
    return is_aligned(pointer, 16) && pitch * sizeof(T) % 16 == 0;
  };
  long long even_pitch = static_cast<long long>(round_up(k * sizeof(T), 16) / sizeof(T));
  bool copy_a = tensor && !regular(a, lda), copy_b = tensor && !regular(b, ldb);
  Workspace workspace(policy);
  size_t a_at = workspace.reserve(copy_a ? m * even_pitch * sizeof(T) : 0);
  size_t b_at = workspace.reserve(copy_b ? n * even_pitch * sizeof(T) : 0);
  WB_ACQUIRE(workspace);
  if (m == 0 || n == 0) return cudaSuccess;
  const TensorProblem problem = tensor_problem<T>(m, n, k, c, ldc, alpha, beta);
#if !WB_PORTABLE
  if (tensor) {
    constexpr int kCopyBlocks = 2048;
    if (copy_a) {
      T* even = workspace.template at<T>(a_at);
      repitch<<<kCopyBlocks, 256, 0, policy.stream>>>(a, lda, even, even_pitch, m, k);
      a = even, lda = even_pitch;
    }
    if (copy_b) {
      T* even = workspace.template at<T>(b_at);
      repitch<<<kCopyBlocks, 256, 0, policy.stream>>>(b, ldb, even, even_pitch, n, k);
      b = even, ldb = even_pitch;
    }
    constexpr auto kType =
        std::is_same_v<T, float> ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    const auto run = fastest_tensor_form<T, Out>(problem, device.multiprocessors);
    return run(policy, device, kType, a, lda, b, ldb, c, problem);
  }
#endif
  dim3 grid(static_cast<unsigned>(ceil_div(n, 16LL)), static_cast<unsigned>(ceil_div(m, 16LL)));
  if (grid.y > 65535) return cudaErrorInvalidValue;
  gemm_transposed_tiles<<<grid, 256, 0, policy.stream>>>(a, lda, b, ldb, c, problem);
  return cudaGetLastError();
}

}  // namespace detail

inline cudaError_t gemm_tf32(const Policy& policy, long long m, long long n, long long k, const float* a, long long lda,
                             const float* b, long long ldb, float* c, long long ldc, float alpha = 1, float beta = 0) {
  return detail::gemm_transposed(policy, m, n, k, a, lda, b, ldb, c, ldc, alpha, beta);
}

template <class Out>
cudaError_t gemm_bf16(const Policy& policy, long long m, long long n, long long k, const __nv_bfloat16* a,
                      long long lda, const __nv_bfloat16* b, long long ldb, Out* c, long long ldc, float alpha = 1,
                      float beta = 0) {
  return detail::gemm_transposed(policy, m, n, k, a, lda, b, ldb, c, ldc, alpha, beta);
}

}  // namespace warpbeam
