// A Context is everything the runtime holds on one device: its memory, default stream, loaded programs, settings, and
// whether a kernel has failed. Contexts live as long as the process; cudaDeviceReset empties one.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "cuda/api.h"
#include "cuda/handle_table.h"
#include "cuda/scheduler.h"
#include "model/device.h"
#include "vm/memory.h"

namespace warpbeam::cuda {

class Context;

struct StreamAttributes {  // hints
  cudaAccessPolicyWindow window{};
  cudaSynchronizationPolicy synchronization = cudaSyncPolicyAuto;
  cudaLaunchMemSyncDomain domain = cudaLaunchMemSyncDomainDefault;
  cudaLaunchMemSyncDomainMap domains{0, 1};
};

struct Stream : std::enable_shared_from_this<Stream> {
  Stream(Context& context, Queue::Kind kind, unsigned flags, int priority);
  ~Stream();
  Context& context;
  Queue queue;
  unsigned flags;
  int priority;
  unsigned long long id;
  std::mutex attributes_mutex;
  StreamAttributes attributes;
  cudaStream_t handle() { return reinterpret_cast<cudaStream_t>(this); }
};
using StreamRef = std::shared_ptr<Stream>;

class Op;
struct Event {
  explicit Event(Context& context, unsigned flags) : context(context), flags(flags) {}
  Context& context;
  unsigned flags;
  std::mutex mutex;
  std::shared_ptr<Op> recorded;  // the latest cudaEventRecord; null until the first
  cudaEvent_t handle() { return reinterpret_cast<cudaEvent_t>(this); }
};
using EventRef = std::shared_ptr<Event>;

class LoadedImages;

struct DeviceSettings {  // what cudaDeviceSet… changes; cudaDeviceReset restores
  unsigned flags = cudaDeviceMapHost;
  size_t stack_limit = 1024;
  size_t heap_limit = 8u << 20;
  size_t printf_limit = 0;  // 0: the device's own
  size_t pending_launches = 2048;
  size_t l2_granularity = 64;
  size_t persisting_l2 = 0;
  cudaFuncCache cache = cudaFuncCachePreferNone;
};

class Context {
 public:
  Context(int ordinal, const model::Device& model);
  ~Context();

  const int ordinal;
  const model::Device& model;
  vm::DeviceMemory memory;
  QueueGroup queues;
  DeviceSettings settings;  // guarded by mutex
  std::mutex mutex;
  std::unique_ptr<LoadedImages> images;
  std::set<int> peers;  // devices whose memory kernels here may touch; guarded by mutex

  // The error of the kernel that broke this context, cudaSuccess while it is whole.
  cudaError_t failure() const { return static_cast<cudaError_t>(failure_.load(std::memory_order_acquire)); }
  // The first failure counts; its explanation goes to stderr.
  void fail(cudaError_t error, const std::string& explanation);

  // True once something has used the device.
  bool active() const { return active_.load(std::memory_order_relaxed); }
  void activate() { active_.store(true, std::memory_order_relaxed); }

  StreamRef default_stream() { return default_stream_; }
  StreamRef thread_stream();  // of the calling thread
  // Every stream's work so far; then what kernels printed goes to stdout.
  void synchronize();
  void reset();

  // What kernels printed waits here until the host synchronises.
  void keep_output(std::string&& text);
  void write_output();

 private:
  std::atomic<int> failure_{cudaSuccess};
  std::atomic<bool> active_{false};
  StreamRef default_stream_;
  std::unordered_map<unsigned long long, StreamRef> thread_streams_;  // by ThreadState::id; guarded by mutex
  std::mutex output_mutex_;
  std::string output_;
  std::atomic<bool> has_output_{false};
};

// The process-wide side: which devices there are, and all streams and events.
struct Process {
  std::vector<std::unique_ptr<Context>> contexts;
  HandleTable<Stream> streams;
  HandleTable<Event> events;
};
Process& process();

inline int device_count() { return static_cast<int>(process().contexts.size()); }
cudaError_t context_of(int device, Context** context);  // cudaErrorInvalidDevice if there is none
cudaError_t current_context(Context** context);          // of the calling thread's device

// Which stream a handle means: 0 and cudaStreamLegacy, cudaStreamPerThread, or one of cudaStreamCreate. Null if none.
StreamRef find_stream(Context& context, cudaStream_t handle);
inline EventRef find_event(cudaEvent_t handle) { return process().events.find(handle); }

// Twins for per-thread default streams take the same handles; only 0 means another stream there.
inline cudaStream_t per_thread(cudaStream_t handle) { return handle ? handle : cudaStreamPerThread; }

}  // namespace warpbeam::cuda
