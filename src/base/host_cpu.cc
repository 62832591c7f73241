// Code of ours is for x86-64-v3 (AVX2). Where the processor has not that, whoever loads or starts it is told so before any of it runs.
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace warpbeam {
namespace {

// Nothing of the C++ library: what others compile of it may already hold AVX2.
[[gnu::constructor(101)]] void refuse_without_avx2() {
  __builtin_cpu_init();
  const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
  const char* taken_for = std::getenv("WARPBEAM_CPU");  // for tests: x86-64-v2 is one without
  if (has && !(taken_for && !std::strcmp(taken_for, "x86-64-v2"))) return;
  constexpr char kText[] =
      "warpbeam: this processor has no AVX2 (x86-64-v3), for which Warpbeam is compiled: run it on one made since 2015, or let the virtual "
      "machine hand AVX2 through\n";
  if (write(STDERR_FILENO, kText, sizeof(kText) - 1) < 0) {}
  _exit(1);
}

}  // namespace
}  // namespace warpbeam
