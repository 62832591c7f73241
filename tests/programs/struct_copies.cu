// Structures with gaps, unions, bit fields and bases that are copied as a whole into a variable, changed there and copied out: every
// member keeps its value, and bytes that memcpy moves keep theirs, gaps included.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

struct Flagged { char flag; float value; };
struct Pair { int first, second; };
union Either { Flagged flagged; Pair pair; };
struct Tagged { Either either; char kind; };
struct Bits { unsigned a : 3, b : 13; char c; short d : 5; int e; };
struct Base { char c; };
struct Derived : Base { int x; double y; };
struct Arrays { char names[3]; int numbers[3]; bool odd; void* place; };
struct __align__(16) Wide { float x; char c; };
struct Nested { Flagged parts[3]; Wide wide; };

__device__ void change(Tagged& v) { ++v.kind; }
__device__ void change(Either& v) { v.pair.second -= v.pair.first; }
__device__ void change(Bits& v) { v.b += v.a, v.e += v.d; }
__device__ void change(Derived& v) { v.y += v.x + v.c; }
__device__ void change(Arrays& v) { v.numbers[1] += v.names[2], v.odd = !v.odd; }
__device__ void change(Nested& v) { v.parts[threadIdx.x % 3].value += 1, v.wide.x += v.parts[2].flag; }

template <class T> __global__ void changes(T* to, const T* from) {
  T v = from[threadIdx.x];
  change(v);
  to[threadIdx.x] = v;
}
template <class T> __global__ void turns(T* to, const T* from) {
  __shared__ T tile[32];
  tile[threadIdx.x] = from[threadIdx.x];
  __syncthreads();
  T v = tile[31 - threadIdx.x];
  change(v);
  to[31 - threadIdx.x] = v;
}
__global__ void by_bytes(char* to, const char* from) {
  Flagged v;
  memcpy(&v, from + threadIdx.x * sizeof v, sizeof v);
  v.value += 1;
  memcpy(to + threadIdx.x * sizeof v, &v, sizeof v);
}

int wrong = 0;
#define CHECK(condition) ((condition) ? void() : (++wrong, void(printf("line %d, %d: %s\n", __LINE__, i, #condition))))

template <class T, class Fill, class Look> void test(Fill fill, Look look) {
  T in[32], out[32];
  memset(static_cast<void*>(in), 0x5a, sizeof in);
  for (int i = 0; i < 32; ++i) fill(in[i], i);
  T *from, *to;
  cudaMalloc(&from, sizeof in), cudaMalloc(&to, sizeof in);
  cudaMemcpy(from, in, sizeof in, cudaMemcpyHostToDevice);
  for (const auto kernel : {changes<T>, turns<T>}) {
    cudaMemset(to, 0, sizeof in);
    kernel<<<1, 32>>>(to, from);
    cudaMemcpy(out, to, sizeof in, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; ++i) look(out[i], i);
  }
  cudaFree(from), cudaFree(to);
}

int main() {
  const auto fill = [](Either& v, int i) { v.pair = {i * 1000001, -i}; };
  test<Either>(fill, [](const Either& v, int i) { CHECK(v.pair.first == i * 1000001 && v.pair.second == -i * 1000002); });
  test<Tagged>([&](Tagged& v, int i) { fill(v.either, i), v.kind = static_cast<char>(i); },
               [](const Tagged& v, int i) { CHECK(v.either.pair.first == i * 1000001 && v.either.pair.second == -i && v.kind == i + 1); });
  test<Bits>([](Bits& v, int i) { v.a = i & 7, v.b = i * 100, v.c = static_cast<char>(i), v.d = i & 15, v.e = i; },
             [](const Bits& v, int i) { CHECK(v.a == (i & 7) && v.b == i * 100 + (i & 7) && v.c == i && v.d == (i & 15) && v.e == i + (i & 15)); });
  test<Derived>([](Derived& v, int i) { v.c = static_cast<char>(i), v.x = 7 * i, v.y = i; },
                [](const Derived& v, int i) { CHECK(v.c == i && v.x == 7 * i && v.y == 9 * i); });
  test<Arrays>(
      [](Arrays& v, int i) {
        for (int k = 0; k < 3; ++k) v.names[k] = static_cast<char>(i + k), v.numbers[k] = i * k;
        v.odd = i & 1, v.place = reinterpret_cast<void*>(size_t(i) + 5);
      },
      [](const Arrays& v, int i) {
        CHECK(v.names[0] == i && v.names[1] == i + 1 && v.numbers[0] == 0 && v.numbers[1] == 2 * i + 2 && v.numbers[2] == 2 * i);
        CHECK(v.odd == !(i & 1) && v.place == reinterpret_cast<void*>(size_t(i) + 5));
      });
  test<Nested>(
      [](Nested& v, int i) {
        for (int k = 0; k < 3; ++k) v.parts[k] = {static_cast<char>(i + k), float(i * k)};
        v.wide = {float(i), 3};
      },
      [](const Nested& v, int i) {
        CHECK(v.parts[0].flag == i && v.parts[2].flag == i + 2 && v.wide.x == 2 * i + 2 && v.wide.c == 3);
        CHECK(v.parts[0].value + v.parts[1].value + v.parts[2].value == 3 * i + 1);
      });
  char bytes[256], *from, *to;
  for (int i = 0; i < 256; ++i) bytes[i] = i % 8 < 4 ? static_cast<char>(i) : 0;
  cudaMalloc(&from, 256), cudaMalloc(&to, 256);
  cudaMemcpy(from, bytes, 256, cudaMemcpyHostToDevice);
  by_bytes<<<1, 32>>>(to, from);
  cudaMemcpy(bytes, to, 256, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 256; ++i) CHECK(i % 8 >= 4 || bytes[i] == static_cast<char>(i));
  cudaFree(from), cudaFree(to);
  printf("struct_copies: %d wrong, %s\n", wrong, cudaGetErrorString(cudaGetLastError()));
  return wrong != 0;
}
