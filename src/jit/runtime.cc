#include "jit/runtime.h"

#include <algorithm>
#include <cstring>

#include "isa/arith/float_bits.h"

namespace warpbeam::jit {
namespace {

constexpr int kLanes = 32;

// Frames exist and hold the constants; registers keep what they hold.
extern "C" void wb_frames(Context* c) {
  vm::Block& block = *c->block;
  if (block.fresh_warps) c->services->prepare_warps(block);
  for (size_t w = 0; w < block.warps.size(); ++w) c->frames[w] = block.warps[w]->regs;
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

// From the values of a variable's runs to all of its lanes.
void spread(std::byte* at, const Saved& s, const std::byte* bases) {
  if (s.bytes == 0) return;
  uint64_t base[4] = {};
  const int runs = std::max<int>(s.runs, 1), lanes = kLanes / runs;
  for (int r = 0; r < runs; ++r) std::memcpy(&base[r], bases + r * s.bytes, s.bytes);
  for (int l = 0; l < kLanes; ++l) {
    const uint64_t v = base[l / lanes] + static_cast<uint64_t>(s.stride) * static_cast<uint64_t>(l % lanes);
    std::memcpy(at + l * s.bytes, &v, s.bytes);
  }
}

void restore(Context* c, vm::Warp& w, const std::vector<Saved>& saved, int which) {
  for (const Saved& s : saved) {
    if (s.part >= 0) {
      for (int l = 0; l < kLanes; ++l)
        std::memcpy(w.local(l) + w.frame->local_base + s.at, reinterpret_cast<const std::byte*>(c->parts[s.part]) + l * s.bytes, s.bytes);
      continue;
    }
    std::byte* at = w.regs + s.at;
    if (s.block_value >= 0) {
      const uint64_t v = c->block_values[which][s.block_value];
      if (s.bytes == 0) {
        const uint32_t mask = v & 1 ? ~0u : 0;
        std::memcpy(at, &mask, 4);
      } else {
        spread(at, s, reinterpret_cast<const std::byte*>(&v));
      }
    } else if (s.runs) {
      std::byte bases[4 * 8];
      std::memcpy(bases, at, s.runs * s.bytes);
      spread(at, s, bases);
    }
    if (s.loose && s.bytes == 4) {
      auto* f = reinterpret_cast<float*>(at);
      for (int l = 0; l < kLanes; ++l) f[l] = isa::canonical(f[l]);
    }
  }
}

extern "C" void wb_handover(Context* c, const Handover* h, uint32_t warp, uint32_t active, uint32_t first_warp) {
  vm::Block& block = *c->block;
  const uint32_t count = static_cast<uint32_t>(block.warps.size());
  const auto turn = [&](uint32_t w) { return (w + count - first_warp) % count; };
  const vm::Insn* first = block.code->function->insns.data();
  for (uint32_t w = 0; w < block.warps.size(); ++w) {
    vm::Warp& other = *block.warps[w];
    if (warp >= count || turn(w) < turn(warp)) {
      c->services->place_warp(block, w, h->after ? h->after : first, h->after ? c->live[w] : 0);
      if (h->after) restore(c, other, h->saved_after, 1);
    } else if (w != warp) {
      c->services->place_warp(block, w, h->before ? h->before : first, c->live[w]);
      restore(c, other, h->saved_before, 0);
    } else {
      restore(c, other, h->here, 0);
      c->services->place_warp(block, w, h->at, active);
      for (const auto& [k, at] : h->pending)
        if (c->pending[k]) c->services->place_lanes(block, w, at, c->pending[k]);
    }
  }
  c->services->resume(block);
}

}  // namespace

const std::vector<Symbol>& runtime_symbols() {
  static const std::vector<Symbol> symbols{
      {"wb_frames", reinterpret_cast<void*>(&wb_frames)},
      {"wb_prepare", reinterpret_cast<void*>(&wb_prepare)},
      {"wb_handler", reinterpret_cast<void*>(&wb_handler)},
      {"wb_handover", reinterpret_cast<void*>(&wb_handover)},
  };
  return symbols;
}

}  // namespace warpbeam::jit
