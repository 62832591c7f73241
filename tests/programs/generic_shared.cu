// Functions that are not inlined get pointers that may point into shared, local and global memory: items of all widths, some lanes
// or all, lanes that point into different memories, patterns of lanes, and a place behind the block's shared memory.
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

constexpr int kThreads = 96, kItems = 256;

template <class T>
__host__ __device__ T value(int k) {
  return (T)(k * 37 - 4000);
}

template <class T>
__noinline__ __device__ T replace(T* items, int from, int to, T add) {
  const T was = items[from];
  items[to] = (T)(was + add);
  return was;
}

template <class T>
__noinline__ __device__ T total(const T* items, int from, int step, int n) {
  T sum = 0;
  for (int k = 0; k < n; ++k) sum = (T)(sum + items[(from + k * step) % kItems]);
  return sum;
}

// Which: 0 shared, 1 global, 2 local, 3 all of them at once.
template <class T>
__global__ void exchange(int which, int lanes, T* memory, T* out) {
  __shared__ T items[kItems];
  T mine[kItems];
  const int t = threadIdx.x;
  T* all = memory + blockIdx.x * kThreads * kItems + t * kItems;
  for (int k = t; k < kItems; k += kThreads) items[k] = value<T>(k);
  for (int k = 0; k < kItems; ++k) mine[k] = all[k] = value<T>(k);
  __syncthreads();
  const int kind = which < 3 ? which : t % 3;
  T* at = kind == 0 ? items : kind == 1 ? all : mine;
  T sum = 0;
  if (lanes >> t % 32 & 1) {
    sum = replace<T>(at, t, kItems - 1 - t, (T)5);                // lane by lane
    sum = (T)(sum + total<T>(at, 100 + blockIdx.x, 0, 3));        // one place
    sum = (T)(sum + total<T>(at, t * 7 % 90, t % 5, 4) / (T)4);  // here and there
  }
  __syncthreads();
  const int back = kItems - 1 - t;
  out[(blockIdx.x * kThreads + t) * 2] = sum;
  out[(blockIdx.x * kThreads + t) * 2 + 1] = at[back];
}

template <class T>
int compare(const char* name) {
  constexpr int blocks = 3, n = blocks * kThreads;
  T *memory, *out;
  CHECK(cudaMalloc(&memory, sizeof(T) * n * kItems));
  CHECK(cudaMalloc(&out, sizeof(T) * n * 2));
  std::vector<T> got(n * 2);
  int bad = 0;
  for (int which = 0; which < 4; ++which)
    for (const int lanes : {-1, 0x0ffff0ff, 0x55555555, 1 << 31, 0}) {
      exchange<T><<<blocks, kThreads>>>(which, lanes, memory, out);
      CHECK(cudaMemcpy(got.data(), out, sizeof(T) * n * 2, cudaMemcpyDeviceToHost));
      for (int k = 0; k < n; ++k) {
        const int t = k % kThreads, b = k / kThreads;
        T sum = 0, end = value<T>(kItems - 1 - t);
        if (lanes >> t % 32 & 1) {
          sum = value<T>(t);
          end = (T)(sum + 5);
          T some = 0, few = 0;
          for (int j = 0; j < 3; ++j) some = (T)(some + value<T>(100 + b));
          for (int j = 0; j < 4; ++j) few = (T)(few + value<T>(t * 7 % 90 + j * (t % 5)));
          sum = (T)(sum + some);
          sum = (T)(sum + few / (T)4);
        }
        if ((got[k * 2] != sum || got[k * 2 + 1] != end) && bad++ < 3)
          std::printf("%s, memory %d, lanes %08x, thread %d: %g %g, not %g %g\n", name, which, lanes, k, (double)got[k * 2], (double)got[k * 2 + 1], (double)sum, (double)end);
      }
    }
  CHECK(cudaFree(memory));
  CHECK(cudaFree(out));
  return bad;
}

struct alignas(16) Four {
  int x, y, z, w;
};
__noinline__ __device__ Four turn(Four* at, Four* to) {
  Four f = *at;
  *to = Four{f.w, f.x, f.y, f.z};
  return f;
}
__global__ void vectors(int* out) {
  __shared__ Four from[64], to[64];
  const int t = threadIdx.x;
  from[t] = Four{t, t * 2, t * 3, t * 4};
  __syncthreads();
  const Four f = turn(&from[63 - t], &to[t ^ 5]);
  __syncthreads();
  out[t] = f.y == (63 - t) * 2 && to[t].x == (63 - (t ^ 5)) * 4 && to[t].w == (63 - (t ^ 5)) * 3;
}

__noinline__ __device__ int look(const int* at, int where) { return at[where]; }
__global__ void behind(int where, int* out) {
  __shared__ int items[kThreads];
  items[threadIdx.x] = (int)threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = look(items, where + (int)threadIdx.x);
}

int main() {
  int bad = compare<signed char>("signed char") + compare<unsigned short>("unsigned short") + compare<int>("int") + compare<long long>("long long") +
            compare<float>("float") + compare<double>("double");
  int *out, host[kThreads];
  CHECK(cudaMalloc(&out, sizeof host));
  vectors<<<1, 64>>>(out);
  CHECK(cudaMemcpy(host, out, 64 * sizeof(int), cudaMemcpyDeviceToHost));
  for (int t = 0; t < 64; ++t)
    if (host[t] != 1) ++bad, std::printf("vectors: thread %d\n", t);
  behind<<<1, kThreads>>>(0, out);
  CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  for (int t = 0; t < kThreads; ++t)
    if (host[t] != t) ++bad, std::printf("behind: thread %d\n", t);
  behind<<<1, kThreads>>>(60000, out);
  if (const cudaError_t status = cudaDeviceSynchronize(); status == cudaSuccess) ++bad, std::printf("behind shared memory: no fault\n");
  return bad != 0;
}
