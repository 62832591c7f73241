// wgmma: products that four warps make together from matrices in shared memory.
//
// Each warp computes its 16 rows when it comes to the instruction. What makes the four one group is waiting: a warp's
// wait_group also waits until the other three have come as far, because only then is it true that nobody reads the
// shared memory of the finished products any more.
#include <fmt/format.h>

#include <vector>

#include "isa/arith/matrix.h"
#include "vm/exec_lane.h"
#include "vm/tensor.h"
#include "vm/tensor_map.h"

namespace warpbeam::vm {
namespace {

using isa::Type;

constexpr uint32_t kWarpsOfGroup = 4;

// A matrix descriptor taken apart.
struct Descriptor {
  uint64_t start, leading, stride;  // bytes
  int layout;                       // 0 no swizzle, 1: rows of 128 bytes, 2: 64, 3: 32
  int swizzle() const { return layout == 0 ? 0 : 4 - layout; }
  uint64_t pitch() const { return uint64_t{16} << swizzle(); }
};

Descriptor descriptor(Warp& w, const Insn& i, uint64_t v) {
  if (v >> 49 & 7)
    w.trap(TrapKind::Unsupported, i, 0, fmt::format("a matrix descriptor with base offset {}: only 0 is supported", v >> 49 & 7));
  return {(v & 0x3fff) << 4, (v >> 16 & 0x3fff) << 4, (v >> 32 & 0x3fff) << 4, static_cast<int>(v >> 62)};
}

// The byte where element (line, k) begins; a line is a row of A or a column of B. `across`: the lines lie side by side.
uint64_t place(const Descriptor& d, bool across, uint64_t line, uint64_t k, uint64_t bits) {
  if (!across) {
    const uint64_t byte = k * bits / 8;
    if (d.layout == 0) return d.start + line / 8 * d.stride + line % 8 * 16 + byte / 16 * d.leading + byte % 16;
    return swizzled(d.start + line / 8 * d.stride + line % 8 * d.pitch() + byte, d.swizzle());
  }
  const uint64_t bytes = bits / 8, lines = d.pitch() / bytes;
  if (d.layout == 0) return d.start + line / 8 * d.stride + k / 8 * d.leading + k % 8 * 16 + line % 8 * bytes;
  return swizzled(d.start + line / lines * d.leading + k / 8 * d.stride + k % 8 * d.pitch() + line % lines * bytes, d.swizzle());
}

// Cells of `count` lines from `first` on; cell (line, k) goes to line * line_step + k * k_step.
void read_matrix(Warp& w, const Insn& i, uint64_t bits_of_descriptor, bool across, Type type, int k_count, int first, int count,
                 size_t line_step, size_t k_step, uint32_t* cells) {
  const Descriptor d = descriptor(w, i, bits_of_descriptor);
  const uint64_t bits = type == Type::B1 ? 32 : static_cast<uint64_t>(isa::bits_of(type));
  const uint64_t bytes = bits / 8, size = w.block->shared_bytes;
  const std::byte* base = w.block->shared.data();
  uint64_t lowest = ~uint64_t{0}, highest = 0;
  // Sixteen bytes along a line, or across lines, lie together.
  int together = static_cast<int>(16 / bytes);
  if (first % together || count % together || k_count % together) together = 1;
  const size_t step = across ? line_step : k_step;
  for (int line = 0; line < count; line += across ? together : 1)
    for (int k = 0; k < k_count; k += across ? 1 : together) {
      const uint64_t at = place(d, across, static_cast<uint64_t>(first + line), static_cast<uint64_t>(k), bits);
      const uint64_t all = bytes * static_cast<uint64_t>(together);
      if (at + all > size)
        w.trap(TrapKind::SharedOutOfRange, i, 0,
               fmt::format("a matrix descriptor leads past the block's shared memory, at byte {} of {}", at, size), at,
               fmt::format("start {}, leading distance {}, stride {}", d.start, d.leading, d.stride));
      uint32_t* to = cells + static_cast<size_t>(line) * line_step + static_cast<size_t>(k) * k_step;
      for (int e = 0; e < together; ++e) {
        uint32_t v = 0;
        std::memcpy(&v, base + at + static_cast<uint64_t>(e) * bytes, bytes);
        to[static_cast<size_t>(e) * step] = v;
      }
      lowest = std::min(lowest, at);
      highest = std::max(highest, at + all);
    }
  if (w.block->observer) {
    Addresses a;
    for (uint64_t& x : a.at) x = lowest;
    report_access(w, i, 1, isa::Space::Shared, a, static_cast<uint32_t>(highest - lowest), AccessKind::Read, true);
  }
}

void negate(std::vector<uint32_t>& cells, Type type) {
  const uint32_t sign = type == Type::TF32 ? 0x80000000u : type == Type::F16 || type == Type::BF16 ? 0x8000u : 0x80u;
  for (uint32_t& c : cells) c ^= sign;
}

void need_group(Warp& w, const Insn& i) {
  const uint32_t first = w.index / kWarpsOfGroup * kWarpsOfGroup;
  if (first + kWarpsOfGroup > w.block->warps.size())
    w.trap(TrapKind::IllegalInstruction, i, __builtin_ctz(w.active),
           "wgmma needs a warp group: four warps of which the first has a number divisible by four");
}

// In lanes (matrix_lanes.h).
bool multiplied(Warp& w, const Insn& i, const MatrixPlan& p, const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  if (!p.multiply_group) return false;
  constexpr size_t kLanesBytes = kWarpSize * sizeof(uint32_t);
  const std::vector<int32_t>& to = i.wide[0].parts;
  alignas(64) uint32_t left[4 * kWarpSize] = {};
  static thread_local std::vector<uint32_t> sums;
  sums.assign(2 * to.size() * kWarpSize, 0);  // before, then behind
  const auto words_of = [](const Fragment& f, const std::vector<uint32_t>& cells, uint32_t* words) {
    const int per = 32 / f.bits;
    for (int l = 0; l < kWarpSize; ++l)
      for (int x = 0; x < f.per_lane; ++x)
        words[x / per * kWarpSize + l] |= cells[f.cell[static_cast<size_t>(l * f.per_lane + x)]] << (x % per * f.bits);
  };
  words_of(p.a, a, left);
  uint32_t* const before = sums.data();
  uint32_t* const behind = before + to.size() * kWarpSize;
  if (w.pred(i.wide[3].slot) & 1)
    for (size_t r = 0; r < to.size(); ++r) std::memcpy(before + r * kWarpSize, w.lanes<uint32_t>(to[r]), kLanesBytes);
  if (!p.multiply_group(p, behind, left, b.data(), before)) return false;
  for (size_t r = 0; r < to.size(); ++r) std::memcpy(w.lanes<uint32_t>(to[r]), behind + r * kWarpSize, kLanesBytes);
  return true;
}

void product(Warp& w, const Insn& i, uint32_t mask) {
  if (!whole_warp(w, i, mask)) return;
  need_group(w, i);
  const MatrixPlan& p = *i.plan;
  const isa::Shape s = p.shape;
  const int k = p.types.a == Type::B1 ? s.k / 32 : s.k;
  static thread_local std::vector<uint32_t> a, b, c, d;
  a.resize(static_cast<size_t>(s.m * k));
  b.resize(static_cast<size_t>(s.n * k));
  c.assign(static_cast<size_t>(s.m * s.n), 0);
  d.resize(c.size());
  const bool in_registers = !i.wide[1].parts.empty();
  // Behind the predicate: the scales of A and B, then how A (where it is in memory) and B lie.
  const auto number = [&](size_t at) { return at < i.count ? i.wide[at].offset : 0; };
  const bool a_across = !in_registers && number(6) == 1, b_across = number(in_registers ? 6 : 7) == 1;
  if (in_registers) gather_matrix(w, i.wide[1], p.a, a.data());
  else
    read_matrix(w, i, value_of(w, i.wide[1], 0), a_across, p.types.a, k, static_cast<int>(w.index % kWarpsOfGroup) * 16, 16,
                static_cast<size_t>(k), 1, a.data());
  read_matrix(w, i, value_of(w, i.wide[2], 0), b_across, p.types.b, k, 0, s.n, 1, static_cast<size_t>(s.n), b.data());
  if (number(4) == -1) negate(a, p.types.a);
  if (number(5) == -1) negate(b, p.types.b);
  if (multiplied(w, i, p, a, b)) return;
  if (w.pred(i.wide[3].slot) & 1) gather_matrix(w, i.wide[0], p.d, c.data());
  const isa::MatrixProduct product{s.m,       s.n,       k,         a.data(),  b.data(), c.data(),           d.data(),
                                   p.types.a, p.types.b, p.types.c, p.types.d, nullptr,  i.mods().satfinite, true};
  if (p.types.a == Type::B1) isa::multiply_bits(product);
  else if (p.types.d == Type::S32) isa::multiply_integers(product);
  else isa::multiply_floats(product, isa::bits_of(p.types.a) == 8 ? isa::AddingModel{32, 13, 14} : isa::adding_model(p.types.a));
  scatter_matrix(w, i.wide[0], p.d, d.data());
}

void fence(Warp& w, const Insn& i, uint32_t mask) {
  if (whole_warp(w, i, mask)) need_group(w, i);
}

void commit(Warp& w, const Insn& i, uint32_t mask) {
  if (!whole_warp(w, i, mask)) return;
  need_group(w, i);
  ++w.warp_group_products;
  ++w.block->progress;
}

void wait(Warp& w, const Insn& i, uint32_t mask) {
  if (!whole_warp(w, i, mask)) return;
  need_group(w, i);
  const auto open = static_cast<uint64_t>(i.wide[0].offset);
  if (w.warp_group_products <= open) return;
  const uint32_t first = w.index / kWarpsOfGroup * kWarpsOfGroup;
  for (uint32_t k = first; k < first + kWarpsOfGroup; ++k) {
    const Warp& other = *w.block->warps[k];
    if (other.live && other.warp_group_products + open < w.warp_group_products) {
      w.ip = &i;  // once more when they have run
      w.wait_inside(256);
      return;
    }
  }
}

// Matrices that lie across are possible for 16-bit elements only, and their numbers are there just then.
bool well_formed(const ptx::Instruction& i) {
  const bool in_registers = i.operands[1].kind == ptx::OperandKind::Vector;
  const isa::MatrixTypes types = i.form.row->matrices(i.form);
  for (size_t k = 4; k < i.operands.size(); ++k) {
    const auto v = static_cast<int64_t>(i.operands[k].imm);
    if (k < 6 ? v != 1 && v != -1 : v != 0 && v != 1) return false;
  }
  if (types.a == Type::F16 || types.a == Type::BF16) return i.operands.size() == (in_registers ? 7u : 8u);
  return true;
}

}  // namespace

Handler select_wgmma(const ptx::Instruction& i) {
  if (i.form.row->matrices) return well_formed(i) ? product : nullptr;
  const std::string_view s = i.form.row->syntax;
  return s.starts_with("wgmma.fence") ? fence : s.starts_with("wgmma.commit") ? commit : wait;
}

}  // namespace warpbeam::vm
