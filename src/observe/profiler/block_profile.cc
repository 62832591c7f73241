#include "observe/profiler/block_profile.h"

#include <algorithm>
#include <bit>

#include "observe/profiler/gathered.h"
#include "observe/profiler/long_ways.h"
#include "observe/profiler/merged_accesses.h"
#include "observe/profiler/traffic.h"
#include "vm/spans.h"
#include "vm/warp.h"

namespace warpbeam::observe {
namespace {

// Where a loop's last turns differ in their lanes, as those of a reduction do, each set of lanes has a slot of its own.
constexpr size_t kSlots = 8;
size_t slot_of(uint32_t mask, uint64_t place) { return (mask * 0x9e3779b1u ^ static_cast<uint32_t>(place) * 0x85ebca6bu) >> 29; }

// Accesses that an instruction has made. One that looks the same but for its place makes the same traffic: rules repeat
// after 128 bytes, those of banks of eight bytes and of local memory's interleaving after 256.
struct Pattern {
  uint32_t mask = 0, bytes = 0;
  isa::Space space{};
  vm::AccessKind kind{};
  bool returns = false;
  uint64_t place = 0;
  std::array<uint64_t, 32> distance{};
  Counts counts;
};

}  // namespace

struct BlockProfile::Patterns {
  uint64_t period = 256;  // a power of two
  uint64_t place(uint64_t address) const { return address & (period - 1); }
  std::array<Shaped, kSlots> shaped;
  std::array<Counts, kSlots> counts_of_shaped;
  std::array<Pattern, kSlots> known;

  const Counts* find(const vm::Access& a) {
    if (!pays()) return nullptr;
    const Pattern& p = known[slot_of(a.mask, place(a.address[0]))];
    if (a.mask != p.mask || a.bytes != p.bytes || a.space != p.space || a.kind != p.kind || a.returns != p.returns ||
        place(a.address[0]) != p.place)
      return nullptr;
    if (a.address[31] - a.address[0] != p.distance[31]) return nullptr;
    uint64_t different = 0;
    for (size_t l = 0; l < 32; ++l) different |= (a.address[l] - a.address[0]) ^ p.distance[l];
    if (different) return nullptr;
    ++hits_;
    return &p.counts;
  }
  // Is nothing looked up or remembered now? Asked once for each access, like `find`.
  bool rests() { return resting_ > 1 && --resting_; }
  void remember(const vm::Access& a, const Counts& counts) {
    if (resting_ || (a.space == isa::Space::Local && period < 256)) return;
    Pattern& p = known[slot_of(a.mask, place(a.address[0]))];
    p = {a.mask, a.bytes, a.space, a.kind, a.returns, place(a.address[0]), {}, counts};
    for (size_t l = 0; l < 32; ++l) p.distance[l] = a.address[l] - a.address[0];
  }

