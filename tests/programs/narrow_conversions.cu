// Floating-point numbers to integers: those out of range saturate, also where the compiler knows them; bytes and shorts keep
// the low bits of the word that they saturate to.
#include <cuda_bf16.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

struct Narrow {
  signed char c;
  unsigned char uc;
  short s;
  unsigned short us;
};

template <class T>
__host__ __device__ Narrow narrowed(T to_int, T to_unsigned) {
  return {static_cast<signed char>(to_int), static_cast<unsigned char>(to_unsigned), static_cast<short>(to_int), static_cast<unsigned short>(to_unsigned)};
}

template <class T>
__global__ void convert(const T* in, Narrow* out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = narrowed(in[i], in[i]);
}

// Four in a row, which a compiler may convert together.
__global__ void row(const float* in, unsigned char* out) {
  const float4 x = *reinterpret_cast<const float4*>(in + 4 * threadIdx.x);
  reinterpret_cast<uchar4*>(out)[threadIdx.x] = make_uchar4(x.x, x.y, x.z, x.w);
}

// The same numbers once known to the compiler and once not.
struct All {
  long long i[18];
};
template <class T>
__device__ __forceinline__ All all(T x, int least) {
  const float f = static_cast<float>(x);
  const double d = x;
  return {{static_cast<int>(x), static_cast<unsigned>(x), static_cast<long long>(x), static_cast<long long>(static_cast<unsigned long long>(x)),
           static_cast<unsigned char>(x), static_cast<short>(x), __float2int_rz(f), __float2uint_rz(f), __float2ll_rz(f), static_cast<long long>(__float2ull_rz(f)),
           __double2int_rz(d), __double2uint_rz(d), __double2ll_rz(d), lroundf(f), llround(d), abs(least),
           __bfloat162int_rz(__float2bfloat16(f)), __bfloat162uchar_rz(__float2bfloat16(f))}};
}
template <class T>
__device__ bool same(T known, const T* loaded, int least) {
  const All a = all(known, -2147483647 - 1), b = all(*loaded, least);
  bool right = true;
  for (int k = 0; k < 18; ++k) right = right && a.i[k] == b.i[k];
  return right;
}
__global__ void known(const float* f, const double* d, int least, int* wrong) {
  *wrong = !same(INFINITY, f, least) + !same(-INFINITY, f + 1, least) + !same(3e9f, f + 2, least) + !same(-1.5f, f + 3, least) + !same(1e30f, f + 4, least) +
           !same(70000.0f, f + 5, least) + !same(-1e12, d, least) + !same(1.8e19, d + 1, least) + !same(-9.3e18, d + 2, least) + !same(300.75, d + 3, least);
}
int check_known() {
  const float f[] = {INFINITY, -INFINITY, 3e9f, -1.5f, 1e30f, 70000};
  const double d[] = {-1e12, 1.8e19, -9.3e18, 300.75};
  float* fs;
  double* ds;
  int *out, wrong = -1;
  cudaMalloc(&fs, sizeof f), cudaMalloc(&ds, sizeof d), cudaMalloc(&out, sizeof wrong);
  cudaMemcpy(fs, f, sizeof f, cudaMemcpyHostToDevice), cudaMemcpy(ds, d, sizeof d, cudaMemcpyHostToDevice);
  cudaMemset(out, -1, sizeof wrong);
  known<<<1, 1>>>(fs, ds, -2147483647 - 1, out);
  cudaMemcpy(&wrong, out, sizeof wrong, cudaMemcpyDeviceToHost);
  if (wrong) printf("%d numbers that the compiler knows are converted otherwise\n", wrong);
  return wrong != 0;
}

template <class T>
int check(const std::vector<double>& numbers, const char* name) {
  const int n = static_cast<int>(numbers.size());
  std::vector<T> in(numbers.begin(), numbers.end());
  std::vector<Narrow> out(n);
  T* device_in;
  Narrow* device_out;
  cudaMalloc(&device_in, n * sizeof(T)), cudaMalloc(&device_out, n * sizeof(Narrow));
  cudaMemcpy(device_in, in.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  convert<<<1, 64>>>(device_in, device_out, n);
  cudaMemcpy(out.data(), device_out, n * sizeof(Narrow), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    const double x = in[i];
    // Not a number is 0 for a float and the lowest number for a double, whose low bits are 0 as well.
    const int to_int = std::isnan(x) ? 0 : x >= 2147483647.0 ? 0x7fffffff : x <= -2147483648.0 ? -0x7fffffff - 1 : static_cast<int>(x);
    const unsigned to_unsigned = std::isnan(x) || x <= 0 ? 0 : x >= 4294967295.0 ? ~0u : static_cast<unsigned>(x);
    const Narrow want = {static_cast<signed char>(to_int), static_cast<unsigned char>(to_unsigned), static_cast<short>(to_int), static_cast<unsigned short>(to_unsigned)};
    if (!memcmp(&want, &out[i], sizeof want)) continue;
    printf("%s %g: %d %d %d %d, not %d %d %d %d\n", name, x, out[i].c, out[i].uc, out[i].s, out[i].us, want.c, want.uc, want.s, want.us);
    ++wrong;
  }
  return wrong;
}

int main() {
  std::vector<double> numbers = {0.0, -0.0, NAN, INFINITY, -INFINITY};
  for (double edge : {1.0, 127.0, 128.0, 255.0, 256.0, 300.0, 32767.0, 32768.0, 40000.0, 65535.0, 65536.0, 70000.0, 1e6, 2147483000.0, 2147483648.0, 3e9, 4294967040.0, 4294967296.0, 1e10, 1e30})
    for (double d : {-0.75, 0.0, 0.75}) numbers.push_back(edge + d), numbers.push_back(-edge + d);
  int wrong = check<float>(numbers, "float") + check<double>(numbers, "double");
  wrong += check_known();
  const float four[] = {300, 65537, -7, 1e10f};
  float* in;
  unsigned char *out, bytes[4];
  cudaMalloc(&in, sizeof four), cudaMalloc(&out, 4);
  cudaMemcpy(in, four, sizeof four, cudaMemcpyHostToDevice);
  row<<<1, 1>>>(in, out);
  cudaMemcpy(bytes, out, 4, cudaMemcpyDeviceToHost);
  if (bytes[0] != 44 || bytes[1] != 1 || bytes[2] != 0 || bytes[3] != 255) printf("a row: %d %d %d %d\n", bytes[0], bytes[1], bytes[2], bytes[3]), ++wrong;
  printf("narrow_conversions: %s\n", wrong ? "FAILED" : "PASSED");
  return wrong != 0;
}
