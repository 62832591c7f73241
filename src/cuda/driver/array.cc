// Arrays and mipmapped arrays.
#include <algorithm>

#include "cuda/driver/formats.h"
#include "cuda/driver/owners.h"

namespace warpbeam::cuda::driver {

namespace {

struct Format {
  CUarray_format format;
  int bits;
  cudaChannelFormatKind kind;
};

constexpr Format kFormats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat},
    {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat},
};

}  // namespace

bool channels_of(CUarray_format format, unsigned channels, cudaChannelFormatDesc* description) {
  auto found = std::ranges::find(kFormats, format, &Format::format);
  if (found == std::end(kFormats) || (channels != 1 && channels != 2 && channels != 4)) return false;
  auto bits = [&](unsigned channel) { return channel < channels ? found->bits : 0; };
  *description = {bits(0), bits(1), bits(2), bits(3), found->kind};
  return true;
}

void format_of(const cudaChannelFormatDesc& description, CUarray_format* format, unsigned* channels) {
  *channels = (description.x > 0) + (description.y > 0) + (description.z > 0) + (description.w > 0);
  for (const Format& row : kFormats)
    if (row.bits == description.x && row.kind == description.f) *format = row.format;
}

namespace {

cudaArray_t runtime(CUarray array) { return reinterpret_cast<cudaArray_t>(array); }
cudaMipmappedArray_t runtime(CUmipmappedArray array) { return reinterpret_cast<cudaMipmappedArray_t>(array); }

static_assert(CUDA_ARRAY3D_LAYERED == cudaArrayLayered && CUDA_ARRAY3D_SURFACE_LDST == cudaArraySurfaceLoadStore &&
              CUDA_ARRAY3D_CUBEMAP == cudaArrayCubemap && CUDA_ARRAY3D_TEXTURE_GATHER == cudaArrayTextureGather);

CUresult create(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* given) {
  return in_current([&](Context&) -> CUresult {
    cudaChannelFormatDesc channels;
    if (!array || !given || !channels_of(given->Format, given->NumChannels, &channels)) return CUDA_ERROR_INVALID_VALUE;
    return result_of(
        cudaMalloc3DArray(reinterpret_cast<cudaArray_t*>(array), &channels, {given->Width, given->Height, given->Depth}, given->Flags));
  });
}

CUresult describe(CUDA_ARRAY3D_DESCRIPTOR* description, CUarray array) {
  return of_handle(array, [&](Context&) -> CUresult {
    cudaChannelFormatDesc channels{};
    cudaExtent extent{};
    unsigned flags = 0;
    cudaError_t status = cudaArrayGetInfo(&channels, &extent, &flags, runtime(array));
    if (status != cudaSuccess) return result_of(status);
    *description = {extent.width, extent.height, extent.depth, CU_AD_FORMAT_FLOAT, 0, flags};
    format_of(channels, &description->Format, &description->NumChannels);
    return CUDA_SUCCESS;
  });
}

}  // namespace
}  // namespace warpbeam::cuda::driver

using namespace warpbeam::cuda;
using namespace warpbeam::cuda::driver;

static_assert(sizeof(CUDA_ARRAY_SPARSE_PROPERTIES) == sizeof(cudaArraySparseProperties));
static_assert(sizeof(CUDA_ARRAY_MEMORY_REQUIREMENTS) == sizeof(cudaArrayMemoryRequirements));

// What only asks says to everything that it cannot answer that the value is wrong.
#define WB_ASK_CALL(name, parameters, ...)                                                                                               \
  WB_TWIN CUresult name parameters {                                                                                                     \
    if (!array) return call([] { return CUDA_ERROR_INVALID_VALUE; });                                                                    \
    return call(                                                                                                                         \
        [&] { return in_context_of(owner_of(array), CUDA_ERROR_INVALID_VALUE, [&](Context&) { return __VA_ARGS__; }, Prefer::Owner); }); \
  }

extern "C" {

CUresult cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* given) { return create(array, given); }

CUresult cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* given) {
  if (!given) return call([] { return CUDA_ERROR_INVALID_VALUE; });
  CUDA_ARRAY3D_DESCRIPTOR flat{given->Width, given->Height, 0, given->Format, given->NumChannels, 0};
  return create(array, &flat);
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* description, CUarray array) {
  return description ? describe(description, array) : call([] { return CUDA_ERROR_INVALID_VALUE; });
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* description, CUarray array) {
  CUDA_ARRAY3D_DESCRIPTOR full;
  if (!description) return call([] { return CUDA_ERROR_INVALID_VALUE; });
  CUresult result = describe(&full, array);
  if (result == CUDA_SUCCESS) *description = {full.Width, full.Height, full.Format, full.NumChannels};
  return result;
}

CUresult cuArrayDestroy(CUarray array) {
  return of_handle(array, [&](Context&) { return cudaFreeArray(runtime(array)); });
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* array, const CUDA_ARRAY3D_DESCRIPTOR* given, unsigned levels) {
  return in_current([&](Context&) -> CUresult {
    cudaChannelFormatDesc channels;
    if (!array || !given || !channels_of(given->Format, given->NumChannels, &channels)) return CUDA_ERROR_INVALID_VALUE;
    return result_of(cudaMallocMipmappedArray(reinterpret_cast<cudaMipmappedArray_t*>(array), &channels,
                                              {given->Width, given->Height, given->Depth}, levels, given->Flags));
  });
}

WB_OF_CALL(cuMipmappedArrayGetLevel, array, (CUarray * level, CUmipmappedArray array, unsigned index),
           cudaGetMipmappedArrayLevel(reinterpret_cast<cudaArray_t*>(level), runtime(array), index))
CUresult cuMipmappedArrayDestroy(CUmipmappedArray array) {
  return of_handle(array, [&](Context&) { return cudaFreeMipmappedArray(runtime(array)); });
}
WB_ASK_CALL(cuArrayGetMemoryRequirements, (CUDA_ARRAY_MEMORY_REQUIREMENTS * needs, CUarray array, CUdevice device),
            cudaArrayGetMemoryRequirements(reinterpret_cast<cudaArrayMemoryRequirements*>(needs), runtime(array), device))
WB_ASK_CALL(cuMipmappedArrayGetMemoryRequirements, (CUDA_ARRAY_MEMORY_REQUIREMENTS * needs, CUmipmappedArray array, CUdevice device),
            cudaMipmappedArrayGetMemoryRequirements(reinterpret_cast<cudaArrayMemoryRequirements*>(needs), runtime(array), device))
WB_ASK_CALL(cuArrayGetSparseProperties, (CUDA_ARRAY_SPARSE_PROPERTIES * properties, CUarray array),
            cudaArrayGetSparseProperties(reinterpret_cast<cudaArraySparseProperties*>(properties), runtime(array)))
WB_ASK_CALL(cuMipmappedArrayGetSparseProperties, (CUDA_ARRAY_SPARSE_PROPERTIES * properties, CUmipmappedArray array),
            cudaMipmappedArrayGetSparseProperties(reinterpret_cast<cudaArraySparseProperties*>(properties), runtime(array)))
WB_OF_CALL(cuArrayGetPlane, array, (CUarray * plane, CUarray array, unsigned index),
           cudaArrayGetPlane(reinterpret_cast<cudaArray_t*>(plane), runtime(array), index))

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t* width, CUarray_format format, unsigned channels, CUdevice device) {
  return call([&] {
    cudaChannelFormatDesc description;
    if (!width || !channels_of(format, channels, &description)) return cudaErrorInvalidValue;
    return cudaDeviceGetTexture1DLinearMaxWidth(width, &description, device);
  });
}

}  // extern "C"
