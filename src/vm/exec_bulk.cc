// Bulk copies and reductions between global and shared memory, plain and by tensor maps, and stores that tell a
// barrier.
//
// Each is made whole where it is issued: programs that wait for its completion as they must cannot tell. An observer is
// told of its accesses as asynchronous ones.
#include <fmt/format.h>

#include <atomic>
#include <vector>

#include "isa/arith/convert.h"
#include "isa/arith/half.h"
#include "vm/exec_lane.h"
#include "vm/mbarrier.h"
#include "vm/memory.h"
#include "vm/spans.h"
#include "vm/tensor.h"
#include "vm/tensor_map.h"

namespace warpbeam::vm {
namespace {

using isa::BoolOp;
using isa::Op;
using isa::Space;
using isa::Type;

template <class Body>
void each_lane(uint32_t mask, Body&& body) {
  for (uint32_t left = mask; left; left &= left - 1) body(__builtin_ctz(left));
}

void report(Warp& w, const Insn& i, int lane, Space space, uint64_t address, uint64_t bytes, AccessKind kind) {
  if (!w.block->observer || !bytes) return;
  Addresses a;
  for (uint64_t& x : a.at) x = address;
  report_access(w, i, 1u << lane, space, a, static_cast<uint32_t>(bytes), kind, true);
}

// --- reductions --------------------------------------------------------------------------------------------------

template <class T>
T combine_numbers(const isa::Mods& m, T a, T b) {
  if (m.boolop == BoolOp::And) return static_cast<T>(a & b);
  if (m.boolop == BoolOp::Or) return static_cast<T>(a | b);
  if (m.boolop == BoolOp::Xor) return static_cast<T>(a ^ b);
  switch (m.op) {
    case Op::And: return static_cast<T>(a & b);
    case Op::Or: return static_cast<T>(a | b);
    case Op::Xor: return static_cast<T>(a ^ b);
    case Op::Min: return std::min(a, b);
    case Op::Max: return std::max(a, b);
    case Op::Inc: return a >= b ? T(0) : static_cast<T>(a + 1);
    case Op::Dec: return a == 0 || a > b ? b : static_cast<T>(a - 1);
    default: return static_cast<T>(a + b);
  }
}
template <class Half>
uint16_t combine_halves(const isa::Mods& m, uint16_t a, uint16_t b) {
  const float x = Half::widen(a), y = Half::widen(b);
  if (m.op == Op::Add) return Half::narrow(isa::add_f32(x, y, {}));
  if (x != x) return y != y ? Half::kNan : b;
  if (y != y) return a;
  const bool less = x < y || (x == y && std::signbit(x) && !std::signbit(y));
  return less == (m.op == Op::Min) ? a : b;
}

uint64_t combine(const isa::Mods& m, Type t, uint64_t a, uint64_t b) {
  switch (t) {
    case Type::F16: return combine_halves<isa::F16>(m, static_cast<uint16_t>(a), static_cast<uint16_t>(b));
    case Type::BF16: return combine_halves<isa::Bf16>(m, static_cast<uint16_t>(a), static_cast<uint16_t>(b));
    case Type::F32:
      return isa::bits_of(isa::add_f32(isa::flush_if(isa::f32_of(static_cast<uint32_t>(a)), true),
                                       isa::flush_if(isa::f32_of(static_cast<uint32_t>(b)), true), {isa::Rounding::NearestEven, true}));
    case Type::F64: return isa::bits_of(isa::f64_of(a) + isa::f64_of(b));
    case Type::S32: return static_cast<uint32_t>(combine_numbers(m, static_cast<int32_t>(a), static_cast<int32_t>(b)));
    case Type::S64: return static_cast<uint64_t>(combine_numbers(m, static_cast<int64_t>(a), static_cast<int64_t>(b)));
    case Type::U8:
    case Type::B8: return static_cast<uint8_t>(combine_numbers(m, static_cast<uint8_t>(a), static_cast<uint8_t>(b)));
    case Type::U16:
    case Type::B16: return static_cast<uint16_t>(combine_numbers(m, static_cast<uint16_t>(a), static_cast<uint16_t>(b)));
    case Type::U64:
    case Type::B64: return combine_numbers(m, a, b);
    default: return static_cast<uint32_t>(combine_numbers(m, static_cast<uint32_t>(a), static_cast<uint32_t>(b)));
  }
}

template <class T>
void reduce_element(const isa::Mods& m, Type t, std::byte* to, const std::byte* from) {
  T b;
  std::memcpy(&b, from, sizeof(T));
  std::atomic_ref<T> cell(*reinterpret_cast<T*>(to));
  T old = cell.load(std::memory_order_relaxed);
  while (!cell.compare_exchange_weak(old, static_cast<T>(combine(m, t, old, b)))) {}
}
void reduce_bytes(const isa::Mods& m, Type t, std::byte* to, const std::byte* from) {
  switch (isa::bytes_of(t)) {
    case 1: return reduce_element<uint8_t>(m, t, to, from);
    case 2: return reduce_element<uint16_t>(m, t, to, from);
    case 8: return reduce_element<uint64_t>(m, t, to, from);
    default: return reduce_element<uint32_t>(m, t, to, from);
  }
}
void reduce_span(const isa::Mods& m, Type t, std::byte* to, const std::byte* from, uint64_t bytes) {
  const uint64_t step = static_cast<uint64_t>(isa::bytes_of(t));
  for (uint64_t k = 0; k + step <= bytes; k += step) reduce_bytes(m, t, to + k, from + k);
}

// --- plain bulk copies -------------------------------------------------------------------------------------------

uint64_t bulk_size(Warp& w, const Insn& i, int lane, const WideOperand& o) {
  const uint64_t bytes = static_cast<uint32_t>(value_of(w, o, lane));
  if (bytes % 16)
    w.trap(TrapKind::IllegalInstruction, i, lane, fmt::format("a bulk copy of {} bytes: the size must be a multiple of 16", bytes));
  return bytes;
}

// Where nothing is copied the addresses may be any: CUB's copies of a few bytes have no middle part, and leave its place as it comes.
uint64_t bulk_alignment(uint64_t bytes) { return bytes ? 16 : 1; }

// The blocks of the cluster that a copy into shared memory goes to: the one its address names, or those of a multicast.
template <class Body>
void each_target(Warp& w, const Insn& i, int lane, uint64_t to, uint64_t bar, size_t mask_at, Body&& body) {
  if (!i.mods().multicast) return body(to, bar);
  const uint64_t blocks = value_of(w, i.wide[mask_at], lane) & 0xffff;
  const uint64_t count = w.block->leader->members.size();
  for (uint64_t rank = 0; rank < 16; ++rank) {
    if (!(blocks >> rank & 1)) continue;
    if (rank >= count)
      w.trap(TrapKind::IllegalInstruction, i, lane, fmt::format("the copy goes to block {} of the cluster, which has {}", rank, count));
    const auto in_block = [&](uint64_t address) {
      return (rank + 1) * kClusterStride + shared_offset(w, i, lane, address) % kClusterStride;
    };
    body(in_block(to), in_block(bar));
  }
}

void bulk_load(Warp& w, const Insn& i, uint32_t mask) {
  each_lane(mask, [&](int l) {
    const uint64_t bytes = bulk_size(w, i, l, i.wide[2]), source = address_of(w, i.wide[1], l);
    const std::byte* from = global_span(w, i, l, source, bytes, bulk_alignment(bytes), AccessKind::Read);
    report(w, i, l, Space::Global, source, bytes, AccessKind::Read);
    each_target(w, i, l, address_of(w, i.wide[0], l), address_of(w, i.wide[3], l), 4, [&](uint64_t to, uint64_t bar) {
      const SharedPlace place = shared_span(w, i, l, to, bytes, bulk_alignment(bytes), AccessKind::Write);
      report(w, i, l, Space::Shared, reported_offset(w, place), bytes, AccessKind::Write);
      if (bytes) std::memcpy(place.data(), from, bytes);
      ++place.block->progress;
      complete_transactions(w, i, l, bar, bytes);
    });
  });
}

template <bool reduces>
void bulk_exchange(Warp& w, const Insn& i, uint32_t mask) {
  each_lane(mask, [&](int l) {
    const uint64_t bytes = bulk_size(w, i, l, i.wide[2]);
    const SharedPlace from = shared_span(w, i, l, address_of(w, i.wide[1], l), bytes, bulk_alignment(bytes), AccessKind::Read);
    const SharedPlace to = shared_span(w, i, l, address_of(w, i.wide[0], l), bytes, bulk_alignment(bytes), AccessKind::Write);
    report(w, i, l, Space::Shared, reported_offset(w, from), bytes, AccessKind::Read);
    report(w, i, l, Space::Shared, reported_offset(w, to), bytes, reduces ? AccessKind::Atomic : AccessKind::Write);
    if (reduces) reduce_span(i.mods(), i.type(), to.data(), from.data(), bytes);
    else std::memmove(to.data(), from.data(), bytes);
    ++to.block->progress;
    complete_transactions(w, i, l, address_of(w, i.wide[3], l), bytes);
  });
}

template <bool reduces>
void bulk_store(Warp& w, const Insn& i, uint32_t mask) {
  ++w.block->progress;
  each_lane(mask, [&](int l) {
    const uint64_t bytes = bulk_size(w, i, l, i.wide[2]), target = address_of(w, i.wide[0], l);
    const SharedPlace from = shared_span(w, i, l, address_of(w, i.wide[1], l), bytes, bulk_alignment(bytes), AccessKind::Read);
    std::byte* to = global_span(w, i, l, target, bytes, bulk_alignment(bytes), AccessKind::Write);
    report(w, i, l, Space::Shared, from.offset, bytes, AccessKind::Read);
    report(w, i, l, Space::Global, target, bytes, reduces ? AccessKind::Atomic : AccessKind::Write);
    if (reduces) reduce_span(i.mods(), i.type(), to, from.data(), bytes);
    else if (bytes) std::memcpy(to, from.data(), bytes);
  });
}

// --- copies by tensor maps ---------------------------------------------------------------------------------------

struct TensorCopy {
  TensorMap map;
  std::array<int64_t, 5> at{};
  std::array<int64_t, 3> offsets{};
};

TensorCopy tensor_copy(Warp& w, const Insn& i, int lane, const WideOperand& tensor, const WideOperand* offsets) {
  TensorCopy c;
  const uint64_t address = address_of(w, tensor, lane);
  if (address % 64) w.trap(TrapKind::MisalignedAddress, i, lane, "a tensor map lies at an address that is no multiple of 64", address);
  // clang copies a parameter whose address is taken, so the map may lie in the thread's local memory.
  const bool local = (address & ~(kWindowBytes - 1)) == kLocalWindow;
  if (local && address - kLocalWindow + 128 > w.local_limit)
    w.trap(TrapKind::IllegalAddress, i, lane, "a tensor map lies outside the thread's local memory", address);
  const std::byte* at = local ? w.local(lane) + (address - kLocalWindow) : global_span(w, i, lane, address, 128, 64, AccessKind::Read);
  std::memcpy(&c.map, at, sizeof(TensorMap));
  if (const std::string wrong = tensor_map_error(c.map); !wrong.empty())
    w.trap(TrapKind::IllegalInstruction, i, lane, fmt::format("a copy by a bad tensor map: {}", wrong), address);
  if (c.map.rank != i.mods().dimensions)
    w.trap(TrapKind::IllegalInstruction, i, lane,
           fmt::format("a copy of {} dimensions by a tensor map of {}", i.mods().dimensions, c.map.rank), address);
  if (c.map.im2col != i.mods().im2col)
    w.trap(TrapKind::IllegalInstruction, i, lane,
           c.map.im2col ? "the tensor map is for .im2col copies" : "the tensor map is for .tile copies", address);
  for (size_t k = 0; k < tensor.parts.size(); ++k) c.at[k] = w.lanes<int32_t>(tensor.parts[k])[lane];
  if (offsets)
    for (size_t k = 0; k < offsets->parts.size() && k < 3; ++k) c.offsets[k] = w.lanes<uint16_t>(offsets->parts[k])[lane];
  const int64_t inner = c.at[0] * tensor_element_bytes(c.map.type);
  if (!c.map.interleave && inner % 16)
    w.trap(TrapKind::IllegalInstruction, i, lane,
           fmt::format("the copy begins {} bytes into a row of the tensor: it must be a multiple of 16", inner));
  return c;
}

// Numbers of types that the copy engine changes on their way: subnormals to zero, f32 to tf32.
uint32_t converted(int type, uint32_t bits) {
  constexpr int kF32Ftz = 10, kTf32 = 11, kTf32Ftz = 12;
  if ((type == kF32Ftz || type == kTf32Ftz) && (bits & 0x7f800000u) == 0) bits &= 0x80000000u;
  if (type == kTf32 || type == kTf32Ftz) {
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return 0x7fffe000u;
    if (magnitude < 0x7f800000u) bits = (bits + 0x1000u) & ~0x1fffu;
  }
  return bits;
}
// What stands outside a tensor whose map asks for NaN.
uint64_t outside(const TensorMap& m) {
  if (!m.fill) return 0;
  return 0x7ff77ff77ff77ff7;  // of whatever width
}

// Allocations that a copy reads or writes: a range at a time, so that most elements cost one comparison.
class GlobalElements {
 public:
  GlobalElements(Warp& w, const Insn& i, int lane, AccessKind kind) : w_(w), i_(i), lane_(lane), kind_(kind) {}
  std::byte* at(uint64_t address, uint64_t bytes) {
    if (address < lo_ || address + bytes > hi_) {
      if (!w_.block->launch->memory->covers(address, bytes, &lo_, &hi_)) {
        global_span(w_, i_, lane_, address, bytes, 1, kind_);
        lo_ = 1, hi_ = 0;
      }
    }
    return reinterpret_cast<std::byte*>(address);
  }

