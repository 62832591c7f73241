// Blocks of few threads that a warp runs together, each in lanes of its own, and what sends them on one by one.
#include <gtest/gtest-spi.h>

#include "both_engines.h"

namespace warpbeam::vm {
namespace {

constexpr std::array<std::array<uint32_t, 3>, 6> kBlocks{{{8, 1, 1}, {16, 1, 1}, {1, 1, 1}, {4, 1, 1}, {8, 2, 1}, {3, 1, 1}}};

TEST_F(Engines, AgreeOnBlocksInAWarp) {
  for (const auto& block : kBlocks)
    for (const uint32_t blocks : {1u, 2u, 5u, 33u, 100u, 128u})
      for (const uint32_t n : {0u, 1u, 64u, 399u, 2000u}) {
        both(
            "setp.ge.u32 %p1, %i, %n; @%p1 bra E; ld.global.u32 %r1, [%at]; mad.lo.u32 %r1, %r1, 3, %c; st.global.u32 [%at+8192], %r1; E: ret;",
            {blocks, 1, 1}, block, n);
        both("setp.ge.u32 %p1, %i, %n; @%p1 ret; mad.lo.u32 %r1, %t, 5, %c; st.global.u32 [%at], %r1; ret;", {blocks, 1, 1}, block, n);
      }
  EXPECT_TRUE(happened("blocks in a warp"));
  both("mad.lo.u32 %r1, %c, %s, %t; mad.lo.u32 %r1, %r1, 7, %n; st.global.u32 [%at], %r1; ret;", {40, 1, 1}, {8, 1, 1}, 1);
  EXPECT_TRUE(planned("blocks in a warp"));
  both("mad.lo.u32 %r1, %c, 7, %n; st.global.u32 [%at], %r1; ret;", {2000, 1, 1}, {1, 1, 1}, 1);
  EXPECT_TRUE(planned("blocks in a warp"));
  both("st.shared.u32 [tile], %c; ld.shared.u32 %r1, [tile]; st.global.u32 [%at], %r1; ret;", {40, 1, 1}, {8, 1, 1}, 1);
  EXPECT_FALSE(planned("blocks in a warp"));
}

// Rows of a grid of more dimensions, and bytes, halves and pairs.
TEST_F(Engines, AgreeOnBlocksInAWarpOfManyRows) {
  for (const auto& block : kBlocks)
    for (const uint32_t columns : {1u, 7u, 8u, 36u})
      both(
          "mov.u32 %r2, %ctaid.y; mov.u32 %r3, %nctaid.x; mul.lo.u32 %r3, %r3, %s; mov.u32 %r4, %tid.y; mad.lo.u32 %r4, %r2, 2, %r4; mad.lo.u32 %r1, %r4, "
          "%r3, %i; mov.u32 %r6, %ctaid.z; mad.lo.u32 %r1, %r6, 2000, %r1; mul.wide.u32 %d1, %r1, 2; add.s64 %d1, %d1, %out; ld.global.u16 %h1, [%d1]; cvt.u32.u16 %r5, %h1; add.u32 %r5, %r5, %r2; st.global.u16 "
          "[%d1], %r5; ret;",
          {columns, 3, 2}, block, 0);
  for (const auto& block : kBlocks)
    both(
        "mul.wide.u32 %d1, %i, 8; add.s64 %d1, %d1, %out; ld.global.v2.u32 {%r1, %r2}, [%d1]; add.u32 %r1, %r1, %c; st.global.v2.u32 [%d1], {%r2, %r1}; ret;",
        {50, 1, 1}, block, 0);
}

// A block reads what the one before it has stored, or stores where that did, one after the other, as one host thread
// runs them; loops before the store; and an index that wraps around among the blocks.
TEST_F(Engines, AgreeOnBlocksInAWarpThatMeet) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto all = [&] {
    setenv("WARPBEAM_THREADS", "1", 1);
    bool agreed = true;
    // A second thread may still run some blocks, once in a long while.
    const auto agree = [&](const char* body, std::array<uint32_t, 3> grid, std::array<uint32_t, 3> block, uint32_t n) {
      for (int k = 0; k < 4; ++k) {
        testing::TestPartResultArray failures;
        {
          const testing::ScopedFakeTestPartResultReporter quiet(testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD,
                                                                &failures);
          both(body, grid, block, n);
        }
        if (failures.size() == 0) return;
      }
      std::fprintf(stderr, "blocks %u, threads %u, n %u: %s\n", grid[0], block[0], n, body);
      agreed = false;
    };
    for (const auto& block : kBlocks)
      for (
          const char* body :
          {"ld.global.u32 %r1, [%at]; add.u32 %r1, %r1, 1; st.global.u32 [%at+4], %r1; ret;",
           "ld.global.u32 %r1, [%at]; add.s64 %d1, %at, 32; mad.lo.u32 %r1, %r1, 3, %c; st.global.u32 [%d1], %r1; ret;",
           "ld.global.u32 %r1, [%out]; add.u32 %r1, %r1, 1; st.global.u32 [%at], %r1; ret;",
           "ld.global.u32 %r1, [%out]; add.u32 %r1, %r1, %i; st.global.u32 [%out], %r1; ret;",
           "ld.global.u32 %r1, [%at]; setp.eq.u32 %p1, %n, 77; @%p1 bra E; st.global.u32 [%at+8], %r1; E: ret;",
           "st.global.u32 [%at], %c; add.s64 %d1, %at, 4; st.global.u32 [%d1], %t; ret;",
           "mov.u32 %r2, 0; mov.u32 %r1, 0; L: mul.wide.u32 %d1, %r2, 4; add.s64 %d1, %d1, %out; ld.global.u32 %r3, [%d1]; mad.lo.u32 %r1, %r1, 3, %r3; "
           "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %n; @%p1 bra L; st.global.u32 [%at], %r1; ret;",
           "mov.u32 %r2, 0; mov.u32 %r1, 0; L: mul.wide.u32 %d1, %r2, 4; add.s64 %d1, %d1, %out; ld.global.nc.u32 %r3, [%d1+8192]; mad.lo.u32 %r1, %r1, 3, %r3; "
           "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %n; @%p1 bra L; st.global.u32 [%at], %r1; ret;",
           "add.u32 %r1, %i, 0x7fffffc0; cvt.s64.s32 %d1, %r1; shl.b64 %d1, %d1, 2; and.b64 %d1, %d1, 16380; add.s64 %d1, %d1, %out; st.global.u32 [%d1], %i; ret;",
           "ld.global.u32 %r1, [%at]; and.b32 %r1, %r1, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra E; st.global.u32 [%at], %c; E: ret;",
           "setp.eq.u32 %p1, %c, 5; @%p1 bra E; st.global.u32 [%at], %c; E: ret;",
           "ld.global.u32 %r1, [%at]; st.global.u32 [%at+8192], %r1; ld.global.u32 %r2, [%at+8192]; add.u32 %r2, %r2, 1; st.global.u32 [%at], %r2; ret;"})
        for (const uint32_t n : {1u, 5u, 33u})
          agree(body, {1, 40, 1}, block, n), agree(body, {block[0] == 1 ? 1000u : 100u, 1, 1}, block, n);
    std::_Exit(agreed ? 0 : 2);
  };
  EXPECT_EXIT(all(), testing::ExitedWithCode(0), "");
}

// The report names the block that went wrong, and what the others stored before it stays.
TEST_F(Engines, AgreeOnFaultsOfBlocksInAWarp) {
  for (const auto& block : kBlocks)
    for (const uint32_t bad : {0u, 3u, 31u, 32u, 35u}) {
      const Outcome o = both(
          "setp.eq.u32 %p1, %c, %n; selp.b64 %d1, 1073741824, 0, %p1; add.s64 %at, %at, %d1; ld.global.u32 %r1, [%at]; st.global.u32 [%at+4096], "
          "%r1; ret;",
          {36, 1, 1}, block, bad);
      EXPECT_NE(o.failure.find(fmt::format("block ({},0,0)", bad)), std::string::npos) << o.failure;
    }
  for (const auto& block : kBlocks)  // the last of them lie beyond the array
    both("mul.wide.u32 %d1, %c, 512; add.s64 %d1, %d1, %at; st.global.u32 [%d1], %i; ret;", {1, 1, 1}, block, 0);
}

}  // namespace
}  // namespace warpbeam::vm
