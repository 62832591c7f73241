// The structure of graphs: made, linked, copied, asked and destroyed.
#include "cuda/graphs/graph.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "cuda/edge.h"
#include "observe/tool.h"

namespace warpbeam::cuda {

namespace {

std::atomic<uint64_t> node_ids{0};

}  // namespace

Graphs& graphs() {
  static auto* graphs = new Graphs;
  return *graphs;
}

cudaGraphNodeType Node::type() const {
  constexpr cudaGraphNodeType kTypes[] = {cudaGraphNodeTypeKernel,      cudaGraphNodeTypeMemcpy,      cudaGraphNodeTypeMemset,
                                          cudaGraphNodeTypeHost,        cudaGraphNodeTypeGraph,       cudaGraphNodeTypeEmpty,
                                          cudaGraphNodeTypeEventRecord, cudaGraphNodeTypeWaitEvent,   cudaGraphNodeTypeMemAlloc,
                                          cudaGraphNodeTypeMemFree,     cudaGraphNodeTypeConditional, cudaGraphNodeTypeKernel};
  static_assert(std::size(kTypes) == std::variant_size_v<Part>);
  return kTypes[part.index()];
}

Node& Graph::add(Part part, std::vector<Node::Edge> after) {
  auto node = std::make_shared<Node>();
  node->graph = this;
  node->id = node->original = ++node_ids;
  node->part = std::move(part);
  node->after = std::move(after);
  nodes.push_back(node);
  cuda::graphs().nodes.add(node);
  return *node;
}

bool Graph::allocates() const {
  return std::ranges::any_of(nodes, [](const NodeRef& node) {
    if (auto* child = std::get_if<ChildPart>(&node->part)) return child->graph->allocates();
    return std::holds_alternative<AllocPart>(node->part) || std::holds_alternative<FreePart>(node->part);
  });
}

Graph::~Graph() {
  for (auto& [object, count] : objects) release(*object, count);
}

// Children go with their nodes.
void forget(Graph& graph) {
  cuda::graphs().graphs.remove(&graph);
  for (const NodeRef& node : graph.nodes) {
    cuda::graphs().nodes.remove(node.get());
    if (auto* child = std::get_if<ChildPart>(&node->part)) forget(*child->graph);
    if (auto* conditional = std::get_if<ConditionalPart>(&node->part))
      for (const GraphRef& body : conditional->bodies) forget(*body);
  }
}

void forget_graphs(const Context& context) {
  std::vector<GraphRef> gone;  // end after the lock: the end of user objects calls the program
  std::vector<GraphExecRef> instances;
  std::lock_guard lock(cuda::graphs().mutex);
  for (GraphExecRef& exec : cuda::graphs().instances.all())
    if (&exec->graph->context == &context) instances.push_back(cuda::graphs().instances.remove(exec.get()));
  for (GraphRef& graph : cuda::graphs().graphs.all())
    if (&graph->context == &context) {
      forget(*graph);
      gone.push_back(std::move(graph));
    }
}

GraphRef clone(const Graph& graph) {
  auto copy = std::make_shared<Graph>(graph.context);
  std::map<const Node*, Node*> made;
  for (const NodeRef& node : graph.nodes) {
    auto fresh = std::make_shared<Node>(*node);
    fresh->graph = copy.get();
    fresh->id = ++node_ids;
    fresh->original = node->original;
    made[node.get()] = fresh.get();
    auto own = [](GraphRef& inner) {
      inner = clone(*inner);
      inner->owned = true;
    };
    if (auto* child = std::get_if<ChildPart>(&fresh->part)) own(child->graph);
    if (auto* conditional = std::get_if<ConditionalPart>(&fresh->part)) {
      for (GraphRef& body : conditional->bodies) own(body);
      conditional->handles.clear();
      for (GraphRef& body : conditional->bodies) conditional->handles.push_back(body->handle());
    }
    copy->nodes.push_back(std::move(fresh));
  }
  for (const NodeRef& node : copy->nodes)
    for (Node::Edge& edge : node->after) edge.from = made.at(edge.from);
  copy->conditions = graph.conditions;
  copy->objects = graph.objects;
  for (auto& [object, count] : copy->objects) retain(*object, count);
  return copy;
}

namespace {

// Gives the copy and all that is in it handles.
void publish(const GraphRef& graph) {
  cuda::graphs().graphs.add(graph);
  for (const NodeRef& node : graph->nodes) {
    cuda::graphs().nodes.add(node);
    if (auto* child = std::get_if<ChildPart>(&node->part)) publish(child->graph);
    if (auto* conditional = std::get_if<ConditionalPart>(&node->part))
      for (const GraphRef& body : conditional->bodies) publish(body);
  }
}

}  // namespace

bool order(const Graph& graph, std::vector<NodeRef>* ordered) {
  ordered->clear();
  std::set<const Node*> placed;
  std::vector<NodeRef> left = graph.nodes;
  while (!left.empty()) {
    const size_t before = left.size();
    std::vector<NodeRef> later;
    for (NodeRef& node : left) {
      const bool ready = std::ranges::all_of(node->after, [&](const Node::Edge& e) { return placed.contains(e.from); });
      if (!ready) {
        later.push_back(std::move(node));
        continue;
      }
      placed.insert(node.get());
      ordered->push_back(std::move(node));
    }
    left = std::move(later);
    if (left.size() == before) return false;
  }
  return true;
}

namespace {

template <class Body>
cudaError_t with_graph(cudaGraph_t handle, Body&& body) {
  return edge([&]() -> cudaError_t {
    std::lock_guard lock(graphs().mutex);
    GraphRef graph = graphs().graphs.find(handle);
    return graph ? body(*graph) : cudaErrorInvalidValue;
  });
}

template <class Body>
cudaError_t with_node(cudaGraphNode_t handle, Body&& body) {
  return edge([&]() -> cudaError_t {
    std::lock_guard lock(graphs().mutex);
    NodeRef node = graphs().nodes.find(handle);
    return node ? body(*node) : cudaErrorInvalidValue;
  });
}

// Fills `to` as far as it goes; the rest is null, and `count` becomes what there is.
cudaError_t list(const std::vector<Node*>& nodes, cudaGraphNode_t* to, size_t* count) {
  if (!count) return cudaErrorInvalidValue;
  if (to) {
    for (size_t k = 0; k < *count; ++k) to[k] = k < nodes.size() ? nodes[k]->handle() : nullptr;
    *count = std::min(*count, nodes.size());
  } else {
    *count = nodes.size();
  }
  return cudaSuccess;
}

std::vector<Node*> roots(const Graph& graph) {
  std::vector<Node*> found;
  for (const NodeRef& node : graph.nodes)
    if (node->after.empty()) found.push_back(node.get());
  return found;
}

using Pair = std::pair<Node*, Node*>;

// Looks the ends of edges up: two nodes of this graph each, not one and the same.
cudaError_t find_edges(const Graph& graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, size_t count, std::vector<Pair>* found) {
  if (count && (!from || !to)) return cudaErrorInvalidValue;
  for (size_t k = 0; k < count; ++k) {
    NodeRef a = graphs().nodes.find(from[k]), b = graphs().nodes.find(to[k]);
    if (!a || !b || a == b || a->graph != &graph || b->graph != &graph) return cudaErrorInvalidValue;
    found->push_back({a.get(), b.get()});
  }
  return cudaSuccess;
}

auto edge_between(const Pair& pair) {
  return std::ranges::find_if(pair.second->after, [&](const Node::Edge& e) { return e.from == pair.first; });
}

bool programmatic(const cudaGraphEdgeData* edges, size_t count) {
  for (size_t k = 0; edges && k < count; ++k)
    if (edges[k].type > cudaGraphDependencyTypeProgrammatic || edges[k].from_port > cudaGraphKernelNodePortLaunchCompletion) return true;
  return false;
}

const char* name_of(const Node& node) {
  constexpr const char* kNames[] = {"KERNEL",       "MEMCPY",     "MEMSET",    "HOST",     "CHILD GRAPH", "EMPTY",
                                    "EVENT RECORD", "EVENT WAIT", "MEM ALLOC", "MEM FREE", "CONDITIONAL", "KERNEL"};
  return kNames[node.part.index()];
}

void write_dot(std::FILE* file, const Graph& graph, int& number, unsigned flags) {
  const int mine = number++;
  std::fprintf(file, "subgraph cluster_%d {\nlabel=\"graph_%d\" graph[style=\"dashed\"];\n", mine, mine);
  std::map<const Node*, size_t> place;
  for (size_t k = 0; k < graph.nodes.size(); ++k) {
    Node& node = *graph.nodes[k];
    place[&node] = k;
    std::string label = std::to_string(k) + "\\n" + name_of(node);
    if (auto* kernel = std::get_if<KernelPart>(&node.part)) {
      label += "\\n" + kernel->function->kernel.name;
      const auto& r = kernel->request;
      if (flags & (cudaGraphDebugDotFlagsVerbose | cudaGraphDebugDotFlagsKernelNodeParams))
        label += "\\n<<<(" + std::to_string(r.grid.x) + "," + std::to_string(r.grid.y) + "," + std::to_string(r.grid.z) + "),(" +
                 std::to_string(r.block.x) + "," + std::to_string(r.block.y) + "," + std::to_string(r.block.z) + ")," +
                 std::to_string(r.shared) + ">>>";
    }
    if (auto* library = std::get_if<LibraryPart>(&node.part)) label += "\\n" + library->work.name;
    if (flags & (cudaGraphDebugDotFlagsVerbose | cudaGraphDebugDotFlagsHandles)) {
      char text[32];
      std::snprintf(text, sizeof text, "\\n%p", static_cast<void*>(&node));
      label += text;
    }
    const char* shape = std::holds_alternative<KernelPart>(node.part) ? "octagon"
                        : std::holds_alternative<CopyPart>(node.part) ? "invtrapezium"
                                                                      : "rectangle";
    std::fprintf(file, "\"graph_%d_node_%zu\"[style=\"solid\" shape=\"%s\" label=\"%s\"];\n", mine, k, shape, label.c_str());
  }
  for (const NodeRef& node : graph.nodes)
    for (const Node::Edge& e : node->after)
      std::fprintf(file, "\"graph_%d_node_%zu\" -> \"graph_%d_node_%zu\";\n", mine, place[e.from], mine, place[node.get()]);
  std::fprintf(file, "}\n");
  for (const NodeRef& node : graph.nodes) {
    if (auto* child = std::get_if<ChildPart>(&node->part)) write_dot(file, *child->graph, number, flags);
    if (auto* conditional = std::get_if<ConditionalPart>(&node->part))
      for (const GraphRef& body : conditional->bodies) write_dot(file, *body, number, flags);
  }
}

}  // namespace

// A branch goes on with one of those that follow a node; the others begin branches of their own.
void tell_size(const Graph& graph) {
  observe::Tool* tool = observe::tool();
  if (!tool) return;
  std::set<const Node*> continued;
  const auto begins_one = [&](const NodeRef& node) {
    return std::ranges::none_of(node->after, [&](const Node::Edge& e) { return continued.insert(e.from).second; });
  };
  tool->graph_sized(graph.nodes.size(), static_cast<size_t>(std::ranges::count_if(graph.nodes, begins_one)));
}

}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* handle, unsigned int flags) {
  return in_context([&](Context& context) {
    if (!handle || flags != 0) return cudaErrorInvalidValue;
    auto graph = std::make_shared<Graph>(context);
    *handle = graph->handle();
    graphs().graphs.add(std::move(graph));
    return cudaSuccess;
  });
}

