// Masks of `and` that are only known at run time: what compiled code guesses of their lowest bits holds for some of them.
#include "both_engines.h"

namespace warpbeam::vm {
namespace {

constexpr uint32_t kDistances[] = {1, 2, 4, 8, 16, 32, 64, 128, 3, 33, 48, 96, 0, 0x80000000u, 0xffffffffu};

// A step of the bitonic network in global memory, with the direction from another mask.
TEST_F(Engines, AgreeOnPartnersOfAnyDistance) {
  for (const uint32_t n : kDistances)
    for (const uint32_t threads : {128u, 180u})  // in one block: neighbours store to one place
      both(
          "shl.b32 %r1, %i, 1; add.s32 %r2, %n, -1; and.b32 %r3, %r2, %i; sub.s32 %r4, %r1, %r3; mul.wide.s32 %d1, "
          "%r4, 4; add.s64 %d1, %out, %d1; ld.global.u32 %r5, [%d1]; add.s32 %r6, %r4, %n; and.b32 %r6, %r6, 1023; "
          "mul.wide.u32 %d2, %r6, 4; add.s64 %d2, %out, %d2; ld.global.u32 %r7, [%d2]; shl.b32 %r8, %n, 1; and.b32 "
          "%r9, %r4, %r8; setp.gt.u32 %p1, %r5, %r7; setp.ne.s32 %p2, %r9, 0; xor.pred %p3, %p1, %p2; @%p3 bra E; "
          "st.global.u32 [%d1+8192], %r7; st.global.u32 [%d1+8196], %r5; E: ret;",
          {1, 1, 1}, {threads, 1, 1}, n);
  EXPECT_TRUE(happened("guessed masks"));
}

// Distances that change from barrier to barrier, down to the smallest.
TEST_F(Engines, AgreeOnANetworkInSharedMemory) {
  for (const uint32_t n : {128u, 64u, 32u, 16u, 96u, 100u, 2u})
    both(
        "mov.u64 %d9, tile; shl.b32 %r1, %t, 1; mul.wide.u32 %d1, %t, 4; add.s64 %d1, %d9, %d1; mul.lo.u32 %r2, %i, "
        "0x9e3779b1; st.shared.u32 [%d1], %r2; not.b32 %r2, %r2; st.shared.u32 [%d1+512], %r2; mov.u32 %r10, %n;\n"
        "L: bar.sync 0; sub.s32 %r3, %r10, 1; and.b32 %r4, %t, %r3; sub.s32 %r5, %r1, %r4; mul.wide.s32 %d2, %r5, 4; "
        "add.s64 %d2, %d9, %d2; ld.shared.u32 %r6, [%d2]; add.s32 %r7, %r5, %r10; mul.wide.s32 %d3, %r7, 4; add.s64 "
        "%d3, %d9, %d3; ld.shared.u32 %r8, [%d3]; and.b32 %r9, %r5, %n; setp.ne.s32 %p1, %r9, 0; setp.gt.u32 %p2, "
        "%r6, %r8; xor.pred %p3, %p1, %p2; @!%p3 bra N; st.shared.u32 [%d2], %r8; st.shared.u32 [%d3], %r6;\n"
        "N: shr.u32 %r10, %r10, 1; setp.ne.s32 %p4, %r10, 0; @%p4 bra L; bar.sync 0; ld.shared.u32 %r11, [%d1]; "
        "ld.shared.u32 %r12, [%d1+512]; mad.lo.u32 %r11, %r12, 77, %r11; st.global.u32 [%at], %r11; ret;",
        {2, 1, 1}, {128, 1, 1}, n);
}

// The value with a guessed shape outlives barriers, is what decides, and comes from a loop.
TEST_F(Engines, AgreeOnMaskedNumbersThatAreKept) {
  for (const uint32_t n : kDistances) {
    both(
        "and.b32 %r1, %t, %n; sub.s32 %r2, %n, 1; and.b32 %r3, %t, %r2; bar.sync 0; mad.lo.u32 %r1, %r3, 1000, %r1; "
        "bar.sync 0; and.b32 %r4, %r3, %n; add.u32 %r1, %r1, %r4; st.global.u32 [%at], %r1; ret;",
        {2, 1, 1}, {96, 1, 1}, n);
    both(
        "mov.u32 %r1, 0; mov.u32 %r2, %n; mov.u32 %r5, 0; L: and.b32 %r3, %t, %r2; setp.eq.s32 %p1, %r3, 0; @%p1 bra "
        "S; add.u32 %r1, %r1, %r3; S: shr.u32 %r2, %r2, 1; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 9; @%p2 bra L; "
        "st.global.u32 [%at], %r1; ret;",
        {2, 1, 1}, {96, 1, 1}, n);
    both(
        "and.b32 %r3, %n, %t; setp.ne.s32 %p1, %r3, 0; @%p1 bra E; mul.wide.u32 %d1, %r3, 64; add.s64 %d1, %d1, %out; "
        "ld.global.u32 %r4, [%d1]; st.global.u32 [%at], %r4; E: ret;",
        {2, 1, 1}, {96, 1, 1}, n);
  }
}

TEST_F(Engines, AgreeOnFaultsBeyondAGuess) {
  for (const uint32_t n : {32u, 64u, 2048u, 0x40000000u, 0x80000000u})
    both(
        "sub.s32 %r1, %n, 1; and.b32 %r2, %i, %r1; mul.lo.s32 %r3, %n, 3; add.s32 %r2, %r2, %r3; mul.wide.s32 %d1, "
        "%r2, 16; add.s64 %d1, %out, %d1; ld.global.u32 %r4, [%d1]; st.global.u32 [%at], %r4; ret;",
        {2, 1, 1}, {64, 1, 1}, n);
}

}  // namespace
}  // namespace warpbeam::vm
