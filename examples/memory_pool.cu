// Memory in stream order: a pool of limited size serves a chain of launches, each with scratch memory of its own.
// See: the pool never holds more than its limit although far more is asked for in all, what one launch frees the next
// uses, and a request beyond the limit is refused with the documented error.
#include <cstdint>
#include <cstdio>

#define CHECK(call)                                                                    \
  do {                                                                                 \
    cudaError_t status_ = (call);                                                      \
    if (status_ != cudaSuccess) {                                                      \
      printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_));          \
      return 1;                                                                        \
    }                                                                                  \
  } while (0)

__global__ void fill(int* scratch, int value, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) scratch[i] = value;
}

__global__ void add_all(const int* scratch, int n, unsigned long long* total) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(total, static_cast<unsigned long long>(scratch[i]));
}

int main() {
  constexpr int n = 1 << 14, rounds = 50;
  constexpr size_t bytes = n * sizeof(int), limit = 2 * bytes;

  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  properties.maxSize = limit;
  cudaMemPool_t pool;
  CHECK(cudaMemPoolCreate(&pool, &properties));
  uint64_t keep = UINT64_MAX;  // synchronising gives nothing back to the device
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));

  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  unsigned long long* total;
  CHECK(cudaMallocManaged(&total, sizeof *total));
  *total = 0;
  for (int round = 1; round <= rounds; ++round) {
    int* scratch;
    CHECK(cudaMallocFromPoolAsync(reinterpret_cast<void**>(&scratch), bytes, pool, stream));
    fill<<<n / 256, 256, 0, stream>>>(scratch, round, n);
    add_all<<<n / 256, 256, 0, stream>>>(scratch, n, total);
    CHECK(cudaFreeAsync(scratch, stream));
  }
  CHECK(cudaStreamSynchronize(stream));

  uint64_t most = 0, reserved = 0;
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &most));
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
  void* too_much;  // a device holds memory in steps of megabytes, and fills the last one
  cudaError_t refused = cudaMallocFromPoolAsync(&too_much, limit + (size_t{256} << 20), pool, stream);
  cudaGetLastError();
  printf("%d rounds of %zu bytes; the pool is kept for the next: %s; more than its limit: %s\n", rounds, bytes,
         reserved > 0 ? "yes" : "no", cudaGetErrorName(refused));

  CHECK(cudaMemPoolTrimTo(pool, 0));
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
  CHECK(cudaMemPoolDestroy(pool));
  constexpr unsigned long long expected = 1ull * n * rounds * (rounds + 1) / 2;
  bool right = *total == expected && reserved == 0 && refused == cudaErrorMemoryAllocation && most <= limit;
  printf("%s\n", right ? "PASSED" : "FAILED");
  CHECK(cudaFree(total));
  return !right;
}
