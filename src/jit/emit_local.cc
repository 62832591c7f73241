// Idea: parts of local memory are variables (local_cells.cc). Of the rest lanes have words side by side, as on a GPU, so that an index that
// all share is a vector access. Precondition: nothing but loads and stores of compiled code comes there (plan.cc), and offsets are within
// a lane's piece. Postcondition: what is handed over has the interpreter's bytes (runtime.cc). Fallback: each lane's piece is where the
// interpreter has it, one address 32 places at a constant distance; for other offsets its handler.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <bit>

#include "jit/emitter.h"

namespace warpbeam::jit {

using isa::Space;
using llvm::BasicBlock;
using llvm::FixedVectorType;
namespace In = llvm::Intrinsic;

void Emitter::emit_cells(const vm::Insn& i, const CellAccess& access) {
  uses(Technique::Cells);
  const bool load = i.source->form.row->cls == isa::Class::Load;
  const Width memory = static_cast<Width>(isa::bytes_of(i.type()));
  const auto bytes_of = [&](int32_t key) { return flow_.cells[static_cast<size_t>(key - kParamKeys)].bytes; };
  for (size_t e = 0; e < access.elements.size(); ++e) {
    const std::vector<int32_t>& keys = access.elements[e];
    const int32_t at = i.list ? i.list[e] : i.op[0];
    const bool whole = keys.size() == 1 && memory == i.width;
    if (load) {
      bool same = true;
      for (const int32_t key : keys) same = same && read(key, bytes_of(key)).uniform();
      if (whole) {
        write(at, i.width, read(keys[0], memory));
        continue;
      }
      V all = nullptr;
      uint64_t shift = 0;
      llvm::Type* type = type_of(memory, !same);
      for (const int32_t key : keys) {
        const Value part = read(key, bytes_of(key));
        V v = b_.CreateZExt(same ? part.run[0] : lanes_of(part, bytes_of(key)), type);
        if (shift) v = b_.CreateShl(v, llvm::ConstantInt::get(type, shift));
        all = all ? b_.CreateOr(all, v) : v;
        shift += bytes_of(key) * 8u;
      }
      Value out;
      out.runs = same;
      llvm::Type* wide = type_of(i.width, !same);
      (same ? out.run[0] : out.lanes) = isa::is_signed(i.type()) ? b_.CreateSExtOrTrunc(all, wide) : b_.CreateZExtOrTrunc(all, wide);
      write(at, i.width, out);
      continue;
    }
    Value v = read(at, i.width);
    const Source s = flow_.source(at, i.width);
    if (s.kind == SourceKind::Variable && shapes_.loose[s.variable]) {
      if (v.runs) v.run[0] = bits_of(canonical(float_of(v.run[0], 4)));
      else v.lanes = bits_of(canonical(float_of(v.lanes, 4)));
      v.line = {};
    }
    if (whole) {
      write(keys[0], memory, v);
      continue;
    }
    const bool same = v.uniform();
    const V all = same ? v.run[0] : lanes_of(v, i.width);
    uint64_t shift = 0;
    for (const int32_t key : keys) {
      V part = shift ? b_.CreateLShr(all, llvm::ConstantInt::get(all->getType(), shift)) : all;
      Value out;
      out.runs = same;
      (same ? out.run[0] : out.lanes) = b_.CreateTrunc(part, type_of(bytes_of(key), !same));
      write(key, bytes_of(key), out);
      shift += bytes_of(key) * 8u;
    }
  }
}

// Do the lanes of the mask stay within their pieces?
V Emitter::fits_local(const Access& a, const Value& offset, V mask) {
  tables_.local = true;
  const uint64_t total = a.total(), by = static_cast<uint64_t>(std::countr_zero(total));
  const V limit = context_field(offsetof(Context, local_limit), b_.getInt64Ty(), true);
  // As for shared memory: a low bit that is set makes the number too large.
  const V room = b_.CreateLShr(limit, b_.getInt64(by));
  const auto turned = [&](V v) {
    return total == 1 ? v : b_.CreateIntrinsic(In::fshr, {v->getType()}, {v, v, llvm::ConstantInt::get(v->getType(), by)});
  };
  if (offset.uniform()) return b_.CreateICmpULT(turned(offset.run[0]), room);
  const V bad = b_.CreateNot(mask_bits(b_.CreateICmpULT(turned(lanes_of(offset, 8)), splat(room))));
  return b_.CreateICmpEQ(b_.CreateAnd(bad, mask), b_.getInt32(0));
}

void Emitter::touch_local(const Access& a, const Value& offset, V mask) {
  uses(Technique::LocalArrays);
  const V locals = context_field(offsetof(Context, locals), b_.getPtrTy(), true);
  const V base = machine_load(b_.getPtrTy(), b_.CreateGEP(b_.getPtrTy(), locals, at_.warp), true);
  if (shapes_.lone()) {  // its piece begins at the base
    Value own = shaped(offset, uniform_shape(Reach::Warp), 8);
    own.run[0] = b_.CreateAdd(b_.CreatePtrToInt(base, b_.getInt64Ty()), own.run[0]);
    return touch(a, own, mask);
  }
  const bool narrow = a.memory < kWord;
  const Width unit = narrow ? kWord : plan_.local_unit ? plan_.local_unit : a.memory;
  llvm::Type *words = type_of(kWord, true), *elements = type_of(a.memory, true);
  for (int k = 0; k < a.count; ++k) {
    const uint64_t further = static_cast<uint64_t>(k) * a.memory;
    const auto access = [&](uint64_t more, V stored) { return local_piece(base, offset, further + more, unit, mask, stored); };
    const auto half = [&](V wide, uint64_t which) { return b_.CreateTrunc(b_.CreateLShr(wide, which * 32), words); };
    const auto bit = [&] {  // of the word, where an element begins that is less
      const V bytes =
          b_.CreateAnd(b_.CreateTrunc(b_.CreateAdd(lanes_of(offset, 8), splat(b_.getInt64(further))), words), splat(b_.getInt32(3)));
      return b_.CreateShl(bytes, splat(b_.getInt32(3)));
    };
    if (a.load) {
      V v = access(0, nullptr);
      if (narrow) v = b_.CreateTrunc(b_.CreateLShr(v, bit()), elements);
      else if (unit < a.memory)
        v = b_.CreateOr(b_.CreateZExt(v, elements), b_.CreateShl(b_.CreateZExt(access(unit, nullptr), elements), unit * uint64_t{8}));
      put_loaded(a, k, v);
      continue;
    }
    const V data = stored_lanes(a, k);
    if (narrow) {  // nobody else writes what is beside a lane's bytes
      const V field = b_.CreateShl(splat(b_.getInt32(a.memory == 1 ? 0xff : 0xffff)), bit());
      access(0, b_.CreateOr(b_.CreateAnd(access(0, nullptr), b_.CreateNot(field)), b_.CreateShl(b_.CreateZExt(data, words), bit())));
    } else if (unit < a.memory) {
      access(0, half(data, 0));
      access(unit, half(data, 1));
    } else {
      access(0, data);
    }
  }
}

// The `unit` bytes around each lane's offset, and so many `further`: loaded, or stored.
V Emitter::local_piece(V base, const Value& offset, uint64_t further, Width unit, V mask, V stored) {
  auto* type = type_of(unit, true);
  const llvm::Align align(unit);
  const V none = llvm::Constant::getNullValue(type), bits = bool_lanes(mask);
  const auto aligned = [&](V at) {
    at = b_.CreateAdd(at, llvm::ConstantInt::get(at->getType(), further));
    return b_.CreateAnd(at, llvm::ConstantInt::getSigned(at->getType(), -int64_t{unit}));
  };
  if (plan_.local_unit && offset.uniform()) {
    const V place = b_.CreateGEP(b_.getInt8Ty(), base, b_.CreateMul(aligned(offset.run[0]), b_.getInt64(kLanes)));
    if (is_all(mask))
      return user(stored ? static_cast<llvm::Instruction*>(b_.CreateAlignedStore(stored, place, align))
                         : b_.CreateAlignedLoad(type, place, align));
    return user(stored ? b_.CreateMaskedStore(stored, place, align, bits) : b_.CreateMaskedLoad(type, place, align, bits, none));
  }
  V at = aligned(b_.CreateTrunc(lanes_of(offset, 8), type_of(kWord, true))), rows;
  if (plan_.local_unit) {
    std::vector<llvm::Constant*> beside;
    for (uint32_t l = 0; l < kLanes; ++l) beside.push_back(b_.getInt32(l * unit));
    rows = llvm::ConstantVector::get(beside);
    at = b_.CreateMul(at, splat(b_.getInt32(kLanes)));
  } else {
    auto* loaded = llvm::cast<llvm::LoadInst>(context_field(offsetof(Context, lane_places), type_of(kWord, true), true));
    loaded->setAlignment(llvm::Align(kWord));
    rows = loaded;
  }
  at = b_.CreateAdd(at, rows);
  if (!stored) return lane_memory_.gather(at, base, bits, unit);
  return user(b_.CreateMaskedScatter(stored, b_.CreateGEP(b_.getInt8Ty(), base, at), align, bits));
}

// False: it is none of local memory, or not one that is known to be.
bool Emitter::emit_local(const vm::Insn& i) {
  const std::optional<Access> a = local_access_of(i);
  if (!a) return false;
  const V mask = at_.active;
  if (const auto fixed = flow_.fixed_local.find(&i); fixed != flow_.fixed_local.end()) {
    tables_.local = true;
    Value offset;
    offset.runs = 1;
    offset.run[0] = b_.getInt64(static_cast<uint64_t>(fixed->second));
    touch_local(*a, offset, mask);
    return true;
  }
  // What stands above 32 bits does not count. So what does not fit is a fault, and it does not matter where the handler looks for bytes.
  constexpr uint64_t kBelow = 0xffffffff;
  Value offset = address_of(*a);
  if (offset.uniform()) {
    offset.run[0] = b_.CreateAnd(offset.run[0], b_.getInt64(kBelow));
  } else {
    offset.lanes = b_.CreateAnd(lanes_of(offset, 8), splat(b_.getInt64(kBelow)));
    offset.runs = 0;
  }
  auto [fast, slow, join] = new_blocks("local", "slow", "join");
  b_.CreateCondBr(fits_local(*a, offset, mask), fast, slow, llvm::MDBuilder(c_).createBranchWeights(10000, 1));
  b_.SetInsertPoint(slow);
  call_handler(i, mask);
  b_.CreateBr(join);
  b_.SetInsertPoint(fast);
  touch_local(*a, offset, mask);
  go_on(join);
  return true;
}

// Each such access becomes a second one: kernels with more of them would take twice as long to compile.
static constexpr ptrdiff_t kMostInWindows = 64;

// May generic addresses point into shared memory? They do only where the kernel makes some of its addresses generic.
static bool shared_escapes(const Flow& flow) {
  const auto row = [](const vm::Insn& i) { return i.source ? i.source->form.row : nullptr; };
  const auto generic = [&](const vm::Insn& i) { return row(i) && row(i)->kind == isa::Kind::Memory && i.mods().space == Space::Generic; };
  const auto escapes = [&](const vm::Insn& i) {
    return row(i) && row(i)->kind == isa::Kind::Address && row(i)->op == isa::Opcode::Cvta && i.mods().space == Space::Shared &&
           !i.mods().to;
  };
  return std::ranges::any_of(flow.code->insns, escapes) && std::ranges::count_if(flow.code->insns, generic) <= kMostInWindows;
}

// A generic access that is none of the global memory it was taken for: tries local and shared memory, goes to `join` from where
// it was done, and on where it was neither's.
void Emitter::emit_in_window(const Access& a, const Value& address, V mask, BasicBlock* join) {
  if (a.shared || left_out("local")) return;
  const auto from = [&](uint64_t window) {
    Value offset = address;
    offset.line = {};
    offset.spread = {};
    for (size_t r = 0; r < offset.runs; ++r) offset.run[r] = b_.CreateSub(offset.run[r], b_.getInt64(window));
    if (!offset.runs) offset.lanes = b_.CreateSub(offset.lanes, llvm::ConstantInt::get(offset.lanes->getType(), window));
    return offset;
  };
  const auto enter = [&](V fits, const char* name) {
    auto* here = new_block(name);
    auto* other = new_block("elsewhere");
    go_on_if(fits, here, other);
    return other;
  };
  if (may_be_local(a)) {
    Value offset = from(vm::kLocalWindow);
    if (!address.uniform()) {
      offset = {};
      offset.lanes = b_.CreateSub(lanes_of(address, 8), llvm::ConstantInt::get(type_of(8, true), vm::kLocalWindow));
    }
    // What is outside of the window is far outside of any lane's piece.
    BasicBlock* other = enter(fits_local(a, offset, mask), "in_local");
    touch_local(a, offset, mask);
    b_.CreateBr(join);
    b_.SetInsertPoint(other);
  }
  if (!watch_ && a.root < 0 && a.insn->op[1] >= 0 && a.insn->mods().space == Space::Generic && shared_escapes(flow_)) {
    Access in_shared = a;
    in_shared.shared = true;
    const Value offset = from(vm::kSharedWindow);
    BasicBlock* other =
        enter(offset.uniform() ? fits_whole(in_shared, offset) : fits_lanes(in_shared, lanes_of(offset, 8), mask), "in_shared");
    touch(in_shared, offset, mask);
    b_.CreateBr(join);
    b_.SetInsertPoint(other);
  }
}

}  // namespace warpbeam::jit
