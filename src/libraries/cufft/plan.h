// Plans by their handles.
#pragma once
#include <memory>
#include <new>
#include <vector>

#include "libraries/cufft/transform.h"

namespace warpbeam::cufft {

// A routine of the program's that gives the elements of a transform, or takes them, and the kernel that calls it.
struct Callback {
  const void* kernel = nullptr;
  void *routine = nullptr, *info = nullptr;
  size_t shared_bytes = 0;
};

struct Plan {
  cudaStream_t stream = nullptr;
  std::shared_ptr<Transform> transform;
  Callback load, store;
  std::vector<int> gpus;  // cufftXtSetGPUs; else the transform runs where it is called
  // How the data of several GPUs are divided: into rows, each of them contiguous.
  int64_t rows = 0, row_elements = 0;
};

std::shared_ptr<Plan> find(cufftHandle handle);

// Queues the plan's transform; `types` are those that the function is for, none meaning all.
cufftResult execute(cufftHandle handle, const char* name, std::initializer_list<cufftType> types, const void* in, void* out, int direction);

// Queues the transform between its callbacks.
cufftResult execute_with_callbacks(Plan& plan, const char* name, const void* in, void* out, int direction);

template <class Body>
cufftResult guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return CUFFT_ALLOC_FAILED;
  } catch (...) {
    return CUFFT_INTERNAL_ERROR;
  }
}

}  // namespace warpbeam::cufft
