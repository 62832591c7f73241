// Products, sums of products and quotients with .ftz around the smallest normal number: a result is flushed when it is
// smaller than that after rounding as if there were no subnormals. Doubles hold the exact values that this needs.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

struct Case {
  float a, b, c;
};
struct Results {
  float product, sum, quotient, reciprocal, saturated;
};

__global__ void compute(const Case* in, Results* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Case x = in[i];
  Results& o = out[i];
  asm("mul.rn.ftz.f32 %0, %1, %2;" : "=f"(o.product) : "f"(x.a), "f"(x.b));
  asm("fma.rn.ftz.f32 %0, %1, %2, %3;" : "=f"(o.sum) : "f"(x.a), "f"(x.b), "f"(x.c));
  asm("div.rn.ftz.f32 %0, %1, %2;" : "=f"(o.quotient) : "f"(x.c), "f"(x.a));
  asm("rcp.rn.ftz.f32 %0, %1;" : "=f"(o.reciprocal) : "f"(x.a));
  asm("fma.rn.ftz.sat.f32 %0, %1, %2, %3;" : "=f"(o.saturated) : "f"(x.a), "f"(x.b), "f"(x.c));
}

float flushed_input(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }
float flushed(double exact) {
  return std::fabs(exact) < 0x1p-126 * (1 - 0x1p-25) ? std::copysign(0.0f, (float)exact) : (float)exact;
}
bool same(float x, float y) { return x != x ? y != y : std::memcmp(&x, &y, sizeof x) == 0; }

unsigned state = 12345;
unsigned next() { return state = state * 1664525u + 1013904223u, state >> 8; }
// A number with a few leading bits, so that sums of products stay exact in double.
float short_number(int exponent) {
  return std::ldexp((next() & 1 ? 1 : -1) * (float)(2048 | next() % 2048), exponent - 11);
}
float whole_number(int exponent) {
  return std::ldexp((next() & 1 ? 1 : -1) * (float)(1 << 23 | next() % (1 << 23)), exponent - 23);
}

int main() {
  std::vector<Case> in;
  // At the border itself: 1 - 2^-24 is (1 - 2^-12)(1 + 2^-12).
  const float below = 1 - 0x1p-12f, above = 1 + 0x1p-12f;
  for (float a : {below, above, 1.0f, -1.0f, 0.0f, -0.0f, INFINITY, NAN, 0x1p-126f, 0x1p100f, 0x1p127f, 0x1p-140f})
    for (float b : {0x1p-126f, 0x1p-126f * above, -0x1p-126f, 0x1p-63f, 0x1p127f, 0.0f, INFINITY, 0x1p-130f})
      for (float c : {0.0f, -0.0f, 0x1p-126f, -0x1p-126f, 0x1p127f, -0x1p100f, 0x1p-130f}) in.push_back({a, b, c});
  for (int e = -26; e < 0; ++e) {  // a little less than the smallest normal number
    in.push_back({std::ldexp(-1.0f, e), 0x1p-126f, 0x1p-126f});
    in.push_back({std::ldexp(-1.0f, -10), std::ldexp(above, e - 116), 0x1p-126f});
    in.push_back({std::ldexp(below, -20), std::ldexp(above, e - 100), -0x1p-126f});
  }
  for (int i = 0; i < 4000; ++i) {
    const int split = -(int)(next() % 100);
    const float b = short_number(-122 - split - (int)(next() % 22));
    in.push_back({short_number(split), b, whole_number(-126 + (int)(next() % 3))});
    in.push_back({whole_number(split), whole_number(-124 - split - (int)(next() % 3)), 0});
  }
  for (Case& x : in)  // quotients and reciprocals that are small
    if (next() % 4 == 0) x.a = whole_number(124 + (int)(next() % 4)), x.b = 0, x.c = whole_number((int)(next() % 4));
  const int n = (int)in.size();
  std::vector<Results> out(n);
  Case* d_in;
  Results* d_out;
  cudaMalloc(&d_in, n * sizeof(Case));
  cudaMalloc(&d_out, n * sizeof(Results));
  cudaMemcpy(d_in, in.data(), n * sizeof(Case), cudaMemcpyHostToDevice);
  compute<<<(n + 127) / 128, 128>>>(d_in, d_out, n);
  cudaMemcpy(out.data(), d_out, n * sizeof(Results), cudaMemcpyDeviceToHost);
  int wrong = 0, tiny = 0;
  const auto check = [&](const char* what, int i, float got, float right) {
    tiny += std::fabs(right) <= 0x1p-126f;
    if (same(got, right)) return;
    if (++wrong <= 8) printf("%s of %a, %a, %a is %a, not %a\n", what, in[i].a, in[i].b, in[i].c, got, right);
  };
  for (int i = 0; i < n; ++i) {
    const double a = flushed_input(in[i].a), b = flushed_input(in[i].b), c = flushed_input(in[i].c);
    const float sum = flushed(std::fma(a, b, c));
    check("product", i, out[i].product, flushed(a * b));
    check("sum", i, out[i].sum, sum);
    check("quotient", i, out[i].quotient, flushed(c / a));
    check("reciprocal", i, out[i].reciprocal, flushed(1 / a));
    check("saturated sum", i, out[i].saturated, sum > 0 ? std::fmin(sum, 1.0f) : 0.0f);
  }
  printf("%d results, %d tiny, %d wrong\n", 5 * n, tiny, wrong);
  return wrong != 0 || cudaGetLastError() != cudaSuccess;
}
