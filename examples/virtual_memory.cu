// build: -lcuda
// A vector on the device that grows without copying: a large range of addresses is reserved once, and physical memory is
// mapped behind the end as it is needed (the driver's virtual memory functions). What to see: the pointer never changes,
// the old elements never move, and what lies behind the mapped part is out of reach.
#include <cuda.h>

#include <cstdio>
#include <vector>

#define CHECK(call)                                          \
  do {                                                       \
    CUresult status_ = (call);                               \
    if (status_ != CUDA_SUCCESS) {                           \
      const char* text_ = "?";                               \
      cuGetErrorString(status_, &text_);                     \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, text_); \
      return 1;                                              \
    }                                                        \
  } while (0)

__global__ void number(int* data, size_t from, size_t to) {
  for (size_t i = from + blockIdx.x * blockDim.x + threadIdx.x; i < to; i += gridDim.x * blockDim.x) data[i] = (int)(i % 1000003);
}

struct Growing {
  CUdeviceptr base = 0;
  size_t reserved = 0, mapped = 0, step = 0;
  std::vector<CUmemGenericAllocationHandle> pieces;
  CUmemAllocationProp kind = {};

  CUresult reserve(size_t bytes) {
    kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    kind.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    kind.location.id = 0;
    CUresult status = cuMemGetAllocationGranularity(&step, &kind, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
    reserved = (bytes + step - 1) / step * step;
    return status != CUDA_SUCCESS ? status : cuMemAddressReserve(&base, reserved, 0, 0, 0);
  }
  CUresult grow() {  // by one step
    CUmemGenericAllocationHandle piece;
    CUresult status = cuMemCreate(&piece, step, &kind, 0);
    if (status != CUDA_SUCCESS) return status;
    pieces.push_back(piece);
    if ((status = cuMemMap(base + mapped, step, 0, piece, 0)) != CUDA_SUCCESS) return status;
    CUmemAccessDesc access = {};
    access.location = kind.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    status = cuMemSetAccess(base + mapped, step, &access, 1);
    mapped += step;
    return status;
  }
  CUresult release() {
    CUresult status = cuMemUnmap(base, mapped);
    for (CUmemGenericAllocationHandle piece : pieces) cuMemRelease(piece);
    return status != CUDA_SUCCESS ? status : cuMemAddressFree(base, reserved);
  }
};

int main() {
  cudaFree(nullptr);  // the runtime makes the context that the driver's functions then use
  Growing memory;
  CHECK(memory.reserve(size_t(1) << 30));
  const CUdeviceptr first = memory.base;
  size_t count = 0;
  for (int round = 0; round < 3; ++round) {
    CHECK(memory.grow());
    const size_t now = memory.mapped / sizeof(int);
    number<<<64, 256>>>((int*)memory.base, count, now);
    count = now;
  }
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  std::vector<int> host(count);
  CHECK(cuMemcpyDtoH(host.data(), memory.base, count * sizeof(int)));
  size_t wrong = memory.base != first;
  for (size_t i = 0; i < count; ++i) wrong += host[i] != (int)(i % 1000003);
  const bool bounded = cuMemcpyDtoH(host.data(), memory.base + memory.mapped, sizeof(int)) != CUDA_SUCCESS;
  CHECK(memory.release());
  const bool good = wrong == 0 && bounded;
  std::printf("grew to %zu MiB in %zu pieces of %zu KiB, %zu wrong; behind the end: %s\n%s\n", memory.mapped >> 20, memory.pieces.size(), memory.step >> 10, wrong,
              bounded ? "out of reach" : "in reach", good ? "PASS" : "FAIL");
  return !good;
}
