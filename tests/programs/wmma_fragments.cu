// Every kind of wmma fragment: loads in both layouts, products, element-wise work on the accumulator, stores.
#include <mma.h>

#include <cstdio>
#include <cstring>
#include <vector>

using namespace nvcuda;

static int failures = 0;

template <class T>
struct Memory {
  typedef T type;
};
template <>
struct Memory<wmma::precision::tf32> {
  typedef float type;
};

template <int M, int N, int K, class T, class La, class Lb, class Acc>
__global__ void product(const typename Memory<T>::type* a, const typename Memory<T>::type* b, const Acc* c, Acc* d,
                        Acc scale) {
  wmma::fragment<wmma::matrix_a, M, N, K, T, La> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, T, Lb> fb;
  wmma::fragment<wmma::accumulator, M, N, K, Acc> fc, fd;
  const bool a_row = sizeof(wmma::fragment<wmma::matrix_a, M, N, K, T, La>) && __is_same(La, wmma::row_major);
  const bool b_row = __is_same(Lb, wmma::row_major);
  wmma::load_matrix_sync(fa, a, a_row ? K : M);
  wmma::load_matrix_sync(fb, b, b_row ? N : K);
  wmma::load_matrix_sync(fc, c, N, wmma::mem_row_major);
  wmma::mma_sync(fd, fa, fb, fc);
  for (int i = 0; i < fd.num_elements; i++) fd.x[i] = fd.x[i] * scale;
  wmma::store_matrix_sync(d, fd, M, wmma::mem_col_major);
}

static float number(float x) { return x; }
static float number(__half x) { return __half2float(x); }
static float number(__nv_bfloat16 x) { return __bfloat162float(x); }
template <class T>
static T from(int x) {
  return (T)x;
}
template <>
__half from<__half>(int x) {
  return __float2half((float)x);
}
template <>
__nv_bfloat16 from<__nv_bfloat16>(int x) {
  return __float2bfloat16((float)x);
}

template <int M, int N, int K, class T, class La, class Lb, class Acc>
static void check(const char* name) {
  typedef typename Memory<T>::type E;
  std::vector<E> a(M * K), b(K * N);
  std::vector<Acc> c(M * N), d(M * N);
  std::vector<int> ia(M * K), ib(K * N), ic(M * N);
  const int low = (E)-1 < (E)0 ? -3 : 0;
  unsigned int state = 7;
  const auto next = [&] { return state = state * 1664525u + 1013904223u, (int)(state >> 29) % 6; };
  const bool a_row = __is_same(La, wmma::row_major), b_row = __is_same(Lb, wmma::row_major);
  for (int i = 0; i < M; i++)
    for (int k = 0; k < K; k++) a[a_row ? i * K + k : k * M + i] = from<E>(ia[i * K + k] = next() + low);
  for (int k = 0; k < K; k++)
    for (int j = 0; j < N; j++) b[b_row ? k * N + j : j * K + k] = from<E>(ib[k * N + j] = next() + low);
  for (int i = 0; i < M * N; i++) c[i] = from<Acc>(ic[i] = next());
  E *da, *db;
  Acc *dc, *dd;
  cudaMalloc(&da, a.size() * sizeof(E));
  cudaMalloc(&db, b.size() * sizeof(E));
  cudaMalloc(&dc, c.size() * sizeof(Acc));
  cudaMalloc(&dd, d.size() * sizeof(Acc));
  cudaMemcpy(da, a.data(), a.size() * sizeof(E), cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), b.size() * sizeof(E), cudaMemcpyHostToDevice);
  cudaMemcpy(dc, c.data(), c.size() * sizeof(Acc), cudaMemcpyHostToDevice);
  product<M, N, K, T, La, Lb, Acc><<<1, 32>>>(da, db, dc, dd, from<Acc>(2));
  cudaMemcpy(d.data(), dd, d.size() * sizeof(Acc), cudaMemcpyDeviceToHost);
  int wrong = cudaGetLastError() != cudaSuccess;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      int sum = ic[i * N + j];
      for (int k = 0; k < K; k++) sum += ia[i * K + k] * ib[k * N + j];
      wrong += number(d[j * M + i]) != (float)(2 * sum);
    }
  if (wrong) std::printf("%s: %d of %d elements are wrong\n", name, wrong, M * N);
  failures += wrong != 0;
  cudaFree(da);
  cudaFree(db);
  cudaFree(dc);
  cudaFree(dd);
}

