// One block under the checker's eyes.
#pragma once
#include <array>
#include <map>
#include <memory>

#include "observe/check/checker.h"
#include "observe/check/copies.h"
#include "observe/check/traits.h"
#include "observe/check/undefined_values.h"
#include "vm/access.h"
#include "vm/observer.h"

namespace warpbeam::observe::check {

// An access, as far as the cells of its words ask for it.
struct Look {
  EventId id = 0, bound = 0;
  bool writes = false, tracks_values = false;
};

struct Readers {
  EventId a = 0, b = 0;  // 0: nobody
};

// Accesses of several elements are aligned as a whole.
uint32_t alignment(const vm::Access&);

// What reports call an access, and a size.
const char* verb(Act);
std::string in_bytes(uint64_t);

class BlockWatch final : public vm::BlockObserver {
 public:
  BlockWatch(Checker& checker, LaunchInfo& launch, const vm::Block& block);
  ~BlockWatch() override;

  void instruction(vm::Warp&, const vm::Insn&, uint32_t mask, uint32_t active) override;
  void still_running(vm::Warp&, const vm::Insn&, uint32_t mask, uint64_t instructions) override;
  void access(vm::Warp&, const vm::Insn&, const vm::Access&) override;
  void warp_sync(vm::Warp&, const vm::Insn&, uint32_t members, uint32_t mask) override;
  void warp_sync_abandoned(vm::Warp&, const vm::Insn&, uint32_t members, uint32_t mask) override;
  void barrier_arrive(vm::Warp&, const vm::Insn&, uint8_t barrier, uint32_t expected, uint32_t mask, bool waits) override;
  void barrier_complete(vm::Block&, uint8_t barrier) override;
  void cluster_complete(vm::Block& leader) override;
  void heap_allocated(vm::Warp&, const vm::Insn&, int lane, uint64_t address, uint64_t bytes) override;
  void heap_freed(vm::Warp&, const vm::Insn&, int lane, uint64_t address, bool known) override;
  void runtime_wrote(uint64_t address, uint64_t bytes) override;
  void image_accessed(vm::Warp&, const vm::Insn&, int lane, uint64_t address, uint32_t bytes, vm::AccessKind,
                      const std::byte* stores) override;
  bool sees_quickly(const vm::Insn&, uint32_t warp, uint32_t active, uint32_t mask, const vm::Pattern&) override;
  bool sees_batch(const vm::LoadBatch&, uint32_t warp, const vm::Pattern&) override;
  void ends();  // with all of its cluster
  bool all_came(const vm::Insn&) override;
  uint64_t findings() const override { return c_.findings.told(); }
  // Compiled code keeps the checker to itself: taking turns would cost more than what it does.
  void alone(bool begins) override;

 private:
  std::unique_lock<std::mutex> hold() { return held_ ? std::unique_lock<std::mutex>{} : std::unique_lock(c_.mutex); }

