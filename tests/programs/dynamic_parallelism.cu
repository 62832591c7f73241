// build: -rdc=true -lcudadevrt
// Launches from device code: every form of kernel expression, nesting, streams and events, ordering, memory and errors.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define CHECK(call)                                                                         \
  do {                                                                                      \
    cudaError_t status = (call);                                                            \
    if (status != cudaSuccess) {                                                            \
      printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status));     \
      exit(1);                                                                              \
    }                                                                                       \
  } while (0)
#define EXPECT(condition)                                                  \
  do {                                                                     \
    if (!(condition)) {                                                    \
      printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);       \
      exit(1);                                                             \
    }                                                                      \
  } while (0)
#define LAUNCH(kernel, grid, block, ...) kernel<<<grid, block>>>(__VA_ARGS__)

// --- forms ---------------------------------------------------------------------------------------------------------
struct Pair {
  int a;
  double b;
  char tail[3];
};
__global__ void mixed(char c, short s, int i, double d, Pair p, float* out) {
  if (threadIdx.x == 0) out[blockIdx.x + gridDim.x * blockIdx.y] = c + s + i + d + p.a + p.b + p.tail[1];
}
template <class T, int N>
__global__ void store_at(T* p) {
  p[N] = N;
}
template <class T>
__global__ void countdown(T* p, int n) {
  if (threadIdx.x == 0) {
    p[n] = n;
    if (n > 0) countdown<<<1, 2>>>(p, n - 1);
  }
}
__global__ void overloaded(int* out, int) { out[0] = 1; }
__global__ void overloaded(int* out, float) { out[0] = 2; }
__global__ void defaulted(int* out, int value = 77) { *out = value; }
static __global__ void add(short s, int* out) { atomicAdd(out, s); }
namespace deep { namespace er { __global__ void add_twice(int* out, int v) { atomicAdd(out, 2 * v); } } }
template <class F>
__global__ void apply(F f, int* out) {
  out[threadIdx.x] = f(threadIdx.x);
}
struct Runner {
  int blocks;
  __device__ void run(int* out) const { add<<<blocks, 1>>>(3, out); }
  template <int Value>
  __device__ static void run_static(int* out) { ::add<<<1, 1>>>(Value, out); }
};
struct Table {
  void (*kernel)(short, int*);
};
using Kernel = void (*)(short, int*);
__device__ Kernel kernels[2] = {add, add};
__global__ void dynamic_shared(int* out) {
  extern __shared__ int values[];
  __shared__ int sum;
  values[threadIdx.x] = threadIdx.x;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, values[blockDim.x - 1 - threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) *out = sum;
}

__global__ void forms(float* f, int* n, double* d, int* more) {
  if (threadIdx.x != 0) return;
  mixed<<<dim3(2, 2), 32>>>('a', -3, 5, 0.5, Pair{1, 2.25, {0, 4, 0}}, f);
  store_at<float, 4><<<1, 1>>>(f);
  store_at<float, (5 > 4 ? 5 : 2)>
      <<<1,
         1>>>(f);
  countdown<<<1, 1>>>(d, 7);
  overloaded<<<1, 1>>>(n + 1, 1);
  overloaded<<<1, 1>>>(n + 2, 1.0f);
  defaulted<<<1, 1>>>(n + 3);
  deep::er::add_twice<<<1, 1>>>(n, 100);
  Runner{4}.run(n);
  Runner::run_static<50>(n);
  kernels[1]<<<2, 1>>>(10, n);
  Kernel kernel = add;
  (*kernel)<<<1, 1>>>(1000, n);
  Table table{add}, *pointer = &table;
  table.kernel<<<1, 1>>>(1, n);
  pointer->kernel<<<1, 1>>>(1, n);
  if (n) add<<<1, 1>>>(2, n); else add<<<1, 1>>>(3, n);
  for (int i = 0; i < 3; ++i) add<<<1, 1>>>(10000, n);
  LAUNCH(add, 1, 1, 4, n);
  int scale = 3;
  apply<<<1, 4>>>([scale] __device__(int i) { return i * scale; }, more);
  dynamic_shared<<<1, 64, 64 * sizeof(int)>>>(more + 4);
  cudaDeviceSynchronize();
  n[4] = n[0];  // what the children wrote is here
}

