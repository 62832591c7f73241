#include "cuda/devices/context_storage.h"

#include <map>
#include <mutex>
#include <utility>

#include "cuda/devices/context.h"

namespace warpbeam::cuda {

namespace {

struct Stored {
  void* value;
  StorageEnds ends;
};

std::mutex mutex;
auto& storage() {
  static auto* values = new std::map<std::pair<const Context*, void*>, Stored>;  // programs end in any order
  return *values;
}

}  // namespace

void store_in_context(Context& context, void* key, void* value, StorageEnds ends) {
  std::lock_guard lock(mutex);
  storage()[{&context, key}] = {value, ends};
}

bool forget_in_context(Context& context, void* key) {
  std::lock_guard lock(mutex);
  return storage().erase({&context, key}) != 0;
}

bool find_in_context(Context& context, void* key, void** value) {
  std::lock_guard lock(mutex);
  auto found = storage().find({&context, key});
  if (found == storage().end()) return false;
  *value = found->second.value;
  return true;
}

void end_context_storage(Context& context) {
  for (;;) {
    std::unique_lock lock(mutex);
    auto first = storage().lower_bound({&context, nullptr});
    if (first == storage().end() || first->first.first != &context) return;
    auto [key, stored] = *first;
    storage().erase(first);
    lock.unlock();  // the function may come back here
    if (stored.ends) stored.ends(reinterpret_cast<CUcontext>(&context), key.second, stored.value);
  }
}

}  // namespace warpbeam::cuda
