// WB_ASSERT guards what only a mistake of ours could break; expected failures use Result instead.
#pragma once
#include <string>

namespace warpbeam {
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);
}

#define WB_ASSERT(condition)                                        \
  do {                                                              \
    if (!(condition)) [[unlikely]]                                  \
      ::warpbeam::assertion_failed(#condition, __FILE__, __LINE__); \
  } while (0)
