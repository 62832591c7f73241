#include "report/timeline.h"

#include "report/timeline_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <ostream>
#include <set>
#include <tuple>

namespace warpbeam::report {

namespace {

namespace fs = std::filesystem;

std::string word(const Json& timeline, const Json& row, const char* key) {
  return row.contains(key) ? timeline["words"].at(row[key].get<size_t>()).get<std::string>() : "";
}

constexpr size_t kMostSteps = 100'000;  // of a counter

double micro(int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-3; }

std::string json_text(const std::string& text) { return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace); }

// Names as CUPTI gives them: "Memcpy HtoD (Pageable -> Device)".
std::string copy_name(const std::string& from, const std::string& to) {
  const auto letter = [](const std::string& place) { return place == "Device" || place == "Peer" ? 'D' : 'H'; };
  if (from == "Peer" || to == "Peer") return "Memcpy PtoP (Device -> Device)";
  return fmt::format("Memcpy {}to{} ({} -> {})", letter(from), letter(to), from, to);
}

// Waits that are worth a word.
std::string gap_name(const std::string& waited) {
  if (waited == "hardware queue") return "false dependency: same hardware queue";
  if (waited == "copy engine") return "copy engine busy";
  if (waited == "multiprocessors") return "multiprocessors busy";
  if (waited == "other stream") return "event or stream rule";
  return waited;
}

// A range's domain stands before its text; the program's own has no name.
std::string range_text(const Json& word) {
  const std::string text = word.get<std::string>();
  return text.substr(text.starts_with(':'));
}

class Events {
 public:
  explicit Events(std::ostream& out) : out_(out) {}
  std::ostream& next() {
    if (!first_) out_ << ",\n";
    first_ = false;
    return out_;
  }

 private:
  std::ostream& out_;
  bool first_ = true;
};

constexpr int64_t kDeviceRows = 10'000'000;  // from those of one process to those of the next: processes have smaller numbers
constexpr uint64_t kFirstLane = uint64_t{1} << 41;  // streams, and branches of graphs, have smaller numbers

// What kernels have launched: in which of several rows each stands, so that none of one row overlap, and by what it was launched.
class Lanes {
 public:
  explicit Lanes(const Json& t) : timeline_(t) {
    std::map<int, std::vector<const Json*>> children;  // by device
    for (const Json& o : t["operations"]) {
      if (!o.contains("parent")) continue;
      children[o["device"].get<int>()].push_back(&o);
      known_[o["parent"].get<uint64_t>()] = nullptr;
    }
    for (const Json& o : t["operations"])
      if (const auto known = known_.find(o["id"].get<uint64_t>()); known != known_.end()) known->second = &o;
    for (auto& [device, all] : children) {
      std::ranges::stable_sort(all, {}, [](const Json* o) { return (*o)["begin"].get<int64_t>(); });
      std::vector<int64_t> ends;
      for (const Json* o : all) {
        const auto free = std::ranges::find_if(ends, [&](int64_t end) { return end <= (*o)["begin"].get<int64_t>(); });
        lanes_[(*o)["id"].get<uint64_t>()] = static_cast<uint64_t>(free - ends.begin());
        if (free == ends.end()) ends.push_back((*o)["end"].get<int64_t>());
        else *free = (*o)["end"].get<int64_t>();
      }
    }
  }
  uint64_t of(const Json& o) const { return lanes_.at(o["id"].get<uint64_t>()); }
  std::string parent_name(const Json& o) const {
    const Json* parent = known_.at(o["parent"].get<uint64_t>());
    return parent ? word(timeline_, *parent, "name") : "";
  }
  // When it began, and its row.
  std::pair<int64_t, uint64_t> parent_place(const Json& o) const {
    const Json* parent = known_.at(o["parent"].get<uint64_t>());
    if (!parent) return {o["begin"].get<int64_t>(), o["stream"].get<uint64_t>()};
    return {(*parent)["begin"].get<int64_t>(), parent->contains("parent") ? kFirstLane + of(*parent) : (*parent)["stream"].get<uint64_t>()};
  }

 private:
  const Json& timeline_;
  std::map<uint64_t, uint64_t> lanes_;
  std::map<uint64_t, const Json*> known_;  // that have launched something
};

// Bytes of the text of timelines for which there is memory: what is made of them takes some times as much.
size_t bytes_that_fit() {
  constexpr size_t kTimes = 8, kLeast = 1 << 20;
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;)
    if (size_t kilobytes = 0; word == "MemAvailable:" && file >> kilobytes) return std::max(kLeast, kilobytes * 1024 / kTimes);
  return SIZE_MAX;
}

