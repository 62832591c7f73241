// The checker of one process: what the host does, who is ordered with whom, and the findings. Kernels are watched block by
// block (block_watch.h), one block at a time, so that findings come out the same for any number of host threads.
#pragma once
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "observe/check/events.h"
#include "observe/check/findings.h"
#include "observe/check/host_guard.h"
#include "observe/check/knowledge.h"
#include "observe/check/order.h"
#include "observe/check/regions.h"
#include "observe/check/sites.h"
#include "observe/check/variables.h"
#include "observe/tool.h"
#include "vm/access.h"
#include "vm/access_places.h"

namespace warpbeam::observe::check {

struct Settings {
  bool memory = true, race = true, init = true, sync = true, host = true;
  enum class Leaks : uint8_t { No, Auto, Full } leaks = Leaks::Auto;
  uint64_t most_shadow_bytes = uint64_t(8) << 30;  // address space; memory is used for what is touched
  uint64_t most_instructions = 200'000'000;        // of one warp
  std::string shapes;                              // a file for Shapes::read
  std::string unused;                              // a file with host lines whose result nobody takes
};

// Of an access: its scope, if it is ordered or atomic.
Strength strength_of(const vm::Insn&, vm::AccessKind);
Who who_of(const vm::Insn&, Act, uint32_t site);

// A launch under way.
struct LaunchInfo {
  OpId op = 0;
  EventId ordered_below = 0;
  std::string kernel;
  int cc = 90;
  HostStack stack;
  const vm::Launch* launch = nullptr;
  struct SharedVariable {
    uint32_t offset, size;
    const std::string* name;
  };
  std::vector<SharedVariable> shared;  // by offset
  // Where threads of different blocks meet: by address, those with a scope of one block by (address, block).
  std::unordered_map<uint64_t, Meeting>* meetings = nullptr;
  std::unordered_set<uint64_t>* flags = nullptr;  // addresses of volatile places that threads wait for, or go on by
  // What is known of an instruction: its place among the kernel's accesses or behind them, its site (0: none yet), and the
  // region that it touched last, as long as no region has gone since.
  struct Known {
    uint32_t place = vm::AccessPlaces::kNone;
    uint32_t site = 0;
    Region* region = nullptr;
    uint64_t regions = 0;
  };
  std::vector<Known> known;                              // of the kernel's own
  std::unordered_map<const vm::Insn*, Known> elsewhere;  // of functions that it calls
  vm::AccessPlaces places;                               // of the kernel's own
  // Compiled code keeps the addresses of these two, and reads there while blocks run: neither grows after the launch.
  std::vector<vm::WatchedSite> sites;                    // as vm::WatchedBlock has them
  std::vector<Who> who;                                  // by place of the kernel's own, as far as all events of a place are the same
  Who who_at(uint32_t place) const { return place < who.size() ? who[place] : Who{}; }
  uint32_t next_place = 0;  // for what is elsewhere
  Known& known_of(const vm::Insn& i) {
    const auto& insns = launch->kernel->code->function->insns;
    if (&i >= insns.data() && &i < insns.data() + insns.size()) {
      Known& k = known[static_cast<size_t>(&i - insns.data())];
      if (k.place != vm::AccessPlaces::kNone) return k;
    }
    Known& k = elsewhere[&i];
    if (k.place == vm::AccessPlaces::kNone) {
      k.place = next_place;
      next_place += 2;
    }
    return k;
  }
  bool ended_by_checker = false;
  std::optional<uint32_t> last_return;  // see Shapes
  bool counts_differ = false;    // at a barrier: that it never completes is no news
  bool went_around = false;      // lanes a call that names them, to the end: has been told
  bool known_good = false;  // as vm::BlockObserver has it
  std::vector<std::unique_ptr<Meeting>> clusters;  // at the barriers of clusters
  // At the barrier of all blocks: how many have arrived, in all rounds, and when each round was complete.
  uint64_t arrived_at_grid = 0;
  std::vector<EventId> grid_rounds;
};

inline constexpr char kLibrarySizes[] =
    "compare the numbers of elements, rows and columns, the leading dimensions and the increments with the size that was given to cudaMalloc";

class Checker final : public Tool {
 public:
  Checker();

  void queued(const Operation&) override;
  void graph_begins(uint64_t stream, const void* instance) override;
  void graph_node(uint64_t stream, const void* node, const std::vector<const void*>& after) override;
  void graph_ends(uint64_t stream) override;
  void host_function(uint64_t operation, bool begins) override;
  void touches(uint64_t operation, const Bytes&, bool writes) override;
  void library_failed(uint64_t operation, const vm::Trap& trap, bool writes) override;
  void waited(WaitKind, uint64_t which) override;
  void took_time(uint64_t from, uint64_t to) override;
  std::shared_ptr<vm::Observer> launch(const vm::Launch&, const model::Device&, uint64_t operation) override;
  std::shared_ptr<vm::Observer> child(const vm::Launch&, const LaunchInfo& parent);
  void allocated(const vm::Allocation&, int device) override;
  void freed(const vm::Allocation&, int device) override;
  void allocated_by(uint64_t base, uint64_t operation) override;
  void began(uint64_t operation) override;
  void failed_call(const FailedCall&) override;
  void asked_for_error(int code) override;
  void resetting(int device) override;
  bool checks() const override { return true; }
  void entered() override;
  void left() override;
  void finish() override;

