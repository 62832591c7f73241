// wmma.load, wmma.store, ldmatrix, stmatrix, movmatrix: matrices between memory and the registers of a warp.
#include <fmt/format.h>

#include <bit>
#include <map>
#include <mutex>

#include "vm/exec_lane.h"
#include "vm/matrix_lanes.h"
#include "vm/tensor.h"

namespace warpbeam::vm {

using isa::Space;
using isa::Type;

void report_access(Warp& w, const Insn& i, uint32_t mask, Space space, const Addresses& a, uint32_t bytes, AccessKind kind, bool async) {
  Access access;
  access.kind = kind;
  access.async = async;
  access.generic = space == Space::Generic;
  access.bytes = bytes;
  const auto tell = [&](uint32_t lanes, Space where, uint64_t window) {
    if (!lanes) return;
    access.space = where;
    access.mask = lanes;
    const int any = __builtin_ctz(lanes);
    for (int l = 0; l < kWarpSize; ++l) access.address[static_cast<size_t>(l)] = a.at[(lanes >> l & 1) ? l : any] - window;
    w.block->observer->access(w, i, access);
  };
  if (space != Space::Generic) return tell(mask, space, 0);
  uint32_t shared = 0, local = 0;
  for (int l = 0; l < kWarpSize; ++l) {
    const uint64_t high = a.at[l] & ~(kWindowBytes - 1);
    shared |= static_cast<uint32_t>(high == kSharedWindow) << l;
    local |= static_cast<uint32_t>(high == kLocalWindow) << l;
  }
  tell(mask & shared, Space::Shared, kSharedWindow);
  tell(mask & local, Space::Local, kLocalWindow);
  tell(mask & ~shared & ~local, Space::Global, 0);
}

namespace {

MatrixPart part_of(const isa::Row& row) {
  return row.syntax.starts_with("wmma.load.a") ? MatrixPart::A : row.syntax.starts_with("wmma.load.b") ? MatrixPart::B : MatrixPart::C;
}

// Where the elements of a matrix are in memory, from its address on. Rows and columns are powers of two.
struct Places {
  uint64_t row_bits, column_bits;  // from one to the next
  int shift;
  uint32_t low;

