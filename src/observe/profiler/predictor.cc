#include "observe/profiler/predictor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <ranges>
#include <string_view>

#include "model/link.h"
#include "model/transactions.h"
#include "vm/memory.h"

namespace warpbeam::observe {
namespace {

constexpr uint64_t kLine = 128, kSector = 32;
constexpr uint64_t kMostChanges = 30;    // of arguments that are a reason to follow a launch
constexpr uint64_t kMostStrangers = 60;  // that are one to follow the next launch
constexpr size_t kMostKnown = 8;         // of a kind
constexpr uint64_t kAlwaysFollowed = 3;  // launches of a kind; then the fourth, the eighth, …

auto kind_of(const vm::Launch& launch) {
  return std::tuple(launch.kernel->code->function->serial, launch.grid, launch.block, launch.dynamic_shared);
}

bool alike(uint64_t instructions, const timing::MemoryWork& a, const timing::Work& b) {
  constexpr double kFew = 1000;  // sectors: 32 KB
  const auto near = [](double x, double y) { return std::abs(x - y) <= 0.01 * std::max(x, y) + kFew; };
  return instructions == b.instructions && near(a.atomic_cycles, b.atomic_cycles) && near(a.read_sectors, b.read_sectors) &&
         near(a.written_back, b.written_back);
}

// How many times as much the larger one is.
double times(uint64_t a, uint64_t b) { return static_cast<double>(std::max(a, b) + 1) / static_cast<double>(std::min(a, b) + 1); }

bool is_power_of_two(uint64_t n) { return (n & (n - 1)) == 0; }

// Blocks that run at the same time advance side by side.
struct InTime {
  uint32_t place = 0;
  uint64_t moment = 0;
};
std::vector<InTime> in_time(const std::vector<Visit>& visits, uint64_t together) {
  constexpr uint64_t kSteps = 64;
  std::unordered_map<uint32_t, std::pair<uint32_t, uint32_t>> of_block;  // how many; how many were seen
  for (const Visit& v : visits) ++of_block[v.block].first;
  std::vector<std::pair<uint64_t, uint32_t>> order(visits.size());
  for (uint32_t k = 0; k < visits.size(); ++k) {
    auto& [all, seen] = of_block[visits[k].block];
    const uint64_t progress = uint64_t{seen++} * kSteps / all;
    order[k] = {(visits[k].block / together * kSteps + progress) << 32 | visits[k].block, k};
  }
  std::ranges::sort(order);
  std::vector<InTime> places(order.size());
  std::ranges::transform(order, places.begin(), [](const auto& o) { return InTime{o.second, o.first >> 32}; });
  return places;
}

// Atomic operations on one part of L2 wait for each other; which part has most to do changes from one turn of blocks to the next. A part does one
// sector after the other, and lanes of a sector that want one word one after the other; sums on one word of floats wait for each other besides, which
// those in other sectors of the line do not. (Measured on an H200: integers in one to eight sectors, 1.47 cycles for each such lane however they lie.)
double cycles_of(const std::unordered_map<uint64_t, Visits::Atomics>& atomics, const timing::Rates& rates) {
  std::unordered_map<uint64_t, double> most;  // by turn
  for (const auto& [part, of] : atomics) {
    double& here = most[part >> 48];
    here = std::max(here, static_cast<double>(of.sectors) * rates.atomic_sector +
                              static_cast<double>(of.lanes - of.sectors) * rates.atomic_same_address +
                              static_cast<double>(of.sectors_of_doubles) * (rates.atomic_sector_double - rates.atomic_sector));
    for (const auto& [integers, floats, doubles] : of.turns)
      here =
          std::max(here, static_cast<double>(integers) * rates.atomic_same_address + static_cast<double>(floats) * rates.atomic_same_float +
                             static_cast<double>(doubles) * rates.atomic_same_double);
  }
  double sum = 0;
  for (const auto& [turn, cycles] : most) sum += cycles;
  return sum;
}

// Sectors' worth that L2 has to do beside the sectors themselves, for lanes of a warp that want one word.
double more_sectors(const std::array<Visits::Meetings, 3>& meetings, const timing::Rates& rates) {
  const double each[] = {rates.atomic_lane, rates.atomic_lane, rates.atomic_lane_double};
  double sum = 0;
  for (size_t k = 0; k < meetings.size(); ++k)
    sum += std::max(0.0, each[k] * static_cast<double>(meetings[k].lanes) - static_cast<double>(meetings[k].sectors));
  return sum;
}

// Partitions of memory take turns every few lines. Which of them blocks that run at the same time ask for most tells how long all take.
double camping(const Visits& visits, const model::Device& device, uint64_t together, double share) {
  if (device.memory_partitions <= 1 || visits.kept.empty()) return 1;
  constexpr double kByChance = 1.5;  // times as much as the others: of few lines that are kept
  const auto partitions = static_cast<size_t>(device.memory_partitions);
  std::unordered_map<uint64_t, std::vector<double>> sectors;  // by turn of blocks, of each partition
  for (const Visit& v : visits.kept) {
    std::vector<double>& of = sectors[v.block / together];
    of.resize(partitions);
    of[static_cast<size_t>(model::memory_partition(device, v.line * kLine))] += __builtin_popcount(v.sectors);
  }
  double sum = 0, longest = 0;
  for (const auto& [turn, of] : sectors) {
    double all = 0, most = 0;
    for (double s : of) all += s, most = std::max(most, s);
    most *= static_cast<double>(partitions);
    sum += all;
    longest += most > kByChance * all ? most / share : all;
  }
  return longest / sum;
}

// Of blocks that compiled code left to the interpreter nobody told; they are taken to be as large as the nearest one that is known.
std::vector<uint32_t> sizes_of_blocks(const LaunchTracer& tracer, const std::vector<timing::BlockTrace>& followed) {
  if (tracer.grid_blocks > Visits::kMost || tracer.grid_blocks <= 1) return {};
  std::vector<uint32_t> sizes(tracer.grid_blocks, 0);
  for (const auto& [block, size] : tracer.visits.sizes)
    if (block < sizes.size()) sizes[block] = std::max(1u, size);
  for (const timing::BlockTrace& b : followed)
    if (b.block < sizes.size()) sizes[b.block] = static_cast<uint32_t>(std::clamp<uint64_t>(b.executed, 1, ~0u));
  uint32_t last = 0;
  for (uint32_t& s : sizes) last = s = s ? s : last;
  for (uint32_t& s : std::views::reverse(sizes)) last = s = s ? s : last;
  return sizes;
}

// Those of memory that lies with the host.
void find_far_accesses(std::vector<timing::BlockTrace>& blocks, const vm::DeviceMemory& memory) {
  uint64_t begin = 0, end = 0;  // of the allocation that was found last
  bool far = false;
  for (timing::BlockTrace& block : blocks)
    for (timing::WarpTrace& warp : block.warps)
      for (timing::Access& access : warp.accesses) {
        if (access.space != timing::Space::Global || !access.lines) continue;
        const timing::Line& line = block.lines[access.first_line];
        // Of the line's sectors the first one that is wanted: an allocation may begin in its middle.
        const uint64_t address = line.number * kLine + static_cast<uint64_t>(std::countr_zero(unsigned{line.sectors} | 8u)) * kSector;
        if (address < begin || address >= end) {
          const auto found = memory.find(address);
          if (!found) continue;
          begin = found->base, end = found->base + std::max<uint64_t>(1, found->accessible);
          far = found->kind == vm::MemoryKind::Pinned || found->kind == vm::MemoryKind::Registered;
        }
        access.far = far;
      }
}

}  // namespace

Predictor::Known& Predictor::Followed::nearest(uint64_t instructions) {
  return *std::ranges::min_element(known, {}, [&](const Known& each) { return times(each.work->instructions, instructions); });
}

std::unique_ptr<LaunchTracer> Predictor::begin(const vm::Launch& launch, const model::Device& device) {
  std::lock_guard lock(mutex_);
  Followed& kind = followed_[kind_of(launch)];
  const uint64_t before = kind.launches++;
  // Other arguments may mean other work; where they are others each time it is mostly buffers that take turns.
  const uint64_t arguments = std::hash<std::string_view>()({reinterpret_cast<const char*>(launch.params.data()), launch.params.size()});
  const bool others = arguments != kind.arguments && kind.changes++ < kMostChanges;
  const bool follows = others || kind.stranger || before < kAlwaysFollowed || is_power_of_two(before);
  if (follows) kind.arguments = arguments;
  auto tracer = std::make_unique<LaunchTracer>(launch, device, machine_codes(), follows);
  tracer->keeps_pages = keeps_pages_;
  tracer->in_l2 = [this, &device](uint64_t line) {
    std::lock_guard lock(mutex_);
    return l2_of(device).has(line);
  };
  return tracer;
}

timing::SampledL2& Predictor::l2_of(const model::Device& device) {
  const timing::Rates& rates = timing::rates_of(device);
  const auto usable = static_cast<uint64_t>(static_cast<double>(device.l2_bytes) * rates.l2_usable_share);
  return l2_.try_emplace(device.key, usable, kLinesPerSample, rates.l2_dirty_share).first->second;
}

Predictor::Traffic Predictor::traffic_of(const LaunchTracer& tracer, const timing::Work& followed,
                                         const std::vector<const vm::FunctionCode*>& functions, uint64_t together) {
  Traffic t;
  t.atomic_cycles = cycles_of(tracer.visits.atomics, timing::rates_of(tracer.device));
  t.atomic_meetings = more_sectors(tracer.visits.meetings, timing::rates_of(tracer.device));
  const Visits& visits = tracer.visits;
  if (visits.kept.empty()) return t;
  t.from_memory.resize(followed.functions.size());
  for (size_t k = 0; k < t.from_memory.size(); ++k) t.from_memory[k].resize(followed.functions[k].code->block_of.size());
  std::unordered_map<uint32_t, size_t> place_of;
  for (size_t k = 0; k < functions.size(); ++k) place_of[functions[k]->index] = k;
  timing::SampledL2& l2 = l2_of(tracer.device);
  const timing::Rates& rates = timing::rates_of(tracer.device);
  const double each = static_cast<double>(kLinesPerSample) * static_cast<double>(visits.kept.size() + visits.left_out) /
                      static_cast<double>(visits.kept.size());
  const uint64_t launch = ++launches_ << 32;
  // Blocks that begin a grid go to the same multiprocessors each time, those behind them to whichever is free.
  const auto side_of = [&](uint64_t block) {
    return timing::side_of_gpu(block + (block < together ? tracer.grid_blocks : launch) * 0x2545f4914f6cdd1d);
  };
  for (const auto& [k, moment] : in_time(visits.kept, together)) {
    const Visit& v = visits.kept[k];
    const timing::SampledL2::Outcome o =
        l2.visit({v.line, v.sectors, v.bytes_of_sector, v.kind, v.block, launch + moment, side_of(v.block)});
    t.written_back += o.written * each;
    t.read_sectors += o.read * each;
    t.bursts += o.bursts * each;
    t.bursts_alone += o.alone * each;
    t.read_for_stores += o.holes * each;
    const auto place = place_of.find(v.function);
    if (place == place_of.end() || place->second >= t.from_memory.size()) continue;
    auto& shares = t.from_memory[place->second];
    if (v.instruction >= shares.size()) continue;
    shares[v.instruction].sectors += o.wanted * each;
    shares[v.instruction].fetched += (o.read - o.holes) * each;
    if (rates.l2_parts > 1) shares[v.instruction].far += o.far * each;
    shares[v.instruction].others += o.others * each;
    shares[v.instruction].late += o.late * each;
    shares[v.instruction].of += __builtin_popcount(v.sectors) * each;
  }
  return t;
}

Predicted Predictor::predict(LaunchTracer& tracer, const vm::Launch& launch, const Totals& totals) {
  const timing::Rates& rates = timing::rates_of(tracer.device);
  std::lock_guard lock(mutex_);
  Followed& kind = followed_[kind_of(launch)];
  const bool fresh = tracer.follows || kind.known.empty();
  Known stranger;
  Known* known = fresh ? &stranger : &kind.nearest(totals.executed);
  constexpr double kOther = 1.02;
  kind.stranger = !fresh && times(known->work->instructions, totals.executed) > kOther && kind.strangers++ < kMostStrangers;
  auto work = fresh ? std::make_shared<timing::Work>() : nullptr;
  if (fresh) {
    if (keeps_visits_) find_far_accesses(tracer.blocks, *launch.memory);
    work->far_latency = model::link_of(tracer.device).zero_copy_latency;
    std::ranges::sort(tracer.blocks, {}, &timing::BlockTrace::block);
    timing::find_shared_lines(tracer.blocks);
    std::ranges::for_each(tracer.blocks, timing::find_late_lines);
    work->blocks = std::move(tracer.blocks);
    for (const LaunchTracer::Function& f : tracer.functions) {
      work->functions.push_back({f.code, {}});
      known->functions.push_back(f.function);
    }
  }
  const auto resident = static_cast<uint32_t>(std::max<uint64_t>(1, totals.resident_blocks));
  const uint64_t together = uint64_t{resident} * static_cast<uint64_t>(rates.multiprocessors);
  Traffic traffic = traffic_of(tracer, fresh ? *work : *known->work, known->functions, together);
  const double camps = camping(tracer.visits, tracer.device, together, rates.partition_share);
  const auto kept = [&] { return keeps_visits_ ? std::move(tracer.visits) : Visits(); };
  // A launch that did the same as one before, out of the same caches, takes as long.
  if (!fresh && alike(totals.executed, traffic, *known->predicted_for)) return {*known->predicted, known->functions, kept()};

  if (!fresh) work = std::make_shared<timing::Work>(*known->work);
  work->grid_blocks = tracer.grid_blocks;
  work->block_threads = tracer.block_threads;
  work->resident_blocks = resident;
  work->shared_bytes = (totals.static_shared + totals.dynamic_shared) * work->resident_blocks;
  work->instructions = totals.executed;
  work->cooperative = launch.cooperative;
  static_cast<timing::MemoryWork&>(*work) = traffic;
  for (size_t k = 0; k < work->functions.size(); ++k) {
    auto& shares = work->functions[k].from_memory;
    shares.assign(work->functions[k].code->block_of.size(), {});
    if (k < traffic.from_memory.size()) shares = std::move(traffic.from_memory[k]);
  }
  work->camping = camps;
  work->atomic_sectors = static_cast<double>(totals.global_atom.transactions + totals.global_red.transactions) + work->atomic_meetings;
  work->sizes = sizes_of_blocks(tracer, work->blocks);
  Predicted p{timing::predict(*work, rates), known->functions, kept()};
  known->predicted = std::make_shared<timing::Prediction>(p);
  known->predicted_for = work;
  if (fresh) {
    // What did the same before is no longer needed.
    std::erase_if(kind.known, [&](const Known& each) { return times(each.work->instructions, work->instructions) <= kOther; });
    if (kind.known.size() == kMostKnown) kind.known.pop_back();
    known->work = std::move(work);
    kind.known.insert(kind.known.begin(), std::move(*known));
  }
  return p;
}

void Predictor::moved(const Operation& operation, const model::Device& device) {
  std::lock_guard lock(mutex_);
  timing::SampledL2& l2 = l2_of(device);
  const auto on_device = [&](const Bytes& b) { return b.base && operation.memory && operation.memory->find(b.base); };
  const bool from_host = operation.kind == OperationKind::Copy && !on_device(operation.from);
  const auto touch = [&](const Bytes& b, timing::Kind kind) {
    if (!on_device(b)) return;
    for (uint64_t plane = 0; plane < b.planes; ++plane)
      for (uint64_t row = 0; row < b.rows; ++row) {
        const uint64_t begin = b.base + plane * b.plane + row * b.pitch;
        for (uint64_t line = begin / kLine; line * kLine < begin + b.width; ++line)
          if (!is_sampled(line)) continue;
          else if (from_host) l2.from_host(line);
          else l2.visit({line, 0xf, 32, kind});
      }
  };
  touch(operation.from, timing::Kind::Load);
  touch(operation.to, timing::Kind::Store);
}

}  // namespace warpbeam::observe
