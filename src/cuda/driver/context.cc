// Contexts: made, stacked, asked, destroyed. A handle is the context's address.
#include <algorithm>

#include "cuda/driver/edge.h"
#include "cuda/graphs/capture.h"
#include "cuda/modules/modules.h"
#include "cuda/streams/ops.h"

namespace warpbeam::cuda::driver {

CUresult find_context(CUcontext handle, Context** context) {
  CUresult result = handle ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_VALUE;
  for_each_context([&](Context& known) {
    if (handle_of(known) != handle) return;
    *context = &known;
    result = CUDA_SUCCESS;
  });
  return result;
}

CUresult find_or_tell(CUcontext handle, Context** context) {
  const CUresult result = find_context(handle, context);
  for (const auto& place : process().created)
    if (const Context* one_of_them = place.load(std::memory_order_acquire);
        result == CUDA_ERROR_INVALID_CONTEXT && one_of_them && handle_of(const_cast<Context&>(*one_of_them)) == handle)
      return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return result;
}

namespace {

constexpr unsigned kApiVersion = 3020;  // the interface version of every context since then
constexpr unsigned kSchedule = CU_CTX_SCHED_MASK;

bool valid_flags(unsigned flags) {
  unsigned schedule = flags & kSchedule;
  return !(flags & ~unsigned{CU_CTX_FLAGS_MASK}) && (schedule & (schedule - 1)) == 0;
}

template <class Body>
CUresult with_context(CUcontext handle, Body&& body, CUresult (*find)(CUcontext, Context**) = find_context) {
  return call([&]() -> CUresult {
    Context* context = nullptr;
    CUresult result = handle ? find(handle, &context) : current(&context);
    return result == CUDA_SUCCESS ? result_of(body(*context)) : result;
  });
}

// The one that is current, or was until another thread destroyed it.
template <class Body>
CUresult with_top(Body&& body) {
  return call([&]() -> CUresult {
    Context* context = nullptr;
    const CUresult result = current(&context);
    const ThreadState& thread = this_thread();
    if (result == CUDA_ERROR_CONTEXT_IS_DESTROYED) context = thread.contexts[static_cast<size_t>(thread.context_count) - 1].context;
    return context ? body(*context) : result;
  });
}

// Bindings that prefer a function's newest name call the second interfaces of older functions without a context (Numba
// does): what never was a context means the current one.
CUcontext given_context(CUcontext handle) {
  if (!process_started()) return nullptr;  // to look for it would start it
  bool known = false;
  for (const auto& context : process().contexts) known |= handle_of(*context) == handle;
  for (const auto& place : process().created) {
    Context* context = place.load(std::memory_order_acquire);
    known |= context && handle_of(*context) == handle;
  }
  return known ? handle : nullptr;
}

template <class Body>
CUresult with_primary(CUdevice device, Body&& body) {
  return call([&]() -> CUresult {
    Context* context = nullptr;
    if (context_of(device, &context) != cudaSuccess) return CUDA_ERROR_INVALID_DEVICE;
    return result_of(body(*context));
  });
}

CUresult push(Context& context) {
  ThreadState& thread = this_thread();
  if (thread.context_count == ThreadState::kMaxContexts) return CUDA_ERROR_OUT_OF_MEMORY;
  thread.contexts[thread.context_count++] = {&context, context.id()};
  return CUDA_SUCCESS;
}

// A place never used, else the destroyed context of this device.
Context* take_place(Context& primary) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  auto& places = process().created;
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i].load(std::memory_order_acquire)) continue;
    auto* fresh = new Context(primary.ordinal, primary.model, ThreadState::kMaxDevices + static_cast<int>(i));
    fresh->begin();
    places[i].store(fresh, std::memory_order_release);
    return fresh;
  }
  for (auto& place : places) {
    Context* context = place.load(std::memory_order_acquire);
    if (!context->destroyed() || context->ordinal != primary.ordinal) continue;
    context->begin();
    return context;
  }
  return nullptr;
}

