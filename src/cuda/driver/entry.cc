// cuGetProcAddress: names and toolkit versions to functions. Parameters do not matter here, so the API headers stay out
// of this file.
#include <algorithm>
#include <cstring>
#include <string>

namespace {

using Function = int (*)();

struct Symbol {
  const char* name;
  Function function;
};

extern "C" {
#define WB_RUNTIME(name, chapter, state, note)
#define WB_ENTRY(name, chapter, state, note)
#define WB_DRIVER(name, chapter, state, note) int name();
#include "cuda/functions.inc"
#undef WB_DRIVER
}

const Symbol kSymbols[] = {
#define WB_DRIVER(name, chapter, state, note) {#name, name},
#include "cuda/functions.inc"
#undef WB_DRIVER
#undef WB_RUNTIME
#undef WB_ENTRY
};

struct Version {
  const char* name;
  int toolkit;
  const char* symbol;
};

constexpr Version kVersions[] = {
#define WB_VERSION(name, toolkit, symbol) {#name, toolkit, #symbol},
#include "cuda/driver/versions.inc"
#undef WB_VERSION
};

Function find_symbol(const std::string& name) {
  auto found = std::ranges::find_if(kSymbols, [&](const Symbol& symbol) { return name == symbol.name; });
  return found == std::end(kSymbols) ? nullptr : found->function;
}

// CUdriverProcAddress_flags, CUdriverProcAddressQueryResult and CUresult.
constexpr unsigned long long kLegacyStream = 1, kThreadStream = 2;
enum class Query { Success, NotFound, VersionNotSufficient };
constexpr int kSuccess = 0, kInvalidValue = 1, kNotFound = 500;

int find(const char* name, void** function, int toolkit, unsigned long long flags, int* query) {
  if (query) *query = static_cast<int>(Query::NotFound);
  if (!name || !function || (flags & ~(kLegacyStream | kThreadStream)) || flags == 3) return kInvalidValue;
  *function = nullptr;
  const Version* newest = nullptr;
  bool known = false;
  for (const Version& version : kVersions) {
    if (std::strcmp(version.name, name) != 0) continue;
    known = true;
    if (version.toolkit <= toolkit) newest = &version;
  }
  Function found = nullptr;
  if (newest) {
    if (flags == kThreadStream)
      for (const char* twin : {"_ptsz", "_ptds"})
        if (!found) found = find_symbol(std::string(newest->symbol) + twin);
    if (!found) found = find_symbol(newest->symbol);
  } else if (!known) {
    found = find_symbol(name);  // the name of a symbol itself
  }
  if (found) {
    *function = reinterpret_cast<void*>(found);
    if (query) *query = static_cast<int>(Query::Success);
    return kSuccess;
  }
  // With a place for the reason, looking in vain is no error.
  if (!query) return kNotFound;
  *query = static_cast<int>(known ? Query::VersionNotSufficient : Query::NotFound);
  return kSuccess;
}

}  // namespace

// The table declares these two without their parameters; the symbols are made here.
extern "C" {

__attribute__((visibility("default"))) int wb_get_proc_address_v2(const char* name, void** function, int toolkit,
                                                                  unsigned long long flags,
                                                                  int* query) __asm__("cuGetProcAddress_v2");
int wb_get_proc_address_v2(const char* name, void** function, int toolkit, unsigned long long flags, int* query) {
  return find(name, function, toolkit, flags, query);
}

// The first interface, which cannot say why it found nothing.
__attribute__((visibility("default"))) int wb_get_proc_address(const char* name, void** function, int toolkit,
                                                               unsigned long long flags) __asm__("cuGetProcAddress");
int wb_get_proc_address(const char* name, void** function, int toolkit, unsigned long long flags) {
  return find(name, function, toolkit, flags, nullptr);
}

}  // extern "C"
