// The C interface of the compiler from NVVM's intermediate language.
#include "nvvm.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "base/handle_table.h"
#include "libraries/nvvm/compile.h"
#include "libraries/nvvm/options.h"

#define WB_EXPORT __attribute__((visibility("default")))

namespace {

using namespace warpbeam::nvvm;

struct Program {
  std::vector<Input> inputs;
  std::optional<std::string> code;
  std::string log;
};

auto& programs() {
  static auto* table = new warpbeam::HandleTable<Program>;
  return *table;
}

template <class Body>
nvvmResult with_program(nvvmProgram handle, Body&& body) noexcept {
  try {
    const auto program = programs().find(handle);
    return program ? body(*program) : NVVM_ERROR_INVALID_PROGRAM;
  } catch (const std::bad_alloc&) {
    return NVVM_ERROR_OUT_OF_MEMORY;
  } catch (...) {
    return NVVM_ERROR_COMPILATION;
  }
}

nvvmResult add_module(nvvmProgram handle, const char* bytes, size_t size, const char* name, bool lazy) {
  return with_program(handle, [&](Program& program) {
    if (!bytes || size == 0) return NVVM_ERROR_INVALID_INPUT;
    program.inputs.push_back({name && *name ? name : "<unnamed>", std::string(bytes, size), lazy});
    return NVVM_SUCCESS;
  });
}

nvvmResult result_of(Status status, nvvmResult otherwise) {
  switch (status) {
    case Status::Ok: return NVVM_SUCCESS;
    case Status::WrongVersion: return NVVM_ERROR_IR_VERSION_MISMATCH;
    case Status::Invalid:
    case Status::Unreadable: return otherwise;
  }
  return otherwise;
}

bool has_module(const Program& program) {
  for (const Input& input : program.inputs)
    if (!input.lazy) return true;
  return false;
}

// A text has a closing zero, which counts.
size_t closing_zero(const std::string& code) { return code.starts_with(kLinkable) ? 0 : 1; }

// What both calls do first.
nvvmResult prepare(Program& program, int count, const char** words, Options* options) {
  program.log.clear();
  program.code.reset();
  if (count < 0 || (count > 0 && !words)) return NVVM_ERROR_INVALID_OPTION;
  if (!read_options(words, count, options, &program.log)) return NVVM_ERROR_INVALID_OPTION;
  return has_module(program) ? NVVM_SUCCESS : NVVM_ERROR_NO_MODULE_IN_PROGRAM;
}

}  // namespace

extern "C" {

WB_EXPORT const char* nvvmGetErrorString(nvvmResult result) {
  constexpr const char* kNames[] = {"NVVM_SUCCESS",
                                    "NVVM_ERROR_OUT_OF_MEMORY",
                                    "NVVM_ERROR_PROGRAM_CREATION_FAILURE",
                                    "NVVM_ERROR_IR_VERSION_MISMATCH",
                                    "NVVM_ERROR_INVALID_INPUT",
                                    "NVVM_ERROR_INVALID_PROGRAM",
                                    "NVVM_ERROR_INVALID_IR",
                                    "NVVM_ERROR_INVALID_OPTION",
                                    "NVVM_ERROR_NO_MODULE_IN_PROGRAM",
                                    "NVVM_ERROR_COMPILATION",
                                    "NVVM_ERROR_CANCELLED"};
  const auto index = static_cast<unsigned>(result);
  return index < std::size(kNames) ? kNames[index] : "Unrecognized NVVM error code";
}

WB_EXPORT nvvmResult nvvmVersion(int* major, int* minor) {
  if (!major || !minor) return NVVM_ERROR_INVALID_INPUT;
  *major = 2;
  *minor = 0;
  return NVVM_SUCCESS;
}

WB_EXPORT nvvmResult nvvmIRVersion(int* major, int* minor, int* debug_major, int* debug_minor) {
  if (!major || !minor || !debug_major || !debug_minor) return NVVM_ERROR_INVALID_INPUT;
  *major = kIrVersion[0];
  *minor = kIrVersion[1];
  *debug_major = kIrVersion[2];
  *debug_minor = kIrVersion[3];
  return NVVM_SUCCESS;
}

// Of which LLVM the dialect is: of 7 up to Hopper.
WB_EXPORT nvvmResult nvvmLLVMVersion(const char* arch, int* major) {
  if (!arch || !major) return NVVM_ERROR_INVALID_INPUT;
  std::string_view text = arch;
  if (!text.starts_with("compute_")) return NVVM_ERROR_INVALID_INPUT;
  text.remove_prefix(8);
  int cc = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), cc).ec != std::errc()) return NVVM_ERROR_INVALID_INPUT;
  *major = cc < 100 ? 7 : 20;
  return NVVM_SUCCESS;
}