 private:
  // Not where most of the last accesses looked new, as those of a gather do: it is tried again after a while.
  bool pays() {
    constexpr uint32_t kWindow = 64, kRest = 2048;
    if (resting_) return --resting_ == 0;
    if (++looks_ % kWindow == 0) {
      if (hits_ < kWindow * 3 / 4) resting_ = kRest;
      hits_ = 0;
    }
    return resting_ == 0;
  }
  uint32_t looks_ = 0, hits_ = 0, resting_ = 0;
};

BlockProfile::OfFunction::OfFunction(const vm::FunctionCode& function, int cc)
    : serial(function.serial),
      executions(function.insns.size()),
      counts(function.insns.size()),
      patterns(function.insns.size()),
      gathered(gathered_atomics(function, cc)),
      merged(merged_accesses(function)) {}
BlockProfile::OfFunction::~OfFunction() = default;

BlockProfile::BlockProfile(const model::Device& device, model::BankMode mode) : device_(device), mode_(mode) {
  counts = true;
  notable = false;
}

void BlockProfile::begin(const vm::Launch& launch, uint64_t parameters) {
  launch_ = &launch;
  parameters_ = parameters;
  parameter_bytes_ = parameters ? launch.params.size() : 0;
}

void BlockProfile::hand_over(FunctionCounts& sum) {
  for (auto& [function, mine] : functions_) {
    if (!std::exchange(mine.entered, false)) continue;
    std::vector<Counts>& all = sum[function];
    all.resize(mine.counts.size());
    for (size_t k = 0; k < mine.counts.size(); ++k) {
      all[k] += mine.counts[k];
      all[k].executed += mine.executions[k].warps;
      all[k].threads += mine.executions[k].threads;
      all[k].threads_on += mine.executions[k].threads_on;
      all[k].divergent += mine.executions[k].parted;
      if (!mine.patterns[k]) continue;
      for (size_t slot = 0; slot < kSlots; ++slot)
        all[k].add(mine.patterns[k]->counts_of_shaped[slot], std::exchange(mine.patterns[k]->shaped[slot].times, 0));
    }
    std::ranges::fill(mine.counts, Counts{});
    std::ranges::fill(mine.executions, vm::Executions{});
  }
  launch_ = nullptr;
  visits.reset();
  tracer = nullptr;
  entered_ = nullptr;
  counted_function = nullptr;
  counted = nullptr;
  pending = {};
  fragments_ = {};
  places_ = nullptr;
  asked_ = {};
  copied_ = {};
}

uint64_t BlockProfile::counted_so_far() const {
  uint64_t sum = 0;
  for (const auto& [function, mine] : functions_)
    if (mine.entered)
      for (const vm::Executions& e : mine.executions) sum += e.warps;
  return sum;
}

void BlockProfile::begin_sized(uint64_t block) {
  if (every_instruction) settle();
  sized_ = {block, counted_so_far(), settled, false};
}

void BlockProfile::end_sized() {
  if (visits && !sized_.told && settled == sized_.settled) visits->ran(sized_.block, counted_so_far() - sized_.counted);
}

void BlockProfile::ran(uint64_t block, uint64_t instructions) {
  if (visits) visits->ran(block, instructions);
  sized_.told = true;
}

// Executions are counted by the machine; this is told every instruction of the blocks that are sampled.
void BlockProfile::instruction(vm::Warp& warp, const vm::Insn& insn, uint32_t mask, uint32_t active) {
  if (!samples && !trace) return;
  if (warp.frame->function != counted_function) enter(*warp.frame->function);
  if (samples) samples->instruction(warp.index, counted_function, index_of(insn), active);
  if (!trace) return;
  trace->instruction(warp.index, *counted_function, insn, mask, active);
  if (const uint16_t more = long_way(warp, insn, mask)) trace->long_way(warp.index, *counted_function, insn, more);
}

std::optional<double> BlockProfile::clock_read(vm::Warp& warp, const vm::Insn& insn, bool wanted) {
  return trace ? trace->clock_read(warp.index, *warp.frame->function, insn, wanted) : std::nullopt;
}

bool BlockProfile::goes_on_with(uint64_t block) {
  if (samples || trace || (tracer && tracer->to_follow(block))) return false;
  if (visits) visits->begin_block(block);
  return true;
}

void BlockProfile::passed(const vm::Insn& insn, uint32_t mask, const vm::Pattern& pattern) {
  // One lane does it for all where they are known to share the address.
  if (visits) visits->passed(*counted_function, insn, entered_->gathered[index_of(insn)] ? mask & -mask : mask, pattern);
}

namespace {

// cp.async, unlike the bulk copies that one lane asks for.
bool copies_by_lanes(const vm::Insn& insn, const vm::Access& access) {
  return access.async && insn.source->form.row->kind == isa::Kind::Async && insn.source->form.row->syntax.starts_with("cp.async.c");
}

// Whether an address of shared memory names a block of the cluster, and this one.
bool names_own_block(const vm::Warp& warp, const vm::Access& access) {
  const uint64_t first = access.address[static_cast<size_t>(std::countr_zero(access.mask))];
  return to_cluster(access) && first / vm::kClusterStride - 1 == warp.block->cluster_rank;
}

}  // namespace

void BlockProfile::access(vm::Warp& warp, const vm::Insn& insn, const vm::Access& access) {
  if (names_own_block(warp, access)) {
    vm::Access own = access;
    for (uint64_t& address : own.address) address %= vm::kClusterStride;
    return this->access(warp, insn, own);
  }
  // What a multicast copy writes into other blocks' shared memory passes no banks of this multiprocessor.
  if (access.async && access.space == isa::Space::Shared && access.address[0] >= vm::kClusterStride) return;
  if (warp.frame->function != counted_function) enter(*warp.frame->function);
  if (to_parameters(access.space, access.address[0])) return;
  if (copies_by_lanes(insn, access)) return copied(warp, insn, access);
  if (!FragmentAccesses::concerns(insn)) return made(warp, insn, access);
  for (const vm::Access& one : fragments_.take(insn, access)) made(warp, insn, one);
}

// Both sides together; lanes that fill up with zeros read in several parts.
void BlockProfile::copied(vm::Warp& warp, const vm::Insn& insn, const vm::Access& access) {
  const bool reads = access.space == isa::Space::Global;
  const auto from = std::exchange(copied_, std::nullopt);
  if (from && (reads || from->mask != access.mask)) made(warp, insn, *from);
  if (reads) {
    copied_ = access;
  } else if (!from || from->mask != access.mask) {
    made(warp, insn, access);
  } else {
    Counts counts;
    count_copy(device_, insn, *from, access, counts);
    entered_->counts[index_of(insn)].add(counts, 1);
    for (const vm::Access* one : {&*from, &access}) followed(warp, insn, *one, counts);
  }
}

void BlockProfile::repeated(const vm::Insn& insn, const vm::Access& access, uint64_t times) {
  if (to_parameters(access.space, access.address[0])) return;
  const size_t index = index_of(insn);
  const bool plain = access.kind != vm::AccessKind::Atomic && access.space == isa::Space::Global;
  if (plain && times == 1 && !asked_.first && patterns_of(index, access.space).rests()) {
    count_access(device_, mode_, insn, access, entered_->counts[index]);
    return;
  }
  Counts fresh;
  anywhere_ = true;
  const Counts& counts = counts_of(insn, index, access, fresh);
  entered_->counts[index].add(counts, times);
  if (const auto [shaped, of_shaped] = std::exchange(asked_, {}); shaped) *of_shaped = counts, shaped->known = anywhere_;
}

bool BlockProfile::repeats(const vm::Insn& insn, uint32_t mask, uint64_t first, uint64_t shape, uint64_t times) {
  if (to_parameters(isa::Space::Global, first)) return true;
  const size_t index = index_of(insn);
  Patterns& patterns = patterns_of(index, isa::Space::Global);
  const uint64_t place = patterns.place(first);
  const size_t slot = slot_of(mask, place);
  Shaped& shaped = patterns.shaped[slot];
  if (shaped.known && shaped.mask == mask && shaped.place == place && shaped.shape == shape) {
    shaped.times += times;
    return true;
  }
  Counts& counts = patterns.counts_of_shaped[slot];
  entered_->counts[index].add(counts, shaped.times);
  shaped = {mask, false, place, shape, 0};
  asked_ = {&shaped, &counts};
  return false;
}

void BlockProfile::met_in_banks(const vm::Insn& insn, uint64_t times, uint64_t most, uint64_t words) {
  const size_t index = index_of(insn);
  Counts& counts = entered_->counts[index];
  counts.to_shared += times;
  counts.shared += entered_->gathered[index] ? passes_of_words(times, times, times) : passes_of_words(times, most, words);
}

// Measured on an H100 (tests/profile): a texel at an interpolated place is asked for by quads of lanes, which may need a level
// of detail; where the level or the texel is named, eight lanes with texels of up to 8 bytes ask together.
void BlockProfile::texture_read(vm::Warp& warp, const vm::Insn& insn, uint32_t mask, uint32_t texel_bytes) {
  if (warp.frame->function != counted_function) enter(*warp.frame->function);
  const bool named = insn.source->form.atype == isa::Type::S32 || insn.mods().detail == isa::Detail::Level;
  const uint32_t together = named && texel_bytes <= 8 ? 8 : 4;
  uint64_t& requests = entered_->counts[index_of(insn)].image_requests;
  for (uint32_t left = mask; left;) {
    const uint32_t first = static_cast<uint32_t>(std::countr_zero(left)) / together * together;
    left &= ~(((1u << together) - 1) << first);
    ++requests;
  }
}

void BlockProfile::enter(const vm::FunctionCode& function) {
  // Another function may have been where this one is now.
  if (const auto it = functions_.find(&function); it != functions_.end() && it->second.serial != function.serial) functions_.erase(it);
  entered_ = &functions_.try_emplace(&function, function, device_.cc()).first->second;
  entered_->entered = true;
  counted_function = &function;
  counted = entered_->executions.data();
}

void BlockProfile::made(vm::Warp& warp, const vm::Insn& insn, const vm::Access& access) {
  repeated(insn, access, 1);
  if (!trace) return followed(warp, insn, access, {});
  Counts counts;
  count_access(device_, mode_, insn, access, counts);
  followed(warp, insn, access, counts);
}

// Those who want to know more than how much there was.
void BlockProfile::followed(vm::Warp& warp, const vm::Insn& insn, const vm::Access& access, const Counts& counts) {
  if (samples) samples->access(warp.index, counted_function, index_of(insn), access);
  if (trace) trace->access(warp.index, *counted_function, insn, access, counts);
  if (visits)
    visits->access(*counted_function, insn, access, entered_->gathered[index_of(insn)] ? access.mask & -access.mask : access.mask);
}

BlockProfile::Patterns& BlockProfile::patterns_of(size_t index, isa::Space space) {
  std::unique_ptr<Patterns>& patterns = entered_->patterns[index];
  if (!patterns) {
    patterns = std::make_unique<Patterns>();
    if (device_.bank_rule != model::BankRule::Banks32x8 && space != isa::Space::Local) patterns->period = 128;
  }
  return *patterns;
}

// The traffic of one access; `fresh` is where to count what is not known.
const Counts& BlockProfile::counts_of(const vm::Insn& insn, size_t index, const vm::Access& access, Counts& fresh) {
  if (access.kind == vm::AccessKind::Atomic && entered_->gathered[index] &&
      (access.space == isa::Space::Global || access.space == isa::Space::Shared)) {
    vm::Access one = access;
    one.mask &= -one.mask;  // one lane does it for all
    count_access(device_, mode_, insn, one, fresh);
    return fresh;
  }
  if (access.kind == vm::AccessKind::Atomic && access.space == isa::Space::Global && launch_->memory) {
    // Which lines' tags meet in a bank depends on where the memory lies.
    if (!places_) places_ = std::make_unique<GpuPlaces>(launch_->memory->live());
    vm::Access there = access;
    const uint64_t shift = places_->shift(access.address[0]);
    for (uint64_t& address : there.address) address += shift;
    return counts_as_told(insn, index, there, fresh);
  }
  if (to_cluster(access)) {
    count_access(device_, mode_, insn, access, fresh);
    return fresh;
  }
  if (!entered_->merged[index] || access.space != isa::Space::Shared) return counts_as_told(insn, index, access, fresh);
  if (entered_->merged[index] == kPartOfOther) return fresh;
  vm::Access whole = access;
  whole.bytes = entered_->merged[index];
  return counts_as_told(insn, index, whole, fresh);
}

const Counts& BlockProfile::counts_as_told(const vm::Insn& insn, size_t index, const vm::Access& access, Counts& fresh) {
  Patterns& patterns = patterns_of(index, access.space);
  if (const Counts* known = patterns.find(access)) return *known;
  anywhere_ = count_access(device_, mode_, insn, access, fresh);
  if (anywhere_) patterns.remember(access, fresh);
  return fresh;
}

std::unique_ptr<BlockProfile> BlockProfiles::take(const model::Device& device, const vm::Launch& launch, uint64_t parameters) {
  const auto mode = launch.eight_byte_banks ? model::BankMode::EightBytes : model::BankMode::FourBytes;
  std::unique_ptr<BlockProfile> block;
  {
    std::lock_guard lock(mutex_);
    const auto it = std::ranges::find_if(spare_, [&](const auto& b) { return b->suits(device, mode); });
    if (it != spare_.end()) {
      block = std::move(*it);
      spare_.erase(it);
    }
  }
  if (!block) block = std::make_unique<BlockProfile>(device, mode);
  block->begin(launch, parameters);
  return block;
}

void BlockProfiles::give_back(std::unique_ptr<BlockProfile> block) {
  std::lock_guard lock(mutex_);
  spare_.push_back(std::move(block));
}

}  // namespace warpbeam::observe
