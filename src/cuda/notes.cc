#include "cuda/notes.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string_view>

namespace warpbeam::cuda {

void note_once(const char* key, const std::function<std::string()>& text) {
  static const bool wanted = [] {
    const char* value = std::getenv("WARPBEAM_NOTES");
    return value && std::string_view(value) == "1";
  }();
  if (!wanted) return;
  static std::mutex mutex;
  static auto* said = new std::set<std::string>;
  std::lock_guard lock(mutex);
  if (said->insert(key).second) fmt::print(stderr, "warpbeam: note: {}\n", text());
}

}  // namespace warpbeam::cuda
