// The C interface of run-time compilation.
#include "nvrtc.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/handle_table.h"
#include "compiler/arch.h"
#include "compiler/toolchain.h"
#include "libraries/nvrtc/compile.h"

#define WB_EXPORT __attribute__((visibility("default")))

namespace {

using namespace warpbeam;

struct Program {
  nvrtc::Source source;
  std::unique_ptr<nvrtc::Compiled> compiled;  // null: not compiled yet
};

auto& programs() {
  static auto* table = new HandleTable<Program>;
  return *table;
}

template <class Body>
nvrtcResult with_program(nvrtcProgram handle, Body&& body) noexcept {
  try {
    const auto program = programs().find(handle);
    return program ? body(*program) : NVRTC_ERROR_INVALID_PROGRAM;
  } catch (const std::bad_alloc&) {
    return NVRTC_ERROR_OUT_OF_MEMORY;
  } catch (...) {
    return NVRTC_ERROR_INTERNAL_ERROR;
  }
}

// What was compiled, as the two functions for a size and for a text want it. Texts end with a zero, which counts.
using Part = const std::string& (*)(const nvrtc::Compiled&);

nvrtcResult part_size(nvrtcProgram handle, size_t* size, Part part) {
  return with_program(handle, [&](Program& program) {
    if (!size) return NVRTC_ERROR_INVALID_INPUT;
    if (!program.compiled || program.compiled->result != NVRTC_SUCCESS) return NVRTC_ERROR_INVALID_PROGRAM;
    *size = part(*program.compiled).size() + 1;
    return NVRTC_SUCCESS;
  });
}

nvrtcResult part_text(nvrtcProgram handle, char* text, Part part) {
  return with_program(handle, [&](Program& program) {
    if (!text) return NVRTC_ERROR_INVALID_INPUT;
    if (!program.compiled || program.compiled->result != NVRTC_SUCCESS) return NVRTC_ERROR_INVALID_PROGRAM;
    const std::string& from = part(*program.compiled);
    std::memcpy(text, from.c_str(), from.size() + 1);
    return NVRTC_SUCCESS;
  });
}

const std::string& ptx_of(const nvrtc::Compiled& compiled) { return compiled.ptx; }

// Formats that only the vendor's tools read.
nvrtcResult vendor_format(nvrtcProgram handle, const void* out) {
  return with_program(handle, [&](Program&) { return out ? NVRTC_ERROR_INVALID_PROGRAM : NVRTC_ERROR_INVALID_INPUT; });
}

// Made with -dlto only.
template <class Body>
nvrtcResult with_linkable(nvrtcProgram handle, const void* out, Body&& body) {
  return with_program(handle, [&](Program& program) {
    if (!out) return NVRTC_ERROR_INVALID_INPUT;
    if (!program.compiled || program.compiled->linkable.empty()) return NVRTC_ERROR_INVALID_PROGRAM;
    body(program.compiled->linkable);
    return NVRTC_SUCCESS;
  });
}

constexpr const char* kNames[] = {
    "NVRTC_SUCCESS",
    "NVRTC_ERROR_OUT_OF_MEMORY",
    "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
    "NVRTC_ERROR_INVALID_INPUT",
    "NVRTC_ERROR_INVALID_PROGRAM",
    "NVRTC_ERROR_INVALID_OPTION",
    "NVRTC_ERROR_COMPILATION",
    "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
    "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
    "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
    "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
    "NVRTC_ERROR_INTERNAL_ERROR",
    "NVRTC_ERROR_TIME_FILE_WRITE_FAILED",
    "NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED",
    "NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED",
    "NVRTC_ERROR_PCH_CREATE",
    "NVRTC_ERROR_CANCELLED",
    "NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED",
};

std::vector<int> architectures() {
  constexpr int kOldest = 50;
  std::vector<int> list;
  for (const auto& arch : compiler::known_archs())
    if (!arch.specific && arch.cc >= kOldest) list.push_back(arch.cc);
  return list;
}

size_t pch_heap_bytes = 256 << 20;

}  // namespace

