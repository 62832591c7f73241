// wmma.load and wmma.store: a whole fragment between memory and registers.
//
// Idea: a register's lanes 4g to 4g + 3 are in most fragments side by side in memory, those of two registers in turn are in most
// accumulators, and where the matrix lies the other way its lines of eight elements are the columns of a small block, which is
// transposed in registers. So a fragment is a few dozen vector accesses, one check before them.
// Precondition: all lanes are there and name the same address; the whole matrix lies in the allocation that was touched last, or in shared
// memory; elements have whole bytes; nobody watches.
// Postcondition: what the interpreter's handler leaves.
// Fallback: that handler.
#include <llvm/Analysis/VectorUtils.h>

#include "jit/emitter.h"

namespace warpbeam::jit {
FragmentLines::FragmentLines(const vm::Fragment& of, bool by_columns) : fragment(of), columns(by_columns) {
  const int per = fragment.per_register(), registers = fragment.different();
  bool fours = true, across = true, twos = per == 1 && registers % 2 == 0;
  for (int r = 0; r < registers; ++r)
    for (int l = 0; l < kLanes; ++l)
      for (int e = 0, t = l & 3; e < per; ++e) {
        const int x = r * per + e;
        const auto follows = [&](int y, int lane, int on) { return line(x, l) == line(y, lane) && at(x, l) == at(y, lane) + on; };
        fours = fours && follows(r * per, l - t, t * per + e);
        twos = twos && follows(r & ~1, l - t, 2 * t + (r & 1));
        across = across && follows(x, t, l >> 2);
      }
  form = fours ? Form::Fours : twos ? Form::Twos : across ? Form::Across : Form::None;
}

// Lines of eight elements each become columns.
V Emitter::turned(V v, int lines) {
  return picked(v, v, 8 * lines, [&](int k) { return k % lines * 8 + k / lines; });
}

// Registers from memory; `place` is that of an element of a lane, whose lines' distance is known to be `step` (0: is not known).
void Emitter::load_fragment(const vm::WideOperand& to, const FragmentLines& lines, Width bytes, uint64_t step, const FragmentPlace& place) {
  using Form = FragmentLines::Form;
  const int per = lines.fragment.per_register(), different = lines.fragment.different();
  const auto load = [&](Width element, int n, int x, int lane) {
    auto* type = llvm::FixedVectorType::get(lane_type(element), static_cast<unsigned>(n));
    return user(b_.CreateAlignedLoad(type, place(x, lane), llvm::Align(bytes)));
  };
  const auto put = [&](int r, V lanes) {
    Value v;
    v.lanes = lanes;
    for (size_t copy = static_cast<size_t>(r); copy < to.parts.size(); copy += static_cast<size_t>(different))
      write(to.parts[copy], to.width, v);
  };
  for (int r = 0; r < different; ++r) {
    const int x = r * per;
    if (lines.form == Form::Fours && step == 4u * to.width) {
      put(r, load(to.width, kLanes, x, 0));
      continue;
    }
    std::vector<V> parts;
    if (lines.form == Form::Across)
      for (int k = 0; k < 4 * per; ++k) parts.push_back(load(bytes, 8, x + k % per, k / per));
    else
      for (int g = 0; g < 8; ++g) parts.push_back(load(to.width, lines.form == Form::Twos ? 8 : 4, x, 4 * g));
    const V all = llvm::concatenateVectors(b_, parts);
    if (lines.form == Form::Twos)
      for (int odd = 0; odd < 2; ++odd) put(r + odd, picked(all, all, kLanes, [&](int l) { return 2 * l + odd; }));
    else put(r, lines.form == Form::Across ? b_.CreateBitCast(turned(all, 4 * per), type_of(to.width, true)) : all);
    if (lines.form == Form::Twos) ++r;
  }
}

void Emitter::store_fragment(const vm::WideOperand& from, const FragmentLines& lines, Width bytes, const FragmentPlace& place) {
  using Form = FragmentLines::Form;
  const int per = lines.fragment.per_register();
  const auto store = [&](V all, int n, int part, int x, int lane) {
    user(b_.CreateAlignedStore(picked(all, all, n, [&](int e) { return part * n + e; }), place(x, lane), llvm::Align(bytes)));
  };
  for (size_t r = 0; r < static_cast<size_t>(lines.fragment.different()); ++r) {
    const int x = static_cast<int>(r) * per, block = 4 * per;
    const V lanes = lanes_of_register(from, r);
    if (lines.form == Form::Across) {
      const V elements = b_.CreateBitCast(lanes, llvm::FixedVectorType::get(lane_type(bytes), static_cast<unsigned>(8 * block)));
      const V all = picked(elements, elements, 8 * block, [&](int k) { return k % 8 * block + k / 8; });
      for (int k = 0; k < block; ++k) store(all, 8, k, x + k % per, k / per);
    } else if (lines.form == Form::Twos) {
      const V all = picked(lanes, lanes_of_register(from, ++r), 2 * kLanes, [](int k) { return k / 2 + k % 2 * kLanes; });
      for (int g = 0; g < 8; ++g) store(all, 8, g, x, 4 * g);
    } else {
      for (int g = 0; g < 8; ++g) store(lanes, 4, g, x, 4 * g);
    }
  }
}

bool Emitter::emit_fragment(const vm::Insn& i) {
  const bool stores = i.source->form.row->syntax.starts_with("wmma.store");
  const vm::WideOperand &memory = i.wide[stores ? 0 : 1], &registers = i.wide[stores ? 1 : 0];
  const FragmentLines lines(*i.fragment, i.mods().a_columns);
  const int bits = i.type() == isa::Type::B1 ? 1 : isa::bits_of(i.type());
  if (lines.form == FragmentLines::Form::None || bits < 8) return false;
  const uint64_t bytes = static_cast<uint64_t>(bits / 8);

  // The address, and how far it is from line to line.
  const Value address = moved_by(memory.slot, memory.width, memory.offset);
  V first = address.run[0], good = b_.getTrue();
  if (!address.uniform()) {
    const V all = lanes_of(address, 8);
    first = b_.CreateExtractElement(all, uint64_t{0});
    good = b_.CreateAndReduce(b_.CreateICmpEQ(all, splat(first)));
  }
  V step = b_.getInt64(static_cast<uint64_t>(lines.length()) * bytes);
  if (i.count > 2) {
    const Value given = read(i.wide[2].slot, i.wide[2].width);
    const V stride = b_.CreateZExtOrTrunc(given.runs ? given.run[0] : b_.CreateExtractElement(given.lanes, uint64_t{0}), b_.getInt64Ty());
    good = b_.CreateAnd(good, b_.CreateICmpULT(stride, b_.getInt64(uint64_t{1} << 32)));
    step = b_.CreateMul(stride, b_.getInt64(bytes));
  }
  // Are the first element and the last one where it may be accessed? Then so are all.
  const V further = b_.CreateAdd(b_.CreateMul(step, b_.getInt64(static_cast<uint64_t>(lines.count() - 1))),
                                 b_.getInt64(static_cast<uint64_t>(lines.length() - 1) * bytes));
  Access a;
  a.insn = &i;
  a.load = !stores;
  a.memory = static_cast<Width>(bytes);
  const isa::Space space = i.mods().space;
  a.shared = space == isa::Space::Shared;
  if (const Source s = flow_.source(memory.slot, memory.width); memory.slot >= 0 && s.kind == SourceKind::Variable)
    a.root = plan_.roots.of[s.variable];
  const auto fit = [&](const Access& access, V from) {
    return b_.CreateAnd(fits(access, from, bytes), fits(access, b_.CreateAdd(from, further), bytes));
  };
  V fitting = fit(a, first), pointer = pointer_to(a, first);
  if (space == isa::Space::Generic && a.root < 0) {
    Access in_window = a;
    in_window.shared = true;
    const V from = b_.CreateSub(first, b_.getInt64(vm::kSharedWindow)), there = fit(in_window, from);
    pointer = b_.CreateSelect(there, pointer_to(in_window, from), pointer);
    fitting = b_.CreateOr(fitting, there);
  }
  write_rows();
  const FragmentPlace place = [&](int x, int lane) {
    const V to_line = b_.CreateMul(step, b_.getInt64(static_cast<uint64_t>(lines.line(x, lane))));
    return b_.CreateGEP(b_.getInt8Ty(), pointer, b_.CreateAdd(to_line, b_.getInt64(static_cast<uint64_t>(lines.at(x, lane)) * bytes)));
  };
  const auto move = [&] {
    const auto* known = llvm::dyn_cast<llvm::ConstantInt>(step);
    if (stores) store_fragment(registers, lines, a.memory, place);
    else load_fragment(registers, lines, a.memory, known ? known->getZExtValue() : 0, place);
  };
  emit_quick(i, b_.CreateAnd(good, fitting), move, a.shared ? nullptr : &range_of(a));
  return true;
}

}  // namespace warpbeam::jit
