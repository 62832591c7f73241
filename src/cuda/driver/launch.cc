// Launches: arguments as an array of pointers or as one buffer, attributes, and the interface of the first toolkits.
#include "cuda/launches/launch.h"

#include <cstring>
#include <map>

#include "cuda/driver/module.h"
#include "cuda/driver/owners.h"
#include "cuda/launches/argument_buffer.h"

namespace warpbeam::cuda::driver {

cudaLaunchConfig_t runtime_config(const CUlaunchConfig& config) {
  cudaLaunchConfig_t runtime{};
  runtime.gridDim = dim3(config.gridDimX, config.gridDimY, config.gridDimZ);
  runtime.blockDim = dim3(config.blockDimX, config.blockDimY, config.blockDimZ);
  runtime.dynamicSmemBytes = config.sharedMemBytes;
  runtime.stream = config.hStream;
  runtime.attrs = reinterpret_cast<cudaLaunchAttribute*>(config.attrs);
  runtime.numAttrs = config.numAttrs;
  return runtime;
}

namespace {

template <class Launch>
CUresult with_arguments(CUfunction handle, CUstream stream, void** arguments, void** extra, Launch&& launch) {
  auto body = [&](Context& context) -> CUresult {
    if (!handle) return CUDA_ERROR_INVALID_HANDLE;  // before the extents are looked at
    if (arguments && extra) return CUDA_ERROR_INVALID_VALUE;
    if (!extra) return result_of(launch(arguments));
    Function* function = nullptr;
    if (cudaError_t status = find_function(context, handle, &function); status != cudaSuccess) return result_of(status);
    ArgumentBuffer read;
    if (cudaError_t status = read_arguments(*function, extra, &read); status != cudaSuccess) return result_of(status);
    return result_of(launch(read.each.data()));
  };
  return in_stream(stream, body, Prefer::Owner);
}

CUresult launch_kernel(CUfunction function, dim3 grid, dim3 block, unsigned shared, CUstream stream, void** arguments, void** extra,
                       bool cooperative = false) {
  return with_arguments(function, stream, arguments, extra,
                        [&](void** pointers) { return launch(function, {grid, block, shared, stream, cooperative}, pointers); });
}

CUresult launch_with_config(const CUlaunchConfig* config, CUfunction function, void** arguments, void** extra, bool thread_stream) {
  if (!config) return call([] { return CUDA_ERROR_INVALID_VALUE; });
  cudaLaunchConfig_t runtime = runtime_config(*config);
  if (thread_stream) runtime.stream = per_thread(runtime.stream);
  return with_arguments(function, runtime.stream, arguments, extra,
                        [&](void** pointers) { return cudaLaunchKernelExC(&runtime, function, pointers); });
}
// One grid per device, each cooperative by itself: what remains of this interface's use since devices cannot wait for
// each other inside a kernel.
CUresult launch_on_devices(CUDA_LAUNCH_PARAMS* list, unsigned count, unsigned flags) {
  constexpr unsigned kFlags =
      CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_PRE_LAUNCH_SYNC | CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_POST_LAUNCH_SYNC;
  return call([&]() -> CUresult {
    if (!list || count == 0 || count > static_cast<unsigned>(device_count()) || (flags & ~kFlags)) return CUDA_ERROR_INVALID_VALUE;
    std::vector<StreamRef> streams;
    for (unsigned i = 0; i < count; ++i) {
      StreamRef stream = process().streams.find(list[i].hStream);
      if (!stream) return CUDA_ERROR_INVALID_HANDLE;  // default streams are refused
      for (const StreamRef& other : streams)
        if (other->context.ordinal == stream->context.ordinal) return CUDA_ERROR_INVALID_DEVICE;
      streams.push_back(std::move(stream));
    }
    ThreadState& thread = this_thread();
    const ThreadState saved = thread;
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; ++i) {
      const CUDA_LAUNCH_PARAMS& p = list[i];
      make_current(streams[i]->context);
      result = launch_kernel(p.function, {p.gridDimX, p.gridDimY, p.gridDimZ}, {p.blockDimX, p.blockDimY, p.blockDimZ}, p.sharedMemBytes,
                             p.hStream, p.kernelParams, nullptr, true);
    }
    thread.context_count = saved.context_count;
    thread.contexts = saved.contexts;
    return result;
  });
}

// What cuFuncSetBlockShape, cuFuncSetSharedSize and cuParamSet… leave for the next cuLaunch.
struct Prepared {
  dim3 block{1, 1, 1};
  unsigned shared = 0;
  std::vector<char> arguments;
};

struct AllPrepared {
  std::mutex mutex;
  std::map<CUfunction, Prepared> functions;
};

AllPrepared& all_prepared() {
  static auto* all = new AllPrepared;
  return *all;
}

template <class Body>
CUresult with_prepared(CUfunction handle, Body&& body) {
  return in_current([&](Context& context) -> CUresult {
    Function* function = nullptr;
    if (cudaError_t status = find_function(context, handle, &function); status != cudaSuccess) return result_of(status);
    AllPrepared& all = all_prepared();
    std::lock_guard lock(all.mutex);
    return body(all.functions[handle]);
  });
}

CUresult set_bytes(CUfunction function, int offset, const void* bytes, unsigned count) {
  return with_prepared(function, [&](Prepared& prepared) {
    if (offset < 0 || !bytes || count > 4096 || offset > 4096) return CUDA_ERROR_INVALID_VALUE;
    if (prepared.arguments.size() < offset + count) prepared.arguments.resize(offset + count);
    std::memcpy(prepared.arguments.data() + offset, bytes, count);
    return CUDA_SUCCESS;
  });
}

CUresult launch_prepared(CUfunction function, int width, int height, CUstream stream) {
  Prepared copy;
  CUresult result = with_prepared(function, [&](Prepared& prepared) {
    if (width <= 0 || height <= 0) return CUDA_ERROR_INVALID_VALUE;
    copy = prepared;
    return CUDA_SUCCESS;
  });
  if (result != CUDA_SUCCESS) return result;
  size_t size = copy.arguments.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, copy.arguments.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  return launch_kernel(function, dim3(width, height), copy.block, copy.shared, stream, nullptr, extra);
}

}  // namespace
}  // namespace warpbeam::cuda::driver

