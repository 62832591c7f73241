// A warp's frames: registers, special registers and local memory of the functions that it is in.
#include <algorithm>
#include <cstring>

#include "vm/grid.h"
#include "vm/rows.h"
#include "vm/warp.h"

namespace warpbeam::vm {
namespace {

uint32_t special_value(const Block& b, const Warp& w, isa::Special id, uint8_t c, int lane) {
  using isa::Special;
  const Launch& launch = *b.launch;
  auto part = [c](const std::array<uint32_t, 3>& v, uint32_t fourth) { return c < 3 ? v[c] : fourth; };
  switch (id) {
    case Special::Tid: return c < 3 ? w.tid[lane][c] : 0;
    case Special::Ntid: return part(launch.block, 1);
    case Special::Ctaid: return part(b.index, 0);
    case Special::Nctaid: return part(launch.grid, 1);
    case Special::Laneid: return static_cast<uint32_t>(lane);
    case Special::Warpid: return w.index;
    case Special::Nwarpid: return 64;
    case Special::Smid: return b.smid;
    case Special::Nsmid: return launch.sm_count;
    case Special::Gridid: return static_cast<uint32_t>(launch.grid_id);
    case Special::LanemaskEq: return 1u << lane;
    case Special::LanemaskLt: return (1u << lane) - 1;
    case Special::LanemaskLe: return (2u << lane) - 1;
    case Special::LanemaskGe: return ~((1u << lane) - 1);
    case Special::LanemaskGt: return ~((2u << lane) - 1);
    case Special::DynamicSmem: return launch.dynamic_shared;
    case Special::TotalSmem: return b.shared_bytes;
    case Special::AggrSmem: return b.shared_bytes + 1024;
    case Special::EnvReg:
      return c == 1 ? static_cast<uint32_t>(b.grid->workspace >> 32) : c == 2 ? static_cast<uint32_t>(b.grid->workspace) : 0;
    case Special::ClusterId: return c < 3 ? b.index[c] / launch.cluster[c] : 0;
    case Special::NClusterId: return c < 3 ? launch.grid[c] / launch.cluster[c] : 1;
    case Special::ClusterCtaid: return part(b.cluster_index, 0);
    case Special::ClusterNctaid: return part(launch.cluster, 1);
    case Special::ClusterCtarank: return b.cluster_rank;
    case Special::ClusterNctarank: return launch.cluster[0] * launch.cluster[1] * launch.cluster[2];
    default: return 0;
  }
}

bool differs_by_lane(const FrameSlot& s) {
  using isa::Special;
  if (s.kind != SlotKind::Special) return false;
  switch (s.special) {
    case Special::Tid:
    case Special::Laneid:
    case Special::LanemaskEq:
    case Special::LanemaskLt:
    case Special::LanemaskLe:
    case Special::LanemaskGe:
    case Special::LanemaskGt: return true;
    default: return false;
  }
}

template <class T, class F>
void fill_lanes(std::byte* at, F value) {
  for (int l = 0; l < kWarpSize; ++l) reinterpret_cast<T*>(at)[l] = static_cast<T>(value(l));
}

template <class F>
void fill_slot(std::byte* at, int width, F value) {
  if (width == 8) fill_lanes<uint64_t>(at, value);
  else if (width == 2) fill_lanes<uint16_t>(at, value);
  else fill_lanes<uint32_t>(at, value);
}

// The first lane's.
uint64_t read_slot(const std::byte* at, int width) {
  const auto read = [&](auto v) {
    std::memcpy(&v, at, sizeof v);
    return uint64_t{v};
  };
  return width == 8 ? read(uint64_t{}) : width == 2 ? read(uint16_t{}) : read(uint32_t{});
}

}  // namespace

void Warp::prepare_frame(Frame& frame, const FunctionCode& f) {
  frame.function = &f;
  const bool again = frame.prepared == &f;  // in this launch: its threads are the same ones
  if (!again) {
    if (frame.storage.size() < f.frame_bytes + 64) frame.storage.assign(f.frame_bytes + 64, std::byte{0});
    frame.regs = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(frame.storage.data()) + 63) / 64 * 64);
    if (!f.constants.empty()) std::memcpy(frame.regs + f.constants_at, f.constants.data(), f.constants.size());
    frame.prepared = &f;
  }
  bool same_base = false;  // local memory is where it was
  for (const FrameSlot& s : f.slots) {
    if (same_base && s.kind == SlotKind::LocalAddress) continue;
    std::byte* at = frame.regs + s.offset;
    if (s.kind == SlotKind::Special && s.special == isa::Special::IsExplicitCluster) {
      std::memset(at, block->launch->explicit_cluster ? 0xff : 0, 4);
      continue;
    }
    if (differs_by_lane(s)) {
      if (!again) fill_slot(at, s.width, [&](int l) { return special_value(*block, *this, s.special, s.component, l); });
      continue;
    }
    uint64_t v = 0;
    switch (s.kind) {
      case SlotKind::Special:
        v = s.special == isa::Special::Gridid ? block->launch->grid_id : special_value(*block, *this, s.special, s.component, 0);
        break;
      case SlotKind::SharedAddress: v = block->code->shared_offsets[s.variable] + static_cast<uint64_t>(s.addend); break;
      case SlotKind::LocalAddress: v = frame.local_base + static_cast<uint64_t>(s.addend); break;
      case SlotKind::ParamAddress: v = block->params_address + static_cast<uint64_t>(s.addend); break;
    }
    const uint64_t before = read_slot(at, s.width);
    const bool as_before = again && before == (s.width < sizeof v ? v & ((uint64_t{1} << 8 * s.width) - 1) : v);
    same_base = as_before && s.kind == SlotKind::LocalAddress;
    if (!as_before) fill_slot(at, s.width, [v](int) { return v; });
  }
}

