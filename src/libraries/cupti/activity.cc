// Records of what the runtime tells, in a profiler's buffers.
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libraries/cupti/records.h"
#include "observe/activity.h"

namespace warpbeam::cupti {
namespace {

using observe::Activity;

using Request = void (*)(uint8_t** buffer, size_t* size, size_t* most_records);
using Complete = void (*)(void* context, uint32_t stream, uint8_t* buffer, size_t size, size_t used);

std::array<std::atomic<bool>, Kinds> wanted;
std::atomic<uint64_t (*)()> clock_of_program{nullptr};
Request request = nullptr;
Complete complete = nullptr;
std::mutex mutex, names;
std::atomic<uint64_t> dropped{0};
thread_local std::vector<std::pair<int, uint64_t>> external;  // that the thread has pushed

const char* kept(const std::string& text) {
  static auto* texts = new std::set<std::string>;
  std::lock_guard lock(names);
  return texts->insert(text).first->c_str();
}

// The buffer being filled. Profilers ask for what there is only when they were asked for a buffer.
struct Buffer {
  uint8_t* bytes = nullptr;
  size_t size = 0, used = 0, count = 0, most = 0;
};
Buffer current;

void give_back() {
  if (current.bytes) complete(nullptr, 0, current.bytes, current.size, current.used);
  current = {};
}

template <class Record>
void keep(const Record& record) {
  std::lock_guard lock(mutex);
  if (!request) return;
  if (current.bytes && (current.used + sizeof record > current.size || (current.most && current.count == current.most))) give_back();
  if (!current.bytes) request(&current.bytes, &current.size, &current.most);
  if (!current.bytes || sizeof record > current.size) {
    ++dropped;
    return;
  }
  std::memcpy(current.bytes + current.used, &record, sizeof record);
  current.used += sizeof record;
  ++current.count;
}

uint8_t kind_of(Activity::Memory memory) {
  constexpr uint8_t kinds[] = {Pageable, Pinned, Device, Managed};
  return kinds[static_cast<size_t>(memory)];
}

bool on_device(Activity::Memory memory) { return memory == Activity::Memory::Device || memory == Activity::Memory::Managed; }

uint32_t context_of(int device) { return static_cast<uint32_t>(device) + 1; }

class Recorder final : public observe::ActivitySink {
 public:
  uint64_t now() override {
    if (auto* clock = clock_of_program.load(std::memory_order_acquire)) return clock();
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
  }

  void did(const Activity& activity) override {
    switch (activity.kind) {
      case observe::OperationKind::Launch:
      case observe::OperationKind::Library: return kernel(activity);
      case observe::OperationKind::Copy: return copy(activity);
      case observe::OperationKind::Fill: return fill(activity);
      case observe::OperationKind::Record: return event(activity);
      default: return;
    }
  }

  void asked(uint64_t call) override {
    if (!wanted[ExternalCorrelation]) return;
    std::set<int> kinds;  // the innermost of each
    for (auto each = external.rbegin(); each != external.rend(); ++each) {
      if (!kinds.insert(each->first).second) continue;
      ExternalRecord record{};
      record.kind = ExternalCorrelation, record.external_kind = each->first, record.external = each->second;
      record.correlation = static_cast<uint32_t>(call);
      keep(record);
    }
  }

  void called(const observe::Call& call) override {
    bool driver = false;
    const uint32_t number = number_of(call.function.c_str(), &driver);
    if (number && wanted[driver ? Driver : Runtime]) {
      CallRecord record{};
      record.kind = driver ? Driver : Runtime, record.function = number;
      record.start = call.begin, record.end = call.end;
      record.process = static_cast<uint32_t>(getpid()), record.thread = static_cast<uint32_t>(syscall(SYS_gettid));
      record.correlation = static_cast<uint32_t>(call.number);
      keep(record);
    }
    if (!call.waited || !wanted[Synchronization]) return;
    SynchronizationRecord record{};
    record.kind = Synchronization;
    record.type = call.what == observe::WaitKind::Operation ? 1 : call.what == observe::WaitKind::Stream ? 3 : 4;
    record.start = call.begin, record.end = call.end;
    record.correlation = static_cast<uint32_t>(call.number);
    record.context = call.what == observe::WaitKind::Device ? context_of(static_cast<int>(call.which)) : 1;
    record.stream = call.what == observe::WaitKind::Stream ? static_cast<uint32_t>(call.which) : ~0u;
    record.event = ~0u;
    keep(record);
  }

  void activated(int device) override { tell_context(device); }

 private:
  template <class Record>
  static void place(Record& record, const Activity& activity) {
    record.start = activity.begin, record.end = activity.end;
    record.device = static_cast<uint32_t>(activity.device), record.context = context_of(activity.device);
    record.stream = static_cast<uint32_t>(activity.stream), record.correlation = static_cast<uint32_t>(activity.call);
  }

  void kernel(const Activity& activity) {
    const Kind kind = wanted[ConcurrentKernel] ? ConcurrentKernel : Kernel;
    if (!wanted[kind]) return;
    KernelRecord record{};
    place(record, activity);
    record.kind = kind;
    record.registers = static_cast<uint16_t>(activity.registers);
    record.completed = activity.end;
    for (size_t k = 0; k < 3; ++k) {
      record.grid[k] = static_cast<int32_t>(activity.grid[k]), record.block[k] = static_cast<int32_t>(activity.block[k]);
      record.cluster[k] = activity.cluster[k];
    }
    record.static_shared = static_cast<int32_t>(activity.static_shared),
    record.dynamic_shared = static_cast<int32_t>(activity.dynamic_shared);
    record.shared_executed = activity.static_shared + activity.dynamic_shared;
    record.local_per_thread = activity.local;
    record.grid_id = static_cast<int64_t>(activity.operation);
    record.name = kept(activity.name);
    record.priority = activity.priority;
    keep(record);
  }

