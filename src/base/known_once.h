// What is found out once for each key, by whichever thread asks first, and stays. Where a program's last destructors may still
// ask, it is made by `new` and never destroyed: variables of a thread are gone by then, the main thread's too.
#pragma once
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

namespace warpbeam {

template <class Key, class Value>
class KnownOnce {
 public:
  template <class Find>
  const Value& get(const Key& key, Find&& find) {
    {
      std::shared_lock lock(mutex_);
      if (auto known = values_.find(key); known != values_.end()) return known->second;
    }
    Value value = std::forward<Find>(find)();
    std::lock_guard lock(mutex_);
    return values_.try_emplace(key, std::move(value)).first->second;
  }

 private:
  std::shared_mutex mutex_;
  std::unordered_map<Key, Value> values_;
};

}  // namespace warpbeam
