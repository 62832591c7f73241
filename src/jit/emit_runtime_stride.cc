// Idea: what a slope (runtime_stride.h) is decides at run time how an access is done: side by side, every second or fourth element, apart.
// Precondition: places that do not wrap around between the ends. Postcondition: as lane by lane. Fallback: the interpreter's handler.
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <cstdlib>

#include "jit/emitter.h"
#include "jit/runtime_stride.h"

namespace warpbeam::jit {

using llvm::BasicBlock;
using llvm::FixedVectorType;
namespace In = llvm::Intrinsic;

// The line of an instruction's result. Operands are as the instruction has them, destinations aside.
Line Emitter::line_of_result(const vm::Insn& i, const std::vector<std::pair<Value, Width>>& in) {
  std::vector<Line> lines;
  for (const auto& [v, bytes] : in) lines.push_back(line_of(v, bytes));
  if (!widens(i)) {  // a line in all lanes, whatever wraps around: two of them tell
    std::vector<V> first, second;
    for (const Line& l : lines) {
      first.push_back(l.base);
      second.push_back(b_.CreateAdd(l.base, l.slope));
    }
    const V base = arithmetic_.compute(i, first);
    return {base, b_.CreateSub(arithmetic_.compute(i, second), base)};
  }
  const bool convert = i.source->form.row->kind == isa::Kind::Convert;
  const bool sg = isa::is_signed(convert ? i.source->form.atype : i.type());
  const auto wide = [&](V x) { return sg ? b_.CreateSExt(x, b_.getInt64Ty()) : b_.CreateZExt(x, b_.getInt64Ty()); };
  const auto [head, tail] = ends_of(at_.active);
  for (size_t k = 0; k < (convert ? 1u : 2u); ++k) {
    Line& l = lines[k];
    if (in[k].first.uniform()) {
      l = {wide(l.base), b_.getInt64(0)};
      continue;
    }
    const V slope = b_.CreateSExt(l.slope, b_.getInt64Ty());
    const V first = wide(b_.CreateAdd(l.base, b_.CreateMul(b_.CreateTrunc(head, b_.getInt32Ty()), l.slope)));
    const V last = b_.CreateAdd(first, b_.CreateMul(b_.CreateSub(tail, head), slope));
    const V wraps =
        b_.CreateAnd(b_.CreateICmpNE(wide(b_.CreateTrunc(last, b_.getInt32Ty())), last), b_.CreateICmpNE(at_.active, b_.getInt32(0)));
    as_.wraps ? as_.wraps->push_back(wraps) : hand_over(i, wraps);
    l = {b_.CreateSub(first, b_.CreateMul(head, slope)), slope};
  }
  if (convert) return lines[0];
  const Line &a = lines[0], &c = lines[1];
  Line product{b_.CreateMul(a.base, c.base), in[0].first.uniform() ? b_.CreateMul(a.base, c.slope) : b_.CreateMul(a.slope, c.base)};
  if (lines.size() < 3) return product;
  return {b_.CreateAdd(product.base, lines[2].base), b_.CreateAdd(product.slope, lines[2].slope)};
}

// --- accesses -------------------------------------------------------------------------------------------------------

// An address with a line: all lanes of the mask are good if the first and the last are.
V Emitter::line_fits(const Access& a, const Line& line, V mask) {
  const auto [head, tail] = ends_of(mask);
  const V first = b_.CreateAdd(line.base, b_.CreateMul(head, line.slope)), last = b_.CreateAdd(line.base, b_.CreateMul(tail, line.slope));
  // Neither so steep that the numbers wrap around between the ends, nor off the elements' places.
  const V steep = b_.CreateLShr(b_.CreateAdd(line.slope, b_.getInt64(uint64_t(1) << 40)), 41);
  const V odd = b_.CreateAnd(line.slope, b_.getInt64(a.total() - 1));
  const V tame = b_.CreateICmpEQ(b_.CreateOr(steep, odd), b_.getInt64(0));
  return b_.CreateAnd(b_.CreateAnd(fits(a, first, a.total()), fits(a, last, a.total())), tame);
}

// Goes on where they are, at a place where the access is still to be done, and leaves what is not good to `slow`.
void Emitter::check_line(const Access& a, const Line& line, V mask, BasicBlock* slow) {
  auto* fast = new_block("fast");
  go_on_if(line_fits(a, line, mask), fast, slow, llvm::MDBuilder(c_).createBranchWeights(10000, 1));
}

void Emitter::touch_line(const Access& a, const Value& address, V mask) {
  uses(Technique::RuntimeStrides);
  const int64_t total = static_cast<int64_t>(a.total());
  auto [join, apart] = new_blocks("touched", "apart");
  auto* choice = b_.CreateSwitch(address.line.slope, apart, 4);
  for (const int64_t step : {1, 2, 3, 4}) {
    Value known;
    known.runs = 1;
    known.stride = step * total;
    known.run[0] = address.line.base;
    if (step > 1 && (!in_steps(a, known) || (step == 3 && a.memory > 1))) continue;  // three bytes are a pixel
    auto* block = new_block("step");
    choice->addCase(b_.getInt64(static_cast<uint64_t>(known.stride)), block);
    b_.SetInsertPoint(block);
    touch(a, known, mask);
    b_.CreateBr(join);
  }
  b_.SetInsertPoint(apart);
  touch(a, address, mask);
  go_on(join);
}

}  // namespace warpbeam::jit
