// Libraries: images that every context loads for itself when it first uses them.
#include <algorithm>

#include "cuda/driver/module.h"

namespace warpbeam::cuda::driver {

namespace {

// Code is checked when it is loaded, in the current context or the first device's.
CUresult load(CUlibrary* library, const void* code, CUjit_option* options, void** values, unsigned count, CUlibraryOption* library_options,
              unsigned library_option_count) {
  return call([&]() -> CUresult {
    if (!library || (library_option_count && !library_options)) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < library_option_count; ++i)
      if (library_options[i] < 0 || library_options[i] >= CU_LIBRARY_NUM_OPTIONS) return CUDA_ERROR_INVALID_VALUE;
    Context* context = nullptr;
    if (current(&context) != CUDA_SUCCESS && context_of(0, &context) != cudaSuccess) return CUDA_ERROR_NO_DEVICE;
    JitOptions jit(count, options, values);
    Image* loaded = nullptr;
    CUresult result = load_image(code, *context, nullptr, jit, &loaded);
    if (result == CUDA_SUCCESS) *library = reinterpret_cast<CUlibrary>(loaded);
    return result;
  });
}

template <class Body>
CUresult with_library(CUlibrary library, Body&& body) {
  return call([&] {
    Image* image = Registry::instance().image(library);
    return image && !image->only_in ? result_of(body(*image)) : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUresult get_variable(CUdeviceptr* address, size_t* bytes, CUlibrary library, const char* name, bool managed) {
  if (!library)
    return call([] {
      Context* context = nullptr;
      return current(&context) == CUDA_ERROR_INVALID_CONTEXT ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    });
  return in_current([&](Context& context) {
    return with_library(library, [&](Image& image) { return find_variable(image, context, name, managed, address, bytes); });
  });
}

template <class Body>
CUresult with_kernel(CUkernel kernel, Body&& body) {
  return call([&] {
    KernelSymbol* symbol = symbol_of(kernel);
    return symbol ? result_of(body(*symbol)) : CUDA_ERROR_INVALID_HANDLE;
  });
}

// Attributes are kept per device: the runtime's functions work on the current context's.
template <class Body>
CUresult with_kernel_on(CUkernel kernel, CUdevice device, Body&& body) {
  return with_kernel(kernel, [&](KernelSymbol&) -> CUresult {
    Context* context = nullptr;
    if (context_of(device, &context) != cudaSuccess) return CUDA_ERROR_INVALID_DEVICE;
    Function* function = nullptr;
    cudaError_t status = find_function(*context, kernel, &function);
    if (status != cudaSuccess) return result_of(status);
    return body(*function);
  });
}

}  // namespace
}  // namespace warpbeam::cuda::driver

using namespace warpbeam::cuda;
using namespace warpbeam::cuda::driver;

extern "C" {

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* options, void** values, unsigned count,
                           CUlibraryOption* library_options, void**, unsigned library_option_count) {
  return load(library, code, options, values, count, library_options, library_option_count);
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option* options, void** values, unsigned count,
                               CUlibraryOption* library_options, void**, unsigned library_option_count) {
  return call([&] {
    std::string bytes;
    CUresult result = read_file(path, &bytes);
    if (result != CUDA_SUCCESS) return result;
    return load(library, bytes.c_str(), options, values, count, library_options, library_option_count);
  });
}

CUresult cuLibraryUnload(CUlibrary library) {
  return with_library(library, [](Image& image) { return unload_image(&image); });
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return with_library(library, [&](Image& image) {
    if (!kernel || !name) return CUDA_ERROR_INVALID_VALUE;
    auto found = std::ranges::find_if(image.kernels, [&](const auto& symbol) { return symbol->name == name; });
    if (found == image.kernels.end()) return CUDA_ERROR_NOT_FOUND;
    *kernel = reinterpret_cast<CUkernel>(found->get());
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return with_library(library, [&](Image& image) {
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<unsigned>(image.kernels.size());
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary library) {
  return with_library(library, [&](Image& image) {
    if (!kernels || count == 0) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < std::min<size_t>(count, image.kernels.size()); ++i)
      kernels[i] = reinterpret_cast<CUkernel>(image.kernels[i].get());
    return CUDA_SUCCESS;
  });
}

// An image is its own module in every context.
CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  if (!library)
    return call([] {
      Context* context = nullptr;
      return current(&context) == CUDA_ERROR_INVALID_CONTEXT ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    });
  return in_current([&](Context& context) {
    return with_library(library, [&](Image& image) -> CUresult {
      if (!module) return CUDA_ERROR_INVALID_VALUE;
      if (cudaError_t status = context.images->load(image); status != cudaSuccess) return result_of(status);
      *module = reinterpret_cast<CUmodule>(&image);
      return CUDA_SUCCESS;
    });
  });
}

CUresult cuLibraryGetGlobal(CUdeviceptr* address, size_t* bytes, CUlibrary library, const char* name) {
  return get_variable(address, bytes, library, name, false);
}

CUresult cuLibraryGetManaged(CUdeviceptr* address, size_t* bytes, CUlibrary library, const char* name) {
  return get_variable(address, bytes, library, name, true);
}

// No device here has function pointers that hosts share, so no library holds one.
CUresult cuLibraryGetUnifiedFunction(void** function, CUlibrary library, const char* symbol) {
  return with_library(library, [&](Image&) {
    if (!function || !symbol) return CUDA_ERROR_INVALID_VALUE;
    return CUDA_ERROR_NOT_FOUND;
  });
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  if (!kernel) return call([] { return CUDA_ERROR_INVALID_HANDLE; });
  return in_current([&](Context& context) {
    return with_kernel(kernel, [&](KernelSymbol& symbol) -> CUresult {
      if (!function) return CUDA_ERROR_INVALID_VALUE;
      Function* loaded = nullptr;
      cudaError_t status = find_function(context, &symbol, &loaded);
      if (status != cudaSuccess) return result_of(status);
      *function = function_handle(&symbol);
      return CUDA_SUCCESS;
    });
  });
}

CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return with_kernel(kernel, [&](KernelSymbol& symbol) {
    if (!library) return CUDA_ERROR_INVALID_VALUE;
    *library = reinterpret_cast<CUlibrary>(symbol.image);
    return CUDA_SUCCESS;
  });
}

CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  if (!name || !kernel) return call([] { return CUDA_ERROR_INVALID_VALUE; });
  return with_kernel(kernel, [&](KernelSymbol& symbol) {
    *name = symbol.name.c_str();
    return CUDA_SUCCESS;
  });
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* size) {
  if (!kernel) return call([] { return CUDA_ERROR_INVALID_VALUE; });
  return in_current([&](Context&) { return cudaFuncGetParamInfo(kernel, index, offset, size); });
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
  return with_kernel(kernel, [&](KernelSymbol&) {
    return cudaKernelSetAttributeForDevice(reinterpret_cast<cudaKernel_t>(kernel), static_cast<cudaFuncAttribute>(attribute), value,
                                           device);
  });
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device) {
  return with_kernel_on(kernel, device, [&](Function& function) { return function_attribute(function, attribute, value); });
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device) {
  return with_kernel_on(kernel, device, [&](Function& function) {
    if (config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL) return CUDA_ERROR_INVALID_VALUE;
    function.cache = config;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
