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
    {"EventCreate", {&Link::event_call, Other, &Link::event_first}},
    {"EventDestroy", {&Link::event_call, Other}},
    {"EventElapsed", {nullptr, Other}},
    {"EventRecord", {&Link::record_untimed_call, Node}},
    {"Event", {nullptr, Quick}},
    {"StreamCreate", {&Link::stream_call, Stream, &Link::stream_first}},
    {"StreamDestroy", {&Link::stream_call, StreamEnd}},
    {"StreamBeginCapture", {&Link::capture_call, Capture}},
    {"StreamEndCapture", {&Link::capture_call, Other}},
    {"Stream", {nullptr, Quick}},
    {"LaunchKernel", {&Link::capture_node, Node, &Link::capture_first}},
    {"LaunchCooperative", {&Link::capture_node, Node, &Link::capture_first}},
    {"LaunchHostFunc", {&Link::capture_node, Node, &Link::capture_first}},
    {"GraphAdd", {&Link::graph_add_call, Node, &Link::capture_first}},
    {"GraphExecUpdate", {&Link::graph_update_call, Update}},
    {"GraphExecDestroy", {&Link::graph_end_call, Destroy}},
    {"GraphDestroy", {nullptr, Discard}},
    {"GraphExec", {&Link::graph_change_call, Other}},
    {"GraphInstantiate", {&Link::instantiate_call, Instantiate}},
    {"MemGetInfo", {&Link::memory_info_call, Other, &Link::memory_info_first}},
    {"MemPoolCreate", {&Link::pool_create_call, Other}},
    {"MemPoolDestroy", {&Link::pool_destroy_call, Other}},
    {"MemPoolTrimTo", {&Link::pool_trim_call, Trim}},
    {"DeviceReset", {&Link::reset_call, Other}},
    {"MemcpyAsync", {&Link::capture_node, Node, &Link::capture_first}},
    {"MemsetAsync", {&Link::capture_node, Node, &Link::capture_first}},
    {"GetSymbol", {&Link::pointer_call, Quick, &Link::module_first}},
    {"ModuleGetGlobal", {&Link::pointer_call, Quick, &Link::module_first}},
    {"PointerGet", {&Link::pointer_call, Other}},
    {"FuncGet", {&Link::describe_call, Other}},
    {"Occupancy", {&Link::occupancy_call, Other}},
    {"GetLastError", {nullptr, Quick}},
    {"PeekAtLastError", {nullptr, Quick}},
    {"DeviceSynchronize", {nullptr, Quick}},
    {"CtxSynchronize", {nullptr, Quick}},
    {"GetDevice", {nullptr, Quick}},
    {"SetDevice", {&Link::choose_call, Quick}},
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
