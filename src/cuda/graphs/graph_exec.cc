// Instantiated graphs: made, changed, launched.
#include <algorithm>
#include <atomic>
#include <set>
#include <utility>

#include "cuda/edge.h"
#include "cuda/graphs/capture.h"
#include "cuda/graphs/graph.h"
#include "cuda/streams/ops.h"
#include "observe/tool.h"

namespace warpbeam::cuda {

namespace {

constexpr unsigned long long kFlags = cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
                                      cudaGraphInstantiateFlagUseNodePriority | cudaGraphInstantiateFlagDeviceLaunch;

// --- launches from the device ----------------------------------------------------------------------------------------

// Nothing below costs anything until a program instantiates a graph that kernels may launch.
std::atomic<bool> device_launches_possible{false};

// Which run a grid is part of.
struct GraphGrids {
  std::mutex mutex;
  std::map<uint64_t, GraphExecRef> runs;
};

GraphGrids& graph_grids() {
  static auto* grids = new GraphGrids;
  return *grids;
}

thread_local GraphExec* enqueued_run = nullptr;  // while its nodes are put into a stream

void forget_grids(const GraphExec& exec) {
  std::lock_guard lock(graph_grids().mutex);
  std::erase_if(graph_grids().runs, [&](const auto& entry) { return entry.second.get() == &exec; });
}

void enqueue_run(const GraphExecRef& exec, const StreamRef& stream) {
  GraphExec* outer = std::exchange(enqueued_run, device_launches_possible ? exec.get() : nullptr);
  enqueue_graph(exec->graph, stream, exec.get());
  enqueued_run = outer;
}

// Behind a graph in its stream: runs what its kernels launched, first the graphs beside it, then those after it, and
// what these launch in turn before anything older.
struct Afterwards : std::enable_shared_from_this<Afterwards> {
  StreamRef inner;
  std::vector<GraphExecRef> runs;
  std::function<void()> done;

