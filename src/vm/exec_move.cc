// mov in all its shapes, cvta and isspacep.
#include <cstring>

#include "vm/exec_lane.h"
#include "vm/spans.h"

namespace warpbeam::vm {
namespace {

template <class T>
void copy_lanes(Warp& w, const Insn& i, uint32_t mask) {
  T values[kWarpSize];
  std::memcpy(values, w.lanes<T>(i.op[1]), sizeof values);
  store_lanes(w.lanes<T>(i.op[0]), values, mask);
}

void copy_pred(Warp& w, const Insn& i, uint32_t mask) {
  uint32_t& d = w.pred(i.op[0]);
  d = (d & ~mask) | (w.pred(i.op[1]) & mask);
}

// Vectors: part k of a lane's value is the k-th little-endian piece.
template <class Part>
void pack(Warp& w, const Insn& i, uint32_t mask) {
  auto* d = reinterpret_cast<Part*>(w.regs + i.op[0]);
  const int n = i.count;
  // Gather first: a source may be the destination.
  Part parts[kWarpSize * 16 / sizeof(Part)];
  for (int k = 0; k < n; ++k) {
    const Part* s = w.lanes<Part>(i.list[k]);
    for (int l = 0; l < kWarpSize; ++l) parts[l * n + k] = s[l];
  }
  for (int l = 0; l < kWarpSize; ++l)
    if (mask >> l & 1)
      for (int k = 0; k < n; ++k) d[l * n + k] = parts[l * n + k];
}

template <class Part>
void unpack(Warp& w, const Insn& i, uint32_t mask) {
  const int n = i.count;
  Part parts[kWarpSize * 16 / sizeof(Part)];
  std::memcpy(parts, w.regs + i.op[0], sizeof(Part) * kWarpSize * n);
  for (int k = 0; k < n; ++k) {
    Part* d = w.lanes<Part>(i.list[k]);
    for (int l = 0; l < kWarpSize; ++l)
      if (mask >> l & 1) d[l] = parts[l * n + k];
  }
}

// Generic addresses of shared and local memory lie in windows; global, constant and parameter addresses are themselves.
uint64_t window_of(isa::Space space) {
  switch (space) {
    case isa::Space::Shared:
    case isa::Space::SharedCluster: return kSharedWindow;
    case isa::Space::Local: return kLocalWindow;
    default: return 0;
  }
}

template <class T>
void cvta(Warp& w, const Insn& i, uint32_t mask) {
  const uint64_t window = window_of(i.mods().space);
  const T* a = w.lanes<T>(i.op[1]);
  T values[kWarpSize];
  const T add = static_cast<T>(i.mods().to ? 0 - window : window);
  // A null pointer stays null in both directions only for spaces whose window starts at 0; shared offset 0 is valid.
  for (int l = 0; l < kWarpSize; ++l) values[l] = a[l] + add;
  store_lanes(w.lanes<T>(i.op[0]), values, mask);
}

// Of a parameter's address a program may have the lower 32 bits only, which are the whole of it in its space.
void cvta_param(Warp& w, const Insn& i, uint32_t mask) {
  const uint64_t first = w.block->params_address, size = w.block->launch->params.size();
  const uint64_t* a = w.lanes<uint64_t>(i.op[1]);
  uint64_t values[kWarpSize];
  for (int l = 0; l < kWarpSize; ++l) {
    const uint64_t offset = static_cast<uint32_t>(a[l] - first);
    values[l] = a[l] >> 32 == 0 && first && offset < size ? first + offset : a[l];
  }
  store_lanes(w.lanes<uint64_t>(i.op[0]), values, mask);
}

void isspacep(Warp& w, const Insn& i, uint32_t mask) {
  const uint64_t* a = w.lanes<uint64_t>(i.op[1]);
  const isa::Space space = i.mods().space;
  uint32_t bits = 0;
  for (int l = 0; l < kWarpSize; ++l) {
    bool in;
    const uint64_t high = a[l] & ~(kWindowBytes - 1);
    if (space == isa::Space::Global)
      in = high != kSharedWindow && high != kLocalWindow &&
           (!w.block->params_address || a[l] - w.block->params_address >= w.block->launch->params.size());
    else if (space == isa::Space::Const) in = false;
    else if (space == isa::Space::Param || space == isa::Space::ParamEntry)
      in = w.block->params_address && a[l] - w.block->params_address < w.block->launch->params.size();
    else if (space == isa::Space::Shared) in = high == kSharedWindow && a[l] - kSharedWindow < kClusterStride;  // and not another block's
    else in = high == window_of(space);
    bits |= static_cast<uint32_t>(in) << l;
  }
  uint32_t& d = w.pred(i.op[0]);
  d = (d & ~mask) | (bits & mask);
}

}  // namespace

void exec_not_pred(Warp& w, const Insn& i, uint32_t) { w.pred(i.op[0]) = ~w.pred(i.op[1]); }

Handler copy_handler(int bytes) {
  switch (bytes) {
    case 0: return copy_pred;
    case 1: return copy_lanes<uint8_t>;
    case 2: return copy_lanes<uint16_t>;
    case 4: return copy_lanes<uint32_t>;
    case 8: return copy_lanes<uint64_t>;
    case 16: return copy_lanes<isa::Bits128>;
    default: return nullptr;
  }
}

Handler pack_handler(int part_bytes, int count) {
  if (count < 1 || part_bytes * count > 16) return nullptr;
  switch (part_bytes) {
    case 1: return pack<uint8_t>;
    case 2: return pack<uint16_t>;
    case 4: return pack<uint32_t>;
    case 8: return pack<uint64_t>;
    default: return nullptr;
  }
}

Handler unpack_handler(int part_bytes, int count) {
  if (count < 1 || part_bytes * count > 16) return nullptr;
  switch (part_bytes) {
    case 1: return unpack<uint8_t>;
    case 2: return unpack<uint16_t>;
    case 4: return unpack<uint32_t>;
    case 8: return unpack<uint64_t>;
    default: return nullptr;
  }
}

Handler address_handler(const ptx::Instruction& i, int register_bytes) {
  if (i.form.row->opcode == "isspacep") return isspacep;
  const isa::Mods& m = i.form.mods;
  if (register_bytes == 8 && !m.to && (m.space == isa::Space::Param || m.space == isa::Space::ParamEntry)) return cvta_param;
  return register_bytes == 4 ? cvta<uint32_t> : cvta<uint64_t>;
}

}  // namespace warpbeam::vm
