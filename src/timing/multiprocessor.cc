#include "timing/multiprocessor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "timing/cache.h"
#include "timing/instruction_cache.h"
#include "timing/program.h"

namespace warpbeam::timing {
namespace {

using assembly::Operation;

constexpr double kSector = 32, kLineBytes = 128;

struct Warp {
  const WarpTrace* trace = nullptr;
  const BlockTrace* block = nullptr;
  size_t step = 0, next_step = 0;   // being executed; the first that does not belong to its text
  size_t end_step = 0;              // of its trace
  uint64_t again = 0;               // how often the second half of its trace stands for what was not kept
  size_t last_from = 0;             // the last time, from this step on
  uint64_t round = 0;               // which of these times it is
  uint64_t rounds = 1;              // so many of them come to lines of their own, then it is the same ones' turn again
  const Text* text = nullptr;
  size_t at = 0;                    // in the text
  uint32_t first_access = 0, end_access = 0;
  uint64_t taken = 0;               // accesses of those that were made
  Ticks ready = 0;                  // when its next instruction may be issued, units aside
  Ticks waits_since = 0;
  Ticks held_before = 0;            // Scheduler::held at that time
  Stall why = Stall::NoInstruction;
  uint32_t place = 0;
  uint64_t number = 0;              // of its block among those that run here
  bool alive = false, at_barrier = false, at_grid_barrier = false;
  Ticks pending_copies = 0;         // when what it copies asynchronously is there
  double copies_per_wait = 0;       // bulk copies of its block for each wait for a phase
  uint64_t phases = 0;              // that it waited for
  bool copies = false;              // asks for some itself
  size_t wants_copies = 0;          // so many of its block must have been asked for before it goes on
  Ticks stored = 0;                 // when L2 has all that it stored
  std::array<Ticks, kUnits> unit_again{};  // when it can go to a unit again: the assembler spaces a warp's own instructions
  std::array<Ticks, assembly::kMachineRegisters> written{};
  std::array<Ticks, assembly::kMachineRegisters> released{};  // by what reads them on the path to memory
  std::array<Source, assembly::kMachineRegisters> source{};
  std::array<bool, assembly::kMachineRegisters> by_global{};
};

struct Place {  // of a block
  uint32_t warps = 0, alive = 0, waiting = 0;
  bool at_grid_barrier = false;
  bool used = false;
  Ticks begun = 0;
  size_t copies = 0;            // bulk copies that it will ask for
  std::vector<Ticks> arrived;   // when each is there, of those that it has asked for
};

// A queue of so many, in order: when each of the last ones leaves it.
struct Queue {
  std::vector<Ticks> leaves;
  size_t next = 0;
  void add(Ticks when) {
    leaves[next] = when;
    next = (next + 1) % leaves.size();
  }
  Ticks room() const { return leaves[next]; }
};

// A scheduler's way to a path that all of them share: what it has issued waits there for the path.
struct Way {
  Queue taken;
  Ticks free = 0;  // when it can bring the next one
  Ticks read = 0;  // and read its registers
};

struct Scheduler {
  std::vector<uint32_t> warps;
  Ticks next = 0;          // when it can issue again
  Ticks issued_until = 0;  // its issue slot is taken until then
  Ticks held = 0;          // how long it was, for registers to be read
  std::array<Ticks, kUnits> unit_free{};
  Way memory, texture;
};

// A stream of bytes at a rate.
struct Server {
  Ticks free = 0;
  double per_byte = 0;  // ticks
  double rest = 0;
  Ticks slack = 0;  // what it did not do by now it may do later, so much of it
  Ticks serve(Ticks from, double bytes) {
    const double cost = bytes * per_byte + rest;
    const Ticks whole = static_cast<Ticks>(cost);
    rest = cost - static_cast<double>(whole);
    free = std::max(free, from - slack) + whole;
    return std::max(free, from);
  }
};

class Multiprocessor {
 public:
  Multiprocessor(const Work& work, const Rates& rates, const Share& share)
      : work_(work),
        rates_(rates),
        share_(share),
        program_(make_program(work, rates)),
        l1_(std::max<uint64_t>(Cache::kWays,
                               (rates.unified_l1 ? rates.l1_bytes - std::min(rates.l1_bytes, work.shared_bytes) : rates.l1_bytes) / 128)),
        schedulers_(static_cast<size_t>(rates.schedulers)),
        in_flight_(std::max<size_t>(16, static_cast<size_t>(rates.sectors_in_flight)), 0) {
    fill_.per_byte = kTick / std::min(rates.l1_fill_bytes, share.l2_read);
    out_.per_byte = kTick / share.l2_write;
    stores_on_fill_ = share.l2_read / share.l2_beside;
    dram_.per_byte = kTick / share.dram;
    for (Server* s : {&fill_, &out_, &dram_}) s->slack = ticks(rates.share_slack);
    for (Scheduler& s : schedulers_)
      for (Way* way : {&s.memory, &s.texture}) way->taken.leaves.assign(static_cast<size_t>(rates.path_entries), 0);
    stores_.leaves.assign(static_cast<size_t>(rates.path_stores), 0);
    active_ = std::max(1.0, share.active);
    for (const FunctionWork& f : work.functions)
      for (const assembly::MachineBlock& b : f.code->blocks)
        for (const assembly::MachineInstruction& m : b.text) {
          has_barriers_ = has_barriers_ || m.operation == Operation::Barrier;
          copies_ = copies_ || m.operation == Operation::CopyBulk;
        }
    if (const double atomics = accesses_per_block(
            [](const Access& a) { return a.space == Space::Global && (a.kind == Kind::Atomic || a.kind == Kind::Reduce) ? 1.0 : 0.0; });
        atomics > 0)
      ticks_of_atomic_ = ticks(share.atomics / (atomics * static_cast<double>(work.grid_blocks) / share.active));
    const double stored = total_stores();
    written_back_share_ = stored > 0 ? (work.written_back + work.read_for_stores) / stored : 0;
    local_beyond_l2_ = 1 - std::min(1.0, static_cast<double>(rates.l2_bytes) * rates.l2_usable_share / std::max(1.0, local_bytes()));
    for (const FunctionWork& f : work.functions) {
      credit_.emplace_back(f.code->block_of.size(), 0.0);
      result_.by_instruction.emplace_back(f.code->block_of.size(), Stalls{});
    }
  }