  struct Lanes {  // what only some kernels need
    std::array<CameList, 32> came;
    std::array<std::shared_ptr<const Snapshot>, 32> fence;
    struct Lock {
      EventId when = 0;
      uint32_t site = 0;
    };
    std::array<Lock, 32> took;  // the last atomic operation that may have taken a lock
    // What others had behind a fence when they met this lane: behind one of the whole device, and behind any.
    std::array<std::shared_ptr<const Snapshot>, 32> handed, handed_in_block;
  };
  struct WarpState {
    vm::WatchedWarp* seen = nullptr;
    std::vector<vm::WatchedGroup> elsewhere;  // of functions that the kernel calls
    EventId base = 0;        // all lanes know all lanes up to here
    bool fenced = false;     // since lanes have met
    const vm::Insn* barrier = nullptr;  // where lanes of this warp last met their block,
    uint32_t at_barrier = 0;            // and which of them; see all_at_
    EventId soft_base = 0;   // they were together at a shuffle or vote here, which orders nothing
    std::shared_ptr<LaneTable> table;
    std::unique_ptr<Lanes> lanes;
    struct {
      const vm::Insn* at = nullptr;
      uint32_t members = 0, mask = 0;
    } met;  // the last meeting at a .sync function
    struct Meeting {
      const vm::Insn* at;
      uint32_t lanes;
    };
    std::vector<Meeting> been;  // who has been at which .sync function
    size_t been_last = 0;
    uint32_t& been_at(const vm::Insn& i);
    std::unique_ptr<Copies> copies, bulk_copies;
    Products products;
    UndefinedValues doubts;
    void moves_on() { seen->key += uint64_t(1) << 32; }  // events from here on are other ones
    uint64_t key(uint32_t active) const { return (seen->key & ~uint64_t(0xffffffff)) | active; }
    // The last access of each lane; of those in seen->last_mask it is seen->last_access, and `last` does not know yet.
    std::array<const vm::Insn*, 32> last{};
    const vm::Insn* last_of(int lane) const { return seen->last_mask >> lane & 1 ? seen->last_access : last[static_cast<size_t>(lane)]; }
    void accesses(const vm::Insn& i, uint32_t mask) {
      for (uint32_t left = seen->last_mask & ~mask; left; left &= left - 1)
        last[static_cast<size_t>(__builtin_ctz(left))] = seen->last_access;
      seen->last_access = &i;
      seen->last_mask = mask;
    }
    // At the barrier of its cluster: lanes that have arrived in this phase, and since when; those that have not waited yet for
    // the phase that is complete, and where what the others left is.
    uint32_t arrived_at_cluster = 0, to_wait_at_cluster = 0;
    EventId arrived = 0;
    Came cluster{};
    std::unique_ptr<uint8_t[]> local;        // what is known of each byte of local memory
    uint32_t local_stride = 0;
    struct Margin {
      uint32_t of, bytes;  // behind so many that belong to an array
      const vm::FunctionCode* function;
    };
    std::map<uint32_t, Margin> margins;  // by offset in local memory
    Lanes& extra() {
      if (!lanes) lanes = std::make_unique<Lanes>();
      return *lanes;
    }
  };
  // The access being looked at.
  struct Now {
    vm::Warp& warp;
    const vm::Insn& insn;
    const vm::Access& access;
    WarpState& state;
    Act act;
    Strength strength;
    EventId id = 0, bound = 0;
    uint32_t site = 0;
    const std::byte* stores = nullptr;  // of a texel: what is stored there
    bool shared = false;
    bool by_proxy = false;              // a bulk copy reads it
    BlockWatch* home = nullptr;         // the block whose shared memory it is
    Region* region = nullptr;
    const std::byte* memory = nullptr;  // of offset 0
  };
  struct Quick : Look {  // an access whose registers are not at hand
    Shadow* shadow = nullptr;  // null: there is nothing to look at
    uint16_t warp = 0;
    uint64_t begin = 0, end = 0, zero = 0;  // what it lies in, and the address that offset 0 of the shadow means
  };
  Now now(vm::Warp& w, const vm::Insn& i, const vm::Access& a) {
    const Act act = a.kind == vm::AccessKind::Read ? Act::Read : a.kind == vm::AccessKind::Write ? Act::Write : Act::Atomic;
    return {w, i, a, warps_[w.index], act, strength_of(i, a.kind)};
  }
  enum class Hazard : uint8_t { ReadAfterWrite, WriteAfterRead, WriteAfterWrite };

