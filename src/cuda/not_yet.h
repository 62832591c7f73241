// Functions of a library that are not there yet, exported all the same: programs that mention them start, and a call says so
// once and returns the library's status for it. Their parameters do not matter.
#pragma once
#include <atomic>
#include <cstdio>

namespace warpbeam {

template <int status>
[[gnu::cold, gnu::noinline]] int not_yet(std::atomic<bool>& told, const char* name, const char* status_name) {
  if (!told.exchange(true)) std::fprintf(stderr, "warpbeam: %s is not there yet; it returns %s\n", name, status_name);
  return status;
}

}  // namespace warpbeam

#define WB_NOT_YET_AS(status, status_name, name)                 \
  extern "C" __attribute__((visibility("default"))) int name() { \
    static std::atomic<bool> told{false};                        \
    return warpbeam::not_yet<status>(told, #name, status_name);  \
  }
