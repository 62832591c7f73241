// Monte Carlo: pi by points, Asian options over paths, random walks, and binomial trees of options in shared memory.
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

__device__ unsigned next(unsigned long long& state) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  unsigned x = unsigned(((state >> 18u) ^ state) >> 27u), r = unsigned(state >> 59u);
  return (x >> r) | (x << ((32 - r) & 31));
}

__device__ float uniform(unsigned long long& state) { return (next(state) >> 8) * 5.9604645e-8f; }

__global__ void pi_points(unsigned long long* inside, int turns) {
  unsigned long long state = blockIdx.x * blockDim.x + threadIdx.x + 1;
  unsigned hits = 0;
  for (int i = 0; i < turns; i++) {
    float x = uniform(state), y = uniform(state);
    if (x * x + y * y <= 1.0f) hits++;
  }
  __shared__ unsigned counts[256];
  counts[threadIdx.x] = hits;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) counts[threadIdx.x] += counts[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(inside, (unsigned long long)counts[0]);
}

__global__ void asian(float* payoff, int steps, float s0, float strike, float drift, float vol) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long state = i * 7919ULL + 3;
  float s = s0, average = 0;
  for (int t = 0; t < steps; t += 2) {
    float r = sqrtf(-2.0f * logf(uniform(state) + 1e-12f)), angle = 6.2831853f * uniform(state), sine, cosine;
    sincosf(angle, &sine, &cosine);
    s *= expf(drift + vol * r * cosine);
    average += s;
    s *= expf(drift + vol * r * sine);
    average += s;
  }
  payoff[i] = fmaxf(average / steps - strike, 0.0f);
}

__global__ void binomial(const float* stock, const float* strike, float* price, float up, float q) {
  __shared__ float values[257];
  int t = threadIdx.x;
  float s = stock[blockIdx.x], k = strike[blockIdx.x];
  values[t] = fmaxf(s * powf(up, 2.0f * t - 256) - k, 0.0f);
  if (t == 0) values[256] = fmaxf(s * powf(up, 256) - k, 0.0f);
  __syncthreads();
  for (int step = 255; step >= 0; step--) {
    float v = 0;
    if (t <= step) v = 0.999f * (q * values[t + 1] + (1 - q) * values[t]);
    __syncthreads();
    if (t <= step) values[t] = v;
    __syncthreads();
  }
  if (t == 0) price[blockIdx.x] = values[0];
}

__global__ void walks(int* visits, int size, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned state = i * 2654435761u + 1;
  int x = size / 2, y = size / 2;
  for (int t = 0; t < steps; t++) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    switch (state & 3) {
      case 0: x = min(x + 1, size - 1); break;
      case 1: x = max(x - 1, 0); break;
      case 2: y = min(y + 1, size - 1); break;
      default: y = max(y - 1, 0); break;
    }
  }
  atomicAdd(&visits[y * size + x], 1);
}

int main() {
  unsigned long long* inside;
  float *payoff, *stock;
  int* visits;
  std::vector<float> host(4096, 100.0f);
  CHECK(cudaMalloc(&inside, 8));
  CHECK(cudaMemset(inside, 0, 8));
  CHECK(cudaMalloc(&payoff, 65536 * 4));
  CHECK(cudaMalloc(&stock, 4096 * 4));
  CHECK(cudaMalloc(&visits, 256 * 256 * 4));
  CHECK(cudaMemset(visits, 0, 256 * 256 * 4));
  CHECK(cudaMemcpy(stock, host.data(), 4096 * 4, cudaMemcpyHostToDevice));
  THRICE pi_points<<<512, 256>>>(inside, 256);
  THRICE asian<<<256, 256>>>(payoff, 64, 100, 95, 0.0001f, 0.02f);
  THRICE binomial<<<512, 256>>>(stock, stock + 512, payoff, 1.01f, 0.5f);
  THRICE walks<<<512, 128>>>(visits, 256, 200);
  CHECK(cudaMemcpy(host.data(), payoff, 4096, cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[77]);
  return 0;
}
