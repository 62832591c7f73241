// Grids of one launch on several devices that meet: cudaLaunchCooperativeKernelMultiDevice and multi_grid_group.
// nvcc: no
#include <cooperative_groups.h>

#include <cstdio>
#include <cstdlib>

namespace cg = cooperative_groups;

// In turns every grid adds its rank to what the one before it left; all see it after they have met.
__global__ void relay(int* cell, int* seen, int rounds) {
  cg::multi_grid_group grids = cg::this_multi_grid();
  const unsigned long long rank = grids.thread_rank();
  for (int round = 0; round < rounds; ++round) {
    if (rank == (round % grids.num_grids()) * (grids.size() / grids.num_grids())) cell[0] = cell[0] * 3 + grids.grid_rank() + 1;
    grids.sync();
    if (cg::this_grid().thread_rank() == 0) seen[round * grids.num_grids() + grids.grid_rank()] = cell[0];
    grids.sync();
  }
}

int run(int devices) {
  constexpr int kRounds = 5;
  int *cell, *seen;
  if (cudaHostAlloc(&cell, 4, cudaHostAllocPortable) || cudaHostAlloc(&seen, 1024, cudaHostAllocPortable)) return 1;
  cell[0] = 0;
  int rounds = kRounds;
  void* arguments[] = {&cell, &seen, &rounds};
  cudaLaunchParams launches[2];
  for (int d = 0; d < devices; ++d) {
    cudaSetDevice(d);
    launches[d] = {(void*)relay, dim3(3), dim3(64), arguments, 0, nullptr};
    if (cudaStreamCreate(&launches[d].stream)) return 1;
  }
  if (cudaLaunchCooperativeKernelMultiDevice(launches, devices, 0)) return 1;
  for (int d = 0; d < devices; ++d) {
    cudaSetDevice(d);
    if (cudaError_t status = cudaDeviceSynchronize()) {
      printf("device %d: %s\n", d, cudaGetErrorString(status));
      return 1;
    }
  }
  int wanted = 0, wrong = 0;
  for (int round = 0; round < kRounds; ++round) {
    wanted = wanted * 3 + round % devices + 1;
    for (int d = 0; d < devices; ++d) wrong += seen[round * devices + d] != wanted;
  }
  printf("%d devices: %d wrong\n", devices, wrong);
  return wrong;
}

int main() {
  setenv("WARPBEAM_DEVICES", "2", 1);
  return run(1) || run(2) || run(2);
}