extern "C" {

WB_EXPORT const char* nvrtcGetErrorString(nvrtcResult result) {
  return result >= 0 && static_cast<size_t>(result) < std::size(kNames) ? kNames[result] : "NVRTC_ERROR unknown";
}

WB_EXPORT nvrtcResult nvrtcVersion(int* major, int* minor) {
  if (!major || !minor) return NVRTC_ERROR_INVALID_INPUT;
  *major = compiler::kCudaMajor;
  *minor = compiler::kCudaMinor;
  return NVRTC_SUCCESS;
}

WB_EXPORT nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
  if (!count) return NVRTC_ERROR_INVALID_INPUT;
  *count = static_cast<int>(architectures().size());
  return NVRTC_SUCCESS;
}

WB_EXPORT nvrtcResult nvrtcGetSupportedArchs(int* list) {
  if (!list) return NVRTC_ERROR_INVALID_INPUT;
  std::ranges::copy(architectures(), list);
  return NVRTC_SUCCESS;
}

WB_EXPORT nvrtcResult nvrtcCreateProgram(nvrtcProgram* handle, const char* text, const char* name, int count, const char* const* headers,
                                         const char* const* names) {
  if (!handle || !text || count < 0 || (count && (!headers || !names))) return NVRTC_ERROR_INVALID_INPUT;
  auto program = std::make_shared<Program>();
  program->source.text = text;
  program->source.name = name && *name ? name : "default_program";
  for (int i = 0; i < count; ++i) {
    if (!headers[i] || !names[i]) return NVRTC_ERROR_INVALID_INPUT;
    program->source.headers.push_back({names[i], headers[i]});
  }
  *handle = reinterpret_cast<nvrtcProgram>(program.get());
  programs().add(std::move(program));
  return NVRTC_SUCCESS;
}

WB_EXPORT nvrtcResult nvrtcDestroyProgram(nvrtcProgram* handle) {
  if (!handle) return NVRTC_ERROR_INVALID_PROGRAM;
  if (!programs().remove(*handle)) return NVRTC_ERROR_INVALID_PROGRAM;
  *handle = nullptr;
  return NVRTC_SUCCESS;
}

WB_EXPORT nvrtcResult nvrtcCompileProgram(nvrtcProgram handle, int count, const char* const* options) {
  return with_program(handle, [&](Program& program) {
    if (count < 0 || (count && !options)) return NVRTC_ERROR_INVALID_INPUT;
    std::vector<std::string> words;
    for (int i = 0; i < count; ++i) {
      if (!options[i]) return NVRTC_ERROR_INVALID_INPUT;
      words.push_back(options[i]);
    }
    program.compiled = std::make_unique<nvrtc::Compiled>(nvrtc::compile(program.source, words));
    return program.compiled->result;
  });
}

WB_EXPORT nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t* size) { return part_size(program, size, ptx_of); }
WB_EXPORT nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* text) { return part_text(program, text, ptx_of); }

// For a virtual architecture there is no cubin, and its size is 0.
WB_EXPORT nvrtcResult nvrtcGetCUBINSize(nvrtcProgram handle, size_t* size) {
  nvrtcResult result = part_size(handle, size, ptx_of);
  if (result != NVRTC_SUCCESS) return result;
  return with_program(handle, [&](Program& program) {
    if (!program.compiled->real_architecture) *size = 0;
    return NVRTC_SUCCESS;
  });
}

WB_EXPORT nvrtcResult nvrtcGetCUBIN(nvrtcProgram handle, char* bytes) {
  return with_program(handle, [&](Program& program) {
    if (program.compiled && !program.compiled->real_architecture) return NVRTC_ERROR_INVALID_PROGRAM;
    return part_text(handle, bytes, ptx_of);
  });
}

