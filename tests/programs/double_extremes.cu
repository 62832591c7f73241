// min.f64 and max.f64 of every pair of numbers, zeros, infinities and NaNs; dp4a of signed and unsigned bytes.
#include <cmath>
#include <cstdio>
#include <cstring>

struct Results {
  unsigned long long least, most;
  unsigned dots[4];
};

constexpr int kCount = 12;
constexpr unsigned long long kSignal = 0x7ff0000000000123, kQuiet = 0x7ff8000000000000;

__global__ void compute(const unsigned long long* in, Results* out) {
  const int i = threadIdx.x;
  if (i >= kCount * kCount) return;
  const unsigned long long a = in[i / kCount], b = in[i % kCount];
  Results& o = out[i];
  asm("{.reg .f64 x, y; mov.b64 x, %1; mov.b64 y, %2; min.f64 x, x, y; mov.b64 %0, x;}"
      : "=l"(o.least)
      : "l"(a), "l"(b));
  asm("{.reg .f64 x, y; mov.b64 x, %1; mov.b64 y, %2; max.f64 x, x, y; mov.b64 %0, x;}"
      : "=l"(o.most)
      : "l"(a), "l"(b));
  const unsigned p = unsigned(a >> 32) ^ i * 2654435761u, q = unsigned(b >> 32) + i * 40503u;
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(o.dots[0]) : "r"(p), "r"(q), "r"(i));
  asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(o.dots[1]) : "r"(p), "r"(q), "r"(i));
  asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(o.dots[2]) : "r"(p), "r"(q), "r"(i));
  asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(o.dots[3]) : "r"(p), "r"(q), "r"(i));
}

bool is_nan(unsigned long long x) { return (x << 1) > 0xffe0000000000000; }

unsigned long long extreme(unsigned long long a, unsigned long long b, bool most) {
  if (is_nan(a) && is_nan(b)) return b | kQuiet;
  if (is_nan(a) || is_nan(b)) return is_nan(a) ? b : a;
  double x, y;
  std::memcpy(&x, &a, 8), std::memcpy(&y, &b, 8);
  if (x == y) return most ? a & b : a | b;
  return (x < y) != most ? a : b;
}

unsigned dot(unsigned p, unsigned q, bool p_signed, bool q_signed, unsigned sum) {
  for (int n = 0; n < 32; n += 8) {
    const int x = p >> n & 255, y = q >> n & 255;
    sum += unsigned((p_signed && x > 127 ? x - 256 : x) * (q_signed && y > 127 ? y - 256 : y));
  }
  return sum;
}

int main() {
  const double numbers[] = {0.0, -0.0, 1.5, -1.5, 0x1p-1074, -0x1p-1060, INFINITY, -INFINITY, 1e300};
  unsigned long long in[kCount];
  std::memcpy(in, numbers, sizeof numbers);
  in[9] = kSignal, in[10] = kSignal | 1ull << 63, in[11] = kQuiet | 77;
  unsigned long long* d_in;
  Results *d_out, out[kCount * kCount];
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  compute<<<1, 160>>>(d_in, d_out);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  int wrong = 0;
  const auto check = [&](const char* what, int i, unsigned long long got, unsigned long long right) {
    if (got != right && ++wrong <= 8) printf("%s of pair %d is %llx, not %llx\n", what, i, got, right);
  };
  for (int i = 0; i < kCount * kCount; ++i) {
    const unsigned long long a = in[i / kCount], b = in[i % kCount];
    check("min", i, out[i].least, extreme(a, b, false));
    check("max", i, out[i].most, extreme(a, b, true));
    const unsigned p = unsigned(a >> 32) ^ i * 2654435761u, q = unsigned(b >> 32) + i * 40503u;
    for (int k = 0; k < 4; ++k) check("dp4a", i, out[i].dots[k], dot(p, q, k < 2, k % 2 == 0, i));
  }
  printf("%d wrong\n", wrong);
  return wrong != 0 || cudaGetLastError() != cudaSuccess;
}
