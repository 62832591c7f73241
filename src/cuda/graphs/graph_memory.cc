// Memory nodes: memory that graphs allocate and free, at one address for all their launches.
#include <sys/mman.h>

#include <algorithm>

#include "cuda/edge.h"
#include "cuda/graphs/graph.h"
#include "cuda/memory/memory.h"

namespace warpbeam::cuda {

namespace {

constexpr uint64_t kReserveStep = 32 << 20;  // graphs' memory grows in steps of this

// By device, guarded by the graphs' mutex. What graphs have freed counts as used until it is trimmed (measured on an H200: both
// pairs of attributes always say the same).
struct Account {
  uint64_t allocated = 0, used = 0, used_high = 0, reserved_high = 0;
};

Account& account(const Context& context) {
  static auto* accounts = new std::map<int, Account>;
  return (*accounts)[context.ordinal];
}

uint64_t in_steps(uint64_t bytes) { return (bytes + kReserveStep - 1) / kReserveStep * kReserveStep; }

}  // namespace

GraphMemory::~GraphMemory() {
  if (context.memory.find(base)) release(context, base);
}

bool mark_allocated(GraphMemory& memory, bool allocated) {
  if (memory.allocated == allocated) return false;
  memory.allocated = allocated;
  std::shared_ptr<GraphMemory> last;  // ends here if no graph holds it
  auto& in_use = graphs().in_use;
  if (allocated) in_use[memory.base] = find_graph_memory(reinterpret_cast<void*>(memory.base));
  Account& a = account(memory.context);
  const uint64_t bytes = in_steps(memory.size);
  if (allocated) {
    a.allocated += bytes;
    a.used = std::max(a.used, a.allocated);
    a.used_high = std::max(a.used_high, a.used);
    a.reserved_high = std::max(a.reserved_high, a.used);
  } else {
    a.allocated -= std::min(a.allocated, bytes);
    if (auto held = in_use.find(memory.base); held != in_use.end()) {
      last = std::move(held->second);
      in_use.erase(held);
    }
  }
  return true;
}

std::shared_ptr<GraphMemory> find_graph_memory(const void* pointer) {
  auto found = graphs().memory.find(reinterpret_cast<uint64_t>(pointer));
  return found == graphs().memory.end() ? nullptr : found->second.lock();
}

bool free_graph_memory(void* pointer, cudaError_t* status) {
  std::lock_guard lock(graphs().mutex);
  auto memory = find_graph_memory(pointer);
  if (!memory) return false;
  *status = mark_allocated(*memory, false) ? cudaSuccess : cudaErrorInvalidValue;
  return true;
}

cudaError_t alloc_part(cudaMemAllocNodeParams* params, AllocPart* part) {
  if (!params || params->bytesize == 0 || (params->accessDescCount && !params->accessDescs)) return cudaErrorInvalidValue;
  if (params->poolProps.allocType != cudaMemAllocationTypePinned || params->poolProps.location.type != cudaMemLocationTypeDevice)
    return cudaErrorInvalidValue;
  if (params->poolProps.handleTypes != cudaMemHandleTypeNone) return cudaErrorInvalidValue;
  Context* context = nullptr;
  if (cudaError_t status = context_of(params->poolProps.location.id, &context); status != cudaSuccess) return cudaErrorInvalidValue;
  void* pointer = nullptr;
  if (cudaError_t status = allocate(*context, params->bytesize, vm::MemoryKind::Device, "a graph's memory node", 0, &pointer);
      status != cudaSuccess)
    return status;
  part->memory = std::make_shared<GraphMemory>(*context, reinterpret_cast<uint64_t>(pointer), params->bytesize);
  graphs().memory[part->memory->base] = part->memory;
  params->dptr = pointer;
  part->params = *params;
  part->access.assign(params->accessDescs, params->accessDescs + params->accessDescCount);
  part->params.accessDescs = part->access.data();
  return cudaSuccess;
}

namespace {

template <class Kind, class Make>
cudaError_t add(cudaGraphNode_t* handle, cudaGraph_t graph_handle, const cudaGraphNode_t* after, size_t count, Make&& make) {
  return in_context([&](Context&) -> cudaError_t {
    std::lock_guard lock(graphs().mutex);
    GraphRef graph = graphs().graphs.find(graph_handle);
    if (!handle || !graph || (count && !after)) return cudaErrorInvalidValue;
    if (graph->owned) return cudaErrorNotSupported;  // not inside children
    std::vector<Node::Edge> edges;
    for (size_t k = 0; k < count; ++k) {
      NodeRef node = graphs().nodes.find(after[k]);
      if (!node || node->graph != graph.get()) return cudaErrorInvalidValue;
      edges.push_back({node.get(), {}});
    }
    Kind part;
    if (cudaError_t status = make(*graph, part); status != cudaSuccess) return status;
    *handle = graph->add(std::move(part), std::move(edges)).handle();
    return cudaSuccess;
  });
}

template <class Body>
cudaError_t with_account(int device, Body&& body) {
  return edge([&]() -> cudaError_t {
    Context* context = nullptr;
    if (cudaError_t status = context_of(device, &context); status != cudaSuccess) return status;
    std::lock_guard lock(graphs().mutex);
    return body(account(*context));
  });
}

template <class Kind, class Body>
cudaError_t with_part(cudaGraphNode_t handle, Body&& body) {
  return edge([&]() -> cudaError_t {
    std::lock_guard lock(graphs().mutex);
    NodeRef node = graphs().nodes.find(handle);
    Kind* part = node ? std::get_if<Kind>(&node->part) : nullptr;
    return part ? body(*part) : cudaErrorInvalidValue;
  });
}

}  // namespace
}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count,
                                     cudaMemAllocNodeParams* params) {
  return add<AllocPart>(node, graph, after, count, [&](Graph&, AllocPart& part) { return alloc_part(params, &part); });
}

