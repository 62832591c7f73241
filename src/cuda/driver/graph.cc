// Graphs and stream capture. The runtime's graphs do the work: handles are the same, and most structures too.
#include <vector>

#include "cuda/driver/copy.h"
#include "cuda/driver/module.h"
#include "cuda/driver/owners.h"
#include "cuda/graphs/graph.h"

namespace warpbeam::cuda::driver {

namespace {

static_assert(sizeof(CUDA_KERNEL_NODE_PARAMS_v1) == sizeof(cudaKernelNodeParams));
static_assert(sizeof(CUDA_MEMSET_NODE_PARAMS) == sizeof(cudaMemsetParams));
static_assert(sizeof(CUDA_HOST_NODE_PARAMS) == sizeof(cudaHostNodeParams));
static_assert(sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) == sizeof(cudaMemAllocNodeParams));
static_assert(sizeof(CUgraphEdgeData) == sizeof(cudaGraphEdgeData));
static_assert(sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS) == sizeof(cudaGraphInstantiateParams));
static_assert(sizeof(CUgraphExecUpdateResultInfo) == sizeof(cudaGraphExecUpdateResultInfo));
static_assert(sizeof(CUgraphNodeParams) == sizeof(cudaGraphNodeParams));

// The same structure under the other API's name.
template <class To, class From>
To* as(From* from) {
  return reinterpret_cast<To*>(from);
}

// A kernel may be named as a function or as a library's kernel.
template <class Parameters>
cudaKernelNodeParams kernel_of(const Parameters& p) {
  cudaKernelNodeParams runtime{};
  runtime.func = p.func;
  if constexpr (requires { p.kern; })
    if (!p.func) runtime.func = p.kern;
  runtime.gridDim = dim3(p.gridDimX, p.gridDimY, p.gridDimZ);
  runtime.blockDim = dim3(p.blockDimX, p.blockDimY, p.blockDimZ);
  runtime.sharedMemBytes = p.sharedMemBytes;
  runtime.kernelParams = p.kernelParams;
  runtime.extra = p.extra;
  return runtime;
}

// A kernel runs in its module's context, whatever is current.
template <class Body>
cudaError_t in_context_of_kernel(CUfunction function, Body&& body) {
  Context* owner = function ? owner_of(function) : nullptr;
  if (!owner) return body();
  Borrowed borrowed(*owner);
  return body();
}

template <class Parameters>
CUresult add_kernel(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count, const Parameters* p) {
  return of_handle(graph, [&](Context&) {
    if (!p) return cudaErrorInvalidValue;
    cudaKernelNodeParams runtime = kernel_of(*p);
    return in_context_of_kernel(p->func, [&] { return cudaGraphAddKernelNode(node, graph, after, count, &runtime); });
  });
}

template <class Parameters>
CUresult set_kernel(CUgraphNode node, const Parameters* p) {
  return of_handle(node, [&](Context&) {
    if (!p) return cudaErrorInvalidValue;
    cudaKernelNodeParams runtime = kernel_of(*p);
    return in_context_of_kernel(p->func, [&] { return cudaGraphKernelNodeSetParams(node, &runtime); });
  });
}

template <class Parameters>
CUresult get_kernel(CUgraphNode node, Parameters* p) {
  return of_handle(node, [&](Context& context) {
    cudaKernelNodeParams runtime;
    if (!p) return cudaErrorInvalidValue;
    cudaError_t status = cudaGraphKernelNodeGetParams(node, &runtime);
    if (status != cudaSuccess) return status;
    *p = {};
    // The runtime names a kernel of the program by its host address; either name leads to its symbol.
    KernelSymbol* symbol = symbol_of(runtime.func);
    p->func = symbol ? function_handle(symbol) : static_cast<CUfunction>(runtime.func);
    p->gridDimX = runtime.gridDim.x, p->gridDimY = runtime.gridDim.y, p->gridDimZ = runtime.gridDim.z;
    p->blockDimX = runtime.blockDim.x, p->blockDimY = runtime.blockDim.y, p->blockDimZ = runtime.blockDim.z;
    p->sharedMemBytes = runtime.sharedMemBytes;
    p->kernelParams = runtime.kernelParams;
    p->extra = runtime.extra;
    if constexpr (requires { p->ctx; }) p->ctx = handle_of(context);
    return cudaSuccess;
  });
}

