#include "timing/memory_path.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace warpbeam::timing {
namespace {

using assembly::Operation;

constexpr double kSector = 32, kLineBytes = 128;

}  // namespace

MemoryPath::MemoryPath(const Work& work, const Rates& rates, const Share& share, const Program& program, Run& result)
    : work_(work),
      rates_(rates),
      share_(share),
      program_(program),
      result_(result),
      l1_(std::max<uint64_t>(Cache::kWays,
                             (rates.unified_l1 ? rates.l1_bytes - std::min(rates.l1_bytes, work.shared_bytes) : rates.l1_bytes) / 128)),
      in_flight_(std::max<size_t>(16, static_cast<size_t>(rates.sectors_in_flight)), 0) {
  fill_.per_byte = kTick / std::min(rates.l1_fill_bytes, share.l2_read);
  out_.per_byte = kTick / share.l2_write;
  stores_on_fill_ = share.l2_read / share.l2_beside;
  dram_.per_byte = kTick / share.dram;
  for (Server* s : {&fill_, &out_, &dram_}) s->slack = ticks(rates.share_slack);
  stores_.leaves.assign(static_cast<size_t>(rates.path_stores), 0);
  stored_.lines.resize(static_cast<size_t>(rates.stored_lines));
  if (const double atomics = accesses_per_block(
          [](const Access& a) { return a.space == Space::Global && (a.kind == Kind::Atomic || a.kind == Kind::Reduce) ? 1.0 : 0.0; });
      atomics > 0)
    ticks_of_atomic_ = ticks(share.atomics / (atomics * static_cast<double>(work.grid_blocks) / share.active));
  const double stored = total_stores();
  written_back_share_ = stored > 0 ? (work.written_back + work.read_for_stores) / stored : 0;
  local_beyond_l2_ = 1 - std::min(1.0, static_cast<double>(rates.l2_bytes) * rates.l2_usable_share / std::max(1.0, local_bytes()));
  for (const FunctionWork& f : work.functions) credit_.emplace_back(f.code->block_of.size(), 0.0);
  late_credit_ = far_credit_ = credit_;
}

double MemoryPath::local_bytes() const {
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
  uint32_t spilled = 0;
  for (const FunctionWork& f : work_.functions) spilled = std::max(spilled, f.code->spill_bytes);
  return at_work * (kLineBytes * different / static_cast<double>(std::max<size_t>(1, work_.blocks.size())) +
                    static_cast<double>(spilled) * work_.block_threads);
}

double MemoryPath::total_stores() const {
  return static_cast<double>(work_.grid_blocks) * accesses_per_block([](const Access& a) {
           return a.space == Space::Global && a.kind != Kind::Load && a.kind != Kind::Copy ? a.sectors : 0.0;
         });
}

const Access* MemoryPath::take_access(Warp& warp, uint32_t ptx) {
  for (uint32_t k = warp.first_access; k < warp.end_access; ++k) {
    const uint64_t bit = uint64_t{1} << ((k - warp.first_access) & 63);
    if (warp.trace->accesses[k].ptx != ptx || (warp.taken & bit && k - warp.first_access < 64)) continue;
    warp.taken |= bit;
    return &warp.trace->accesses[k];
  }
  return nullptr;
}

Ticks MemoryPath::from_constants(Warp& warp, const Ready& r, Ticks t) {
  const Access* const a = take_access(warp, r.ptx);
  if (!a) return t + r.latency;
  const Ticks start = std::max(t, constants_free_);
  const int more = std::max<int>(1, a->passes) * ((r.writes + 1) / 2) - 1;
  constants_free_ = start + ticks(rates_.constant_interval) * (more + 1);
  return start + r.latency + ticks(rates_.constant_latency) * more;
}

