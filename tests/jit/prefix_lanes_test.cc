// Trees in shared memory down to their last lane: each number of lanes has code of its own.
#include "both_engines.h"

namespace warpbeam::vm {
namespace {

// A sum by halving, in `element`s from `from` in tile on; `mark` is what lanes do beside it.
std::string tree(const char* element, int bytes, int from, const char* mark = "") {
  const bool wide = bytes == 8;
  const char *x = wide ? "%d4" : "%r3", *y = wide ? "%d5" : "%r4";
  return fmt::format(
      "mul.wide.u32 %d1, %t, {}; mov.u64 %d2, tile; add.s64 %d1, %d1, %d2; cvt.u64.u32 %d4, %i; mul.lo.u32 %r3, %i, "
      "77; "
      "st.shared.{} [%d1+{}], {}; mov.u32 %r2, %n; L: bar.sync 0; setp.ge.u32 %p1, %t, %r2; @%p1 bra S; "
      "mul.wide.u32 %d3, %r2, {}; add.s64 %d3, %d3, %d1; {} ld.shared.{} {}, [%d3+{}]; ld.shared.{} {}, [%d1+{}]; "
      "add.{} {}, {}, {}; st.shared.{} [%d1+{}], {}; S: shr.u32 %r2, %r2, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra L; "
      "bar.sync 0; ld.shared.{} {}, [%d1+{}]; cvt.u32.u64 %r5, %d4; add.u32 %r3, %r3, %r5; st.global.u32 [%at], %r3; "
      "ret;",
      bytes, element, from, x, bytes, mark, element, x, from, element, y, from, element, x, x, y, element, from, x, element, x, from);
}

TEST_F(Engines, AgreeOnTreesToTheLastLane) {
  for (const uint32_t threads : {16u, 32u, 96u, 256u})
    for (const uint32_t n : {threads / 2, 7u}) {
      both(tree("u32", 4, 0), {3, 1, 1}, {threads, 1, 1}, n);
      both(tree("u64", 8, 0), {3, 1, 1}, {threads, 1, 1}, n);
      both(tree("u32", 4, 0, "add.u32 %r6, %r6, %t;"), {3, 1, 1}, {threads, 1, 1}, n);
    }
  EXPECT_TRUE(happened("prefix lanes"));
  EXPECT_TRUE(happened("idle warps"));
}

// What the whole warp would touch ends beyond shared memory, what its lanes touch does not.
TEST_F(Engines, AgreeOnTreesAtTheEndOfMemory) {
  for (const uint32_t threads : {8u, 32u})
    for (const int beyond : {0, 4, 64})
      both(tree("u32", 4, 4096 - 4 * static_cast<int>(threads) + beyond), {2, 1, 1}, {threads, 1, 1}, threads / 2);
}

// Values that only some lanes change keep what they were in the others.
TEST_F(Engines, AgreeOnValuesBesideATree) {
  for (const uint32_t n : {16u, 8u, 5u, 4u, 2u, 1u})
    both(
        "mul.wide.u32 %d1, %t, 4; mov.u64 %d2, tile; add.s64 %d1, %d1, %d2; mov.u32 %r2, 100; mov.u32 %r3, 9; "
        "st.shared.u32 [%d1], %i; st.shared.u32 [%d1+128], %i; bar.sync 0; setp.ge.u32 %p1, %t, %n; @%p1 bra S; "
        "ld.shared.u32 %r2, [%d1+8]; add.u32 %r3, %r3, %r2; st.shared.u32 [%d1], %r3; S: ld.shared.u32 %r4, [%d1]; "
        "mad.lo.u32 %r2, %r2, 31, %r3; mad.lo.u32 %r2, %r2, 31, %r4; st.global.u32 [%at], %r2; ret;",
        {2, 1, 1}, {32, 1, 1}, n);
}

// Every lane's place a multiple of a step that is known at run time, in two orders.
TEST_F(Engines, AgreeOnFewLanesApart) {
  for (const uint32_t n : {16u, 8u, 4u, 2u, 1u})
    for (const char* step : {"3", "%n", "0", "-5"})
      both(fmt::format("mul.wide.u32 %d1, %t, 4; mov.u64 %d2, tile; add.s64 %d1, %d1, %d2; st.shared.u32 [%d1], %i; "
                       "st.shared.u32 [%d1+256], %t; st.shared.u32 [%d1+512], %i; mov.u32 %r2, {}; bar.sync 0; setp.ge.u32 %p1, "
                       "%t, %n; @%p1 bra S; mul.lo.s32 %r3, %r2, %t; mul.wide.s32 %d3, %r3, 4; add.s64 %d3, %d3, %d2; "
                       "ld.shared.u32 %r4, [%d3+64]; ld.shared.u32 %r5, [%d1+512]; sub.u32 %r4, %r5, %r4; "
                       "st.shared.u32 [%d3+68], %r4; S: bar.sync 0; ld.shared.u32 %r6, [%d1]; ld.shared.u32 %r7, "
                       "[%d1+256]; mad.lo.u32 %r6, %r6, 31, %r7; st.global.u32 [%at], %r6; ret;",
                       step),
           {2, 1, 1}, {64, 1, 1}, n);
}

}  // namespace
}  // namespace warpbeam::vm
