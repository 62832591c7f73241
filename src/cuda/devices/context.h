// A Context is everything the runtime holds on one device: its memory, default stream, loaded programs, settings, and
// whether a kernel has failed. Each device has its primary context, which cudaDeviceReset empties; cuCtxCreate makes
// more. Contexts live as long as the process: one that was destroyed is empty and refuses all work, and its place is
// given out again as late as possible.
#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "cuda/api.h"
#include "base/handle_table.h"
#include "cuda/streams/scheduler.h"
#include "cuda/thread_state.h"
#include "model/device.h"
#include "vm/memory.h"

namespace warpbeam::cuda {

class Context;

struct CapturePoint;

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
  // While it captures; guarded by the graphs' mutex. The lists are what the program was last told.
  std::shared_ptr<CapturePoint> capture;
  std::vector<cudaGraphNode_t> capture_handles;
  std::vector<cudaGraphEdgeData> capture_edges;
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
  std::shared_ptr<CapturePoint> captured;  // where the latest record was captured; guarded by the graphs' mutex
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
  unsigned sync_depth = 2;
  size_t l2_granularity = 64;
  size_t persisting_l2 = 0;
  cudaFuncCache cache = cudaFuncCachePreferNone;
  cudaSharedMemConfig banks = cudaSharedMemBankSizeDefault;
};

class Context {
 public:
  static constexpr int kMaxCreated = 64;  // by cuCtxCreate, alive at once
  static constexpr int kMaxSlots = ThreadState::kMaxDevices + kMaxCreated;

  Context(int ordinal, const model::Device& model, int slot);
  ~Context();

  const int ordinal;
  const int slot;  // tells contexts apart: a device's ordinal for its primary context, larger for others
  const model::Device& model;
  vm::DeviceMemory memory;
  QueueGroup queues;
  DeviceSettings settings;  // guarded by mutex
  std::mutex mutex;
  std::unique_ptr<LoadedImages> images;
  std::set<const Context*> peers;  // contexts whose memory kernels here may touch; guarded by mutex

  // The error of the kernel that broke this context, cudaSuccess while it is whole.
  cudaError_t failure() const { return static_cast<cudaError_t>(failure_.load(std::memory_order_acquire)); }
  // The first failure counts; its explanation goes to stderr.
  void fail(cudaError_t error, const std::string& explanation);

  // True once something has used the device.
  bool active() const { return active_.load(std::memory_order_relaxed); }
  void activate() { active_.store(true, std::memory_order_relaxed); }

  bool primary() const { return slot < ThreadState::kMaxDevices; }
  // Of this use of the context: a place that is given out again gets a new one.
  unsigned long long id() const { return id_.load(std::memory_order_acquire); }
  bool destroyed() const { return id() == 0; }
  void begin();    // a fresh life
  void destroy();  // empties it for good; not for primary contexts
  // cuDevicePrimaryCtxRetain and cuCtxAttach count here; the runtime keeps what it has used once.
  std::atomic<int> users{0};
  // Of cuMemCreate, which belongs to devices: counted in their primary contexts.
  std::atomic<uint64_t> created_bytes{0};
  std::atomic<bool> used_by_runtime{false};

  StreamRef default_stream() { return default_stream_; }
  StreamRef thread_stream();  // of the calling thread
  bool sleeps_in_waits();  // cudaDeviceScheduleBlockingSync
  // Every stream's work so far; then what kernels printed goes to stdout.
  void synchronize();
  // The same, and other devices' work too, which may use this one's memory: before something is given back.
  void wait_for_users();
  void reset();

  // What kernels printed waits here until the host synchronises.
  void keep_output(std::string&& text);
  void write_output();

 private:
  void wait_for_streams();
  std::atomic<int> failure_{cudaSuccess};
  std::mutex failing_mutex_;  // held by the one who tells of a failure
  std::atomic<bool> active_{false};
  std::atomic<unsigned long long> id_{0};
  StreamRef default_stream_;
  std::unordered_map<unsigned long long, StreamRef> thread_streams_;  // by ThreadState::id; guarded by mutex
  std::mutex output_mutex_;
  std::string output_;
  std::atomic<bool> has_output_{false};
};

// The process-wide side: which devices there are, and all streams and events.
struct Process {
  std::vector<std::unique_ptr<Context>> contexts;  // the primary ones, by device
  std::array<std::atomic<Context*>, Context::kMaxCreated> created{};  // by slot; null: never used
  HandleTable<Stream> streams;
  HandleTable<Event> events;
};
Process& process();

// True once something has asked for the process's devices: what cuInit does, or the first call of the runtime.
bool process_started();

// Every context that is not destroyed.
template <class Body>
void for_each_context(Body&& body) {
  for (const auto& context : process().contexts) body(*context);
  for (const auto& place : process().created) {
    Context* context = place.load(std::memory_order_acquire);
    if (!context) break;
    if (!context->destroyed()) body(*context);
  }
}

inline int device_count() { return static_cast<int>(process().contexts.size()); }
cudaError_t context_of(int device, Context** context);  // cudaErrorInvalidDevice if there is none
// What the calling thread has current; its device's primary context becomes so when there is none.
cudaError_t current_context(Context** context);
// Puts `context` on top of the thread's stack, in the place of the top one if there is one.
void make_current(Context& context);

// Which stream a handle means: 0 and cudaStreamLegacy, cudaStreamPerThread, or one of cudaStreamCreate. Null if none.
StreamRef find_stream(Context& context, cudaStream_t handle);
inline EventRef find_event(cudaEvent_t handle) { return process().events.find(handle); }

// Twins for per-thread default streams take the same handles; only 0 means another stream there.
inline cudaStream_t per_thread(cudaStream_t handle) { return handle ? handle : cudaStreamPerThread; }

}  // namespace warpbeam::cuda
