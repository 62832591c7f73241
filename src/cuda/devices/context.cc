#include "cuda/devices/context.h"

#include <fmt/format.h>
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "cuda/memory/memory.h"
#include "cuda/graphs/capture.h"
#include "cuda/devices/context_storage.h"
#include "cuda/edge.h"
#include "cuda/exit_report.h"
#include "cuda/modules/modules.h"
#include "cuda/memory/outside_reads.h"
#include "cuda/memory/pool.h"
#include "cuda/thread_state.h"
#include "cuda/devices/visible_devices.h"
#include "observe/tool.h"

namespace warpbeam::cuda {

namespace {

std::atomic<unsigned long long> stream_ids{0};
std::atomic<unsigned long long> context_ids{0};
std::atomic<bool> started{false};

// WARPBEAM_DEVICE names the device, WARPBEAM_DEVICES says how many there are of it, CUDA_VISIBLE_DEVICES which of them
// this process sees.
std::vector<std::unique_ptr<Context>> make_contexts() {
  const model::Device* model = &model::default_device();
  if (const char* name = std::getenv("WARPBEAM_DEVICE"); name && *name) {
    model = model::find_device(name);
    if (!model) {
      std::string near = model::nearest_device(name);
      fmt::print(stderr, "warpbeam: WARPBEAM_DEVICE={}: no such device{}\n", name,
                 near.empty() ? "" : fmt::format("; did you mean {}?", near));
      return {};
    }
  }
  int count = 1;
  bool asked = false;
  if (const char* text = std::getenv("WARPBEAM_DEVICES"); text && *text) {
    char* end = nullptr;
    long value = std::strtol(text, &end, 10);
    if (*end || value < 0 || value > ThreadState::kMaxDevices)
      fmt::print(stderr, "warpbeam: WARPBEAM_DEVICES={}: a number from 0 to {} was needed; there is one device\n", text,
                 int{ThreadState::kMaxDevices});
    else count = static_cast<int>(value), asked = true;
  }
  count = static_cast<int>(visible_devices(model->key, count, asked).size());
  std::vector<std::unique_ptr<Context>> contexts;
  for (int i = 0; i < count; ++i) contexts.push_back(std::make_unique<Context>(i, *model, i));
  return contexts;
}

}  // namespace

std::atomic<bool> left_behind{false};

// Never destroyed: global objects of the program use the runtime in their destructors.
Process& process() {
  static Process* process = [] {
    auto* fresh = new Process;
    fresh->contexts = make_contexts();
    let_reads_outside_pass();
    pthread_atfork(nullptr, nullptr, [] {
      for (const auto& context : cuda::process().contexts)
        if (context->active()) left_behind.store(true, std::memory_order_relaxed);
    });
    started.store(true, std::memory_order_release);
    return fresh;
  }();
  return *process;
}

bool process_started() { return started.load(std::memory_order_acquire); }

Stream::Stream(Context& context, Queue::Kind kind, unsigned flags, int priority)
    : context(context), queue(kind), flags(flags), priority(priority), id(++stream_ids) {
  Scheduler::instance().join(queue, context.queues);
}

Stream::~Stream() { Scheduler::instance().leave(queue); }

Context::Context(int ordinal, const model::Device& model, int slot)
    : ordinal(ordinal),
      slot(slot),
      model(model),
      // A process has room for few arenas of the usual size.
      memory(model.memory_bytes, primary() ? vm::DeviceMemory::kArenaBytes : uint64_t{1} << 40),
      images(std::make_unique<LoadedImages>(*this)),
      id_(++context_ids) {
  default_stream_ = std::make_shared<Stream>(*this, Queue::Kind::Legacy, cudaStreamDefault, 0);
  memory.images.number_from(static_cast<uint64_t>(slot));
}

Context::~Context() = default;

// Said first and known then: a call that finds the failure may end the program at once, and what is still to be said with it.
void Context::fail(cudaError_t error, const std::string& explanation) {
  std::lock_guard lock(failing_mutex_);
  if (failure() != cudaSuccess) return;
  write_output();  // what the kernel printed before it failed helps to see why
  report_at_exit(error);
  if (!explanation.empty() && !(observe::tool() && observe::tool()->checks()))
    fmt::print(stderr, "{}{}warpbeam: from here on every call of this device fails; `warpbeam check` finds what may have led there\n",
               explanation, explanation.ends_with('\n') ? "" : "\n");
  failure_.store(error, std::memory_order_release);
}

StreamRef Context::thread_stream() {
  std::lock_guard lock(mutex);
  StreamRef& stream = thread_streams_[this_thread().id];
  if (!stream) stream = std::make_shared<Stream>(*this, Queue::Kind::Blocking, cudaStreamDefault, 0);
  return stream;
}

void Context::wait_for_streams() {
  auto streams = process().streams.all();
  {
    std::lock_guard lock(mutex);
    for (auto& [thread, stream] : thread_streams_) streams.push_back(stream);
  }
  Scheduler& scheduler = Scheduler::instance();
  scheduler.wait(default_stream_->queue);
  for (const StreamRef& stream : streams)
    if (&stream->context == this) scheduler.wait(stream->queue);
}

bool Context::sleeps_in_waits() {
  std::lock_guard lock(mutex);
  return settings.flags & cudaDeviceScheduleBlockingSync;
}

void Context::synchronize() {
  const auto unused_images = memory.images.take_retired();  // nothing runs with them once the wait is over
  wait_for_streams();
  if (auto* tool = observe::tool()) {
    if (sleeps_in_waits()) tool->sleeps();
    tool->waited(observe::WaitKind::Device, static_cast<uint64_t>(ordinal));
  }
  write_output();
}

void Context::wait_for_users() {
  synchronize();
  for_each_context([&](Context& other) {
    if (&other != this && other.active()) other.wait_for_streams();
  });
}

void Context::reset() {
  wait_for_users();
  end_context_storage(*this);
  if (auto* tool = observe::tool()) tool->resetting(ordinal);
  for (const StreamRef& stream : process().streams.all())
    if (&stream->context == this) {
      abandon_capture(*stream);
      process().streams.remove(stream.get());
    }
  for (const EventRef& event : process().events.all())
    if (&event->context == this) process().events.remove(event.get());
  forget_graphs(*this);
  images->unload();
  forget_pools(*this);
  release_all(*this);
  std::lock_guard lock(mutex);
  thread_streams_.clear();
  peers.clear();
  settings = {};
  failure_.store(cudaSuccess, std::memory_order_release);
  active_.store(false, std::memory_order_relaxed);
  used_by_runtime.store(false, std::memory_order_relaxed);
}

void Context::begin() {
  id_.store(++context_ids, std::memory_order_release);
  activate();
  share_host_memory(*this);
}

void Context::destroy() {
  id_.store(0, std::memory_order_release);
  reset();
  users = 0;
}

void Context::keep_output(std::string&& text) {
  if (text.empty()) return;
  std::lock_guard lock(output_mutex_);
  output_ += text;
  has_output_.store(true, std::memory_order_release);
}

void Context::write_output() {
  if (!has_output_.load(std::memory_order_acquire)) return;
  std::lock_guard lock(output_mutex_);
  std::fwrite(output_.data(), 1, output_.size(), stdout);
  // The host program may write to the same place by other means.
  std::fflush(stdout);
  output_.clear();
  has_output_.store(false, std::memory_order_release);
}

namespace {

void tell_of_devices(int asked) {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  const int count = device_count();
  fmt::print(stderr, "warpbeam: device {} was asked for, and there {} {}; WARPBEAM_DEVICES={} gives as many\n", asked,
             count == 1 ? "is" : "are", count, asked + 1);
}

}  // namespace

cudaError_t context_of(int device, Context** context) {
  if (device_count() == 0) return cudaErrorNoDevice;
  if (device < 0 || device >= device_count()) {
    if (device > 0) tell_of_devices(device);
    return cudaErrorInvalidDevice;
  }
  *context = process().contexts[device].get();
  return cudaSuccess;
}

cudaError_t current_context(Context** context) {
  ThreadState& thread = this_thread();
  if (thread.context_count) {
    const auto& top = thread.contexts[thread.context_count - 1];
    if (top.context->id() != top.id) return cudaErrorContextIsDestroyed;
    *context = top.context;
  } else {
    if (thread.device < 0) thread.device = thread.valid_device_count ? thread.valid_devices[0] : 0;
    if (cudaError_t status = context_of(thread.device, context); status != cudaSuccess) return status;
    make_current(**context);
  }
  if (!(*context)->active()) {
    (*context)->activate();
    if (auto* tool = observe::tool()) tool->activated((*context)->ordinal);
  }
  if (!thread.in_driver_call) (*context)->used_by_runtime.store(true, std::memory_order_relaxed);
  return cudaSuccess;
}

void make_current(Context& context) {
  ThreadState& thread = this_thread();
  if (thread.context_count == 0) thread.context_count = 1;
  thread.contexts[thread.context_count - 1] = {&context, context.id()};
}

StreamRef find_stream(Context& context, cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy) return context.default_stream();
  if (handle == cudaStreamPerThread) return context.thread_stream();
  return process().streams.find(handle);
}

}  // namespace warpbeam::cuda