  Places(const Fragment& f, bool columns, uint64_t stride, uint64_t element_bits)
      : row_bits(columns ? element_bits : stride * element_bits),
        column_bits(columns ? stride * element_bits : element_bits),
        shift(std::countr_zero(static_cast<uint32_t>(f.columns))),
        low(static_cast<uint32_t>(f.columns) - 1) {}
  uint64_t of(uint32_t cell) const { return ((cell >> shift) * row_bits + (cell & low) * column_bits) / 8; }
};

template <class U>
void load_parts(std::byte* const (&from)[kWarpSize], uint64_t* registers, int up) {
  for (int l = 0; l < kWarpSize; ++l) {
    U v;
    std::memcpy(&v, from[l], sizeof v);
    registers[l] |= uint64_t{v} << up;
  }
}
template <class U, class Register>
void store_parts(std::byte* const (&to)[kWarpSize], const Register* registers, int down) {
  for (int l = 0; l < kWarpSize; ++l) {
    const U v = static_cast<U>(registers[l] >> down);
    std::memcpy(to[l], &v, sizeof v);
  }
}

// The stride counts elements; without one rows (or columns) follow each other.
uint64_t stride_of(Warp& w, const Insn& i, const Fragment& f, size_t at, bool columns, int element_bits) {
  if (static_cast<size_t>(i.count) > at) return value_of(w, i.wide[at], 0);
  const uint64_t natural = static_cast<uint64_t>(columns ? f.rows : f.columns);
  return f.bits == 32 && element_bits == 1 ? natural * 32 : natural;
}

// One element of every lane at a time, so that each memory access is one that observers and bounds checks know.
void wmma_memory(Warp& w, const Insn& i, uint32_t mask) {
  if (!whole_warp(w, i, mask)) return;
  const isa::Row& row = *i.source->form.row;
  const bool stores = row.syntax.starts_with("wmma.store");
  const WideOperand &vector = i.wide[stores ? 1 : 0], &memory = i.wide[stores ? 0 : 1];
  const Type type = i.type();
  const Fragment& f = *i.fragment;
  const bool columns = i.mods().a_columns || (type == Type::B1 && part_of(row) == MatrixPart::B) ||
                       (isa::bits_of(type) == 4 && part_of(row) == MatrixPart::B);
  const int element_bits = isa::bits_of(type);
  const uint64_t stride = stride_of(w, i, f, 2, columns, element_bits);
  const uint64_t base = address_of(w, memory, 0);
  const uint64_t alignment = static_cast<uint64_t>(std::max(element_bits / 8, 1));
  for (int l = 0; l < kWarpSize; ++l)
    if (address_of(w, memory, l) != base)
      w.trap(TrapKind::IllegalInstruction, i, l, fmt::format("{} needs the same address in all lanes", row.opcode),
             address_of(w, memory, l));
  // Elements of less than a byte, and those that fill a register, are read register by register.
  const int moved_bits = element_bits < 8 ? 32 : element_bits;
  const uint32_t bytes = static_cast<uint32_t>(moved_bits / 8);
  const int per_register = f.bits == 64 ? 1 : 32 / f.bits, moved_per_register = f.bits == 64 ? 1 : 32 / moved_bits;
  if (base % (element_bits < 8 ? 4 : alignment))
    w.trap(TrapKind::MisalignedAddress, i, 0, fmt::format("misaligned {} of a matrix", stores ? "write" : "read"), base,
           fmt::format("the address must be a multiple of {}", element_bits < 8 ? 4 : alignment));
  const size_t registers = vector.parts.size();
  const Places places =
      element_bits == 1 ? Places(f, columns, stride / 32, 32) : Places(f, columns, stride, static_cast<uint64_t>(element_bits));
  std::vector<uint64_t> loaded(registers * kWarpSize);
  for (size_t r = 0; r < registers; ++r)
    for (int e = 0; e < moved_per_register; ++e) {
      const size_t first = r * static_cast<size_t>(per_register) + static_cast<size_t>(e);
      Addresses a;
      for (int l = 0; l < kWarpSize; ++l) a.at[l] = base + places.of(f.cell[static_cast<size_t>(l * f.per_lane) + first]);
      const AccessKind kind = stores ? AccessKind::Write : AccessKind::Read;
      if (w.block->observer) report_access(w, i, ~0u, i.mods().space, a, bytes, kind, false);
      std::byte* p[kWarpSize];
      resolve(w, i, ~0u, i.mods().space, a, bytes, kind, p);
      const int at = e * moved_bits;
      if (stores) {
        const uint32_t* words = w.lanes<uint32_t>(vector.parts[r]);
        switch (bytes) {
          case 1: store_parts<uint8_t>(p, words, at); break;
          case 2: store_parts<uint16_t>(p, words, at); break;
          case 4: store_parts<uint32_t>(p, words, at); break;
          default: store_parts<uint64_t>(p, w.lanes<uint64_t>(vector.parts[r]), at);
        }
      } else {
        uint64_t* to = &loaded[r * kWarpSize];
        switch (bytes) {
          case 1: load_parts<uint8_t>(p, to, at); break;
          case 2: load_parts<uint16_t>(p, to, at); break;
          case 4: load_parts<uint32_t>(p, to, at); break;
          default: load_parts<uint64_t>(p, to, at);
        }
      }
    }
  if (stores) {
    ++w.block->progress;
    return;
  }
  for (size_t r = 0; r < registers; ++r)
    for (int l = 0; l < kWarpSize; ++l) {
      if (f.bits == 64) w.lanes<uint64_t>(vector.parts[r])[l] = loaded[r * kWarpSize + static_cast<size_t>(l)];
      else w.lanes<uint32_t>(vector.parts[r])[l] = static_cast<uint32_t>(loaded[r * kWarpSize + static_cast<size_t>(l)]);
    }
}

// Rows of 16 bytes: lanes 8m to 8m + 7 give the addresses of matrix m's. Lane l holds elements 2(l % 4) and the next of
// row l / 4, transposed of column l / 4.
void ldmatrix(Warp& w, const Insn& i, uint32_t mask) {
  if (!whole_warp(w, i, mask)) return;
  const int matrices = i.mods().matrices;
  const uint32_t givers = matrices == 4 ? ~0u : matrices == 2 ? 0xffffu : 0xffu;
  const Addresses a = addresses_of(w, i.wide[1], givers);
  const Space space = i.mods().space;
  if (w.block->observer) report_access(w, i, givers, space, a, 16, AccessKind::Read, false);
  std::byte* p[kWarpSize];
  resolve(w, i, givers, space, a, 16, AccessKind::Read, p);
  for (int m = 0; m < matrices; ++m)
    load_rows(p + m * 8, i.mods().trans, 1, reinterpret_cast<std::byte*>(w.lanes<uint32_t>(i.wide[0].parts[static_cast<size_t>(m)])));
}

void stmatrix(Warp& w, const Insn& i, uint32_t mask) {
  if (!whole_warp(w, i, mask)) return;
  ++w.block->progress;
  const int matrices = i.mods().matrices;
  const uint32_t givers = matrices == 4 ? ~0u : matrices == 2 ? 0xffffu : 0xffu;
  const Addresses a = addresses_of(w, i.wide[0], givers);
  const Space space = i.mods().space;
  if (w.block->observer) report_access(w, i, givers, space, a, 16, AccessKind::Write, false);
  std::byte* p[kWarpSize];
  resolve(w, i, givers, space, a, 16, AccessKind::Write, p);
  for (int m = 0; m < matrices; ++m)
    store_rows(p + m * 8, i.mods().trans, 1, reinterpret_cast<std::byte*>(w.lanes<uint32_t>(i.wide[1].parts[static_cast<size_t>(m)])));
}

void movmatrix(Warp& w, const Insn& i, uint32_t mask) {
  if (!whole_warp(w, i, mask)) return;
  const uint32_t* a = w.lanes<uint32_t>(i.wide[1].slot);
  uint32_t values[kWarpSize];
  for (int l = 0; l < kWarpSize; ++l) {
    uint32_t v = 0;
    for (int h = 0; h < 2; ++h) {
      const int row = (l & 3) * 2 + h, column = l >> 2;  // of the source
      v |= (a[row * 4 + column / 2] >> (column % 2 * 16) & 0xffff) << (16 * h);
    }
    values[l] = v;
  }
  std::memcpy(w.lanes<uint32_t>(i.wide[0].slot), values, sizeof values);
}

}  // namespace

// The place of the elements that a wmma load or store moves; null for other instructions.
const Fragment* memory_fragment(const isa::Matched& form) {
  if (form.row->opcode != "wmma" || form.row->matrices) return nullptr;
  static std::mutex mutex;
  // Never destroyed: kernels may run while the process ends.
  static auto& fragments = *new std::map<std::tuple<int, int, int, isa::Type>, Fragment>;
  const isa::Shape s = form.mods.shape;
  std::lock_guard lock(mutex);
  const auto [it, fresh] = fragments.try_emplace({form.row->id, s.m, s.n, form.type});
  const bool stores = form.row->syntax.starts_with("wmma.store");
  if (fresh) it->second = fragment(s, form.type, part_of(*form.row), form.row->form(form, stores ? 1 : 0).count);
  return &it->second;
}

Handler select_matrix_memory(const ptx::Instruction& i) {
  const std::string_view op = i.form.row->opcode;
  if (op == "ldmatrix") return ldmatrix;
  if (op == "stmatrix") return stmatrix;
  if (op == "movmatrix") return movmatrix;
  if (op == "wmma") return wmma_memory;
  return nullptr;
}

}  // namespace warpbeam::vm
