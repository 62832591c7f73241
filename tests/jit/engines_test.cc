// Small kernels on the interpreter and on the fast engine.
#include <unistd.h>

#include <cstdlib>

#include "both_engines.h"

namespace warpbeam::vm {
namespace {

TEST_F(Engines, AgreeWhereTheLastWarpIsPartial) {
  const Outcome o = both(
      "setp.ge.u32 %p1, %i, %n; @%p1 bra END; ld.global.u32 %r1, [%at]; mad.lo.u32 %r1, %r1, 3, %t; st.global.u32 [%at], %r1; END: ret;",
      {3, 1, 1}, {77, 1, 1}, 200);
  EXPECT_EQ(o.words[5], 5u * 2654435761u * 3u + 5u);
  EXPECT_EQ(o.words[200], 200u * 2654435761u);
}

TEST_F(Engines, AgreeOnNestedBranches) {
  both(
      "and.b32 %r1, %i, 3; setp.eq.u32 %p1, %r1, 0; setp.lt.u32 %p2, %t, 10; mov.u32 %r2, 7; @%p1 bra A; @%p2 bra B; mov.u32 %r2, 1; bra J;\n"
      "B: add.u32 %r2, %r2, %i; bra J; A: @%p2 bra C; mul.lo.u32 %r2, %i, 5; bra J; C: mov.u32 %r2, 99; J: st.global.u32 [%at], %r2; ret;",
      {2, 1, 1}, {64, 1, 1}, 0);
}

TEST_F(Engines, AgreeOnLoopsThatLanesLeaveAtDifferentTimes) {
  both(
      "mov.u32 %r1, 0; mov.u32 %r2, %i; L: add.u32 %r1, %r1, %r2; mad.lo.u32 %r2, %r2, 1103515245, 12345; and.b32 %r3, %r2, 15; setp.eq.u32 %p1, %r3, 3; @%p1 bra X;\n"
      "and.b32 %r4, %r2, 7; setp.eq.u32 %p2, %r4, 6; @%p2 bra L; add.u32 %r1, %r1, 1; setp.lt.u32 %p3, %r1, 4000000000; @%p3 bra L; X: st.global.u32 [%at], %r1; ret;",
      {2, 1, 1}, {96, 1, 1}, 0);
}

TEST_F(Engines, AgreeOnValuesThatOutliveALoop) {
  both(
      "mov.u32 %r1, 0; and.b32 %r3, %t, 7; L: mul.lo.u32 %r2, %r1, %r1; add.u32 %r1, %r1, 1; setp.le.u32 %p1, %r1, %r3; @%p1 bra L; add.u32 %r2, %r2, %r1; st.global.u32 [%at], %r2; ret;",
      {1, 1, 1}, {64, 1, 1}, 0);
}

TEST_F(Engines, AgreeOnGuardedInstructions) {
  both(
      "setp.lt.u32 %p1, %t, 20; setp.lt.u32 %p2, %n, 5; mov.u32 %r1, 3; @%p1 mov.u32 %r1, %t; @!%p1 add.u32 %r1, %r1, %i; @%p2 mul.lo.u32 %r1, %r1, 9;\n"
      "@%p1 ld.global.u32 %r2, [%at]; @!%p1 mov.u32 %r2, 1; xor.b32 %r1, %r1, %r2; @%p1 st.global.u32 [%at], %r1; @%p1 exit; st.global.u32 [%at], %r2; ret;",
      {2, 1, 1}, {64, 1, 1}, 3);
}

TEST_F(Engines, AgreeOnATreeReduction) {
  const Outcome o = both(
      "ld.global.u32 %r1, [%at]; mov.u32 %r9, tile; mad.lo.u32 %r9, %t, 4, %r9; st.shared.u32 [%r9], %r1; bar.sync 0; mov.u32 %r8, %s;\n"
      "L: shr.u32 %r8, %r8, 1; setp.eq.u32 %p1, %r8, 0; @%p1 bra X; setp.ge.u32 %p2, %t, %r8; @%p2 bra S; shl.b32 %r7, %r8, 2; add.u32 %r7, %r7, %r9;\n"
      "ld.shared.u32 %r2, [%r7]; ld.shared.u32 %r3, [%r9]; add.u32 %r2, %r2, %r3; st.shared.u32 [%r9], %r2; S: bar.sync 0; bra L;\n"
      "X: setp.ne.u32 %p3, %t, 0; @%p3 bra E; st.global.u32 [%at], %r1; ld.shared.u32 %r4, [tile]; st.global.u32 [%at], %r4; E: ret;",
      {3, 1, 1}, {256, 1, 1}, 0);
  uint32_t sum = 0;
  for (uint32_t k = 0; k < 256; ++k) sum += k * 2654435761u;
  EXPECT_EQ(o.words[0], sum);
}

TEST_F(Engines, AgreeOnTwoDimensionalBlocks) {
  both(
      "mov.u32 %r1, %tid.y; mad.lo.u32 %r2, %r1, 16, %t; mad.lo.u32 %r3, %c, 256, %r2; mul.lo.u32 %r4, %t, %n; add.u32 %r4, %r4, %r1; mul.wide.u32 %d1, %r3, 4; add.s64 %d1, %out, %d1;\n"
      "mov.u32 %r9, tile; mad.lo.u32 %r5, %r2, 4, %r9; ld.global.u32 %r6, [%d1]; st.shared.u32 [%r5], %r6; bar.sync 0; mad.lo.u32 %r7, %t, 16, %r1; mad.lo.u32 %r7, %r7, 4, %r9;\n"
      "ld.shared.u32 %r8, [%r7]; add.u32 %r8, %r8, %r4; st.global.u32 [%d1], %r8; ret;",
      {4, 1, 1}, {16, 16, 1}, 1000);
}

TEST_F(Engines, AgreeWhereThreadsLeaveBeforeABarrier) {
  both(
      "setp.ge.u32 %p1, %t, 40; @%p1 ret; mov.u32 %r9, tile; mad.lo.u32 %r9, %t, 4, %r9; st.shared.u32 [%r9], %i; bar.sync 0; sub.u32 %r1, 39, %t; mov.u32 %r2, tile;\n"
      "mad.lo.u32 %r2, %r1, 4, %r2; ld.shared.u32 %r3, [%r2]; st.global.u32 [%at], %r3; ret;",
      {2, 1, 1}, {96, 1, 1}, 0);
}

TEST_F(Engines, AgreeOnBarriersThatSomeWarpsPassMoreOften) {
  // The warps do not agree on the number of rounds: the block is handed to the interpreter.
  both(
      "shr.u32 %r1, %t, 5; add.u32 %r1, %r1, 1; mov.u32 %r2, 0; L: bar.sync 0; add.u32 %r2, %r2, %t; sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra L; st.global.u32 [%at], %r2; ret;",
      {2, 1, 1}, {96, 1, 1}, 0);
}

TEST_F(Engines, AgreeOnBarrierReductions) {
  both(
      "and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 0; setp.lt.u32 %p2, %t, %n; bar.red.popc.u32 %r2, 0, %p1; bar.red.and.pred %p3, 0, %p2; bar.red.or.pred %p4, 0, %p1;\n"
      "selp.u32 %r3, 100, 200, %p3; selp.u32 %r4, 3, 4, %p4; add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; st.global.u32 [%at], %r2; ret;",
      {1, 1, 1}, {70, 1, 1}, 70);
}

TEST_F(Engines, AgreeOnShufflesAndVotes) {
  both(
      "shfl.sync.down.b32 %r1|%p1, %i, 3, 31, -1; shfl.sync.bfly.b32 %r2, %i, 5, 31, -1; and.b32 %r3, %t, 9; shfl.sync.idx.b32 %r4|%p2, %i, %r3, 0x1807, -1; setp.gt.u32 %p3, %r1, %n;\n"
      "vote.sync.ballot.b32 %r5, %p3, -1; vote.sync.all.pred %p4, %p2, -1; selp.u32 %r6, 1, 0, %p4; redux.sync.add.u32 %r7, %i, -1; xor.b32 %r1, %r1, %r2; xor.b32 %r1, %r1, %r4;\n"
      "add.u32 %r1, %r1, %r5; add.u32 %r1, %r1, %r6; xor.b32 %r1, %r1, %r7; st.global.u32 [%at], %r1; ret;",
      {2, 1, 1}, {64, 1, 1}, 20);
}

TEST_F(Engines, AgreeWhereAShuffleWaitsForLanesElsewhere) {
  both(
      "and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra A; mov.u32 %r2, 5; shfl.sync.idx.b32 %r3, %i, 1, 31, 0xaaaaaaaa; bra J; A: shfl.sync.idx.b32 %r3, %i, 2, 31, 0x55555555; J: st.global.u32 [%at], %r3; ret;",
      {1, 1, 1}, {64, 1, 1}, 0);
}

TEST_F(Engines, AgreeOnNotANumber) {
  both(
      "cvt.rn.f32.u32 %f1, %t; mov.f32 %f2, 0fFFC12345; mov.f32 %f3, 0f7F800000; sub.f32 %f4, %f3, %f3; add.f32 %f5, %f2, %f1; fma.rn.f32 %f6, %f4, %f1, %f5; mov.f32 %f7, %f6;\n"
      "mov.b32 %r1, %f7; min.f32 %f8, %f2, %f1; div.rn.f32 %f9, %f1, %f8; sqrt.rn.f32 %f10, %f9; neg.f32 %f11, %f10; mov.b32 %r2, %f11; xor.b32 %r1, %r1, %r2; mov.b32 %r3, %f5; add.u32 %r1, %r1, %r3;\n"
      "cvt.f64.f32 %g1, %f1; rcp.rn.f64 %g2, %g1; mul.f64 %g3, %g2, %g1; mov.b64 %d1, %g3; cvt.u32.u64 %r4, %d1; cvt.rzi.s32.f32 %r5, %f9; add.u32 %r1, %r1, %r4; add.u32 %r1, %r1, %r5; st.global.u32 [%at], %r1; ret;",
      {1, 1, 1}, {64, 1, 1}, 0);
}

TEST_F(Engines, AgreeOnUpperHalvesOfProducts) {
  for (const char* type : {"u64", "s64"})
    for (const char* bits : {"0xffffffffffffffff", "0x8000000000000000", "0x00000000ffffffff", "0xfffffffffffffff8"})
      both(
          fmt::format(
              "ld.global.u32 %r1, [%at]; mul.lo.u32 %r2, %r1, 2246822519; mov.b64 %d1, {{%r1, %r2}}; mul.lo.u32 %r3, %r2, 40503; mov.b64 %d2, {{%r3, %r1}}; and.b64 %d1, %d1, {1}; or.b64 %d2, %d2, {1};\n"
              "mul.hi.{0} %d3, %d1, %d2; mad.hi.{0} %d4, %d2, %d2, %d3; mul.hi.{0} %d5, %d1, 0x9e3779b97f4a7c15; xor.b64 %d3, %d3, %d4; xor.b64 %d3, %d3, %d5; mov.b64 {{%r1, %r2}}, %d3;\n"
              "xor.b32 %r1, %r1, %r2; st.global.u32 [%at], %r1; ret;",
              type, bits),
          {4, 1, 1}, {256, 1, 1}, 0);
}

TEST_F(Engines, AgreeOnDivisionAndBits) {
  both(
      "ld.global.u32 %r1, [%at]; and.b32 %r2, %t, 7; div.u32 %r3, %r1, %r2; rem.s32 %r4, %r1, %r2; sub.s32 %r5, 0, %r2; div.s32 %r6, %r1, %r5; bfe.s32 %r7, %r1, %r2, 9; bfi.b32 %r8, %r1, %t, 5, %r2;\n"
      "shf.l.wrap.b32 %r9, %r1, %r3, %t; shl.b32 %r10, %r1, %t; shr.s32 %r11, %r1, %t; mul.hi.u32 %r12, %r1, %r1; popc.b32 %r13, %r1; bfind.s32 %r14, %r1; lop3.b32 %r15, %r1, %r3, %r9, 0x6a;\n"
      "xor.b32 %r1, %r3, %r4; xor.b32 %r1, %r1, %r6; add.u32 %r1, %r1, %r7; xor.b32 %r1, %r1, %r8; add.u32 %r1, %r1, %r9; xor.b32 %r1, %r1, %r10; add.u32 %r1, %r1, %r11; xor.b32 %r1, %r1, %r12;\n"
      "add.u32 %r1, %r1, %r13; xor.b32 %r1, %r1, %r14; add.u32 %r1, %r1, %r15; st.global.u32 [%at], %r1; ret;",
      {2, 1, 1}, {64, 1, 1}, 0);
}

TEST_F(Engines, AgreeOnAtomics) {
  both(
      "mov.u32 %r9, tile; and.b32 %r1, %i, 7; mad.lo.u32 %r9, %r1, 4, %r9; st.shared.u32 [%r9], 0; bar.sync 0; atom.shared.add.u32 %r2, [%r9], %t; bar.sync 0; ld.shared.u32 %r3, [%r9];\n"
      "mad.lo.u32 %r2, %r2, 31, %r3; add.s64 %d1, %out, 16000; red.global.add.u32 [%d1], %r2; st.global.u32 [%at], %r2; ret;",
      {2, 1, 1}, {96, 1, 1}, 0);
}

TEST_F(Engines, AgreeOnOverlappingStores) {
  both(
      "and.b32 %r1, %t, 3; mul.wide.u32 %d1, %r1, 4; add.s64 %d1, %out, %d1; st.global.u32 [%d1], %i; st.global.u32 [%out+400], %t; mul.wide.u32 %d2, %t, 12; add.s64 %d2, %out, %d2; st.global.u32 [%d2+1000], %i;\n"
      "and.b32 %r2, %t, 31; mul.wide.u32 %d3, %r2, 16; add.s64 %d3, %out, %d3; ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%d3+2048]; add.u32 %r3, %r3, %r6; st.global.v2.u32 [%d3+8192], {%r3, %r4}; ret;",
      {1, 1, 1}, {64, 1, 1}, 0);
}

TEST_F(Engines, AgreeWhereAnIndexWrapsAround) {
  both(
      "sub.u32 %r1, %t, 5; mul.wide.u32 %d1, %r1, 4; setp.lt.u32 %p1, %t, 5; @%p1 bra E; add.s64 %d1, %out, %d1; st.global.u32 [%d1], %i; E: ret;",
      {1, 1, 1}, {64, 1, 1}, 0);
}

TEST_F(Engines, ReportFaultsInDivergentCodeAlike) {
  const Outcome o =
      both("setp.ne.u32 %p1, %t, 37; @%p1 bra E; add.s64 %at, %out, 1048576; st.global.u32 [%at], 1; E: ret;", {1, 1, 1}, {64, 1, 1}, 0);
  EXPECT_NE(o.failure.find("invalid __global__ write"), std::string::npos) << o.failure;
  EXPECT_NE(both("add.s64 %d1, %at, 2; ld.global.u32 %r1, [%d1]; st.global.u32 [%at], %r1; ret;", {1, 1, 1}, {64, 1, 1}, 0)
                .failure.find("misaligned"),
            std::string::npos);
  EXPECT_NE(both("mul.lo.u32 %r1, %t, 100; st.shared.u32 [%r1], %t; ret;", {1, 1, 1}, {64, 1, 1}, 0).failure.find("__shared__"),
            std::string::npos);
  EXPECT_NE(both("setp.eq.u32 %p1, %t, 3; @%p1 trap; ret;", {1, 1, 1}, {64, 1, 1}, 0).failure.find("trap"), std::string::npos);
}

// Each of the host's threads has a part of the grid of its own, and the first one to fail need not have the first block that does.
TEST_F(Engines, ReportTheFirstBlockThatFails) {
  const Outcome o = both(
      "setp.eq.u32 %p1, %c, 2100; @%p1 trap; mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1; st.volatile.global.u32 [%out], %r1; setp.lt.u32 %p3, %r1, 1000; @%p3 bra L;\n"
      "setp.eq.u32 %p2, %c, 1900; @%p2 trap; ret;",
      {4096, 1, 1}, {32, 1, 1}, 0);
  EXPECT_NE(o.failure.find("1900"), std::string::npos) << o.failure;
}

TEST_F(Engines, GiveWayInWaitingLoops) {
  both(
      "setp.ne.u32 %p1, %t, 0; @%p1 bra W; st.volatile.global.u32 [%out], 77; W: ld.volatile.global.u32 %r1, [%out]; setp.ne.u32 %p2, %r1, 77; @%p2 bra W; st.global.u32 [%at+64], %r1; ret;",
      {1, 1, 1}, {64, 1, 1}, 0);
  // Polls that the atomic operation keeps the compiler from moving out of the loop. (All warps store to one place that they read:
  // that is left to the interpreter.)
  both(
      "setp.ne.u32 %p1, %t, 0; @%p1 bra W; st.global.u32 [%out], 77; W: red.global.add.u32 [%out+8192], 1; ld.global.u32 %r1, [%out]; setp.ne.u32 %p2, %r1, 77; @%p2 bra W;\n"
      "mov.u32 %r3, 0; st.global.u32 [%out+8192], %r3; st.global.u32 [%at+64], %r1; ret;",
      {1, 1, 1}, {64, 1, 1}, 0, false);
  // A bound that is read anew each time is no poll.
  both(
      "st.global.u32 [%at], %t; mov.u32 %r1, 0; W: red.global.add.u32 [%at+8192], 1; add.u32 %r1, %r1, 1; ld.global.u32 %r2, [%at]; setp.lt.u32 %p2, %r1, %r2; @%p2 bra W; ret;",
      {1, 1, 1}, {64, 1, 1}, 0);
}

// The first kernel is given up while LLVM is at it, and the next is compiled as if nothing had been.
TEST_F(Engines, RunWhatLlvmDoesNotBringToAnEnd) {
  const auto sums = [](int summands) {  // a text of its own each time: none may come from the cache
    std::string body = "mov.u32 %r1, %t;\n";
    for (int k = 0; k < summands; ++k) body += fmt::format("mad.lo.u32 %r1, %r1, {}, %i; xor.b32 %r1, %r1, {};\n", 2 * k + 3, getpid() + k);
    return body + "st.global.u32 [%at], %r1; ret;";
  };
  setenv("WARPBEAM_COMPILE_SECONDS", "0.001", 1);
  both(sums(400), {2, 1, 1}, {64, 1, 1}, 0, false);
  unsetenv("WARPBEAM_COMPILE_SECONDS");
  both(sums(401), {2, 1, 1}, {64, 1, 1}, 0);
}

}  // namespace
}  // namespace warpbeam::vm

int main(int count, char** words) {
  setenv("WARPBEAM_ENGINE", "jit", 1);
  testing::InitGoogleTest(&count, words);
  return RUN_ALL_TESTS();
}
