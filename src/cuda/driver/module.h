// Modules and libraries are images of the registry, their kernels and functions its symbols: a handle of one is good
// wherever the runtime takes one of the other.
#pragma once
#include "cuda/driver/edge.h"
#include "cuda/driver/jit_options.h"
#include "cuda/modules/modules.h"

namespace warpbeam::cuda::driver {

inline KernelSymbol* symbol_of(const void* handle) { return handle ? Registry::instance().kernel(handle) : nullptr; }
inline CUfunction function_handle(KernelSymbol* symbol) { return reinterpret_cast<CUfunction>(symbol); }

// The bytes of a file, with a zero behind them.
CUresult read_file(const char* path, std::string* bytes);

// Parses `image`, links it and makes its kernels known. With `only_in` it is a module of that context, else a library
// which is loaded into `context` now and into others when they use it.
CUresult load_image(const void* image, Context& context, Context* only_in, JitOptions& options, Image** loaded);
CUresult unload_image(Image* image);

// A variable of the image in the context; null outputs are left alone.
CUresult find_variable(Image& image, Context& context, const char* name, bool managed, CUdeviceptr* address, size_t* bytes);

// What CUlaunchConfig describes, for the runtime's functions: the attributes have the same layout.
cudaLaunchConfig_t runtime_config(const CUlaunchConfig& config);
static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));

CUresult function_attribute(const Function& function, CUfunction_attribute attribute, int* value);

}  // namespace warpbeam::cuda::driver
