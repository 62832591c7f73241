// A matrix in unified memory: rows that a kernel sums, columns that it walks, and the host that changes a part.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

static void check(cudaError_t error, int line) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(error));
  std::exit(1);
}
#define CHECK(call) check(call, __LINE__)

static double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class Work>
static double host_us(Work work) {
  const double begun = now_us();
  work();
  return now_us() - begun;
}

template <class Work>
static double median_us(Work work, int times = 9) {
  std::vector<double> all;
  for (int k = 0; k < times; ++k) all.push_back(host_us(work));
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

__global__ void sum_rows(const float* m, float* sums, int n) {
  const int row = blockIdx.x;
  float sum = 0;
  for (int k = threadIdx.x; k < n; k += blockDim.x) sum += m[row * n + k];
  atomicAdd(&sums[row], sum);
}
__global__ void sum_columns(const float* m, float* sums, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int row = 0; row < n; ++row) sum += m[row * n + column];
  sums[column] += sum;
}

int main() {
  const int n = 2048;
  float *m, *sums;
  CHECK(cudaMallocManaged(&m, n * n * sizeof(float)));
  CHECK(cudaMalloc(&sums, n * sizeof(float)));
  CHECK(cudaMemset(sums, 0, n * sizeof(float)));
  for (int i = 0; i < n * n; ++i) m[i] = 1;
  const auto rows = [&] {
    sum_rows<<<n, 256>>>(m, sums, n);
    CHECK(cudaDeviceSynchronize());
  };
  const auto columns = [&] {
    sum_columns<<<n / 128, 128>>>(m, sums, n);
    CHECK(cudaDeviceSynchronize());
  };
  std::printf("rows_cold: %.3f us\n", host_us(rows));
  std::printf("rows_warm: %.3f us\n", median_us(rows));
  std::printf("columns_warm: %.3f us\n", median_us(columns));
  for (int i = 0; i < n * n; ++i) m[i] = 2;
  std::printf("columns_cold: %.3f us\n", host_us(columns));
  for (int row = 0; row < n; row += 64) m[row * n] = 3;
  std::printf("rows_after_a_few_words: %.3f us\n", host_us(rows));
  std::printf("host_sees_a_row: %.3f us\n", host_us([&] {
    volatile float sum = 0;
    for (int k = 0; k < n; ++k) sum = sum + m[5 * n + k];
  }));
  std::printf("rows_after_that: %.3f us\n", host_us(rows));
  std::printf("free: %.3f us\n", host_us([&] { CHECK(cudaFree(m)); }));
}