// Leaves out the last operations of a text that is longer, and says how many. They are its last list (observe/clock/timeline.cc).
uint64_t cut_operations(std::string& text, size_t most) {
  constexpr std::string_view kRow = ",{\"id\":";
  const size_t list = text.rfind("\"operations\":[");
  if (text.size() <= most || list == text.npos) return 0;
  const size_t end = text.find(kRow, std::max(most, list));
  if (end == text.npos) return 0;
  uint64_t count = 0;
  for (size_t at = end; at != text.npos; at = text.find(kRow, at + 1)) ++count;
  text.resize(end);
  text += "]}";
  return count;
}

}  // namespace

Result<std::vector<Json>> read_timelines(const std::string& folder, const std::string& ending) {
  std::vector<std::string> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ending) files.push_back(entry.path());
  if (files.empty()) return Error{1, "the program used no GPU, or did not come to its end: there is no timeline"};
  size_t room = bytes_that_fit();
  std::vector<Json> timelines;
  for (const std::string& name : files) {
    std::ifstream file(name);
    std::string text((std::istreambuf_iterator<char>(file)), {});
    const uint64_t cut = cut_operations(text, room);
    room -= std::min(room, text.size());
    Json timeline = Json::parse(text, nullptr, false);
    if (!timeline.is_object() || timeline.value("format", "") != "warpbeam timeline")
      return Error{1, fmt::format("{} is no timeline", name)};
    timeline["left_out"] = timeline["left_out"].get<uint64_t>() + cut;
    timelines.push_back(std::move(timeline));
  }
  std::ranges::sort(timelines, {},
                    [](const Json& t) { return std::tuple(t.value("rank", INT_MAX), t.value("number", 0), t["process"].get<int64_t>()); });
  // Processes of different machines may have the same number.
  std::set<int64_t> taken;
  for (Json& t : timelines) {
    int64_t number = t["process"].get<int64_t>();
    while (!taken.insert(number).second) ++number;
    t["process"] = number;
  }
  return timelines;
}

std::string process_name(const Json& timeline) {
  const std::string program = fs::path(timeline["program"].get<std::string>()).filename();
  return timeline.contains("rank") ? fmt::format("rank {}: {}", timeline["rank"].get<int>(), program) : program;
}

