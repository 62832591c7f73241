// What outlives barriers: values of every shape, in warps that have run a region, in those that have not, and in the
// one that is handed to the interpreter in the middle of it.
#include "both_engines.h"

namespace warpbeam::vm {
namespace {

// Vectors, predicates, values of known stride, 64 bits and values of the whole block, live over a loop of barriers. In
// one round an index of one warp wraps around.
std::string loop_of_barriers(int runs_mask, int wrapping_thread) {
  return fmt::format(
      "ld.global.u32 %r1, [%at]; mul.wide.u32 %d1, %r1, %r1; and.b32 %r2, %t, {}; setp.gt.u32 %p1, %r1, 2000000000; "
      "cvt.rn.f32.u32 %f1, %r1; mov.u32 %r3, 0; mov.u32 %r4, %n;\n"
      "mov.u32 %r9, tile; mad.lo.u32 %r9, %t, 4, %r9; shr.u32 %r5, %t, 5;\n"
      "L: st.shared.u32 [%r9], %r1; bar.sync 0; add.u32 %r3, %r3, 1; xor.b32 %r6, %t, 33; mad.lo.u32 %r6, %r6, 4, 0; "
      "ld.shared.u32 %r7, [%r6]; add.u32 %r1, %r1, %r7; @%p1 add.u32 %r1, %r1, %r2;\n"
      "setp.eq.u32 %p2, %r3, 3; @!%p2 bra N; sub.u32 %r8, %t, {}; mul.wide.u32 %d2, %r8, 2; cvt.u32.u64 %r8, %d2; "
      "xor.b32 %r1, %r1, %r8; N: add.s64 %d1, %d1, 12345; fma.rn.f32 %f1, %f1, %f1, %f1;\n"
      "bar.sync 0; sub.u32 %r4, %r4, 1; setp.ne.u32 %p3, %r4, 0; @%p3 bra L; cvt.u32.u64 %r10, %d1; add.u32 %r1, %r1, "
      "%r10; add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r1, %r1, %r5;\n"
      "mov.b32 %r11, %f1; xor.b32 %r1, %r1, %r11; selp.u32 %r12, 77, 5, %p1; mad.lo.u32 %r1, %r1, 3, %r12; "
      "st.global.u32 [%at], %r1; ret;",
      runs_mask, wrapping_thread);
}

TEST_F(Engines, AgreeOnWhatOutlivesBarriers) {
  for (const int mask : {7, 15, 31, 1023}) both(loop_of_barriers(mask, 0), {2, 1, 1}, {128, 1, 1}, 5);
  EXPECT_TRUE(happened("spilled across barriers"));
}

TEST_F(Engines, AgreeWhereAWarpIsHandedOverBetweenBarriers) {
  for (const int thread : {5, 40, 70, 100}) {
    both(loop_of_barriers(7, thread), {2, 1, 1}, {128, 1, 1}, 5);
    both(loop_of_barriers(31, thread), {2, 1, 1}, {108, 1, 1}, 3);
  }
}

TEST_F(Engines, AgreeOnDecisionsOfTheBlock) {
  // Rounds that every thread counts alike, rounds that a value in memory counts, and a barrier on one way only.
  both(
      "mov.u32 %r1, %i; mov.u32 %r2, %n; mov.u32 %r9, tile; mad.lo.u32 %r9, %t, 4, %r9; A: st.shared.u32 [%r9], %r1; "
      "bar.sync 0; ld.shared.u32 %r3, [tile+16]; add.u32 %r1, %r1, %r3; bar.sync 0;\n"
      "shr.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra A; ld.global.u32 %r4, [%out]; and.b32 %r4, %r4, 3; "
      "add.u32 %r4, %r4, 2; B: bar.sync 0; add.u32 %r1, %r1, %r4; sub.u32 %r4, %r4, 1;\n"
      "setp.ne.u32 %p2, %r4, 0; @%p2 bra B; setp.gt.u32 %p3, %n, 8; @%p3 bra C; bar.sync 0; add.u32 %r1, %r1, 9; C: "
      "bar.sync 0; st.global.u32 [%at+1024], %r1; ret;",
      {1, 1, 1}, {96, 1, 1}, 16);
  EXPECT_TRUE(happened("decisions of the block"));
  EXPECT_TRUE(happened("once for the block"));
}

TEST_F(Engines, AgreeOnWarpsThatSkipARegion) {
  for (const uint32_t n : {1u, 8u, 31u, 32u, 33u, 64u, 90u})
    both(
        "mov.u32 %r9, tile; mad.lo.u32 %r9, %t, 4, %r9; st.shared.u32 [%r9], %i; mov.u32 %r8, %n; L: bar.sync 0; "
        "setp.ge.u32 %p2, %t, %r8; @%p2 bra S; ld.shared.u32 %r2, [%r9]; mad.lo.u32 %r2, %r2, 3, %r8;\n"
        "st.shared.u32 [%r9], %r2; S: bar.sync 0; shr.u32 %r8, %r8, 1; setp.ne.u32 %p1, %r8, 0; @%p1 bra L; "
        "ld.shared.u32 %r4, [%r9]; st.global.u32 [%at], %r4; ret;",
        {2, 1, 1}, {96, 1, 1}, n);
}

TEST_F(Engines, AgreeOnWhichWarpsHaveSomethingToDo) {
  // Whatever is compared, from either side, with either way idle; a value of the block is found on the idle way, and
  // one that grows from warp to warp outlives the barriers.
  for (const char* compare : {"lt.u32", "le.s32", "gt.s32", "ge.u32", "eq.u32", "ne.s32", "lo.u32", "hs.u32"})
    for (const char* operands : {"%r7, %r8", "%r8, %r7"})
      for (const char* guard : {"@%p2", "@!%p2"})
        both(fmt::format("mov.u32 %r9, tile; mad.lo.u32 %r9, %t, 4, %r9; st.shared.u32 [%r9], %i; mov.u32 %r8, %n; "
                         "mov.u32 %r5, 0; mad.lo.u32 %r6, %t, 8, 3; shr.u32 %r10, %t, 5;\n"
                         "L: bar.sync 0; add.u32 %r7, %t, 7; setp.{} %p2, {}; {} bra S; ld.shared.u32 %r2, [%r9]; "
                         "mad.lo.u32 %r2, %r2, 3, %r8; add.u32 %r2, %r2, %r6;\n"
                         "st.shared.u32 [%r9], %r2; S: add.u32 %r5, %r5, %r8; bar.sync 0; shr.u32 %r8, %r8, 1; "
                         "setp.ne.u32 %p1, %r8, 0; @%p1 bra L; ld.shared.u32 %r4, [%r9]; add.u32 %r4, %r4, %r5;\n"
                         "mad.lo.u32 %r4, %r10, 64, %r4; st.global.u32 [%at], %r4; ret;",
                         compare, operands, guard),
             {2, 1, 1}, {240, 1, 1}, 250);
}

// What leaves the kernel early stands behind all else, and uses the same registers.
TEST_F(Engines, AgreeOnLanesThatLeaveBeforeABarrier) {
  for (const char* leave : {"rem.u32 %r2, %t, 3; setp.eq.u32 %p1, %r2, 1;", "setp.eq.u32 %p1, %t, 40;"})
    both(fmt::format(
             "mov.u32 %r9, tile; mad.lo.u32 %r9, %t, 4, %r9; mad.lo.u32 %r1, %t, 3, %n; setp.gt.u32 %p2, %t, 50; {} @%p1 bra LEAVES; "
             "st.shared.u32 [%r9], %r1; bar.sync 0; ld.shared.u32 %r3, [tile]; add.u32 %r1, %r1, %r3; selp.u32 %r4, 9, 4, %p2; "
             "add.u32 %r1, %r1, %r4; st.global.u32 [%at+1024], %r1; ret;\n"
             "LEAVES: mov.u32 %r1, 77; setp.ge.u32 %p2, %r1, %n; selp.u32 %r9, 3, 4, %p2; add.u32 %r9, %r9, %r1; "
             "st.global.u32 [%at+1024], %r9; exit;",
             leave),
         {2, 1, 1}, {96, 1, 1}, 8);
}

// The same before a place where warps had better meet.
TEST_F(Engines, AgreeOnLanesThatLeaveBeforeADecision) {
  both(
      "mov.u32 %r0, 7; mad.lo.u32 %r1, %i, 2, 181; and.b32 %r1, %r1, 511; setp.eq.u32 %p1, %t, 3; setp.ge.u32 %p2, %t, 24; setp.lt.u32 %p3, %t, 40; "
      "@%p1 bra LEAVES; atom.global.add.u32 %r5, [%at+1024], %t; @!%p2 bra OTHERS; mov.u32 %r1, %n; ld.global.u32 %r0, [%out+8]; bra MEET; "
      "OTHERS: and.b32 %r1, %r1, 15; mul.wide.u32 %d1, %r1, 4; add.s64 %d1, %d1, %out; ld.global.u32 %r0, [%d1]; "
      "MEET: add.u32 %r0, %r0, %r1; st.global.u32 [%at+2048], %r0; exit; "
      "LEAVES: selp.u32 %r1, 1, 0, %p3; st.global.u32 [%at+2048], %r1; exit;",
      {2, 1, 1}, {33, 1, 1}, 1383);
}

// The kernel's first instruction is where a loop with barriers begins, whose turns are counted in memory.
TEST_F(Engines, AgreeOnLoopsFromTheFirstInstruction) {
  for (const char* start : {"", "mov.u32 %r9, 4;"})
    both(fmt::format(".version 8.5\n.target sm_90\n.address_size 64\n"
                     ".visible .entry k(.param .u64 out, .param .u32 n) {{\n"
                     ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .b32 %t, %n; .reg .b64 %out;\n"
                     ".shared .align 8 .b8 tile[4096];\n{} "
                     "L: ld.param.u64 %out, [out]; ld.global.u32 %r2, [%out]; mov.u32 %t, %tid.x; bar.sync 0; "
                     "setp.eq.u32 %p3, %r2, 0; @%p3 mul.lo.u32 %r3, %t, 5; @%p3 mov.u32 %r5, 1; @%p3 mov.u32 %r8, %t; "
                     "ld.param.u32 %n, [n]; add.u32 %r2, %r2, 1; setp.eq.u32 %p2, %t, 0; @%p2 st.global.u32 [%out], "
                     "%r2; mad.lo.u32 %r3, %t, 3, %r3; add.u32 %r8, %r8, 2; mul.wide.u32 %d1, %t, 4; mov.u64 %d2, "
                     "tile; add.s64 %d2, %d2, %d1; xor.b32 %r4, %r3, %r2; add.u32 %r5, %r5, 7; st.shared.u32 [%d2], "
                     "%r4; bar.sync 0; xor.b32 %r6, %t, 33; mul.wide.u32 %d3, %r6, 4; mov.u64 %d4, tile; add.s64 %d3, "
                     "%d3, %d4; ld.shared.u32 %r7, [%d3]; add.u32 %r3, %r3, %r7; bar.sync 0; setp.lt.u32 %p1, %r2, "
                     "%n; @%p1 bra L; add.s64 %d1, %d1, %out; add.u32 %r3, %r3, %r5; mad.lo.u32 %r3, %r3, 3, %r8; "
                     "st.global.u32 [%d1+1024], %r3; ret;\n}}\n",
                     start),
         {1, 1, 1}, {64, 1, 1}, 5);
}

}  // namespace
}  // namespace warpbeam::vm