  void look_at(Now&);
  void shared_access(Now&);
  void global_access(Now&);
  void local_access(Now&);
  void look(Now&, Shadow&, uint64_t offset, int lane, bool tracks_values);
  void look_at_cell(Now&, Cell&, uint64_t offset, uint32_t bytes, int lane);
  bool look_quickly(Now&, Shadow&, uint64_t zero, uint64_t begin, uint64_t end, bool tracks_values);
  void look_at_ranges(Now&, uint64_t address, int lane);
  struct Other {         // the lane of the earlier access
    uint32_t lane;
    bool many;          // others of its warp read the place too
    bool one_of_many;   // it was one of them, and nobody knows which
  };
  void conflict(Now&, Hazard, const Event& other, Other who, int lane, uint64_t offset, uint32_t bytes);
  bool ordered(const Now&, const Event& e, uint32_t e_lane, int lane) const;
  Strength needed_for(const Event& e) const;
  bool ordered_copy(const Now&, Event e, uint32_t e_lane, int lane) const;
  bool ordered_product(const Now&, const BlockWatch& home, Event e, int lane) const;
  void synchronise(Now&);  // atomic, volatile, ordered accesses
  bool loose(const Now&, const Event& e) const;
  void note_flags(const Now&);
  void note_lock(Now&);
  void look_behind_lock(Now&, const Cell&, int lane, uint64_t offset);
  bool meets_plain_store(const Now& n, const Cell& c, int lane) const;
  void keep_plain_store(const Now& n, Cell& c) const;
  bool changes_nothing(const Now&, int lane, uint64_t offset, uint32_t bytes, const std::byte* at) const;
  void stores_undefined(vm::Warp&, const vm::Insn&, uint32_t lanes, uint32_t shuffle, bool of_sum);
  EventId comes_to_grid(const Now&);
  EventId completed_at(uint64_t mbarrier);
  void note_event(Now&);
  EventId event_of(uint32_t warp, uint32_t place, uint32_t active);
  void set_base(EventId base);
  void remember(uint32_t place, const Quick&, uint64_t extent);
  bool has_values(const Quick&, uint64_t begin, uint64_t end);
  bool sees_settled(const vm::Insn&, Quick&, uint32_t mask, const vm::Pattern&);
  void remember_settled(uint32_t site, const Quick&, uint64_t begin, uint64_t end, uint64_t before, uint64_t extent);
  bool finds(Quick&, const vm::Insn&, const LaunchInfo::Known&, uint64_t low, uint64_t high);
  bool sees_lanes(const vm::Insn&, Quick&, uint32_t active, uint32_t mask, const vm::Pattern&);
  bool sees_runs(const Quick&, const vm::Pattern&, uint32_t bytes);
  int says_of_warp(const Quick&, EventId) const;
  static uint64_t places_of(const vm::Pattern&, uint32_t mask, std::array<uint64_t, 32>& at, uint64_t& low, uint64_t& high);
  bool sees_parts(const vm::Insn&, const Quick&, uint32_t mask, const std::array<uint64_t, 32>& at);
  bool tells_nothing(const vm::Insn&, const WarpState&) const;
  bool takes_turns_with(const Cell&, EventId id, EventId bound, Strength) const;
  bool sees_atomic(const vm::Insn&, uint32_t warp, uint32_t active, uint32_t mask, const vm::Pattern&);
  bool sees_words(const Quick&, uint64_t offset, uint32_t words, uint32_t lane, uint32_t words_of_lane, bool many);
  bool is_quiet(uint64_t offset, uint64_t bytes, EventId id) const {
    if (lines_.empty()) return false;
    for (uint64_t k = offset / kLine; k <= (offset + bytes - 1) / kLine; ++k) {
      const Line& line = lines_[k];
      if (line.epoch != epoch_ || line.readers.a == id || line.readers.b == id) return false;
    }
    return true;
  }
  void note_quiet(uint64_t offset, uint64_t bytes, const Readers&);
  uint64_t stored_value(const Now&, int lane, uint64_t at, uint32_t bytes) const;

  std::shared_ptr<const Snapshot> snapshot(const WarpState&, uint16_t warp, Strength scope, const CameList& came);
  void look_at_masks(vm::Warp&, const vm::Insn&, uint32_t members, uint32_t mask);
  // `there`: where the missing lanes are, if that is known, and what they do: words and this place, or words alone.
  void report_missing(vm::Warp&, const vm::Insn&, const vm::FunctionCode&, uint32_t members, uint32_t mask, uint32_t missing,
                      const std::string& there, const char* what, uint64_t key, Severity severity = Severity::Error);
  bool ran_to_the_end(const vm::Warp&, const vm::Insn& here, const vm::FunctionCode&, int lane) const;
  std::string where_it_returns() const;
  void look_at_ended(vm::Warp&, const vm::Insn&, uint32_t members, uint32_t mask);
  void look_at_count(const vm::Warp&, const vm::Insn&, uint8_t barrier, uint32_t threads, uint32_t mask);
  void fence(vm::Warp&, Strength scope, uint32_t mask);
  using Fenced = std::vector<std::pair<std::shared_ptr<const Snapshot>, uint32_t>>;  // by which lanes
  static void add_fences(Fenced&, const WarpState&, uint32_t mask, EventId base);
  std::shared_ptr<const Snapshot> hand_on(const Fenced&, Strength scope);
  void hand_on(const Fenced&, WarpState&, uint32_t mask);
  void hand_on_all();
  static CameList came_of(const WarpState&, uint32_t mask);  // meetings that these lanes rely on
  void all_meet();                                           // whatever was done is known to everyone in the block
  bool someone_knows(const Event& e, uint32_t lane) const;
  void arrive_at_cluster(const vm::Warp&, const vm::Insn&, uint32_t mask);
  void wait_at_cluster(const vm::Warp&, uint32_t mask);
  bool does_nothing_at_cluster(const vm::Block&) const;
  void run_too_long(vm::Warp&, const vm::Insn&, uint32_t mask);

  void missing_proxy_fence(Now&, const Event& write, uint32_t write_lane, int lane, uint64_t offset);
  void note_visit(const Now&, int lane, uint64_t offset);
  void bad_address(Now&, int lane);
  std::pair<const Region*, uint64_t> below_zero(uint64_t address, uint32_t bytes) const;
  void bad_shared(Now&, int lane);
  bool begins_local(const Now&, int lane, uint8_t* flags, uint64_t offset);
  bool in_margin(Now&, int lane, const uint8_t* flags, uint64_t offset);
  void bad_local(Now&, int lane, std::string what);
  void constant_written(Now&, int lane);
  void misaligned(Now&, int lane, uint32_t align);
  void uninitialised(Now&, int lane, uint64_t offset, uint32_t bytes);
  Finding finding(const Now&, int lane, FindingKind kind, std::string title) const;
  void add_callers(Finding&, const vm::Warp&) const;
  std::string thread_text(const vm::Warp&, int lane) const;
  void add_place(Finding&, const Now&, uint64_t offset);
  void stop(Now&, int lane, vm::TrapKind kind, const std::string& message, uint64_t address);

