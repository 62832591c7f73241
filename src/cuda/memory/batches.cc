// Many copies, prefetches or discards in one call.
#include "cuda/edge.h"
#include "cuda/memory/copy.h"
#include "cuda/memory/memory.h"

namespace warpbeam::cuda {

namespace {

// Element i of the batch has the attributes whose first index is the last one not beyond i.
cudaError_t check_indices(const size_t* first, size_t attributes, size_t count) {
  if (attributes == 0 || attributes > count || !first || first[0] != 0) return cudaErrorInvalidValue;
  for (size_t i = 1; i < attributes; ++i)
    if (first[i] <= first[i - 1] || first[i] >= count) return cudaErrorInvalidValue;
  return cudaSuccess;
}

// Batches are refused on the default stream that others wait for.
bool is_legacy(cudaStream_t stream) { return stream == nullptr || stream == cudaStreamLegacy; }

bool valid_order(cudaMemcpySrcAccessOrder order) { return order >= cudaMemcpySrcAccessOrderStream && order <= cudaMemcpySrcAccessOrderAny; }

cudaError_t copy_one(Context& context, cudaStream_t stream, const CopyRequest& request, cudaMemcpySrcAccessOrder order) {
  return order == cudaMemcpySrcAccessOrderDuringApiCall ? copy_and_wait(context, stream, request)
                                                        : copy_in_stream(context, stream, request);
}

cudaError_t copies(void* const* to, const void* const* from, const size_t* sizes, size_t count, const cudaMemcpyAttributes* attributes,
                   const size_t* first, size_t attribute_count, cudaStream_t stream) {
  return in_context([&](Context& context) -> cudaError_t {
    if (!to || !from || !sizes || count == 0 || !attributes || is_legacy(stream)) return cudaErrorInvalidValue;
    if (cudaError_t status = check_indices(first, attribute_count, count); status != cudaSuccess) return status;
    for (size_t i = 0; i < attribute_count; ++i)
      if (!valid_order(attributes[i].srcAccessOrder)) return cudaErrorInvalidValue;
    size_t which = 0;
    for (size_t i = 0; i < count; ++i) {
      while (which + 1 < attribute_count && first[which + 1] <= i) ++which;
      cudaError_t status = copy_one(context, stream, linear(to[i], from[i], sizes[i], cudaMemcpyDefault), attributes[which].srcAccessOrder);
      if (status != cudaSuccess) return status;
    }
    return cudaSuccess;
  });
}

// Lengths of operands are in elements: an array's, or bytes where there is none.
cudaError_t copy_box(const cudaMemcpy3DBatchOp& op, cudaStream_t stream) {
  size_t element = 1;
  for (const cudaMemcpy3DOperand* side : {&op.src, &op.dst}) {
    if (side->type != cudaMemcpyOperandTypeArray) continue;
    cudaChannelFormatDesc format{};
    cudaExtent extent{};
    unsigned flags = 0;
    if (cudaError_t status = cudaArrayGetInfo(&format, &extent, &flags, side->op.array.array); status != cudaSuccess) return status;
    element = static_cast<size_t>(format.x + format.y + format.z + format.w) / 8;
  }
  cudaMemcpy3DParms p{};
  auto place = [&](const cudaMemcpy3DOperand& side, cudaArray_t* array, cudaPitchedPtr* ptr, cudaPos* position) {
    if (side.type == cudaMemcpyOperandTypeArray) {
      *array = side.op.array.array;
      *position = {side.op.array.offset.x, side.op.array.offset.y, side.op.array.offset.z};
      return cudaSuccess;
    }
    if (side.type != cudaMemcpyOperandTypePointer) return cudaErrorInvalidValue;
    const auto& linear = side.op.ptr;
    size_t row = (linear.rowLength ? linear.rowLength : op.extent.width) * element;
    *ptr = {linear.ptr, row, row, linear.layerHeight ? linear.layerHeight : op.extent.height};
    return cudaSuccess;
  };
  if (cudaError_t status = place(op.src, &p.srcArray, &p.srcPtr, &p.srcPos); status != cudaSuccess) return status;
  if (cudaError_t status = place(op.dst, &p.dstArray, &p.dstPtr, &p.dstPos); status != cudaSuccess) return status;
  p.extent = op.extent;
  p.kind = cudaMemcpyDefault;
  cudaError_t status = cudaMemcpy3DAsync(&p, stream);
  if (status == cudaSuccess && op.srcAccessOrder == cudaMemcpySrcAccessOrderDuringApiCall) status = cudaStreamSynchronize(stream);
  return status;
}

cudaError_t boxes(size_t count, const cudaMemcpy3DBatchOp* operations, unsigned long long flags, cudaStream_t stream) {
  return in_context([&](Context&) -> cudaError_t {
    if (count == 0 || !operations || flags != 0 || is_legacy(stream)) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i) {
      if (!valid_order(operations[i].srcAccessOrder)) return cudaErrorInvalidValue;
      if (cudaError_t status = copy_box(operations[i], stream); status != cudaSuccess) return status;
    }
    return cudaSuccess;
  });
}

cudaError_t prefetches(void** pointers, const size_t* sizes, size_t count, const cudaMemLocation* locations, const size_t* first,
                       size_t location_count, unsigned long long flags, cudaStream_t stream) {
  return in_context([&](Context&) -> cudaError_t {
    if (!pointers || !sizes || count == 0 || !locations || flags != 0 || is_legacy(stream)) return cudaErrorInvalidValue;
    if (cudaError_t status = check_indices(first, location_count, count); status != cudaSuccess) return status;
    size_t which = 0;
    for (size_t i = 0; i < count; ++i) {
      while (which + 1 < location_count && first[which + 1] <= i) ++which;
      cudaError_t status = cudaMemPrefetchAsync(pointers[i], sizes[i], locations[which], 0, stream);
      if (status != cudaSuccess) return status;
    }
    return cudaSuccess;
  });
}

// What is discarded may hold anything from then on, its old contents too.
cudaError_t discards(void** pointers, const size_t* sizes, size_t count, unsigned long long flags, cudaStream_t stream) {
  return in_context([&](Context& context) -> cudaError_t {
    if (!pointers || !sizes || count == 0 || flags != 0 || is_legacy(stream)) return cudaErrorInvalidValue;
    if (!find_stream(context, stream)) return cudaErrorInvalidResourceHandle;
    for (size_t i = 0; i < count; ++i) {
      auto place = locate(pointers[i]);
      if (!place || place->allocation.kind != vm::MemoryKind::Managed || sizes[i] > place->room(pointers[i])) return cudaErrorInvalidValue;
    }
    return cudaSuccess;
  });
}

cudaError_t discard_and_prefetch(void** pointers, const size_t* sizes, size_t count, const cudaMemLocation* locations, const size_t* first,
                                 size_t location_count, unsigned long long flags, cudaStream_t stream) {
  cudaError_t status = discards(pointers, sizes, count, flags, stream);
  if (status != cudaSuccess) return status;
  return prefetches(pointers, sizes, count, locations, first, location_count, flags, stream);
}

}  // namespace
}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;

