// The way of accesses from schedulers to shared memory, L1, L2 and memory, at this multiprocessor's share of what all have.
#pragma once
#include "timing/cache.h"
#include "timing/multiprocessor.h"
#include "timing/multiprocessor_parts.h"

namespace warpbeam::timing {

class MemoryPath {
 public:
  MemoryPath(const Work& work, const Rates& rates, const Share& share, const Program& program, Run& result);

  // What the warp's instruction has accessed, once.
  const Access* take_access(Warp& warp, uint32_t ptx);
  // The path to memory takes one instruction after the other, for as many cycles as it makes passes. A scheduler's own instructions come to it more slowly,
  // and when its queue is full the scheduler keeps the next ones.
  Ticks to_memory(Scheduler& s, Warp& warp, const Ready& r, Ticks t);
  // The cache of constants gives lanes that share an address what is there, two words at most, one address after the other.
  Ticks from_constants(Warp& warp, const Ready& r, Ticks t);
  // A copy that the unit for copies makes by itself.
  Ticks bulk_load(uint32_t function, uint32_t ptx, uint32_t sectors, uint32_t requests, Ticks when);
  void bulk_store(Warp& warp, const Access& like, const Ready& r, Ticks when, uint32_t sectors);
  // What others stored is to be seen.
  void forget_l1() { l1_.forget_all(); }
  Ticks store_room() const { return stores_.room(); }
  Ticks cluster_free() const { return cluster_free_; }
  Ticks drained() const { return drained_; }  // when all that was stored is there

 private:
  // Local memory of all threads that are at work at one time, as far as they touch it.
  double local_bytes() const;
  template <class Weight>
  double accesses_per_block(Weight weight) const {
    double sum = 0;
    for (const BlockTrace& b : work_.blocks) {
      double of_block = 0;
      for (const WarpTrace& w : b.warps)
        for (const Access& a : w.accesses) of_block += weight(a);
      sum += b.instructions ? of_block * static_cast<double>(std::max(b.executed, b.instructions)) / static_cast<double>(b.instructions)
                            : of_block;
    }
    return sum / static_cast<double>(std::max<size_t>(1, work_.blocks.size()));
  }
  double total_stores() const;
  // The cluster's network takes one after the other; what it has not taken fills up the path to memory.
  Ticks over_cluster(const Access& a, Ticks start, Ticks& cost);
  // How much later a load is there for each pass over the banks beyond the first.
  Ticks further_passes(const Access& a, double each) const { return ticks((std::max<int>(1, a.passes) - 1) * each); }
  // Lanes that change one word read, compute and try again in turn, as long as others of the block were faster.
  Ticks last_of_turns(const Warp& warp, const Access& a, Ticks start, Ticks& cost);
  Ticks& turns_of(uint32_t place, uint32_t word);
  Ticks through_l1(Warp& warp, const Access& a, const Line* lines, const Ready& r, Ticks start, Ticks& cost);
  // What the assembler's own loads and stores of values access that have no register.
  const Access& access_of_spilled(const Warp& warp, const Ready& r);
  // A store goes through to L2, and L1 keeps up with it where it is one with shared memory (measured: what was loaded or stored before is read from
  // L1, what an atomic operation changed is not); before that it lost what it had. It counts as a hit if a load or a store brought
  // the line before (measured: 131072 of saxpy's 393216 sectors, seven of eight stores that fill sectors word by word).
  void store_in_l1(const Access& a, uint64_t line, uint8_t want, bool local);
  // How many of the sectors that L1 has not must come from memory: as many as the instruction had of all that it asked for.
  // What is asked for together came into L2 together, and has left it together: all of it is there or nothing.
  double dram_sectors(uint32_t function, uint32_t ptx, uint32_t asked, uint32_t missed, uint32_t requests);
  // Of threads' own memory, L2 has what it has room for. Memory moves two sectors where one is wanted (measured: 800 MB for 13 million).
  static constexpr double kFetchedAlone = 2;
  double local_dram_sectors(uint32_t missed);
  // Blocks that read one thing side by side wait for memory together, although it delivers it once.
  bool comes_late(uint32_t function, uint32_t ptx);
  bool comes_from_far(uint32_t function, uint32_t ptx, uint32_t asked, uint32_t missed);
  // `fetched`: sectors that memory delivers for each that is wanted.
  // What lies with the host (`far`) comes over the link, whose speed is not looked at here.
  Ticks fetch(Ticks start, uint32_t sectors, double from_dram, double fetched, uint32_t requests, double farthest, bool far);
  // How far a line's part of L2 and of memory is, from 0 to 1: a load waits for the farthest of its lines, and who waits for several loads for that of all of them.
  // Neighbours have one (H200: a load of 512 bytes beside each other comes 56 cycles after one of 128; four lines far apart would be 130 later).
  static double distance(uint64_t line) { return static_cast<double>(((line / 4) * 0x9e3779b97f4a7c15) >> 48) / 65536; }
  Ticks from_l2(Ticks begin, uint32_t sectors, double from_dram, double fetched, uint32_t requests, double farthest);
  // Memory answers later the more it has to do: requests of many multiprocessors meet there by chance.
  Ticks use_dram(Ticks from, double bytes);
  void add_load(Ticks from, double bytes);
  // What `leaving_` names goes to L2.
  Ticks store(Warp& warp, const Access& a, const Ready& r, Ticks start, Ticks& cost, bool local);