  Run run(const std::vector<Part>& blocks) {
    blocks_ = &blocks;
    result_.blocks = blocks.size();
    const uint32_t warps_per_block = (work_.block_threads + 31) / 32;
    const uint32_t places = static_cast<uint32_t>(std::min<uint64_t>(work_.resident_blocks, blocks.size()));
    places_.resize(places);
    warps_.resize(size_t{places} * warps_per_block);
    for (size_t w = 0; w < warps_.size(); ++w) schedulers_[w % schedulers_.size()].warps.push_back(static_cast<uint32_t>(w));
    for (uint32_t p = 0; p < places; ++p) start_block(p, 0);
    for (;;) {
      Scheduler* first = nullptr;
      for (Scheduler& s : schedulers_)
        if (s.next < kNever && (!first || s.next < first->next)) first = &s;
      if (!first) {
        if (!release_stuck()) break;
        continue;
      }
      issue_next(*first);
    }
    finish();
    return std::move(result_);
  }

 private:
  // Local memory of all threads that are at work at one time, as far as they touch it.
  double local_bytes() const {
    std::vector<uint64_t> lines;
    for (const BlockTrace& b : work_.blocks)
      for (const WarpTrace& w : b.warps)
        for (const Access& a : w.accesses)
          if (a.space == Space::Local)
            for (uint32_t k = 0; k < a.lines; ++k)
              lines.push_back(b.lines[a.first_line + k].number ^ static_cast<uint64_t>(&b - work_.blocks.data()) << 44);
    std::ranges::sort(lines);
    const auto different = static_cast<double>(std::unique(lines.begin(), lines.end()) - lines.begin());
    const double at_work =
        std::min(static_cast<double>(work_.grid_blocks), static_cast<double>(work_.resident_blocks) * rates_.multiprocessors);
    return kLineBytes * different / static_cast<double>(std::max<size_t>(1, work_.blocks.size())) * at_work;
  }

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
  double total_stores() const {
    return static_cast<double>(work_.grid_blocks) * accesses_per_block([](const Access& a) {
             return a.space == Space::Global && a.kind != Kind::Load && a.kind != Kind::Copy ? a.sectors : 0.0;
           });
  }

  // --- blocks and warps
  void start_block(uint32_t place, Ticks from) {
    Place& p = places_[place];
    // The chip starts blocks one after the other, on all multiprocessors in turn.
    const Ticks at = std::max(from, next_start_);
    next_start_ = at + ticks(rates_.block_interval) * static_cast<Ticks>(share_.active) / std::max(1, rates_.multiprocessors);
    const uint64_t number = started_++;
    const Part& part = (*blocks_)[number];
    const BlockTrace& trace = *part.trace;
    result_.executed += static_cast<double>(trace.executed) * part.times;
    const uint32_t warps = (work_.block_threads + 31) / 32;
    p = {warps, warps, 0, false, true, at, copies_ ? bulk_copies(trace) : 0, {}};
    for (uint32_t w = 0; w < warps; ++w) {
      const uint32_t index = place * warps + w;
      Warp& warp = warps_[index];
      warp.trace = w < trace.warps.size() ? &trace.warps[w] : nullptr;
      warp.block = &trace;
      warp.step = warp.next_step = 0;
      warp.again = warp.round = 0;
      warp.end_step = warp.trace ? warp.trace->steps.size() : 0;
      if (warp.trace) repeat(warp, part);
      warp.text = nullptr;
      warp.alive = true;
      warp.at_barrier = warp.at_grid_barrier = false;
      warp.place = place;
      warp.number = number;
      warp.pending_copies = warp.stored = 0;
      warp.phases = warp.wants_copies = 0;
      warp.copies = p.copies && warp.trace && std::ranges::any_of(warp.trace->accesses, &Access::bulk);
      warp.copies_per_wait = p.copies && warp.trace ? static_cast<double>(p.copies) / std::max<double>(1, phase_waits(*warp.trace)) : 0;
      warp.written.fill(0);
      warp.released.fill(0);
      warp.unit_again.fill(0);
      const Ticks begin = std::max(at, next_warp_);
      next_warp_ = begin + ticks(rates_.warp_interval);
      warp.waits_since = begin;
      if (!next_text(warp, begin, Stall::NoInstruction)) end_warp(warp, begin);
    }
    for (Scheduler& s : schedulers_) wake(s);
  }

  static bool is_read(const Access& a) { return a.kind == Kind::Load || a.kind == Kind::Copy; }

  // Loads by the unit for copies: one for each time that a warp comes to the instruction.
  static size_t bulk_copies(const BlockTrace& trace) {
    size_t count = 0;
    for (const WarpTrace& w : trace.warps) {
      uint32_t before = ~0u;
      size_t step = 0;
      for (uint32_t k = 0; k < w.accesses.size(); ++k) {
        for (; step + 1 < w.steps.size() && w.steps[step + 1].first_access <= k; ++step) before = ~0u;
        const Access& a = w.accesses[k];
        if (a.bulk && is_read(a)) count += std::exchange(before, a.ptx) != a.ptx;
      }
    }
    return count;
  }
  size_t phase_waits(const WarpTrace& trace) const {
    return static_cast<size_t>(
        std::ranges::count_if(trace.steps, [&](const Step& s) { return program_.functions[s.function][s.block].phase_wait; }));
  }

  // Bulk copies go from L2 to shared memory, or back, without a register, and a phase of a barrier in memory ends when they are there. Which copy
  // a wait is for is told by their order: a block that makes twice as many copies as a warp waits for phases has two of them in each.
  // Precondition: barriers in memory tell of copies alone, or in step with them (rings of tiles). Fallback: a wait costs what the instruction does.
  void copy_bulk(Warp& warp, const Ready& r, Ticks t) {
    uint32_t loaded = 0, requests = 0, stored = 0;
    Access store_of{};
    for (uint32_t k = warp.first_access; k < warp.end_access; ++k) {
      const Access& a = warp.trace->accesses[k];
      if (!a.bulk || a.ptx != r.ptx) continue;
      if (is_read(a)) loaded += a.sectors, requests += a.lines;
      else stored += a.sectors, store_of = a;
    }
    const uint32_t function = warp.trace->steps[warp.step].function;
    if (loaded) {
      result_.traffic.global_load += loaded;
      const double from_dram = dram_sectors(function, r.ptx, loaded, loaded, requests);
      const double fetched = from_dram > 0 ? work_.functions[function].from_memory[r.ptx].fetched_share() : 1;
      arrives(places_[warp.place], warp.place, from_l2(t + r.latency, loaded, from_dram, fetched, requests, 0.5));
    }
    Ticks cost = 0;
    if (stored) store(warp, store_of, r, t + r.latency, cost, stored, stored * kSector, false);
  }

