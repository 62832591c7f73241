// The watcher behind --clock device: what the program asks of its devices becomes operations of the model
// (timing/device), and what the host waits for moves the program's clock.
#pragma once
#include <unistd.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "observe/clock/call_costs.h"
#include "observe/clock/far_memory.h"
#include "observe/clock/host_clock.h"
#include "observe/clock/kernel_time.h"
#include "observe/clock/timeline.h"
#include "observe/own_pool.h"
#include "observe/profiler/predictor.h"
#include "observe/tool.h"
#include "timing/device/children.h"
#include "timing/device/device_model.h"

namespace warpbeam::observe {

class DeviceClock : public Tool {
 public:
  // `timeline`: the file to which one is written at the end; empty: nobody wants one.
  DeviceClock(HostClock& clock, const model::Device& model, std::string timeline);

  void save_timeline_in_time();

  bool runs_at_once() const override { return true; }
  bool follows_calls() const override { return true; }
  void entered() override;
  void left() override;

  void queued(const Operation&) override;
  void graph_uploaded(const void* instance, size_t nodes) override;
  void graph_begins(uint64_t stream, const void* instance) override;
  void graph_node(uint64_t stream, const void* node, const std::vector<const void*>& after) override;
  void graph_ends(uint64_t stream) override;
  void graph_sized(size_t nodes, size_t branches) override;
  void ended(uint64_t operation) override;
  void host_function(uint64_t operation, bool begins) override;
  void touches(uint64_t operation, const Bytes&, bool writes) override;
  std::shared_ptr<vm::Observer> launch(const vm::Launch&, const model::Device&, uint64_t operation) override;
  void sleeps() override;
  void waited(WaitKind, uint64_t which) override;
  bool reached(WaitKind, uint64_t which) override;
  std::optional<double> time_between(uint64_t from, uint64_t to) override;
  void allocated(const vm::Allocation&, int device) override;
  void freed(const vm::Allocation&, int device) override;
  bool wants_pages(uint64_t base, uint64_t bytes, int device) override;
  void pool_keeps(uint64_t bytes, bool own) override;
  void advised(uint64_t base, uint64_t bytes, int advice, int device) override;
  void activated(int device) override;
  void range_push(const char* name) override;
  void range_pop() override;
  void finish() override;

  // A launch of which the counts are known, or that was launched by another one's kernel.
  void measured(uint64_t operation, LaunchProfile&, bool child);

 protected:
  void begins(const vm::Launch& launch, uint64_t operation);  // with the mutex held
  std::shared_ptr<vm::Observer> child(const vm::Launch& launch, const model::Device& device, uint64_t operation);
  // An operation is over on the device.
  virtual void over(const timing::device::Operation&, const timing::device::Times&) {}
  void let_devices_end();  // with the mutex held, as the next one
  void write_timeline();

  HostClock& clock_;
  std::mutex mutex_;
  Predictor predictor_;

 private:
  using Model = timing::device::DeviceModel;
  static constexpr double kFewBranches = 8;       // of a graph, for which there is what they need
  static constexpr double kPoolBlock = 32 << 20;  // bytes, by which pools grow
  // Stream-ordered memory: of a device's own pool, or of those that the program makes, which count as one.
  struct Pool {
    double used = 0, held = 0;        // bytes
    double keeps = 0;                 // bytes, beyond the next wait
    uint64_t freed = 0, waited = 0;   // pieces, since the host waited; of these, before it did
    double give_back_free(double keeps);  // how many bytes it held beyond these, and nobody used
  };
  using Ids = std::vector<uint64_t>;

  struct Stream {
    int device = 0;
    Operation::Queue queue{};
    Ids last;  // operations that the next one follows
  };
  // A graph that is being put on a stream; others may be within it.
  struct Graph {
    Ids entry;                           // what comes before it
    bool rooted = false;                 // it has a node that follows no other
    std::map<const void*, Ids> nodes;    // the operations of each
    const void* node = nullptr;          // whose operations come now
    Ids after;                           // what that one follows
    std::set<uint64_t> leaves;
  };
  using Busy = std::array<std::vector<Span>, kUnits>;
  struct Device {
    Model model;
    Busy past;                 // when this process has used it
    uint64_t others_seen = 0;  // what the others ask of it
  };
  // What is queued and not over: it has yet to be told how long it takes.
  struct Open {
    int device = 0;
    OperationKind kind{};
    bool told = false;
    bool left_alone = false;  // its launch has returned, and it runs on
    double bytes = 0, effort = 0;
    std::vector<timing::device::Child> children;
  };

  void save();
  double touched_by_host(double at, bool calls);
  void look_at_touches();
  struct SmallBlocks {
    double used = 0, held = 0;  // bytes
    std::unordered_map<uint64_t, double> sizes;
    bool take(uint64_t base, uint64_t bytes);  // true: there was room
    bool give(uint64_t base);                  // true: its block stays
  };

  // What was allocated last, or freed right after that.
  struct LastOne {
    uint64_t base = 0, freed = 0;  // freed: bytes
    vm::MemoryKind kind{};
    bool take(const vm::Allocation& allocation);  // true: it was freed just now
    bool give(const vm::Allocation& allocation);  // true: it was allocated just now
  };

