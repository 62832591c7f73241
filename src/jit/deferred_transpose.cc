#include "jit/deferred_transpose.h"

#include <immintrin.h>

#include <cstring>

namespace warpbeam::jit {
namespace {

using isa::Kind;

// Sixteen rows of sixteen words become columns.
__attribute__((target("avx512f"))) void turn(const uint32_t (*rows)[32], int from, uint64_t to, uint64_t slope) {
  __m512i a[16], b[16];
  for (int r = 0; r < 16; ++r) a[r] = _mm512_loadu_si512(rows[r] + from);
  for (int r = 0; r < 16; r += 2) {
    b[r] = _mm512_unpacklo_epi32(a[r], a[r + 1]);
    b[r + 1] = _mm512_unpackhi_epi32(a[r], a[r + 1]);
  }
  for (int r = 0; r < 16; r += 4)
    for (int k = 0; k < 2; ++k) {
      a[r + 2 * k] = _mm512_unpacklo_epi64(b[r + k], b[r + k + 2]);
      a[r + 2 * k + 1] = _mm512_unpackhi_epi64(b[r + k], b[r + k + 2]);
    }
  // a[4 * g + c] has, in each quarter q, column 4 * q + c of the rows 4 * g on.
  for (int c = 0; c < 4; ++c) {
    const __m512i low = _mm512_shuffle_i32x4(a[c], a[4 + c], 0x44), high = _mm512_shuffle_i32x4(a[8 + c], a[12 + c], 0x44);
    const __m512i low2 = _mm512_shuffle_i32x4(a[c], a[4 + c], 0xee), high2 = _mm512_shuffle_i32x4(a[8 + c], a[12 + c], 0xee);
    const __m512i out[4] = {_mm512_shuffle_i32x4(low, high, 0x88), _mm512_shuffle_i32x4(low, high, 0xdd),
                            _mm512_shuffle_i32x4(low2, high2, 0x88), _mm512_shuffle_i32x4(low2, high2, 0xdd)};
    for (uint64_t q = 0; q < 4; ++q) _mm512_storeu_si512(reinterpret_cast<void*>(to + (4 * q + static_cast<uint64_t>(c)) * slope), out[q]);
  }
}

// Eight rows of eight pairs of words, likewise.
__attribute__((target("avx512f"))) void turn(const uint64_t (*rows)[32], int from, uint64_t to, uint64_t slope) {
  __m512i a[8], b[8];
  for (int r = 0; r < 8; ++r) a[r] = _mm512_loadu_si512(rows[r] + from);
  for (int r = 0; r < 8; r += 2) {
    b[r] = _mm512_unpacklo_epi64(a[r], a[r + 1]);
    b[r + 1] = _mm512_unpackhi_epi64(a[r], a[r + 1]);
  }
  // b[2 * g + c] has, in each quarter q, column 2 * q + c of the rows 2 * g and 2 * g + 1.
  for (int c = 0; c < 2; ++c) {
    const __m512i low = _mm512_shuffle_i32x4(b[c], b[2 + c], 0x44), high = _mm512_shuffle_i32x4(b[4 + c], b[6 + c], 0x44);
    const __m512i low2 = _mm512_shuffle_i32x4(b[c], b[2 + c], 0xee), high2 = _mm512_shuffle_i32x4(b[4 + c], b[6 + c], 0xee);
    const __m512i out[4] = {_mm512_shuffle_i32x4(low, high, 0x88), _mm512_shuffle_i32x4(low, high, 0xdd),
                            _mm512_shuffle_i32x4(low2, high2, 0x88), _mm512_shuffle_i32x4(low2, high2, 0xdd)};
    for (uint64_t q = 0; q < 4; ++q) _mm512_storeu_si512(reinterpret_cast<void*>(to + (2 * q + static_cast<uint64_t>(c)) * slope), out[q]);
  }
}

template <class Element>
void write(Rows& r) {
  constexpr uint64_t kLine = 64 / sizeof(Element);  // elements, and rows that fill one
  const auto* rows = reinterpret_cast<const Element(*)[32]>(r.data);
  if (r.count == kLine && __builtin_cpu_supports("avx512f")) {
    for (uint64_t l = 0; l < 32; l += kLine) turn(rows, static_cast<int>(l), r.first + l * r.slope, r.slope);
    return;
  }
  for (uint64_t l = 0; l < 32; ++l)
    for (uint64_t k = 0; k < r.count; ++k)
      std::memcpy(reinterpret_cast<void*>(r.first + l * r.slope + sizeof(Element) * k), &rows[k][l], sizeof(Element));
}

// Nothing but arithmetic, ways, and plain loads and stores.
bool is_plain(const vm::Insn& i) {
  const isa::Effects e = i.effects();
  if (e.reads || e.writes) return is_weak_access(i);
  return !e.orders && !e.meets && !e.waits && !e.traps && i.step != vm::Step::BranchTable;
}

}  // namespace

const vm::Insn* find_late_store(const Flow& flow, const Shapes& shapes, const std::vector<char>& slopes) {
  const auto& insns = flow.code->insns;
  const vm::Insn* found = nullptr;
  uint32_t node = 0;
  for (uint32_t n = 0; n < flow.nodes.size(); ++n)
    for (uint32_t k = flow.nodes[n].begin; k < flow.nodes[n].end; ++k) {
      const vm::Insn& i = insns[k];
      if (!is_plain(i)) return nullptr;
      if (!i.row() || i.row()->kind != Kind::Memory || i.row()->cls != isa::Class::Store) continue;
      const isa::Space space = i.mods().space;
      const Source at = i.op[1] < 0 ? Source{} : flow.source(i.op[1], i.base_width);
      const bool suits = !found && i.guard < 0 && !i.list && (isa::bytes_of(i.type()) == 4 || isa::bytes_of(i.type()) == 8) &&
                         i.base_width == 8 && (space == isa::Space::Global || space == isa::Space::Generic) &&
                         at.kind == SourceKind::Variable && shapes.variables[at.variable].runs == 0 && slopes[at.variable];
      if (!suits) return nullptr;
      found = &i;
      node = n;
    }
  if (!found) return nullptr;
  // No access of its thread comes after it, itself included.
  std::vector<char> seen(flow.nodes.size());
  std::vector<uint32_t> work = flow.nodes[node].next;
  const auto accesses = [&](uint32_t from, uint32_t to) {
    for (uint32_t k = from; k < to; ++k)
      if (const vm::Insn& i = insns[k]; !i.silent() && i.source && i.source->form.row && i.source->form.row->kind == Kind::Memory)
        return true;
    return false;
  };
  if (accesses(static_cast<uint32_t>(found - insns.data()) + 1, flow.nodes[node].end)) return nullptr;
  while (!work.empty()) {
    const uint32_t n = work.back();
    work.pop_back();
    if (seen[n]) continue;
    seen[n] = 1;
    if (n == node || accesses(flow.nodes[n].begin, flow.nodes[n].end)) return nullptr;
    work.insert(work.end(), flow.nodes[n].next.begin(), flow.nodes[n].next.end());
  }
  return found;
}

extern "C" void wb_write_rows(Rows* r) {
  r->bytes == 4 ? write<uint32_t>(*r) : write<uint64_t>(*r);
  r->count = 0;
}

}  // namespace warpbeam::jit