Ticks MemoryPath::to_memory(Scheduler& s, Warp& warp, const Ready& r, Ticks t) {
  const Access* const a = r.spilled >= 0 ? &access_of_spilled(warp, r) : r.access ? take_access(warp, r.ptx) : nullptr;
  Ticks cost = r.interval;
  const bool texture = r.unit == Unit::Texture;
  Ticks& path = texture ? texture_free_ : lsu_free_;
  Way& way = texture ? s.texture : s.memory;
  // Where no lane takes part nothing is asked for. Of shared memory it is a pass over the banks all the same (H200: of kernels that sum up
  // in shared memory, 1.15 wavefronts more than banks have for each instruction that no lane executes).
  const bool shared = rates_.unified_l1 && (r.operation == Operation::LoadShared || r.operation == Operation::StoreShared);
  if (r.access && !a && !shared) return t + kTick;
  // What the path has room for is anybody's; its own way and its operands are this scheduler's.
  const Ticks turn = std::max(t, path), read = std::max(t, way.read);
  const Ticks start = std::max({turn, way.free, read});
  way.read = read + (r.stores ? path_store_read_ : path_interval_);
  Ticks done = start + r.latency;
  // What a lane gets in four registers comes to them more slowly.
  const bool wide = r.operation == Operation::LoadShared && r.writes >= 4;
  Ticks passes = std::max<Ticks>(kTick, a ? a->passes * kTick : 0);
  if (a) {
    switch (a->space) {
      case Space::Shared: {
        if (a->cluster) {
          done = over_cluster(*a, start, cost) + r.latency;
          break;
        }
        passes = std::max<Ticks>(passes, wide ? wide_passes_ : 0);
        cost = std::max<Ticks>(cost, static_cast<Ticks>(static_cast<double>(passes) * rates_.shared_pass));
        s.issued_until += a->conflicts * shared_replay_;
        done = start + r.latency + static_cast<Ticks>(static_cast<double>(passes - kTick) * rates_.shared_pass_latency);
        if (r.operation == Operation::AtomicLoop) done = std::max(done, last_of_turns(warp, *a, start, cost) + r.latency);
        break;
      }
      case Space::Constant:
      case Space::None: break;
      case Space::Texture:
      case Space::Global:
      case Space::Local:
        done = through_l1(warp, *a, r.spilled >= 0 ? lines_of_spilled_.data() : warp.block->lines.data() + a->first_line, r, start, cost);
        break;
    }
  }
  if (r.operation == Operation::CopyAsync) warp.pending_copies = std::max(warp.pending_copies, done);
  path = turn + cost;
  result_.lsu_busy += static_cast<double>(cost) / kTick;
  way.free = start + static_cast<Ticks>(static_cast<double>(std::max<Ticks>(r.interval, passes)) *
                                        (wide ? rates_.wide_own_share : rates_.path_own_share));
  way.taken.add(start);
  if (r.stores) stores_.add(start);
  Ticks& free = s.unit_free[static_cast<size_t>(r.unit)];
  free = std::max({free, t + path_interval_, way.taken.room()});
  const uint16_t* const reg = &program_.registers[r.first_register];
  for (int k = 0; r.stores && k < r.reads; ++k)
    warp.released[reg[k]] = read + path_release_, warp.by_global[reg[k]] = throttle_of(r) == Stall::LgThrottle;
  return done;
}

Ticks MemoryPath::over_cluster(const Access& a, Ticks start, Ticks& cost) {
  const bool atomic = a.kind == Kind::Atomic || a.kind == Kind::Reduce;
  cluster_free_ = std::max(cluster_free_, start) + ticks(atomic ? a.lines * rates_.cluster_atomic : a.sectors * rates_.cluster_sector);
  cost = std::max(cost, cluster_free_ - ticks(rates_.store_backlog) - start);
  return cluster_free_ + ticks(rates_.cluster_latency);
}

Ticks MemoryPath::last_of_turns(const Warp& warp, const Access& a, Ticks start, Ticks& cost) {
  const Ticks turn = ticks(rates_.atomic_turn);
  cost += std::max(0, a.lines - 1) * ticks(rates_.atomic_turn_path);
  Ticks& free = turns_of(warp.place, a.first_line);
  free = std::max(free, start) + a.lines * turn;
  return free - (a.lines > 1 ? turn : 0);  // who is alone finds out in a turn more that it is done
}

Ticks& MemoryPath::turns_of(uint32_t place, uint32_t word) {
  Turns& t = turns_[(word ^ place * 0x9e3779b1u) * 0x9e3779b1u >> 24];
  if (t.place != place || t.word != word) t = {place, word, 0};
  return t.free;
}

const Access& MemoryPath::access_of_spilled(const Warp& warp, const Ready& r) {
  // A word of all lanes is a line; those of a program's own local memory have lower numbers (observe/profiler/tracer.cc).
  constexpr uint64_t kBehind = uint64_t{1} << 30;
  const auto number = static_cast<uint64_t>(warp.trace - warp.block->warps.data()) << 33 | kBehind;
  lines_of_spilled_.clear();
  for (uint32_t k = 0; k < (r.stores ? r.reads : r.writes); ++k)
    lines_of_spilled_.push_back({number + static_cast<uint64_t>(r.spilled) + k, 0xf});
  of_spilled_ = {.ptx = r.ptx, .space = Space::Local, .kind = r.stores ? Kind::Store : Kind::Load};
  of_spilled_.passes = of_spilled_.lines = static_cast<uint8_t>(lines_of_spilled_.size());
  of_spilled_.sectors = static_cast<uint16_t>(4 * lines_of_spilled_.size());
  return of_spilled_;
}

