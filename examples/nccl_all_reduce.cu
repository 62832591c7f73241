// build: -lnccl
// Data parallel training in small: every device has its own part of the data and its own copy of the weights. Each finds the
// gradient of its part, all of them add the gradients up, and so the copies stay the same.
// What to see: the calls for all devices stand between ncclGroupStart and ncclGroupEnd, since one thread makes them; each
// takes its place in its device's stream, between the kernel that finds the gradient and the one that uses it.
// As many devices as there are: WARPBEAM_DEVICES=4 makes four.
#include <cuda_runtime.h>
#include <nccl.h>

#include <cmath>
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
#define CHECK_NCCL(call)                                                           \
  do {                                                                             \
    ncclResult_t status_ = (call);                                                 \
    if (status_ != ncclSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, ncclGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

// The line y = w[0] x + w[1] through points of which this device has `n`.
__global__ void gradient(const float* x, const float* y, int n, const float* w, float* g) {
  __shared__ float slope[256], offset[256];
  const int t = threadIdx.x;
  float s = 0, o = 0;
  for (int i = t; i < n; i += blockDim.x) {
    const float error = w[0] * x[i] + w[1] - y[i];
    s += error * x[i];
    o += error;
  }
  slope[t] = s;
  offset[t] = o;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) {
      slope[t] += slope[t + half];
      offset[t] += offset[t + half];
    }
    __syncthreads();
  }
  if (t == 0) {
    g[0] = slope[0] / n;
    g[1] = offset[0] / n;
  }
}

__global__ void step(float* w, const float* g, float rate) { w[threadIdx.x] -= rate * g[threadIdx.x]; }

struct Device {
  float *x, *y, *w, *g;
  cudaStream_t stream;
};

int main() {
  int count = 0;
  CHECK(cudaGetDeviceCount(&count));
  std::vector<ncclComm_t> comm(count);
  CHECK_NCCL(ncclCommInitAll(comm.data(), count, nullptr));

  const int n = 4096;
  std::vector<Device> devices(count);
  for (int d = 0; d < count; ++d) {
    std::vector<float> x(n), y(n);
    for (int i = 0; i < n; ++i) {
      x[i] = (i * count + d) / float(n * count) * 2 - 1;
      y[i] = 3 * x[i] - 0.5f;
    }
    CHECK(cudaSetDevice(d));
    Device& v = devices[d];
    CHECK(cudaStreamCreate(&v.stream));
    CHECK(cudaMalloc(&v.x, n * sizeof(float)));
    CHECK(cudaMalloc(&v.y, n * sizeof(float)));
    CHECK(cudaMalloc(&v.w, 2 * sizeof(float)));
    CHECK(cudaMalloc(&v.g, 2 * sizeof(float)));
    CHECK(cudaMemcpy(v.x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(v.y, y.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(v.w, 0, 2 * sizeof(float)));
  }

  for (int round = 0; round < 60; ++round) {
    for (int d = 0; d < count; ++d) {
      CHECK(cudaSetDevice(d));
      Device& v = devices[d];
      gradient<<<1, 256, 0, v.stream>>>(v.x, v.y, n, v.w, v.g);
    }
    CHECK_NCCL(ncclGroupStart());
    for (int d = 0; d < count; ++d) CHECK_NCCL(ncclAllReduce(devices[d].g, devices[d].g, 2, ncclFloat, ncclAvg, comm[d], devices[d].stream));
    CHECK_NCCL(ncclGroupEnd());
    for (int d = 0; d < count; ++d) {
      CHECK(cudaSetDevice(d));
      Device& v = devices[d];
      step<<<1, 2, 0, v.stream>>>(v.w, v.g, 0.5f);
    }
  }

  bool right = true;
  float first[2] = {};
  for (int d = 0; d < count; ++d) {
    float w[2];
    CHECK(cudaSetDevice(d));
    CHECK(cudaStreamSynchronize(devices[d].stream));
    CHECK(cudaMemcpy(w, devices[d].w, sizeof w, cudaMemcpyDeviceToHost));
    if (d == 0) first[0] = w[0], first[1] = w[1];
    right = right && w[0] == first[0] && w[1] == first[1] && std::fabs(w[0] - 3) < 0.01f && std::fabs(w[1] + 0.5f) < 0.01f;
    CHECK(cudaFree(devices[d].x));
    CHECK(cudaFree(devices[d].y));
    CHECK(cudaFree(devices[d].w));
    CHECK(cudaFree(devices[d].g));
    CHECK(cudaStreamDestroy(devices[d].stream));
    CHECK_NCCL(ncclCommDestroy(comm[d]));
  }
  std::printf("nccl_all_reduce: %d device(s) found y = %.3f x %+.3f, %s\n", count, first[0], first[1], right ? "all the same" : "WRONG");
  return right ? 0 : 1;
}
