#include "observe/profiler/launch_profile.h"

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <utility>

#include "model/occupancy.h"
#include "observe/profiler/fragments.h"
#include "observe/profiler/gathered.h"
#include "observe/profiler/gpu_places.h"
#include "observe/profiler/merged_accesses.h"
#include "observe/profiler/traffic.h"
#include "vm/access.h"
#include "vm/spans.h"
#include "vm/warp.h"

namespace warpbeam::observe {

// Counts for the blocks that run on one host thread at a time; the launch hands it to one block after the other.
class LaunchProfile::Block final : public vm::BlockObserver {
 public:
  Block(const model::Device& device, const vm::Launch& launch, uint64_t parameters)
      : device_(device),
        launch_(launch),
        mode_(launch.eight_byte_banks ? model::BankMode::EightBytes : model::BankMode::FourBytes),
        parameters_(parameters),
        parameter_bytes_(parameters ? launch.params.size() : 0) {
    counts = true;
    notable = false;
  }

  // Executions are counted by the machine; this is told every instruction of the blocks that are sampled.
  void instruction(vm::Warp& warp, const vm::Insn& insn, uint32_t, uint32_t active) override {
    if (!samples) return;
    if (warp.frame->function != counted_function) enter(*warp.frame->function);
    samples->instruction(warp.index, counted_function, index_of(insn), active);
  }
  bool goes_on_with(uint64_t) override { return !samples; }

  void access(vm::Warp& warp, const vm::Insn& insn, const vm::Access& access) override {
    // What a multicast copy writes into other blocks' shared memory passes no banks of this multiprocessor.
    if (access.async && access.space == isa::Space::Shared && access.address[0] >= vm::kClusterStride) return;
    if (warp.frame->function != counted_function) enter(*warp.frame->function);
    if (to_parameters(access.space, access.address[0])) return;
    if (!FragmentAccesses::concerns(insn)) return made(warp, insn, access);
    for (const vm::Access& one : fragments_.take(insn, access)) made(warp, insn, one);
  }

  void repeated(const vm::Insn& insn, const vm::Access& access, uint64_t times) override {
    if (to_parameters(access.space, access.address[0])) return;
    const size_t index = index_of(insn);
    Counts fresh;
    anywhere_ = true;
    const Counts& counts = counts_of(insn, index, access, fresh);
    base_[index].add(counts, times);
    if (const auto [shaped, of_shaped] = std::exchange(asked_, {}); shaped) *of_shaped = counts, shaped->known = anywhere_;
  }

  bool repeats(const vm::Insn& insn, uint32_t mask, uint64_t first, uint64_t shape, uint64_t times) override {
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
    base_[index].add(counts, shaped.times);
    shaped = {mask, false, place, shape, 0};
    asked_ = {&shaped, &counts};
    return false;
  }

  void add_to(FunctionCounts& sum) const {
    for (const auto& [function, mine] : functions_) {
      std::vector<Counts>& all = sum[function];
      all.resize(mine.counts.size());
      for (size_t k = 0; k < mine.counts.size(); ++k) {
        all[k] += mine.counts[k];
        all[k].executed += mine.executions[k].warps;
        all[k].threads += mine.executions[k].threads;
        all[k].threads_on += mine.executions[k].threads_on;
        all[k].divergent += mine.executions[k].parted;
        if (!mine.patterns[k]) continue;
        for (size_t slot = 0; slot < kSlots; ++slot) all[k].add(mine.patterns[k]->counts_of_shaped[slot], mine.patterns[k]->shaped[slot].times);
      }
    }
  }

  std::unique_ptr<BlockSamples> samples;

 private:
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
  struct Shaped {  // what `repeats` was asked for: little, as it is asked often
    uint32_t mask = 0;
    bool known = false;
    uint64_t place = 0, shape = 0;
    uint64_t times = 0;  // that have not been counted yet
  };
  // Where a loop's last turns differ in their lanes, as those of a reduction do, each set of lanes has a slot of its own.
  static constexpr size_t kSlots = 8;
  static size_t slot_of(uint32_t mask, uint64_t place) {
    return (mask * 0x9e3779b1u ^ static_cast<uint32_t>(place) * 0x85ebca6bu) >> 29;
  }
  struct Patterns {
    uint64_t period = 256;  // a power of two
    uint64_t place(uint64_t address) const { return address & (period - 1); }
    std::array<Shaped, kSlots> shaped;
    std::array<Counts, kSlots> counts_of_shaped;
    std::array<Pattern, kSlots> known;

