// Libraries: code that a program loads at run time. The driver API does the work; here it has the runtime's face.
#include "cuda/driver/api.h"
#include "cuda/driver/edge.h"
#include "cuda/edge.h"
#include "cuda/modules.h"

using namespace warpbeam::cuda;

namespace {

// A driver function on behalf of the runtime, in the calling thread's context.
template <class Body>
cudaError_t by_driver(Body&& body) {
  return in_context([&](Context&) { return driver::error_of(body()); });
}

}  // namespace

extern "C" {

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption* options, void** values, unsigned int count,
                                cudaLibraryOption* library_options, void** library_values, unsigned int library_count) {
  return by_driver([&] {
    return cuLibraryLoadData(reinterpret_cast<CUlibrary*>(library), code, reinterpret_cast<CUjit_option*>(options), values, count,
                             reinterpret_cast<CUlibraryOption*>(library_options), library_values, library_count);
  });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path, cudaJitOption* options, void** values, unsigned int count,
                                    cudaLibraryOption* library_options, void** library_values, unsigned int library_count) {
  return by_driver([&] {
    return cuLibraryLoadFromFile(reinterpret_cast<CUlibrary*>(library), path, reinterpret_cast<CUjit_option*>(options), values, count,
                                 reinterpret_cast<CUlibraryOption*>(library_options), library_values, library_count);
  });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return by_driver([&] { return cuLibraryUnload(reinterpret_cast<CUlibrary>(library)); });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return by_driver([&] { return cuLibraryGetKernel(reinterpret_cast<CUkernel*>(kernel), reinterpret_cast<CUlibrary>(library), name); });
}

cudaError_t cudaLibraryGetKernelCount(unsigned int* count, cudaLibrary_t library) {
  return by_driver([&] { return cuLibraryGetKernelCount(count, reinterpret_cast<CUlibrary>(library)); });
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned int count, cudaLibrary_t library) {
  return by_driver([&] {
    return cuLibraryEnumerateKernels(reinterpret_cast<CUkernel*>(kernels), count, reinterpret_cast<CUlibrary>(library));
  });
}

cudaError_t cudaLibraryGetGlobal(void** address, size_t* bytes, cudaLibrary_t library, const char* name) {
  return by_driver([&] {
    return cuLibraryGetGlobal(reinterpret_cast<CUdeviceptr*>(address), bytes, reinterpret_cast<CUlibrary>(library), name);
  });
}

cudaError_t cudaLibraryGetManaged(void** address, size_t* bytes, cudaLibrary_t library, const char* name) {
  return by_driver([&] {
    return cuLibraryGetManaged(reinterpret_cast<CUdeviceptr*>(address), bytes, reinterpret_cast<CUlibrary>(library), name);
  });
}

// A name that the driver does not have is an answer, not an error.
static cudaError_t entry_point(const char* name, void** function, unsigned version, unsigned long long flags,
                               cudaDriverEntryPointQueryResult* result) {
  return in_context([&](Context&) {
    if (!name || !*name || !function || flags > cudaEnablePerThreadDefaultStream) return cudaErrorInvalidValue;
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    *function = nullptr;
    const CUresult status = cuGetProcAddress_v2(name, function, static_cast<int>(version), flags, &found);
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_NOT_FOUND) return driver::error_of(status);
    if (result) *result = static_cast<cudaDriverEntryPointQueryResult>(found);
    return cudaSuccess;
  });
}

cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags, cudaDriverEntryPointQueryResult* result) {
  return entry_point(name, function, CUDART_VERSION, flags, result);
}

WB_TWIN cudaError_t cudaGetDriverEntryPoint_ptsz(const char* name, void** function, unsigned long long flags,
                                                 cudaDriverEntryPointQueryResult* result) {
  return entry_point(name, function, CUDART_VERSION, flags ? flags : cudaEnablePerThreadDefaultStream, result);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned int version, unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* result) {
  return entry_point(name, function, version, flags, result);
}

WB_TWIN cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char* name, void** function, unsigned int version,
                                                          unsigned long long flags, cudaDriverEntryPointQueryResult* result) {
  return entry_point(name, function, version, flags ? flags : cudaEnablePerThreadDefaultStream, result);
}

}  // extern "C"