  void step() {
    while (!runs.empty()) {
      const GraphExecRef run = runs.back();
      GraphExecRef next;
      {
        std::lock_guard lock(run->launched_mutex);
        auto& queue = !run->beside.empty() ? run->beside : run->after;
        if (!queue.empty() && inner->context.failure() == cudaSuccess) {
          next = std::move(queue.front());
          queue.pop_front();
        }
      }
      forget_grids(*run);
      if (!next) {
        runs.pop_back();
        continue;
      }
      if (next != run) runs.push_back(next);
      enqueue_run(next, inner);
      enqueue(inner->context, inner, InternalWork{[self = shared_from_this()] { self->step(); }});
      return;
    }
    done();
  }
};

SpanWork afterwards(const GraphExecRef& exec, const StreamRef& stream) {
  auto after = std::make_shared<Afterwards>();
  after->inner = std::make_shared<Stream>(stream->context, Queue::Kind::NonBlocking, cudaStreamNonBlocking, stream->priority);
  after->runs = {exec};
  return SpanWork{[after](std::function<void()> done) {
                    after->done = std::move(done);
                    after->step();
                  },
                  [inner = after->inner] { Scheduler::instance().assist(inner->queue); }, after->inner->id};
}

bool order_all(Graph& graph) {
  std::vector<NodeRef> ordered;
  if (!order(graph, &ordered)) return false;
  graph.nodes = std::move(ordered);
  for (const NodeRef& node : graph.nodes) {
    if (auto* child = std::get_if<ChildPart>(&node->part); child && !order_all(*child->graph)) return false;
    if (auto* conditional = std::get_if<ConditionalPart>(&node->part))
      for (const GraphRef& body : conditional->bodies)
        if (!order_all(*body)) return false;
  }
  return true;
}

// A graph that kernels launch has kernels, copies and fills, and children of such: at least one of them.
bool fit_for_device(const Graph& graph) {
  return !graph.nodes.empty() && std::ranges::all_of(graph.nodes, [](const NodeRef& node) {
    if (auto* child = std::get_if<ChildPart>(&node->part)) return fit_for_device(*child->graph);
    return std::holds_alternative<KernelPart>(node->part) || std::holds_alternative<CopyPart>(node->part) ||
           std::holds_alternative<FillPart>(node->part) || std::holds_alternative<LibraryPart>(node->part);
  });
}

cudaError_t instantiate(cudaGraphExec_t* handle, cudaGraph_t graph_handle, unsigned long long flags, cudaGraphInstantiateResult* result) {
  return in_context([&](Context&) {
    auto say = [&](cudaGraphInstantiateResult what) {
      if (result) *result = what;
    };
    say(cudaGraphInstantiateError);
    std::lock_guard lock(graphs().mutex);
    GraphRef graph = graphs().graphs.find(graph_handle);
    if (!handle || !graph || (flags & ~kFlags)) return cudaErrorInvalidValue;
    if (graph->allocates() && graph->instances > 0) {
      say(cudaGraphInstantiateNodeOperationNotSupported);
      return cudaErrorNotSupported;
    }
    if (flags & cudaGraphInstantiateFlagDeviceLaunch) {
      if (flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) return cudaErrorInvalidValue;
      if (!fit_for_device(*graph)) {
        say(cudaGraphInstantiateNodeOperationNotSupported);
        return cudaErrorNotSupported;
      }
      device_launches_possible = true;
    }
    auto exec = std::make_shared<GraphExec>();
    exec->graph = clone(*graph);
    if (!order_all(*exec->graph)) {
      say(cudaGraphInstantiateInvalidStructure);
      return cudaErrorInvalidValue;
    }
    tell_size(*exec->graph);
    exec->source = graph;
    exec->flags = flags;
    ++graph->instances;
    *handle = exec->handle();
    graphs().instances.add(std::move(exec));
    say(cudaGraphInstantiateSuccess);
    return cudaSuccess;
  });
}

// --- update ----------------------------------------------------------------------------------------------------------

// Nodes pair up in the order of their making; what an edge leads to is told by the place of its start.
std::vector<size_t> edges_of(const std::vector<Node*>& nodes, const Node& node) {
  std::vector<size_t> places;
  for (const Node::Edge& e : node.after) places.push_back(static_cast<size_t>(std::ranges::find(nodes, e.from) - nodes.begin()));
  std::ranges::sort(places);
  return places;
}

std::vector<Node*> by_age(const Graph& graph) {
  std::vector<Node*> nodes;
  for (const NodeRef& node : graph.nodes) nodes.push_back(node.get());
  std::ranges::sort(nodes, {}, &Node::id);
  return nodes;
}

cudaError_t update(Graph& now, Graph& fresh, cudaGraphExecUpdateResultInfo& info) {
  auto fail = [&](cudaGraphExecUpdateResult result, Node* node) {
    info = {result, node ? node->handle() : nullptr, nullptr};
    return cudaErrorGraphExecUpdateFailure;
  };
  const std::vector<Node*> ours = by_age(now), theirs = by_age(fresh);
  if (ours.size() != theirs.size()) return fail(cudaGraphExecUpdateErrorTopologyChanged, nullptr);
  for (size_t k = 0; k < ours.size(); ++k) {
    if (ours[k]->part.index() != theirs[k]->part.index()) return fail(cudaGraphExecUpdateErrorNodeTypeChanged, theirs[k]);
    if (edges_of(ours, *ours[k]) != edges_of(theirs, *theirs[k])) return fail(cudaGraphExecUpdateErrorTopologyChanged, theirs[k]);
  }
  for (size_t k = 0; k < ours.size(); ++k) {
    if (auto* child = std::get_if<ChildPart>(&ours[k]->part)) {
      if (cudaError_t status = update(*child->graph, *std::get<ChildPart>(theirs[k]->part).graph, info); status != cudaSuccess)
        return status;
      continue;
    }
    if (auto* memory = std::get_if<AllocPart>(&ours[k]->part)) {
      if (memory->memory != std::get<AllocPart>(theirs[k]->part).memory) return fail(cudaGraphExecUpdateErrorNotSupported, theirs[k]);
      continue;
    }
    if (std::holds_alternative<ConditionalPart>(ours[k]->part)) {
      auto& mine = std::get<ConditionalPart>(ours[k]->part);
      auto& other = std::get<ConditionalPart>(theirs[k]->part);
      if (mine.bodies.size() != other.bodies.size() || mine.params.type != other.params.type)
        return fail(cudaGraphExecUpdateErrorTopologyChanged, theirs[k]);
      for (size_t b = 0; b < mine.bodies.size(); ++b)
        if (cudaError_t status = update(*mine.bodies[b], *other.bodies[b], info); status != cudaSuccess) return status;
      continue;
    }
    if (auto* kernel = std::get_if<KernelPart>(&ours[k]->part);
        kernel && &kernel->function->context != &std::get<KernelPart>(theirs[k]->part).function->context)
      return fail(cudaGraphExecUpdateErrorUnsupportedFunctionChange, theirs[k]);
    if (!may_become(ours[k]->part, theirs[k]->part)) return fail(cudaGraphExecUpdateErrorParametersChanged, theirs[k]);
    ours[k]->part = theirs[k]->part;
  }
  info = {cudaGraphExecUpdateSuccess, nullptr, nullptr};
  return cudaSuccess;
}

// --- running -----------------------------------------------------------------------------------------------------------

// A conditional node at its turn: runs a body in a stream of its own, again and again for a loop; then it is done.
struct Choice : std::enable_shared_from_this<Choice> {
  StreamRef inner;
  cudaGraphConditionalNodeType type{};
  std::shared_ptr<Condition> condition;
  std::vector<GraphRef> bodies;
  std::shared_ptr<GraphExec> run;  // that the bodies are part of
  std::function<void()> done;