template <class Parameters>
CUresult set_exec_kernel(CUgraphExec exec, CUgraphNode node, const Parameters* p) {
  return of_handle(exec, [&](Context&) {
    if (!p) return cudaErrorInvalidValue;
    cudaKernelNodeParams runtime = kernel_of(*p);
    return in_context_of_kernel(p->func, [&] { return cudaGraphExecKernelNodeSetParams(exec, node, &runtime); });
  });
}

// Calls `use` with the copy in the runtime's structure.
template <class Handle, class Use>
CUresult with_copy(Handle handle, const CUDA_MEMCPY3D* copy, Use&& use) {
  return of_handle(handle, [&](Context&) {
    cudaMemcpy3DParms runtime;
    if (!copy) return cudaErrorInvalidValue;
    cudaError_t status = runtime_copy(*copy, &runtime);
    return status == cudaSuccess ? use(&runtime) : status;
  });
}

// Node parameters of the general kind: only copies and kernels look different.
template <class Handle, class Use>
CUresult with_parameters(Handle handle, CUgraphNodeParams* given, Use&& use) {
  return of_handle(handle, [&](Context&) -> CUresult {
    if (!given) return CUDA_ERROR_INVALID_VALUE;
    if (given->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP) return CUDA_ERROR_NOT_SUPPORTED;
    cudaGraphNodeParams runtime = *as<cudaGraphNodeParams>(given);
    if (given->type == CU_GRAPH_NODE_TYPE_KERNEL) {
      if (!given->kernel.func) runtime.kernel.func = given->kernel.kern;
    } else if (given->type == CU_GRAPH_NODE_TYPE_MEMCPY) {
      runtime.memcpy = {};
      cudaError_t status = runtime_copy(given->memcpy.copyParams, &runtime.memcpy.copyParams);
      if (status != cudaSuccess) return result_of(status);
    }
    CUresult result = result_of(use(&runtime));
    // Allocations and conditions give something back.
    if (result == CUDA_SUCCESS && given->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) given->alloc.dptr = address(runtime.alloc.dptr);
    if (result == CUDA_SUCCESS && given->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
      given->conditional.phGraph_out = runtime.conditional.phGraph_out;
    return result;
  });
}

// What a node of any kind has, as the getter of its kind tells it.
CUresult parameters_of(CUgraphNode node, CUgraphNodeParams& p, CUcontext context) {
  CUresult status = cuGraphNodeGetType(node, &p.type);
  if (status != CUDA_SUCCESS) return status;
  switch (p.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return get_kernel(node, &p.kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY: p.memcpy.copyCtx = context; return cuGraphMemcpyNodeGetParams(node, &p.memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET: p.memset.ctx = context; return cuGraphMemsetNodeGetParams(node, as<CUDA_MEMSET_NODE_PARAMS>(&p.memset));
    case CU_GRAPH_NODE_TYPE_HOST: return cuGraphHostNodeGetParams(node, as<CUDA_HOST_NODE_PARAMS>(&p.host));
    case CU_GRAPH_NODE_TYPE_GRAPH: return cuGraphChildGraphNodeGetGraph(node, &p.graph.graph);
    case CU_GRAPH_NODE_TYPE_EMPTY: return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return cuGraphEventWaitNodeGetEvent(node, &p.eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return cuGraphEventRecordNodeGetEvent(node, &p.eventRecord.event);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return cuGraphMemAllocNodeGetParams(node, as<CUDA_MEM_ALLOC_NODE_PARAMS>(&p.alloc));
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return cuGraphMemFreeNodeGetParams(node, &p.free.dptr);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: {
      std::lock_guard lock(graphs().mutex);
      NodeRef found = graphs().nodes.find(node);
      auto* part = found ? std::get_if<ConditionalPart>(&found->part) : nullptr;
      if (!part) return CUDA_ERROR_INVALID_VALUE;
      p.conditional = {part->params.handle, static_cast<CUgraphConditionalNodeType>(part->params.type), part->params.size,
                       part->handles.data(), context};
      return CUDA_SUCCESS;
    }
    default: return CUDA_ERROR_NOT_SUPPORTED;
  }
}

CUresult instantiate_with_log(CUgraphExec* exec, CUgraph graph, CUgraphNode* error, char* log, size_t size) {
  return in_current([&](Context&) {
    if (error) *error = nullptr;
    if (log && size) *log = '\0';
    return cudaGraphInstantiate(exec, graph, 0);
  });
}

// Lists without edge data are lists of plain edges.
const cudaGraphEdgeData* plain() { return nullptr; }

CUresult capture_info(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph, const CUgraphNode** nodes,
                      const CUgraphEdgeData** edges, size_t* count) {
  return in_current([&](Context&) {
    return cudaStreamGetCaptureInfo(stream, as<cudaStreamCaptureStatus>(status), as<unsigned long long>(id), graph, nodes,
                                    as<const cudaGraphEdgeData*>(edges), count);
  });
}

template <class Body>
CUresult begin_capture(CUstream stream, Body&& body) {
  Context* context = nullptr;
  if (process_started() && !stream && current(&context) == CUDA_ERROR_INVALID_CONTEXT)
    return call([] { return CUDA_ERROR_INVALID_HANDLE; });
  return in_stream(stream, [&](Context&) { return body(); });
}

}  // namespace
}  // namespace warpbeam::cuda::driver

using namespace warpbeam::cuda;
using namespace warpbeam::cuda::driver;

extern "C" {

// Capture
// Without a context the null stream stands for nothing.
#define WB_BEGIN_CAPTURE(name, parameters, ...)                \
  WB_TWIN CUresult name parameters {                           \
    return begin_capture(stream, [&] { return __VA_ARGS__; }); \
  }                                                            \
  WB_TWIN CUresult name##_ptsz parameters {                    \
    stream = per_thread(stream);                               \
    return begin_capture(stream, [&] { return __VA_ARGS__; }); \
  }
WB_BEGIN_CAPTURE(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode),
                 cudaStreamBeginCapture(stream, static_cast<cudaStreamCaptureMode>(mode)))
WB_BEGIN_CAPTURE(cuStreamBeginCapture, (CUstream stream), cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal))
WB_BEGIN_CAPTURE(cuStreamBeginCaptureToGraph,
                 (CUstream stream, CUgraph graph, const CUgraphNode* after, const CUgraphEdgeData* edges, size_t count,
                  CUstreamCaptureMode mode),
                 cudaStreamBeginCaptureToGraph(stream, graph, after, as<const cudaGraphEdgeData>(edges), count,
                                               static_cast<cudaStreamCaptureMode>(mode)))
