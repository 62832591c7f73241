#include "cuda/driver/jit_options.h"

#include <algorithm>
#include <cstring>

namespace warpbeam::cuda::driver {

JitOptions::JitOptions(unsigned count, CUjit_option* options, void** values) {
  valid_ = count == 0 || (options && values);
  if (!valid_) return;
  for (unsigned i = 0; i < count; ++i) switch (options[i]) {
      case CU_JIT_WALL_TIME: wall_time_ = &values[i]; break;
      case CU_JIT_INFO_LOG_BUFFER: info_.buffer = static_cast<char*>(values[i]); break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: info_.size = &values[i]; break;
      case CU_JIT_ERROR_LOG_BUFFER: errors_.buffer = static_cast<char*>(values[i]); break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: errors_.size = &values[i]; break;
      default: valid_ &= options[i] >= 0 && options[i] < CU_JIT_NUM_OPTIONS;
    }
  // A buffer of unknown size cannot be written.
  valid_ &= (!info_.buffer || info_.size) && (!errors_.buffer || errors_.size);
}

void JitOptions::write(const Log& log, const std::string& text) {
  if (!log.size) return;
  size_t room = log.buffer ? static_cast<unsigned>(reinterpret_cast<uintptr_t>(*log.size)) : 0;
  size_t written = room ? std::min(text.size(), room - 1) : 0;
  if (room) {
    std::memcpy(log.buffer, text.data(), written);
    log.buffer[written] = '\0';
  }
  // The closing zero counts when there is a text.
  *log.size = reinterpret_cast<void*>(written ? written + 1 : 0);
}

void JitOptions::report() {
  write(info_, info);
  write(errors_, errors_text_);
  if (!wall_time_) return;
  float milliseconds = std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - began_).count();
  *wall_time_ = nullptr;
  std::memcpy(wall_time_, &milliseconds, sizeof milliseconds);
}

}  // namespace warpbeam::cuda::driver
