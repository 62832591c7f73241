// shfl, vote, match, redux, activemask, elect, and the small rest.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "isa/arith/shuffle.h"
#include "vm/exec_lane.h"
#include "vm/flow_handlers.h"
#include "vm/kernel_clock.h"

namespace warpbeam::vm {
namespace {

using isa::Op;
using isa::Vote;

void set_pred(Warp& w, int32_t slot, uint32_t bits, uint32_t mask) {
  if (slot < 0) return;
  uint32_t& d = w.pred(slot);
  d = (d & ~mask) | (bits & mask);
}

template <class T>
void set_all(Warp& w, int32_t slot, T value, uint32_t mask) {
  T values[kWarpSize];
  std::fill_n(values, kWarpSize, value);
  store_lanes(w.lanes<T>(slot), values, mask);
}

void shuffle(Warp& w, const Insn& i, uint32_t mask) {
  const uint32_t* a = w.lanes<uint32_t>(i.op[1]);
  const uint32_t* b = w.lanes<uint32_t>(i.op[2]);
  const uint32_t* c = w.lanes<uint32_t>(i.op[3]);
  const uint32_t* m = i.mods().sync ? w.lanes<uint32_t>(i.op[4]) : nullptr;
  uint32_t values[kWarpSize], in_range = 0;
  for (int l = 0; l < kWarpSize; ++l) {
    const auto [j, p] = isa::shuffled_from(i.mods().shuffle, l, b[l], c[l]);
    values[l] = m && m[j] != m[l] && (m[j] & m[l]) && (w.active >> j & 1) ? 0 : a[j];  // measured on an H100
    in_range |= static_cast<uint32_t>(p) << l;
  }
  store_lanes(w.lanes<uint32_t>(i.op[0]), values, mask);
  set_pred(w, i.op[5], in_range, mask);
}

constexpr int kMaskOfElect = 1;  // nobody has measured what it does with strangers

// Every `.sync` instruction first meets the lanes its mask names, and works on them together. The lanes of a warp may carry
// different masks (each tile of a partitioned warp its own): each mask's lanes are then a group of their own. Lanes that a
// guard keeps away go on by themselves.
template <Handler body, int mask_at>
void synchronised(Warp& w, const Insn& i, uint32_t mask) {
  if (mask != w.active) w.split(w.active & ~mask, w.ip);
  const uint32_t* members = w.lanes<uint32_t>(i.op[mask_at]);
  const uint32_t first = members[__builtin_ctz(w.active)];
  if (mask_at != kMaskOfElect) refuse_strangers(w, i, members);
  uint32_t other = 0;
  for (int l = 0; l < kWarpSize; ++l) other |= static_cast<uint32_t>(members[l] != first) << l;
  if ((other & w.active) == 0) {
    if (!w.gather(i, first)) return;
    other = 0;
    for (int l = 0; l < kWarpSize; ++l) other |= static_cast<uint32_t>(members[l] != first) << l;
    if ((other & w.active) == 0) return body(w, i, w.active);  // those who were met may carry other masks
  } else {
    uint32_t incomplete = 0, all = 0;
    for (uint32_t left = w.active; left; left &= left - 1) {
      const int l = __builtin_ctz(left);
      if (members[l] & w.live & ~w.active) incomplete |= 1u << l;
      else all |= members[l];
    }
    if (!w.released) {
      if (incomplete && incomplete != w.active) w.split(incomplete, &i);  // they wait here by themselves
      else if (incomplete) all = ~0u;
    }
    if (!w.gather(i, all)) return;
  }
  for (uint32_t left = w.active; left;) {
    const uint32_t m = members[__builtin_ctz(left)];
    uint32_t same = 0;
    for (int l = 0; l < kWarpSize; ++l) same |= static_cast<uint32_t>((left >> l & 1) && members[l] == m) << l;
    body(w, i, same);
    left &= ~same;
  }
}

void vote(Warp& w, const Insn& i, uint32_t mask) {
  const uint32_t bits = w.pred(i.op[1]) & mask;
  switch (i.mods().vote) {
    case Vote::All: return set_pred(w, i.op[0], bits == mask ? ~0u : 0, mask);
    case Vote::Any: return set_pred(w, i.op[0], bits ? ~0u : 0, mask);
    case Vote::Uni: return set_pred(w, i.op[0], bits == mask || !bits ? ~0u : 0, mask);
    default: return set_all(w, i.op[0], bits, mask);
  }
}

template <class T>
void match_any(Warp& w, const Insn& i, uint32_t mask) {
  const T* a = w.lanes<T>(i.op[1]);
  uint32_t values[kWarpSize];
  for (int l = 0; l < kWarpSize; ++l) {
    uint32_t same = 0;
    for (int k = 0; k < kWarpSize; ++k) same |= static_cast<uint32_t>(a[k] == a[l]) << k;
    values[l] = same & mask;
  }
  store_lanes(w.lanes<uint32_t>(i.op[0]), values, mask);
}

template <class T>
void match_all(Warp& w, const Insn& i, uint32_t mask) {
  const T* a = w.lanes<T>(i.op[1]);
  bool equal = true;
  const T first = a[__builtin_ctz(mask)];
  for (int l = 0; l < kWarpSize; ++l) equal = equal && (!(mask >> l & 1) || a[l] == first);
  set_all(w, i.op[0], equal ? mask : 0u, mask);
  set_pred(w, i.op[5], equal ? ~0u : 0, mask);
}

void redux(Warp& w, const Insn& i, uint32_t mask) {
  const uint32_t* a = w.lanes<uint32_t>(i.op[1]);
  const bool is_signed = i.type() == isa::Type::S32;
  uint32_t r = a[__builtin_ctz(mask)];
  for (uint32_t left = mask & (mask - 1); left; left &= left - 1) {
    const uint32_t v = a[__builtin_ctz(left)];
    switch (i.mods().op) {
      case Op::Add: r += v; break;
      case Op::Min: r = is_signed ? static_cast<uint32_t>(std::min<int32_t>(r, v)) : std::min(r, v); break;
      case Op::Max: r = is_signed ? static_cast<uint32_t>(std::max<int32_t>(r, v)) : std::max(r, v); break;
      case Op::And: r &= v; break;
      case Op::Or: r |= v; break;
      case Op::Xor: r ^= v; break;
      default: break;
    }
  }
  set_all(w, i.op[0], r, mask);
}

void activemask(Warp& w, const Insn& i, uint32_t mask) { set_all(w, i.op[0], w.active, mask); }

void elect(Warp& w, const Insn& i, uint32_t mask) {
  const uint32_t leader = static_cast<uint32_t>(__builtin_ctz(mask));
  set_all(w, i.op[0], leader, mask);
  set_pred(w, i.op[5], 1u << leader, mask);
}

// On a device's time (vm/kernel_clock.h). Naps are a loop's way of letting others go first: how many it takes is our turns' doing.
constexpr uint32_t kNap = 1000;          // nanoseconds
constexpr double kSleepsFor = 1.27;      // of what it is asked to; an H100

void nanosleep(Warp& w, const Insn& i, uint32_t mask) {
  if (kernels_have_clocks.load(std::memory_order_relaxed)) {
    const uint32_t* asked = w.lanes<uint32_t>(i.op[0]);
    uint32_t longest = 0;
    for (uint32_t left = mask; left; left &= left - 1) longest = std::max(longest, asked[__builtin_ctz(left)]);
    if (longest >= kNap) pass_kernel_clock(w, static_cast<uint64_t>(kSleepsFor * longest));
  }
  if (!w.interpreted) return;
  if (mask != w.active) w.split(w.active & ~mask, w.ip);
  w.spin(64);  // a sleeping group gives way like one that has spun for long
}

void no_effect(Warp&, const Insn&, uint32_t) {}

// Gives each lane memory from the top of its stack; what it gives goes when the function returns.
template <class T>
void alloca_lanes(Warp& w, const Insn& i, uint32_t mask) {
  const T* sizes = w.lanes<T>(i.op[1]);
  const uint64_t asked = i.op[2] >= 0 ? w.lanes<uint32_t>(i.op[2])[0] : 0;
  const uint64_t align = asked ? asked : 8;
  T result[kWarpSize] = {};
  for (uint32_t left = mask; left; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    const uint64_t used = w.frame->local_base + w.frame->function->local_bytes, top = w.stack_tops[lane];
    const uint64_t free = top - std::min(top, used);
    if (sizes[lane] > free || (top - sizes[lane]) / align * align < used)
      w.trap(TrapKind::StackOverflow, i, lane, fmt::format("stack overflow: alloca of {} bytes", sizes[lane]), 0,
             fmt::format("{} bytes of the thread's local memory are free; cudaDeviceSetLimit(cudaLimitStackSize, …) gives more", free));
    w.set_stack_top(lane, static_cast<uint32_t>((top - sizes[lane]) / align * align));
    result[lane] = w.stack_tops[lane];
  }
  store_lanes(w.lanes<T>(i.op[0]), result, mask);
}

template <class T>
void save_stack(Warp& w, const Insn& i, uint32_t mask) {
  T tops[kWarpSize];
  std::copy(w.stack_tops.begin(), w.stack_tops.end(), tops);
  store_lanes(w.lanes<T>(i.op[0]), tops, mask);
}

template <class T>
void restore_stack(Warp& w, const Insn& i, uint32_t mask) {
  const T* tops = w.lanes<T>(i.op[0]);
  for (uint32_t left = mask; left; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    if (tops[lane] > w.local_limit || tops[lane] < w.stack_tops[lane])
      w.trap(TrapKind::IllegalInstruction, i, lane, "stackrestore of a value that no stacksave gave");
    w.stack_tops[lane] = static_cast<uint32_t>(tops[lane]);
  }
  w.lowest_top = *std::min_element(w.stack_tops.begin(), w.stack_tops.end());
}

uint64_t nanoseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

}  // namespace

void exec_read_special(Warp& w, const Insn& i, uint32_t mask) {
  using isa::Special;
  uint64_t ns = 0, ticks = 0;
  if (kernels_have_clocks.load(std::memory_order_relaxed)) {
    read_kernel_clock(w, &i, &ns, &ticks);
  } else {
    ns = nanoseconds();
    ticks = static_cast<uint64_t>(static_cast<double>(ns) * w.block->launch->clock_ghz);
  }
  uint64_t v = 0;
  switch (static_cast<Special>(i.imm)) {
    case Special::Clock: v = static_cast<uint32_t>(ticks); break;
    case Special::ClockHi: v = ticks >> 32; break;
    case Special::Clock64: v = ticks; break;
    case Special::GlobalTimer: v = ns; break;
    case Special::GlobalTimerLo: v = static_cast<uint32_t>(ns); break;
    case Special::GlobalTimerHi: v = ns >> 32; break;
    default: break;
  }
  if (i.width == 8) set_all<uint64_t>(w, i.op[0], v, mask);
  else set_all<uint32_t>(w, i.op[0], static_cast<uint32_t>(v), mask);
}

void refuse_strangers(Warp& w, const Insn& i, const uint32_t* members) {
  uint32_t strangers = 0;
  for (int l = 0; l < kWarpSize; ++l) strangers |= static_cast<uint32_t>(~members[l] >> l & 1) << l;
  strangers &= w.active;
  if (strangers == 0 || w.block->launch->kernel->target_sm < 70) [[likely]]
    return;
  if (BlockObserver* checker = w.block->observer.get()) {  // who finds that by itself goes on looking
    if (!checker->findings()) report_meeting(w, i, strangers);
    if (checker->findings()) return;
  }
  const int lane = __builtin_ctz(strangers);
  const std::string_view syntax = i.source->form.row->syntax;
  w.trap(
      TrapKind::IllegalInstruction, i, lane,
      fmt::format("{} of lane {} with the mask {:#010x}, which leaves this lane out",
                  syntax.find("warp.sync") != std::string_view::npos ? "bar.warp.sync" : fmt::format("{}.sync", i.source->form.row->opcode),
                  lane, members[lane]),
      0,
      "each lane that calls a function named _sync has to be in the mask that it passes: take the mask before the branch, by\n__ballot_sync(0xffffffff, condition), or call the function from the lanes of the mask alone");
}

Handler select_warp(const ptx::Instruction& i) {
  const isa::Row& row = *i.form.row;
  const bool sync = i.form.mods.sync;
  const bool wide = isa::bits_of(i.form.type) == 64;
  if (row.opcode == "shfl") return sync ? synchronised<shuffle, 4> : shuffle;
  if (row.opcode == "vote") return sync ? synchronised<vote, 2> : vote;
  if (row.opcode == "match") {
    if (i.form.mods.vote == Vote::Any) return wide ? synchronised<match_any<uint64_t>, 2> : synchronised<match_any<uint32_t>, 2>;
    return wide ? synchronised<match_all<uint64_t>, 2> : synchronised<match_all<uint32_t>, 2>;
  }
  if (row.opcode == "redux") {
    const bool logic = i.form.mods.op == Op::And || i.form.mods.op == Op::Or || i.form.mods.op == Op::Xor;
    const bool arithmetic = i.form.mods.op == Op::Add || i.form.mods.op == Op::Min || i.form.mods.op == Op::Max;
    if (logic != (i.form.type == isa::Type::B32) || !(logic || arithmetic)) return nullptr;
    return synchronised<redux, 2>;
  }
  if (row.opcode == "activemask") return activemask;
  if (row.opcode == "elect") return synchronised<elect, 1>;
  return nullptr;
}

Handler select_misc(const ptx::Instruction& i) {
  const std::string_view op = i.form.row->opcode;
  if (op == "nanosleep") return nanosleep;
  const bool wide = isa::bits_of(i.form.type) == 64;
  if (op == "alloca") return wide ? alloca_lanes<uint64_t> : alloca_lanes<uint32_t>;
  if (op == "stacksave") return wide ? save_stack<uint64_t> : save_stack<uint32_t>;
  if (op == "stackrestore") return wide ? restore_stack<uint64_t> : restore_stack<uint32_t>;
  return no_effect;  // pmevent, griddepcontrol, setmaxnreg
}

}  // namespace warpbeam::vm
