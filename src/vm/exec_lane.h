// Turns a lane row into interpreter handlers: one per type and common modifier set, and one for every other modifier set.
#pragma once
#include <array>
#include <vector>

#include "isa/lane.h"
#include "isa/row.h"
#include "vm/lane_vectors.h"
#include "vm/warp.h"

namespace warpbeam::vm {

struct LaneHandler {
  isa::Type type;
  bool any;          // serves every modifier set not listed
  isa::Mods mods;
  Handler fn;
};

// By row id; filled once by the exec_*.cc chapters.
std::vector<std::vector<LaneHandler>>& lane_handlers();

inline uint32_t pack_mask(const uint8_t* flags) { return to_mask(load_vector<uint8_t>(flags) != 0); }

// What operand k of row R holds per lane when its `.type` is t.
template <class R, int k, isa::Type t>
inline constexpr isa::Type kOperandType = isa::operand_type(isa::operand_specs(R::syntax).list[k], t, isa::Type::None);

template <class R, isa::Type t, class M>
__attribute__((noinline)) void run_lanes(Warp& w, const Insn& i, uint32_t mask, M mods) {
  static constexpr int kSources = isa::operand_specs(R::syntax).count - 1;
  using D = isa::cpp<kOperandType<R, 0, t>>;
  const isa::LaneMachine<M> m(mods);
  const auto source = [&]<int k>() { return w.lanes<const isa::cpp<kOperandType<R, k, t>>>(i.op[k]); };
  // Inlined whatever its size: only then can the loop over lanes become vector code.
  const auto compute = [&](int l) __attribute__((always_inline)) {
    if constexpr (kSources == 1) [[clang::always_inline]]
      return R::lane(m, source.template operator()<1>()[l]);
    else if constexpr (kSources == 2) [[clang::always_inline]]
      return R::lane(m, source.template operator()<1>()[l], source.template operator()<2>()[l]);
    else if constexpr (kSources == 3) [[clang::always_inline]]
      return R::lane(m, source.template operator()<1>()[l], source.template operator()<2>()[l], source.template operator()<3>()[l]);
    else [[clang::always_inline]]
      return R::lane(m, source.template operator()<1>()[l], source.template operator()<2>()[l], source.template operator()<3>()[l],
                     source.template operator()<4>()[l]);
  };
  if constexpr (kOperandType<R, 0, t> == isa::Type::Pred) {
    uint8_t flags[kWarpSize];
    WB_EACH_LANE(l) flags[l] = compute(l);
    uint32_t& d = w.pred(i.op[0]);
    d = (d & ~mask) | (pack_mask(flags) & mask);
  } else {
    D values[kWarpSize];
    WB_EACH_LANE(l) values[l] = static_cast<D>(compute(l));
    store_lanes(w.lanes<D>(i.op[0]), values, mask);
  }
}

// Logic on predicates works on whole masks: a lane is a bit.
template <class R>
void run_predicates(Warp& w, const Insn& i, uint32_t mask) {
  const isa::LaneMachine<isa::AnyMods> m(isa::AnyMods{});
  uint32_t r;
  if constexpr (isa::operand_specs(R::syntax).count == 2) r = R::lane(m, w.pred(i.op[1]));
  else r = R::lane(m, w.pred(i.op[1]), w.pred(i.op[2]));
  uint32_t& d = w.pred(i.op[0]);
  d = (d & ~mask) | (r & mask);
}

template <class R, isa::Type t, isa::Mods kMods>
void run_fixed(Warp& w, const Insn& i, uint32_t mask) {
  run_lanes<R, t>(w, i, mask, isa::FixedMods<kMods>{});
}

template <class R, isa::Type t>
void run_any(Warp& w, const Insn& i, uint32_t mask) {
  run_lanes<R, t>(w, i, mask, isa::AnyMods{i.mods()});
}

template <class R, isa::Type t>
void add_lane_handlers(std::vector<LaneHandler>& out) {
  if constexpr (t == isa::Type::Pred) {
    out.push_back({t, true, {}, run_predicates<R>});
  } else {
    out.push_back({t, false, isa::Mods{}, run_fixed<R, t, isa::Mods{}>});
    if constexpr (isa::is_float(t)) {
      static constexpr isa::Mods kFtz = [] {
        isa::Mods m;
        m.ftz = true;
        return m;
      }();
      out.push_back({t, false, kFtz, run_fixed<R, t, kFtz>});
    }
    out.push_back({t, true, {}, run_any<R, t>});
  }
}

template <class R>
void add_lane_row() {
  for (const isa::Row& row : isa::all_rows()) {
    if (row.syntax.data() != std::string_view(R::syntax).data() && row.syntax != R::syntax) continue;
    if (row.kind != isa::Kind::Lane || row.types.size() != R::T::list.size() || (row.types.size() && row.types[0] != R::T::list[0]))
      continue;
    auto& out = lane_handlers()[static_cast<size_t>(row.id)];
    if (!out.empty()) continue;
    [&]<size_t... n>(std::index_sequence<n...>) {
      (add_lane_handlers<R, R::T::list[n]>(out), ...);
    }(std::make_index_sequence<R::T::list.size()>{});
    return;
  }
}

template <class... Rs>
void add_lane_chapter(isa::RowList<Rs...>) {
  (add_lane_row<Rs>(), ...);
}

}  // namespace warpbeam::vm
