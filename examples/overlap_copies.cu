// overlap_copies: one vector sum cut into slices, each slice copied in, added and copied out in its own stream.
// Look at the two loops: all of a slice at once (depth first) or all slices step by step (breadth first).
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

constexpr int kStreams = 4;

__global__ void sum(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main(int argc, char** argv) {
  const int n = (argc > 1 ? std::atoi(argv[1]) : 1 << 19) / kStreams * kStreams, slice = n / kStreams;
  const size_t bytes = n * sizeof(float), slice_bytes = slice * sizeof(float);
  float *h_a, *h_b, *h_c, *d_a, *d_b, *d_c;
  CHECK(cudaHostAlloc((void**)&h_a, bytes, cudaHostAllocDefault));  // asynchronous copies want pinned memory
  CHECK(cudaHostAlloc((void**)&h_b, bytes, cudaHostAllocDefault));
  CHECK(cudaHostAlloc((void**)&h_c, bytes, cudaHostAllocDefault));
  CHECK(cudaMalloc(&d_a, bytes));
  CHECK(cudaMalloc(&d_b, bytes));
  CHECK(cudaMalloc(&d_c, bytes));
  for (int i = 0; i < n; ++i) {
    h_a[i] = (float)(i % 1021);
    h_b[i] = (float)(i % 33) * 0.5f;
  }
  cudaStream_t streams[kStreams];
  for (auto& stream : streams) CHECK(cudaStreamCreate(&stream));
  const dim3 block(128), grid((slice + block.x - 1) / block.x);

  int wrong = 0;
  auto check = [&](const char* order) {
    CHECK(cudaGetLastError());
    for (auto& stream : streams) CHECK(cudaStreamSynchronize(stream));
    int bad = 0;
    for (int i = 0; i < n; ++i) bad += h_c[i] != h_a[i] + h_b[i];
    std::printf("%-14s %d streams, %d of %d wrong\n", order, kStreams, bad, n);
    wrong += bad;
    for (int i = 0; i < n; ++i) h_c[i] = -1.0f;
    CHECK(cudaMemset(d_c, 0, bytes));
  };

  for (int s = 0; s < kStreams; ++s) {
    const int at = s * slice;
    CHECK(cudaMemcpyAsync(&d_a[at], &h_a[at], slice_bytes, cudaMemcpyHostToDevice, streams[s]));
    CHECK(cudaMemcpyAsync(&d_b[at], &h_b[at], slice_bytes, cudaMemcpyHostToDevice, streams[s]));
    sum<<<grid, block, 0, streams[s]>>>(&d_a[at], &d_b[at], &d_c[at], slice);
    CHECK(cudaMemcpyAsync(&h_c[at], &d_c[at], slice_bytes, cudaMemcpyDeviceToHost, streams[s]));
  }
  check("depth first");

  for (int s = 0; s < kStreams; ++s) {
    const int at = s * slice;
    CHECK(cudaMemcpyAsync(&d_a[at], &h_a[at], slice_bytes, cudaMemcpyHostToDevice, streams[s]));
    CHECK(cudaMemcpyAsync(&d_b[at], &h_b[at], slice_bytes, cudaMemcpyHostToDevice, streams[s]));
  }
  for (int s = 0; s < kStreams; ++s) {
    const int at = s * slice;
    sum<<<grid, block, 0, streams[s]>>>(&d_a[at], &d_b[at], &d_c[at], slice);
  }
  for (int s = 0; s < kStreams; ++s) {
    const int at = s * slice;
    CHECK(cudaMemcpyAsync(&h_c[at], &d_c[at], slice_bytes, cudaMemcpyDeviceToHost, streams[s]));
  }
  check("breadth first");

  for (auto& stream : streams) CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFreeHost(h_a));
  CHECK(cudaFreeHost(h_b));
  CHECK(cudaFreeHost(h_c));
  CHECK(cudaFree(d_a));
  CHECK(cudaFree(d_b));
  CHECK(cudaFree(d_c));
  std::printf("overlap_copies: %s\n", wrong ? "FAILED" : "both orders give the same sum");
  return wrong != 0;
}
