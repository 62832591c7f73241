// Loads and stores: what they touch, and whether all of it lies in the allocation that was touched last. What is unusual, a
// fault above all, is what the interpreter's handler of the same instruction makes of it.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <bit>

#include "jit/emitter.h"
#include "isa/parameters.h"

namespace warpbeam::jit {

using isa::Space;
using llvm::BasicBlock;
namespace In = llvm::Intrinsic;

Value Emitter::address_of(const Access& a) {
  const vm::Insn& i = *a.insn;
  Value address;
  if (i.op[1] < 0) {
    address.runs = 1;
    address.run[0] = b_.getInt64(static_cast<uint64_t>(i.imm));
    return address;
  }
  address = read(i.op[1], i.base_width);
  const auto whole = [&](V v, bool vector) {
    if (i.base_width == 8) return b_.CreateAdd(v, llvm::ConstantInt::get(v->getType(), static_cast<uint64_t>(i.imm)));
    v = b_.CreateAdd(v, llvm::ConstantInt::get(v->getType(), static_cast<uint32_t>(i.imm)));
    return b_.CreateZExt(v, type_of(8, vector));
  };
  if (address.runs == 0) address.lanes = whole(address.lanes, true);
  if (address.line.base && i.base_width == 8) address.line.base = whole(address.line.base, false);
  else address.line = {};
  if (address.spread.base && i.base_width == 8) address.spread.base = whole(address.spread.base, false);
  else address.spread = {};
  for (size_t r = 0; r < address.runs; ++r) address.run[r] = whole(address.run[r], false);
  return address;
}

// --- checks ---------------------------------------------------------------------------------------------------------

// How many places there are in `bytes` for `extent` bytes that begin at a multiple of `total`.
static llvm::Value* places(llvm::IRBuilder<>& b, llvm::Value* bytes, uint64_t total, uint64_t extent) {
  llvm::Value* enough = b.CreateBinaryIntrinsic(In::usub_sat, b.CreateAdd(bytes, b.getInt64(total)), b.getInt64(extent));
  return b.CreateLShr(enough, b.getInt64(static_cast<uint64_t>(std::countr_zero(total))));
}

RangeCells& Emitter::range_of(const Access& a) {
  // Known places that are near each other are likely parts of one variable.
  const int64_t known = -(int64_t(1) << 32) - (a.insn->imm >> 12);
  const int64_t key = a.root >= 0 ? a.root : a.insn->op[1] < 0 && !a.insn->wide ? known : -1 - static_cast<int64_t>(a.insn->cache);
  RangeCells*& range = ranges_.of_root[key];
  if (!range) {
    range = &tables_.ranges.emplace_back();
    range->cache = a.insn->cache;
    range->lo = new_cell();
  }
  return *range;
}

// Where there is none left: the one that stays zero, and so nothing fits.
uint32_t Emitter::new_cell() { return ranges_.cells < kMostCells ? ranges_.cells++ : 0; }

V Emitter::cell(uint32_t number) {
  if (!as_.lane_cells) return context_field(offsetof(Context, cells) + 8u * number, b_.getInt64Ty(), false);
  llvm::AllocaInst*& kept = as_.lane_cells->kept[number];
  if (!kept) kept = llvm::cast<llvm::AllocaInst>(scratch(b_.getInt64Ty()));
  return b_.CreateLoad(b_.getInt64Ty(), kept);
}

// Where they come from: `as_.lane_cells` is through.
void Emitter::fill_lane_cells(const LaneCells& cells) {
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  const auto fill = [&](llvm::Instruction* before) {
    b_.SetInsertPoint(before);
    for (const auto& [number, kept] : cells.kept) b_.CreateStore(cell(number), kept);
  };
  fill(cells.begin);
  for (llvm::Instruction* call : cells.changed) fill(call->getNextNode());
}

V Emitter::is_large(RangeCells& range) {
  if (!range.large) range.large = new_cell();
  range.large_bytes = streaming_bytes();
  return b_.CreateICmpNE(cell(range.large), b_.getInt64(0));
}

V Emitter::places_in(RangeCells& range, uint64_t total, uint64_t extent) {
  for (const RangeCells::Cell& c : range.cells)
    if (c.total == total && c.extent == extent) return cell(c.at);
  const uint32_t number = new_cell();
  if (number) range.cells.push_back({total, extent, number});
  return cell(number);
}

// May an access of the given extent begin at `first`?
V Emitter::fits(const Access& a, V first, uint64_t extent) {
  const uint64_t total = a.total();
  const V by = b_.getInt64(static_cast<uint64_t>(std::countr_zero(total)));
  // A low bit that is set becomes a high one and makes the number too large.
  const auto turned = [&](V offset) { return total == 1 ? offset : b_.CreateIntrinsic(In::fshr, {b_.getInt64Ty()}, {offset, offset, by}); };
  if (a.shared)
    return b_.CreateICmpULT(turned(first),
                            places(b_, context_field(offsetof(Context, shared_bytes), b_.getInt64Ty(), true), total, extent));
  RangeCells& range = range_of(a);
  return b_.CreateICmpULT(turned(b_.CreateSub(first, lo_of(range))), places_in(range, total, extent));
}

// All lanes of an address of known shape, for accesses from `from` to `further` bytes on from there.
V Emitter::fits_whole(const Access& a, const Value& address, int64_t from, int64_t further) {
  const uint64_t total = a.total();
  int length = kLanes / address.runs;
  if (plan_.row && static_cast<uint32_t>(length) == plan_.block[0]) length = std::min(length, static_cast<int>(plan_.row));
  if (address.stride % static_cast<int64_t>(total)) return b_.getFalse();
  const int64_t span = address.stride * (length - 1);
  if (address.even && address.runs > 1 && address.gap % static_cast<int64_t>(total) == 0) {
    const int64_t reach = address.gap * (address.runs - 1);
    const V first =
        b_.CreateAdd(address.run[0], b_.getInt64(static_cast<uint64_t>(std::min<int64_t>(span, 0) + std::min<int64_t>(reach, 0) + from)));
    return fits(a, first, static_cast<uint64_t>(std::abs(span) + std::abs(reach) + further) + total);
  }
  V ok = nullptr;
  for (size_t r = 0; r < address.runs; ++r) {
    const V first = b_.CreateAdd(address.run[r], b_.getInt64(static_cast<uint64_t>(std::min<int64_t>(span, 0) + from)));
    const V good = fits(a, first, static_cast<uint64_t>(std::abs(span) + further) + total);
    ok = ok ? b_.CreateAnd(ok, good) : good;
  }
  return ok;
}

// The lanes of a mask, when the address grows from lane to lane without runs.
V Emitter::fits_ends(const Access& a, const Value& address, V mask) {
  if (address.stride % static_cast<int64_t>(a.total())) return b_.getFalse();
  const V head = b_.CreateZExt(b_.CreateIntrinsic(In::cttz, {b_.getInt32Ty()}, {mask, b_.getTrue()}), b_.getInt64Ty());
  const V tail =
      b_.CreateZExt(b_.CreateSub(b_.getInt32(31), b_.CreateIntrinsic(In::ctlz, {b_.getInt32Ty()}, {mask, b_.getTrue()})), b_.getInt64Ty());
  const V step = b_.getInt64(static_cast<uint64_t>(address.stride));
  return b_.CreateAnd(fits(a, b_.CreateAdd(address.run[0], b_.CreateMul(head, step)), a.total()),
                      fits(a, b_.CreateAdd(address.run[0], b_.CreateMul(tail, step)), a.total()));
}

// Addresses of which nothing is known: each lane of the mask by itself.
V Emitter::fits_lanes(const Access& a, V addresses, V mask, uint64_t extent) {
  const uint64_t total = a.total();
  extent = std::max(extent, total);
  llvm::Type* t = type_of(a.shared ? 4 : 8, true);
  V offsets = b_.CreateTrunc(addresses, t), most, beyond = nullptr;
  if (a.shared) {
    most =
        b_.CreateTrunc(places(b_, context_field(offsetof(Context, shared_bytes), b_.getInt64Ty(), true), total, extent), b_.getInt32Ty());
    beyond = above_32_bits(addresses);
  } else {
    RangeCells& range = range_of(a);
    offsets = b_.CreateSub(offsets, splat(lo_of(range)));
    most = places_in(range, total, extent);
  }
  if (total > 1)
    offsets =
        b_.CreateIntrinsic(In::fshr, {t}, {offsets, offsets, llvm::ConstantInt::get(t, static_cast<uint64_t>(std::countr_zero(total)))});
  V bad = b_.CreateNot(mask_bits(b_.CreateICmpULT(offsets, splat(most))));
  if (beyond) bad = b_.CreateOr(bad, beyond);
  if (!is_all(mask)) bad = b_.CreateAnd(bad, mask);
  return b_.CreateICmpEQ(bad, b_.getInt32(0));
}

// Lets the compiler know how small the handler's results are: what is computed from them is, too.
void Emitter::narrow_again(const Access& a) {
  for (const int32_t at : a.slots) {
    const Source s = flow_.source(at, a.reg);
    if (s.kind != SourceKind::Variable || flow_.variables[s.variable].bytes != a.reg) continue;
    Value v = read(at, a.reg);
    if (v.runs > 1 || v.stride != 0) continue;
    V& all = v.runs ? v.run[0] : v.lanes;
    const V small = b_.CreateTrunc(all, type_of(a.memory, v.runs == 0));
    all = a.sign ? b_.CreateSExt(small, all->getType()) : b_.CreateZExt(small, all->getType());
    write(at, a.reg, v);
  }
}

void Emitter::emit_memory(const vm::Insn& i) {
  const isa::Row& row = *i.source->form.row;
  const isa::Mods& m = i.mods();
  if (row.cls == isa::Class::Misc) return;
  const bool load = row.cls == isa::Class::Load;
  if (const CellAccess* cells = flow_.cell_access(i)) return emit_cells(i, *cells);
  const Width memory = static_cast<Width>(isa::bytes_of(i.type()));
  const bool param_space = is_parameter(m.space);
  if (param_space && i.op[1] < 0 && load && memory <= 8) {
    const V params = context_field(offsetof(Context, params), b_.getPtrTy(), true);
    for (int k = 0; k < (i.list ? i.count : 1); ++k) {
      V at = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), params, static_cast<uint64_t>(i.imm + k * memory));
      V whole = llvm::ConstantInt::get(lane_type(memory), 64u * static_cast<uint64_t>(i.imm + 1));
      if (!unrolled_.now || !unrolled_.now->samples) {
        auto* load = b_.CreateAlignedLoad(lane_type(memory), at, llvm::Align(1));
        load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(c_, {}));
        whole = load;
      }
      Value v;
      v.runs = 1;
      v.run[0] =
          isa::is_signed(i.type()) ? b_.CreateSExtOrTrunc(whole, lane_type(i.width)) : b_.CreateZExtOrTrunc(whole, lane_type(i.width));
      write(i.list ? i.list[k] : i.op[0], i.width, v);
    }
    return;
  }
  if (emit_local(i) || emit_piece(i)) return;
  const std::optional<Access> a = access_of(i);
  if (!a) return by_handler(i);
  const Value address = address_of(*a);
  if (as_.checked.contains(&i)) return touch(*a, address, at_.active);
  const V mask = at_.active;
  const auto handle = [&](BasicBlock* next) {
    if (as_.apart) {
      b_.CreateBr(as_.apart);
      return;
    }
    emit_in_window(*a, address, mask, next);
    call_handler(i, mask, a->shared ? nullptr : &range_of(*a));
    if (a->load && a->memory < a->reg) narrow_again(*a);
    b_.CreateBr(next);
  };
  if (as_.handled.contains(&i)) {
    auto* next = new_block("handled");
    handle(next);
    b_.SetInsertPoint(next);
    return;
  }
  auto [slow, join] = new_blocks("slow", "join");
  if (looks_for_window(*a, address)) {
    auto* other = new_block("no_window");
    touch_window(*a, address, mask, other, join);
    b_.SetInsertPoint(other);
  }
  auto* likely = llvm::MDBuilder(c_).createBranchWeights(10000, 1);
  if (address.line.base && looks_for_stretches()) {
    check_line(*a, address.line, mask, slow);
    touch_line(*a, address, mask);
    b_.CreateBr(join);
    b_.SetInsertPoint(slow);
    handle(join);
    b_.SetInsertPoint(join);
    return;
  }
  if (may_be_compressed(*a, address, mask)) store_compressed(*a, address.lanes, mask, join);
  const bool looked = address.runs == 0 && load_near(*a, mask, join);
  auto* fast = new_block("fast");
  if (address.runs == 0) {
    b_.CreateCondBr(fits_lanes(*a, address.lanes, mask), fast, slow, likely);
  } else {
    const V whole = fits_whole(*a, address);
    const bool ends = !is_all(mask) && (address.runs > 1 || address.stride != 0);
    auto* edge = ends ? new_block("edge") : slow;
    b_.CreateCondBr(whole, fast, edge, likely);
    if (ends) {
      b_.SetInsertPoint(edge);
      b_.CreateCondBr(address.runs == 1 ? fits_ends(*a, address, mask) : fits_lanes(*a, lanes_of(address, 8), mask), fast, slow, likely);
    }
  }
  b_.SetInsertPoint(slow);
  handle(join);
  b_.SetInsertPoint(fast);
  looked ? touch_apart(*a, address, mask) : touch(*a, address, mask);
  go_on(join);
}

}  // namespace warpbeam::jit