  void arrives(Place& p, uint32_t place, Ticks done) {
    p.arrived.push_back(done);
    for (uint32_t w = 0; w < p.warps; ++w) {
      Warp& warp = warps_[place * p.warps + w];
      if (!warp.wants_copies || p.arrived.size() < warp.wants_copies) continue;
      warp.ready = std::max(warp.waits_since, p.arrived[warp.wants_copies - 1]);
      warp.wants_copies = 0;
    }
    for (Scheduler& s : schedulers_) wake(s);
  }

  // False: what it waits for has not been asked for.
  bool wait_for_copies(Warp& warp, Ticks& from, Stall& why) {
    const Place& p = places_[warp.place];
    const auto wanted = static_cast<size_t>(std::llround(static_cast<double>(++warp.phases) * warp.copies_per_wait));
    if (!wanted) return true;
    if (p.arrived.size() < wanted) {
      if (warp.copies || wanted > p.copies) return true;  // who asks for copies waits for room, not for the next of them
      warp.wants_copies = wanted;
      return false;
    }
    if (p.arrived[wanted - 1] > from) from = p.arrived[wanted - 1], why = Stall::LongScoreboard;
    return true;
  }

  void end_warp(Warp& warp, Ticks at) {
    warp.alive = false;
    warp.ready = kNever;
    Place& p = places_[warp.place];
    result_.warp_cycles += static_cast<double>(at - p.begun) / kTick;
    if (--p.alive == 0) {
      p.used = false;
      ends_.push_back(at);
      last_ = std::max(last_, at);
      if (started_ < blocks_->size()) start_block(warp.place, at + ticks(std::max(0.0, rates_.block_start - rates_.block_interval)));
    } else if (p.waiting == p.alive) {
      open_barrier(p, warp.place, at);
    }
  }

  void open_barrier(Place& p, uint32_t place, Ticks at) {
    p.waiting = 0;
    const Ticks goes_on = at + ticks(rates_.of(Operation::Barrier).latency);
    for (uint32_t w = 0; w < p.warps; ++w) {
      Warp& warp = warps_[place * p.warps + w];
      if (!warp.alive || !warp.at_barrier || warp.at_grid_barrier) continue;
      warp.at_barrier = false;
      ready_for_next(warp, goes_on, Stall::Barrier);
    }
    for (Scheduler& s : schedulers_) wake(s);
  }

  // Blocks that wait for all others of the grid wait for those of this multiprocessor.
  void come_to_grid_barrier(Warp& warp, Ticks at) {
    warp.at_grid_barrier = warp.at_barrier = true;
    places_[warp.place].at_grid_barrier = true;
    for (const Place& p : places_)
      if (p.used && !p.at_grid_barrier) return;
    open_grid_barrier(at);
  }

  void open_grid_barrier(Ticks at) {
    l1_.forget_all();
    const Ticks goes_on = at + ticks(rates_.grid_barrier);
    for (Place& p : places_) p.at_grid_barrier = false;
    for (Warp& w : warps_) {
      if (!w.alive || !w.at_grid_barrier) continue;
      w.at_grid_barrier = w.at_barrier = false;
      w.ready = std::max(w.ready, goes_on);
      w.why = Stall::LongScoreboard;
    }
    for (Scheduler& s : schedulers_) wake(s);
  }

  // Barriers that count fewer than all threads, and waits for other blocks: whoever waits goes on.
  bool release_stuck() {
    if (std::ranges::any_of(warps_, [](const Warp& w) { return w.alive && w.at_grid_barrier; })) {
      open_grid_barrier(now_);
      return true;
    }
    bool waited = false;
    for (Warp& w : warps_)
      if (w.alive && w.wants_copies) w.ready = w.waits_since, w.wants_copies = 0, waited = true;
    if (waited) {
      for (Scheduler& s : schedulers_) wake(s);
      return true;
    }
    for (uint32_t p = 0; p < places_.size(); ++p)
      if (places_[p].used && places_[p].waiting) {
        open_barrier(places_[p], p, now_);
        return true;
      }
    return false;
  }

  void wake(Scheduler& s) {
    Ticks next = kNever;
    for (uint32_t w : s.warps)
      if (warps_[w].alive && !warps_[w].at_barrier) next = std::min(next, std::max(warps_[w].ready, unit_free(s, warps_[w])));
    s.next = next == kNever ? kNever : std::max(next, s.issued_until);
  }

  // --- the way of a warp through its trace
  // False: it has come to its end.
  bool next_text(Warp& warp, Ticks from, Stall why) {
    const WarpTrace* t = warp.trace;
    for (;;) {
      if (t && warp.next_step >= warp.end_step && warp.again) {
        --warp.again;
        warp.round = (warp.round + 1) % warp.rounds;
        warp.next_step = warp.again ? t->steps.size() / 2 : warp.last_from;
      }
      if (!t || warp.next_step >= warp.end_step) return false;
      warp.step = warp.next_step;
      const Step& step = t->steps[warp.step];
      const std::vector<ReadyBlock>& blocks = program_.functions[step.function];
      const ReadyBlock& block = blocks[step.block];
      size_t next = warp.step + 1;
      const Text* text = &block.once;
      // Blocks that are part of this one come along with it.
      const auto behind_parts = [&](size_t at) {
        while (at < t->steps.size() && t->steps[at].function == step.function &&
               blocks[t->steps[at].block].folded_into == static_cast<int32_t>(step.block))
          ++at;
        return at;
      };
      next = behind_parts(next);
      if (block.turns > 1) {
        size_t end = next;
        uint32_t turns = 1;
        for (; turns < block.turns && end < t->steps.size() && same(t->steps[end], step); ++turns) end = behind_parts(end + 1);
        if (turns == block.turns) {
          text = &block.unrolled;
          next = end;
        }
      }
      warp.next_step = next;
      if (block.folded_into >= 0 || text->code.empty()) continue;
      warp.text = text;
      warp.at = 0;
      warp.first_access = step.first_access;
      warp.end_access = next < t->steps.size() ? t->steps[next].first_access : static_cast<uint32_t>(t->accesses.size());
      warp.taken = 0;
      ready_for_next(warp, from, why);
      return true;
    }
  }

