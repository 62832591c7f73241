#include "cuda/children/device_runtime.h"

#include <array>
#include <cstring>

#include "cuda/api.h"
#include "cuda/children/device_launch.h"
#include "cuda/graphs/graph.h"
#include "cuda/thread_state.h"
#include "vm/access.h"
#include "vm/builtin_call.h"
#include "vm/grid.h"

namespace warpbeam::cuda {

namespace {

using vm::argument;
using vm::CallSite;
using vm::Insn;
using vm::Warp;

// One lane that calls the runtime.
struct Call {
  Warp& w;
  const Insn& insn;
  const CallSite& site;
  int lane;

  template <class T>
  T arg(size_t k) const {
    return argument<T>(w, site, k, lane);
  }
  // Host memory behind a device pointer of any space; a bad one traps, as a store through it would.
  std::byte* at(uint64_t address, uint32_t bytes, vm::AccessKind kind) const {
    vm::Addresses addresses;
    for (uint64_t& a : addresses.at) a = address;
    std::byte* pointers[vm::kWarpSize] = {};
    vm::resolve(w, insn, 1u << lane, isa::Space::Generic, addresses, bytes, kind, pointers);
    return pointers[lane];
  }
  // An object is written in parts that every alignment allows: what device code passes may lie anywhere.
  cudaError_t give(size_t k, const void* value, size_t bytes) const {
    const auto address = arg<uint64_t>(k);
    if (!address) return cudaErrorInvalidValue;
    for (size_t done = 0; done < bytes; done += 4) {
      const auto part = static_cast<uint32_t>(std::min<size_t>(4, bytes - done));
      std::memcpy(at(address + done, part, vm::AccessKind::Write), static_cast<const std::byte*>(value) + done, part);
    }
    return cudaSuccess;
  }
  template <class T>
  cudaError_t give(size_t k, const T& value) const {
    return give(k, &value, sizeof value);
  }
  Context& context() const { return *static_cast<Context*>(w.block->launch->owner); }
  int& last_error() const { return vm::children_of(*w.block).last_error[vm::thread_in_block(w, lane)]; }
  cudaError_t remember(cudaError_t status) const {
    if (status != cudaSuccess && status != cudaErrorNotReady) last_error() = status;
    return status;
  }
};

// A function whose result is an error: it is returned, and remembered for the thread.
template <cudaError_t (*body)(const Call&)>
void with_status(Warp& w, const Insn& i, const CallSite& site, uint32_t mask) {
  vm::for_lanes(mask, [&](int lane) {
    const Call call{w, i, site, lane};
    vm::give_back<int32_t>(w, site, lane, call.remember(body(call)));
  });
}

// Host functions that answer questions about the device, asked for the device the kernel runs on.
template <class Body>
cudaError_t on_device(const Call& call, Body&& body) {
  ThreadState& thread = this_thread();
  const ThreadState before = thread;
  thread.device = call.context().ordinal;
  thread.in_host_function = false;
  const cudaError_t status = body();
  thread.device = before.device;
  thread.in_host_function = before.in_host_function;
  thread.last_error = before.last_error;
  return status;
}

// --- errors ------------------------------------------------------------------------------------------------------

void get_last_error(Warp& w, const Insn& i, const CallSite& site, uint32_t mask) {
  vm::for_lanes(mask, [&](int lane) {
    int& error = Call{w, i, site, lane}.last_error();
    vm::give_back<int32_t>(w, site, lane, std::exchange(error, cudaSuccess));
  });
}

void peek_at_last_error(Warp& w, const Insn& i, const CallSite& site, uint32_t mask) {
  vm::for_lanes(mask, [&](int lane) { vm::give_back<int32_t>(w, site, lane, Call{w, i, site, lane}.last_error()); });
}

template <const char* (*text)(cudaError_t)>
void error_text(Warp& w, const Insn& i, const CallSite& site, uint32_t mask) {
  vm::for_lanes(mask, [&](int lane) {
    const Call call{w, i, site, lane};
    vm::give_back<uint64_t>(w, site, lane, device_string(call.context(), text(call.arg<cudaError_t>(0))));
  });
}

// --- questions ---------------------------------------------------------------------------------------------------

cudaError_t get_device(const Call& call) { return call.give(0, call.context().ordinal); }

cudaError_t get_device_count(const Call& call) { return call.give(0, device_count()); }

cudaError_t runtime_version(const Call& call) { return call.give(0, int{CUDART_VERSION}); }

cudaError_t device_attribute(const Call& call) {
  int value = 0;
  const cudaError_t status = on_device(call, [&] { return cudaDeviceGetAttribute(&value, call.arg<cudaDeviceAttr>(1), call.arg<int>(2)); });
  return status == cudaSuccess ? call.give(0, value) : status;
}

cudaError_t device_limit(const Call& call) {
  size_t value = 0;
  const cudaError_t status = on_device(call, [&] { return cudaDeviceGetLimit(&value, call.arg<cudaLimit>(1)); });
  return status == cudaSuccess ? call.give(0, value) : status;
}

template <class Value, cudaError_t (*get)(Value*)>
cudaError_t device_setting(const Call& call) {
  Value value{};
  const cudaError_t status = on_device(call, [&] { return get(&value); });
  return status == cudaSuccess ? call.give(0, value) : status;
}

cudaError_t function_attributes(const Call& call) {
  Function* function = device_function(*call.w.block->launch, call.arg<uint64_t>(1));
  if (!function) return cudaErrorInvalidDeviceFunction;
  return call.give(0, attributes_of(*function));
}

cudaError_t active_blocks(const Call& call) {
  Function* function = device_function(*call.w.block->launch, call.arg<uint64_t>(1));
  if (!function) return cudaErrorInvalidDeviceFunction;
  const int threads = call.arg<int>(2);
  if (threads <= 0) return cudaErrorInvalidValue;
  const int blocks = function->resident_blocks(threads, call.arg<size_t>(3)) / call.context().model.sm_count;
  return call.give(0, blocks);
}

// --- memory ------------------------------------------------------------------------------------------------------

// The heap of device malloc; the host can free none of it.
cudaError_t allocate(const Call& call) {
  const uint64_t address = vm::device_malloc(*call.w.block->launch, call.arg<uint64_t>(1));
  if (auto& watcher = call.w.block->observer; watcher && address)
    watcher->heap_allocated(call.w, call.insn, call.lane, address, call.arg<uint64_t>(1));
  return address ? call.give(0, address) : cudaErrorMemoryAllocation;
}

cudaError_t release(const Call& call) {
  const auto address = call.arg<uint64_t>(0);
  if (!address) return cudaSuccess;
  const bool known = vm::device_free(*call.w.block->launch, address);
  if (auto& watcher = call.w.block->observer; watcher && known) watcher->heap_freed(call.w, call.insn, call.lane, address, true);
  return known ? cudaSuccess : cudaErrorInvalidValue;
}

// A watcher's program has these bytes from the moment it asked for them: kernels cannot tell otherwise without waiting.
void tell_written(const Call& call, const Region& to, size_t width, size_t height, size_t depth) {
  if (!call.w.block->observer) return;
  for (size_t plane = 0; plane < depth; ++plane)
    for (size_t row = 0; row < height; ++row)
      call.w.block->observer->runtime_wrote(reinterpret_cast<uint64_t>(to.base) + plane * to.plane + row * to.pitch, width);
}

cudaError_t copy(const Call& call, const Region& to, const Region& from, size_t width, size_t height, size_t depth, uint64_t stream) {
  if (!width || !height || !depth) return cudaSuccess;
  CopyWork work{to, from, width, height, depth, nullptr};
  if (!in_device_memory(call.context(), to, width, height, depth) || !in_device_memory(call.context(), from, width, height, depth))
    return cudaErrorInvalidValue;
  tell_written(call, to, width, height, depth);
  return queue_device_work(*call.w.block, [work] { work.run(); }, stream);
}

cudaError_t fill(const Call& call, const Region& to, int value, size_t width, size_t height, size_t depth, uint64_t stream) {
  if (!width || !height || !depth) return cudaSuccess;
  if (!in_device_memory(call.context(), to, width, height, depth)) return cudaErrorInvalidValue;
  tell_written(call, to, width, height, depth);
  FillWork work{to, static_cast<uint32_t>(value & 0xff), 1, width, height, depth, false};
  return queue_device_work(*call.w.block, [work] { work.run(); }, stream);
}

Region region(uint64_t base, size_t pitch = 0, size_t plane = 0) { return {reinterpret_cast<std::byte*>(base), pitch, plane}; }

cudaError_t memcpy_1d(const Call& call) {
  return copy(call, region(call.arg<uint64_t>(0)), region(call.arg<uint64_t>(1)), call.arg<size_t>(2), 1, 1, call.arg<uint64_t>(4));
}

cudaError_t memcpy_2d(const Call& call) {
  return copy(call, region(call.arg<uint64_t>(0), call.arg<size_t>(1)), region(call.arg<uint64_t>(2), call.arg<size_t>(3)),
              call.arg<size_t>(4), call.arg<size_t>(5), 1, call.arg<uint64_t>(7));
}

cudaError_t memcpy_3d(const Call& call) {
  const auto address = call.arg<uint64_t>(0);
  if (!address) return cudaErrorInvalidValue;
  cudaMemcpy3DParms parms;
  for (size_t done = 0; done < sizeof parms; done += 4)
    std::memcpy(reinterpret_cast<std::byte*>(&parms) + done, call.at(address + done, 4, vm::AccessKind::Read), 4);
  if (parms.srcArray || parms.dstArray) return cudaErrorNotSupported;
  auto side = [](const cudaPitchedPtr& p, const cudaPos& at) {
    const size_t plane = p.pitch * p.ysize;
    return region(reinterpret_cast<uint64_t>(p.ptr) + at.x + at.y * p.pitch + at.z * plane, p.pitch, plane);
  };
  return copy(call, side(parms.dstPtr, parms.dstPos), side(parms.srcPtr, parms.srcPos), parms.extent.width, parms.extent.height,
              parms.extent.depth, call.arg<uint64_t>(1));
}

cudaError_t memset_1d(const Call& call) {
  return fill(call, region(call.arg<uint64_t>(0)), call.arg<int>(1), call.arg<size_t>(2), 1, 1, call.arg<uint64_t>(3));
}

cudaError_t memset_2d(const Call& call) {
  return fill(call, region(call.arg<uint64_t>(0), call.arg<size_t>(1)), call.arg<int>(2), call.arg<size_t>(3), call.arg<size_t>(4), 1,
              call.arg<uint64_t>(5));
}

cudaError_t memset_3d(const Call& call) {
  const auto to = call.arg<cudaPitchedPtr>(0);
  const auto extent = call.arg<cudaExtent>(2);
  return fill(call, region(reinterpret_cast<uint64_t>(to.ptr), to.pitch, to.pitch * to.ysize), call.arg<int>(1), extent.width,
              extent.height, extent.depth, call.arg<uint64_t>(3));
}

// --- streams and events ------------------------------------------------------------------------------------------

// Named device streams have no order with the default stream, whatever the flag says.
cudaError_t stream_create(const Call& call) {
  if (call.arg<unsigned>(1) > cudaStreamNonBlocking) return cudaErrorInvalidValue;
  return call.give(0, make_device_stream(*call.w.block));
}

cudaError_t stream_destroy(const Call& call) {
  return forget_device_stream(*call.w.block, call.arg<uint64_t>(0)) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

cudaError_t stream_wait_event(const Call& call) { return wait_device_event(*call.w.block, call.arg<uint64_t>(0), call.arg<uint64_t>(1)); }

cudaError_t event_create(const Call& call) {
  if (call.arg<unsigned>(1) != cudaEventDisableTiming) return cudaErrorInvalidValue;  // no others exist on the device
  return call.give(0, make_device_event(*call.w.block));
}

cudaError_t event_record(const Call& call) { return record_device_event(*call.w.block, call.arg<uint64_t>(0), call.arg<uint64_t>(1)); }

cudaError_t event_destroy(const Call& call) {
  return forget_device_event(*call.w.block, call.arg<uint64_t>(0)) ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

// All of the block's launches, by any of its threads. Too far down the device keeps no state of waiting grids.
void device_synchronize(Warp& w, const Insn& i, const CallSite& site, uint32_t mask) {
  const auto& launch = *w.block->launch;
  const bool too_deep = launch.depth > sync_depth(*static_cast<Context*>(launch.owner));
  vm::for_lanes(mask, [&](int lane) {
    const Call call{w, i, site, lane};
    vm::give_back<int32_t>(w, site, lane, call.remember(too_deep ? cudaErrorSyncDepthExceeded : cudaSuccess));
  });
  if (too_deep) return;
  if (mask != w.active) w.split(w.active & ~mask, w.ip);
  vm::wait_for_children(w, i);
}

// --- launches ----------------------------------------------------------------------------------------------------

void configure_launch(Warp& w, const Insn& i, const CallSite& site, uint32_t mask) {
  vm::for_lanes(mask, [&](int lane) {
    const Call call{w, i, site, lane};
    vm::LaunchConfiguration c;
    c.grid = call.arg<std::array<uint32_t, 3>>(0);
    c.block = call.arg<std::array<uint32_t, 3>>(1);
    c.shared = call.arg<uint64_t>(2);
    c.stream = call.arg<uint64_t>(3);
    vm::children_of(*w.block).configured[vm::thread_in_block(w, lane)].push_back(c);
  });
}

// Runs `body` for each lane in turn. Lanes that find too many launches pending come back to this instruction later.
template <class Body>
void with_room(Warp& w, const Insn& i, uint32_t mask, Body&& body) {
  uint32_t later = 0;
  vm::for_lanes(mask, [&](int lane) {
    const unsigned thread = vm::thread_in_block(w, lane);
    if (later || wait_for_room(*w.block, thread)) {
      later |= 1u << lane;
      return;
    }
    body(lane);
    ++vm::children_of(*w.block).launches[thread];
  });
  if (!later) return;
  if (later == w.active) w.ip = &i;
  else w.split(later, &i);
  w.stop = vm::StopReason::Spinning;
  w.polled = true;
}

void launch_entry(Warp& w, const Insn& i, const CallSite& site, uint32_t mask) {
  // A wild pointer that is a kernel's, in a grid that launches nothing and so has no ChildGrids.
  if (!w.block->grid->child_grids) {
    const int lane = __builtin_ctz(mask);
    w.trap(vm::TrapKind::InvalidPc, i, lane, "device code calls a kernel as if it were a function",
           site.builtin_data ? 0 : w.lanes<uint64_t>(site.target_slot)[lane]);
  }
  with_room(w, i, mask, [&](int lane) {
    const Call call{w, i, site, lane};
    const auto* function = static_cast<const vm::FunctionCode*>(site.builtin_data);
    const vm::Kernel* kernel = function ? function->kernel : vm::kernel_at(*w.block->launch, w.lanes<uint64_t>(site.target_slot)[lane]);
    auto& configured = vm::children_of(*w.block).configured[vm::thread_in_block(w, lane)];
    if (!kernel || configured.empty() || site.args.size() != kernel->params.size())
      w.trap(vm::TrapKind::InvalidPc, i, lane, "device code calls a kernel as if it were a function",
             function ? 0 : w.lanes<uint64_t>(site.target_slot)[lane]);
    const vm::LaunchConfiguration c = configured.back();
    configured.pop_back();
    vm::Arguments params(kernel->param_bytes);
    for (size_t k = 0; k < kernel->params.size(); ++k)
      std::memcpy(params.data() + kernel->params[k].offset, w.local(lane) + w.frame->local_base + site.args[k].offset,
                  std::min<size_t>(kernel->params[k].size, site.args[k].size));
    call.remember(launch_from_device(*w.block, *kernel, c, std::move(params)));
  });
}

// void* (function, grid, block, shared): null when the launch cannot be, and the error says why.
void parameter_buffer_v2(Warp& w, const Insn& i, const CallSite& site, uint32_t mask) {
  with_room(w, i, mask, [&](int lane) {
    const Call call{w, i, site, lane};
    vm::LaunchConfiguration c;
    c.grid = call.arg<std::array<uint32_t, 3>>(1);
    c.block = call.arg<std::array<uint32_t, 3>>(2);
    c.shared = call.arg<uint32_t>(3);
    const vm::Kernel* kernel = vm::kernel_at(*w.block->launch, call.arg<uint64_t>(0));
    uint64_t buffer = 0;
    const cudaError_t status =
        kernel ? parameter_buffer(*w.block, kernel, c, kernel->param_bytes, &buffer) : cudaErrorInvalidDeviceFunction;
    call.remember(status);
    vm::give_back<uint64_t>(w, site, lane, buffer);
  });
}

// void* (alignment, size)
void parameter_buffer_v1(Warp& w, const Insn& i, const CallSite& site, uint32_t mask) {
  vm::for_lanes(mask, [&](int lane) {
    const Call call{w, i, site, lane};
    uint64_t buffer = 0;
    call.remember(parameter_buffer(*w.block, nullptr, {}, call.arg<uint64_t>(1), &buffer));
    vm::give_back<uint64_t>(w, site, lane, buffer);
  });
}

cudaError_t launch_buffer_v2(const Call& call) {
  return launch_from_buffer(*call.w.block, nullptr, nullptr, call.arg<uint64_t>(0), call.arg<uint64_t>(1));
}

// (function, buffer, grid, block, shared, stream)
cudaError_t launch_buffer_v1(const Call& call) {
  const vm::Kernel* kernel = vm::kernel_at(*call.w.block->launch, call.arg<uint64_t>(0));
  if (!kernel) return cudaErrorInvalidDeviceFunction;
  vm::LaunchConfiguration c;
  c.grid = call.arg<std::array<uint32_t, 3>>(2);
  c.block = call.arg<std::array<uint32_t, 3>>(3);
  c.shared = call.arg<uint32_t>(4);
  return launch_from_buffer(*call.w.block, kernel, &c, call.arg<uint64_t>(1), call.arg<uint64_t>(5));
}

// A kernel of a graph decides what its conditional nodes run. A handle that is none changes nothing.
void set_conditional(Warp& w, const Insn& i, const CallSite& site, uint32_t mask) {
  vm::for_lanes(mask, [&](int lane) {
    const Call call{w, i, site, lane};
    if (auto condition = find_condition(call.arg<uint64_t>(0))) condition->value.store(call.arg<unsigned>(1), std::memory_order_release);
  });
}

cudaError_t launch_graph(const Call& call) {
  return launch_graph_from_device(call.w.block->launch->grid_id, call.arg<cudaGraphExec_t>(0), call.arg<uint64_t>(1));
}

void current_graph(Warp& w, const Insn& i, const CallSite& site, uint32_t mask) {
  const auto graph = reinterpret_cast<uint64_t>(graph_of_grid(w.block->launch->grid_id));
  vm::for_lanes(mask, [&](int lane) { vm::give_back<uint64_t>(w, site, lane, graph); });
}

struct DeviceFunction {
  std::string_view name;  // without the prefix of nvcc's library and without the suffix of per-thread streams
  vm::Builtin builtin;
};

constexpr DeviceFunction kDeviceFunctions[] = {
    {"__warpbeam_configure_launch", configure_launch},
    {"cudaGetParameterBuffer", parameter_buffer_v1},
    {"cudaGetParameterBufferV2", parameter_buffer_v2},
    {"cudaLaunchDevice", with_status<launch_buffer_v1>},
    {"cudaLaunchDeviceV2", with_status<launch_buffer_v2>},
    {"cudaGraphSetConditional", set_conditional},
    {"cudaGraphLaunch", with_status<launch_graph>},
    {"cudaGetCurrentGraphExec", current_graph},
    {"cudaDeviceSynchronize", device_synchronize},
    {"__cudaDeviceSynchronizeDeprecationAvoidance", device_synchronize},
    {"cudaDeviceSynchronizeDeprecationAvoidance", device_synchronize},
    {"cudaGetLastError", get_last_error},
    {"cudaPeekAtLastError", peek_at_last_error},
    {"cudaGetErrorString", error_text<cudaGetErrorString>},
    {"cudaGetErrorName", error_text<cudaGetErrorName>},
    {"cudaGetDevice", with_status<get_device>},
    {"cudaGetDeviceCount", with_status<get_device_count>},
    {"cudaRuntimeGetVersion", with_status<runtime_version>},
    {"cudaDeviceGetAttribute", with_status<device_attribute>},
    {"cudaDeviceGetLimit", with_status<device_limit>},
    {"cudaDeviceGetCacheConfig", with_status<device_setting<cudaFuncCache, cudaDeviceGetCacheConfig>>},
    {"cudaDeviceGetSharedMemConfig", with_status<device_setting<cudaSharedMemConfig, cudaDeviceGetSharedMemConfig>>},
    {"cudaFuncGetAttributes", with_status<function_attributes>},
    {"cudaOccupancyMaxActiveBlocksPerMultiprocessor", with_status<active_blocks>},
    {"cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", with_status<active_blocks>},
    {"cudaMalloc", with_status<allocate>},
    {"cudaFree", with_status<release>},
    {"cudaMemcpyAsync", with_status<memcpy_1d>},
    {"cudaMemcpy2DAsync", with_status<memcpy_2d>},
    {"cudaMemcpy3DAsync", with_status<memcpy_3d>},
    {"cudaMemsetAsync", with_status<memset_1d>},
    {"cudaMemset2DAsync", with_status<memset_2d>},
    {"cudaMemset3DAsync", with_status<memset_3d>},
    {"cudaStreamCreateWithFlags", with_status<stream_create>},
    {"cudaStreamDestroy", with_status<stream_destroy>},
    {"cudaStreamWaitEvent", with_status<stream_wait_event>},
    {"cudaEventCreateWithFlags", with_status<event_create>},
    {"cudaEventRecord", with_status<event_record>},
    {"cudaEventRecordWithFlags", with_status<event_record>},
    {"cudaEventDestroy", with_status<event_destroy>},
};

}  // namespace

const vm::Builtin kLaunchEntry = launch_entry;

vm::Builtin find_device_function(std::string_view name) {
  std::string plain(name);
  if (constexpr std::string_view prefix = "__cudaCDP2"; name.starts_with(prefix)) plain = "cuda" + plain.substr(prefix.size());
  if (plain.ends_with("_ptsz") || plain.ends_with("_ptds")) plain.resize(plain.size() - 5);
  for (const DeviceFunction& f : kDeviceFunctions)
    if (f.name == plain) return f.builtin;
  return nullptr;
}

}  // namespace warpbeam::cuda
