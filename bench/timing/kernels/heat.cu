// Heat and diffusion: implicit lines by Thomas and by cyclic reduction, two steps fused in a tile, a checkpointed sweep, a multigrid cycle's parts.
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

__global__ void thomas(const float* a, const float* b, const float* c, float* d, float* scratch, int n, int systems) {
  int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= systems) return;
  float factor = c[s] / b[s], value = d[s] / b[s];
  scratch[s] = factor;
  d[s] = value;
  for (int i = 1; i < n; ++i) {
    int at = i * systems + s;
    float m = 1.0f / (b[at] - a[at] * factor);
    factor = c[at] * m;
    value = (d[at] - a[at] * value) * m;
    scratch[at] = factor;
    d[at] = value;
  }
  for (int i = n - 2; i >= 0; --i) {
    int at = i * systems + s;
    value = d[at] - scratch[at] * value;
    d[at] = value;
  }
}

__global__ void cyclic(const float* a, const float* b, const float* c, float* d, int n) {
  __shared__ float sa[256], sb[256], sc[256], sd[256];
  const int t = threadIdx.x, at = blockIdx.x * n + t;
  sa[t] = a[at], sb[t] = b[at], sc[t] = c[at], sd[t] = d[at];
  for (int h = 1; h < n; h *= 2) {
    __syncthreads();
    float na = 0, nb = sb[t], nc = 0, nd = sd[t];
    if (t >= h) {
      float k = sa[t] / sb[t - h];
      na = -k * sa[t - h], nb -= k * sc[t - h], nd -= k * sd[t - h];
    }
    if (t + h < n) {
      float k = sc[t] / sb[t + h];
      nc = -k * sc[t + h], nb -= k * sa[t + h], nd -= k * sd[t + h];
    }
    __syncthreads();
    sa[t] = na, sb[t] = nb, sc[t] = nc, sd[t] = nd;
  }
  d[at] = sd[t] / sb[t];
}

__global__ void two_steps(const float* in, float* out, int nx, int ny) {
  __shared__ float u[20][36], v[18][34];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 16, t = threadIdx.y * 32 + threadIdx.x;
  for (int i = t; i < 720; i += 512) u[i / 36][i % 36] = in[min(max(y0 + i / 36 - 2, 0), ny - 1) * nx + min(max(x0 + i % 36 - 2, 0), nx - 1)];
  __syncthreads();
  for (int i = t; i < 612; i += 512) {
    int y = i / 34 + 1, x = i % 34 + 1;
    v[y - 1][x - 1] = 0.6f * u[y][x] + 0.1f * (u[y - 1][x] + u[y + 1][x] + u[y][x - 1] + u[y][x + 1]);
  }
  __syncthreads();
  const int y = threadIdx.y + 1, x = threadIdx.x + 1;
  out[(y0 + threadIdx.y) * nx + x0 + threadIdx.x] = 0.6f * v[y][x] + 0.1f * (v[y - 1][x] + v[y + 1][x] + v[y][x - 1] + v[y][x + 1]);
}

__global__ void restrict_grid(const float* fine, float* coarse, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
  const float* p = fine + 2 * y * 2 * n + 2 * x;
  coarse[y * n + x] = 0.25f * p[0] + 0.125f * (p[1] + p[-1] + p[2 * n] + p[-2 * n]) + 0.0625f * (p[2 * n + 1] + p[2 * n - 1] + p[-2 * n + 1] + p[-2 * n - 1]);
}

__global__ void prolong_grid(const float* coarse, float* fine, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, cx = x / 2, cy = y / 2;
  if (cx >= n - 1 || cy >= n - 1) return;
  const float* p = coarse + cy * n + cx;
  float v = x % 2 ? (y % 2 ? 0.25f * (p[0] + p[1] + p[n] + p[n + 1]) : 0.5f * (p[0] + p[1])) : (y % 2 ? 0.5f * (p[0] + p[n]) : p[0]);
  fine[y * 2 * n + x] += v;
}

int main() {
  const int n = 1024;
  std::vector<float> host(n * n, 4.0f), ones(n * n, 1.0f);
  float *a, *b, *c, *d, *scratch;
  CHECK(cudaMalloc(&a, n * n * 4));
  CHECK(cudaMalloc(&b, n * n * 4));
  CHECK(cudaMalloc(&c, n * n * 4));
  CHECK(cudaMalloc(&d, n * n * 4));
  CHECK(cudaMalloc(&scratch, n * n * 4));
  CHECK(cudaMemcpy(a, ones.data(), n * n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(b, host.data(), n * n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(c, ones.data(), n * n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d, ones.data(), n * n * 4, cudaMemcpyHostToDevice));
  THRICE thomas<<<32, 128>>>(a, b, c, d, scratch, 200, 4096);
  THRICE cyclic<<<n * n / 256 / 4, 256>>>(a, b, c, d, 256);
  THRICE two_steps<<<dim3(n / 32, n / 16), dim3(32, 16)>>>(d, a, n, n);
  THRICE restrict_grid<<<dim3(16, 64), dim3(32, 8)>>>(d, b, 512);
  THRICE prolong_grid<<<dim3(32, 128), dim3(32, 8)>>>(b, d, 512);
  CHECK(cudaMemcpy(host.data(), d, 4000, cudaMemcpyDeviceToHost));
  std::printf("%f\n", host[999]);
  return 0;
}
