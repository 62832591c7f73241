// Toolkit 12's names for what takes edges' data, which toolkit 13 gave the plain names. Its libcudart.so.12, and 11's, have the
// plain names without that data: dropin_runtime.cc. The headers have inline functions of some of these names, hence the labels.
#include "cuda/edge.h"

using namespace warpbeam::cuda;

extern "C" {

WB_TWIN cudaError_t info_v2(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph,
                            const cudaGraphNode_t** after, size_t* count) __asm__("cudaStreamGetCaptureInfo_v2");
cudaError_t info_v2(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph,
                    const cudaGraphNode_t** after, size_t* count) {
  return cudaStreamGetCaptureInfo(stream, status, id, graph, after, nullptr, count);
}

WB_TWIN cudaError_t info_v2_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph,
                                 const cudaGraphNode_t** after, size_t* count) __asm__("cudaStreamGetCaptureInfo_v2_ptsz");
cudaError_t info_v2_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph,
                         const cudaGraphNode_t** after, size_t* count) {
  return cudaStreamGetCaptureInfo(per_thread(stream), status, id, graph, after, nullptr, count);
}

WB_TWIN cudaError_t cudaStreamGetCaptureInfo_v3(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                                cudaGraph_t* graph, const cudaGraphNode_t** after, const cudaGraphEdgeData** edges,
                                                size_t* count) {
  return cudaStreamGetCaptureInfo(stream, status, id, graph, after, edges, count);
}

WB_TWIN cudaError_t cudaStreamGetCaptureInfo_v3_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                                     cudaGraph_t* graph, const cudaGraphNode_t** after, const cudaGraphEdgeData** edges,
                                                     size_t* count) {
  return cudaStreamGetCaptureInfo(per_thread(stream), status, id, graph, after, edges, count);
}

WB_TWIN cudaError_t cudaStreamUpdateCaptureDependencies_v2(cudaStream_t stream, cudaGraphNode_t* nodes, const cudaGraphEdgeData* edges,
                                                           size_t count, unsigned flags) {
  return cudaStreamUpdateCaptureDependencies(stream, nodes, edges, count, flags);
}

WB_TWIN cudaError_t cudaStreamUpdateCaptureDependencies_v2_ptsz(cudaStream_t stream, cudaGraphNode_t* nodes, const cudaGraphEdgeData* edges,
                                                                size_t count, unsigned flags) {
  return cudaStreamUpdateCaptureDependencies(per_thread(stream), nodes, edges, count, flags);
}

WB_TWIN cudaError_t cudaGraphGetEdges_v2(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* edges,
                                         size_t* count) {
  return cudaGraphGetEdges(graph, from, to, edges, count);
}

WB_TWIN cudaError_t cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* edges, size_t* count) {
  return cudaGraphNodeGetDependencies(node, nodes, edges, count);
}

WB_TWIN cudaError_t cudaGraphNodeGetDependentNodes_v2(cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* edges,
                                                      size_t* count) {
  return cudaGraphNodeGetDependentNodes(node, nodes, edges, count);
}

WB_TWIN cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                                const cudaGraphEdgeData* edges, size_t count) {
  return cudaGraphAddDependencies(graph, from, to, edges, count);
}

WB_TWIN cudaError_t cudaGraphRemoveDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                                   const cudaGraphEdgeData* edges, size_t count) {
  return cudaGraphRemoveDependencies(graph, from, to, edges, count);
}

WB_TWIN cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                                        const cudaGraphEdgeData* edges, size_t count, cudaGraphNodeParams* parameters) {
  return cudaGraphAddNode(node, graph, after, edges, count, parameters);
}

}  // extern "C"
