// Read from what ptxas 13 makes of every shape, type, layout and state space for sm_80 and sm_90, which agree:
//
// * What fills registers side by side and lies side by side is one access, of up to 16 bytes: a pair of f32, s32 or f64.
// * 16-bit elements move in tiles of 8 rows of 16 bytes, 4 bytes for each lane; a tile that is needed transposed is read as
//   it lies and turned in registers.
// * 8-bit elements move 4 at once where they lie side by side, else one by one.
// * Tiles of a and b in shared memory are read by LDSM, up to four at once (of shorter elements two): lane 8t + r names row r of
//   tile t.
// * f16 operands hold elements twice; they are read once.
#include "observe/profiler/fragments.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "vm/matrix_plan.h"

namespace warpbeam::observe {
namespace {

using vm::Access;
using Elements = std::vector<Access>;

constexpr uint64_t kRow = 16;  // bytes of a tile's row
constexpr size_t kRows = 8;

bool lies_behind(const Access& a, const Access& b) {
  for (size_t l = 0; l < 32; ++l)
    if (b.address[l] != a.address[l] + a.bytes) return false;
  return true;
}

// Joins `count` neighbours wherever they lie side by side.
Elements joined(const Elements& elements, size_t count) {
  Elements out;
  for (size_t k = 0; k < elements.size(); k += count) {
    const size_t end = std::min(k + count, elements.size());
    bool together = end == k + count;
    for (size_t e = k + 1; e < end; ++e) together = together && lies_behind(elements[e - 1], elements[e]);
    out.insert(out.end(), elements.begin() + static_cast<long>(k), elements.begin() + static_cast<long>(together ? k + 1 : end));
    if (together) out.back().bytes *= static_cast<uint32_t>(count);
  }
  return out;
}

// The words of a tile of 16-bit elements, in the order of their places; empty: it does not consist of words.
Elements tile_of(const Access& low, const Access& high) {
  std::array<uint64_t, 64> places;
  std::copy(low.address.begin(), low.address.end(), places.begin());
  std::copy(high.address.begin(), high.address.end(), places.begin() + 32);
  std::sort(places.begin(), places.end());
  Access words = low;
  words.bytes = 4;
  for (size_t l = 0; l < 32; ++l) {
    if (places[2 * l] % 4 || places[2 * l + 1] != places[2 * l] + 2) return {};
    words.address[l] = places[2 * l];
  }
  return {words};
}

// One access that names the rows of up to `most` tiles. Empty: they are not rows of 16 bytes.
Elements rows_of(const Elements& tiles, size_t most) {
  Elements out;
  for (size_t first = 0; first < tiles.size(); first += most) {
    const size_t count = std::min(most, tiles.size() - first);
    Access rows = tiles[first];
    rows.bytes = kRow;
    rows.mask = static_cast<uint32_t>((uint64_t(1) << (kRows * count)) - 1);
    for (size_t l = 0; l < 32; ++l) {
      const Access& tile = tiles[first + l / kRows % count];
      const uint64_t row = tile.address[l % kRows * 4];
      for (uint64_t word = 0; word < 4; ++word)
        if (tile.address[l % kRows * 4 + word] != row + 4 * word) return {};
      if (row % kRow) return {};
      rows.address[l] = l < kRows * count ? row : rows.address[0];
    }
    out.push_back(rows);
  }
  return out;
}

Elements made_of(Elements elements, const vm::Fragment& fragment, bool in_tiles) {
  const size_t size = elements[0].bytes;
  if (size == 2) elements.resize(std::min(elements.size(), static_cast<size_t>(fragment.rows * fragment.columns / 32)));
  Elements out;
  if (size == 2) {
    for (size_t k = 0; k + 1 < elements.size(); k += 2) {
      const Elements tile = tile_of(elements[k], elements[k + 1]);
      if (tile.empty()) return elements;
      out.push_back(tile[0]);
    }
  } else {
    out = joined(elements, size == 1 ? 4 : 2);
  }
  if (!in_tiles || elements[0].space != isa::Space::Shared || out[0].bytes != 4) return out;
  const Elements rows = rows_of(out, size == 2 ? 4 : 2);
  return rows.empty() ? out : rows;
}

}  // namespace

bool FragmentAccesses::by_tiles(const vm::Insn& insn) {
  const std::string_view syntax = insn.source->form.row->syntax;
  return (syntax.starts_with("wmma.load.a") || syntax.starts_with("wmma.load.b")) && isa::bits_of(insn.type()) <= 16;
}

bool loads_tiles(const vm::Insn& insn) {
  return (insn.source && insn.source->form.row && insn.source->form.row->op == isa::Opcode::Ldmatrix) ||
         (FragmentAccesses::concerns(insn) && FragmentAccesses::by_tiles(insn));
}

const std::vector<Access>& FragmentAccesses::take(const vm::Insn& insn, const Access& element) {
  made_.clear();
  if (insn_ != &insn) elements_.clear();
  insn_ = &insn;
  elements_.push_back(element);
  if (elements_.size() * element.bytes * 8 < static_cast<size_t>(insn.fragment->per_lane * insn.fragment->bits)) return made_;
  made_ = made_of(std::move(elements_), *insn.fragment, by_tiles(insn));
  elements_.clear();
  return made_;
}

}  // namespace warpbeam::observe
