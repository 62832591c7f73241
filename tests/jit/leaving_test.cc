// Lanes and warps that leave a kernel before its barriers, and warps that go different ways to them: compiled, not handed over.
#include "both_engines.h"

namespace warpbeam::vm {
namespace {

// Threads from n on leave at once, those of which `more` holds a little later, with something stored.
std::string early(const char* more) {
  return fmt::format(
      "mov.u32 %r9, tile; mad.lo.u32 %r9, %t, 4, %r9; st.shared.u32 [%r9], %t; setp.ge.u32 %p1, %t, %n; @%p1 bra E; {}"
      "ld.param.u64 %d5, [out]; mul.wide.u32 %d6, %i, 4; add.s64 %d5, %d5, %d6; ld.global.u32 %r1, [%d5]; mov.u32 %r2, 0; "
      "L: st.shared.u32 [%r9], %r1; bar.sync 0; xor.b32 %r3, %t, 33; mad.lo.u32 %r3, %r3, 4, 0; mov.u32 %r4, tile; add.u32 %r3, %r3, %r4; "
      "ld.shared.u32 %r5, [%r3]; mad.lo.u32 %r1, %r5, 3, %r1; bar.sync 0; add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 4; @%p2 bra L; st.global.u32 [%d5], %r1; E: ret;",
      more);
}

TEST_F(Engines, CompileEarlyLeaves) {
  for (const char* more : {"", "and.b32 %r6, %t, 7; setp.eq.u32 %p3, %r6, 5; st.global.u32 [%at+8192], %n; @%p3 bra E; ",
                           "setp.eq.u32 %p3, %t, 77; @!%p3 bra G; st.global.u32 [%at+8192], %n; ret; G: "})
    for (const uint32_t n : {0u, 1u, 31u, 32u, 33u, 64u, 127u, 128u, 200u}) {
      rounds_ = 3;
      both(early(more), {20, 1, 1}, {128, 1, 1}, n);
      EXPECT_TRUE(planned("lanes leave early") && !planned("decisions of the block")) << plan_;
    }
}

// A warp whose lanes have all left says nothing of what is the same in the whole block: here the address, read behind the branch.
TEST_F(Engines, KeepWhatTheBlockHasWhereWarpsHaveLeft) {
  for (const uint32_t n : {16u, 32u, 96u}) both(early(""), {3, 1, 1}, {256, 1, 1}, n);
}

// The barrier before the step, and a last step of one warp without one.
TEST_F(Engines, UnrollTreesHoweverTheirBarriersStand) {
  std::string steps;
  for (int step = 64; step; step /= 2)
    steps += fmt::format(
        "bar.sync 0; setp.gt.u32 %p1, %t, {0}; @%p1 bra S{1}; ld.shared.u32 %r2, [%r9+{2}]; ld.shared.u32 %r3, [%r9]; mad.lo.u32 %r2, %r2, 3, %r3; st.shared.u32 [%r9], %r2; S{1}: ",
        step - 1, step, step * 4);
  const std::string tree = "mov.u32 %r9, tile; mad.lo.u32 %r9, %t, 4, %r9; ld.global.u32 %r1, [%at]; st.shared.u32 [%r9], %r1; " + steps;
  // As clang writes the last two steps where nothing stands between them: the sum is read where others could still write.
  const std::string joined =
      tree +
      "setp.ne.u32 %p2, %t, 0; @%p2 bra E; ld.shared.u32 %r4, [tile+4]; ld.shared.u32 %r5, [%r9]; add.u32 %r4, %r4, %r5; st.shared.u32 [%r9], %r4; "
      "ld.shared.u32 %r6, [tile]; st.global.u32 [%at], %r6; E: ret;";
  both(joined, {20, 1, 1}, {128, 1, 1}, 0);
  if (has_avx()) EXPECT_TRUE(planned("unrolled to its end")) << plan_;
  if (has_avx()) EXPECT_TRUE(happened("unrolled to its end"));
}

// Half of the warps have their barriers in one branch, half in the other.
TEST_F(Engines, GoFromStopToStopWhereWarpsGoDifferentWaysToBarriers) {
  const char* body =
      "mov.u32 %r9, tile; mad.lo.u32 %r9, %t, 4, %r9; ld.global.u32 %r1, [%at]; mov.u32 %r2, 0; setp.lt.u32 %p1, %t, %n; L: @!%p1 bra B; "
      "mad.lo.u32 %r1, %r1, 3, 1; st.shared.u32 [%r9], %r1; bar.sync 0; xor.b32 %r3, %t, 97; shl.b32 %r3, %r3, 2; mov.u32 %r4, tile; add.u32 %r3, %r3, %r4; ld.shared.u32 %r5, [%r3]; add.u32 %r1, %r1, %r5; bar.sync 0; bra N; "
      "B: mad.lo.u32 %r1, %r1, 5, 7; st.shared.u32 [%r9], %r1; bar.sync 0; xor.b32 %r3, %t, 64; shl.b32 %r3, %r3, 2; mov.u32 %r4, tile; add.u32 %r3, %r3, %r4; ld.shared.u32 %r5, [%r3]; xor.b32 %r1, %r1, %r5; bar.sync 0; "
      "N: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 5; @%p2 bra L; st.global.u32 [%at], %r1; ret;";
  rounds_ = 4;
  for (const uint32_t n : {32u, 64u, 96u}) {
    both(body, {24, 1, 1}, {128, 1, 1}, n);
    EXPECT_TRUE(plan_.starts_with("warps by themselves") && planned("from stop to stop")) << plan_;
  }
  both(body, {24, 1, 1}, {128, 1, 1}, 128);  // they all go one way: there is no reason
  EXPECT_FALSE(planned("by themselves")) << plan_;
}

// In some blocks only: the interpreter goes on with those until the kernel is compiled anew.
TEST_F(Engines, AgreeWhereFewBlocksGoDifferentWays) {
  const char* body =
      "mov.u32 %r9, tile; mad.lo.u32 %r9, %t, 4, %r9; st.shared.u32 [%r9], %i; add.u32 %r7, %t, %c; setp.lt.u32 %p1, %r7, %n; @%p1 bra A; "
      "bar.sync 0; xor.b32 %r3, %t, 65; mad.lo.u32 %r3, %r3, 4, 0; ld.shared.u32 %r5, [%r3]; bra E; A: bar.sync 0; xor.b32 %r3, %t, 33; mad.lo.u32 %r3, %r3, 4, 0; ld.shared.u32 %r5, [%r3]; add.u32 %r5, %r5, 9; "
      "E: st.global.u32 [%at], %r5; ret;";
  rounds_ = 3;
  for (const uint32_t n : {5u, 40u, 160u}) both(body, {32, 1, 1}, {128, 1, 1}, n);
}

}  // namespace
}  // namespace warpbeam::vm