CUresult create(CUcontext* handle, unsigned flags, CUdevice device) {
  return with_primary(device, [&](Context& primary) -> CUresult {
    if (!handle || !valid_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
    Context* context = take_place(primary);
    if (!context) return CUDA_ERROR_OUT_OF_MEMORY;
    context->users = 1;
    context->settings.flags = flags | CU_CTX_MAP_HOST;
    *handle = handle_of(*context);
    return push(*context);
  });
}

CUresult destroy(Context& context) {
  if (context.primary()) return CUDA_ERROR_INVALID_CONTEXT;
  ThreadState& thread = this_thread();
  if (thread.context_count && thread.contexts[thread.context_count - 1].context == &context) --thread.context_count;
  context.destroy();
  return CUDA_SUCCESS;
}

CUresult release_primary(Context& context) {
  int users = context.users.load();
  do {
    if (users == 0) return CUDA_ERROR_INVALID_CONTEXT;
  } while (!context.users.compare_exchange_weak(users, users - 1));
  if (users == 1 && !context.used_by_runtime) context.reset();
  return CUDA_SUCCESS;
}

CUresult reset_primary(Context& context) {
  context.reset();
  return CUDA_SUCCESS;
}

CUresult set_flags(Context& context, unsigned flags) {
  if (!valid_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
  std::lock_guard lock(context.mutex);
  context.settings.flags = flags | CU_CTX_MAP_HOST;
  return CUDA_SUCCESS;
}

unsigned flags_of(Context& context) {
  std::lock_guard lock(context.mutex);
  return context.settings.flags;
}

CUresult pop(CUcontext* handle) {
  return call([&] {
    ThreadState& thread = this_thread();
    if (thread.context_count == 0) return CUDA_ERROR_INVALID_CONTEXT;
    const auto& top = thread.contexts[--thread.context_count];
    if (handle) *handle = handle_of(*top.context);
    return CUDA_SUCCESS;
  });
}

CUresult push_handle(CUcontext handle) {
  return call([&]() -> CUresult {
    Context* context = nullptr;
    CUresult result = find_context(handle, &context);
    return result == CUDA_SUCCESS ? push(*context) : result;
  });
}

// The streams that do not wait for the default one.
std::vector<StreamRef> independent_streams(Context& context) {
  std::vector<StreamRef> streams;
  for (StreamRef& stream : process().streams.all())
    if (&stream->context == &context && stream->queue.kind() == Queue::Kind::NonBlocking) streams.push_back(std::move(stream));
  return streams;
}

// After everything the context has been given so far.
CUresult record(Context& context, CUevent handle) {
  EventRef event = find_event(handle);
  if (!event || &event->context != &context) return CUDA_ERROR_INVALID_HANDLE;
  std::vector<TaskRef> after;
  for (const StreamRef& stream : independent_streams(context)) after.push_back(Scheduler::instance().last(stream->queue));
  OpRef op = enqueue(context, context.default_stream(), RecordWork{}, after);
  std::lock_guard lock(event->mutex);
  event->recorded = std::move(op);
  return CUDA_SUCCESS;
}

// Everything the context will be given waits.
CUresult wait(Context& context, CUevent handle) {
  EventRef event = find_event(handle);
  if (!event) return CUDA_ERROR_INVALID_HANDLE;
  TaskRef recorded;
  {
    std::lock_guard lock(event->mutex);
    recorded = event->recorded;
  }
  if (!recorded) return CUDA_SUCCESS;
  std::vector<StreamRef> streams = independent_streams(context);
  streams.push_back(context.default_stream());
  for (const StreamRef& stream : streams) enqueue(context, stream, WaitWork{}, std::span(&recorded, 1));
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace warpbeam::cuda::driver

using namespace warpbeam::cuda;
using namespace warpbeam::cuda::driver;

extern "C" {

WB_TWIN CUresult cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device) { return create(context, flags, device); }

WB_TWIN CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) { return create(context, flags, device); }

// Affinity to a part of the multiprocessors is what no device here supports.
WB_TWIN CUresult cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam* affinity, int count, unsigned flags, CUdevice device) {
  if (count < 0 || (count && !affinity)) return CUDA_ERROR_INVALID_VALUE;
  return count ? CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY : create(context, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* parameters, unsigned flags, CUdevice device) {
  if (parameters && parameters->cigParams) return CUDA_ERROR_NOT_SUPPORTED;
  if (parameters && parameters->numExecAffinityParams) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  return create(context, flags, device);
}

WB_TWIN CUresult cuCtxDestroy(CUcontext context) { return cuCtxDestroy_v2(context); }

CUresult cuCtxDestroy_v2(CUcontext handle) {
  return call([&]() -> CUresult {
    Context* context = nullptr;
    CUresult result = find_context(handle, &context);
    return result == CUDA_SUCCESS ? destroy(*context) : result;
  });
}

CUresult cuCtxAttach(CUcontext* handle, unsigned flags) {
  return with_context(nullptr, [&](Context& context) {
    if (!handle || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    ++context.users;
    *handle = handle_of(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxDetach(CUcontext handle) {
  return call([&]() -> CUresult {
    Context *context = nullptr, *top = nullptr;
    if (!handle) return CUDA_ERROR_INVALID_CONTEXT;
    if (CUresult result = find_context(handle, &context); result != CUDA_SUCCESS) return result;
    if (current(&top) != CUDA_SUCCESS || top != context) return CUDA_ERROR_INVALID_CONTEXT;
    return --context->users > 0 ? CUDA_SUCCESS : destroy(*context);
  });
}

WB_TWIN CUresult cuCtxPushCurrent(CUcontext context) { return push_handle(context); }
CUresult cuCtxPushCurrent_v2(CUcontext context) { return push_handle(context); }
WB_TWIN CUresult cuCtxPopCurrent(CUcontext* context) { return pop(context); }
CUresult cuCtxPopCurrent_v2(CUcontext* context) { return pop(context); }

CUresult cuCtxSetCurrent(CUcontext handle) {
  if (!handle)
    return call([] {
      ThreadState& thread = this_thread();
      if (thread.context_count) --thread.context_count;
      return CUDA_SUCCESS;
    });
  return with_context(handle, [](Context& context) {
    make_current(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetCurrent(CUcontext* handle) {
  return call([&] {
    if (!handle) return CUDA_ERROR_INVALID_VALUE;
    const ThreadState& thread = this_thread();
    *handle = thread.context_count ? handle_of(*thread.contexts[thread.context_count - 1].context) : nullptr;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return with_top([&](Context& context) {
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = context.ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext handle) {
  return with_context(given_context(handle), [&](Context& context) {
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = context.ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetFlags(unsigned* flags) {
  return with_top([&](Context& context) {
    if (!flags) return CUDA_ERROR_INVALID_VALUE;
    *flags = flags_of(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetFlags(unsigned flags) {
  return with_context(nullptr, [&](Context& context) { return set_flags(context, flags); });
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  return with_context(
      handle,
      [&](Context& context) {
        if (!id) return CUDA_ERROR_INVALID_VALUE;
        *id = context.id();
        return CUDA_SUCCESS;
      },
      find_or_tell);
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned* version) {
  return with_context(handle, [&](Context&) {
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    *version = kApiVersion;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize(void) { return cuCtxSynchronize_v2(nullptr); }

CUresult cuCtxSynchronize_v2(CUcontext handle) {
  return with_context(given_context(handle), [](Context& context) {
    forbid_any_capture();
    context.synchronize();
    return context.failure();
  });
}

WB_CALL(cuCtxSetLimit, (CUlimit limit, size_t value), cudaDeviceSetLimit(static_cast<cudaLimit>(limit), value))
WB_CALL(cuCtxGetLimit, (size_t* value, CUlimit limit), cudaDeviceGetLimit(value, static_cast<cudaLimit>(limit)))
WB_CALL(cuCtxSetCacheConfig, (CUfunc_cache config), cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(config)))
WB_CALL(cuCtxGetCacheConfig, (CUfunc_cache * config), cudaDeviceGetCacheConfig(reinterpret_cast<cudaFuncCache*>(config)))
WB_CALL(cuCtxSetSharedMemConfig, (CUsharedconfig config), cudaDeviceSetSharedMemConfig(static_cast<cudaSharedMemConfig>(config)))
WB_CALL(cuCtxGetSharedMemConfig, (CUsharedconfig * config), cudaDeviceGetSharedMemConfig(reinterpret_cast<cudaSharedMemConfig*>(config)))
WB_CALL(cuCtxGetStreamPriorityRange, (int* least, int* greatest), cudaDeviceGetStreamPriorityRange(least, greatest))
WB_CALL(cuCtxResetPersistingL2Cache, (), cudaCtxResetPersistingL2Cache())

CUresult cuCtxGetExecAffinity(CUexecAffinityParam* affinity, CUexecAffinityType type) {
  return in_current([&](Context& context) {
    if (!affinity || type < 0 || type >= CU_EXEC_AFFINITY_TYPE_MAX) return CUDA_ERROR_INVALID_VALUE;
    affinity->type = type;  // nobody has less than all of them
    affinity->param.smCount.val = static_cast<unsigned>(context.model.sm_count);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxRecordEvent(CUcontext handle, CUevent event) {
  return handle ? with_context(
                      handle, [&](Context& context) { return record(context, event); }, find_or_tell)
                : call([] { return CUDA_ERROR_INVALID_CONTEXT; });
}

CUresult cuCtxWaitEvent(CUcontext handle, CUevent event) {
  return handle ? with_context(
                      handle, [&](Context& context) { return wait(context, event); }, find_or_tell)
                : call([] { return CUDA_ERROR_INVALID_CONTEXT; });
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return in_current([&](Context& context) -> CUresult {
    Context* other = nullptr;
    if (find_context(peer, &other) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_CONTEXT;
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (&context == other) return CUDA_ERROR_INVALID_DEVICE;
    if (!context.model.unified_addressing) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    {
      std::lock_guard lock(context.mutex);
      if (!context.peers.insert(other).second) return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    }
    share_device_memory(*other, context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  return in_current([&](Context& context) -> CUresult {
    Context* other = nullptr;
    if (find_context(peer, &other) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_CONTEXT;
    {
      std::lock_guard lock(context.mutex);
      if (!context.peers.erase(other)) return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    }
    context.synchronize();
    unshare_device_memory(*other, context);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* handle, CUdevice device) {
  return with_primary(device, [&](Context& context) {
    if (!handle) return CUDA_ERROR_INVALID_VALUE;
    ++context.users;
    context.activate();
    *handle = handle_of(context);
    return CUDA_SUCCESS;
  });
}

WB_TWIN CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return with_primary(device, release_primary); }
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) { return with_primary(device, release_primary); }
WB_TWIN CUresult cuDevicePrimaryCtxReset(CUdevice device) { return with_primary(device, reset_primary); }
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) { return with_primary(device, reset_primary); }

WB_TWIN CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) { return cuDevicePrimaryCtxSetFlags_v2(device, flags); }

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  return with_primary(device, [&](Context& context) { return set_flags(context, flags); });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return with_primary(device, [&](Context& context) {
    if (!flags || !active) return CUDA_ERROR_INVALID_VALUE;
    *flags = flags_of(context);
    *active = context.active();
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
