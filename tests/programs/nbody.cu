// All-pairs n-body with bodies tiled through shared memory as float4, checked against the host and momentum.
#include <cmath>
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

#define TILE 64
#define EPS2 0.01f

__device__ float3 bodyBodyInteraction(float4 bi, float4 bj, float3 ai) {
  float3 r;
  r.x = bj.x - bi.x;
  r.y = bj.y - bi.y;
  r.z = bj.z - bi.z;
  float distSqr = r.x * r.x + r.y * r.y + r.z * r.z + EPS2;
  float distSixth = distSqr * distSqr * distSqr;
  float invDistCube = 1.0f / sqrtf(distSixth);
  float s = bj.w * invDistCube;
  ai.x += r.x * s;
  ai.y += r.y * s;
  ai.z += r.z * s;
  return ai;
}

__global__ void accelerations(const float4* bodies, float4* out, int n) {
  extern __shared__ float4 shPosition[];
  float4 mine = bodies[blockIdx.x * blockDim.x + threadIdx.x];
  float3 acc = make_float3(0.0f, 0.0f, 0.0f);
  for (int i = 0, tile = 0; i < n; i += blockDim.x, tile++) {
    shPosition[threadIdx.x] = bodies[tile * blockDim.x + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < TILE; j++) acc = bodyBodyInteraction(mine, shPosition[j], acc);
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = make_float4(acc.x, acc.y, acc.z, 0.0f);
}

__global__ void integrate(float4* p, float4* v, const float4* a, float dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 q = p[i], w = v[i], f = a[i];
  w.x += f.x * dt, w.y += f.y * dt, w.z += f.z * dt;
  q.x += w.x * dt, q.y += w.y * dt, q.z += w.z * dt;
  p[i] = q, v[i] = w;
}

int main() {
  const int n = 512, steps = 3;
  const float dt = 0.01f;
  std::vector<float4> p(n), v(n);
  unsigned s = 77;
  auto rnd = [&] { return (float)((s = s * 1664525u + 1013904223u) >> 16) / 65536.0f - 0.5f; };
  for (int i = 0; i < n; i++) p[i] = make_float4(rnd(), rnd(), rnd(), 1.0f / n), v[i] = make_float4(0, 0, 0, 0);
  std::vector<double> P(3 * n), V(3 * n, 0.0);
  for (int i = 0; i < n; i++) P[3 * i] = p[i].x, P[3 * i + 1] = p[i].y, P[3 * i + 2] = p[i].z;
  float4 *dp, *dv, *da;
  CHECK(cudaMalloc(&dp, n * 16));
  CHECK(cudaMalloc(&dv, n * 16));
  CHECK(cudaMalloc(&da, n * 16));
  CHECK(cudaMemcpy(dp, p.data(), n * 16, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dv, v.data(), n * 16, cudaMemcpyHostToDevice));
  for (int t = 0; t < steps; t++) {
    accelerations<<<n / TILE, TILE, TILE * sizeof(float4)>>>(dp, da, n);
    integrate<<<n / TILE, TILE>>>(dp, dv, da, dt, n);
    std::vector<double> A(3 * n, 0.0);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double d[3], r2 = EPS2;
        for (int k = 0; k < 3; k++) d[k] = P[3 * j + k] - P[3 * i + k], r2 += d[k] * d[k];
        for (int k = 0; k < 3; k++) A[3 * i + k] += d[k] / (r2 * sqrt(r2)) / n;
      }
    for (int i = 0; i < 3 * n; i++) V[i] += A[i] * dt, P[i] += V[i] * dt;
  }
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(p.data(), dp, n * 16, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(v.data(), dv, n * 16, cudaMemcpyDeviceToHost));
  double worst = 0, mx = 0;
  for (int i = 0; i < n; i++) {
    worst = fmax(worst, fmax(fabs(p[i].x - P[3 * i]), fmax(fabs(p[i].y - P[3 * i + 1]), fabs(p[i].z - P[3 * i + 2]))));
    mx += v[i].x / n;
  }
  bool ok = worst < 1e-4 && fabs(mx) < 1e-4 && p[0].x == p[0].x;
  printf("nbody: %d bodies, %d steps, %s\n", n, steps, ok ? "PASSED" : "FAILED");
  return !ok;
}
