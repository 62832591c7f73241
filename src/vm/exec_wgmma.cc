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

// Where eight times 16 bytes begin: along k `chunk` of eight lines (rows of A or columns of B), or, where lines lie side by side
// (`across`, of 16-bit elements), the eight lines for each k of the chunk.
using EightPlaces __attribute__((ext_vector_type(8))) = uint32_t;
EightPlaces eight_places(const Descriptor& d, bool across, uint64_t line, uint64_t chunk) {
  const uint64_t lines = d.pitch() / sizeof(uint16_t);
  const bool plain = d.layout == 0;
  const uint64_t first = d.start + (plain     ? line / 8 * d.stride + chunk * d.leading
                                    : !across ? line / 8 * d.stride + chunk * 16
                                              : line / lines * d.leading + chunk * d.stride + line % lines * sizeof(uint16_t));
  const EightPlaces all = static_cast<uint32_t>(first) + EightPlaces{0, 1, 2, 3, 4, 5, 6, 7} * static_cast<uint32_t>(d.pitch());
  return swizzled(all, d.swizzle());
}

constexpr int kChunks = 2;  // of 16 bytes along k
constexpr size_t kRegisterBytes = kWarpSize * sizeof(uint32_t);

// Reads `eights` times eight lines, each chunk of which becomes a register as ldmatrix would give it; the registers of eight lines
// are `line_step` apart, those of chunks `chunk_step`.
void read_matrix(Warp& w, const Insn& i, uint64_t bits_of_descriptor, bool across, uint64_t first_line, int eights, size_t line_step,
                 size_t chunk_step, std::byte* registers) {
  const Descriptor d = descriptor(w, i, bits_of_descriptor);
  const auto size = static_cast<uint32_t>(w.block->shared_bytes);
  const std::byte* base = w.block->shared.data();
  EightPlaces lowest = ~uint32_t{0}, highest = 0;
  for (int eight = 0; eight < eights; ++eight)
    for (uint64_t chunk = 0; chunk < kChunks; ++chunk) {
      std::byte* to = registers + (static_cast<size_t>(eight) * line_step + chunk * chunk_step) * kRegisterBytes;
      const EightPlaces at = eight_places(d, across, first_line + static_cast<uint64_t>(eight) * 8, chunk);
      for (int r = 0; __builtin_reduce_or(at + 16 > size) && r < 8; ++r)
        if (at[r] + 16 > size)
          w.trap(TrapKind::SharedOutOfRange, i, 0,
                 fmt::format("a matrix descriptor leads past the block's shared memory, at byte {} of {}", at[r], size), at[r],
                 fmt::format("start {}, leading distance {}, stride {}", d.start, d.leading, d.stride));
      for (int r = 0; r < 8; ++r) std::memcpy(to + r * 16, base + at[r], 16);
      lowest = __builtin_elementwise_min(lowest, at);
      highest = __builtin_elementwise_max(highest, at);
    }
  // They fill what they are put into.
  if (across) transpose_registers(registers, static_cast<size_t>(eights) * kChunks);
  if (w.block->observer) {
    Addresses a;
    for (uint64_t& x : a.at) x = __builtin_reduce_min(lowest);
    report_access(w, i, 1, isa::Space::Shared, a, __builtin_reduce_max(highest) + 16 - __builtin_reduce_min(lowest), AccessKind::Read,
                  true);
  }
}

// Elements of such registers; that of line l and k goes to l * line_place + k * k_place.
struct Cells {
  int lines, k;
  size_t line_place, k_place;
};
void take_cells(const std::byte* registers, size_t line_step, size_t chunk_step, Type type, const Cells& c, uint32_t* cells) {
  const size_t bytes = type == Type::B1 ? 4 : static_cast<size_t>(isa::bits_of(type)) / 8;
  for (size_t line = 0; line < static_cast<size_t>(c.lines); ++line)
    for (size_t k = 0; k < static_cast<size_t>(c.k); ++k) {
      uint32_t v = 0;
      std::memcpy(&v, registers + (line / 8 * line_step + k * bytes / 16 * chunk_step) * kRegisterBytes + line % 8 * 16 + k * bytes % 16,
                  bytes);
      cells[line * c.line_place + k * c.k_place] = v;
    }
}

void negate(std::byte* registers, size_t count, Type type) {
  const uint32_t sign = type == Type::TF32 ? 0x80000000u : type == Type::F16 || type == Type::BF16 ? 0x80008000u : 0x80808080u;
  for (size_t at = 0; at < count * kRegisterBytes; at += sizeof sign) {
    uint32_t v;
    std::memcpy(&v, registers + at, sizeof v);
    v ^= sign;
    std::memcpy(registers + at, &v, sizeof v);
  }
}

void need_group(Warp& w, const Insn& i) {
  const uint32_t first = w.index / kWarpsOfGroup * kWarpsOfGroup;
  if (first + kWarpsOfGroup > w.block->warps.size())
    w.trap(TrapKind::IllegalInstruction, i, __builtin_ctz(w.active),
           "wgmma needs a warp group: four warps of which the first has a number divisible by four");
}

