// mma and wmma.mma: products of matrices that lie in the registers of a warp.
#include <fmt/format.h>

#include "isa/arith/convert.h"
#include "isa/arith/matrix.h"
#include "vm/exec_lane.h"
#include "vm/tensor.h"

namespace warpbeam::vm {

using isa::Type;

bool whole_warp(Warp& w, const Insn& i, uint32_t mask) {
  if (mask != w.active) w.split(w.active & ~mask, w.ip);
  if (w.active == ~0u) [[likely]]
    return true;
  const bool last_chance = w.released;
  if (!w.gather(i, ~0u)) return false;
  if (w.active == ~0u) return true;
  const uint32_t missing = ~w.active;
  w.trap(TrapKind::IllegalInstruction, i, __builtin_ctz(w.active),
         fmt::format("{} needs all 32 lanes of the warp, and {} not here", i.source->form.row->opcode,
                     std::popcount(missing) == 1 ? fmt::format("lane {} is", std::countr_zero(missing))
                                                 : fmt::format("{} of them are", std::popcount(missing))),
         0,
         last_chance ? "the others wait elsewhere or have ended" : "a lane that the block shape lacks or that has ended cannot take part");
}

namespace {

// Calls body with the number of bits of an element in a register.
template <class Body>
void with_bits(int bits, Body&& body) {
  switch (bits) {
    case 4: return body(std::integral_constant<int, 4>());
    case 8: return body(std::integral_constant<int, 8>());
    case 16: return body(std::integral_constant<int, 16>());
    default: return body(std::integral_constant<int, 32>());
  }
}

}  // namespace

void gather_matrix(Warp& w, const WideOperand& o, const Fragment& f, uint32_t* cells) {
  with_bits(f.bits, [&](auto bits) {
    constexpr size_t kPerRegister = 32 / bits;
    constexpr uint32_t kLow = ~0u >> (32 - bits);
    for (size_t r = 0; r < o.parts.size(); ++r) {
      const uint32_t* words = w.lanes<uint32_t>(o.parts[r]);
      const uint16_t* cell = &f.cell[r * kPerRegister];
      for (int l = 0; l < kWarpSize; ++l, cell += f.per_lane)
        for (size_t e = 0; e < kPerRegister; ++e) cells[cell[e]] = words[l] >> (e * bits) & kLow;
    }
  });
}

void scatter_matrix(Warp& w, const WideOperand& o, const Fragment& f, const uint32_t* cells) {
  with_bits(f.bits, [&](auto bits) {
    constexpr size_t kPerRegister = 32 / bits;
    for (size_t r = 0; r < o.parts.size(); ++r) {
      uint32_t* words = w.lanes<uint32_t>(o.parts[r]);
      const uint16_t* cell = &f.cell[r * kPerRegister];
      for (int l = 0; l < kWarpSize; ++l, cell += f.per_lane) {
        uint32_t word = 0;
        for (size_t e = 0; e < kPerRegister; ++e) word |= cells[cell[e]] << (e * bits);
        words[l] = word;
      }
    }
  });
}

namespace {

constexpr int kMostCells = 4096;  // of 16 x 256 elements in cells of 4 bits and of all others

void multiply_f64(Warp& w, const Insn& i, const MatrixPlan& p) {
  double a[16 * 16], b[16 * 8], c[16 * 8], d[16 * 8];
  const auto gather = [&](const WideOperand& o, const Fragment& f, double* cells) {
    for (size_t r = 0; r < o.parts.size(); ++r)
      for (int l = 0; l < kWarpSize; ++l) cells[f.cell[static_cast<size_t>(l * f.per_lane) + r]] = w.lanes<double>(o.parts[r])[l];
  };
  gather(i.wide[1], p.a, a);
  gather(i.wide[2], p.b, b);
  gather(i.wide[3], p.c, c);
  isa::multiply_doubles(p.shape.m, p.shape.n, p.shape.k, a, b, c, d, i.mods().rnd);
  for (size_t r = 0; r < i.wide[0].parts.size(); ++r)
    for (int l = 0; l < kWarpSize; ++l) w.lanes<double>(i.wide[0].parts[r])[l] = d[p.d.cell[static_cast<size_t>(l * p.d.per_lane) + r]];
}

// Puts the stored elements of a sparse A where the metadata say; the rest is zero. Each four bits of metadata belong to
// a group of four elements (tf32: two; of 4-bit integers eight, in pairs) and hold the places of the two that are
// stored.
void spread_sparse(Warp& w, const Insn& i, const MatrixPlan& p, const uint32_t* stored, uint32_t* a, uint8_t* used) {
  const int k = p.shape.k, half = k / 2;
  const bool single = p.types.a == Type::TF32;
  const int unit = isa::bits_of(p.types.a) == 4 ? 2 : 1;  // elements that go together
  const int group = single ? 2 : 4 * unit;
  const int groups = k / group;  // of a row
  // Lanes hold four groups of a row and of the one eight below, 16 bits each; of 8- and 4-bit elements eight of one
  // row.
  const bool by_row = isa::bits_of(p.types.a) <= 8;
  const uint32_t* metadata = w.lanes<uint32_t>(i.wide[4].slot);
  const int selector = static_cast<int>(i.wide[5].offset);
  std::memset(a, 0, sizeof(uint32_t) * static_cast<size_t>(p.shape.m * k));
  std::memset(used, 0, static_cast<size_t>(p.shape.m * k));
  const auto put = [&](int at, uint32_t value) {
    a[at] = value;
    used[at] = 1;
  };
  for (int row = 0; row < p.shape.m; ++row)
    for (int g = 0; g < groups; ++g) {
      const int lane = (row & 7) * 4 + (by_row ? selector * 2 + g / 8 * 2 + (row >> 3) : selector * (groups / 4) + g / 4);
      const uint32_t bits = metadata[lane & 31] >> (by_row ? g % 8 * 4 : (row >> 3) * 16 + g % 4 * 4) & 15;
      if (single) {
        put(row * k + g * 2 + ((bits & 3) == 0 ? 0 : 1), stored[row * half + g]);  // 0b0100 or 0b1110
        continue;
      }
      for (int s = 0; s < 2; ++s)
        for (int u = 0; u < unit; ++u)
          put(row * k + g * group + static_cast<int>(bits >> (2 * s) & 3) * unit + u, stored[row * half + (g * 2 + s) * unit + u]);
    }
}

// In their lanes (matrix_lanes.h).
bool multiplied(Warp& w, const Insn& i) {
  if (!i.plan->multiply) return false;
  constexpr size_t kMost = 16 * kWarpSize * sizeof(uint32_t);  // wmma's eight words and four of mma's double
  alignas(64) std::byte registers[4][kMost];
  const auto bytes_of = [](const WideOperand& o) { return size_t{o.width} * kWarpSize; };
  for (size_t k = 1; k < 4; ++k)
    for (size_t r = 0; r < i.wide[k].parts.size(); ++r)
      std::memcpy(registers[k] + r * bytes_of(i.wide[k]), w.regs + i.wide[k].parts[r], bytes_of(i.wide[k]));
  if (!i.plan->multiply(i, registers[0], registers[1], registers[2], registers[3])) return false;
  for (size_t r = 0; r < i.wide[0].parts.size(); ++r)
    std::memcpy(w.regs + i.wide[0].parts[r], registers[0] + r * bytes_of(i.wide[0]), bytes_of(i.wide[0]));
  return true;
}

void multiply(Warp& w, const Insn& i, uint32_t mask) {
  if (!whole_warp(w, i, mask) || multiplied(w, i)) return;
  const MatrixPlan& p = *i.plan;
  if (p.types.d == Type::F64) return multiply_f64(w, i, p);
  uint32_t a[kMostCells], b[kMostCells], c[256], d[256];
  uint8_t used[kMostCells];
  gather_matrix(w, i.wide[1], p.a, a);
  gather_matrix(w, i.wide[2], p.b, b);
  gather_matrix(w, i.wide[3], p.c, c);
  if (p.sparse) {
    uint32_t stored[kMostCells];
    std::memcpy(stored, a, sizeof(uint32_t) * static_cast<size_t>(p.a.cells()));
    spread_sparse(w, i, p, stored, a, used);
  }
  // The sum is made in f32 where either accumulator is, except by the small products of sm_70.
  const bool in_steps = p.a.copies == 4;
  const bool widens = p.types.c == Type::F16 && p.types.d == Type::F32 && !in_steps,
             narrows = p.types.c == Type::F32 && p.types.d == Type::F16;
  if (widens)
    for (int x = 0; x < p.c.cells(); ++x) c[x] = isa::bits_of(isa::f16_to_f32(static_cast<uint16_t>(c[x])));

  const int k = p.types.a == Type::B1 ? p.shape.k / 32 : p.shape.k;
  isa::AddingModel model = isa::adding_model(p.types.a);
  if (p.sparse) model.chunk *= 2;  // so many are stored
  if (p.in_fours) model.chunk = 4;
  for (int copy = 0; copy < p.a.copies; ++copy) {
    isa::MatrixProduct product{p.shape.m,
                               p.shape.n,
                               k,
                               a + copy * p.shape.m * k,
                               b + copy * p.shape.n * k,
                               c + copy * p.shape.m * p.shape.n,
                               d + copy * p.shape.m * p.shape.n,
                               p.types.a,
                               p.types.b,
                               widens ? Type::F32 : p.types.c,
                               narrows ? Type::F32 : p.types.d,
                               p.sparse ? used : nullptr,
                               i.mods().satfinite,
                               i.mods().boolop == isa::BoolOp::And};
    if (p.types.a == Type::B1) isa::multiply_bits(product);
    else if (p.types.d == Type::S32) isa::multiply_integers(product);
    else if (in_steps) isa::multiply_in_steps(product);
    else if (isa::bits_of(p.types.a) == 8) isa::multiply_fp8(product);
    else isa::multiply_floats(product, model);
  }
  if (narrows)
    for (int x = 0; x < p.d.cells(); ++x) d[x] = isa::f32_to_f16(isa::f32_of(d[x]), isa::Rounding::NearestEven);
  scatter_matrix(w, i.wide[0], p.d, d);
}

}  // namespace

Handler select_matrix_memory(const ptx::Instruction& i);
Handler select_wgmma(const ptx::Instruction& i);

namespace {

// The metadata of all rows are in a quarter of the lanes, in half of them, or in all: the selector says in which.
bool selector_exists(const ptx::Instruction& i) {
  const isa::MatrixTypes types = i.form.row->matrices(i.form);
  const int group = types.a == Type::TF32 ? 2 : isa::bits_of(types.a) == 4 ? 8 : 4;
  return i.operands[5].imm < static_cast<uint64_t>(16 * group / i.form.mods.shape.k);
}

}  // namespace

Handler select_tensor(const ptx::Instruction& i) {
  if (i.form.row->opcode == "wgmma") return select_wgmma(i);
  if (i.form.row->opcode == "mma" && i.operands.size() == 6 && !selector_exists(i)) return nullptr;
  if (i.form.row->matrices) return multiply;
  return select_matrix_memory(i);
}

}  // namespace warpbeam::vm
