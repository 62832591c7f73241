// Halves by themselves and in pairs: every value to a float and back, sums, products and fused sums at their borders.
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <cstring>

__global__ void convert(unsigned* floats, unsigned short* back, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float f = __half2float(__ushort_as_half((unsigned short)i));
  floats[i] = __float_as_uint(f);
  back[i] = __half_as_ushort(__float2half_rn(f));
}

__global__ void round_floats(const float* in, unsigned short* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __half_as_ushort(__float2half_rn(in[i]));
}

struct Results {
  unsigned short add, sub, mul, fma, neg, abs;
  unsigned packed_add, packed_fma;
};

__global__ void compute(const unsigned short* a, const unsigned short* b, const unsigned short* c, Results* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __half x = __ushort_as_half(a[i]), y = __ushort_as_half(b[i]), z = __ushort_as_half(c[i]);
  Results r;
  r.add = __half_as_ushort(__hadd_rn(x, y));
  r.sub = __half_as_ushort(__hsub_rn(x, y));
  r.mul = __half_as_ushort(__hmul_rn(x, y));
  r.fma = __half_as_ushort(__hfma(x, y, z));
  r.neg = __half_as_ushort(__hneg(x));
  r.abs = __half_as_ushort(__habs(x));
  __half2 sum = __hadd2_rn(__halves2half2(x, y), __halves2half2(y, z));
  __half2 fused = __hfma2(__halves2half2(x, z), __halves2half2(y, x), __halves2half2(z, y));
  memcpy(&r.packed_add, &sum, 4);
  memcpy(&r.packed_fma, &fused, 4);
  out[i] = r;
}

const unsigned short kNan = 0x7fff;

double value(unsigned short h) {
  int exponent = h >> 10 & 31, fraction = h & 1023;
  double v = exponent == 31 ? (fraction ? NAN : INFINITY) : exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24);
  return h & 0x8000 ? -v : v;
}

// To nearest, ties to even.
unsigned short rounded(double v) {
  if (std::isnan(v)) return kNan;
  unsigned short sign = std::signbit(v) ? 0x8000 : 0;
  v = std::fabs(v);
  if (v >= 65520) return sign | 0x7c00;
  int exponent = v < std::ldexp(1, -14) ? -14 : std::ilogb(v);
  int places = (int)std::nearbyint(std::ldexp(v, 10 - exponent));  // 1024 and more: a normal number
  return sign | (unsigned short)(places < 1024 ? places : ((exponent + 14) << 10) + places);
}

unsigned next(unsigned& state) { return state = state * 1664525u + 1013904223u; }

int failures = 0;
void expect(unsigned got, unsigned want, const char* what, int i) {
  if (got == want) return;
  if (++failures < 10) std::printf("%s of case %d: %04x instead of %04x\n", what, i, got, want);
}

int main() {
  const int kAll = 65536;
  unsigned* floats;
  unsigned short *back, *a, *b, *c;
  float* in;
  Results* out;
  cudaMallocManaged(&floats, kAll * sizeof *floats);
  cudaMallocManaged(&back, kAll * sizeof *back);
  convert<<<kAll / 256, 256>>>(floats, back, kAll);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int i = 0; i < kAll; ++i) {
    float want = (float)value((unsigned short)i);
    unsigned bits;
    memcpy(&bits, &want, 4);
    const bool nan = std::isnan(want);
    expect(floats[i], nan ? 0x7fffffff : bits, "the float", i);
    expect(back[i], nan ? kNan : i, "the half", i);
  }

  cudaMallocManaged(&in, kAll * sizeof *in);
  unsigned state = 7;
  for (int i = 0; i < kAll; ++i) {
    // Around what a half can be, and right at the middle between two.
    unsigned bits = next(state) & 0x80000000 | (0x32000000 + (next(state) >> 3) % 0x16000000);
    if (i % 4 == 0) bits = bits & ~0x1fffu | 0x1000;
    if (i % 64 == 1) bits = next(state);
    memcpy(&in[i], &bits, 4);
  }
  round_floats<<<kAll / 256, 256>>>(in, back, kAll);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int i = 0; i < kAll; ++i) expect(back[i], rounded(in[i]), "the rounded float", i);

  cudaMallocManaged(&a, kAll * sizeof *a);
  cudaMallocManaged(&b, kAll * sizeof *b);
  cudaMallocManaged(&c, kAll * sizeof *c);
  cudaMallocManaged(&out, kAll * sizeof *out);
  for (int i = 0; i < kAll; ++i) {
    a[i] = (unsigned short)(next(state) >> 16);
    b[i] = (unsigned short)(next(state) >> 16);
    c[i] = (unsigned short)(next(state) >> 16);
    if (i % 3 == 0) {  // a middle between two halves, moved a little by a small number
      a[i] = (unsigned short)(0x3c01 + i % 512 * 2);
      b[i] = 0x3800;
      c[i] = (unsigned short)((i & 1) * 0x8000 + i % 7);
    }
  }
  compute<<<kAll / 256, 256>>>(a, b, c, out, kAll);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int i = 0; i < kAll; ++i) {
    double x = value(a[i]), y = value(b[i]), z = value(c[i]);
    const auto fused = [](double p, double q, double r) { return rounded(p * q + r); };  // exact where it matters
    expect(out[i].add, rounded(x + y), "the sum", i);
    expect(out[i].sub, rounded(x - y), "the difference", i);
    expect(out[i].mul, rounded(x * y), "the product", i);
    expect(out[i].fma, fused(x, y, z), "the fused sum", i);
    expect(out[i].neg, rounded(-x), "the negative", i);
    expect(out[i].abs, rounded(std::fabs(x)), "the magnitude", i);
    expect(out[i].packed_add, rounded(x + y) | rounded(y + z) << 16, "the pair of sums", i);
    expect(out[i].packed_fma, fused(x, y, z) | fused(z, x, y) << 16, "the pair of fused sums", i);
  }
  std::printf(failures ? "%d wrong\n" : "all right\n", failures);
  return failures != 0;
}
