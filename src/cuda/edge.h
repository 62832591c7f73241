// The C boundary. Every exported function runs its body through edge() or in_context(): no exception crosses, and a
// failure becomes the calling thread's last error.
#pragma once
#include <atomic>
#include <exception>
#include <new>
#include <utility>

#include "cuda/api.h"
#include "cuda/devices/context.h"
#include "cuda/thread_state.h"
#include "observe/tool.h"

namespace warpbeam::cuda {

void report_exception(const char* what) noexcept;  // on stderr
void tell_failure(cudaError_t status) noexcept;    // to whoever watches the program
const char* name_of_error(cudaError_t error) noexcept;  // for our own use: the program has not asked
const char* text_of_error(cudaError_t error) noexcept;

// True in a process that was forked from one that had used a device: what ran there does not run here, and nothing may wait
// for it.
extern std::atomic<bool> left_behind;

// "Not ready" is an answer, not an error: it does not become the last error.
inline cudaError_t remember(cudaError_t status) {
  if (status != cudaSuccess && status != cudaErrorNotReady) {
    this_thread().last_error = status;
    tell_failure(status);
  }
  return status;
}

// Why a call that frees memory fails: `pointer` is not what it may be given.
inline cudaError_t bad_free(const void* pointer) {
  this_thread().bad_free = pointer;
  return cudaErrorInvalidValue;
}

// Why a copy or a fill fails: there is no memory, or not so much of it.
inline cudaError_t bad_bytes(const observe::Bytes& bytes, bool writes, const void* destination, const vm::DeviceMemory& memory) {
  this_thread().bad_bytes = {bytes, writes, destination, &memory};
  return cudaErrorInvalidValue;
}

// Thrown deep inside where a status cannot be returned: what a call does to a stream may be captured, and refused.
struct StatusError : std::exception {
  explicit StatusError(cudaError_t status) : status(status) {}
  const char* what() const noexcept override { return "a status"; }
  cudaError_t status;
};

template <class Body>
cudaError_t edge(Body&& body) noexcept {
  if (this_thread().in_host_function) return remember(cudaErrorNotPermitted);
  if (left_behind.load(std::memory_order_relaxed)) return remember(cudaErrorInitializationError);
  observe::InRuntime inside;
  try {
    return remember(body());
  } catch (const StatusError& error) {
    return remember(error.status);
  } catch (const std::bad_alloc&) {
    return remember(cudaErrorMemoryAllocation);
  } catch (const std::exception& exception) {
    report_exception(exception.what());
    return remember(cudaErrorUnknown);
  }
}

// For functions that work in the current device's context: they fail when the context has.
template <class Body>
cudaError_t in_context(Body&& body) noexcept {
  return edge([&]() -> cudaError_t {
    Context* context = nullptr;
    if (cudaError_t status = current_context(&context); status != cudaSuccess) return status;
    if (cudaError_t status = context->failure(); status != cudaSuccess) return status;
    return body(*context);
  });
}

}  // namespace warpbeam::cuda
