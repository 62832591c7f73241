// Every function whose result is exact, on 256 awkward arguments each: a digest of the results against the one recorded
// on an H200 with the vendor's compiler. Functions that host code has too are checked there as well.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

constexpr int kCount = 256;

struct Random {
  uint64_t state;
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
};

// How the bits of a type are to be read: as integers, or as floating-point numbers with an exponent of that many bits.
template <class T>
struct Format {
  static constexpr int lane = sizeof(T), exponent = 0;
};
template <>
struct Format<float> {
  static constexpr int lane = 4, exponent = 8;
};
template <>
struct Format<double> {
  static constexpr int lane = 8, exponent = 11;
};
template <>
struct Format<float2> {
  static constexpr int lane = 4, exponent = 8;
};
template <>
struct Format<__half> {
  static constexpr int lane = 2, exponent = 5;
};
template <>
struct Format<__half2> {
  static constexpr int lane = 2, exponent = 5;
};
template <>
struct Format<__nv_bfloat16> {
  static constexpr int lane = 2, exponent = 8;
};
template <>
struct Format<__nv_bfloat162> {
  static constexpr int lane = 2, exponent = 8;
};

// Random bits, numbers near one, small integers, and the edges of the format.
uint64_t awkward(Random& random, int bits, int exponent) {
  const uint64_t sign = 1ull << (bits - 1), all = sign | (sign - 1);
  const uint64_t value = random.next() & all, choice = random.next() % 8;
  if (exponent == 0) {
    const uint64_t edges[] = {0, 1, all, sign, sign - 1, 0x7fff7fff, 0x80008000, 0x7f7f7f7f, 0x80808080, 31, 32, 33};
    return choice == 0 ? edges[random.next() % 12] & all : choice == 1 ? (random.next() % 64 - 32) & all : value;
  }
  const int significand = bits - 1 - exponent;
  const uint64_t bias = (1ull << (exponent - 1)) - 1, infinity = (2 * bias + 1) << significand;
  const uint64_t one = bias << significand, lowest = 1ull << significand;
  const uint64_t edges[] = {0, sign, one, sign | one, infinity, sign | infinity, infinity + (lowest >> 1), 1, sign | 1,
                            lowest - 1, lowest, infinity - 1, one - 1, one + lowest};
  if (choice < 3) return value;
  if (choice == 7) return edges[random.next() % 14];
  const uint64_t scale = bias - 3 + random.next() % 12;
  return (value & (sign | (lowest - 1))) | (scale & (2 * bias)) << significand;
}

template <class T>
T argument(Random& random) {
  T result;
  for (int i = 0; i < (int)sizeof(T); i += Format<T>::lane) {
    const uint64_t bits = awkward(random, 8 * Format<T>::lane, Format<T>::exponent);
    std::memcpy((char*)&result + i, &bits, Format<T>::lane);
  }
  return result;
}

// NaNs count as one: their signs and payloads are the compiler's affair.
template <class T>
uint64_t digest(const T* results) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (int i = 0; i < kCount; i++) {
    for (int j = 0; j < (int)sizeof(T); j += Format<T>::lane) {
      uint64_t bits = 0;
      std::memcpy(&bits, (const char*)(results + i) + j, Format<T>::lane);
      if (Format<T>::exponent) {
        const uint64_t sign = 1ull << (8 * Format<T>::lane - 1);
        const uint64_t infinity = sign - (1ull << (8 * Format<T>::lane - 1 - Format<T>::exponent));
        if ((bits & (sign - 1)) > infinity) bits = infinity + 1;
      }
      hash = (hash ^ bits) * 0x100000001b3ull;
    }
  }
  return hash & 0xffffffff;
}

template <class T>
__host__ __device__ T nothing() {
  return T();
}

template <class... T>
struct Arguments;
template <>
struct Arguments<> {};
template <class First, class... Rest>
struct Arguments<First, Rest...> {
  First first;
  Arguments<Rest...> rest;
};
inline void fill(Arguments<>&, Random&) {}
template <class First, class... Rest>
void fill(Arguments<First, Rest...>& a, Random& random) {
  a.first = argument<First>(random);
  fill(a.rest, random);
}

