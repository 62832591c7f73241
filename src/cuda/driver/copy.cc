// Copies. The runtime's copy functions do the work; here is what the driver calls them, by which memory is meant.
#include "cuda/memory/copy.h"

#include "cuda/driver/copy.h"
#include "cuda/driver/owners.h"

namespace warpbeam::cuda::driver {

namespace {

using Copy = cudaError_t (*)(Context&, cudaStream_t, const CopyRequest&);

CUresult copy_bytes(Copy copy, void* to, const void* from, size_t bytes, cudaMemcpyKind kind, CUstream stream) {
  return in_stream(stream, [&](Context& context) { return copy(context, stream, linear(to, from, bytes, kind)); });
}

// One side of the structures for two and three dimensions.
struct Side {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  size_t x, y, z, pitch, height;
};

struct Box {
  Side from, to;
  size_t width, height, depth;
};

Box box_of(const CUDA_MEMCPY2D& p) {
  return {{p.srcMemoryType, p.srcHost, p.srcDevice, p.srcArray, p.srcXInBytes, p.srcY, 0, p.srcPitch, 0},
          {p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, p.dstXInBytes, p.dstY, 0, p.dstPitch, 0},
          p.WidthInBytes,
          p.Height,
          1};
}

template <class Parameters>
Box box_of(const Parameters& p) {
  return {{p.srcMemoryType, p.srcHost, p.srcDevice, p.srcArray, p.srcXInBytes, p.srcY, p.srcZ, p.srcPitch, p.srcHeight},
          {p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, p.dstXInBytes, p.dstY, p.dstZ, p.dstPitch, p.dstHeight},
          p.WidthInBytes,
          p.Height,
          p.Depth};
}

bool is_array(const Side& side) { return side.type == CU_MEMORYTYPE_ARRAY; }

// Arrays count in elements where the driver's structures count in bytes.
cudaError_t element_bytes(CUarray array, size_t* bytes) {
  cudaChannelFormatDesc format{};
  cudaExtent extent{};
  unsigned flags = 0;
  cudaError_t status = cudaArrayGetInfo(&format, &extent, &flags, reinterpret_cast<cudaArray_t>(array));
  *bytes = static_cast<size_t>(format.x + format.y + format.z + format.w) / 8;
  return status == cudaSuccess && *bytes == 0 ? cudaErrorInvalidValue : status;
}

cudaError_t base_of(const Side& side, void** base) {
  switch (side.type) {
    case CU_MEMORYTYPE_HOST: *base = const_cast<void*>(side.host); return cudaSuccess;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED: *base = pointer(side.device); return cudaSuccess;
    default: return cudaErrorInvalidValue;
  }
}

cudaMemcpyKind kind_of(const Box& box) {
  auto device = [](const Side& side) { return side.type == CU_MEMORYTYPE_DEVICE || is_array(side); };
  if (box.from.type == CU_MEMORYTYPE_UNIFIED || box.to.type == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
  if (device(box.from)) return device(box.to) ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost;
  return device(box.to) ? cudaMemcpyHostToDevice : cudaMemcpyHostToHost;
}

// A pitch or height of 0 says that rows or planes follow each other, or that there is only one.
size_t pitch_of(const Side& side, const Box& box) { return side.pitch ? side.pitch : side.x + box.width; }
size_t height_of(const Side& side, const Box& box) { return side.height ? side.height : side.y + box.height; }

cudaError_t region_of(const Side& side, const Box& box, Region* region) {
  void* base = nullptr;
  if (cudaError_t status = base_of(side, &base); status != cudaSuccess) return status;
  if (!base) return cudaErrorInvalidValue;
  size_t pitch = pitch_of(side, box), plane = pitch * height_of(side, box);
  bool rows = box.height > 1 || box.depth > 1;
  if (rows && (side.x + box.width > pitch || (box.depth > 1 && side.y + box.height > height_of(side, box)))) return cudaErrorInvalidValue;
  *region = {static_cast<std::byte*>(base) + side.z * plane + side.y * pitch + side.x, pitch, plane};
  return cudaSuccess;
}

cudaError_t parameters_of(const Box& box, cudaMemcpy3DParms* p) {
  size_t element = 1;
  for (const Side* side : {&box.from, &box.to})
    if (is_array(*side))
      if (cudaError_t status = element_bytes(side->array, &element); status != cudaSuccess) return status;
  if (box.width % element) return cudaErrorInvalidValue;
  *p = {};
  auto place = [&](const Side& side, cudaArray_t* array, cudaPitchedPtr* ptr, cudaPos* position) {
    *position = {side.x, side.y, side.z};
    if (!is_array(side)) {
      cudaError_t status = base_of(side, &ptr->ptr);
      ptr->pitch = pitch_of(side, box);
      ptr->xsize = box.width;
      ptr->ysize = height_of(side, box);
      return status;
    }
    if (side.x % element) return cudaErrorInvalidValue;
    position->x /= element;
    *array = reinterpret_cast<cudaArray_t>(side.array);
    return cudaSuccess;
  };
  if (cudaError_t status = place(box.from, &p->srcArray, &p->srcPtr, &p->srcPos); status != cudaSuccess) return status;
  if (cudaError_t status = place(box.to, &p->dstArray, &p->dstPtr, &p->dstPos); status != cudaSuccess) return status;
  p->extent = {box.width / element, box.height, box.depth};
  p->kind = kind_of(box);
  return cudaSuccess;
}

cudaError_t copy_with_arrays(const Box& box, cudaStream_t stream, bool wait) {
  cudaMemcpy3DParms p;
  cudaError_t status = parameters_of(box, &p);
  if (status == cudaSuccess) status = cudaMemcpy3DAsync(&p, stream);
  return status == cudaSuccess && wait ? cudaStreamSynchronize(stream) : status;
}

template <class Parameters>
CUresult copy_box(Copy copy, const Parameters* parameters, CUstream stream) {
  return in_stream(stream, [&](Context& context) -> cudaError_t {
    if (!parameters) return cudaErrorInvalidValue;
    Box box = box_of(*parameters);
    if (box.width == 0 || box.height == 0 || box.depth == 0) return cudaSuccess;
    if (is_array(box.from) || is_array(box.to)) return copy_with_arrays(box, stream, copy == copy_and_wait);
    CopyRequest request;
    if (cudaError_t status = region_of(box.from, box, &request.from); status != cudaSuccess) return status;
    if (cudaError_t status = region_of(box.to, box, &request.to); status != cudaSuccess) return status;
    request.width = box.width;
    request.height = box.height;
    request.depth = box.depth;
    request.kind = kind_of(box);
    return copy(context, stream, request);
  });
}

// Addresses tell whose memory they are; the contexts are only checked.
CUresult copy_peer(Copy copy, CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes,
                   CUstream stream) {
  return in_stream(stream, [&](Context& context) -> CUresult {
    Context* ignored = nullptr;
    for (CUcontext handle : {to_context, from_context})
      if (CUresult result = find_context(handle, &ignored); result != CUDA_SUCCESS) return CUDA_ERROR_INVALID_CONTEXT;
    return result_of(copy(context, stream, linear(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice)));
  });
}

CUresult copy_box_peer(Copy copy, const CUDA_MEMCPY3D_PEER* parameters, CUstream stream) {
  return call([&]() -> CUresult {
    if (!parameters) return CUDA_ERROR_INVALID_VALUE;
    Context* ignored = nullptr;
    for (CUcontext handle : {parameters->srcContext, parameters->dstContext})
      if (handle && find_context(handle, &ignored) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_CONTEXT;
    return copy_box(copy, parameters, stream);
  });
}

// A row of an array, which `offset` bytes are before.
Side in_array(CUarray array, size_t offset) { return {CU_MEMORYTYPE_ARRAY, nullptr, 0, array, offset, 0, 0, 0, 0}; }
Side on_host(const void* host) { return {CU_MEMORYTYPE_HOST, host, 0, nullptr, 0, 0, 0, 0, 0}; }
Side on_device(CUdeviceptr ptr) { return {CU_MEMORYTYPE_DEVICE, nullptr, ptr, nullptr, 0, 0, 0, 0, 0}; }

CUresult copy_row(const Side& to, const Side& from, size_t bytes, CUstream stream, bool wait) {
  return in_stream(stream, [&](Context&) -> cudaError_t {
    if (bytes == 0) return cudaSuccess;
    return copy_with_arrays({from, to, bytes, 1, 1}, stream, wait);
  });
}

}  // namespace

cudaError_t runtime_copy(const CUDA_MEMCPY3D& copy, cudaMemcpy3DParms* parameters) { return parameters_of(box_of(copy), parameters); }

CUDA_MEMCPY3D driver_copy(const cudaMemcpy3DParms& p) {
  size_t element = 1;
  for (cudaArray_t array : {p.srcArray, p.dstArray})
    if (array) (void)element_bytes(reinterpret_cast<CUarray>(array), &element);
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = p.srcArray ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED;
  copy.srcArray = reinterpret_cast<CUarray>(p.srcArray);
  copy.srcDevice = address(p.srcPtr.ptr);
  copy.srcPitch = p.srcPtr.pitch;
  copy.srcHeight = p.srcPtr.ysize;
  copy.srcXInBytes = p.srcPos.x * (p.srcArray ? element : 1);
  copy.srcY = p.srcPos.y;
  copy.srcZ = p.srcPos.z;
  copy.dstMemoryType = p.dstArray ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED;
  copy.dstArray = reinterpret_cast<CUarray>(p.dstArray);
  copy.dstDevice = address(p.dstPtr.ptr);
  copy.dstPitch = p.dstPtr.pitch;
  copy.dstHeight = p.dstPtr.ysize;
  copy.dstXInBytes = p.dstPos.x * (p.dstArray ? element : 1);
  copy.dstY = p.dstPos.y;
  copy.dstZ = p.dstPos.z;
  copy.WidthInBytes = p.extent.width * element;
  copy.Height = p.extent.height;
  copy.Depth = p.extent.depth;
  return copy;
}

}  // namespace warpbeam::cuda::driver

using namespace warpbeam::cuda;
using namespace warpbeam::cuda::driver;

// A copy that returns when it is done, and its twin for per-thread default streams.
#define WB_COPY(name, parameters, function, ...)                                             \
  WB_TWIN CUresult name parameters { return function(copy_and_wait, __VA_ARGS__, nullptr); } \
  WB_TWIN CUresult name##_ptds parameters { return function(copy_and_wait, __VA_ARGS__, cudaStreamPerThread); }
// A copy in stream order, whose last parameter is `stream`.
#define WB_COPY_ASYNC(name, parameters, function, ...)                                       \
  WB_TWIN CUresult name parameters { return function(copy_in_stream, __VA_ARGS__, stream); } \
  WB_TWIN CUresult name##_ptsz parameters { return function(copy_in_stream, __VA_ARGS__, per_thread(stream)); }
// The same for one row to or from an array.
#define WB_ROW(name, parameters, ...)                                               \
  WB_TWIN CUresult name parameters { return copy_row(__VA_ARGS__, nullptr, true); } \
  WB_TWIN CUresult name##_ptds parameters { return copy_row(__VA_ARGS__, cudaStreamPerThread, true); }
#define WB_ROW_ASYNC(name, parameters, ...)                                         \
  WB_TWIN CUresult name parameters { return copy_row(__VA_ARGS__, stream, false); } \
  WB_TWIN CUresult name##_ptsz parameters { return copy_row(__VA_ARGS__, per_thread(stream), false); }

extern "C" {

WB_COPY(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t bytes), copy_bytes, pointer(to), pointer(from), bytes, cudaMemcpyDefault)
WB_COPY(cuMemcpyHtoD_v2, (CUdeviceptr to, const void* from, size_t bytes), copy_bytes, pointer(to), from, bytes, cudaMemcpyHostToDevice)
WB_COPY(cuMemcpyDtoH_v2, (void* to, CUdeviceptr from, size_t bytes), copy_bytes, to, pointer(from), bytes, cudaMemcpyDeviceToHost)
WB_COPY(cuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes), copy_bytes, pointer(to), pointer(from), bytes,
        cudaMemcpyDeviceToDevice)
WB_COPY_ASYNC(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream), copy_bytes, pointer(to), pointer(from),
              bytes, cudaMemcpyDefault)
