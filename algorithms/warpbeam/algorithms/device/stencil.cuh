// Stencils in one, two and three dimensions: out[p] = fn(neighbourhood of p). A block loads its tile and the halo around
// it once; the function reads neighbours from shared memory.
//
//   stencil<1, 1, 0>(on(), in, out, {width, height, 1}, Edge::clamp, [] __device__(auto at) {
//     return 0.25f * (at(-1, 0, 0) + at(1, 0, 0) + at(0, -1, 0) + at(0, 1, 0));
//   });
#pragma once

#include "../config.cuh"
#include "../policy.cuh"
#include "launch.cuh"

namespace warpbeam {

// What a neighbour outside the grid is: the nearest point inside, or zero.
enum class Edge { clamp, zero };

struct Extent {
  long long x, y, z;
};

namespace detail {

template <int kRadiusX, int kRadiusY, int kRadiusZ>
struct StencilTile {
  static constexpr bool kDeep = kRadiusZ > 0, kFlat = kRadiusY > 0 || kDeep;
  static constexpr int kX = kFlat ? 64 : 1024, kY = kFlat ? (kDeep ? 4 : 16) : 1, kZ = kDeep ? 4 : 1;
  static constexpr int kPitch = kX + 2 * kRadiusX;
  static constexpr int kRows = kY + 2 * kRadiusY;
  static constexpr int kItems = kPitch * kRows * (kZ + 2 * kRadiusZ);
  static constexpr int kThreads = 256;
};

template <class T, int kPitch, int kRows>
struct Neighbourhood {
  const T* centre;
  __device__ const T& operator()(int dx, int dy = 0, int dz = 0) const { return centre[(dz * kRows + dy) * kPitch + dx]; }
};

template <int kRadiusX, int kRadiusY, int kRadiusZ, class T, class Out, class Fn>
__global__ void __launch_bounds__(256)
    stencil_tiles(const T* in, Out* out, Extent size, unsigned tiles_x, unsigned tiles_y, Edge edge, Fn fn) {
  using Tile = StencilTile<kRadiusX, kRadiusY, kRadiusZ>;
  extern __shared__ __align__(128) unsigned char memory[];
  T* tile = reinterpret_cast<T*>(memory);
  const unsigned in_layer = blockIdx.x % (tiles_x * tiles_y);
  const long long x0 = static_cast<long long>(in_layer % tiles_x) * Tile::kX;
  const long long y0 = static_cast<long long>(in_layer / tiles_x) * Tile::kY;
  const long long z0 = static_cast<long long>(blockIdx.x / (tiles_x * tiles_y)) * Tile::kZ;
  for (int i = threadIdx.x; i < Tile::kItems; i += Tile::kThreads) {
    const long long x = x0 + i % Tile::kPitch - kRadiusX;
    const long long y = y0 + i / Tile::kPitch % Tile::kRows - kRadiusY;
    const long long z = z0 + i / (Tile::kPitch * Tile::kRows) - kRadiusZ;
    const bool inside = x >= 0 && x < size.x && y >= 0 && y < size.y && z >= 0 && z < size.z;
    const long long near_x = min(max(x, 0LL), size.x - 1), near_y = min(max(y, 0LL), size.y - 1),
                    near_z = min(max(z, 0LL), size.z - 1);
    tile[i] = inside || edge == Edge::clamp ? in[(near_z * size.y + near_y) * size.x + near_x] : T{};
  }
  __syncthreads();
  for (int i = threadIdx.x; i < Tile::kX * Tile::kY * Tile::kZ; i += Tile::kThreads) {
    const int x = i % Tile::kX, y = i / Tile::kX % Tile::kY, z = i / (Tile::kX * Tile::kY);
    if (x0 + x >= size.x || y0 + y >= size.y || z0 + z >= size.z) continue;
    const T* centre = tile + ((z + kRadiusZ) * Tile::kRows + y + kRadiusY) * Tile::kPitch + x + kRadiusX;
    out[((z0 + z) * size.y + y0 + y) * size.x + x0 + x] = fn(Neighbourhood<T, Tile::kPitch, Tile::kRows>{centre});
  }
}

}  // namespace detail

// `in` and `out` do not overlap.
template <int kRadiusX, int kRadiusY, int kRadiusZ, class T, class Out, class Fn>
cudaError_t stencil(const Policy& policy, const T* in, Out* out, Extent size, Edge edge, Fn fn) {
  using Tile = detail::StencilTile<kRadiusX, kRadiusY, kRadiusZ>;
  static_assert(kRadiusX >= 0 && kRadiusY >= 0 && kRadiusZ >= 0 && Tile::kItems * sizeof(T) <= (200 << 10),
                "the tile and its halo fit in shared memory");
  Workspace workspace(policy);
  WB_ACQUIRE(workspace);
  if (size.x < 0 || size.y < 0 || size.z < 0) return cudaErrorInvalidValue;
  if (size.x == 0 || size.y == 0 || size.z == 0) return cudaSuccess;
  const long long tiles_x = ceil_div(size.x, static_cast<long long>(Tile::kX));
  const long long tiles_y = ceil_div(size.y, static_cast<long long>(Tile::kY));
  const long long tiles_z = ceil_div(size.z, static_cast<long long>(Tile::kZ));
  if (tiles_x * tiles_y * tiles_z > INT32_MAX) return cudaErrorInvalidValue;
  auto kernel = detail::stencil_tiles<kRadiusX, kRadiusY, kRadiusZ, T, Out, Fn>;
  WB_RETURN_IF_FAILED(allow_shared(kernel, Tile::kItems * sizeof(T)));
  kernel<<<static_cast<unsigned>(tiles_x * tiles_y * tiles_z), Tile::kThreads, Tile::kItems * sizeof(T),
           policy.stream>>>(in, out, size, static_cast<unsigned>(tiles_x), static_cast<unsigned>(tiles_y), edge, fn);
  return cudaGetLastError();
}

}  // namespace warpbeam
