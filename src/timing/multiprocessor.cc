#include "timing/multiprocessor.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "timing/instruction_cache.h"
#include "timing/memory_path.h"
#include "timing/repeats.h"

namespace warpbeam::timing {
namespace {

using assembly::Operation;

class Multiprocessor {
 public:
  Multiprocessor(const Work& work, const Rates& rates, const Share& share)
      : work_(work),
        rates_(rates),
        share_(share),
        program_(make_program(work, rates)),
        memory_(work, rates, share, program_, result_),
        schedulers_(static_cast<size_t>(rates.schedulers)) {
    for (Scheduler& s : schedulers_)
      for (Way* way : {&s.memory, &s.texture}) way->taken.leaves.assign(static_cast<size_t>(rates.path_entries), 0);
    active_ = std::max(1.0, share.active);
    for (const FunctionWork& f : work.functions)
      for (const assembly::MachineBlock& b : f.code->blocks)
        for (const assembly::MachineInstruction& m : b.text) {
          has_barriers_ = has_barriers_ || m.operation == Operation::Barrier;
          copies_ = copies_ || m.operation == Operation::CopyBulk;
        }
    repeats_.emplace(program_, has_barriers_);
    for (const FunctionWork& f : work.functions) result_.by_instruction.emplace_back(f.code->block_of.size(), Stalls{});
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
      warp.round = 0;
      const Repeats::Plan plan = warp.trace ? repeats_->of(part, w) : Repeats::Plan{};
      warp.end_step = plan.end, warp.from_step = plan.from, warp.last_from = plan.last_from;
      warp.again = plan.again, warp.rounds = plan.rounds;
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
    if (loaded) arrives(places_[warp.place], warp.place, memory_.bulk_load(function, r.ptx, loaded, requests, t + r.latency));
    if (stored) memory_.bulk_store(warp, store_of, r, t + r.latency, stored);
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
    memory_.forget_l1();
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
        warp.next_step = warp.again ? warp.from_step : warp.last_from;
      }
      if (warp.left_over && warp.next_step == warp.run_end) {
        --warp.left_over;
        const Step& last = t->steps[warp.last_turn];
        return set_text(warp, program_.functions[last.function][last.block].once, warp.last_turn, warp.last_turn + 1, from, why);
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
        if (warp.step < warp.run_begin || warp.step >= warp.run_end) begin_run(warp, block.turns, behind_parts);
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
      return set_text(warp, *text, warp.step, next, from, why);
    }
  }

  bool set_text(Warp& warp, const Text& text, size_t step, size_t next, Ticks from, Stall why) {
    const WarpTrace& t = *warp.trace;
    warp.step = step;
    warp.text = &text;
    warp.at = 0;
    warp.first_access = t.steps[step].first_access;
    warp.end_access = next < t.steps.size() ? t.steps[next].first_access : static_cast<uint32_t>(t.accesses.size());
    warp.taken = 0;
    ready_for_next(warp, from, why);
    return true;
  }

  // Of a loop that was repeated `turns` times: lanes that leave in the middle of these take their last turns in a loop of single ones, together with
  // all others that have some left over. That takes as many as who has most of them.
  template <class Behind>
  void begin_run(Warp& warp, uint32_t turns, Behind behind_parts) {
    const std::vector<Step>& steps = warp.trace->steps;
    const Step& first = steps[warp.step];
    uint32_t taken = 0, most = 0, lanes = first.lanes;
    size_t end = warp.step;
    for (; end < steps.size() && same(steps[end], first); end = behind_parts(end + 1)) {
      if (lanes & ~steps[end].lanes) most = std::max(most, taken % turns);
      lanes = steps[end].lanes;
      warp.last_turn = end;
      ++taken;
    }
    warp.run_begin = warp.step, warp.run_end = end;
    warp.left_over = most > taken % turns ? most - taken % turns : 0;
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
      else if (warp.pipe[reg[k]] != Pipe::Others && warp.pipe[reg[k]] != r.pipe) written += cross_pipe_;
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
    if (r.stores) return std::max(free, memory_.store_room());
    return r.computes ? std::max(free, s.unit_free[static_cast<size_t>(Unit::Alu)]) : free;
  }

