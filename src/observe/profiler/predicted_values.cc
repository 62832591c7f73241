#include "observe/profiler/predicted_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

namespace warpbeam::observe {
namespace {

using timing::Prediction;
using timing::Run;
using timing::Stall;
using timing::Unit;

// How wide intervals are. Times have the model's own (Prediction::low, high); counts and hit rates are as wide as it takes for
// nine of ten launches of fourteen programs on an H100 (bench/timing/truth); those of waits are assumed.
constexpr double kCountWidth = 0.13;   // of a count, relative
constexpr double kPoints = 10;         // of a hit rate of L1
constexpr double kOccupancy = 18;      // of the share of warps, and of multiprocessors with work
constexpr double kWholeL2 = 0.23;      // of a count of L2, which has traffic of its own, relative
constexpr double kL2Points = 12;       // of its hit rates
constexpr double kInstructions = 0.25; // of machine instructions, relative
constexpr double kMemoryLess = 0.26, kMemoryMore = 1.3;  // of what device memory moves: times that
constexpr double kStallPoints = 10;    // of a reason's share of all waits
constexpr double kStallWidth = 0.25;   // of the cycles that it takes, relative

constexpr double kSector = 32;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

enum class Interval : uint8_t {
  Time,        // as wide as the duration's
  Rate,        // for each second or cycle: the other way round
  Share,       // a rate in percent of the best
  Count,
  CountRate,   // a count of the caches, for each second
  Points,      // of a percentage
  WholeL2,
  L2Points,
  Occupancy,
  Instructions,
  Memory,
  MemoryRate,
  Stall,
  StallShare,
  Known,
};

PredictedValue with_interval(std::string_view name, Interval interval, double value, const Prediction& p) {
  const double shorter = p.ns > 0 ? p.low / p.ns : 1, longer = p.ns > 0 ? p.high / p.ns : 1;
  const auto times = [&](double low, double high) { return PredictedValue{name, value, value * low, value * high}; };
  const auto within = [&](PredictedValue v) {
    return PredictedValue{name, value, std::max(v.low, 0.0), std::max(value, std::min(v.high, 100.0))};
  };
  switch (interval) {
    case Interval::Time: return times(shorter, longer);
    case Interval::Rate: return times(1 / longer, 1 / shorter);
    case Interval::Share: return within(times(1 / longer, 1 / shorter));
    case Interval::Count: return times(1 - kCountWidth, 1 + kCountWidth);
    case Interval::CountRate: return times((1 - kCountWidth) / longer, (1 + kCountWidth) / shorter);
    case Interval::Points: return within({name, value, value - kPoints, value + kPoints});
    case Interval::WholeL2: return times(1 - kWholeL2, 1 + kWholeL2);
    case Interval::L2Points: return within({name, value, value - kL2Points, value + kL2Points});
    case Interval::Occupancy: return within({name, value, value - kOccupancy, value + kOccupancy});
    case Interval::Instructions: return times(1 - kInstructions, 1 + kInstructions);
    case Interval::Memory: return times(kMemoryLess, kMemoryMore);
    case Interval::MemoryRate: return times(kMemoryLess / longer, kMemoryMore / shorter);
    case Interval::Stall: return times(1 - kStallWidth, 1 + kStallWidth);
    case Interval::StallShare: return within({name, value, value - kStallPoints, value + kStallPoints});
    case Interval::Known: break;
  }
  return {name, value, value, value};
}

// --- what the expressions of metrics_predicted.inc may call
double ratio(double part, double whole) { return whole == 0 ? 0 : part / whole; }
double percent(double part, double whole) { return 100 * ratio(part, whole); }

double elapsed(const Prediction& p) { return p.ns * p.rates->clock_ghz(); }
// Cycles with work: of all multiprocessors together, of one on average, of all schedulers.
double active_cycles(const Prediction& p) { return p.cycles * p.active; }
double active(const Prediction& p) { return active_cycles(p) / p.rates->multiprocessors; }
double active_slots(const Prediction& p) { return active_cycles(p) * p.rates->schedulers; }
double of_elapsed(const Prediction& p, double percent_active) { return percent_active * ratio(active(p), elapsed(p)); }
double per_second(const Prediction& p, double count) { return ratio(count, p.ns) * 1e9; }

// A run is as long as its multiprocessor's part of the work, or a part of that.
double warps_active(const Run& r) { return ratio(r.warp_cycles, r.cycles); }
double issue_percent(const Prediction& p) { return percent(p.instructions, active_slots(p) * p.rates->issue_width); }
double pipe(const Prediction& p, Unit unit) {
  return std::min(100.0, percent(p.run.busy[static_cast<size_t>(unit)], p.run.cycles * p.rates->schedulers));
}
// The pipe's two halves; products of integers take one of them.
double fma_percent(const Prediction& p) { return (pipe(p, Unit::FmaLite) + pipe(p, Unit::FmaHeavy)) / 2; }
double l1_percent(const Prediction& p) { return std::min(100.0, percent(p.run.lsu_busy, p.run.cycles)); }
double sm_percent(const Prediction& p) {
  double most = issue_percent(p);
  for (Unit unit : {Unit::Alu, Unit::FmaLite, Unit::FmaHeavy, Unit::Fp64, Unit::Special, Unit::Uniform, Unit::Branch, Unit::Lsu,
                    Unit::Texture, Unit::Tensor, Unit::Barrier})
    most = std::max(most, pipe(p, unit));
  return most;
}
double flop_percent(const Prediction& p, const Arithmetic& done, assembly::Operation fma) {
  const timing::OperationRate& rate = p.rates->of(fma);
  const double lanes = 32 / rate.interval * (rate.other != rate.unit ? 2 : 1) * p.rates->schedulers * p.rates->multiprocessors;
  return percent(static_cast<double>(done.flops()), 2 * lanes * elapsed(p));
}

// Textures and surfaces are not followed into the caches, so that sums are not known where a kernel has them.
bool has_images(const Totals& t) { return t.textures + t.surface_ld + t.surface_st + t.surface_red > 0; }
double known(const Totals& t, double value) { return has_images(t) ? kUnknown : value; }

double global_hits(const Prediction& p, const Totals& t) {
  return t.load_sectors() && p.run.traffic.global_load <= 0 ? kUnknown : ratio(p.run.traffic.global_load_hit, p.run.traffic.global_load);
}
double local_hits(const Prediction& p, const Totals& t) {
  return t.local_ld.transactions && p.run.traffic.local_load <= 0 ? kUnknown
                                                                  : ratio(p.run.traffic.local_load_hit, p.run.traffic.local_load);
}
double store_hits(const Prediction& p, const Totals& t) {
  return t.global_st.transactions && p.run.traffic.global_store <= 0 ? kUnknown
                                                                     : ratio(p.run.traffic.global_store_hit, p.run.traffic.global_store);
}
double local_store_hits(const Prediction& p, const Totals& t) {
  return t.local_st.transactions && p.run.traffic.local_store <= 0 ? kUnknown
                                                                   : ratio(p.run.traffic.local_store_hit, p.run.traffic.local_store);
}
double l1_loads(const Totals& t) { return known(t, static_cast<double>(t.load_sectors() + t.local_ld.transactions)); }
double l1_hits(const Prediction& p, const Totals& t) {
  return static_cast<double>(t.load_sectors()) * global_hits(p, t) + static_cast<double>(t.local_ld.transactions) * local_hits(p, t);
}
double l1_sectors(const Totals& t) {
  return l1_loads(t) +
         static_cast<double>(t.global_st.transactions + t.local_st.transactions + t.global_atom.transactions + t.global_red.transactions);
}
// Of a long kernel's stores at its end none may have been followed: few beside the loads, they count as misses.
double l1_stored_hits(const Totals& t, const TrafficTotal& stores, double share) {
  constexpr double kFew = 0.05;
  const auto count = static_cast<double>(stores.transactions);
  return std::isnan(share) && count < kFew * l1_sectors(t) ? 0 : count * share;
}
double l1_all_hits(const Prediction& p, const Totals& t) {
  return l1_hits(p, t) + l1_stored_hits(t, t.global_st, store_hits(p, t)) + l1_stored_hits(t, t.local_st, local_store_hits(p, t));
}
double l2_reads(const Prediction& p, const Totals& t) { return l1_loads(t) - l1_hits(p, t); }
double l2_writes(const Totals& t) { return static_cast<double>(t.global_st.transactions + t.local_st.transactions); }
double l2_atoms(const Totals& t) { return static_cast<double>(t.global_atom.transactions); }
double l2_reds(const Totals& t) { return static_cast<double>(t.global_red.transactions); }
double l2_sectors(const Prediction& p, const Totals& t) { return l2_reads(p, t) + l2_writes(t) + l2_atoms(t) + l2_reds(t); }
// What goes from one part of L2 to another is counted in both. By an H100's counters: half of what is written, half of what memory
// has to deliver, and a tenth of what is read again.
double between_parts(const Prediction& p, double reads, double writes) {
  return p.rates->l2_parts == 1 ? 0 : 0.5 * writes + 0.5 * std::min(p.l2_missed, reads) + 0.1 * std::max(0.0, reads - p.l2_missed);
}
double all_l2(const Prediction& p, const Totals& t) { return l2_sectors(p, t) + between_parts(p, l2_reads(p, t), l2_writes(t)); }
double l2_hit_percent(const Prediction& p, double sectors) {
  return std::isnan(sectors) ? kUnknown : std::max(0.0, percent(sectors - p.l2_missed, sectors));
}
double l2_percent(const Prediction& p, const Totals& t) {
  const double reads = l2_reads(p, t), others = l2_writes(t) + l2_atoms(t) + l2_reds(t);
  return std::isnan(reads)
             ? kUnknown
             : std::min(100.0,
                        percent(kSector * (reads / p.rates->l2_bytes_per_cycle + others / p.rates->l2_write_bytes_per_cycle), elapsed(p)));
}
double dram_percent(const Prediction& p) {
  return std::min(100.0, percent(per_second(p, p.dram_read + p.dram_write), p.rates->dram_bytes_per_second));
}
double memory_percent(const Prediction& p, const Totals& t) {
  const double l2 = l2_percent(p, t);
  return std::max({of_elapsed(p, l1_percent(p)), std::isnan(l2) ? 0 : l2, dram_percent(p)});
}

double stall(const Run& r, Stall why) { return r.stalls[static_cast<size_t>(why)]; }
double all_stalls(const Run& r) {
  double sum = 0;
  for (double cycles : r.stalls) sum += cycles;
  return sum;
}
// In percent of all waits: nvprof's reasons, which are several of Nsight Compute's.
double waits(const Run& r, std::string_view reason) {
  double sum = 0;
#define WB_STALL(id, name, nvprof, about) sum += reason == nvprof ? stall(r, Stall::id) : 0;
#include "timing/stalls.inc"
#undef WB_STALL
  return percent(sum, all_stalls(r) - stall(r, Stall::Selected));
}

struct Busy {
  std::string_view name;
  double percent = 0;  // of the time that multiprocessors have work
};

Busy busiest_unit(const Prediction& p) {
  const Busy all[] = {{"the issue of instructions", issue_percent(p)},
                      {"the pipe of single precision", std::min(pipe(p, Unit::FmaLite), pipe(p, Unit::FmaHeavy))},
                      {"the half of its pipe that multiplies integers", pipe(p, Unit::FmaHeavy)},
                      {"the pipe of integers and logic", pipe(p, Unit::Alu)},
                      {"the pipe of double precision", pipe(p, Unit::Fp64)},
                      {"the pipe of special functions and conversions", pipe(p, Unit::Special)},
                      {"the pipe of tensor cores", pipe(p, Unit::Tensor)},
                      {"the pipe of textures", pipe(p, Unit::Texture)},
                      {"the pipe of branches", pipe(p, Unit::Branch)},
                      {"the pipe of uniform values", pipe(p, Unit::Uniform)},
                      {"the path to L1 and shared memory", l1_percent(p)}};
  return *std::ranges::max_element(all, {}, &Busy::percent);
}

Busy busiest_memory(const Prediction& p, const Totals& t) {
  const double share = ratio(active(p), elapsed(p)), l2 = l2_percent(p, t);
  const Busy memory{"device memory", std::min(100.0, ratio(dram_percent(p), share))};
  return std::isnan(l2) || l2 <= dram_percent(p) ? memory : Busy{"L2", std::min(100.0, ratio(l2, share))};
}

}  // namespace

std::vector<PredictedValue> predicted_values(const Prediction& p, const Totals& t) {
  const Run& r = p.run;
  std::vector<PredictedValue> values;
  const auto add = [&](std::string_view name, Interval interval, double value) {
    if (std::isfinite(value)) values.push_back(with_interval(name, interval, value, p));
  };
#define METRIC(name, nvprof, unit, cls, set, interval, value, help) add(name, Interval::interval, value);
#include "observe/metrics_predicted.inc"
#undef METRIC
  return values;
}

std::string bound_in_words(const Prediction& p, const Totals& t) {
  const auto at = [](std::string_view name, double percent) {
    return fmt::format("{}, at {:.0f} % of what it can do", name, std::clamp(percent, 0.0, 100.0));
  };
  const Busy unit = busiest_unit(p), memory = busiest_memory(p, t);
  switch (p.bound) {
    case timing::Bound::Memory: return at("device memory", p.bound_percent);
    case timing::Bound::L2: return at("L2", p.bound_percent);
    case timing::Bound::Compute: return at(unit.name, unit.percent);
    case timing::Bound::Atomics: return "atomic operations: on the word that most of them change, or all of them in L2";
    case timing::Bound::Launch: return "the launch, which takes longer than the work";
    case timing::Bound::Tail: return fmt::format("its tail: {:.1f} waves of blocks, the last of which leaves places empty", p.waves);
    case timing::Bound::Link:
      return fmt::format("the link to the host: {:.0f} % of the time it waits for managed or mapped memory", p.bound_percent);
    case timing::Bound::Latency: break;
  }
  const Busy most = unit.percent > memory.percent ? unit : memory;
  return fmt::format("latency: warps wait, and what is busiest ({}) is at {:.0f} % of what it can do", most.name, most.percent);
}

}  // namespace warpbeam::observe
