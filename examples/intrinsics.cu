// intrinsics: standard functions against fast intrinsics, and control over rounding and fused multiply-add.
// Look at the errors: powf is right to a couple of units in the last place, __powf only to a few digits;
// fmaf rounds once where __fmul_rn and __fadd_rn round twice.
#include <cuda_runtime.h>

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

__global__ void standard(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = powf(x[i], 2.5f);
  out[n + i] = sinf(x[i]);
  out[2 * n + i] = expf(x[i]);
  out[3 * n + i] = logf(x[i]);
  out[4 * n + i] = x[i] / 3.7f;
}

__global__ void intrinsic(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = __powf(x[i], 2.5f);
  out[n + i] = __sinf(x[i]);
  out[2 * n + i] = __expf(x[i]);
  out[3 * n + i] = __logf(x[i]);
  out[4 * n + i] = __fdividef(x[i], 3.7f);
}

struct Rounded {
  float fused, separate, up, down, toward_zero;
  double square_root, product_up, product_down;
};

__global__ void rounding(float a, float b, float c, double d, Rounded* out) {
  out->fused = fmaf(a, b, c);
  out->separate = __fadd_rn(__fmul_rn(a, b), c);  // never contracted into one instruction
  out->up = __fadd_ru(a, 1e-9f);
  out->down = __fadd_rd(a, -1e-9f);
  out->toward_zero = __fmul_rz(a, b);
  out->square_root = __dsqrt_rn(d);
  out->product_up = __dmul_ru(d, 1.0 / 3.0);
  out->product_down = __dmul_rd(d, 1.0 / 3.0);
}

int main() {
  const int n = 4096;
  std::vector<float> x(n), standard_out(5 * n), fast_out(5 * n);
  for (int i = 0; i < n; ++i) x[i] = 0.05f + i * (3.0f / n);
  float *d_x, *d_out;
  CHECK(cudaMalloc(&d_x, n * sizeof(float)));
  CHECK(cudaMalloc(&d_out, 5 * n * sizeof(float)));
  CHECK(cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  standard<<<n / 256, 256>>>(d_x, d_out, n);
  CHECK(cudaMemcpy(standard_out.data(), d_out, 5 * n * sizeof(float), cudaMemcpyDeviceToHost));
  intrinsic<<<n / 256, 256>>>(d_x, d_out, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(fast_out.data(), d_out, 5 * n * sizeof(float), cudaMemcpyDeviceToHost));

  int failures = 0;
  const char* names[] = {"pow", "sin", "exp", "log", "divide"};
  for (int f = 0; f < 5; ++f) {
    double worst_standard = 0.0, worst_fast = 0.0;
    for (int i = 0; i < n; ++i) {
      double v = x[i];
      double exact = f == 0   ? std::pow(v, 2.5)
                     : f == 1 ? std::sin(v)
                     : f == 2 ? std::exp(v)
                     : f == 3 ? std::log(v)
                              : v / 3.7f;
      double scale = std::fmax(std::fabs(exact), f == 3 || f == 1 ? 1.0 : 0.0);
      worst_standard = std::fmax(worst_standard, std::fabs(standard_out[f * n + i] - exact) / scale);
      worst_fast = std::fmax(worst_fast, std::fabs(fast_out[f * n + i] - exact) / scale);
    }
    bool ok = worst_standard < 5e-7 && worst_fast < 2e-5;
    std::printf("%-7s standard within 5e-7: %s, intrinsic within 2e-5: %s\n", names[f],
                worst_standard < 5e-7 ? "yes" : "NO", worst_fast < 2e-5 ? "yes" : "NO");
    failures += !ok;
  }

  const float a = 1.0f + 1.0f / 4096, b = 1.0f + 1.0f / 8192, c = -1.0f;
  const double d = 7.0;
  Rounded r, *d_r;
  CHECK(cudaMalloc(&d_r, sizeof r));
  rounding<<<1, 1>>>(a, b, c, d, d_r);
  CHECK(cudaMemcpy(&r, d_r, sizeof r, cudaMemcpyDeviceToHost));
  volatile float product = a * b;
  failures += r.fused != std::fma(a, b, c);
  failures += r.separate != product + c;
  failures += r.fused == r.separate;
  failures += r.up != std::nextafterf(a, 2.0f) || r.down != std::nextafterf(a, 0.0f);
  failures += (double)r.toward_zero > (double)a * b || std::nextafterf(r.toward_zero, 2.0f) <= (double)a * b;
  failures += r.square_root != std::sqrt(d) || !(r.product_up == std::nextafter(r.product_down, 10.0));
  std::printf("fused %.10f, rounded twice %.10f\n", r.fused, r.separate);
  CHECK(cudaFree(d_x));
  CHECK(cudaFree(d_out));
  CHECK(cudaFree(d_r));
  std::printf("intrinsics: %s\n", failures ? "FAILED" : "accuracy and rounding are as documented");
  return failures != 0;
}
