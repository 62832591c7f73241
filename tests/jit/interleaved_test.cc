// Words that lie side by side, for each lane at a place of its own: rows, members of structures.
#include "both_engines.h"

namespace warpbeam::vm {
namespace {

// Places of lanes below word 2048, in %d1: rows as long as %n, steps that are known, and none.
constexpr const char* kPlaces[] = {
    "mul.lo.u32 %r1, %t, %n; and.b32 %r1, %r1, 1023; mul.wide.u32 %d1, %r1, 4; add.s64 %d1, %out, %d1;",
    "mul.wide.u32 %d1, %t, 12; add.s64 %d1, %out, %d1;",
    "mul.wide.u32 %d1, %t, 20; add.s64 %d1, %out, %d1;",
    "mul.wide.u32 %d1, %t, 32; add.s64 %d1, %out, %d1;",
    "mul.wide.s32 %d2, %t, -24; add.s64 %d1, %out, 7000; add.s64 %d1, %d1, %d2;",
    "ld.global.u32 %r1, [%at]; and.b32 %r1, %r1, 1020; mul.wide.u32 %d1, %r1, 4; add.s64 %d1, %out, %d1;",
    "xor.b32 %r1, %t, 5; mul.wide.u32 %d1, %r1, 16; add.s64 %d1, %out, %d1;",
    "shr.u32 %r1, %t, 3; mul.wide.u32 %d1, %r1, 64; add.s64 %d1, %out, %d1;",
};

constexpr const char* kSum = "mov.u32 %r9, 0; mov.u32 %r10, 3;";
constexpr const char* kStore = "add.u32 %r9, %r9, %r10; st.global.u32 [%at+8192], %r9;";

TEST_F(Engines, AgreeOnPieces) {
  for (const char* place : kPlaces)
    for (
        const char* loads :
        {"ld.global.u32 %r2, [%d1]; ld.global.u32 %r3, [%d1+4]; ld.global.u32 %r4, [%d1+8]; mad.lo.u32 %r9, %r2, 3, %r3; mad.lo.u32 %r9, %r9, 5, %r4;",
         "ld.global.nc.u32 %r2, [%d1+12]; ld.global.nc.u32 %r3, [%d1+4]; mad.lo.u32 %r9, %r2, 3, %r3; ld.global.nc.s32 %r4, [%d1]; ld.global.nc.b32 %r5, [%d1+8]; mad.lo.u32 %r9, %r9, 5, %r4; mad.lo.u32 %r9, %r9, 7, %r5;",
          // Nine words, and one of them twice.
         "ld.global.f32 %f1, [%d1+-4]; ld.global.f32 %f2, [%d1]; ld.global.f32 %f3, [%d1+4]; ld.global.f32 %f4, [%d1+8]; ld.global.f32 %f5, [%d1+12]; ld.global.f32 %f6, [%d1+16]; ld.global.f32 %f7, "
         "[%d1+20]; ld.global.f32 %f8, [%d1+24]; ld.global.f32 %f9, [%d1+28]; ld.global.f32 %f10, [%d1+4]; mov.b32 %r2, %f1; mov.b32 %r3, %f5; mov.b32 %r4, %f9; mov.b32 %r5, %f10; mov.b32 %r6, %f7; "
         "xor.b32 %r9, %r2, %r3; xor.b32 %r9, %r9, %r4; mad.lo.u32 %r9, %r9, 3, %r5; mad.lo.u32 %r9, %r9, 3, %r6;",
          // One register again and again, so that no load can be made before its place.
         "ld.global.u32 %r2, [%d1]; add.u32 %r9, %r9, %r2; ld.global.u32 %r2, [%d1+4]; mad.lo.u32 %r9, %r9, 3, %r2; ld.global.u32 %r2, [%d1+8]; mad.lo.u32 %r9, %r9, 3, %r2;",
          // A result that is read before, and one that is written.
         "ld.global.u32 %r2, [%d1]; add.u32 %r9, %r10, %r2; ld.global.u32 %r10, [%d1+4]; mov.u32 %r4, 9; ld.global.u32 %r4, [%d1+8]; add.u32 %r9, %r9, %r4;",
          // The place changes.
         "ld.global.u32 %r2, [%d1]; add.s64 %d1, %d1, 4; ld.global.u32 %r3, [%d1]; ld.global.u32 %r4, [%d1+4]; ld.global.u32 %r5, [%d1+8]; mad.lo.u32 %r9, %r2, 3, %r3; mad.lo.u32 %r9, %r9, 5, %r4; add.u32 %r9, %r9, %r5;",
          // Memory changes.
         "ld.global.u32 %r2, [%d1]; ld.global.u32 %r3, [%d1+4]; st.global.u32 [%at+12288], %r3; ld.global.u32 %r4, [%d1+8]; ld.global.u32 %r5, [%d1+12]; mad.lo.u32 %r9, %r2, 3, %r4; add.u32 %r9, %r9, %r5;",
          // Some have a predicate, or are more than a word.
         "setp.lt.u32 %p1, %t, 20; ld.global.u32 %r2, [%d1]; @%p1 ld.global.u32 %r10, [%d1+4]; ld.global.u32 %r3, [%d1+8]; ld.global.u32 %r4, [%d1+12]; mad.lo.u32 %r9, %r2, 3, %r3; add.u32 %r9, %r9, %r4;",
         "ld.global.u32 %d2, [%d1]; ld.global.s32 %d3, [%d1+4]; ld.global.u32 %d4, [%d1+8]; add.s64 %d2, %d2, %d3; xor.b64 %d2, %d2, %d4; cvt.u32.u64 %r9, %d2; shr.u64 %d2, %d2, 32; cvt.u32.u64 %r10, %d2;"})
      for (const uint32_t threads : {64u, 45u})
        both(fmt::format("{} {} {} {} ret;", kSum, place, loads, kStore), {1, 1, 1}, {threads, 1, 1}, threads == 64 ? 9 : 17);
  if (has_avx()) {
    EXPECT_TRUE(happened("interleaved loads"));
    EXPECT_TRUE(happened("gathers"));
  }
}

// What is loaded behind an acquire is not loaded before it.
TEST_F(Engines, AgreeOnPiecesBehindAnAcquire) {
  const auto planned_with = [&](const char* between) {
    both(fmt::format("{} {} ld.global.u32 %r2, [%d1]; {} ld.global.u32 %r3, [%d1+4]; mad.lo.u32 %r9, %r2, 3, %r3; {} ret;", kSum,
                     kPlaces[2], between, kStore),
         {1, 1, 1}, {64, 1, 1}, 0);
    return planned("interleaved loads");
  };
  if (!has_avx()) GTEST_SKIP() << "there are none";
  EXPECT_TRUE(planned_with("ld.global.u32 %r5, [%out+16000];"));
  EXPECT_FALSE(planned_with("ld.acquire.gpu.global.u32 %r5, [%out+16000];"));
  EXPECT_FALSE(planned_with("ld.acquire.gpu.global.v2.u32 {%r5, %r6}, [%out+16000];"));
}

// Pairs and fours of words, and words of eight bytes.
TEST_F(Engines, AgreeOnPiecesOfVectors) {
  for (const char* place : {"mul.lo.u32 %r1, %t, 7; and.b32 %r1, %r1, 255; mul.wide.u32 %d1, %r1, 16; add.s64 %d1, %out, %d1;",
                            "mul.wide.u32 %d1, %t, 48; add.s64 %d1, %out, %d1;",
                            "ld.global.u32 %r1, [%at]; and.b32 %r1, %r1, 1020; mul.wide.u32 %d1, %r1, 4; add.s64 %d1, %out, %d1;"})
    for (
        const char* loads :
        {"ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%d1]; mad.lo.u32 %r9, %r2, 3, %r3; mad.lo.u32 %r9, %r9, 5, %r4; mad.lo.u32 %r9, %r9, 7, %r5;",
         "ld.global.v2.u32 {%r2, %r3}, [%d1]; ld.global.v2.u32 {%r4, %r5}, [%d1+8]; mad.lo.u32 %r9, %r2, 3, %r3; mad.lo.u32 %r9, %r9, 5, %r4; mad.lo.u32 %r9, %r9, 7, %r5;",
         "ld.global.v2.u64 {%d2, %d3}, [%d1]; shr.u64 %d3, %d3, 5; xor.b64 %d2, %d2, %d3; cvt.u32.u64 %r9, %d2; shr.u64 %d2, %d2, 32; cvt.u32.u64 %r10, %d2;",
         "ld.global.f64 %g1, [%d1]; ld.global.f64 %g2, [%d1+8]; mov.b64 %d2, %g1; mov.b64 %d3, %g2; shr.u64 %d3, %d3, 5; xor.b64 %d2, %d2, %d3; cvt.u32.u64 %r9, %d2; shr.u64 %d2, %d2, 32; cvt.u32.u64 "
         "%r10, %d2;"})
      for (const uint32_t threads : {32u, 64u, 45u})
        both(fmt::format("{} {} {} {} ret;", kSum, place, loads, kStore), {1, 1, 1}, {threads, 1, 1}, 0);
}

// Rows that an unrolled loop goes along; lanes that leave it early; the last words of memory, behind which there is nothing to read.
TEST_F(Engines, AgreeOnPiecesInLoopsAndAtTheEnd) {
  for (const char* leave : {"", "setp.gt.u32 %p3, %r7, %t; @%p3 bra S;", "setp.eq.u32 %p3, %t, 9; @%p3 bra S;"})
    both(
        fmt::format(
            "{} mov.u32 %r7, 0; mul.lo.u32 %r1, %t, %n; mul.wide.u32 %d1, %r1, 4; add.s64 %d1, %out, %d1;\nL: ld.global.u32 %r2, [%d1]; mad.lo.u32 %r9, %r9, 3, %r2; ld.global.u32 %r3, [%d1+4]; mad.lo.u32 "
            "%r9, %r9, 3, %r3; ld.global.u32 %r4, [%d1+8]; mad.lo.u32 %r9, %r9, 3, %r4; ld.global.u32 %r5, [%d1+12]; mad.lo.u32 %r9, %r9, 3, %r5; add.s64 %d1, %d1, 16; add.u32 %r7, %r7, 4; {} setp.lt.u32 %p2, "
            "%r7, %n; @%p2 bra L;\nS: {} ret;",
            kSum, leave, kStore),
        {1, 1, 1}, {64, 1, 1}, 32);
  // 3 words at the end, then a fault; a place that is not a multiple of four.
  for (const int from : {16372, 16376, 16380, 16384, 16374})
    for (const int lane : {0, 13, 31})
      both(
          fmt::format(
              "{} and.b32 %r1, %t, 7; mul.wide.u32 %d1, %r1, 44; add.s64 %d1, %out, %d1; setp.eq.u32 %p1, %t, {}; add.s64 %d2, %out, {}; selp.b64 %d1, %d2, %d1, %p1; ld.global.u32 %r2, [%d1]; ld.global.u32 "
              "%r3, [%d1+4]; ld.global.u32 %r4, [%d1+8]; mad.lo.u32 %r9, %r2, 3, %r3; mad.lo.u32 %r9, %r9, 5, %r4; {} ret;",
              kSum, lane, from, kStore),
          {1, 1, 1}, {32, 1, 1}, 0);
}

// Records of three to nine words, apart by as much, more or less; stores in any order, twice, with gaps, with what they store changed
// and memory read in between; pairs, fours and words of eight bytes.
TEST_F(Engines, AgreeOnStoredPieces) {
  for (const char* place :
       {"mul.wide.u32 %d1, %t, 12;", "mul.wide.u32 %d1, %t, 20;", "mul.wide.u32 %d1, %t, 28;", "mul.wide.u32 %d1, %t, 48;",
        "mul.wide.s32 %d1, %t, -36; add.s64 %d1, %d1, 7000;", "mul.wide.u32 %d1, %t, 180;"})
    for (
        const char* stores :
        {"st.global.u32 [%d1], %r2; st.global.u32 [%d1+4], %r3; st.global.u32 [%d1+8], %r4;",
         "st.global.u32 [%d1+4], %r2; st.global.u32 [%d1], %r4; add.u32 %r6, %r4, %r3; st.global.u32 [%d1+12], %r6; st.global.u32 [%d1+8], 7;",
         "st.global.u32 [%d1], %r2; st.global.u32 [%d1+4], %r3; mul.lo.u32 %r5, %r2, %r3; st.global.u32 [%d1+8], %r4; st.global.u32 [%d1+12], %t; st.global.u32 "
         "[%d1+16], %r5;",
         "st.global.u32 [%d1], %r2; st.global.u32 [%d1+4], %r3; st.global.u32 [%d1+8], %r4; st.global.u32 [%d1+16], %r4; st.global.u32 [%d1+20], %n; "
         "st.global.f32 [%d1+24], %f1;",
         "st.global.u32 [%d1], %r2; st.global.u32 [%d1+4], %r3; st.global.u32 [%d1+8], %r4; st.global.u32 [%d1+12], %r2; st.global.u32 [%d1+16], %r4; "
         "st.global.u32 [%d1+20], %n; st.global.f32 [%d1+24], %f1; st.global.u32 [%d1+4], %r2; st.global.u32 [%d1+28], %r2; st.global.u32 [%d1+32], %r3;",
         "st.global.u32 [%d1], %r2; add.u32 %r2, %r2, 3; st.global.u32 [%d1+4], %r2; add.u32 %r2, %r2, 3; st.global.u32 [%d1+8], %r2; mov.u32 %r2, 9; "
         "st.global.u32 [%d1+12], %r2;",
         "st.global.u32 [%d1], %r2; st.global.u32 [%d1+4], %r3; ld.global.u32 %r4, [%d1]; st.global.u32 [%d1+8], %r4; st.global.u32 [%d1+12], %r3; add.s64 "
         "%d1, %d1, 4; st.global.u32 [%d1+12], %r3;",
         "st.global.u32 [%d1], %r2; st.global.u32 [%d1+4], %r3; st.global.u32 [%at+12000], %r5; st.global.u32 [%d1+8], %r4; setp.lt.u32 %p1, %t, 20; @%p1 "
         "st.global.u32 [%d1+4], %r4; st.global.u32 [%d1], %r4;",
         "st.global.v2.u32 [%d1], {%r2, %r3}; st.global.v2.u32 [%d1+8], {%r4, %r2}; st.global.v2.u32 [%d1+16], {%r3, %r3};",
         "st.global.v4.u32 [%d1], {%r2, %r3, %r4, %r2};",
         "cvt.u64.u32 %d3, %r2; cvt.u64.u32 %d4, %r3; st.global.u64 [%d1], %d3; st.global.u64 [%d1+8], %d4; st.global.u64 [%d1+16], %d1;"})
      for (const uint32_t threads : {32u, 29u})
        for (const uint32_t n : {0u, 20u})
          both(
              fmt::format(
                  "ld.global.u32 %r2, [%at+12288]; mul.lo.u32 %r3, %r2, 3; xor.b32 %r4, %r2, %t; cvt.rn.f32.u32 %f1, %t; sub.u32 %r5, 32, %n; setp.ge.u32 %p2, %t, "
                  "%r5; @%p2 ret; {} add.s64 %d1, %out, %d1; {} ret;",
                  place, stores),
              {1, 1, 1}, {threads, 1, 1}, n);
  if (has_avx()) EXPECT_TRUE(happened("interleaved stores"));
  // The last lanes lie beyond the array.
  for (const uint32_t n : {16384u - 64 * 12 + 4, 16384u - 40, 16384u - 31 * 12})
    both(
        "mul.wide.u32 %d1, %t, 12; cvt.u64.u32 %d2, %n; add.s64 %d1, %d1, %d2; add.s64 %d1, %d1, %out; st.global.u32 [%d1], %t; st.global.u32 [%d1+4], %n; "
        "st.global.u32 [%d1+8], %t; ret;",
        {1, 1, 1}, {32, 1, 1}, n);
}

// Loads and stores around one place in each lane, which lanes share or not by what is known when it runs: rows that are updated, what was
// stored read again, with an index that may wrap around in between.
TEST_F(Engines, AgreeOnRecords) {
  for (const char* place : {"mul.lo.u32 %r1, %t, %n; mul.wide.u32 %d1, %r1, 4;",
                            "ld.global.u32 %r1, [%at+12288]; and.b32 %r1, %r1, 1020; mul.wide.u32 %d1, %r1, 4;",
                            "xor.b32 %r1, %t, 1; mul.wide.u32 %d1, %r1, 32;", "mul.wide.s32 %d1, %t, -64; add.s64 %d1, %d1, 4096;",
                            "mul.wide.u32 %d1, %t, 20;"})
    for (
        const char* body :
        {"ld.global.u32 %r2, [%d1]; ld.global.u32 %r3, [%d1+4]; add.u32 %r3, %r3, %r2; st.global.u32 [%d1+4], %r3; ld.global.u32 %r4, [%d1+8]; mad.lo.u32 %r4, %r3, 3, "
         "%r4; st.global.u32 [%d1+8], %r4; ld.global.u32 %r5, [%d1+12]; mad.lo.u32 %r5, %r4, 3, %r5; st.global.u32 [%d1+12], %r5; st.global.u32 [%d1], %t;",
         "st.global.u32 [%d1], %t; ld.global.u32 %r2, [%d1+4]; st.global.u32 [%d1+4], %n; ld.global.u32 %r3, [%d1]; st.global.u32 [%d1+8], %r3; st.global.u32 [%d1+12], "
         "%r2; ld.global.u32 %r4, [%d1+16]; st.global.u32 [%d1], %r4;",
         "st.global.u32 [%d1], %t; ld.global.u32 %r2, [%d1+4]; st.global.u32 [%d1+8], %r2; add.u32 %r6, %n, 0x7fffffe0; add.u32 %r6, %r6, %t; mul.wide.s32 %d3, %r6, 4; "
         "cvt.u32.u64 %r7, %d3; st.global.u32 [%d1+4], %r7; ld.global.u32 %r4, [%d1+12]; add.u32 %r4, %r4, 1; st.global.u32 [%d1+12], %r4;",
         "st.global.u32 [%d1+8], %t; st.global.u32 [%d1+4], %n; st.global.u32 [%d1], 5; st.global.u32 [%d1+12], %i;",
         "ld.global.u32 %r2, [%d1]; st.global.u32 [%d1+4], %r2; ld.global.u32 %r2, [%d1+8]; st.global.u32 [%d1+12], %r2; ld.global.u32 %r3, [%d1+4]; st.global.u32 [%d1+8], "
         "%r3; st.global.u32 [%d1], %t;",
         "ld.global.u64 %d3, [%d1]; ld.global.u64 %d4, [%d1+8]; add.s64 %d3, %d3, %d4; st.global.u64 [%d1+8], %d3; ld.global.u64 %d4, [%d1+16]; add.s64 %d4, %d4, 5; "
         "st.global.u64 [%d1], %d4; st.global.u64 [%d1+16], %d3;",
         "mov.u32 %r9, 0; L: ld.global.u32 %r2, [%d1]; add.u32 %r2, %r2, %r9; st.global.u32 [%d1], %r2; ld.global.u32 %r3, [%d1+4]; mad.lo.u32 %r3, %r2, 5, %r3; st.global.u32 "
         "[%d1+4], %r3; ld.global.u32 %r4, [%d1+8]; mad.lo.u32 %r4, %r3, 5, %r4; st.global.u32 [%d1+8], %r4; add.s64 %d1, %d1, 12; add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, "
         "4; @%p1 bra L;"})
      for (const uint32_t threads : {32u, 29u})
        for (const uint32_t n : {1u, 3u, 12u, 40u})
          both(fmt::format("{} add.s64 %d1, %out, %d1; {} ret;", place, body), {1, 1, 1}, {threads, 1, 1}, n);
  if (has_avx()) EXPECT_TRUE(happened("records"));
}

// Bytes and halves: members of structures, rows, and loops over as many as a lane has; to itself, to another place, to one that meets it.
TEST_F(Engines, AgreeOnPiecesOfBytes) {
  const auto repeated = [](const char* load_and_store, int elements, int bytes) {
    std::string all;
    for (int k = 0; k < elements; ++k) all += fmt::format(fmt::runtime(load_and_store), k * bytes, k);
    return all;
  };
  const std::string bodies[] = {
      repeated("ld.global.u8 %q{1}, [%d1+{0}]; xor.b16 %q{1}, %q{1}, 90; st.global.u8 [%d2+{0}], %q{1}; ", 16, 1),
      repeated("ld.global.s8 %w{1}, [%d1+{0}]; mad.lo.u32 %r9, %r9, 31, %w{1}; ", 13, 1) + "st.global.u32 [%at+12288], %r9;",
      repeated("cvt.u16.u32 %q{1}, %r9; add.u32 %r9, %r9, 77; st.global.u8 [%d2+{0}], %q{1}; ", 12, 1),
      repeated("ld.global.u16 %q{1}, [%d1+{0}]; add.u16 %q{1}, %q{1}, 3; st.global.u16 [%d2+{0}], %q{1}; ", 7, 2),
      repeated("ld.global.s16 %v{1}, [%d1+{0}]; cvt.u32.u64 %w{1}, %v{1}; mad.lo.u32 %r9, %r9, 31, %w{1}; ", 8, 2) +
          "st.global.u32 [%at+12288], %r9;",
      repeated("ld.global.v2.u8 {{%w{1}, %r3}}, [%d1+{0}]; mad.lo.u32 %r9, %r9, 31, %w{1}; ", 5, 2) + "st.global.u32 [%at+12288], %r9;",
      repeated("ld.global.u32 %w{1}, [%d1+{0}]; add.u32 %w{1}, %w{1}, 3; st.global.u32 [%d2+{0}], %w{1}; ", 4, 4),
      // What is stored late is loaded anew before; accesses of another size around the same place.
      "mov.u32 %w9, %t; st.global.u32 [%d2], %w9; ld.global.u32 %w1, [%d1]; st.global.u32 [%d2+4], %w1; ld.global.u32 %w9, [%d1+4]; st.global.u32 [%d2+8], %w9; "
      "ld.global.u32 %w2, [%d1+8]; st.global.u32 [%d2+12], %w2;",
      "ld.global.u32 %w1, [%d1]; ld.global.u16 %q1, [%d1+4]; st.global.u32 [%d1], %t; ld.global.u16 %q2, [%d1+6]; st.global.u16 [%d1+6], %q1; ld.global.u32 %w2, [%d1+8]; "
      "st.global.u16 [%d1+4], %q2; st.global.u32 [%d1+8], %w1; st.global.u32 [%d1+12], %w2;",
  };
  for (const char* from :
       {"mul.wide.u32 %d1, %t, 20; add.s64 %d1, %d1, 4;", "ld.global.u32 %r1, [%at]; and.b32 %r1, %r1, 1020; mul.wide.u32 %d1, %r1, 4;"})
    for (const char* to : {"add.s64 %d2, %d1, 8;", "mul.wide.u32 %d2, %t, 16; add.s64 %d2, %d2, 4096;",
                           "mul.lo.u32 %r1, %t, %n; mul.wide.u32 %d2, %r1, 4; add.s64 %d2, %d2, 8192;"})
      for (const std::string& body : bodies)
        for (const uint32_t threads : {&body - bodies == 3 ? 29u : 32u})
          both(
              fmt::format(
                  "{{ .reg .b16 %q<16>; .reg .b32 %w<16>; .reg .b64 %v<16>; mov.u32 %r9, %t; {} {} add.s64 %d1, %out, %d1; add.s64 %d2, %out, %d2; {} }} ret;",
                  from, to, body),
              {1, 1, 1}, {threads, 1, 1}, threads == 32 ? 5 : 7);
  if (!has_avx()) return;
  EXPECT_TRUE(happened("interleaved loads"));
  EXPECT_TRUE(happened("interleaved stores"));
  EXPECT_TRUE(happened("records"));
  // The last lanes' last bytes lie beyond the array, or just within it.
  for (const uint32_t n : {16384u - 31 * 16 - 16, 16384u - 31 * 16 - 15, 16384u - 31 * 16 - 12})
    both(
        fmt::format(
            "{{ .reg .b16 %q<16>; .reg .b32 %w<16>; mov.u32 %r9, %t; mul.wide.u32 %d1, %t, 16; cvt.u64.u32 %d2, %n; add.s64 %d1, %d1, %d2; "
            "add.s64 %d1, %out, %d1; mov.u64 %d2, %d1; {} }} ret;",
            bodies[n % 16 == 0 ? 0 : 1]),
        {1, 1, 1}, {32, 1, 1}, n);
}

}  // namespace
}  // namespace warpbeam::vm