  // --- issue
  // A call of a function of so many instructions, most of which need what the one before has made.
  Ticks long_way(Scheduler& s, const Access& way, Ticks t) {
    result_.issued += way.passes;
    s.issued_until += way.passes * issue_interval_;
    return t + long_way_ + way.passes * long_way_step_;
  }

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
    if (r.operation == Operation::Clock && work_.watches_clock && &warp == warps_.data())
      result_.clocks.push_back({r.ptx, static_cast<double>(t) / kTick});
    if (r.operation == Operation::MatrixHalf || r.operation == Operation::MatrixGroup) result_.half_matrices = true;
    const auto unit =
        static_cast<size_t>(s.unit_free[static_cast<size_t>(r.unit)] <= s.unit_free[static_cast<size_t>(r.other)] ? r.unit : r.other);
    result_.busy[unit] += static_cast<double>(r.interval) / kTick;
    s.unit_free[unit] = t + r.interval;
    if (r.computes) s.unit_free[static_cast<size_t>(Unit::Alu)] = t + r.interval;
    if (r.unit == r.other) warp.unit_again[unit] = t + r.own_interval;
    Ticks done = t + r.latency;
    if (r.unit == Unit::Lsu || r.unit == Unit::Texture) done = memory_.to_memory(s, warp, r, t);
    else if (r.operation == Operation::LoadConst && r.access) done = memory_.from_constants(warp, r, t);
    else if (r.operation == Operation::CopyBulk) copy_bulk(warp, r, t);
    const Source source = r.operation == Operation::LoadConst && r.access ? Source::Short : source_of(r.operation);
    const uint16_t* const reg = &program_.registers[r.first_register] + r.reads;
    for (int k = 0; k < r.writes; ++k) warp.written[reg[k]] = done, warp.source[reg[k]] = source, warp.pipe[reg[k]] = r.pipe;
    last_ = std::max(last_, source == Source::Fixed ? t : done);
    Ticks from = t + kTick;
    Stall why = Stall::Wait;
    if (r.access && (r.operation == Operation::Special || r.operation == Operation::Compare))
      if (const Access* way = memory_.take_access(warp, r.ptx)) from = long_way(s, *way, t);
    if (r.operation == Operation::Fence) {
      from = t + r.latency, why = Stall::Membar;
      memory_.forget_l1();  // what others stored is to be seen
    }
    // What blocks of the cluster are to see has to be there before they are told.
    if (r.cluster_arrives)
      from =
          std::max({t + ticks(rates_.of(Operation::Fence).latency), warp.stored, memory_.cluster_free() + ticks(rates_.cluster_latency)}),
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
      // A warp is gone only when its stores are on their way; that they have arrived, the end of the grid waits for.
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

  void finish() {
    const Ticks drained = memory_.drained();
    const double end = static_cast<double>(std::max(last_, drained ? drained + ticks(rates_.store_arrival) : 0)) / kTick;
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
  Run result_;
  MemoryPath memory_;
  std::vector<Scheduler> schedulers_;
  std::vector<Place> places_;
  std::vector<Warp> warps_;
  std::vector<Ticks> ends_;
  const Ticks issue_interval_ = ticks(rates_.issue_interval / rates_.issue_width);
  const Ticks guard_latency_ = ticks(rates_.guard_latency);
  const Ticks cross_pipe_ = ticks(rates_.cross_pipe);
  const Ticks long_way_ = ticks(rates_.long_way);
  const Ticks long_way_step_ = ticks(rates_.of(Operation::FloatFma).latency);
  InstructionCache instructions_{rates_};
  OneByOne prints_{rates_.print_ns, rates_.print_lane_ns, rates_.print_serve_ns, rates_.print_serve_lane_ns};
  OneByOne allocations_{rates_.allocate_ns, rates_.allocate_lane_ns, rates_.allocate_serve_ns, rates_.allocate_serve_lane_ns};
  Ticks barrier_free_ = 0, next_start_ = 0, next_warp_ = 0;
  double active_ = 1;  // multiprocessors
  Ticks now_ = 0, last_ = 0;
  bool has_barriers_ = false, copies_ = false;
  std::optional<Repeats> repeats_;
  const std::vector<Part>* blocks_ = nullptr;
  uint64_t started_ = 0;
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