  // Machine instructions of a warp's way, and of its second half by steps.
  struct Length {
    double all = 0, late = 0;
  };
  double length_of(const Step& s) const {
    const ReadyBlock& block = program_.functions[s.function][s.block];
    if (block.folded_into >= 0) return 0;  // comes along with another one
    return block.turns > 1 ? static_cast<double>(block.unrolled.code.size()) / block.turns : static_cast<double>(block.once.code.size());
  }
  Length length_of(const WarpTrace& t) const {
    Length l;
    for (size_t k = 0; k < t.steps.size(); ++k) {
      const double of_step = length_of(t.steps[k]);
      l.all += of_step;
      if (k >= t.steps.size() / 2) l.late += of_step;
    }
    return l;
  }
  Length length_of(const BlockTrace& b) {
    if (std::exchange(measured_, &b) == &b) return measured_length_;
    measured_length_ = {};
    for (const WarpTrace& t : b.warps) {
      const Length l = length_of(t);
      measured_length_.all += l.all, measured_length_.late += l.late;
    }
    return measured_length_;
  }

  // What was not kept of a warp's way, and what its block does beyond the one that was followed, is more of the second half of that way, as often as it
  // takes and the last time as much of its end as is left; what it does less is missing at its end. Where warps wait for each other they go on equally
  // often.
  void repeat(Warp& warp, const Part& part) {
    const auto executed = static_cast<double>(has_barriers_ ? part.trace->executed : warp.trace->executed) * part.times;
    const auto kept = static_cast<double>(has_barriers_ ? part.trace->instructions : warp.trace->instructions);
    if (kept <= 0) return;
    constexpr double kMostRounds = 4096;  // as many as leave a line's number apart from others'
    const BlockTrace& all = *part.trace;
    const double more = all.late_lines ? static_cast<double>(all.lines_beyond) / static_cast<double>(all.late_lines) : 0;
    warp.rounds = part.times > 1 && all.late_lines ? static_cast<uint64_t>(kMostRounds)
                                                   : 1 + static_cast<uint64_t>(std::llround(std::min(more, kMostRounds - 1)));
    if (executed < kept) {
      warp.end_step = std::max<size_t>(1, static_cast<size_t>(std::llround(static_cast<double>(warp.end_step) * executed / kept)));
      return;
    }
    constexpr double kLittle = 0.005;
    const double missing = executed / kept - 1;  // of what was kept
    if (missing < kLittle) return;
    const Length own = length_of(*warp.trace), l = has_barriers_ ? length_of(all) : own;
    if (l.late <= 0) return;
    const double halves = missing * l.all / l.late;
    warp.again = static_cast<uint64_t>(std::ceil(halves - kLittle));
    const double left = (halves - static_cast<double>(warp.again - 1)) * own.late;
    const std::vector<Step>& steps = warp.trace->steps;
    warp.last_from = steps.size();
    for (double passed = 0; warp.last_from; --warp.last_from) {
      const double next = length_of(steps[warp.last_from - 1]);
      if (warp.last_from < steps.size() && passed + next / 2 > left) break;
      passed += next;
    }
  }

  static bool same(const Step& a, const Step& b) { return a.function == b.function && a.block == b.block; }

  // When the warp's next instruction can go, as far as what it reads is concerned.
  void ready_for_next(Warp& warp, Ticks from, Stall why) {
    const Ready& r = warp.text->code[warp.at];
    const uint16_t* reg = &program_.registers[r.first_register];
    for (int k = 0; k < r.reads; ++k) {
      Ticks written = warp.written[reg[k]];
      if (!written) continue;
      if (r.guarded && reg[k] >= assembly::kPredicates && reg[k] < assembly::kUniform) written += guard_latency_;
      if (written > from) from = written, why = stall_of(warp.source[reg[k]]);
    }
    for (int k = r.reads; k < r.reads + r.writes; ++k)
      if (const Ticks released = warp.released[reg[k]]; released > from)
        from = released, why = warp.by_global[reg[k]] ? Stall::LongScoreboard : Stall::ShortScoreboard;
    if (const Ticks again = warp.unit_again[static_cast<size_t>(r.unit)]; r.unit == r.other && again > from)
      from = again, why = Stall::Wait;
    if (r.operation == Operation::WaitAsync && warp.pending_copies > from) from = warp.pending_copies, why = Stall::LongScoreboard;
    if (const Ticks fetched = instructions_.get(warp.text->lines[warp.at / kInstructionsPerLine], from); fetched > from)
      from = fetched, why = Stall::NoInstruction;
    warp.ready = from;
    warp.why = why;
    if (r.phase_wait && warp.copies_per_wait > 0) {
      if (wait_for_copies(warp, from, why)) warp.ready = from, warp.why = why;
      else warp.ready = kNever, warp.why = Stall::LongScoreboard;
    }
  }

  Ticks unit_free(const Scheduler& s, const Warp& warp) const {
    const Ready& r = warp.text->code[warp.at];
    const Ticks free = std::min(s.unit_free[static_cast<size_t>(r.unit)], s.unit_free[static_cast<size_t>(r.other)]);
    if (r.stores) return std::max(free, stores_.room());
    return r.computes ? std::max(free, s.unit_free[static_cast<size_t>(Unit::Alu)]) : free;
  }

  // --- issue
  void issue_next(Scheduler& s) {
    const Ticks t = s.next;
    now_ = t;
    // In turn: who has been ready longest (measured: 8 warps that only compute, and 32 whose loads keep L1 busy, end within a hundredth of the
    // time).
    uint32_t chosen = ~0u;
    int ready = 0;
    for (uint32_t w : s.warps) {
      const Warp& warp = warps_[w];
      if (!warp.alive || warp.at_barrier || warp.ready > t || unit_free(s, warp) > t) continue;
      ++ready;
      if (chosen == ~0u || warp.ready < warps_[chosen].ready) chosen = w;
    }
    if (chosen == ~0u) return wake(s);
    result_.eligible += ready;
    const Ready& r = warps_[chosen].text->code[warps_[chosen].at];
    s.issued_until = t + issue_interval_ + r.hold;
    issue(s, warps_[chosen], t);
    s.held += r.hold;
    wake(s);
  }

