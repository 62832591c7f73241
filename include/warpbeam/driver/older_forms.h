// Forms of functions from before toolkits 12 and 13, whose names mean something with other parameters now. Most sources of
// the driver API were written with them: cuCtxCreate(&context, flags, device), to begin with.
#ifndef WARPBEAM_DRIVER_OLDER_FORMS_H
#define WARPBEAM_DRIVER_OLDER_FORMS_H

// For cudaTypedefs.h: from here on C++ has several functions of these names.
typedef __typeof__(&cuCtxCreate_v4) warpbeam_pointer_to_cuCtxCreate_v4;
typedef __typeof__(&cuGraphAddDependencies_v2) warpbeam_pointer_to_cuGraphAddDependencies_v2;
typedef __typeof__(&cuGraphAddNode_v2) warpbeam_pointer_to_cuGraphAddNode_v2;
typedef __typeof__(&cuGraphExecUpdate_v2) warpbeam_pointer_to_cuGraphExecUpdate_v2;
typedef __typeof__(&cuGraphGetEdges_v2) warpbeam_pointer_to_cuGraphGetEdges_v2;
typedef __typeof__(&cuGraphInstantiateWithFlags) warpbeam_pointer_to_cuGraphInstantiateWithFlags;
typedef __typeof__(&cuGraphNodeGetDependencies_v2) warpbeam_pointer_to_cuGraphNodeGetDependencies_v2;
typedef __typeof__(&cuGraphNodeGetDependentNodes_v2) warpbeam_pointer_to_cuGraphNodeGetDependentNodes_v2;
typedef __typeof__(&cuGraphRemoveDependencies_v2) warpbeam_pointer_to_cuGraphRemoveDependencies_v2;
typedef __typeof__(&cuMemAdvise_v2) warpbeam_pointer_to_cuMemAdvise_v2;
typedef __typeof__(&cuMemPrefetchAsync_v2) warpbeam_pointer_to_cuMemPrefetchAsync_v2;
typedef __typeof__(&cuStreamGetCaptureInfo_v3) warpbeam_pointer_to_cuStreamGetCaptureInfo_v3;
typedef __typeof__(&cuStreamUpdateCaptureDependencies_v2) warpbeam_pointer_to_cuStreamUpdateCaptureDependencies_v2;

#ifdef __cplusplus

static inline CUresult cuCtxCreate(CUcontext* pctx, unsigned int flags, CUdevice dev) {
  return cuCtxCreate(pctx, (CUctxCreateParams*)0, flags, dev);
}

// Until toolkit 12 the place was a device, CU_DEVICE_CPU meaning the host.
static inline CUmemLocation warpbeam_location_of(CUdevice device) {
  CUmemLocation location;
  location.type = device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device == CU_DEVICE_CPU ? 0 : device;
  return location;
}
static inline CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream) {
  return cuMemPrefetchAsync(devPtr, count, warpbeam_location_of(dstDevice), 0, hStream);
}
static inline CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device) {
  return cuMemAdvise(devPtr, count, advice, warpbeam_location_of(device));
}

// Graphs: until toolkit 11
static inline CUresult cuGraphInstantiate(CUgraphExec* phGraphExec, CUgraph hGraph, CUgraphNode* phErrorNode, char* logBuffer,
                                          size_t bufferSize) {
  if (phErrorNode) *phErrorNode = 0;
  if (logBuffer && bufferSize) *logBuffer = '\0';
  return cuGraphInstantiate(phGraphExec, hGraph, 0);
}
static inline CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode* hErrorNode_out,
                                         CUgraphExecUpdateResult* updateResult_out) {
  CUgraphExecUpdateResultInfo info;
  CUresult status = cuGraphExecUpdate(hGraphExec, hGraph, &info);
  if (hErrorNode_out) *hErrorNode_out = info.errorNode;
  if (updateResult_out) *updateResult_out = info.result;
  return status;
}

// Graphs: until toolkit 12, edges without data
static inline CUresult cuGraphAddNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                      size_t numDependencies, CUgraphNodeParams* nodeParams) {
  return cuGraphAddNode(phGraphNode, hGraph, dependencies, (const CUgraphEdgeData*)0, numDependencies, nodeParams);
}
static inline CUresult cuGraphGetEdges(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to, size_t* numEdges) {
  return cuGraphGetEdges(hGraph, from, to, (CUgraphEdgeData*)0, numEdges);
}
static inline CUresult cuGraphNodeGetDependencies(CUgraphNode hNode, CUgraphNode* dependencies, size_t* numDependencies) {
  return cuGraphNodeGetDependencies(hNode, dependencies, (CUgraphEdgeData*)0, numDependencies);
}
static inline CUresult cuGraphNodeGetDependentNodes(CUgraphNode hNode, CUgraphNode* dependentNodes, size_t* numDependentNodes) {
  return cuGraphNodeGetDependentNodes(hNode, dependentNodes, (CUgraphEdgeData*)0, numDependentNodes);
}
static inline CUresult cuGraphAddDependencies(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                              size_t numDependencies) {
  return cuGraphAddDependencies(hGraph, from, to, (const CUgraphEdgeData*)0, numDependencies);
}
static inline CUresult cuGraphRemoveDependencies(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                                 size_t numDependencies) {
  return cuGraphRemoveDependencies(hGraph, from, to, (const CUgraphEdgeData*)0, numDependencies);
}
static inline CUresult cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus* captureStatus_out, cuuint64_t* id_out) {
  return cuStreamGetCaptureInfo(hStream, captureStatus_out, id_out, (CUgraph*)0, (const CUgraphNode**)0,
                                (const CUgraphEdgeData**)0, (size_t*)0);
}
static inline CUresult cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus* captureStatus_out, cuuint64_t* id_out,
                                              CUgraph* graph_out, const CUgraphNode** dependencies_out,
                                              size_t* numDependencies_out) {
  return cuStreamGetCaptureInfo(hStream, captureStatus_out, id_out, graph_out, dependencies_out, (const CUgraphEdgeData**)0,
                                numDependencies_out);
}
static inline CUresult cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode* dependencies, size_t numDependencies,
                                                         unsigned int flags) {
  return cuStreamUpdateCaptureDependencies(hStream, dependencies, (const CUgraphEdgeData*)0, numDependencies, flags);
}

#else

// C has no overloads, but it can count arguments. The name alone is the function with three.
#undef cuCtxCreate
CUresult cuCtxCreate(CUcontext* pctx, unsigned int flags, CUdevice dev);
CUresult cuCtxCreate_v2(CUcontext* pctx, unsigned int flags, CUdevice dev);
#define WB_FIFTH(a, b, c, d, e, ...) e
#define cuCtxCreate(...) WB_FIFTH(__VA_ARGS__, cuCtxCreate_v4, cuCtxCreate_v2, , )(__VA_ARGS__)

#endif
#endif
