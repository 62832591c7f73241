// Shuffles and matches between lanes, and accesses at addresses that turn out to be stretches.
#include "both_engines.h"

namespace warpbeam::vm {
namespace {

TEST_F(Engines, KnowWhoseMaskLeavesItselfOut) {
  for (const char* what : {"vote.sync.ballot.b32 %r3, %p1, %r1;", "shfl.sync.bfly.b32 %r3, %t, 1, 31, %r1;",
                           "match.any.sync.b32 %r3, %t, %r1;", "redux.sync.add.u32 %r3, %t, %r1;", "bar.warp.sync %r1;"})
    for (const char* mask :
         {"mov.u32 %r1, 0x7fffffff;", "ld.global.u32 %r1, [%out];", "mov.u32 %r1, -1; setp.eq.u32 %p2, %t, 3; @%p2 mov.u32 %r1, 0xfff0;"})
      EXPECT_NE(both(fmt::format("setp.gt.u32 %p1, %t, 7; {} {} st.global.u32 [%at], %r3; ret;", mask, what), {1, 1, 1}, {32, 1, 1}, 0)
                    .failure.find("leaves this lane out"),
                std::string::npos);
  // Before Volta nobody minds.
  const std::string old = kernel("shfl.sync.bfly.b32 %r3, %t, 1, 31, 0x7fffffff; st.global.u32 [%at], %r3; ret;");
  EXPECT_EQ(both(std::string(old).replace(old.find("sm_90"), 5, "sm_60"), {1, 1, 1}, {32, 1, 1}, 0).failure, "");
}

TEST_F(Engines, ShuffleBetweenMasksThatOverlap) {
  // Lanes below 8 and those from 24 on have a mask of their own; lane 20 has one that overlaps those around it.
  const std::string masks =
      "setp.lt.u32 %p1, %t, 8; selp.u32 %r1, 0xff, 0x00ffff00, %p1; setp.ge.u32 %p2, %t, 24; @%p2 mov.u32 %r1, 0xff000000; setp.eq.u32 %p3, %t, 20; @%p3 mov.u32 %r1, 0x00100100;";
  for (const char* from : {"idx.b32 %r3, %i, 20, 31", "idx.b32 %r3, %i, 2, 31", "down.b32 %r3, %i, 4, 31", "bfly.b32 %r3, %i, %n, 31"}) {
    const Outcome o = both(fmt::format("{} shfl.sync.{}, %r1; st.global.u32 [%at], %r3; ret;", masks, from), {1, 1, 1}, {32, 1, 1}, 4);
    if (std::string_view(from).starts_with("idx.b32 %r3, %i, 20")) {
      EXPECT_EQ(o.words[9], 0u);    // another mask that names it as well
      EXPECT_EQ(o.words[2], 20u);   // a mask that lies apart
      EXPECT_EQ(o.words[20], 20u);
    }
  }
}

TEST_F(Engines, AgreeOnShufflesByLanesThatAreNotKnown) {
  for (const char* kind : {"idx", "up", "down", "bfly"})
    for (const char* clamp : {"31", "0x1807", "%n"})
      both(fmt::format("mul.lo.u32 %r1, %i, 2654435761; shr.u32 %r2, %r1, 26; shfl.sync.{0}.b32 %r3|%p1, %r1, %r2, "
                       "{1}, -1; shfl.sync.{0}.b32 %r4|%p2, %r1, %n, {1}, -1; selp.u32 %r5, 3, 0, %p1;\n"
                       "selp.u32 %r6, 5, 0, %p2; xor.b32 %r3, %r3, %r4; add.u32 %r3, %r3, %r5; add.u32 %r3, %r3, %r6; "
                       "st.global.u32 [%at], %r3; ret;",
                       kind, clamp),
           {2, 1, 1}, {64, 1, 1}, 7);
}

TEST_F(Engines, AgreeOnLanesThatMatch) {
  both(
      "and.b32 %r1, %t, 5; match.any.sync.b32 %r2, %r1, -1; mul.wide.u32 %d1, %r1, %r1; match.any.sync.b64 %r3, %d1, "
      "-1; setp.lt.u32 %p1, %t, 13; mov.u32 %r4, 0; @!%p1 bra E;\n"
      "match.any.sync.b32 %r4, %t, 8191; match.all.sync.b32 %r5|%p2, %c, 8191; xor.b32 %r4, %r4, %r5; E: mad.lo.u32 "
      "%r2, %r2, 7, %r3; add.u32 %r2, %r2, %r4; st.global.u32 [%at], %r2; ret;",
      {2, 1, 1}, {32, 1, 1}, 0);
}

// Partners of a bitonic network at every distance, in shared and in global memory, for all lanes and for some.
TEST_F(Engines, AgreeOnAddressesThatAreStretches) {
  for (const uint32_t distance : {1u, 8u, 16u, 32u})
    both(
        "sub.u32 %r1, %n, 1; and.b32 %r2, %t, %r1; shl.b32 %r3, %t, 1; sub.u32 %r3, %r3, %r2; mul.lo.u32 %r4, %i, "
        "2654435761; shl.b32 %r5, %t, 3; st.shared.u32 [%r5], %r4; st.shared.u32 [%r5+4], %i;\n"
        "bar.sync 0; shl.b32 %r6, %r3, 2; shl.b32 %r7, %n, 2; add.u32 %r7, %r7, %r6; ld.shared.u32 %r8, [%r6]; "
        "ld.shared.u32 %r9, [%r7]; setp.gt.u32 %p1, %r8, %r9; @!%p1 bra J;\n"
        "st.shared.u32 [%r6], %r9; st.shared.u32 [%r7], %r8; J: bar.sync 0; ld.shared.u64 %d1, [%r5]; cvt.u32.u64 "
        "%r10, %d1; shr.u64 %d1, %d1, 32; cvt.u32.u64 %r11, %d1; mad.lo.u32 %r10, %r11, 3, %r10;\n"
        "mul.wide.u32 %d2, %r3, 4; add.s64 %d2, %out, %d2; mul.wide.u32 %d3, %n, 4; add.s64 %d3, %d2, %d3; "
        "ld.global.u32 %r12, [%d2]; ld.global.u32 %r13, [%d3]; bar.sync 0; add.u32 %r12, %r12, %r10;\n"
        "@%p1 st.global.u32 [%d3+4096], %r12; st.global.u32 [%d2+8192], %r13; ld.global.u8 %r14, [%d2+3]; "
        "st.global.u16 [%d3+12000], %r14; ret;",
        {1, 1, 1}, {128, 1, 1}, distance);
  EXPECT_TRUE(happened("stretches"));
}

TEST_F(Engines, AgreeOnStretchesThatLieOnOneAnother) {
  both(
      "and.b32 %r1, %t, %n; mul.wide.u32 %d1, %r1, 4; add.s64 %d1, %out, %d1; st.global.u32 [%d1], %i; shl.b32 %r2, "
      "%r1, 2; st.shared.u32 [%r2], %i; bar.sync 0; shl.b32 %r3, %t, 2; and.b32 %r3, %r3, 60;\n"
      "ld.shared.u32 %r4, [%r3]; st.global.u32 [%at+4096], %r4; ret;",
      {1, 1, 1}, {64, 1, 1}, 15);
}

// `array[index]` whose lanes are near each other: clamped on either side, wrapped, some of them the same, backwards, in a window of
// sixteen and of seventeen, at the array's ends, and where an index wraps around; some lanes take part.
TEST_F(Engines, AgreeOnNearPlaces) {
  for (const char* index :
       {"add.s32 %r1, %t, -3; max.s32 %r1, %r1, 0; min.s32 %r1, %r1, 40;", "add.s32 %r1, %t, -1; min.u32 %r1, %r1, %n;",
        "shr.u32 %r1, %t, 1;", "sub.u32 %r1, 31, %t; max.s32 %r1, %r1, 0;", "xor.b32 %r1, %t, 5;", "and.b32 %r1, %t, %n;",
        "mul.lo.u32 %r1, %t, %n; and.b32 %r1, %r1, 15;", "mul.lo.u32 %r1, %t, %n; and.b32 %r1, %r1, 31;",
        "add.u32 %r1, %t, %n; rem.u32 %r1, %r1, 50;", "add.u32 %r1, %t, 2000; min.u32 %r1, %r1, 2047;",
        "add.u32 %r1, %t, 1990; max.u32 %r1, %r1, 2000; min.u32 %r1, %r1, 2047;"})
    for (const char* load :
         {"mul.wide.s32 %d1, %r1, 4; add.s64 %d1, %out, %d1; ld.global.u32 %r2, [%d1];",
          "mul.wide.u32 %d1, %r1, 4; add.s64 %d1, %d1, %out; ld.global.f32 %f1, "
          "[%d1+8192]; mov.b32 %r2, %f1;",
          "mul.wide.s32 %d1, %r1, 4; add.s64 %d1, %out, %d1; ld.global.s32 %d2, [%d1]; cvt.u32.u64 %r2, %d2; shr.u64 %d2, %d2, 32; "
          "cvt.u32.u64 %r4, %d2; xor.b32 %r2, %r2, %r4;",
          "cvt.s64.s32 %d1, %r1; add.s64 %d1, %out, %d1; ld.global.u8 %r2, [%d1];",
          "cvt.u64.u32 %d1, %r1; add.s64 %d1, %d1, %out; ld.global.s8 %r2, [%d1+5];",
          "mul.wide.u32 %d1, %r1, 2; add.s64 %d1, %out, %d1; ld.global.u16 %h1, [%d1+2]; cvt.u32.u16 %r2, %h1;",
          "mul.wide.s32 %d1, %r1, 8; add.s64 %d1, %out, %d1; ld.global.u64 %d2, [%d1]; cvt.u32.u64 %r2, %d2; shr.u64 "
          "%d2, %d2, 32; cvt.u32.u64 %r4, %d2; mad.lo.u32 %r2, %r2, 3, %r4;"})
      for (const char* some : {"", "setp.gt.u32 %p1, %t, 11; @%p1 bra E;", "and.b32 %r3, %t, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra E;"})
        for (const uint32_t n : {1u, 3u, 17u, 45u})
          both(fmt::format("mov.u32 %r2, 0; {} {} {} E: st.global.u32 [%at+7000], %r2; ret;", index, some, load), {1, 1, 1},
               {n == 3 ? 64u : 50u, 1, 1}, n);
  EXPECT_TRUE(happened("stretches"));
  // Around the ends of 32 bits, whose lanes lie 16 GB apart, and beyond the array.
  for (const char* wide : {"s", "u"})
    for (const uint32_t n : {0x7ffffff0u, 0x7fffffe0u, 0u - 8, 0u - 16, 0u - 40, 4080u, 4086u})
      both(
          fmt::format(
              "min.u32 %r1, %t, 20; add.u32 %r1, %r1, %n; mul.wide.{0}32 %d2, %n, 4; setp.lt.u32 %p1, %n, 5000; selp.b64 %d2, 0, %d2, %p1; sub.s64 %d3, %out, "
              "%d2; mul.wide.{0}32 %d1, %r1, 4; add.s64 %d1, %d3, %d1; ld.global.u32 %r2, [%d1]; st.global.u32 [%at], %r2; ret;",
              wide),
          {1, 1, 1}, {32, 1, 1}, n);
}

}  // namespace
}  // namespace warpbeam::vm