 private:
  Warp& w_;
  const Insn& i_;
  int lane_;
  AccessKind kind_;
  uint64_t lo_ = 1, hi_ = 0;
};

// The box's place: shared addresses as the hardware sees them begin at a block's first byte.
SharedPlace box_place(Warp& w, const Insn& i, int lane, uint64_t address, const TensorMap& m, AccessKind kind) {
  return shared_span(w, i, lane, address, tensor_box_span(m), 128, kind);
}

void load_box(Warp& w, const Insn& i, int lane, const TensorCopy& c, const SharedPlace& place) {
  const TensorMap& m = c.map;
  const uint64_t bytes = static_cast<uint64_t>(tensor_element_bytes(m.type)), nothing = outside(m);
  GlobalElements global(w, i, lane, AccessKind::Read);
  std::byte* base = place.block->shared.data();
  walk_tensor(m, c.at, c.offsets, [&](const TensorElement& e) {
    uint64_t v = nothing;
    if (e.global != ~uint64_t{0}) {
      std::memcpy(&v, global.at(m.address + e.global, bytes), bytes);
      if (m.type >= 10) v = converted(m.type, static_cast<uint32_t>(v));
    }
    std::memcpy(base + swizzled(place.offset + e.shared, m.swizzle), &v, bytes);
  });
  ++place.block->progress;
}

void tensor_load(Warp& w, const Insn& i, uint32_t mask) {
  each_lane(mask, [&](int l) {
    const isa::Mods& mods = i.mods();
    const TensorCopy c = tensor_copy(w, i, l, i.wide[1], mods.im2col ? &i.wide[3] : nullptr);
    each_target(w, i, l, address_of(w, i.wide[0], l), address_of(w, i.wide[2], l), mods.im2col ? 4 : 3, [&](uint64_t to, uint64_t bar) {
      const SharedPlace place = box_place(w, i, l, to, c.map, AccessKind::Write);
      report(w, i, l, Space::Shared, reported_offset(w, place), tensor_box_bytes(c.map), AccessKind::Write);
      load_box(w, i, l, c, place);
      complete_transactions(w, i, l, bar, tensor_box_bytes(c.map));
    });
  });
}

Type reduced_type(int type) {
  static constexpr Type kTypes[kTensorTypes] = {Type::U8,  Type::U16, Type::U32,  Type::S32, Type::U64, Type::S64, Type::F16,
                                                Type::F32, Type::F64, Type::BF16, Type::F32, Type::F32, Type::F32};
  return kTypes[type];
}

template <bool reduces>
void tensor_store(Warp& w, const Insn& i, uint32_t mask) {
  ++w.block->progress;
  each_lane(mask, [&](int l) {
    const TensorCopy c = tensor_copy(w, i, l, i.wide[0], nullptr);
    const TensorMap& m = c.map;
    const SharedPlace place = box_place(w, i, l, address_of(w, i.wide[1], l), m, AccessKind::Read);
    report(w, i, l, Space::Shared, place.offset, tensor_box_bytes(m), AccessKind::Read);
    for (int64_t x : c.at)
      if (x < 0) w.trap(TrapKind::IllegalInstruction, i, l, fmt::format("a box that begins before its tensor, at {}, cannot be stored", x));
    const uint64_t bytes = static_cast<uint64_t>(tensor_element_bytes(m.type));
    GlobalElements global(w, i, l, AccessKind::Write);
    const std::byte* base = place.block->shared.data();
    walk_tensor(m, c.at, c.offsets, [&](const TensorElement& e) {
      if (e.global == ~uint64_t{0}) return;
      std::byte* to = global.at(m.address + e.global, bytes);
      if (w.block->observer) w.block->observer->runtime_wrote(m.address + e.global, bytes);
      const std::byte* from = base + swizzled(place.offset + e.shared, m.swizzle);
      if (reduces) reduce_bytes(i.mods(), reduced_type(m.type), to, from);
      else std::memcpy(to, from, bytes);
    });
  });
}

// --- tensor maps in memory ---------------------------------------------------------------------------------------

// PTX numbers the types of elements otherwise than the driver's API.
uint8_t element_type(Warp& w, const Insn& i, int lane, uint64_t number) {
  static constexpr uint8_t kTypes[kTensorTypes] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12};
  if (number >= kTensorTypes)
    w.trap(TrapKind::IllegalInstruction, i, lane, fmt::format("tensor maps have no elements of type {:#x} here", number));
  return kTypes[number];
}

void map_replace(Warp& w, const Insn& i, uint32_t mask) {
  const std::string_view s = i.source->form.row->syntax;
  ++w.block->progress;
  each_lane(mask, [&](int l) {
    const uint64_t address = address_of(w, i.wide[0], l);
    const bool shared = i.mods().space == Space::Shared || (address & ~(kWindowBytes - 1)) == kSharedWindow;
    std::byte* at = shared ? shared_span(w, i, l, address, 128, 64, AccessKind::Write).data()
                           : global_span(w, i, l, address, 128, 64, AccessKind::Write);
    TensorMap m;
    std::memcpy(&m, at, sizeof m);
    // Kernels make maps of their own, beginning with zeros: those are a map, too, of one dimension.
    if (std::all_of(at, at + 128, [](std::byte b) { return b == std::byte{0}; })) m.magic = TensorMap::kMagic, m.rank = 1;
    if (m.magic != TensorMap::kMagic)
      w.trap(TrapKind::IllegalInstruction, i, l, "tensormap.replace on 128 bytes that are no tensor map", address);
    const uint64_t last = value_of(w, i.wide[i.count - 1], l), ordinal = i.count == 3 ? static_cast<uint64_t>(i.wide[1].offset) : 0;
    if (ordinal > 4) w.trap(TrapKind::IllegalInstruction, i, l, fmt::format("a tensor has no dimension {}", ordinal));
    const auto field = [&](std::string_view name) { return s.starts_with("tensormap.replace.tile." + std::string(name)); };
    if (field("global_address")) m.address = last;
    else if (field("rank")) m.rank = static_cast<uint8_t>(last + 1);
    else if (field("global_stride")) m.strides[ordinal & 3] = last;
    else if (field("box_dim")) m.box[ordinal] = static_cast<uint16_t>(last);
    else if (field("global_dim")) m.dims[ordinal] = static_cast<uint32_t>(last);
    else if (field("element_stride")) m.steps[ordinal] = static_cast<uint8_t>(last);
    else if (field("elemtype")) m.type = element_type(w, i, l, last);
    else if (field("interleave_layout")) m.interleave = static_cast<uint8_t>(last);
    else if (field("swizzle_mode")) m.swizzle = static_cast<uint8_t>(last);
    else if (field("fill_mode")) m.fill = static_cast<uint8_t>(last);
    std::memcpy(at, &m, sizeof m);
  });
}

void map_copy(Warp& w, const Insn& i, uint32_t mask) {
  if (!whole_warp(w, i, mask)) return;
  ++w.block->progress;
  each_lane(w.active, [&](int l) {
    const std::byte* from = shared_span(w, i, l, address_of(w, i.wide[1], l), 128, 128, AccessKind::Read).data();
    std::memcpy(global_span(w, i, l, address_of(w, i.wide[0], l), 128, 128, AccessKind::Write), from, 128);
  });
}

// --- stores and additions that tell a barrier --------------------------------------------------------------------

template <bool reduces>
void tell_barrier(Warp& w, const Insn& i, uint32_t mask) {
  const uint64_t step = static_cast<uint64_t>(isa::bytes_of(i.type()));
  const WideOperand& value = i.wide[1];
  const size_t n = value.parts.empty() ? 1 : value.parts.size();
  each_lane(mask, [&](int l) {
    const SharedPlace to = shared_span(w, i, l, address_of(w, i.wide[0], l), step * n, step * n, AccessKind::Write);
    report(w, i, l, Space::Shared, reported_offset(w, to), step * n, reduces ? AccessKind::Atomic : AccessKind::Write);
    for (size_t k = 0; k < n; ++k) {
      const uint64_t v = step == 8 ? w.lanes<uint64_t>(value.parts.empty() ? value.slot : value.parts[k])[l]
                                   : w.lanes<uint32_t>(value.parts.empty() ? value.slot : value.parts[k])[l];
      std::byte from[8];
      std::memcpy(from, &v, 8);
      if (reduces) reduce_bytes(i.mods(), i.type(), to.data(), from);
      else std::memcpy(to.data() + k * step, from, step);
    }
    ++to.block->progress;
    complete_transactions(w, i, l, address_of(w, i.wide[2], l), step * n);
  });
}

void policy(Warp& w, const Insn& i, uint32_t mask) {
  each_lane(mask, [&](int l) { w.lanes<uint64_t>(i.wide[0].slot)[l] = uint64_t{1} << 60; });
}

void no_effect(Warp&, const Insn&, uint32_t) {}

}  // namespace

