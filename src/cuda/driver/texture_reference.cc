// Texture and surface references: variables of a module, described and bound by the host. A kernel reads what was bound
// when it was launched.
#include <algorithm>

#include "cuda/driver/formats.h"
#include "cuda/driver/module.h"
#include "cuda/driver/owners.h"
#include "cuda/textures/texture_references.h"

namespace warpbeam::cuda::driver {

namespace {

struct Reference {
  Context* context = nullptr;
  std::shared_ptr<const vm::Program> code;  // null: made by cuTexRefCreate, of no module
  const vm::ProgramReference* variable = nullptr;
  textureReference description{};
  unsigned flags = 0;
  CUarray_format format = CU_AD_FORMAT_FLOAT;
  unsigned channels = 1;
  cudaResourceDesc resource{};
  bool bound = false;
};

// A module's references are made at the first question and live as long as the process, for kernels look at them.
struct References {
  HandleTable<Reference> all;
  std::mutex mutex;
  std::map<std::pair<const void*, std::string>, std::shared_ptr<Reference>> of_module;
};

References& references() {
  static auto* references = new References;
  return *references;
}

template <class Body>
CUresult with_reference(const void* handle, Body&& body) {
  return call([&]() -> CUresult {
    auto reference = references().all.find(handle);
    if (!reference) return CUDA_ERROR_INVALID_HANDLE;
    return in_context_of(alive(reference->context), CUDA_ERROR_CONTEXT_IS_DESTROYED, [&](Context&) { return body(*reference); });
  });
}

CUresult bind(Reference& r) {
  if (!r.bound || !r.variable) return CUDA_SUCCESS;
  ReferenceBindings& bindings = r.context->images->bindings();
  if (r.variable->surface) return result_of(bindings.bind_surface(*r.variable, r.resource));
  const bool fractions = !(r.flags & CU_TRSF_READ_AS_INTEGER) && r.description.channelDesc.x <= 16;
  return result_of(bindings.bind(*r.variable, r.description, fractions, r.resource, 0));
}

CUresult bind_to(Reference& r, const cudaResourceDesc& resource, const cudaChannelFormatDesc& channels) {
  r.resource = resource;
  r.description.channelDesc = channels;
  format_of(channels, &r.format, &r.channels);
  r.bound = true;
  return bind(r);
}

// Changes the description of a texture that may be bound already.
template <class Change>
CUresult change(CUtexref handle, Change&& change) {
  return with_reference(handle, [&](Reference& r) {
    CUresult result = change(r);
    return result == CUDA_SUCCESS ? bind(r) : result;
  });
}

template <class Value, class Read>
CUresult get(CUtexref handle, Value* value, Read&& read) {
  return with_reference(handle, [&](Reference& r) {
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    *value = static_cast<Value>(read(r));
    return CUDA_SUCCESS;
  });
}

CUresult find(CUmodule module, const char* name, bool surface, void** handle) {
  return call([&]() -> CUresult {
    Image* image = Registry::instance().image(module);
    if (!image) return CUDA_ERROR_INVALID_HANDLE;
    return in_context_of(owner_of(module), CUDA_ERROR_INVALID_CONTEXT, [&](Context& context) -> CUresult {
      if (!handle || !name) return CUDA_ERROR_INVALID_VALUE;
      std::shared_ptr<const vm::Program> code;
      Context& place = image->only_in ? *image->only_in : context;
      if (cudaError_t status = place.images->program(*image, &code); status != cudaSuccess) return result_of(status);
      const vm::ProgramReference* variable = code->find_reference(name);
      if (!variable || variable->surface != surface) return CUDA_ERROR_NOT_FOUND;
      std::lock_guard lock(references().mutex);
      auto& known = references().of_module[{code.get(), name}];
      if (!known) {
        known = std::make_shared<Reference>();
        known->context = &place;
        known->code = code;
        known->variable = variable;
        known->description.maxAnisotropy = 0;
        references().all.add(known);
      }
      *handle = known.get();
      return CUDA_SUCCESS;
    });
  });
}

CUresult set_array(const void* handle, CUarray array) {
  return with_reference(handle, [&](Reference& r) -> CUresult {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = reinterpret_cast<cudaArray_t>(array);
    cudaChannelFormatDesc channels{};
    cudaExtent extent;
    unsigned flags;
    cudaError_t status = cudaArrayGetInfo(&channels, &extent, &flags, resource.res.array.array);
    return status == cudaSuccess ? bind_to(r, resource, channels) : result_of(status);
  });
}

CUresult get_array(const void* handle, CUarray* array) {
  return with_reference(handle, [&](Reference& r) {
    if (!array || !r.bound || r.resource.resType != cudaResourceTypeArray) return CUDA_ERROR_INVALID_VALUE;
    *array = reinterpret_cast<CUarray>(r.resource.res.array.array);
    return CUDA_SUCCESS;
  });
}

CUresult set_address(size_t* offset, CUtexref handle, CUdeviceptr ptr, size_t bytes) {
  return with_reference(handle, [&](Reference& r) -> CUresult {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    cudaChannelFormatDesc channels;
    if (!channels_of(r.format, r.channels, &channels)) return CUDA_ERROR_INVALID_VALUE;
    // The texture begins on a boundary; what lies before the address is told to the caller.
    size_t before = ptr % r.context->model.texture_alignment;
    if (before && !offset) return CUDA_ERROR_INVALID_VALUE;
    if (offset) *offset = before;
    resource.res.linear = {pointer(ptr - before), channels, bytes + before};
    return bind_to(r, resource, channels);
  });
}

CUresult set_address_2d(CUtexref handle, const CUDA_ARRAY_DESCRIPTOR* d, CUdeviceptr ptr, size_t pitch) {
  return with_reference(handle, [&](Reference& r) -> CUresult {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypePitch2D;
    cudaChannelFormatDesc channels;
    if (!d || !channels_of(d->Format, d->NumChannels, &channels)) return CUDA_ERROR_INVALID_VALUE;
    resource.res.pitch2D = {pointer(ptr), channels, d->Width, d->Height, pitch};
    return bind_to(r, resource, channels);
  });
}

}  // namespace
}  // namespace warpbeam::cuda::driver