    const Counts* find(const vm::Access& a) {
      if (!pays()) return nullptr;
      const Pattern& p = known[slot_of(a.mask, place(a.address[0]))];
      if (a.mask != p.mask || a.bytes != p.bytes || a.space != p.space || a.kind != p.kind || a.returns != p.returns || place(a.address[0]) != p.place) return nullptr;
      if (a.address[31] - a.address[0] != p.distance[31]) return nullptr;
      uint64_t different = 0;
      for (size_t l = 0; l < 32; ++l) different |= (a.address[l] - a.address[0]) ^ p.distance[l];
      if (different) return nullptr;
      ++hits_;
      return &p.counts;
    }
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
  struct OfFunction {
    std::vector<vm::Executions> executions;
    std::vector<Counts> counts;
    std::vector<std::unique_ptr<Patterns>> patterns;
    std::vector<char> gathered;
    std::vector<uint8_t> merged;
  };

  void enter(const vm::FunctionCode& function) override {
    auto [it, fresh] = functions_.try_emplace(&function);
    OfFunction& f = it->second;
    if (fresh) {
      f.executions.resize(function.insns.size());
      f.counts.resize(function.insns.size());
      f.patterns.resize(function.insns.size());
      f.gathered = gathered_atomics(function, device_.cc());
      f.merged = merged_accesses(function);
    }
    counted_function = &function;
    counted = f.executions.data();
    base_ = f.counts.data();
    patterns_ = f.patterns.data();
    gathered_ = &f.gathered;
    merged_ = f.merged.data();
  }

  void made(vm::Warp& warp, const vm::Insn& insn, const vm::Access& access) {
    repeated(insn, access, 1);
    if (samples) samples->access(warp.index, counted_function, index_of(insn), access);
  }

  uint32_t index_of(const vm::Insn& insn) const { return static_cast<uint32_t>(&insn - counted_function->insns.data()); }

  // A kernel's parameters whose address is taken lie in device memory here; on a GPU they are constants.
  bool to_parameters(isa::Space space, uint64_t address) const { return space == isa::Space::Global && address - parameters_ < parameter_bytes_; }

  Patterns& patterns_of(size_t index, isa::Space space) {
    std::unique_ptr<Patterns>& patterns = patterns_[index];
    if (!patterns) {
      patterns = std::make_unique<Patterns>();
      if (device_.bank_rule != model::BankRule::Banks32x8 && space != isa::Space::Local) patterns->period = 128;
    }
    return *patterns;
  }

  // The traffic of one access; `fresh` is where to count what is not known.
  const Counts& counts_of(const vm::Insn& insn, size_t index, const vm::Access& access, Counts& fresh) {
    if (access.kind == vm::AccessKind::Atomic && (*gathered_)[index] && access.space == isa::Space::Global) {
      vm::Access one = access;
      one.mask &= -one.mask;  // one lane does it for all
      count_access(device_, mode_, insn, one, fresh);
      return fresh;
    }
    if (access.kind == vm::AccessKind::Atomic && access.space == isa::Space::Global && launch_.memory) {
      // Which lines' tags meet in a bank depends on where the memory lies.
      if (!places_) places_ = std::make_unique<GpuPlaces>(launch_.memory->live());
      vm::Access there = access;
      const uint64_t shift = places_->shift(access.address[0]);
      for (uint64_t& address : there.address) address += shift;
      return counts_as_told(insn, index, there, fresh);
    }
    if (!merged_[index] || access.space != isa::Space::Shared) return counts_as_told(insn, index, access, fresh);
    if (merged_[index] == kPartOfOther) return fresh;
    vm::Access whole = access;
    whole.bytes = merged_[index];
    return counts_as_told(insn, index, whole, fresh);
  }

  const Counts& counts_as_told(const vm::Insn& insn, size_t index, const vm::Access& access, Counts& fresh) {
    Patterns& patterns = patterns_of(index, access.space);
    if (const Counts* known = patterns.find(access)) return *known;
    anywhere_ = count_access(device_, mode_, insn, access, fresh);
    if (anywhere_) patterns.remember(access, fresh);
    return fresh;
  }

