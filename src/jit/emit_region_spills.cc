// Idea: what is live where regions begin and end has a place in memory for each warp, as its shape says; what is the same in the whole
// block stays in scalars. Precondition: the same shapes on either side. Postcondition: a region has stored what it wrote before the next
// begins. Fallback: when a warp is handed over to the interpreter, everything goes into frames.
#include <llvm/IR/Intrinsics.h>

#include "jit/emitter.h"

namespace warpbeam::jit {

namespace {

constexpr uint64_t kMostOnStack = 64 << 10;

}  // namespace

Bits Emitter::live_across() const {
  Bits all(flow_.variables.size());
  for (const Region& r : plan_.regions) {
    all.add(live_at_exit(flow_, r));
    if (r.entry != 0) all.add(flow_.nodes[r.entry].live_in);
  }
  return all;
}

void Emitter::lay_out_spills(const Bits& all) {
  spills_.at.assign(flow_.variables.size(), -1);
  for (const bool vectors : {true, false})
    all.each([&](size_t v) {
      const Width bytes = flow_.variables[v].bytes;
      const bool vector = bytes != 0 && shapes_.variables[v].runs == 0;
      if (vector != vectors || bytes == 16 || block_level(static_cast<uint32_t>(v))) return;
      spills_.at[v] = static_cast<int32_t>(spills_.stride);
      spills_.stride += bytes == 0 ? 8u : vector ? kLanes * bytes : (bytes * shapes_.variables[v].runs + 7u) & ~7u;
    });
  spills_.stride = (spills_.stride + 63) & ~63u;
  const uint64_t bytes = std::max<uint64_t>(uint64_t{plan_.warps()} * spills_.stride, 1);
  if (bytes > kMostOnStack) {
    spills_.frame = call("wb_kept", b_.getPtrTy(), {w_.context, b_.getInt64(bytes)});
  } else {
    auto* place = b_.CreateAlloca(llvm::ArrayType::get(b_.getInt8Ty(), bytes));
    place->setAlignment(llvm::Align(64));
    spills_.frame = place;
  }
}

V Emitter::spill_place(uint32_t v) {
  return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), spills_.piece, static_cast<uint64_t>(spills_.at[v]));
}

// How far the variable has grown from the first warp to this one.
V Emitter::paced(size_t v) {
  llvm::Type* type = lane_type(flow_.variables[v].bytes);
  return b_.CreateMul(b_.CreateZExtOrTrunc(at_.warp, type), llvm::ConstantInt::getSigned(type, shapes_.variables[v].pace));
}

void Emitter::find_spill_piece() {
  spills_.piece = b_.CreateInBoundsGEP(b_.getInt8Ty(), spills_.frame,
                                       b_.CreateMul(b_.CreateZExt(at_.warp, b_.getInt64Ty()), b_.getInt64(spills_.stride)));
}

void Emitter::load_spills(const Region& region) {
  find_spill_piece();
  if (region.entry != 0) load_spills(flow_.nodes[region.entry].live_in);
}

void Emitter::load_spills(const Bits& variables) {
  variables.each([&](size_t v) {
    const Width bytes = flow_.variables[v].bytes;
    const Shape& s = shapes_.variables[v];
    if (block_level(static_cast<uint32_t>(v))) {
      const V first = b_.CreateLoad(lane_type(bytes), registers_.in_block[v]);
      b_.CreateStore(bytes ? b_.CreateAdd(first, paced(v)) : first, registers_.storage[v][0]);
      return;
    }
    if (spills_.at[v] < 0) return;
    const V at = spill_place(static_cast<uint32_t>(v));
    if (bytes == 0) {
      const V mask = machine_load(b_.getInt32Ty(), at);
      b_.CreateStore(s.runs ? b_.CreateICmpNE(mask, b_.getInt32(0)) : bool_lanes(mask), registers_.storage[v][0]);
    } else if (s.runs == 0) {
      auto* load = llvm::cast<llvm::LoadInst>(machine_load(type_of(bytes, true), at));
      load->setAlignment(llvm::Align(32));
      b_.CreateStore(load, registers_.storage[v][0]);
    } else {
      for (size_t k = 0; k < s.runs; ++k)
        b_.CreateStore(machine_load(lane_type(bytes), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), at, k * bytes)),
                       registers_.storage[v][k]);
    }
  });
}

void Emitter::store_spills(const Region& region) {
  Bits kept = live_at_exit(flow_, region);
  const Bits written = written_in(region);
  if (region.entry != 0)
    live_at_exit(flow_, region).each([&](size_t v) {
      if (!block_level(static_cast<uint32_t>(v)) && !written.has(v)) kept.remove(v);  // it is there already
    });
  store_spills(kept);
}

void Emitter::store_spills(const Bits& variables) {
  variables.each([&](size_t variable) {
    const uint32_t v = static_cast<uint32_t>(variable);
    if (block_level(v)) {
      const V first = b_.CreateLoad(lane_type(flow_.variables[v].bytes), registers_.storage[v][0]);
      b_.CreateStore(flow_.variables[v].bytes ? b_.CreateSub(first, paced(v)) : first, registers_.block_after[v]);
      return;
    }
    if (spills_.at[v] < 0) return;
    const Value value = read_variable(v);
    const Width bytes = flow_.variables[v].bytes;
    const V at = spill_place(v);
    if (bytes == 0) machine_store(value.uniform() ? b_.CreateSExt(value.run[0], b_.getInt32Ty()) : mask_bits(value.lanes), at);
    else if (value.runs == 0) machine_store(value.lanes, at);
    else
      for (size_t r = 0; r < value.runs; ++r) machine_store(value.run[r], b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), at, r * bytes));
  });
}

