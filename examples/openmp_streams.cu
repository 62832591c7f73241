// build: -Xcompiler -fopenmp
// openmp_streams: one host thread per stream; each queues its own kernels and checks its own result.
// Look at what the threads share (the device and its memory) and what they do not (the stream, the last error).
#include <cuda_runtime.h>
#include <omp.h>

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

constexpr int kCount = 8192;

__global__ void start_with(int* data, int value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount) data[i] = value;
}
__global__ void times_two_plus(int* data, int value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount) data[i] = 2 * data[i] + value;
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 4;
  std::vector<cudaStream_t> streams(threads);
  for (auto& stream : streams) CHECK(cudaStreamCreate(&stream));
  int failures = 0, members = 0;

  omp_set_num_threads(threads);
#pragma omp parallel reduction(+ : failures, members)
  {
    const int me = omp_get_thread_num();
    int *d_data, *h_data;
    CHECK(cudaMalloc(&d_data, kCount * sizeof(int)));
    CHECK(cudaMallocHost(&h_data, kCount * sizeof(int)));
    start_with<<<kCount / 256, 256, 0, streams[me]>>>(d_data, me);
    for (int k = 1; k <= 10; ++k) times_two_plus<<<kCount / 256, 256, 0, streams[me]>>>(d_data, k + me);
    CHECK(cudaMemcpyAsync(h_data, d_data, kCount * sizeof(int), cudaMemcpyDeviceToHost, streams[me]));
    CHECK(cudaStreamSynchronize(streams[me]));
    int expected = me;
    for (int k = 1; k <= 10; ++k) expected = 2 * expected + k + me;
    for (int i = 0; i < kCount; ++i) failures += h_data[i] != expected;
    members += 1;
    CHECK(cudaFree(d_data));
    CHECK(cudaFreeHost(h_data));
  }
  for (auto& stream : streams) CHECK(cudaStreamDestroy(stream));
  bool ok = failures == 0 && members == threads;
  std::printf("openmp_streams: %d host threads, %d wrong, %s\n", members, failures, ok ? "ok" : "FAILED");
  return ok ? 0 : 1;
}
