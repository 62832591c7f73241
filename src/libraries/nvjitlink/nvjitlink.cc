// The C interface of the linker at run time.
#include "nvJitLink.h"

#include <cstring>
#include <memory>

#include "base/handle_table.h"
#include "compiler/toolchain.h"
#include "libraries/nvjitlink/link.h"

#define WB_EXPORT __attribute__((visibility("default")))

namespace {

using warpbeam::nvjitlink::Link;

auto& links() {
  static auto* table = new warpbeam::HandleTable<Link>;
  return *table;
}

template <class Body>
nvJitLinkResult with_link(nvJitLinkHandle handle, Body&& body) noexcept {
  if (!handle) return NVJITLINK_ERROR_NULL_INPUT;
  try {
    auto link = links().find(handle);
    return link ? body(*link) : NVJITLINK_ERROR_INVALID_INPUT;
  } catch (...) {
    return NVJITLINK_ERROR_INTERNAL;
  }
}

// A log's closing zero counts when there is a text.
nvJitLinkResult log_size(nvJitLinkHandle handle, size_t* size, std::string Link::* log) {
  return with_link(handle, [&](Link& link) {
    if (!size) return NVJITLINK_ERROR_NULL_INPUT;
    const std::string& text = link.*log;
    *size = text.empty() ? 0 : text.size() + 1;
    return NVJITLINK_SUCCESS;
  });
}

nvJitLinkResult log_text(nvJitLinkHandle handle, char* to, std::string Link::* log) {
  return with_link(handle, [&](Link& link) {
    if (!to) return NVJITLINK_ERROR_NULL_INPUT;
    const std::string& text = link.*log;
    std::memcpy(to, text.c_str(), text.size() + 1);
    return NVJITLINK_SUCCESS;
  });
}

// Linked PTX comes of LTO-IR only.
template <class Body>
nvJitLinkResult linked_ptx(nvJitLinkHandle handle, const void* out, Body&& body) {
  return with_link(handle, [&](Link& link) {
    if (!out) return NVJITLINK_ERROR_NULL_INPUT;
    if (link.ptx().empty()) return NVJITLINK_ERROR_INVALID_INPUT;
    body(link.ptx());
    return NVJITLINK_SUCCESS;
  });
}

}  // namespace

