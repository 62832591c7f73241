#include "vm/matrix_moves.h"

#include <cstring>
#include <utility>

#include "vm/code.h"
#include "vm/matrix_plan.h"

namespace warpbeam::vm {
namespace {

FragmentLines find_lines(const Fragment& f, bool columns, int registers) {
  FragmentLines out;
  const int per = f.per_register();
  for (int x = 0; x < f.per_lane; ++x)
    for (int l = 0; l < kWarpSize; ++l) {
      const int cell = f.cell[static_cast<size_t>(l * f.per_lane + x)], row = cell / f.columns, column = cell % f.columns;
      out.line.push_back(static_cast<uint16_t>(columns ? column : row));
      out.at.push_back(static_cast<uint16_t>(columns ? row : column));
    }
  const auto place = [&](int x, int l) {
    const auto k = static_cast<size_t>(x * kWarpSize + l);
    return std::pair<int, int>(out.line[k], out.at[k]);
  };
  out.fours = out.across = true;
  out.twos = per == 1 && registers % 2 == 0;
  for (int r = 0; r < registers; ++r)
    for (int l = 0; l < kWarpSize; ++l) {
      const int g = l >> 2, t = l & 3, x = r * per;
      for (int e = 0; e < per; ++e) {
        const auto [line, at] = place(x + e, l);
        const auto [first_line, first_at] = place(x, 0);
        out.fours &= line == first_line + g && at == first_at + t * per + e;
        out.across &= line == first_line + t * per + e && at == first_at + g;
      }
      if (out.twos) {
        const auto [line, at] = place(r, l);
        const auto [four_line, four_at] = place(r & ~1, l & ~3);
        out.twos = line == four_line && at == four_at + 2 * t + (r & 1);
      }
    }
  return out;
}

template <class T, class Word>
struct Mover {
  static constexpr int kPer = sizeof(Word) / sizeof(T);
  const FragmentLines& lines;
  std::byte* memory;
  uint64_t step;  // from one line to the next, in bytes

  std::byte* place(int x, int l) const {
    const auto k = static_cast<size_t>(x * kWarpSize + l);
    return memory + lines.line[k] * step + lines.at[k] * sizeof(T);
  }

  template <int... l>
  static void transpose(const T* from, Word* to, std::integer_sequence<int, l...>) {
    using Block __attribute__((ext_vector_type(kWarpSize * kPer))) = T;
    Block v;
    std::memcpy(&v, from, sizeof v);
    v = __builtin_shufflevector(v, v, (l % (4 * kPer) * 8 + l / (4 * kPer))...);
    std::memcpy(to, &v, sizeof v);
  }

  // Eight pieces of four words, stored as a whole: whoever reads all of them next need not wait for each.
  template <class W, class From>
  static void gather(From&& from, W* to) {
    using Four __attribute__((ext_vector_type(4))) = W;
    using Eight __attribute__((ext_vector_type(8))) = W;
    for (int g = 0; g < 8; g += 2) {
      Four a, b;
      std::memcpy(&a, from(g), sizeof a);
      std::memcpy(&b, from(g + 1), sizeof b);
      const Eight both = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
      std::memcpy(to + 4 * g, &both, sizeof both);
    }
  }

  void load(Word* to, int r) const {
    if (lines.fours) {
      std::byte* const from = place(r * kPer, 0);
      gather<Word>([&](int g) { return from + static_cast<uint64_t>(g) * step; }, to);
      return;
    }
    if (lines.across) {
      T block[4 * kPer][8];
      std::byte* from = place(r * kPer, 0);
      for (int k = 0; k < 4 * kPer; ++k, from += step) std::memcpy(block[k], from, sizeof block[k]);
      return transpose(&block[0][0], to, std::make_integer_sequence<int, kWarpSize * kPer>{});
    }
    for (int l = 0; l < kWarpSize; ++l) {
      T elements[kPer];
      for (int e = 0; e < kPer; ++e) std::memcpy(&elements[e], place(r * kPer + e, l), sizeof(T));
      std::memcpy(&to[l], elements, sizeof elements);
    }
  }
  void store(const Word* from, int r) const {
    if (lines.fours) {
      std::byte* to = place(r * kPer, 0);
      for (int g = 0; g < 8; ++g, to += step) std::memcpy(to, from + 4 * g, 4 * sizeof(Word));
      return;
    }
    for (int l = 0; l < kWarpSize; ++l) {
      T elements[kPer];
      std::memcpy(elements, &from[l], sizeof elements);
      for (int e = 0; e < kPer; ++e) std::memcpy(place(r * kPer + e, l), &elements[e], sizeof(T));
    }
  }
  // Registers r and r + 1.
  void load_two(Word* to, int r) const {
    for (int g = 0; g < 8; ++g) {
      Word row[8];
      std::memcpy(row, place(r, 4 * g), sizeof row);
      for (int t = 0; t < 4; ++t) to[4 * g + t] = row[2 * t], to[kWarpSize + 4 * g + t] = row[2 * t + 1];
    }
  }
  void store_two(const Word* from, int r) const {
    for (int g = 0; g < 8; ++g) {
      Word row[8];
      for (int t = 0; t < 4; ++t) row[2 * t] = from[4 * g + t], row[2 * t + 1] = from[kWarpSize + 4 * g + t];
      std::memcpy(place(r, 4 * g), row, sizeof row);
    }
  }
};

template <class T, class Word>
void move(const Fragment& f, const FragmentLines& lines, std::byte* memory, uint64_t step, bool stores, void* registers) {
  const Mover<T, Word> mover{lines, memory, step};
  Word* at = static_cast<Word*>(registers);
  const int different = f.different();
  if (lines.twos) {
    for (int r = 0; r < different; r += 2) stores ? mover.store_two(at + r * kWarpSize, r) : mover.load_two(at + r * kWarpSize, r);
  } else {
    for (int r = 0; r < different; ++r) stores ? mover.store(at + r * kWarpSize, r) : mover.load(at + r * kWarpSize, r);
  }
}

}  // namespace

FragmentMoves find_moves(const Fragment& f, bool stores, int element_bits) {
  FragmentMoves m;
  m.stores = stores;
  m.element_bytes = static_cast<uint64_t>(element_bits / 8);
  m.by_rows = find_lines(f, false, f.different());
  m.by_columns = find_lines(f, true, f.different());
  return m;
}

bool move_matrix(const Insn& i, std::byte* memory, uint64_t room, uint64_t stride, void* registers) {
  const Fragment& f = *i.fragment;
  const uint64_t bytes = f.moves.element_bytes;
  if (!bytes) return false;
  const bool columns = i.mods().a_columns, stores = f.moves.stores;
  const uint64_t count = static_cast<uint64_t>(columns ? f.columns : f.rows), length = static_cast<uint64_t>(columns ? f.rows : f.columns);
  if (stride == kNoStride) stride = length;
  if (stride >> 32 || reinterpret_cast<uintptr_t>(memory) % bytes) return false;
  if ((count - 1) * stride * bytes + length * bytes > room) return false;
  const FragmentLines& lines = columns ? f.moves.by_columns : f.moves.by_rows;
  const uint64_t step = stride * bytes;
  switch (bytes) {
    case 1: move<uint8_t, uint32_t>(f, lines, memory, step, stores, registers); break;
    case 2: move<uint16_t, uint32_t>(f, lines, memory, step, stores, registers); break;
    case 4: move<uint32_t, uint32_t>(f, lines, memory, step, stores, registers); break;
    default: move<uint64_t, uint64_t>(f, lines, memory, step, stores, registers);
  }
  return true;
}

}  // namespace warpbeam::vm
