// A GPU as its streams see it: hardware queues, copy engines, and kernels that share the multiprocessors.
//
// Operations come in the order in which the host asks for them, each with the moment at which the device hears of it, and
// wait in a hardware queue. The head of a queue leaves it when all that it follows is done; until then nothing behind it
// moves, whatever stream that is of. Before Hyper-Q there is one queue for kernels and one for each copy engine; since then
// there are several, which streams take in turn, and a queue holds all that its streams do.
//
// A kernel holds a share of the multiprocessors: its blocks over those that the device can hold of it, all of them while it
// has more than one wave to go. Who began first is served first (and the more urgent before the less), the next one gets what
// is left, so small kernels run side by side and one that follows a large one begins in its last wave. A kernel goes as fast
// as its share of what it could use, and all that want more of the memory than there is are slowed down together.
//
// Other processes have contexts of their own, and contexts take turns: while n others want the multiprocessors, or a way of the link, each gets
// one part in n + 1 of it (slices of some milliseconds are not told apart).
//
// The model only runs as far as it is asked to: what happened before a moment is final once the host cannot ask for anything
// before it. How long a kernel takes may be told after it was submitted; until then it runs.
#pragma once
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/device.h"
#include "model/link.h"
#include "timing/device/operation.h"

namespace warpbeam::timing::device {

// CUDA_DEVICE_MAX_CONNECTIONS when it is not set.
inline constexpr int kUsualConnections = 8;

class DeviceModel {
 public:
  using Done = std::function<void(const Operation&, const Times&)>;
  // `connections` bounds the hardware queues. `done` is told of each operation once, when it is over.
  DeviceModel(const model::Device& device, int connections, Done done = nullptr);

  void submit(Operation operation);
  void set_duration(uint64_t id, double nanoseconds);
  // What was not known of a kernel when it was submitted.
  void tell(uint64_t id, double nanoseconds, double memory_share, uint64_t blocks, uint64_t at_once);
  // Goes on to that moment.
  void advance(double until);
  // Goes on until the operation is over and says when that was; nothing if that is not known, because how long something
  // takes is not.
  std::optional<double> finish(uint64_t id);
  std::optional<double> begin(uint64_t id);
  // Until no more than so many operations of the stream are left.
  std::optional<double> drain(uint64_t stream, size_t left);
  // For a look at what will be, if nothing else is asked for. It tells `done` alone of what is over.
  DeviceModel look_ahead(Done done = nullptr) const;
  // Goes on until nothing happens any more.
  void run_dry();
  // From when until when others want the multiprocessors, and the ways of the link to the device and to the host.
  struct Others {
    struct Span {
      double begin = 0, end = 0;
    };
    std::vector<Span> kernels, to_device, to_host;
  };
  void share_with(Others others) { beside_ = std::move(others); }
  // What is done and long past is forgotten, and counts as done.
  bool is_done(uint64_t id) const;
  size_t unfinished(uint64_t stream) const;  // operations, but for those of graphs: a graph is handed over as one
  bool unfinished() const { return !in_stream_.empty(); }
  double now() const { return now_; }
  size_t queues() const { return queues_.size(); }

 private:
  struct Live {
    Operation operation;
    Times times;
    size_t open = 0;  // operations that it follows and that are not done
    std::vector<uint64_t> before;  // operations that follow it
    double ready = 0;  // when all it follows has been done, with what lies between
    double left = 0;  // when it left its queue
    double progress = 0;  // of its nanoseconds
    double least = 0;  // that it takes, of that what passed before it began
    double rate = 0;
    double share = 0;  // of the multiprocessors
    double row_begun = kUnknown;  // of a copy: when its engine began with the stream's
    double wave_ends = 0;  // of its nanoseconds: where the blocks that run are over
    bool running = false, done = false;
  };
  using Ids = std::deque<uint64_t>;

  Live& live(uint64_t id) { return live_.at(id); }
  size_t queue_of(const Operation& operation);
  size_t engine_of(const Operation& operation) const;
  bool comes_through_queue(const Operation& o) const { return single_queue() || o.kind != Kind::Copy || engines_.empty(); }
  void slow_beside_others(Live& copy) const;
  void keep_engine(const Live& last);
  bool single_queue() const { return device_->hardware_queues <= 1; }
  double gap(const Operation& from, const Operation& to) const;

  template <class Over>
  std::optional<double> run_until(Over&& over);
  void settle();
  bool leave_queues();
  bool start_copies();
  bool end_what_is_over();
  void share_out();
  bool may_leave(const Live& one) const;
  void start(Live& one);
  void end(uint64_t id);
  double next() const;
  void move(double to);
  void forget();
  double part_beside(const std::vector<Others::Span>& others) const;  // of what it shares with those

  const model::Device* device_;
  const model::Link* link_;
  int connections_;
  Done done_;
  double now_ = 0;
  double ready_saves_ = 0;  // of a kernel's time, where it was made ready before it could begin
  double front_free_ = 0;  // when the next kernel may begin
  double functions_free_ = 0;  // when the next host function may begin
  double functions_since_ = 0;  // when the last one ended
  double free_share_ = 1;  // of the multiprocessors
  std::unordered_map<uint64_t, Live> live_;
  std::unordered_map<uint64_t, size_t> stream_queue_;
  std::unordered_map<uint64_t, size_t> in_stream_;  // unfinished operations
  std::unordered_map<uint64_t, size_t> alone_;  // of these: not in a graph
  std::unordered_map<int, size_t> turn_;  // of the next stream, by priority
  std::vector<Ids> queues_;
  std::vector<Ids> engines_;  // the front runs, or is about to
  struct Kept {
    uint64_t copy = 0;
    double until = 0;
  };
  std::vector<Kept> kept_;  // of each engine: for which copy it waits
  std::vector<uint64_t> copies_;  // that nothing but an engine is in the way of: since Hyper-Q they come through no queue
  std::vector<uint64_t> kernels_;  // that have left their queues, in order; Memory too
  std::vector<uint64_t> others_;  // marks and host functions under way
  Ids past_;  // done, and still known
  Others beside_;
};

}  // namespace warpbeam::timing::device