// Each with its twin for per-thread default streams; the stream is the last parameter.
#define WB_BATCH(name, parameters, function, ...)                               \
  WB_TWIN cudaError_t name parameters { return function(__VA_ARGS__, stream); } \
  WB_TWIN cudaError_t name##_ptsz parameters { return function(__VA_ARGS__, per_thread(stream)); }

extern "C" {

WB_BATCH(cudaMemcpyBatchAsync,
         (void* const* to, const void* const* from, const size_t* sizes, size_t count, cudaMemcpyAttributes* attributes, size_t* first,
          size_t attribute_count, cudaStream_t stream),
         copies, to, from, sizes, count, attributes, first, attribute_count)
WB_BATCH(cudaMemcpy3DBatchAsync, (size_t count, cudaMemcpy3DBatchOp* operations, unsigned long long flags, cudaStream_t stream), boxes,
         count, operations, flags)
WB_BATCH(cudaMemPrefetchBatchAsync,
         (void** pointers, size_t* sizes, size_t count, cudaMemLocation* locations, size_t* first, size_t location_count,
          unsigned long long flags, cudaStream_t stream),
         prefetches, pointers, sizes, count, locations, first, location_count, flags)
WB_BATCH(cudaMemDiscardBatchAsync, (void** pointers, size_t* sizes, size_t count, unsigned long long flags, cudaStream_t stream), discards,
         pointers, sizes, count, flags)
WB_BATCH(cudaMemDiscardAndPrefetchBatchAsync,
         (void** pointers, size_t* sizes, size_t count, cudaMemLocation* locations, size_t* first, size_t location_count,
          unsigned long long flags, cudaStream_t stream),
         discard_and_prefetch, pointers, sizes, count, locations, first, location_count, flags)

}  // extern "C"
