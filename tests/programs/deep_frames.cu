// Functions that are not inlined and have large arrays of their own: a GPU's compiler knows how deep such calls are, and their
// frames are there whatever cudaLimitStackSize says. Only recursion has to fit into the limit.
#include <cstdio>

constexpr int kWords = 5000;  // 20 kB

__device__ __noinline__ int leaf(int seed) {
  int a[kWords];
  for (int k = 0; k < kWords; ++k) a[k] = seed * k ^ k >> 3;
  int sum = 0;
  for (int k = 0; k < kWords; k += 7) sum += a[(k * 31 + seed) % kWords];
  return sum;
}

__device__ __noinline__ int middle(int seed) {
  int a[kWords];
  for (int k = 0; k < kWords; ++k) a[k] = leaf(k & 3) + seed;
  return a[seed % kWords] + a[kWords - 1 - seed % kWords];
}

struct Shape {
  __device__ virtual int area(int) const = 0;
};
struct Large : Shape {
  __device__ int area(int seed) const override {
    int a[kWords];
    for (int k = 0; k < kWords; ++k) a[k] = seed + k;
    return a[seed * 17 % kWords];
  }
};

__global__ void direct(int* out) { out[threadIdx.x] = leaf(threadIdx.x) + middle(threadIdx.x & 1); }
__global__ void make(Shape** shape) { *shape = new Large; }
__global__ void indirect(Shape* const* shape, int* out) { out[threadIdx.x] = (*shape)->area(threadIdx.x); }

__device__ __noinline__ int down(int n, int* out) {
  int a[64];
  for (int k = 0; k < 64; ++k) a[k] = n + k;
  if (n == 0) return a[out[0] & 63];
  return down(n - 1, out) + a[n & 63];
}
__global__ void recursive(int n, int* out) { out[threadIdx.x] = down(n, out); }

int main() {
  int* out;
  cudaMallocManaged(&out, 32 * sizeof(int));
  direct<<<1, 32>>>(out);
  std::printf("direct: %s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  unsigned sum = 0;
  for (int k = 0; k < 32; ++k) sum = sum * 31 + out[k];
  std::printf("sum %u\n", sum);

  Shape** shape;
  cudaMalloc(&shape, sizeof *shape);
  make<<<1, 1>>>(shape);
  indirect<<<1, 32>>>(shape, out);
  std::printf("indirect: %s, %d %d\n", cudaGetErrorString(cudaDeviceSynchronize()), out[1], out[31]);

  cudaDeviceSetLimit(cudaLimitStackSize, 64 * 1024);
  out[0] = 0;
  recursive<<<1, 32>>>(100, out);
  std::printf("recursive: %s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
