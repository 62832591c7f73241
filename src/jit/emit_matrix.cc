// Products of matrices in registers, and rows of shared memory to and from there.
//
// Idea: a call for the whole warp, without the detour through its frame: registers go to a place on the stack and come back, and
// what is called works on vectors of lanes (vm/matrix_lanes.h).
// Precondition: all lanes are there; nobody watches; ldmatrix's rows are in shared memory.
// Postcondition: what the interpreter's handlers leave.
// Fallback: those handlers, where the call says that it did nothing.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>

#include "jit/emitter.h"
#include "vm/matrix_plan.h"

namespace warpbeam::jit {

using llvm::BasicBlock;
namespace In = llvm::Intrinsic;

// ldmatrix or stmatrix of shared memory. Whether it was done.
extern "C" bool wb_move_rows(Context* c, const vm::Insn* i, const uint64_t* addresses, void* registers) {
  const int rows = 8 * i->mods().matrices;
  std::byte* at[kLanes];
  const uint64_t window = i->mods().space == isa::Space::Generic ? vm::kSharedWindow : 0;
  for (int r = 0; r < rows; ++r) {
    const uint64_t place = addresses[r] - window;
    if (place % 16 || place >= c->shared_bytes || c->shared_bytes - place < 16) return false;
    at[r] = c->shared + place;
  }
  const auto& s = *c->services;
  auto* const lanes = static_cast<std::byte*>(registers);
  const isa::Mods& m = i->mods();
  if (i->is(isa::Opcode::Ldmatrix)) s.load_rows(at, m.trans, m.matrices, lanes);
  else s.store_rows(at, m.trans, m.matrices, lanes);
  return true;
}

// A register's lanes, as the interpreter has them.
V Emitter::lanes_of_register(const vm::WideOperand& o, size_t r) {
  const Source s = flow_.source(o.parts[r], o.width);
  const V lanes = lanes_of(read(o.parts[r], o.width), o.width);
  return s.kind == SourceKind::Variable && shapes_.loose[s.variable] ? bits_of(canonical(float_of(lanes, 4))) : lanes;
}
// Registers one behind the other. Those behind the first `different` repeat them.
void Emitter::put_registers(const vm::WideOperand& o, V to, size_t different) {
  for (size_t r = 0; r < std::min(different, o.parts.size()); ++r)
    b_.CreateStore(lanes_of_register(o, r), b_.CreateConstInBoundsGEP1_64(type_of(o.width, true), to, r));
}
void Emitter::take_registers(const vm::WideOperand& o, V from) {
  for (size_t r = 0; r < o.parts.size(); ++r) {
    Value v;
    v.lanes = b_.CreateLoad(type_of(o.width, true), b_.CreateConstInBoundsGEP1_64(type_of(o.width, true), from, r));
    write(o.parts[r], o.width, v);
  }
}

// A place for the registers of an operand; all instructions share them.
V Emitter::lanes_place(size_t operand) {
  constexpr uint64_t kMost = 16 * kLanes * sizeof(uint32_t);
  if (!lanes_places_[operand]) {
    llvm::IRBuilder<> top(w_.entry, w_.entry->begin());
    auto* place = top.CreateAlloca(llvm::ArrayType::get(b_.getInt8Ty(), kMost));
    place->setAlignment(llvm::Align(128));
    lanes_places_[operand] = place;
  }
  return lanes_places_[operand];
}

// Calls the handler unless all is `done`, or can be with what `quick` writes.
void Emitter::emit_quick(const vm::Insn& i, V done, const std::function<void()>& quick, const RangeCells* range) {
  auto [rest, slow, join] = new_blocks("quick", "slow", "join");
  b_.CreateCondBr(done, rest, slow, llvm::MDBuilder(c_).createBranchWeights(10000, 1));
  b_.SetInsertPoint(slow);
  call_handler(i, at_.active, range);
  b_.CreateBr(join);
  b_.SetInsertPoint(rest);
  quick();
  go_on(join);
}

// The smallest product, of doubles, is not longer than a call of it. Lane 4g + t has a[g][t], b[t][g], and of c columns 2t and 2t + 1.
void Emitter::multiply_doubles(const vm::Insn& i) {
  const auto operand = [&](size_t k, size_t r) { return float_of(lanes_of_register(i.wide[k], r), 8); };
  const V a = operand(1, 0), b = operand(2, 0);
  V d[2] = {operand(3, 0), operand(3, 1)};
  V two[2][2];  // of columns 2m and 2m + 1 and the two that follow: elements of even rows, and of odd ones
  for (int m = 0; m < 2; ++m) {
    const auto columns = [&](int from) { return picked(b, b, 8, [&](int k) { return from * 4 + k; }); };
    const V x = columns(4 * m), y = columns(4 * m + 2);
    for (int odd = 0; odd < 2; ++odd) two[m][odd] = picked(x, y, 8, [&](int k) { return (k & ~1) + odd + 8 * (k & 1); });
  }
  for (int t = 0; t < 4; ++t) {
    const V left = picked(a, a, kLanes, [&](int l) { return (l & ~3) + t; });
    for (int odd = 0; odd < 2; ++odd) {
      const V row = picked(two[0][t & 1], two[1][t & 1], 8, [&](int k) { return 4 * odd + (t & 2) + (k & 1) + 8 * (k >> 1 & 1); });
      d[odd] = intrinsic(In::fma, left, picked(row, row, kLanes, [](int l) { return l & 7; }), d[odd]);
    }
  }
  const V nans = mask_bits(b_.CreateFCmpUNO(d[0], d[1]));  // whose bits the handler knows
  emit_quick(i, b_.CreateICmpEQ(nans, b_.getInt32(0)), [&] {
    for (size_t r = 0; r < 2; ++r) {
      Value v;
      v.lanes = bits_of(d[r]);
      write(i.wide[0].parts[r], 8, v);
    }
  });
}

bool Emitter::emit_matrix(const vm::Insn& i) {
  if (watch_ || as_.alone || as_.slice || as_.few || as_.apart || unrolled_.now) return false;
  const bool to_nearest = i.mods().rnd == isa::Rnd::None || i.mods().rnd == isa::Rnd::Rn;
  if (i.plan && i.plan->types.a == isa::Type::F64 && i.plan->shape.m == 8 && to_nearest) {
    multiply_doubles(i);
  } else if (i.plan && i.plan->multiply && !i.is(isa::Opcode::Wgmma)) {
    put_registers(i.wide[1], lanes_place(1), static_cast<size_t>(i.plan->a.different()));
    put_registers(i.wide[2], lanes_place(2), static_cast<size_t>(i.plan->b.different()));
    put_registers(i.wide[3], lanes_place(3));
    const std::vector<V> arguments{outside(&i), lanes_place(0), lanes_place(1), lanes_place(2), lanes_place(3)};
    const std::vector<llvm::Type*> types(arguments.size(), b_.getPtrTy());
    auto* done = b_.CreateCall(llvm::FunctionType::get(b_.getInt1Ty(), types, false),
                               outside(reinterpret_cast<const void*>(i.plan->multiply)), arguments);
    done->addRetAttr(llvm::Attribute::ZExt);
    emit_quick(i, done, [&] { take_registers(i.wide[0], lanes_place(0)); });
  } else if (i.fragment) {
    if (!emit_fragment(i)) return false;
  } else if (i.is(isa::Opcode::Ldmatrix) || i.is(isa::Opcode::Stmatrix)) {
    const isa::Space space = i.mods().space;
    if (space != isa::Space::Shared && space != isa::Space::Generic) return false;
    const bool stores = i.is(isa::Opcode::Stmatrix);
    const vm::WideOperand &memory = i.wide[stores ? 0 : 1], &registers = i.wide[stores ? 1 : 0];
    const Value address = moved_by(memory.slot, memory.width, memory.offset);
    V all = lanes_of(address, 8);
    if (memory.width == 4) all = b_.CreateAnd(all, splat(b_.getInt64(0xffffffff)));
    b_.CreateStore(all, lanes_place(1));
    if (stores) put_registers(registers, lanes_place(0));
    write_rows();
    emit_quick(i, call("wb_move_rows", b_.getInt1Ty(), {w_.context, outside(&i), lanes_place(1), lanes_place(0)}), [&] {
      if (!stores) take_registers(registers, lanes_place(0));
    });
  } else {
    return false;
  }
  uses(Technique::Matrices);
  return true;
}

}  // namespace warpbeam::jit
