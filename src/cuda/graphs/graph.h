// Graphs: work that is stored before it is run. A Node holds what the API says of one operation; launching an instantiated
// graph turns each into the Work that a stream would queue, one after the other in an order that the edges allow.
#pragma once
#include <cstdint>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "cuda/api.h"
#include "cuda/devices/context.h"
#include "cuda/launches/launch.h"
#include "cuda/memory/copy.h"
#include "cuda/streams/ops.h"

namespace warpbeam::cuda {

struct Graph;
using GraphRef = std::shared_ptr<Graph>;

// --- what a node does ----------------------------------------------------------------------------------------------

struct KernelPart {
  void* handle = nullptr;  // as the program named the kernel
  Function* function = nullptr;
  LaunchRequest request;
  vm::Arguments params;
  std::map<int, cudaLaunchAttributeValue> attributes;
  std::vector<void*> pointers;  // what GetParams hands out: one per parameter, into `params`
};

struct CopyPart {
  cudaMemcpy3DParms parms{};
  CopyRequest request;
};

struct FillPart {
  cudaMemsetParams params{};
  size_t depth = 1, plane = 0;  // of a captured cudaMemset3DAsync
};

struct HostPart {
  cudaHostNodeParams params{};
};

struct ChildPart {
  GraphRef graph;
};

struct EmptyPart {};

struct RecordPart {
  EventRef event;
};

struct WaitPart {
  EventRef event;
};

// Memory that a graph allocates: one place for all launches, in use between an allocation and its free.
struct GraphMemory {
  GraphMemory(Context& context, uint64_t base, size_t size) : context(context), base(base), size(size) {}
  ~GraphMemory();
  Context& context;
  const uint64_t base;
  const size_t size;
  bool allocated = false;  // guarded by the graph memory's mutex
};

struct AllocPart {
  cudaMemAllocNodeParams params{};
  std::vector<cudaMemAccessDesc> access;
  std::shared_ptr<GraphMemory> memory;
};

struct FreePart {
  std::shared_ptr<GraphMemory> memory;
};

// A value that kernels set and that decides whether bodies run.
struct Condition {
  std::atomic<unsigned> value{0};
  unsigned initial = 0;
  bool assign_initial = false;  // at each launch
};

struct ConditionalPart {
  cudaConditionalNodeParams params{};
  std::shared_ptr<Condition> condition;
  std::vector<GraphRef> bodies;
  std::vector<cudaGraph_t> handles;
};

// A library's call: a kernel as far as the API tells, but one without parameters that could be asked or changed.
struct LibraryPart {
  LibraryWork work;
};

using Part = std::variant<KernelPart, CopyPart, FillPart, HostPart, ChildPart, EmptyPart, RecordPart, WaitPart, AllocPart, FreePart,
                          ConditionalPart, LibraryPart>;

// --- structure -----------------------------------------------------------------------------------------------------

struct Node {
  Graph* graph = nullptr;
  uint64_t id = 0;
  uint64_t original = 0;  // id of the node that this one is a copy of, or its own
  Part part;
  bool enabled = true;    // in an instantiated graph
  struct Edge {
    Node* from;
    cudaGraphEdgeData data;
  };
  std::vector<Edge> after;  // what it depends on, in the order given
  cudaGraphNode_t handle() { return reinterpret_cast<cudaGraphNode_t>(this); }
  cudaGraphNodeType type() const;
};
using NodeRef = std::shared_ptr<Node>;

struct UserObject {
  void* pointer = nullptr;
  cudaHostFn_t destroy = nullptr;
  std::atomic<int64_t> count{0};
  cudaUserObject_t handle() { return reinterpret_cast<cudaUserObject_t>(this); }
};
using UserObjectRef = std::shared_ptr<UserObject>;
void retain(UserObject& object, int64_t count);
void release(UserObject& object, int64_t count);  // the last one destroys what it stands for

struct Graph : std::enable_shared_from_this<Graph> {
  explicit Graph(Context& context) : context(context) {}
  ~Graph();
  Context& context;
  std::vector<NodeRef> nodes;  // in the order of their making
  std::map<uint64_t, std::shared_ptr<Condition>> conditions;  // by handle
  std::map<UserObjectRef, int64_t> objects;
  bool owned = false;          // a child's or a conditional node's: destroyed with it
  bool capturing = false;      // streams add to it: neither it nor its nodes can be destroyed
  std::atomic<int> instances{0};           // instantiated and alive; matters for graphs that allocate
  cudaGraph_t handle() { return reinterpret_cast<cudaGraph_t>(this); }
  Node& add(Part part, std::vector<Node::Edge> after);
  bool allocates() const;      // it or what is in it has memory nodes
};

struct GraphExec : std::enable_shared_from_this<GraphExec> {
  GraphExec();
  GraphRef graph;              // a copy, in an order in which it can run
  std::weak_ptr<Graph> source;
  const uint64_t number;       // of all that were instantiated; addresses come again
  unsigned long long flags = 0;
  std::mutex mutex;
  TaskRef last;                // of the latest launch: launches of one instance run one after the other
  // What kernels of the run in progress have launched: graphs beside it, and graphs after it.
  std::mutex launched_mutex;
  std::deque<std::shared_ptr<GraphExec>> beside, after;
  cudaGraphExec_t handle() { return reinterpret_cast<cudaGraphExec_t>(this); }
  const void* name() const { return reinterpret_cast<const void*>(number); }  // for watchers
  ~GraphExec();
};
using GraphExecRef = std::shared_ptr<GraphExec>;

// Launches from kernels of graphs; `grid` is the calling one's. The stream says when the graph runs.
cudaError_t launch_graph_from_device(uint64_t grid, cudaGraphExec_t exec, uint64_t stream);
// The graph whose run a grid is part of, null if none.
cudaGraphExec_t graph_of_grid(uint64_t grid);

// All graphs of the process; one mutex guards every graph's structure.
struct Graphs {
  std::mutex mutex;
  HandleTable<Graph> graphs;
  HandleTable<Node> nodes;
  HandleTable<GraphExec> instances;
  HandleTable<UserObject> objects;
  std::map<uint64_t, std::weak_ptr<GraphMemory>> memory;    // by address
  std::map<uint64_t, std::shared_ptr<GraphMemory>> in_use;  // allocated: outlives its graphs until it is freed
};
Graphs& graphs();

// A copy with copies of all that is in it.
GraphRef clone(const Graph& graph);
// The nodes in an order in which each comes after what it depends on; empty if the edges go in circles.
bool order(const Graph& graph, std::vector<NodeRef>* ordered);
void tell_size(const Graph& graph);  // the watcher, of the call under way
void forget(Graph& graph);  // its handles mean nothing from here on
void forget_graphs(const Context& context);  // whose code goes away

// --- parameters ----------------------------------------------------------------------------------------------------

cudaError_t kernel_part(Context& context, const cudaKernelNodeParams* params, KernelPart* part);
cudaError_t copy_part(Context& context, const cudaMemcpy3DParms* params, CopyPart* part);
cudaError_t copy_part(const CopyRequest& request, CopyPart* part);
cudaError_t fill_part(const cudaMemsetParams* params, FillPart* part);
// Whether a node of an instantiated graph can hold `next`, which is of the same kind: copies keep their direction as it
// was given, and a fill of one row does not get more.
bool may_become(const Part& now, const Part& next);
// Changes a node; its kind stays, and for an instantiated graph so does what the documentation says must stay.
cudaError_t replace(Node& node, Part part);

// --- running -------------------------------------------------------------------------------------------------------

// Queues the nodes of an ordered graph on the stream; `instance` is what it is the whole of, if anything.
void enqueue_graph(const GraphRef& graph, const StreamRef& stream, const GraphExec* instance = nullptr);

// The value behind a handle that kernels name; null if there is none.
cudaGraphConditionalHandle new_condition(const std::shared_ptr<Condition>& condition);
std::shared_ptr<Condition> find_condition(cudaGraphConditionalHandle handle);

// --- memory --------------------------------------------------------------------------------------------------------

cudaError_t alloc_part(cudaMemAllocNodeParams* params, AllocPart* part);
// cudaFree and cudaFreeAsync of what a graph allocated: true if it was such memory, with the answer.
bool free_graph_memory(void* pointer, cudaError_t* status);
std::shared_ptr<GraphMemory> find_graph_memory(const void* pointer);
bool mark_allocated(GraphMemory& memory, bool allocated);  // false if it is so already

}  // namespace warpbeam::cuda
