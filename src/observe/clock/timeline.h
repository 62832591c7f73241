// What `warpbeam timeline` records of a process on a device's time: calls, operations, ranges, to be written at its end.
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/device.h"
#include "observe/clock/far_memory.h"
#include "observe/clock/host_clock.h"
#include "observe/clock/kernel_time.h"
#include "observe/tool.h"
#include "timing/device/children.h"
#include "timing/device/operation.h"

namespace warpbeam::observe {

class Timeline {
 public:
  explicit Timeline(HostClock& clock) : clock_(clock) {}
  // Of the calling thread. Calls within a call are not told.
  void begin_call(double at);
  void end_call(double at);
  void push_range(const char* text, double at);
  void pop_range(double at);

  // Of a copy: "Pageable", "Pinned", "Device", "Peer" (another device than that of the operation), and whose that is.
  struct Way {
    std::string_view from, to;
    int from_device = 0, to_device = 0;
  };
  // An operation that the thread's call asked for.
  void queued(const Operation& operation, const Way& way, bool in_graph);
  void describe_launch(uint64_t operation, const vm::Launch& launch);
  void describe_time(uint64_t operation, const KernelTime& time);
  // A grid that the operation's kernel has launched; and when all of these run, of so long as it takes.
  void child(uint64_t operation, const vm::Launch& launch, const KernelTime& time);
  void place_children(uint64_t operation, double all, const std::vector<timing::device::Child>& children);
  // So many bytes of the device's memory are given away, or (less than none) come back.
  void memory(double at, int device, int64_t bytes);
  void describe_link_use(uint64_t operation, const LinkUse& use);
  void done(const timing::device::Operation& operation, const timing::device::Times& times);
  // The process ends by that signal, or without its destructors.
  void cut_short(int signal) { cut_short_ = signal ? "signal " + std::to_string(signal) : "_exit"; }
  // It goes on.
  void not_cut_short() { cut_short_.clear(); }
  size_t size() const { return calls_.size() + operations_.size(); }
  // A file as report/timeline.h reads it; false: it could not be written.
  bool write(const std::string& path, const model::Device& device) const;

 private:
  static constexpr size_t kMost = 2'000'000;  // of each kind; the rest is counted and left out
  struct Call {
    uint32_t name;
    int thread;
    uint64_t id;
    double begin, end;
  };
  struct Range {
    uint32_t text;
    int thread;
    double begin, end;
  };
  struct Entry {
    OperationKind kind{};
    uint32_t name = 0, from = 0, to = 0;
    int device = 0, from_device = 0, to_device = 0;
    uint64_t stream = 0, call = 0, bytes = 0;
    bool in_graph = false;
    std::array<uint32_t, 3> grid{}, block{};
    uint32_t registers = 0, static_shared = 0, dynamic_shared = 0, resident = 0;
    LinkUse link;
    double read = 0, written = 0, blocks_share = 0;  // bytes of memory
    timing::device::Times times;
    void describe(const vm::Launch& launch, uint32_t name);
  };
  struct Child {
    Entry entry;
    uint64_t operation = 0;  // within which it runs
    size_t parent = 0;       // 1 + the place of the child that launched it; 0: the operation itself
    double begin = 0, end = 0;  // of the operation's time, which may go slower
  };
  using Json = nlohmann::ordered_json;
  static Json row_of(uint64_t id, const Entry& e);
  uint32_t word(std::string_view text);

  HostClock& clock_;
  std::vector<std::string> words_{""};
  std::map<std::string, uint32_t, std::less<>> places_{{"", 0}};
  std::vector<Call> calls_;
  std::vector<Range> ranges_;
  std::vector<std::pair<uint64_t, Entry>> operations_;
  std::unordered_map<uint64_t, size_t> open_;  // operations that are not over
  std::vector<Child> children_;                         // that have their place
  std::unordered_map<uint64_t, Entry> fresh_children_;  // the others, by number
  std::unordered_map<int, std::vector<Range>> pushed_;
  struct Change {
    double at;
    int device;
    int64_t bytes;
  };
  std::vector<Change> memory_;
  std::string cut_short_;
  uint64_t left_out_ = 0, numbered_ = 0;
};

}  // namespace warpbeam::observe
