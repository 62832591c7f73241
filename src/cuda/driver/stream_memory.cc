// Values in memory that streams wait for and write.
#include <atomic>

#include "cuda/driver/owners.h"
#include "cuda/graphs/capture.h"
#include "cuda/streams/ops.h"

namespace warpbeam::cuda::driver {

namespace {

template <class Value>
bool holds(Value now, Value wanted, unsigned flags) {
  using Signed = std::make_signed_t<Value>;
  switch (flags & 3) {
    case CU_STREAM_WAIT_VALUE_GEQ: return static_cast<Signed>(now - wanted) >= 0;  // counts may wrap around
    case CU_STREAM_WAIT_VALUE_EQ: return now == wanted;
    case CU_STREAM_WAIT_VALUE_AND: return (now & wanted) != 0;
    default: return ~(now | wanted) != 0;
  }
}

template <class Value>
std::atomic_ref<Value> value_at(CUdeviceptr address) {
  return std::atomic_ref<Value>(*static_cast<Value*>(pointer(address)));
}

template <class Value>
bool accessible(CUdeviceptr address) {
  auto place = locate(pointer(address));
  return place && address % sizeof(Value) == 0 && place->room(pointer(address)) >= sizeof(Value);
}

// What to queue for one operation; `check` finds what is wrong with it first, so that a batch is queued whole or not.
struct Step {
  CUresult result = CUDA_SUCCESS;
  Work work = WaitWork{};
};

template <class Value>
Step wait_for(CUdeviceptr address, Value value, unsigned flags) {
  if (flags & ~unsigned{3 | CU_STREAM_WAIT_VALUE_FLUSH} || !accessible<Value>(address)) return {CUDA_ERROR_INVALID_VALUE};
  // Memory that is freed meanwhile ends the wait.
  return {CUDA_SUCCESS, WaitWork{[=] {
            return !accessible<Value>(address) || holds(value_at<Value>(address).load(std::memory_order_acquire), value, flags);
          }}};
}

template <class Value>
Step write(CUdeviceptr address, Value value, unsigned flags) {
  if (flags & ~unsigned{CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER} || !accessible<Value>(address)) return {CUDA_ERROR_INVALID_VALUE};
  return {CUDA_SUCCESS, InternalWork{[=] {
            if (accessible<Value>(address)) value_at<Value>(address).store(value, std::memory_order_release);
          }}};
}

// Every operation sees what those before it wrote: nothing is left for barriers and flushes to do.
Step step_of(const CUstreamBatchMemOpParams& p) {
  switch (p.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32: return wait_for<uint32_t>(p.waitValue.address, p.waitValue.value, p.waitValue.flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64: return wait_for<uint64_t>(p.waitValue.address, p.waitValue.value64, p.waitValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32: return write<uint32_t>(p.writeValue.address, p.writeValue.value, p.writeValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64: return write<uint64_t>(p.writeValue.address, p.writeValue.value64, p.writeValue.flags);
    case CU_STREAM_MEM_OP_BARRIER:
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: return {};
    default: return {CUDA_ERROR_INVALID_VALUE};
  }
}

template <class MakeStep>
CUresult queue(CUstream handle, MakeStep&& make_step) {
  return in_stream(handle, [&](Context& context) -> CUresult {
    StreamRef stream = find_stream(context, handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    Step step = make_step();
    if (step.result != CUDA_SUCCESS) return step.result;
    forbid_capture(*stream);
    enqueue(stream->context, stream, std::move(step.work));
    return CUDA_SUCCESS;
  });
}

CUresult queue_batch(CUstream handle, unsigned count, CUstreamBatchMemOpParams* operations, unsigned flags) {
  constexpr unsigned kMostOperations = 256;
  return in_stream(handle, [&](Context& context) -> CUresult {
    StreamRef stream = find_stream(context, handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (!operations || count == 0 || count > kMostOperations || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    std::vector<Step> steps;
    for (unsigned i = 0; i < count; ++i) {
      steps.push_back(step_of(operations[i]));
      if (steps.back().result != CUDA_SUCCESS) return steps.back().result;
    }
    forbid_capture(*stream);
    for (Step& step : steps) enqueue(stream->context, stream, std::move(step.work));
    return CUDA_SUCCESS;
  });
}

}  // namespace
}  // namespace warpbeam::cuda::driver

using namespace warpbeam::cuda;
using namespace warpbeam::cuda::driver;

// Each function in both interfaces, and with the twins.
#define WB_VALUE(name, Value, function)                                                                \
  WB_TWIN CUresult name(CUstream stream, CUdeviceptr address, Value value, unsigned flags) {           \
    return queue(stream, [&] { return function<Value>(address, value, flags); });                      \
  }                                                                                                    \
  WB_TWIN CUresult name##_ptsz(CUstream stream, CUdeviceptr address, Value value, unsigned flags) {    \
    return queue(per_thread(stream), [&] { return function<Value>(address, value, flags); });          \
  }                                                                                                    \
  WB_TWIN CUresult name##_v2(CUstream stream, CUdeviceptr address, Value value, unsigned flags) {      \
    return queue(stream, [&] { return function<Value>(address, value, flags); });                      \
  }                                                                                                    \
  WB_TWIN CUresult name##_v2_ptsz(CUstream stream, CUdeviceptr address, Value value, unsigned flags) { \
    return queue(per_thread(stream), [&] { return function<Value>(address, value, flags); });          \
  }
#define WB_BATCH(name, stream_used)                                                                              \
  WB_TWIN CUresult name(CUstream stream, unsigned count, CUstreamBatchMemOpParams* operations, unsigned flags) { \
    return queue_batch(stream_used, count, operations, flags);                                                   \
  }

extern "C" {

WB_VALUE(cuStreamWaitValue32, cuuint32_t, wait_for)
WB_VALUE(cuStreamWaitValue64, cuuint64_t, wait_for)
WB_VALUE(cuStreamWriteValue32, cuuint32_t, write)
WB_VALUE(cuStreamWriteValue64, cuuint64_t, write)
WB_BATCH(cuStreamBatchMemOp, stream)
WB_BATCH(cuStreamBatchMemOp_ptsz, per_thread(stream))
WB_BATCH(cuStreamBatchMemOp_v2, stream)
WB_BATCH(cuStreamBatchMemOp_v2_ptsz, per_thread(stream))

}  // extern "C"
