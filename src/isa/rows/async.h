// Barriers in shared memory, bulk copies with and without tensor maps, and clusters of blocks.
#pragma once
#include "isa/row.h"

namespace warpbeam::isa::rows {

// --- mbarrier ----------------------------------------------------------------------------------------------------

// An order and a scope come together.
constexpr bool order_with_scope(const Matched& m) { return (m.mods.sem != Sem::None) == (m.mods.scope != Scope::None); }
struct MbarrierRow : EngineRow<Kind::Async, Class::Barrier> {
  static constexpr Since since{70, 80};
  static constexpr Legal legal = order_with_scope;
};
struct MbarrierHopper : MbarrierRow { static constexpr Since since{78, 90}; };
struct MbarrierInit : MbarrierRow { static constexpr char syntax[] = "mbarrier.init{.shared|.shared::cta}.b64 [a], b:u32"; };
struct MbarrierInval : MbarrierRow { static constexpr char syntax[] = "mbarrier.inval{.shared|.shared::cta}.b64 [a]"; };
struct MbarrierExpect : MbarrierRow { static constexpr char syntax[] = "mbarrier.expect_tx{.relaxed}{.cta|.cluster}{.shared|.shared::cta|.shared::cluster}.b64 [a], b:u32"; static constexpr Since since{80, 90}; };
struct MbarrierComplete : MbarrierRow { static constexpr char syntax[] = "mbarrier.complete_tx{.relaxed}{.cta|.cluster}{.shared|.shared::cta|.shared::cluster}.b64 [a], b:u32"; static constexpr Since since{80, 90}; };
struct MbarrierArrive : MbarrierRow { static constexpr char syntax[] = "mbarrier.arrive{.release|.relaxed}{.cta|.cluster}{.shared|.shared::cta|.shared::cluster}.b64 d:b64, [a]{, c:u32}"; };
struct MbarrierArriveDrop : MbarrierRow { static constexpr char syntax[] = "mbarrier.arrive_drop{.release|.relaxed}{.cta|.cluster}{.shared|.shared::cta|.shared::cluster}.b64 d:b64, [a]{, c:u32}"; };
struct MbarrierArriveExpect : MbarrierRow { static constexpr char syntax[] = "mbarrier.arrive.expect_tx{.release|.relaxed}{.cta|.cluster}{.shared|.shared::cta|.shared::cluster}.b64 d:b64, [a], c:u32"; static constexpr Since since{80, 90}; };
struct MbarrierDropExpect : MbarrierRow { static constexpr char syntax[] = "mbarrier.arrive_drop.expect_tx{.release|.relaxed}{.cta|.cluster}{.shared|.shared::cta|.shared::cluster}.b64 d:b64, [a], c:u32"; static constexpr Since since{80, 90}; };
struct MbarrierArriveNo : MbarrierRow { static constexpr char syntax[] = "mbarrier.arrive.noComplete{.release}{.cta}{.shared|.shared::cta}.b64 d:b64, [a], c:u32"; };
struct MbarrierDropNo : MbarrierRow { static constexpr char syntax[] = "mbarrier.arrive_drop.noComplete{.release}{.cta}{.shared|.shared::cta}.b64 d:b64, [a], c:u32"; };
struct MbarrierTest : MbarrierRow { static constexpr char syntax[] = "mbarrier.test_wait{.acquire|.relaxed}{.cta|.cluster}{.shared|.shared::cta}.b64 p:pred, [a], c:b64"; };
struct MbarrierTestParity : MbarrierRow { static constexpr char syntax[] = "mbarrier.test_wait.parity{.acquire|.relaxed}{.cta|.cluster}{.shared|.shared::cta}.b64 p:pred, [a], c:u32"; static constexpr Since since{71, 80}; };
struct MbarrierTry : MbarrierHopper { static constexpr char syntax[] = "mbarrier.try_wait{.acquire|.relaxed}{.cta|.cluster}{.shared|.shared::cta}.b64 p:pred, [a], c:b64{, e:u32}"; };
struct MbarrierTryParity : MbarrierHopper { static constexpr char syntax[] = "mbarrier.try_wait.parity{.acquire|.relaxed}{.cta|.cluster}{.shared|.shared::cta}.b64 p:pred, [a], c:u32{, e:u32}"; };
struct MbarrierPending : MbarrierRow { static constexpr Effects effects{}; static constexpr char syntax[] = "mbarrier.pending_count.b64 d:u32, a:b64"; };
struct CpAsyncArrive : MbarrierRow { static constexpr char syntax[] = "cp.async.mbarrier.arrive{.noinc}{.shared|.shared::cta}.b64 [a]"; };

// --- bulk copies -------------------------------------------------------------------------------------------------

struct BulkRow : EngineRow<Kind::Async, Class::Copy> { static constexpr Since since{80, 90}; };
// What stands behind the fixed operands, in this order: offsets of an im2col copy, the blocks of a multicast, a cache policy.
template <int fixed>
constexpr OperandForm trailing_form(const Matched& m, int operand) {
  int next = fixed;
  if (m.mods.im2col && operand == next++) return {Type::B16, m.mods.dimensions > 2 ? m.mods.dimensions - 2 : 1};
  if (m.mods.multicast && operand == next++) return {Type::U16};
  if (m.mods.hint && operand == next++) return {Type::B64};
  return {};
}
template <int fixed>
constexpr bool trailing_count(const Matched& m) {
  if (m.mods.im2col && m.mods.dimensions < 3) return false;
  return m.operand_count < 0 || m.operand_count == fixed + m.mods.im2col + m.mods.multicast + m.mods.hint;
}
template <int fixed, int tensor_at>
constexpr OperandForm tensor_form(const Matched& m, int operand) {
  if (operand == tensor_at) return {Type::None, 0, false, m.mods.dimensions};
  return trailing_form<fixed>(m, operand);
}

struct BulkLoad : BulkRow {
  static constexpr char syntax[] = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes{.multicast::cluster}{.hint} [a], [b], c:u32, [e]{, f}{, g}";
  static constexpr Form form = trailing_form<4>;
  static constexpr Legal legal = trailing_count<4>;
};
struct BulkLoadOwn : BulkLoad {
  static constexpr char syntax[] = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes{.hint} [a], [b], c:u32, [e]{, f}";
  static constexpr Since since{86, 90};
};
struct BulkExchange : BulkRow { static constexpr char syntax[] = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [a], [b], c:u32, [e]"; };
struct BulkStore : BulkRow {
  static constexpr char syntax[] = "cp.async.bulk.global.shared::cta.bulk_group{.hint} [a], [b], c:u32{, f}";
  static constexpr Form form = trailing_form<3>;
  static constexpr Legal legal = trailing_count<3>;
};
struct BulkPrefetch : BulkRow {
  static constexpr char syntax[] = "cp.async.bulk.prefetch.L2.global{.hint} [a], b:u32{, f}";
  static constexpr Form form = trailing_form<2>;
  static constexpr Legal legal = trailing_count<2>;
};
struct BulkCommit : BulkRow { static constexpr char syntax[] = "cp.async.bulk.commit_group"; };
struct BulkWait : BulkRow { static constexpr char syntax[] = "cp.async.bulk.wait_group{.read} #a:u32"; };

struct BulkReduceExchange : BulkRow { static constexpr char syntax[] = "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes(.add|.min|.max).type [a], [b], c:u32, [e]"; using T = Types<Type::U32, Type::S32>; };
struct BulkReduceExchangeWide : BulkRow { static constexpr char syntax[] = "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u64 [a], [b], c:u32, [e]"; using T = Types<Type::U64>; };
struct BulkReduceExchangeCount : BulkRow { static constexpr char syntax[] = "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes(.inc|.dec).u32 [a], [b], c:u32, [e]"; };
struct BulkReduceExchangeBits : BulkRow { static constexpr char syntax[] = "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.logic_op.b32 [a], [b], c:u32, [e]"; };
struct BulkReduceRow : BulkStore {};
struct BulkReduceAdd : BulkReduceRow { static constexpr char syntax[] = "cp.reduce.async.bulk.global.shared::cta.bulk_group{.hint}.add.type [a], [b], c:u32{, f}"; using T = Types<Type::U32, Type::S32, Type::U64, Type::F32, Type::F64>; };
struct BulkReduceHalf : BulkReduceRow { static constexpr char syntax[] = "cp.reduce.async.bulk.global.shared::cta.bulk_group{.hint}.add.noftz.type [a], [b], c:u32{, f}"; using T = Types<Type::F16, Type::BF16>; };
struct BulkReduceOrder : BulkReduceRow { static constexpr char syntax[] = "cp.reduce.async.bulk.global.shared::cta.bulk_group{.hint}(.min|.max).type [a], [b], c:u32{, f}"; using T = Types<Type::U32, Type::S32, Type::U64, Type::S64, Type::F16, Type::BF16>; };
struct BulkReduceCount : BulkReduceRow { static constexpr char syntax[] = "cp.reduce.async.bulk.global.shared::cta.bulk_group{.hint}(.inc|.dec).u32 [a], [b], c:u32{, f}"; };
struct BulkReduceBits : BulkReduceRow { static constexpr char syntax[] = "cp.reduce.async.bulk.global.shared::cta.bulk_group{.hint}.logic_op.type [a], [b], c:u32{, f}"; using T = Types<Type::B32, Type::B64>; };

struct TensorLoad : BulkRow {
  static constexpr char syntax[] = "cp.async.bulk.tensor.dim.shared::cluster.global{.tile|.im2col}.mbarrier::complete_tx::bytes{.multicast::cluster}{.hint} [a], [b,x], [e]{, f}{, g}{, h}";
  static constexpr Form form = tensor_form<3, 1>;
  static constexpr Legal legal = trailing_count<3>;
};
struct TensorLoadOwn : TensorLoad {
  static constexpr char syntax[] = "cp.async.bulk.tensor.dim.shared::cta.global{.tile|.im2col}.mbarrier::complete_tx::bytes{.hint} [a], [b,x], [e]{, f}{, g}";
  static constexpr Since since{86, 90};
};
struct TensorStore : BulkRow {
  static constexpr char syntax[] = "cp.async.bulk.tensor.dim.global.shared::cta{.tile}.bulk_group{.hint} [a,x], [b]{, f}";
  static constexpr Form form = tensor_form<2, 0>;
  static constexpr Legal legal = trailing_count<2>;
};
struct TensorReduce : TensorStore { static constexpr char syntax[] = "cp.reduce.async.bulk.tensor.dim.global.shared::cta(.add|.min|.max|.inc|.dec){.tile}.bulk_group{.hint} [a,x], [b]{, f}"; };
struct TensorReduceBits : TensorStore { static constexpr char syntax[] = "cp.reduce.async.bulk.tensor.dim.global.shared::cta.logic_op{.tile}.bulk_group{.hint} [a,x], [b]{, f}"; };
struct TensorPrefetch : BulkRow {
  static constexpr char syntax[] = "cp.async.bulk.prefetch.tensor.dim.L2.global{.tile|.im2col}{.hint} [b,x]{, f}{, g}";
  static constexpr Form form = tensor_form<1, 0>;
  static constexpr Legal legal = trailing_count<1>;
};

// --- tensor maps -------------------------------------------------------------------------------------------------

struct MapRow : EngineRow<Kind::Async, Class::Misc> {
  static constexpr Since since{83, 90};
  static constexpr Effects effects{.reads = true, .writes = true, .traps = true};
};
struct MapReplaceAddress : MapRow { static constexpr char syntax[] = "tensormap.replace.tile.global_address{.global|.shared::cta}.b1024.b64 [a], b:b64"; };
struct MapReplaceRank : MapRow { static constexpr char syntax[] = "tensormap.replace.tile.rank{.global|.shared::cta}.b1024.b32 [a], b:b32"; };
struct MapReplaceBox : MapRow { static constexpr char syntax[] = "tensormap.replace.tile.box_dim{.global|.shared::cta}.b1024.b32 [a], #b:u32, c:b32"; };
struct MapReplaceDim : MapRow { static constexpr char syntax[] = "tensormap.replace.tile.global_dim{.global|.shared::cta}.b1024.b32 [a], #b:u32, c:b32"; };
struct MapReplaceStep : MapRow { static constexpr char syntax[] = "tensormap.replace.tile.element_stride{.global|.shared::cta}.b1024.b32 [a], #b:u32, c:b32"; };
struct MapReplaceType : MapRow { static constexpr char syntax[] = "tensormap.replace.tile.elemtype{.global|.shared::cta}.b1024.b32 [a], #b:u32"; };
struct MapReplaceInterleave : MapRow { static constexpr char syntax[] = "tensormap.replace.tile.interleave_layout{.global|.shared::cta}.b1024.b32 [a], #b:u32"; };
struct MapReplaceSwizzle : MapRow { static constexpr char syntax[] = "tensormap.replace.tile.swizzle_mode{.global|.shared::cta}.b1024.b32 [a], #b:u32"; };
struct MapReplaceFill : MapRow { static constexpr char syntax[] = "tensormap.replace.tile.fill_mode{.global|.shared::cta}.b1024.b32 [a], #b:u32"; };
struct MapReplaceStride : MapRow { static constexpr char syntax[] = "tensormap.replace.tile.global_stride{.global|.shared::cta}.b1024.b64 [a], #b:u32, c:b64"; };
struct MapCopyFence : MapRow { static constexpr Effects effects{.reads = true, .writes = true, .orders = true, .meets = true, .traps = true}; static constexpr char syntax[] = "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release(.cta|.cluster|.gpu|.sys).sync.aligned [a], [b], #c:u32"; };
struct PrefetchMap : MapRow { static constexpr char syntax[] = "prefetch{.param|.const}.tensormap [a]"; static constexpr Since since{80, 90}; static constexpr Effects effects{}; };

// --- stores and additions that tell a barrier --------------------------------------------------------------------

constexpr bool async_vector_fits(const Matched& m) { return m.mods.vec == 0 || bits_of(m.type) * m.mods.vec <= 128; }
constexpr OperandForm async_vector_form(const Matched& m, int operand) {
  return operand == 1 && m.mods.vec ? OperandForm{m.type, m.mods.vec} : OperandForm{};
}
struct StAsync : BulkRow {
  static constexpr char syntax[] = "st.async{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes{.v2|.v4}.type [a], b, [c]";
  static constexpr Since since{81, 90};
  using T = Types<Type::B32, Type::B64, Type::U32, Type::U64, Type::S32, Type::S64, Type::F32, Type::F64>;
  static constexpr Form form = async_vector_form;
  static constexpr Legal legal = async_vector_fits;
};
struct RedAsync : BulkRow { static constexpr char syntax[] = "red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes(.add|.min|.max).type [a], b, [c]"; static constexpr Since since{81, 90}; using T = Types<Type::U32, Type::S32>; };
struct RedAsyncWide : RedAsync { static constexpr char syntax[] = "red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.add.u64 [a], b, [c]"; using T = Types<Type::U64>; };
struct RedAsyncCount : RedAsync { static constexpr char syntax[] = "red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes(.inc|.dec).u32 [a], b, [c]"; using T = Types<Type::U32>; };
struct RedAsyncBits : RedAsync { static constexpr char syntax[] = "red.async.relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.logic_op.b32 [a], b, [c]"; using T = Types<Type::B32>; };

// --- clusters ----------------------------------------------------------------------------------------------------

struct ClusterRow : EngineRow<Kind::Async, Class::Barrier> { static constexpr Since since{78, 90}; };
struct ClusterArrive : ClusterRow { static constexpr char syntax[] = "barrier.cluster.arrive{.release|.relaxed}{.aligned}"; };
struct ClusterWait : ClusterRow { static constexpr char syntax[] = "barrier.cluster.wait{.acquire}{.aligned}"; };
struct AddressRow : EngineRow<Kind::Async, Class::IntAlu> { static constexpr Since since{78, 90}; using T = Types<Type::U32, Type::U64>; };
struct Mapa : AddressRow { static constexpr char syntax[] = "mapa{.shared::cluster}.type d, a, b:u32"; };
struct Getctarank : AddressRow { static constexpr char syntax[] = "getctarank{.shared::cluster}.type d:u32, a"; };

using CacheFence = EngineRow<Kind::Barrier, Class::Fence>;
struct FenceProxy : CacheFence { static constexpr char syntax[] = "fence.proxy(.alias|.async)"; static constexpr Since since{75, 70}; };
struct FenceProxyAsync : CacheFence { static constexpr char syntax[] = "fence.proxy.async(.global|.shared::cta|.shared::cluster)"; static constexpr Since since{80, 90}; };
struct FenceMap : CacheFence { static constexpr char syntax[] = "fence.proxy.tensormap::generic.release(.cta|.cluster|.gpu|.sys)"; static constexpr Since since{83, 90}; };
struct FenceMapAcquire : CacheFence { static constexpr char syntax[] = "fence.proxy.tensormap::generic.acquire(.cta|.cluster|.gpu|.sys) [a], #b:u32"; static constexpr Since since{83, 90}; };
struct FenceInit : CacheFence { static constexpr char syntax[] = "fence.mbarrier_init.release.cluster"; static constexpr Since since{80, 90}; };

// --- cache policies: values without effect here ------------------------------------------------------------------
struct PolicyRow : EngineRow<Kind::Async, Class::Misc> { static constexpr Since since{74, 80}; static constexpr Effects effects{}; };
struct PolicyFraction : PolicyRow { static constexpr char syntax[] = "createpolicy.fractional(.L2::evict_last|.L2::evict_normal|.L2::evict_first|.L2::evict_unchanged){.L2::evict_unchanged|.L2::evict_first}.b64 d:b64{, a:f32}"; };
struct PolicyRange : PolicyRow { static constexpr char syntax[] = "createpolicy.range{.global}(.L2::evict_last|.L2::evict_normal|.L2::evict_first|.L2::evict_unchanged){.L2::evict_unchanged|.L2::evict_first}.b64 d:b64, [a], b:u32, c:u32"; };
struct PolicyConvert : PolicyRow { static constexpr char syntax[] = "createpolicy.cvt.L2.b64 d:b64, a:b64"; };

using AsyncRows = RowList<MbarrierInit, MbarrierInval, MbarrierExpect, MbarrierComplete, MbarrierArrive, MbarrierArriveDrop, MbarrierArriveExpect, MbarrierDropExpect, MbarrierArriveNo,
                          MbarrierDropNo, MbarrierTest, MbarrierTestParity, MbarrierTry, MbarrierTryParity, MbarrierPending, CpAsyncArrive, BulkLoad, BulkLoadOwn, BulkExchange, BulkStore,
                          BulkPrefetch, BulkCommit, BulkWait, BulkReduceExchange, BulkReduceExchangeWide, BulkReduceExchangeCount, BulkReduceExchangeBits, BulkReduceAdd, BulkReduceHalf,
                          BulkReduceOrder, BulkReduceCount, BulkReduceBits, TensorLoad, TensorLoadOwn, TensorStore, TensorReduce, TensorReduceBits, TensorPrefetch, MapReplaceAddress,
                          MapReplaceRank, MapReplaceBox, MapReplaceDim, MapReplaceStep, MapReplaceType, MapReplaceInterleave, MapReplaceSwizzle, MapReplaceFill, MapReplaceStride, MapCopyFence, PrefetchMap, StAsync, RedAsync, RedAsyncWide, RedAsyncCount, RedAsyncBits,
                          ClusterArrive, ClusterWait, Mapa, Getctarank, FenceProxy, FenceProxyAsync, FenceMap, FenceMapAcquire, FenceInit, PolicyFraction, PolicyRange, PolicyConvert>;

}  // namespace warpbeam::isa::rows
