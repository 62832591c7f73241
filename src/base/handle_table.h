// The live objects of one kind. A handle is the object's address; one that is not in the table is refused, never
// followed.
#pragma once
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "base/recycled.h"

namespace warpbeam {

template <class Object>
class HandleTable {
 public:
  void add(std::shared_ptr<Object> object) {
    std::unique_lock lock(mutex_);
    const void* key = object.get();
    objects_.emplace(key, std::move(object));
  }

  std::shared_ptr<Object> find(const void* handle) const {
    std::shared_lock lock(mutex_);
    auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }

  // The object lives on while somebody holds it.
  std::shared_ptr<Object> remove(const void* handle) {
    std::unique_lock lock(mutex_);
    auto found = objects_.find(handle);
    if (found == objects_.end()) return nullptr;
    auto object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

  using Objects = std::vector<std::shared_ptr<Object>, Recycled<std::shared_ptr<Object>>>;
  Objects all() const {
    std::shared_lock lock(mutex_);
    Objects objects;
    for (auto& [handle, object] : objects_) objects.push_back(object);
    return objects;
  }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<Object>> objects_;
};

}  // namespace warpbeam
