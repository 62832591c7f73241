// build: -rdc=true
// One sum over all devices in a single launch: each device adds up its part, then the grids meet, and each of them reads
// what the others found.
// What to see: this_multi_grid().sync() is a barrier for every thread on every device; behind it the first grid's
// partial sum is everybody's to read, without the host between.
// For toolkits 9 to 12, and for Warpbeam: toolkit 13 removed the launch and the group.
#include <cuda_runtime.h>

#include <cstdio>

#ifndef cudaCooperativeLaunchMultiDeviceNoPreSync
int main() {
  std::printf("cooperative_devices: this toolkit has no cudaLaunchCooperativeKernelMultiDevice: nothing to do\n");
  return 0;
}
#else

#include <cooperative_groups.h>

#include <cstdlib>
#include <vector>

namespace cg = cooperative_groups;

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

// partial: one cell per device, in host memory that all devices see; total: this device's own.
__global__ void sum_all(const int* data, int n, unsigned long long* partial, unsigned long long* total) {
  cg::multi_grid_group grids = cg::this_multi_grid();
  cg::grid_group grid = cg::this_grid();
  unsigned long long mine = 0;
  for (int i = (int)grid.thread_rank(); i < n; i += (int)grid.size()) mine += data[i];
  atomicAdd(total, mine);
  grid.sync();
  if (grid.thread_rank() == 0) {
    partial[grids.grid_rank()] = *total;
    __threadfence_system();
  }
  grids.sync();
  if (grid.thread_rank() == 0) {
    *total = 0;
    for (unsigned g = 0; g < grids.num_grids(); ++g) *total += partial[g];
  }
}

// What a launch on one device needs; the arguments' addresses stay valid while this does.
struct Part {
  int *data, count;
  unsigned long long *partial, *total;
  cudaStream_t stream;
  void* arguments[4];
};

void prepare(Part& part, int device, int n, unsigned long long* partial) {
  CHECK(cudaSetDevice(device));
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = device * n + i;
  part.count = n;
  part.partial = partial;
  CHECK(cudaMalloc(&part.data, n * sizeof(int)));
  CHECK(cudaMemcpy(part.data, host.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK(cudaMalloc(&part.total, sizeof *part.total));
  CHECK(cudaMemset(part.total, 0, sizeof *part.total));
  CHECK(cudaStreamCreateWithFlags(&part.stream, cudaStreamNonBlocking));
  CHECK(cudaDeviceSynchronize());
  void* arguments[] = {&part.data, &part.count, &part.partial, &part.total};
  for (int k = 0; k < 4; ++k) part.arguments[k] = arguments[k];
}

int main(int argc, char** argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 20001, devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  for (int d = 0; d < devices; ++d) {
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, d));
    if (!properties.cooperativeMultiDeviceLaunch) devices = d;
  }
  if (devices == 0) {
    std::printf("cooperative_devices: no device that can launch together with others: nothing to do\n");
    return 0;
  }

  unsigned long long* partial;
  CHECK(cudaHostAlloc(&partial, devices * sizeof *partial, cudaHostAllocPortable | cudaHostAllocMapped));
  std::vector<Part> parts(devices);
  std::vector<cudaLaunchParams> launches(devices);
  for (int d = 0; d < devices; ++d) {
    prepare(parts[d], d, n, partial);
    launches[d] = {(void*)sum_all, dim3(4), dim3(128), parts[d].arguments, 0, parts[d].stream};
  }
  CHECK(cudaLaunchCooperativeKernelMultiDevice(launches.data(), devices, 0));

  const unsigned long long numbers = (unsigned long long)devices * n, expected = numbers * (numbers - 1) / 2;
  int wrong = 0;
  for (int d = 0; d < devices; ++d) {
    unsigned long long total = 0;
    CHECK(cudaSetDevice(d));
    CHECK(cudaStreamSynchronize(parts[d].stream));
    CHECK(cudaMemcpy(&total, parts[d].total, sizeof total, cudaMemcpyDeviceToHost));
    wrong += total != expected;
    CHECK(cudaStreamDestroy(parts[d].stream));
    CHECK(cudaFree(parts[d].data));
    CHECK(cudaFree(parts[d].total));
  }
  CHECK(cudaFreeHost(partial));
  std::printf("cooperative_devices: the sum of %llu numbers on %d device(s) is %llu, %d wrong, %s\n", numbers, devices, expected, wrong, wrong ? "FAILED" : "ok");
  return wrong != 0;
}
#endif
