// Products of matrices in the registers of a warp (vm/matrix_lanes.h), against isa::multiply_floats of the same elements: of all sizes,
// and of few digits, whose sums need no cut.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "isa/arith/convert.h"
#include "isa/arith/matrix.h"
#include "vm/code.h"
#include "vm/matrix_plan.h"

namespace warpbeam::tensor_test {
namespace {

using isa::Type;

struct Product {
  isa::Shape shape;
  Type a, c, d;
  bool in_fours = false;
};

uint32_t bits_of(float v, Type type) {
  if (type == Type::F16) return isa::f32_to_f16(v, isa::Rounding::NearestEven);
  return type == Type::BF16 ? std::bit_cast<uint32_t>(v) >> 16 : std::bit_cast<uint32_t>(v);
}

std::vector<uint32_t> in_lanes(const vm::Fragment& f, const std::vector<uint32_t>& cells) {
  const int per = f.per_register();
  std::vector<uint32_t> registers(static_cast<size_t>(f.different()) * vm::kWarpSize);
  for (int r = 0; r < f.different(); ++r)
    for (int l = 0; l < vm::kWarpSize; ++l)
      for (int e = 0; e < per; ++e)
        registers[static_cast<size_t>(r * vm::kWarpSize + l)] |= cells[f.cell[static_cast<size_t>(l * f.per_lane + r * per + e)]]
                                                                 << (e * 32 / per);
  return registers;
}

class Numbers {
 public:
  // Of a tile: how many digits stand behind the first, how far exponents are apart, how many of four are zero.
  void next_tile() {
    digits_ = below(5), span_ = below(14), middle_ = below(9) - 4, zeros_ = below(4), kind_ = below(7), exponent_ = below(60) - 30;
  }
  int below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  float element() {
    if (below(4) < zeros_) return signed_of(0);
    return signed_of(
        std::ldexp(1 + static_cast<float>(below(1 << digits_)) / static_cast<float>(1 << digits_), middle_ + below(span_ + 1) - span_ / 2));
  }
  float sum() {
    switch (kind_) {
      case 0: return signed_of(0);
      case 1: return element() * element();
      case 2: return static_cast<float>(below(65536) - 32768);
      case 3: return signed_of(std::ldexp(1 + static_cast<float>(below(1 << 23)) / (1 << 23), exponent_));
      case 4: return below(8) ? 0 : 1e-12f;
      case 5: return static_cast<float>(below(1 << 24)) / 1024;
      default: return below(16) ? element() : signed_of(below(2) ? INFINITY : 1e25f);
    }
  }

 private:
  float signed_of(float v) { return below(2) ? -v : v; }
  std::mt19937 random_{1};
  int digits_ = 0, span_ = 0, middle_ = 0, zeros_ = 0, kind_ = 0, exponent_ = 0;
};

TEST(Lanes, SumsAreThoseOfTheArithmetic) {
  const Product products[] = {{{16, 16, 16}, Type::F16, Type::F32, Type::F32},       {{16, 16, 16}, Type::F16, Type::F16, Type::F16},
                              {{16, 16, 16}, Type::F16, Type::F32, Type::F16},       {{16, 16, 16}, Type::F16, Type::F16, Type::F32},
                              {{16, 16, 16}, Type::BF16, Type::F32, Type::F32},      {{16, 8, 8}, Type::F16, Type::F32, Type::F32},
                              {{16, 16, 8}, Type::TF32, Type::F32, Type::F32, true}, {{16, 8, 8}, Type::TF32, Type::F32, Type::F32},
                              {{16, 8, 4}, Type::TF32, Type::F32, Type::F32}};
  Numbers numbers;
  for (const Product& of : products) {
    vm::MatrixPlan plan;
    const auto size = [](int lines, int columns, Type type) { return lines * columns / 32 * isa::bits_of(type) / 32; };
    const auto [m, n, k] = of.shape;
    plan.shape = of.shape;
    plan.types.a = plan.types.b = of.a;
    plan.types.c = of.c;
    plan.types.d = of.d;
    plan.in_fours = of.in_fours;
    plan.a = vm::fragment(of.shape, of.a, vm::MatrixPart::A, size(m, k, of.a));
    plan.b = vm::fragment(of.shape, of.a, vm::MatrixPart::B, size(k, n, of.a));
    plan.c = vm::fragment(of.shape, of.c, vm::MatrixPart::C, size(m, n, of.c));
    plan.d = vm::fragment(of.shape, of.d, vm::MatrixPart::C, size(m, n, of.d));
    const vm::MultiplyLanes multiply = vm::multiply_lanes(plan);
    ASSERT_TRUE(multiply);
    ptx::Instruction source{};
    vm::Insn insn;
    insn.plan = &plan;
    insn.source = &source;
    isa::AddingModel model = isa::adding_model(of.a);
    if (of.in_fours) model.chunk = 4;
    int done = 0;
    constexpr int kTiles = 2000;
    for (int tile = 0; tile < kTiles; ++tile) {
      numbers.next_tile();
      std::vector<uint32_t> a, b, c, d(static_cast<size_t>(m * n));
      for (int x = 0; x < m * k; ++x) a.push_back(bits_of(numbers.element(), of.a));
      for (int x = 0; x < k * n; ++x) b.push_back(bits_of(numbers.element(), of.a));
      for (int x = 0; x < m * n; ++x) c.push_back(bits_of(numbers.sum(), of.c));
      const auto left = in_lanes(plan.a, a), right = in_lanes(plan.b, b), before = in_lanes(plan.c, c);
      std::vector<uint32_t> after(static_cast<size_t>(plan.d.different()) * vm::kWarpSize);
      if (!multiply(insn, after.data(), left.data(), right.data(), before.data())) continue;
      ++done;
      // As exec_mma.cc: in f32 where either is, and rounded then.
      const bool widens = of.c == Type::F16 && of.d == Type::F32, narrows = of.c == Type::F32 && of.d == Type::F16;
      for (uint32_t& x : c)
        if (widens) x = std::bit_cast<uint32_t>(isa::f16_to_f32(static_cast<uint16_t>(x)));
      isa::multiply_floats(
          {m, n, k, a.data(), b.data(), c.data(), d.data(), of.a, of.a, widens ? Type::F32 : of.c, narrows ? Type::F32 : of.d}, model);
      for (uint32_t& x : d)
        if (narrows) x = isa::f32_to_f16(std::bit_cast<float>(x), isa::Rounding::NearestEven);
      ASSERT_EQ(after, in_lanes(plan.d, d)) << "tile " << tile << " of m" << m << "n" << n << "k" << k << " " << static_cast<int>(of.a);
    }
    EXPECT_GT(done, kTiles / 2);
  }
}

}  // namespace
}  // namespace warpbeam::tensor_test