  void issue(Scheduler& s, Warp& warp, Ticks t) {
    const Ready& r = warp.text->code[warp.at];
    account(s, warp, r, t);
    ++result_.issued;
    if (r.operation == Operation::MatrixHalf || r.operation == Operation::MatrixGroup) result_.half_matrices = true;
    const auto unit =
        static_cast<size_t>(s.unit_free[static_cast<size_t>(r.unit)] <= s.unit_free[static_cast<size_t>(r.other)] ? r.unit : r.other);
    result_.busy[unit] += static_cast<double>(r.interval) / kTick;
    s.unit_free[unit] = t + r.interval;
    if (r.computes) s.unit_free[static_cast<size_t>(Unit::Alu)] = t + r.interval;
    if (r.unit == r.other) warp.unit_again[unit] = t + r.own_interval;
    Ticks done = t + r.latency;
    if (r.unit == Unit::Lsu || r.unit == Unit::Texture) done = to_memory(s, warp, r, t);
    else if (r.operation == Operation::LoadConst && r.access) done = from_constants(warp, r, t);
    else if (r.operation == Operation::CopyBulk) copy_bulk(warp, r, t);
    const Source source = r.operation == Operation::LoadConst && r.access ? Source::Short : source_of(r.operation);
    const uint16_t* const reg = &program_.registers[r.first_register] + r.reads;
    for (int k = 0; k < r.writes; ++k) warp.written[reg[k]] = done, warp.source[reg[k]] = source;
    last_ = std::max(last_, source == Source::Fixed ? t : done);
    Ticks from = t + kTick;
    Stall why = Stall::Wait;
    if (r.operation == Operation::Fence) {
      from = t + r.latency, why = Stall::Membar;
      l1_.forget_all();  // what others stored is to be seen
    }
    // What blocks of the cluster are to see has to be there before they are told.
    if (r.cluster_arrives)
      from = std::max({t + ticks(rates_.of(Operation::Fence).latency), warp.stored, cluster_free_ + ticks(rates_.cluster_latency)}),
      why = Stall::Membar;
    if (r.cluster_waits) from = t + ticks(rates_.cluster_barrier), why = Stall::Barrier;
    if (r.operation == Operation::Branch && r.reads) from = t + ticks(rates_.branch_passed), why = Stall::Branch;
    if (r.rejoins) from = t + ticks(rates_.rejoin), why = Stall::Branch;
    if (r.operation == Operation::Sleep) why = Stall::Sleeping;
    if (r.operation == Operation::Print) from = served(prints_, warp, t), why = Stall::LongScoreboard;
    if (r.operation == Operation::Allocate) from = served(allocations_, warp, t), why = Stall::LongScoreboard;
    warp.waits_since = t + kTick;
    warp.held_before = s.held;
    const bool barrier = r.operation == Operation::Barrier && !r.cluster_arrives;
    const uint32_t here = warp.trace->steps[warp.step].block;
    const uint32_t function = warp.trace->steps[warp.step].function;
    if (++warp.at == warp.text->code.size()) {
      const bool waited = warp.trace->steps[warp.step].waits;
      const bool more = next_text(warp, from, why);
      // A warp is gone only when its stores have arrived.
      if (!more) {
        const Ticks gone = std::max(t + kTick, warp.stored);
        const double drains = static_cast<double>(gone - t - kTick) / kTick;
        result_.stalls[static_cast<size_t>(Stall::Drain)] += drains;
        result_.by_instruction[function][r.ptx][static_cast<size_t>(Stall::Drain)] += drains;
        return end_warp(warp, gone);
      }
      if (waited && work_.cooperative) return come_to_grid_barrier(warp, t);
      // What another block does about it has to get here.
      if (waited) warp.ready = std::max(warp.ready, t + ticks(rates_.grid_barrier)), warp.why = Stall::LongScoreboard;
      const Step& now = warp.trace->steps[warp.step];
      if (now.function != function || now.block != here + 1) {
        const Ticks arrives = t + ticks(rates_.branch_taken);
        s.issued_until += ticks(rates_.branch_issue);
        if (arrives > warp.ready) warp.ready = arrives, warp.why = Stall::Branch;
      }
    } else {
      ready_for_next(warp, from, why);
    }
    if (barrier) {
      // Its unit takes one warp after the other.
      barrier_free_ = std::max(barrier_free_, r.cluster_waits ? from : t) + ticks(rates_.barrier_warp);
      Place& p = places_[warp.place];
      warp.at_barrier = true;
      if (++p.waiting == p.alive) open_barrier(p, warp.place, barrier_free_);
    }
  }

  // What serves one warp of the whole device after the other; the others' multiprocessors call as often as this one.
  struct OneByOne {
    double ns, lane_ns, serve_ns, serve_lane_ns;
    Ticks free = 0;
  };
  Ticks served(OneByOne& by, const Warp& warp, Ticks t) const {
    const int lanes = std::max(1, __builtin_popcount(warp.trace->steps[warp.step].lanes));
    const auto time = [&](double ns, double of_lane) { return ticks((ns + of_lane * lanes) * rates_.clock_ghz()); };
    const Ticks takes = time(by.ns, by.lane_ns), serves = time(by.serve_ns, by.serve_lane_ns);
    by.free = std::max(by.free, t) + static_cast<Ticks>(static_cast<double>(serves) * active_);
    return std::max(t + takes, by.free + takes - serves);
  }

  // The time since its last issue: first it waited for what it reads, then for the unit, then for its turn.
  void account(const Scheduler& s, const Warp& warp, const Ready& r, Ticks t) {
    Stalls& mine = result_.by_instruction[warp.trace->steps[warp.step].function][r.ptx];
    const auto add = [&](Stall why, Ticks from, Ticks to) {
      if (to <= from) return;
      const double cycles = static_cast<double>(to - from) / kTick;
      result_.stalls[static_cast<size_t>(why)] += cycles;
      mine[static_cast<size_t>(why)] += cycles;
    };
    const Ticks since = warp.waits_since;
    const Ticks ready = std::clamp(warp.ready, since, t);
    const Ticks unit = std::clamp(unit_free(s, warp), ready, t);
    // A branch and a barrier are waited for themselves first; where a branch goes is known then, and what is there has to be fetched. (Measured: 5, 3 and
    // 2 cycles; 4.)
    const Ticks itself = warp.why == Stall::Branch ? 5 * kTick : warp.why == Stall::Barrier ? 4 * kTick : 0;
    const Ticks begun = std::min(ready, since + itself), known = warp.why == Stall::Branch ? std::min(ready, begun + 3 * kTick) : ready;
    add(Stall::Wait, since, begun);
    add(warp.why, begun, known);
    add(Stall::NoInstruction, known, ready);
    add(throttle_of(r), ready, unit);
    const Ticks held = std::min(s.held - warp.held_before, t - unit);
    add(Stall::Dispatch, unit, unit + held);
    add(Stall::NotSelected, unit + held, t);
    add(Stall::Selected, t, t + kTick);
  }

