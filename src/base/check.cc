#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace warpbeam {

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "warpbeam: internal error at %s:%d: %s does not hold. Please report this.\n", file, line, condition);
  std::abort();
}

}  // namespace warpbeam
