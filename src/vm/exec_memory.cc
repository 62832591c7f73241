// ld, st, prefetch, cp.async. The fast paths are whole-warp vector copies of contiguous global or shared data.
#include <atomic>
#include <cstring>

#include "vm/access.h"
#include "vm/decoder.h"
#include "vm/exec_lane.h"

namespace warpbeam::vm {
namespace {

using isa::Space;
using isa::Type;

constexpr int kMostElements = 8;  // of a vector

// In-register form of a loaded value: Memory type M widened to register type R (sign-extended when M is signed).
template <class M, class R>
inline R widen(M v) {
  if constexpr (sizeof(M) == 16) return v;
  else return static_cast<R>(v);
}

inline bool contiguous(const Addresses& a, uint64_t step) {
  uint64_t bad = 0;
  for (int l = 0; l < kWarpSize; ++l) bad |= a.at[l] ^ (a.at[0] + step * static_cast<uint64_t>(l));
  return bad == 0;
}
inline bool same(const Addresses& a) {
  uint64_t bad = 0;
  for (int l = 1; l < kWarpSize; ++l) bad |= a.at[l] ^ a.at[0];
  return bad == 0;
}

// Vectors come and go in one piece, as on GPUs: scans that look back have a sum and whether it is complete side by side.
// Aligned pieces of up to 16 bytes are whole for other threads on all processors with AVX.
WB_RACY void copy_piece(void* to, const void* from, size_t bytes) {
  typedef uint32_t Four __attribute__((vector_size(16)));
  switch (bytes) {
    case 2: *static_cast<volatile uint16_t*>(to) = *static_cast<const volatile uint16_t*>(from); break;
    case 4: *static_cast<volatile uint32_t*>(to) = *static_cast<const volatile uint32_t*>(from); break;
    case 8: *static_cast<volatile uint64_t*>(to) = *static_cast<const volatile uint64_t*>(from); break;
    case 16: *static_cast<volatile Four*>(to) = *static_cast<const volatile Four*>(from); break;
    default: std::memcpy(to, from, bytes);
  }
}

// Volatile and ordered accesses are single aligned accesses per lane already; what they need is that the compiler of this
// file neither merges nor drops them, which the separate calls of handlers ensure, and x86's strong ordering does the rest.
template <class M, class R>
WB_RACY void load_from(Warp& w, const Insn& i, uint32_t mask, std::byte* (&p)[kWarpSize]) {
  if (!i.list) {
    R* d = w.lanes<R>(i.op[0]);
    for (int l = 0; l < kWarpSize; ++l)
      if (mask >> l & 1) d[l] = widen<M, R>(*reinterpret_cast<const volatile M*>(p[l]));
    return;
  }
  const int n = i.count;
  // All elements are read before any register is written: the base may be among the destinations.
  for (int l = 0; l < kWarpSize; ++l) {
    if (!(mask >> l & 1)) continue;
    alignas(16) M s[kMostElements];
    copy_piece(s, p[l], sizeof(M) * static_cast<size_t>(n));
    for (int k = 0; k < n; ++k) w.lanes<R>(i.list[k])[l] = widen<M, R>(s[k]);
  }
}
template <class M, class R>
  requires(sizeof(M) == 16)
WB_RACY void load_from(Warp& w, const Insn& i, uint32_t mask, std::byte* (&p)[kWarpSize]) {
  for (int l = 0; l < kWarpSize; ++l)
    if (mask >> l & 1) copy_piece(&w.lanes<R>(i.op[0])[l], p[l], 16);
}

template <class M, class R>
WB_RACY void store_to(Warp& w, const Insn& i, uint32_t mask, std::byte* (&p)[kWarpSize]) {
  const int n = i.list ? i.count : 1;
  for (int l = 0; l < kWarpSize; ++l) {
    if (!(mask >> l & 1)) continue;
    alignas(16) M v[kMostElements];
    for (int k = 0; k < n; ++k) std::memcpy(&v[k], &w.lanes<R>(i.list ? i.list[k] : i.op[0])[l], sizeof(M));
    copy_piece(p[l], v, sizeof(M) * static_cast<size_t>(n));
  }
}

// One place in the local memory of all lanes, as parameters and results of calls are: the first lane's, from which the others' are as far
// apart as each is from the next. Null: they are several, or it is not there. `address`: which operand says where.
template <class M>
std::byte* local_place(Warp& w, const Insn& i, size_t address) {
  uint64_t offset = static_cast<uint64_t>(i.imm), other = i.list || sizeof(M) == 16 ? 1 : 0;
  if (i.op[1] >= 0 && i.base_width == 8) {
    const uint64_t* base = w.lanes<uint64_t>(i.op[1]);
    // A variable is at one place. Else as the host's library compares, which uses its widest vectors.
    if (i.source->operands[address].kind != ptx::OperandKind::Symbol)
      other |= static_cast<uint64_t>(std::memcmp(base, base + 1, (kWarpSize - 1) * sizeof *base) != 0);
    offset = static_cast<uint32_t>(base[0] + offset);
  } else if (i.op[1] >= 0) {
    return nullptr;
  }
  return !other && offset <= w.local_limit && sizeof(M) <= w.local_limit - offset && offset % sizeof(M) == 0 ? w.local(0) + offset
                                                                                                             : nullptr;
}

template <class M, class R, Space space>
WB_RACY void load(Warp& w, const Insn& i, uint32_t mask) {
  if constexpr (space == Space::Global || space == Space::Generic) {
    if (w.give_way_to_load(i)) return;
    w.read_global = true;
  }
  if constexpr (space == Space::Local)
    if (const std::byte* place = local_place<M>(w, i, 1)) {
      R values[kWarpSize];
      const size_t stride = w.local_stride;
      for (size_t l = 0; l < kWarpSize; ++l) values[l] = widen<M, R>(*reinterpret_cast<const M*>(place + l * stride));
      return store_lanes(w.lanes<R>(i.op[0]), values, mask);
    }
  Addresses a;
  lane_addresses(w, i.op[1], i.base_width, i.imm, mask, a, space);
  const uint32_t bytes = sizeof(M) * i.count;
  constexpr bool global = space == Space::Global || space == Space::Generic;
  if constexpr (global || space == Space::Shared) {
    if (space != Space::Generic || !in_windows(a)) {
      const std::byte* base;
      if constexpr (global) {
        check_global(w, i, mask, a, bytes, AccessKind::Read);
        base = nullptr;
      } else {
        check_shared(w, i, mask, a, bytes, AccessKind::Read);
        base = w.block->shared.data();
        w.read_shared = true;
      }
      if (!i.list && sizeof(M) < 16) {
        R values[kWarpSize];
        const auto* first = reinterpret_cast<const M*>(reinterpret_cast<uint64_t>(base) + a.at[0]);
        if (mask == ~0u && contiguous(a, sizeof(M))) {
          for (int l = 0; l < kWarpSize; ++l) values[l] = widen<M, R>(first[l]);
        } else if (same(a)) {
          const R v = widen<M, R>(*first);
          for (int l = 0; l < kWarpSize; ++l) values[l] = v;
        } else {
          for (int l = 0; l < kWarpSize; ++l)
            values[l] = widen<M, R>(*reinterpret_cast<const M*>(reinterpret_cast<uint64_t>(base) + a.at[l]));
        }
        store_lanes(w.lanes<R>(i.op[0]), values, mask);
        return;
      }
      std::byte* p[kWarpSize];
      for (int l = 0; l < kWarpSize; ++l) p[l] = reinterpret_cast<std::byte*>(reinterpret_cast<uint64_t>(base) + a.at[l]);
      load_from<M, R>(w, i, mask, p);
      return;
    }
  }
  std::byte* p[kWarpSize];
  resolve(w, i, mask, space, a, bytes, AccessKind::Read, p);
  load_from<M, R>(w, i, mask, p);
}

template <class M, class R, Space space>
WB_RACY void store(Warp& w, const Insn& i, uint32_t mask) {
  if constexpr (space == Space::Shared || space == Space::Global || space == Space::Generic) {
    if (w.give_way_to_store(i, mask, space == Space::Shared)) return;
    if constexpr (space != Space::Shared) w.changed_global = true;
  }
  ++w.block->progress;
  if constexpr (space == Space::Local)
    if (std::byte* place = local_place<M>(w, i, 0)) {
      const R* from = w.lanes<R>(i.op[0]);
      const size_t stride = w.local_stride;
      if (mask == ~0u) {
        for (size_t l = 0; l < kWarpSize; ++l) *reinterpret_cast<M*>(place + l * stride) = static_cast<M>(from[l]);
        return;
      }
      for (uint32_t left = mask; left; left &= left - 1) {
        const size_t l = static_cast<size_t>(__builtin_ctz(left));
        *reinterpret_cast<M*>(place + l * stride) = static_cast<M>(from[l]);
      }
      return;
    }
  Addresses a;
  lane_addresses(w, i.op[1], i.base_width, i.imm, mask, a, space);
  const uint32_t bytes = sizeof(M) * i.count;
  constexpr bool global = space == Space::Global || space == Space::Generic;
  if constexpr ((global || space == Space::Shared) && sizeof(M) < 16) {
    if (!i.list && (space != Space::Generic || !in_windows(a))) {
      std::byte* base = nullptr;
      if constexpr (global) {
        check_global(w, i, mask, a, bytes, AccessKind::Write);
      } else {
        check_shared(w, i, mask, a, bytes, AccessKind::Write);
        base = w.block->shared.data();
      }
      const R* s = w.lanes<R>(i.op[0]);
      if (mask == ~0u && contiguous(a, sizeof(M))) {
        M* d = reinterpret_cast<M*>(reinterpret_cast<uint64_t>(base) + a.at[0]);
        for (int l = 0; l < kWarpSize; ++l) d[l] = static_cast<M>(s[l]);
      } else {
        // In lane order: when lanes write one address, the last lane's value stays.
        for (int l = 0; l < kWarpSize; ++l)
          if (mask >> l & 1) *reinterpret_cast<M*>(reinterpret_cast<uint64_t>(base) + a.at[l]) = static_cast<M>(s[l]);
      }
      return;
    }
  }
  std::byte* p[kWarpSize];
  resolve(w, i, mask, space, a, bytes, AccessKind::Write, p);
  store_to<M, R>(w, i, mask, p);
}

// Parameters of the kernel: the same for every lane.
template <class M, class R>
void load_param(Warp& w, const Insn& i, uint32_t mask) {
  const auto& params = w.block->launch->params;
  const int n = i.list ? i.count : 1;
  if (i.imm < 0 || static_cast<uint64_t>(i.imm) + sizeof(M) * n > params.size())
    w.trap(TrapKind::IllegalAddress, i, __builtin_ctz(mask), "read past the kernel's parameters", static_cast<uint64_t>(i.imm));
  for (int k = 0; k < n; ++k) {
    M v;
    std::memcpy(&v, params.data() + i.imm + sizeof(M) * k, sizeof(M));
    R values[kWarpSize];
    for (int l = 0; l < kWarpSize; ++l) values[l] = widen<M, R>(v);
    store_lanes(w.lanes<R>(i.list ? i.list[k] : i.op[0]), values, mask);
  }
}

// At a place that a register of 32 bits holds, as `selp` of two parameters gives: such an address is the lower half of theirs.
template <class M, class R>
void load_param_at(Warp& w, const Insn& i, uint32_t mask) {
  const auto& params = w.block->launch->params;
  const uint32_t first = static_cast<uint32_t>(w.block->params_address);
  const size_t n = i.list ? i.count : 1;
  Addresses a;
  lane_addresses(w, i.op[1], i.base_width, i.imm, mask, a);
  for (uint32_t m = mask; m; m &= m - 1) {
    const int l = __builtin_ctz(m);
    a.at[l] = static_cast<uint32_t>(a.at[l]) - first;
    if (a.at[l] + sizeof(M) * n > params.size()) w.trap(TrapKind::IllegalAddress, i, l, "read past the kernel's parameters", a.at[l]);
    if (a.at[l] % (sizeof(M) * n)) w.trap(TrapKind::MisalignedAddress, i, l, "read of the kernel's parameters", a.at[l]);
  }
  for (size_t k = 0; k < n; ++k)
    for (uint32_t m = mask; m; m &= m - 1) {
      const int l = __builtin_ctz(m);
      M v;
      std::memcpy(&v, params.data() + a.at[l] + sizeof(M) * k, sizeof(M));
      w.lanes<R>(i.list ? i.list[k] : i.op[0])[l] = widen<M, R>(v);
    }
}

enum class What { Load, Store, Param, ParamAt };

template <class M, class R>
Handler for_space(What what, Space space) {
  if (what == What::Param) return load_param<M, R>;
  if (what == What::ParamAt) return load_param_at<M, R>;
  const bool is_load = what == What::Load;
  switch (space) {
    case Space::Global:
    case Space::Const: return is_load ? load<M, R, Space::Global> : store<M, R, Space::Global>;
    case Space::Shared: return is_load ? load<M, R, Space::Shared> : store<M, R, Space::Shared>;
    case Space::SharedCluster: return is_load ? load<M, R, Space::SharedCluster> : store<M, R, Space::SharedCluster>;
    case Space::Local: return is_load ? load<M, R, Space::Local> : store<M, R, Space::Local>;
    default: return is_load ? load<M, R, Space::Generic> : store<M, R, Space::Generic>;
  }
}

template <class M>
Handler for_register(What what, Space space, int register_bytes) {
  using Wide2 = std::conditional_t<std::is_signed_v<M>, int16_t, uint16_t>;
  using Wide4 = std::conditional_t<std::is_signed_v<M>, int32_t, uint32_t>;
  using Wide8 = std::conditional_t<std::is_signed_v<M>, int64_t, uint64_t>;
  if (register_bytes == sizeof(M)) return for_space<M, M>(what, space);
  if constexpr (sizeof(M) < 2)
    if (register_bytes == 2) return for_space<M, Wide2>(what, space);
  if constexpr (sizeof(M) < 4)
    if (register_bytes == 4) return for_space<M, Wide4>(what, space);
  if constexpr (sizeof(M) < 8)
    if (register_bytes == 8) return for_space<M, Wide8>(what, space);
  return nullptr;
}

Handler for_type(What what, Type t, Space space, int register_bytes) {
  const bool is_signed = isa::is_signed(t) && what != What::Store;
  switch (isa::bytes_of(t)) {
    case 1: return is_signed ? for_register<int8_t>(what, space, register_bytes) : for_register<uint8_t>(what, space, register_bytes);
    case 2: return is_signed ? for_register<int16_t>(what, space, register_bytes) : for_register<uint16_t>(what, space, register_bytes);
    case 4: return is_signed ? for_register<int32_t>(what, space, register_bytes) : for_register<uint32_t>(what, space, register_bytes);
    case 8: return for_register<uint64_t>(what, space, register_bytes);
    case 16: return register_bytes == 16 ? for_space<isa::Bits128, isa::Bits128>(what, space) : nullptr;
    default: return nullptr;
  }
}

void no_effect(Warp&, const Insn&, uint32_t) {}

// Copies happen at once: a program that waits for its groups as it must cannot tell.
WB_RACY void copy_async(Warp& w, const Insn& i, uint32_t mask) {
  Addresses to, from;
  lane_addresses(w, i.op[0], i.base_width, i.imm, mask, to, Space::Shared);
  lane_addresses(w, i.op[1], i.width, i.imm2, mask, from);
  const uint32_t bytes = *w.lanes<uint32_t>(i.op[2]);
  if (bytes != 4 && bytes != 8 && bytes != 16)
    w.trap(TrapKind::IllegalInstruction, i, __builtin_ctz(mask), "cp.async copies 4, 8 or 16 bytes");
  std::byte *d[kWarpSize], *s[kWarpSize];
  resolve(w, i, mask, Space::Shared, to, bytes, AccessKind::Write, d);
  uint32_t reading = mask;
  const uint32_t* sizes = i.op[3] >= 0 ? w.lanes<uint32_t>(i.op[3]) : nullptr;
  if (sizes)
    for (int l = 0; l < kWarpSize; ++l)
      if (sizes[l] == 0) reading &= ~(1u << l);
  if (i.op[4] >= 0) reading &= ~w.pred(i.op[4]);
  if (reading) {
    Addresses used = from;
    for (int l = 0; l < kWarpSize; ++l)
      if (!(reading >> l & 1)) used.at[l] = from.at[__builtin_ctz(reading)];
    resolve(w, i, reading, Space::Global, used, bytes, AccessKind::Read, s);
  }
  for (int l = 0; l < kWarpSize; ++l) {
    if (!(mask >> l & 1)) continue;
    const uint32_t n = (reading >> l & 1) ? (sizes && sizes[l] < bytes ? sizes[l] : bytes) : 0;
    std::byte copy[16] = {};
    if (n) std::memcpy(copy, s[l], n);
    std::memcpy(d[l], copy, bytes);
  }
}

}  // namespace

Handler memory_handler(const ptx::Instruction& i, int register_bytes, ParamPlace param) {
  const isa::Row& row = *i.form.row;
  if (row.cls == isa::Class::Misc) return no_effect;  // prefetch, discard …
  Space space = param == ParamPlace::Local ? Space::Local : i.form.mods.space;
  if (row.opcode == "ldu" || i.form.mods.nc) space = i.form.mods.space;
  const bool entry = param == ParamPlace::Named || param == ParamPlace::Computed;
  if (entry && row.cls == isa::Class::Store) return nullptr;  // a kernel's parameters are read-only
  const What what = param == ParamPlace::Named      ? What::Param
                    : param == ParamPlace::Computed ? What::ParamAt
                    : row.cls == isa::Class::Load   ? What::Load
                                                    : What::Store;
  return for_type(what, i.form.type, space, register_bytes);
}

Handler async_handler(const ptx::Instruction&) { return copy_async; }

}  // namespace warpbeam::vm
