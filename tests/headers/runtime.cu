// printf, assert, the heap, new and delete, virtual functions, memcpy and memset, alloca, assumptions.
#include <assert.h>
#include <math_constants.h>
#include <new>
#include <stdio.h>

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Plain {
  int a[4];
};

__device__ int recurse(int n) { return n <= 1 ? 1 : n * recurse(n - 1); }
__device__ int plus(int x) { return x + 1; }

__global__ void kernel(float* out, const char* name, int n) {
  printf("%d %u %f %s %c %llx %p %%\n", n, threadIdx.x, out[0], name, 'x', 3ull, (void*)out);
  printf("nothing\n");
  assert(n > 0);
  assert(n > 0 && "a message");
  Shape* shape = new Square(2);
  out[0] = shape->area();
  delete shape;
  int* many = new int[n];
  many[0] = recurse(n);
  out[1] = (float)many[0];
  delete[] many;
  void* memory = malloc(64);
  memset(memory, 0, 64);
  Plain* plain = new (memory) Plain();
  memcpy(out + 2, plain, sizeof(Plain));
  free(memory);
  int (*function)(int) = plus;
  out[7] = (float)function(n) + CUDART_PI_F + (float)CUDART_INF + CUDART_NAN_F;
  __builtin_assume(n < 100);
  if (__builtin_expect(n == 42, 0)) __builtin_unreachable();
  static_assert(sizeof(Plain) == 16, "");
}

int main() {
  kernel<<<1, 1>>>(nullptr, nullptr, 3);
  printf("%d\n", cudaDeviceSynchronize());
  void* memory = malloc(3);
  free(memory);
  return rand() ? (int)sqrt(4.0) : abs(-1);
}
