// Loads, stores, prefetches and atomics, a row for each line of the manual: which state spaces, orders and cache words go
// together. A cache policy is the last operand exactly when .L2::cache_hint is written.
#pragma once
#include "isa/row.h"

namespace warpbeam::isa::rows {

using MemoryTypes = Types<Type::B8, Type::B16, Type::B32, Type::B64, Type::B128, Type::U8, Type::U16, Type::U32, Type::U64,
                          Type::S8, Type::S16, Type::S32, Type::S64, Type::F32, Type::F64>;

// Eight parts are for atomics on halves; of loads and stores they are 256 bits wide and newer than this table.
constexpr bool vector_fits(const Matched& m) { return m.mods.vec <= 4 && bits_of(m.type) * m.mods.vec <= 128; }
constexpr bool policy_with_hint(const Matched& m) {
  const bool shared = m.mods.space == Space::Shared || m.mods.space == Space::SharedCluster;
  if (m.mods.hint && shared) return false;
  return m.operand_count < 0 || m.mods.hint == (m.operand_count == m.row->operands.count);
}
constexpr bool vector_and_policy_fit(const Matched& m) { return vector_fits(m) && policy_with_hint(m); }

struct LoadRow : EngineRow<Kind::Memory, Class::Load> {
  using T = MemoryTypes;
  static constexpr Legal legal = vector_fits;
};
struct LoadHintRow : LoadRow { static constexpr Legal legal = vector_and_policy_fit; };

struct Ld : LoadRow { static constexpr char syntax[] = "ld{.weak}{.space}{.cop}{.vec}.type d, [a]"; };
struct LdGlobal : LoadHintRow { static constexpr char syntax[] = "ld{.weak}{.global}{.cop|.evict}{.hint}{.prefetch_size}{.vec}.type d, [a]{, c:b64}"; static constexpr Since since{74, 80}; };
struct LdVolatile : LoadRow { static constexpr char syntax[] = "ld.volatile{.global|.shared|.shared::cta|.shared::cluster}{.vec}.type d, [a]"; };
struct LdVolatileGlobal : LoadRow { static constexpr char syntax[] = "ld.volatile{.global}{.prefetch_size}{.vec}.type d, [a]"; static constexpr Since since{74, 75}; };
struct LdScoped : LoadRow { static constexpr char syntax[] = "ld(.relaxed|.acquire).scope{.global|.shared|.shared::cta|.shared::cluster}{.vec}.type d, [a]"; static constexpr Since since{60, 70}; };
struct LdScopedGlobal : LoadHintRow { static constexpr char syntax[] = "ld(.relaxed|.acquire).scope{.global}{.evict}{.hint}{.prefetch_size}{.vec}.type d, [a]{, c:b64}"; static constexpr Since since{74, 80}; };
struct LdMmio : LoadRow { static constexpr char syntax[] = "ld.mmio.relaxed.sys{.global}.type d, [a]"; static constexpr Since since{82, 70}; };
struct LdNc : LoadHintRow {
  static constexpr char syntax[] = "ld.global{.ca|.cg|.cs|.evict}.nc{.hint}{.prefetch_size}{.vec}.type d, [a]{, c:b64}";
  static constexpr Since since{31, 32};
  static constexpr std::string_view about = "From memory that nobody writes while the kernel runs.";
};
struct Ldu : LoadRow {
  static constexpr char syntax[] = "ldu{.global}{.v2|.v4}.type d, [a]";
  static constexpr Since since{20, 20};
  static constexpr std::string_view about = "From an address that is the same in all lanes.";
};

struct StoreRow : EngineRow<Kind::Memory, Class::Store> {
  using T = MemoryTypes;
  static constexpr Legal legal = vector_fits;
};
struct StoreHintRow : StoreRow { static constexpr Legal legal = vector_and_policy_fit; };

struct St : StoreRow { static constexpr char syntax[] = "st{.weak}{.global|.shared|.shared::cta|.shared::cluster|.local|.param|.param::func}{.wcop}{.vec}.type [a], b"; };
struct StGlobal : StoreHintRow { static constexpr char syntax[] = "st{.weak}{.global}{.wcop|.evict}{.hint}{.vec}.type [a], b{, c:b64}"; static constexpr Since since{74, 80}; };
struct StVolatile : StoreRow { static constexpr char syntax[] = "st.volatile{.global|.shared|.shared::cta|.shared::cluster}{.vec}.type [a], b"; };
struct StScoped : StoreRow { static constexpr char syntax[] = "st(.relaxed|.release).scope{.global|.shared|.shared::cta|.shared::cluster}{.vec}.type [a], b"; static constexpr Since since{60, 70}; };
struct StScopedGlobal : StoreHintRow { static constexpr char syntax[] = "st(.relaxed|.release).scope{.global}{.evict}{.hint}{.vec}.type [a], b{, c:b64}"; static constexpr Since since{74, 80}; };
struct StMmio : StoreRow { static constexpr char syntax[] = "st.mmio.relaxed.sys{.global}.type [a], b"; static constexpr Since since{82, 70}; };

using CacheRow = EngineRow<Kind::Memory, Class::Misc>;
struct Prefetch : CacheRow { static constexpr char syntax[] = "prefetch{.global|.local}.plevel [a]"; static constexpr Since since{20, 20}; };
struct PrefetchEvict : CacheRow { static constexpr char syntax[] = "prefetch{.global}(.L2::evict_last|.L2::evict_normal) [a]"; static constexpr Since since{74, 80}; };
struct Prefetchu : CacheRow { static constexpr char syntax[] = "prefetchu.L1 [a]"; static constexpr Since since{20, 20}; };
struct Discard : CacheRow { static constexpr char syntax[] = "discard{.global}.L2 [a], #b:u32"; static constexpr Since since{74, 80}; static constexpr Effects effects{.writes = true}; };
struct ApplyPriority : CacheRow { static constexpr char syntax[] = "applypriority{.global}.L2::evict_normal [a], #b:u32"; static constexpr Since since{74, 80}; };

// --- atomics -----------------------------------------------------------------------------------------------------
struct AtomRow : EngineRow<Kind::Atomic, Class::Atomic> {
  static constexpr Since since{11, 11};
  static constexpr Legal legal = policy_with_hint;
};
struct AtomHalfRow : AtomRow {
  using T = Types<Type::F16, Type::F16x2, Type::BF16, Type::BF16x2>;
  static constexpr Since since{62, 60};
};
struct AtomVectorRow : AtomRow { static constexpr Since since{81, 90}; };
using AtomBits = Types<Type::B32, Type::B64>;
using AtomSums = Types<Type::U32, Type::S32, Type::U64, Type::F32, Type::F64>;
using AtomOrders = Types<Type::U32, Type::S32, Type::U64, Type::S64>;

struct AtomLogic : AtomRow { static constexpr char syntax[] = "atom{.asem}{.scope}{.global|.shared|.shared::cta|.shared::cluster}.logic_op{.hint}.type d, [a], b{, e:b64}"; using T = AtomBits; };
struct AtomExch : AtomRow { static constexpr char syntax[] = "atom{.asem}{.scope}{.global|.shared|.shared::cta|.shared::cluster}.exch{.hint}.type d, [a], b{, e:b64}"; using T = Types<Type::B32, Type::B64, Type::B128>; };
struct AtomCas : AtomRow { static constexpr char syntax[] = "atom{.asem}{.scope}{.global|.shared|.shared::cta|.shared::cluster}.cas.type d, [a], b, c"; using T = Types<Type::B16, Type::B32, Type::B64, Type::B128>; static constexpr Legal legal = nullptr; };
struct AtomAdd : AtomRow { static constexpr char syntax[] = "atom{.asem}{.scope}{.global|.shared|.shared::cta|.shared::cluster}.add{.hint}.type d, [a], b{, e:b64}"; using T = AtomSums; };
struct AtomCount : AtomRow { static constexpr char syntax[] = "atom{.asem}{.scope}{.global|.shared|.shared::cta|.shared::cluster}(.inc|.dec){.hint}.u32 d, [a], b{, e:b64}"; using T = Types<Type::U32>; };
struct AtomMinMax : AtomRow { static constexpr char syntax[] = "atom{.asem}{.scope}{.global|.shared|.shared::cta|.shared::cluster}(.min|.max){.hint}.type d, [a], b{, e:b64}"; using T = AtomOrders; };
struct AtomHalf : AtomHalfRow { static constexpr char syntax[] = "atom{.asem}{.scope}{.global|.shared|.shared::cta|.shared::cluster}.add.noftz{.hint}.type d, [a], b{, e:b64}"; };
struct AtomVectorF32 : AtomVectorRow { static constexpr char syntax[] = "atom{.asem}{.scope}{.global}.add{.hint}(.v2|.v4).f32 d, [a], b{, e:b64}"; using T = Types<Type::F32>; };
struct AtomVectorHalf : AtomVectorRow { static constexpr char syntax[] = "atom{.asem}{.scope}{.global}.arith_op.noftz{.hint}.vec.type d, [a], b{, e:b64}"; using T = Types<Type::F16, Type::BF16>; };
struct AtomVectorPacked : AtomVectorRow { static constexpr char syntax[] = "atom{.asem}{.scope}{.global}.arith_op.noftz{.hint}(.v2|.v4).type d, [a], b{, e:b64}"; using T = Types<Type::F16x2, Type::BF16x2>; };

struct RedLogic : AtomRow { static constexpr char syntax[] = "red{.rsem}{.scope}{.global|.shared|.shared::cta|.shared::cluster}.logic_op{.hint}.type [a], b{, e:b64}"; using T = AtomBits; };
struct RedAdd : AtomRow { static constexpr char syntax[] = "red{.rsem}{.scope}{.global|.shared|.shared::cta|.shared::cluster}.add{.hint}.type [a], b{, e:b64}"; using T = AtomSums; };
struct RedCount : AtomRow { static constexpr char syntax[] = "red{.rsem}{.scope}{.global|.shared|.shared::cta|.shared::cluster}(.inc|.dec){.hint}.u32 [a], b{, e:b64}"; using T = Types<Type::U32>; };
struct RedMinMax : AtomRow { static constexpr char syntax[] = "red{.rsem}{.scope}{.global|.shared|.shared::cta|.shared::cluster}(.min|.max){.hint}.type [a], b{, e:b64}"; using T = AtomOrders; };
struct RedHalf : AtomHalfRow { static constexpr char syntax[] = "red{.rsem}{.scope}{.global|.shared|.shared::cta|.shared::cluster}.add.noftz{.hint}.type [a], b{, e:b64}"; };
struct RedVectorF32 : AtomVectorRow { static constexpr char syntax[] = "red{.rsem}{.scope}{.global}.add{.hint}(.v2|.v4).f32 [a], b{, e:b64}"; using T = Types<Type::F32>; };
struct RedVectorHalf : AtomVectorRow { static constexpr char syntax[] = "red{.rsem}{.scope}{.global}.arith_op.noftz{.hint}.vec.type [a], b{, e:b64}"; using T = Types<Type::F16, Type::BF16>; };
struct RedVectorPacked : AtomVectorRow { static constexpr char syntax[] = "red{.rsem}{.scope}{.global}.arith_op.noftz{.hint}(.v2|.v4).type [a], b{, e:b64}"; using T = Types<Type::F16x2, Type::BF16x2>; };

// --- asynchronous copies -----------------------------------------------------------------------------------------
// `c` bytes are written to shared memory, of which `e` come from global memory and the rest are zeros; `e` may also be a
// predicate that makes all of them zeros.
constexpr OperandForm source_size_or_ignore(const Matched&, int operand) {
  return operand == 3 ? OperandForm{Type::None, 0, false, 0, true} : OperandForm{};
}
struct CpAsyncRow : EngineRow<Kind::Async, Class::Load> { static constexpr Since since{70, 80}; };
struct CpAsyncSized : CpAsyncRow { static constexpr Form form = source_size_or_ignore; };
struct CpAsyncCa : CpAsyncSized { static constexpr char syntax[] = "cp.async.ca(.shared|.shared::cta).global{.prefetch_size} [a], [b], #c:u32{, e:u32}"; };
struct CpAsyncCg : CpAsyncSized { static constexpr char syntax[] = "cp.async.cg(.shared|.shared::cta).global{.prefetch_size} [a], [b], #c:u32{, e:u32}"; };
struct CpAsyncCaHint : CpAsyncRow { static constexpr char syntax[] = "cp.async.ca(.shared|.shared::cta).global.L2::cache_hint{.prefetch_size} [a], [b], #c:u32, f:b64"; };
struct CpAsyncCgHint : CpAsyncRow { static constexpr char syntax[] = "cp.async.cg(.shared|.shared::cta).global.L2::cache_hint{.prefetch_size} [a], [b], #c:u32, f:b64"; };
struct CpAsyncCaSizeHint : CpAsyncSized { static constexpr char syntax[] = "cp.async.ca(.shared|.shared::cta).global.L2::cache_hint{.prefetch_size} [a], [b], #c:u32, e:u32, f:b64"; };
struct CpAsyncCgSizeHint : CpAsyncSized { static constexpr char syntax[] = "cp.async.cg(.shared|.shared::cta).global.L2::cache_hint{.prefetch_size} [a], [b], #c:u32, e:u32, f:b64"; };
struct CpAsyncWaitRow : EngineRow<Kind::Async, Class::Misc> { static constexpr Since since{70, 80}; };
struct CpAsyncCommit : CpAsyncWaitRow { static constexpr char syntax[] = "cp.async.commit_group"; };
struct CpAsyncWait : CpAsyncWaitRow { static constexpr char syntax[] = "cp.async.wait_group #a:u32"; };
struct CpAsyncWaitAll : CpAsyncWaitRow { static constexpr char syntax[] = "cp.async.wait_all"; };

using MemoryRows = RowList<Ld, LdGlobal, LdVolatile, LdVolatileGlobal, LdScoped, LdScopedGlobal, LdMmio, LdNc, Ldu, St, StGlobal,
                           StVolatile, StScoped, StScopedGlobal, StMmio, Prefetch, PrefetchEvict, Prefetchu, Discard, ApplyPriority,
                           AtomLogic, AtomExch, AtomCas, AtomAdd, AtomCount, AtomMinMax, AtomHalf, AtomVectorF32, AtomVectorHalf,
                           AtomVectorPacked, RedLogic, RedAdd, RedCount, RedMinMax, RedHalf, RedVectorF32, RedVectorHalf,
                           RedVectorPacked, CpAsyncCa, CpAsyncCg, CpAsyncCaHint, CpAsyncCgHint, CpAsyncCaSizeHint,
                           CpAsyncCgSizeHint, CpAsyncCommit, CpAsyncWait, CpAsyncWaitAll>;

}  // namespace warpbeam::isa::rows
