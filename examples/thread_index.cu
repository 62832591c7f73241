// thread_index: who am I? Every thread of a 3-D grid of 3-D blocks prints or computes its coordinates.
// Look at the two flattening formulas: x runs fastest, then y, then z, for threads in a block and for blocks in a grid.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

__global__ void introduce_yourself() {
  printf("thread (%u, %u, %u) of block (%u, %u, %u), blocks of (%u, %u, %u) in a grid of (%u, %u, %u)\n", threadIdx.x,
         threadIdx.y, threadIdx.z, blockIdx.x, blockIdx.y, blockIdx.z, blockDim.x, blockDim.y, blockDim.z, gridDim.x,
         gridDim.y, gridDim.z);
}

struct Place {
  uint3 thread, block;
  unsigned lane, warp;
};

__global__ void record_place(Place* places) {
  unsigned thread_in_block = threadIdx.x + threadIdx.y * blockDim.x + threadIdx.z * blockDim.x * blockDim.y;
  unsigned block_in_grid = blockIdx.x + blockIdx.y * gridDim.x + blockIdx.z * gridDim.x * gridDim.y;
  unsigned threads_per_block = blockDim.x * blockDim.y * blockDim.z;
  Place& mine = places[block_in_grid * threads_per_block + thread_in_block];
  mine.thread = threadIdx;
  mine.block = blockIdx;
  mine.lane = thread_in_block % warpSize;
  mine.warp = thread_in_block / warpSize;
}

int main() {
  // Two blocks of three threads, as many as six elements need; the grid is rounded up.
  const int elements = 6;
  dim3 small_block(3);
  dim3 small_grid((elements + small_block.x - 1) / small_block.x);
  std::printf("host: grid (%u, %u, %u), block (%u, %u, %u)\n", small_grid.x, small_grid.y, small_grid.z, small_block.x,
              small_block.y, small_block.z);
  introduce_yourself<<<small_grid, small_block>>>();
  CHECK(cudaDeviceSynchronize());

  const dim3 grid(3, 2, 2), block(5, 4, 3);
  const unsigned threads_per_block = block.x * block.y * block.z;
  const unsigned total = grid.x * grid.y * grid.z * threads_per_block;
  Place* d_places;
  CHECK(cudaMalloc(&d_places, total * sizeof(Place)));
  CHECK(cudaMemset(d_places, 0xff, total * sizeof(Place)));
  record_place<<<grid, block>>>(d_places);
  CHECK(cudaGetLastError());
  std::vector<Place> places(total);
  CHECK(cudaMemcpy(places.data(), d_places, total * sizeof(Place), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d_places));

  // The host walks the same space with plain loops and must meet the same coordinates in the same order.
  unsigned next = 0, wrong = 0;
  for (unsigned bz = 0; bz < grid.z; ++bz)
    for (unsigned by = 0; by < grid.y; ++by)
      for (unsigned bx = 0; bx < grid.x; ++bx)
        for (unsigned tz = 0; tz < block.z; ++tz)
          for (unsigned ty = 0; ty < block.y; ++ty)
            for (unsigned tx = 0; tx < block.x; ++tx, ++next) {
              const Place& p = places[next];
              const unsigned in_block = next % threads_per_block;
              bool right = p.thread.x == tx && p.thread.y == ty && p.thread.z == tz && p.block.x == bx &&
                           p.block.y == by && p.block.z == bz && p.lane == in_block % 32 && p.warp == in_block / 32;
              wrong += !right;
            }
  std::printf("thread_index: %u threads know where they are, %u do not\n", total - wrong, wrong);
  return wrong == 0 ? 0 : 1;
}
