// Products of matrices in registers, and their loads and stores.
//
// Idea: a call for the whole warp, without the detour through its frame: registers go to a place on the stack and come back, and
// what is called works on vectors of lanes (vm/matrix_lanes.h, vm/matrix_moves.h).
// Precondition: all lanes are there; nobody watches; wmma's address is the same in all lanes, ldmatrix's rows are in shared memory.
// Postcondition: what the interpreter's handlers leave.
// Fallback: those handlers, where the call says that it did nothing.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>

#include "jit/emitter.h"
#include "vm/matrix_plan.h"

namespace warpbeam::jit {

using llvm::BasicBlock;
namespace In = llvm::Intrinsic;

// A wmma.load or wmma.store whose lanes all name this address. Whether it was done.
extern "C" bool wb_move_matrix(Context* c, const vm::Insn* i, uint64_t address, uint64_t stride, void* registers) {
  const isa::Space space = i->mods().space;
  if (space == isa::Space::Generic && (address & ~(vm::kWindowBytes - 1)) == vm::kSharedWindow) address -= vm::kSharedWindow;
  else if (space != isa::Space::Shared) {
    const vm::AccessRange& r = c->ranges[i->cache];
    return address >= r.lo && address < r.hi &&
           i->fragment->move(*i, reinterpret_cast<std::byte*>(address), r.hi - address, stride, registers);
  }
  return address < c->shared_bytes && i->fragment->move(*i, c->shared + address, c->shared_bytes - address, stride, registers);
}

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

// Registers' lanes, one register behind the other. Those behind the first `different` repeat them.
void Emitter::put_registers(const vm::WideOperand& o, V to, size_t different) {
  for (size_t r = 0; r < std::min(different, o.parts.size()); ++r) {
    const Source s = flow_.source(o.parts[r], o.width);
    V lanes = lanes_of(read(o.parts[r], o.width), o.width);
    if (s.kind == SourceKind::Variable && shapes_.loose[s.variable]) lanes = bits_of(canonical(float_of(lanes, 4)));
    b_.CreateStore(lanes, b_.CreateConstInBoundsGEP1_64(type_of(o.width, true), to, r));
  }
}
void Emitter::take_registers(const vm::WideOperand& o, V from, size_t different) {
  for (size_t r = 0; r < o.parts.size(); ++r) {
    Value v;
    v.lanes = b_.CreateLoad(type_of(o.width, true), b_.CreateConstInBoundsGEP1_64(type_of(o.width, true), from, r % different));
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

// Calls the handler unless `done`, and else takes the results.
void Emitter::finish_matrix(const vm::Insn& i, V done, const vm::WideOperand* results, V from, size_t different) {
  auto* quick = new_block("matrix");
  auto* slow = new_block("slow");
  auto* join = new_block("join");
  b_.CreateCondBr(done, quick, slow, llvm::MDBuilder(c_).createBranchWeights(10000, 1));
  b_.SetInsertPoint(slow);
  call_handler(i, at_.active);
  b_.CreateBr(join);
  b_.SetInsertPoint(quick);
  if (results) take_registers(*results, from, different);
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
}

bool Emitter::emit_matrix(const vm::Insn& i) {
  if (watch_ || as_.alone || as_.slice || as_.few || as_.apart || rehearsals_.now) return false;
  if (i.plan && i.plan->multiply && !i.is(isa::Opcode::Wgmma)) {
    put_registers(i.wide[1], lanes_place(1), static_cast<size_t>(i.plan->a.different()));
    put_registers(i.wide[2], lanes_place(2), static_cast<size_t>(i.plan->b.different()));
    put_registers(i.wide[3], lanes_place(3));
    const std::vector<V> arguments{outside(&i), lanes_place(0), lanes_place(1), lanes_place(2), lanes_place(3)};
    const std::vector<llvm::Type*> types(arguments.size(), b_.getPtrTy());
    auto* done = b_.CreateCall(llvm::FunctionType::get(b_.getInt1Ty(), types, false),
                               outside(reinterpret_cast<const void*>(i.plan->multiply)), arguments);
    done->addRetAttr(llvm::Attribute::ZExt);
    finish_matrix(i, done, &i.wide[0], lanes_place(0));
  } else if (i.fragment && i.fragment->move) {
    const bool stores = i.source->form.row->syntax.starts_with("wmma.store");
    const vm::WideOperand &memory = i.wide[stores ? 0 : 1], &registers = i.wide[stores ? 1 : 0];
    const Value address = moved_by(memory.slot, memory.width, memory.offset);
    V stride = b_.getInt64(vm::kNoStride), same = b_.getTrue(), first = address.run[0];
    if (!address.uniform()) {
      const V all = lanes_of(address, 8);
      first = b_.CreateExtractElement(all, uint64_t{0});
      same = b_.CreateAndReduce(b_.CreateICmpEQ(all, splat(first)));
    }
    if (i.count > 2) {
      const Value given = read(i.wide[2].slot, i.wide[2].width);
      stride = b_.CreateZExtOrTrunc(given.runs ? given.run[0] : b_.CreateExtractElement(given.lanes, uint64_t{0}), b_.getInt64Ty());
    }
    if (memory.width == 4) first = b_.CreateAnd(first, b_.getInt64(0xffffffff));
    first = b_.CreateSelect(same, first, b_.getInt64(0));  // where nothing is
    if (stores) put_registers(registers, lanes_place(0));
    write_rows();
    finish_matrix(i, call("wb_move_matrix", b_.getInt1Ty(), {w_.context, outside(&i), first, stride, lanes_place(0)}),
                  stores ? nullptr : &registers, lanes_place(0), static_cast<size_t>(i.fragment->different()));
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
    finish_matrix(i, call("wb_move_rows", b_.getInt1Ty(), {w_.context, outside(&i), lanes_place(1), lanes_place(0)}),
                  stores ? nullptr : &registers, lanes_place(0));
  } else {
    return false;
  }
  uses(Technique::Matrices);
  return true;
}

}  // namespace warpbeam::jit
