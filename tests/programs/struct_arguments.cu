// Kernel arguments of every shape: odd sizes, nested, over-aligned, arrays inside structs, unions, bit-fields, many
// scalars, references through pointers, a 4 KiB struct; struct copies, comparison, return by value. Kernels that put
// pointers to shared memory into their arguments.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

struct Odd3 {
  char a, b, c;
};
struct Odd5 {
  char x[5];
};
struct Mixed {
  char c;
  double d;
  short s;
  float f;
  char tail;
};
struct Nested {
  Odd3 o;
  Mixed m;
  int2 p;
  struct {
    short q;
    long long r;
  } inner;
};
struct alignas(32) Wide {
  float v[6];
};
struct Empty {};
#pragma pack(push, 1)
struct Packed {
  char c;
  int i;
  short s;
  double d;
};
#pragma pack(pop)
struct Big {
  int data[1000];
};
union Bits {
  float f;
  unsigned u;
  unsigned char b[4];
};
struct Fields {
  unsigned a : 3, b : 7;
  int c : 5;
  unsigned long long d : 40;
  bool e : 1;
};

struct Out {
  long long sums[12];
  Nested copy;
  Packed packed;
  Fields fields;
  unsigned char bytes[4];
  unsigned u;
};

__device__ Mixed make(int i) {
  Mixed m = {};
  m.c = (char)i, m.d = i * 0.5, m.s = (short)(i * 3), m.f = i * 0.25f, m.tail = 'z';
  return m;
}

__global__ void take(Out* out, char c, Odd3 o3, short s, Odd5 o5, double d, Mixed m, bool flag, Nested n, Wide w, Empty,
                     Packed p, Bits bits, Fields f, signed char sc, unsigned long long big) {
  out->sums[0] = c + o3.a + o3.b + o3.c;
  out->sums[1] = s + o5.x[0] + o5.x[4];
  out->sums[2] = (long long)(d * 4);
  out->sums[3] = m.c + (long long)m.d + m.s + (long long)m.f + m.tail;
  out->sums[4] = flag ? 77 : 0;
  out->sums[5] = n.o.b + (long long)n.m.d + n.p.x * n.p.y + n.inner.q + n.inner.r;
  out->sums[6] = (long long)(w.v[0] + w.v[5]) + (long long)((size_t)&w % 32);
  out->sums[7] = p.c + p.i + p.s + (long long)p.d;
  out->sums[8] = sc;
  out->sums[9] = (long long)(big >> 32);
  out->sums[10] = f.a * 1000000 + f.b * 1000 + f.c + (f.d >> 36) + f.e;
  Mixed made = make(threadIdx.x + 10);
  out->sums[11] = made.c + (long long)made.d + made.s + (long long)made.f + made.tail;
  out->copy = n;
  out->packed = p;
  f.a += 1, f.c = -16, f.d = f.d * 3, f.e = !f.e;
  out->fields = f;
  bits.b[3] ^= 0x80;
  for (int i = 0; i < 4; i++) out->bytes[i] = bits.b[i];
  out->u = bits.u;
}

__global__ void sum_big(Big big, int* out) {
  int sum = 0;
  for (int i = threadIdx.x; i < 1000; i += blockDim.x) sum += big.data[i];  // dynamic index into a parameter
  atomicAdd(out, sum);
}

__global__ void many(int a, int b, int c, int d, int e, int f, int g, int h, float i, float j, double k, char l,
                     short m, long n, unsigned o, unsigned char p, int* out) {
  *out = a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7 + h * 8 + (int)i + (int)j + (int)k + l + m + (int)n +
         (int)o + p;
}

struct Tables {
  int* table[4];
};
__global__ void choose_table(Tables t, int shared, int chosen, int* out) {
  __shared__ int own[32];
  own[threadIdx.x] = threadIdx.x + 100;
  t.table[shared] = own;
  __syncthreads();
  out[threadIdx.x] = t.table[chosen][threadIdx.x];
}

struct Coder {
  int scale;
  const float *low, *high;
  float* table;
  __device__ void use(float* t) { table = t; }
};
__global__ void sum_table(Coder coder, float* out, int n) {
  __shared__ float table[64];
  table[threadIdx.x] = threadIdx.x;
  coder.use(table);
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < n; i++) sum += coder.table[i] * coder.scale + coder.low[i];
  out[threadIdx.x] = sum;
}

