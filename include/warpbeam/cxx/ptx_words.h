// cuda::ptx: what computes with a word, shuffles, and the rarer registers.
#ifndef WARPBEAM_CXX_PTX_WORDS_H
#define WARPBEAM_CXX_PTX_WORDS_H

#include "ptx_barriers.h"

namespace cuda {
namespace ptx {

#define WB_FIND(T, type, constraint)                                     \
  WB_ASYNC ::std::uint32_t bfind(T a) {                                  \
    ::std::uint32_t v = 0;                                               \
    WB_ASM("bfind." type " %0, %1;" : "=r"(v) : constraint(a));          \
    return v;                                                            \
  }                                                                      \
  WB_ASYNC ::std::uint32_t bfind_shiftamt(T a) {                         \
    ::std::uint32_t v = 0;                                               \
    WB_ASM("bfind.shiftamt." type " %0, %1;" : "=r"(v) : constraint(a)); \
    return v;                                                            \
  }
WB_FIND(::std::uint32_t, "u32", "r")
WB_FIND(::std::int32_t, "s32", "r")
WB_FIND(::std::uint64_t, "u64", "l")
WB_FIND(::std::int64_t, "s64", "l")
#undef WB_FIND

#define WB_MASK(mode)                                                             \
  WB_ASYNC ::std::uint32_t bmsk_##mode(::std::uint32_t a, ::std::uint32_t b) {    \
    ::std::uint32_t v = 0;                                                        \
    WB_ASM("bmsk." #mode ".b32 %0, %1, %2;" : "=r"(v) : "r"(a), "r"(b));          \
    return v;                                                                     \
  }
#if WB_HAS_ARCH(700)
WB_MASK(clamp)
WB_MASK(wrap)
#endif
#undef WB_MASK

// Words are whatever has their size.
#define WB_PERMUTE(name, mode)                                                                                       \
  template <class T>                                                                                                 \
  WB_ASYNC ::std::uint32_t name(T a, T b, ::std::uint32_t selector) {                                                \
    static_assert(sizeof(T) == 4, "cuda::ptx::prmt takes values of 32 bits");                                        \
    ::std::uint32_t v = 0;                                                                                           \
    WB_ASM("prmt.b32" mode " %0, %1, %2, %3;"                                                                        \
           : "=r"(v)                                                                                                 \
           : "r"(__builtin_bit_cast(::std::uint32_t, a)), "r"(__builtin_bit_cast(::std::uint32_t, b)), "r"(selector)); \
    return v;                                                                                                        \
  }
WB_PERMUTE(prmt, "")
WB_PERMUTE(prmt_f4e, ".f4e")
WB_PERMUTE(prmt_b4e, ".b4e")
WB_PERMUTE(prmt_rc8, ".rc8")
WB_PERMUTE(prmt_ecl, ".ecl")
WB_PERMUTE(prmt_ecr, ".ecr")
WB_PERMUTE(prmt_rc16, ".rc16")
#undef WB_PERMUTE

// Counts beyond the width are the width: zero, or the sign of what is signed.
template <class T>
WB_ASYNC T shl(T a, ::std::uint32_t n) {
  return n >= 8 * sizeof(T) ? T(0) : T(static_cast<::std::make_unsigned_t<T>>(a) << n);
}
template <class T>
WB_ASYNC T shr(T a, ::std::uint32_t n) {
  if (n < 8 * sizeof(T)) return T(a >> n);
  return a < T(0) ? T(-1) : T(0);
}

// `where` is PTX's third operand: the last lane of a segment, and above it which bits of a lane name the segment.
#define WB_SHUFFLE(mode)                                                                                              \
  template <class T>                                                                                                  \
  WB_ASYNC T shfl_sync_##mode(T data, bool& found, ::std::uint32_t lane, ::std::uint32_t where, ::std::uint32_t mask) { \
    static_assert(sizeof(T) == 4, "cuda::ptx::shfl_sync takes values of 32 bits");                                    \
    ::std::uint32_t v = 0;                                                                                            \
    int valid = 0;                                                                                                    \
    WB_ASM("{ .reg .pred p; shfl.sync." #mode ".b32 %0|p, %2, %3, %4, %5; selp.b32 %1, 1, 0, p; }"                    \
           : "=r"(v), "=r"(valid)                                                                                     \
           : "r"(__builtin_bit_cast(::std::uint32_t, data)), "r"(lane), "r"(where), "r"(mask));                       \
    found = valid != 0;                                                                                               \
    return __builtin_bit_cast(T, v);                                                                                  \
  }                                                                                                                   \
  template <class T>                                                                                                  \
  WB_ASYNC T shfl_sync_##mode(T data, ::std::uint32_t lane, ::std::uint32_t where, ::std::uint32_t mask) {            \
    bool found = false;                                                                                               \
    return shfl_sync_##mode(data, found, lane, where, mask);                                                          \
  }
