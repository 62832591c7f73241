// Special registers: one row each.
#pragma once
#include <cstdint>
#include <string_view>

#include "isa/types.h"

namespace warpbeam::isa {

enum class Special : uint8_t {
  Tid,
  Ntid,
  Ctaid,
  Nctaid,
  Laneid,
  Warpid,
  Nwarpid,
  Smid,
  Nsmid,
  Gridid,
  LanemaskEq,
  LanemaskLe,
  LanemaskLt,
  LanemaskGe,
  LanemaskGt,
  Clock,
  ClockHi,
  Clock64,
  GlobalTimer,
  GlobalTimerLo,
  GlobalTimerHi,
  Pm,
  Pm64,
  EnvReg,
  DynamicSmem,
  TotalSmem,
  AggrSmem,
  ReservedSmemBegin,
  ReservedSmemEnd,
  ReservedSmemCap,
  ReservedSmemOffset,
  ClusterId,
  NClusterId,
  ClusterCtaid,
  ClusterNctaid,
  ClusterCtarank,
  ClusterNctarank,
  IsExplicitCluster,
  CurrentGraphExec,
};

struct SpecialRow {
  std::string_view name;  // with the percent sign; families end in their number (%envreg3)
  Special id;
  Type type;
  bool vector;   // has .x .y .z (.w)
  bool family;   // a number follows
  bool varies;   // may differ between two reads by the same thread: not hoisted
  std::string_view about;
};

inline constexpr SpecialRow kSpecials[] = {
    {"%tid", Special::Tid, Type::U32, true, false, false, "thread index in the block"},
    {"%ntid", Special::Ntid, Type::U32, true, false, false, "block shape"},
    {"%ctaid", Special::Ctaid, Type::U32, true, false, false, "block index in the grid"},
    {"%nctaid", Special::Nctaid, Type::U32, true, false, false, "grid shape"},
    {"%laneid", Special::Laneid, Type::U32, false, false, false, "lane in the warp"},
    {"%warpid", Special::Warpid, Type::U32, false, false, false, "warp in the block"},
    {"%nwarpid", Special::Nwarpid, Type::U32, false, false, false, "most warps a multiprocessor holds"},
    {"%smid", Special::Smid, Type::U32, false, false, false, "multiprocessor"},
    {"%nsmid", Special::Nsmid, Type::U32, false, false, false, "number of multiprocessors"},
    {"%gridid", Special::Gridid, Type::U64, false, false, false, "launch number"},
    {"%lanemask_eq", Special::LanemaskEq, Type::U32, false, false, false, "bit of this lane"},
    {"%lanemask_le", Special::LanemaskLe, Type::U32, false, false, false, "bits of lanes up to this one"},
    {"%lanemask_lt", Special::LanemaskLt, Type::U32, false, false, false, "bits of lanes below"},
    {"%lanemask_ge", Special::LanemaskGe, Type::U32, false, false, false, "bits of this lane and above"},
    {"%lanemask_gt", Special::LanemaskGt, Type::U32, false, false, false, "bits of lanes above"},
    {"%clock", Special::Clock, Type::U32, false, false, true, "cycle counter, low word"},
    {"%clock_hi", Special::ClockHi, Type::U32, false, false, true, "cycle counter, high word"},
    {"%clock64", Special::Clock64, Type::U64, false, false, true, "cycle counter"},
    {"%globaltimer", Special::GlobalTimer, Type::U64, false, false, true, "nanoseconds"},
    {"%globaltimer_lo", Special::GlobalTimerLo, Type::U32, false, false, true, "nanoseconds, low word"},
    {"%globaltimer_hi", Special::GlobalTimerHi, Type::U32, false, false, true, "nanoseconds, high word"},
    {"%pm", Special::Pm, Type::U32, false, true, true, "performance counter (reads zero)"},
    {"%pm_64", Special::Pm, Type::U64, false, true, true, "performance counter (reads zero)"},
    {"%envreg", Special::EnvReg, Type::B32, false, true, false, "set by the driver"},
    {"%dynamic_smem_size", Special::DynamicSmem, Type::U32, false, false, false, "dynamic shared memory of the launch"},
    {"%total_smem_size", Special::TotalSmem, Type::U32, false, false, false, "shared memory of the block"},
    {"%aggr_smem_size", Special::AggrSmem, Type::U32, false, false, false, "shared memory with the reserved part"},
    {"%reserved_smem_offset_begin", Special::ReservedSmemBegin, Type::B32, false, false, false, "reserved shared memory"},
    {"%reserved_smem_offset_end", Special::ReservedSmemEnd, Type::B32, false, false, false, "reserved shared memory"},
    {"%reserved_smem_offset_cap", Special::ReservedSmemCap, Type::B32, false, false, false, "reserved shared memory"},
    {"%reserved_smem_offset_", Special::ReservedSmemOffset, Type::B32, false, true, false, "reserved shared memory"},
    {"%clusterid", Special::ClusterId, Type::U32, true, false, false, "cluster index in the grid"},
    {"%nclusterid", Special::NClusterId, Type::U32, true, false, false, "clusters in the grid"},
    {"%cluster_ctaid", Special::ClusterCtaid, Type::U32, true, false, false, "block index in the cluster"},
    {"%cluster_nctaid", Special::ClusterNctaid, Type::U32, true, false, false, "cluster shape"},
    {"%cluster_ctarank", Special::ClusterCtarank, Type::U32, false, false, false, "block rank in the cluster"},
    {"%cluster_nctarank", Special::ClusterNctarank, Type::U32, false, false, false, "blocks in the cluster"},
    {"%is_explicit_cluster", Special::IsExplicitCluster, Type::Pred, false, false, false, "launched with clusters"},
    {"%current_graph_exec", Special::CurrentGraphExec, Type::U64, false, false, false, "graph of the launch"},
};

struct SpecialRef {
  const SpecialRow* row = nullptr;
  uint8_t index = 0;  // component 0..3 or the number of a family
};

// Takes `%tid` or `%envreg3`; components are given apart. The number of `%pm3_64` stands inside.
inline SpecialRef special_named(std::string_view name) {
  for (const SpecialRow& row : kSpecials)
    if (!row.family && row.name == name) return {&row, 0};
  for (const SpecialRow& row : kSpecials) {
    constexpr std::string_view kWide = "_64";
    const std::string_view behind = row.name.ends_with(kWide) ? kWide : std::string_view{};
    const std::string_view begin = row.name.substr(0, row.name.size() - behind.size());
    if (!row.family || !name.starts_with(begin) || !name.ends_with(behind) || name.size() < row.name.size()) continue;
    std::string_view digits = name.substr(begin.size(), name.size() - row.name.size());
    if (digits.empty() || digits.size() > 2) continue;
    int n = 0;
    bool ok = true;
    for (char c : digits) {
      ok = ok && c >= '0' && c <= '9';
      n = n * 10 + (c - '0');
    }
    if (ok) return {&row, static_cast<uint8_t>(n)};
  }
  return {};
}

}  // namespace warpbeam::isa
