// The instructions on barriers in shared memory, as functions.
#ifndef WARPBEAM_CXX_MBARRIER_H
#define WARPBEAM_CXX_MBARRIER_H

#include "../prelude.h"

#ifdef __CUDA_ARCH__
#define WB_ASM(...) asm volatile(__VA_ARGS__)
#else
#define WB_ASM(...)
#endif
#define WB_ASYNC __forceinline__ __device__

namespace wb_async {

typedef unsigned long long Word;

WB_ASYNC unsigned int shared_address(const void* p) { return (unsigned int)__cvta_generic_to_shared(p); }

WB_ASYNC void init(Word* b, unsigned int count) {
  WB_ASM("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(count) : "memory");
}
WB_ASYNC void inval(Word* b) { WB_ASM("mbarrier.inval.shared.b64 [%0];" ::"r"(shared_address(b)) : "memory"); }
WB_ASYNC Word arrive(Word* b) {
  Word token = 0;
  WB_ASM("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(shared_address(b)) : "memory");
  return token;
}
// Counts go through single arrivals where the device has no other instruction that may end a phase.
WB_ASYNC Word arrive(Word* b, unsigned int count) {
  Word token = 0;
#if WB_HAS_ARCH(900)
  WB_ASM("mbarrier.arrive.shared.b64 %0, [%1], %2;" : "=l"(token) : "r"(shared_address(b)), "r"(count) : "memory");
#else
  if (count > 1)
    WB_ASM("mbarrier.arrive.noComplete.shared.b64 %0, [%1], %2;"
           : "=l"(token)
           : "r"(shared_address(b)), "r"(count - 1)
           : "memory");
  WB_ASM("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(shared_address(b)) : "memory");
#endif
  return token;
}
WB_ASYNC Word arrive_drop(Word* b) {
  Word token = 0;
  WB_ASM("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(token) : "r"(shared_address(b)) : "memory");
  return token;
}
WB_ASYNC bool test_wait(Word* b, Word token) {
  int done = 0;
  WB_ASM("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
         : "=r"(done)
         : "r"(shared_address(b)), "l"(token)
         : "memory");
  return done != 0;
}
WB_ASYNC bool test_wait_parity(Word* b, unsigned int parity) {
  int done = 0;
  WB_ASM("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
         : "=r"(done)
         : "r"(shared_address(b)), "r"(parity)
         : "memory");
  return done != 0;
}
// These may sleep before they answer, where the device can.
WB_ASYNC bool try_wait(Word* b, Word token) {
#if WB_HAS_ARCH(900)
  int done = 0;
  WB_ASM("{ .reg .pred p; mbarrier.try_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
         : "=r"(done)
         : "r"(shared_address(b)), "l"(token)
         : "memory");
  return done != 0;
#else
  return test_wait(b, token);
#endif
}
WB_ASYNC bool try_wait_parity(Word* b, unsigned int parity) {
#if WB_HAS_ARCH(900)
  int done = 0;
  WB_ASM("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
         : "=r"(done)
         : "r"(shared_address(b)), "r"(parity)
         : "memory");
  return done != 0;
#else
  return test_wait_parity(b, parity);
#endif
}
WB_ASYNC unsigned int pending_count(Word token) {
  unsigned int count = 0;
  WB_ASM("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(token));
  return count;
}
#if WB_HAS_ARCH(900)
WB_ASYNC void expect_tx(Word* b, unsigned int bytes) {
  WB_ASM("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(bytes) : "memory");
}
WB_ASYNC Word arrive_expect_tx(Word* b, unsigned int bytes) {
  Word token = 0;
  WB_ASM("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %0, [%1], %2;"
         : "=l"(token)
         : "r"(shared_address(b)), "r"(bytes)
         : "memory");
  return token;
}
#endif

// Copies of 4, 8 and 16 bytes that go past the registers; `source_bytes` of them are read and the rest are zeros.
template <int bytes>
WB_ASYNC void copy(void* to, const void* from, unsigned int source_bytes) {
  if (bytes == 16)
    WB_ASM("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(source_bytes)
           : "memory");
  else if (bytes == 8)
    WB_ASM("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(shared_address(to)), "l"(from), "r"(source_bytes)
           : "memory");
  else
    WB_ASM("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(to)), "l"(from), "r"(source_bytes)
           : "memory");
}
WB_ASYNC void commit_group() { WB_ASM("cp.async.commit_group;" ::: "memory"); }
template <int open>
WB_ASYNC void wait_group() {
  WB_ASM("cp.async.wait_group %0;" ::"n"(open) : "memory");
}
WB_ASYNC void wait_all() { WB_ASM("cp.async.wait_all;" ::: "memory"); }
WB_ASYNC void copies_arrive(Word* b) {
  WB_ASM("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(shared_address(b)) : "memory");
}

// Global to shared memory in pieces of 4, 8 or 16 bytes that lie so on both sides, or else of a byte.
WB_ASYNC void copy_pieces(void* to, const void* from, __SIZE_TYPE__ bytes, __SIZE_TYPE__ unit, __SIZE_TYPE__ first, __SIZE_TYPE__ step) {
  char* t = (char*)to;
  const char* f = (const char*)from;
#if WB_HAS_ARCH(800)
  if (unit >= 4) {
    if (unit == 16)
      for (__SIZE_TYPE__ i = first * 16; i < bytes; i += step * 16) copy<16>(t + i, f + i, 16);
    else if (unit == 8)
      for (__SIZE_TYPE__ i = first * 8; i < bytes; i += step * 8) copy<8>(t + i, f + i, 8);
    else
      for (__SIZE_TYPE__ i = first * 4; i < bytes; i += step * 4) copy<4>(t + i, f + i, 4);
    return;
  }
#endif
  for (__SIZE_TYPE__ i = first; i < bytes; i += step) t[i] = f[i];
}
// Shared memory from memory that may be anything: by the instruction where the sides allow it.
WB_ASYNC void copy_any(void* to, const void* from, __SIZE_TYPE__ bytes, __SIZE_TYPE__ first, __SIZE_TYPE__ step) {
  const __SIZE_TYPE__ low = (__SIZE_TYPE__)to | (__SIZE_TYPE__)from | bytes;
#if WB_HAS_ARCH(800)
  if (low % 4 == 0 && __isShared(to) && __isGlobal(from))
    return copy_pieces(to, from, bytes, low % 16 == 0 ? 16 : low % 8 == 0 ? 8 : 4, first, step);
#endif
  char* t = (char*)to;
  const char* f = (const char*)from;
  if (low % 4 == 0)
    for (__SIZE_TYPE__ i = first * 4; i < bytes; i += step * 4) *(unsigned int*)(t + i) = *(const unsigned int*)(f + i);
  else
    for (__SIZE_TYPE__ i = first; i < bytes; i += step) t[i] = f[i];
}

}  // namespace wb_async

#endif
