// Uses the library, a lambda kernel, and across objects a device function.
#include <cstdio>
#include <vector>

void scale(float* data, int n);
int checked(const std::vector<float>& values, float factor);

#ifdef SEPARABLE
extern __device__ float three_times(float x);
#else
static __device__ float three_times(float x) { return 3 * x; }
#endif

template <class F>
__global__ void apply(float* data, int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = f(data[i]);
}

int main() {
  constexpr int n = 1000;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = i;
  float* data;
  cudaMalloc(&data, n * sizeof(float));
  cudaMemcpy(data, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  scale(data, n);
  float offset = 0;
  apply<<<8, 128>>>(data, n, [=] __device__(float x) { return three_times(x) + offset; });
  cudaMemcpy(values.data(), data, n * sizeof(float), cudaMemcpyDeviceToHost);
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  int wrong = checked(values, 9);
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