  // --- memory
  const Access* take_access(Warp& warp, uint32_t ptx) {
    for (uint32_t k = warp.first_access; k < warp.end_access; ++k) {
      const uint64_t bit = uint64_t{1} << ((k - warp.first_access) & 63);
      if (warp.trace->accesses[k].ptx != ptx || (warp.taken & bit && k - warp.first_access < 64)) continue;
      warp.taken |= bit;
      return &warp.trace->accesses[k];
    }
    return nullptr;
  }

  // The cache of constants gives lanes that share an address what is there, two words at most, one address after the other.
  Ticks from_constants(Warp& warp, const Ready& r, Ticks t) {
    const Access* const a = take_access(warp, r.ptx);
    if (!a) return t + r.latency;
    const Ticks start = std::max(t, constants_free_);
    const int more = std::max<int>(1, a->passes) * ((r.writes + 1) / 2) - 1;
    constants_free_ = start + ticks(rates_.constant_interval) * (more + 1);
    return start + r.latency + ticks(rates_.constant_latency) * more;
  }

  // The path to memory takes one instruction after the other, for as many cycles as it makes passes. A scheduler's own instructions come to it more slowly,
  // and when its queue is full the scheduler keeps the next ones.
  Ticks to_memory(Scheduler& s, Warp& warp, const Ready& r, Ticks t) {
    const Access* const a = r.access ? take_access(warp, r.ptx) : nullptr;
    Ticks cost = r.interval;
    const bool texture = r.unit == Unit::Texture;
    Ticks& path = texture ? texture_free_ : lsu_free_;
    Way& way = texture ? s.texture : s.memory;
    if (r.access && !a) return t + kTick;  // no lane takes part
    // What the path has room for is anybody's; its own way and its operands are this scheduler's.
    const Ticks turn = std::max(t, path), read = std::max(t, way.read);
    const Ticks start = std::max({turn, way.free, read});
    way.read = read + (r.stores ? path_store_read_ : path_interval_);
    Ticks done = start + r.latency;
    if (a) {
      switch (a->space) {
        case Space::Shared: {
          if (a->cluster) {
            done = over_cluster(*a, start, cost) + r.latency;
            break;
          }
          cost = std::max<Ticks>(cost, a->passes * shared_pass_);
          s.issued_until += a->conflicts * shared_replay_;
          done = start + r.latency + further_passes(*a, rates_.shared_pass_latency);
          if (r.operation == Operation::AtomicLoop) done = std::max(done, last_of_turns(warp, *a, start, cost) + r.latency);
          break;
        }
        case Space::Constant: break;
        case Space::Texture:
        case Space::Global:
        case Space::Local: done = through_l1(warp, *a, r, start, cost); break;
      }
    }
    if (r.operation == Operation::CopyAsync) warp.pending_copies = std::max(warp.pending_copies, done);
    path = turn + cost;
    result_.lsu_busy += static_cast<double>(cost) / kTick;
    const Ticks passes = std::max<Ticks>(r.interval, a ? a->passes * kTick : 0);
    way.free = start + static_cast<Ticks>(static_cast<double>(passes) * rates_.path_own_share);
    way.taken.add(start);
    if (r.stores) stores_.add(start);
    Ticks& free = s.unit_free[static_cast<size_t>(r.unit)];
    free = std::max({free, t + path_interval_, way.taken.room()});
    const uint16_t* const reg = &program_.registers[r.first_register];
    for (int k = 0; r.stores && k < r.reads; ++k)
      warp.released[reg[k]] = read + path_release_, warp.by_global[reg[k]] = throttle_of(r) == Stall::LgThrottle;
    return done;
  }

  // The cluster's network takes one after the other; what it has not taken fills up the path to memory.
  Ticks over_cluster(const Access& a, Ticks start, Ticks& cost) {
    const bool atomic = a.kind == Kind::Atomic || a.kind == Kind::Reduce;
    cluster_free_ = std::max(cluster_free_, start) + ticks(atomic ? a.lines * rates_.cluster_atomic : a.sectors * rates_.cluster_sector);
    cost = std::max(cost, cluster_free_ - ticks(rates_.store_backlog) - start);
    return cluster_free_ + ticks(rates_.cluster_latency);
  }

  // How much later a load is there for each pass over the banks beyond the first.
  Ticks further_passes(const Access& a, double each) const { return ticks((std::max<int>(1, a.passes) - 1) * each); }

  // Lanes that change one word read, compute and try again in turn, as long as others of the block were faster.
  Ticks last_of_turns(const Warp& warp, const Access& a, Ticks start, Ticks& cost) {
    const Ticks turn = ticks(rates_.atomic_turn);
    cost += std::max(0, a.lines - 1) * ticks(rates_.atomic_turn_path);
    Ticks& free = turns_of(warp.place, a.first_line);
    free = std::max(free, start) + a.lines * turn;
    return free - (a.lines > 1 ? turn : 0);  // who is alone finds out in a turn more that it is done
  }

  Ticks& turns_of(uint32_t place, uint32_t word) {
    Turns& t = turns_[(word ^ place * 0x9e3779b1u) * 0x9e3779b1u >> 24];
    if (t.place != place || t.word != word) t = {place, word, 0};
    return t.free;
  }

