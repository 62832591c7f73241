// build: -lcufft
// nvcc: no
// Transforms whose data lie on two GPUs, and kernels on the parts of each: a circular convolution.
#include <cufftXt.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define REQUIRE(holds)                                        \
  do {                                                        \
    if (!(holds)) {                                           \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, #holds); \
      std::exit(1);                                           \
    }                                                         \
  } while (0)
#define FFT(call) REQUIRE((call) == CUFFT_SUCCESS)
#define CUDA(call) REQUIRE((call) == cudaSuccess)

typedef std::complex<float> Complex;

__global__ void multiply(cufftComplex* a, const cufftComplex* b, int n, float scale) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const cufftComplex x = a[i], y = b[i];
  a[i] = make_cuComplex((x.x * y.x - x.y * y.y) * scale, (x.x * y.y + x.y * y.x) * scale);
}

static void convolve(int n, int gpus, int second = 1) {
  int devices[2] = {0, second};
  std::vector<Complex> signal(n), filter(n), got(n);
  for (int i = 0; i < n; ++i) signal[i] = Complex(float(i * 7 % 11), float(i % 3)), filter[i] = i < 5 ? Complex(1.0f / (i + 1), 0.5f) : Complex();
  cufftHandle plan;
  size_t work[2] = {1, 1};
  FFT(cufftCreate(&plan));
  FFT(cufftXtSetGPUs(plan, gpus, devices));
  FFT(cufftMakePlan1d(plan, n, CUFFT_C2C, 1, work));
  cudaLibXtDesc *a = nullptr, *b = nullptr;
  FFT(cufftXtMalloc(plan, &a, CUFFT_XT_FORMAT_INPLACE));
  FFT(cufftXtMalloc(plan, &b, CUFFT_XT_FORMAT_INPLACE));
  REQUIRE(a->descriptor->nGPUs == gpus && b->descriptor->GPUs[gpus - 1] == devices[gpus - 1]);
  FFT(cufftXtMemcpy(plan, a, signal.data(), CUFFT_COPY_HOST_TO_DEVICE));
  FFT(cufftXtMemcpy(plan, b, filter.data(), CUFFT_COPY_HOST_TO_DEVICE));
  FFT(cufftXtExecDescriptorC2C(plan, a, a, CUFFT_FORWARD));
  FFT(cufftXtExecDescriptorC2C(plan, b, b, CUFFT_FORWARD));
  for (int k = 0; k < gpus; ++k) {
    CUDA(cudaSetDevice(devices[k]));
    const int part = int(a->descriptor->size[k] / sizeof(cufftComplex));
    multiply<<<(part + 63) / 64, 64>>>((cufftComplex*)a->descriptor->data[k], (const cufftComplex*)b->descriptor->data[k], part, 1.0f / n);
    CUDA(cudaGetLastError());
  }
  CUDA(cudaSetDevice(0));
  FFT(cufftXtExecDescriptorC2C(plan, a, a, CUFFT_INVERSE));
  FFT(cufftXtMemcpy(plan, got.data(), a, CUFFT_COPY_DEVICE_TO_HOST));
  for (int i = 0; i < n; ++i) {
    Complex sum;
    for (int k = 0; k < 5; ++k) sum += filter[k] * signal[(i - k + n) % n];
    REQUIRE(std::abs(sum - got[i]) < 1e-3f * (1 + std::abs(sum)));
  }
  FFT(cufftXtMemcpy(plan, b, a, CUFFT_COPY_DEVICE_TO_DEVICE));
  FFT(cufftXtMemcpy(plan, signal.data(), b, CUFFT_COPY_DEVICE_TO_HOST));
  for (int i = 0; i < n; ++i) REQUIRE(signal[i] == got[i]);
  FFT(cufftXtFree(a));
  FFT(cufftXtFree(b));
  FFT(cufftDestroy(plan));
}

// Rows of a plane, more of them on the first GPU; forth and back is the plane times its size.
static void plane(int nx, int ny, int gpus) {
  int devices[2] = {0, 1};
  std::vector<Complex> data(nx * ny), got(nx * ny);
  for (int i = 0; i < nx * ny; ++i) data[i] = Complex(float(i % 13), float(i % 5));
  cufftHandle plan;
  size_t work[2];
  FFT(cufftCreate(&plan));
  FFT(cufftXtSetGPUs(plan, gpus, devices));
  FFT(cufftMakePlan2d(plan, nx, ny, CUFFT_C2C, work));
  cudaLibXtDesc* a = nullptr;
  FFT(cufftXtMalloc(plan, &a, CUFFT_XT_FORMAT_INPLACE));
  REQUIRE(a->descriptor->size[0] == size_t((nx + gpus - 1) / gpus) * ny * sizeof(cufftComplex));
  FFT(cufftXtMemcpy(plan, a, data.data(), CUFFT_COPY_HOST_TO_DEVICE));
  FFT(cufftXtExecDescriptorC2C(plan, a, a, CUFFT_FORWARD));
  REQUIRE(a->subFormat == CUFFT_XT_FORMAT_INPLACE_SHUFFLED);
  FFT(cufftXtMemcpy(plan, got.data(), a, CUFFT_COPY_DEVICE_TO_HOST));
  Complex sum;
  for (const Complex& x : data) sum += x;
  REQUIRE(std::abs(got[0] - sum) < 1e-3f * std::abs(sum));
  FFT(cufftXtExecDescriptorC2C(plan, a, a, CUFFT_INVERSE));
  FFT(cufftXtMemcpy(plan, got.data(), a, CUFFT_COPY_DEVICE_TO_HOST));
  for (int i = 0; i < nx * ny; ++i) REQUIRE(std::abs(got[i] / float(nx * ny) - data[i]) < 1e-4f);
  FFT(cufftXtFree(a));
  FFT(cufftDestroy(plan));
}

int main() {
  setenv("WARPBEAM_DEVICES", "2", 0);
  int count = 0;
  CUDA(cudaGetDeviceCount(&count));
  const int gpus = count < 2 ? 1 : 2;
  convolve(1024, gpus);
  convolve(100, 1);
  convolve(256, 2, 0);  // both parts on one GPU
  plane(33, 16, gpus);

  cufftHandle plan;
  int wrong[2] = {0, 99}, good[1] = {0};
  cudaLibXtDesc* a = nullptr;
  FFT(cufftCreate(&plan));
  REQUIRE(cufftXtSetGPUs(plan, 2, wrong) == CUFFT_INVALID_DEVICE);
  REQUIRE(cufftXtMalloc(plan, &a, CUFFT_XT_FORMAT_INPLACE) == CUFFT_INVALID_PLAN);
  FFT(cufftDestroy(plan));
  FFT(cufftPlan1d(&plan, 8, CUFFT_C2C, 1));
  REQUIRE(cufftXtSetGPUs(plan, 1, good) == CUFFT_INVALID_PLAN);
  FFT(cufftDestroy(plan));
  std::puts("PASSED");
}