// Frees what a node of this or another graph allocates, once in each graph.
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, void* pointer) {
  return add<FreePart>(node, graph, after, count, [&](Graph& owner, FreePart& part) {
    part.memory = find_graph_memory(pointer);
    if (!part.memory) return cudaErrorInvalidValue;
    for (const NodeRef& other : owner.nodes)
      if (auto* free = std::get_if<FreePart>(&other->part); free && free->memory == part.memory) return cudaErrorInvalidValue;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* params) {
  return with_part<AllocPart>(node, [&](AllocPart& part) {
    if (!params) return cudaErrorInvalidValue;
    *params = part.params;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  return with_part<FreePart>(node, [&](FreePart& part) {
    if (!pointer) return cudaErrorInvalidValue;
    *static_cast<void**>(pointer) = reinterpret_cast<void*>(part.memory->base);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  return with_account(device, [&](Account& a) {
    if (!value) return cudaErrorInvalidValue;
    auto& number = *static_cast<uint64_t*>(value);
    switch (attribute) {
      case cudaGraphMemAttrUsedMemCurrent:
      case cudaGraphMemAttrReservedMemCurrent: number = a.used; return cudaSuccess;
      case cudaGraphMemAttrUsedMemHigh: number = a.used_high; return cudaSuccess;
      case cudaGraphMemAttrReservedMemHigh: number = a.reserved_high; return cudaSuccess;
    }
    return cudaErrorInvalidValue;
  });
}

// High-water marks may be set back; nothing else can be set.
cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  return with_account(device, [&](Account& a) {
    if (!value || *static_cast<uint64_t*>(value) != 0) return cudaErrorInvalidValue;
    if (attribute == cudaGraphMemAttrUsedMemHigh) a.used_high = a.used;
    else if (attribute == cudaGraphMemAttrReservedMemHigh) a.reserved_high = a.used;
    else return cudaErrorInvalidValue;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
  return with_account(device, [](Account& a) {
    a.used = a.allocated;
    return cudaSuccess;
  });
}

}  // extern "C"
