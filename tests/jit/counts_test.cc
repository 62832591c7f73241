// Histograms: what warps side by side add to shared memory, and kernels that have to see each sum at once.
#include "both_engines.h"

namespace warpbeam::vm {
namespace {

// Clears the tile's 1024 words, runs `loop` between two barriers, and adds the words to what lies behind the first 8 KB.
std::string around(const std::string& loop) {
  return "mov.u32 %r10, %t; mov.u64 %d9, tile;\n"
         "Z: mul.wide.u32 %d8, %r10, 4; add.s64 %d8, %d8, %d9; st.shared.u32 [%d8], 3; add.u32 %r10, %r10, %s; setp.lt.u32 %p8, "
         "%r10, 1024; @%p8 bra Z;\nbar.sync 0;\n" +
         loop +
         "bar.sync 0; mov.u32 %r10, %t;\n"
         "W: mul.wide.u32 %d8, %r10, 4; add.s64 %d7, %d8, %d9; ld.shared.u32 %r11, [%d7]; add.s64 %d8, %d8, %out; red.global.add.u32 "
         "[%d8+8192], %r11; add.u32 %r10, %r10, %s; setp.lt.u32 %p8, %r10, 1024; @%p8 bra W;\nret;";
}

// Goes through n bytes in strides of the grid; %r4 is the byte, %d2 the address of its word in the tile.
std::string strided(const std::string& count, const std::string& load = "ld.global.nc.u8 %r4, [%d1];") {
  return around(
      "mov.u32 %r1, %i; mov.u32 %r3, %nctaid.x; mul.lo.u32 %r3, %r3, %s; setp.ge.u32 %p1, %r1, %n; @%p1 bra S;\n"
      "L: cvt.u64.u32 %d1, %r1; add.s64 %d1, %out, %d1; " +
      load + " mul.wide.u32 %d2, %r4, 4; add.s64 %d2, %d2, %d9; " + count +
      " add.u32 %r1, %r1, %r3; setp.lt.u32 %p2, %r1, %n; @%p2 bra L;\nS: ");
}

TEST_F(Engines, AgreeOnHistograms) {
  for (const uint32_t threads : {64u, 128u, 256u, 320u, 512u, 96u, 250u, 32u})
    for (const uint32_t n : {0u, 1u, 33u, 512u, 640u, 1000u, 2048u, 4095u, 8192u})
      both(strided("atom.shared.add.u32 %r5, [%d2], 1;"), {2, 1, 1}, {threads, 1, 1}, n);
  if (has_avx()) EXPECT_TRUE(happened("counts"));
}

// Sums of several kinds in one loop: values and places that are the same for all or differ, some lanes only, two words.
TEST_F(Engines, AgreeOnWhatIsCounted) {
  for (const char* count :
       {"red.shared.add.u32 [%d2], %r4;", "red.shared.add.s32 [%d2+2048], -1;", "red.shared.add.u32 [tile+64], %r4;",
        "red.shared.add.u32 [tile+64], 5; red.shared.add.u32 [%d2], %r1;", "setp.gt.u32 %p3, %r4, 99; @%p3 red.shared.add.u32 [%d2], 1;",
        "mul.wide.u32 %d3, %t, 4; add.s64 %d3, %d3, %d9; red.shared.add.u32 [%d3], %r4;",
        "setp.gt.u32 %p3, %r1, 1500; @%p3 bra M; red.shared.add.u32 [%d2], 7; bra N;\nM: red.shared.add.u32 [%d2+1024], 9;\nN: "})
    for (const uint32_t threads : {128u, 256u, 320u})
      for (const uint32_t n : {130u, 2048u, 3000u, 8192u}) both(strided(count), {2, 1, 1}, {threads, 1, 1}, n);
}

// What must not wait: sums that are read, other operations, loads of shared memory, and words of other lengths.
TEST_F(Engines, AgreeOnCountsThatAreSeen) {
  for (const char* count :
       {"atom.shared.add.u32 %r5, [%d2], 1; add.u32 %r12, %r12, %r5;", "red.shared.max.u32 [%d2], %r4; red.shared.add.u32 [%d2], 1;",
        "red.shared.add.u32 [%d2], 1; red.shared.xor.b32 [%d2], %r4;", "and.b64 %d2, %d2, -8; red.shared.add.u64 [%d2], 77777777777;",
        "red.shared.add.u32 [%d2], 1; ld.volatile.shared.u32 %r5, [tile+128]; add.u32 %r12, %r12, %r5;", "red.shared.inc.u32 [%d2], 5;"})
    for (const uint32_t n : {640u, 4095u}) both(strided(std::string(count)), {1, 1, 1}, {32, 1, 1}, n);
  for (const char* count :
       {"red.shared.xor.b32 [%d2], %r4;", "red.shared.max.u32 [%d2], %r4;", "and.b64 %d2, %d2, -8; red.shared.add.u64 [%d2], 77777777777;",
        "red.shared.add.u32 [%d2], 1; red.shared.xor.b32 [%d2+1024], %r4;", "red.shared.add.u32 [%d2], 1; st.shared.u32 [tile+4000], %n;"})
    for (const uint32_t n : {640u, 4095u}) both(strided(count), {2, 1, 1}, {256, 1, 1}, n);
}

// Lanes that leave the loop at different times, warps that have rounds of their own, and a way out in its middle.
TEST_F(Engines, AgreeOnCountsOfTeamsThatPart) {
  for (const uint32_t threads : {128u, 256u})
    for (const uint32_t n : {5u, 300u, 2048u}) {
      both(
          around(
              "mov.u32 %r1, %t; and.b32 %r6, %t, 63;\n"
              "L: cvt.u64.u32 %d1, %r1; add.s64 %d1, %out, %d1; ld.global.nc.u8 %r4, [%d1]; mul.wide.u32 %d2, %r4, 4; add.s64 %d2, %d2, %d9; "
              "red.shared.add.u32 [%d2], 1; add.u32 %r1, %r1, 64; add.u32 %r6, %r6, 17; setp.lt.u32 %p2, %r6, %n; @%p2 bra L;\n"),
          {1, 1, 1}, {threads, 1, 1}, n);
      both(strided("red.shared.add.u32 [%d2], 1; setp.eq.u32 %p3, %r4, 7; @%p3 bra S;"), {2, 1, 1}, {threads, 1, 1}, n);
      both(
          around(
              "shr.u32 %r7, %t, 5; mov.u32 %r1, %t;\n"
              "L: cvt.u64.u32 %d1, %r1; add.s64 %d1, %out, %d1; ld.global.nc.u8 %r4, [%d1]; mul.wide.u32 %d2, %r4, 4; add.s64 %d2, %d2, %d9; "
              "red.shared.add.u32 [%d2], %r4; add.u32 %r1, %r1, %s; sub.u32 %r7, %r7, 1; setp.lt.s32 %p2, %r7, 0; @!%p2 bra L;\n"),
          {1, 1, 1}, {threads, 1, 1}, n);
    }
}

// A place outside of shared memory, or one that is not aligned: the report, and what was counted before.
TEST_F(Engines, AgreeOnCountsThatFault) {
  for (
      const char* count :
      {"mul.wide.u32 %d2, %r4, 4096; add.s64 %d2, %d2, %d9; red.shared.add.u32 [%d2], 1;", "red.shared.add.u32 [%d2+2], 1;",
       "setp.gt.u32 %p3, %r1, 1500; selp.b32 %r4, 1000000, %r4, %p3; mul.wide.u32 %d2, %r4, 4; add.s64 %d2, %d2, %d9; red.shared.add.u32 [%d2], 1;"})
    for (const uint32_t threads : {32u, 256u}) both(strided(count), {1, 1, 1}, {threads, 1, 1}, 2048);
  both(strided("red.shared.add.u32 [%d2], 1;"), {1, 1, 1}, {256, 1, 1}, 40000);
}

// Shared memory for which there is one table, and for which there is none; four bytes to a load.
TEST_F(Engines, AgreeOnCountsInMuchSharedMemory) {
  for (const uint32_t more : {1u, 5000u, 13000u})
    for (const uint32_t threads : {128u, 256u})
      for (const uint32_t n : {1000u, 8192u}) {
        const std::string declared = fmt::format(".shared .align 4 .b8 more[{}]; mov.u64 %d6, more; st.shared.u8 [%d6], 0; ", more);
        both(declared + strided("red.shared.add.u32 [%d2], 1;"), {2, 1, 1}, {threads, 1, 1}, n);
        both(
            declared +
                around(
                    "mov.u32 %r1, %t;\n"
                    "L: mul.wide.u32 %d1, %r1, 4; add.s64 %d1, %out, %d1; ld.global.nc.v4.u8 {%r4, %r5, %r6, %r7}, [%d1]; mul.wide.u32 %d2, %r4, 4; add.s64 %d2, "
                    "%d2, %d9; red.shared.add.u32 [%d2], 1; mul.wide.u32 %d2, %r5, 4; add.s64 %d2, %d2, %d9; red.shared.add.u32 [%d2+1024], 1; mul.wide.u32 "
                    "%d2, %r6, 4; add.s64 %d2, %d2, %d9; red.shared.add.u32 [%d2+2048], 1; mul.wide.u32 %d2, %r7, 4; add.s64 %d2, %d2, %d9; red.shared.add.u32 "
                    "[%d2+3072], 1; add.u32 %r1, %r1, %s; setp.lt.u32 %p2, %r1, 2048; @%p2 bra L;\n"),
            {1, 1, 1}, {threads, 1, 1}, n);
      }
}

}  // namespace
}  // namespace warpbeam::vm