  Ticks through_l1(Warp& warp, const Access& a, const Ready& r, Ticks start, Ticks& cost) {
    const Line* const lines = warp.block->lines.data() + a.first_line;
    const Ticks tags = ticks(a.lines / rates_.l1_lines_per_cycle);
    cost = std::max({cost, tags, kTick});
    const bool local = a.space == Space::Local;
    // Threads' own memory is another for each block, and so are lines that no other block wants.
    const uint64_t apart_if_own = (local ? uint64_t{warp.place + 1} : warp.number) << 44;
    uint32_t sectors = 0, missed = 0, requests = 0, lines_missed = 0;
    double stored = 0;  // bytes, as they count on the way
    bool asked = false;
    double farthest = 0;
    Ticks comes = 0;  // what other warps wait for already
    const bool loads = is_read(a);
    for (uint32_t k = 0; k < a.lines; ++k) {
      const uint8_t want = lines[k].sectors;
      const uint32_t wanted = static_cast<uint32_t>(__builtin_popcount(want));
      sectors += wanted;
      const uint64_t line = lines[k].number ^ (local || lines[k].own ? apart_if_own : 0) ^ (lines[k].late ? warp.round << 52 : 0);
      if (loads) {
        const uint32_t missing = a.past_l1 ? wanted : wanted - static_cast<uint32_t>(__builtin_popcount(l1_.access(line, want).hit));
        missed += missing;
        // Lines side by side are asked for together.
        requests += missing && !(asked && k && lines[k].number == lines[k - 1].number + 1);
        asked = missing != 0;
        Arrival& there = arrival(line);
        if (missing) there = {line, 0}, ++lines_missed, farthest = std::max(farthest, distance(line));
        else if (there.line == line) comes = std::max(comes, there.at);
        if (there.line == line) coming_.push_back(&there);
      }
      if (!loads) store_in_l1(a, line, want, local);
      const bool goes_on = a.whole && k && lines[k].number == lines[k - 1].number + 1;
      if (!loads) stored += goes_on ? wanted * kSector : rates_.l2_store_request_bytes + wanted * rates_.l2_store_sector_bytes;
    }
    Traffic& traffic = result_.traffic;
    if (!loads) return store(warp, a, r, start, cost, sectors, stored, local);
    (local ? traffic.local_load : traffic.global_load) += sectors;
    (local ? traffic.local_load_hit : traffic.global_load_hit) += sectors - missed;
    cost = std::max<Ticks>(cost, a.passes * kTick);
    const Ticks later = std::max(ticks((a.lines - 1) * rates_.l1_line_latency), further_passes(a, rates_.l1_pass_latency));
    Ticks done = start + r.latency + later;
    // What others have asked for goes through the banks when it is there, one instruction after the other.
    const bool waits = comes > done;
    if (waits) done = comes + cost;
    const uint32_t function = warp.trace->steps[warp.step].function;
    const double from_dram = local ? local_dram_sectors(missed) : a.far ? 0 : dram_sectors(function, a.ptx, sectors, missed, requests);
    // What is missing comes line by line, and goes through the banks meanwhile.
    if (missed)
      done = std::max(done, fetch(start + ticks(lines_missed - 1.0), missed, from_dram,
                                  from_dram <= 0 ? 1
                                  : local        ? kFetchedAlone
                                                 : work_.functions[function].from_memory[a.ptx].fetched_share(),
                                  requests, farthest, a.far));
    if (missed || waits)
      for (Arrival* line : coming_) line->at = std::max(line->at, done);
    coming_.clear();
    return done;
  }

  // A store goes through to L2, and L1 keeps up with it where it is one with shared memory (measured: what was loaded or stored before is read from
  // L1, what an atomic operation changed is not); before that it lost what it had. It counts as a hit if a load or a store brought
  // the line before (measured: 131072 of saxpy's 393216 sectors, seven of eight stores that fill sectors word by word).
  void store_in_l1(const Access& a, uint64_t line, uint8_t want, bool local) {
    Traffic& traffic = result_.traffic;
    const double sectors = __builtin_popcount(want);
    if (local) {
      traffic.local_store += sectors;
      traffic.local_store_hit += __builtin_popcount(l1_.access(line, want).hit);
    } else if (a.kind != Kind::Store) {
      l1_.forget(line, 0xf);
    } else {
      traffic.global_store += sectors;
      traffic.global_store_hit += __builtin_popcount(l1_.store(line, want, a.whole && keeps_stores_));
      if (!keeps_stores_) l1_.forget(line, want);
    }
  }

  // When a word of a block in shared memory can be changed by the next one.
  struct Turns {
    uint32_t place = ~0u, word = 0;
    Ticks free = 0;
  };
  std::array<Turns, 256> turns_{};

  // When a line that was asked for last is there: L1 has it before.
  struct Arrival {
    uint64_t line = ~uint64_t{0};
    Ticks at = 0;
  };
  Arrival& arrival(uint64_t line) { return arrivals_[(line * 0x9e3779b97f4a7c15) >> 51]; }

  // How many of the sectors that L1 has not must come from memory: as many as the instruction had of all that it asked for.
  // What is asked for together came into L2 together, and has left it together: all of it is there or nothing.
  double dram_sectors(uint32_t function, uint32_t ptx, uint32_t asked, uint32_t missed, uint32_t requests) {
    const std::vector<FromMemory>& shares = work_.functions[function].from_memory;
    if (ptx >= shares.size()) return 0;
    double& credit = credit_[function][ptx];
    credit += asked * shares[ptx].share();
    // The assembler has loads in another order: who is first to ask for a line finds it in L1 no more than who was.
    if (!missed) {
      unused_credit_ += std::exchange(credit, 0);
      return 0;
    }
    const double together = static_cast<double>(missed) / std::max(1u, requests);
    const double taken = std::min(std::floor((credit + unused_credit_) / together + 1e-9) * together, static_cast<double>(missed));
    const double own = std::min(taken, credit);
    credit -= own;
    unused_credit_ -= taken - own;
    return taken;
  }

  // Of threads' own memory, L2 has what it has room for. Memory moves two sectors where one is wanted (measured: 800 MB for 13 million).
  static constexpr double kFetchedAlone = 2;
  double local_dram_sectors(uint32_t missed) {
    local_credit_ += missed * local_beyond_l2_;
    const double whole = std::floor(local_credit_);
    local_credit_ -= whole;
    return std::min<double>(whole, missed);
  }

  // `fetched`: sectors that memory delivers for each that is wanted.
  // What lies with the host (`far`) comes over the link, whose speed is not looked at here.
  Ticks fetch(Ticks start, uint32_t sectors, double from_dram, double fetched, uint32_t requests, double farthest, bool far) {
    // As many sectors may be on their way as the multiprocessor can keep track of.
    Ticks begin = start;
    for (uint32_t k = 0; k < sectors; ++k) begin = std::max(begin, in_flight_[(flight_ + k) % in_flight_.size()]);
    const Ticks arrives = far ? begin + far_latency_ : from_l2(begin, sectors, from_dram, fetched, requests, farthest);
    for (uint32_t k = 0; k < sectors; ++k) in_flight_[flight_++ % in_flight_.size()] = arrives;
    return arrives;
  }

  // How far a line's part of L2 and of memory is, from 0 to 1: a load waits for the farthest of its lines, and who waits for several loads for that of all of them.
  static double distance(uint64_t line) { return static_cast<double>((line * 0x9e3779b97f4a7c15) >> 48) / 65536; }

