// Whose a handle is. Functions that are given one work in its context, which need not be current: so an H200's driver has it
// (tests/driver_api/context_codes.txt).
#pragma once
#include "cuda/driver/edge.h"
#include "cuda/textures/arrays.h"

namespace warpbeam::cuda::driver {

// Null for what is unknown, belongs to no context, or whose context is gone.
Context* owner_of(CUstream stream);
Context* owner_of(CUfunction function);
Context* owner_of(CUmodule module);
Context* owner_of(CUarray array);
Context* owner_of(CUmipmappedArray array);
Context* owner_of(CUgraph graph);
Context* owner_of(CUgraphNode node);
Context* owner_of(CUgraphExec exec);
Context* owner_of_memory(const void* memory);
Context* alive(Context* context);

// Makes a context current for as long as this is there.
class Borrowed {
 public:
  explicit Borrowed(Context& context) : count_(this_thread().context_count) {
    ThreadState& thread = this_thread();
    if (count_) top_ = thread.contexts[static_cast<size_t>(count_) - 1];
    make_current(context);
  }
  ~Borrowed() {
    ThreadState& thread = this_thread();
    thread.context_count = count_;
    if (count_) thread.contexts[static_cast<size_t>(count_) - 1] = top_;
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

 private:
  int count_;
  ThreadState::Pushed top_{};
};

enum class Prefer { Current, Owner };  // where both are there

// In the current context, or else in the owner's; `unknown` is what is said where there is neither.
template <class Body>
CUresult in_context_of(Context* owner, CUresult unknown, Body&& body, Prefer prefer = Prefer::Current) noexcept {
  return call([&]() -> CUresult {
    Context* context = nullptr;
    const CUresult result = current(&context);
    const bool borrows = owner && owner != context && (result == CUDA_ERROR_INVALID_CONTEXT || prefer == Prefer::Owner);
    if (!borrows && result == CUDA_ERROR_INVALID_CONTEXT) return unknown;
    if (!borrows && result != CUDA_SUCCESS) return result;
    if (cudaError_t failure = (borrows ? owner : context)->failure(); failure != cudaSuccess) return result_of(failure);
    if (!borrows) return result_of(body(*context));
    Borrowed borrowed(*owner);
    return result_of(body(*owner));
  });
}

// A stream's. The default streams are the current context's.
template <class Body>
CUresult in_stream(CUstream stream, Body&& body, Prefer prefer = Prefer::Current) noexcept {
  const bool named = stream && stream != CU_STREAM_LEGACY && stream != CU_STREAM_PER_THREAD;
  return in_context_of(named && process_started() ? owner_of(stream) : nullptr,
                       named ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT, std::forward<Body>(body), prefer);
}

// What is said to a null handle, with or without a context, and to one that means nothing any more.
inline CUresult no_such(CUgraph) { return CUDA_ERROR_INVALID_VALUE; }
inline CUresult no_such(CUgraphNode) { return CUDA_ERROR_INVALID_VALUE; }
inline CUresult no_such(CUgraphExec) { return CUDA_ERROR_INVALID_VALUE; }
inline CUresult no_such(const void*) { return CUDA_ERROR_INVALID_HANDLE; }
inline CUresult gone(CUgraph) { return CUDA_ERROR_INVALID_CONTEXT; }
inline CUresult gone(CUgraphNode) { return CUDA_ERROR_INVALID_CONTEXT; }
inline CUresult gone(CUgraphExec) { return CUDA_ERROR_INVALID_CONTEXT; }
inline CUresult gone(const void*) { return CUDA_ERROR_CONTEXT_IS_DESTROYED; }

template <class Handle, class Body>
CUresult of_handle(Handle handle, Body&& body, Prefer prefer = Prefer::Current) noexcept {
  if (!handle) return call([&] { return no_such(handle); });
  return in_context_of(process_started() ? owner_of(handle) : nullptr, gone(handle), std::forward<Body>(body), prefer);
}

#define WB_OF_CALL(name, handle, parameters, ...)                    \
  WB_TWIN CUresult name parameters {                                 \
    return of_handle(handle, [&](Context&) { return __VA_ARGS__; }); \
  }
#define WB_FUNCTION_CALL(name, parameters, ...)                                       \
  WB_TWIN CUresult name parameters {                                                  \
    return of_handle(function, [&](Context&) { return __VA_ARGS__; }, Prefer::Owner); \
  }
// Also makes the twin for per-thread default streams: its parameter `stream` means another stream when it is 0.
#define WB_STREAM_CALL(name, parameters, ...)                        \
  WB_TWIN CUresult name parameters {                                 \
    return in_stream(stream, [&](Context&) { return __VA_ARGS__; }); \
  }                                                                  \
  WB_TWIN CUresult name##_ptsz parameters {                          \
    stream = per_thread(stream);                                     \
    return in_stream(stream, [&](Context&) { return __VA_ARGS__; }); \
  }

}  // namespace warpbeam::cuda::driver
