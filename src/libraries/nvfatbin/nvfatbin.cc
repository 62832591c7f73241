// The C interface that puts containers together. It takes what it is given: a text is checked when it is loaded.
#include "nvFatbin.h"

#include <charconv>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/handle_table.h"
#include "fatbin/linked.h"
#include "fatbin/write.h"

#define WB_EXPORT __attribute__((visibility("default")))

namespace {

using warpbeam::fatbin::Text;

struct Container {
  std::vector<Text> texts;
  std::string bytes;  // of all texts, once they were asked for
};

auto& containers() {
  static auto* table = new warpbeam::HandleTable<Container>;
  return *table;
}

template <class Body>
nvFatbinResult with_container(nvFatbinHandle handle, Body&& body) noexcept {
  if (!handle) return NVFATBIN_ERROR_NULL_POINTER;
  try {
    auto container = containers().find(handle);
    return container ? body(*container) : NVFATBIN_ERROR_INTERNAL;
  } catch (...) {
    return NVFATBIN_ERROR_INTERNAL;
  }
}

// "90a", "sm_80", "compute_75": the number; 0 if there is none.
int number_of(std::string_view arch) {
  for (std::string_view prefix : {"sm_", "compute_"})
    if (arch.starts_with(prefix)) arch.remove_prefix(prefix.size());
  int number = 0;
  const auto [end, error] = std::from_chars(arch.data(), arch.data() + arch.size(), number);
  const std::string_view suffix(end, static_cast<size_t>(arch.data() + arch.size() - end));
  return error == std::errc() && (suffix.empty() || suffix == "a" || suffix == "f") ? number : 0;
}

// Texts end where their zero byte is, which counts for some callers.
std::string text_of(const void* code, size_t size) {
  const std::string_view all(static_cast<const char*>(code), size);
  return std::string(all.substr(0, all.find('\0')));
}

nvFatbinResult add_text(Container& to, std::string ptx, const char* arch) {
  const size_t target = ptx.find(".target");
  if (ptx.find(".version") == ptx.npos) return NVFATBIN_ERROR_MISSING_PTX_VERSION;
  if (target == ptx.npos) return NVFATBIN_ERROR_MISSING_PTX_ARCH;
  const int cc = number_of(arch);
  if (!cc) return NVFATBIN_ERROR_INVALID_ARCH;
  const size_t begin = ptx.find_first_not_of(" \t", target + std::string_view(".target").size());
  const size_t end = ptx.find_first_of(" \t\r\n,", begin);
  if (begin == ptx.npos || number_of(std::string_view(ptx).substr(begin, end - begin)) > cc) return NVFATBIN_ERROR_PTX_ARCH_MISMATCH;
  to.texts.push_back({cc, std::move(ptx)});
  to.bytes.clear();
  return NVFATBIN_SUCCESS;
}

const std::string& bytes_of(Container& container) {
  if (container.bytes.empty()) container.bytes = warpbeam::fatbin::write(container.texts);
  return container.bytes;
}

// Options steer compression, which there is none of, and name the host.
bool is_option(std::string_view word) {
  for (std::string_view known :
       {"-32", "-64", "-c", "-compress", "-compress-all", "-cuda", "-opencl", "-g", "-host=", "-compress=", "-compress-mode="})
    if (known.ends_with('=') ? word.starts_with(known) : word == known) return true;
  return false;
}

}  // namespace

