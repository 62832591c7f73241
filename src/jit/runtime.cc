#include "jit/runtime.h"

#include "jit/deferred_transpose.h"
#include "jit/waiting_block.h"

#include <algorithm>
#include <cstring>

#include "isa/arith/float_bits.h"

namespace warpbeam::jit {
namespace {

constexpr int kLanes = 32;

template <class T>
void spread_as(std::byte* lanes, const Saved& s, const std::byte* bases) {
  const int length = kLanes / s.runs;
  const T stride = static_cast<T>(s.stride);
  for (int r = 0; r < s.runs; ++r, lanes += static_cast<size_t>(length) * sizeof(T)) {
    T v;
    std::memcpy(&v, bases + static_cast<size_t>(r) * sizeof v, sizeof v);
    for (int l = 0; l < length; ++l, v = static_cast<T>(v + stride)) std::memcpy(lanes + static_cast<size_t>(l) * sizeof v, &v, sizeof v);
  }
}

// All lanes of a variable, from the values of its runs. A loop for each size is one that the host runs in vectors: handlers
// that read whole vectors right after need not wait for every lane.
void spread(std::byte* lanes, const Saved& s, const std::byte* bases) {
  switch (s.bytes) {
    case 1: return spread_as<uint8_t>(lanes, s, bases);
    case 2: return spread_as<uint16_t>(lanes, s, bases);
    case 4: return spread_as<uint32_t>(lanes, s, bases);
    default: return spread_as<uint64_t>(lanes, s, bases);
  }
}

// Where lanes of a warp go on, by instruction.
struct Standing {
  uint32_t at = 0, lanes = 0;
};

// Each lane's local memory to where the interpreter has it.
void part_local_memory(vm::Warp& w, uint32_t bytes, size_t unit) {
  const size_t units = (bytes + unit - 1) / unit;
  const std::vector<std::byte> together(w.local(0), w.local(0) + units * unit * kLanes);
  for (size_t k = 0; k < units; ++k)
    for (int l = 0; l < kLanes; ++l)
      std::memcpy(w.local(l) + k * unit, together.data() + (k * kLanes + static_cast<size_t>(l)) * unit, unit);
}

void restore(Context* c, vm::Warp& w, const std::vector<Saved>& saved, int which, const Handover& h,
             const std::vector<Standing>& standing) {
  if (h.local_unit) part_local_memory(w, c->block->code->function->local_bytes, h.local_unit);
  for (const Saved& s : saved) {
    std::byte* at = s.local ? nullptr : w.regs + s.at;
    const std::byte* from = s.block_value >= 0 ? reinterpret_cast<const std::byte*>(&c->handed.block_values[which][s.block_value])
                            : s.part >= 0      ? reinterpret_cast<const std::byte*>(c->handed.parts[s.part])
                            : s.kept >= 0      ? c->handed.kept + size_t(w.index) * h.kept_stride + s.kept
                                               : at;
    std::byte lanes[kLanes * 8];
    if (s.bytes == 0) {
      uint32_t mask;
      std::memcpy(&mask, from, 4);
      if (s.block_value >= 0) mask = mask & 1 ? ~0u : 0;
      std::memcpy(at, &mask, 4);
      continue;
    }
    std::byte bases[4 * 8];
    if (s.runs && s.block_value >= 0) {
      uint64_t first;
      std::memcpy(&first, from, 8);
      first += static_cast<uint64_t>(s.pace) * w.index;
      for (uint64_t r = 0; r < s.runs; ++r) {
        const uint64_t base = first + static_cast<uint64_t>(s.gap) * r;
        std::memcpy(bases + r * s.bytes, &base, s.bytes);
      }
      from = bases;
    }
    put_lanes(lanes, s, from);
    if (!s.local) std::memcpy(at, lanes, static_cast<size_t>(kLanes) * s.bytes);
    else {
      uint32_t theirs = 0;
      for (const Standing& lanes_at : standing)
        if (lanes_at.at >= s.begin && lanes_at.at < s.end) theirs |= lanes_at.lanes;
      for (int l = 0; l < kLanes; ++l)
        if (theirs >> l & 1) std::memcpy(w.local(l) + w.frame->local_base + s.at, lanes + l * s.bytes, s.bytes);
    }
  }
}

extern "C" void wb_handover(Context* c, const Handover* h, uint32_t warp, uint32_t active, uint32_t first_warp) {
  ++h->times;
  vm::Block& block = *c->block;
  const uint32_t count = static_cast<uint32_t>(block.warps.size());
  const auto turn = [&](uint32_t w) { return (w + count - first_warp) % count; };
  const vm::Insn* first = block.code->function->insns.data();
  const auto number = [&](const vm::Insn* i) { return static_cast<uint32_t>(i - first); };
  for (uint32_t w = 0; w < block.warps.size(); ++w) {
    vm::Warp& other = *block.warps[w];
    if (h->stops && w != warp) {
      const uint32_t at = c->stopped_at[w];
      const Stop* stop = at ? &(*h->stops)[at - 1] : nullptr;
      // Whose turn has been waits there; the others were let go.
      const vm::Insn* next = !stop ? first : turn(w) < turn(warp) ? stop->barrier : stop->barrier + 1;
      c->services->place_warp(block, w, next, c->live[w]);
      if (stop) restore(c, other, stop->saved, 0, *h, {{number(next), ~0u}});
    } else if (warp >= count || turn(w) < turn(warp)) {
      c->services->place_warp(block, w, h->after ? h->after : first, h->after ? c->live[w] : 0);
      if (h->after) restore(c, other, h->saved_after, 1, *h, {{number(h->after), ~0u}});
    } else if (w != warp) {
      c->services->place_warp(block, w, h->before ? h->before : first, c->live[w]);
      restore(c, other, h->saved_before, 0, *h, {{h->before ? number(h->before) : 0, ~0u}});
    } else {
      place_warp(*c, *h, w, active);
      if (c->watched.watch && h->stretch >= 0)
        take_back(*c, static_cast<uint32_t>(h->stretch), static_cast<uint32_t>(h->at - first), w, active);
    }
  }
  c->services->resume(block);
  if (c->watched.watch)
    for (auto& w : block.warps) w->executed = c->watched.executed[w->index];
}

}  // namespace

void place_warp(Context& c, const Handover& h, uint32_t warp, uint32_t active) {
  vm::Block& block = *c.block;
  const vm::Insn* first = block.code->function->insns.data();
  const auto number = [&](const vm::Insn* i) { return static_cast<uint32_t>(i - first); };
  std::vector<Standing> standing{{number(h.at), active}};
  for (const auto& [k, at] : h.pending) standing.push_back({number(at), c.handed.pending[k]});
  restore(&c, *block.warps[warp], h.here, 0, h, standing);
  c.services->place_warp(block, warp, h.at, active);
  for (const auto& [k, at] : h.pending)
    if (c.handed.pending[k]) c.services->place_lanes(block, warp, at, c.handed.pending[k]);
}

std::string_view in_words(Why why) {
  switch (why) {
    case Why::Wraps: return "an index wraps around";
    case Why::Call: return "a function is called that calls itself or is very long";
    case Why::Lanes: return "some lanes of a warp come there without the others";
    case Why::Meeting: return "lanes wait for others that are elsewhere";
    case Why::Warps: return "warps of a block go different ways to their barriers";
    case Why::Waits: return "a warp waits there in vain";
    case Why::Patience: return "it goes on for very long";
    case Why::Foreign: return "an instruction waits or leads elsewhere in a way that compiled code does not know";
    case Why::Phases: return "a barrier's phase ends between lanes of a warp that arrive together, or there is no barrier";
  }
  return "";
}

void put_lanes(std::byte* lanes, const Saved& s, const std::byte* from) {
  if (s.bytes == 0) {
    std::memcpy(lanes, from, 4);
    return;
  }
  if (s.runs) spread(lanes, s, from);
  else std::memcpy(lanes, from, static_cast<size_t>(kLanes) * s.bytes);
  if (!s.loose || s.bytes != 4) return;
  for (int l = 0; l < kLanes; ++l) {
    float f;
    std::memcpy(&f, lanes + 4 * l, 4);
    f = isa::canonical(f);
    std::memcpy(lanes + 4 * l, &f, 4);
  }
}

extern "C" std::byte* wb_prepare(Context* c, uint32_t warp) {
  vm::Block& block = *c->block;
  if (block.prepared_for != block.linear) {
    c->services->prepare_warps(block);
    for (size_t w = 0; w < block.warps.size(); ++w) c->frames[w] = block.warps[w]->regs;
  }
  return c->frames[warp];
}

extern "C" void wb_handler(Context* c, const vm::Insn* i, uint32_t warp, uint32_t mask, uint32_t active) {
  vm::Warp& w = *c->block->warps[warp];
  w.active = active;
  w.ip = i + 1;
  i->fn(w, *i, mask);
}

std::vector<Symbol> runtime_symbols(const Processor& processor) {
  void* const quiet = quiet_call(processor);
  std::vector<Symbol> all = watch_symbols();
  all.insert(all.end(), {
                            {"wb_kept", reinterpret_cast<void*>(&wb_kept)},
                            {"wb_prepare", reinterpret_cast<void*>(&wb_prepare)},
                            {"wb_handler", reinterpret_cast<void*>(&wb_handler)},
                            {"wb_write_rows", reinterpret_cast<void*>(&wb_write_rows)},
                            {"wb_handover", reinterpret_cast<void*>(&wb_handover)},
                            {"wb_detour", reinterpret_cast<void*>(&wb_detour)},
                            {"wb_move_rows", reinterpret_cast<void*>(&wb_move_rows)},
                            {"wb_read_texture", reinterpret_cast<void*>(&wb_read_texture)},
                            {"wb_look_again", reinterpret_cast<void*>(&wb_look_again)},
                            {"wb_poll", reinterpret_cast<void*>(&wb_poll)},
                            {"wb_passed", reinterpret_cast<void*>(&wb_passed)},
                            {"wb_give_way", reinterpret_cast<void*>(&wb_give_way)},
                            {"wb_wait_at", reinterpret_cast<void*>(&wb_wait_at)},
                            {"wb_stays", reinterpret_cast<void*>(&wb_stays)},
                            {"wb_answer", reinterpret_cast<void*>(&wb_answer)},
                            {"wb_arrive_at", reinterpret_cast<void*>(&wb_arrive_at)},
                            {"wb_leave_turns", reinterpret_cast<void*>(&wb_leave_turns)},
                            {"wb_quiet", quiet ? quiet : reinterpret_cast<void*>(&wb_detour)},
                        });
  return all;
}

}  // namespace warpbeam::jit