// Registers of A: of rows g, of rows g + 8, then the same for the second chunk. Of B: both chunks of eight columns.
constexpr size_t kLineStepA = 1, kChunkStepA = 2, kLineStepB = 2, kChunkStepB = 1, kRegistersA = 4;

// Element by element.
void multiply_cells(Warp& w, const Insn& i, const std::byte* left, const std::byte* right, bool adds) {
  const MatrixPlan& p = *i.plan;
  const isa::Shape s = p.shape;
  const int k = p.types.a == Type::B1 ? s.k / 32 : s.k;
  static thread_local std::vector<uint32_t> a, b, c, d;
  const auto n = static_cast<size_t>(s.n);
  a.resize(static_cast<size_t>(s.m * k));
  b.resize(static_cast<size_t>(s.n * k));
  c.assign(static_cast<size_t>(s.m * s.n), 0);
  d.resize(c.size());
  take_cells(left, kLineStepA, kChunkStepA, p.types.a, {s.m, k, static_cast<size_t>(k), 1}, a.data());
  take_cells(right, kLineStepB, kChunkStepB, p.types.b, {s.n, k, 1, n}, b.data());
  if (adds) gather_matrix(w, i.wide[0], p.d, c.data());
  const isa::MatrixProduct product{s.m,       s.n,       k,         a.data(),  b.data(), c.data(),           d.data(),
                                   p.types.a, p.types.b, p.types.c, p.types.d, nullptr,  i.mods().satfinite, true};
  if (p.types.a == Type::B1) isa::multiply_bits(product);
  else if (p.types.d == Type::S32) isa::multiply_integers(product);
  else isa::multiply_floats(product, isa::bits_of(p.types.a) == 8 ? isa::AddingModel{32, 13, 14} : isa::adding_model(p.types.a));
  scatter_matrix(w, i.wide[0], p.d, d.data());
}

void product(Warp& w, const Insn& i, uint32_t mask) {
  if (!whole_warp(w, i, mask)) return;
  need_group(w, i);
  const MatrixPlan& p = *i.plan;
  constexpr size_t kMostColumns = 256;
  // Not on the stack, which is short where warps take turns.
  alignas(64) static thread_local std::byte left[kRegistersA * kRegisterBytes], right[kMostColumns / 8 * kChunks * kRegisterBytes];
  alignas(64) static thread_local std::byte before[kMostColumns / 2 * kRegisterBytes], behind[kMostColumns / 2 * kRegisterBytes];
  const int eights = p.shape.n / 8;
  const bool in_registers = !i.wide[1].parts.empty();
  // Behind the predicate: the scales of A and B, then how A (where it is in memory) and B lie.
  const auto number = [&](size_t at) { return at < i.count ? i.wide[at].offset : 0; };
  const bool a_across = !in_registers && number(6) == 1, b_across = number(in_registers ? 6 : 7) == 1;
  if (in_registers)
    for (size_t r = 0; r < kRegistersA; ++r) std::memcpy(left + r * kRegisterBytes, w.lanes<uint32_t>(i.wide[1].parts[r]), kRegisterBytes);
  else read_matrix(w, i, value_of(w, i.wide[1], 0), a_across, w.index % kWarpsOfGroup * 16, 2, kLineStepA, kChunkStepA, left);
  read_matrix(w, i, value_of(w, i.wide[2], 0), b_across, 0, eights, kLineStepB, kChunkStepB, right);
  if (number(4) == -1) negate(left, kRegistersA, p.types.a);
  if (number(5) == -1) negate(right, static_cast<size_t>(eights) * kChunks, p.types.b);

  const std::vector<int32_t>& to = i.wide[0].parts;
  const bool adds = w.pred(i.wide[3].slot) & 1;
  if (p.multiply) {
    const size_t bytes = to.size() * kRegisterBytes;
    bool in_a_row = true;
    for (size_t r = 1; r < to.size(); ++r) in_a_row &= to[r] == to[0] + static_cast<int32_t>(r * kRegisterBytes);
    auto* const sums = reinterpret_cast<std::byte*>(w.lanes<uint32_t>(to[0]));
    if (!adds) std::memset(before, 0, bytes);
    else if (in_a_row) std::memcpy(before, sums, bytes);
    else
      for (size_t r = 0; r < to.size(); ++r) std::memcpy(before + r * kRegisterBytes, w.lanes<uint32_t>(to[r]), kRegisterBytes);
    if (p.multiply(i, in_a_row ? sums : behind, left, right, before)) {
      for (size_t r = 0; r < to.size() && !in_a_row; ++r)
        std::memcpy(w.lanes<uint32_t>(to[r]), behind + r * kRegisterBytes, kRegisterBytes);
      return;
    }
    if (in_a_row) std::memcpy(sums, before, bytes);
  }
  multiply_cells(w, i, left, right, adds);
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
