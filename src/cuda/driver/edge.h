// The C boundary of the driver API. The chapters here give the runtime's own parts their other interface: contexts are
// pushed and popped instead of chosen by device, results are CUresults, and the thread's last error stays untouched.
#pragma once
#include "cuda/driver_api.h"
#include "cuda/edge.h"
#include "cuda/memory/memory.h"

namespace warpbeam::cuda::driver {

// The driver has a result with the same number for almost every error; the others are wrong arguments in its eyes.
CUresult result_of(cudaError_t error);
inline CUresult result_of(CUresult result) { return result; }
cudaError_t error_of(CUresult result);

// For functions that need no context.
template <class Body>
CUresult call(Body&& body) noexcept {
  if (!process_started() || left_behind.load(std::memory_order_relaxed)) return CUDA_ERROR_NOT_INITIALIZED;
  ThreadState& thread = this_thread();
  if (thread.in_host_function) return CUDA_ERROR_NOT_PERMITTED;
  observe::InRuntime inside;
  const cudaError_t last_error = thread.last_error;
  const bool outer = std::exchange(thread.in_driver_call, true);
  CUresult result = CUDA_ERROR_UNKNOWN;
  try {
    result = result_of(body());
  } catch (const StatusError& error) {
    result = result_of(error.status);
  } catch (const std::bad_alloc&) {
    result = CUDA_ERROR_OUT_OF_MEMORY;
  } catch (const std::exception& exception) {
    report_exception(exception.what());
  }
  thread.in_driver_call = outer;
  thread.last_error = last_error;
  return result;
}

// The calling thread's current context, whole or not.
inline CUresult current(Context** context) {
  const ThreadState& thread = this_thread();
  if (thread.context_count == 0) return CUDA_ERROR_INVALID_CONTEXT;
  const auto& top = thread.contexts[thread.context_count - 1];
  if (top.context->id() != top.id) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (!top.context->active()) return CUDA_ERROR_INVALID_CONTEXT;  // a primary context that nobody retains
  *context = top.context;
  return CUDA_SUCCESS;
}

// For functions that work in the current context: they fail when there is none, and when a kernel has broken it.
template <class Body>
CUresult in_current(Body&& body) noexcept {
  return call([&]() -> CUresult {
    Context* context = nullptr;
    if (CUresult result = current(&context); result != CUDA_SUCCESS) return result;
    if (cudaError_t failure = context->failure(); failure != cudaSuccess) return result_of(failure);
    return result_of(body(*context));
  });
}

inline CUcontext handle_of(Context& context) { return reinterpret_cast<CUcontext>(&context); }
// CUDA_ERROR_INVALID_CONTEXT for what is no context, or was destroyed.
CUresult find_context(CUcontext handle, Context** context);
// The same, but CUDA_ERROR_CONTEXT_IS_DESTROYED for what was destroyed.
CUresult find_or_tell(CUcontext handle, Context** context);

inline void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }
inline CUdeviceptr address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

// Calls of the runtime that do the whole job (see owners.h for those that are given a stream or another handle).
#define WB_CALL(name, parameters, ...)                        \
  WB_TWIN CUresult name parameters {                          \
    return in_current([&](Context&) { return __VA_ARGS__; }); \
  }
// The same where a handle says all that must be known: no context needs to be current (as an H100's driver has it), and none
// stays current that the runtime's function makes so.
#define WB_HANDLE_CALL(name, parameters, ...)            \
  WB_TWIN CUresult name parameters {                     \
    return call([&] {                                    \
      const auto contexts = this_thread().context_count; \
      const CUresult result = result_of(__VA_ARGS__);    \
      this_thread().context_count = contexts;            \
      return result;                                     \
    });                                                  \
  }

}  // namespace warpbeam::cuda::driver
