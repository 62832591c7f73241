// cuGetProcAddress: names and toolkit versions to functions. Parameters do not matter here, so the API headers stay out
// of this file.
#include <algorithm>
#include <string>
#include <string_view>

namespace {

using Function = int (*)();

struct Symbol {
  std::string_view name;
  int since;  // a toolkit; 0: twins, which have the state of their function
  Function function;

  // What programs ask for: the name without _v2.
  std::string_view asked() const {
    const size_t end = name.find_last_not_of("0123456789");
    return end + 1 < name.size() && name.substr(0, end + 1).ends_with("_v") ? name.substr(0, end - 1) : name;
  }
};

extern "C" {
#define WB_RUNTIME(name, chapter, state, note)
#define WB_ENTRY(name, chapter, state, note)
#define WB_DRIVER(name, since, chapter, state, note) int name();
#include "cuda/functions.inc"
#undef WB_DRIVER
}

const Symbol kSymbols[] = {
#define WB_DRIVER(name, since, chapter, state, note) {#name, since, name},
#include "cuda/functions.inc"
#undef WB_DRIVER
#undef WB_RUNTIME
#undef WB_ENTRY
};

Function find_symbol(std::string_view name) {
  auto found = std::ranges::find(kSymbols, name, &Symbol::name);
  return found == std::end(kSymbols) ? nullptr : found->function;
}

// Toolkit 12 gave this name to a function that was there already.
constexpr std::string_view kRenamed = "cuGraphInstantiate", kRenamedTo = "cuGraphInstantiateWithFlags";
constexpr int kRenamedSince = 12000;

// CUdriverProcAddress_flags, CUdriverProcAddressQueryResult and CUresult.
constexpr unsigned long long kLegacyStream = 1, kThreadStream = 2;
enum class Query { Success, NotFound, VersionNotSufficient };
constexpr int kSuccess = 0, kInvalidValue = 1, kNotFound = 500;

int find(const char* name, void** function, int toolkit, unsigned long long flags, int* query) {
  if (query) *query = static_cast<int>(Query::NotFound);
  if (!name || !function || (flags & ~(kLegacyStream | kThreadStream)) || flags == 3) return kInvalidValue;
  *function = nullptr;
  const Symbol* newest = nullptr;
  bool known = false;
  const std::string_view asked = name == kRenamed && toolkit >= kRenamedSince ? kRenamedTo : name;
  for (const Symbol& symbol : kSymbols) {
    if (symbol.since == 0 || !symbol.name.starts_with(asked) || symbol.asked() != asked) continue;
    known = true;
    if (symbol.since <= toolkit && (!newest || newest->since < symbol.since)) newest = &symbol;
  }
  Function found = nullptr;
  if (newest) {
    if (flags == kThreadStream)
      for (const char* twin : {"_ptsz", "_ptds"})
        if (!found) found = find_symbol(std::string(newest->name) + twin);
    if (!found) found = newest->function;
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

__attribute__((visibility("default"))) int wb_get_proc_address_v2(const char* name, void** function, int toolkit, unsigned long long flags,
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
