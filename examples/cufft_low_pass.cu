// A low-pass filter: a noisy signal goes into frequencies (cuFFT), a kernel cuts the high ones, and back again.
// build: -lcufft
// See: the filtered samples follow the sine that the noise hid; the inverse transform is unscaled, hence the division.

#include <cufft.h>

#include <cmath>
#include <cstdio>

#define CHECK(call)                                                              \
  do {                                                                           \
    if ((call) != 0) return printf("%s failed (line %d)\n", #call, __LINE__), 1; \
  } while (0)

constexpr int kSamples = 1024, kWave = 3, kCut = 16;

__global__ void make_signal(float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float noise = (i * 2654435761u >> 16 & 0xff) / 256.0f - 0.5f;
  x[i] = sinpif(2.0f * kWave * i / kSamples) + noise;
}

__global__ void cut(cufftComplex* spectrum, int from) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= from && k <= kSamples / 2) spectrum[k] = make_cuComplex(0, 0);
}

int main() {
  float* signal;
  cufftComplex* spectrum;
  CHECK(cudaMallocManaged(&signal, kSamples * sizeof(float)));
  CHECK(cudaMalloc(&spectrum, (kSamples / 2 + 1) * sizeof(cufftComplex)));
  make_signal<<<kSamples / 256, 256>>>(signal);

  cufftHandle forward, back;
  CHECK(cufftPlan1d(&forward, kSamples, CUFFT_R2C, 1));
  CHECK(cufftPlan1d(&back, kSamples, CUFFT_C2R, 1));
  CHECK(cufftExecR2C(forward, signal, spectrum));
  cut<<<(kSamples / 2 + 256) / 256, 256>>>(spectrum, kCut);
  CHECK(cufftExecC2R(back, spectrum, signal));
  CHECK(cudaDeviceSynchronize());

  double worst = 0;
  for (int i = 0; i < kSamples; ++i) {
    const double sine = std::sin(2 * M_PI * kWave * i / kSamples), filtered = signal[i] / kSamples;
    if (i % 128 == 37) printf("sample %4d: sine %7.3f, filtered %7.3f\n", i, sine, filtered);
    worst = std::fmax(worst, std::fabs(sine - filtered));
  }
  printf("largest difference: %.3f\n", worst);
  cufftDestroy(forward);
  cufftDestroy(back);
  return worst < 0.2 ? 0 : 1;
}