  void step(bool first) {
    const unsigned value = condition->value.load(std::memory_order_acquire);
    GraphRef body;
    if (type == cudaGraphCondTypeIf && first) body = value ? bodies[0] : bodies.size() > 1 ? bodies[1] : nullptr;
    else if (type == cudaGraphCondTypeWhile) body = value ? bodies[0] : nullptr;
    else if (type == cudaGraphCondTypeSwitch && first) body = value < bodies.size() ? bodies[value] : nullptr;
    if (!body || inner->context.failure() != cudaSuccess) return done();
    GraphExec* outer = std::exchange(enqueued_run, run.get());
    enqueue_graph(body, inner);
    enqueued_run = outer;
    enqueue(inner->context, inner, InternalWork{[self = shared_from_this()] { self->step(false); }});
  }
};

Work work_of(const StreamRef& stream, const KernelPart& part) {
  std::vector<void*> arguments;
  for (const vm::KernelParam& p : part.function->kernel.params) arguments.push_back(const_cast<std::byte*>(part.params.data()) + p.offset);
  LaunchWork work;
  if (cudaError_t status = prepare_launch(*part.function, part.request, arguments.data(), &work); status != cudaSuccess)
    throw StatusError(status);
  work.launch.priority = part.request.priority.value_or(stream->priority);
  if (enqueued_run) {
    std::lock_guard lock(graph_grids().mutex);
    graph_grids().runs[work.launch.grid_id] = enqueued_run->shared_from_this();
  }
  return work;
}

Work work_of(const StreamRef&, const CopyPart& part) {
  const CopyRequest& r = part.request;
  return CopyWork{r.to, r.from, r.width, r.height, r.depth, nullptr};
}

Work work_of(const StreamRef&, const FillPart& part) {
  const cudaMemsetParams& p = part.params;
  FillWork work;
  work.to = {static_cast<std::byte*>(p.dst), p.pitch, part.plane};
  work.value = p.value;
  work.element = p.elementSize;
  work.width = p.width;
  work.height = p.height;
  work.depth = part.depth;
  return work;
}

Work work_of(const StreamRef&, const HostPart& part) {
  return HostWork{[p = part.params](cudaError_t) { p.fn(p.userData); }, false, part.params.fn, part.params.userData};
}

Work work_of(const StreamRef&, const LibraryPart& part) { return part.work; }

Work work_of(const StreamRef& stream, const ConditionalPart& part) {
  auto choice = std::make_shared<Choice>();
  choice->inner = std::make_shared<Stream>(stream->context, Queue::Kind::NonBlocking, cudaStreamNonBlocking, stream->priority);
  choice->type = part.params.type;
  choice->condition = part.condition;
  choice->bodies = part.bodies;
  if (enqueued_run) choice->run = enqueued_run->shared_from_this();
  return SpanWork{[choice](std::function<void()> done) {
                    choice->done = std::move(done);
                    choice->step(true);
                  },
                  [inner = choice->inner] { Scheduler::instance().assist(inner->queue); }, choice->inner->id};
}

void run_node(const StreamRef& stream, Node& node) {
  if (auto* child = std::get_if<ChildPart>(&node.part)) return enqueue_graph(child->graph, stream);
  if (auto* record = std::get_if<RecordPart>(&node.part)) {
    OpRef op = enqueue(stream->context, stream, RecordWork{});
    std::lock_guard lock(record->event->mutex);
    record->event->recorded = std::move(op);
    return;
  }
  if (auto* wait = std::get_if<WaitPart>(&node.part)) {
    TaskRef recorded;
    {
      std::lock_guard lock(wait->event->mutex);
      recorded = wait->event->recorded;
    }
    if (recorded && (!recorded->done() || observe::tool())) enqueue(stream->context, stream, WaitWork{}, std::span(&recorded, 1));
    return;
  }
  std::visit(
      [&](auto& part) {
        if constexpr (requires { work_of(stream, part); })
          if (node.enabled) enqueue(stream->context, stream, work_of(stream, part));
      },
      node.part);
}

template <class Body>
void for_each_memory(const Graph& graph, Body&& body) {
  for (const NodeRef& node : graph.nodes) {
    if (auto* alloc = std::get_if<AllocPart>(&node->part)) body(*alloc->memory, true);
    if (auto* free = std::get_if<FreePart>(&node->part)) body(*free->memory, false);
  }
}

// The watcher, that the call under way uploads the graph if none has.
void tell_upload(const GraphExec& exec) {
  observe::Tool* tool = observe::tool();
  if (!tool) return;
  const auto is_kernel = [](const NodeRef& node) {
    return std::holds_alternative<KernelPart>(node->part) || std::holds_alternative<LibraryPart>(node->part);
  };
  tool->graph_uploaded(exec.name(), static_cast<size_t>(std::ranges::count_if(exec.graph->nodes, is_kernel)));
}

cudaError_t launch_graph(cudaGraphExec_t handle, cudaStream_t stream_handle) {
  return in_context([&](Context& context) -> cudaError_t {
    GraphExecRef exec = graphs().instances.find(handle);
    if (!exec) return cudaErrorInvalidValue;
    StreamRef stream = find_stream(context, stream_handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    forbid_capture(*stream);
    std::lock_guard lock(exec->mutex);
    {
      std::lock_guard all(graphs().mutex);
      // What the last launch allocated must be free again, unless that is what a launch does first.
      bool still = false;
      std::set<GraphMemory*> freed;
      for_each_memory(*exec->graph, [&](GraphMemory& memory, bool allocates) { still |= allocates && memory.allocated; });
      if (still && !(exec->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch)) return cudaErrorInvalidValue;
      for_each_memory(*exec->graph, [&](GraphMemory& memory, bool allocates) { mark_allocated(memory, allocates); });
    }
    if (exec->last && !exec->last->done()) enqueue(stream->context, stream, WaitWork{}, std::span(&exec->last, 1));
    for (auto& [id, condition] : exec->graph->conditions)
      if (condition->assign_initial) enqueue(stream->context, stream, InternalWork{[condition] { condition->value = condition->initial; }});
    tell_upload(*exec);
    enqueue_run(exec, stream);
    if (device_launches_possible) enqueue(stream->context, stream, afterwards(exec, stream));
    exec->last = enqueue(stream->context, stream, InternalWork{[exec] {}});
    return cudaSuccess;
  });
}

}  // namespace

cudaGraphExec_t graph_of_grid(uint64_t grid) {
  std::lock_guard lock(graph_grids().mutex);
  auto found = graph_grids().runs.find(grid);
  return found == graph_grids().runs.end() ? nullptr : found->second->handle();
}

cudaError_t launch_graph_from_device(uint64_t grid, cudaGraphExec_t handle, uint64_t stream) {
  enum : uint64_t { kAfter = 1ull << 56, kBeside = 2ull << 56, kSibling = 3ull << 56 };
  GraphExecRef caller = graphs().instances.find(graph_of_grid(grid)), exec = graphs().instances.find(handle);
  if (!caller || !exec || !(exec->flags & cudaGraphInstantiateFlagDeviceLaunch)) return cudaErrorInvalidValue;
  std::lock_guard lock(caller->launched_mutex);
  switch (stream) {
    case kAfter: caller->after.push_back(std::move(exec)); return cudaSuccess;
    case kBeside:
    case kSibling:
      if (exec == caller) return cudaErrorInvalidValue;  // it cannot run twice at once
      caller->beside.push_back(std::move(exec));
      return cudaSuccess;
    default: return cudaErrorInvalidResourceHandle;
  }
}

GraphExec::GraphExec()
    : number([] {
        static std::atomic<uint64_t> last{0};
        return ++last;
      }()) {}

GraphExec::~GraphExec() {
  if (GraphRef graph = source.lock()) --graph->instances;
}

void enqueue_graph(const GraphRef& graph, const StreamRef& stream, const GraphExec* instance) {
  observe::Tool* tool = observe::tool();
  if (tool) tool->graph_begins(stream->id, instance ? instance->name() : nullptr);
  for (const NodeRef& node : graph->nodes) {
    if (tool) {
      std::vector<const void*> after;
      for (const Node::Edge& edge : node->after) after.push_back(edge.from);
      tool->graph_node(stream->id, node.get(), after);
    }
    run_node(stream, *node);
  }
  if (tool) tool->graph_ends(stream->id);
}

namespace {

template <class Body>
cudaError_t with_exec(cudaGraphExec_t handle, Body&& body) {
  return edge([&]() -> cudaError_t {
    GraphExecRef exec = graphs().instances.find(handle);
    return exec ? body(exec) : cudaErrorInvalidValue;
  });
}

// Everything is in place already: there is nothing to upload to.
cudaError_t upload(cudaGraphExec_t handle, cudaStream_t stream_handle) {
  return in_context([&](Context& context) -> cudaError_t {
    const GraphExecRef exec = graphs().instances.find(handle);
    if (!exec) return cudaErrorInvalidValue;
    StreamRef stream = find_stream(context, stream_handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    forbid_capture(*stream);
    tell_upload(*exec);
    return cudaSuccess;
  });
}

cudaError_t instantiate_with(cudaGraphExec_t* handle, cudaGraph_t graph, cudaGraphInstantiateParams* params, bool thread_stream) {
  if (!params) return edge([] { return cudaErrorInvalidValue; });
  params->errNode_out = nullptr;
  const cudaError_t status = instantiate(handle, graph, params->flags, &params->result_out);
  if (status != cudaSuccess || !(params->flags & cudaGraphInstantiateFlagUpload)) return status;
  return upload(*handle, thread_stream ? per_thread(params->uploadStream) : params->uploadStream);
}

}  // namespace
}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  return instantiate(exec, graph, flags, nullptr);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  return instantiate(exec, graph, flags, nullptr);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphInstantiateParams* params) {
  return instantiate_with(exec, graph, params, false);
}

WB_TWIN cudaError_t cudaGraphInstantiateWithParams_ptsz(cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphInstantiateParams* params) {
  return instantiate_with(exec, graph, params, true);
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t handle, unsigned long long* flags) {
  return with_exec(handle, [&](const GraphExecRef& exec) {
    if (!flags) return cudaErrorInvalidValue;
    *flags = exec->flags;
    return cudaSuccess;
  });
}

// Launches under way keep it until they are done.
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
  return edge([&] {
    if (const GraphExecRef exec = graphs().instances.find(handle)) tell_size(*exec->graph);
    return graphs().instances.remove(handle) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t graph_handle, cudaGraphExecUpdateResultInfo* info) {
  return with_exec(handle, [&](const GraphExecRef& exec) {
    std::lock_guard lock(graphs().mutex);
    GraphRef graph = graphs().graphs.find(graph_handle);
    if (!graph || !info) return cudaErrorInvalidValue;
    tell_size(*graph);
    return update(*exec->graph, *graph, *info);
  });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) { return upload(exec, stream); }
WB_TWIN cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t exec, cudaStream_t stream) { return upload(exec, per_thread(stream)); }

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) { return launch_graph(exec, stream); }
WB_TWIN cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t exec, cudaStream_t stream) { return launch_graph(exec, per_thread(stream)); }

}  // extern "C"
