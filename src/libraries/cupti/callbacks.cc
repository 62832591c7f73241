// The subscriber, of which CUPTI has one. It is told of contexts; calls have records instead (activity.cc).
#include <atomic>
#include <cstddef>
#include <mutex>

#include "libraries/cupti/records.h"

namespace warpbeam::cupti {
namespace {

enum Domain : int { DriverApi = 1, RuntimeApi = 2, Resource = 3, Synchronize = 4, Nvtx = 5, State = 6, Domains = 7 };
constexpr uint32_t kContextCreated = 1;

using Callback = void (*)(void* data, int domain, uint32_t id, const void* what);
struct Subscriber {
  Callback callback = nullptr;
  void* data = nullptr;
};
std::mutex mutex;
Subscriber* subscriber = nullptr;
std::atomic<bool> contexts{false};

struct ResourceData {
  void* context;
  void* stream;
  void* more;
};

bool is_subscriber(const void* handle) { return handle && handle == subscriber; }

// Domains of which nothing ever happens here take part; of calls, whose arguments nobody keeps, the program is told the truth.
int enable(bool on, int domain, uint32_t id) {
  if (domain <= 0 || domain >= Domains) return InvalidParameter;
  if (domain == Resource && (id == 0 || id == kContextCreated)) {
    contexts = on;
    update_watch();
  }
  return on && (domain == DriverApi || domain == RuntimeApi) ? NotSupported : Success;
}

}  // namespace

bool resources_wanted() { return contexts; }

void tell_context(int) {
  Subscriber now;
  {
    std::lock_guard lock(mutex);
    if (!subscriber || !contexts) return;
    now = *subscriber;
  }
  const ResourceData what{};
  now.callback(now.data, Resource, kContextCreated, &what);
}

}  // namespace warpbeam::cupti

using namespace warpbeam::cupti;

extern "C" {
#pragma GCC visibility push(default)

int cuptiSubscribe(void** handle, Callback callback, void* data) {
  if (!handle || !callback) return InvalidParameter;
  std::lock_guard lock(mutex);
  if (subscriber) return MultipleSubscribers;
  subscriber = new Subscriber{callback, data};
  *handle = subscriber;
  return Success;
}

int cuptiUnsubscribe(void* handle) {
  {
    std::lock_guard lock(mutex);
    if (!is_subscriber(handle)) return InvalidParameter;
    delete subscriber;
    subscriber = nullptr;
    contexts = false;
  }
  update_watch();
  return Success;
}

int cuptiEnableCallback(uint32_t on, void* handle, int domain, uint32_t id) {
  {
    std::lock_guard lock(mutex);
    if (!is_subscriber(handle) || id == 0) return InvalidParameter;
  }
  return enable(on != 0, domain, id);
}

int cuptiEnableDomain(uint32_t on, void* handle, int domain) {
  {
    std::lock_guard lock(mutex);
    if (!is_subscriber(handle)) return InvalidParameter;
  }
  return enable(on != 0, domain, 0);
}

int cuptiEnableAllDomains(uint32_t on, void* handle) {
  int result = Success;
  for (int domain = DriverApi; domain < Domains; ++domain)
    if (const int status = cuptiEnableDomain(on, handle, domain); status != Success) result = status;
  return result;
}

int cuptiGetCallbackState(uint32_t* on, void* handle, int domain, uint32_t id) {
  std::lock_guard lock(mutex);
  if (!on || !is_subscriber(handle)) return InvalidParameter;
  *on = contexts && domain == Resource && id == kContextCreated;
  return Success;
}

int cuptiSupportedDomains(size_t* count, const int** domains) {
  static const int supported[] = {Resource, State};
  if (!count || !domains) return InvalidParameter;
  *count = 2, *domains = supported;
  return Success;
}

int cuptiGetCallbackName(int domain, uint32_t id, const char** name) {
  if (!name || (domain != DriverApi && domain != RuntimeApi)) return InvalidParameter;
  *name = name_of(domain == DriverApi, id);
  return *name ? Success : InvalidParameter;
}

#pragma GCC visibility pop
}
