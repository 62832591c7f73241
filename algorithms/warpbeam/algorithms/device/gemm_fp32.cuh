// C = alpha A B + beta C in fp32 on the ordinary arithmetic units; all matrices row-major, any shape.
//
// A warp makes 64 x 64 results, a thread 8 x 16 of them in registers: 24 values read from shared memory feed 128
// multiply-adds. Small matrices have too few results to give every multiprocessor warps enough at that rate, so there
// several warps make the same results, each from its share of every slice of k, and add up at the end. The next slice of
// A travels through registers, because it has to be turned; the next slice of B is copied asynchronously, straight to
// its place.
#pragma once

#include "../config.cuh"
#include "../thread/async_copy.cuh"
#include "../thread/vector.cuh"

namespace warpbeam::detail {

struct Fp32Problem {
  const float* a;
  const float* b;
  float* c;
  long long m, n, k;
  long long lda, ldb, ldc;
  float alpha, beta;
  bool plain_vectors;  // four neighbours of a row of C are one aligned vector
};

// A thread has 4 x 4 results of each of the parts its warp is divided into, 32 rows and 16 columns apart; `row0` and
// `column0` are its first. `sum` are those of its rows from number `first` on. They leave by way of `value`: stored straight from `sum`, four of a row would have to lie in
// neighbouring registers, and the multiply-adds would then meet in the register file's banks.
template <int kRows, int kColumns>
__device__ __forceinline__ void store_sums(const Fp32Problem& p, long long row0, long long column0,
                                           const float (&sum)[kRows][kColumns], int first = 0) {
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const long long row = row0 + (first + i) / 4 * 32 + (first + i) % 4;
    if (row >= p.m) continue;
#pragma unroll
    for (int j = 0; j < kColumns; j += 4) {
      const long long column = column0 + j * 4;
      float* to = p.c + row * p.ldc + column;
      if (column + 4 <= p.n && p.plain_vectors) {
        float4 value = p.beta != 0 ? *reinterpret_cast<float4*>(to) : make_float4(0, 0, 0, 0);
        value.x = p.alpha * sum[i][j] + p.beta * value.x;
        value.y = p.alpha * sum[i][j + 1] + p.beta * value.y;
        value.z = p.alpha * sum[i][j + 2] + p.beta * value.z;
        value.w = p.alpha * sum[i][j + 3] + p.beta * value.w;
        *reinterpret_cast<float4*>(to) = value;
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e)
          if (column + e < p.n) to[e] = p.alpha * sum[i][j + e] + (p.beta != 0 ? p.beta * to[e] : 0.0f);
      }
    }
  }
}

// kSplit warps share each part of the results and of a slice of k.
template <int kMV, int kNV, int kKV, int kBlocksV, int kThreadMV = 8, int kThreadNV = 16, int kSplitV = 1>
struct Fp32Tile {
  static constexpr int kM = kMV, kN = kNV, kK = kKV;
  static constexpr int kBlocks = kBlocksV;  // per multiprocessor
  static constexpr int kThreadM = kThreadMV, kThreadN = kThreadNV;
  static constexpr int kWarpM = kThreadM * 8, kWarpN = kThreadN * 4;  // a warp's results; its lanes lie 8 x 4
  static constexpr int kWarpsM = kM / kWarpM, kWarpsN = kN / kWarpN;
  static constexpr int kSplit = kSplitV;
  static constexpr int kThreads = kWarpsM * kWarpsN * kSplit * kWarpSize;
  static constexpr int kStageFloats = kK * (kM + kN);
  static constexpr int kSumFloats = kSplit > 1 ? kSplit * kM * kN : 0;
  static constexpr int kFloats = 2 * kStageFloats > kSumFloats ? 2 * kStageFloats : kSumFloats;
  static constexpr int kShared = kFloats * static_cast<int>(sizeof(float));
  static_assert(kThreads * 4 / kK <= kM && kM % 32 == 0, "one fetch covers whole rows of A");
  static_assert(kThreadM % kSplit == 0 && kK % kSplit == 0, "warps have equal shares");

