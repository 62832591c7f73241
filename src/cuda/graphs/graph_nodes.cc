// Nodes of graphs: added, asked and changed, each kind with its parameters.
#include <algorithm>
#include <cstring>

#include "cuda/edge.h"
#include "cuda/graphs/graph.h"
#include "cuda/launches/argument_buffer.h"
#include "cuda/memory/memory.h"
#include "cuda/modules/modules.h"

namespace warpbeam::cuda {

// --- from the API's parameters to parts ------------------------------------------------------------------------------

cudaError_t kernel_part(Context& context, const cudaKernelNodeParams* params, KernelPart* part) {
  if (!params) return cudaErrorInvalidValue;
  if (cudaError_t status = find_function(context, params->func, &part->function); status != cudaSuccess) return status;
  part->handle = params->func;
  part->request.grid = params->gridDim;
  part->request.block = params->blockDim;
  part->request.shared = params->sharedMemBytes;
  if (params->kernelParams && params->extra) return cudaErrorInvalidValue;
  ArgumentBuffer buffer;
  if (params->extra)
    if (cudaError_t status = read_arguments(*part->function, params->extra, &buffer); status != cudaSuccess) return status;
  LaunchWork work;
  const cudaError_t status =
      prepare_launch(*part->function, part->request, params->extra ? buffer.each.data() : params->kernelParams, &work);
  if (status != cudaSuccess) return status == cudaErrorInvalidConfiguration ? cudaErrorInvalidValue : status;
  part->params = std::move(work.launch.params);
  return cudaSuccess;
}

namespace {

std::vector<void*>& pointers_of(KernelPart& part) {
  part.pointers.clear();
  for (const vm::KernelParam& p : part.function->kernel.params) part.pointers.push_back(part.params.data() + p.offset);
  return part.pointers;
}

cudaError_t check_copy(const CopyRequest& request) {
  if (!request.width || !request.height || !request.depth) return cudaErrorInvalidValue;
  if (request.kind < cudaMemcpyHostToHost || request.kind > cudaMemcpyDefault) return cudaErrorInvalidValue;
  auto end = [&](const Region& region, bool device) {
    if (!region.base) return false;
    auto place = locate(region.base);
    if (!place) return !device;
    const size_t last = (request.height - 1) * region.pitch + (request.depth - 1) * region.plane + request.width;
    return last <= place->room(region.base);
  };
  const bool device_to = request.kind == cudaMemcpyHostToDevice || request.kind == cudaMemcpyDeviceToDevice;
  const bool device_from = request.kind == cudaMemcpyDeviceToHost || request.kind == cudaMemcpyDeviceToDevice;
  return end(request.to, device_to) && end(request.from, device_from) ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace

cudaError_t copy_part(const CopyRequest& request, CopyPart* part) {
  part->request = request;
  auto pitched = [&](const Region& r) {
    const size_t pitch = r.pitch ? r.pitch : request.width;
    return cudaPitchedPtr{r.base, pitch, request.width, r.plane && pitch ? r.plane / pitch : request.height};
  };
  part->parms = {};
  part->parms.dstPtr = pitched(request.to);
  part->parms.srcPtr = pitched(request.from);
  part->parms.extent = {request.width, request.height, request.depth};
  part->parms.kind = request.kind;
  return check_copy(request);
}

cudaError_t copy_part(Context&, const cudaMemcpy3DParms* params, CopyPart* part) {
  if (!params) return cudaErrorInvalidValue;
  if (cudaError_t status = copy_request(params, &part->request); status != cudaSuccess) return cudaErrorInvalidValue;
  part->parms = *params;
  return check_copy(part->request);
}

bool may_become(const Part& now, const Part& next) {
  if (auto* copy = std::get_if<CopyPart>(&now)) return copy->request.kind == std::get<CopyPart>(next).request.kind;
  if (auto* fill = std::get_if<FillPart>(&now)) return fill->params.height > 1 || std::get<FillPart>(next).params.height <= 1;
  return true;
}

cudaError_t fill_part(const cudaMemsetParams* params, FillPart* part) {
  if (!params || !params->dst || !params->width || !params->height) return cudaErrorInvalidValue;
  if (params->elementSize != 1 && params->elementSize != 2 && params->elementSize != 4) return cudaErrorInvalidValue;
  auto place = locate(params->dst);
  if (!place) return cudaErrorInvalidValue;
  const size_t row = params->width * params->elementSize;
  if (params->height > 1 && params->pitch < row) return cudaErrorInvalidValue;
  if ((params->height - 1) * params->pitch + row > place->room(params->dst)) return cudaErrorInvalidValue;
  part->params = *params;
  return cudaSuccess;
}

namespace {

cudaError_t host_part(const cudaHostNodeParams* params, HostPart* part) {
  if (!params || !params->fn) return cudaErrorInvalidValue;
  part->params = *params;
  return cudaSuccess;
}

template <class Kind>
cudaError_t event_part(cudaEvent_t handle, Kind* part) {
  part->event = find_event(handle);
  return part->event ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t child_part(cudaGraph_t handle, ChildPart* part) {
  GraphRef graph = graphs().graphs.find(handle);
  if (!graph) return cudaErrorInvalidValue;
  if (graph->allocates()) return cudaErrorNotSupported;
  part->graph = clone(*graph);
  part->graph->owned = true;
  return cudaSuccess;
}

void publish_child(const GraphRef& graph) {
  graphs().graphs.add(graph);
  for (const NodeRef& node : graph->nodes) {
    graphs().nodes.add(node);
    if (auto* child = std::get_if<ChildPart>(&node->part)) publish_child(child->graph);
  }
}

CopyRequest to_symbol(std::byte* symbol, const void* from, size_t count, cudaMemcpyKind kind) { return linear(symbol, from, count, kind); }

// Runs `make` with the graph's context and a part to fill; then the node is there.
template <class Kind, class Make>
cudaError_t add(cudaGraphNode_t* handle, cudaGraph_t graph_handle, const cudaGraphNode_t* after, size_t count,
                const cudaGraphEdgeData* data, Make&& make) {
  return in_context([&](Context& context) -> cudaError_t {
    std::lock_guard lock(graphs().mutex);
    GraphRef graph = graphs().graphs.find(graph_handle);
    if (!handle || !graph || (count && !after)) return cudaErrorInvalidValue;
    std::vector<Node::Edge> edges;
    for (size_t k = 0; k < count; ++k) {
      NodeRef node = graphs().nodes.find(after[k]);
      if (!node || node->graph != graph.get()) return cudaErrorInvalidValue;
      for (const Node::Edge& other : edges)
        if (other.from == node.get()) return cudaErrorInvalidValue;
      edges.push_back({node.get(), data ? data[k] : cudaGraphEdgeData{}});
    }
    Kind part;
    if (cudaError_t status = make(context, part); status != cudaSuccess) return status;
    *handle = graph->add(std::move(part), std::move(edges)).handle();
    return cudaSuccess;
  });
}

template <class Kind, class Body>
cudaError_t with_part(cudaGraphNode_t handle, Body&& body) {
  return in_context([&](Context& context) -> cudaError_t {
    std::lock_guard lock(graphs().mutex);
    NodeRef node = graphs().nodes.find(handle);
    Kind* part = node ? std::get_if<Kind>(&node->part) : nullptr;
    return part ? body(context, *node, *part) : cudaErrorInvalidValue;
  });
}

template <class Kind, class Make>
cudaError_t set(cudaGraphNode_t handle, Make&& make) {
  return with_part<Kind>(handle, [&](Context& context, Node& node, Kind&) -> cudaError_t {
    Kind part;
    if (cudaError_t status = make(context, part); status != cudaSuccess) return status;
    return replace(node, std::move(part));
  });
}

// The same for a node of an instantiated graph, named by the node it was made from. Nodes inside children count too.
Node* find_copy(Graph& graph, const Node& original) {
  for (const NodeRef& node : graph.nodes) {
    if (node->original == original.original) return node.get();
    if (auto* child = std::get_if<ChildPart>(&node->part))
      if (Node* found = find_copy(*child->graph, original)) return found;
    if (auto* conditional = std::get_if<ConditionalPart>(&node->part))
      for (const GraphRef& body : conditional->bodies)
        if (Node* found = find_copy(*body, original)) return found;
  }
  return nullptr;
}

template <class Body>
cudaError_t with_copy(cudaGraphExec_t exec_handle, cudaGraphNode_t handle, Body&& body) {
  return in_context([&](Context& context) -> cudaError_t {
    std::lock_guard lock(graphs().mutex);
    GraphExecRef exec = graphs().instances.find(exec_handle);
    NodeRef original = graphs().nodes.find(handle);
    if (!exec || !original) return cudaErrorInvalidValue;
    Node* node = find_copy(*exec->graph, *original);
    return node ? body(context, *node) : cudaErrorInvalidValue;
  });
}

template <class Kind, class Make>
cudaError_t set_copy(cudaGraphExec_t exec, cudaGraphNode_t handle, Make&& make) {
  return with_copy(exec, handle, [&](Context& context, Node& node) -> cudaError_t {
    if (!std::holds_alternative<Kind>(node.part)) return cudaErrorInvalidValue;
    Kind part;
    if (cudaError_t status = make(context, part); status != cudaSuccess) return status;
    if (!may_become(node.part, part)) return cudaErrorInvalidValue;
    return replace(node, std::move(part));
  });
}

cudaError_t symbol_address(const void* symbol, size_t count, size_t offset, std::byte** address) {
  void* base = nullptr;
  size_t size = 0;
  if (cudaError_t status = cudaGetSymbolAddress(&base, symbol); status != cudaSuccess) return status;
  if (cudaError_t status = cudaGetSymbolSize(&size, symbol); status != cudaSuccess) return status;
  if (offset > size || count > size - offset) return cudaErrorInvalidValue;
  *address = static_cast<std::byte*>(base) + offset;
  return cudaSuccess;
}

auto copy_1d(void* to, const void* from, size_t count, cudaMemcpyKind kind) {
  return [=](Context&, CopyPart& part) { return copy_part(linear(to, from, count, kind), &part); };
}

auto copy_to_symbol(const void* symbol, const void* from, size_t count, size_t offset, cudaMemcpyKind kind) {
  return [=](Context&, CopyPart& part) -> cudaError_t {
    std::byte* address = nullptr;
    if (cudaError_t status = symbol_address(symbol, count, offset, &address); status != cudaSuccess) return status;
    return copy_part(to_symbol(address, from, count, kind), &part);
  };
}

auto copy_from_symbol(void* to, const void* symbol, size_t count, size_t offset, cudaMemcpyKind kind) {
  return [=](Context&, CopyPart& part) -> cudaError_t {
    std::byte* address = nullptr;
    if (cudaError_t status = symbol_address(symbol, count, offset, &address); status != cudaSuccess) return status;
    return copy_part(linear(to, address, count, kind), &part);
  };
}

auto copy_3d(const cudaMemcpy3DParms* params) {
  return [=](Context& context, CopyPart& part) { return copy_part(context, params, &part); };
}
auto kernel(const cudaKernelNodeParams* params) {
  return [=](Context& context, KernelPart& part) { return kernel_part(context, params, &part); };
}
auto fill(const cudaMemsetParams* params) {
  return [=](Context&, FillPart& part) { return fill_part(params, &part); };
}
auto host(const cudaHostNodeParams* params) {
  return [=](Context&, HostPart& part) { return host_part(params, &part); };
}
template <class Kind>
auto event(cudaEvent_t handle) {
  return [=](Context&, Kind& part) { return event_part(handle, &part); };
}
auto child(cudaGraph_t graph) {
  return [=](Context&, ChildPart& part) {
    const cudaError_t status = child_part(graph, &part);
    if (status == cudaSuccess) publish_child(part.graph);
    return status;
  };
}

std::mutex conditions_mutex;
std::map<cudaGraphConditionalHandle, std::weak_ptr<Condition>> conditions;
cudaGraphConditionalHandle condition_count = 0;

cudaError_t add_conditional(Graph& graph, cudaConditionalNodeParams& params, ConditionalPart& part) {
  auto condition = graph.conditions.find(params.handle);
  if (condition == graph.conditions.end()) return cudaErrorInvalidValue;
  const bool branch = params.type == cudaGraphCondTypeIf, loop = params.type == cudaGraphCondTypeWhile,
             choice = params.type == cudaGraphCondTypeSwitch;
  if ((branch && params.size != 1 && params.size != 2) || (loop && params.size != 1) || (choice && params.size == 0) ||
      (!branch && !loop && !choice))
    return cudaErrorInvalidValue;
  part.params = params;
  part.condition = condition->second;
  for (unsigned k = 0; k < params.size; ++k) {
    auto body = std::make_shared<Graph>(graph.context);
    body->owned = true;
    body->conditions = graph.conditions;
    part.handles.push_back(body->handle());
    graphs().graphs.add(body);
    part.bodies.push_back(std::move(body));
  }
  return cudaSuccess;
}

// The general form: the kind is in the parameters.
cudaError_t add_any(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, const cudaGraphEdgeData* data, size_t count,
                    cudaGraphNodeParams* p) {
  auto as = [](auto& v2, auto* v1) { return reinterpret_cast<decltype(v1)>(&v2); };  // the same members in the same order
  switch (p->type) {
    case cudaGraphNodeTypeKernel:
      return add<KernelPart>(node, graph, after, count, data, kernel(as(p->kernel, (cudaKernelNodeParams*)nullptr)));
    case cudaGraphNodeTypeMemcpy: return add<CopyPart>(node, graph, after, count, data, copy_3d(&p->memcpy.copyParams));
    case cudaGraphNodeTypeMemset: return add<FillPart>(node, graph, after, count, data, fill(as(p->memset, (cudaMemsetParams*)nullptr)));
    case cudaGraphNodeTypeHost: return add<HostPart>(node, graph, after, count, data, host(as(p->host, (cudaHostNodeParams*)nullptr)));
    case cudaGraphNodeTypeGraph: return add<ChildPart>(node, graph, after, count, data, child(p->graph.graph));
    case cudaGraphNodeTypeEmpty: return add<EmptyPart>(node, graph, after, count, data, [](Context&, EmptyPart&) { return cudaSuccess; });
    case cudaGraphNodeTypeWaitEvent: return add<WaitPart>(node, graph, after, count, data, event<WaitPart>(p->eventWait.event));
    case cudaGraphNodeTypeEventRecord: return add<RecordPart>(node, graph, after, count, data, event<RecordPart>(p->eventRecord.event));
    case cudaGraphNodeTypeMemAlloc:
      return cudaGraphAddMemAllocNode(node, graph, after, count, as(p->alloc, (cudaMemAllocNodeParams*)nullptr));
    case cudaGraphNodeTypeMemFree: return cudaGraphAddMemFreeNode(node, graph, after, count, p->free.dptr);
    case cudaGraphNodeTypeConditional: {
      cudaGraph_t* bodies = nullptr;
      const cudaError_t status = add<ConditionalPart>(node, graph, after, count, data, [&](Context&, ConditionalPart& part) {
        return add_conditional(*graphs().graphs.find(graph), p->conditional, part);
      });
      if (status != cudaSuccess) return status;
      std::lock_guard lock(graphs().mutex);
      bodies = std::get<ConditionalPart>(graphs().nodes.find(*node)->part).handles.data();
      p->conditional.phGraph_out = bodies;
      return cudaSuccess;
    }
    default: return edge([&] { return p->type < cudaGraphNodeTypeCount && p->type >= 0 ? cudaErrorNotSupported : cudaErrorInvalidValue; });
  }
}

template <class Apply>
cudaError_t set_any(cudaGraphNodeParams* p, Apply&& apply) {
  auto as = [](auto& v2, auto* v1) { return reinterpret_cast<decltype(v1)>(&v2); };
  switch (p->type) {
    case cudaGraphNodeTypeKernel: return apply.template operator()<KernelPart>(kernel(as(p->kernel, (cudaKernelNodeParams*)nullptr)));
    case cudaGraphNodeTypeMemcpy: return apply.template operator()<CopyPart>(copy_3d(&p->memcpy.copyParams));
    case cudaGraphNodeTypeMemset: return apply.template operator()<FillPart>(fill(as(p->memset, (cudaMemsetParams*)nullptr)));
    case cudaGraphNodeTypeHost: return apply.template operator()<HostPart>(host(as(p->host, (cudaHostNodeParams*)nullptr)));
    case cudaGraphNodeTypeGraph: return apply.template operator()<ChildPart>(child(p->graph.graph));
    case cudaGraphNodeTypeWaitEvent: return apply.template operator()<WaitPart>(event<WaitPart>(p->eventWait.event));
    case cudaGraphNodeTypeEventRecord: return apply.template operator()<RecordPart>(event<RecordPart>(p->eventRecord.event));
    default: return edge([] { return cudaErrorInvalidValue; });
  }
}

}  // namespace

cudaGraphConditionalHandle new_condition(const std::shared_ptr<Condition>& condition) {
  std::lock_guard lock(conditions_mutex);
  conditions[++condition_count] = condition;
  return condition_count;
}

std::shared_ptr<Condition> find_condition(cudaGraphConditionalHandle handle) {
  std::lock_guard lock(conditions_mutex);
  auto found = conditions.find(handle);
  return found == conditions.end() ? nullptr : found->second.lock();
}

// Attributes belong to the node, not to its parameters. A child must keep its shape.
cudaError_t replace(Node& node, Part part) {
  if (node.part.index() != part.index()) return cudaErrorInvalidValue;
  if (auto* kernel = std::get_if<KernelPart>(&part)) {
    const auto& old = std::get<KernelPart>(node.part);
    if (kernel->attributes.empty()) kernel->attributes = old.attributes;
    if (!kernel->request.cooperative) kernel->request.cooperative = old.request.cooperative;
  }
  if (auto* child = std::get_if<ChildPart>(&part)) {
    const Graph& old = *std::get<ChildPart>(node.part).graph;
    std::vector<NodeRef> ordered;
    if (child->graph->nodes.size() != old.nodes.size() || !order(*child->graph, &ordered)) return cudaErrorGraphExecUpdateFailure;
    for (size_t k = 0; k < ordered.size(); ++k)
      if (ordered[k]->type() != old.nodes[k]->type()) return cudaErrorGraphExecUpdateFailure;
    child->graph->nodes = std::move(ordered);
  }
  node.part = std::move(part);
  return cudaSuccess;
}

}  // namespace warpbeam::cuda

using namespace warpbeam;
using namespace warpbeam::cuda;

#define WB_WHERE cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count
#define WB_THERE node, graph, after, count, nullptr

extern "C" {

cudaError_t cudaGraphAddKernelNode(WB_WHERE, const cudaKernelNodeParams* params) { return add<KernelPart>(WB_THERE, kernel(params)); }
cudaError_t cudaGraphAddMemcpyNode(WB_WHERE, const cudaMemcpy3DParms* params) { return add<CopyPart>(WB_THERE, copy_3d(params)); }
cudaError_t cudaGraphAddMemcpyNode1D(WB_WHERE, void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return add<CopyPart>(WB_THERE, copy_1d(to, from, bytes, kind));
}
cudaError_t cudaGraphAddMemcpyNodeToSymbol(WB_WHERE, const void* symbol, const void* from, size_t bytes, size_t offset,
                                           cudaMemcpyKind kind) {
  return add<CopyPart>(WB_THERE, copy_to_symbol(symbol, from, bytes, offset, kind));
}
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(WB_WHERE, void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return add<CopyPart>(WB_THERE, copy_from_symbol(to, symbol, bytes, offset, kind));
}
cudaError_t cudaGraphAddMemsetNode(WB_WHERE, const cudaMemsetParams* params) { return add<FillPart>(WB_THERE, fill(params)); }
cudaError_t cudaGraphAddHostNode(WB_WHERE, const cudaHostNodeParams* params) { return add<HostPart>(WB_THERE, host(params)); }
cudaError_t cudaGraphAddChildGraphNode(WB_WHERE, cudaGraph_t graph_inside) { return add<ChildPart>(WB_THERE, child(graph_inside)); }
cudaError_t cudaGraphAddEmptyNode(WB_WHERE) {
  return add<EmptyPart>(WB_THERE, [](Context&, EmptyPart&) { return cudaSuccess; });
}
cudaError_t cudaGraphAddEventRecordNode(WB_WHERE, cudaEvent_t e) { return add<RecordPart>(WB_THERE, event<RecordPart>(e)); }
cudaError_t cudaGraphAddEventWaitNode(WB_WHERE, cudaEvent_t e) { return add<WaitPart>(WB_THERE, event<WaitPart>(e)); }

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, const cudaGraphEdgeData* data,
                             size_t count, cudaGraphNodeParams* params) {
  if (!params) return edge([] { return cudaErrorInvalidValue; });
  return add_any(node, graph, after, data, count, params);
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* params) {
  return with_part<KernelPart>(node, [&](Context&, Node&, KernelPart& part) {
    if (!params) return cudaErrorInvalidValue;
    *params = {part.handle, part.request.grid, part.request.block, static_cast<unsigned>(part.request.shared), pointers_of(part).data(),
               nullptr};
    return cudaSuccess;
  });
}
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* params) {
  return with_part<CopyPart>(node, [&](Context&, Node&, CopyPart& part) {
    if (!params) return cudaErrorInvalidValue;
    *params = part.parms;
    return cudaSuccess;
  });
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* params) {
  return with_part<FillPart>(node, [&](Context&, Node&, FillPart& part) {
    if (!params) return cudaErrorInvalidValue;
    *params = part.params;
    return cudaSuccess;
  });
}
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* params) {
  return with_part<HostPart>(node, [&](Context&, Node&, HostPart& part) {
    if (!params) return cudaErrorInvalidValue;
    *params = part.params;
    return cudaSuccess;
  });
}
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  return with_part<ChildPart>(node, [&](Context&, Node&, ChildPart& part) {
    if (!graph) return cudaErrorInvalidValue;
    *graph = part.graph->handle();
    return cudaSuccess;
  });
}
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* result) {
  return with_part<RecordPart>(node, [&](Context&, Node&, RecordPart& part) {
    if (!result) return cudaErrorInvalidValue;
    *result = part.event->handle();
    return cudaSuccess;
  });
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* result) {
  return with_part<WaitPart>(node, [&](Context&, Node&, WaitPart& part) {
    if (!result) return cudaErrorInvalidValue;
    *result = part.event->handle();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* params) {
  return set<KernelPart>(node, kernel(params));
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* params) {
  return set<CopyPart>(node, copy_3d(params));
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return set<CopyPart>(node, copy_1d(to, from, bytes, kind));
}
cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol, const void* from, size_t bytes, size_t offset,
                                                 cudaMemcpyKind kind) {
  return set<CopyPart>(node, copy_to_symbol(symbol, from, bytes, offset, kind));
}
cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* to, const void* symbol, size_t bytes, size_t offset,
                                                   cudaMemcpyKind kind) {
  return set<CopyPart>(node, copy_from_symbol(to, symbol, bytes, offset, kind));
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* params) { return set<FillPart>(node, fill(params)); }
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* params) { return set<HostPart>(node, host(params)); }
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t e) { return set<RecordPart>(node, event<RecordPart>(e)); }
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t e) { return set<WaitPart>(node, event<WaitPart>(e)); }
cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* params) {
  if (!params) return edge([] { return cudaErrorInvalidValue; });
  return set_any(params, [&]<class Kind>(auto make) { return set<Kind>(node, make); });
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaKernelNodeParams* params) {
  return set_copy<KernelPart>(exec, node, kernel(params));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaMemcpy3DParms* params) {
  return set_copy<CopyPart>(exec, node, copy_3d(params));
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to, const void* from, size_t bytes,
                                               cudaMemcpyKind kind) {
  return set_copy<CopyPart>(exec, node, copy_1d(to, from, bytes, kind));
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, const void* symbol, const void* from,
                                                     size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return set_copy<CopyPart>(exec, node, copy_to_symbol(symbol, from, bytes, offset, kind));
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, void* to, const void* symbol,
                                                       size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return set_copy<CopyPart>(exec, node, copy_from_symbol(to, symbol, bytes, offset, kind));
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaMemsetParams* params) {
  return set_copy<FillPart>(exec, node, fill(params));
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaHostNodeParams* params) {
  return set_copy<HostPart>(exec, node, host(params));
}
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t graph) {
  return set_copy<ChildPart>(exec, node, [=](Context&, ChildPart& part) { return child_part(graph, &part); });
}
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t e) {
  return set_copy<RecordPart>(exec, node, event<RecordPart>(e));
}
cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t e) {
  return set_copy<WaitPart>(exec, node, event<WaitPart>(e));
}
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraphNodeParams* params) {
  if (!params) return edge([] { return cudaErrorInvalidValue; });
  return set_any(params, [&]<class Kind>(auto make) { return set_copy<Kind>(exec, node, make); });
}