  // When a word of a block in shared memory can be changed by the next one.
  struct Turns {
    uint32_t place = ~0u, word = 0;
    Ticks free = 0;
  };
  std::array<Turns, 256> turns_{};
  // When sectors of a line that were asked for last are there: L1 has them before.
  struct Arrival {
    uint64_t line = ~uint64_t{0};
    Ticks at = 0;
    uint8_t sectors = 0;  // that come
  };
  Arrival& arrival(uint64_t line) { return arrivals_[(line * 0x9e3779b97f4a7c15) >> 51]; }

  const Work& work_;
  const Rates& rates_;
  const Share share_;
  const Program& program_;
  Run& result_;
  Cache l1_;
  std::vector<Arrival> arrivals_ = std::vector<Arrival>(size_t{1} << 13);
  std::vector<Arrival*> coming_;
  std::vector<Ticks> in_flight_;
  size_t flight_ = 0;
  Server fill_, out_, dram_;
  const bool keeps_stores_ = rates_.unified_l1 && rates_.l1_keeps_stores > 0;
  const Ticks shared_replay_ = ticks(rates_.shared_replay), wide_passes_ = ticks(rates_.wide_passes);
  const Ticks path_interval_ = ticks(rates_.path_interval), path_release_ = ticks(rates_.path_release),
              path_store_read_ = ticks(rates_.path_store_read), stored_wait_ = ticks(rates_.stored_wait);
  Queue stores_;  // what they bring waits for the path
  StoredLines stored_;
  struct Leaving {
    uint64_t line = 0;
    uint8_t sectors = 0;
    bool goes_on = false;  // where the line before ends
  };
  std::vector<Leaving> leaving_;
  Access of_spilled_;
  std::vector<Line> lines_of_spilled_;
  Ticks stood_ = 0;  // how long the path stood still for what goes out: what waits in front of it waits on
  const Ticks far_latency_ = ticks(work_.far_latency * rates_.clock_ghz());
  Ticks cluster_free_ = 0, constants_free_ = 0, lsu_free_ = 0, texture_free_ = 0, drained_ = 0, load_at_ = 0;
  double local_beyond_l2_ = 0, local_credit_ = 0;  // the share of threads' own memory that L2 has no room for
  Ticks atomics_free_ = 0, ticks_of_atomic_ = 0;
  Ticks atomics_left_ = ticks(share_.atomics);  // all of them take no longer together
  double unused_credit_ = 0;
  double load_ = 0, written_back_share_ = 0, stores_on_fill_ = 1;
  std::vector<std::vector<double>> credit_, late_credit_, far_credit_;
};

}  // namespace warpbeam::timing
