// atom and red. Global memory is shared by the blocks that run on other host threads, so every operation is an atomic one
// of the host; shared memory belongs to one host thread, but the same code serves.
#include <atomic>
#include <cstring>

#include "isa/arith/half.h"
#include "isa/arith/round.h"
#include "vm/access.h"
#include "vm/exec_lane.h"

namespace warpbeam::vm {
namespace {

using isa::Op;
using isa::Type;

template <class T, class F>
T update(T* p, F f) {
  T old = __atomic_load_n(p, __ATOMIC_RELAXED);
  for (;;) {
    T next = f(old);
    if (__atomic_compare_exchange_n(p, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) return old;
  }
}

// The L2 cache adds to global memory, the SM to shared memory, and they differ: the L2 flushes subnormal floats, and it
// passes the NaN of a double on as it is, the addend's first. Recorded on an H200.
uint32_t sum(uint32_t old, uint32_t b, bool in_shared) {
  isa::FloatMode mode;
  mode.ftz = !in_shared;
  return isa::bits_of(isa::add_f32(isa::f32_of(old), isa::f32_of(b), mode));
}
uint64_t sum(uint64_t old, uint64_t b, bool in_shared) {
  const double x = std::bit_cast<double>(old), y = std::bit_cast<double>(b);
  if (!in_shared && y != y) return b;
  if (!in_shared && x != x) return old;
  return std::bit_cast<uint64_t>(isa::add_f64(y, x, isa::Rounding::NearestEven));
}

template <class H>
uint16_t half_op(Op op, uint16_t a, uint16_t b) {
  switch (op) {
    case Op::Add: return isa::half_add<H>(a, b, {});
    case Op::Min: return isa::half_min_max<H>(a, b, false, {});
    case Op::Max: return isa::half_min_max<H>(a, b, true, {});
    default: return a;
  }
}
template <class H>
uint32_t half2_op(Op op, uint32_t a, uint32_t b) {
  return half_op<H>(op, static_cast<uint16_t>(a), static_cast<uint16_t>(b)) |
         static_cast<uint32_t>(half_op<H>(op, static_cast<uint16_t>(a >> 16), static_cast<uint16_t>(b >> 16))) << 16;
}

template <class U, Type type>
U apply(Op op, U* p, U b, U c, bool in_shared) {
  using S = std::make_signed_t<U>;
  if constexpr (type == Type::F16) return update(p, [=](U o) { return half_op<isa::F16>(op, o, b); });
  else if constexpr (type == Type::BF16) return update(p, [=](U o) { return half_op<isa::Bf16>(op, o, b); });
  else if constexpr (type == Type::F16x2) return update(p, [=](U o) { return half2_op<isa::F16>(op, o, b); });
  else if constexpr (type == Type::BF16x2) return update(p, [=](U o) { return half2_op<isa::Bf16>(op, o, b); });
  else if constexpr (type == Type::F32 || type == Type::F64) return update(p, [=](U o) { return sum(o, b, in_shared); });
  else {
    switch (op) {
      case Op::And: return __atomic_fetch_and(p, b, __ATOMIC_SEQ_CST);
      case Op::Or: return __atomic_fetch_or(p, b, __ATOMIC_SEQ_CST);
      case Op::Xor: return __atomic_fetch_xor(p, b, __ATOMIC_SEQ_CST);
      case Op::Exch: return __atomic_exchange_n(p, b, __ATOMIC_SEQ_CST);
      case Op::Add: return __atomic_fetch_add(p, b, __ATOMIC_SEQ_CST);
      case Op::Cas: {
        U expected = b;
        __atomic_compare_exchange_n(p, &expected, c, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        return expected;
      }
      case Op::Inc: return update(p, [b](U o) { return o >= b ? U(0) : U(o + 1); });
      case Op::Dec: return update(p, [b](U o) { return o == 0 || o > b ? b : U(o - 1); });
      case Op::Min:
        if constexpr (isa::is_signed(type)) return update(p, [b](U o) { return S(o) < S(b) ? o : b; });
        else return update(p, [b](U o) { return o < b ? o : b; });
      case Op::Max:
        if constexpr (isa::is_signed(type)) return update(p, [b](U o) { return S(o) > S(b) ? o : b; });
        else return update(p, [b](U o) { return o > b ? o : b; });
      default: return 0;
    }
  }
}

bool in_shared_memory(isa::Space space, uint64_t address) {
  if (space == isa::Space::Shared || space == isa::Space::SharedCluster) return true;
  return (address & ~(kWindowBytes - 1)) == kSharedWindow;
}

template <class U, Type type>
void atomic_lanes(Warp& w, const Insn& i, uint32_t mask) {
  const bool shared = i.mods().space == isa::Space::Shared;
  if (!shared && w.give_way_to_atomic(i, mask)) return;
  Addresses a;
  lane_addresses(w, i.op[1], i.base_width, i.imm, mask, a, i.mods().space);
  std::byte* p[kWarpSize];
  resolve(w, i, mask, i.mods().space, a, sizeof(U), AccessKind::Atomic, p);
  const Op op = i.mods().op;
  const U* b = w.lanes<U>(i.op[2]);
  const U* c = i.op[3] >= 0 ? w.lanes<U>(i.op[3]) : b;
  U old[kWarpSize];
  for (int l = 0; l < kWarpSize; ++l)
    if (mask >> l & 1) old[l] = apply<U, type>(op, reinterpret_cast<U*>(p[l]), b[l], c[l], in_shared_memory(i.mods().space, a.at[l]));
  // A failed compare-and-swap or an exchange of equal values is what spinning looks like.
  bool changed = false;
  for (int l = 0; l < kWarpSize; ++l)
    if (mask >> l & 1) changed = changed || (op == Op::Cas ? old[l] == b[l] && b[l] != c[l] : op == Op::Exch ? old[l] != b[l] : b[l] != 0);
  w.block->progress += changed;
  w.changed_global = w.changed_global || !shared;
  if (i.op[0] >= 0) {
    U* d = w.lanes<U>(i.op[0]);
    for (int l = 0; l < kWarpSize; ++l)
      if (mask >> l & 1) d[l] = old[l];
  }
}

// 128 bits: cas and exch only.
void atomic_wide(Warp& w, const Insn& i, uint32_t mask) {
  using U = unsigned __int128;
  Addresses a;
  lane_addresses(w, i.op[1], i.base_width, i.imm, mask, a, i.mods().space);
  std::byte* p[kWarpSize];
  resolve(w, i, mask, i.mods().space, a, 16, AccessKind::Atomic, p);
  for (int l = 0; l < kWarpSize; ++l) {
    if (!(mask >> l & 1)) continue;
    U b, c = 0;
    std::memcpy(&b, w.regs + i.op[2] + 16 * l, 16);
    if (i.op[3] >= 0) std::memcpy(&c, w.regs + i.op[3] + 16 * l, 16);
    U* at = reinterpret_cast<U*>(p[l]);
    U old;
    if (i.mods().op == Op::Cas) {
      old = __sync_val_compare_and_swap(at, b, c);
    } else {
      old = *at;
      for (U seen; (seen = __sync_val_compare_and_swap(at, old, b)) != old; old = seen) {}
    }
    if (i.op[0] >= 0) std::memcpy(w.regs + i.op[0] + 16 * l, &old, 16);
  }
}

// atom.global.v2.f32.add and its kin: element by element. The list holds destinations (for atom), then sources.
constexpr int kMostElements = 8;
template <class U, Type type>
void atomic_vector(Warp& w, const Insn& i, uint32_t mask) {
  const bool returns = i.source->form.row->opcode == "atom";
  Addresses a;
  lane_addresses(w, i.op[1], i.base_width, i.imm, mask, a);
  std::byte* p[kWarpSize];
  resolve(w, i, mask, isa::Space::Global, a, sizeof(U) * i.count, AccessKind::Atomic, p);
  // All sources are read before the first destination is written: they may be the same registers.
  U b[kMostElements][kWarpSize];
  for (int k = 0; k < i.count; ++k) std::memcpy(b[k], w.lanes<U>(i.list[(returns ? i.count : 0) + k]), sizeof b[k]);
  for (int k = 0; k < i.count; ++k)
    for (int l = 0; l < kWarpSize; ++l) {
      if (!(mask >> l & 1)) continue;
      const U old = apply<U, type>(i.mods().op, reinterpret_cast<U*>(p[l]) + k, b[k][l], b[k][l], false);
      if (returns) w.lanes<U>(i.list[k])[l] = old;
    }
}

template <template <class, Type> class Pick>
Handler by_type(Type t) {
  switch (t) {
    case Type::B16: return Pick<uint16_t, Type::B16>::fn;
    case Type::B32: return Pick<uint32_t, Type::B32>::fn;
    case Type::U32: return Pick<uint32_t, Type::U32>::fn;
    case Type::S32: return Pick<uint32_t, Type::S32>::fn;
    case Type::B64: return Pick<uint64_t, Type::B64>::fn;
    case Type::U64: return Pick<uint64_t, Type::U64>::fn;
    case Type::S64: return Pick<uint64_t, Type::S64>::fn;
    case Type::F32: return Pick<uint32_t, Type::F32>::fn;
    case Type::F64: return Pick<uint64_t, Type::F64>::fn;
    case Type::F16: return Pick<uint16_t, Type::F16>::fn;
    case Type::BF16: return Pick<uint16_t, Type::BF16>::fn;
    case Type::F16x2: return Pick<uint32_t, Type::F16x2>::fn;
    case Type::BF16x2: return Pick<uint32_t, Type::BF16x2>::fn;
    default: return nullptr;
  }
}
template <class U, Type t>
struct WholeOperand {
  static constexpr Handler fn = atomic_lanes<U, t>;
};
template <class U, Type t>
struct Elementwise {
  static constexpr Handler fn = atomic_vector<U, t>;
};

// Which operations a type has: the table of the manual's "atom" page.
bool legal(Op op, Type t, bool is_red) {
  switch (op) {
    case Op::And:
    case Op::Or:
    case Op::Xor: return t == Type::B32 || t == Type::B64;
    case Op::Cas: return !is_red && (t == Type::B16 || t == Type::B32 || t == Type::B64 || t == Type::B128);
    case Op::Exch: return !is_red && (t == Type::B32 || t == Type::B64 || t == Type::B128);
    case Op::Add:
      return t == Type::U32 || t == Type::S32 || t == Type::U64 || t == Type::F32 || t == Type::F64 || t == Type::F16 || t == Type::F16x2 ||
             t == Type::BF16 || t == Type::BF16x2;
    case Op::Inc:
    case Op::Dec: return t == Type::U32;
    case Op::Min:
    case Op::Max: return t == Type::U32 || t == Type::S32 || t == Type::U64 || t == Type::S64;
    default: return false;
  }
}

}  // namespace

Handler select_atomic(const ptx::Instruction& i) {
  const isa::Mods& m = i.form.mods;
  const bool is_red = i.form.row->opcode == "red";
  if (m.vec) {
    if (m.op != Op::Add && m.op != Op::Min && m.op != Op::Max) return nullptr;
    if (m.op != Op::Add && i.form.type == Type::F32) return nullptr;
    return by_type<Elementwise>(i.form.type);
  }
  if (!legal(m.op, i.form.type, is_red)) return nullptr;
  if (i.form.type == Type::B128) return atomic_wide;
  return by_type<WholeOperand>(i.form.type);
}

}  // namespace warpbeam::vm
