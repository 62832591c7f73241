// The linker: PTX texts, whose externs are resolved against each other, become one image, the "cubin".
#include <fmt/format.h>

#include "cuda/driver/module.h"
#include "cuda/modules/code_link.h"

namespace warpbeam::cuda::driver {

namespace {

struct Link {
  Link(Context& context, unsigned count, CUjit_option* options, void** values)
      : context(context), jit(count, options, values), code(context.model) {}
  Context& context;
  // The arrays stay the caller's until the link is destroyed: that is how the logs are reported.
  JitOptions jit;
  CodeLink code;
};

HandleTable<Link>& links() {
  static auto* table = new HandleTable<Link>;
  return *table;
}

template <class Body>
CUresult with_link(CUlinkState state, Body&& body) {
  return call([&] {
    auto link = links().find(state);
    return link ? result_of(body(*link)) : CUDA_ERROR_INVALID_HANDLE;
  });
}

CUresult create(unsigned count, CUjit_option* options, void** values, CUlinkState* state) {
  return in_current([&](Context& context) {
    auto link = std::make_shared<Link>(context, count, options, values);
    if (!state || !link->jit.valid()) return CUDA_ERROR_INVALID_VALUE;
    *state = reinterpret_cast<CUlinkState>(link.get());
    links().add(std::move(link));
    return CUDA_SUCCESS;
  });
}

CUresult refuse(Link& link, CUresult result, const std::string& message) {
  if (std::string* log = link.jit.error_log()) *log += message + "\n";
  else fmt::print(stderr, "warpbeam: {}\n", message);
  link.jit.report();
  return result;
}

CUresult add(Link& link, CUjitInputType type, const std::string& bytes, const char* name) {
  const std::string called = name && *name ? name : "<unnamed>";
  CodeLink::Form form;
  switch (type) {
    case CU_JIT_INPUT_PTX: form = CodeLink::Form::Ptx; break;
    case CU_JIT_INPUT_CUBIN:
    case CU_JIT_INPUT_FATBINARY: form = CodeLink::Form::Image; break;
    case CU_JIT_INPUT_LIBRARY:
    case CU_JIT_INPUT_OBJECT: form = CodeLink::Form::HostObject; break;
    case CU_JIT_INPUT_NVVM: return refuse(link, CUDA_ERROR_NOT_SUPPORTED, fmt::format("{}: NVVM bitcode is not supported", called));
    default: return CUDA_ERROR_INVALID_VALUE;
  }
  auto added = link.code.add(form, bytes, called);
  return added ? CUDA_SUCCESS : refuse(link, result_of(static_cast<cudaError_t>(added.error().code)), added.error().message);
}

CUresult add_data(CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name, unsigned count, CUjit_option* options,
                  void** values) {
  return with_link(state, [&](Link& link) {
    if (!data || size == 0 || !JitOptions(count, options, values).valid() || !link.code.image().empty()) return CUDA_ERROR_INVALID_VALUE;
    return add(link, type, std::string(static_cast<const char*>(data), size), name);
  });
}

CUresult add_file(CUlinkState state, CUjitInputType type, const char* path, unsigned count, CUjit_option* options, void** values) {
  return with_link(state, [&](Link& link) {
    if (!JitOptions(count, options, values).valid() || !link.code.image().empty()) return CUDA_ERROR_INVALID_VALUE;
    std::string bytes;
    CUresult result = read_file(path, &bytes);
    return result == CUDA_SUCCESS ? add(link, type, bytes, path) : result;
  });
}

CUresult complete(Link& link, void** image, size_t* size) {
  if (!image || link.code.empty()) return CUDA_ERROR_INVALID_VALUE;
  if (link.code.image().empty()) {
    const cudaError_t status = link.code.link(link.context.memory, link.jit.error_log());
    for (const std::string& name : link.code.names()) link.jit.info += fmt::format("info: linked {}\n", name);
    link.jit.report();
    if (status != cudaSuccess) return result_of(status);
  }
  *image = const_cast<char*>(link.code.image().data());
  if (size) *size = link.code.image().size();
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace warpbeam::cuda::driver

using namespace warpbeam::cuda;
using namespace warpbeam::cuda::driver;

// The second interface has the parameters of the first.
#define WB_BOTH(name, parameters, ...)                     \
  WB_TWIN CUresult name parameters { return __VA_ARGS__; } \
  WB_TWIN CUresult name##_v2 parameters { return __VA_ARGS__; }

extern "C" {

WB_BOTH(cuLinkCreate, (unsigned count, CUjit_option* options, void** values, CUlinkState* state), create(count, options, values, state))
WB_BOTH(cuLinkAddData,
        (CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name, unsigned count, CUjit_option* options,
         void** values),
        add_data(state, type, data, size, name, count, options, values))
WB_BOTH(cuLinkAddFile, (CUlinkState state, CUjitInputType type, const char* path, unsigned count, CUjit_option* options, void** values),
        add_file(state, type, path, count, options, values))

CUresult cuLinkComplete(CUlinkState state, void** image, size_t* size) {
  return with_link(state, [&](Link& link) { return complete(link, image, size); });
}

CUresult cuLinkDestroy(CUlinkState state) {
  return call([&] { return links().remove(state) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; });
}

}  // extern "C"
