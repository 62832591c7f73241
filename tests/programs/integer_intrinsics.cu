// Integer intrinsics: population counts, leading zeros, bit reversal, byte permutes, high products, 24-bit products,
// saturation, averages, funnel shifts, dot products, byte-wise SIMD, and division and shifts of every width.
#include <climits>
#include <cstdint>
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

#define RESULTS 40

__global__ void k(const unsigned* xs, const unsigned* ys, unsigned long long* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned x = xs[i], y = ys[i];
  int sx = (int)x, sy = (int)y;
  unsigned long long xl = ((unsigned long long)x << 32) | y, yl = ((unsigned long long)y << 17) ^ x;
  unsigned long long* o = out + (size_t)i * RESULTS;
  o[0] = __popc(x), o[1] = __popcll(xl), o[2] = __clz(sx), o[3] = __clzll((long long)xl), o[4] = __ffs(sx);
  o[5] = __ffsll((long long)xl), o[6] = __brev(x), o[7] = __brevll(xl), o[8] = __byte_perm(x, y, 0x5140);
  o[9] = __umulhi(x, y), o[10] = (unsigned)__mulhi(sx, sy), o[11] = __umul64hi(xl, yl),
  o[12] = (unsigned long long)__mul64hi((long long)xl, (long long)yl);
  o[13] = (unsigned)__mul24(sx, sy), o[14] = __umul24(x, y), o[15] = __usad(x, y, 7u), o[16] = __sad(sx, sy, 9u);
  o[17] = (unsigned)__hadd(sx, sy), o[18] = __uhadd(x, y), o[19] = (unsigned)__rhadd(sx, sy), o[20] = __urhadd(x, y);
  o[21] = __funnelshift_l(x, y, 13), o[22] = __funnelshift_r(x, y, y), o[23] = __funnelshift_lc(x, y, 40);
  o[24] = (unsigned)__dp4a(sx, sy, 5), o[25] = __dp4a(x, y, 5u), o[26] = __vadd4(x, y), o[27] = __vabsdiffu4(x, y);
  o[28] = __vcmpgtu4(x, y), o[29] = __vmaxs2(x, y), o[30] = __vsubss2(x, y);
  o[31] = y ? x / y : 0, o[32] = y ? x % y : 0, o[33] = (unsigned)(sy && !(sx == INT_MIN && sy == -1) ? sx / sy : 0);
  o[34] = (unsigned)(sy && !(sx == INT_MIN && sy == -1) ? sx % sy : 0), o[35] = yl ? xl / yl : 0,
  o[36] = yl ? xl % yl : 0;
  o[37] = (unsigned)(sx >> (y & 31)), o[38] = xl >> (y & 63),
  o[39] = (unsigned short)((unsigned short)x * 3u / 7u) + (signed char)y;
}

static unsigned bytes(unsigned x, unsigned y, unsigned (*f)(unsigned, unsigned)) {
  unsigned r = 0;
  for (int b = 0; b < 32; b += 8) r |= (f((x >> b) & 255, (y >> b) & 255) & 255) << b;
  return r;
}

