// Pieces of many sizes from device malloc do not meet, those given back are given again, a full heap says so, and what was cut small is whole
// again once all of it is free.
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

constexpr int kThreads = 2048, kRounds = 4;
constexpr size_t kHeap = 8 << 20;

__device__ unsigned* kept[kThreads];

__device__ unsigned words_of(int thread, int round) { return 1 + (thread * 7 + round * 13) % 300; }

__global__ void churn(int* bad) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < kRounds; ++round) {
    const unsigned n = words_of(t, round);
    unsigned* own = (unsigned*)malloc(n * 4);
    if (!own) {
      atomicAdd(bad, 1);
      continue;
    }
    for (unsigned k = 0; k < n; ++k) own[k] = t * 1000 + k;
    unsigned* brief = new unsigned[5];
    for (int k = 0; k < 5; ++k) brief[k] = ~t;
    for (unsigned k = 0; k < n; ++k)
      if (own[k] != t * 1000 + k) atomicAdd(bad, 1);
    for (int k = 0; k < 5; ++k)
      if (brief[k] != ~t) atomicAdd(bad, 1);
    delete[] brief;
    if (round + 1 < kRounds) free(own);
    else kept[t] = own;
  }
}
__global__ void look_and_free(int* bad) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned k = 0; k < words_of(t, kRounds - 1); ++k)
    if (kept[t][k] != t * 1000 + k) atomicAdd(bad, 1);
  free(kept[t]);
}
__global__ void fill(void** all, int* count, size_t bytes) {
  while (void* p = malloc(bytes)) all[(*count)++] = p;
}
__global__ void empty(void** all, int* count) {
  while (*count) free(all[--*count]);
}

int main() {
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, kHeap));
  int *bad, *count, host_bad = 0, wrong = 0;
  void** all;
  CHECK(cudaMalloc(&bad, 4));
  CHECK(cudaMalloc(&count, 4));
  CHECK(cudaMalloc(&all, kHeap / 16 * sizeof(void*)));
  CHECK(cudaMemset(bad, 0, 4));
  CHECK(cudaMemset(count, 0, 4));
  churn<<<kThreads / 128, 128>>>(bad);
  look_and_free<<<kThreads / 128, 128>>>(bad);
  CHECK(cudaMemcpy(&host_bad, bad, 4, cudaMemcpyDeviceToHost));
  if (host_bad) std::printf("%d words are wrong\n", host_bad), ++wrong;
  // Nine tenths of the heap can be had, in pieces of any size, one size after the other.
  for (const size_t bytes : {size_t(1008), size_t(4 << 20), size_t(2000), size_t(600), kHeap / 2 + 1, size_t(100000)}) {
    fill<<<1, 1>>>(all, count, bytes);
    int given = 0;
    CHECK(cudaMemcpy(&given, count, 4, cudaMemcpyDeviceToHost));
    const int least = bytes > kHeap / 2 ? 1 : bytes > 1 << 20 ? 1 : int(kHeap / bytes * 9 / 10);
    if (given < least) std::printf("%d pieces of %zu bytes\n", given, bytes), ++wrong;
    empty<<<1, 1>>>(all, count);
    CHECK(cudaDeviceSynchronize());
  }
  std::printf(wrong ? "FAILED\n" : "PASSED\n");
  return wrong != 0;
}
