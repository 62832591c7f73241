// Versions, texts, identities, and what is not there.
#include <time.h>

#include <cstring>
#include <string_view>
#include <unordered_map>

#include "cuda.h"
#include "libraries/cupti/records.h"

namespace warpbeam::cupti {
namespace {

struct Row {
  uint32_t number;
  bool driver;
  std::string_view name;
};

constexpr Row kFunctions[] = {
#define RUNTIME(number, name) {number, false, #name},
#define DRIVER(number, name) {number, true, #name},
#include "libraries/cupti/callback_ids.inc"
#undef RUNTIME
#undef DRIVER
};

// Without the version at its end: cudaMemcpy_v3020.
std::string_view plain(std::string_view name) {
  const size_t at = name.rfind("_v");
  return at != name.npos && name.find_first_not_of("0123456789", at + 2) == name.npos ? name.substr(0, at) : name;
}

}  // namespace

uint32_t number_of(const char* function, bool* driver) {
  static const auto* known = [] {
    auto* map = new std::unordered_map<std::string_view, const Row*>;
    for (const Row& row : kFunctions) (*map)[plain(row.name)] = (*map)[row.name] = &row;  // the newest of a name comes last
    return map;
  }();
  auto found = known->find(function);
  if (found == known->end()) found = known->find(plain(function));
  if (found == known->end()) return 0;
  *driver = found->second->driver;
  return found->second->number;
}

const char* name_of(bool driver, uint32_t number) {
  for (const Row& row : kFunctions)
    if (row.driver == driver && row.number == number) return row.name.data();
  return nullptr;
}

}  // namespace warpbeam::cupti

using namespace warpbeam::cupti;

extern "C" {
#pragma GCC visibility push(default)

int cuptiGetVersion(uint32_t* version) {
  if (!version) return InvalidParameter;
  *version = 130202;
  return Success;
}

int cuptiGetResultString(int result, const char** text) {
  if (!text) return InvalidParameter;
  switch (result) {
    case Success: *text = "CUPTI_SUCCESS"; return Success;
    case InvalidParameter: *text = "CUPTI_ERROR_INVALID_PARAMETER"; return Success;
    case MaxLimitReached: *text = "CUPTI_ERROR_MAX_LIMIT_REACHED"; return Success;
    case NotInitialized: *text = "CUPTI_ERROR_NOT_INITIALIZED"; return Success;
    case QueueEmpty: *text = "CUPTI_ERROR_QUEUE_EMPTY"; return Success;
    case InvalidKind: *text = "CUPTI_ERROR_INVALID_KIND"; return Success;
    case NotSupported: *text = "CUPTI_ERROR_NOT_SUPPORTED"; return Success;
    case MultipleSubscribers: *text = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"; return Success;
    case Unknown: *text = "CUPTI_ERROR_UNKNOWN"; return Success;
    default: return InvalidParameter;
  }
}

int cuptiGetErrorMessage(int result, const char** text) { return cuptiGetResultString(result, text); }

int cuptiGetTimestamp(uint64_t* time) {
  if (!time) return InvalidParameter;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  *time = static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  return Success;
}

int cuptiGetDeviceId(CUcontext, uint32_t* device) {
  CUdevice current = 0;
  if (!device || cuCtxGetDevice(&current) != CUDA_SUCCESS) return InvalidParameter;
  *device = static_cast<uint32_t>(current);
  return Success;
}

int cuptiGetContextId(CUcontext context, uint32_t* id) {
  uint32_t device = 0;
  if (!id || cuptiGetDeviceId(context, &device) != Success) return InvalidParameter;
  *id = device + 1;
  return Success;
}

int cuptiGetStreamIdEx(CUcontext, CUstream stream, uint8_t, uint32_t* id) {
  unsigned long long number = 0;
  if (!id || cuStreamGetId(stream, &number) != CUDA_SUCCESS) return InvalidParameter;
  *id = static_cast<uint32_t>(number);
  return Success;
}

int cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t* id) { return cuptiGetStreamIdEx(context, stream, 0, id); }
int cuptiGetThreadIdType(int* type) { return type ? (*type = 1, Success) : InvalidParameter; }  // the system's
int cuptiSetThreadIdType(int type) { return type == 1 ? Success : NotSupported; }
int cuptiGetLastError() { return Success; }
int cuptiFinalize() { return Success; }

// Counters and samples of a GPU.
#define NOT_THERE(name) \
  int name() { return NotSupported; }
#include "libraries/cupti/not_there.inc"
#undef NOT_THERE

#pragma GCC visibility pop
}