WB_STREAM_CALL(cuStreamEndCapture, (CUstream stream, CUgraph* graph), cudaStreamEndCapture(stream, graph))
WB_STREAM_CALL(cuStreamIsCapturing, (CUstream stream, CUstreamCaptureStatus* status),
               cudaStreamIsCapturing(stream, as<cudaStreamCaptureStatus>(status)))
WB_STREAM_CALL(cuStreamGetCaptureInfo, (CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id),
               capture_info(stream, status, id, nullptr, nullptr, nullptr, nullptr))
WB_STREAM_CALL(cuStreamGetCaptureInfo_v2,
               (CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph, const CUgraphNode** nodes, size_t* count),
               capture_info(stream, status, id, graph, nodes, nullptr, count))
WB_STREAM_CALL(cuStreamGetCaptureInfo_v3,
               (CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph, const CUgraphNode** nodes,
                const CUgraphEdgeData** edges, size_t* count),
               capture_info(stream, status, id, graph, nodes, edges, count))
WB_STREAM_CALL(cuStreamUpdateCaptureDependencies, (CUstream stream, CUgraphNode* nodes, size_t count, unsigned flags),
               cudaStreamUpdateCaptureDependencies(stream, nodes, plain(), count, flags))
WB_STREAM_CALL(cuStreamUpdateCaptureDependencies_v2,
               (CUstream stream, CUgraphNode* nodes, const CUgraphEdgeData* edges, size_t count, unsigned flags),
               cudaStreamUpdateCaptureDependencies(stream, nodes, as<const cudaGraphEdgeData>(edges), count, flags))
WB_HANDLE_CALL(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode * mode),
               cudaThreadExchangeStreamCaptureMode(as<cudaStreamCaptureMode>(mode)))

#define WB_OBJECT_CALL(name, parameters, ...)                                  \
  WB_TWIN CUresult name parameters {                                           \
    return call([&] { return object ? __VA_ARGS__ : cudaErrorInvalidValue; }); \
  }

