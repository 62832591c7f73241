// What the handlers of tensor and asynchronous instructions share.
#pragma once
#include <cstring>
#include <string>

#include "vm/access.h"
#include "vm/matrix_plan.h"

namespace warpbeam::vm {

// A warp-wide instruction needs every lane of the warp: true when all are here, false when the others are waited for
// (the handler returns at once). Lanes that are gone or never were make it a trap.
bool whole_warp(Warp& w, const Insn& i, uint32_t mask);

inline uint64_t value_of(Warp& w, const WideOperand& o, int lane) {
  switch (o.width) {
    case 8: return w.lanes<uint64_t>(o.slot)[lane];
    case 2: return w.lanes<uint16_t>(o.slot)[lane];
    case 1: return w.lanes<uint8_t>(o.slot)[lane];
    default: return w.lanes<uint32_t>(o.slot)[lane];
  }
}
inline uint64_t address_of(Warp& w, const WideOperand& o, int lane) {
  if (o.slot < 0) return static_cast<uint64_t>(o.offset);
  if (o.width == 4) return static_cast<uint32_t>(w.lanes<uint32_t>(o.slot)[lane] + static_cast<uint32_t>(o.offset));
  return value_of(w, o, lane) + static_cast<uint64_t>(o.offset);
}
inline Addresses addresses_of(Warp& w, const WideOperand& o, uint32_t mask) {
  Addresses a;
  lane_addresses(w, o.slot, o.width, o.offset, mask, a);
  return a;
}

// Tells an observer of an access by one lane or several.
void report_access(Warp& w, const Insn& i, uint32_t mask, isa::Space space, const Addresses& a, uint32_t bytes, AccessKind kind,
                   bool async);

// Registers of a fragment to the cells of a matrix and back.
void gather_matrix(Warp& w, const WideOperand& o, const Fragment& f, uint32_t* cells);
void scatter_matrix(Warp& w, const WideOperand& o, const Fragment& f, const uint32_t* cells);

}  // namespace warpbeam::vm
