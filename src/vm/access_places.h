// The places of a function's accesses, which number their events (watched_words.h). Header only: compiled code is made in a
// library of its own.
#pragma once
#include <vector>

#include "isa/parameters.h"
#include "vm/code.h"
#include "vm/watched_words.h"

namespace warpbeam::vm {

// A load or store, of registers.
inline bool loads_or_stores(const Insn& insn) {
  const isa::Row& row = *insn.source->form.row;
  return row.kind == isa::Kind::Memory && (row.cls == isa::Class::Load || row.cls == isa::Class::Store);
}

// The accesses to global, shared and constant memory, in order: loads and stores have one place, others have two.
struct AccessPlaces {
  static constexpr uint32_t kNone = ~0u;
  std::vector<uint32_t> of;  // by instruction
  uint32_t count = 0;
  uint32_t groups() const { return (count + kTogether - 1) / kTogether; }
};

inline AccessPlaces access_places(const FunctionCode& code) {
  AccessPlaces p;
  p.of.reserve(code.insns.size());
  for (const Insn& i : code.insns) {
    const isa::Space s = i.watched == Watched::Memory ? i.mods().space : isa::Space::Param;
    const bool has_place = !is_parameter(s) && s != isa::Space::Local;
    p.of.push_back(has_place ? p.count : AccessPlaces::kNone);
    if (has_place) p.count += loads_or_stores(i) ? 1 : 2;
  }
  return p;
}

}  // namespace warpbeam::vm
