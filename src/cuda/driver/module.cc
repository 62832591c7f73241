// Modules.
#include "cuda/driver/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "cuda/driver/owners.h"
#include "cuda/modules/device_code.h"

namespace warpbeam::cuda::driver {

CUresult read_file(const char* path, std::string* bytes) {
  if (!path || !*path) return CUDA_ERROR_INVALID_VALUE;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) return CUDA_ERROR_FILE_NOT_FOUND;
  bytes->assign(std::istreambuf_iterator<char>(file), {});
  return CUDA_SUCCESS;
}

CUresult load_image(const void* image, Context& context, Context* only_in, JitOptions& options, Image** loaded) {
  if (!image || !options.valid()) return CUDA_ERROR_INVALID_VALUE;
  auto code = read_device_code(image, context.model);
  const auto begins = [](const std::string& text) { return text.find(".version") != std::string::npos; };
  if (code && std::ranges::none_of(*code, begins))
    code = Error{cudaErrorInvalidKernelImage, "the image is no fat binary and no PTX, which begins with .version"};
  if (!code) {
    std::string message = fmt::format("warpbeam: {}\n", code.error().message);
    if (std::string* log = options.error_log()) *log += message;
    else fmt::print(stderr, "{}", message);
    options.report();
    return result_of(static_cast<cudaError_t>(code.error().code));
  }
  Registry& registry = Registry::instance();
  Image* fresh = registry.add(std::move(*code), only_in);
  std::shared_ptr<const vm::Program> program;
  cudaError_t status = context.images->load(*fresh, options.error_log());
  if (status == cudaSuccess) status = context.images->program(*fresh, &program);
  if (status != cudaSuccess) {
    context.images->unload(*fresh);
    registry.remove(fresh);
    options.report();
    return result_of(status);
  }
  for (const auto& kernel : program->kernels()) {
    registry.add_kernel(fresh, nullptr, kernel->name.c_str());
    options.info += fmt::format("info: function {}: about {} registers, {} bytes of shared memory, {} bytes of stack\n", kernel->name,
                                kernel->registers, kernel->static_shared, kernel->local_bytes);
  }
  options.report();
  *loaded = fresh;
  return CUDA_SUCCESS;
}

CUresult unload_image(Image* image) {
  for_each_context([&](Context& context) {
    if (image->only_in && image->only_in != &context) return;
    context.synchronize();
    context.images->unload(*image);
  });
  Registry::instance().remove(image);
  return CUDA_SUCCESS;
}

CUresult find_variable(Image& image, Context& context, const char* name, bool managed, CUdeviceptr* address, size_t* bytes) {
  if (!name || (!address && !bytes)) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<const vm::Program> program;
  Context& place = image.only_in ? *image.only_in : context;
  if (cudaError_t status = place.images->program(image, &program); status != cudaSuccess) return result_of(status);
  const vm::ProgramVariable* variable = program->find_variable(name);
  // A static variable has its plain name in nvcc's modules.
  if (!variable) variable = program->find_variable(fmt::format("_ZL{}{}", std::strlen(name), name));
  if (!variable || (managed && !variable->managed)) return CUDA_ERROR_NOT_FOUND;
  if (address) *address = variable->address;
  if (bytes) *bytes = variable->size;
  return CUDA_SUCCESS;
}

namespace {

CUresult load(CUmodule* module, const void* image, unsigned count, CUjit_option* options, void** values) {
  return in_current([&](Context& context) {
    if (!module) return CUDA_ERROR_INVALID_VALUE;
    JitOptions jit(count, options, values);
    Image* loaded = nullptr;
    CUresult result = load_image(image, context, &context, jit, &loaded);
    if (result == CUDA_SUCCESS) *module = reinterpret_cast<CUmodule>(loaded);
    return result;
  });
}

template <class Body>
CUresult with_module(CUmodule module, Body&& body) {
  return call([&]() -> CUresult {
    Image* image = Registry::instance().image(module);
    if (!image) return CUDA_ERROR_INVALID_HANDLE;  // with or without a context
    return in_context_of(owner_of(module), CUDA_ERROR_INVALID_CONTEXT, [&](Context& context) { return body(*image, context); });
  });
}

CUresult get_global(CUdeviceptr* address, size_t* bytes, CUmodule module, const char* name) {
  return with_module(module, [&](Image& image, Context& context) { return find_variable(image, context, name, false, address, bytes); });
}

}  // namespace
}  // namespace warpbeam::cuda::driver

using namespace warpbeam::cuda;
using namespace warpbeam::cuda::driver;

extern "C" {

CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return in_current([&](Context&) {
    std::string bytes;
    CUresult result = read_file(path, &bytes);
    return result == CUDA_SUCCESS ? load(module, bytes.c_str(), 0, nullptr, nullptr) : result;
  });
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) { return load(module, image, 0, nullptr, nullptr); }

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, CUjit_option* options, void** values) {
  return load(module, image, count, options, values);
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) { return load(module, image, 0, nullptr, nullptr); }

CUresult cuModuleUnload(CUmodule module) {
  return with_module(module, [](Image& image, Context&) { return image.only_in ? unload_image(&image) : CUDA_ERROR_NOT_PERMITTED; });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return call([&] {
    if (!mode) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_LAZY_LOADING;  // what fat binaries of the host program get
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return with_module(module, [&](Image& image, Context&) {
    if (!function || !name) return CUDA_ERROR_INVALID_VALUE;
    auto found = std::ranges::find_if(image.kernels, [&](const auto& kernel) { return kernel->name == name; });
    if (found == image.kernels.end()) return CUDA_ERROR_NOT_FOUND;
    *function = function_handle(found->get());
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  return with_module(module, [&](Image& image, Context&) {
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<unsigned>(image.kernels.size());
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule module) {
  return with_module(module, [&](Image& image, Context&) {
    if (!functions || count == 0) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < std::min<size_t>(count, image.kernels.size()); ++i) functions[i] = function_handle(image.kernels[i].get());
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, CUmodule module, const char* name) {
  return get_global(address, bytes, module, name);
}

}  // extern "C"
