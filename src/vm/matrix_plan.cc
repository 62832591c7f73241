#include "vm/matrix_plan.h"

#include <deque>
#include <mutex>
#include <tuple>

namespace warpbeam::vm {

using isa::Shape;
using isa::Type;

namespace {

struct Place {
  int line, depth;
};

// Sixteen lines (rows of A, or columns of B where it is the larger): registers alternate between lines g and g + 8.
Place wide_place(int lane, int x, int depth, int per_register) {
  const int block = 16 * depth / 32, y = x % block, r = y / per_register;
  return {x / block * 16 + (lane >> 2) + 8 * (r & 1), (lane & 3) * per_register + y % per_register + (r >> 1) * 4 * per_register};
}
// Eight lines: registers go along the depth.
Place narrow_place(int lane, int x, int depth, int per_register) {
  const int block = 8 * depth / 32, y = x % block, r = y / per_register;
  return {x / block * 8 + (lane >> 2), (lane & 3) * per_register + y % per_register + r * 4 * per_register};
}
// Accumulators: two neighbours of a row, then eight rows further down, then the next block.
Place accumulator_place(int lane, int x, int rows) {
  const int block = rows >= 16 ? 4 : 2, y = x % block, n = x / block;
  const int row = (lane >> 2) + 8 * (y >> 1), column = (lane & 3) * 2 + (y & 1);
  return rows == 32 ? Place{row + 16 * n, column} : Place{row, column + 8 * n};
}

}  // namespace

Fragment fragment(Shape s, Type type, MatrixPart part, int registers) {
  Fragment f;
  f.bits = type == Type::B1 ? 32 : isa::bits_of(type);
  const int per_register = f.bits == 64 ? 1 : 32 / f.bits;
  const int depth = type == Type::B1 ? s.k / 32 : s.k;
  f.rows = part == MatrixPart::B ? depth : s.m;
  f.columns = part == MatrixPart::A ? depth : s.n;
  f.per_lane = registers * per_register;
  const int different = f.rows * f.columns / 32;  // f16 operands of wmma repeat
  for (int lane = 0; lane < 32; ++lane)
    for (int k = 0; k < f.per_lane; ++k) {
      const int x = k % different;
      Place at{};
      if (part == MatrixPart::C) {
        at = s.m == 8 && s.n == 32 ? accumulator_place(lane, x, 32) : accumulator_place(lane, x, s.m);
        if (s.m == 8 && s.n == 32) std::swap(at.line, at.depth);
        f.cell.push_back(static_cast<uint16_t>(at.line * f.columns + at.depth));
        continue;
      }
      const int lines = part == MatrixPart::A ? s.m : s.n;
      const bool wide = part == MatrixPart::A ? lines >= 16 : lines == 32;
      at = wide ? wide_place(lane, x, depth, per_register) : narrow_place(lane, x, depth, per_register);
      f.cell.push_back(static_cast<uint16_t>(part == MatrixPart::A ? at.line * f.columns + at.depth : at.depth * f.columns + at.line));
    }
  return f;
}

Fragment quad_fragment(Type type, MatrixPart part, bool columns) {
  Fragment f;
  f.copies = 4;
  f.rows = part == MatrixPart::B ? 4 : 8;
  f.columns = part == MatrixPart::A ? 4 : 8;
  f.bits = isa::bits_of(type);
  f.per_lane = part == MatrixPart::C ? 8 : 4;
  for (int lane = 0; lane < 32; ++lane)
    for (int x = 0; x < f.per_lane; ++x) {
      const int upper = lane >= 16 ? 4 : 0, in_quad = lane & 3;
      int row, column;
      if (part == MatrixPart::A) {
        row = columns ? x + upper : in_quad + upper;
        column = columns ? in_quad : x;
      } else if (part == MatrixPart::B) {
        row = columns ? x : in_quad;
        column = columns ? in_quad + upper : x + upper;
      } else if (type == Type::F16) {
        row = in_quad + upper;
        column = x;
      } else {
        row = (lane & 1) + (x & 2) + upper;
        column = (x & 4) + (lane & 2) + (x & 1);
      }
      f.cell.push_back(static_cast<uint16_t>((lane >> 2 & 3) * f.rows * f.columns + row * f.columns + column));
    }
  return f;
}

const MatrixPlan* matrix_plan(const isa::Matched& form) {
  using Key = std::tuple<int, int, int, int, int, int, bool, bool>;
  static std::mutex mutex;
  // Never destroyed: kernels may run while the process ends.
  static auto& plans = *new std::deque<std::pair<Key, MatrixPlan>>;
  const Shape s = form.mods.shape;
  const Key key{form.row->id,       s.m, s.n, s.k, static_cast<int>(form.type), static_cast<int>(form.atype), form.mods.a_columns,
                form.mods.b_columns};
  std::lock_guard lock(mutex);
  for (const auto& [k, plan] : plans)
    if (k == key) return &plan;
  MatrixPlan p;
  p.shape = s;
  p.types = form.row->matrices(form);
  p.sparse = form.row->operands.count == 6;
  const auto registers = [&](int operand) { return form.row->form(form, operand).count; };
  if (form.row->opcode == "wgmma") {  // a warp's part of the warp group's product
    p.shape.m = 16;
    p.a = fragment(p.shape, p.types.a, MatrixPart::A, 4);
    p.c = p.d = fragment(p.shape, p.types.d, MatrixPart::C, registers(0));
  } else if (s.m == 8 && s.k == 4 && p.types.a == Type::F16) {
    p.a = quad_fragment(Type::F16, MatrixPart::A, form.mods.a_columns);
    p.b = quad_fragment(Type::F16, MatrixPart::B, form.mods.b_columns);
    p.c = quad_fragment(p.types.c, MatrixPart::C, false);
    p.d = quad_fragment(p.types.d, MatrixPart::C, false);
  } else {
    Shape stored = s;
    if (p.sparse) stored.k /= 2;
    p.a = fragment(stored, p.types.a, MatrixPart::A, registers(1));
    p.b = fragment(s, p.types.b, MatrixPart::B, registers(2));
    p.c = fragment(s, p.types.c, MatrixPart::C, registers(3));
    p.d = fragment(s, p.types.d, MatrixPart::C, registers(0));
  }
  p.in_fours = form.row->opcode == "wmma" && p.types.a == Type::TF32;
  p.multiply = multiply_lanes(p);
  plans.emplace_back(key, std::move(p));
  return &plans.back().second;
}

}  // namespace warpbeam::vm
