#include "observe/clock/call_costs.h"

namespace warpbeam::observe {
namespace {

struct Row {
  std::string_view begins;  // the name, without "cuda" or "cu"
  CallCost cost;
};

using model::Link;
using enum CallCost::Kind;

// A call of a stream that is captured adds a node. The first row that fits counts.
constexpr Row kRows[] = {
    {"EventCreate", {&Link::event_call, Other}},
    {"EventDestroy", {&Link::event_call, Other}},
    {"EventElapsed", {nullptr, Other}},
    {"EventRecord", {&Link::record_untimed_call, Node}},
    {"Event", {nullptr, Quick}},
    {"StreamCreate", {&Link::stream_call, Other}},
    {"StreamDestroy", {&Link::stream_call, Other}},
    {"StreamBeginCapture", {&Link::capture_call, Capture}},
    {"StreamEndCapture", {&Link::capture_call, Other}},
    {"Stream", {nullptr, Quick}},
    {"LaunchKernel", {&Link::capture_node, Node}},
    {"LaunchCooperative", {&Link::capture_node, Node}},
    {"LaunchHostFunc", {&Link::capture_node, Node}},
    {"GraphAdd", {&Link::graph_node_call, Node}},
    {"GraphExecUpdate", {&Link::graph_update_call, Other}},
    {"GraphExec", {&Link::graph_change_call, Other}},
    {"GraphInstantiate", {&Link::instantiate_call, Instantiate}},
    {"MemGetInfo", {&Link::memory_info_call, Other}},
    {"MemcpyAsync", {&Link::capture_node, Node}},
    {"MemsetAsync", {&Link::capture_node, Node}},
    {"FuncGet", {&Link::describe_call, Other}},
    {"Occupancy", {&Link::describe_call, Other}},
    {"GetLastError", {nullptr, Quick}},
    {"PeekAtLastError", {nullptr, Quick}},
    {"DeviceSynchronize", {nullptr, Quick}},
    {"CtxSynchronize", {nullptr, Quick}},
    {"GetDevice", {nullptr, Quick}},
    {"SetDevice", {nullptr, Quick}},
};

}  // namespace

CallCost cost_of_call(std::string_view function) {
  while (function.starts_with("_")) function.remove_prefix(1);
  function.remove_prefix(function.starts_with("cuda") ? 4 : function.starts_with("cu") ? 2 : 0);
  for (const Row& row : kRows)
    if (function.starts_with(row.begins)) return row.cost;
  return {};
}

}  // namespace warpbeam::observe
