// Kernels of many microseconds in few threads: recurrences, integrators, a chaotic map, a cipher, walks on a table.
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

__global__ void lorenz(float* out, int steps) {
  float x = 1 + threadIdx.x * 0.001f, y = 1, z = 1;
  for (int i = 0; i < steps; ++i) {
    float dx = 10 * (y - x), dy = x * (28 - z) - y, dz = x * y - 2.6666667f * z;
    x += 0.005f * dx;
    y += 0.005f * dy;
    z += 0.005f * dz;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x + y + z;
}

__global__ void runge_kutta(double* out, int steps) {
  double x = 1 + threadIdx.x * 0.001, v = 0, h = 0.01;
  for (int i = 0; i < steps; ++i) {
    double k1 = -x, l1 = v, k2 = -(x + 0.5 * h * l1), l2 = v + 0.5 * h * k1, k3 = -(x + 0.5 * h * l2), l3 = v + 0.5 * h * k2;
    double k4 = -(x + h * l3), l4 = v + h * k3;
    x += h / 6 * (l1 + 2 * l2 + 2 * l3 + l4);
    v += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

__global__ void logistic(float* out, int steps) {
  float x = 0.3f + threadIdx.x * 0.0001f, r = 3.5f + blockIdx.x * 0.001f;
  int crossings = 0;
  for (int i = 0; i < steps; ++i) {
    float next = r * x * (1 - x);
    crossings += (next > 0.5f) != (x > 0.5f);
    x = next;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = crossings;
}

__global__ void cipher(unsigned* out, int rounds) {
  unsigned a = threadIdx.x, b = blockIdx.x, key[4] = {1, 2, 3, 4}, sum = 0;
  for (int i = 0; i < rounds; ++i) {
    a += ((b << 4 ^ b >> 5) + b) ^ (sum + key[sum & 3]);
    sum += 0x9e3779b9u;
    b += ((a << 4 ^ a >> 5) + a) ^ (sum + key[sum >> 11 & 3]);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a ^ b;
}

__global__ void automaton(const unsigned short* table, const unsigned char* input, int length, int* out) {
  unsigned state = threadIdx.x & 255;
  for (int i = 0; i < length; ++i) state = table[state * 16 + (input[i] & 15)] & 255;
  out[blockIdx.x * blockDim.x + threadIdx.x] = state;
}

__global__ void fibonacci(unsigned long long* out, int steps) {
  unsigned long long a = threadIdx.x, b = 1;
#pragma unroll 1
  for (int i = 0; i < steps; ++i) {
    unsigned long long c = (a + b) % 1000000007ull;
    a = b;
    b = c;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = b;
}

int main() {
  std::vector<unsigned short> host(4096);
  for (int i = 0; i < 4096; ++i) host[i] = i * 40503 >> 4;
  unsigned short* table;
  float* out;
  CHECK(cudaMalloc(&table, 8192));
  CHECK(cudaMalloc(&out, 1 << 20));
  CHECK(cudaMemcpy(table, host.data(), 8192, cudaMemcpyHostToDevice));
  THRICE lorenz<<<40, 64>>>(out, 5000);
  THRICE runge_kutta<<<40, 64>>>((double*)out, 1000);
  THRICE logistic<<<132, 128>>>(out, 2000);
  THRICE cipher<<<132, 64>>>((unsigned*)out, 1500);
  THRICE automaton<<<8, 32>>>(table, (unsigned char*)table, 4000, (int*)out);
  THRICE fibonacci<<<4, 32>>>((unsigned long long*)out, 3000);
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
