// What follows what: streams, their rules, and graphs.
#include <algorithm>
#include <utility>

#include "observe/clock/call_state.h"
#include "observe/clock/device_clock.h"

namespace warpbeam::observe {

void DeviceClock::add(Ids& to, const Ids& more) {
  for (uint64_t id : more)
    if (std::ranges::find(to, id) == to.end()) to.push_back(id);
}

// What the next operation on a stream follows by the rules of streams.
DeviceClock::Ids DeviceClock::before_next_on(const Stream& stream) const {
  Ids ids = stream.last;
  for (const auto& [id, other] : streams_) {
    if (other.device != stream.device || other.last.empty()) continue;
    if (stream.queue == Operation::Queue::Legacy ? other.queue == Operation::Queue::Blocking
                                                 : stream.queue == Operation::Queue::Blocking && other.queue == Operation::Queue::Legacy)
      add(ids, other.last);
  }
  return ids;
}

DeviceClock::Ids DeviceClock::follows(const Operation& operation) {
  Stream& stream = streams_[operation.stream];
  stream.device = operation.device;
  stream.queue = operation.queue;
  auto graph = graphs_.find(operation.stream);
  Ids ids = graph != graphs_.end() ? graph->second.back().after : before_next_on(stream);
  for (uint64_t id : operation.after)
    if (id) add(ids, {id});
  return ids;
}

void DeviceClock::account_for(const Operation& operation, uint64_t id) {
  auto found = graphs_.find(operation.stream);
  if (found == graphs_.end()) {
    streams_[operation.stream].last = {id};
    return;
  }
  Graph& graph = found->second.back();
  for (uint64_t before : graph.after) graph.leaves.erase(before);
  graph.leaves.insert(id);
  graph.after = {id};
  graph.nodes[graph.node] = {id};
}

// Branches of a graph do not hold each other up.
uint64_t DeviceClock::branch_of(const Operation& operation, const Ids& after) {
  constexpr uint64_t kFirst = uint64_t{1} << 40;  // streams of the program have smaller numbers
  if (!graphs_.contains(operation.stream)) return operation.stream;
  uint64_t branch = tails_.empty() && branches_ == 0 ? operation.stream : 0;
  for (uint64_t id : after)
    if (auto tail = tails_.find(id); tail != tails_.end()) {
      branch = tail->second;
      tails_.erase(tail);
      break;
    }
  if (!branch) branch = kFirst + branches_;
  ++branches_;
  tails_[operation.id] = branch;
  return branch;
}

void DeviceClock::graph_uploaded(const void* instance, size_t nodes) {
  std::lock_guard lock(mutex_);
  if (!uploaded_.insert(instance).second) return;
  charge(link_.graph_upload + static_cast<double>(nodes) * link_.graph_upload_node);
  charge_first(&model::Link::graph_upload_first);
}

void DeviceClock::graph_sized(size_t nodes, size_t branches) {
  this_call.graph_nodes = static_cast<double>(nodes), this_call.graph_branches = static_cast<double>(branches);
}

void DeviceClock::graph_begins(uint64_t stream, const void* instance) {
  std::lock_guard lock(mutex_);
  std::vector<Graph>& all = graphs_[stream];
  Graph graph;
  if (all.empty()) {
    charge(link_.graph_call);
    graph.entry = before_next_on(streams_[stream]);
    instance_of_[stream] = instance;
    if (instance) add(graph.entry, instances_[instance]);
    tails_.clear();
    branches_ = 0;
  } else {
    graph.entry = all.back().after;
  }
  graph.after = graph.entry;
  all.push_back(std::move(graph));
}

void DeviceClock::graph_node(uint64_t stream, const void* node, const std::vector<const void*>& after) {
  std::lock_guard lock(mutex_);
  auto found = graphs_.find(stream);
  if (found == graphs_.end()) return;
  charge(link_.graph_node_call);
  Graph& graph = found->second.back();
  // Each further node that follows no other is begun by itself.
  if (after.empty() && std::exchange(graph.rooted, true)) charge(link_.graph_other_node_call);
  graph.node = node;
  graph.after = after.empty() ? graph.entry : Ids{};
  for (const void* other : after) add(graph.after, graph.nodes[other]);
  graph.nodes[node] = graph.after;  // until it has an operation of its own
}

void DeviceClock::graph_ends(uint64_t stream) {
  std::lock_guard lock(mutex_);
  auto found = graphs_.find(stream);
  if (found == graphs_.end()) return;
  std::vector<Graph>& all = found->second;
  const Graph graph = std::move(all.back());
  all.pop_back();
  const Ids last = graph.leaves.empty() ? graph.entry : Ids(graph.leaves.begin(), graph.leaves.end());
  if (!all.empty()) {
    Graph& outer = all.back();
    for (uint64_t before : outer.after) outer.leaves.erase(before);
    outer.leaves.insert(last.begin(), last.end());
    outer.after = outer.nodes[outer.node] = last;
    return;
  }
  graphs_.erase(found);
  streams_[stream].last = last;
  if (const void* instance = instance_of_[stream]) instances_[instance] = last;
  instance_of_.erase(stream);
}

}  // namespace warpbeam::observe
