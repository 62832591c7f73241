// NVTX's extensions: memory, locks, payloads with their schemas, counters, names. Without a tool every call does nothing and gives
// nothing.
#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <nvtx3/nvToolsExtMem.h>
#include <nvtx3/nvToolsExtMemCudaRt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtPayloadHelper.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>
#include <nvtx3/nvToolsExtSemanticsScope.h>
#include <nvtx3/nvToolsExtSemanticsTime.h>
#include <nvtx3/nvToolsExtSync.h>

#include <cstddef>
#include <cstdio>
#include <cstring>

#define EXPECT(what)                                       \
  do {                                                     \
    if (!(what)) {                                         \
      printf("line %d: %s\n", __LINE__, #what);            \
      return 1;                                            \
    }                                                      \
  } while (0)

struct Step {
  int index;
  double residual;
  char name[24];
};
NVTX_DEFINE_SCHEMA_FOR_STRUCT(Step, "Step", static const,
                              NVTX_PAYLOAD_ENTRIES((index, TYPE_INT, "index"), (residual, TYPE_DOUBLE, "residual", "of the equation"),
                                                   (name, TYPE_CSTRING, "name", NULL, 24)))
NVTX_DEFINE_STRUCT_WITH_SCHEMA(Tile, "Tile", static, NVTX_PAYLOAD_SCHEMA_FLAG_DEEP_COPY, 1 << 25,
                               NVTX_PAYLOAD_ENTRIES((int, row, TYPE_INT), (uint64_t, column, TYPE_UINT64, "column"),
                                                    (float, (values, 4), TYPE_FLOAT, "values", "four", 4, ARRAY_FIXED_SIZE)))
NVTX_DEFINE_STRUCT(Plain, (double, wide), (float, narrow[3]))

int memory(nvtxDomainHandle_t domain, char* pool) {
  nvtxMemVirtualRangeDesc_t range = {4096, pool};
  nvtxMemHeapDesc_t heap = {};
  heap.extCompatID = NVTX_EXT_COMPATID_MEM;
  heap.structSize = sizeof(heap);
  heap.usage = NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR;
  heap.type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
  heap.typeSpecificDescSize = sizeof(range);
  heap.typeSpecificDesc = &range;
  nvtxMemHeapHandle_t known = nvtxMemHeapRegister(domain, &heap);
  EXPECT(known == nullptr);

  nvtxMemVirtualRangeDesc_t parts[2] = {{64, pool}, {64, pool + 64}};
  nvtxMemRegionHandle_t handles[2] = {};
  nvtxMemRegionsRegisterBatch_t batch = {};
  batch.extCompatID = NVTX_EXT_COMPATID_MEM;
  batch.structSize = sizeof(batch);
  batch.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
  batch.heap = known;
  batch.regionCount = 2;
  batch.regionDescElementSize = sizeof(parts[0]);
  batch.regionDescElements = parts;
  batch.regionHandleElementsOut = handles;
  nvtxMemRegionsRegister(domain, &batch);
  EXPECT(handles[0] == nullptr && handles[1] == nullptr);

  nvtxMemPermissionsHandle_t permissions = nvtxMemPermissionsCreate(domain, NVTX_MEM_PERMISSIONS_CREATE_FLAGS_NONE);
  nvtxMemPermissionsBind(domain, permissions, NVTX_MEM_PERMISSIONS_BIND_SCOPE_CUDA_STREAM, NVTX_MEM_PERMISSIONS_BIND_FLAGS_NONE);
  nvtxMemPermissionsUnbind(domain, NVTX_MEM_PERMISSIONS_BIND_SCOPE_CUDA_STREAM);
  nvtxMemPermissionsDestroy(domain, permissions);
  nvtxMemCudaSetPeerAccess(domain, nvtxMemCudaGetProcessWidePermissions(domain), NVTX_MEM_CUDA_PEER_ALL_DEVICES,
                           NVTX_MEM_PERMISSIONS_REGION_FLAGS_READ);
  nvtxMemMarkInitializedBatch_t initialized = {};
  nvtxMemCudaMarkInitialized(domain, 0, 0, &initialized);

  nvtxMemRegionRef_t reference;
  reference.pointer = pool;
  nvtxMemRegionsUnregisterBatch_t gone = {};
  gone.refType = NVTX_MEM_REGION_REF_TYPE_POINTER;
  gone.refCount = 1;
  gone.refElementSize = sizeof(reference);
  gone.refElements = &reference;
  nvtxMemRegionsUnregister(domain, &gone);
  nvtxMemHeapReset(domain, known);
  nvtxMemHeapUnregister(domain, known);
  return 0;
}

int payloads(nvtxDomainHandle_t domain) {
  EXPECT(StepAttr.numEntries == 3 && StepAttr.payloadStaticSize == sizeof(Step) && !strcmp(StepAttr.name, "Step"));
  EXPECT(StepSchema[1].offset == offsetof(Step, residual) && !strcmp(StepSchema[1].description, "of the equation"));
  EXPECT(StepSchema[2].type == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING && StepSchema[2].arrayOrUnionDetail == 24);
  EXPECT(sizeof(Tile) == 32 && TileAttr.schemaId == 1 << 25 && TileAttr.flags == NVTX_PAYLOAD_SCHEMA_FLAG_DEEP_COPY);
  EXPECT(TileSchema[0].name == nullptr && TileSchema[1].offset == 8 && TileSchema[2].offset == 16);
  EXPECT(TileSchema[2].flags == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE && sizeof(Plain) == 24);
  uint64_t schema = NVTX_PAYLOAD_SCHEMA_REGISTER(domain, Step)
  EXPECT(schema == 0 && nvtxPayloadSchemaRegister(domain, &TileAttr) == 0);

  Step step = {1, 0.5, "first"};
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  nvtxPayloadRangePush(domain, &event, schema, &step, sizeof(step));
  EXPECT(event.payloadType == NVTX_PAYLOAD_TYPE_EXT && event.reserved0 == 1);
  EXPECT(nvtxDomainRangePop(domain) == NVTX_NO_PUSH_POP_TRACKING);
  nvtxPayloadData_t data = {schema, sizeof(step), &step};
  EXPECT(nvtxRangePushPayload(domain, &data, 1) == NVTX_NO_PUSH_POP_TRACKING);
  EXPECT(nvtxRangePopPayload(domain, &data, 1) == NVTX_NO_PUSH_POP_TRACKING);
  nvtxRangeEndPayload(domain, nvtxRangeStartPayload(domain, &data, 1), &data, 1);
  EXPECT(!nvtxDomainIsEnabled(domain));
  return 0;
}

int counters(nvtxDomainHandle_t domain) {
  nvtxSemanticsCounter_t semantics = {};
  semantics.header.structSize = sizeof(semantics);
  semantics.header.semanticId = NVTX_SEMANTIC_ID_COUNTERS_V1;
  semantics.header.version = NVTX_COUNTER_SEMANTIC_VERSION;
  semantics.unit = "bytes";
  semantics.max.i64 = 100;
  nvtxCounterAttr_t attributes = {};
  attributes.structSize = sizeof(attributes);
  attributes.schemaId = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
  attributes.name = "used";
  attributes.scopeId = NVTX_SCOPE_CURRENT_SW_PROCESS;
  attributes.semantics = &semantics.header;
  const uint64_t counter = nvtxCounterRegister(domain, &attributes);
  EXPECT(counter == NVTX_COUNTER_ID_NONE);
  nvtxCounterSampleInt64(domain, counter, 5);
  nvtxCounterSampleFloat64(domain, counter, 0.5);
  nvtxCounterSampleNoValue(domain, counter, NVTX_COUNTER_SAMPLE_UNAVAILABLE);
  return 0;
}

int names(nvtxDomainHandle_t domain) {
  CUdevice device = 0;
  nvtxNameCuDevice(device, "device");
  nvtxNameCuStreamW(nullptr, L"stream");
  nvtxNameCudaStream(nullptr, "stream");
  nvtxNameCudaEventW(nullptr, L"event");
  nvtxResourceAttributes_t resource = {};
  resource.identifierType = NVTX_RESOURCE_TYPE_CUDART_STREAM;
  nvtxDomainResourceDestroy(nvtxDomainResourceCreate(domain, &resource));
  nvtxSyncUserAttributes_t attributes = {};
  attributes.size = NVTX_SYNCUSER_ATTRIB_STRUCT_SIZE;
  nvtxSyncUser_t lock = nvtxDomainSyncUserCreate(domain, &attributes);
  EXPECT(lock == nullptr && NVTX_RESOURCE_TYPE_SYNC_PTHREAD_RWLOCK == (3 << 16 | 3));
  nvtxDomainSyncUserAcquireStart(lock);
  nvtxDomainSyncUserAcquireSuccess(lock);
  nvtxDomainSyncUserReleasing(lock);
  nvtxDomainSyncUserDestroy(lock);
  return 0;
}

int main() {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("own");
  EXPECT(domain == nullptr && nvtxDomainRegisterStringW(domain, L"text") == nullptr);
  char* pool;
  EXPECT(cudaMallocManaged(&pool, 4096) == cudaSuccess);
  return memory(domain, pool) || payloads(domain) || counters(domain) || names(domain);
}