template <class F, class R, class A>
__host__ __device__ R call(const Arguments<A>& a) {
  return F::call(a.first);
}
template <class F, class R, class A, class B>
__host__ __device__ R call(const Arguments<A, B>& a) {
  return F::call(a.first, a.rest.first);
}
template <class F, class R, class A, class B, class C>
__host__ __device__ R call(const Arguments<A, B, C>& a) {
  return F::call(a.first, a.rest.first, a.rest.rest.first);
}
template <class F, class R, class... A>
__global__ void on_device(const Arguments<A...>* arguments, R* results) {
  results[threadIdx.x] = call<F, R, A...>(arguments[threadIdx.x]);
}

int checked = 0, wrong = 0;
bool record = false;
char* device_memory;

template <class R>
void judge(const char* name, const char* where, const R* results, uint64_t expected) {
  const uint64_t got = digest(results);
  checked++;
  if (record) {
    std::printf("%08llx\n", (unsigned long long)got);
  } else if (got != expected) {
    std::printf("%s %s: digest %08llx, recorded %08llx\n", name, where, (unsigned long long)got,
                (unsigned long long)expected);
    wrong++;
  }
}

template <class F, class R, class... A>
void check(const char* name, uint64_t expected) {
  static Arguments<A...> arguments[kCount];
  static R results[kCount];
  Random random{0x5eed};
  for (auto& a : arguments) fill(a, random);
  R* out = (R*)(device_memory + sizeof arguments);
  cudaMemcpy(device_memory, arguments, sizeof arguments, cudaMemcpyHostToDevice);
  on_device<F, R, A...><<<1, kCount>>>((const Arguments<A...>*)device_memory, out);
  const cudaError_t error = cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) {
    std::printf("%s: %s\n", name, cudaGetErrorString(error));
    wrong++;
  }
  judge(name, "on the device", results, expected);
  if (F::on_host && !record) {
    for (int i = 0; i < kCount; i++) results[i] = F::host_call(arguments[i]);
    judge(name, "on the host", results, expected);
  }
}

// ROW(digest, function, result, arguments…); HOST_ROW where host code has the function too.
#define NAME(line) NAME_(line)
#define NAME_(line) Function##line
#define ROW(digest, function, R, ...)                                           \
  struct NAME(__LINE__) {                                                       \
    static constexpr bool on_host = false;                                      \
    template <class... A>                                                       \
    __host__ __device__ static R call(A... a) {                                 \
      return IN_DEVICE(R, function(a...));                                      \
    }                                                                           \
    template <class A>                                                          \
    static R host_call(const A&) {                                              \
      return nothing<R>();                                                               \
    }                                                                           \
  };
#define HOST_ROW(digest, function, R, ...)                                      \
  struct NAME(__LINE__) {                                                       \
    static constexpr bool on_host = true;                                       \
    template <class... A>                                                       \
    __host__ __device__ static R call(A... a) {                                 \
      return function(a...);                                                    \
    }                                                                           \
    static R host_call(const Arguments<__VA_ARGS__>& a) {                       \
      return ::call<NAME(__LINE__), R, __VA_ARGS__>(a);                         \
    }                                                                           \
  };
#if defined(__CUDA_ARCH__)
#define IN_DEVICE(R, expression) expression
#else
#define IN_DEVICE(R, expression) nothing<R>()
#endif
#include "intrinsic_values.inc"
#undef ROW
#undef HOST_ROW

int main(int argc, char**) {
  record = argc > 1;
  cudaMalloc(&device_memory, 1 << 16);
#define ROW(digest, function, R, ...) check<NAME(__LINE__), R, __VA_ARGS__>(#function, digest);
#define HOST_ROW(digest, function, R, ...) check<NAME(__LINE__), R, __VA_ARGS__>(#function, digest);
#include "intrinsic_values.inc"
  if (!record) std::printf("%d results checked, %d wrong\n", checked, wrong);
  return wrong != 0 || checked == 0;
}