Ticks MemoryPath::through_l1(Warp& warp, const Access& a, const Line* lines, const Ready& r, Ticks start, Ticks& cost) {
  const Ticks tags = ticks(a.lines / rates_.l1_lines_per_cycle);
  cost = std::max({cost, tags, kTick});
  const bool local = a.space == Space::Local;
  // Threads' own memory is another for each block, and so are lines that no other block wants.
  const uint64_t apart_if_own = (local ? uint64_t{warp.place + 1} : warp.number) << 44;
  uint32_t sectors = 0, missed = 0, requests = 0, lines_missed = 0;
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
      const auto absent = static_cast<uint8_t>(a.past_l1 ? want : want & ~l1_.access(line, want).hit);
      const auto missing = static_cast<uint32_t>(__builtin_popcount(absent));
      missed += missing;
      // Lines side by side are asked for together.
      requests += missing && !(asked && k && lines[k].number == lines[k - 1].number + 1);
      asked = missing != 0;
      Arrival& there = arrival(line);
      if (missing) {
        if (there.line != line || there.at <= start) there = {line, 0, 0};
        there.sectors |= absent;
        ++lines_missed, farthest = std::max(farthest, distance(line));
      } else if (there.line == line && there.sectors & want) {
        comes = std::max(comes, there.at);
      }
      if (there.line == line && there.sectors & want) coming_.push_back(&there);
    }
    if (!loads) store_in_l1(a, line, want, local);
    if (!loads) leaving_.push_back({line, want, a.whole && k && lines[k].number == lines[k - 1].number + 1});
  }
  Traffic& traffic = result_.traffic;
  if (!loads) return store(warp, a, r, start, cost, local);
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
  if (missed) {
    Ticks arrives = fetch(start + ticks(lines_missed - 1.0), missed, from_dram,
                          from_dram <= 0 ? 1
                          : local        ? kFetchedAlone
                                         : work_.functions[function].from_memory[a.ptx].fetched_share(),
                          requests, farthest, a.far);
    if (from_dram <= 0 && !local && !a.far) {
      if (comes_late(function, a.ptx)) arrives += ticks(rates_.dram_late_share * rates_.dram_latency);
      else if (comes_from_far(function, a.ptx, sectors, missed)) arrives += ticks(rates_.l2_far);
    }
    done = std::max(done, arrives);
  }
  if (missed || waits)
    for (Arrival* line : coming_) line->at = std::max(line->at, done);
  coming_.clear();
  return done;
}