struct Cursor {
  const float* at;
  float sum;
};
__device__ __noinline__ void aim(Cursor& c, const float* at) { c.at = at; }
__global__ void follow(Cursor c, float* out) {
  __shared__ float values[33];
  values[threadIdx.x + 1] = threadIdx.x * 2;
  float first = *c.at;
  aim(c, values + 1);
  __syncthreads();
  for (int i = 0; i < 32; i++) c.sum += c.at[i];
  out[threadIdx.x] = c.sum + first;
}

// The number of wrong results.
int change_arguments() {
  int bad = 0;
  float* floats;
  CHECK(cudaMallocManaged(&floats, 4096));
  int* ints = (int*)floats + 512;
  for (int i = 0; i < 512; i++) floats[i] = 1, ints[i] = -i;
  for (int chosen = 0; chosen < 4; chosen++) {
    choose_table<<<1, 32>>>({{ints, ints + 1, ints + 2, ints + 3}}, 2, chosen, ints + 256);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++) bad += ints[256 + i] != (chosen == 2 ? i + 100 : -i - chosen);
  }
  sum_table<<<1, 64>>>({2, floats, floats, nullptr}, floats + 100, 10);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; i++) bad += floats[100 + i] != 2 * 45 + 10;
  follow<<<1, 32>>>({floats, 3}, floats + 200);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; i++) bad += floats[200 + i] != 1 + 3 + 2 * 496;
  CHECK(cudaFree(floats));
  return bad;
}

int main() {
  Out out, *d_out;
  CHECK(cudaMalloc(&d_out, sizeof out));
  CHECK(cudaMemset(d_out, 0, sizeof out));
  Odd3 o3 = {1, 2, 3};
  Odd5 o5 = {{4, 5, 6, 7, 8}};
  Mixed m = {5, 1e6, -7, 2.5f, 9};
  Nested n = {o3, m, {6, 7}, {11, 1LL << 35}};
  Wide w = {{1, 2, 3, 4, 5, 60}};
  Packed p = {1, 100000, -2, 3.0};
  Bits bits;
  bits.f = 1.5f;
  Fields f = {};
  f.a = 5, f.b = 99, f.c = -3, f.d = (1ull << 39) + 12345, f.e = true;
  static Big big;
  take<<<1, 1>>>(d_out, 'A', o3, -300, o5, 2.75, m, true, n, w, Empty(), p, bits, f, -5, 0xABCD00000001ull);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&out, d_out, sizeof out, cudaMemcpyDeviceToHost));
  const long long want[12] = {65 + 6,
                              -300 + 12,
                              11,
                              5 + 1000000 - 7 + 2 + 9,
                              77,
                              2 + 1000000 + 42 + 11 + (1LL << 35),
                              61,
                              1 + 100000 - 2 + 3,
                              -5,
                              0xABCD,
                              5099000 - 3 + 8 + 1,
                              10 + 5 + 30 + 2 + 'z'};
  int bad = 0;
  for (int i = 0; i < 12; i++) {
    if (out.sums[i] != want[i]) printf("  sum %d is %lld, not %lld\n", i, out.sums[i], want[i]), bad++;
  }
  bad += memcmp(&out.packed, &p, sizeof p) != 0 || out.copy.inner.r != 1LL << 35 || out.copy.m.d != 1e6 ||
         out.copy.o.c != 3;
  bad += out.fields.a != 6 || out.fields.b != 99 || out.fields.c != -16 || out.fields.e;
  bad += out.fields.d != ((((1ull << 39) + 12345) * 3) & ((1ull << 40) - 1));
  bad += out.u != 0xBFC00000u || out.bytes[3] != 0xBF || out.bytes[2] != 0xC0;

  int sum = 0, expected = 0, *d_sum;
  for (int i = 0; i < 1000; i++) expected += big.data[i] = i * 3 - 500;
  CHECK(cudaMalloc(&d_sum, sizeof(int)));
  CHECK(cudaMemset(d_sum, 0, sizeof(int)));
  sum_big<<<1, 64>>>(big, d_sum);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&sum, d_sum, sizeof(int), cudaMemcpyDeviceToHost));
  bad += sum != expected;
  many<<<1, 1>>>(1, 2, 3, 4, 5, 6, 7, 8, 9.9f, 10.1f, 11.5, 12, 13, 14, 15, 16, d_sum);
  CHECK(cudaMemcpy(&sum, d_sum, sizeof(int), cudaMemcpyDeviceToHost));
  bad += sum != 204 + 9 + 10 + 11 + 12 + 13 + 14 + 15 + 16;
  bad += change_arguments();
  printf("struct_arguments: %d, %s\n", expected, bad ? "FAILED" : "PASSED");
  return bad != 0;
}
