// Idea: how a load or store is done is one pure function of what is known when it is compiled; emit_access.cc has an emitter for each
// form. Precondition: the addresses are good. Elements have 1 to 8 bytes, accesses 1 to 16; every form is for all of them but where it
// says so. Postcondition: the form is right whichever lanes take part. Fallback: a gather or scatter.
#pragma once
#include <cstdint>

namespace warpbeam::jit {

enum class AccessForm : uint8_t {
  Window,      // a load out of registers that several loads around one place share: elements of 4 and 8 bytes, of which a warp
               // fills more than one register
  PrefixLanes,    // of the first 16, 8, 4, 2, 1 lanes
  OnePlace,    // the same for all lanes: a load of one element, or the last lane's store
  PlaceARun,   // a load of one element for each run
  Dense,       // a vector access for each run
  Steps,       // elements a few apart, at most 16 bytes, what lies between them masked out: AVX-512
  Probe,       // the addresses are looked at when it runs (stretches.cc)
  Deferred,    // a store that waits until it fills lines (columns.h)
  LaneByLane,  // a store of lanes evenly apart: a scatter costs twice as much
  Apart,       // a gather or scatter
};

struct AccessFacts {
  bool load = true;
  int count = 1;             // elements of a lane
  int element = 4;           // bytes of one
  int runs = 0;              // of the address's shape; 0: a vector
  int64_t stride = 0;        // within a run
  bool full = false;         // all lanes take part
  bool few = false;          // the code is for a few lanes
  bool line = false;         // the lanes are evenly apart by what is known at run time
  bool window = false;       // other loads read the same stretch
  bool may_wait = false;     // it is the store that may come later
  bool probes = false;       // addresses may be looked at: kernels that are not long
  bool permutes_wide = false;  // the host has AVX-512

  constexpr int64_t bytes() const { return int64_t{count} * element; }
  constexpr bool dense() const { return runs > 0 && stride == bytes(); }
  constexpr bool in_steps() const {
    return permutes_wide && count == 1 && runs == 1 && stride > element && stride <= 16 && stride % element == 0;
  }
};

constexpr AccessForm plan_access(const AccessFacts& f) {
  if (f.load && f.full && f.dense() && f.runs == 1 && f.window) return AccessForm::Window;
  if (f.few) return AccessForm::PrefixLanes;
  if (f.load && f.runs && f.stride == 0) return f.runs == 1 ? AccessForm::OnePlace : AccessForm::PlaceARun;
  if (f.dense() && (f.full || f.count == 1)) return AccessForm::Dense;
  if (f.runs == 1 && f.stride == 0) return AccessForm::OnePlace;
  if (f.in_steps()) return AccessForm::Steps;
  if (f.load) return f.count == 1 && f.probes && !f.line ? AccessForm::Probe : AccessForm::Apart;
  if (f.count == 1 && f.line) return f.may_wait ? AccessForm::Deferred : AccessForm::LaneByLane;
  return f.count == 1 && f.probes ? AccessForm::Probe : AccessForm::Apart;
}

}  // namespace warpbeam::jit
