// Loops that lanes leave at different times: compiled code has a version for rounds that all lanes do.
#include "both_engines.h"

namespace warpbeam::vm {
namespace {

constexpr uint32_t kCounts[] = {0, 1, 31, 32, 33, 63, 64, 65, 100, 1000, 2000};

TEST_F(Engines, AgreeOnLoopsOverAGrid) {
  for (const uint32_t n : kCounts)
    for (const uint32_t threads : {32u, 64u, 70u})
      both(
          "mov.f32 %f1, 0f00000000; mov.u32 %r1, %i; setp.ge.s32 %p1, %r1, %n; @%p1 bra S; mov.u32 %r2, %nctaid.x; "
          "mul.lo.s32 %r2, %r2, %s;\n"
          "L: mul.wide.s32 %d1, %r1, 4; add.s64 %d1, %out, %d1; ld.global.f32 %f2, [%d1]; add.f32 %f1, %f1, %f2; "
          "add.s32 %r1, %r1, %r2; setp.lt.s32 %p2, %r1, %n; @%p2 bra L;\n"
          "S: mov.b32 %r3, %f1; st.global.u32 [%at+8192], %r3; shfl.sync.up.b32 %r4, %r3, 1, 0, -1; mov.b32 %f3, "
          "%r4; add.f32 %f1, %f1, %f3; st.global.f32 [%at+12288], %f1; ret;",
          {2, 1, 1}, {threads, 1, 1}, n);
  EXPECT_TRUE(happened("whole loops"));
  EXPECT_TRUE(happened("stores past the caches"));
}

// What a loop stores to again and again stays in the caches.
TEST_F(Engines, AgreeOnLoopsThatStoreToOnePlace) {
  const auto loop = [](const char* on) {
    return fmt::format(
        "mov.u32 %r1, 0; mov.u64 %d1, %at;\nL: mad.lo.u32 %r2, %r1, 3, %i; st.global.u32 [%d1], %r2; {} add.u32 %r1, %r1, 1; "
        "setp.lt.u32 %p1, %r1, %n; @%p1 bra L; ret;",
        on);
  };
  both(loop(""), {4, 1, 1}, {64, 1, 1}, 9);
  EXPECT_FALSE(planned("stores past the caches")) << plan_;
  both(loop("add.u64 %d1, %d1, 1024;"), {4, 1, 1}, {64, 1, 1}, 9);
  EXPECT_TRUE(planned("stores past the caches")) << plan_;
}

TEST_F(Engines, AgreeOnLoopsOfTheirOwnLength) {
  for (const uint32_t n : {0u, 1u, 3u, 17u})
    both(
        "mov.u32 %r1, %t; mov.u32 %r2, 0; and.b32 %r3, %n, 255;\nL: mad.lo.u32 %r2, %r2, 5, %r1; st.shared.u32 "
        "[tile], %r2; ld.shared.u32 %r4, [tile]; add.u32 %r2, %r2, %r4; add.u32 %r1, %r1, 3; and.b32 %r5, %r2, 31; "
        "setp.ge.u32 %p1, %r5, %r3; @!%p1 bra L; setp.ne.u32 %p2, %r3, 0; st.global.u32 [%at], %r2; ret;",
        {1, 1, 1}, {96, 1, 1}, n);
}

// A search by doubling, then by halving: where few lanes are left in the first loop, they run both one by one, while the
// others wait between the two.
TEST_F(Engines, AgreeOnLoopsThatFollowEachOther) {
  both(
      "mov.u32 %r1, 2; L: add.u32 %r2, %i, %r1; and.b32 %r2, %r2, 1023; mul.wide.u32 %d1, %r2, 4; add.s64 %d1, %out, %d1; "
      "ld.global.u32 %r3, [%d1]; and.b32 %r3, %r3, 0x300; setp.ne.u32 %p1, %r3, 0; setp.lt.u32 %p2, %r1, 512;\n"
      "and.pred %p1, %p1, %p2; @!%p1 bra M; shl.b32 %r1, %r1, 1; bra L; M: mov.u32 %r4, 0; mov.u32 %r5, %r1;\n"
      "N: shr.u32 %r5, %r5, 1; add.u32 %r6, %r5, %r4; add.u32 %r7, %r6, %i; and.b32 %r7, %r7, 1023; mul.wide.u32 %d2, %r7, 4; "
      "add.s64 %d2, %out, %d2; ld.global.u32 %r8, [%d2]; and.b32 %r8, %r8, %n; setp.ne.u32 %p3, %r8, 0;\n"
      "selp.b32 %r4, %r6, %r4, %p3; setp.gt.u32 %p4, %r5, 1; @%p4 bra N; st.global.u32 [%at+8192], %r4; ret;",
      {4, 1, 1}, {64, 1, 1}, 0x3000);
  EXPECT_TRUE(happened("lonely lanes"));
}

// Threads of a warp are elsewhere when others come to the loop, and a fault happens in its middle.
TEST_F(Engines, AgreeOnLoopsThatSomeSkipAndFaultsInThem) {
  for (const uint32_t n : {5u, 40u, 1900u, 100000u})
    both(
        "mov.u32 %r1, %i; mov.u32 %r2, 0; and.b32 %r3, %i, 64; setp.ne.u32 %p1, %r3, 0; mov.u32 %r6, 32; @!%p1 bra L; "
        "setp.lt.u32 %p3, %t, 70; @%p3 bra S;\nL: mul.wide.s32 %d1, %r1, 4; add.s64 %d1, %out, %d1; ld.global.u32 "
        "%r4, [%d1]; add.u32 %r2, %r2, %r4; add.u32 %r1, %r1, %r6; setp.lt.u32 %p2, %r1, %n; @%p2 bra L;\n"
        "S: st.global.u32 [%at+8192], %r2; ret;",
        {n > 2000 ? 1u : 2u, 1, 1}, {96, 1, 1}, n);
}

// Sums that stay as they are until they are moved: a NaN's bits show then.
TEST_F(Engines, AgreeOnTheBitsOfNaNs) {
  for (const uint32_t n : {0x7f800001u, 0xffc12345u, 0x7fffffffu, 0xff800000u, 0x3f800000u})
    both(
        "mov.b32 %f1, %n; mov.f32 %f2, 0f00000000; mov.u32 %r1, 0;\nL: add.f32 %f2, %f2, %f1; neg.f32 %f1, %f1; "
        "fma.rn.f32 %f3, %f2, %f1, %f2; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 4; @%p1 bra L; mov.b32 %r2, %f2; "
        "mov.b32 %r3, %f3; mov.f32 %f4, %f2; mov.b32 %r4, %f4; xor.b32 %r2, %r2, %t; xor.b32 %r2, %r2, %r3; "
        "mov.b64 %d1, {%f4, %f3}; shr.u64 %d1, %d1, 7; cvt.u32.u64 %r5, %d1; add.u32 %r2, %r2, %r4; add.u32 %r2, "
        "%r2, %r5; selp.f32 %f5, %f2, %f3, %p1; mov.b32 %r6, %f5; st.global.u32 [%at], %r2; st.global.u32 "
        "[%at+8192], %r6; ret;",
        {1, 1, 1}, {64, 1, 1}, n);
}

}  // namespace
}  // namespace warpbeam::vm
