// Addresses that grow evenly from lane to lane: by a constant other than the element, and by what is only known at run
// time; for all lanes and for some, in global and in shared memory, up to faults.
#include "both_engines.h"

namespace warpbeam::vm {
namespace {

constexpr uint32_t kSteps[] = {0, 1, 2, 3, 4, 5, 8, 16, 20};
// Lanes that go on: all, the first ones, and some here and there.
constexpr const char* kWho[] = {"", "setp.gt.u32 %p1, %t, 41; @%p1 bra S;", "and.b32 %r9, %i, 5; setp.eq.u32 %p1, %r9, 4; @%p1 bra S;"};

TEST_F(Engines, AgreeOnLoadsOfAnyStep) {
  for (const char* who : kWho)
    for (const uint32_t n : kSteps) {
      both(fmt::format("mov.u32 %r2, 7; mul.lo.s32 %r1, %t, %n; mul.wide.s32 %d1, %r1, 4; add.s64 %d1, %out, %d1; {} "
                       "ld.global.u32 %r2, [%d1]; ld.global.u32 %r3, [%d1+4]; add.u32 %r2, %r2, %r3; S: "
                       "st.global.u32 [%at+8192], %r2; ret;",
                       who),
           {2, 1, 1}, {90, 1, 1}, n);
      both(fmt::format("mov.u32 %r2, 7; sub.u32 %r4, 90, %t; cvt.s64.s32 %d2, %r4; cvt.u64.u32 %d3, %n; mul.lo.s64 %d2, "
                       "%d2, %d3; shl.b64 %d2, %d2, 3; add.s64 %d2, %d2, %out; {} ld.global.u64 %d4, [%d2]; "
                       "cvt.u32.u64 %r2, %d4; S: st.global.u32 [%at+15000], %r2; ret;",
                       who),
           {2, 1, 1}, {64, 1, 1}, n);
    }
  EXPECT_TRUE(happened("runtime strides"));
  if (wide_host()) EXPECT_TRUE(happened("every second element"));
}

TEST_F(Engines, AgreeOnStoresOfAnyStep) {
  for (const char* who : kWho)
    for (const uint32_t n : kSteps)
      both(fmt::format("mad.lo.s32 %r1, %t, %n, 3; mul.wide.s32 %d1, %r1, 4; add.s64 %d1, %out, %d1; {} "
                       "st.global.u32 [%d1], %i; S: sub.u32 %r1, 200, %r1; mul.wide.s32 %d2, %r1, 8; add.s64 %d2, %out, "
                       "%d2; cvt.u64.u32 %d3, %i; setp.gt.s32 %p2, %r1, 0; @!%p2 bra E; st.global.u64 [%d2+12288], %d3; "
                       "E: ret;",
                       who),
           {1, 1, 1}, {90, 1, 1}, n);
}

TEST_F(Engines, AgreeOnConstantSteps) {
  struct Element {
    const char *type, *value;
    int bytes;
  };
  for (const char* who : kWho)
    for (const auto& [type, value, bytes] : {Element{"s8", "%r2", 1}, {"u16", "%r2", 2}, {"u32", "%r2", 4}, {"u64", "%d2", 8}})
      for (const int step : {1, 2, 3, 4, 7, 8, 16})
        both(
            fmt::format(
                "mov.u32 %r2, 5; cvt.u64.u32 %d2, %i; mul.wide.u32 %d1, %t, {2}; add.s64 %d1, %out, %d1; mov.u64 %d3, tile; mul.wide.u32 %d4, %t, {2}; "
                "add.s64 %d3, %d3, %d4; {3} ld.global.{0} {1}, [%d1]; st.shared.{0} [%d3+16], {1}; ld.shared.{0} {1}, [%d3+16]; "
                "st.global.{0} [%d1+8192], {1}; S: ret;",
                type, value, std::min(step * bytes, 64), who),
            {1, 1, 1}, {60, 1, 1}, 0);
  if (wide_host()) EXPECT_TRUE(happened("every second element"));
}

// The balanced tree of a scan, whose steps double from one barrier to the next.
TEST_F(Engines, AgreeOnATreeOfGrowingSteps) {
  for (const uint32_t threads : {32u, 64u, 128u})
    both(
        "mov.u64 %d9, tile; shl.b32 %r1, %t, 1; mul.wide.u32 %d1, %r1, 4; add.s64 %d1, %d9, %d1; st.shared.u32 [%d1], "
        "%i; st.shared.u32 [%d1+4], 3; or.b32 %r2, %r1, 1; mov.u32 %r3, 1; mov.u32 %r4, %s;\n"
        "L: bar.sync 0; setp.ge.u32 %p1, %t, %r4; @%p1 bra N; mul.lo.s32 %r5, %r3, %r2; add.s32 %r6, %r5, %r3; "
        "mul.wide.s32 %d2, %r5, 4; add.s64 %d2, %d9, %d2; mul.wide.s32 %d3, %r6, 4; add.s64 %d3, %d9, %d3;\n"
        "ld.shared.u32 %r7, [%d2+-4]; ld.shared.u32 %r8, [%d3+-4]; st.shared.u32 [%d2+-4], %r8; add.u32 %r8, %r7, %r8; "
        "st.shared.u32 [%d3+-4], %r8; N: shl.b32 %r3, %r3, 1; shr.u32 %r4, %r4, 1; setp.ne.u32 %p2, %r4, 0; @%p2 bra "
        "L;\n"
        "bar.sync 0; ld.shared.u32 %r9, [%d1]; ld.shared.u32 %r10, [%d1+4]; mad.lo.u32 %r9, %r9, 77, %r10; "
        "st.global.u32 [%at], %r9; ret;",
        {2, 1, 1}, {threads, 1, 1}, 0);
}

TEST_F(Engines, AgreeOnStepsThatLeaveTheAllocation) {
  for (const uint32_t n : {100u, 5000u, 0x08000001u, 0x7fffffffu, 0xffffffffu, 0xfffffff0u}) {
    both(
        "mul.lo.s32 %r1, %t, %n; mul.wide.s32 %d1, %r1, 4; add.s64 %d1, %out, %d1; ld.global.u32 %r2, [%d1]; "
        "st.global.u32 [%at], %r2; ret;",
        {1, 1, 1}, {64, 1, 1}, n);
    both(
        "mul.wide.u32 %d1, %t, %n; add.s64 %d1, %out, %d1; setp.lt.u32 %p1, %t, 9; @!%p1 bra E; st.global.u32 [%d1], "
        "%i; E: ret;",
        {1, 1, 1}, {64, 1, 1}, n);
  }
}

// Places in a window of shared memory, in rising order and not, for all lanes and for some.
TEST_F(Engines, AgreeOnPlacesInAWindow) {
  for (const char* who : kWho) {
    std::string again = who;
    if (const size_t label = again.find("bra S"); label != again.npos) again[label + 4] = 'T';
    for (const uint32_t n : {1u, 2u, 4u, 8u, 16u, 32u, 63u})
      for (const char* order : {"", "xor.b32 %r3, %r3, 3;", "xor.b32 %r3, %r3, 1;", "shl.b32 %r3, %r3, 1;"})
        both(fmt::format("mov.u64 %d9, tile; mul.wide.u32 %d1, %t, 8; add.s64 %d1, %d9, %d1; st.shared.u32 [%d1], %i; "
                         "st.shared.u32 [%d1+4], %t; st.shared.u32 [%d1+1024], %t; st.shared.u32 [%d1+1028], 1; st.shared.u32 "
                         "[%d1+2048], %t; st.shared.u32 [%d1+2052], 2; st.shared.u32 [%d1+3072], 3; st.shared.u32 [%d1+3076], "
                         "4; "
                         "bar.sync 0; mov.u32 %r6, 9; mov.u32 %r7, 9; sub.u32 %r2, %n, 1; "
                         "shl.b32 %r3, %t, 1; and.b32 %r4, %t, %r2; sub.u32 %r3, %r3, %r4; {} mul.wide.u32 %d2, %r3, 4; "
                         "add.s64 %d2, %d9, %d2; {} ld.shared.u32 %r6, [%d2]; ld.shared.u32 %r7, [%d2+128];\n"
                         "S: bar.sync 0; {} st.shared.u32 [%d2], %r7; st.shared.u32 [%d2+512], %r6; T: bar.sync 0; "
                         "ld.shared.u32 %r8, [%d1]; ld.shared.u32 %r9, [%d1+640]; mad.lo.u32 %r8, %r9, 7, %r8; mad.lo.u32 "
                         "%r8, %r6, 31, %r8; mad.lo.u32 %r8, %r7, 63, %r8; st.global.u32 [%at], %r8; ret;",
                         order, who, again),
             {2, 1, 1}, {128, 1, 1}, n);
  }
}

// Lanes that are picked out of a warp store side by side: by their ranks, beyond the end of memory, by ranks with a gap, and
// to one place too many.
TEST_F(Engines, AgreeOnStoresByRank) {
  for (const uint32_t n :
       {0u, 1u, 3u, 0x55555555u, 0xffff0000u, 0xfffffffeu, 0x80000001u, 0xfffffu, 0xff0000u, 0x180fe11u, 0xff7fu, 0xfefefefeu})
    for (const char* place : {"", "add.u32 %r4, %r4, 3060;", "and.b32 %r5, %r4, 15; setp.gt.u32 %p3, %r5, 6; @%p3 add.u32 %r4, %r4, 1;",
                              "min.u32 %r4, %r4, 9;"})
      for (const char* space :
           {"mul.wide.u32 %d1, %r4, 4; add.s64 %d1, %out, %d1; @%p1 st.global.u32 [%d1+4096], %i;",
            "mul.wide.s32 %d1, %r4, 4; add.s64 %d1, %d1, %out; xor.b32 %r4, %r4, 1; @%p1 st.global.u32 [%d1+4096], %i;",
            // Indices that wrap around: the third lane's place is far away, or not.
            "add.u32 %r4, %r4, 0x7ffffffe; mul.wide.s32 %d1, %r4, 4; sub.u64 %d9, %out, 0x1fffffff8; add.s64 %d1, %d9, %d1; "
            "@%p1 st.global.u32 [%d1+4096], %i;",
            "add.u32 %r4, %r4, 0x7ffffffe; mul.wide.u32 %d1, %r4, 4; sub.u64 %d9, %out, 0x1fffffff8; add.s64 %d1, %d9, %d1; "
            "@%p1 st.global.u32 [%d1+4096], %i;",
            "mov.u64 %d9, tile; mul.wide.u32 %d1, %r4, 4; add.s64 %d1, %d9, %d1; @%p1 st.shared.u32 "
            "[%d1], %i; bar.warp.sync -1; ld.shared.u32 %r8, [%d9+8]; st.global.u32 [%at], %r8;"})
        both(fmt::format("mov.u64 %d8, tile; mul.wide.u32 %d7, %t, 4; add.s64 %d8, %d8, %d7; st.shared.u32 [%d8], 5; "
                         "and.b32 %r1, %t, 31; shr.u32 %r2, %n, %r1; and.b32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; "
                         "vote.sync.ballot.b32 %r3, %p1, -1; mov.u32 %r6, %lanemask_lt; and.b32 %r3, %r3, %r6; popc.b32 "
                         "%r4, %r3; mov.u32 %r7, %warpid; {} {} ret;",
                         place, space),
             {1, 1, 1}, {32, 1, 1}, n);
}

// Of one, two and eight bytes.
TEST_F(Engines, AgreeOnOtherSizesStoredByRank) {
  for (const uint32_t n : {0u, 1u, ~0u, 0x55555555u, 0xffff0000u, 0xfffffffeu, 0x80000001u, 0xff0000u, 0x180fe11u, 0xfefefefeu})
    for (const char* place : {"", "add.u32 %r4, %r4, 2020;", "and.b32 %r5, %r4, 15; setp.gt.u32 %p3, %r5, 6; @%p3 add.u32 %r4, %r4, 1;",
                              "min.u32 %r4, %r4, 9;"})
      for (const char* store : {"mul.wide.u32 %d1, %r4, 8; add.s64 %d1, %out, %d1; @%p1 st.global.u64 [%d1+128], %d3;",
                                "mul.wide.s32 %d1, %r4, 8; add.s64 %d1, %d1, %out; xor.b32 %r4, %r4, 1; @%p1 st.global.u64 [%d1+128], %d3;",
                                "mul.wide.u32 %d1, %r4, 2; add.s64 %d1, %out, %d1; @%p1 st.global.u16 [%d1+12246], %i;",
                                "cvt.u64.u32 %d1, %r4; add.s64 %d1, %out, %d1; @%p1 st.global.u8 [%d1+14300], %i;",
                                "cvt.s64.s32 %d1, %r4; add.s64 %d1, %d1, %out; @%p1 st.global.u8 [%d1+129], %i;"})
        both(
            fmt::format(
                "and.b32 %r1, %t, 31; shr.u32 %r2, %n, %r1; and.b32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; vote.sync.ballot.b32 %r3, %p1, -1; mov.u32 %r6, %lanemask_lt; and.b32 %r3, %r3, %r6; "
                "popc.b32 %r4, %r3; mul.wide.u32 %d3, %i, 77777777; {} {} ret;",
                place, store),
            {1, 1, 1}, {32, 1, 1}, n);
  if (wide_host() && __builtin_cpu_supports("avx512vpopcntdq")) EXPECT_TRUE(happened("compressed stores"));
}

}  // namespace
}  // namespace warpbeam::vm