  // Where slices of A begin each k: rows are exchanged in groups of four, so that the values of a warp, which are fetched
  // along k and put along the rows, fall into different banks.
  static constexpr __host__ __device__ int swizzled(int k, int row) {
    return k * kM + (kK >= 32 ? row ^ (k / 4 % 8 * 4) : row ^ (k / 4 % 4 * 8));
  }
};

// Stores the sums of a tile's threads. Where several warps share a part of the results, each leaves all its sums in
// shared memory, and then adds up and stores some of the rows.
template <class Tile>
__device__ __forceinline__ void store_split(const Fp32Problem& p, long long row0, long long column0,
                                            const float (&sum)[Tile::kThreadM][Tile::kThreadN], float4* all) {
  if constexpr (Tile::kSplit == 1) {
    store_sums(p, row0, column0, sum);
  } else {
    constexpr int kThreads = Tile::kWarpsM * Tile::kWarpsN * kWarpSize;  // that share nothing
    constexpr int kVectors = Tile::kThreadN / 4, kOwn = Tile::kThreadM / Tile::kSplit;
    const int split = threadIdx.x / kThreads, thread = threadIdx.x % kThreads;
    auto place = [&](int from, int i, int j) { return ((from * Tile::kThreadM + i) * kVectors + j) * kThreads + thread; };
#pragma unroll
    for (int i = 0; i < Tile::kThreadM; ++i)
#pragma unroll
      for (int j = 0; j < kVectors; ++j)
        all[place(split, i, j)] = make_float4(sum[i][j * 4], sum[i][j * 4 + 1], sum[i][j * 4 + 2], sum[i][j * 4 + 3]);
    __syncthreads();
    float own[kOwn][Tile::kThreadN] = {};
#pragma unroll
    for (int from = 0; from < Tile::kSplit; ++from)
#pragma unroll
      for (int i = 0; i < kOwn; ++i)
#pragma unroll
        for (int j = 0; j < kVectors; ++j) {
          const float4 more = all[place(from, split * kOwn + i, j)];
          own[i][j * 4] += more.x, own[i][j * 4 + 1] += more.y, own[i][j * 4 + 2] += more.z, own[i][j * 4 + 3] += more.w;
        }
    store_sums(p, row0, column0, own, split * kOwn);
  }
}

