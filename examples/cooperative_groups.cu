// The same few lines of code for teams of different sizes: a tile of 8 lanes, whatever lanes happen to be together, a
// block, the whole grid. What to see: softmax needs two sums over all elements; with a grid that can wait for itself they
// take one launch instead of three, and the launch is refused if not all of its blocks fit on the device at once.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cmath>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

// Any group can add up a value of each member.
template <class Group>
__device__ int sum_of(const Group& group, int value) {
  return cg::reduce(group, value, cg::plus<int>());
}

__global__ void teams(int* results) {
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  auto eight = cg::tiled_partition<8>(warp);
  const int rank = block.thread_rank();
  const int by_eight = sum_of(eight, rank), by_warp = sum_of(warp, rank);
  if (rank == 100) results[0] = by_eight, results[1] = by_warp;  // 96 + … + 103, 96 + … + 127
  if (rank % 3 == 0) {
    auto together = cg::coalesced_threads();  // the lanes of this warp that came here
    const int place = cg::exclusive_scan(together, 1);
    if (rank == 99) results[2] = (int)together.size() * 100 + place;
  }
  auto odd_even = cg::labeled_partition(warp, rank % 2);
  cg::invoke_one(odd_even, [&] { atomicAdd(&results[3], (int)odd_even.size()); });  // one of each part speaks for it
}

__global__ void softmax(const float* in, float* out, int n, float* sums) {
  cg::grid_group grid = cg::this_grid();
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  float most = -INFINITY;
  for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size()) most = fmaxf(most, in[i]);
  most = cg::reduce(warp, most, cg::greater<float>());
  if (warp.thread_rank() == 0) atomicMax((int*)&sums[0], __float_as_int(most));  // numbers from 0 on compare like integers
  grid.sync();
  float sum = 0;
  for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size()) sum += expf(in[i] - sums[0]);
  sum = cg::reduce(warp, sum, cg::plus<float>());
  if (warp.thread_rank() == 0) atomicAdd(&sums[1], sum);
  grid.sync();
  for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size()) out[i] = expf(in[i] - sums[0]) / sums[1];
}

int main() {
  int* results;
  cudaMallocManaged(&results, 4 * sizeof(int));
  for (int i = 0; i < 4; ++i) results[i] = 0;
  teams<<<1, 128>>>(results);
  cudaDeviceSynchronize();
  // Of lanes 96 to 127, eleven (96, 99, … 126) are multiples of 3, and thread 99 is the second of them.
  bool good = results[0] == 796 && results[1] == 3568 && results[2] == 1101 && results[3] == 128;
  std::printf("sum of eight: %d, of a warp: %d, lanes and place: %d, counted: %d\n", results[0], results[1], results[2], results[3]);

  int n = 50000, blocks = 0;
  cudaDeviceProp device;
  cudaGetDeviceProperties(&device, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, softmax, 256, 0);
  blocks *= device.multiProcessorCount;
  float *in, *out, *sums;
  cudaMallocManaged(&in, n * sizeof(float));
  cudaMallocManaged(&out, n * sizeof(float));
  cudaMallocManaged(&sums, 2 * sizeof(float));
  sums[0] = sums[1] = 0;
  for (int i = 0; i < n; ++i) in[i] = (float)(i % 97) / 8;
  void* arguments[] = {&in, &out, &n, &sums};
  const cudaError_t too_many = cudaLaunchCooperativeKernel((void*)softmax, dim3(blocks + 1), dim3(256), arguments, 0, 0);
  std::printf("%d blocks at once; one more: %s\n", blocks, cudaGetErrorName(too_many));
  good = good && too_many == cudaErrorCooperativeLaunchTooLarge;
  cudaGetLastError();
  good = good && cudaLaunchCooperativeKernel((void*)softmax, dim3(blocks < 16 ? blocks : 16), dim3(256), arguments, 0, 0) == cudaSuccess;
  good = good && cudaDeviceSynchronize() == cudaSuccess;
  double all = 0, expected = 0;
  for (int i = 0; i < n; ++i) expected += std::exp(in[i] - 12.0);
  for (int i = 0; i < n; ++i) {
    all += out[i];
    good = good && std::fabs(out[i] - std::exp(in[i] - 12.0) / expected) < 1e-5 * out[i] + 1e-12;
  }
  good = good && std::fabs(all - 1) < 1e-4;
  std::printf("softmax adds up to %.6f\n%s\n", all, good ? "PASS" : "FAIL");
  cudaFree(results);
  cudaFree(in);
  cudaFree(out);
  cudaFree(sums);
  return !good;
}