WB_SHUFFLE(idx)
WB_SHUFFLE(up)
WB_SHUFFLE(down)
WB_SHUFFLE(bfly)
#undef WB_SHUFFLE

#define WB_REGISTER(T, name, constraint, instruction) \
  WB_ASYNC T get_sreg_##name() {                      \
    T v = 0;                                          \
    WB_ASM(instruction : "=" constraint(v));          \
    return v;                                         \
  }
WB_REGISTER(::std::uint32_t, nwarpid, "r", "mov.u32 %0, %%nwarpid;")
WB_REGISTER(::std::uint64_t, gridid, "l", "mov.u64 %0, %%gridid;")
WB_REGISTER(::std::uint32_t, clock_hi, "r", "mov.u32 %0, %%clock_hi;")
WB_REGISTER(::std::uint32_t, globaltimer_lo, "r", "mov.u32 %0, %%globaltimer_lo;")
WB_REGISTER(::std::uint32_t, globaltimer_hi, "r", "mov.u32 %0, %%globaltimer_hi;")
WB_REGISTER(::std::uint32_t, total_smem_size, "r", "mov.u32 %0, %%total_smem_size;")
WB_REGISTER(::std::uint32_t, dynamic_smem_size, "r", "mov.u32 %0, %%dynamic_smem_size;")
#if WB_HAS_ARCH(500)
WB_REGISTER(::std::uint64_t, current_graph_exec, "l", "mov.u64 %0, %%current_graph_exec;")
#endif
#if WB_HAS_ARCH(900)
WB_REGISTER(::std::uint32_t, aggr_smem_size, "r", "mov.u32 %0, %%aggr_smem_size;")
WB_ASYNC bool get_sreg_is_explicit_cluster() {
  int v = 0;
  WB_ASM("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.b32 %0, 1, 0, p; }" : "=r"(v));
  return v != 0;
}
#endif
#undef WB_REGISTER

WB_ASYNC void exit() { WB_ASM("exit;"); }
WB_ASYNC void trap() { WB_ASM("trap;"); }

#if WB_HAS_ARCH(800)
WB_ASYNC void cp_async_mbarrier_arrive(::std::uint64_t* b) {
  WB_ASM("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(wb_async::shared_address(b)) : "memory");
}
WB_ASYNC void cp_async_mbarrier_arrive_noinc(::std::uint64_t* b) {
  WB_ASM("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(wb_async::shared_address(b)) : "memory");
}
WB_ASYNC ::std::uint64_t mbarrier_arrive_no_complete(::std::uint64_t* b, const ::std::uint32_t& count) {
  ::std::uint64_t token = 0;
  WB_ASM("mbarrier.arrive.noComplete.shared.b64 %0, [%1], %2;"
         : "=l"(token)
         : "r"(wb_async::shared_address(b)), "r"(count)
         : "memory");
  return token;
}
#endif

}  // namespace ptx
}  // namespace cuda

#endif
