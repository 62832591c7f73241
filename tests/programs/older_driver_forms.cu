// build: -lcuda
// nvcc: no
// Calls of the driver API, and of the runtime's graphs, in the forms of toolkits before 13: most sources have them.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define OK(call)                                                     \
  do {                                                               \
    int status_ = (call);                                            \
    if (status_ != 0) {                                              \
      std::printf("%s:%d: %d\n", __FILE__, __LINE__, status_);       \
      std::exit(1);                                                  \
    }                                                                \
  } while (0)
#define EXPECT(holds) OK(!(holds))

static void contexts(CUdevice device) {
  CUcontext first, second, current;
  OK(cuCtxCreate(&first, 0, device));
  OK(cuCtxCreate(&second, CU_CTX_SCHED_BLOCKING_SYNC | CU_CTX_MAP_HOST, device));
  unsigned flags = 0;
  OK(cuCtxGetFlags(&flags));
  EXPECT((flags & CU_CTX_SCHED_MASK) == CU_CTX_SCHED_BLOCKING_SYNC);
  OK(cuCtxDestroy(second));
  OK(cuCtxCreate(&second, NULL, 0, device));  // the form of toolkit 13
  OK(cuCtxDestroy(second));
  OK(cuCtxGetCurrent(&current));
  EXPECT(current == first);
}

static void managed_memory(CUdevice device) {
  CUdeviceptr p;
  OK(cuMemAllocManaged(&p, 4096, CU_MEM_ATTACH_GLOBAL));
  OK(cuMemAdvise(p, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device));
  OK(cuMemPrefetchAsync(p, 4096, device, 0));
  OK(cuMemPrefetchAsync(p, 4096, CU_DEVICE_CPU, 0));
  int place = 0;
  OK(cuMemRangeGetAttribute(&place, sizeof place, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, 4096));
  EXPECT(place == CU_DEVICE_CPU);
  OK(cuMemFree(p));
}

static void graphs() {
  CUgraph graph;
  CUgraphNode a, b, from, to, wrong;
  size_t count = 0;
  OK(cuGraphCreate(&graph, 0));
  OK(cuGraphAddEmptyNode(&a, graph, NULL, 0));
  OK(cuGraphAddEmptyNode(&b, graph, NULL, 0));
  OK(cuGraphAddDependencies(graph, &a, &b, 1));
  OK(cuGraphGetEdges(graph, NULL, NULL, &count));
  EXPECT(count == 1);
  OK(cuGraphGetEdges(graph, &from, &to, &count));
  EXPECT(from == a && to == b);
  OK(cuGraphNodeGetDependencies(b, &from, &count));
  EXPECT(count == 1 && from == a);
  OK(cuGraphNodeGetDependentNodes(a, &to, &count));
  EXPECT(count == 1 && to == b);
  CUgraphExec exec;
  char log[64] = "?";
  OK(cuGraphInstantiate(&exec, graph, &wrong, log, sizeof log));
  EXPECT(wrong == NULL && log[0] == '\0');
  CUgraphExecUpdateResult result;
  OK(cuGraphExecUpdate(exec, graph, &wrong, &result));
  EXPECT(result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
  OK(cuGraphLaunch(exec, 0));
  OK(cuGraphRemoveDependencies(graph, &a, &b, 1));
  OK(cuGraphGetEdges(graph, NULL, NULL, &count));
  EXPECT(count == 0);
  OK(cuGraphExecDestroy(exec));
  OK(cuGraphDestroy(graph));
}

static void captures() {
  CUstream stream;
  CUstreamCaptureStatus status;
  cuuint64_t id = 0;
  CUgraph graph, made;
  const CUgraphNode* dependencies;
  size_t count = 7;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  OK(cuStreamGetCaptureInfo(stream, &status, &id));
  EXPECT(status == CU_STREAM_CAPTURE_STATUS_NONE);
  OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  OK(cuStreamGetCaptureInfo(stream, &status, &id, &graph, &dependencies, &count));
  EXPECT(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && count == 0);
  CUgraphNode node;
  OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
  OK(cuStreamUpdateCaptureDependencies(stream, &node, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  OK(cuStreamEndCapture(stream, &made));
  EXPECT(made == graph);
  OK(cuGraphDestroy(made));
  OK(cuStreamDestroy(stream));
}

static void runtime_captures() {
  cudaStream_t stream;
  cudaStreamCaptureStatus status;
  unsigned long long id = 0;
  cudaGraph_t graph, made;
  const cudaGraphNode_t* dependencies;
  size_t count = 7;
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  OK(cudaStreamGetCaptureInfo(stream, &status, &id));
  OK(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &dependencies, &count));
  EXPECT(status == cudaStreamCaptureStatusActive && count == 0);
  cudaGraphNode_t node;
  cudaGraphNodeParams params = {};
  params.type = cudaGraphNodeTypeEmpty;
  OK(cudaGraphAddNode(&node, graph, nullptr, 0, &params));
  OK(cudaStreamUpdateCaptureDependencies(stream, &node, 1, cudaStreamSetCaptureDependencies));
  EXPECT(cudaGraphDestroyNode(node) == cudaErrorInvalidValue && cudaGraphDestroy(graph) == cudaErrorInvalidValue);
  OK(cudaStreamEndCapture(stream, &made));
  OK(cudaGraphGetNodes(made, nullptr, &count));
  EXPECT(count == 1);
  OK(cudaGraphDestroyNode(node));
  OK(cudaGraphDestroy(made));
  // A capture that fails takes its graph with it.
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  OK(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &dependencies, &count));
  EXPECT(cudaStreamSynchronize(stream) == cudaErrorStreamCaptureUnsupported);
  EXPECT(cudaStreamEndCapture(stream, &made) == cudaErrorStreamCaptureInvalidated);
  EXPECT(cudaGraphGetNodes(graph, nullptr, &count) == cudaErrorInvalidValue);
  OK(cudaStreamDestroy(stream));
}

int main() {
  CUdevice device;
  OK(cuInit(0));
  OK(cuDeviceGet(&device, 0));
  contexts(device);
  managed_memory(device);
  graphs();
  captures();
  runtime_captures();
  std::puts("PASSED");
}