// Graphs
WB_HANDLE_CALL(cuGraphCreate, (CUgraph * graph, unsigned flags), cudaGraphCreate(graph, flags))
WB_HANDLE_CALL(cuGraphDestroy, (CUgraph graph), cudaGraphDestroy(graph))
WB_HANDLE_CALL(cuGraphClone, (CUgraph * clone, CUgraph graph), cudaGraphClone(clone, graph))
WB_OF_CALL(cuGraphDebugDotPrint, graph, (CUgraph graph, const char* path, unsigned flags), cudaGraphDebugDotPrint(graph, path, flags))
WB_HANDLE_CALL(cuGraphGetNodes, (CUgraph graph, CUgraphNode* nodes, size_t* count), cudaGraphGetNodes(graph, nodes, count))
WB_HANDLE_CALL(cuGraphGetRootNodes, (CUgraph graph, CUgraphNode* nodes, size_t* count), cudaGraphGetRootNodes(graph, nodes, count))
WB_HANDLE_CALL(cuGraphGetEdges, (CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count),
               cudaGraphGetEdges(graph, from, to, nullptr, count))
WB_HANDLE_CALL(cuGraphGetEdges_v2, (CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* edges, size_t* count),
               cudaGraphGetEdges(graph, from, to, as<cudaGraphEdgeData>(edges), count))
WB_HANDLE_CALL(cuGraphAddDependencies, (CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count),
               cudaGraphAddDependencies(graph, from, to, plain(), count))
WB_HANDLE_CALL(cuGraphAddDependencies_v2,
               (CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdgeData* edges, size_t count),
               cudaGraphAddDependencies(graph, from, to, as<const cudaGraphEdgeData>(edges), count))
WB_HANDLE_CALL(cuGraphRemoveDependencies, (CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count),
               cudaGraphRemoveDependencies(graph, from, to, plain(), count))
WB_HANDLE_CALL(cuGraphRemoveDependencies_v2,
               (CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdgeData* edges, size_t count),
               cudaGraphRemoveDependencies(graph, from, to, as<const cudaGraphEdgeData>(edges), count))
WB_HANDLE_CALL(cuUserObjectCreate, (CUuserObject * object, void* data, CUhostFn destroy, unsigned count, unsigned flags),
               cudaUserObjectCreate(object, data, destroy, count, flags))
WB_OBJECT_CALL(cuUserObjectRetain, (CUuserObject object, unsigned count), cudaUserObjectRetain(object, count))
WB_OBJECT_CALL(cuUserObjectRelease, (CUuserObject object, unsigned count), cudaUserObjectRelease(object, count))
WB_OF_CALL(cuGraphRetainUserObject, graph, (CUgraph graph, CUuserObject object, unsigned count, unsigned flags),
           cudaGraphRetainUserObject(graph, object, count, flags))
WB_OF_CALL(cuGraphReleaseUserObject, graph, (CUgraph graph, CUuserObject object, unsigned count),
           cudaGraphReleaseUserObject(graph, object, count))
WB_HANDLE_CALL(cuDeviceGraphMemTrim, (CUdevice device), cudaDeviceGraphMemTrim(device))
WB_HANDLE_CALL(cuDeviceGetGraphMemAttribute, (CUdevice device, CUgraphMem_attribute attribute, void* value),
               cudaDeviceGetGraphMemAttribute(device, static_cast<cudaGraphMemAttributeType>(attribute), value))
WB_HANDLE_CALL(cuDeviceSetGraphMemAttribute, (CUdevice device, CUgraphMem_attribute attribute, void* value),
               cudaDeviceSetGraphMemAttribute(device, static_cast<cudaGraphMemAttributeType>(attribute), value))
WB_OF_CALL(cuGraphConditionalHandleCreate, graph,
           (CUgraphConditionalHandle * handle, CUgraph graph, CUcontext, unsigned value, unsigned flags),
           cudaGraphConditionalHandleCreate(as<cudaGraphConditionalHandle>(handle), graph, value, flags))

