// How long a cuComplex is: recorded on an H100, where it is not always what hypot gives.
#include <cuComplex.h>

#include <cmath>
#include <cstdio>

__global__ void lengths(const cuFloatComplex* f, const cuDoubleComplex* d, unsigned* floats, unsigned long long* doubles) {
  floats[threadIdx.x] = __float_as_uint(cuCabsf(f[threadIdx.x]));
  doubles[threadIdx.x] = static_cast<unsigned long long>(__double_as_longlong(cuCabs(d[threadIdx.x])));
}
int check_lengths() {
  const cuFloatComplex f[] = {{-1.00000012f, 2.5f}, {-4.5f, 0.25f}, {128, -128}, {INFINITY, 1}, {3e38f, 3e38f}, {0, -0.0f}};
  const cuDoubleComplex d[] = {{0.99999999999999989, -1.5}, {1.5, -2.5}, {2.5, -0.5}, {-1, -INFINITY}, {1e-300, 1e300}, {-0.0, 0}};
  const unsigned floats[] = {0x402c5346, 0x409038d9, 0x433504f3, 0x7f800000, 0x7f800000, 0};
  const unsigned long long doubles[] = {0x3ffcd82b446159f4, 0x400752e50db3a3a1, 0x400465655f122ff7, 0x7ff0000000000000, 0x7e37e43c8800759c, 0};
  constexpr int n = 6;
  char* memory;
  cudaMallocManaged(&memory, 4096);
  auto* fs = reinterpret_cast<cuFloatComplex*>(memory);
  auto* ds = reinterpret_cast<cuDoubleComplex*>(memory + 1024);
  auto* got_floats = reinterpret_cast<unsigned*>(memory + 2048);
  auto* got_doubles = reinterpret_cast<unsigned long long*>(memory + 3072);
  for (int i = 0; i < n; ++i) fs[i] = f[i], ds[i] = d[i];
  lengths<<<1, n>>>(fs, ds, got_floats, got_doubles);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  int wrong = 0;
  for (int i = 0; i < n; ++i)
    if (got_floats[i] != floats[i] || got_doubles[i] != doubles[i]) printf("length %d: %08x %016llx\n", i, got_floats[i], got_doubles[i]), ++wrong;
  return wrong + !isnan(cuCabs(make_cuDoubleComplex(INFINITY, NAN))) + !isnan(cuCabsf(make_cuFloatComplex(NAN, 1)));
}

int main() {
  const int wrong = check_lengths();
  printf("complex_lengths: %s\n", wrong ? "FAILED" : "PASSED");
  return wrong != 0;
}
