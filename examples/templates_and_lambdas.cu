// build: --extended-lambda
// templates_and_lambdas: one grid-stride loop, any operation: function objects, device lambdas, function templates.
// Look at what travels to the device: a lambda's captures, copied by value like any other kernel argument.
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

template <typename Function>
__global__ void for_each_index(int n, Function f) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) f(i);
}

struct Plus {
  template <typename T>
  __host__ __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct Larger {
  template <typename T>
  __host__ __device__ T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

// A block-wide fold with any associative operation and any element type.
template <int kBlock, typename T, typename Operation>
__global__ void fold(const T* in, int n, T start, Operation op, T* out) {
  __shared__ T partial[kBlock];
  T value = start;
  for (int i = threadIdx.x; i < n; i += kBlock) value = op(value, in[i]);
  partial[threadIdx.x] = value;
  __syncthreads();
#pragma unroll
  for (int s = kBlock / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) partial[threadIdx.x] = op(partial[threadIdx.x], partial[threadIdx.x + s]);
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = partial[0];
}

template <typename T, typename Operation>
static T folded(const T* d_in, int n, T start, Operation op) {
  T *d_out, out;
  CHECK(cudaMalloc(&d_out, sizeof(T)));
  fold<128><<<1, 128>>>(d_in, n, start, op, d_out);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&out, d_out, sizeof(T), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d_out));
  return out;
}

template <int kDegree>
__host__ __device__ constexpr int power(int x) {
  if constexpr (kDegree == 0)
    return 1;
  else
    return x * power<kDegree - 1>(x);
}

int main() {
  const int n = 10000;
  float* d_values;
  double* d_doubles;
  int* d_powers;
  CHECK(cudaMalloc(&d_values, n * sizeof(float)));
  CHECK(cudaMalloc(&d_doubles, n * sizeof(double)));
  CHECK(cudaMalloc(&d_powers, n * sizeof(int)));
  const float offset = 2.5f;
  const int period = 97;

  for_each_index<<<16, 128>>>(n, [=] __device__(int i) { d_values[i] = (i % period) + offset; });
  for_each_index<<<16, 128>>>(n, [=] __device__(int i) {
    d_doubles[i] = d_values[i] * 2.0;
    d_powers[i] = power<3>(i % 10);
  });
  CHECK(cudaGetLastError());

  float expected_sum = 0, expected_max = 0;
  int expected_cubes = 0;
  for (int i = 0; i < n; ++i) {
    float v = (i % period) + offset;
    expected_sum += v;
    expected_max = Larger()(expected_max, v);
    expected_cubes += power<3>(i % 10);
  }
  float sum = folded(d_values, n, 0.0f, Plus());
  double largest = folded(d_doubles, n, 0.0, Larger());
  int cubes = folded(d_powers, n, 0, [] __device__(int a, int b) { return a + b; });
  std::printf("sum %.1f, largest %.1f, cubes %d\n", sum, largest, cubes);
  static_assert(power<4>(3) == 81, "also at compile time");
  bool ok = sum == expected_sum && largest == 2.0 * expected_max && cubes == expected_cubes;
  CHECK(cudaFree(d_values));
  CHECK(cudaFree(d_doubles));
  CHECK(cudaFree(d_powers));
  std::printf("templates_and_lambdas: %s\n", ok ? "the device agrees with the host" : "FAILED");
  return ok ? 0 : 1;
}
