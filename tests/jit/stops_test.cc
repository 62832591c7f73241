// Barriers of the whole block at different places for different warps: code that goes from stop to stop (emit_stops.cc).
#include "both_engines.h"

namespace warpbeam::vm {
namespace {

// What is cut into regions is compiled anew when many of its blocks had to be handed over: so many blocks, and twice.
class Stops : public Engines {
 protected:
  Stops() { rounds_ = 3; }
  static constexpr uint32_t kBlocks = 20;
};

// Rounds of exchanges through shared memory: threads below `%n` one way, the others another. Values of all kinds live across the barriers.
std::string exchange(const char* in_the_middle, uint32_t threads) {
  return fmt::format(
      "mov.u32 %r9, tile; mad.lo.u32 %r3, %t, 4, %r9; add.u32 %r4, %t, 37; rem.u32 %r4, %r4, {1}; mad.lo.u32 %r4, %r4, 4, %r9; mov.u32 %r1, 0; mov.u32 %r2, %i; "
      "cvt.rn.f64.u32 %g1, %i; setp.gt.u32 %p1, %t, 9; mul.wide.u32 %d1, %t, %t; cvt.u16.u32 %h1, %i; setp.ge.u32 %p3, %t, %n;\n"
      "L: @%p3 bra B;\n"
      "st.shared.u32 [%r3], %r2; bar.sync 0; ld.shared.u32 %r5, [%r4]; mad.lo.u32 %r2, %r2, 3, %r5; {0} bar.sync 0; @%p1 add.u32 %r2, %r2, %r1; bra C;\n"
      "B: add.u32 %r6, %r2, 5; st.shared.u32 [%r3], %r6; bar.sync 0; ld.shared.u32 %r5, [%r4]; xor.b32 %r2, %r2, %r5; bar.sync 0; add.f64 %g1, %g1, 0d3FF8000000000000;\n"
      "C: add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 5; @%p2 bra L;\n"
      "cvt.rzi.u32.f64 %r7, %g1; add.u32 %r2, %r2, %r7; cvt.u32.u64 %r7, %d1; xor.b32 %r2, %r2, %r7; cvt.u32.u16 %r7, %h1; add.u32 %r2, %r2, %r7; "
      "@%p1 add.u32 %r2, %r2, 1; st.global.u32 [%at], %r2; ret;",
      in_the_middle, threads);
}

TEST_F(Stops, AgreeOnBarriersAtTwoPlaces) {
  for (const uint32_t threads : {64u, 96u, 192u, 180u})
    for (const uint32_t n : {32u, 64u}) both(exchange("", threads), {kBlocks, 1, 1}, {threads, 1, 1}, n);
  EXPECT_TRUE(happened("from stop to stop"));
}

TEST_F(Stops, AgreeOnTheMostWarps) {
  both(exchange("", 1024), {3, 1, 1}, {1024, 1, 1}, 512);
  both(exchange("", 1000), {4, 1, 1}, {1000, 1, 1}, 96);
}

// In a round an index of one thread wraps around, which hands the block over: with warps before it that have come to their barriers
// in this round, and warps behind it that have not.
TEST_F(Stops, AgreeWhereOneIsHandedOverWhileOthersHaveStopped) {
  for (const uint32_t odd : {0u, 33u, 70u, 95u})
    for (const uint32_t round : {0u, 1u, 4u})
      both(exchange(
               fmt::format("setp.ne.u32 %p4, %r1, {}; @%p4 bra N; sub.u32 %r11, %t, {}; mul.wide.u32 %d2, %r11, 3; cvt.u32.u64 %r12, %d2; "
                           "shr.u64 %d2, %d2, 32; cvt.u32.u64 %r13, %d2; xor.b32 %r12, %r12, %r13; xor.b32 %r2, %r2, %r12; N:",
                           round, odd)
                   .c_str(),
               160),
           {kBlocks, 1, 1}, {160, 1, 1}, 96);
  EXPECT_TRUE(happened("from stop to stop"));
}

// Some lanes of warps leave in a round, then whole warps do: who is left is waited for.
TEST_F(Stops, AgreeWhereLanesAndWarpsLeave) {
  for (const uint32_t threads : {96u, 160u, 180u})
    both(exchange("add.u32 %r8, %r1, 1; mul.lo.u32 %r8, %r8, 24; st.global.u32 [%at], %r2; setp.lt.u32 %p4, %t, %r8; @%p4 ret;", threads),
         {kBlocks, 1, 1}, {threads, 1, 1}, 64);
  EXPECT_TRUE(happened("from stop to stop"));
}

// Lanes of one warp at different barriers are for the interpreter.
TEST_F(Stops, AgreeWhereLanesOfAWarpComeToDifferentBarriers) {
  for (const uint32_t n : {1u, 40u, 64u}) both(exchange("", 96), {kBlocks, 1, 1}, {96, 1, 1}, n);
}

// A barrier on one side of a branch alone waits for warps that come to another one later, or leave.
TEST_F(Stops, AgreeOnBarriersOfOneSide) {
  for (const uint32_t n : {32u, 64u, 96u})
    both(
        "mov.u32 %r9, tile; mad.lo.u32 %r3, %t, 4, %r9; st.shared.u32 [%r3], %i; setp.lt.u32 %p1, %t, %n; @%p1 bra A; bar.sync 0; ld.shared.u32 %r2, [%r9]; bra E;\n"
        "A: bar.sync 0; xor.b32 %r4, %r3, 128; ld.shared.u32 %r2, [%r4]; setp.lt.u32 %p2, %t, 32; @%p2 bra E; bar.sync 0; add.u32 %r2, %r2, 7;\n"
        "E: st.global.u32 [%at], %r2; ret;",
        {kBlocks, 1, 1}, {128, 1, 1}, n);
  EXPECT_TRUE(happened("from stop to stop"));
}

TEST_F(Stops, AgreeOnFaultsWhileOthersHaveStopped) {
  both(exchange("setp.ne.u32 %p4, %t, 40; @%p4 bra N; ld.shared.u32 %r8, [%r3+70000]; N:", 96), {kBlocks, 1, 1}, {96, 1, 1}, 64);
}

}  // namespace
}  // namespace warpbeam::vm