// What was instantiated from it lives on.
cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
  GraphRef graph;  // ends after the lock: the end of user objects calls the program
  return edge([&] {
    std::lock_guard lock(graphs().mutex);
    graph = graphs().graphs.find(handle);
    if (!graph || graph->owned || graph->capturing) return cudaErrorInvalidValue;
    tell_size(*graph);
    forget(*graph);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle) {
  return with_node(handle, [](Node& node) {
    Graph& graph = *node.graph;
    if (graph.capturing) return cudaErrorInvalidValue;
    if (graph.allocates()) return cudaErrorNotSupported;
    for (const NodeRef& other : graph.nodes) std::erase_if(other->after, [&](const Node::Edge& e) { return e.from == &node; });
    if (auto* child = std::get_if<ChildPart>(&node.part)) forget(*child->graph);
    graphs().nodes.remove(&node);
    std::erase_if(graph.nodes, [&](const NodeRef& other) { return other.get() == &node; });
    return cudaSuccess;
  });
}

cudaError_t cudaGraphClone(cudaGraph_t* handle, cudaGraph_t original) {
  return with_graph(original, [&](Graph& graph) {
    if (!handle) return cudaErrorInvalidValue;
    if (graph.allocates()) return cudaErrorNotSupported;
    GraphRef copy = clone(graph);
    *handle = copy->handle();
    publish(copy);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* found, cudaGraphNode_t original, cudaGraph_t cloned) {
  return with_graph(cloned, [&](Graph& graph) {
    NodeRef node = graphs().nodes.find(original);
    if (!found || !node) return cudaErrorInvalidValue;
    for (const NodeRef& copy : graph.nodes)
      if (copy->original == node->original && copy != node) {
        *found = copy->handle();
        return cudaSuccess;
      }
    *found = nullptr;
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t handle, cudaGraphNodeType* type) {
  return with_node(handle, [&](Node& node) {
    if (!type) return cudaErrorInvalidValue;
    *type = node.type();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, size_t* count) {
  return with_graph(handle, [&](Graph& graph) {
    std::vector<Node*> all;
    for (const NodeRef& node : graph.nodes) all.push_back(node.get());
    return list(all, nodes, count);
  });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, size_t* count) {
  return with_graph(handle, [&](Graph& graph) { return list(roots(graph), nodes, count); });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t handle, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data, size_t* count) {
  return with_graph(handle, [&](Graph& graph) {
    if (!count || (!from != !to)) return cudaErrorInvalidValue;
    size_t total = 0;
    for (const NodeRef& node : graph.nodes)
      for (const Node::Edge& e : node->after) {
        if (from && total < *count) {
          from[total] = e.from->handle();
          to[total] = node->handle();
          if (data) data[total] = e.data;
        }
        ++total;
      }
    for (size_t k = total; from && k < *count; ++k) from[k] = to[k] = nullptr;
    *count = from ? std::min(*count, total) : total;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t handle, cudaGraphNode_t* nodes, cudaGraphEdgeData* data, size_t* count) {
  return with_node(handle, [&](Node& node) {
    std::vector<Node*> all;
    for (const Node::Edge& e : node.after) all.push_back(e.from);
    for (size_t k = 0; count && data && k < std::min(*count, all.size()); ++k) data[k] = node.after[k].data;
    return list(all, nodes, count);
  });
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t handle, cudaGraphNode_t* nodes, cudaGraphEdgeData* data, size_t* count) {
  return with_node(handle, [&](Node& node) {
    std::vector<Node*> all;
    for (const NodeRef& other : node.graph->nodes)
      for (const Node::Edge& e : other->after)
        if (e.from == &node) {
          if (count && data && all.size() < *count) data[all.size()] = e.data;
          all.push_back(other.get());
        }
    return list(all, nodes, count);
  });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t handle, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     const cudaGraphEdgeData* data, size_t count) {
  return with_graph(handle, [&](Graph& graph) -> cudaError_t {
    std::vector<Pair> pairs;
    if (cudaError_t status = find_edges(graph, from, to, count, &pairs); status != cudaSuccess) return status;
    if (programmatic(data, count)) return cudaErrorInvalidValue;
    for (const Pair& pair : pairs)
      if (edge_between(pair) != pair.second->after.end()) return cudaErrorInvalidValue;
    for (size_t k = 0; k < count; ++k)
      if (edge_between(pairs[k]) == pairs[k].second->after.end())
        pairs[k].second->after.push_back({pairs[k].first, data ? data[k] : cudaGraphEdgeData{}});
    return cudaSuccess;
  });
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t handle, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                        const cudaGraphEdgeData*, size_t count) {
  return with_graph(handle, [&](Graph& graph) -> cudaError_t {
    std::vector<Pair> pairs;
    if (cudaError_t status = find_edges(graph, from, to, count, &pairs); status != cudaSuccess) return status;
    for (const Pair& pair : pairs)
      if (edge_between(pair) == pair.second->after.end()) return cudaErrorInvalidValue;
    for (const Pair& pair : pairs)
      if (auto found = edge_between(pair); found != pair.second->after.end()) pair.second->after.erase(found);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t handle, const char* path, unsigned int flags) {
  return with_graph(handle, [&](Graph& graph) {
    if (!path) return cudaErrorInvalidValue;
    std::FILE* file = std::fopen(path, "w");
    if (!file) return cudaErrorOperatingSystem;
    int number = 0;
    std::fprintf(file, "digraph dot {\n");
    write_dot(file, graph, number, flags);
    std::fprintf(file, "}\n");
    return std::fclose(file) == 0 ? cudaSuccess : cudaErrorOperatingSystem;
  });
}

}  // extern "C"
