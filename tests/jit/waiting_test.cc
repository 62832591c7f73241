// Blocks that wait for each other: at a barrier of the whole grid, in turn, under a lock; and what becomes of those whose wait is in
// vain. Barriers in memory to which all warps of a block come.
#include "both_engines.h"

namespace warpbeam::vm {
namespace {

class Together : public Engines {
 protected:
  void SetUp() override { cooperative_ = true; }
};

// Threads of a block meet, the first one of each adds one to out[3000] and looks until all blocks have.
std::string meet(int round) {
  return fmt::format(
      "bar.sync 0; setp.ne.u32 %p7, %t, 0; @%p7 bra M{0}; membar.gl; mov.u32 %r15, %nctaid.x; mul.lo.u32 %r15, %r15, {1}; atom.global.add.u32 %r16, [%out+12000], 1;\n"
      "S{0}: ld.volatile.global.u32 %r16, [%out+12000]; sub.u32 %r16, %r16, %r19; setp.lt.u32 %p6, %r16, %r15; @%p6 bra S{0}; membar.gl; M{0}: bar.sync 0;\n",
      round, round);
}
// What out[3000] holds when the kernel begins, as Engines::both leaves it.
constexpr std::string_view kBegin = "mov.u32 %r19, 2654435761; mul.lo.u32 %r19, %r19, 3000;\n";

// Each round reads what other blocks wrote in the one before.
std::string rounds(int n, std::string_view among = "") {
  const auto of_round = [&](int k) {
    std::string text(among);
    for (size_t at; (at = text.find('@', text.find("H@") == std::string::npos ? text.size() : text.find("H@"))) != std::string::npos;)
      text.replace(at, 1, std::to_string(k));
    return text;
  };
  std::string body(kBegin);
  body += "st.global.u32 [%at], %i; mov.u32 %r11, %nctaid.x; mul.lo.u32 %r11, %r11, %s;\n";
  for (int k = 1; k <= n; ++k)
    body +=
        meet(2 * k - 1) +
        fmt::format(
            "add.u32 %r1, %i, 37; rem.u32 %r1, %r1, %r11; mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %out, %d1; ld.global.u32 %r2, [%d1]; mad.lo.u32 %r2, %r2, 3, {};\n",
            k) +
        of_round(k) + meet(2 * k) + "st.global.u32 [%at], %r2;\n";
  return body + "ret;";
}

TEST_F(Together, AgreeOnBarriersOfTheGrid) {
  for (const uint32_t blocks : {1u, 2u, 7u, 40u})
    for (const uint32_t threads : {32u, 50u, 64u}) both(rounds(3), {blocks, 1, 1}, {threads, 1, 1}, 0);
  EXPECT_TRUE(happened("stops to wait for others"));
  EXPECT_EQ(plans_.find("warps take turns"), std::string::npos);
}

TEST_F(Together, AgreeWhereWarpsTakeTurnsToo) {
  // Half of the warps have a barrier of their own.
  both(rounds(2, "setp.lt.u32 %p5, %t, 64; @%p5 bra H@; bar.sync 3, 64; H@:\n"), {6, 1, 1}, {128, 1, 1}, 0);
}

TEST_F(Together, AgreeWhereARoundDecidesAboutTheNext) {
  // Until a number that one block counts is large enough.
  both(
      std::string(kBegin) +
          "mov.u32 %r18, 0; mov.u32 %r11, 0; setp.ne.u32 %p1, %i, 0; @%p1 bra L; st.global.u32 [%out+8200], 0;\n"
          "L: add.u32 %r18, %r18, 1; bar.sync 0; setp.ne.u32 %p7, %t, 0; @%p7 bra M; membar.gl; mov.u32 %r15, %nctaid.x; mul.lo.u32 %r15, %r15, %r18; atom.global.add.u32 %r16, [%out+12000], 1;\n"
          "S: ld.volatile.global.u32 %r16, [%out+12000]; sub.u32 %r16, %r16, %r19; setp.lt.u32 %p6, %r16, %r15; @%p6 bra S; membar.gl; M: bar.sync 0;\n"
          "mad.lo.u32 %r11, %r11, 5, %i; and.b32 %r12, %r18, 1; setp.eq.u32 %p2, %r12, 0; @%p2 bra R; @%p1 bra L; ld.global.u32 %r13, [%out+8200]; add.u32 %r13, %r13, 1; st.global.u32 [%out+8200], %r13; bra L;\n"
          "R: ld.global.u32 %r13, [%out+8200]; setp.lt.u32 %p3, %r13, %n; @%p3 bra L; st.global.u32 [%at], %r11; ret;",
      {5, 1, 1}, {64, 1, 1}, 4);
}

TEST_F(Together, AgreeOnBlocksThatWaitForTheOneBefore) {
  // Each adds its part to what the block before it has left, with all of its threads looking.
  both(
      "setp.eq.u32 %p1, %c, 0; mul.wide.u32 %d1, %c, 4; add.u64 %d1, %out, %d1; mov.u32 %r1, 7; @%p1 bra G; mul.lo.u32 %r2, %c, 3; add.u32 %r2, %r2, 7;\n"
      "W: ld.volatile.global.u32 %r1, [%d1+8188]; setp.ne.u32 %p2, %r1, %r2; @%p2 bra W; G: add.u32 %r1, %r1, 3; membar.gl; bar.sync 0; setp.ne.u32 %p3, %t, 0; @%p3 bra E; st.volatile.global.u32 [%d1+8192], %r1;\n"
      "E: st.global.u32 [%at], %r1; ret;",
      {20, 1, 1}, {64, 1, 1}, 0);
}

TEST_F(Together, AgreeOnFaultsWhileBlocksWait) {
  both(rounds(1, "setp.ne.u32 %p4, %i, 70; @%p4 bra H@; st.global.u32 [%out+100000000], %i; H@:\n"), {4, 1, 1}, {64, 1, 1}, 0);
}

TEST_F(Together, AgreeWhereLanesWaitForLanes) {
  // All lanes of all warps want one lock.
  both(
      std::string(kBegin) +
          "L: atom.global.cas.b32 %r1, [%out+12000], %r19, 1; setp.ne.u32 %p2, %r1, %r19; @%p2 bra L; ld.volatile.global.u32 %r2, [%out+12004]; add.u32 %r2, %r2, %i; "
          "st.volatile.global.u32 [%out+12004], %r2; membar.gl; atom.global.exch.b32 %r3, [%out+12000], %r19; st.global.u32 [%at], %t; ret;",
      {4, 1, 1}, {32, 1, 1}, 0);
}

// The lock is one lane's of block `n` first, and the other lanes of its warp wait for it as all others do: whichever block is handed over
// before, that one has to be, too.
TEST_F(Together, AgreeWhoeverHasTheLock) {
  for (const uint32_t n : {0u, 1u, 2u, 3u, 4u, 5u})
    both(
        std::string(kBegin) +
            "add.u32 %r5, %r19, 1; setp.eq.u32 %p1, %c, %n; setp.eq.and.u32 %p1, %t, 0, %p1; selp.u32 %r6, %r19, %r5, %p1; L: atom.global.cas.b32 %r1, [%out+12000], %r6, 1; "
            "setp.ne.u32 %p2, %r1, %r6; @%p2 bra L; ld.volatile.global.u32 %r2, [%out+12004]; add.u32 %r2, %r2, %i; st.volatile.global.u32 [%out+12004], %r2; membar.gl; "
            "atom.global.exch.b32 %r3, [%out+12000], %r5; st.global.u32 [%at], %t; ret;",
        {6, 1, 1}, {32, 1, 1}, n);
}

// A barrier in memory of all threads, once around and in a loop, in which some leave before.
std::string at_barrier(std::string_view leave) {
  return fmt::format(
      "mov.u32 %r9, tile; add.u32 %r10, %r9, 2048; setp.ne.u32 %p1, %t, 0; @%p1 bra B; mbarrier.init.shared.b64 [%r10], %s; B: bar.sync 0; mad.lo.u32 %r3, %t, 4, %r9; xor.b32 %r4, %t, 33;\n"
      "mad.lo.u32 %r4, %r4, 4, %r9; mov.u32 %r1, 0; mov.u32 %r2, %i; st.shared.u32 [%r3], %r2; {}\n"
      "L: st.shared.u32 [%r3], %r2; mbarrier.arrive.shared.b64 %d1, [%r10]; W: mbarrier.try_wait.shared.b64 %p2, [%r10], %d1; @!%p2 bra W; ld.shared.u32 %r6, [%r4]; mad.lo.u32 %r2, %r2, 5, %r6;\n"
      "mbarrier.arrive.shared.b64 %d1, [%r10]; V: mbarrier.try_wait.shared.b64 %p3, [%r10], %d1; @%p3 bra X; bra V; X: add.u32 %r1, %r1, 1; setp.lt.u32 %p4, %r1, %n; @%p4 bra L; st.global.u32 [%at], %r2; ret;",
      leave);
}

// One block changes sixteen bytes of each lane again and again, and the other never sees some of them without the rest: CUB's tiles tell
// their state and their sum so.
TEST_F(Engines, AgreeThatOrderedVectorsAreWhole) {
  rounds_ = 3;
  const std::string begin =
      "mul.wide.s32 %d1, %t, -16; add.s64 %d1, %d1, %out; add.s64 %d1, %d1, 496; cvt.u64.u32 %d4, %n; setp.ne.u32 %p1, %c, 0; mov.u32 %r2, 0; @%p1 bra W;\n"
      "mov.u64 %d2, 0; st.global.v2.u64 [%d1], {%d2, %d2}; membar.gl; st.volatile.global.u32 [%out+8000], 7;\n";
  const std::string wait = "W: ld.volatile.global.u32 %r1, [%out+8000]; setp.ne.u32 %p2, %r1, 7; @%p2 bra W; membar.gl;\n";
  const std::string end = "st.global.u32 [%at+8192], %r2; ret;";
  both(
      begin +
          "L: add.u64 %d2, %d2, 1; mul.lo.u64 %d3, %d2, 3; st.relaxed.gpu.global.v2.u64 [%d1], {%d2, %d3}; setp.lt.u64 %p2, %d2, %d4; @%p2 bra L; ret;\n" +
          wait +
          "R: ld.relaxed.gpu.global.v2.u64 {%d2, %d3}, [%d1]; mul.lo.u64 %d5, %d2, 3; setp.ne.u64 %p3, %d3, %d5; @%p3 add.u32 %r2, %r2, 1; setp.lt.u64 %p2, %d2, %d4; @%p2 bra R;\n" +
          end,
      {2, 1, 1}, {32, 1, 1}, 20000);
  both(
      begin +
          "mov.u32 %r3, 0; L: add.u32 %r3, %r3, 1; mul.lo.u32 %r4, %r3, 3; mul.lo.u32 %r5, %r3, 5; mul.lo.u32 %r6, %r3, 7; st.relaxed.gpu.global.v4.u32 [%d1], {%r3, %r4, %r5, %r6}; setp.lt.u32 %p2, %r3, %n; @%p2 bra L; ret;\n" +
          wait +
          "R: ld.relaxed.gpu.global.v4.u32 {%r3, %r4, %r5, %r6}, [%d1]; mul.lo.u32 %r7, %r3, 12; sub.u32 %r7, %r7, %r4; sub.u32 %r7, %r7, %r5; mul.lo.u32 %r8, %r3, 4; setp.ne.u32 %p3, %r7, %r8; @%p3 add.u32 %r2, %r2, 1;\n"
          "mul.lo.u32 %r7, %r3, 7; setp.ne.u32 %p3, %r7, %r6; @%p3 add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r3, %n; @%p2 bra R;\n" +
          end,
      {2, 1, 1}, {32, 1, 1}, 20000);
}

TEST_F(Engines, AgreeWhereBarriersInMemoryCut) {
  for (const uint32_t threads : {32u, 64u, 100u, 256u})
    for (const uint32_t n : {1u, 4u}) {
      both(at_barrier(""), {3, 1, 1}, {threads, 1, 1}, n);
      EXPECT_TRUE(planned("cut at barriers in memory"));
      EXPECT_FALSE(planned("warps take turns"));
    }
}

TEST_F(Engines, AgreeWhereSomeDropOutBefore) {
  for (const char* less : {"3", "40", "63"})
    both(
        at_barrier(fmt::format(
            "setp.lt.u32 %p5, %t, {}; @%p5 bra N; mbarrier.arrive_drop.shared.b64 %d2, [%r10]; st.global.u64 [%out+8192], %d2; ret; N: and.b32 %r4, %r4, 4095;",
            less)),
        {2, 1, 1}, {64, 1, 1}, 3);
  EXPECT_TRUE(happened("cut at barriers in memory"));
}

TEST_F(Engines, AgreeWhereThePhaseOfAllIsNotOver) {
  // Two phases of half the block: those that have passed the first one bring the others on.
  both(
      "mov.u32 %r10, 2048; setp.ne.u32 %p1, %t, 0; @%p1 bra B; mbarrier.init.shared.b64 [2048], 32; mbarrier.init.shared.b64 [2056], 32; B: bar.sync 0; setp.lt.u32 %p3, %t, 32; @!%p3 bra O; add.u32 %r10, %r10, 8; "
      "O: mov.u32 %r11, 4104; sub.u32 %r11, %r11, %r10; @%p3 bra W; mbarrier.arrive.shared.b64 %d1, [2048]; W: mbarrier.try_wait.parity.shared.b64 %p2, [%r10], 0; @!%p2 bra W; @%p3 bra E; mbarrier.arrive.shared.b64 %d1, [2056]; "
      "E: st.global.u32 [%at], %t; ret;",
      {40, 1, 1}, {64, 1, 1}, 0);
}

// A phase that ends between lanes that arrive together: they find different ones.
TEST_F(Engines, AgreeOnPhasesThatEndBetweenLanes) {
  for (const uint32_t n : {32u, 16u, 24u, 64u})
    both(
        "setp.ne.u32 %p1, %t, 0; @%p1 bra B; mbarrier.init.shared.b64 [2048], %n; B: bar.sync 0; mbarrier.arrive.shared.b64 %d1, [2048]; "
        "mbarrier.test_wait.shared.b64 %p2, [2048], %d1; selp.u32 %r1, 1, 0, %p2; st.global.u32 [%at], %r1; ret;",
        {1, 1, 1}, {32, 1, 1}, n);
}

}  // namespace
}  // namespace warpbeam::vm
