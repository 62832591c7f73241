// The records of CUPTI's activities, field by field as programs read them.
#pragma once
#include <cstdint>

namespace warpbeam::cupti {

enum Result : int {
  Success = 0,
  InvalidParameter = 1,
  MaxLimitReached = 12,
  NotInitialized = 15,
  QueueEmpty = 18,
  InvalidKind = 21,
  NotSupported = 27,
  MultipleSubscribers = 39,
  Unknown = 999
};

enum Kind : int32_t {
  Memcpy = 1,
  Memset = 2,
  Kernel = 3,
  Driver = 4,
  Runtime = 5,
  ConcurrentKernel = 10,
  Overhead = 17,
  CudaEvent = 36,
  Synchronization = 38,
  ExternalCorrelation = 39,
  Kinds = 60
};

enum MemoryKind : uint8_t { Pageable = 1, Pinned = 2, Device = 3, Managed = 5 };

#define WB_RECORD struct __attribute__((packed, aligned(8)))

WB_RECORD KernelRecord {
  int32_t kind;
  uint8_t cache, shared_config;
  uint16_t registers;
  int32_t partitioned_requested, partitioned_executed;
  uint64_t start, end, completed;
  uint32_t device, context, stream;
  int32_t grid[3], block[3], static_shared, dynamic_shared;
  uint32_t local_per_thread, local_total, correlation;
  int64_t grid_id;
  const char* name;
  void* reserved;
  uint64_t queued, submitted;
  uint8_t launch_type, carveout_requested, carveout, padding;
  uint32_t shared_executed;
  uint64_t graph_node;
  int32_t shared_limit;
  uint32_t graph;
  void* access_policy;
  uint32_t channel;
  int32_t channel_type;
  uint32_t cluster[3], cluster_policy;
  uint64_t local_total_wide;
  uint32_t largest_cluster, active_clusters;
  uint8_t from_device, padding3[7];
  int32_t priority;
  uint32_t padding4;
};

WB_RECORD MemcpyRecord {
  int32_t kind;
  uint8_t copy_kind, from, to, flags;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, correlation, runtime_correlation, pad;
  void* reserved;
  uint64_t graph_node;
  uint32_t graph, channel;
  int32_t channel_type;
  uint8_t from_device, pad2[3];
  uint64_t copies;
};

WB_RECORD MemsetRecord {
  int32_t kind;
  uint32_t value;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, correlation;
  uint16_t flags, memory;
  uint32_t pad;
  void* reserved;
  uint64_t graph_node;
  uint32_t graph, channel;
  int32_t channel_type;
  uint8_t from_device, pad2[3];
};

WB_RECORD CallRecord {
  int32_t kind;
  uint32_t function;
  uint64_t start, end;
  uint32_t process, thread, correlation, result;
};

WB_RECORD SynchronizationRecord {
  int32_t kind, type;
  uint64_t start, end;
  uint32_t correlation, context, stream, event;
  uint64_t event_sync;
  uint32_t result, pad;
};

WB_RECORD EventRecord {
  int32_t kind;
  uint32_t correlation, context, stream, event, pad, device, pad2;
  void* reserved;
  uint64_t timestamp, event_sync;
};

WB_RECORD ExternalRecord {
  int32_t kind, external_kind;
  uint64_t external;
  uint32_t correlation, reserved;
};

#undef WB_RECORD

static_assert(sizeof(CallRecord) == 40 && sizeof(ExternalRecord) == 24 && sizeof(SynchronizationRecord) == 56);

// Bytes of a record of a kind; 0: there are none.
inline uint64_t size_of(int32_t kind) {
  switch (kind) {
    case Kernel:
    case ConcurrentKernel: return sizeof(KernelRecord);
    case Memcpy: return sizeof(MemcpyRecord);
    case Memset: return sizeof(MemsetRecord);
    case Driver:
    case Runtime: return sizeof(CallRecord);
    case Synchronization: return sizeof(SynchronizationRecord);
    case CudaEvent: return sizeof(EventRecord);
    case ExternalCorrelation: return sizeof(ExternalRecord);
    default: return 0;
  }
}

// The number of a function, and whether it is the driver's; 0: it has none here.
uint32_t number_of(const char* function, bool* driver);
const char* name_of(bool driver, uint32_t number);

// What the subscriber wants to hear of.
bool resources_wanted();
void tell_context(int device);
void update_watch();

}  // namespace warpbeam::cupti