void write_kineto(std::ostream& out, const std::vector<Json>& timelines) {
  const Json& device = timelines.front()["device"];
  std::set<int> devices;
  for (const Json& timeline : timelines)
    for (const Json& o : timeline["operations"]) devices.insert(o["device"].get<int>());
  out << "{\n\"schemaVersion\": 1,\n\"deviceProperties\": [";
  bool first = true;
  for (int id : devices) {
    const Json properties = {{"id", id},
                             {"name", device["name"]},
                             {"totalGlobalMem", device["memory_bytes"]},
                             {"computeMajor", device["major"]},
                             {"computeMinor", device["minor"]},
                             {"maxThreadsPerMultiprocessor", device["threads_per_multiprocessor"]},
                             {"regsPerMultiprocessor", device["registers_per_multiprocessor"]},
                             {"warpSize", device["warp_size"]},
                             {"sharedMemPerMultiprocessor", device["shared_per_multiprocessor"]},
                             {"numSms", device["multiprocessors"]}};
    out << (first ? "" : ", ") << properties.dump();
    first = false;
  }
  out << "],\n";
  if (const Json& t = timelines.front(); timelines.size() == 1 && t.contains("rank")) {
    const Json distributed = {{"backend", "mpi"}, {"rank", t["rank"]}, {"world_size", t["ranks"]}};
    out << "\"distributedInfo\": " << distributed.dump() << ",\n";
  }
  out << "\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": 0,\n\"traceEvents\": [\n";
  Events events(out);
  std::map<std::pair<int64_t, uint64_t>, std::string> rows;
  std::map<int64_t, std::pair<int, std::string>> device_rows;  // device, and whose it is
  std::set<std::pair<int64_t, int64_t>> threads;
  for (size_t place = 0; place < timelines.size(); ++place) {
    const Json& t = timelines[place];
    const int64_t process = t["process"].get<int64_t>();
    const Lanes lanes(t);
    const auto& words = t["words"];
    const int64_t spread = timelines.size() > 1 ? process << 24 : 0;  // calls of several processes have the same numbers
    for (const Json& c : t["calls"]) {
      const int64_t begin = c[3].get<int64_t>(), end = c[4].get<int64_t>(), id = c[2].get<int64_t>() + spread;
      const std::string name = words.at(c[0].get<size_t>()).get<std::string>();
      const bool waits = name.find("Synchronize") != name.npos;
      threads.insert({process, c[1].get<int64_t>()});
      events.next() << fmt::format(
          R"({{"ph": "X", "cat": "{}", "name": {}, "pid": {}, "tid": {}, "ts": {:.3f}, "dur": {:.3f}, "args": {{"External id": {}, "correlation": {}}}}})",
          waits                                                 ? "cuda_sync"
          : name.starts_with("cu") && !name.starts_with("cuda") ? "cuda_driver"
                                                                : "cuda_runtime",
          json_text(name), process, c[1].get<int64_t>(), micro(begin), micro(end - begin), id, id);
    }
    for (const Json& r : t["ranges"])
      events.next() << fmt::format(
          R"({{"ph": "X", "cat": "user_annotation", "name": {}, "pid": {}, "tid": {}, "ts": {:.3f}, "dur": {:.3f}, "args": {{}}}})",
          json_text(range_text(words.at(r[0].get<size_t>()))), process, r[1].get<int64_t>(), micro(r[2].get<int64_t>()),
          micro(r[3].get<int64_t>() - r[2].get<int64_t>()));
    std::map<int64_t, std::pair<int64_t, int64_t>> asked;  // call: thread and moment
    for (const Json& c : t["calls"]) asked[c[2].get<int64_t>()] = {c[1].get<int64_t>(), c[3].get<int64_t>()};
    for (const Json& o : t["operations"]) {
      const std::string kind = o["kind"].get<std::string>();
      if (kind == "record" || kind == "wait" || kind == "internal") continue;
      const int64_t begin = o["begin"].get<int64_t>(), end = o["end"].get<int64_t>(), call = o["call"].get<int64_t>();
      const int number = o["device"].get<int>();
      const uint64_t stream = o["stream"].get<uint64_t>();
      // Rows of a device are of one process; what kernels have launched has rows of its own, in which nothing overlaps.
      const int64_t device_row = number + static_cast<int64_t>(place) * kDeviceRows;
      device_rows[device_row] = {number, timelines.size() > 1 ? process_name(t) : ""};
      const bool is_child = o.contains("parent");
      const uint64_t row = is_child ? kFirstLane + lanes.of(o) : stream;
      rows[{device_row, row}] = is_child ? fmt::format("launched by kernels, {}", lanes.of(o) + 1) : fmt::format("stream {}", stream);
      Json args = {{"External id", call + spread}, {"queued", 0}, {"device", number}, {"context", 1}, {"stream", stream},
                   {"correlation", call + spread}};
      if (is_child) args["launched by"] = lanes.parent_name(o);
      std::string category = "kernel", name = word(t, o, "name");
      if (kind == "copy") {
        category = "gpu_memcpy";
        name = copy_name(word(t, o, "from"), word(t, o, "to"));
      } else if (kind == "fill") {
        category = "gpu_memset";
        name = "Memset (Device)";
      } else if (kind == "host function") {
        category = "gpu_user_annotation";
        name = "host function";
      }
      if (o.contains("bytes") && kind != "kernel") {
        args["bytes"] = o["bytes"];
        args["memory bandwidth (GB/s)"] = end > begin ? o["bytes"].get<double>() / static_cast<double>(end - begin) : 0;
      }
      if (kind == "kernel") {
        const auto product = [](const Json& three) { return three[0].get<double>() * three[1].get<double>() * three[2].get<double>(); };
        const double sms = device["multiprocessors"].get<double>(), blocks = product(o["grid"]),
                     warps = std::ceil(product(o["block"]) / 32);
        const double per_sm = o["resident"].get<double>() / sms, most = device["threads_per_multiprocessor"].get<double>() / 32;
        args["registers per thread"] = o["registers"];
        args["shared memory"] = o["static_shared"].get<int64_t>() + o["dynamic_shared"].get<int64_t>();
        args["blocks per SM"] = blocks / sms;
        args["warps per SM"] = blocks * warps / sms;
        args["grid"] = o["grid"];
        args["block"] = o["block"];
        args["est. achieved occupancy %"] = static_cast<int>(100 * std::min(blocks / sms, per_sm) * warps / most + 0.5);
      }
      if (o["waited"] != "host") args["waited for"] = gap_name(o["waited"].get<std::string>());
      events.next() << fmt::format(
          R"({{"ph": "X", "cat": "{}", "name": {}, "pid": {}, "tid": {}, "ts": {:.3f}, "dur": {:.3f}, "args": {}}})", category,
          json_text(name), device_row, row, micro(begin), micro(end - begin), args.dump());
      if (is_child) {
        const auto [begun, parent_row] = lanes.parent_place(o);
        events.next() << fmt::format(
            R"({{"ph": "s", "id": {}, "pid": {}, "tid": {}, "ts": {:.3f}, "cat": "device_launch", "name": "device_launch"}})",
            o["id"].get<int64_t>() + spread, device_row, parent_row, micro(begun));
        events.next() << fmt::format(
            R"({{"ph": "f", "id": {}, "pid": {}, "tid": {}, "ts": {:.3f}, "cat": "device_launch", "name": "device_launch", "bp": "e"}})",
            o["id"].get<int64_t>() + spread, device_row, row, micro(begin));
        continue;
      }
      const auto from = asked.find(call);
      if (from == asked.end()) continue;
      events.next() << fmt::format(R"({{"ph": "s", "id": {}, "pid": {}, "tid": {}, "ts": {:.3f}, "cat": "ac2g", "name": "ac2g"}})",
                                   o["id"].get<int64_t>() + spread, process, from->second.first, micro(from->second.second));
      events.next() << fmt::format(
          R"({{"ph": "f", "id": {}, "pid": {}, "tid": {}, "ts": {:.3f}, "cat": "ac2g", "name": "ac2g", "bp": "e"}})",
          o["id"].get<int64_t>() + spread, device_row, stream, micro(begin));
    }
    events.next() << fmt::format(R"({{"ph": "M", "name": "process_name", "pid": {}, "tid": 0, "ts": 0, "args": {{"name": {}}}}})", process,
                                 json_text(process_name(t)));
    events.next() << fmt::format(R"({{"ph": "M", "name": "process_labels", "pid": {}, "tid": 0, "ts": 0, "args": {{"labels": "CPU"}}}})",
                                 process);
    events.next() << fmt::format(
        R"({{"ph": "M", "name": "process_sort_index", "pid": {}, "tid": 0, "ts": 0, "args": {{"sort_index": {}}}}})", process, process);
  }
  for (const auto& [process, thread] : threads)
    events.next() << fmt::format(R"({{"ph": "M", "name": "thread_name", "pid": {}, "tid": {}, "ts": 0, "args": {{"name": "thread {}"}}}})",
                                 process, thread, thread);
  for (const auto& [row, whose] : device_rows) {
    const auto& [id, process] = whose;
    const std::string name = device["name"].get<std::string>() + (process.empty() ? "" : fmt::format(" ({})", process));
    events.next() << fmt::format(R"({{"ph": "M", "name": "process_name", "pid": {}, "tid": 0, "ts": 0, "args": {{"name": {}}}}})", row,
                                 json_text(name));
    events.next() << fmt::format(R"({{"ph": "M", "name": "process_labels", "pid": {}, "tid": 0, "ts": 0, "args": {{"labels": "GPU {}"}}}})",
                                 row, id);
    events.next() << fmt::format(
        R"({{"ph": "M", "name": "process_sort_index", "pid": {}, "tid": 0, "ts": 0, "args": {{"sort_index": {}}}}})", row, 5000000 + row);
  }
  // How much of each device is in use, and of its memory is given away.
  for (int id : devices) {
    for (const Use& use : use_of(timelines, id)) {
      if (use.steps.size() > kMostSteps) continue;
      for (const auto& [at, value] : use.steps)
        events.next() << fmt::format(R"({{"ph": "C", "name": "{}", "pid": {}, "tid": 0, "ts": {:.3f}, "args": {{"%": {:.1f}}}}})", use.name,
                                     id, micro(at), value);
    }
    int64_t bytes = 0;
    std::vector<std::pair<int64_t, int64_t>> changes;
    for (const Json& t : timelines)
      for (const Json& m : t["memory"])
        if (m[1] == id) changes.emplace_back(m[0].get<int64_t>(), m[2].get<int64_t>());
    std::ranges::stable_sort(changes, {}, &std::pair<int64_t, int64_t>::first);
    for (const auto& [at, change] : changes)
      events.next() << fmt::format(
          R"({{"ph": "C", "name": "memory allocated", "pid": {}, "tid": 0, "ts": {:.3f}, "args": {{"bytes": {}}}}})", id, micro(at),
          bytes += change);
  }
  for (const auto& [row, name] : rows)
    events.next() << fmt::format(R"({{"ph": "M", "name": "thread_name", "pid": {}, "tid": {}, "ts": 0, "args": {{"name": {}}}}})",
                                 row.first, row.second, json_text(name));
  out << "\n],\n\"traceName\": " << json_text(fs::path(timelines.front()["program"].get<std::string>()).filename()) << "\n}\n";
}

}  // namespace warpbeam::report