extern "C" {

// Where the options are wrong there is a handle all the same, whose log says what.
WB_EXPORT nvJitLinkResult nvJitLinkCreate(nvJitLinkHandle* handle, uint32_t count, const char** words) {
  if (!handle || !words) return NVJITLINK_ERROR_NULL_INPUT;
  try {
    for (uint32_t i = 0; i < count; ++i)
      if (!words[i]) return NVJITLINK_ERROR_NULL_INPUT;
    warpbeam::nvjitlink::Options options;
    std::string errors;
    const nvJitLinkResult result = warpbeam::nvjitlink::read_options({words, count}, &options, &errors);
    auto link = std::make_shared<Link>(std::move(options));
    link->errors = std::move(errors);
    *handle = reinterpret_cast<nvJitLinkHandle>(link.get());
    links().add(std::move(link));
    return result;
  } catch (...) {
    return NVJITLINK_ERROR_INTERNAL;
  }
}

WB_EXPORT nvJitLinkResult nvJitLinkDestroy(nvJitLinkHandle* handle) {
  if (!handle || !*handle) return NVJITLINK_ERROR_NULL_INPUT;
  if (!links().remove(*handle)) return NVJITLINK_ERROR_INVALID_INPUT;
  *handle = nullptr;
  return NVJITLINK_SUCCESS;
}

WB_EXPORT nvJitLinkResult nvJitLinkAddData(nvJitLinkHandle handle, nvJitLinkInputType type, const void* data, size_t size,
                                           const char* name) {
  return with_link(handle, [&](Link& link) {
    if (!data || size == 0) return NVJITLINK_ERROR_INVALID_INPUT;
    return link.add(type, std::string(static_cast<const char*>(data), size), name && *name ? name : "<unnamed>");
  });
}

WB_EXPORT nvJitLinkResult nvJitLinkAddFile(nvJitLinkHandle handle, nvJitLinkInputType type, const char* path) {
  return with_link(handle, [&](Link& link) { return path ? link.add_file(type, path) : NVJITLINK_ERROR_INVALID_INPUT; });
}

WB_EXPORT nvJitLinkResult nvJitLinkComplete(nvJitLinkHandle handle) {
  return with_link(handle, [](Link& link) { return link.complete(); });
}

WB_EXPORT nvJitLinkResult nvJitLinkGetLinkedCubinSize(nvJitLinkHandle handle, size_t* size) {
  return with_link(handle, [&](Link& link) {
    if (!size) return NVJITLINK_ERROR_NULL_INPUT;
    if (!link.image()) return NVJITLINK_ERROR_INTERNAL;
    *size = link.image()->size();
    return NVJITLINK_SUCCESS;
  });
}

WB_EXPORT nvJitLinkResult nvJitLinkGetLinkedCubin(nvJitLinkHandle handle, void* cubin) {
  return with_link(handle, [&](Link& link) {
    if (!cubin) return NVJITLINK_ERROR_NULL_INPUT;
    if (!link.image()) return NVJITLINK_ERROR_INTERNAL;
    std::memcpy(cubin, link.image()->data(), link.image()->size());
    return NVJITLINK_SUCCESS;
  });
}

// With the closing zero.
WB_EXPORT nvJitLinkResult nvJitLinkGetLinkedPtxSize(nvJitLinkHandle handle, size_t* size) {
  return linked_ptx(handle, size, [&](const std::string& ptx) { *size = ptx.size() + 1; });
}
WB_EXPORT nvJitLinkResult nvJitLinkGetLinkedPtx(nvJitLinkHandle handle, char* to) {
  return linked_ptx(handle, to, [&](const std::string& ptx) { std::memcpy(to, ptx.c_str(), ptx.size() + 1); });
}

WB_EXPORT nvJitLinkResult nvJitLinkGetErrorLogSize(nvJitLinkHandle handle, size_t* size) { return log_size(handle, size, &Link::errors); }
WB_EXPORT nvJitLinkResult nvJitLinkGetErrorLog(nvJitLinkHandle handle, char* log) { return log_text(handle, log, &Link::errors); }
WB_EXPORT nvJitLinkResult nvJitLinkGetInfoLogSize(nvJitLinkHandle handle, size_t* size) { return log_size(handle, size, &Link::info); }
WB_EXPORT nvJitLinkResult nvJitLinkGetInfoLog(nvJitLinkHandle handle, char* log) { return log_text(handle, log, &Link::info); }

WB_EXPORT nvJitLinkResult nvJitLinkVersion(unsigned int* major, unsigned int* minor) {
  if (!major || !minor) return NVJITLINK_ERROR_NULL_INPUT;
  *major = warpbeam::compiler::kCudaMajor;
  *minor = warpbeam::compiler::kCudaMinor;
  return NVJITLINK_SUCCESS;
}

// Programs that were built elsewhere call the functions by names with the version of their toolkit.
#define WB_NAMED(version, name, ...) \
  WB_EXPORT nvJitLinkResult __nvJitLink##name##_##version(__VA_ARGS__) __attribute__((alias("nvJitLink" #name)));
#define WB_EVERY_FUNCTION(version)                                                                  \
  WB_NAMED(version, Create, nvJitLinkHandle*, uint32_t, const char**)                               \
  WB_NAMED(version, Destroy, nvJitLinkHandle*)                                                      \
  WB_NAMED(version, AddData, nvJitLinkHandle, nvJitLinkInputType, const void*, size_t, const char*) \
  WB_NAMED(version, AddFile, nvJitLinkHandle, nvJitLinkInputType, const char*)                      \
  WB_NAMED(version, Complete, nvJitLinkHandle)                                                      \
  WB_NAMED(version, GetLinkedCubinSize, nvJitLinkHandle, size_t*)                                   \
  WB_NAMED(version, GetLinkedCubin, nvJitLinkHandle, void*)                                         \
  WB_NAMED(version, GetLinkedPtxSize, nvJitLinkHandle, size_t*)                                     \
  WB_NAMED(version, GetLinkedPtx, nvJitLinkHandle, char*)                                           \
  WB_NAMED(version, GetErrorLogSize, nvJitLinkHandle, size_t*)                                      \
  WB_NAMED(version, GetErrorLog, nvJitLinkHandle, char*)                                            \
  WB_NAMED(version, GetInfoLogSize, nvJitLinkHandle, size_t*)                                       \
  WB_NAMED(version, GetInfoLog, nvJitLinkHandle, char*)
WB_EVERY_FUNCTION(12_0)
WB_EVERY_FUNCTION(12_1)
WB_EVERY_FUNCTION(12_2)
WB_EVERY_FUNCTION(12_3)
WB_EVERY_FUNCTION(12_4)
WB_EVERY_FUNCTION(12_5)
WB_EVERY_FUNCTION(12_6)
WB_EVERY_FUNCTION(12_7)
WB_EVERY_FUNCTION(12_8)
WB_EVERY_FUNCTION(12_9)
WB_EVERY_FUNCTION(13_0)
WB_EVERY_FUNCTION(13_1)

}  // extern "C"
