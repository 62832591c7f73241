#include "observe/check/undefined_values.h"

#include <algorithm>

namespace warpbeam::observe::check {
namespace {

using isa::Class;

// Which lane each lane reads from; itself where the shuffle is out of range.
int source_lane(vm::Warp& w, const vm::Insn& i, int l) {
  const auto by = static_cast<int>(w.lanes<uint32_t>(i.op[2])[l] & 31);
  const uint32_t c = w.lanes<uint32_t>(i.op[3])[l];
  const int segment = static_cast<int>(c >> 8 & 31), clamp = static_cast<int>(c & 31);
  const int least = l & segment, most = least | (clamp & ~segment);
  switch (i.mods().shuffle) {
    case isa::Shuffle::Up: return l - by >= most ? l - by : l;
    case isa::Shuffle::Down: return l + by <= most ? l + by : l;
    case isa::Shuffle::Bfly: return (l ^ by) <= most ? l ^ by : l;
    default: {
      const int from = least | (by & ~segment);
      return from <= most ? from : l;
    }
  }
}

bool writes_first(const isa::Row& row) { return row.operands.count > 0 && row.operands.list[0].written; }

}  // namespace

uint32_t UndefinedValues::lanes(const vm::Frame* frame, int32_t slot, Blame* blame) const {
  for (const Doubt& d : all_)
    if (d.slot == slot && d.frame == frame) {
      *blame = d.blame;
      return d.lanes;
    }
  return 0;
}

void UndefinedValues::set(const vm::Frame* frame, int32_t slot, uint32_t mask, uint32_t lanes, Blame blame) {
  if (slot < 0) return;
  for (size_t k = 0; k < all_.size(); ++k) {
    Doubt& d = all_[k];
    if (d.slot != slot || d.frame != frame) continue;
    d.lanes = (d.lanes & ~mask) | (lanes & mask);
    if (lanes & mask) d.blame = blame;
    if (!d.lanes) {
      d = all_.back();
      all_.pop_back();
    }
    return;
  }
  if (lanes & mask) all_.push_back({frame, slot, lanes & mask, blame});
}

void UndefinedValues::shuffled(vm::Warp& w, const vm::Insn& i, uint32_t mask, uint32_t site) {
  if (i.op[0] == i.op[2] || i.op[0] == i.op[3]) return;  // overwritten: nobody knows any more
  uint32_t before = 0, inherited = 0, absent = 0;
  Blame blame{site, false};
  if (!all_.empty()) before = lanes(w.frame, i.op[1], &blame);
  for (uint32_t left = mask; left; left &= left - 1) {
    const int l = __builtin_ctz(left), from = source_lane(w, i, l);
    if (!(mask >> from & 1)) absent |= 1u << l;
    else if (before >> from & 1) inherited |= 1u << l;
  }
  if (!absent && !inherited && all_.empty()) return;
  if (absent) blame.site = site;
  blame.of_sum = inherited || 2 * __builtin_popcount(absent) >= __builtin_popcount(mask);
  set(w.frame, i.op[0], mask, absent | inherited, blame);
}

uint32_t UndefinedValues::executes(vm::Warp& w, const vm::Insn& i, uint32_t mask, Blame* to_blame) {
  const isa::Row& row = *i.source->form.row;
  const vm::Frame* frame = w.frame;
  if (frame->caller) std::erase_if(all_, [&](const Doubt& d) { return d.frame->depth > frame->depth; });
  if (row.op == isa::Opcode::Shfl || !mask) return 0;
  uint32_t doubtful = 0;
  Blame blame;
  auto look = [&](int32_t slot) {
    if (slot < 0) return;
    Blame whom;
    if (const uint32_t d = lanes(frame, slot, &whom) & mask) doubtful |= d, blame = whom;
  };
  if (row.cls == Class::Store || row.cls == Class::Atomic) {
    if (i.mods().space == isa::Space::Param || i.mods().space == isa::Space::ParamFunc || i.mods().space == isa::Space::Local) return 0;
    const bool returns = row.cls == Class::Atomic && row.op == isa::Opcode::Atom;
    for (int k = returns ? 1 : 0; k < 5; ++k) look(i.op[k]);
    if (i.list)
      for (int k = 0; k < i.count; ++k) look(i.list[k]);
    if (returns) set(frame, i.op[0], mask, 0, {});
    *to_blame = blame;
    return doubtful;
  }
  if (row.op == isa::Opcode::Selp && i.op[3] >= 0) {
    const uint32_t chosen = w.pred(i.op[3]);
    Blame whom;
    for (int k = 1; k <= 2; ++k)
      if (const uint32_t d = lanes(frame, i.op[k], &whom) & mask & (k == 1 ? chosen : ~chosen)) doubtful |= d, blame = whom;
    look(i.op[3]);
    set(frame, i.op[0], mask, doubtful, blame);
    return 0;
  }
  if (!writes_first(row)) return 0;
  for (int k = 1; k < 5; ++k) look(i.op[k]);
  if (i.list && row.cls == Class::Load) {
    for (int k = 0; k < i.count; ++k) set(frame, i.list[k], mask, 0, {});
    return 0;
  }
  set(frame, i.op[0], mask, doubtful, blame);
  set(frame, i.op[5], mask, doubtful, blame);
  return 0;
}

}  // namespace warpbeam::observe::check
