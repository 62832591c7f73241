#include "cuda/launches/launch.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "cuda/edge.h"
#include "cuda/graphs/capture.h"
#include "cuda/textures/texture_references.h"
#include "vm/engine.h"

namespace warpbeam::cuda {

namespace {

std::atomic<uint64_t> grid_ids{0};

std::array<uint32_t, 3> extents(const dim3& d) { return {d.x, d.y, d.z}; }

bool within(const dim3& d, const std::array<int, 3>& limits) {
  auto e = extents(d);
  for (int i = 0; i < 3; ++i)
    if (e[i] == 0 || e[i] > static_cast<uint32_t>(limits[i])) return false;
  return true;
}

std::string text(const dim3& d) { return fmt::format("({}, {}, {})", d.x, d.y, d.z); }

// For the checker.
cudaError_t refuse(cudaError_t error, const std::string& reason) {
  auto& text = this_thread().bad_launch;
  text[reason.copy(text.data(), text.size() - 1)] = 0;
  return error;
}

cudaError_t check(const Function& function, const LaunchRequest& request) {
  const model::Device& model = function.context.model;
  const auto three = [](const auto& of) { return fmt::format("({}, {}, {})", of[0], of[1], of[2]); };
  if (!within(request.grid, model.max_grid_dim))
    return refuse(cudaErrorInvalidConfiguration, fmt::format("its grid is {}: each number must be 1 at least, and {} at most",
                                                             text(request.grid), three(model.max_grid_dim)));
  if (!within(request.block, model.max_block_dim))
    return refuse(cudaErrorInvalidConfiguration, fmt::format("its blocks are {}: each number must be 1 at least, and {} at most",
                                                             text(request.block), three(model.max_block_dim)));
  uint64_t threads = uint64_t{request.block.x} * request.block.y * request.block.z;
  if (threads > static_cast<uint64_t>(model.max_threads_per_block))
    return refuse(cudaErrorInvalidConfiguration, fmt::format("its blocks {} have {} threads, and a block has {} at most",
                                                             text(request.block), threads, model.max_threads_per_block));
  if (threads > static_cast<uint64_t>(function.max_threads_per_block()))
    return refuse(cudaErrorInvalidValue, fmt::format("its blocks {} have {} threads, and those of this kernel have {} at most",
                                                     text(request.block), threads, function.max_threads_per_block()));
  if (function.kernel.required_ntid && extents(request.block) != function.kernel.max_ntid)
    return refuse(cudaErrorInvalidValue,
                  fmt::format("its blocks are {}, and the kernel demands {}", text(request.block), three(function.kernel.max_ntid)));
  const size_t most = static_cast<size_t>(model.shared_per_block_optin);
  if (request.shared > function.max_dynamic_shared())
    return refuse(
        cudaErrorInvalidValue,
        fmt::format(
            "it asks for {} bytes of dynamic shared memory, and this kernel may have {}; cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) allows up to {}",
            request.shared, function.max_dynamic_shared(), most - std::min<size_t>(most, function.kernel.static_shared)));
  if (function.kernel.static_shared + request.shared > most)
    return refuse(cudaErrorInvalidValue, fmt::format("its blocks need {} bytes of shared memory, and a block has {} at most",
                                                     function.kernel.static_shared + request.shared, most));
  return cudaSuccess;
}

// The cluster of a launch: what the kernel demands, or else what the launch asks for.
cudaError_t cluster_of(const Function& function, const LaunchRequest& request, std::array<uint32_t, 3>* cluster, bool* asked) {
  const model::Device& model = function.context.model;
  const auto required = function.required_cluster();
  const std::array<uint32_t, 3> wanted = extents(request.cluster);
  const bool demanded = function.requires_cluster(), attribute = wanted[0] != 0;
  *asked = demanded || attribute;
  if (!*asked) return cudaSuccess;
  if (demanded && attribute && wanted != required) return cudaErrorInvalidClusterSize;
  *cluster = demanded ? required : wanted;
  const auto grid = extents(request.grid);
  uint64_t size = 1;
  for (size_t i = 0; i < 3; ++i) {
    if ((*cluster)[i] == 0 || grid[i] % (*cluster)[i]) return cudaErrorInvalidClusterSize;
    size *= (*cluster)[i];
  }
  if (size == 1) return cudaSuccess;
  if (!model.cluster_launch) return cudaErrorNotSupported;
  const int most = function.non_portable_cluster ? model.max_nonportable_cluster_size : model.max_cluster_size;
  return size <= static_cast<uint64_t>(most) ? cudaSuccess : cudaErrorInvalidClusterSize;
}

}  // namespace

cudaError_t prepare_launch(Function& function, const LaunchRequest& request, void** arguments, LaunchWork* work) {
  if (cudaError_t status = check(function, request); status != cudaSuccess) return status;
  Context& context = function.context;
  if (!function.program.references().empty())
    if (cudaError_t status = context.images->bindings().refresh(function.program); status != cudaSuccess) return status;
  vm::Launch& launch = work->launch;
  work->function = &function;
  work->code = function.code;
  launch.program = &function.program;
  launch.kernel = &function.kernel;
  launch.grid = extents(request.grid);
  launch.block = extents(request.block);
  launch.dynamic_shared = static_cast<uint32_t>(request.shared);
  launch.memory = &context.memory;
  launch.owner = &context;
  launch.cooperative = request.cooperative;
  launch.others = request.others;
  if (cudaError_t status = cluster_of(function, request, &launch.cluster, &launch.explicit_cluster); status != cudaSuccess) return status;
  launch.grid_id = ++grid_ids;
  launch.sm_count = context.model.sm_count;
  launch.resident_blocks = function.resident_blocks(static_cast<int>(request.block.x * request.block.y * request.block.z), request.shared);
  launch.clock_ghz = context.model.clock_khz * 1e-6;
  launch.max_shared_per_block = context.model.shared_per_block_optin;
  {
    std::lock_guard lock(context.mutex);
    launch.stack_limit = static_cast<uint32_t>(context.settings.stack_limit);
    launch.heap_limit = context.settings.heap_limit;
    const int banks = function.banks ? int{function.banks} : context.settings.banks;
    launch.eight_byte_banks = context.model.major == 3 && banks == cudaSharedMemBankSizeEightByte;
  }
  uint64_t blocks = uint64_t{request.grid.x} * request.grid.y * request.grid.z;
  if (request.cooperative && blocks > launch.resident_blocks) return cudaErrorCooperativeLaunchTooLarge;

  const auto& params = function.kernel.params;
  if (!params.empty() && !arguments) return cudaErrorInvalidValue;
  launch.params.resize(function.kernel.param_bytes);
  for (size_t i = 0; i < params.size(); ++i) {
    if (!arguments[i]) return cudaErrorInvalidValue;
    std::memcpy(launch.params.data() + params[i].offset, arguments[i], params[i].size);
  }
  return cudaSuccess;
}

// CUDA_LAUNCH_BLOCKING=1, by which programs ask which launch it is that fails.
static bool launches_wait() {
  static const bool wait = [] {
    const char* value = std::getenv("CUDA_LAUNCH_BLOCKING");
    return value && std::atoi(value) != 0;
  }();
  return wait;
}

cudaError_t launch(const void* handle, const LaunchRequest& request, void** arguments) {
  vm::stop_engine_with_main_thread();
  return in_context([&](Context& context) -> cudaError_t {
    Function* function = nullptr;
    if (cudaError_t status = find_function(context, handle, &function); status != cudaSuccess) return status;
    StreamRef stream = find_stream(context, request.stream);
    if (!stream || &stream->context != &context) return cudaErrorInvalidResourceHandle;
    if (request.cooperative && !context.model.cooperative_launch) return cudaErrorNotSupported;
    LaunchWork work;
    if (cudaError_t status = prepare_launch(*function, request, arguments, &work); status != cudaSuccess) return status;
    work.handle = handle;
    work.launch.priority = request.priority.value_or(stream->priority);
    Scheduler::instance().make_room(stream->queue);
    enqueue(context, stream, std::move(work));
    if (!launches_wait() || any_capture()) return cudaSuccess;
    Scheduler::instance().wait(stream->queue);
    if (auto* tool = observe::tool()) tool->waited(observe::WaitKind::Stream, stream->id);
    return context.failure();
  });
}

namespace {

// An event that a launch records when its blocks have begun, or have said that dependents may begin. Both are promises of
// the earliest moment, so the end of the grid serves.
struct LaunchEvent {
  cudaEvent_t event;
  unsigned flags;
};

cudaError_t check_launch_event(const LaunchEvent& wanted) {
  EventRef event = find_event(wanted.event);
  if (!event) return cudaErrorInvalidResourceHandle;
  const bool timed = !(event->flags & cudaEventDisableTiming), shared = event->flags & cudaEventInterprocess;
  return timed || shared || wanted.flags > cudaEventRecordExternal ? cudaErrorInvalidValue : cudaSuccess;
}

// The others are hints.
cudaError_t apply(const cudaLaunchAttribute& attribute, LaunchRequest* request, std::vector<LaunchEvent>* events) {
  switch (attribute.id) {
    case cudaLaunchAttributeCooperative: request->cooperative = attribute.val.cooperative != 0; return cudaSuccess;
    case cudaLaunchAttributePriority: request->priority = attribute.val.priority; return cudaSuccess;
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributePreferredClusterDimension:
    case cudaLaunchAttributeNvlinkUtilCentricScheduling:
    case cudaLaunchAttributePreferredSharedMemoryCarveout: return cudaSuccess;
    // Serialisation is what every stream gives; nothing overlaps earlier than it asked for.
    case cudaLaunchAttributeProgrammaticStreamSerialization: return cudaSuccess;
    case cudaLaunchAttributeClusterDimension: {
      const auto& cluster = attribute.val.clusterDim;
      if (!cluster.x && !cluster.y && !cluster.z) return cudaSuccess;  // none
      if (!cluster.x || !cluster.y || !cluster.z) return cudaErrorInvalidClusterSize;
      request->cluster = dim3(cluster.x, cluster.y, cluster.z);
      return cudaSuccess;
    }
    case cudaLaunchAttributeProgrammaticEvent: {
      const auto& wanted = attribute.val.programmaticEvent;
      events->push_back({wanted.event, static_cast<unsigned>(wanted.flags)});
      return check_launch_event(events->back());
    }
    case cudaLaunchAttributeLaunchCompletionEvent: {
      const auto& wanted = attribute.val.launchCompletionEvent;
      events->push_back({wanted.event, static_cast<unsigned>(wanted.flags)});
      return check_launch_event(events->back());
    }
    case cudaLaunchAttributeDeviceUpdatableKernelNode: return cudaErrorNotSupported;
    default: return cudaErrorInvalidValue;
  }
}

cudaError_t launch_with_attributes(const cudaLaunchConfig_t* config, const void* handle, void** arguments, bool thread_stream) {
  if (!config || (config->numAttrs && !config->attrs)) return edge([] { return cudaErrorInvalidValue; });
  LaunchRequest request{config->gridDim, config->blockDim, config->dynamicSmemBytes,
                        thread_stream ? per_thread(config->stream) : config->stream, false};
  std::vector<LaunchEvent> events;
  for (unsigned i = 0; i < config->numAttrs; ++i)
    if (cudaError_t status = apply(config->attrs[i], &request, &events); status != cudaSuccess) return edge([&] { return status; });
  cudaError_t status = launch(handle, request, arguments);
  for (const LaunchEvent& each : events)
    if (status == cudaSuccess) status = cudaEventRecordWithFlags(each.event, request.stream, each.flags);
  return status;
}

}  // namespace
}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t stream) {
  return launch(function, {grid, block, shared, stream}, arguments);
}

WB_TWIN cudaError_t cudaLaunchKernel_ptsz(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                                          cudaStream_t stream) {
  return launch(function, {grid, block, shared, per_thread(stream)}, arguments);
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t stream) {
  return launch(function, {grid, block, shared, stream, true}, arguments);
}

WB_TWIN cudaError_t cudaLaunchCooperativeKernel_ptsz(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                                                     cudaStream_t stream) {
  return launch(function, {grid, block, shared, per_thread(stream), true}, arguments);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  return launch_with_attributes(config, function, arguments, false);
}

WB_TWIN cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  return launch_with_attributes(config, function, arguments, true);
}

}  // extern "C"
