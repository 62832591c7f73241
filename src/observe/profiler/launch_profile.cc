#include "observe/profiler/launch_profile.h"

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <utility>

#include "model/occupancy.h"
#include "observe/profiler/block_profile.h"
#include "observe/profiler/fragments.h"
#include "observe/profiler/traffic.h"
#include "vm/engine.h"
#include "vm/spans.h"

namespace warpbeam::observe {

namespace {

vm::Launch without_observer(vm::Launch launch) {
  launch.observer = nullptr;
  return launch;
}

void add_arithmetic(Arithmetic& sum, isa::Opcode op, uint64_t threads, bool packed = false) {
  const uint64_t two = packed ? threads : 0;
  sum.instructions += threads;
  if (op == isa::Opcode::Add || op == isa::Opcode::Sub) sum.add += threads, sum.packed_add += two;
  else if (op == isa::Opcode::Mul) sum.mul += threads, sum.packed_mul += two;
  else if (op == isa::Opcode::Fma || op == isa::Opcode::Mad) sum.fma += threads, sum.packed_fma += two;
}

bool is_surface(const isa::Row& row) {
  using isa::Opcode;
  return row.op == Opcode::Suld || row.op == Opcode::Sust || row.op == Opcode::Sured || row.op == Opcode::Suq;
}

// Loads and stores of matrices: wmma.load, wmma.store, ldmatrix, stmatrix.
isa::Class memory_class(const isa::Row& row) {
  if (row.kind == isa::Kind::Tensor && row.op != isa::Opcode::Wgmma && row.effects.reads) return isa::Class::Load;
  if (row.kind == isa::Kind::Tensor && row.effects.writes) return isa::Class::Store;
  return row.cls;
}

void add_class(Totals& t, const vm::Insn& insn, const Counts& c) {
  using isa::Class;
  const isa::Row& row = *insn.source->form.row;
  const isa::Type type = insn.type();
  const uint64_t on = c.threads_on;
  switch (memory_class(row)) {
    case Class::F32Add:
    case Class::F32Mul:
    case Class::F32Fma: return add_arithmetic(t.fp32, row.op, on);
    case Class::F64Add:
    case Class::F64Mul:
    case Class::F64Fma: return add_arithmetic(t.fp64, row.op, on);
    case Class::Special:
      if (isa::bits_of(type) == 64) return add_arithmetic(t.fp64, row.op, on);
      if (type == isa::Type::F32) t.special += on;
      return add_arithmetic(t.fp32, row.op, on);
    case Class::F16: return add_arithmetic(t.fp16, row.op, on, type == isa::Type::F16x2 || type == isa::Type::BF16x2);
    case Class::IntAlu:
    case Class::IntMul:
    case Class::Logic:
    case Class::Shift:
    case Class::Video: t.integer += on; return;
    case Class::Compare:
    case Class::Select:
      if (!isa::is_float(type)) t.integer += on;
      else if (isa::bits_of(type) == 64) t.fp64.instructions += on;
      else if (isa::bits_of(type) == 32) t.fp32.instructions += on;
      else t.fp16.instructions += on;
      return;
    case Class::Convert:
      t.conversions += on;
      if (row.syntax.find(".f32.f16 ") != row.syntax.npos) t.widened += on;
      return;
    case Class::Branch:
    case Class::Call:
      t.control += on;
      t.control_flow += c.executed;
      if ((row.op == isa::Opcode::Bra && insn.guard >= 0) || row.op == isa::Opcode::Brx) {
        t.branches += c.executed;
        t.divergent += c.divergent;
      }
      return;
    case Class::Load:
    case Class::Store:
    case Class::Atomic:
      t.memory += on;
      if (row.kind == isa::Kind::Image) {
        const bool surface = is_surface(row);
        (!surface                  ? t.textures
         : row.cls == Class::Load  ? t.surface_ld
         : row.cls == Class::Store ? t.surface_st
                                   : t.surface_red) += c.executed;
      }
      return;
    case Class::Warp: t.communication += on; return;
    case Class::Barrier:
      t.barriers += c.executed;
      t.misc += on;
      return;
    default: t.misc += on; return;
  }
}

// Whose result is used, or that has no form without one: exchanges, and since 9.0 those of generic addresses.
bool executed_as_atom(const vm::Insn& insn, int cc) {
  if (insn.source->form.row->op != isa::Opcode::Atom) return false;
  const isa::Mods& mods = insn.mods();
  return !insn.drops_result || mods.op == isa::Op::Cas || mods.op == isa::Op::Exch || (cc >= 90 && mods.space == isa::Space::Generic);
}

// Counted by the units of shared memory and of the path to global memory alike, whatever L1 keeps.
void add_copy(Totals& t, const vm::Insn& insn, const Counts& c) {
  t.global_copy.add(c.global, c.to_global);
  if (insn.mods().cache == isa::Cache::Cg) t.copy_past_l1.add(c.global, c.to_global);
  if (insn.source->form.row->syntax.starts_with("cp.async.c")) t.shared_copy.add(c.shared, c.to_shared);
}

// Measured on an H100: instructions of generic addresses are neither of global nor of shared memory to the counters of
// instructions; their requests, sectors and passes are counted where they went.
void add_memory(Totals& t, const vm::Insn& insn, const Counts& c, int cc) {
  const isa::Row& row = *insn.source->form.row;
  const bool generic = cc >= 70 && insn.mods().space == isa::Space::Generic && !FragmentAccesses::concerns(insn);
  const uint64_t without = generic ? 1 : 0;
  switch (memory_class(row)) {
    case isa::Class::Load:
      if (row.kind == isa::Kind::Image) t.texture_requests += is_surface(row) ? 0 : cc >= 70 ? c.image_requests : c.executed;
      if (row.kind == isa::Kind::Async) return add_copy(t, insn, c);
      t.global_ld.add(c.global, c.to_global);
      t.local_ld.add(c.local, c.to_local);
      t.shared_ld.add(c.shared, loads_tiles(insn) ? 0 : c.to_shared);
      t.ldsm += loads_tiles(insn) ? c.to_shared : 0;
      t.generic.global_ld += without * c.to_global;
      t.generic.local_ld += without * c.to_local;
      t.generic.shared_ld += without * c.to_shared;
      return;
    case isa::Class::Store:
      t.global_st.add(c.global, c.to_global);
      t.local_st.add(c.local, c.to_local);
      t.shared_st.add(c.shared, row.op == isa::Opcode::Stmatrix ? 0 : c.to_shared);
      t.stsm += row.op == isa::Opcode::Stmatrix ? c.to_shared : 0;
      t.generic.global_st += without * c.to_global;
      t.generic.local_st += without * c.to_local;
      t.generic.shared_st += without * c.to_shared;
      return;
    case isa::Class::Atomic: {
      const bool atom = executed_as_atom(insn, cc);
      (atom ? t.global_atom : t.global_red).add(c.global, c.to_global);
      t.shared_atom.add(c.shared, c.to_shared);
      if (is_shared_loop(insn, cc)) t.shared_ld.add(c.loop_loads, c.to_shared);
      t.generic.shared_atom += without * c.to_shared;
      t.generic_atoms += c.to_cluster + (atom && generic ? c.to_global : 0);
      return;
    }
    default: return;
  }
}

uint64_t or_none(int blocks) { return blocks == INT_MAX ? 0 : static_cast<uint64_t>(blocks); }

}  // namespace

LaunchProfile::LaunchProfile(const vm::Launch& launch, const model::Device& device, uint64_t number, uint64_t operation, bool sampled,
                             uint32_t assembled_registers, BlockProfiles& blocks, Predictor* predictor)
    : device(device),
      number(number),
      operation(operation),
      launch(without_observer(launch)),
      assembled_registers(assembled_registers),
      sampled_(sampled),
      predictor_(predictor),
      tracer_(predictor ? predictor->begin(launch, device) : nullptr),
      blocks_(blocks) {}

LaunchProfile::~LaunchProfile() = default;

std::unique_ptr<vm::BlockObserver> LaunchProfile::begin_block(const vm::Block& block) {
  std::unique_ptr<BlockProfile> observer;
  {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      observer = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!observer) observer = blocks_.take(device, launch, block.params_address);
  if (sampled_ && block.linear < kSampledBlocks) observer->samples = std::make_unique<BlockSamples>(block.linear);
  observer->sizes = tracer_ != nullptr;
  if (tracer_) {
    observer->tracer = tracer_.get();
    if (!observer->visits) observer->visits.emplace(tracer_->together(), tracer_->device, tracer_->keeps_pages);
    observer->visits->begin_block(block.linear);
    observer->trace = tracer_->begin(block.linear);
  }
  observer->every_instruction = observer->samples || observer->trace;
  if (tracer_) observer->begin_sized(block.linear);
  return observer;
}

void LaunchProfile::end_block(const vm::Block&, std::unique_ptr<vm::BlockObserver> observer) {
  std::unique_ptr<BlockProfile> block(static_cast<BlockProfile*>(observer.release()));
  if (tracer_) block->end_sized();
  std::lock_guard lock(mutex_);
  if (block->samples) {
    samples.merge(block->samples->take());
    block->samples = nullptr;
  }
  if (block->trace) {
    tracer_->end(*block->trace);
    block->trace = nullptr;
  }
  idle_.push_back(std::move(block));
}

void LaunchProfile::end_grid(const vm::LaunchResult& result) {
  std::lock_guard lock(mutex_);
  for (auto& block : idle_) {
    block->settle();
    if (block->visits) tracer_->add(block->visits->take());
    block->hand_over(counts);
    blocks_.give_back(std::move(block));
  }
  idle_.clear();
  samples.sort();
  if (result.trap.kind != vm::TrapKind::None) trap = result.trap.message;
  ended = true;
  if (tracer_ && trap.empty()) {
    const Totals all = totals();
    vm::tell_of_work(launch, wanted(), all.executed);
    prediction = predictor_->predict(*tracer_, launch, all);
  }
  tracer_ = nullptr;
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
  t.registers = assembled_registers ? assembled_registers : machine_codes().registers(launch, device);
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
    t.limit_shared_split =
        device.cc() == 90 ? or_none(model::blocks_by_default_split(device, *fit, static_cast<int>(t.block_threads))) : t.limit_shared;
    t.resident_blocks = static_cast<uint64_t>(fit->blocks_per_sm);
    t.resident_warps = static_cast<uint64_t>(fit->warps_per_sm(device, static_cast<int>(t.block_threads)));
  }
  return t;
}

}  // namespace warpbeam::observe
