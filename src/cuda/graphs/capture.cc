#include "cuda/graphs/capture.h"

#include <algorithm>
#include <atomic>

#include "cuda/edge.h"

namespace warpbeam::cuda {

namespace {

std::atomic<int> active{0};
std::vector<CaptureRef> running;  // guarded by the graphs' mutex
unsigned long long ids = 0;

void invalidate(Capture& capture) { capture.invalid = true; }

[[noreturn]] void refuse(Capture& capture, cudaError_t error) {
  invalidate(capture);
  throw StatusError(error);
}

// The capture a stream is in, or null. One that has ended leaves its mark until somebody looks.
Capture* capture_of(Stream& stream) {
  if (stream.capture && stream.capture->capture->ended) stream.capture.reset();
  return stream.capture ? stream.capture->capture.get() : nullptr;
}

void end(Capture& capture) {
  capture.ended = true;
  std::erase_if(running, [&](const CaptureRef& c) { return c.get() == &capture; });
  for (Stream* stream : capture.streams) stream->capture.reset();
  capture.streams.clear();
  capture.graph->capturing = false;
  active.store(static_cast<int>(running.size()), std::memory_order_release);
}

// Of a capture that has come to nothing the graph goes too, unless it is the program's own.
void drop(Capture& capture) {
  if (!capture.given_graph) forget(*capture.graph);
}

// The legacy default stream would wait for capturing streams that synchronise with it. A question for its state leaves these as they are.
void check_legacy(Stream& stream, bool asked = false) {
  if (stream.queue.kind() != Queue::Kind::Legacy) return;
  bool found = false;
  for (const CaptureRef& capture : running)
    for (Stream* other : capture->streams)
      if (&other->context == &stream.context && other->queue.kind() == Queue::Kind::Blocking) {
        if (!asked) invalidate(*capture);
        found = true;
      }
  if (found) throw StatusError(cudaErrorStreamCaptureImplicit);
}

Capture& usable(Stream& stream) {
  Capture& capture = *stream.capture->capture;
  if (capture.invalid) throw StatusError(cudaErrorStreamCaptureInvalidated);
  return capture;
}

void add_node(Stream& stream, Part part) {
  Capture& capture = usable(stream);
  std::vector<Node::Edge> after;
  for (Node* node : stream.capture->after) after.push_back({node, {}});
  stream.capture->after = {&capture.graph->add(std::move(part), std::move(after))};
}

void join(std::vector<Node*>& after, const std::vector<Node*>& more) {
  for (Node* node : more)
    if (std::ranges::find(after, node) == after.end()) after.push_back(node);
}

Part part_of(Context& context, Work& work) {
  if (auto* launch = std::get_if<LaunchWork>(&work)) {
    KernelPart part;
    part.handle = const_cast<void*>(launch->handle);
    part.function = launch->function;
    part.request.grid = {launch->launch.grid[0], launch->launch.grid[1], launch->launch.grid[2]};
    part.request.block = {launch->launch.block[0], launch->launch.block[1], launch->launch.block[2]};
    part.request.shared = launch->launch.dynamic_shared;
    part.request.cooperative = launch->launch.cooperative;
    const auto& cluster = launch->launch.cluster;
    if (launch->launch.explicit_cluster) part.request.cluster = {cluster[0], cluster[1], cluster[2]};
    part.params = std::move(launch->launch.params);
    return part;
  }
  if (auto* copy = std::get_if<CopyWork>(&work)) {
    CopyPart part;
    copy_part({copy->to, copy->from, copy->width, copy->height, copy->depth, cudaMemcpyDefault}, &part);
    return part;
  }
  if (auto* fill = std::get_if<FillWork>(&work)) {
    FillPart part;
    part.params = {fill->to.base, fill->to.pitch, fill->value, fill->element, fill->width, fill->height};
    part.depth = fill->depth;
    part.plane = fill->to.plane;
    return part;
  }
  if (auto* library = std::get_if<LibraryWork>(&work)) return LibraryPart{std::move(*library)};
  auto& host = std::get<HostWork>(work);
  return HostPart{{host.function, host.data}};
}

}  // namespace

bool any_capture() { return active.load(std::memory_order_acquire) != 0; }

bool capture_work(Context& context, Stream& stream, Work& work, std::span<const TaskRef>) {
  if (!any_capture()) return false;
  std::lock_guard lock(graphs().mutex);
  Capture* capture = capture_of(stream);
  if (!capture) {
    check_legacy(stream);
    return false;
  }
  usable(stream);
  if (std::holds_alternative<WaitWork>(work)) return true;
  const auto* host = std::get_if<HostWork>(&work);
  if (std::holds_alternative<InternalWork>(work) || std::holds_alternative<SpanWork>(work) || (host && !host->function))
    refuse(*capture, cudaErrorStreamCaptureUnsupported);
  add_node(stream, part_of(context, work));
  return true;
}

bool capture_part(Stream& stream, Part part) {
  if (!any_capture()) return false;
  std::lock_guard lock(graphs().mutex);
  if (!capture_of(stream)) return false;
  add_node(stream, std::move(part));
  return true;
}

void forbid_capture(Stream& stream) {
  if (!any_capture()) return;
  std::lock_guard lock(graphs().mutex);
  if (Capture* capture = capture_of(stream)) refuse(*capture, cudaErrorStreamCaptureUnsupported);
  check_legacy(stream);
}

void forbid_any_capture() {
  if (!any_capture()) return;
  std::lock_guard lock(graphs().mutex);
  for (const CaptureRef& capture : running) invalidate(*capture);
  if (!running.empty()) throw StatusError(cudaErrorStreamCaptureUnsupported);
}

void forbid_unsafe_call() {
  if (!any_capture()) return;
  const ThreadState& thread = this_thread();
  if (thread.capture_mode == cudaStreamCaptureModeRelaxed) return;
  std::lock_guard lock(graphs().mutex);
  bool found = false;
  for (const CaptureRef& capture : running) {
    const bool mine = capture->thread == thread.id && capture->mode != cudaStreamCaptureModeRelaxed;
    const bool everybodys = capture->mode == cudaStreamCaptureModeGlobal && thread.capture_mode == cudaStreamCaptureModeGlobal;
    if (!mine && !everybodys) continue;
    invalidate(*capture);
    found = true;
  }
  if (found) throw StatusError(cudaErrorStreamCaptureUnsupported);
}

cudaError_t event_captured(Event& event) {
  std::lock_guard lock(graphs().mutex);
  if (!event.captured) return cudaSuccess;
  Capture& capture = *event.captured->capture;
  if (capture.ended || capture.invalid) return cudaErrorInvalidValue;
  invalidate(capture);
  return cudaErrorCapturedEvent;
}

bool capture_record(Event& event, Stream& stream, unsigned flags) {
  if (!any_capture()) return false;
  std::lock_guard lock(graphs().mutex);
  if (!capture_of(stream)) {
    check_legacy(stream);
    return false;
  }
  usable(stream);
  if (flags & cudaEventRecordExternal) {
    add_node(stream, RecordPart{find_event(event.handle())});
    return true;
  }
  event.captured = std::make_shared<CapturePoint>(*stream.capture);
  return true;
}

bool capture_wait(Stream& stream, Event& event, unsigned flags) {
  if (!any_capture() && !event.captured) return false;
  std::lock_guard lock(graphs().mutex);
  Capture* capture = capture_of(stream);
  if (capture) usable(stream);
  if (capture && (flags & cudaEventWaitExternal)) {
    add_node(stream, WaitPart{find_event(event.handle())});
    return true;
  }
  if (!event.captured) {
    if (!capture) {
      check_legacy(stream);
      return false;
    }
    bool recorded = false;
    {
      std::lock_guard event_lock(event.mutex);
      recorded = event.recorded != nullptr;
    }
    if (recorded) refuse(*capture, cudaErrorStreamCaptureIsolation);
    return true;
  }
  const CapturePoint& point = *event.captured;
  if (point.capture->ended || point.capture->invalid) throw StatusError(cudaErrorInvalidValue);
  if (capture && capture != point.capture.get()) {
    invalidate(*point.capture);
    refuse(*capture, cudaErrorStreamCaptureMerge);
  }
  if (!capture) {
    if (stream.queue.kind() == Queue::Kind::Legacy) refuse(*point.capture, cudaErrorStreamCaptureImplicit);
    stream.capture = std::make_shared<CapturePoint>(point);
    point.capture->streams.insert(&stream);
  } else {
    join(stream.capture->after, point.after);
  }
  return true;
}

namespace {

// True if every node in `parts` is one of `whole` or comes before one of them.
bool joined(const std::vector<Node*>& parts, const std::vector<Node*>& whole) {
  std::set<Node*> seen;
  std::vector<Node*> work(whole);
  while (!work.empty()) {
    Node* node = work.back();
    work.pop_back();
    if (!seen.insert(node).second) continue;
    for (const Node::Edge& edge : node->after) work.push_back(edge.from);
  }
  return std::ranges::all_of(parts, [&](Node* node) { return seen.contains(node); });
}

}  // namespace

void abandon_capture(Stream& stream) {
  if (!any_capture()) return;
  std::lock_guard lock(graphs().mutex);
  if (!capture_of(stream)) return;
  const CaptureRef capture = stream.capture->capture;  // streams hold it, and let it go in end()
  if (capture->origin != &stream && joined(stream.capture->after, capture->origin->capture->after)) {
    capture->streams.erase(&stream);
    stream.capture.reset();
    return;
  }
  end(*capture);
  drop(*capture);
}

namespace {

// The stream a capture function is about; the default stream cannot capture.
template <class Body>
cudaError_t with_stream(cudaStream_t handle, Body&& body) {
  return in_context([&](Context& context) -> cudaError_t {
    StreamRef stream = find_stream(context, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    std::lock_guard lock(graphs().mutex);
    return body(*stream, capture_of(*stream));
  });
}

cudaError_t begin(cudaStream_t handle, cudaStreamCaptureMode mode, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count) {
  return with_stream(handle, [&](Stream& stream, Capture* capture) -> cudaError_t {
    if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) return cudaErrorInvalidValue;
    if (stream.queue.kind() == Queue::Kind::Legacy) return cudaErrorStreamCaptureUnsupported;
    if (capture) return cudaErrorIllegalState;
    auto fresh = std::make_shared<Capture>();
    auto point = std::make_shared<CapturePoint>();
    if (graph) {
      fresh->graph = graphs().graphs.find(graph);
      fresh->given_graph = true;
      if (!fresh->graph || (count && !after)) return cudaErrorInvalidValue;
      for (size_t k = 0; k < count; ++k) {
        NodeRef node = graphs().nodes.find(after[k]);
        if (!node || node->graph != fresh->graph.get()) return cudaErrorInvalidValue;
        point->after.push_back(node.get());
      }
    } else {
      // A graph like others from the start: programs ask for it under way and add nodes of their own.
      fresh->graph = std::make_shared<Graph>(stream.context);
      graphs().graphs.add(fresh->graph);
    }
    fresh->graph->capturing = true;
    fresh->id = ++ids;
    fresh->mode = mode;
    fresh->thread = this_thread().id;
    fresh->origin = &stream;
    fresh->streams.insert(&stream);
    point->capture = fresh;
    stream.capture = std::move(point);
    running.push_back(std::move(fresh));
    active.store(static_cast<int>(running.size()), std::memory_order_release);
    return cudaSuccess;
  });
}

cudaError_t finish(cudaStream_t handle, cudaGraph_t* result) {
  return with_stream(handle, [&](Stream& stream, Capture* found) -> cudaError_t {
    if (result) *result = nullptr;
    if (!found) return result ? cudaErrorIllegalState : cudaErrorInvalidValue;
    const CaptureRef capture = stream.capture->capture;
    if (!result && !capture->given_graph) return cudaErrorInvalidValue;  // the program has a graph that it gave
    if (capture->origin != &stream) {
      invalidate(*capture);
      return cudaErrorStreamCaptureUnmatched;
    }
    cudaError_t status = cudaSuccess;
    if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != this_thread().id) status = cudaErrorStreamCaptureWrongThread;
    else if (capture->invalid) status = cudaErrorStreamCaptureInvalidated;
    else
      for (Stream* other : capture->streams)
        if (!joined(other->capture->after, stream.capture->after)) status = cudaErrorStreamCaptureUnjoined;
    end(*capture);
    if (status != cudaSuccess) {
      drop(*capture);
      return status;
    }
    if (result) *result = capture->graph->handle();
    return cudaSuccess;
  });
}

cudaError_t status_of(cudaStream_t handle, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph,
                      const cudaGraphNode_t** after, const cudaGraphEdgeData** edges, size_t* count) {
  return with_stream(handle, [&](Stream& stream, Capture* capture) -> cudaError_t {
    if (!status) return cudaErrorInvalidValue;
    if (!capture) check_legacy(stream, true);
    *status = !capture           ? cudaStreamCaptureStatusNone
              : capture->invalid ? cudaStreamCaptureStatusInvalidated
                                 : cudaStreamCaptureStatusActive;
    if (!capture || capture->invalid) return cudaSuccess;
    if (id) *id = capture->id;
    if (graph) *graph = capture->graph->handle();
    // Valid until the next call of the runtime that captures in this stream.
    stream.capture_handles.clear();
    stream.capture_edges.assign(stream.capture->after.size(), {});
    for (Node* node : stream.capture->after) stream.capture_handles.push_back(node->handle());
    if (after) *after = stream.capture_handles.data();
    if (edges) *edges = stream.capture_edges.data();
    if (count) *count = stream.capture_handles.size();
    return cudaSuccess;
  });
}

cudaError_t update(cudaStream_t handle, cudaGraphNode_t* nodes, size_t count, unsigned flags) {
  return with_stream(handle, [&](Stream& stream, Capture* capture) -> cudaError_t {
    if (!capture) return cudaErrorIllegalState;
    if (flags > cudaStreamSetCaptureDependencies || (count && !nodes)) return cudaErrorInvalidValue;
    usable(stream);
    std::vector<Node*> fresh;
    for (size_t k = 0; k < count; ++k) {
      NodeRef node = graphs().nodes.find(nodes[k]);
      if (!node || node->graph != capture->graph.get()) return cudaErrorInvalidValue;
      fresh.push_back(node.get());
    }
    if (flags == cudaStreamSetCaptureDependencies) stream.capture->after.clear();
    join(stream.capture->after, fresh);
    return cudaSuccess;
  });
}

}  // namespace
}  // namespace warpbeam::cuda