// Nodes
#define WB_WHERE CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count
CUresult cuGraphAddKernelNode_v2(WB_WHERE, const CUDA_KERNEL_NODE_PARAMS* p) { return add_kernel(node, graph, after, count, p); }
WB_TWIN CUresult cuGraphAddKernelNode(WB_WHERE, const CUDA_KERNEL_NODE_PARAMS_v1* p) { return add_kernel(node, graph, after, count, p); }
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* p) { return get_kernel(node, p); }
WB_TWIN CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* p) { return get_kernel(node, p); }
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* p) { return set_kernel(node, p); }
WB_TWIN CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* p) { return set_kernel(node, p); }
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* p) {
  return set_exec_kernel(exec, node, p);
}
WB_TWIN CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  return set_exec_kernel(exec, node, p);
}
WB_OF_CALL(cuGraphKernelNodeCopyAttributes, to, (CUgraphNode to, CUgraphNode from), cudaGraphKernelNodeCopyAttributes(to, from))
WB_OF_CALL(cuGraphKernelNodeGetAttribute, node, (CUgraphNode node, CUkernelNodeAttrID id, CUkernelNodeAttrValue* value),
           cudaGraphKernelNodeGetAttribute(node, static_cast<cudaLaunchAttributeID>(id), as<cudaLaunchAttributeValue>(value)))
WB_OF_CALL(cuGraphKernelNodeSetAttribute, node, (CUgraphNode node, CUkernelNodeAttrID id, const CUkernelNodeAttrValue* value),
           cudaGraphKernelNodeSetAttribute(node, static_cast<cudaLaunchAttributeID>(id), as<const cudaLaunchAttributeValue>(value)))

CUresult cuGraphAddMemcpyNode(WB_WHERE, const CUDA_MEMCPY3D* copy, CUcontext) {
  return with_copy(graph, copy, [&](const cudaMemcpy3DParms* p) { return cudaGraphAddMemcpyNode(node, graph, after, count, p); });
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* copy) {
  return with_copy(node, copy, [&](const cudaMemcpy3DParms* p) { return cudaGraphMemcpyNodeSetParams(node, p); });
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D* copy, CUcontext) {
  return with_copy(exec, copy, [&](const cudaMemcpy3DParms* p) { return cudaGraphExecMemcpyNodeSetParams(exec, node, p); });
}
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* copy) {
  return of_handle(node, [&](Context&) {
    cudaMemcpy3DParms runtime;
    if (!copy) return cudaErrorInvalidValue;
    cudaError_t status = cudaGraphMemcpyNodeGetParams(node, &runtime);
    if (status == cudaSuccess) *copy = driver_copy(runtime);
    return status;
  });
}

WB_OF_CALL(cuGraphAddMemsetNode, graph, (WB_WHERE, const CUDA_MEMSET_NODE_PARAMS* p, CUcontext),
           cudaGraphAddMemsetNode(node, graph, after, count, as<const cudaMemsetParams>(p)))
WB_OF_CALL(cuGraphMemsetNodeGetParams, node, (CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* p),
           cudaGraphMemsetNodeGetParams(node, as<cudaMemsetParams>(p)))
WB_OF_CALL(cuGraphMemsetNodeSetParams, node, (CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* p),
           cudaGraphMemsetNodeSetParams(node, as<const cudaMemsetParams>(p)))
WB_OF_CALL(cuGraphExecMemsetNodeSetParams, exec, (CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* p, CUcontext),
           cudaGraphExecMemsetNodeSetParams(exec, node, as<const cudaMemsetParams>(p)))
WB_OF_CALL(cuGraphAddHostNode, graph, (WB_WHERE, const CUDA_HOST_NODE_PARAMS* p),
           cudaGraphAddHostNode(node, graph, after, count, as<const cudaHostNodeParams>(p)))
WB_OF_CALL(cuGraphHostNodeGetParams, node, (CUgraphNode node, CUDA_HOST_NODE_PARAMS* p),
           cudaGraphHostNodeGetParams(node, as<cudaHostNodeParams>(p)))
WB_OF_CALL(cuGraphHostNodeSetParams, node, (CUgraphNode node, const CUDA_HOST_NODE_PARAMS* p),
           cudaGraphHostNodeSetParams(node, as<const cudaHostNodeParams>(p)))
WB_OF_CALL(cuGraphExecHostNodeSetParams, exec, (CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS* p),
           cudaGraphExecHostNodeSetParams(exec, node, as<const cudaHostNodeParams>(p)))
