// Functions of the runtime API that are the driver's under another name: libraries, and entry points of the driver.
#include "cuda/driver/edge.h"

namespace warpbeam::cuda::driver {

namespace {

// A context as the runtime has it: made when there is none.
template <class Body>
cudaError_t through_driver(Body&& body) {
  return in_context([&](Context&) { return error_of(body()); });
}

cudaError_t entry_point(const char* name, void** function, unsigned toolkit, unsigned long long flags,
                        cudaDriverEntryPointQueryResult* status, bool thread_stream) {
  return edge([&] {
    process();
    if (flags == CU_GET_PROC_ADDRESS_DEFAULT && thread_stream) flags = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    auto query = CU_GET_PROC_ADDRESS_SUCCESS;
    CUresult result = cuGetProcAddress_v2(name, function, static_cast<int>(toolkit), flags, &query);
    if (status) *status = static_cast<cudaDriverEntryPointQueryResult>(query);
    // Without a place for the reason, what is missing is an error.
    if (result == CUDA_SUCCESS && !status && query != CU_GET_PROC_ADDRESS_SUCCESS) return cudaErrorSymbolNotFound;
    return error_of(result);
  });
}

CUlibrary library(cudaLibrary_t handle) { return reinterpret_cast<CUlibrary>(handle); }
CUdeviceptr* addresses(void** pointers) { return reinterpret_cast<CUdeviceptr*>(pointers); }

static_assert(static_cast<int>(cudaDriverEntryPointVersionNotSufficent) == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);

}  // namespace
}  // namespace warpbeam::cuda::driver

using namespace warpbeam::cuda;
using namespace warpbeam::cuda::driver;

extern "C" {

cudaError_t cudaDriverGetVersion(int* version) {
  return edge([&] { return error_of(cuDriverGetVersion(version)); });
}

cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags, cudaDriverEntryPointQueryResult* status) {
  return entry_point(name, function, CUDART_VERSION, flags, status, false);
}

WB_TWIN cudaError_t cudaGetDriverEntryPoint_ptsz(const char* name, void** function, unsigned long long flags,
                                                 cudaDriverEntryPointQueryResult* status) {
  return entry_point(name, function, CUDART_VERSION, flags, status, true);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned toolkit, unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* status) {
  return entry_point(name, function, toolkit, flags, status, false);
}

WB_TWIN cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char* name, void** function, unsigned toolkit, unsigned long long flags,
                                                          cudaDriverEntryPointQueryResult* status) {
  return entry_point(name, function, toolkit, flags, status, true);
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t* handle, const void* code, cudaJitOption* options, void** values, unsigned count,
                                cudaLibraryOption* library_options, void** library_values, unsigned library_count) {
  return through_driver([&] {
    return cuLibraryLoadData(reinterpret_cast<CUlibrary*>(handle), code, reinterpret_cast<CUjit_option*>(options), values, count,
                             reinterpret_cast<CUlibraryOption*>(library_options), library_values, library_count);
  });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* handle, const char* path, cudaJitOption* options, void** values, unsigned count,
                                    cudaLibraryOption* library_options, void** library_values, unsigned library_count) {
  return through_driver([&] {
    return cuLibraryLoadFromFile(reinterpret_cast<CUlibrary*>(handle), path, reinterpret_cast<CUjit_option*>(options), values, count,
                                 reinterpret_cast<CUlibraryOption*>(library_options), library_values, library_count);
  });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t handle) {
  return through_driver([&] { return cuLibraryUnload(library(handle)); });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t handle, const char* name) {
  return through_driver([&] { return cuLibraryGetKernel(reinterpret_cast<CUkernel*>(kernel), library(handle), name); });
}

cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t handle) {
  return through_driver([&] { return cuLibraryGetKernelCount(count, library(handle)); });
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned count, cudaLibrary_t handle) {
  return through_driver([&] { return cuLibraryEnumerateKernels(reinterpret_cast<CUkernel*>(kernels), count, library(handle)); });
}

cudaError_t cudaLibraryGetGlobal(void** pointer, size_t* bytes, cudaLibrary_t handle, const char* name) {
  return through_driver([&] { return cuLibraryGetGlobal(addresses(pointer), bytes, library(handle), name); });
}

cudaError_t cudaLibraryGetManaged(void** pointer, size_t* bytes, cudaLibrary_t handle, const char* name) {
  return through_driver([&] { return cuLibraryGetManaged(addresses(pointer), bytes, library(handle), name); });
}

cudaError_t cudaLibraryGetUnifiedFunction(void** function, cudaLibrary_t handle, const char* symbol) {
  return through_driver([&] { return cuLibraryGetUnifiedFunction(function, library(handle), symbol); });
}

cudaError_t cudaGetExportTable(const void** table, const cudaUUID_t* id) {
  return through_driver([&] { return cuGetExportTable(table, id); });
}

}  // extern "C"