  Checker& c_;
  LaunchInfo& l_;
  const vm::Block& block_;
  uint32_t linear_;
  EventId base_;        // everything before is known in the whole block
  CameList came_;       // meetings that everyone in the block relies on
  uint64_t own_era_;    // no other block has it, and it is no era of the checker's
  std::vector<WarpState> warps_;
  std::vector<vm::WatchedWarp> seen_;      // by warp
  std::vector<vm::WatchedGroup> groups_;   // by warp and place
  vm::WatchedBlock words_;
  Shadow shared_;
  static constexpr uint64_t kLine = 64;
  struct Line {
    uint64_t epoch = 0;  // the one in which all its words have these readers
    Readers readers;
  };
  std::vector<Line> lines_;  // of shared memory
  std::vector<uint64_t> valued_;                // its words that have been found to have values, a bit for each
  uint64_t valued_begin_ = 0, valued_end_ = 0;  // the last stretch of them
  struct SettledBatch {  // has values: in rows with gaps in between, which come again and again
    const vm::LoadBatch* batch = nullptr;
    uint64_t first = 0;
    int64_t gap = 0;
    bool operator==(const SettledBatch&) const = default;
  };
  std::vector<SettledBatch> settled_;           // found by place and warp
  uint32_t looked_around_ = 1 << 16;            // how many words may still be looked at to find it
  uint64_t epoch_ = 1;
  std::unordered_map<uint64_t, Meeting> meetings_;  // of this block only: shared memory, .cta scope
  std::vector<std::unique_ptr<Meeting>> barriers_;  // of some warps
  struct Arrival {
    std::shared_ptr<const Snapshot> snapshot;
    uint32_t mask;
  };
  std::array<std::vector<Arrival>, 16> arrivals_;
  struct Count {  // of threads, as the first to come to a barrier gave it
    const vm::Insn* by = nullptr;
    const vm::FunctionCode* function = nullptr;
    uint32_t threads = 0, warp = 0, lane = 0;
  };
  std::array<Count, 16> counts_;
  std::vector<Arrival> cluster_arrivals_;
  struct Phase {
    bool odd = false;
    EventId completed = 0;  // the one before
  };
  std::unordered_map<uint64_t, Phase> phases_;  // of mbarriers
  uint64_t grid_rounds_ = 0;      // in which it has arrived at the barrier of all blocks
  bool arrived_relaxed_ = false;  // one of them leaves nothing at the cluster's barrier but what is behind its fence
  std::unique_lock<std::mutex> held_;
  std::shared_ptr<const Snapshot> handed_;  // to everyone in the block, by its last barrier
  bool fenced_ = false;                     // since then
  bool bypass_reported_ = false;
  const vm::Insn* all_at_ = nullptr;  // the last barrier, if all threads were there: of more weight than what warps say
  bool left_elsewhere_ = false;  // where other blocks may come, they find what was left within this one
  // What other blocks of the cluster did here since they last met; of each instruction one lane.
  struct Visit {
    EventId id;
    uint32_t lane;
    uint64_t offset;
  };
  std::vector<Visit> visits_;
  EventId proxy_fence_ = 0;  // the last fence.proxy.async of any of its threads
  bool copies_ = false;  // asynchronous ones have been made, which no barrier orders
  struct {
    EventId product = 0, by = 0;
    int lane = 0;
  } mutable known_complete_;  // the last product that was found to be, and to whom
};

class LaunchWatch final : public vm::Observer {
 public:
  LaunchWatch(Checker& checker, LaunchInfo info) : c_(checker), info_(std::move(info)) {}
  std::unique_ptr<vm::BlockObserver> begin_block(const vm::Block&) override;
  void end_block(const vm::Block&, std::unique_ptr<vm::BlockObserver>) override;
  void end_grid(const vm::LaunchResult&) override;
  bool one_block_at_a_time() const override { return true; }
  vm::Wanted wanted() const override { return {.compiled = true, .events = true}; }
  std::shared_ptr<vm::Observer> child(const vm::Launch&) override;

 private:
  Checker& c_;
  LaunchInfo info_;
};

}  // namespace warpbeam::observe::check
