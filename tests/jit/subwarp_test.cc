// Loops that only compute: processors without AVX-512 run them slice by slice of a warp.
#include "both_engines.h"

namespace warpbeam::vm {
namespace {

constexpr std::array<uint32_t, 3> kBlocks = {2, 1, 1}, kThreads = {96, 1, 1};

// Lanes leave at different times, some before the first round, by a test in the middle or at the end.
TEST_F(Engines, AgreeOnLoopsThatLanesLeaveOneByOne) {
  for (const uint32_t n : {0u, 1u, 2u, 31u, 200u})
    both(
        "cvt.rn.f32.u32 %f1, %i; mul.f32 %f1, %f1, 0f3C800000; sub.f32 %f1, %f1, 0f40000000; mov.f32 %f2, 0f3E800000; "
        "mov.f32 %f3, 0f00000000; mov.f32 %f4, %f3; mov.u32 %r1, 0; mov.u32 %r2, 77; setp.ge.u32 %p1, %r1, %n; @%p1 bra E;\n"
        "L: mul.f32 %f5, %f4, %f4; fma.rn.f32 %f6, %f3, %f3, %f5; setp.gtu.f32 %p2, %f6, 0f40800000; mov.u32 %r2, %r1; "
        "@%p2 bra E; mul.f32 %f7, %f3, %f3; sub.f32 %f7, %f7, %f5; add.f32 %f8, %f3, %f3; fma.rn.f32 %f4, %f8, %f4, "
        "%f2; add.f32 %f3, %f7, %f1; add.u32 %r1, %r1, 1; mov.u32 %r2, %n; setp.ne.u32 %p3, %r1, %n; @%p3 bra L;\n"
        "E: st.global.u32 [%at], %r2; st.global.f32 [%at+8192], %f4; ret;",
        kBlocks, kThreads, n);
  if (other_processor() == "haswell" || (other_processor().empty() && has_avx() && !wide_host())) EXPECT_TRUE(happened("subwarp loops"));
}

// The others of the warp wait with values of their own in the same variables, predicates among them.
TEST_F(Engines, AgreeOnLoopsThatOthersOfTheWarpSkip) {
  for (const uint32_t n : {1u, 5u, 0xffffu, 0xf0f00000u, 0x80000001u})
    both(
        "and.b32 %r3, %t, 31; shr.u32 %r4, %n, %r3; and.b32 %r4, %r4, 1; mov.u32 %r1, %i; mov.u32 %r2, 5; mov.u32 %r5, 0; "
        "setp.gt.u32 %p4, %i, 50; setp.eq.u32 %p5, %r3, 7; setp.eq.u32 %p1, %r4, 0; @%p1 bra E;\n"
        "L: mad.lo.u32 %r1, %r1, 1664525, 1013904223; shr.u32 %r6, %r1, 28; setp.lt.u32 %p2, %r6, 3; @%p2 bra M; add.u32 "
        "%r2, %r2, %r6; xor.pred %p4, %p4, %p2; setp.lt.u32 %p5, %r2, 40; bra N;\n"
        "M: sub.u32 %r2, %r2, 1; @%p5 add.u32 %r5, %r5, 3; not.pred %p4, %p4;\n"
        "N: add.u32 %r5, %r5, 1; setp.lt.u32 %p3, %r2, 60; @%p3 bra L;\n"
        "E: selp.u32 %r7, 1000, 1, %p4; selp.u32 %r8, 77, 2, %p5; add.u32 %r2, %r2, %r7; add.u32 %r5, %r5, %r8; "
        "st.global.u32 [%at], %r1; st.global.u32 [%at+4096], %r2; st.global.u32 [%at+8192], %r5; ret;",
        kBlocks, {70, 1, 1}, n);
}

// A loop in a loop, and a value that is the same for all lanes before and behind it.
TEST_F(Engines, AgreeOnLoopsOfLoopsThatOnlyCompute) {
  for (const uint32_t n : {1u, 3u, 9u})
    both(
        "mov.u32 %r1, %i; mov.u32 %r2, 0; mov.u32 %r3, 0;\n"
        "O: mov.u32 %r4, 0;\n"
        "L: mad.lo.u32 %r1, %r1, 5, %r4; add.u32 %r2, %r2, %r1; add.u32 %r4, %r4, 1; and.b32 %r5, %r1, 7; setp.ne.u32 "
        "%p1, %r5, 3; setp.lt.u32 %p2, %r4, 20; and.pred %p1, %p1, %p2; @%p1 bra L;\n"
        "add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, %n; @%p3 bra O;\n"
        "add.u32 %r2, %r2, %r3; st.global.u32 [%at], %r2; st.global.u32 [%at+8192], %r1; ret;",
        kBlocks, kThreads, n);
}

// Numbers of 64 bits in a loop that all lanes leave together, and its counter behind it.
TEST_F(Engines, AgreeOnLoopsOfDoubles) {
  for (const uint32_t n : {1u, 40u})
    both(
        "cvt.rn.f64.u32 %g1, %i; mov.f64 %g2, 0d3FF0000000000000; mov.f64 %g3, %g2; mov.u32 %r1, 0;\n"
        "L: sub.f64 %g4, %g2, %g1; mul.f64 %g5, %g1, %g2; fma.rn.f64 %g1, %g4, 0d3F847AE147AE147B, %g1; fma.rn.f64 %g2, "
        "%g3, %g1, %g2; sub.f64 %g3, %g5, %g3; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %n; @%p1 bra L;\n"
        "add.f64 %g1, %g1, %g3; mov.b64 %d1, %g1; shr.u64 %d2, %d1, 32; cvt.u32.u64 %r2, %d1; cvt.u32.u64 %r3, %d2; "
        "add.u32 %r3, %r3, %r1; st.global.u32 [%at], %r2; st.global.u32 [%at+8192], %r3; ret;",
        kBlocks, kThreads, n);
}

// All lanes read the same places, until the memory ends.
TEST_F(Engines, AgreeOnLoopsThatReadForAllLanes) {
  for (const uint32_t n : {3u, 1500u, 100000u})
    both(
        "mov.u32 %r1, %i; mov.u32 %r2, 0; mov.u64 %d1, %out; and.b32 %r5, %t, 15; mov.u32 %r7, 9;\n"
        "L: ld.global.u32 %r3, [%d1]; xor.b32 %r1, %r1, %r3; mad.lo.u32 %r7, %r7, %r1, 3; add.u32 %r2, %r2, 1; add.s64 "
        "%d1, %d1, 4; add.u32 %r4, %r2, %r5; setp.lt.u32 %p1, %r4, %n; @%p1 bra L;\n"
        "st.global.u32 [%at+8192], %r1; st.global.u32 [%at+12288], %r7; ret;",
        {n > 2000 ? 1u : 2u, 1, 1}, kThreads, n);
}

// The special functions of numbers of all kinds, in a loop and in straight code.
TEST_F(Engines, AgreeOnSpecialFunctionsOfAllKindsOfNumbers) {
  for (const uint32_t n : {1u, 0x3f000000u, 0x3f7fff00u, 0x7f7fffffu, 0xff800000u})
    for (const char* function : {"rsqrt.approx.f32", "rcp.approx.f32", "ex2.approx.f32", "lg2.approx.f32", "rsqrt.approx.ftz.f32",
                                 "rcp.approx.ftz.f32", "lg2.approx.ftz.f32"})
      both(fmt::format("mad.lo.u32 %r1, %i, 65537, %n; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r6, 0; and.b32 %r7, %t, 3; "
                       "add.u32 %r7, %r7, 60; mov.b32 %f1, %r1; {0} %f2, %f1; mov.b32 %r8, %f2;\n"
                       "L: mov.b32 %f1, %r1; {0} %f2, %f1; mov.b32 %r4, %f2; mad.lo.u32 %r2, %r2, 31, %r4; add.u32 %r1, %r1, "
                       "9377; and.b32 %r5, %r1, 0x3fffffff; add.u32 %r5, %r5, 0x30000000; mov.b32 %f3, %r5; {0} %f4, %f3; mov.b32 "
                       "%r4, %f4; mad.lo.u32 %r6, %r6, 33, %r4; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r7; @%p1 bra L;\n"
                       "st.global.u32 [%at], %r2; st.global.u32 [%at+4096], %r6; st.global.u32 [%at+8192], %r8; ret;",
                       function),
           kBlocks, kThreads, n);
  EXPECT_TRUE(happened("special functions"));
}

}  // namespace
}  // namespace warpbeam::vm
