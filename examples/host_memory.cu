// host_memory: seven kinds of memory, one kernel. Which pointers may a kernel follow, and which need a copy?
// Look at `run`: it is given only a device pointer; how that pointer came to be is the difference between the kinds.
#include <cuda_runtime.h>

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

constexpr int kCount = 4096;
constexpr size_t kBytes = kCount * sizeof(int);

__device__ __managed__ int managed_table[kCount];  // static managed memory: one name for both sides
__device__ __managed__ int managed_total = 7;

__global__ void triple(int* data) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount) data[i] *= 3;
}

__global__ void sum_managed() {
  for (int i = threadIdx.x; i < kCount; i += blockDim.x) atomicAdd(&managed_total, managed_table[i]);
}

static int failures = 0;

static void fill(int* data) {
  for (int i = 0; i < kCount; ++i) data[i] = i - 100;
}

static void verify(const char* kind, const int* data) {
  int wrong = 0;
  for (int i = 0; i < kCount; ++i) wrong += data[i] != 3 * (i - 100);
  std::printf("%-34s %s\n", kind, wrong ? "WRONG" : "ok");
  failures += wrong != 0;
}

static void run(int* device_pointer) {
  triple<<<(kCount + 255) / 256, 256>>>(device_pointer);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
}

static void copy_run_copy(const char* kind, int* host) {
  int* device;
  CHECK(cudaMalloc(&device, kBytes));
  fill(host);
  CHECK(cudaMemcpy(device, host, kBytes, cudaMemcpyHostToDevice));
  run(device);
  CHECK(cudaMemcpy(host, device, kBytes, cudaMemcpyDefault));  // unified addresses tell the direction
  CHECK(cudaFree(device));
  verify(kind, host);
}

int main() {
  std::vector<int> pageable(kCount);
  copy_run_copy("pageable, copied", pageable.data());

  int* pinned;
  CHECK(cudaMallocHost((void**)&pinned, kBytes));
  copy_run_copy("pinned, copied", pinned);
  CHECK(cudaFreeHost(pinned));

  int* portable;
  CHECK(cudaHostAlloc((void**)&portable, kBytes, cudaHostAllocPortable));
  copy_run_copy("portable, copied", portable);
  CHECK(cudaFreeHost(portable));

  int* combined;  // good to write, slow to read back: the host here reads it only to check
  CHECK(cudaHostAlloc((void**)&combined, kBytes, cudaHostAllocWriteCombined | cudaHostAllocMapped));
  int* combined_device;
  CHECK(cudaHostGetDevicePointer((void**)&combined_device, combined, 0));
  fill(combined);
  run(combined_device);
  verify("write-combined, mapped", combined);
  CHECK(cudaFreeHost(combined));

  int *mapped, *mapped_device;
  CHECK(cudaHostAlloc((void**)&mapped, kBytes, cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer((void**)&mapped_device, mapped, 0));
  fill(mapped);
  run(mapped_device);
  verify("zero-copy through a device pointer", mapped);
  fill(mapped);
  run(mapped);  // with unified addressing the host pointer itself will do
  verify("zero-copy through the host pointer", mapped);
  CHECK(cudaFreeHost(mapped));

  std::vector<int> plain(kCount);
  CHECK(cudaHostRegister(plain.data(), kBytes, cudaHostRegisterMapped));
  int* registered;
  CHECK(cudaHostGetDevicePointer((void**)&registered, plain.data(), 0));
  fill(plain.data());
  run(registered);
  verify("registered after the fact", plain.data());
  CHECK(cudaHostUnregister(plain.data()));

  int* managed;
  CHECK(cudaMallocManaged((void**)&managed, kBytes));
  fill(managed);
  run(managed);
  verify("managed, dynamic", managed);
  CHECK(cudaFree(managed));

  fill(managed_table);
  run(managed_table);
  verify("managed, static", managed_table);
  sum_managed<<<1, 128>>>();
  CHECK(cudaDeviceSynchronize());
  int expected = 7;
  for (int i = 0; i < kCount; ++i) expected += 3 * (i - 100);
  failures += managed_total != expected;
  std::printf("host_memory: managed total %d, %s\n", managed_total, failures ? "FAILED" : "all kinds agree");
  return failures != 0;
}
