// Results: their names and texts, and what the runtime's errors are called here.
#include "cuda/driver/edge.h"

namespace warpbeam::cuda::driver {

namespace {

struct Row {
  CUresult code;
  const char* name;
};

constexpr Row kResults[] = {
#define WB_RESULT(name) {name, #name},
#include "cuda/driver/results.inc"
#undef WB_RESULT
};

const Row* find(int code) {
  for (const Row& row : kResults)
    if (row.code == code) return &row;
  return nullptr;
}

}  // namespace

CUresult result_of(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidSymbol: return CUDA_ERROR_NOT_FOUND;
    case cudaErrorInvalidDeviceFunction: return CUDA_ERROR_INVALID_HANDLE;
    default: break;
  }
  if (find(error)) return static_cast<CUresult>(error);
  return error < cudaErrorNoDevice ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_UNKNOWN;
}

// Every result's number is an error of the runtime's.
cudaError_t error_of(CUresult result) { return static_cast<cudaError_t>(result); }

}  // namespace warpbeam::cuda::driver

using namespace warpbeam::cuda;
using namespace warpbeam::cuda::driver;

extern "C" {

CUresult cuGetErrorName(CUresult error, const char** name) {
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  const auto* row = find(error);
  *name = row ? row->name : nullptr;
  return row ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  const bool known = find(error) != nullptr;
  *text = known ? cudaGetErrorString(error_of(error)) : nullptr;
  return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // extern "C"
