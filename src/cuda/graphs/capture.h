// Stream capture: what is put into a capturing stream becomes nodes of a graph instead of work.
#pragma once
#include <memory>
#include <set>
#include <vector>

#include "cuda/graphs/graph.h"
#include "cuda/streams/ops.h"

namespace warpbeam::cuda {

// One cudaStreamBeginCapture until its end. All captures are guarded by the graphs' mutex.
struct Capture {
  unsigned long long id = 0;
  GraphRef graph;
  cudaStreamCaptureMode mode{};
  unsigned long long thread = 0;  // that began it
  Stream* origin = nullptr;
  bool given_graph = false;       // cudaStreamBeginCaptureToGraph: the program's own
  bool invalid = false, ended = false;
  std::set<Stream*> streams;
};
using CaptureRef = std::shared_ptr<Capture>;

// What a stream or an event knows of a capture.
struct CapturePoint {
  CaptureRef capture;
  std::vector<Node*> after;  // the next node's dependencies
};

bool any_capture();  // quick

// Called for work on a stream. True: the stream captures, and the work has become a node. Throws StatusError where it may
// not be captured, or where the default stream would wait for a capturing one.
bool capture_work(Context& context, Stream& stream, Work& work, std::span<const TaskRef> after);
// Adds a node that is no Work.
bool capture_part(Stream& stream, Part part);

// For calls that wait for a stream or ask it: not while it captures.
void forbid_capture(Stream& stream);
void forbid_any_capture();        // cudaDeviceSynchronize
void forbid_unsafe_call();        // cudaMalloc and the like, as the modes say
cudaError_t event_captured(Event& event);  // for queries: the event's last record was captured
bool capture_record(Event& event, Stream& stream, unsigned flags);  // false: not capturing
bool capture_wait(Stream& stream, Event& event, unsigned flags);
void abandon_capture(Stream& stream);  // the stream is destroyed

}  // namespace warpbeam::cuda
