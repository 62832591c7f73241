// Functions that give a second result through a pointer, against the functions that give each of them, bit for bit.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

__device__ unsigned bits(float x) { return __float_as_uint(x); }
__device__ unsigned long long bits(double x) { return __double_as_longlong(x); }
__device__ bool same(float a, float b) { return bits(a) == bits(b); }
__device__ bool same(double a, double b) { return bits(a) == bits(b) || (a != a && b != b); }

__global__ void compare(const float* in, int n, int* wrong) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = in[i];
  const double d = x;
  float s, c, whole;
  double dwhole;
  sincosf(x, &s, &c);
  if (!same(s, sinf(x)) || !same(c, cosf(x))) atomicAdd(wrong, 1);
  sincospif(x, &s, &c);
  if (!same(s, sinpif(x)) || !same(c, cospif(x))) atomicAdd(wrong + 1, 1);
  const float rest = modff(x, &whole);
  const bool finite = !isinf(x) && !isnan(x);
  if (finite && (!same(whole, truncf(x)) || !same(rest, copysignf(x - truncf(x), x)))) atomicAdd(wrong + 2, 1);
  if (isinf(x) && (!same(whole, x) || !same(rest, copysignf(0.0f, x)))) atomicAdd(wrong + 2, 1);
  if (isnan(x) && (bits(whole) != 0x7fffffffu || bits(rest) != 0x7fffffffu)) atomicAdd(wrong + 2, 1);
  const double drest = modf(d, &dwhole);
  if (finite && (!same(dwhole, trunc(d)) || !same(drest, copysign(d - trunc(d), d)))) atomicAdd(wrong + 3, 1);
  if (isinf(d) && (!same(dwhole, d) || !same(drest, copysign(0.0, d)))) atomicAdd(wrong + 3, 1);
  if (isnan(d) && (!isnan(dwhole) || !isnan(drest))) atomicAdd(wrong + 3, 1);
  // Both results may go to one place: the second one stays.
  float both[1];
  sincosf(x, both, both);
  if (!same(both[0], cosf(x))) atomicAdd(wrong, 1);
}

int main() {
  std::vector<float> x;
  for (unsigned k = 0; k < 4096; ++k) {
    const unsigned pattern = k * 2654435761u;
    float f;
    std::memcpy(&f, &pattern, 4);
    x.push_back(f);
    x.push_back((int(k) - 2048) * 0.0371f);
  }
  for (float f : {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), 1e-45f, -3.4e38f}) x.push_back(f);
  float* in;
  int *wrong, host[4];
  cudaMalloc(&in, x.size() * 4);
  cudaMalloc(&wrong, sizeof host);
  cudaMemset(wrong, 0, sizeof host);
  cudaMemcpy(in, x.data(), x.size() * 4, cudaMemcpyHostToDevice);
  compare<<<int(x.size() + 127) / 128, 128>>>(in, int(x.size()), wrong);
  cudaMemcpy(host, wrong, sizeof host, cudaMemcpyDeviceToHost);
  const bool good = !host[0] && !host[1] && !host[2] && !host[3];
  std::printf("%s: %d %d %d %d\n", good ? "PASS" : "FAIL", host[0], host[1], host[2], host[3]);
  return !good;
}
