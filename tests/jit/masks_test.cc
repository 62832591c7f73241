// Comparisons of values of known shape, which give stretches of lanes, and indices that only lanes elsewhere would
// wrap.
#include "both_engines.h"

namespace warpbeam::vm {
namespace {

TEST_F(Engines, AgreeOnIndicesThatWouldWrapInLanesElsewhere) {
  both(
      "setp.lt.u32 %p1, %t, 5; @%p1 bra E; sub.u32 %r1, %t, 5; mul.wide.u32 %d1, %r1, 4; add.s64 %d1, %out, %d1; "
      "st.global.u32 [%d1], %t; cvt.u64.u32 %d2, %r1; shl.b64 %d2, %d2, 3;\n"
      "add.s64 %d2, %out, %d2; ld.global.u32 %r2, [%d2+2048]; add.s32 %r3, %t, 2147483600; setp.lt.s32 %p2, %r3, 0; "
      "@%p2 bra E; cvt.s64.s32 %d3, %r3; cvt.u32.u64 %r4, %d3; add.u32 %r4, %r4, %r2;\n"
      "st.global.u32 [%d1+4096], %r4; E: ret;",
      {2, 1, 1}, {64, 1, 1}, 0);
}

// Every comparison of a value that grows (or falls) from lane to lane with one that does not, around all corners.
TEST_F(Engines, AgreeOnComparisonsOfKnownShapes) {
  for (const char* values :
       {"mov.u32 %r1, %t;", "shl.b32 %r1, %t, 2;", "sub.s32 %r1, 40, %t;", "add.u32 %r1, %t, 2147483627;", "sub.u32 %r1, %t, 21;",
        "mad.lo.s32 %r1, %t, -8, 100;", "and.b32 %r1, %t, 7;", "and.b32 %r1, %t, 15; add.u32 %r1, %r1, 4294967288;", "shr.u32 %r1, %t, 3;",
        "mov.u32 %r1, %laneid; sub.s32 %r1, 2147483647, %r1;"})
    for (const char* type : {"u32", "s32"}) {
      // Each block compares with another number: around the lanes' own, around zero and around the sign.
      std::string body = values;
      body +=
          "shr.u32 %r10, %c, 3; shl.b32 %r10, %r10, 31; and.b32 %r11, %c, 7; mad.lo.s32 %r11, %r11, 9, -5; add.u32 %n, "
          "%r10, %r11; mov.u32 %r9, 0;\n";
      for (const char* cmp : {"lt", "le", "gt", "ge", "eq", "ne"})
        for (int side = 0; side < 2; ++side)
          body += fmt::format(
              "setp.{}.{} %p1|%p2, {}; selp.u32 %r2, 1, 2, %p1; selp.u32 %r3, 4, 0, %p2; add.u32 %r2, %r2, %r3; "
              "mad.lo.u32 %r9, %r9, 7, %r2;\n",
              cmp, type, side ? "%n, %r1" : "%r1, %n");
      body += fmt::format(
          "setp.lt.u32 %p3, %t, 50; setp.ge.and.{} %p1, %r1, %n, %p3; @%p1 add.u32 %r9, %r9, 1000; st.global.u32 "
          "[%at], %r9; ret;",
          type);
      both(body, {16, 1, 1}, {64, 1, 1}, 0);
    }
  EXPECT_TRUE(happened("masks of stretches"));
}

// Bounds that no warp or every warp lies across.
TEST_F(Engines, AgreeOnBoundsBetweenWarps) {
  for (const char* compare : {"lt.u32", "ge.s32", "le.u32", "gt.s32", "ne.s32"})
    for (const char* order : {"%t, %r4", "%r4, %t"})
      for (const uint32_t bound : {0u, 31u, 32u, 33u, 63u, 128u, 0x80000000u, 0xffffffffu})
        for (const bool known : {true, false}) {
          const std::string b = known ? fmt::format("mov.u32 %r4, {};", bound) : "shl.b32 %r4, %n, 5;";
          const std::string operands = known && order[1] == 't' ? fmt::format("%t, {}", static_cast<int32_t>(bound)) : order;
          both(
              fmt::format(
                  "{} mov.u32 %r1, %t; mov.u32 %r2, 0; setp.{} %p1, {}; @%p1 bra A; add.u32 %r1, %r1, 1000; bra E;\nA: shr.u32 %r3, %t, 5;\n"
                  "L: add.u32 %r2, %r2, 3; sub.u32 %r3, %r3, 1; setp.gt.s32 %p2, %r3, 0; @%p2 bra L;\nE: @!%p1 add.u32 %r2, %r2, %i; "
                  "selp.u32 %r5, %r1, %r2, %p1; add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r5; st.global.u32 [%at], %r1; ret;",
                  b, compare, operands),
              {1, 1, 1}, {160, 1, 1}, bound >> 5);
        }
}

// An instruction's guard is one of its operands.
TEST_F(Engines, AgreeOnGuardsThatAreOperands) {
  both(
      "and.b32 %r1, %t, 5; setp.ne.u32 %p1, %r1, 1; setp.lt.u32 %p2, %t, 40; setp.ge.u32 %p3, %t, 9;\n"
      "@!%p1 not.pred %p2, %p1; @%p1 and.pred %p3, %p1, %p2; @%p2 selp.u32 %r1, 70, %t, %p2; @%p3 mov.pred %p4, %p3;\n"
      "@!%p3 xor.pred %p4, %p3, %p1; selp.u32 %r2, 1, 0, %p2; selp.u32 %r3, 2, 0, %p3; selp.u32 %r4, 4, 0, %p4;\n"
      "add.u32 %r1, %r1, %r2; add.u32 %r3, %r3, %r4; mad.lo.u32 %r1, %r1, 8, %r3; st.global.u32 [%at], %r1; ret;",
      {2, 1, 1}, {64, 1, 1}, 0);
}

TEST_F(Engines, AgreeOnComparisonsOfWideKnownShapes) {
  const std::string body =
      "cvt.u64.u32 %d1, %t; cvt.u64.u32 %d2, %n; shl.b64 %d3, %d1, 1; sub.s64 %d4, %d2, %d1; setp.lt.u64 %p1, %d1, "
      "%d2; setp.ge.s64 %p2, %d3, %d2; setp.gt.s64 %p3, %d4, 3;\n"
      "setp.le.u64 %p4, %d4, 9; selp.u32 %r1, 1, 0, %p1; selp.u32 %r2, 2, 0, %p2; selp.u32 %r3, 4, 0, %p3; selp.u32 "
      "%r4, 8, 0, %p4; add.u32 %r1, %r1, %r2; add.u32 %r3, %r3, %r4;\n"
      "add.u32 %r1, %r1, %r3; st.global.u32 [%at], %r1; ret;";
  for (uint32_t n : {20u, 4294967295u}) both(body, {1, 1, 1}, {64, 1, 1}, n);
}

// What LLVM makes one instruction of, with its operands confused, unless lanes choose first.
TEST_F(Engines, AgreeOnBitsOfTwoValuesInSomeLanes) {
  for (const char* bits : {"0x80000000", "0x7fffffff", "1", "0x7f800000"})
    for (const char* kept : {"%r1", "%r2"}) {
      const std::string rest = fmt::format("xor.b32 %r5, {}, 0xffffffff;\n", bits);
      both(fmt::format("setp.lt.u32 %p1, %t, %n; ld.global.u32 %r1, [%at]; ld.global.u32 %r2, [%at+4096];\n{}"
                       "and.b32 %r3, %r1, {}; and.b32 %r4, %r2, %r5; @%p1 or.b32 {}, %r3, %r4; st.global.u32 [%at+8192], {}; ret;",
                       rest, bits, kept, kept),
           {2, 1, 1}, {64, 1, 1}, 37);
    }
  both(
      "mul.wide.u32 %d1, %i, 8; add.s64 %d1, %out, %d1; setp.lt.u32 %p1, %t, %n; ld.global.f64 %g1, [%d1]; ld.global.f64 %g2, [%d1+4096]; @%p1 copysign.f64 %g2, %g1, %g2; st.global.f64 [%d1+8192], %g2; ret;",
      {2, 1, 1}, {64, 1, 1}, 37);
}

// `y * 64 | x` with an x that the compiler knew to be below 64 is a place of known shape; where bits do meet it is no sum.
TEST_F(Engines, AgreeOnOrsThatWereSums) {
  const auto run = [&](const char* left, const char* what, std::array<uint32_t, 3> block, int shift) {
    both(
        fmt::format(
            "mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r1, %c, %r2, %r1; mov.u32 %r3, %tid.y; mov.u32 %r4, %ctaid.y; mov.u32 %r2, "
            "%ntid.y; mad.lo.u32 %r3, %r4, %r2, %r3;\n"
            "shl.b32 %r5, %r3, 6; add.u32 %r8, %r5, %r1; shl.b32 %r5, %r3, {}; {} or.b32 %r6, %r5, %r1; mul.wide.u32 %d3, %r8, 4; add.s64 %d3, %out, %d3;\n"
            "mul.wide.u32 %d2, %r6, 4; add.s64 %d2, %out, %d2; {} ret;",
            shift, left, what),
        {64 / block[0], 64 / block[1], 1}, block, 0);
  };
  for (const auto& block : {std::array<uint32_t, 3>{16, 16, 1}, {32, 4, 1}, {64, 2, 1}, {8, 8, 1}})
    for (const char* left : {"", "setp.gt.u32 %p1, %r1, 40; @%p1 ret;", "setp.gt.u32 %p1, %r3, 5; @%p1 ret;"}) {
      run(left, "ld.global.u32 %r7, [%d2]; mad.lo.u32 %r7, %r7, 3, %r6; st.global.u32 [%d2], %r7;", block, 6);
      EXPECT_TRUE(planned("dense accesses")) << plan_;
      EXPECT_FALSE(planned(", stretches") || planned(", gathers")) << plan_;
      run(left, "st.global.u32 [%d3], %r6;", block, 5);
    }
}

}  // namespace
}  // namespace warpbeam::vm