WB_EXPORT nvvmResult nvvmCreateProgram(nvvmProgram* handle) {
  if (!handle) return NVVM_ERROR_INVALID_INPUT;
  try {
    auto program = std::make_shared<Program>();
    *handle = reinterpret_cast<nvvmProgram>(program.get());
    programs().add(std::move(program));
    return NVVM_SUCCESS;
  } catch (...) {
    return NVVM_ERROR_OUT_OF_MEMORY;
  }
}

WB_EXPORT nvvmResult nvvmDestroyProgram(nvvmProgram* handle) {
  if (!handle) return NVVM_ERROR_INVALID_PROGRAM;
  if (!programs().remove(*handle)) return NVVM_ERROR_INVALID_PROGRAM;
  *handle = nullptr;
  return NVVM_SUCCESS;
}

WB_EXPORT nvvmResult nvvmAddModuleToProgram(nvvmProgram handle, const char* bytes, size_t size, const char* name) {
  return add_module(handle, bytes, size, name, false);
}

WB_EXPORT nvvmResult nvvmLazyAddModuleToProgram(nvvmProgram handle, const char* bytes, size_t size, const char* name) {
  return add_module(handle, bytes, size, name, true);
}

WB_EXPORT nvvmResult nvvmCompileProgram(nvvmProgram handle, int count, const char** words) {
  return with_program(handle, [&](Program& program) {
    Options options;
    if (const nvvmResult result = prepare(program, count, words, &options); result != NVVM_SUCCESS) return result;
    Compiled compiled = compile(program.inputs, options);
    program.log += compiled.log;
    if (compiled.status == Status::Ok) program.code = std::move(compiled.code);
    return result_of(compiled.status, NVVM_ERROR_COMPILATION);
  });
}

WB_EXPORT nvvmResult nvvmVerifyProgram(nvvmProgram handle, int count, const char** words) {
  return with_program(handle, [&](Program& program) {
    Options options;
    if (const nvvmResult result = prepare(program, count, words, &options); result != NVVM_SUCCESS) return result;
    const Compiled compiled = verify(program.inputs);
    program.log += compiled.log;
    return result_of(compiled.status, NVVM_ERROR_INVALID_IR);
  });
}

WB_EXPORT nvvmResult nvvmGetCompiledResultSize(nvvmProgram handle, size_t* size) {
  return with_program(handle, [&](Program& program) {
    if (!size) return NVVM_ERROR_INVALID_INPUT;
    *size = program.code ? program.code->size() + closing_zero(*program.code) : 1;
    return NVVM_SUCCESS;
  });
}

WB_EXPORT nvvmResult nvvmGetCompiledResult(nvvmProgram handle, char* to) {
  return with_program(handle, [&](Program& program) {
    if (!to) return NVVM_ERROR_INVALID_INPUT;
    const std::string none, &code = program.code ? *program.code : none;
    std::memcpy(to, code.c_str(), code.size() + closing_zero(code));
    return NVVM_SUCCESS;
  });
}

WB_EXPORT nvvmResult nvvmGetProgramLogSize(nvvmProgram handle, size_t* size) {
  return with_program(handle, [&](Program& program) {
    if (!size) return NVVM_ERROR_INVALID_INPUT;
    *size = program.log.size() + 1;
    return NVVM_SUCCESS;
  });
}

WB_EXPORT nvvmResult nvvmGetProgramLog(nvvmProgram handle, char* to) {
  return with_program(handle, [&](Program& program) {
    if (!to) return NVVM_ERROR_INVALID_INPUT;
    std::memcpy(to, program.log.c_str(), program.log.size() + 1);
    return NVVM_SUCCESS;
  });
}

}  // extern "C"
