// Templates on the device: classes, member functions, partial specialisation, variadics, SFINAE, constexpr tables,
// static members, templated shared memory, operators, and kernels chosen through function-pointer tables on the host.
#include <cstdio>
#include <cstdlib>
#include <type_traits>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t status_ = (call);                                                  \
    if (status_ != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_)); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (0)

template <typename T, int N>
struct Vec {
  T v[N];
  __host__ __device__ Vec() {
    for (int i = 0; i < N; i++) v[i] = T(0);
  }
  template <typename... A>
  __host__ __device__ explicit Vec(T first, A... rest) : v{first, T(rest)...} {
    static_assert(sizeof...(A) == N - 1, "one value per component");
  }
  __host__ __device__ T& operator[](int i) { return v[i]; }
  __host__ __device__ const T& operator[](int i) const { return v[i]; }
  __host__ __device__ Vec operator+(const Vec& o) const {
    Vec r;
    for (int i = 0; i < N; i++) r[i] = v[i] + o[i];
    return r;
  }
  __host__ __device__ Vec& operator*=(T s) {
    for (T& x : v) x *= s;
    return *this;
  }
  __host__ __device__ friend T dot(const Vec& a, const Vec& b) {
    T s = 0;
    for (int i = 0; i < N; i++) s += a[i] * b[i];
    return s;
  }
  __host__ __device__ explicit operator bool() const { return dot(*this, *this) != T(0); }
};

template <typename T>
struct Shared {
  __device__ T* get();
};
template <>
struct Shared<int> {
  __device__ int* get() {
    extern __shared__ int s_int[];
    return s_int;
  }
};
template <>
struct Shared<double> {
  __device__ double* get() {
    extern __shared__ double s_double[];
    return s_double;
  }
};

template <typename T>
__global__ void reverse(const T* in, T* out) {
  Shared<T> shared;
  T* s = shared.get();
  s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

template <typename T>
__device__ typename std::enable_if<std::is_integral<T>::value, int>::type kind(T) {
  return 1;
}
template <typename T>
__device__ typename std::enable_if<std::is_floating_point<T>::value, int>::type kind(T) {
  return 2;
}
template <typename T>
__device__ int kind(T*) {
  return 3;
}

template <int N>
struct Factorial {
  static constexpr unsigned long long value = N * Factorial<N - 1>::value;
};
template <>
struct Factorial<0> {
  static constexpr unsigned long long value = 1;
};

template <typename... T>
__device__ double sum_all(T... t) {
  double s = 0;
  ((s += (double)t), ...);
  return s;
}

namespace outer {
namespace inner {
enum class Colour : unsigned char { Red = 1, Green = 2, Blue = 4 };
__host__ __device__ constexpr Colour operator|(Colour a, Colour b) {
  return Colour((unsigned char)a | (unsigned char)b);
}
}  // namespace inner
}  // namespace outer
using namespace outer::inner;

struct Table {
  static constexpr int kSize = 4;
  static __device__ __host__ int square(int i) {
    constexpr int squares[kSize] = {0, 1, 4, 9};
    return squares[i & 3];
  }
};

struct Results {
  float dots;
  int kinds[3], colour, squares, truth, sizes;
  unsigned long long fact;
  double sum;
  Vec<double, 3> vec;
};

__global__ void everything(Results* r, Vec<float, 4> a, Vec<float, 4> b, int two) {
  Vec<float, 4> c = a + b;
  c *= 2.0f;
  r->dots = dot(a, b) + c[3];
  r->kinds[0] = kind(two);
  r->kinds[1] = kind(1.0f * two);
  r->kinds[2] = kind(r);
  r->colour = (int)(Colour::Red | Colour::Blue);
  r->squares = Table::square(two) + Table::square(3);
  r->truth = bool(a) ? (bool(Vec<float, 4>()) ? 3 : 1) : 2;
  r->fact = Factorial<20>::value;
  r->sum = sum_all(1, 2.5f, 3.25, (short)two, 'a');
  r->vec = Vec<double, 3>(1.0, 2, 3.5f);
  r->sizes = (int)sizeof(Vec<double, 3>) + Table::kSize;
  auto lambda = [&](auto x) { return x + two; };
  r->sizes += lambda(1) + (int)lambda(0.5);
}

template <int OP>
__global__ void apply(const int* in, int* out, int n) {
  int i = threadIdx.x;
  if (i < n) {
    if constexpr (OP == 0)
      out[i] = in[i] + 1;
    else if constexpr (OP == 1)
      out[i] = in[i] * in[i];
    else
      out[i] = -in[i];
  }
}

template <typename T>
int check_reverse() {
  T in[64], out[64], *d;
  for (int i = 0; i < 64; i++) in[i] = T(i * 3);
  CHECK(cudaMalloc(&d, 2 * sizeof in));
  CHECK(cudaMemcpy(d, in, sizeof in, cudaMemcpyHostToDevice));
  reverse<T><<<1, 64, 64 * sizeof(T)>>>(d, d + 64);
  CHECK(cudaMemcpy(out, d + 64, sizeof out, cudaMemcpyDeviceToHost));
  int bad = 0;
  for (int i = 0; i < 64; i++) bad += out[i] != in[63 - i];
  return bad;
}

int main() {
  Results r, *d_r;
  CHECK(cudaMalloc(&d_r, sizeof r));
  everything<<<1, 1>>>(d_r, Vec<float, 4>(1, 2, 3, 4), Vec<float, 4>(5, 6, 7, 8), 2);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy((void*)&r, d_r, sizeof r, cudaMemcpyDeviceToHost));
  int bad = r.dots != 70.0f + 24.0f || r.kinds[0] != 1 || r.kinds[1] != 2 || r.kinds[2] != 3 || r.colour != 5;
  bad += r.squares != 13 || r.truth != 1 || r.fact != 2432902008176640000ull || r.sum != 1 + 2.5 + 3.25 + 2 + 97;
  bad += r.vec[0] != 1 || r.vec[1] != 2 || r.vec[2] != 3.5 || r.sizes != 24 + 4 + 3 + 2;
  bad += check_reverse<int>() + check_reverse<double>();

  int in[32], out[32], *d;
  for (int i = 0; i < 32; i++) in[i] = i - 5;
  CHECK(cudaMalloc(&d, 2 * sizeof in));
  CHECK(cudaMemcpy(d, in, sizeof in, cudaMemcpyHostToDevice));
  void (*table[])(const int*, int*, int) = {apply<0>, apply<1>, apply<2>};
  for (int op = 0; op < 3; op++) {
    table[op]<<<1, 32>>>(d, d + 32, 32);
    CHECK(cudaMemcpy(out, d + 32, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) bad += out[i] != (op == 0 ? in[i] + 1 : op == 1 ? in[i] * in[i] : -in[i]);
  }
  printf("templates: dot %.0f, 20! = %llu, %s\n", r.dots, r.fact, bad ? "FAILED" : "PASSED");
  return bad != 0;
}
