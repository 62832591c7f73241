// The error log: what failed, in words. The last calls that failed are kept; callbacks hear of each.
#include <cstdio>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "cuda/edge.h"

namespace warpbeam::cuda {

namespace {

constexpr size_t kKept = 100;

struct LogCallback {
  cudaLogsCallback_t call;
  void* data;
};

struct Log {
  std::mutex mutex;
  std::deque<std::string> lines;  // the newest last
  unsigned first = 0;             // number of the oldest line kept
  std::vector<std::shared_ptr<LogCallback>> callbacks;
};

Log& log() {
  static auto* log = new Log;
  return *log;
}

// The lines from where the iterator stands (all, without one), each with a line break; then it stands behind them.
std::string text_from(Log& l, cudaLogIterator* iterator) {
  std::string text;
  const unsigned end = l.first + static_cast<unsigned>(l.lines.size());
  unsigned at = iterator ? *iterator : l.first;
  if (at < l.first) at = l.first;
  for (; at < end; ++at) text += l.lines[at - l.first] + "\n";
  if (iterator) *iterator = end;
  return text;
}

}  // namespace

void log_failure(cudaError_t status) noexcept try {
  Log& l = log();
  std::vector<std::shared_ptr<LogCallback>> callbacks;
  std::string line = std::string(name_of_error(status)) + ": " + text_of_error(status);
  {
    std::lock_guard lock(l.mutex);
    l.lines.push_back(line);
    if (l.lines.size() > kKept) {
      l.lines.pop_front();
      ++l.first;
    }
    callbacks = l.callbacks;
  }
  ThreadState& thread = this_thread();
  for (const auto& callback : callbacks) {
    const bool before = std::exchange(thread.in_host_function, true);  // it may not call the runtime
    callback->call(callback->data, cudaLogLevelError, line.data(), line.size());
    thread.in_host_function = before;
  }
} catch (const std::bad_alloc&) {}

}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaLogsRegisterCallback(cudaLogsCallback_t callback, void* data, cudaLogsCallbackHandle* handle) {
  return edge([&] {
    if (!callback || !handle) return cudaErrorInvalidValue;
    auto entry = std::make_shared<LogCallback>(LogCallback{callback, data});
    *handle = reinterpret_cast<cudaLogsCallbackHandle>(entry.get());
    std::lock_guard lock(log().mutex);
    log().callbacks.push_back(std::move(entry));
    return cudaSuccess;
  });
}

cudaError_t cudaLogsUnregisterCallback(cudaLogsCallbackHandle handle) {
  return edge([&] {
    std::lock_guard lock(log().mutex);
    const size_t gone =
        std::erase_if(log().callbacks, [&](const auto& entry) { return static_cast<void*>(entry.get()) == static_cast<void*>(handle); });
    return gone ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaLogsCurrent(cudaLogIterator* iterator, unsigned int flags) {
  return edge([&] {
    if (!iterator || flags != 0) return cudaErrorInvalidValue;
    std::lock_guard lock(log().mutex);
    *iterator = log().first + static_cast<unsigned>(log().lines.size());
    return cudaSuccess;
  });
}

cudaError_t cudaLogsDumpToFile(cudaLogIterator* iterator, const char* path, unsigned int flags) {
  return edge([&] {
    if (!path || flags != 0) return cudaErrorInvalidValue;
    std::FILE* file = std::fopen(path, "w");
    if (!file) return cudaErrorInvalidValue;
    std::string text;
    {
      std::lock_guard lock(log().mutex);
      text = text_from(log(), iterator);
    }
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    return std::fclose(file) == 0 && written ? cudaSuccess : cudaErrorOperatingSystem;
  });
}

// `size` is the buffer's; it becomes what was written. The oldest lines are left out where it is too small.
cudaError_t cudaLogsDumpToMemory(cudaLogIterator* iterator, char* buffer, size_t* size, unsigned int flags) {
  return edge([&] {
    if (!buffer || !size || *size == 0 || flags != 0) return cudaErrorInvalidValue;
    std::string text;
    {
      std::lock_guard lock(log().mutex);
      text = text_from(log(), iterator);
    }
    while (text.size() >= *size) text.erase(0, text.find('\n') + 1);
    std::memcpy(buffer, text.c_str(), text.size() + 1);
    *size = text.size();
    return cudaSuccess;
  });
}

}  // extern "C"