WB_COPY_ASYNC(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void* from, size_t bytes, CUstream stream), copy_bytes, pointer(to), from, bytes,
              cudaMemcpyHostToDevice)
WB_COPY_ASYNC(cuMemcpyDtoHAsync_v2, (void* to, CUdeviceptr from, size_t bytes, CUstream stream), copy_bytes, to, pointer(from), bytes,
              cudaMemcpyDeviceToHost)
WB_COPY_ASYNC(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream), copy_bytes, pointer(to),
              pointer(from), bytes, cudaMemcpyDeviceToDevice)

WB_COPY(cuMemcpy2D_v2, (const CUDA_MEMCPY2D* p), copy_box, p)
WB_COPY(cuMemcpy2DUnaligned_v2, (const CUDA_MEMCPY2D* p), copy_box, p)
WB_COPY_ASYNC(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D* p, CUstream stream), copy_box, p)
WB_COPY(cuMemcpy3D_v2, (const CUDA_MEMCPY3D* p), copy_box, p)
WB_COPY_ASYNC(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D* p, CUstream stream), copy_box, p)
WB_COPY(cuMemcpy3DPeer, (const CUDA_MEMCPY3D_PEER* p), copy_box_peer, p)
WB_COPY_ASYNC(cuMemcpy3DPeerAsync, (const CUDA_MEMCPY3D_PEER* p, CUstream stream), copy_box_peer, p)
WB_COPY(cuMemcpyPeer, (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes), copy_peer, to,
        to_context, from, from_context, bytes)
