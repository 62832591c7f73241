// NVTX: counters, samples of them and batches of samples.
#ifndef WARPBEAM_NVTOOLSEXTCOUNTERS_H
#define WARPBEAM_NVTOOLSEXTCOUNTERS_H

#include "nvToolsExtPayload.h"

#define NVTX_EXT_COUNTERS_MODULEID 4
#define NVTX_EXT_COUNTERS_COMPATID 0x0102
#define NVTX_COUNTER_ID_NONE 0
#define NVTX_COUNTER_ID_STATIC_START (1 << 24)
#define NVTX_COUNTER_ID_DYNAMIC_START ((uint64_t)1 << 32)
#define NVTX_COUNTER_SAMPLE_ZERO 0
#define NVTX_COUNTER_SAMPLE_UNCHANGED 1
#define NVTX_COUNTER_SAMPLE_UNAVAILABLE 2
#define NVTX_COUNTER_BATCH_FLAG_BEGINTIME_INTERVAL_PAIR ((uint64_t)1 << 32)
#define NVTX_COUNTER_BATCH_FLAG_ENDTIME_INTERVAL_PAIR ((uint64_t)2 << 32)

typedef struct nvtxCounterAttr_v1 {
  size_t structSize;
  uint64_t schemaId;
  const char* name;
  const char* description;
  uint64_t scopeId;
  const nvtxSemanticsHeader_t* semantics;
  uint64_t counterId;
} nvtxCounterAttr_t;

typedef struct nvtxCounterBatch_v1 {
  uint64_t counterId;
  const void* counters;
  size_t countersSize;
  uint64_t flags;
  const int64_t* timestamps;
  size_t timestampsSize;
} nvtxCounterBatch_t;

WB_NVTX uint64_t nvtxCounterRegister(nvtxDomainHandle_t domain, const nvtxCounterAttr_t* attributes) {
  return (void)domain, (void)attributes, 0;
}
WB_NVTX void nvtxCounterSampleInt64(nvtxDomainHandle_t domain, uint64_t counter, int64_t value) {
  (void)domain, (void)counter, (void)value;
}
WB_NVTX void nvtxCounterSampleFloat64(nvtxDomainHandle_t domain, uint64_t counter, double value) {
  (void)domain, (void)counter, (void)value;
}
WB_NVTX void nvtxCounterSample(nvtxDomainHandle_t domain, uint64_t counter, const void* value, size_t size) {
  (void)domain, (void)counter, (void)value, (void)size;
}
WB_NVTX void nvtxCounterSampleNoValue(nvtxDomainHandle_t domain, uint64_t counter, uint8_t reason) {
  (void)domain, (void)counter, (void)reason;
}
WB_NVTX void nvtxCounterBatchSubmit(nvtxDomainHandle_t domain, const nvtxCounterBatch_t* batch) { (void)domain, (void)batch; }

#endif