void MemoryPath::store_in_l1(const Access& a, uint64_t line, uint8_t want, bool local) {
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

double MemoryPath::dram_sectors(uint32_t function, uint32_t ptx, uint32_t asked, uint32_t missed, uint32_t requests) {
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

double MemoryPath::local_dram_sectors(uint32_t missed) {
  local_credit_ += missed * local_beyond_l2_;
  const double whole = std::floor(local_credit_);
  local_credit_ -= whole;
  return std::min<double>(whole, missed);
}

bool MemoryPath::comes_late(uint32_t function, uint32_t ptx) {
  const std::vector<FromMemory>& shares = work_.functions[function].from_memory;
  if (ptx >= shares.size()) return false;
  double& credit = late_credit_[function][ptx];
  credit += shares[ptx].late_share();
  if (credit < 1) return false;
  credit -= 1;
  return true;
}

bool MemoryPath::comes_from_far(uint32_t function, uint32_t ptx, uint32_t asked, uint32_t missed) {
  const std::vector<FromMemory>& shares = work_.functions[function].from_memory;
  if (ptx >= shares.size()) return false;
  double& credit = far_credit_[function][ptx];
  credit += asked * shares[ptx].far_share();
  if (credit < missed) return false;
  credit -= missed;
  return true;
}

Ticks MemoryPath::fetch(Ticks start, uint32_t sectors, double from_dram, double fetched, uint32_t requests, double farthest, bool far) {
  // As many sectors may be on their way as the multiprocessor can keep track of.
  Ticks begin = start;
  for (uint32_t k = 0; k < sectors; ++k) begin = std::max(begin, in_flight_[(flight_ + k) % in_flight_.size()]);
  const Ticks arrives = far ? begin + far_latency_ : from_l2(begin, sectors, from_dram, fetched, requests, farthest);
  for (uint32_t k = 0; k < sectors; ++k) in_flight_[flight_++ % in_flight_.size()] = arrives;
  return arrives;
}

Ticks MemoryPath::from_l2(Ticks begin, uint32_t sectors, double from_dram, double fetched, uint32_t requests, double farthest) {
  const Ticks l2 = ticks(rates_.l2_latency + (farthest - 0.5) * rates_.l2_spread);
  const Ticks arrives = fill_.serve(begin, sectors * kSector + requests * rates_.l2_request_bytes) + l2;
  if (from_dram <= 0) return arrives;
  result_.traffic.dram_read += from_dram;
  return std::max(arrives,
                  use_dram(begin, from_dram * kSector * fetched) + l2 + ticks(rates_.dram_latency + (farthest - 0.5) * rates_.dram_spread));
}

Ticks MemoryPath::use_dram(Ticks from, double bytes) {
  add_load(from, bytes);
  const double u = std::min(load_, 0.93);
  return dram_.serve(from, bytes) + ticks(rates_.dram_queue * u / (1 - u));
}

void MemoryPath::add_load(Ticks from, double bytes) {
  constexpr double kWindow = 4000 * kTick;
  const double busy = bytes * dram_.per_byte;
  const double passed = static_cast<double>(std::max<Ticks>(0, from - load_at_));
  load_ = load_ * std::exp(-passed / kWindow) + busy / kWindow;
  load_at_ = std::max(load_at_, from);
}

Ticks MemoryPath::store(Warp& warp, const Access& a, const Ready& r, Ticks start, Ticks& cost, bool local) {
  double bytes = 0, out = 0;  // as they count on the way to L2, and cycles on the way out
  uint32_t asked = 0, sectors = 0;
  const Ticks now = start - stood_;
  for (const Leaving& l : leaving_) {
    asked += static_cast<uint32_t>(__builtin_popcount(l.sectors));
    StoredLines::Waiting* const waits = a.kind == Kind::Store ? stored_.find(l.line, now) : nullptr;
    const uint32_t more = static_cast<uint32_t>(__builtin_popcount(l.sectors & ~(waits ? waits->sectors : 0)));
    sectors += more;
    bytes += l.goes_on ? more * kSector : (waits ? 0 : rates_.l2_store_request_bytes) + more * rates_.l2_store_sector_bytes;
    out += more * rates_.store_sector + (waits || a.whole ? 0 : rates_.store_mask);
    if (waits) waits->sectors |= l.sectors;
    else stored_.add({a.kind == Kind::Store ? l.line : StoredLines::kNone, l.sectors, now + stored_wait_});
  }
  leaving_.clear();
  // Operations come no slower than L2 can do them (H200: sums on 65536 words, 46 in a cycle; of stores, as many lines in part are 38).
  if (a.kind != Kind::Store) bytes = std::min(bytes, sectors * rates_.l2_write_bytes_per_cycle / rates_.atomic_sectors_per_cycle);
  (a.kind == Kind::Store ? result_.traffic.store : result_.traffic.atomic) += sectors;
  const Ticks looked_up = cost;
  cost = std::max(cost, ticks(out));
  // Stores have a way of their own to L2, where they share what reads have.
  Ticks done = std::max(out_.serve(start, bytes), start + cost);
  done = std::max(done, fill_.serve(start, sectors * kSector * stores_on_fill_));
  if (const double written = asked * kSector * (local ? kFetchedAlone * local_beyond_l2_ : written_back_share_); written > 0) {
    done = std::max(done, dram_.serve(start, written));
    add_load(start, written);
  }
  // What is on its way out fills up the queues before the path to memory stands still.
  cost = std::max(cost, done - ticks(rates_.store_backlog) - start);
  stood_ += cost - looked_up;
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

Ticks MemoryPath::bulk_load(uint32_t function, uint32_t ptx, uint32_t sectors, uint32_t requests, Ticks when) {
  result_.traffic.global_load += sectors;
  const double from_dram = dram_sectors(function, ptx, sectors, sectors, requests);
  const double fetched = from_dram > 0 ? work_.functions[function].from_memory[ptx].fetched_share() : 1;
  return from_l2(when, sectors, from_dram, fetched, requests, 0.5);
}

void MemoryPath::bulk_store(Warp& warp, const Access& like, const Ready& r, Ticks when, uint32_t sectors) {
  Ticks cost = 0;
  // Lines that nobody else stores to.
  for (uint32_t k = 0; k < sectors; k += 4)
    leaving_.push_back({StoredLines::kNone, static_cast<uint8_t>((1u << std::min(4u, sectors - k)) - 1), true});
  store(warp, like, r, when, cost, false);
}

}  // namespace warpbeam::timing