// --- order ---------------------------------------------------------------------------------------------------------
__device__ int clock_hand;
__global__ void stamp(int* out) { *out = ++clock_hand; }
__global__ void slow_stamp(int* out) {
  for (int i = 0; i < 2000; ++i) __threadfence();
  *out = ++clock_hand;
}
__global__ void orders(int* out) {
  // The default stream of a block keeps order; a tail launch comes after everything else of the grid.
  stamp<<<1, 1, 0, cudaStreamTailLaunch>>>(out + 3);
  slow_stamp<<<1, 1>>>(out + 0);
  stamp<<<1, 1>>>(out + 1);
  cudaStream_t a, b;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaEvent_t e;
  cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
  cudaEventRecord(e, 0);
  cudaStreamWaitEvent(a, e, 0);
  stamp<<<1, 1, 0, a>>>(out + 2);
  cudaEventRecord(e, a);
  cudaStreamWaitEvent(b, e, 0);
  cudaMemcpyAsync(out + 8, out + 2, sizeof(int), cudaMemcpyDeviceToDevice, b);
  cudaMemsetAsync(out + 9, 0x11, 4, b);
  cudaMemcpyAsync(out + 10, out + 9, 4, cudaMemcpyDeviceToDevice, b);
  cudaStreamDestroy(a);
  cudaEventDestroy(e);
}

// Threads of a block launch each for itself; one thread waits for them all.
__global__ void each(int* out) {
  add<<<1, 1>>>(threadIdx.x, out);
  __syncthreads();
  if (threadIdx.x == 0) {
    cudaDeviceSynchronize();
    out[1] = out[0];
  }
  __syncthreads();
  if (threadIdx.x == 40) out[2] = out[1];
}

// --- functions and errors --------------------------------------------------------------------------------------------
__global__ void questions(int* out, size_t* big) {
  cudaFuncAttributes attributes;
  out[0] = cudaFuncGetAttributes(&attributes, dynamic_shared);
  big[0] = attributes.sharedSizeBytes;
  out[1] = attributes.maxThreadsPerBlock;
  cudaDeviceGetAttribute(out + 2, cudaDevAttrWarpSize, 0);
  cudaGetDevice(out + 3);
  cudaGetDeviceCount(out + 4);
  cudaDeviceGetLimit(big + 1, cudaLimitDevRuntimePendingLaunchCount);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(out + 5, dynamic_shared, 1024, 0);
  int* mine;
  out[6] = cudaMalloc(&mine, 40);
  mine[9] = 5;
  out[7] = mine[9];
  out[8] = cudaFree(mine);
  out[9] = cudaGetLastError();
  const char* text = cudaGetErrorString(cudaErrorInvalidConfiguration);
  int length = 0;
  while (text[length]) ++length;
  out[10] = length;
}
__global__ void mistakes(int* out) {
  add<<<0, 1>>>(1, out + 20);
  out[0] = cudaPeekAtLastError();
  out[1] = cudaGetLastError();
  out[2] = cudaGetLastError();
  add<<<1, 2048>>>(1, out + 20);
  out[3] = cudaGetLastError();
  add<<<1, 1, 1 << 20>>>(1, out + 20);
  out[4] = cudaGetLastError();
  add<<<1, 1, 0, (cudaStream_t)0x123450>>>(1, out + 20);
  out[5] = cudaGetLastError();
  cudaStream_t s;
  out[6] = cudaStreamCreateWithFlags(&s, 8);
  out[7] = cudaFree(out);
  out[8] = cudaMemsetAsync((void*)16, 0, 4);
  add<<<1, 1>>>(1, out + 21);  // mistakes stop nothing
}
__global__ void dig(int* deepest, int* error, int depth) {
  atomicMax(deepest, depth);
  dig<<<1, 1>>>(deepest, error, depth + 1);
  cudaError_t e = cudaGetLastError();
  if (e != cudaSuccess) *error = e;
}
__global__ void many(int* launched, int* failed, int count) {
  for (int i = 0; i < count; ++i) {
    add<<<1, 1>>>(1, launched);
    cudaError_t e = cudaGetLastError();
    if (e != cudaSuccess) atomicExch(failed, e);
  }
}
__global__ void wait_too_deep(int* out, int depth) {
  out[depth] = -1;
  if (depth < 4) wait_too_deep<<<1, 1>>>(out, depth + 1);
  out[depth] = cudaDeviceSynchronize();
}
__global__ void fault(int* p) { *p = 1; }
__global__ void parent_of_fault() { fault<<<1, 1>>>((int*)16); }