  enum class Place : uint8_t { Device, OtherDevice, Pinned, Pageable };
  static std::string_view name_of(Place place);
  Place place(uint64_t address, const Operation&, int* owner) const;  // `owner`: of the operation's device, or another one
  void describe_copy(const Operation&, timing::device::Operation&, double* staging);
  double staging_time(uint64_t base, double bytes);
  bool bring_pages(const Operation&, bool in_graph);
  Ids follows(const Operation&);
  static bool takes_nothing(const Operation&, const timing::device::Operation&);
  bool all_over(Device& on, const Ids& ids);
  void charge_launch(const Operation&);
  void find_variables(const vm::DeviceMemory& memory);
  void charge_beside_others();
  void charge_thread();
  void charge_call(const CallCost&);
  void charge_first(double model::Link::* cost);
  Pool& pool_of(const vm::Allocation& allocation) { return pools_[(allocation.flags & kOwnPool) != 0]; }
  void allocate_in_order(const vm::Allocation& allocation);
  void charge_cold_allocation(bool small);
  double pools_give_back(bool all);  // all: what they would keep, too
  double pinned_share(const vm::Allocation& allocation) const;
  void account_for(const Operation&, uint64_t id);
  uint64_t branch_of(const Operation&, const Ids& after);
  double cost_of(const Operation&) const;
  Device& device(int ordinal);  // its first use makes a context
  double host_now() const;
  void charge(double nanoseconds);
  // Other processes of this machine (device_sharing.cc).
  static void keep_busy(Busy& busy, const timing::device::Operation&, const timing::device::Times&);
  void take_account_of_others(int ordinal, Device& on);
  void tell_others();
  void tell_others_now_and_then();
  void wait_turn();
  int place_of(int ordinal) const;
  std::optional<double> known_end_of(Device&, const Ids&);  // nothing while it hangs on what is being computed
  double end_of(Device& on, const Ids& ids) { return known_end_of(on, ids).value_or(0); }
  double end_of_waiting(std::unique_lock<std::mutex>& lock, int ordinal, Device& on, const Ids& ids);
  double begin_of(Device&, uint64_t id);
  Ids before_next_on(const Stream&) const;
  Ids awaited(WaitKind, uint64_t which, int* device) const;
  static void add(Ids& to, const Ids& more);

  const model::Device& model_;
  const model::Link& link_;
  const int connections_;
  std::map<int, Device> devices_;
  std::map<int, const vm::DeviceMemory*> memories_;
  std::unordered_map<uint64_t, Stream> streams_;
  std::unordered_map<uint64_t, std::vector<Graph>> graphs_;  // being put on a stream, the innermost last
  std::unordered_map<const void*, Ids> instances_;           // the last launch of each
  std::unordered_map<uint64_t, const void*> instance_of_;    // of the graph being put on a stream
  std::unordered_map<uint64_t, Open> open_;
  std::condition_variable told_one_;                         // how long something takes
  std::unordered_map<uint64_t, int> device_of_;              // of operations that are not over on the device
  std::unordered_map<uint64_t, bool> quiet_;                 // of these: the host need not wait for it
  std::unordered_map<uint64_t, double> moments_;             // that events recorded
  std::unordered_map<uint64_t, uint64_t> tails_;             // operations of a graph that none follows in its branch, and their branches
  uint64_t branches_ = 0, numbered_ = 0;
  BlockProfiles blocks_;
  std::unique_ptr<Timeline> timeline_;  // null: nobody wants one
  const std::string timeline_file_;
  const int process_ = getpid();
  size_t saved_ = 0;  // what the timeline had when it was saved last
  FarMemory far_;
  const std::vector<int> visible_;  // CUDA_VISIBLE_DEVICES, as far as it has numbers
  bool untold_ = false;             // something that others have not been told of
  double told_ = 0;                 // when they were
  std::atomic<bool> watches_pages_ = false;
  std::optional<std::pair<Prefetch, bool>> wanted_pages_;  // and whether on a device: the next operation brings them
  std::set<const void*> loaded_;        // kernels that have been launched
  std::set<const void*> uploaded_;      // graphs that have been launched
  uint64_t captured_ = 0;               // by the capture under way
  double most_graph_nodes_ = 0, most_graph_branches_ = kFewBranches;  // of a graph that was instantiated
  uint64_t streams_now_ = 0, most_streams_ = 0;  // that there are, and were at once
  std::atomic<double> launched_apart_ = 0;  // nanoseconds of all launches in which other threads could launch too
  int most_launching_ = 0;       // threads that launched, at once
  double threads_made_ = 0;      // until when others' first launches go on beside a thread's
  std::vector<double model::Link::*> firsts_;  // that have been
  SmallBlocks small_blocks_;
  LastOne last_one_;
  // The host's pageable memory that was copied last.
  struct Copied {
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
    double visit(uint64_t base, uint64_t bytes, double most);
  };
  Copied copied_;
  std::array<Pool, 2> pools_;
  std::unordered_map<uint64_t, Operation> moves_;            // copies and fills under way
};

// The GPU of programs that live on its time; null: there is no such device.
const model::Device* device_of_clock();

}  // namespace warpbeam::observe
