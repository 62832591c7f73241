// Many copies, prefetches or discards in one call. The first interfaces also say which element failed.
#include "cuda/driver/owners.h"

using namespace warpbeam::cuda;
using namespace warpbeam::cuda::driver;

static_assert(sizeof(CUmemcpyAttributes) == sizeof(cudaMemcpyAttributes));
static_assert(sizeof(CUDA_MEMCPY3D_BATCH_OP) == sizeof(cudaMemcpy3DBatchOp));
static_assert(sizeof(CUmemLocation) == sizeof(cudaMemLocation));

namespace {

void** pointers(CUdeviceptr* addresses) { return reinterpret_cast<void**>(addresses); }
cudaMemLocation* locations(CUmemLocation* given) { return reinterpret_cast<cudaMemLocation*>(given); }

cudaError_t copies(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count, CUmemcpyAttributes* attributes, size_t* first,
                   size_t attribute_count, size_t* failed, CUstream stream) {
  if (failed) *failed = SIZE_MAX;  // no single element is to blame
  return cudaMemcpyBatchAsync(pointers(to), pointers(from), sizes, count, reinterpret_cast<cudaMemcpyAttributes*>(attributes), first,
                              attribute_count, stream);
}

cudaError_t boxes(size_t count, CUDA_MEMCPY3D_BATCH_OP* operations, size_t* failed, unsigned long long flags, CUstream stream) {
  if (failed) *failed = SIZE_MAX;
  return cudaMemcpy3DBatchAsync(count, reinterpret_cast<cudaMemcpy3DBatchOp*>(operations), flags, stream);
}

}  // namespace

extern "C" {

WB_STREAM_CALL(cuMemcpyBatchAsync,
               (CUdeviceptr * to, CUdeviceptr* from, size_t* sizes, size_t count, CUmemcpyAttributes* attributes, size_t* first,
                size_t attribute_count, size_t* failed, CUstream stream),
               copies(to, from, sizes, count, attributes, first, attribute_count, failed, stream))
WB_STREAM_CALL(cuMemcpyBatchAsync_v2,
               (CUdeviceptr * to, CUdeviceptr* from, size_t* sizes, size_t count, CUmemcpyAttributes* attributes, size_t* first,
                size_t attribute_count, CUstream stream),
               copies(to, from, sizes, count, attributes, first, attribute_count, nullptr, stream))
WB_STREAM_CALL(cuMemcpy3DBatchAsync,
               (size_t count, CUDA_MEMCPY3D_BATCH_OP* operations, size_t* failed, unsigned long long flags, CUstream stream),
               boxes(count, operations, failed, flags, stream))
WB_STREAM_CALL(cuMemcpy3DBatchAsync_v2, (size_t count, CUDA_MEMCPY3D_BATCH_OP* operations, unsigned long long flags, CUstream stream),
               boxes(count, operations, nullptr, flags, stream))
WB_STREAM_CALL(cuMemPrefetchBatchAsync,
               (CUdeviceptr * at, size_t* sizes, size_t count, CUmemLocation* places, size_t* first, size_t place_count,
                unsigned long long flags, CUstream stream),
               cudaMemPrefetchBatchAsync(pointers(at), sizes, count, locations(places), first, place_count, flags, stream))
WB_STREAM_CALL(cuMemDiscardBatchAsync, (CUdeviceptr * at, size_t* sizes, size_t count, unsigned long long flags, CUstream stream),
               cudaMemDiscardBatchAsync(pointers(at), sizes, count, flags, stream))
WB_STREAM_CALL(cuMemDiscardAndPrefetchBatchAsync,
               (CUdeviceptr * at, size_t* sizes, size_t count, CUmemLocation* places, size_t* first, size_t place_count,
                unsigned long long flags, CUstream stream),
               cudaMemDiscardAndPrefetchBatchAsync(pointers(at), sizes, count, locations(places), first, place_count, flags, stream))

}  // extern "C"
