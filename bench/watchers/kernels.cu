// Processor time of kernels, launch by launch: of one whose name begins with `plain_` and of its twin, in turn, so that both see
// the same minutes of the machine; and how many accesses to memory a launch's threads make. `run` has the twins watched.
#include <cstdio>
#include <cstdlib>
#include <ctime>

// What follows is the body of both.
#define TWINS(name, parameters, arguments)                     \
  __device__ __forceinline__ void name##_body parameters;      \
  __global__ void plain_##name parameters { name##_body arguments; } \
  __global__ void name parameters { name##_body arguments; }   \
  __device__ __forceinline__ void name##_body parameters

constexpr int kTile = 16;

TWINS(matrix_product, (const float* a, const float* b, float* c, int n), (a, b, c, n)) {
  __shared__ float left[kTile][kTile], right[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * kTile + x, row = blockIdx.y * kTile + y;
  float sum = 0;
  for (int t = 0; t < n; t += kTile) {
    left[y][x] = a[row * n + t + x];
    right[y][x] = b[(t + y) * n + column];
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += left[y][k] * right[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

TWINS(reduction, (const float* in, float* out, int n), (in, out, n)) {
  __shared__ float sums[256];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

TWINS(vector_add, (const float* a, const float* b, float* c, int n), (a, b, c, n)) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

TWINS(gather, (const float* a, const int* index, float* c, int n), (a, index, c, n)) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[index[i]];
}

TWINS(stencil, (const float* a, float* c, int n), (a, c, n)) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) c[i] = a[i - 1] + a[i] + a[i + 1];
}

TWINS(row_sums, (const float* a, float* c, int n), (a, c, n)) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k];
  c[row] = sum;
}

TWINS(histogram, (const int* in, int* out, int n), (in, out, n)) {
  __shared__ int bins[256];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i] & 255], 1);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

TWINS(compaction, (const int* in, int* out, int* count, int n), (in, out, count, n)) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && (in[i] & 3) == 0) out[atomicAdd(count, 1)] = in[i];
}

double processor_ms() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

template <class Launch>
double time_of(Launch launch) {
  const double begin = processor_ms();
  launch();
  cudaDeviceSynchronize();
  return processor_ms() - begin;
}

template <class Kernel, class... Arguments>
void measure(const char* name, double accesses, int times, int* counter, Kernel plain, Kernel watched, dim3 grid, dim3 block, Arguments... arguments) {
  for (int k = 0; k < times; ++k) {
    cudaMemset(counter, 0, sizeof(int));
    const double without = time_of([&] { plain<<<grid, block>>>(arguments...); });
    cudaMemset(counter, 0, sizeof(int));
    const double with = time_of([&] { watched<<<grid, block>>>(arguments...); });
    std::printf("%s %.4f %.4f %.0f\n", name, without, with, accesses);
  }
}

#define MEASURE(name, accesses, ...) measure(#name, accesses, times, out, plain_##name, name, __VA_ARGS__)

int main(int count, char** words) {
  const int n = count > 1 ? std::atoi(words[1]) : 1024, times = count > 2 ? std::atoi(words[2]) : 6, m = n * n;
  float *a, *b, *c;
  int* index;
  cudaMalloc(&a, m * sizeof(float));
  cudaMalloc(&b, m * sizeof(float));
  cudaMalloc(&c, m * sizeof(float));
  cudaMalloc(&index, m * sizeof(int));
  float* values = new float[m];  // not zeros: pages of nothing but these may all be the same memory
  for (int i = 0; i < m; ++i) values[i] = static_cast<float>(i % 1000);
  cudaMemcpy(a, values, m * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(b, values, m * sizeof(float), cudaMemcpyHostToDevice);
  delete[] values;
  int* numbers = new int[m];
  for (int i = 0; i < m; ++i) numbers[i] = static_cast<int>(i * 2654435761u % static_cast<unsigned>(m));
  cudaMemcpy(index, numbers, m * sizeof(int), cudaMemcpyHostToDevice);
  delete[] numbers;
  int *out, *placed;
  cudaMalloc(&out, (m + 256) * sizeof(int));
  placed = out + 256;
  const double all = m, tiles = n / kTile;
  const int blocks = (m + 255) / 256;
  MEASURE(matrix_product, all * (tiles * (4 + 2 * kTile) + 1), dim3(n / kTile, n / kTile), dim3(kTile, kTile), a, b, c, n);
  MEASURE(reduction, all + 256 * (256 + 3 * 255 + 2), 256, 256, a, c, m);
  MEASURE(vector_add, 3 * all, blocks, 256, a, b, c, m);
  MEASURE(gather, 3 * all, blocks, 256, a, index, c, m);
  MEASURE(stencil, 4 * (all - 2), blocks, 256, a, c, m);
  MEASURE(row_sums, all + n, n / 128, 128, a, c, n);
  cudaMemset(out, 0, 256 * sizeof(int));
  MEASURE(histogram, 2 * all + 256 * 256 * 3, 256, 256, index, out, m);
  MEASURE(compaction, all + 2 * all / 4, blocks, 256, index, placed, out, m);
  const bool failed = cudaGetLastError() != cudaSuccess;
  cudaFree(a);
  cudaFree(b);
  cudaFree(c);
  cudaFree(index);
  cudaFree(out);
  return failed;
}
