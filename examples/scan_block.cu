// scan_block: prefix sums inside one block, three ways.
// Look at the amount of work: Hillis and Steele add n log n times in log n steps, Blelloch adds about 2n times in
// twice the steps; the padded form of the latter keeps its strided accesses out of each other's banks.
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

// Exclusive, two buffers taking turns: one is read while the other is written.
__global__ void hillis_steele(float* out, const float* in, int n) {
  extern __shared__ float temp[];
  int thid = threadIdx.x, pout = 0, pin = 1;
  temp[pout * n + thid] = thid > 0 ? in[thid - 1] : 0.0f;
  __syncthreads();
  for (int offset = 1; offset < n; offset <<= 1) {
    pout = 1 - pout;
    pin = 1 - pout;
    if (thid >= offset)
      temp[pout * n + thid] = temp[pin * n + thid] + temp[pin * n + thid - offset];
    else
      temp[pout * n + thid] = temp[pin * n + thid];
    __syncthreads();
  }
  out[thid] = temp[pout * n + thid];
}

struct Plain {
  static __device__ int at(int i) { return i; }
};
struct Padded {
  static __device__ int at(int i) { return i + (i >> 4); }
};

// Exclusive, up and down a balanced tree; each thread carries two elements.
template <typename Layout>
__global__ void blelloch(float* out, const float* in, int n) {
  extern __shared__ float temp[];
  int thid = threadIdx.x, offset = 1;
  temp[Layout::at(2 * thid)] = in[2 * thid];
  temp[Layout::at(2 * thid + 1)] = in[2 * thid + 1];
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (thid < d) {
      int ai = Layout::at(offset * (2 * thid + 1) - 1), bi = Layout::at(offset * (2 * thid + 2) - 1);
      temp[bi] += temp[ai];
    }
    offset *= 2;
  }
  if (thid == 0) temp[Layout::at(n - 1)] = 0.0f;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (thid < d) {
      int ai = Layout::at(offset * (2 * thid + 1) - 1), bi = Layout::at(offset * (2 * thid + 2) - 1);
      float t = temp[ai];
      temp[ai] = temp[bi];
      temp[bi] += t;
    }
  }
  __syncthreads();
  out[2 * thid] = temp[Layout::at(2 * thid)];
  out[2 * thid + 1] = temp[Layout::at(2 * thid + 1)];
}

int main() {
  int wrong = 0;
  for (int n : {8, 64, 512, 1024}) {
    std::vector<float> in(n), out(n), expected(n);
    for (int i = 0; i < n; ++i) in[i] = (float)((i * 7 + 3) % 10);
    if (n == 8) in = {3, 1, 7, 0, 4, 1, 6, 3};
    for (int i = 1; i < n; ++i) expected[i] = expected[i - 1] + in[i - 1];
    float *d_in, *d_out;
    CHECK(cudaMalloc(&d_in, n * sizeof(float)));
    CHECK(cudaMalloc(&d_out, n * sizeof(float)));
    CHECK(cudaMemcpy(d_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    for (int version = 0; version < 3; ++version) {
      CHECK(cudaMemset(d_out, 0xff, n * sizeof(float)));
      if (version == 0) hillis_steele<<<1, n, 2 * n * sizeof(float)>>>(d_out, d_in, n);
      if (version == 1) blelloch<Plain><<<1, n / 2, n * sizeof(float)>>>(d_out, d_in, n);
      if (version == 2) blelloch<Padded><<<1, n / 2, (n + n / 16) * sizeof(float)>>>(d_out, d_in, n);
      CHECK(cudaGetLastError());
      CHECK(cudaMemcpy(out.data(), d_out, n * sizeof(float), cudaMemcpyDeviceToHost));
      int bad = 0;
      for (int i = 0; i < n; ++i) bad += !(out[i] == expected[i]);
      wrong += bad;
      const char* names[] = {"Hillis-Steele", "Blelloch", "Blelloch, padded"};
      if (n == 8 || bad) {
        std::printf("%-17s", names[version]);
        for (int i = 0; i < 8; ++i) std::printf(" %2.0f", out[i]);
        std::printf(", %d wrong of %d\n", bad, n);
      }
    }
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_out));
  }
  std::printf("scan_block: %s\n", wrong ? "FAILED" : "all lengths right");
  return wrong != 0;
}
