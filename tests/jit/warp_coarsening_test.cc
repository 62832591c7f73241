// Warps that go through loops and tiles side by side, and what sends them on their own ways.
#include <cstring>

#include "both_engines.h"

namespace warpbeam::vm {
namespace {

// Sums over the first 2048 words; the rest is written.
constexpr const char* kStrided =
    "mov.u32 %r1, %i; mov.u32 %r2, 0; mov.u32 %r3, %nctaid.x; mul.lo.u32 %r3, %r3, %s; setp.ge.u32 %p1, %r1, %n; @%p1 "
    "bra S;\nL: mul.wide.u32 %d1, %r1, 4; add.s64 %d1, %out, %d1; ld.global.nc.u32 %r4, [%d1]; mad.lo.u32 %r2, %r2, 3, "
    "%r4; add.u32 %r1, %r1, %r3; setp.lt.u32 %p2, %r1, %n; @%p2 bra L;\nS: st.global.u32 [%at+8192], %r2; ret;";

TEST_F(Engines, AgreeOnTeamsInGridStrideLoops) {
  for (const uint32_t threads : {64u, 128u, 256u, 320u, 512u, 96u})
    for (const uint32_t n : {0u, 1u, 33u, 512u, 640u, 1000u, 1024u, 1999u, 2048u}) both(kStrided, {2, 1, 1}, {threads, 1, 1}, n);
  if (has_avx()) EXPECT_TRUE(happened("warp coarsening"));
  if (has_avx()) EXPECT_TRUE(happened("next turns named"));
}

// One comparison for the whole team: bounds on either side, signed or not, that say to go on or to leave; and warps whose
// turns do not begin with the first one.
TEST_F(Engines, AgreeOnBoundsOfTeams) {
  for (const char* end :
       {"setp.lt.u32 %p2, %r1, %n; @%p2 bra L;", "setp.gt.s32 %p2, %n, %r1; @%p2 bra L;", "setp.le.s32 %p2, %r1, %n; @%p2 bra L;",
        "setp.ge.s32 %p2, %r1, %n; @!%p2 bra L;", "setp.ge.u32 %p2, %r1, %n; @%p2 bra S; bra L;", "setp.hs.u32 %p2, %n, %r1; @%p2 bra L;",
        "setp.lt.s32 %p2, %r1, %n; mov.u32 %r1, %r5; @%p2 bra L;"})
    for (const char* barriers :
         {"", "bar.sync 0;", "bar.sync 0; st.shared.u32 [tile], %n; bar.sync 0; ld.shared.u32 %r2, [tile]; bar.sync 0;"})
      for (const uint32_t threads : {128u, 256u})
        for (const uint32_t n : {0u, 127u, 128u, 900u, 1024u, 2047u})
          both(fmt::format(
                   "mov.u32 %r1, %i; mov.u32 %r2, 0; mov.u32 %r3, %nctaid.x; mul.lo.u32 %r3, %r3, %s; {}\nL: mul.wide.s32 %d1, %r1, 4; "
                   "add.s64 %d1, %out, %d1; ld.global.nc.u32 %r4, [%d1]; mad.lo.u32 %r2, %r2, 3, %r4; add.u32 %r1, %r1, %r3; add.u32 "
                   "%r5, %r1, 0; {}\nS: add.u32 %r2, %r2, %r1; st.global.u32 [%at+8192], %r2; ret;",
                   barriers, end),
               {2, 1, 1}, {threads, 1, 1}, n);
}

// An index that wraps around from one warp to the next, or between its rounds.
TEST_F(Engines, AgreeOnTeamsThatWrapAround) {
  for (const uint32_t start : {0x80000000u - 256, 0x80000000u - 192, 0x80000000u - 224, 0x80000000u - 2048, 0u - 256, 0u - 160})
    for (const char* sign : {"s", "u"})
      for (const uint32_t n : {1u, 2u, 8u})
        both(
            fmt::format(
                "add.u32 %r1, %t, {0}; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u64 %d3, {1};\nL: mul.wide.{2}32 %d1, %r1, 4; sub.s64 %d1, %d1, "
                "%d3; add.s64 %d1, %out, %d1; ld.global.nc.u32 %r4, [%d1]; mad.lo.u32 %r2, %r2, 3, %r4; add.u32 %r1, %r1, 256; add.u32 %r3, "
                "%r3, 1; setp.lt.u32 %p2, %r3, %n; @%p2 bra L;\nst.global.u32 [%at+8192], %r2; ret;",
                start, *sign == 's' ? static_cast<int64_t>(static_cast<int32_t>(start)) * 4 : static_cast<int64_t>(start) * 4, sign),
            {1, 1, 1}, {256, 1, 1}, n);
}

// What is stored in each round lies side by side: onto what was read, into another array, from two, of four words each. Words
// of 1 or 4 bytes, and accesses to what lies behind or before the places that are stored, where warps have to go one by one.
TEST_F(Engines, AgreeOnTeamsThatStore) {
  for (
      const char* round :
      {"ld.global.u32 %r4, [%d1]; mad.lo.u32 %r4, %r4, 3, %n; st.global.u32 [%d1], %r4;",
       "ld.global.u32 %r4, [%d1]; st.global.u32 [%d1+8192], %r4;",
       "ld.global.u32 %r4, [%d1]; ld.global.u32 %r5, [%d1+8192]; mad.lo.u32 %r4, %r4, 5, %r5; st.global.u32 [%d1+8192], %r4;",
       "st.global.u32 [%d1], %r1;",
       "ld.global.u32 %r4, [%d1]; add.s64 %d2, %d1, 8192; add.s64 %d3, %d1, 0; xor.b32 %r4, %r4, %r1; st.global.u32 [%d2], %r4; st.global.u32 [%d3], %r1;",
       "ld.global.u32 %r4, [%d1]; add.s64 %d2, %d1, 8192; st.global.u32 [%d2], %r4; ld.global.u32 %r5, [%d2]; add.u32 %r5, %r5, %r4; st.global.u32 [%d1], %r5;",
       "ld.global.u32 %r4, [%d1]; cvt.u64.u32 %d4, %r4; and.b64 %d4, %d4, 1; st.global.u32 [%d1], %r1; cvt.u32.u64 %r5, %d4; st.global.u32 [%d1+8192], %r5;"})
    for (const char* turn : {"", "setp.eq.u32 %p3, %r1, 700; @%p3 bra M; st.global.u32 [%d1+4], %r1;\nM: "})
      for (const uint32_t threads : {64u, 128u, 256u, 320u})
        for (const uint32_t n : {0u, 33u, 512u, 700u, 1024u, 1999u})
          if (!*turn || threads == 64)  // what is stored behind is another thread's
            both(
                fmt::format(
                    "mov.u32 %r1, %i; mov.u32 %r3, %nctaid.x; mul.lo.u32 %r3, %r3, %s; setp.ge.u32 %p1, %r1, %n; @%p1 bra S;\nL: mul.wide.u32 "
                    "%d1, %r1, {}; add.s64 %d1, %out, %d1; {} {} add.u32 %r1, %r1, %r3; setp.lt.u32 %p2, %r1, %n; @%p2 bra L;\nS: ret;",
                    *turn ? 8 : 4, round, turn),
                {2, 1, 1}, {threads, 1, 1}, *turn ? n / 2 : n);
  for (const uint32_t n : {1u, 64u, 500u, 512u})
    both(
        "mov.u32 %r1, %i; mov.u32 %r3, %nctaid.x; mul.lo.u32 %r3, %r3, %s; setp.ge.u32 %p1, %r1, %n; @%p1 bra S;\nL: mul.wide.u32 %d1, %r1, 16; "
        "add.s64 %d1, %out, %d1; ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d1]; add.u32 %r4, %r4, %r7; st.global.v4.u32 [%d1+8192], {%r7, %r5, %r4, "
        "%r6}; add.u32 %r1, %r1, %r3; setp.lt.u32 %p2, %r1, %n; @%p2 bra L;\nS: ret;",
        {2, 1, 1}, {128, 1, 1}, n);
  for (const uint32_t n : {1u, 700u, 4096u})
    both(
        "mov.u32 %r1, %i; mov.u32 %r3, %nctaid.x; mul.lo.u32 %r3, %r3, %s; setp.ge.u32 %p1, %r1, %n; @%p1 bra S;\nL: cvt.u64.u32 %d1, %r1; add.s64 "
        "%d1, %out, %d1; ld.global.u8 %r4, [%d1]; add.u32 %r4, %r4, %r1; st.global.u8 [%d1+8192], %r4; add.u32 %r1, %r1, %r3; setp.lt.u32 %p2, %r1, "
        "%n; @%p2 bra L;\nS: ret;",
        {2, 1, 1}, {256, 1, 1}, n);
}

// A value that is the same in the whole block, or each warp's own, changes from round to round and is used by what is stored
// and by what comes after the loop; and rounds of two ways.
TEST_F(Engines, AgreeOnWhatTeamsThatStoreGoOnWith) {
  for (const uint32_t n : {0u, 100u, 512u, 900u, 1024u})
    for (const uint32_t threads : {64u, 128u, 256u})
      for (const char* way :
           {"", "and.b32 %r9, %r6, 2; setp.eq.u32 %p3, %r9, 0; @%p3 bra M; ld.global.u32 %r5, [%d1+4096]; add.u32 %r4, %r4, %r5;\nM: "})
        both(
            fmt::format(
                "mov.u32 %r1, %i; mov.u32 %r2, 0; mov.u32 %r6, 0; shr.u32 %r7, %t, 5; mov.u32 %r3, %nctaid.x; mul.lo.u32 %r3, %r3, %s; setp.ge.u32 "
                "%p1, %r1, %n; @%p1 bra S;\nL: mul.wide.u32 %d1, %r1, 4; add.s64 %d1, %out, %d1; ld.global.u32 %r4, [%d1]; {} mad.lo.u32 %r2, %r2, 3, "
                "%r4; add.u32 %r6, %r6, 1; mad.lo.u32 %r7, %r7, 5, %r6; add.u32 %r8, %r2, %r7; st.global.u32 [%d1], %r8; add.u32 %r1, %r1, %r3; "
                "setp.lt.u32 %p2, %r1, %n; @%p2 bra L;\nS: add.u32 %r2, %r2, %r6; xor.b32 %r2, %r2, %r7; add.u32 %r2, %r2, %r1; st.global.u32 [%at+8192], %r2; ret;",
                way),
            {2, 1, 1}, {threads, 1, 1}, n);
}

// A second team stores beyond the memory, or two arrays come to be one: what was stored before stays, and is stored once.
TEST_F(Engines, AgreeOnFaultsOfTeamsThatStore) {
  for (const uint32_t n : {2049u, 2100u, 4097u, 5000u, 100000u})
    both(
        "mov.u32 %r1, %i; setp.ge.u32 %p1, %r1, %n; @%p1 bra S;\nL: mul.wide.u32 %d1, %r1, 4; add.s64 %d1, %out, %d1; ld.global.u32 %r4, [%d1]; add.u32 "
        "%r4, %r4, 7; st.global.u32 [%d1+8192], %r4; add.u32 %r1, %r1, %s; setp.lt.u32 %p2, %r1, %n; @%p2 bra L;\nS: ret;",
        {1, 1, 1}, {256, 1, 1}, n);
  // Twice as far in each round, up to where the places of both meet: all of them are the same then.
  for (const uint32_t n : {1u, 2u, 5u, 8u})
    both(
        "mov.u32 %r1, 0; mul.wide.u32 %d1, %t, 4; add.s64 %d1, %d1, %out; add.s64 %d2, %d1, 8192;\nL: ld.global.u32 %r4, [%d1]; ld.global.u32 %r5, "
        "[%d2]; mad.lo.u32 %r4, %r4, 3, %r5; st.global.u32 [%d2], %r4; add.s64 %d2, %d2, -1024; add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, %n; @%p2 "
        "bra L; ret;",
        {1, 1, 1}, {256, 1, 1}, n);
}

// In the middle of a team's turn the memory ends: the report is that of the lowest warp.
TEST_F(Engines, AgreeOnFaultsOfTeams) {
  for (const uint32_t n : {4097u, 4200u, 5000u, 100000u}) both(kStrided, {1, 1, 1}, {256, 1, 1}, n);
  for (const uint32_t n : {1u, 40u, 100u, 1000u})
    both(
        "shr.u32 %r1, %t, 5; mul.lo.u32 %r1, %r1, %n; mov.u32 %r2, 0; mov.u32 %r5, 0; bar.sync 0;\nL: mad.lo.u32 "
        "%r6, %r5, 32, %r1; mul.wide.u32 %d1, %r6, 4; add.s64 %d1, %d1, %out; ld.global.nc.u32 %r4, [%d1+64]; add.u32 "
        "%r2, %r2, %r4; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 40; @%p1 bra L; bar.sync 0; st.global.u32 "
        "[%at+8192], %r2; ret;",
        {1, 1, 1}, {256, 1, 1}, n);
}

// Kernels without loops, whose warps need one check together: of one array, of two that lie apart or run into each other, with a
// bound that the index is compared with in other ways, that something else reads too, or that is passed in the middle of a team;
// and beyond the memory's end.
TEST_F(Engines, AgreeOnTeamsInStraightCode) {
  for (const char* bound :
       {"setp.ge.u32 %p1, %r1, %n; @%p1 bra S;", "setp.lt.s32 %p1, %r1, %n; not.pred %p2, %p1; @%p2 bra S;",
        "setp.lt.s32 %p1, %r1, %n; @!%p1 bra S;", "setp.lt.u32 %p1, %r1, %n; not.pred %p2, %p1; selp.u32 %r3, 5, 9, %p1; @%p2 bra S;",
        "setp.gt.u32 %p1, %n, %r1; not.pred %p2, %p1; not.pred %p3, %p2; @!%p3 bra S;",
        "setp.ge.u32 %p1, %r1, %n; mov.u32 %r1, %i; @%p1 bra S;", ""})
    for (const char* work :
         {"ld.global.u32 %r4, [%d1]; add.u32 %r4, %r4, %r3; st.global.u32 [%d1], %r4;",
          "ld.global.u32 %r4, [%d1]; mad.lo.u32 %r4, %r4, 3, %r1; st.global.u32 [%d1+8192], %r4;",
          "ld.global.u32 %r4, [%d1]; add.s64 %d2, %d1, 64; st.global.u32 [%d2], %r4;",
          "ld.global.u32 %r4, [%d1]; add.u32 %r4, %r4, %r3; mov.u32 %r3, 77; st.global.u32 [%d1], %r4; st.global.u32 [%d1+8192], %r3;",
          "ld.global.u32 %r4, [%d1]; selp.u32 %r4, %r4, %r3, %p1; st.global.u32 [%d1+8192], %r4;"})
      for (const uint32_t threads : {32u, 100u, 256u, 352u})
        for (const uint32_t n : {0u, 1u, 160u, 256u, 700u, 5000u})
          if (!std::strstr(work, "64") || threads == 32)  // what is stored behind is another thread's
            both(
                fmt::format(
                    "mov.u32 %r1, %i; mov.u32 %r3, 1; setp.eq.u32 %p1, %r1, 7; mul.wide.u32 %d1, %r1, 4; add.s64 %d1, %out, %d1; {} {}\nS: ret;",
                    bound, work),
                {std::strstr(work, "64") ? 1u : 2u, 1, 1}, {threads, 1, 1}, n);
  // The bound is all that keeps the last warps from what is not there.
  for (const uint32_t n : {1u, 64u, 500u, 2048u, 2049u, 4096u, 6000u})
    both(
        "mov.u32 %r1, %i; setp.ge.u32 %p1, %r1, %n; @%p1 bra S;\nmul.wide.u32 %d1, %r1, 8; add.s64 %d1, %out, %d1; ld.global.v2.u32 {%r4, %r5}, [%d1]; "
        "st.global.v2.u32 [%d1], {%r5, %r4};\nS: ret;",
        {30, 1, 1}, {256, 1, 1}, n);
  EXPECT_TRUE(happened("block after block"));
}

// Each warp has a number of rounds of its own, and some have none.
TEST_F(Engines, AgreeOnTeamsThatPart) {
  for (const uint32_t n : {0u, 1u, 2u, 3u, 7u})
    for (const uint32_t threads : {64u, 256u})
      both(
          "shr.u32 %r1, %t, 5; mul.lo.u32 %r1, %r1, %n; and.b32 %r1, %r1, 15; mov.u32 %r2, %t; mov.u32 %r5, 0; "
          "mov.u32 %r9, %t; setp.eq.u32 %p3, %r1, 0; @%p3 bra E;\n"
          "L: mad.lo.u32 %r6, %r5, 64, %t; mul.wide.u32 %d1, %r6, 4; add.s64 %d1, %d1, %out; ld.global.nc.u32 %r4, "
          "[%d1]; xor.b32 %r2, %r2, %r4; setp.eq.u32 %p2, %r5, 4; @%p2 add.u32 %r9, %r9, %r4; add.u32 %r5, %r5, 1; "
          "setp.lt.u32 %p1, %r5, %r1; @%p1 bra L;\n"
          "E: shfl.sync.bfly.b32 %r7, %r2, 3, 31, -1; add.u32 %r2, %r2, %r7; mul.wide.u32 %d2, %t, 4; mov.u64 %d3, "
          "tile; add.s64 %d2, %d2, %d3; st.shared.u32 [%d2], %r2; bar.sync 0; xor.b32 %r8, %t, 63; mul.wide.u32 %d2, "
          "%r8, 4; add.s64 %d2, %d2, %d3; ld.shared.u32 %r7, [%d2]; add.u32 %r7, %r7, %r9; st.global.u32 [%at+8192], "
          "%r7; ret;",
          {2, 1, 1}, {threads, 1, 1}, n);
}

// A loop in a loop, a way that all take or none, lanes that have left, and lanes that leave the inner loop early.
TEST_F(Engines, AgreeOnTeamsInLoopsOfLoops) {
  for (const uint32_t n : {1u, 2u, 5u, 8u})
    for (const uint32_t last : {256u, 250u, 130u})
      both(fmt::format("setp.ge.u32 %p5, %t, {}; @%p5 bra X; mov.u32 %r1, 0; mov.u32 %r2, %t;\n"
                       "O: mov.u32 %r3, 0; mov.u32 %r7, %t;\n"
                       "L: mul.wide.u32 %d1, %r7, 4; add.s64 %d1, %d1, %out; ld.global.nc.u32 %r4, [%d1]; setp.gt.u32 "
                       "%p1, %r1, 3; @%p1 bra M; add.u32 %r2, %r2, %r4; bra N;\n"
                       "M: xor.b32 %r2, %r2, %r4;\nN: add.u32 %r7, %r7, 128; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, "
                       "%r3, 6; and.b32 %r8, %r2, 63; setp.ne.u32 %p3, %r8, 0; and.pred %p2, %p2, %p3; @%p2 bra L;\n"
                       "add.u32 %r1, %r1, 1; setp.lt.u32 %p4, %r1, %n; @%p4 bra O;\n"
                       "bar.sync 0; st.global.u32 [%at+8192], %r2;\nX: ret;",
                       last),
           {2, 1, 1}, {256, 1, 1}, n);
}

// A tile product: what its warps load of one tile is the same for all, of the other a value for each row.
TEST_F(Engines, AgreeOnTeamsInTiles) {
  std::string product;
  for (int k = 0; k < 16; ++k)
    product += fmt::format("ld.shared.f32 %f1, [%d2+{}]; ld.shared.f32 %f2, [%d3+{}]; fma.rn.f32 %f3, %f1, %f2, %f3;\n", k * 4, k * 64);
  for (const auto& [x, y] : {std::pair{16u, 16u}, {32u, 16u}, {16u, 24u}, {64u, 8u}, {8u, 32u}})
    for (const uint32_t n : {1u, 3u, 9u})
      both(
          "mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r1, %s, %r2; and.b32 %r4, %r3, 511; mul.wide.u32 "
          "%d1, %r4, 4; mov.u64 %d4, tile; add.s64 %d1, %d1, %d4; and.b32 %r5, %r1, 7; mul.wide.u32 %d2, %r5, 64; "
          "add.s64 %d2, %d2, %d4; and.b32 %r6, %r2, 15; mul.wide.u32 %d3, %r2, 4; add.s64 %d3, %d3, %d4; mov.f32 "
          "%f3, 0f00000000; mov.u32 %r7, 0;\n"
          "L: add.u32 %r8, %r7, %r3; cvt.rn.f32.u32 %f4, %r8; st.shared.f32 [%d1], %f4; st.shared.f32 [%d1+2048], "
          "%f3; bar.sync 0;\n" +
              product +
              "bar.sync 0; add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, %n; @%p1 bra L;\n"
              "mul.wide.u32 %d1, %r3, 4; add.s64 %d1, %d1, %out; st.global.f32 [%d1+4096], %f3; ret;",
          {1, 1, 1}, {x, y, 1}, n);
}

}  // namespace
}  // namespace warpbeam::vm
