#include "vm/observer.h"

#include "vm/access.h"

namespace warpbeam::vm {
namespace {

using isa::Space;

// `all`: the lanes that `a` has addresses of.
void report(Warp& w, const Insn& i, Access& access, uint32_t all, uint32_t mask, Space space, uint64_t window, const Addresses& a) {
  access.space = space;
  access.mask = mask;
  for (int l = 0; l < kWarpSize; ++l) access.address[l] = a.at[l] - window;
  if (mask != all) {  // lanes outside of `all` repeat one inside already
    const uint64_t any = access.address[static_cast<size_t>(__builtin_ctz(mask))];
    for (int l = 0; l < kWarpSize; ++l) access.address[l] = (mask >> l & 1) ? access.address[l] : any;
  }
  w.block->observer->access(w, i, access);
}

// A generic address says by its window which space it belongs to.
void report_generic(Warp& w, const Insn& i, Access& access, uint32_t mask, const Addresses& a) {
  access.generic = true;
  uint32_t in_shared = 0, in_local = 0;
  for (int l = 0; l < kWarpSize; ++l) {
    const uint64_t high = a.at[l] & ~(kWindowBytes - 1);
    in_shared |= static_cast<uint32_t>(high == kSharedWindow) << l;
    in_local |= static_cast<uint32_t>(high == kLocalWindow) << l;
  }
  if (uint32_t m = mask & in_shared) report(w, i, access, mask, m, Space::Shared, kSharedWindow, a);
  if (uint32_t m = mask & in_local) report(w, i, access, mask, m, Space::Local, kLocalWindow, a);
  if (uint32_t m = mask & ~in_shared & ~in_local) report(w, i, access, mask, m, Space::Global, 0, a);
}

// The shared side is written only once the global one has been read, so it is reported second.
void report_copy(Warp& w, const Insn& i, Access& access, uint32_t mask) {
  Addresses to, from;
  lane_addresses(w, i.op[0], i.base_width, i.imm, mask, to, Space::Shared);
  lane_addresses(w, i.op[1], i.width, i.imm2, mask, from);
  access.async = true;
  access.bytes = *w.lanes<uint32_t>(i.op[2]);
  access.kind = AccessKind::Read;
  if (i.op[3] >= 0) {
    // Lanes that copy fewer bytes fill up with zeros; they are reported by how much they read.
    const uint32_t* sizes = w.lanes<uint32_t>(i.op[3]);
    const uint32_t whole = access.bytes;
    for (uint32_t left = mask; left;) {
      const uint32_t size = sizes[__builtin_ctz(left)];
      uint32_t same = 0;
      for (int l = 0; l < kWarpSize; ++l) same |= static_cast<uint32_t>((left >> l & 1) && sizes[l] == size) << l;
      left &= ~same;
      access.bytes = size < whole ? size : whole;
      if (access.bytes) report(w, i, access, mask, same, Space::Global, 0, from);
    }
    access.bytes = whole;
  } else {
    report(w, i, access, mask, mask, Space::Global, 0, from);
  }
  access.kind = AccessKind::Write;
  report(w, i, access, mask, mask, Space::Shared, 0, to);
}

}  // namespace

Access describe_access(const Insn& i) {
  const isa::Row& row = *i.source->form.row;
  Access access;
  access.elements = i.count;
  access.bytes = static_cast<uint32_t>(isa::bytes_of(i.type())) * i.count;
  access.kind = row.cls == isa::Class::Atomic ? AccessKind::Atomic : row.cls == isa::Class::Store ? AccessKind::Write : AccessKind::Read;
  if (access.kind == AccessKind::Atomic) access.returns = row.opcode == "atom" && !i.drops_result;
  switch (i.mods().space) {
    case Space::Shared:
    case Space::SharedCluster: access.space = Space::Shared; break;
    case Space::Local:
    case Space::Global:
    case Space::Const: access.space = i.mods().space; break;
    default:
      access.space = Space::Global;
      access.generic = true;
      break;
  }
  return access;
}

NamedMembers named_members(Warp& w, const Insn& i) {
  const isa::OperandSpecs& operands = i.source->form.row->operands;
  const int last = operands.count - 1;
  const bool names_members = last >= 0 && last < 5 && i.op[last] >= 0 && operands.list[last].fixed == isa::Type::U32;
  NamedMembers members;
  if (names_members) std::copy_n(w.lanes<uint32_t>(i.op[last]), kWarpSize, members.begin());
  else members.fill(~0u);
  return members;
}

void report_meeting(Warp& w, const Insn& i, uint32_t mask) { report_meeting(w, i, mask, named_members(w, i)); }

void report_meeting(Warp& w, const Insn& i, uint32_t mask, const NamedMembers& members) {
  for (uint32_t left = mask; left;) {
    const uint32_t named = members[static_cast<size_t>(__builtin_ctz(left))];
    uint32_t same = 0;
    for (size_t l = 0; l < kWarpSize; ++l) same |= static_cast<uint32_t>((left >> l & 1) && members[l] == named) << l;
    w.block->observer->warp_sync(w, i, named, same);
    left &= ~same;
  }
}

void report_accesses(Warp& w, const Insn& i, uint32_t mask) {
  const isa::Row& row = *i.source->form.row;
  const isa::Mods& mods = i.mods();
  if (row.kind == isa::Kind::Async) {
    Access access;
    return report_copy(w, i, access, mask);
  }
  if (row.kind != isa::Kind::Memory && row.kind != isa::Kind::Atomic) return;  // its handler reports by itself
  Access access = describe_access(i);
  access.generic = false;
  Addresses a;
  lane_addresses(w, i.op[1], i.base_width, i.imm, mask, a, mods.space);
  switch (mods.space) {
    case Space::Shared:
    case Space::SharedCluster: return report(w, i, access, mask, mask, Space::Shared, 0, a);
    case Space::Local: return report(w, i, access, mask, mask, Space::Local, 0, a);
    case Space::Global: return report(w, i, access, mask, mask, Space::Global, 0, a);
    case Space::Const: return report(w, i, access, mask, mask, Space::Const, 0, a);
    case Space::Param:
    case Space::ParamEntry:
    case Space::ParamFunc: {
      if (i.op[1] < 0) return report(w, i, access, mask, mask, Space::ParamEntry, 0, a);
      const bool of_call =
          !w.frame->function->source->entry || i.source->operands[row.cls == isa::Class::Store ? 0 : 1].kind == ptx::OperandKind::Symbol;
      if (of_call) return report(w, i, access, mask, mask, Space::ParamFunc, 0, a);
      if (i.base_width == 4)  // the lower half of an address
        for (uint64_t& at : a.at) at = w.block->params_address + static_cast<uint64_t>(static_cast<int32_t>(at - w.block->params_address));
      return report_generic(w, i, access, mask, a);
    }
    default: return report_generic(w, i, access, mask, a);
  }
}

}  // namespace warpbeam::vm
