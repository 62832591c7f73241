#include "jit/emit_parts.h"

#include <string_view>

#include "jit/shapes.h"

namespace warpbeam::jit {

using isa::Half;

// Known selectors, as compilers write them, leave a shift and a mask of every byte; the rest is chosen lane by lane.
llvm::Value* permute_bytes(llvm::IRBuilder<>& b, llvm::Value* a, llvm::Value* c, llvm::Value* selectors) {
  llvm::Type* t = a->getType();
  const auto k = [&](uint64_t v) { return llvm::ConstantInt::get(t, v); };
  const auto has = [&](llvm::Value* v, uint64_t bits) { return b.CreateICmpNE(b.CreateAnd(v, k(bits)), k(0)); };
  llvm::Value* d = k(0);
  for (uint64_t n = 0; n < 4; ++n) {
    llvm::Value* selector = b.CreateLShr(selectors, k(4 * n));
    llvm::Value* word = b.CreateSelect(has(selector, 4), c, a);
    llvm::Value* byte = b.CreateAnd(b.CreateLShr(word, b.CreateShl(b.CreateAnd(selector, k(3)), k(3))), k(0xff));
    // Bit 3 of a selector repeats the byte's sign.
    llvm::Value* sign = b.CreateSelect(has(byte, 0x80), k(0xff), k(0));
    d = b.CreateOr(d, b.CreateShl(b.CreateSelect(has(selector, 8), sign, byte), k(8 * n)));
  }
  return d;
}

std::pair<llvm::Value*, llvm::Value*> with_carry(llvm::IRBuilder<>& b, const vm::Insn& i, const std::vector<llvm::Value*>& o) {
  const isa::Opcode op = i.row()->op;
  llvm::Type* t = o[0]->getType();
  llvm::Value *flag = o.back(), *first = o[0], *r, *carry;
  const bool reads = op == isa::Opcode::Addc || op == isa::Opcode::Subc || op == isa::Opcode::Madc;
  if (op == isa::Opcode::Sub || op == isa::Opcode::Subc) {
    r = b.CreateSub(first, o[1]);
    carry = b.CreateICmpUGE(first, o[1]);
    if (reads) {
      llvm::Value* borrow = b.CreateZExt(b.CreateNot(flag), t);
      carry = b.CreateAnd(carry, b.CreateICmpUGE(r, borrow));
      r = b.CreateSub(r, borrow);
    }
  } else {
    const bool product = op == isa::Opcode::Mad || op == isa::Opcode::Madc;
    if (product && half_of(i) == Half::Hi) {
      llvm::Type* wide = t->getWithNewBitWidth(2 * t->getScalarSizeInBits());
      const auto extend = [&](llvm::Value* v) { return isa::is_signed(i.type()) ? b.CreateSExt(v, wide) : b.CreateZExt(v, wide); };
      first = b.CreateTrunc(b.CreateLShr(b.CreateMul(extend(o[0]), extend(o[1])), t->getScalarSizeInBits()), t);
    } else if (product) {
      first = b.CreateMul(o[0], o[1]);
    }
    r = b.CreateAdd(first, o[product ? 2 : 1]);
    carry = b.CreateICmpULT(r, first);
    if (reads) {
      llvm::Value* sum = r;
      r = b.CreateAdd(sum, b.CreateZExt(flag, t));
      carry = b.CreateOr(carry, b.CreateICmpULT(r, sum));
    }
  }
  return {r, i.mods().cc ? carry : flag};
}

}  // namespace warpbeam::jit