using namespace warpbeam::cuda;
using namespace warpbeam::cuda::driver;

#define WB_LAUNCH_SHAPE                                                                                                                \
  CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream stream, \
      void **arguments

extern "C" {

CUresult cuLaunchKernel(WB_LAUNCH_SHAPE, void** extra) {
  return launch_kernel(function, {gx, gy, gz}, {bx, by, bz}, shared, stream, arguments, extra);
}

WB_TWIN CUresult cuLaunchKernel_ptsz(WB_LAUNCH_SHAPE, void** extra) {
  return launch_kernel(function, {gx, gy, gz}, {bx, by, bz}, shared, per_thread(stream), arguments, extra);
}

CUresult cuLaunchCooperativeKernel(WB_LAUNCH_SHAPE) {
  return launch_kernel(function, {gx, gy, gz}, {bx, by, bz}, shared, stream, arguments, nullptr, true);
}

WB_TWIN CUresult cuLaunchCooperativeKernel_ptsz(WB_LAUNCH_SHAPE) {
  return launch_kernel(function, {gx, gy, gz}, {bx, by, bz}, shared, per_thread(stream), arguments, nullptr, true);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments, void** extra) {
  return launch_with_config(config, function, arguments, extra, false);
}

WB_TWIN CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction function, void** arguments, void** extra) {
  return launch_with_config(config, function, arguments, extra, true);
}

CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS* list, unsigned count, unsigned flags) {
  return launch_on_devices(list, count, flags);
}

CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
  return with_prepared(function, [&](Prepared& prepared) {
    if (x <= 0 || y <= 0 || z <= 0) return CUDA_ERROR_INVALID_VALUE;
    prepared.block = dim3(x, y, z);
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncSetSharedSize(CUfunction function, unsigned bytes) {
  return with_prepared(function, [&](Prepared& prepared) {
    prepared.shared = bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuParamSetSize(CUfunction function, unsigned bytes) {
  return with_prepared(function, [&](Prepared& prepared) {
    if (bytes > 4096) return CUDA_ERROR_INVALID_VALUE;
    prepared.arguments.resize(bytes);
    return CUDA_SUCCESS;
  });
}

CUresult cuParamSeti(CUfunction function, int offset, unsigned value) { return set_bytes(function, offset, &value, sizeof value); }

CUresult cuParamSetf(CUfunction function, int offset, float value) { return set_bytes(function, offset, &value, sizeof value); }

CUresult cuParamSetv(CUfunction function, int offset, void* bytes, unsigned count) { return set_bytes(function, offset, bytes, count); }

CUresult cuLaunch(CUfunction function) { return launch_prepared(function, 1, 1, nullptr); }

CUresult cuLaunchGrid(CUfunction function, int width, int height) { return launch_prepared(function, width, height, nullptr); }

CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
  return launch_prepared(function, width, height, stream);
}

}  // extern "C"
