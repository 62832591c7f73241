// Atomic operations on places that lanes share, that they do not share, and that nobody may touch.
#include "both_engines.h"

namespace warpbeam::vm {
namespace {

// `where` computes the address register %d2 (global) and %r9 (shared) from %t.
constexpr const char* kPlaces[] = {
    "mul.wide.u32 %d2, %t, 4; mad.lo.u32 %r9, %t, 4, 0;",                        // a word each
    "mov.u64 %d2, 64; mov.u32 %r9, 64;",                                         // one for all
    "and.b32 %r1, %t, 7; mul.wide.u32 %d2, %r1, 8; mad.lo.u32 %r9, %r1, 8, 0;",  // a few
    "mul.lo.u32 %r1, %t, 2654435761; shr.u32 %r1, %r1, 28; mul.wide.u32 %d2, %r1, 4; shl.b32 %r9, %r1, 2;",  // here and
                                                                                                             // there
};

TEST_F(Engines, AgreeOnAtomicOperations) {
  constexpr const char* kValues[] = {"%i", "5", "%r2"};
  size_t turn = 0;
  for (const char* place : kPlaces)
    for (const char* op : {"add.u32", "add.s32", "min.s32", "max.u32", "inc.u32", "dec.u32", "and.b32", "or.b32", "xor.b32", "add.u32"}) {
      const char* value = kValues[turn++ % 3];
      // Half of the lanes take part in the second; the results of shared ones are used, of global ones in one warp.
      both(std::string("mul.lo.u32 %r2, %i, 2246822519; ") + place +
               fmt::format(" add.s64 %d2, %out, %d2; mov.u32 %r10, 0; setp.lt.u32 %p1, %r2, 2000000000; mad.lo.u32 "
                           "%r11, %t, 4, 0; st.shared.u32 [%r11], %r2; bar.sync 0;\n"
                           "red.global.{0} [%d2+8192], {1}; atom.shared.{0} %r3, [%r9], {1}; @%p1 atom.shared.{0} "
                           "%r10, [%r9+32], {1}; bar.sync 0; ld.shared.u32 %r4, [%r11]; mad.lo.u32 %r3, %r3, 7, %r10;\n"
                           "mad.lo.u32 %r3, %r3, 7, %r4; @%p1 atom.global.{0} %r5, [%d2+12288], {1}; @%p1 add.u32 %r3, "
                           "%r3, %r5; st.global.u32 [%at], %r3; ret;",
                           op, value),
           {1, 1, 1}, {64, 1, 1}, 0);
    }
  EXPECT_TRUE(happened("atomics"));
}

TEST_F(Engines, AgreeOnWideAtomicOperationsAndExchanges) {
  for (const char* place : kPlaces) {
    both(std::string(place) +
             " and.b64 %d2, %d2, -8; and.b32 %r9, %r9, -8; add.s64 %d2, %out, %d2; mul.wide.u32 %d3, %i, 77777; "
             "mad.lo.u32 %r11, %t, 8, 0; st.shared.u64 [%r11], %d3; bar.sync 0;\n"
             "atom.shared.add.u64 %d4, [%r9], %d3; atom.shared.max.u64 %d5, [%r9], 5000; red.global.add.u64 "
             "[%d2+8192], %d3; red.global.min.s64 [%d2+12288], %d3; bar.sync 0; ld.shared.u64 %d6, [%r11];\n"
             "xor.b64 %d4, %d4, %d5; add.s64 %d4, %d4, %d6; cvt.u32.u64 %r3, %d4; st.global.u32 [%at], %r3; ret;",
         {1, 1, 1}, {64, 1, 1}, 0);
    both(std::string(place) +
             " add.s64 %d2, %out, %d2; ld.global.u32 %r2, [%d2+8192]; atom.global.cas.b32 %r3, [%d2+8192], %r2, %i; "
             "mad.lo.u32 %r11, %t, 4, 0; st.shared.u32 [%r11], 3; bar.sync 0;\n"
             "and.b32 %r4, %t, 3; atom.shared.cas.b32 %r5, [%r9], %r4, %i; atom.shared.cas.b32 %r6, [%r9], 3, 9; "
             "atom.shared.exch.b32 %r8, [%r9], %i; add.u32 %r6, %r6, %r8; bar.sync 0; ld.shared.u32 %r7, [%r11]; "
             "mad.lo.u32 %r5, %r5, 9, %r6; add.u32 %r5, %r5, %r7;\n"
             "xor.b32 %r5, %r5, %r3; st.global.u32 [%at], %r5; ret;",
         {1, 1, 1}, {64, 1, 1}, 0);
  }
}

// What changes nothing, for all lanes or for some of them, of one place or of many.
TEST_F(Engines, AgreeOnAtomicOperationsThatChangeNothing) {
  for (const char* place : kPlaces)
    for (const char* op : {"min.u32", "max.s32", "min.s32", "max.u32", "and.b32"})
      for (const char* value : {"0", "-1", "%r2", "0x7fffffff", "0x80000000"})
        for (const char* sem : {"", ".relaxed.gpu", ".release.gpu"})
          both(
              fmt::format(
                  "mul.lo.u32 %r2, %i, 2246822519; {} add.s64 %d2, %out, %d2; red{}.global.{} [%d2+8192], {}; setp.lt.u32 %p1, %r2, 2000000000; "
                  "@%p1 red.global.{} [%d2+12288], {}; st.global.u32 [%at], %r2; ret;",
                  place, sem, op, value, op, value),
              {1, 1, 1}, {64, 1, 1}, 0);
  // Each lane swaps what the lane before it has put there, some in vain.
  both(
      "mul.wide.u32 %d2, %n, 4; add.s64 %d2, %out, %d2; add.u32 %r2, %t, 1; and.b32 %r3, %t, -9; st.global.u32 [%d2+8192], 0; bar.sync 0; atom.global.cas.b32 %r4, [%d2+8192], %r3, %r2; "
      "st.global.u32 [%at], %r4; ret;",
      {1, 1, 1}, {32, 1, 1}, 3);
}

TEST_F(Engines, AgreeOnAtomicSumsOfFloats) {
  for (const char* place : kPlaces)
    for (const char* value : {"%f1", "0f00000100", "0f7F800000", "0fFFC12345"}) {
      if (place != kPlaces[1] && value[0] == '0' && value[2] != 'F') continue;  // rare numbers in one place only
      both(std::string(place) +
               fmt::format(" add.s64 %d2, %out, %d2; cvt.rn.f32.u32 %f1, %t; mul.f32 %f1, %f1, 0f3DCCCCCD; mad.lo.u32 %r11, "
                           "%t, 4, 0; st.shared.f32 [%r11], %f1; bar.sync 0;\n"
                           "atom.shared.add.f32 %f2, [%r9], {0}; red.global.add.f32 [%d2+8192], {0}; bar.sync 0; ld.shared.f32 "
                           "%f3, [%r11]; mov.b32 %r3, %f3; mov.b32 %r4, %f2; mad.lo.u32 %r3, %r3, 3, %r4;\n"
                           "st.global.u32 [%at], %r3; ret;",
                           value),
           {1, 1, 1}, {64, 1, 1}, 0);
      both(std::string(place) +
               fmt::format(" and.b64 %d2, %d2, -8; and.b32 %r9, %r9, -8; add.s64 %d2, %out, %d2; cvt.rn.f32.u32 %f1, %t; "
                           "mov.f32 %f2, {0}; cvt.f64.f32 %g1, %f2; mad.lo.u32 %r11, %t, 8, 0;\n"
                           "cvt.f64.f32 %g2, %f1; st.shared.f64 [%r11], %g2; bar.sync 0; atom.shared.add.f64 %g3, [%r9], %g1; "
                           "red.global.add.f64 [%d2+8192], %g1; bar.sync 0; ld.shared.u64 %d4, [%r11]; mov.b64 %d5, %g3;\n"
                           "xor.b64 %d4, %d4, %d5; cvt.u32.u64 %r3, %d4; shr.u64 %d4, %d4, 32; cvt.u32.u64 %r4, %d4; add.u32 "
                           "%r3, %r3, %r4; st.global.u32 [%at], %r3; ret;",
                           value),
           {1, 1, 1}, {64, 1, 1}, 0);
    }
}

// None of them waits for another thread, however often it goes round: lanes that leave early are there when the last one comes.
TEST_F(Engines, MeetBehindLoopsWithAtomicOperations) {
  const char* kRounds = "mul.lo.u32 %r1, %t, 3; add.u32 %r1, %r1, 1; mov.u32 %r2, 0; mov.u32 %r5, 0;\n";
  const char* kEnd = "setp.lt.u32 %p1, %r2, %r1; @%p1 bra again;\nactivemask.b32 %r4; st.global.u32 [%at], %r4; ret;";
  const std::string results =
      std::string(kRounds) +
      "again: atom.global.add.u32 %r3, [%at+4096], 1; add.u32 %r5, %r5, %r3; st.global.u32 [%at+8192], %r5; add.u32 %r2, %r2, 1;\n" + kEnd;
  // What it saw leads to work, but not out of the loop.
  const std::string choices =
      std::string(kRounds) +
      "again: atom.global.exch.b32 %r3, [%at+4096], %r2; and.b32 %r3, %r3, 1; setp.eq.u32 %p2, %r3, 0; @%p2 bra next;\n"
      "add.u32 %r6, %r2, 7; st.global.u32 [%at+8192], %r6; next: add.u32 %r2, %r2, 1;\n" +
      kEnd;
  const std::string flags = std::string(kRounds) +
                            "again: ld.volatile.global.u32 %r3, [%at+4096]; add.u32 %r5, %r5, %r3; membar.gl; add.u32 %r2, %r2, 1;\n" +
                            kEnd;
  for (const std::string& text : {results, choices, flags}) {
    const Outcome outcome = both(text, {1, 1, 1}, {32, 1, 1}, 0);
    for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(outcome.words[lane], ~0u) << text;
  }
}

TEST_F(Engines, ReportFaultsOfAtomicOperationsAlike) {
  EXPECT_NE(both("mul.lo.u32 %r1, %t, 100; atom.shared.add.u32 %r2, [%r1], 1; ret;", {1, 1, 1}, {64, 1, 1}, 0).failure, "");
  EXPECT_NE(both("add.s64 %d1, %out, 1048576; red.global.add.u32 [%d1], 1; ret;", {1, 1, 1}, {64, 1, 1}, 0).failure, "");
  EXPECT_NE(both("add.s64 %d1, %out, 2; red.global.add.u32 [%d1], 1; ret;", {1, 1, 1}, {64, 1, 1}, 0).failure, "");
  EXPECT_NE(
      both("setp.eq.u32 %p1, %t, 9; selp.u32 %r1, 2, 4, %p1; atom.shared.max.u32 %r2, [%r1], 1; ret;", {1, 1, 1}, {64, 1, 1}, 0).failure,
      "");
}

}  // namespace
}  // namespace warpbeam::vm