Handler select_mbarrier(const ptx::Instruction&);
Handler select_cluster(const ptx::Instruction&);

Handler select_async(const ptx::Instruction& i) {
  if (Handler h = select_mbarrier(i)) return h;
  if (Handler h = select_cluster(i)) return h;
  const std::string_view s = i.form.row->syntax;
  const auto is = [&](std::string_view start) { return s.starts_with(start); };
  if (is("cp.async.bulk.shared::cluster.global") || is("cp.async.bulk.shared::cta.global")) return bulk_load;
  if (is("cp.async.bulk.shared::cluster.shared::cta")) return bulk_exchange<false>;
  if (is("cp.async.bulk.global")) return bulk_store<false>;
  if (is("cp.reduce.async.bulk.shared::cluster")) return bulk_exchange<true>;
  if (is("cp.reduce.async.bulk.global")) return bulk_store<true>;
  if (is("cp.async.bulk.tensor.dim.shared")) return tensor_load;
  if (is("cp.async.bulk.tensor.dim.global")) return tensor_store<false>;
  if (is("cp.reduce.async.bulk.tensor")) return tensor_store<true>;
  if (is("tensormap.replace")) return map_replace;
  if (is("tensormap.cp_fenceproxy")) return map_copy;
  if (is("st.async")) return tell_barrier<false>;
  if (is("red.async")) return tell_barrier<true>;
  if (is("createpolicy")) return policy;
  // Groups of copies are complete as soon as they are committed; prefetches have nothing to do.
  if (is("cp.async.bulk.commit_group") || is("cp.async.bulk.wait_group") || is("cp.async.bulk.prefetch") || is("prefetch") ||
      is("cp.async.commit_group") || is("cp.async.wait"))
    return no_effect;
  return nullptr;
}

}  // namespace warpbeam::vm