template <class T>
std::vector<T> read(const T* p, size_t n) {
  std::vector<T> values(n);
  CHECK(cudaMemcpy(values.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}

int main() {
  float* f;
  int* n;
  double* d;
  size_t* big;
  CHECK(cudaMalloc(&f, 256));
  CHECK(cudaMalloc(&n, 4096));
  CHECK(cudaMalloc(&d, 256));
  CHECK(cudaMalloc(&big, 256));
  CHECK(cudaMemset(n, 0, 4096));
  forms<<<1, 32>>>(f, n, d, n + 32);
  CHECK(cudaDeviceSynchronize());
  auto fs = read(f, 6);
  for (int i = 0; i < 4; ++i) EXPECT(fs[i] == 'a' - 3 + 5 + 0.5f + 1 + 2.25f + 4);
  EXPECT(fs[4] == 4 && fs[5] == 5);
  auto ds = read(d, 8);
  for (int i = 0; i < 8; ++i) EXPECT(ds[i] == i);
  auto ns = read(n, 64);
  EXPECT(ns[0] == 200 + 12 + 50 + 20 + 1000 + 2 + 2 + 30000 + 4 && ns[4] == ns[0]);
  EXPECT(ns[1] == 1 && ns[2] == 2 && ns[3] == 77);
  for (int i = 0; i < 4; ++i) EXPECT(ns[32 + i] == 3 * i);
  EXPECT(ns[36] == 64 * 63 / 2);

  // The host launches the same kernels, and the compiler has their names.
  countdown<<<1, 1>>>(n, 5);
  auto pointer = store_at<int, 6>;
  pointer<<<1, 1>>>(n);
  CHECK(cudaDeviceSynchronize());
  ns = read(n, 7);
  for (int i = 0; i < 7; ++i) EXPECT(ns[i] == i);
  int blocks = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, forms, 128, 0));

  CHECK(cudaMemset(n, 0, 4096));
  orders<<<1, 1>>>(n);
  CHECK(cudaDeviceSynchronize());
  ns = read(n, 11);
  EXPECT(ns[0] == 1 && ns[1] == 2 && ns[2] == 3 && ns[3] == 4);
  EXPECT(ns[8] == 3 && ns[9] == 0x11111111 && ns[10] == ns[9]);

  CHECK(cudaMemset(n, 0, 4096));
  each<<<1, 64>>>(n);
  CHECK(cudaDeviceSynchronize());
  ns = read(n, 3);
  EXPECT(ns[0] == 64 * 63 / 2 && ns[1] == ns[0] && ns[2] == ns[0]);

  questions<<<1, 1>>>(n, big);
  CHECK(cudaDeviceSynchronize());
  ns = read(n, 11);
  auto bigs = read(big, 2);
  EXPECT(ns[0] == 0 && bigs[0] >= 4 && ns[1] == 1024 && ns[2] == 32 && ns[3] == 0 && ns[4] == 1 && bigs[1] == 2048);
  EXPECT(ns[5] >= 1 && ns[6] == 0 && ns[7] == 5 && ns[8] == 0 && ns[9] == 0);
  EXPECT(ns[10] == (int)std::string(cudaGetErrorString(cudaErrorInvalidConfiguration)).size());

  CHECK(cudaMemset(n, 0, 4096));
  mistakes<<<1, 1>>>(n);
  CHECK(cudaDeviceSynchronize());
  ns = read(n, 22);
  EXPECT(ns[0] == cudaErrorInvalidConfiguration && ns[1] == ns[0] && ns[2] == cudaSuccess);
  EXPECT(ns[3] == cudaErrorInvalidConfiguration && ns[4] == cudaErrorInvalidConfiguration && ns[5] == cudaErrorInvalidResourceHandle);
  EXPECT(ns[6] == cudaErrorInvalidValue && ns[7] == cudaErrorInvalidValue && ns[8] == cudaErrorInvalidValue);
  EXPECT(ns[20] == 0 && ns[21] == 1);

  CHECK(cudaMemset(n, 0, 4096));
  dig<<<1, 1>>>(n, n + 1, 0);
  CHECK(cudaDeviceSynchronize());
  ns = read(n, 2);
  EXPECT(ns[0] == 24 && ns[1] == cudaErrorLaunchMaxDepthExceeded);

  CHECK(cudaMemset(n, 0, 4096));
  many<<<1, 1>>>(n, n + 1, 5000);  // one thread after the other: earlier children end meanwhile
  CHECK(cudaDeviceSynchronize());
  ns = read(n, 2);
  EXPECT(ns[0] == 5000 && ns[1] == 0);
  CHECK(cudaMemset(n, 0, 4096));
  many<<<40, 64>>>(n, n + 1, 1);  // all at once
  CHECK(cudaDeviceSynchronize());
  ns = read(n, 2);
  EXPECT(ns[0] == 2048 && ns[1] == cudaErrorLaunchPendingCountExceeded);
  CHECK(cudaMemset(n, 0, 4096));
  CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 100));
  many<<<1, 1>>>(n, n + 1, 50);
  CHECK(cudaDeviceSynchronize());
  ns = read(n, 2);
  EXPECT(ns[0] == 50 && ns[1] == 0);
  many<<<1, 1>>>(n, n + 1, 150);
  CHECK(cudaDeviceSynchronize());
  ns = read(n, 2);
  EXPECT(ns[0] == 50 + 100 && ns[1] == cudaErrorLaunchPendingCountExceeded);

  CHECK(cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 3));
  wait_too_deep<<<1, 1>>>(n, 0);
  CHECK(cudaDeviceSynchronize());
  ns = read(n, 5);
  for (int i = 0; i < 4; ++i) EXPECT(ns[i] == cudaSuccess);
  EXPECT(ns[4] == cudaErrorSyncDepthExceeded);

  parent_of_fault<<<1, 1>>>();
  EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  printf("PASSED\n");
  return 0;
}
