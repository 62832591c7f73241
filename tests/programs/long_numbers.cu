// Sums, differences and products of numbers of four words, with the carry flag between the words.
#include <cstdio>

typedef unsigned __int128 Long;
struct Words {
  unsigned w[4];
};

__device__ Words add(Words a, Words b) {
  Words r;
  asm("add.cc.u32 %0, %4, %8;\n\taddc.cc.u32 %1, %5, %9;\n\taddc.cc.u32 %2, %6, %10;\n\taddc.u32 %3, %7, %11;"
      : "=r"(r.w[0]), "=r"(r.w[1]), "=r"(r.w[2]), "=r"(r.w[3])
      : "r"(a.w[0]), "r"(a.w[1]), "r"(a.w[2]), "r"(a.w[3]), "r"(b.w[0]), "r"(b.w[1]), "r"(b.w[2]), "r"(b.w[3]));
  return r;
}
__device__ Words subtract(Words a, Words b) {
  Words r;
  asm("sub.cc.u32 %0, %4, %8;\n\tsubc.cc.u32 %1, %5, %9;\n\tsubc.cc.u32 %2, %6, %10;\n\tsubc.u32 %3, %7, %11;"
      : "=r"(r.w[0]), "=r"(r.w[1]), "=r"(r.w[2]), "=r"(r.w[3])
      : "r"(a.w[0]), "r"(a.w[1]), "r"(a.w[2]), "r"(a.w[3]), "r"(b.w[0]), "r"(b.w[1]), "r"(b.w[2]), "r"(b.w[3]));
  return r;
}
// a times one word, and c.
__device__ Words multiply(Words a, unsigned b, Words c) {
  Words r;
  asm("mad.lo.cc.u32 %0, %4, %8, %9;\n\tmadc.lo.cc.u32 %1, %5, %8, %10;\n\tmadc.lo.cc.u32 %2, %6, %8, %11;\n\tmadc.lo.u32 %3, %7, %8, %12;\n\t"
      "mad.hi.cc.u32 %1, %4, %8, %1;\n\tmadc.hi.cc.u32 %2, %5, %8, %2;\n\tmadc.hi.u32 %3, %6, %8, %3;"
      : "=&r"(r.w[0]), "=&r"(r.w[1]), "=&r"(r.w[2]), "=&r"(r.w[3])
      : "r"(a.w[0]), "r"(a.w[1]), "r"(a.w[2]), "r"(a.w[3]), "r"(b), "r"(c.w[0]), "r"(c.w[1]), "r"(c.w[2]), "r"(c.w[3]));
  return r;
}
__device__ unsigned long long add_twice(unsigned long long a, unsigned long long b, unsigned long long* high) {
  unsigned long long low;
  asm("add.cc.u64 %0, %2, %3;\n\taddc.u64 %1, 0, 0;" : "=&l"(low), "=l"(*high) : "l"(a), "l"(b));
  return low;
}

struct Results {
  Words sum, difference, product, uniform;
  unsigned long long low, high;
};

__global__ void compute(const Words* a, const Words* b, Results* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Results r = {};
  if (i % 3 != 1) r.sum = add(a[i], b[i]);  // the other lanes keep what they have
  r.difference = subtract(a[i], b[i]);
  r.product = multiply(a[i], b[i].w[0], b[i]);
  r.uniform = add(a[blockIdx.x], b[blockIdx.x]);  // the same for all threads
  r.low = add_twice((unsigned long long)a[i].w[1] << 32 | a[i].w[0], (unsigned long long)b[i].w[1] << 32 | b[i].w[0], &r.high);
  out[i] = r;
}

Long number(Words w) { return (Long)w.w[3] << 96 | (Long)w.w[2] << 64 | (Long)w.w[1] << 32 | w.w[0]; }

int main() {
  const int n = 3000;
  Words *a, *b;
  Results* out;
  cudaMallocManaged(&a, n * sizeof *a);
  cudaMallocManaged(&b, n * sizeof *b);
  cudaMallocManaged(&out, n * sizeof *out);
  unsigned state = 3;
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 4; ++k) {
      const auto word = [&] {
        state = state * 1664525u + 1013904223u;
        return state >> 28 < 4 ? 0u : state >> 28 > 11 ? ~0u : state;  // so that carries run through
      };
      a[i].w[k] = word();
      b[i].w[k] = word();
    }
  compute<<<(n + 255) / 256, 256>>>(a, b, out, n);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    const Long x = number(a[i]), y = number(b[i]), low = (Long)(unsigned long long)x + (unsigned long long)y;
    const bool right = number(out[i].sum) == (i % 3 != 1 ? x + y : 0) && number(out[i].difference) == x - y &&
                       number(out[i].product) == x * b[i].w[0] + y && number(out[i].uniform) == number(a[i / 256]) + number(b[i / 256]) &&
                       out[i].low == (unsigned long long)low && out[i].high == (unsigned long long)(low >> 64);
    if (!right && ++wrong < 5) std::printf("wrong at %d\n", i);
  }
  std::printf(wrong ? "%d wrong\n" : "all right\n", wrong);
  return wrong != 0;
}
