// Prices of options by the formula of Black and Scholes, and by binomial trees.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    cudaError_t error_ = (call);                                                             \
    if (error_ != cudaSuccess) {                                                             \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error_));           \
      return 1;                                                                              \
    }                                                                                        \
  } while (0)
#define THRICE for (int round = 0; round < 3; ++round)

__device__ float normal(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float c = 0.39894228f * expf(-0.5f * d * d) *
            (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - c : c;
}

__global__ void formula(float* call, float* put, const float* price, const float* strike, const float* years, float rate, float volatility, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float root = sqrtf(years[i]), d1 = (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / (volatility * root);
    float d2 = d1 - volatility * root, discount = expf(-rate * years[i]);
    float n1 = normal(d1), n2 = normal(d2);
    call[i] = price[i] * n1 - strike[i] * discount * n2;
    put[i] = strike[i] * discount * (1.0f - n2) - price[i] * (1.0f - n1);
  }
}

__global__ void formula_double(double* call, const float* price, const float* strike, const float* years, double rate, double volatility, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double s = price[i], x = strike[i], t = years[i], root = sqrt(t);
  double d1 = (log(s / x) + (rate + 0.5 * volatility * volatility) * t) / (volatility * root), d2 = d1 - volatility * root;
  call[i] = s * normcdf(d1) - x * exp(-rate * t) * normcdf(d2);
}

__global__ void binomial(float* value, const float* price, const float* strike, int steps) {
  __shared__ float level[257];
  const float s = price[blockIdx.x], x = strike[blockIdx.x];
  const int t = threadIdx.x;
  level[t] = fmaxf(s * expf(0.02f * (2 * t - steps)) - x, 0.0f);
  if (t == 0) level[steps] = fmaxf(s * expf(0.02f * steps) - x, 0.0f);
  __syncthreads();
  for (int step = steps; step > 0; --step) {
    float v = 0;
    if (t < step) v = 0.499f * level[t + 1] + 0.5f * level[t];
    __syncthreads();
    if (t < step) level[t] = v;
    __syncthreads();
  }
  if (t == 0) value[blockIdx.x] = level[0];
}

int main() {
  const int n = 1 << 19;
  std::vector<float> host(3 * n);
  for (int i = 0; i < n; ++i) {
    host[i] = 5 + i % 25;
    host[n + i] = 1 + i % 99;
    host[2 * n + i] = 0.25f + i % 10;
  }
  float *in, *out;
  CHECK(cudaMalloc(&in, 3 * n * sizeof(float)));
  CHECK(cudaMalloc(&out, 2 * n * sizeof(float)));
  CHECK(cudaMemcpy(in, host.data(), 3 * n * sizeof(float), cudaMemcpyHostToDevice));
  THRICE formula<<<480, 128>>>(out, out + n, in, in + n, in + 2 * n, 0.02f, 0.3f, n);
  THRICE formula<<<(1 << 16) / 256, 256>>>(out, out + n, in, in + n, in + 2 * n, 0.02f, 0.3f, 1 << 16);
  THRICE formula_double<<<(1 << 17) / 128, 128>>>((double*)out, in, in + n, in + 2 * n, 0.02, 0.3, 1 << 17);
  THRICE binomial<<<512, 256>>>(out, in, in + n, 256);
  CHECK(cudaMemcpy(host.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[3]);
  return 0;
}
