// The linker: PTX texts, whose externs are resolved against each other, become one image. The "cubin" it gives is a
// container of the texts, which every loader here takes and which may be linked again.
#include <fmt/format.h>

#include "cuda/device_code.h"
#include "cuda/driver/module.h"

namespace warpbeam::cuda::driver {

namespace {

struct Link {
  Link(Context& context, unsigned count, CUjit_option* options, void** values)
      : context(context), jit(count, options, values) {}
  Context& context;
  // The arrays stay the caller's until the link is destroyed: that is how the logs are reported.
  JitOptions jit;
  std::vector<std::string> texts, names;
  std::string image;
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
  if (std::string* log = link.jit.error_log())
    *log += message + "\n";
  else
    fmt::print(stderr, "warpbeam: {}\n", message);
  link.jit.report();
  return result;
}

CUresult add(Link& link, CUjitInputType type, const std::string& bytes, const char* name) {
  const char* called = name && *name ? name : "<unnamed>";
  switch (type) {
    case CU_JIT_INPUT_PTX:
      link.texts.push_back(bytes.c_str());
      break;  // up to a zero
    case CU_JIT_INPUT_CUBIN:
    case CU_JIT_INPUT_FATBINARY: {
      auto code = read_device_code(bytes.c_str(), link.context.model);
      if (!code)
        return refuse(link, result_of(static_cast<cudaError_t>(code.error().code)),
                      fmt::format("{}: {}", called, code.error().message));
      link.texts.insert(link.texts.end(), code->begin(), code->end());
      break;
    }
    // NVIDIA's device runtime comes as a library of machine code; what it offers is built in here.
    case CU_JIT_INPUT_LIBRARY:
    case CU_JIT_INPUT_OBJECT: {
      auto texts = relocatable_code(bytes, link.context.model);
      link.texts.insert(link.texts.end(), texts.begin(), texts.end());
      if (texts.empty() && !std::string_view(called).ends_with("libcudadevrt.a"))
        return refuse(link, CUDA_ERROR_NO_BINARY_FOR_GPU, fmt::format("{}: no PTX in it", called));
      break;
    }
    case CU_JIT_INPUT_NVVM:
      return refuse(link, CUDA_ERROR_NOT_SUPPORTED, fmt::format("{}: NVVM bitcode is not supported", called));
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  link.names.push_back(called);
  return CUDA_SUCCESS;
}

CUresult add_data(CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name, unsigned count,
                  CUjit_option* options, void** values) {
  return with_link(state, [&](Link& link) {
    if (!data || size == 0 || !JitOptions(count, options, values).valid() || !link.image.empty())
      return CUDA_ERROR_INVALID_VALUE;
    return add(link, type, std::string(static_cast<const char*>(data), size), name);
  });
}

CUresult add_file(CUlinkState state, CUjitInputType type, const char* path, unsigned count, CUjit_option* options,
                  void** values) {
  return with_link(state, [&](Link& link) {
    if (!JitOptions(count, options, values).valid() || !link.image.empty()) return CUDA_ERROR_INVALID_VALUE;
    std::string bytes;
    CUresult result = read_file(path, &bytes);
    return result == CUDA_SUCCESS ? add(link, type, bytes, path) : result;
  });
}

// The texts are linked once on trial, so that what is wrong is reported here and not when the image is loaded.
CUresult complete(Link& link, void** image, size_t* size) {
  if (!image || link.texts.empty()) return CUDA_ERROR_INVALID_VALUE;
  if (link.image.empty()) {
    std::vector<std::string_view> views(link.texts.begin(), link.texts.end());
    vm::LoadOptions options;
    options.device_cc = link.context.model.cc();
    std::shared_ptr<vm::Program> program;
    cudaError_t status = load_program(link.context, views, options, &program, link.jit.error_log());
    for (const std::string& name : link.names) link.jit.info += fmt::format("info: linked {}\n", name);
    link.jit.report();
    if (status != cudaSuccess) return result_of(status);
    link.image = pack_linked_code(link.texts);
  }
  *image = link.image.data();
  if (size) *size = link.image.size();
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

WB_BOTH(cuLinkCreate, (unsigned count, CUjit_option* options, void** values, CUlinkState* state),
        create(count, options, values, state))
WB_BOTH(cuLinkAddData,
        (CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name, unsigned count,
         CUjit_option* options, void** values),
        add_data(state, type, data, size, name, count, options, values))
WB_BOTH(cuLinkAddFile,
        (CUlinkState state, CUjitInputType type, const char* path, unsigned count, CUjit_option* options,
         void** values),
        add_file(state, type, path, count, options, values))

CUresult cuLinkComplete(CUlinkState state, void** image, size_t* size) {
  return with_link(state, [&](Link& link) { return complete(link, image, size); });
}

CUresult cuLinkDestroy(CUlinkState state) {
  return call([&] { return links().remove(state) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; });
}

}  // extern "C"