#define LAYOUTS(M, N, K, T, Acc)                                                           \
  check<M, N, K, T, wmma::row_major, wmma::row_major, Acc>(#T " " #Acc " " #M " row row"); \
  check<M, N, K, T, wmma::row_major, wmma::col_major, Acc>(#T " " #Acc " " #M " row col"); \
  check<M, N, K, T, wmma::col_major, wmma::row_major, Acc>(#T " " #Acc " " #M " col row"); \
  check<M, N, K, T, wmma::col_major, wmma::col_major, Acc>(#T " " #Acc " " #M " col col");
#define SHAPES(T, Acc) LAYOUTS(16, 16, 16, T, Acc) LAYOUTS(32, 8, 16, T, Acc) LAYOUTS(8, 32, 16, T, Acc)

// Matrices of single bits and of 4-bit numbers.
__global__ void bits(const unsigned int* a, const unsigned int* b, int* exclusive, int* both) {
  namespace precision = wmma::experimental::precision;
  wmma::fragment<wmma::matrix_a, 8, 8, 128, precision::b1, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 128, precision::b1, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 128, int> zero, d;
  wmma::fill_fragment(zero, 0);
  wmma::load_matrix_sync(fa, a, 128);
  wmma::load_matrix_sync(fb, b, 128);
  wmma::bmma_sync(d, fa, fb, zero);
  wmma::store_matrix_sync(exclusive, d, 8, wmma::mem_row_major);
  wmma::bmma_sync(d, fa, fb, zero, wmma::experimental::bmmaBitOpAND);
  wmma::store_matrix_sync(both, d, 8, wmma::mem_row_major);
}
__global__ void nibbles(const unsigned int* a, const unsigned int* b, int* d) {
  namespace precision = wmma::experimental::precision;
  wmma::fragment<wmma::matrix_a, 8, 8, 32, precision::s4, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 32, precision::s4, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 32, int> fd;
  wmma::fill_fragment(fd, 5);
  wmma::load_matrix_sync(fa, a, 32);
  wmma::load_matrix_sync(fb, b, 32);
  wmma::mma_sync(fd, fa, fb, fd);
  wmma::store_matrix_sync(d, fd, 8, wmma::mem_row_major);
}

static void check_small() {
  unsigned int a[32], b[32];
  int exclusive[64], both[64], product[64], wrong = 0;
  for (int i = 0; i < 32; i++) a[i] = (unsigned int)i * 2654435761u, b[i] = (unsigned int)(i + 77) * 2246822519u;
  unsigned int *da, *db;
  int* dd;
  cudaMalloc(&da, sizeof a);
  cudaMalloc(&db, sizeof b);
  cudaMalloc(&dd, 3 * sizeof exclusive);
  cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice);
  bits<<<1, 32>>>(da, db, dd, dd + 64);
  nibbles<<<1, 32>>>(da, db, dd + 128);
  cudaMemcpy(exclusive, dd, sizeof exclusive, cudaMemcpyDeviceToHost);
  cudaMemcpy(both, dd + 64, sizeof both, cudaMemcpyDeviceToHost);
  cudaMemcpy(product, dd + 128, sizeof product, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) {
      int x = 0, y = 0, z = 5;
      for (int k = 0; k < 4; k++) {
        x += __builtin_popcount(a[i * 4 + k] ^ b[j * 4 + k]);
        y += __builtin_popcount(a[i * 4 + k] & b[j * 4 + k]);
      }
      for (int k = 0; k < 32; k++) {
        const int u = (int)(a[i * 4 + k / 8] >> (k % 8 * 4) << 28) >> 28,
                  v = (int)(b[j * 4 + k / 8] >> (k % 8 * 4) << 28) >> 28;
        z += u * v;
      }
      wrong += exclusive[i * 8 + j] != x || both[i * 8 + j] != y || product[i * 8 + j] != z;
    }
  if (wrong) std::printf("bits and nibbles: %d elements are wrong\n", wrong);
  failures += wrong != 0;
}

int main() {
  SHAPES(__half, float)
  SHAPES(__half, __half)
  SHAPES(__nv_bfloat16, float)
  SHAPES(unsigned char, int)
  SHAPES(signed char, int)
  LAYOUTS(16, 16, 8, wmma::precision::tf32, float)
  LAYOUTS(8, 8, 4, double, double)
  check_small();
  std::printf("%s\n", failures ? "FAIL" : "PASS");
  return failures != 0;
}