WB_OF_CALL(cuGraphAddChildGraphNode, graph, (WB_WHERE, CUgraph child), cudaGraphAddChildGraphNode(node, graph, after, count, child))
WB_OF_CALL(cuGraphChildGraphNodeGetGraph, node, (CUgraphNode node, CUgraph* child), cudaGraphChildGraphNodeGetGraph(node, child))
WB_OF_CALL(cuGraphExecChildGraphNodeSetParams, exec, (CUgraphExec exec, CUgraphNode node, CUgraph child),
           cudaGraphExecChildGraphNodeSetParams(exec, node, child))
WB_HANDLE_CALL(cuGraphAddEmptyNode, (WB_WHERE), cudaGraphAddEmptyNode(node, graph, after, count))
WB_OF_CALL(cuGraphAddEventRecordNode, graph, (WB_WHERE, CUevent event), cudaGraphAddEventRecordNode(node, graph, after, count, event))
WB_OF_CALL(cuGraphEventRecordNodeGetEvent, node, (CUgraphNode node, CUevent* event), cudaGraphEventRecordNodeGetEvent(node, event))
WB_OF_CALL(cuGraphEventRecordNodeSetEvent, node, (CUgraphNode node, CUevent event), cudaGraphEventRecordNodeSetEvent(node, event))
WB_OF_CALL(cuGraphExecEventRecordNodeSetEvent, exec, (CUgraphExec exec, CUgraphNode node, CUevent event),
           cudaGraphExecEventRecordNodeSetEvent(exec, node, event))
WB_OF_CALL(cuGraphAddEventWaitNode, graph, (WB_WHERE, CUevent event), cudaGraphAddEventWaitNode(node, graph, after, count, event))
WB_OF_CALL(cuGraphEventWaitNodeGetEvent, node, (CUgraphNode node, CUevent* event), cudaGraphEventWaitNodeGetEvent(node, event))
WB_OF_CALL(cuGraphEventWaitNodeSetEvent, node, (CUgraphNode node, CUevent event), cudaGraphEventWaitNodeSetEvent(node, event))
WB_OF_CALL(cuGraphExecEventWaitNodeSetEvent, exec, (CUgraphExec exec, CUgraphNode node, CUevent event),
           cudaGraphExecEventWaitNodeSetEvent(exec, node, event))
WB_OF_CALL(cuGraphAddMemAllocNode, graph, (WB_WHERE, CUDA_MEM_ALLOC_NODE_PARAMS* p),
           cudaGraphAddMemAllocNode(node, graph, after, count, as<cudaMemAllocNodeParams>(p)))
WB_OF_CALL(cuGraphMemAllocNodeGetParams, node, (CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* p),
           cudaGraphMemAllocNodeGetParams(node, as<cudaMemAllocNodeParams>(p)))
WB_OF_CALL(cuGraphAddMemFreeNode, graph, (WB_WHERE, CUdeviceptr ptr), cudaGraphAddMemFreeNode(node, graph, after, count, pointer(ptr)))
WB_OF_CALL(cuGraphMemFreeNodeGetParams, node, (CUgraphNode node, CUdeviceptr* ptr), cudaGraphMemFreeNodeGetParams(node, ptr))

CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, const CUgraphEdgeData* edges, size_t count,
                           CUgraphNodeParams* p) {
  return with_parameters(graph, p, [&](cudaGraphNodeParams* runtime) {
    return cudaGraphAddNode(node, graph, after, as<const cudaGraphEdgeData>(edges), count, runtime);
  });
}
WB_TWIN CUresult cuGraphAddNode(WB_WHERE, CUgraphNodeParams* p) {
  return with_parameters(graph, p,
                         [&](cudaGraphNodeParams* runtime) { return cudaGraphAddNode(node, graph, after, nullptr, count, runtime); });
}
CUresult cuGraphNodeGetParams(CUgraphNode node, CUgraphNodeParams* p) {
  return of_handle(node, [&](Context& context) -> CUresult {
    if (!p) return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeParams found{};
    CUresult status = parameters_of(node, found, handle_of(context));
    if (status == CUDA_SUCCESS) *p = found;
    return status;
  });
}
CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* p) {
  return with_parameters(node, p, [&](cudaGraphNodeParams* runtime) { return cudaGraphNodeSetParams(node, runtime); });
}
CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* p) {
  return with_parameters(exec, p, [&](cudaGraphNodeParams* runtime) { return cudaGraphExecNodeSetParams(exec, node, runtime); });
}
WB_HANDLE_CALL(cuGraphDestroyNode, (CUgraphNode node), cudaGraphDestroyNode(node))
WB_OF_CALL(cuGraphNodeFindInClone, original, (CUgraphNode * node, CUgraphNode original, CUgraph clone),
           cudaGraphNodeFindInClone(node, original, clone))
