// Functions that take the rounding mode as an argument, and barriers under their older names.
#include <cstdio>

struct Results {
  double d[6];
  long long i[4];
};

__device__ Results by_mode(double x, double y, double z, cudaRoundMode mode) {
  return {{fma(x, y, z, mode), dmul(x, y, mode), dadd(x, y, mode), dsub(x, y, mode), ll2double((1ll << 60) + 127, mode), ull2double(~0ull - 511, mode)},
          {double2int(x, mode), double2uint(y, mode), double2ll(z, mode), static_cast<long long>(double2ull(y, mode))}};
}
#define SUFFIXED(r) \
  Results{{__fma_##r(x, y, z), __dmul_##r(x, y), __dadd_##r(x, y), __dsub_##r(x, y), __ll2double_##r((1ll << 60) + 127), __ull2double_##r(~0ull - 511)}, \
          {__double2int_##r(x), __double2uint_##r(y), __double2ll_##r(z), static_cast<long long>(__double2ull_##r(y))}}

__global__ void compare(const double* in, int* wrong) {
  const double x = in[0], y = in[1], z = in[2];
  const Results got[] = {by_mode(x, y, z, cudaRoundNearest), by_mode(x, y, z, cudaRoundZero), by_mode(x, y, z, cudaRoundPosInf), by_mode(x, y, z, cudaRoundMinInf)};
  const Results want[] = {SUFFIXED(rn), SUFFIXED(rz), SUFFIXED(ru), SUFFIXED(rd)};
  for (int m = 0; m < 4; ++m) {
    for (int k = 0; k < 6; ++k) *wrong += got[m].d[k] != want[m].d[k];
    for (int k = 0; k < 4; ++k) *wrong += got[m].i[k] != want[m].i[k];
    // The results do depend on it.
    *wrong += m > 1 && (got[m].i[0] == got[5 - m].i[0] || got[m].d[0] == got[5 - m].d[0]);
  }
  *wrong += double2int(-2.75) != -2 || double2uint(2.75) != 2 || double2ll(-2.75) != -2 || double2ull(2.75) != 2;  // towards zero, unless told otherwise
  *wrong += dadd(1, 2) != 3 || dsub(1, 2) != -1 || dmul(3, 2) != 6 || int2double(-7) != -7 || uint2double(7) != 7 || float2double(0.5f) != 0.5;
}

__global__ void barriers(int* out) {
  const int count = syncthreads_count(threadIdx.x % 3 == 0);
  const bool all = syncthreads_and(threadIdx.x < 64), none = !syncthreads_or(threadIdx.x == 64), some = syncthreads_or(threadIdx.x == 63);
  if (!threadIdx.x) *out = count * 8 + all * 4 + none * 2 + some;
}

int main() {
  const double in[] = {-2.7, 3.3, 1e-17};
  double* numbers;
  int *results, got[2];
  cudaMalloc(&numbers, sizeof in), cudaMalloc(&results, sizeof got);
  cudaMemset(results, 0, sizeof got);
  cudaMemcpy(numbers, in, sizeof in, cudaMemcpyHostToDevice);
  compare<<<1, 1>>>(numbers, results);
  barriers<<<1, 64>>>(results + 1);
  if (cudaMemcpy(got, results, sizeof got, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  const bool right = got[0] == 0 && got[1] == 22 * 8 + 7;
  printf("rounding_modes: %s (%d %d)\n", right ? "PASSED" : "FAILED", got[0], got[1]);
  return !right;
}