  Settings settings;
  std::mutex mutex;
  EventLog log;
  OpOrder order;
  Regions regions;
  Sites sites;
  Shapes shapes;
  Findings findings;
  std::vector<Shadow> spare_shadows;  // of shared memory
  // Changes of regions, and of what the host does with them; those that there were when the era began.
  uint64_t changes = 0, changes_of_era = 0, era = 1;
  uint64_t blocks_seen = 0;
  uint64_t heap_given = 0, heap_freed = 0;

  Region* region_at(uint64_t address, const vm::DeviceMemory& memory);
  // What an address is: a variable's name with indices or an offset in an allocation, and the allocation's history.
  struct Place {
    std::string text;      // "tile[3][5]", "table[7]", "offset 0x10 of 400 bytes"
    std::string variable;  // empty for memory without a name
  };
  Place global_place(const Region& region, uint64_t address, const vm::Launch* launch);
  void describe_region(Finding& finding, const Region& region);
  std::string thread_text(const Event& e, uint32_t lane) const;  // "by thread (5,0,0) in block (2,0,0)"
  // Folded by what `key` says: true when a finding of that key was there before and has been counted.
  bool repeated(uint64_t key);
  void report(uint64_t key, Finding finding);

 private:
  friend class LaunchWatch;
  friend class BlockWatch;
  std::shared_ptr<vm::Observer> watch(const vm::Launch&, LaunchInfo);
  void look_at_log();
  uint32_t stream_of(const Operation&);
  struct Queued {
    OpId op;
    HostStack stack;
    const vm::DeviceMemory* memory = nullptr;
    std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};  // of a launch
    std::string kernel;                                     // its mangled name
    bool is_of_library = false;
  };
  void use_range(const Bytes& bytes, bool writes, const Queued& by, const char* what);
  void look_past_end(const Region&, const Bytes&, bool writes, const Queued& by);
  void look_for_overlap(const Operation&, const HostStack&);
  void look_for_freed(const Bytes&, bool writes, const HostStack&, const char* what);
  bool bad_bytes(const FailedCall&, const HostStack&);
  void read_unwritten(Region&, const Bytes&, OpId, const HostStack&, bool is_of_library);
  bool only_gaps(Region&, const Bytes&);
  void report_leaks(const char* when);
  void report_calls();
  Guarded to_guard();
  void note_host_function(Region&, OpId, uint64_t begin, uint64_t end, bool writes);
  void host_lost(uint64_t address, bool writes, HostStack stack);
  void host_outside(uint64_t address, bool writes, HostStack stack);
  HostGuard::Answer host_touched(uint64_t address, uint64_t bytes, bool writes, HostStack stack);

  std::unordered_map<uint64_t, uint32_t> streams_;  // of the runtime to OpOrder's
  struct GraphRun {
    int depth = 0;
    OpId start = 0;
    const void* instance = nullptr;
    const void* node = nullptr;                         // which is being queued
    std::vector<OpId> after;                            // what its next operation comes after
    std::unordered_map<const void*, std::vector<OpId>> last;  // of each node
    std::map<uint32_t, OpId> branches;                  // with their last operations
  };
  std::unordered_map<uint64_t, GraphRun> graph_runs_;              // by stream
  std::unordered_map<const void*, OpId> instance_ends_;           // of the latest launch of each
  std::unordered_map<uint64_t, OpId> wholes_;                     // streams whose operations are parts of one: a graph's body
  std::unordered_map<uint64_t, std::vector<uint32_t>> branches_;  // of graphs in a stream, which come again
  OpId issue_node(GraphRun& run, const Operation&, const std::string& what, std::vector<OpId> after);
  std::unordered_map<uint64_t, Queued> queued_;     // by operation id
  std::vector<Queued> ops_;                         // by OpId
  OpId running_ = 0;
  std::unordered_map<uint64_t, size_t> reported_;
  std::unordered_map<uint64_t, Meeting> meetings_;
  std::unordered_set<uint64_t> flags_;
  // Those within blocks that have ended: what was left elsewhere goes back to them.
  std::deque<std::unordered_map<uint64_t, Meeting>> ended_meetings_;
  std::deque<std::vector<std::unique_ptr<Meeting>>> ended_barriers_;
  struct Call {
    FailedCall call;
    HostStack stack;
    bool looked_at = false;
    uint64_t count = 1;
  };
  std::vector<Call> calls_;
  std::unique_ptr<HostGuard> guard_;
  std::set<uint64_t> frees_;  // from where
  int host_functions_ = 0;  // that run now
  uint64_t beside_ = 0;  // what the host touched in the pages of managed variables, but not of them
  bool kernel_failed_ = false;
  std::set<int> failed_devices_;  // by a kernel: nothing runs there any more, and to wait for it fails
  std::set<OpId> failed_;  // launches of the host whose end has been told, by them or by their children
  bool done_ = false;
};

}  // namespace warpbeam::observe::check
