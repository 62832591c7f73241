// The options of the loaders and the linker. Code generation is not theirs to steer here: what matters are the log
// buffers. The other options are accepted and change nothing.
#pragma once
#include <chrono>
#include <string>

#include "cuda/driver_api.h"

namespace warpbeam::cuda::driver {

class JitOptions {
 public:
  JitOptions(unsigned count, CUjit_option* options, void** values);

  bool valid() const { return valid_; }
  // Where diagnostics go; null when the caller gave no buffer for them.
  std::string* error_log() { return errors_.buffer ? &errors_text_ : nullptr; }
  std::string info;
  // Writes the logs, their lengths and the time it took. The arrays must still be the caller's.
  void report();

 private:
  struct Log {
    char* buffer = nullptr;
    void** size = nullptr;  // in: of the buffer; out: how much was written
  };
  static void write(const Log& log, const std::string& text);

  bool valid_ = true;
  Log info_, errors_;
  std::string errors_text_;
  void** wall_time_ = nullptr;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace warpbeam::cuda::driver
