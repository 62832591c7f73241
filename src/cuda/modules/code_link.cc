#include "cuda/modules/code_link.h"

#include <fmt/format.h>

#include "cuda/modules/device_code.h"
#include "cuda/modules/modules.h"
#include "fatbin/linked.h"
#include "ptx/module.h"

namespace warpbeam::cuda {

Result<void> CodeLink::add(Form form, const std::string& bytes, const std::string& name) {
  switch (form) {
    case Form::Ptx: texts_.push_back(bytes.c_str()); break;  // up to a zero
    case Form::Image: {
      if (!holds_whole_image(bytes)) return Error{cudaErrorInvalidKernelImage, fmt::format("{}: its end is missing", name)};
      auto code = read_device_code(bytes.c_str(), device_);
      if (!code) return Error{code.error().code, fmt::format("{}: {}", name, code.error().message)};
      texts_.insert(texts_.end(), code->begin(), code->end());
      break;
    }
    // NVIDIA's device runtime comes as a library of machine code; what it offers is built in here.
    case Form::HostObject: {
      auto texts = relocatable_code(bytes, device_);
      if (texts.empty() && !name.ends_with("libcudadevrt.a"))
        return Error{cudaErrorNoKernelImageForDevice, fmt::format("{}: no PTX in it", name)};
      texts_.insert(texts_.end(), texts.begin(), texts.end());
      break;
    }
  }
  names_.push_back(name);
  return {};
}

void CodeLink::append(const CodeLink& other) {
  texts_.insert(texts_.end(), other.texts_.begin(), other.texts_.end());
  names_.insert(names_.end(), other.names_.begin(), other.names_.end());
}

Result<void> CodeLink::check() const {
  std::string wrong;
  for (const std::string& text : texts_) {
    const ptx::ParseResult parsed = ptx::parse(text);
    for (const ptx::Diagnostic& diagnostic : parsed.diagnostics) wrong += describe(diagnostic) + "\n";
    if (parsed.diagnostics.empty() && parsed.module->target_sm > device_.cc())
      wrong += fmt::format("the text is for sm_{}, which {} is older than\n", parsed.module->target_sm, device_.name);
  }
  if (wrong.empty()) return {};
  wrong.pop_back();
  return Error{cudaErrorInvalidPtx, wrong};
}

cudaError_t CodeLink::link(vm::DeviceMemory& memory, std::string* log) {
  const std::vector<std::string_view> views(texts_.begin(), texts_.end());
  vm::LoadOptions options;
  options.device_cc = device_.cc();
  std::shared_ptr<vm::Program> program;
  if (cudaError_t status = load_program(memory, views, options, &program, log); status != cudaSuccess) return status;
  image_ = fatbin::pack_linked(texts_);
  return cudaSuccess;
}

cudaError_t CodeLink::link(std::string* log) {
  constexpr uint64_t kCapacity = uint64_t{1} << 38;  // address space: pages that nobody touches take up nothing
  vm::DeviceMemory memory(kCapacity, 2 * kCapacity);
  return link(memory, log);
}

}  // namespace warpbeam::cuda