  const model::Device& device_;
  const vm::Launch& launch_;
  const model::BankMode mode_;
  const uint64_t parameters_, parameter_bytes_;
  std::map<const vm::FunctionCode*, OfFunction> functions_;
  const std::vector<char>* gathered_ = nullptr;
  const uint8_t* merged_ = nullptr;
  FragmentAccesses fragments_;
  std::unique_ptr<GpuPlaces> places_;
  std::pair<Shaped*, Counts*> asked_{};  // are to be told what `repeated` finds
  bool anywhere_ = true;                 // what was counted last holds for other places too
  Counts* base_ = nullptr;
  std::unique_ptr<Patterns>* patterns_ = nullptr;
};

namespace {

vm::Launch without_observer(vm::Launch launch) {
  launch.observer = nullptr;
  return launch;
}

void add_arithmetic(Arithmetic& sum, std::string_view opcode, uint64_t threads, bool packed = false) {
  const uint64_t two = packed ? threads : 0;
  sum.instructions += threads;
  if (opcode == "add" || opcode == "sub")
    sum.add += threads, sum.packed_add += two;
  else if (opcode == "mul")
    sum.mul += threads, sum.packed_mul += two;
  else if (opcode == "fma" || opcode == "mad")
    sum.fma += threads, sum.packed_fma += two;
}

// Loads and stores of matrices: wmma.load, wmma.store, ldmatrix, stmatrix.
isa::Class memory_class(const isa::Row& row) {
  if (row.opcode == "ldmatrix" || row.syntax.starts_with("wmma.load")) return isa::Class::Load;
  if (row.opcode == "stmatrix" || row.syntax.starts_with("wmma.store")) return isa::Class::Store;
  return row.cls;
}

// LDSM, which the counter of loads from shared memory leaves out.
bool loads_tiles(const vm::Insn& insn) {
  const isa::Row& row = *insn.source->form.row;
  return row.opcode == "ldmatrix" || (FragmentAccesses::concerns(insn) && FragmentAccesses::by_tiles(insn));
}

void add_class(Totals& t, const vm::Insn& insn, const Counts& c) {
  using isa::Class;
  const isa::Row& row = *insn.source->form.row;
  const isa::Type type = insn.type();
  const uint64_t on = c.threads_on;
  switch (memory_class(row)) {
    case Class::F32Add:
    case Class::F32Mul:
    case Class::F32Fma:
      return add_arithmetic(t.fp32, row.opcode, on);
    case Class::F64Add:
    case Class::F64Mul:
    case Class::F64Fma:
      return add_arithmetic(t.fp64, row.opcode, on);
    case Class::Special:
      if (isa::bits_of(type) == 64) return add_arithmetic(t.fp64, row.opcode, on);
      if (type == isa::Type::F32) t.special += on;
      return add_arithmetic(t.fp32, row.opcode, on);
    case Class::F16:
      return add_arithmetic(t.fp16, row.opcode, on, type == isa::Type::F16x2 || type == isa::Type::BF16x2);
    case Class::IntAlu:
    case Class::IntMul:
    case Class::Logic:
    case Class::Shift:
    case Class::Video:
      t.integer += on;
      return;
    case Class::Compare:
    case Class::Select:
      if (!isa::is_float(type))
        t.integer += on;
      else if (isa::bits_of(type) == 64)
        t.fp64.instructions += on;
      else if (isa::bits_of(type) == 32)
        t.fp32.instructions += on;
      else
        t.fp16.instructions += on;
      return;
    case Class::Convert:
      t.conversions += on;
      if (row.syntax.find(".f32.f16 ") != row.syntax.npos) t.widened += on;
      return;
    case Class::Branch:
    case Class::Call:
      t.control += on;
      t.control_flow += c.executed;
      if ((row.opcode == "bra" && insn.guard >= 0) || row.opcode == "brx") {
        t.branches += c.executed;
        t.divergent += c.divergent;
      }
      return;
    case Class::Load:
    case Class::Store:
    case Class::Atomic:
      t.memory += on;
      if (row.kind == isa::Kind::Image) {
        const bool surface = row.opcode.starts_with("su");
        (!surface                        ? t.textures
         : row.cls == Class::Load        ? t.surface_ld
         : row.cls == Class::Store       ? t.surface_st
                                         : t.surface_red) += c.executed;
      }
      return;
    case Class::Warp:
      t.communication += on;
      return;
    case Class::Barrier:
      t.barriers += c.executed;
      t.misc += on;
      return;
    default:
      t.misc += on;
      return;
  }
}

// Whose result is used, or that has no form without one: exchanges, and since 9.0 those of generic addresses.
bool executed_as_atom(const vm::Insn& insn, int cc) {
  if (insn.source->form.row->opcode != "atom") return false;
  const isa::Mods& mods = insn.mods();
  return !insn.drops_result || mods.op == isa::Op::Cas || mods.op == isa::Op::Exch || (cc >= 90 && mods.space == isa::Space::Generic);
}

void add_memory(Totals& t, const vm::Insn& insn, const Counts& c, int cc) {
  const isa::Row& row = *insn.source->form.row;
  switch (memory_class(row)) {
    case isa::Class::Load:
      if (row.kind == isa::Kind::Async) {
        t.global_copy.add(c.global, c.to_global);
        if (insn.mods().cache == isa::Cache::Cg) t.copy_past_l1.add(c.global, c.to_global);
        return;
      }
      t.global_ld.add(c.global, c.to_global);
      t.local_ld.add(c.local, c.to_local);
      t.shared_ld.add(c.shared, loads_tiles(insn) ? 0 : c.to_shared);
      t.ldsm += loads_tiles(insn) ? c.to_shared : 0;
      return;
    case isa::Class::Store:
      t.global_st.add(c.global, c.to_global);
      t.local_st.add(c.local, c.to_local);
      t.shared_st.add(c.shared, c.to_shared);
      return;
    case isa::Class::Atomic: {
      (executed_as_atom(insn, cc) ? t.global_atom : t.global_red).add(c.global, c.to_global);
      t.shared_atom.add(c.shared, c.to_shared);
      return;
    }
    default:
      return;
  }
}

uint64_t or_none(int blocks) { return blocks == INT_MAX ? 0 : static_cast<uint64_t>(blocks); }

}  // namespace

LaunchProfile::LaunchProfile(const vm::Launch& launch, const model::Device& device, uint64_t number, uint64_t operation,
                             bool sampled, uint32_t assembled_registers)
    : device(device),
      number(number),
      operation(operation),
      launch(without_observer(launch)),
      assembled_registers(assembled_registers),
      sampled_(sampled) {}

LaunchProfile::~LaunchProfile() = default;

std::unique_ptr<vm::BlockObserver> LaunchProfile::begin_block(const vm::Block& block) {
  std::unique_ptr<Block> observer;
  {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      observer = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!observer)
    observer = std::make_unique<Block>(device, launch, block.params_address);
  if (sampled_ && block.linear < kSampledBlocks) observer->samples = std::make_unique<BlockSamples>(block.linear);
  observer->every_instruction = observer->samples != nullptr;
  return observer;
}

void LaunchProfile::end_block(const vm::Block&, std::unique_ptr<vm::BlockObserver> observer) {
  std::unique_ptr<Block> block(static_cast<Block*>(observer.release()));
  std::lock_guard lock(mutex_);
  if (block->samples) {
    samples.merge(block->samples->take());
    block->samples = nullptr;
  }
  idle_.push_back(std::move(block));
}

void LaunchProfile::end_grid(const vm::LaunchResult& result) {
  std::lock_guard lock(mutex_);
  for (const auto& block : idle_) {
    block->settle();
    block->add_to(counts);
  }
  idle_.clear();
  samples.sort();
  if (result.trap.kind != vm::TrapKind::None) trap = result.trap.message;
  ended = true;
}

Totals LaunchProfile::totals() const {
  Totals t;
  for (const auto& [function, all] : counts)
    for (size_t k = 0; k < all.size(); ++k) {
      const Counts& c = all[k];
      if (!c.executed) continue;
      t.executed += c.executed;
      t.threads += c.threads;
      t.threads_on += c.threads_on;
      add_class(t, function->insns[k], c);
      add_memory(t, function->insns[k], c, device.cc());
    }
  const vm::Kernel& kernel = *launch.kernel;
  t.blocks = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  t.block_threads = uint64_t(launch.block[0]) * launch.block[1] * launch.block[2];
  t.warps = t.blocks * ((t.block_threads + 31) / 32);
  t.registers = assembled_registers ? assembled_registers : kernel.registers;
  t.static_shared = kernel.static_shared;
  t.dynamic_shared = launch.dynamic_shared;
  t.max_warps = static_cast<uint64_t>(device.max_warps_per_sm());
  t.multiprocessors = static_cast<uint64_t>(device.sm_count);
  t.bank_bytes = bank_bytes(device);
  model::KernelResources needs;
  needs.regs_per_thread = static_cast<int>(t.registers);
  needs.static_shared = kernel.static_shared;
  needs.max_dynamic_shared = launch.dynamic_shared;
  if (auto fit = model::occupancy(device, needs, static_cast<int>(t.block_threads), launch.dynamic_shared)) {
    t.limit_blocks = or_none(fit->by_blocks);
    t.limit_warps = or_none(fit->by_warps);
    t.limit_registers = fit->by_registers == INT_MAX ? t.limit_blocks : or_none(fit->by_registers);
    // A kernel without shared memory of its own gets as much of the array as its blocks need.
    t.limit_shared = std::min(fit->by_shared == INT_MAX ? t.limit_blocks : or_none(fit->by_shared), t.limit_blocks);
    t.resident_blocks = static_cast<uint64_t>(fit->blocks_per_sm);
    t.resident_warps = static_cast<uint64_t>(fit->warps_per_sm(device, static_cast<int>(t.block_threads)));
  }
  return t;
}

}  // namespace warpbeam::observe