using namespace warpbeam::cuda;
using namespace warpbeam::cuda::driver;

extern "C" {

CUresult cuModuleGetTexRef(CUtexref* reference, CUmodule module, const char* name) {
  return find(module, name, false, reinterpret_cast<void**>(reference));
}

CUresult cuModuleGetSurfRef(CUsurfref* reference, CUmodule module, const char* name) {
  return find(module, name, true, reinterpret_cast<void**>(reference));
}

CUresult cuTexRefCreate(CUtexref* handle) {
  return in_current([&](Context& context) {
    if (!handle) return CUDA_ERROR_INVALID_VALUE;
    auto reference = std::make_shared<Reference>();
    reference->context = &context;
    *handle = reinterpret_cast<CUtexref>(reference.get());
    references().all.add(std::move(reference));
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefDestroy(CUtexref handle) {
  return with_reference(handle, [&](Reference& r) {
    if (r.variable) return CUDA_ERROR_INVALID_VALUE;  // its module's
    references().all.remove(handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetArray(CUtexref reference, CUarray array, unsigned flags) {
  return flags == CU_TRSA_OVERRIDE_FORMAT ? set_array(reference, array) : call([] { return CUDA_ERROR_INVALID_VALUE; });
}

CUresult cuSurfRefSetArray(CUsurfref reference, CUarray array, unsigned flags) {
  return flags == 0 ? set_array(reference, array) : call([] { return CUDA_ERROR_INVALID_VALUE; });
}

CUresult cuTexRefSetMipmappedArray(CUtexref handle, CUmipmappedArray array, unsigned flags) {
  return with_reference(handle, [&](Reference& r) -> CUresult {
    if (flags != CU_TRSA_OVERRIDE_FORMAT) return CUDA_ERROR_INVALID_VALUE;
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = reinterpret_cast<cudaMipmappedArray_t>(array);
    cudaArray_t level;
    cudaChannelFormatDesc channels{};
    cudaExtent extent;
    unsigned ignored;
    cudaError_t status = cudaGetMipmappedArrayLevel(&level, resource.res.mipmap.mipmap, 0);
    if (status == cudaSuccess) status = cudaArrayGetInfo(&channels, &extent, &ignored, level);
    return status == cudaSuccess ? bind_to(r, resource, channels) : result_of(status);
  });
}

CUresult cuTexRefSetAddress_v2(size_t* offset, CUtexref reference, CUdeviceptr ptr, size_t bytes) {
  return set_address(offset, reference, ptr, bytes);
}

WB_TWIN CUresult cuTexRefSetAddress2D_v2(CUtexref reference, const CUDA_ARRAY_DESCRIPTOR* d, CUdeviceptr ptr, size_t pitch) {
  return set_address_2d(reference, d, ptr, pitch);
}

CUresult cuTexRefSetAddress2D_v3(CUtexref reference, const CUDA_ARRAY_DESCRIPTOR* d, CUdeviceptr ptr, size_t pitch) {
  return set_address_2d(reference, d, ptr, pitch);
}

CUresult cuTexRefSetFormat(CUtexref reference, CUarray_format format, int channels) {
  return change(reference, [&](Reference& r) {
    if (!channels_of(format, static_cast<unsigned>(channels), &r.description.channelDesc)) return CUDA_ERROR_INVALID_VALUE;
    r.format = format;
    r.channels = static_cast<unsigned>(channels);
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetAddressMode(CUtexref reference, int dimension, CUaddress_mode mode) {
  return change(reference, [&](Reference& r) {
    if (dimension < 0 || dimension > 2 || mode < 0 || mode > CU_TR_ADDRESS_MODE_BORDER) return CUDA_ERROR_INVALID_VALUE;
    r.description.addressMode[dimension] = static_cast<cudaTextureAddressMode>(mode);
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetFilterMode(CUtexref reference, CUfilter_mode mode) {
  return change(reference, [&](Reference& r) {
    r.description.filterMode = static_cast<cudaTextureFilterMode>(mode);
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetMipmapFilterMode(CUtexref reference, CUfilter_mode mode) {
  return change(reference, [&](Reference& r) {
    r.description.mipmapFilterMode = static_cast<cudaTextureFilterMode>(mode);
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetMipmapLevelBias(CUtexref reference, float bias) {
  return change(reference, [&](Reference& r) {
    r.description.mipmapLevelBias = bias;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetMipmapLevelClamp(CUtexref reference, float least, float most) {
  return change(reference, [&](Reference& r) {
    r.description.minMipmapLevelClamp = least;
    r.description.maxMipmapLevelClamp = most;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetMaxAnisotropy(CUtexref reference, unsigned most) {
  return change(reference, [&](Reference& r) {
    r.description.maxAnisotropy = most;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetFlags(CUtexref reference, unsigned flags) {
  constexpr unsigned kFlags = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |
                              CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP;
  return change(reference, [&](Reference& r) {
    if (flags & ~kFlags) return CUDA_ERROR_INVALID_VALUE;
    r.flags = flags;
    r.description.normalized = (flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    r.description.sRGB = (flags & CU_TRSF_SRGB) != 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetAddress_v2(CUdeviceptr* ptr, CUtexref reference) {
  return with_reference(reference, [&](Reference& r) {
    if (!ptr || !r.bound) return CUDA_ERROR_INVALID_VALUE;
    if (r.resource.resType == cudaResourceTypeLinear) *ptr = address(r.resource.res.linear.devPtr);
    else if (r.resource.resType == cudaResourceTypePitch2D) *ptr = address(r.resource.res.pitch2D.devPtr);
    else return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetArray(CUarray* array, CUtexref reference) { return get_array(reference, array); }
CUresult cuSurfRefGetArray(CUarray* array, CUsurfref reference) { return get_array(reference, array); }

CUresult cuTexRefGetMipmappedArray(CUmipmappedArray* array, CUtexref reference) {
  return with_reference(reference, [&](Reference& r) {
    if (!array || !r.bound || r.resource.resType != cudaResourceTypeMipmappedArray) return CUDA_ERROR_INVALID_VALUE;
    *array = reinterpret_cast<CUmipmappedArray>(r.resource.res.mipmap.mipmap);
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetAddressMode(CUaddress_mode* mode, CUtexref reference, int dimension) {
  if (dimension < 0 || dimension > 2) return CUDA_ERROR_INVALID_VALUE;
  return get(reference, mode, [&](Reference& r) { return r.description.addressMode[dimension]; });
}

CUresult cuTexRefGetFilterMode(CUfilter_mode* mode, CUtexref reference) {
  return get(reference, mode, [](Reference& r) { return r.description.filterMode; });
}

CUresult cuTexRefGetFormat(CUarray_format* format, int* channels, CUtexref reference) {
  return with_reference(reference, [&](Reference& r) {
    if (!format || !channels) return CUDA_ERROR_INVALID_VALUE;
    *format = r.format;
    *channels = static_cast<int>(r.channels);
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetMipmapFilterMode(CUfilter_mode* mode, CUtexref reference) {
  return get(reference, mode, [](Reference& r) { return r.description.mipmapFilterMode; });
}

CUresult cuTexRefGetMipmapLevelBias(float* bias, CUtexref reference) {
  return get(reference, bias, [](Reference& r) { return r.description.mipmapLevelBias; });
}

CUresult cuTexRefGetMipmapLevelClamp(float* least, float* most, CUtexref reference) {
  CUresult result = get(reference, least, [](Reference& r) { return r.description.minMipmapLevelClamp; });
  if (result != CUDA_SUCCESS) return result;
  return get(reference, most, [](Reference& r) { return r.description.maxMipmapLevelClamp; });
}

CUresult cuTexRefGetMaxAnisotropy(int* most, CUtexref reference) {
  return get(reference, most, [](Reference& r) { return r.description.maxAnisotropy; });
}

CUresult cuTexRefGetFlags(unsigned* flags, CUtexref reference) {
  return get(reference, flags, [](Reference& r) { return r.flags; });
}

CUresult cuParamSetTexRef(CUfunction function, int unit, CUtexref reference) {
  return with_reference(reference, [&](Reference&) {
    // A module's references are its own: nothing is left to do for the function.
    return symbol_of(function) && unit == CU_PARAM_TR_DEFAULT ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

}  // extern "C"
