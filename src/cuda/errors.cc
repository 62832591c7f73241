// Errors: their names and texts, and the calling thread's last one.
#include <cstdio>

#include <fmt/format.h>

#include "cuda/edge.h"
#include "cuda/exit_report.h"
#include "observe/tool.h"

namespace warpbeam::cuda {

void log_failure(cudaError_t status) noexcept;  // logs.cc

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

const char* name_of_error(cudaError_t error) noexcept {
  const Row* row = find(error);
  return row ? row->name : kUnknownCode;
}

const char* text_of_error(cudaError_t error) noexcept {
  const Row* row = find(error);
  return row ? row->text : kUnknownCode;
}

void report_exception(const char* what) noexcept { std::fprintf(stderr, "warpbeam: internal error: %s. Please report this.\n", what); }

void tell_failure(cudaError_t status) noexcept {
  log_failure(status);
  count_failed_call(status);
  observe::Tool* tool = observe::tool();
  const void* bad_free = std::exchange(this_thread().bad_free, nullptr);
  const BadBytes bad = std::exchange(this_thread().bad_bytes, {});
  const std::array<char, 256> reason = std::exchange(this_thread().bad_launch, {});
  if (!tool || !tool->checks()) return;
  tool->failed_call({observe::called_function(), static_cast<int>(status), name_of_error(status), text_of_error(status),
                     bad_free != nullptr, bad_free, bad.bytes, bad.writes, reinterpret_cast<uint64_t>(bad.destination), bad.memory,
                     reason.data()});
}

namespace {

cudaError_t seen(cudaError_t error) {
  if (error != cudaSuccess) failure_was_seen();
  if (observe::Tool* tool = observe::tool(); tool && error != cudaSuccess) tool->asked_for_error(error);
  return error;
}

}  // namespace

// For stubs, which do not see the API's types.
void remember_not_supported() { remember(cudaErrorNotSupported); }

}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;

extern "C" {

const char* cudaGetErrorName(cudaError_t error) { return name_of_error(seen(error)); }

const char* cudaGetErrorString(cudaError_t error) { return text_of_error(seen(error)); }

cudaError_t cudaGetLastError(void) { return seen(std::exchange(this_thread().last_error, cudaSuccess)); }

cudaError_t cudaPeekAtLastError(void) { return seen(this_thread().last_error); }

}  // extern "C"
