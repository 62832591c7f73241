// Blocks of a single thread: every value is kept as one number, and local memory is this thread's alone.
#include "both_engines.h"

namespace warpbeam::vm {
namespace {

constexpr std::array<uint32_t, 3> kOne{1, 1, 1}, kSome{3, 1, 1};

TEST_F(Engines, AgreeOnALoneThreadsLane) {
  both(
      "mov.u32 %r1, %laneid; mov.u32 %r2, %lanemask_eq; mov.u32 %r3, %lanemask_lt; mov.u32 %r4, %lanemask_le; mov.u32 %r5, %lanemask_ge; mov.u32 %r6, %lanemask_gt;\n"
      "mad.lo.u32 %r1, %r2, 3, %r1; mad.lo.u32 %r1, %r1, 31, %r3; mad.lo.u32 %r1, %r1, 31, %r4; mad.lo.u32 %r1, %r1, 31, %r5; mad.lo.u32 %r1, %r1, 31, %r6;\n"
      "activemask.b32 %r7; vote.sync.ballot.b32 %r8, 1, 1; mad.lo.u32 %r1, %r1, 31, %r7; mad.lo.u32 %r1, %r1, 31, %r8; mov.u32 %r9, %warpid; add.u32 %r1, %r1, %r9;\n"
      "st.global.u32 [%at+64], %r1; ret;",
      kSome, kOne, 5);
}

TEST_F(Engines, AgreeOnALoneThreadsLocalMemory) {
  // Words, parts of words and pairs, at places that are known, that are counted and that memory tells.
  both(
      ".local .align 8 .b8 a[128]; mov.u64 %d1, a; mov.u32 %r2, 0; I: mad.lo.u32 %r3, %r2, %n, 7; mad.wide.u32 %d2, %r2, 4, %d1; st.local.u32 [%d2], %r3; add.u32 %r2, %r2, 1;\n"
      "setp.lt.u32 %p1, %r2, 32; @%p1 bra I; ld.global.u32 %r4, [%at]; and.b32 %r4, %r4, 28; cvt.u64.u32 %d3, %r4; add.s64 %d3, %d3, %d1; ld.local.u32 %r5, [%d3];\n"
      "st.local.u8 [%d3+1], %r5; ld.local.s16 %h1, [%d3]; cvt.s32.s16 %r6, %h1; ld.local.v2.u32 {%r7, %r8}, [%d1+64]; st.local.v2.u32 [%d1+8], {%r8, %r6}; ld.local.u64 %d4, [%d1+8];\n"
      "cvta.local.u64 %d5, %d3; ld.u32 %r9, [%d5]; cvt.u32.u64 %r10, %d4; mad.lo.u32 %r5, %r5, 3, %r6; mad.lo.u32 %r5, %r5, 3, %r7; mad.lo.u32 %r5, %r5, 3, %r9; add.u32 %r5, %r5, %r10;\n"
      "setp.gt.u32 %p2, %r5, 9; @%p2 ld.local.s8 %r5, [%d1+13]; @!%p2 st.local.u32 [%d1], %r5; ld.local.u32 %r11, [%d1]; add.u32 %r5, %r5, %r11; st.global.u32 [%at], %r5; ret;",
      kSome, kOne, 12345);
}

TEST_F(Engines, AgreeOnALoneThreadsExchanges) {
  both(
      "ld.global.u32 %r1, [%at]; shfl.sync.up.b32 %r2|%p1, %r1, 3, 0, 1; shfl.sync.idx.b32 %r3|%p2, %r1, 0, 31, 1; redux.sync.add.s32 %r4, %r1, 1; match.any.sync.b32 %r5, %r1, 1;\n"
      "selp.u32 %r6, 7, 1, %p1; selp.u32 %r7, 5, 2, %p2; mad.lo.u32 %r2, %r2, %r6, %r3; mad.lo.u32 %r2, %r2, %r7, %r4; add.u32 %r2, %r2, %r5;\n"
      "atom.global.add.u32 %r8, [%out+2048], %r1; atom.global.cas.b32 %r9, [%at], %r1, %r2; st.shared.u32 [tile], %r1; bar.sync 0; atom.shared.max.u32 %r10, [tile], %r2; red.shared.add.u32 [tile], 9;\n"
      "ld.shared.u32 %r11, [tile]; xor.b32 %r9, %r9, %r10; xor.b32 %r9, %r9, %r11; st.global.u32 [%at+512], %r9; st.global.u32 [%at+768], %r2; ret;",
      kOne, kOne, 3);
}

TEST_F(Engines, AgreeOnALoneThreadsWays) {
  // Ways that memory decides, a switch, and a thread that leaves from within a loop.
  for (const uint32_t n : {1u, 4u, 9u, 40u})
    both(
        "mov.u32 %r1, 0; mov.u32 %r2, %n; L: mad.wide.u32 %d1, %r1, 4, %out; ld.global.u32 %r3, [%d1]; and.b32 %r4, %r3, 3; setp.eq.u32 %p1, %r4, 1; @%p1 add.u32 %r2, %r2, %r3; @%p1 bra N;\n"
        "ts: .branchtargets A, B, C, N; brx.idx %r4, ts; A: mul.lo.u32 %r2, %r2, 5; bra N; B: xor.b32 %r2, %r2, %r3; C: cvt.rn.f32.u32 %f1, %r3; sqrt.rn.f32 %f1, %f1; cvt.rzi.u32.f32 %r5, %f1; add.u32 %r2, %r2, %r5;\n"
        "N: add.u32 %r1, %r1, 1; st.global.u32 [%at+1024], %r2; setp.gt.u32 %p2, %r1, 30; @%p2 ret; setp.lt.u32 %p3, %r1, %n; @%p3 bra L; st.global.u32 [%at+2048], %r1; ret;",
        kSome, kOne, n);
  EXPECT_TRUE(happened("a lone thread"));
}

TEST_F(Engines, AgreeOnALoneThreadsFaults) {
  const std::string begin = ".local .align 8 .b8 a[64]; mov.u64 %d1, a; mad.wide.u32 %d2, %n, 1, %d1; st.local.u32 [%d1], %i; ";
  EXPECT_EQ(both(begin + "ld.local.u32 %r1, [%d2]; st.global.u32 [%at], %r1; ret;", kOne, kOne, 60).failure, "");
  EXPECT_NE(both(begin + "st.local.u32 [%d2], %r1; ret;", kOne, kOne, 1 << 30).failure.find("__local__"), std::string::npos);
  EXPECT_NE(both(begin + "ld.local.u32 %r1, [%d2]; st.global.u32 [%at], %r1; ret;", kOne, kOne, 2).failure.find("aligned"),
            std::string::npos);
  EXPECT_NE(both(begin + "mad.wide.u32 %d3, %n, 4, %out; st.global.u32 [%d3], %r1; ret;", kOne, kOne, 1 << 28).failure, "");
}

}  // namespace
}  // namespace warpbeam::vm
