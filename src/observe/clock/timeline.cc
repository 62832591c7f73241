#include "observe/clock/timeline.h"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

#include "base/machine_word.h"
#include "model/link.h"
#include "vm/program.h"

namespace warpbeam::observe {

namespace {

struct Now {
  uint32_t name = 0;
  uint64_t id = 0;
  double begin = 0;
};
thread_local Now now;  // the calling thread's call

constexpr const char* kKinds[] = {"kernel", "copy", "fill", "record", "wait", "host function", "internal", "library"};
constexpr const char* kWaits[] = {"host", "stream", "other stream", "hardware queue", "copy engine", "multiprocessors", "front"};

constexpr int kFirstProcess = 1000;  // of those whose numbers are to be the same in every run: devices have small ones
constexpr uint64_t kFirstChild = uint64_t{1} << 48;  // operations have smaller numbers

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

void Timeline::queued(const Operation& operation, const Way& way, bool in_graph) {
  if (operations_.size() >= kMost) {
    ++left_out_;
    return;
  }
  Entry entry;
  entry.kind = operation.kind;
  entry.name = word(operation.name);
  entry.from = word(way.from), entry.from_device = way.from_device;
  entry.to = word(way.to), entry.to_device = way.to_device;
  entry.device = operation.device;
  entry.stream = operation.stream;
  entry.call = now.id;
  entry.bytes = operation.to.width * operation.to.rows * operation.to.planes;
  entry.in_graph = in_graph;
  open_[operation.id] = operations_.size();
  operations_.emplace_back(operation.id, entry);
}

void Timeline::Entry::describe(const vm::Launch& launch, uint32_t its_name) {
  name = its_name;
  grid = launch.grid;
  block = launch.block;
  registers = launch.kernel->registers;
  static_shared = launch.kernel->static_shared;
  dynamic_shared = launch.dynamic_shared;
  resident = launch.resident_blocks;
}

void Timeline::describe_launch(uint64_t operation, const vm::Launch& launch) {
  if (auto found = open_.find(operation); found != open_.end())
    operations_[found->second].second.describe(launch, word(launch.kernel->display_name));
}

void Timeline::child(uint64_t operation, const vm::Launch& launch, const KernelTime& time) {
  if (children_.size() + fresh_children_.size() >= kMost || !open_.contains(operation)) {
    ++left_out_;
    return;
  }
  Entry entry;
  entry.describe(launch, word(launch.kernel->display_name));
  entry.read = time.read, entry.written = time.written;
  fresh_children_[launch.grid_id] = entry;
}

void Timeline::place_children(uint64_t operation, double all, const std::vector<timing::device::Child>& children) {
  std::unordered_map<uint64_t, size_t> known;
  for (const timing::device::Child& each : children) {
    const auto fresh = fresh_children_.find(each.self);
    if (fresh == fresh_children_.end()) continue;
    Child child{fresh->second, operation, known.contains(each.parent) ? known[each.parent] + 1 : 0, each.begin / all, each.end / all};
    child.entry.blocks_share = std::min(1.0, each.share);
    fresh_children_.erase(fresh);
    known[each.self] = children_.size();
    children_.push_back(std::move(child));
  }
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

Timeline::Json Timeline::row_of(uint64_t id, const Entry& e) {
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
  if (e.from && e.from_device != e.to_device) row["from_device"] = e.from_device, row["to_device"] = e.to_device;
  if (e.in_graph) row["graph"] = true;
  if (e.kind != OperationKind::Launch) return row;
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
  return row;
}

// Row by row: what is recorded may fill half of the memory.
bool Timeline::write(const std::string& path, const model::Device& device) const {
  Json head = {{"format", "warpbeam timeline"},
               {"version", 1},
               {"number", clock_.process()},
               {"process", clock_.scale() == 0 ? kFirstProcess + clock_.process() : getpid()},  // as everything else the same in every run
               {"program", program_path()},
               {"written", clock_.started(CLOCK_REALTIME) + static_cast<int64_t>(clock_.floor())},
               {"left_out", left_out_ + open_.size() + fresh_children_.size()},
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
  if (const auto rank = rank_of_many()) head["rank"] = rank->rank, head["ranks"] = rank->count;
  // A process may be killed while it writes.
  const std::string part = path + ".part";
  std::ofstream file(part);
  const auto text = [](const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); };
  std::string begin = text(head);
  begin.pop_back();  // the object goes on
  file << begin;
  const char* between = "";
  const auto list = [&](const char* name) { file << ",\"" << name << "\":[", between = ""; };
  const auto row = [&](const std::string& what) { file << between << what, between = ","; };
  list("memory");
  for (const Change& m : memory_) row(fmt::format("[{},{},{}]", rounded(m.at), m.device, m.bytes));
  file << ']';
  list("calls");
  for (const Call& c : calls_) row(fmt::format("[{},{},{},{},{}]", c.name, c.thread, c.id, rounded(c.begin), rounded(c.end)));
  file << ']';
  list("ranges");
  for (const Range& r : ranges_) row(fmt::format("[{},{},{},{}]", r.text, r.thread, rounded(r.begin), rounded(r.end)));
  file << ']';
  list("operations");
  for (const auto& [id, e] : operations_)
    if (e.times.end != timing::device::kUnknown) row(text(row_of(id, e)));
  std::unordered_map<uint64_t, const Entry*> with_children;
  if (!children_.empty())
    for (const auto& [id, e] : operations_) with_children[id] = &e;
  for (size_t k = 0; k < children_.size(); ++k) {
    const Child& child = children_[k];
    const Entry& whole = *with_children.at(child.operation);
    if (whole.times.end == timing::device::kUnknown) continue;
    Entry e = child.entry;
    e.device = whole.device, e.stream = whole.stream, e.call = whole.call, e.in_graph = whole.in_graph;
    const double took = whole.times.end - whole.times.begin;
    e.times.begin = whole.times.begin + child.begin * took;
    e.times.end = whole.times.begin + child.end * took;
    Json its = row_of(kFirstChild + k, e);
    its["parent"] = child.parent ? kFirstChild + child.parent - 1 : child.operation;
    row(text(its));
  }
  file << "]}\n";
  file.close();
  return file && std::rename(part.c_str(), path.c_str()) == 0;
}

}  // namespace warpbeam::observe
