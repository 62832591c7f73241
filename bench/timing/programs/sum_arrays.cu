// A first program of a course: arrays up, sum on the device with several block sizes, down again, with and without the copies.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    cudaError_t error_ = (call);                                                             \
    if (error_ != cudaSuccess) {                                                             \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error_));           \
      std::exit(1);                                                                          \
    }                                                                                        \
  } while (0)

static double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

__global__ void sum_arrays(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  const int n = 1 << 24;
  const size_t bytes = n * sizeof(float);
  float *a = (float*)std::malloc(bytes), *b = (float*)std::malloc(bytes), *c = (float*)std::malloc(bytes);
  for (int i = 0; i < n; ++i) a[i] = i % 7, b[i] = i % 5;
  std::memset(c, 0, bytes);
  float *da, *db, *dc;
  CHECK(cudaMalloc(&da, bytes));
  CHECK(cudaMalloc(&db, bytes));
  CHECK(cudaMalloc(&dc, bytes));
  double t = now_us();
  CHECK(cudaMemcpy(da, a, bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b, bytes, cudaMemcpyHostToDevice));
  std::printf("up: %.3f us\n", now_us() - t);
  sum_arrays<<<1, 1>>>(da, db, dc, 1);
  CHECK(cudaDeviceSynchronize());
  for (int threads : {32, 64, 128, 256, 512, 1024}) {
    t = now_us();
    sum_arrays<<<(n + threads - 1) / threads, threads>>>(da, db, dc, n);
    CHECK(cudaDeviceSynchronize());
    std::printf("block_%d: %.3f us\n", threads, now_us() - t);
  }
  t = now_us();
  CHECK(cudaMemcpy(c, dc, bytes, cudaMemcpyDeviceToHost));
  std::printf("down: %.3f us\n", now_us() - t);
  t = now_us();
  CHECK(cudaMemcpy(da, a, bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b, bytes, cudaMemcpyHostToDevice));
  sum_arrays<<<n / 256, 256>>>(da, db, dc, n);
  CHECK(cudaMemcpy(c, dc, bytes, cudaMemcpyDeviceToHost));
  std::printf("all: %.3f us\n", now_us() - t);
  for (int i = 0; i < n; ++i)
    if (c[i] != a[i] + b[i]) return 1;
  return 0;
}
