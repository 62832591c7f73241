// A five-point stencil in the plane, and the nine-point first derivative with its coefficients in constant memory.
#include "cpu/work.h"
#include "reference/reference.h"

#define BDIM 256
#define RADIUS 4

__constant__ float coef[RADIUS + 1];

__global__ void stencil_2d(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  int i = y * width + x;
  out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
}

__global__ void stencil_1d(const float* in, float* out) {
  __shared__ float smem[BDIM + 2 * RADIUS];
  int idx = threadIdx.x + blockIdx.x * blockDim.x;
  int sidx = threadIdx.x + RADIUS;
  smem[sidx] = in[idx];
  if (threadIdx.x < RADIUS) {
    smem[sidx - RADIUS] = in[idx - RADIUS];
    smem[sidx + BDIM] = in[idx + BDIM];
  }
  __syncthreads();
  float tmp = 0.0f;
#pragma unroll
  for (int i = 1; i <= RADIUS; i++) tmp += coef[i] * (smem[sidx + i] - smem[sidx - i]);
  out[idx] = tmp;
}

namespace bench {
namespace {

struct Stencil2d : Work {
  explicit Stencil2d(bool quick) : n(quick ? 1024 : 4096), in(n * n), out(n * n), d_in(n * n), d_out(n * n) {
    for (size_t k = 0; k < n * n; ++k) in[k] = unit(k);
    d_in.upload(in);
    d_out.clear();
  }
  void ours() override {
    const int side = static_cast<int>(n);
    stencil_2d<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(d_in.data(), d_out.data(), side, side);
  }
  void reference() override {
    ::reference::stencil_2d(in.data(), out.data(), static_cast<int>(n), static_cast<int>(n));
  }
  std::string difference() override { return compare_closely(d_out.download(), out.data(), n * n, 1e-6, 1); }

  size_t n;
  HostArray<float> in, out;
  DeviceArray<float> d_in, d_out;
};

constexpr float kCoefficients[RADIUS + 1] = {0, 4.0f / 5, -1.0f / 5, 4.0f / 105, -1.0f / 280};

struct Stencil1d : Work {
  explicit Stencil1d(bool quick)
      : n(quick ? 1 << 21 : 1 << 24), in(n + 2 * RADIUS), out(n), d_in(n + 2 * RADIUS), d_out(n) {
    for (size_t k = 0; k < in.size(); ++k) in[k] = unit(k);
    d_in.upload(in);
    BENCH_CHECK(cudaMemcpyToSymbol(coef, kCoefficients, sizeof kCoefficients));
  }
  void ours() override { stencil_1d<<<n / BDIM, BDIM>>>(d_in.data() + RADIUS, d_out.data()); }
  void reference() override { ::reference::stencil_1d(in.data(), out.data(), kCoefficients, n); }
  std::string difference() override { return compare_closely(d_out.download(), out.data(), n, 1e-5, 1); }

  size_t n;
  HostArray<float> in, out;
  DeviceArray<float> d_in, d_out;
};

}  // namespace

std::unique_ptr<Work> make_stencil_2d(bool quick) { return std::make_unique<Stencil2d>(quick); }
std::unique_ptr<Work> make_stencil_1d(bool quick) { return std::make_unique<Stencil1d>(quick); }

}  // namespace bench
