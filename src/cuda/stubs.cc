// The functions that do not work yet, exported all the same: programs that mention them link, and calls answer
// "not supported". Their parameters do not matter, so the API headers stay out of this file.
#include <fmt/format.h>

#include "cuda/notes.h"

namespace warpbeam::cuda {

void remember_not_supported();
bool process_started();

namespace {

constexpr int kNotInitialized = 3;  // CUDA_ERROR_NOT_INITIALIZED
constexpr int kNotSupported = 801;  // cudaErrorNotSupported and CUDA_ERROR_NOT_SUPPORTED

[[gnu::cold, gnu::noinline]] int refuse(const char* name, const char* missing, bool runtime) {
  if (!runtime && !process_started()) return kNotInitialized;
  note_once(name, [&] { return fmt::format("{} is not supported yet: {}", name, missing); });
  if (runtime) remember_not_supported();
  return kNotSupported;
}

}  // namespace
}  // namespace warpbeam::cuda

#define WB_STUB_Works(name, missing, runtime)
#define WB_STUB_Partly(name, missing, runtime)
#define WB_STUB_NotYet(name, missing, runtime) \
  extern "C" __attribute__((visibility("default"))) int name() { return warpbeam::cuda::refuse(#name, missing, runtime); }
#define WB_RUNTIME(name, chapter, state, note) WB_STUB_##state(name, note, true)
#define WB_ENTRY(name, chapter, state, note) WB_STUB_##state(name, note, true)
#define WB_DRIVER(name, since, chapter, state, note) WB_STUB_##state(name, note, false)
#include "cuda/functions.inc"