WB_EXPORT nvrtcResult nvrtcGetLTOIRSize(nvrtcProgram handle, size_t* size) {
  return with_linkable(handle, size, [&](const std::string& bytes) { *size = bytes.size(); });
}
WB_EXPORT nvrtcResult nvrtcGetLTOIR(nvrtcProgram handle, char* to) {
  return with_linkable(handle, to, [&](const std::string& bytes) { std::memcpy(to, bytes.data(), bytes.size()); });
}
WB_EXPORT nvrtcResult nvrtcGetOptiXIRSize(nvrtcProgram program, size_t* size) { return vendor_format(program, size); }
WB_EXPORT nvrtcResult nvrtcGetOptiXIR(nvrtcProgram program, char* bytes) { return vendor_format(program, bytes); }
WB_EXPORT nvrtcResult nvrtcGetNVVMSize(nvrtcProgram program, size_t* size) { return vendor_format(program, size); }
WB_EXPORT nvrtcResult nvrtcGetNVVM(nvrtcProgram program, char* bytes) { return vendor_format(program, bytes); }

// A log is there after a failure too.
WB_EXPORT nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram handle, size_t* size) {
  return with_program(handle, [&](Program& program) {
    if (!size) return NVRTC_ERROR_INVALID_INPUT;
    *size = program.compiled ? program.compiled->log.size() + 1 : 1;
    return NVRTC_SUCCESS;
  });
}

WB_EXPORT nvrtcResult nvrtcGetProgramLog(nvrtcProgram handle, char* text) {
  return with_program(handle, [&](Program& program) {
    if (!text) return NVRTC_ERROR_INVALID_INPUT;
    const std::string empty, &log = program.compiled ? program.compiled->log : empty;
    std::memcpy(text, log.c_str(), log.size() + 1);
    return NVRTC_SUCCESS;
  });
}

WB_EXPORT nvrtcResult nvrtcAddNameExpression(nvrtcProgram handle, const char* const expression) {
  return with_program(handle, [&](Program& program) {
    if (!expression) return NVRTC_ERROR_INVALID_INPUT;
    if (program.compiled) return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
    program.source.name_expressions.push_back(expression);
    return NVRTC_SUCCESS;
  });
}

WB_EXPORT nvrtcResult nvrtcGetLoweredName(nvrtcProgram handle, const char* const expression, const char** name) {
  return with_program(handle, [&](Program& program) {
    if (!expression || !name) return NVRTC_ERROR_INVALID_INPUT;
    if (!program.compiled) return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
    auto found = program.compiled->lowered_names.find(expression);
    if (found == program.compiled->lowered_names.end()) return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
    *name = found->second.c_str();
    return NVRTC_SUCCESS;
  });
}

// Headers are not precompiled; the size of the heap for that is only remembered.
WB_EXPORT nvrtcResult nvrtcGetPCHHeapSize(size_t* size) {
  if (!size) return NVRTC_ERROR_INVALID_INPUT;
  *size = pch_heap_bytes;
  return NVRTC_SUCCESS;
}

WB_EXPORT nvrtcResult nvrtcSetPCHHeapSize(size_t size) {
  pch_heap_bytes = size;
  return NVRTC_SUCCESS;
}

WB_EXPORT nvrtcResult nvrtcGetPCHCreateStatus(nvrtcProgram handle) {
  return with_program(handle, [](Program&) { return NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED; });
}

WB_EXPORT nvrtcResult nvrtcGetPCHHeapSizeRequired(nvrtcProgram handle, size_t* size) {
  return with_program(handle, [&](Program&) { return size ? NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED : NVRTC_ERROR_INVALID_INPUT; });
}

// Compilations take a second; there is no point in between at which to ask.
WB_EXPORT nvrtcResult nvrtcSetFlowCallback(nvrtcProgram handle, int (*callback)(void*, void*), void*) {
  return with_program(handle, [&](Program&) { return callback ? NVRTC_SUCCESS : NVRTC_ERROR_INVALID_INPUT; });
}

}  // extern "C"