// Where the variables are: what regions have kept, or what the warp that is handed over has stored in its frame.
std::vector<Saved> Emitter::saved(const Bits& variables, bool between_regions) {
  std::vector<Saved> all;
  int32_t parts = 0, values = 0;
  variables.each([&](size_t v) {
    const Variable& variable = flow_.variables[v];
    const Shape& shape = shapes_.variables[v];
    if (variable.bytes == 16) return;
    Saved s;
    s.at = variable.at;
    s.bytes = variable.bytes;
    s.runs = variable.bytes ? shape.runs : 0;
    s.stride = shape.stride;
    s.loose = shapes_.loose[v];
    s.local = variable.at >= kParamKeys;
    s.variable = static_cast<uint32_t>(v);
    if (s.local) {
      const LocalCell& cell = flow_.cells[static_cast<size_t>(s.at - kParamKeys)];
      const vm::LocalVariable& owner = flow_.code->locals[cell.variable];
      s.at = static_cast<int32_t>(cell.offset);
      s.begin = owner.begin;
      s.end = owner.end;
    }
    if (!between_regions) {
      if (s.local) s.part = parts++;
    } else if (block_level(static_cast<uint32_t>(v))) {
      s.block_value = values++;
      s.gap = shape.gap;
      s.pace = shape.pace;
    } else {
      s.kept = spills_.at[v];
    }
    all.push_back(s);
  });
  return all;
}

void Emitter::store_saved(const std::vector<Saved>& all, V frame) {
  for (const Saved& s : all) {
    const Value v = read_variable(s.variable);
    V at = s.part >= 0
               ? b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), w_.context,
                                               offsetof(Context, handed.parts) + static_cast<size_t>(s.part) * sizeof(HandedOver::parts[0]))
               : b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), frame, static_cast<uint64_t>(s.at));
    if (s.bytes == 0) machine_store(v.uniform() ? b_.CreateSExt(v.run[0], b_.getInt32Ty()) : mask_bits(v.lanes), at);
    else if (s.runs == 0) machine_store(lanes_of(v, s.bytes), at);
    else
      for (size_t r = 0; r < s.runs; ++r) machine_store(v.run[r], b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), at, r * s.bytes));
  }
}

// Ends a stub that has stored what the warp has; the other warps' values are found where regions keep them.
void Emitter::emit_handover(Handover& h, V warp, V active, V first_warp) {
  h.kept_stride = spills_.stride;
  h.local_unit = plan_.local_unit;
  if (spills_.frame)
    machine_store(spills_.frame, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), w_.context, offsetof(Context, handed.kept)));
  for (int which = 0; which < 2; ++which)
    for (const Saved& s : which ? h.saved_after : h.saved_before)
      if (s.block_value >= 0) {
        const uint32_t v = s.variable;
        // Between regions there is no warp that has run only a part of them.
        const V value = b_.CreateLoad(lane_type(s.bytes), which && h.before ? registers_.block_after[v] : registers_.in_block[v]);
        machine_store(b_.CreateZExt(value, b_.getInt64Ty()),
                      b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), w_.context,
                                                    offsetof(Context, handed.block_values) +
                                                        static_cast<size_t>(which) * sizeof(HandedOver::block_values[0]) +
                                                        static_cast<size_t>(s.block_value) * 8));
      }
  if (flow_.in_turns && !flow_.stops) call("wb_leave_turns", b_.getVoidTy(), {w_.context, outside(&h), active});
  else call("wb_handover", b_.getVoidTy(), {w_.context, outside(&h), warp, active, first_warp});
  b_.CreateBr(control_.handed_over);
}

bool Emitter::runs_once(const Region& region) const {
  if (watch_ || !control_.many_regions || region.entry == 0 || (region.exit_node < 0 && region.exit_to < 0)) return false;
  for (uint32_t n : region.nodes) {
    const Node& node = flow_.nodes[n];
    if (node.ends != End::Fall && node.ends != End::Branch && node.ends != End::Barrier) return false;
    if (node.ends == End::Branch && (shapes_.divergent[n] || !of_block(node.last->guard, 0))) return false;
    if (node.ends == End::Barrier && node.last->mods().red) return false;
    for (uint32_t k = node.begin; k < (node.last ? node.end - 1 : node.end); ++k) {
      const vm::Insn& i = flow_.code->insns[k];
      if (i.silent()) continue;
      if (i.guard >= 0 && !of_block(i.guard, 0)) return false;
      if (!only_computes(i)) return false;
      for (const Slot& s : flow_.slots[k])
        if (s.written && !of_block(s.at, s.bytes)) return false;
    }
  }
  return true;
}

bool Emitter::of_block(int32_t at, Width bytes) const {
  const Source s = flow_.source(at, bytes);
  return s.kind == SourceKind::Constant || (s.kind == SourceKind::Variable && block_level(s.variable));
}

}  // namespace warpbeam::jit