// Only what computes or moves data can be left out.
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int enabled) {
  return with_copy(exec, node, [&](Context&, Node& copy) {
    if (copy.part.index() > 2) return cudaErrorInvalidValue;
    copy.enabled = enabled != 0;
    return cudaSuccess;
  });
}
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int* enabled) {
  return with_copy(exec, node, [&](Context&, Node& copy) {
    if (!enabled || copy.part.index() > 2) return cudaErrorInvalidValue;
    *enabled = copy.enabled;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id, cudaLaunchAttributeValue* value) {
  return with_part<KernelPart>(node, [&](Context&, Node&, KernelPart& part) {
    if (!value) return cudaErrorInvalidValue;
    auto found = part.attributes.find(id);
    *value = found == part.attributes.end() ? cudaLaunchAttributeValue{} : found->second;
    if (id == cudaLaunchAttributeCooperative) value->cooperative = part.request.cooperative;
    const dim3& cluster = part.request.cluster;
    if (id == cudaLaunchAttributeClusterDimension) value->clusterDim = {cluster.x, cluster.y, cluster.z};
    return cudaSuccess;
  });
}
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id, const cudaLaunchAttributeValue* value) {
  return with_part<KernelPart>(node, [&](Context&, Node&, KernelPart& part) {
    if (!value) return cudaErrorInvalidValue;
    switch (id) {
      case cudaLaunchAttributeCooperative: part.request.cooperative = value->cooperative != 0; break;
      case cudaLaunchAttributePriority: part.request.priority = value->priority; break;
      case cudaLaunchAttributeAccessPolicyWindow:
      case cudaLaunchAttributeMemSyncDomain:
      case cudaLaunchAttributeMemSyncDomainMap:
      case cudaLaunchAttributeClusterSchedulingPolicyPreference:
      case cudaLaunchAttributePreferredSharedMemoryCarveout: break;
      case cudaLaunchAttributeClusterDimension:
        if (!value->clusterDim.x || !value->clusterDim.y || !value->clusterDim.z) return cudaErrorInvalidValue;
        part.request.cluster = {value->clusterDim.x, value->clusterDim.y, value->clusterDim.z};
        break;
      default: return cudaErrorInvalidValue;
    }
    part.attributes[id] = *value;
    return cudaSuccess;
  });
}
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  return with_part<KernelPart>(from, [&](Context&, Node&, KernelPart& source) {
    NodeRef node = graphs().nodes.find(to);
    auto* target = node ? std::get_if<KernelPart>(&node->part) : nullptr;
    if (!target) return cudaErrorInvalidValue;
    target->attributes = source.attributes;
    target->request.cooperative = source.request.cooperative;
    target->request.cluster = source.request.cluster;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph_handle, unsigned int initial,
                                             unsigned int flags) {
  return edge([&] {
    std::lock_guard lock(graphs().mutex);
    GraphRef graph = graphs().graphs.find(graph_handle);
    if (!handle || !graph || (flags & ~unsigned{cudaGraphCondAssignDefault})) return cudaErrorInvalidValue;
    auto condition = std::make_shared<Condition>();
    condition->initial = initial;
    condition->assign_initial = flags & cudaGraphCondAssignDefault;
    condition->value = initial;
    *handle = new_condition(condition);
    graph->conditions[*handle] = std::move(condition);
    return cudaSuccess;
  });
}

}  // extern "C"