int main() {
  std::vector<unsigned> x, y;
  const unsigned edge[] = {0,          1,          2,          7,  0x7fffffff, 0x80000000, 0x80000001,
                           0xffffffff, 0x00ff00ff, 0x12345678, 31, 32,         33};
  for (unsigned a : edge)
    for (unsigned b : edge) x.push_back(a), y.push_back(b);
  unsigned s = 99;
  while (x.size() < 1024) {
    s = s * 1664525u + 1013904223u;
    x.push_back(s ^ (s >> 15));
    s = s * 1664525u + 1013904223u;
    y.push_back((s ^ (s >> 13)) >> (s >> 28));
  }
  int n = (int)x.size(), bad = 0;
  unsigned *dx, *dy;
  unsigned long long* d_out;
  std::vector<unsigned long long> out((size_t)n * RESULTS);
  CHECK(cudaMalloc(&dx, n * 4));
  CHECK(cudaMalloc(&dy, n * 4));
  CHECK(cudaMalloc(&d_out, out.size() * 8));
  CHECK(cudaMemcpy(dx, x.data(), n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(dy, y.data(), n * 4, cudaMemcpyHostToDevice));
  k<<<(n + 127) / 128, 128>>>(dx, dy, d_out, n);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(out.data(), d_out, out.size() * 8, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; i++) {
    unsigned a = x[i], b = y[i];
    int sa = (int)a, sb = (int)b;
    unsigned long long al = ((unsigned long long)a << 32) | b, bl = ((unsigned long long)b << 17) ^ a, w[RESULTS];
    w[0] = __builtin_popcount(a), w[1] = __builtin_popcountll(al), w[2] = a ? __builtin_clz(a) : 32,
    w[3] = al ? __builtin_clzll(al) : 64;
    w[4] = __builtin_ffs(sa), w[5] = __builtin_ffsll((long long)al), w[6] = 0, w[7] = 0;
    for (int k = 0; k < 32; k++) w[6] |= (unsigned long long)((a >> k) & 1) << (31 - k);
    for (int k = 0; k < 64; k++) w[7] |= ((al >> k) & 1) << (63 - k);
    w[8] = (a & 0xff) | (b & 0xff) << 8 | (a & 0xff00) << 8 | (b & 0xff00) << 16;
    w[9] = ((unsigned long long)a * b) >> 32, w[10] = (unsigned)(((long long)sa * sb) >> 32);
    w[11] = (unsigned long long)(((unsigned __int128)al * bl) >> 64),
    w[12] = (unsigned long long)(((__int128)(long long)al * (long long)bl) >> 64);
    long long s24a = (long long)(int)(a << 8) >> 8, s24b = (long long)(int)(b << 8) >> 8;
    w[13] = (unsigned)(s24a * s24b), w[14] = (unsigned)((unsigned long long)(a & 0xffffff) * (b & 0xffffff));
    w[15] = (a > b ? a - b : b - a) + 7u,
    w[16] = (unsigned)((sa > sb ? (unsigned)sa - (unsigned)sb : (unsigned)sb - (unsigned)sa) + 9u);
    w[17] = (unsigned)(((long long)sa + sb) >> 1), w[18] = (unsigned)(((unsigned long long)a + b) >> 1);
    w[19] = (unsigned)(((long long)sa + sb + 1) >> 1), w[20] = (unsigned)(((unsigned long long)a + b + 1) >> 1);
    unsigned long long yx = ((unsigned long long)b << 32) | a;
    w[21] = (unsigned)((yx << 13) >> 32), w[22] = (unsigned)(yx >> (b & 31)), w[23] = a;
    int dot = 5;
    unsigned udot = 5;
    for (int k = 0; k < 32; k += 8)
      dot += (int)(int8_t)(a >> k) * (int8_t)(b >> k), udot += ((a >> k) & 255) * ((b >> k) & 255);
    w[24] = (unsigned)dot, w[25] = udot;
    w[26] = bytes(a, b, [](unsigned p, unsigned q) { return p + q; });
    w[27] = bytes(a, b, [](unsigned p, unsigned q) { return p > q ? p - q : q - p; });
    w[28] = bytes(a, b, [](unsigned p, unsigned q) { return p > q ? 255u : 0u; });
    w[29] = w[30] = 0;
    for (int k = 0; k < 32; k += 16) {
      int p = (int16_t)(a >> k), q = (int16_t)(b >> k), d = p - q;
      w[29] |= (unsigned long long)(uint16_t)(p > q ? p : q) << k;
      w[30] |= (unsigned long long)(uint16_t)(d > 32767 ? 32767 : d < -32768 ? -32768 : d) << k;
    }
    bool safe = sb && !(sa == INT_MIN && sb == -1);
    w[31] = b ? a / b : 0, w[32] = b ? a % b : 0, w[33] = (unsigned)(safe ? sa / sb : 0),
    w[34] = (unsigned)(safe ? sa % sb : 0);
    w[35] = bl ? al / bl : 0, w[36] = bl ? al % bl : 0, w[37] = (unsigned)(sa >> (b & 31)), w[38] = al >> (b & 63);
    w[39] = (unsigned long long)(long long)((unsigned short)((unsigned short)a * 3u / 7u) + (signed char)b);
    for (int r = 0; r < RESULTS; r++) {
      if (out[(size_t)i * RESULTS + r] != w[r] && bad++ < 10)
        printf("  result %d of %08x, %08x: %llx, not %llx\n", r, a, b, out[(size_t)i * RESULTS + r], w[r]);
    }
  }
  printf("integer_intrinsics: %d pairs, %d wrong, %s\n", n, bad, bad ? "FAILED" : "PASSED");
  return bad != 0;
}
