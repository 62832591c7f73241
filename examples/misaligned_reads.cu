// misaligned_reads: shifted reads, shifted writes and a strided gather, plain and unrolled by four.
// Look at `k = i + offset`: an offset that is no multiple of 32 makes every warp touch one memory segment more.
// The results never change; what changes is the number of segments, which the host counts here for comparison.
// What `./warpbeam profile` counts, for offsets of 0, 11, 32 and 64 words and for strides of 1, 2, 4 and 8:
//   gld_efficiency of read_offset: 100 80.001099 100 100
//   gst_efficiency of write_offset: 100 80.001099 100 100
//   gld_efficiency of read_ldg: 100 50 25 12.5
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

__global__ void read_offset(const float* a, const float* b, float* c, int n, int offset) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, k = i + offset;
  if (k < n) c[i] = a[k] + b[k];
}

__global__ void write_offset(const float* a, const float* b, float* c, int n, int offset) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, k = i + offset;
  if (k < n) c[k] = a[i] + b[i];
}

__global__ void read_offset_unroll4(const float* a, const float* b, float* c, int n, int offset) {
  unsigned i = blockIdx.x * blockDim.x * 4 + threadIdx.x, k = i + offset;
  if (k < n) c[i] = a[k] + b[k];
  if (k + blockDim.x < n) c[i + blockDim.x] = a[k + blockDim.x] + b[k + blockDim.x];
  if (k + 2 * blockDim.x < n) c[i + 2 * blockDim.x] = a[k + 2 * blockDim.x] + b[k + 2 * blockDim.x];
  if (k + 3 * blockDim.x < n) c[i + 3 * blockDim.x] = a[k + 3 * blockDim.x] + b[k + 3 * blockDim.x];
}

// Through the read-only path: an intrinsic in one, a promise that nothing aliases in the other.
__global__ void read_ldg(const float* a, float* c, int n, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = __ldg(&a[(long long)i * stride % n]);
}
__global__ void read_restrict(const float* __restrict__ a, float* __restrict__ c, int n, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[(long long)i * stride % n];
}

static int segments_of_a_warp(int offset, int stride) {
  std::set<int> segments;
  for (int lane = 0; lane < 32; ++lane) segments.insert((lane * stride + offset) * (int)sizeof(float) / 32);
  return (int)segments.size();
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1 << 17, block = 128, grid = (n + block - 1) / block;
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) {
    a[i] = (i % 997) * 0.25f;
    b[i] = (i % 31) * 2.0f;
  }
  float *d_a, *d_b, *d_c;
  CHECK(cudaMalloc(&d_a, n * sizeof(float)));
  CHECK(cudaMalloc(&d_b, n * sizeof(float)));
  CHECK(cudaMalloc(&d_c, n * sizeof(float)));
  CHECK(cudaMemcpy(d_a, a.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_b, b.data(), n * sizeof(float), cudaMemcpyHostToDevice));

  int wrong = 0;
  for (int offset : {0, 11, 32, 128}) {
    for (int version = 0; version < 3; ++version) {
      CHECK(cudaMemset(d_c, 0, n * sizeof(float)));
      if (version == 0) read_offset<<<grid, block>>>(d_a, d_b, d_c, n, offset);
      if (version == 1) write_offset<<<grid, block>>>(d_a, d_b, d_c, n, offset);
      if (version == 2) read_offset_unroll4<<<(grid + 3) / 4, block>>>(d_a, d_b, d_c, n, offset);
      CHECK(cudaGetLastError());
      CHECK(cudaMemcpy(c.data(), d_c, n * sizeof(float), cudaMemcpyDeviceToHost));
      for (int i = 0; i < n; ++i) {
        bool inside = version == 1 ? i >= offset : i < n - offset;
        int from = version == 1 ? i - offset : i + offset;
        wrong += c[i] != (inside ? a[from] + b[from] : 0.0f);
      }
    }
    std::printf("offset %3d: a warp reads %d segments of 32 bytes\n", offset, segments_of_a_warp(offset, 1));
  }
  for (int stride : {1, 2, 4, 9}) {
    for (int version = 0; version < 2; ++version) {
      CHECK(cudaMemset(d_c, 0, n * sizeof(float)));
      (version == 0 ? read_ldg : read_restrict)<<<grid, block>>>(d_a, d_c, n, stride);
      CHECK(cudaGetLastError());
      CHECK(cudaMemcpy(c.data(), d_c, n * sizeof(float), cudaMemcpyDeviceToHost));
      for (int i = 0; i < n; ++i) wrong += c[i] != a[(long long)i * stride % n];
    }
    std::printf("stride %3d: a warp reads %d segments of 32 bytes\n", stride, segments_of_a_warp(0, stride));
  }
  CHECK(cudaFree(d_a));
  CHECK(cudaFree(d_b));
  CHECK(cudaFree(d_c));
  std::printf("misaligned_reads: %d wrong, %s\n", wrong, wrong ? "FAILED" : "alignment changes cost, not results");
  return wrong != 0;
}
