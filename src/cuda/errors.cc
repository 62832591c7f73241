// Errors: their names and texts, and the calling thread's last one.
#include <cstdio>

#include <fmt/format.h>

#include "cuda/edge.h"

namespace warpbeam::cuda {

namespace {

struct Row {
  cudaError_t code;
  const char* name;
  const char* text;
};

constexpr Row kErrors[] = {
#define WB_ERROR(name, text) {name, #name, text},
#include "cuda/errors.inc"
#undef WB_ERROR
};

constexpr const char* kUnknownCode = "unrecognized error code";

const Row* find(cudaError_t code) {
  for (const Row& row : kErrors)
    if (row.code == code) return &row;
  return nullptr;
}

}  // namespace

void report_exception(const char* what) noexcept {
  std::fprintf(stderr, "warpbeam: internal error: %s. Please report this.\n", what);
}

// For stubs, which do not see the API's types.
void remember_not_supported() { remember(cudaErrorNotSupported); }

}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;

extern "C" {

const char* cudaGetErrorName(cudaError_t error) {
  const auto* row = find(error);
  return row ? row->name : kUnknownCode;
}

const char* cudaGetErrorString(cudaError_t error) {
  const auto* row = find(error);
  return row ? row->text : kUnknownCode;
}

cudaError_t cudaGetLastError(void) { return std::exchange(this_thread().last_error, cudaSuccess); }

cudaError_t cudaPeekAtLastError(void) { return this_thread().last_error; }

}  // extern "C"