  void copy(const Activity& activity) {
    if (!wanted[Memcpy]) return;
    MemcpyRecord record{};
    place(record, activity);
    record.kind = Memcpy;
    const bool from = on_device(activity.from), to = on_device(activity.to);
    record.copy_kind = from ? (to ? 8 : 2) : (to ? 1 : 9);
    record.from = kind_of(activity.from), record.to = kind_of(activity.to);
    record.bytes = activity.bytes, record.copies = 1;
    keep(record);
  }

  void fill(const Activity& activity) {
    if (!wanted[Memset]) return;
    MemsetRecord record{};
    place(record, activity);
    record.kind = Memset, record.bytes = activity.bytes, record.memory = kind_of(activity.to);
    keep(record);
  }

  void event(const Activity& activity) {
    if (!wanted[CudaEvent]) return;
    EventRecord record{};
    record.kind = CudaEvent, record.correlation = static_cast<uint32_t>(activity.call);
    record.context = context_of(activity.device), record.stream = static_cast<uint32_t>(activity.stream);
    record.event = static_cast<uint32_t>(activity.operation), record.device = static_cast<uint32_t>(activity.device);
    record.timestamp = activity.end;
    keep(record);
  }
};

}  // namespace

void update_watch() {
  static auto* recorder = new Recorder;
  bool any = resources_wanted();
  for (const auto& kind : wanted) any = any || kind;
  observe::watch_activities(any ? recorder : nullptr);
}

}  // namespace warpbeam::cupti

using namespace warpbeam::cupti;

extern "C" {
#pragma GCC visibility push(default)

// Kinds that nothing here is told of are enabled as well: there is none of that, and so no record.
int cuptiActivityEnable(int kind) {
  if (kind <= 0 || kind >= Kinds) return InvalidKind;
  wanted[static_cast<size_t>(kind)] = true;
  update_watch();
  return Success;
}

int cuptiActivityDisable(int kind) {
  if (kind <= 0 || kind >= Kinds) return InvalidKind;
  wanted[static_cast<size_t>(kind)] = false;
  update_watch();
  return Success;
}

int cuptiActivityEnableContext(void*, int kind) { return cuptiActivityEnable(kind); }
int cuptiActivityDisableContext(void*, int kind) { return cuptiActivityDisable(kind); }

int cuptiActivityRegisterCallbacks(Request requested, Complete completed) {
  if (!requested || !completed) return InvalidParameter;
  std::lock_guard lock(mutex);
  request = requested, complete = completed;
  return Success;
}

int cuptiActivityFlushAll(uint32_t) {
  std::lock_guard lock(mutex);
  give_back();
  return Success;
}

int cuptiActivityFlush(void*, uint32_t, uint32_t) { return cuptiActivityFlushAll(0); }
int cuptiActivityFlushPeriod(uint32_t) { return Success; }  // they go when they are full

int cuptiActivityGetNextRecord(uint8_t* buffer, size_t used, uint8_t** record) {
  if (!buffer || !record) return InvalidParameter;
  uint8_t* next = buffer;
  if (*record) {
    int32_t kind = 0;
    std::memcpy(&kind, *record, sizeof kind);
    const uint64_t size = size_of(kind);
    if (!size) return InvalidKind;
    next = *record + size;
  }
  if (next >= buffer + used) return MaxLimitReached;
  *record = next;
  return Success;
}

int cuptiActivityGetNumDroppedRecords(void*, uint32_t, size_t* count) {
  if (!count) return InvalidParameter;
  *count = dropped.exchange(0);
  return Success;
}

int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id) {
  external.emplace_back(kind, id);
  return Success;
}

int cuptiActivityPopExternalCorrelationId(int kind, uint64_t* last) {
  for (size_t k = external.size(); k-- > 0;) {
    if (external[k].first != kind) continue;
    if (last) *last = external[k].second;
    external.erase(external.begin() + static_cast<std::ptrdiff_t>(k));
    return Success;
  }
  return QueueEmpty;
}

int cuptiActivityRegisterTimestampCallback(uint64_t (*clock)()) {
  clock_of_program = clock;
  return Success;
}

// How CUPTI keeps its buffers on a device: there are none.
int cuptiActivitySetAttribute(int, size_t* size, void* value) { return size && value ? Success : InvalidParameter; }
int cuptiActivityGetAttribute(int, size_t*, void*) { return NotSupported; }
int cuptiActivityEnableLatencyTimestamps(uint8_t) { return Success; }
int cuptiActivityEnableLaunchAttributes(uint8_t) { return Success; }
int cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t) { return Success; }
int cuptiActivityEnableAllSyncRecords(uint8_t) { return Success; }
int cuptiActivityEnableHWTrace(uint8_t enable) { return enable ? NotSupported : Success; }
int cuptiActivityEnableRawTimestamps(uint8_t enable) { return enable ? NotSupported : Success; }
// Calls that neither ask for an operation nor wait for one have no records, enabled or not.
int cuptiActivityEnableRuntimeApi(uint32_t, uint8_t) { return Success; }
int cuptiActivityEnableDriverApi(uint32_t, uint8_t) { return Success; }

#pragma GCC visibility pop
}
