#include "observe/clock/timeline.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "model/link.h"
#include "vm/program.h"

namespace warpbeam::observe {

using Json = nlohmann::ordered_json;

namespace {

struct Now {
  uint32_t name = 0;
  uint64_t id = 0;
  double begin = 0;
};
thread_local Now now;  // the calling thread's call

constexpr const char* kKinds[] = {"kernel", "copy", "fill", "record", "wait", "host function", "internal", "library"};
constexpr const char* kWaits[] = {"host", "stream", "other stream", "hardware queue", "copy engine", "multiprocessors", "front"};

int64_t rounded(double nanoseconds) { return static_cast<int64_t>(nanoseconds + 0.5); }

std::string program_path() {
  char path[4096];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  return n > 0 ? std::string(path, static_cast<size_t>(n)) : "";
}

}  // namespace

uint32_t Timeline::word(std::string_view text) {
  if (auto known = places_.find(text); known != places_.end()) return known->second;
  words_.emplace_back(text);
  return places_[words_.back()] = static_cast<uint32_t>(words_.size() - 1);
}

void Timeline::begin_call(double at) { now = {word(called_function()), ++numbered_, at}; }

void Timeline::end_call(double at) {
  if (calls_.size() < kMost) calls_.push_back({now.name, clock_.thread(), now.id, now.begin, at});
  else ++left_out_;
  now = {};
}

void Timeline::push_range(const char* text, double at) {
  const int thread = clock_.thread();
  pushed_[thread].push_back({word(text ? text : ""), thread, at, at});
}

void Timeline::pop_range(double at) {
  auto& open = pushed_[clock_.thread()];
  if (open.empty()) return;
  Range range = open.back();
  open.pop_back();
  range.end = at;
  if (ranges_.size() < kMost) ranges_.push_back(range);
}

void Timeline::queued(const Operation& operation, std::string_view from, std::string_view to, bool in_graph) {
  if (operations_.size() >= kMost) {
    ++left_out_;
    return;
  }
  Entry entry;
  entry.kind = operation.kind;
  entry.name = word(operation.name);
  entry.from = word(from);
  entry.to = word(to);
  entry.device = operation.device;
  entry.stream = operation.stream;
  entry.call = now.id;
  entry.bytes = operation.to.width * operation.to.rows * operation.to.planes;
  entry.in_graph = in_graph;
  open_[operation.id] = operations_.size();
  operations_.emplace_back(operation.id, entry);
}

void Timeline::describe_launch(uint64_t operation, const vm::Launch& launch) {
  auto found = open_.find(operation);
  if (found == open_.end()) return;
  Entry& entry = operations_[found->second].second;
  entry.name = word(launch.kernel->display_name);
  entry.grid = launch.grid;
  entry.block = launch.block;
  entry.registers = launch.kernel->registers;
  entry.static_shared = launch.kernel->static_shared;
  entry.dynamic_shared = launch.dynamic_shared;
  entry.resident = launch.resident_blocks;
}

void Timeline::describe_time(uint64_t operation, const KernelTime& time) {
  auto found = open_.find(operation);
  if (found == open_.end()) return;
  Entry& entry = operations_[found->second].second;
  entry.read = time.read, entry.written = time.written;
}

void Timeline::memory(double at, int device, int64_t bytes) {
  if (memory_.size() < kMost) memory_.push_back({at, device, bytes});
}

void Timeline::describe_link_use(uint64_t operation, const LinkUse& use) {
  if (auto found = open_.find(operation); found != open_.end()) operations_[found->second].second.link = use;
}

void Timeline::done(const timing::device::Operation& operation, const timing::device::Times& times) {
  auto found = open_.find(operation.id);
  if (found == open_.end()) return;
  Entry& entry = operations_[found->second].second;
  entry.times = times;
  if (operation.kind == timing::device::Kind::Kernel)
    entry.blocks_share =
        std::min(1.0, static_cast<double>(operation.blocks) / static_cast<double>(std::max<uint64_t>(1, operation.at_once)));
  open_.erase(found);
}

bool Timeline::write(const std::string& path, const model::Device& device) const {
  Json head = {{"format", "warpbeam timeline"},
               {"version", 1},
               {"process", clock_.scale() == 0 ? 1 : getpid()},  // as everything else the same in every run
               {"program", program_path()},
               {"written", clock_.started(CLOCK_REALTIME) + static_cast<int64_t>(clock_.floor())},
               {"left_out", left_out_ + open_.size()},
               {"cut_short", cut_short_},
               {"device",
                {{"name", device.name},
                 {"major", device.major},
                 {"minor", device.minor},
                 {"multiprocessors", device.sm_count},
                 {"memory_bytes", device.memory_bytes},
                 {"memory_bytes_per_second", device.memory_bytes_per_second()},
                 {"link_to_device", model::link_of(device).pinned_to_device},
                 {"link_to_host", model::link_of(device).pinned_to_host},
                 {"warp_size", device.warp_size},
                 {"threads_per_multiprocessor", device.max_threads_per_sm},
                 {"registers_per_multiprocessor", device.regs_per_sm},
                 {"shared_per_multiprocessor", device.shared_per_sm},
                 {"chip", device.chip}}},
               {"words", words_}};
  Json calls = Json::array(), ranges = Json::array(), operations = Json::array();
  for (const Call& c : calls_) calls.push_back({c.name, c.thread, c.id, rounded(c.begin), rounded(c.end)});
  for (const Range& r : ranges_) ranges.push_back({r.text, r.thread, rounded(r.begin), rounded(r.end)});
  for (const auto& [id, e] : operations_) {
    if (e.times.end == timing::device::kUnknown) continue;
    Json row = {{"id", id},
                {"kind", kKinds[static_cast<size_t>(e.kind)]},
                {"device", e.device},
                {"stream", e.stream},
                {"call", e.call},
                {"begin", rounded(e.times.begin)},
                {"end", rounded(e.times.end)},
                {"waited", kWaits[static_cast<size_t>(e.times.waited)]}};
    if (e.times.behind) row["behind"] = e.times.behind;
    if (e.times.queue >= 0) row["queue"] = e.times.queue;
    if (e.times.engine >= 0) row["engine"] = e.times.engine;
    if (e.blocks_share > 0) row["share"] = std::round(e.blocks_share * 1000) / 1000;
    if (e.read > 0) row["memory_read"] = rounded(e.read);
    if (e.written > 0) row["memory_written"] = rounded(e.written);
    if (e.name) row["name"] = e.name;
    if (e.bytes) row["bytes"] = e.bytes;
    if (e.from) row["from"] = e.from, row["to"] = e.to;
    if (e.in_graph) row["graph"] = true;
    if (e.kind == OperationKind::Launch) {
      row["grid"] = e.grid;
      row["block"] = e.block;
      row["registers"] = e.registers;
      row["static_shared"] = e.static_shared;
      row["dynamic_shared"] = e.dynamic_shared;
      row["resident"] = e.resident;
      for (const auto& [name, bytes] : {std::pair{"link_read", e.link.read},
                                        {"link_written", e.link.written},
                                        {"migrated", e.link.migrated},
                                        {"populated", e.link.populated}})
        if (bytes > 0) row[name] = rounded(bytes);
    }
    operations.push_back(std::move(row));
  }
  Json memory = Json::array();
  for (const Change& m : memory_) memory.push_back({rounded(m.at), m.device, m.bytes});
  head["memory"] = std::move(memory);
  head["calls"] = std::move(calls);
  head["ranges"] = std::move(ranges);
  head["operations"] = std::move(operations);
  // A process may be killed while it writes.
  const std::string part = path + ".part";
  std::ofstream file(part);
  file << head.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  file.close();
  return file && std::rename(part.c_str(), path.c_str()) == 0;
}

}  // namespace warpbeam::observe
