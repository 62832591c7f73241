// How long a grid has made no progress, by a time that blocks on other threads set back to 0 whenever they end.
#pragma once
#include <cstdint>
#include <optional>

namespace warpbeam::vm {

// Nothing: there has been some since it was last asked. The time is read once: between two reads another thread may store 0, and
// the whole uptime of the computer would seem to have been waited.
template <class Time>
std::optional<int64_t> without_progress(const Time& last_progress, int64_t now) {
  const int64_t since = last_progress;
  if (since == 0) return std::nullopt;
  return now - since;
}

}  // namespace warpbeam::vm
