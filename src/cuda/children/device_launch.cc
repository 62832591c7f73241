#include "cuda/children/device_launch.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "vm/grid.h"

namespace warpbeam::cuda {

namespace {

constexpr unsigned kMostDepth = 24;
constexpr int kFirstCapability = 35;  // that can launch from the device

Context& context_of(const vm::Block& block) { return *static_cast<Context*>(block.launch->owner); }
vm::ChildGrids& children_of_grid(vm::Block& block) { return *block.grid->child_grids; }

struct Target {
  vm::StreamKind kind = vm::StreamKind::Named;
  std::shared_ptr<vm::DeviceStream> owned;
  vm::DeviceStream* stream = nullptr;
};

// Which device stream a handle means. Streams of the host mean nothing here.
bool find_stream(vm::Block& block, uint64_t handle, Target* target) {
  switch (static_cast<NamedStream>(handle)) {
    case NamedStream::Default:
    case NamedStream::Legacy:
    case NamedStream::PerThread: target->stream = &vm::children_of(block).default_stream; return true;
    case NamedStream::TailLaunch: target->kind = vm::StreamKind::Tail; return true;
    case NamedStream::FireAndForget: target->kind = vm::StreamKind::FireAndForget; return true;
  }
  std::lock_guard lock(children_of_grid(block).mutex);
  auto found = children_of_grid(block).streams.find(handle);
  if (found == children_of_grid(block).streams.end()) return false;
  target->owned = found->second;
  target->stream = found->second.get();
  return true;
}

// What the configuration, the depth and the device allow.
cudaError_t prepare(vm::Block& block, const vm::Kernel& kernel, const vm::LaunchConfiguration& c, LaunchWork* work, vm::Arguments* params) {
  Context& context = context_of(block);
  if (context.model.cc() < kFirstCapability) return cudaErrorNotSupported;
  if (block.launch->depth + 1 > kMostDepth) return cudaErrorLaunchMaxDepthExceeded;
  Function& function = context.images->function(block.launch->program->shared_from_this(), kernel);
  LaunchRequest request;
  request.grid = {c.grid[0], c.grid[1], c.grid[2]};
  request.block = {c.block[0], c.block[1], c.block[2]};
  request.shared = c.shared;
  std::vector<void*> arguments;
  vm::Arguments zeros;
  if (!params) params = &zeros;
  params->resize(kernel.param_bytes);
  for (const vm::KernelParam& param : kernel.params) arguments.push_back(params->data() + param.offset);
  if (cudaError_t status = prepare_launch(function, request, arguments.data(), work); status != cudaSuccess)
    return status == cudaErrorInvalidValue ? cudaErrorInvalidConfiguration : status;  // measured: the device has one word for all
  work->launch.depth = block.launch->depth + 1;
  return cudaSuccess;
}

size_t pending_limit(vm::Block& block) {
  Context& context = context_of(block);
  std::lock_guard lock(context.mutex);
  return context.settings.pending_launches;
}

bool too_many_pending(vm::Block& block) {
  const size_t limit = pending_limit(block);
  std::lock_guard lock(children_of_grid(block).mutex);
  return children_of_grid(block).pending >= limit;
}

}  // namespace

bool wait_for_room(vm::Block& block, unsigned thread) {
  if (pending_limit(block) != DeviceSettings{}.pending_launches || !too_many_pending(block)) return false;
  const auto& mine = vm::children_of(block);
  if (!mine.launches[thread]) return false;
  std::lock_guard lock(children_of_grid(block).mutex);
  return children_of_grid(block).unblocked != 0;  // or else what is pending waits for this grid
}

cudaError_t launch_from_device(vm::Block& block, const vm::Kernel& kernel, const vm::LaunchConfiguration& c, vm::Arguments params) {
  LaunchWork work;
  if (cudaError_t status = prepare(block, kernel, c, &work, &params); status != cudaSuccess) return status;
  Target target;
  if (!find_stream(block, c.stream, &target)) return cudaErrorInvalidResourceHandle;
  auto task = std::make_shared<vm::DeviceTask>();
  task->is_grid = true;
  task->launch = std::move(work.launch);
  const bool room = vm::submit(block, std::move(task), target.kind, target.stream, pending_limit(block));
  return room ? cudaSuccess : cudaErrorLaunchPendingCountExceeded;
}

cudaError_t queue_device_work(vm::Block& block, std::function<void()> work, uint64_t stream) {
  Target target;
  if (!find_stream(block, stream, &target)) return cudaErrorInvalidResourceHandle;
  auto task = std::make_shared<vm::DeviceTask>();
  task->work = std::move(work);
  vm::submit(block, std::move(task), target.kind, target.stream);
  return cudaSuccess;
}

// --- parameter buffers -------------------------------------------------------------------------------------------

cudaError_t parameter_buffer(vm::Block& block, const vm::Kernel* kernel, const vm::LaunchConfiguration& c, uint64_t bytes,
                             uint64_t* buffer) {
  constexpr uint64_t kSmallest = 256, kChunk = 256 << 10;
  if (bytes > (kSmallest << 7)) return cudaErrorInvalidValue;
  if (kernel) {
    LaunchWork unused;
    if (cudaError_t status = prepare(block, *kernel, c, &unused, nullptr); status != cudaSuccess) return status;
    if (too_many_pending(block)) return cudaErrorLaunchPendingCountExceeded;
  }
  const unsigned size_class = bytes <= kSmallest ? 0 : static_cast<unsigned>(std::bit_width((bytes - 1) / kSmallest));
  vm::ChildGrids& child_grids = children_of_grid(block);
  std::lock_guard lock(child_grids.mutex);
  auto& spare = child_grids.free_buffers[size_class];
  if (spare.empty()) {
    auto chunk = child_grids.memory->allocate(kChunk, 256, vm::MemoryKind::Variable, "parameters of device launches");
    if (!chunk) return cudaErrorLaunchOutOfResources;
    child_grids.chunks.push_back(chunk->base);
    for (uint64_t at = 0; at < kChunk; at += kSmallest << size_class) spare.push_back(chunk->base + at);
  }
  *buffer = spare.back();
  spare.pop_back();
  child_grids.buffers[*buffer] = {kernel, c, bytes, size_class};
  return cudaSuccess;
}

cudaError_t launch_from_buffer(vm::Block& block, const vm::Kernel* kernel, const vm::LaunchConfiguration* c, uint64_t buffer,
                               uint64_t stream) {
  vm::LaunchConfiguration configuration = c ? *c : vm::LaunchConfiguration{};
  vm::Arguments params;
  if (buffer) {
    vm::ChildGrids& child_grids = children_of_grid(block);
    std::lock_guard lock(child_grids.mutex);
    auto found = child_grids.buffers.find(buffer);
    if (found == child_grids.buffers.end()) return cudaErrorInvalidValue;
    if (!kernel) kernel = found->second.kernel;
    if (!c) configuration = found->second.configuration;
    const auto* bytes = reinterpret_cast<const std::byte*>(buffer);
    params.assign(bytes, bytes + found->second.bytes);
    child_grids.free_buffers[found->second.size_class].push_back(buffer);
    child_grids.buffers.erase(found);
  }
  if (!kernel) return cudaErrorInvalidValue;
  if (params.size() < kernel->param_bytes) return cudaErrorInvalidValue;
  configuration.stream = stream;
  return launch_from_device(block, *kernel, configuration, std::move(params));
}

// --- streams and events ------------------------------------------------------------------------------------------

uint64_t make_device_stream(vm::Block& block) {
  vm::ChildGrids& child_grids = children_of_grid(block);
  std::lock_guard lock(child_grids.mutex);
  child_grids.streams[++child_grids.next_handle] = std::make_shared<vm::DeviceStream>();
  return child_grids.next_handle;
}

bool forget_device_stream(vm::Block& block, uint64_t handle) {
  std::lock_guard lock(children_of_grid(block).mutex);
  return children_of_grid(block).streams.erase(handle) != 0;
}

uint64_t make_device_event(vm::Block& block) {
  vm::ChildGrids& child_grids = children_of_grid(block);
  std::lock_guard lock(child_grids.mutex);
  child_grids.events[++child_grids.next_handle] = std::make_shared<vm::DeviceEvent>();
  return child_grids.next_handle;
}

bool forget_device_event(vm::Block& block, uint64_t handle) {
  std::lock_guard lock(children_of_grid(block).mutex);
  return children_of_grid(block).events.erase(handle) != 0;
}

cudaError_t record_device_event(vm::Block& block, uint64_t event, uint64_t stream) {
  Target target;
  if (!find_stream(block, stream, &target)) return cudaErrorInvalidResourceHandle;
  if (!target.stream) return cudaErrorInvalidValue;
  std::lock_guard lock(children_of_grid(block).mutex);
  auto found = children_of_grid(block).events.find(event);
  if (found == children_of_grid(block).events.end()) return cudaErrorInvalidResourceHandle;
  found->second->recorded = target.stream->ahead;
  return cudaSuccess;
}

cudaError_t wait_device_event(vm::Block& block, uint64_t stream, uint64_t event) {
  Target target;
  if (!find_stream(block, stream, &target)) return cudaErrorInvalidResourceHandle;
  if (!target.stream) return cudaErrorInvalidValue;
  std::lock_guard lock(children_of_grid(block).mutex);
  auto found = children_of_grid(block).events.find(event);
  if (found == children_of_grid(block).events.end()) return cudaErrorInvalidResourceHandle;
  for (const auto& task : found->second->recorded)
    if (!task->done && std::ranges::find(target.stream->ahead, task) == target.stream->ahead.end()) target.stream->ahead.push_back(task);
  return cudaSuccess;
}

// --- questions ---------------------------------------------------------------------------------------------------

Function* device_function(const vm::Launch& launch, uint64_t address) {
  const vm::Kernel* kernel = vm::kernel_at(launch, address);
  if (!kernel) return nullptr;
  return &static_cast<Context*>(launch.owner)->images->function(launch.program->shared_from_this(), *kernel);
}

bool in_device_memory(Context& context, const Region& region, size_t width, size_t height, size_t depth) {
  const auto base = reinterpret_cast<uint64_t>(region.base);
  if ((height > 1 && region.pitch < width) || (depth > 1 && region.plane < width)) return false;
  uint64_t lo = 0, hi = 0;
  const uint64_t last = base + (depth - 1) * region.plane + (height - 1) * region.pitch;
  return context.memory.covers(base, last - base + width, &lo, &hi);
}

uint64_t device_string(Context& context, const char* text) { return context.images->device_string(text); }

unsigned sync_depth(Context& context) {
  std::lock_guard lock(context.mutex);
  return context.settings.sync_depth;
}

}  // namespace warpbeam::cuda
