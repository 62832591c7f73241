// Green contexts: parts of a device's multiprocessors. Which multiprocessors run a block changes no result, so a green
// context is a description and the streams that were made in it; work goes to the device's primary context.
#include <algorithm>
#include <cstring>
#include <map>

#include "cuda/driver/owners.h"
#include "cuda/streams/ops.h"

namespace warpbeam::cuda::driver {

namespace {

// What CUdevResource keeps in its padding: which device's multiprocessors these are.
constexpr uint32_t kResourceMark = 0x57427265;
struct Hidden {
  uint32_t mark;
  int device;
  unsigned first;  // of the multiprocessors
};

Hidden hidden_of(const CUdevResource& resource) {
  Hidden hidden;
  std::memcpy(&hidden, resource._internal_padding, sizeof hidden);
  return hidden;
}

// Multiprocessors are given out in pairs since compute capability 9.0, eight at the least.
unsigned least_part(const Context& context) { return context.model.major >= 9 ? 8 : context.model.major >= 8 ? 4 : 2; }
unsigned step(const Context& context) { return context.model.major >= 9 ? 8 : 2; }

CUdevResource part(const Context& context, unsigned first, unsigned count) {
  CUdevResource resource{};
  resource.type = CU_DEV_RESOURCE_TYPE_SM;
  Hidden hidden{kResourceMark, context.ordinal, first};
  std::memcpy(resource._internal_padding, &hidden, sizeof hidden);
  resource.sm = {count, least_part(context), step(context)};
  return resource;
}

bool valid(const CUdevResource& resource) {
  Hidden hidden = hidden_of(resource);
  return resource.type == CU_DEV_RESOURCE_TYPE_SM && hidden.mark == kResourceMark && hidden.device >= 0 && hidden.device < device_count();
}

struct Description {
  CUdevResource resource;
};

struct GreenContext {
  GreenContext(Context& context, const CUdevResource& resource) : context(context), resource(resource) {}
  Context& context;
  CUdevResource resource;
  unsigned long long id = 0;
  std::vector<CUstream> streams;
};

struct Green {
  std::mutex mutex;
  HandleTable<Description> descriptions;
  HandleTable<GreenContext> contexts;
  std::map<CUstream, CUgreenCtx> of_stream;
  unsigned long long last_id = 1ull << 32;  // apart from those of contexts
};

Green& green() {
  static auto* green = new Green;
  return *green;
}

template <class Body>
CUresult with_green(CUgreenCtx handle, Body&& body) {
  return call([&] {
    auto context = green().contexts.find(handle);
    return context ? result_of(body(*context)) : CUDA_ERROR_INVALID_CONTEXT;
  });
}

CUresult device_resource(const Context& context, CUdevResource* resource, CUdevResourceType type) {
  if (!resource) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  *resource = part(context, 0, static_cast<unsigned>(context.model.sm_count));
  return CUDA_SUCCESS;
}

CUresult split(CUdevResource* result, unsigned* groups, const CUdevResource* input, CUdevResource* rest, unsigned flags, unsigned least) {
  constexpr unsigned kFlags = CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING | CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;
  if (!groups || !input || !valid(*input) || (flags & ~kFlags)) return CUDA_ERROR_INVALID_VALUE;
  const Context& context = *process().contexts[hidden_of(*input).device];
  unsigned unit = flags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING ? 2 : step(context);
  unsigned size = std::max(least, flags ? unit : least_part(context));
  size = (size + unit - 1) / unit * unit;
  unsigned possible = input->sm.smCount / size;
  if (possible == 0) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
  unsigned made = result ? std::min(*groups, possible) : possible;
  *groups = made;
  unsigned first = hidden_of(*input).first;
  for (unsigned i = 0; result && i < made; ++i) result[i] = part(context, first + i * size, size);
  if (rest) {
    *rest = part(context, first + made * size, input->sm.smCount - made * size);
    if (rest->sm.smCount == 0) rest->type = CU_DEV_RESOURCE_TYPE_INVALID;
  }
  return CUDA_SUCCESS;
}

CUresult create(CUgreenCtx* handle, CUdevResourceDesc description, CUdevice device, unsigned flags) {
  Context* context = nullptr;
  if (context_of(device, &context) != cudaSuccess) return CUDA_ERROR_INVALID_DEVICE;
  auto found = green().descriptions.find(description);
  if (!handle || !found || flags != CU_GREEN_CTX_DEFAULT_STREAM || hidden_of(found->resource).device != device)
    return CUDA_ERROR_INVALID_VALUE;
  context->activate();
  ++context->users;
  auto fresh = std::make_shared<GreenContext>(*context, found->resource);
  {
    std::lock_guard lock(green().mutex);
    fresh->id = ++green().last_id;
  }
  *handle = reinterpret_cast<CUgreenCtx>(fresh.get());
  green().contexts.add(std::move(fresh));
  return CUDA_SUCCESS;
}

CUresult destroy(CUgreenCtx handle) {
  auto context = green().contexts.remove(handle);
  if (!context) return CUDA_ERROR_INVALID_CONTEXT;
  std::lock_guard lock(green().mutex);
  for (CUstream stream : context->streams) {
    process().streams.remove(stream);
    green().of_stream.erase(stream);
  }
  return cuDevicePrimaryCtxRelease_v2(context->context.ordinal);
}

CUresult create_stream(GreenContext& context, CUgreenCtx handle, CUstream* stream, unsigned flags, int priority) {
  if (!stream || !(flags & CU_STREAM_NON_BLOCKING)) return CUDA_ERROR_INVALID_VALUE;
  auto fresh = std::make_shared<Stream>(context.context, Queue::Kind::NonBlocking, flags, priority);
  *stream = fresh->handle();
  process().streams.add(std::move(fresh));
  std::lock_guard lock(green().mutex);
  context.streams.push_back(*stream);
  green().of_stream[*stream] = handle;
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace warpbeam::cuda::driver

using namespace warpbeam::cuda;
using namespace warpbeam::cuda::driver;

extern "C" {

CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource* resource, CUdevResourceType type) {
  return call([&]() -> CUresult {
    Context* context = nullptr;
    if (context_of(device, &context) != cudaSuccess) return CUDA_ERROR_INVALID_DEVICE;
    return device_resource(*context, resource, type);
  });
}

CUresult cuCtxGetDevResource(CUcontext handle, CUdevResource* resource, CUdevResourceType type) {
  return call([&]() -> CUresult {
    Context* context = nullptr;
    CUresult result = handle ? find_or_tell(handle, &context) : current(&context);
    return result == CUDA_SUCCESS ? device_resource(*context, resource, type) : result;
  });
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx handle, CUdevResource* resource, CUdevResourceType type) {
  return with_green(handle, [&](GreenContext& context) {
    if (!resource) return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    *resource = context.resource;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevSmResourceSplitByCount(CUdevResource* result, unsigned* groups, const CUdevResource* input, CUdevResource* rest,
                                     unsigned flags, unsigned least) {
  return call([&] { return split(result, groups, input, rest, flags, least); });
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc* description, CUdevResource* resources, unsigned count) {
  return call([&] {
    if (!description || !resources || count == 0) return CUDA_ERROR_INVALID_VALUE;
    auto fresh = std::make_shared<Description>(Description{resources[0]});
    for (unsigned i = 0; i < count; ++i)
      if (!valid(resources[i]) || hidden_of(resources[i]).device != hidden_of(resources[0]).device)
        return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    for (unsigned i = 1; i < count; ++i) fresh->resource.sm.smCount += resources[i].sm.smCount;
    *description = reinterpret_cast<CUdevResourceDesc>(fresh.get());
    green().descriptions.add(std::move(fresh));
    return CUDA_SUCCESS;
  });
}

CUresult cuGreenCtxCreate(CUgreenCtx* handle, CUdevResourceDesc description, CUdevice device, unsigned flags) {
  return call([&] { return create(handle, description, device, flags); });
}

CUresult cuGreenCtxDestroy(CUgreenCtx handle) {
  return call([&] { return destroy(handle); });
}

CUresult cuCtxFromGreenCtx(CUcontext* context, CUgreenCtx handle) {
  return with_green(handle, [&](GreenContext& green) {
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    *context = handle_of(green.context);
    return CUDA_SUCCESS;
  });
}

CUresult cuGreenCtxGetId(CUgreenCtx handle, unsigned long long* id) {
  return with_green(handle, [&](GreenContext& context) {
    if (!id) return CUDA_ERROR_INVALID_VALUE;
    *id = context.id;
    return CUDA_SUCCESS;
  });
}

CUresult cuGreenCtxStreamCreate(CUstream* stream, CUgreenCtx handle, unsigned flags, int priority) {
  return with_green(handle, [&](GreenContext& context) { return create_stream(context, handle, stream, flags, priority); });
}

CUresult cuStreamGetGreenCtx(CUstream stream, CUgreenCtx* handle) {
  return in_stream(stream, [&](Context& context) {
    if (!handle) return CUDA_ERROR_INVALID_VALUE;
    if (!find_stream(context, stream)) return CUDA_ERROR_INVALID_HANDLE;
    std::lock_guard lock(green().mutex);
    auto found = green().of_stream.find(stream);
    *handle = found == green().of_stream.end() ? nullptr : found->second;
    return CUDA_SUCCESS;
  });
}

// After, or before, all that its streams do.
CUresult cuGreenCtxRecordEvent(CUgreenCtx handle, CUevent event_handle) {
  return with_green(handle, [&](GreenContext& context) {
    EventRef event = find_event(event_handle);
    if (!event || &event->context != &context.context) return CUDA_ERROR_INVALID_HANDLE;
    std::vector<TaskRef> after;
    std::lock_guard lock(green().mutex);
    for (CUstream handle : context.streams)
      if (StreamRef stream = process().streams.find(handle)) after.push_back(Scheduler::instance().last(stream->queue));
    OpRef op = enqueue(context.context, context.context.default_stream(), RecordWork{}, after);
    std::lock_guard recording(event->mutex);
    event->recorded = std::move(op);
    return CUDA_SUCCESS;
  });
}

CUresult cuGreenCtxWaitEvent(CUgreenCtx handle, CUevent event) {
  return with_green(handle, [&](GreenContext& context) {
    if (!find_event(event)) return cudaErrorInvalidResourceHandle;
    std::lock_guard lock(green().mutex);
    for (CUstream stream : context.streams)
      if (cudaError_t status = cudaStreamWaitEvent(stream, event, 0); status != cudaSuccess) return status;
    return cudaSuccess;
  });
}

}  // extern "C"