WB_COPY_ASYNC(cuMemcpyPeerAsync,
              (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes, CUstream stream), copy_peer,
              to, to_context, from, from_context, bytes)

WB_ROW(cuMemcpyDtoA_v2, (CUarray to, size_t offset, CUdeviceptr from, size_t bytes), in_array(to, offset), on_device(from), bytes)
WB_ROW(cuMemcpyAtoD_v2, (CUdeviceptr to, CUarray from, size_t offset, size_t bytes), on_device(to), in_array(from, offset), bytes)
WB_ROW(cuMemcpyHtoA_v2, (CUarray to, size_t offset, const void* from, size_t bytes), in_array(to, offset), on_host(from), bytes)
WB_ROW(cuMemcpyAtoH_v2, (void* to, CUarray from, size_t offset, size_t bytes), on_host(to), in_array(from, offset), bytes)
WB_ROW(cuMemcpyAtoA_v2, (CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes), in_array(to, to_offset),
       in_array(from, from_offset), bytes)
WB_ROW_ASYNC(cuMemcpyHtoAAsync_v2, (CUarray to, size_t offset, const void* from, size_t bytes, CUstream stream), in_array(to, offset),
             on_host(from), bytes)
WB_ROW_ASYNC(cuMemcpyAtoHAsync_v2, (void* to, CUarray from, size_t offset, size_t bytes, CUstream stream), on_host(to),
             in_array(from, offset), bytes)

}  // extern "C"