using namespace warpbeam::cuda;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) { return begin(stream, mode, nullptr, nullptr, 0); }

WB_TWIN cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return begin(per_thread(stream), mode, nullptr, nullptr, 0);
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* after, const cudaGraphEdgeData*,
                                          size_t count, cudaStreamCaptureMode mode) {
  if (!graph) return edge([] { return cudaErrorInvalidValue; });
  return begin(stream, mode, graph, after, count);
}

WB_TWIN cudaError_t cudaStreamBeginCaptureToGraph_ptsz(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* after,
                                                       const cudaGraphEdgeData* edges, size_t count, cudaStreamCaptureMode mode) {
  return cudaStreamBeginCaptureToGraph(per_thread(stream), graph, after, edges, count, mode);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) { return finish(stream, graph); }
WB_TWIN cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t* graph) { return finish(per_thread(stream), graph); }

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return status_of(stream, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}

WB_TWIN cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamIsCapturing(per_thread(stream), status);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** after, const cudaGraphEdgeData** edges, size_t* count) {
  return status_of(stream, status, id, graph, after, edges, count);
}

WB_TWIN cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                                  cudaGraph_t* graph, const cudaGraphNode_t** after, const cudaGraphEdgeData** edges,
                                                  size_t* count) {
  return status_of(per_thread(stream), status, id, graph, after, edges, count);
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes, const cudaGraphEdgeData*, size_t count,
                                                unsigned int flags) {
  return update(stream, nodes, count, flags);
}

WB_TWIN cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream, cudaGraphNode_t* nodes, const cudaGraphEdgeData*,
                                                             size_t count, unsigned int flags) {
  return update(per_thread(stream), nodes, count, flags);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return edge([&] {
    if (!mode || *mode < cudaStreamCaptureModeGlobal || *mode > cudaStreamCaptureModeRelaxed) return cudaErrorInvalidValue;
    std::swap(*mode, this_thread().capture_mode);
    return cudaSuccess;
  });
}

}  // extern "C"