extern "C" {

WB_EXPORT nvFatbinResult nvFatbinCreate(nvFatbinHandle* handle, const char** options, size_t count) {
  if (!handle || (count && !options)) return NVFATBIN_ERROR_NULL_POINTER;
  try {
    for (size_t i = 0; i < count; ++i) {
      if (!options[i]) return NVFATBIN_ERROR_NULL_POINTER;
      if (!is_option(options[i])) return NVFATBIN_ERROR_UNRECOGNIZED_OPTION;
    }
    auto container = std::make_shared<Container>();
    *handle = reinterpret_cast<nvFatbinHandle>(container.get());
    containers().add(std::move(container));
    return NVFATBIN_SUCCESS;
  } catch (...) {
    return NVFATBIN_ERROR_INTERNAL;
  }
}

WB_EXPORT nvFatbinResult nvFatbinDestroy(nvFatbinHandle* handle) {
  if (!handle || !*handle) return NVFATBIN_ERROR_NULL_POINTER;
  if (!containers().remove(*handle)) return NVFATBIN_ERROR_INTERNAL;
  *handle = nullptr;
  return NVFATBIN_SUCCESS;
}

WB_EXPORT nvFatbinResult nvFatbinAddPTX(nvFatbinHandle handle, const char* code, size_t size, const char* arch, const char*, const char*) {
  return with_container(handle, [&](Container& to) {
    if (!code || !arch) return NVFATBIN_ERROR_NULL_POINTER;
    if (size == 0 || !*code) return NVFATBIN_ERROR_EMPTY_INPUT;
    return add_text(to, text_of(code, size), arch);
  });
}

// NVRTC's cubin here is the text, nvJitLink's holds what was linked: of one text that is the same.
WB_EXPORT nvFatbinResult nvFatbinAddCubin(nvFatbinHandle handle, const void* code, size_t size, const char* arch, const char*) {
  return with_container(handle, [&](Container& to) {
    if (!code || !arch) return NVFATBIN_ERROR_NULL_POINTER;
    if (size == 0) return NVFATBIN_ERROR_EMPTY_INPUT;
    const std::string_view bytes(static_cast<const char*>(code), size);
    if (warpbeam::fatbin::linked_fits(bytes)) {
      const auto texts = warpbeam::fatbin::unpack_linked(code);
      return texts.size() == 1 ? add_text(to, texts[0], arch) : NVFATBIN_ERROR_INTERNAL;
    }
    if (bytes.find(".version") != bytes.npos) return add_text(to, text_of(code, size), arch);
    return bytes.starts_with(
               "\x7f"
               "ELF")
               ? NVFATBIN_ERROR_INTERNAL
               : NVFATBIN_ERROR_ELF_SIZE_MISMATCH;
  });
}

WB_EXPORT nvFatbinResult nvFatbinAddLTOIR(nvFatbinHandle handle, const void* code, size_t, const char*, const char*, const char*) {
  return with_container(handle, [&](Container&) { return code ? NVFATBIN_ERROR_INVALID_NVVM : NVFATBIN_ERROR_NULL_POINTER; });
}

// Of an object that nvcc made for linking.
WB_EXPORT nvFatbinResult nvFatbinAddReloc(nvFatbinHandle handle, const void* code, size_t) {
  return with_container(handle, [&](Container&) { return code ? NVFATBIN_ERROR_INTERNAL : NVFATBIN_ERROR_NULL_POINTER; });
}

WB_EXPORT nvFatbinResult nvFatbinAddIndex(nvFatbinHandle handle, const void* code, size_t, const char*) {
  return with_container(handle, [&](Container&) { return code ? NVFATBIN_ERROR_INVALID_INDEX : NVFATBIN_ERROR_NULL_POINTER; });
}

WB_EXPORT nvFatbinResult nvFatbinSize(nvFatbinHandle handle, size_t* size) {
  return with_container(handle, [&](Container& container) {
    if (!size) return NVFATBIN_ERROR_NULL_POINTER;
    *size = bytes_of(container).size();
    return NVFATBIN_SUCCESS;
  });
}

WB_EXPORT nvFatbinResult nvFatbinGet(nvFatbinHandle handle, void* buffer) {
  return with_container(handle, [&](Container& container) {
    if (!buffer) return NVFATBIN_ERROR_NULL_POINTER;
    std::memcpy(buffer, bytes_of(container).data(), container.bytes.size());
    return NVFATBIN_SUCCESS;
  });
}

WB_EXPORT nvFatbinResult nvFatbinVersion(unsigned* major, unsigned* minor) {
  if (!major || !minor) return NVFATBIN_ERROR_NULL_POINTER;
  *major = 13, *minor = 0;
  return NVFATBIN_SUCCESS;
}

WB_EXPORT const char* nvFatbinGetErrorString(nvFatbinResult result) {
  constexpr const char* kTexts[] = {nullptr,
                                    "internal error: what was given cannot stand in a fat binary",
                                    "the machine code is for another architecture",
                                    "the machine code has no header",
                                    "the PTX has no .version",
                                    "a pointer is null",
                                    "compression failed",
                                    "the compressed code is larger than allowed",
                                    "unrecognized option",
                                    "there is no such architecture",
                                    "this LTO-IR is not supported",
                                    "the input is empty",
                                    "the PTX has no .target",
                                    "the PTX is for a newer architecture",
                                    "there is no fat binary",
                                    "the index is invalid",
                                    "the identifier was used before",
                                    "an option for PTX is invalid"};
  return result >= 0 && static_cast<size_t>(result) < std::size(kTexts) ? kTexts[result] : "unknown error";
}

}  // extern "C"