  Ticks from_l2(Ticks begin, uint32_t sectors, double from_dram, double fetched, uint32_t requests, double farthest) {
    const Ticks l2 = ticks(rates_.l2_latency + (farthest - 0.5) * rates_.l2_spread);
    const Ticks arrives = fill_.serve(begin, sectors * kSector + requests * rates_.l2_request_bytes) + l2;
    if (from_dram <= 0) return arrives;
    result_.traffic.dram_read += from_dram;
    return std::max(
        arrives, use_dram(begin, from_dram * kSector * fetched) + l2 + ticks(rates_.dram_latency + (farthest - 0.5) * rates_.dram_spread));
  }

  // Memory answers later the more it has to do: requests of many multiprocessors meet there by chance.
  Ticks use_dram(Ticks from, double bytes) {
    add_load(from, bytes);
    const double u = std::min(load_, 0.93);
    return dram_.serve(from, bytes) + ticks(rates_.dram_queue * u / (1 - u));
  }

  void add_load(Ticks from, double bytes) {
    constexpr double kWindow = 4000 * kTick;
    const double busy = bytes * dram_.per_byte;
    const double passed = static_cast<double>(std::max<Ticks>(0, from - load_at_));
    load_ = load_ * std::exp(-passed / kWindow) + busy / kWindow;
    load_at_ = std::max(load_at_, from);
  }

  Ticks store(Warp& warp, const Access& a, const Ready& r, Ticks start, Ticks& cost, uint32_t sectors, double bytes, bool local) {
    (a.kind == Kind::Store ? result_.traffic.store : result_.traffic.atomic) += sectors;
    // Stores have a way of their own to L2, where they share what reads have.
    cost = std::max(cost, ticks(sectors * rates_.store_sector + (a.whole ? 0 : a.lines * rates_.store_mask)));
    Ticks done = std::max(out_.serve(start, bytes), start + cost);
    done = std::max(done, fill_.serve(start, sectors * kSector * stores_on_fill_));
    if (const double written = sectors * kSector * (local ? kFetchedAlone * local_beyond_l2_ : written_back_share_); written > 0) {
      done = std::max(done, dram_.serve(start, written));
      add_load(start, written);
    }
    // What is on its way out fills up the queues before the path to memory stands still.
    const Ticks backlog = done - ticks(rates_.store_backlog);
    cost = std::max(cost, backlog - start);
    drained_ = std::max(drained_, done);
    if (!local) warp.stored = std::max(warp.stored, done + ticks(rates_.store_latency));
    if (a.kind == Kind::Store) return start + r.latency;
    // Operations on the word that most of them want take turns; this multiprocessor's are as good as any.
    const Ticks turn = std::min(ticks_of_atomic_, atomics_left_);
    atomics_left_ -= turn;
    atomics_free_ = std::max(atomics_free_, start) + turn;
    done = std::max(done, atomics_free_);
    drained_ = std::max(drained_, done);
    return std::max(done, start) + ticks(rates_.l2_latency) + r.latency;
  }

  void finish() {
    const double end = static_cast<double>(std::max(last_, drained_)) / kTick;
    result_.cycles = end;
    std::sort(ends_.begin(), ends_.end());
    const size_t half = ends_.size() / 2;
    if (ends_.size() >= 4 * places_.size() && half)
      result_.steady = static_cast<double>(ends_.back() - ends_[half]) / kTick / static_cast<double>(ends_.size() - 1 - half);
  }

  const Work& work_;
  const Rates& rates_;
  const Share share_;
  const Program program_;
  Cache l1_;
  std::vector<Scheduler> schedulers_;
  std::vector<Place> places_;
  std::vector<Warp> warps_;
  std::vector<Arrival> arrivals_ = std::vector<Arrival>(size_t{1} << 13);
  std::vector<Arrival*> coming_;
  std::vector<Ticks> in_flight_, ends_;
  size_t flight_ = 0;
  Server fill_, out_, dram_;
  const bool keeps_stores_ = rates_.unified_l1 && rates_.l1_keeps_stores > 0;
  const Ticks issue_interval_ = ticks(rates_.issue_interval / rates_.issue_width);
  const Ticks shared_pass_ = ticks(rates_.shared_pass), shared_replay_ = ticks(rates_.shared_replay);
  const Ticks path_interval_ = ticks(rates_.path_interval), path_release_ = ticks(rates_.path_release),
              path_store_read_ = ticks(rates_.path_store_read);
  Queue stores_;  // what they bring waits for the path
  const Ticks guard_latency_ = ticks(rates_.guard_latency);
  const Ticks far_latency_ = ticks(work_.far_latency * rates_.clock_ghz());
  InstructionCache instructions_{rates_};
  OneByOne prints_{rates_.print_ns, rates_.print_lane_ns, rates_.print_serve_ns, rates_.print_serve_lane_ns};
  OneByOne allocations_{rates_.allocate_ns, rates_.allocate_lane_ns, rates_.allocate_serve_ns, rates_.allocate_serve_lane_ns};
  Ticks cluster_free_ = 0;
  Ticks barrier_free_ = 0, next_start_ = 0, next_warp_ = 0;
  double local_beyond_l2_ = 0, local_credit_ = 0;  // the share of threads' own memory that L2 has no room for
  double active_ = 1;  // multiprocessors
  Ticks constants_free_ = 0;
  Ticks lsu_free_ = 0, texture_free_ = 0, now_ = 0, last_ = 0, drained_ = 0, load_at_ = 0;
  Ticks atomics_free_ = 0, ticks_of_atomic_ = 0;
  Ticks atomics_left_ = ticks(share_.atomics);  // all of them take no longer together
  double unused_credit_ = 0;
  bool has_barriers_ = false, copies_ = false;
  const BlockTrace* measured_ = nullptr;  // whose warps' ways are so long together
  Length measured_length_;
  double load_ = 0, written_back_share_ = 0, stores_on_fill_ = 1;
  std::vector<std::vector<double>> credit_;
  const std::vector<Part>* blocks_ = nullptr;
  uint64_t started_ = 0;
  Run result_;
};

}  // namespace

Run run_multiprocessor(const Work& work, const Rates& rates, const Share& share, const std::vector<Part>& blocks) {
  if (blocks.empty()) return {};
  return Multiprocessor(work, rates, share).run(blocks);
}

std::vector<Part> alike(const Work& work, uint64_t blocks) {
  std::vector<Part> parts;
  const uint64_t size = work.blocks.size();
  for (uint64_t k = 0; size && k < blocks; ++k) parts.push_back({&work.blocks[k * size / blocks % size], 1});
  return parts;
}

}  // namespace warpbeam::timing
