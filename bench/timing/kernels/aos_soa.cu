// Particles as an array of structures and as a structure of arrays.
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

struct Particle {
  float x, y, z, vx, vy, vz, mass, charge;
};

struct Particles {
  float *x, *y, *z, *vx, *vy, *vz, *mass, *charge;
};

__global__ void move_aos(Particle* p, int n, float dt) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  p[i].x += p[i].vx * dt;
  p[i].y += p[i].vy * dt;
  p[i].z += p[i].vz * dt;
}

__global__ void move_soa(Particles p, int n, float dt) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  p.x[i] += p.vx[i] * dt;
  p.y[i] += p.vy[i] * dt;
  p.z[i] += p.vz[i] * dt;
}

__global__ void energy_aos(const Particle* p, float* e, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Particle q = p[i];
  e[i] = 0.5f * q.mass * (q.vx * q.vx + q.vy * q.vy + q.vz * q.vz);
}

__global__ void energy_soa(Particles p, float* e, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  e[i] = 0.5f * p.mass[i] * (p.vx[i] * p.vx[i] + p.vy[i] * p.vy[i] + p.vz[i] * p.vz[i]);
}

int main() {
  const int n = 1 << 20;
  std::vector<Particle> host(n);
  for (int i = 0; i < n; ++i) host[i] = {float(i), 0, 1, 0.5f, 0.25f, 1, 2, 3};
  Particle* aos;
  float* arrays;
  float* e;
  CHECK(cudaMalloc(&aos, n * sizeof(Particle)));
  CHECK(cudaMalloc(&arrays, n * sizeof(Particle)));
  CHECK(cudaMalloc(&e, n * sizeof(float)));
  CHECK(cudaMemcpy(aos, host.data(), n * sizeof(Particle), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(arrays, 0, n * sizeof(Particle)));
  Particles soa = {arrays, arrays + n, arrays + 2 * n, arrays + 3 * n, arrays + 4 * n, arrays + 5 * n, arrays + 6 * n, arrays + 7 * n};
  THRICE move_aos<<<n / 256, 256>>>(aos, n, 0.1f);
  THRICE move_soa<<<n / 256, 256>>>(soa, n, 0.1f);
  THRICE energy_aos<<<n / 256, 256>>>(aos, e, n);
  THRICE energy_soa<<<n / 256, 256>>>(soa, e, n);
  float one;
  CHECK(cudaMemcpy(&one, e, sizeof one, cudaMemcpyDeviceToHost));
  std::printf("%f\n", one);
  return 0;
}
