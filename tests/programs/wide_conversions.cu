// Whole numbers of 128 bits from numbers with a point, and back: as the host does it.
#include <cstdio>
#include <cstring>

constexpr int kNumbers = 64;
struct Results {
  unsigned __int128 of_float, of_double;
  __int128 sign_of_float, sign_of_double;
  float to_float, sign_to_float;
  double to_double, sign_to_double;
};

__host__ __device__ Results convert(int k) {
  unsigned __int128 bits = 0x9e3779b97f4a7c15ull;
  for (int i = 0; i < k % 7; ++i) bits = bits * 0x9e3779b97f4a7c15ull + (i << 20);
  if (k % 3 == 1) bits = (bits | 1) << (k % 60) | 1;
  if (k % 11 == 5) bits = ((unsigned __int128)1 << 127) | ((unsigned __int128)1 << (127 - 53)) | (k & 1);
  bits >>= k * 2 % 128;
  const double d = k % 5 ? ldexp(1.2345678901234567 * (k + 1), k) : k + 0.75;
  const float f = (float)d;
  Results r;
  memset(&r, 0, sizeof r);
  r.of_float = (unsigned __int128)f, r.of_double = (unsigned __int128)d;
  r.sign_of_float = (__int128)-f, r.sign_of_double = (__int128)-d;
  r.to_float = (float)bits, r.sign_to_float = (float)(__int128)bits;
  r.to_double = (double)bits, r.sign_to_double = (double)-(__int128)bits;
  return r;
}

__global__ void kernel(Results* out) { out[threadIdx.x] = convert(threadIdx.x); }

int main() {
  Results* out;
  cudaMallocManaged(&out, kNumbers * sizeof(Results));
  kernel<<<1, kNumbers>>>(out);
  int wrong = cudaDeviceSynchronize() != cudaSuccess;
  for (int k = 0; k < kNumbers; ++k) {
    const Results want = convert(k);
    const bool same = out[k].of_float == want.of_float && out[k].of_double == want.of_double && out[k].sign_of_float == want.sign_of_float &&
                      out[k].sign_of_double == want.sign_of_double && out[k].to_float == want.to_float &&
                      out[k].sign_to_float == want.sign_to_float && out[k].to_double == want.to_double && out[k].sign_to_double == want.sign_to_double;
    if (!same) std::printf("number %d\n", k), ++wrong;
  }
  std::puts(wrong ? "FAILED" : "PASSED");
  return wrong != 0;
}
