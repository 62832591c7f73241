// Callbacks: a kernel of the program's calls its routine for every element, before the transform or behind it, and memory of
// the plan's stands for the data that the routine reads or writes.
#include <cuda_runtime_api.h>
#include <cufftXt.h>

#include <algorithm>

#include "libraries/cufft/plan.h"

#define WB_EXPORT extern "C" __attribute__((visibility("default")))

namespace warpbeam::cufft {

namespace {

constexpr unsigned kThreads = 256;

// Memory in the order of a stream.
class Buffer {
 public:
  Buffer(size_t bytes, cudaStream_t stream) : stream_(stream) {
    if (bytes && cudaMallocAsync(&memory_, bytes, stream) != cudaSuccess) throw std::bad_alloc();
  }
  Buffer(const Buffer&) = delete;
  ~Buffer() {
    if (memory_) cudaFreeAsync(memory_, stream_);
  }
  void* get() const { return memory_; }

 private:
  cudaStream_t stream_;
  void* memory_ = nullptr;
};

bool call(const Callback& callback, cudaStream_t stream, void* data, void* elements, size_t count) {
  void *routine = callback.routine, *info = callback.info;
  void* arguments[] = {&routine, &data, &elements, &count, &info};
  const dim3 grid(static_cast<unsigned>((count + kThreads - 1) / kThreads));
  return cudaLaunchKernel(callback.kernel, grid, dim3(kThreads), arguments, callback.shared_bytes, stream) == cudaSuccess;
}

Callback& of_type(Plan& plan, cufftXtCallbackType type) { return type >= CUFFT_CB_ST_COMPLEX ? plan.store : plan.load; }

// Whether the plan's data are of the type that the callback is for.
bool fits(const Transform& transform, cufftXtCallbackType type) {
  const bool store = type >= CUFFT_CB_ST_COMPLEX;
  const int kind = type % 4;  // complex, complex double, real, real double
  return transform.real(store) == (kind >= 2) && transform.twice() == (kind % 2 == 1);
}

}  // namespace

cufftResult execute_with_callbacks(Plan& plan, const char* name, const void* in, void* out, int direction) {
  const auto transform = plan.transform;
  const bool in_place = in == out;
  const size_t read = transform->elements(false, in_place), written = transform->elements(true, in_place);
  const size_t read_bytes = read * transform->element_bytes(false), written_bytes = written * transform->element_bytes(true);
  // In place both sides share their memory, as the layout of real data depends on it.
  const Buffer before(in_place ? std::max(read_bytes, written_bytes) : plan.load.kernel ? read_bytes : 0, plan.stream);
  const Buffer behind(!in_place && plan.store.kernel ? written_bytes : 0, plan.stream);
  const void* from = before.get() ? before.get() : in;
  void* to = in_place ? before.get() : behind.get() ? behind.get() : out;

  if (plan.load.kernel) {
    if (!call(plan.load, plan.stream, const_cast<void*>(in), before.get(), read)) return CUFFT_EXEC_FAILED;
  } else if (in_place) {
    if (cudaMemcpyAsync(before.get(), in, read_bytes, cudaMemcpyDeviceToDevice, plan.stream) != cudaSuccess) return CUFFT_EXEC_FAILED;
  }
  const cudaError_t queued = warpbeam::cuda::enqueue_library_call(
      plan.stream, name, transform->effort(), [=](warpbeam::cuda::LibraryMemory& memory) { transform->run(memory, from, to, direction); });
  if (queued != cudaSuccess) return CUFFT_EXEC_FAILED;
  if (plan.store.kernel) {
    if (!call(plan.store, plan.stream, out, to, written)) return CUFFT_EXEC_FAILED;
  } else if (in_place) {
    if (cudaMemcpyAsync(out, to, written_bytes, cudaMemcpyDeviceToDevice, plan.stream) != cudaSuccess) return CUFFT_EXEC_FAILED;
  }
  return CUFFT_SUCCESS;
}

}  // namespace warpbeam::cufft

using namespace warpbeam::cufft;

WB_EXPORT cufftResult warpbeam_cufftXtSetCallback(cufftHandle handle, void** routine, cufftXtCallbackType type, void** info,
                                                  const void* kernel) {
  const auto plan = find(handle);
  if (!plan || !plan->transform) return CUFFT_INVALID_PLAN;
  if (!routine || !*routine) return CUFFT_INVALID_VALUE;
  if (!fits(*plan->transform, type)) return CUFFT_INVALID_TYPE;
  if (!plan->transform->dense() || plan->gpus.size() > 1) return CUFFT_NOT_SUPPORTED;
  Callback& callback = of_type(*plan, type);
  callback.kernel = kernel;
  callback.routine = *routine;
  callback.info = info ? *info : nullptr;
  return CUFFT_SUCCESS;
}

WB_EXPORT cufftResult cufftXtSetCallback(cufftHandle handle, void**, cufftXtCallbackType, void**) {
  return find(handle) ? CUFFT_NOT_SUPPORTED : CUFFT_INVALID_PLAN;
}

WB_EXPORT cufftResult cufftXtClearCallback(cufftHandle handle, cufftXtCallbackType type) {
  const auto plan = find(handle);
  if (!plan || !plan->transform) return CUFFT_INVALID_PLAN;
  if (static_cast<unsigned>(type) >= CUFFT_CB_UNDEFINED || !fits(*plan->transform, type)) return CUFFT_INVALID_TYPE;
  of_type(*plan, type) = {};
  return CUFFT_SUCCESS;
}

WB_EXPORT cufftResult cufftXtSetCallbackSharedSize(cufftHandle handle, cufftXtCallbackType type, size_t bytes) {
  const auto plan = find(handle);
  if (!plan || !plan->transform) return CUFFT_INVALID_PLAN;
  if (static_cast<unsigned>(type) >= CUFFT_CB_UNDEFINED || !fits(*plan->transform, type)) return CUFFT_INVALID_TYPE;
  of_type(*plan, type).shared_bytes = bytes;
  return CUFFT_SUCCESS;
}
