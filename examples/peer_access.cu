// Two devices, one address space: after cudaDeviceEnablePeerAccess a kernel on the first device reads what lies on the
// second through a plain pointer; a copy between the two needs no permission.
// What to see: access is enabled once for a direction, for what is allocated later too. A kernel that reads the other
// device's memory without it ends with cudaErrorIllegalAddress, and its process can use that device no more.
// With one device there is nothing to do (WARPBEAM_DEVICES=2 gives two virtual ones).
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

__global__ void fill(int* data, int n, int first) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = first + i;
}

__global__ void add(const int* mine, const int* other, int* sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = mine[i] + other[i];
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 10007, blocks = (n + 255) / 256;
  const size_t bytes = n * sizeof(int);
  int devices = 0, can = 0;
  CHECK(cudaGetDeviceCount(&devices));
  if (devices > 1) CHECK(cudaDeviceCanAccessPeer(&can, 0, 1));
  if (!can) {
    std::printf("peer_access: %d device(s), none that reaches another: nothing to do\n", devices);
    return 0;
  }

  int *data[2], *sum, *copy;
  for (int d = 1; d >= 0; --d) {
    CHECK(cudaSetDevice(d));
    CHECK(cudaMalloc(&data[d], bytes));
    fill<<<blocks, 256>>>(data[d], n, 1000000 * d);
    CHECK(cudaDeviceSynchronize());  // streams of one device do not wait for those of another
  }

  // From here on device 0 reads from device 1.
  CHECK(cudaDeviceEnablePeerAccess(1, 0));
  const bool once = cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled;
  cudaGetLastError();
  CHECK(cudaMalloc(&sum, bytes));
  CHECK(cudaMalloc(&copy, bytes));
  add<<<blocks, 256>>>(data[0], data[1], sum, n);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaDeviceDisablePeerAccess(1));

  // The sums go to device 1 at once, and back in a stream's order.
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMemcpyPeer(data[1], 1, sum, 0, bytes));
  CHECK(cudaMemcpyPeerAsync(copy, 0, data[1], 1, bytes, stream));
  std::vector<int> host(n);
  CHECK(cudaMemcpyAsync(host.data(), copy, bytes, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += host[i] != 1000000 + 2 * i;

  CHECK(cudaStreamDestroy(stream));
  for (int* memory : {data[0], data[1], sum, copy}) CHECK(cudaFree(memory));
  std::printf("peer_access: %d sums over two devices, %d wrong, %s\n", n, wrong, wrong || !once ? "FAILED" : "ok");
  return wrong || !once;
}