WB_HANDLE_CALL(cuGraphNodeGetType, (CUgraphNode node, CUgraphNodeType* type), cudaGraphNodeGetType(node, as<cudaGraphNodeType>(type)))
WB_OF_CALL(cuGraphNodeGetDependencies, node, (CUgraphNode node, CUgraphNode* nodes, size_t* count),
           cudaGraphNodeGetDependencies(node, nodes, nullptr, count))
WB_OF_CALL(cuGraphNodeGetDependencies_v2, node, (CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* edges, size_t* count),
           cudaGraphNodeGetDependencies(node, nodes, as<cudaGraphEdgeData>(edges), count))
WB_OF_CALL(cuGraphNodeGetDependentNodes, node, (CUgraphNode node, CUgraphNode* nodes, size_t* count),
           cudaGraphNodeGetDependentNodes(node, nodes, nullptr, count))
WB_OF_CALL(cuGraphNodeGetDependentNodes_v2, node, (CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* edges, size_t* count),
           cudaGraphNodeGetDependentNodes(node, nodes, as<cudaGraphEdgeData>(edges), count))

// Executables
WB_CALL(cuGraphInstantiateWithFlags, (CUgraphExec * exec, CUgraph graph, unsigned long long flags),
        cudaGraphInstantiateWithFlags(exec, graph, flags))
WB_STREAM_CALL(cuGraphLaunch, (CUgraphExec exec, CUstream stream), cudaGraphLaunch(exec, stream))
WB_STREAM_CALL(cuGraphUpload, (CUgraphExec exec, CUstream stream), cudaGraphUpload(exec, stream))
WB_OF_CALL(cuGraphExecDestroy, exec, (CUgraphExec exec), cudaGraphExecDestroy(exec))
WB_OF_CALL(cuGraphExecGetFlags, exec, (CUgraphExec exec, cuuint64_t* flags), cudaGraphExecGetFlags(exec, as<unsigned long long>(flags)))
WB_OF_CALL(cuGraphNodeSetEnabled, exec, (CUgraphExec exec, CUgraphNode node, unsigned enabled),
           cudaGraphNodeSetEnabled(exec, node, enabled))
WB_OF_CALL(cuGraphNodeGetEnabled, exec, (CUgraphExec exec, CUgraphNode node, unsigned* enabled),
           cudaGraphNodeGetEnabled(exec, node, enabled))
WB_OF_CALL(cuGraphExecUpdate_v2, exec, (CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* info),
           cudaGraphExecUpdate(exec, graph, as<cudaGraphExecUpdateResultInfo>(info)))

WB_TWIN CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* node, CUgraphExecUpdateResult* why) {
  return of_handle(exec, [&](Context&) {
    cudaGraphExecUpdateResultInfo info{};
    cudaError_t status = cudaGraphExecUpdate(exec, graph, &info);
    if (node) *node = info.errorNode;
    if (why) *why = static_cast<CUgraphExecUpdateResult>(info.result);
    return status;
  });
}

WB_CALL(cuGraphInstantiateWithParams, (CUgraphExec * exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* p),
        cudaGraphInstantiateWithParams(exec, graph, as<cudaGraphInstantiateParams>(p)))

WB_TWIN CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec* exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* p) {
  if (p) p->hUploadStream = per_thread(p->hUploadStream);
  return cuGraphInstantiateWithParams(exec, graph, p);
}

WB_TWIN CUresult cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, CUgraphNode* error, char* log, size_t size) {
  return instantiate_with_log(exec, graph, error, log, size);
}
WB_TWIN CUresult cuGraphInstantiate_v2(CUgraphExec* exec, CUgraph graph, CUgraphNode* error, char* log, size_t size) {
  return instantiate_with_log(exec, graph, error, log, size);
}

}  // extern "C"