Frame* Warp::take_frame(const FunctionCode& f) {
  // A frame that served the same function before has its constants in place.
  for (size_t k = free_frames_.size(); k-- > 0 && k + 4 > free_frames_.size();)
    if (free_frames_[k]->prepared == &f) {
      Frame* frame = free_frames_[k];
      free_frames_.erase(free_frames_.begin() + static_cast<ptrdiff_t>(k));
      return frame;
    }
  if (!free_frames_.empty()) {
    Frame* frame = free_frames_.back();
    free_frames_.pop_back();
    return frame;
  }
  all_frames_.push_back(std::make_unique<Frame>());
  return all_frames_.back().get();
}

void Warp::leave_frame(Frame* f, uint32_t mask) {
  f->lanes &= ~mask;
  if (f->lanes == 0 && f != &root_) {
    frame_bytes_ -= f->function->frame_bytes;
    free_frames_.push_back(f);
  }
}

uint64_t Warp::footprint() const {
  uint64_t bytes = sizeof *this + root_.storage.size() + (local_memory ? uint64_t(local_stride) * kWarpSize : 0);
  for (const auto& f : all_frames_) bytes += f->storage.size();
  return bytes;
}

void Warp::take_local_memory(const Block& b, bool needed) {
  const uint32_t wanted = b.code->function->local_bytes + b.launch->kernel->call_bytes + b.launch->stack_limit + 4096;
  local_limit = wanted;
  const uint32_t stride = (wanted + 63) / 64 * 64 + 64;  // never a power of two: lanes must not share cache sets
  if (local_stride != stride) {
    local_stride = stride;
    local_memory.reset();
  }
  if (!local_memory && needed) {
    local_memory.reset(static_cast<std::byte*>(std::calloc(kWarpSize, stride)));
    if (!local_memory) throw std::bad_alloc();
  }
  if (!local_memory) local_limit = 0;
}

void Warp::start(Block& b, uint32_t warp_index, bool fresh) {
  if (fresh) {
    root_.prepared = nullptr;
    for (auto& f : all_frames_) f->prepared = nullptr;
  }
  frame_bytes_ = 0;
  block = &b;
  index = warp_index;
  groups.clear();
  stop = StopReason::None;
  spins = slice = 0;
  patience = kSpinsBeforeYield;
  polled = false;
  executed = 0;
  interpreted = false;
  begin_turns();
  cluster_arrived = cluster_passed = 0;
  warp_group_products = 0;
  released = false;
  free_frames_.clear();
  for (auto& f : all_frames_) free_frames_.push_back(f.get());

  const auto& shape = b.launch->block;
  const uint32_t row = b.row ? b.row : shape[0];
  present = b.present(warp_index);
  for (uint32_t l = 0; fresh && l < kWarpSize; ++l) {
    const uint32_t linear = warp_index * kWarpSize + l;
    tid[l] = {linear % row, linear / row % shape[1], linear / row / shape[1]};
  }
  live = active = present;
  const FunctionCode& f = *b.code->function;
  take_local_memory(b, f.local_bytes > 0 || f.allocates || !f.callees.empty() || f.indirect_calls || !f.call_sites.empty());
  stack_tops.fill(local_limit);
  lowest_top = local_limit;
  root_.caller = nullptr;
  root_.return_to = nullptr;
  root_.site = nullptr;
  root_.local_base = 0;
  root_.depth = 0;
  root_.lanes = present;
  prepare_frame(root_, f);
  frame = &root_;
  regs = root_.regs;
  ip = f.insns.data();
}

}  // namespace warpbeam::vm