// kVec is 4 where every row starts on 16 bytes, else 1.
template <class Tile, int kVec>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocks) gemm_fp32(Fp32Problem p, int tiles_m, int tiles_n) {
  constexpr int kThreads = Tile::kThreads;
  constexpr int kRowsA = kThreads * 4 / Tile::kK;  // rows of A fetched at once, four values per thread
  constexpr int kFetchA = Tile::kM / kRowsA;
  constexpr int kFetchB = Tile::kK * Tile::kN / (kThreads * kVec);
  extern __shared__ __align__(16) float stages[];
  auto stage_a = [&](int s) { return stages + s * Tile::kStageFloats; };
  auto stage_b = [&](int s) { return stages + s * Tile::kStageFloats + Tile::kK * Tile::kM; };

  // Blocks that run together cover a compact region of C, so that they share rows of A and columns of B in the cache.
  constexpr int kGroup = 8;
  const int group = blockIdx.x / (kGroup * tiles_n);
  const int group_rows = min(kGroup, tiles_m - group * kGroup);
  const int in_group = blockIdx.x - group * kGroup * tiles_n;
  const long long m0 = static_cast<long long>(group * kGroup + in_group % group_rows) * Tile::kM;
  const long long n0 = static_cast<long long>(in_group / group_rows) * Tile::kN;

  const int fetch_row = threadIdx.x / (Tile::kK / 4);
  const int fetch_k = threadIdx.x % (Tile::kK / 4) * 4;
  float next_a[kFetchA][4];
  auto fetch_a = [&](long long k0) {
#pragma unroll
    for (int i = 0; i < kFetchA; ++i) {
      const long long row = m0 + fetch_row + i * kRowsA;
      const float* from = p.a + row * p.lda + k0 + fetch_k;
      if constexpr (kVec == 4) {
        float4 value = make_float4(0, 0, 0, 0);
        if (row < p.m && k0 + fetch_k < p.k) value = *reinterpret_cast<const float4*>(from);
        next_a[i][0] = value.x, next_a[i][1] = value.y, next_a[i][2] = value.z, next_a[i][3] = value.w;
      } else {
#pragma unroll
        for (int j = 0; j < 4; ++j) next_a[i][j] = row < p.m && k0 + fetch_k + j < p.k ? from[j] : 0.0f;
      }
    }
  };
  auto put_a = [&](float* to) {
#pragma unroll
    for (int i = 0; i < kFetchA; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j) to[Tile::swizzled(fetch_k, fetch_row + i * kRowsA) + j * Tile::kM] = next_a[i][j];
  };
  auto fetch_b = [&](float* to, long long k0) {
#pragma unroll
    for (int i = 0; i < kFetchB; ++i) {
      const int index = (i * kThreads + threadIdx.x) * kVec;
      const int k = index / Tile::kN, n = index % Tile::kN;
      const bool there = k0 + k < p.k && n0 + n < p.n;
      copy_async<kVec>(to + index, there ? p.b + (k0 + k) * p.ldb + n0 + n : p.b, there);
    }
  };

  constexpr int kWarpsOfTile = Tile::kWarpsM * Tile::kWarpsN;
  constexpr int kShareK = Tile::kK / Tile::kSplit;
  const int split = warp_id() / kWarpsOfTile, warp = warp_id() % kWarpsOfTile;
  const int warp_m = warp / Tile::kWarpsN * Tile::kWarpM, warp_n = warp % Tile::kWarpsN * Tile::kWarpN;
  const int lane_m = lane_id() / 4 * 4, lane_n = lane_id() % 4 * 4;
  float sum[Tile::kThreadM][Tile::kThreadN] = {};
  float frag_a[2][Tile::kThreadM], frag_b[2][Tile::kThreadN];
  auto read = [&](int buffer, const float* a, const float* b, int k) {
    const float* from_a = a + Tile::swizzled(split * kShareK + k, warp_m + lane_m);
    const float* from_b = b + (split * kShareK + k) * Tile::kN + warp_n + lane_n;
#pragma unroll
    for (int i = 0; i < Tile::kThreadM / 4; ++i)
      *reinterpret_cast<float4*>(&frag_a[buffer][i * 4]) = *reinterpret_cast<const float4*>(from_a + i * 32);
#pragma unroll
    for (int i = 0; i < Tile::kThreadN / 4; ++i)
      *reinterpret_cast<float4*>(&frag_b[buffer][i * 4]) = *reinterpret_cast<const float4*>(from_b + i * 16);
  };

  fetch_a(0);
  fetch_b(stage_b(0), 0);
  put_a(stage_a(0));
  copies_done();
  __syncthreads();
  const int slices = static_cast<int>(ceil_div(p.k, static_cast<long long>(Tile::kK)));
  for (int slice = 0; slice < slices; ++slice) {
    const int current = slice & 1;
    const bool more = slice + 1 < slices;
    if (more) {
      fetch_a(static_cast<long long>(slice + 1) * Tile::kK);
      fetch_b(stage_b(current ^ 1), static_cast<long long>(slice + 1) * Tile::kK);
    }
    const float* a = stage_a(current);
    const float* b = stage_b(current);
    read(0, a, b, 0);
#pragma unroll
    for (int k = 0; k < kShareK; ++k) {
      if (k + 1 < kShareK) read((k + 1) & 1, a, b, k + 1);
      // Up one column and down the next, so that consecutive multiply-adds share a register.
#pragma unroll
      for (int j = 0; j < Tile::kThreadN; ++j)
#pragma unroll
        for (int step = 0; step < Tile::kThreadM; ++step) {
          const int i = j % 2 ? Tile::kThreadM - 1 - step : step;
          sum[i][j] += frag_a[k & 1][i] * frag_b[k & 1][j];
        }
    }
    if (more) put_a(stage_a(current ^ 1));
    copies_done();
    __syncthreads();
  }

  store_split<Tile>(p, m0 + warp_m + lane_m, n0 + warp_n + lane_n, sum, reinterpret_cast<float4*>(stages));
}

}  // namespace warpbeam::detail
