// Trees, scans and networks in shared memory that are gone through when the kernel is compiled, alone and between code that
// is not, and blocks that turn out to be none of those that were unrolled.
#include "both_engines.h"

namespace warpbeam::vm {
namespace {

// Each thread's element from global memory, where it is one of the first n, to its place in `tile`.
constexpr char kFill[] =
    "mov.u32 %r1, 0; setp.ge.u32 %p1, %i, %n; @%p1 bra F; ld.global.u32 %r1, [%at]; F: mul.wide.u32 %d1, %t, 4; "
    "mov.u64 %d2, tile; add.s64 %d1, %d1, %d2; st.shared.u32 [%d1], %r1; bar.sync 0; ";
// And back.
constexpr char kDrain[] = "setp.ge.u32 %p1, %i, %n; @%p1 bra E; ld.shared.u32 %r1, [%d1]; st.global.u32 [%at], %r1; E: ret;";

// A sum by halving, with `extra` in the loop.
std::string halving(const char* extra = "") {
  return fmt::format(
      "shr.u32 %r2, %s, 1; L: setp.ge.u32 %p1, %t, %r2; @%p1 bra S; mul.wide.u32 %d3, %r2, 4; add.s64 %d3, %d3, %d1; "
      "ld.shared.u32 %r3, [%d3]; ld.shared.u32 %r4, [%d1]; mad.lo.u32 %r4, %r4, 31, %r3; st.shared.u32 [%d1], %r4; {} S: "
      "bar.sync 0; shr.u32 %r2, %r2, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra L; ",
      extra);
}

// Sums of all before by doubling, in two halves of `tile` in turn.
constexpr char kDoubling[] =
    "mov.u32 %r2, 1; mov.u32 %r9, 0; L: mad.lo.u32 %r5, %r9, %s, %t; mul.wide.u32 %d3, %r5, 4; add.s64 %d3, %d3, %d2; "
    "ld.shared.u32 %r6, [%d3]; setp.lt.u32 %p1, %t, %r2; @%p1 bra S; sub.u32 %r7, %r5, %r2; mul.wide.u32 %d4, %r7, 4; "
    "add.s64 %d4, %d4, %d2; ld.shared.u32 %r8, [%d4]; mad.lo.u32 %r6, %r6, 3, %r8; S: xor.b32 %r9, %r9, 1; mad.lo.u32 "
    "%r5, %r9, %s, %t; mul.wide.u32 %d3, %r5, 4; add.s64 %d1, %d3, %d2; st.shared.u32 [%d1], %r6; bar.sync 0; shl.b32 "
    "%r2, %r2, 1; setp.lt.u32 %p2, %r2, %s; @%p2 bra L; ";

// Up a tree of growing stride, something for one thread only, and down again.
std::string balanced(const char* between) {
  return fmt::format(
      "mov.u32 %r2, 1; mov.u32 %r3, %s; shr.u32 %r3, %r3, 1; "
      "U: bar.sync 0; setp.ge.u32 %p1, %t, %r3; @%p1 bra V; mad.lo.u32 %r4, %t, 2, 1; mul.lo.u32 %r4, %r4, %r2; "
      "mul.wide.u32 %d3, %r4, 4; add.s64 %d3, %d3, %d2; mul.wide.u32 %d4, %r2, 4; add.s64 %d4, %d3, %d4; "
      "ld.shared.u32 %r5, [%d3+-4]; ld.shared.u32 %r6, [%d4+-4]; mad.lo.u32 %r6, %r6, 5, %r5; st.shared.u32 [%d4+-4], "
      "%r6; V: shl.b32 %r2, %r2, 1; shr.u32 %r3, %r3, 1; setp.ne.u32 %p2, %r3, 0; @%p2 bra U; "
      "setp.ne.u32 %p3, %t, 0; @%p3 bra M; {} M: mov.u32 %r3, 1; "
      "D: shr.u32 %r2, %r2, 1; bar.sync 0; setp.ge.u32 %p1, %t, %r3; @%p1 bra W; mad.lo.u32 %r4, %t, 2, 1; mul.lo.u32 "
      "%r4, %r4, %r2; mul.wide.u32 %d3, %r4, 4; add.s64 %d3, %d3, %d2; mul.wide.u32 %d4, %r2, 4; add.s64 %d4, %d3, "
      "%d4; ld.shared.u32 %r5, [%d3+-4]; ld.shared.u32 %r6, [%d4+-4]; st.shared.u32 [%d3+-4], %r6; mad.lo.u32 %r6, "
      "%r6, 7, %r5; st.shared.u32 [%d4+-4], %r6; W: shl.b32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, %s; @%p2 bra D; "
      "bar.sync 0; ",
      between);
}

// Grids whose last block is full, has some threads beyond the data, or has all of them there.
TEST_F(Engines, AgreeOnUnrolledTrees) {
  for (const uint32_t threads : {32u, 64u, 96u, 256u, 512u})
    for (const uint32_t n : {4 * threads, 3 * threads + 7, 2 * threads, 0u})
      both(kFill + halving() + kDrain, {4, 1, 1}, {threads, 1, 1}, n);
}

TEST_F(Engines, AgreeOnUnrolledScans) {
  for (const uint32_t threads : {32u, 128u, 256u, 512u})
    for (const uint32_t n : {3 * threads, 2 * threads + 9}) {
      both(std::string(kFill) + kDoubling + kDrain, {3, 1, 1}, {threads, 1, 1}, n);
      both(kFill + balanced("st.shared.u32 [tile], %i;") + kDrain, {3, 1, 1}, {threads, 1, 1}, n);
      both(kFill + balanced("add.u32 %r7, %i, %n; st.global.u32 [%at+8192], %r7; st.shared.u32 [tile+8], 5;") + kDrain, {3, 1, 1},
           {threads, 1, 1}, n);
    }
}

// What cannot be unrolled in the middle: an atomic, another barrier's result, data that decide.
TEST_F(Engines, AgreeOnWhatIsUnrolledInParts) {
  for (const char* part :
       {"atom.shared.add.u32 %r11, [tile+12], 3; bar.sync 0;", "bar.red.popc.u32 %r11, 0, %p1; st.shared.u32 [%d1], %r11; bar.sync 0;",
        "ld.shared.u32 %r11, [%d1]; and.b32 %r12, %r11, 4; setp.eq.u32 %p4, %r12, 0; @%p4 bra X; st.shared.u32 [%d1], %t; "
        "X: bar.sync 0;",
        "setp.gt.u32 %p4, %n, 500; @%p4 bra X; st.shared.u32 [%d1], %t; X: bar.sync 0;"})
    for (const uint32_t n : {256u, 600u, 768u}) {
      both(std::string(kFill) + part + halving() + kDrain, {3, 1, 1}, {256, 1, 1}, n);
      both(kFill + halving() + part + kDrain, {3, 1, 1}, {256, 1, 1}, n);
      both(std::string(kFill) + kDoubling + part + kDrain, {3, 1, 1}, {256, 1, 1}, n);
    }
  if (has_avx()) EXPECT_TRUE(happened("unrolled block"));
}

// The same tree twice, in a loop that only the launch knows the length of.
TEST_F(Engines, AgreeOnUnrolledBlocksInALoop) {
  for (const uint32_t n : {1u, 3u})
    both(
        "mov.u32 %r15, %n; mov.u32 %r14, 0; mul.wide.u32 %d1, %t, 4; mov.u64 %d2, tile; add.s64 %d1, %d1, %d2; O: add.u32 %r1, %i, %r15; "
        "st.shared.u32 [%d1], %r1; bar.sync 0; " +
            halving() +
            "ld.shared.u32 %r1, [tile]; bar.sync 0; add.u32 %r14, %r14, %r1; sub.u32 %r15, %r15, 1; setp.ne.u32 %p5, "
            "%r15, 0; @%p5 bra O; st.global.u32 [%at], %r14; ret;",
        {3, 1, 1}, {128, 1, 1}, n);
}

// Bounds that are asked twice, by a predicate from before the tree, jumped over in two ways, or joined to another question.
TEST_F(Engines, AgreeOnBoundsInUnrolledBlocks) {
  for (const uint32_t n : {512u, 400u, 100u})
    for (const char* end :
         {"@!%p6 bra A; bra.uni B; A: ld.shared.u32 %r1, [%d1]; st.global.u32 [%at], %r1; B: @%p6 bra E; ld.shared.u32 %r1, "
          "[%d1]; st.global.u32 [%at+8192], %r1; E: ret;",
          "setp.lt.u32 %p7, %t, 50; and.pred %p7, %p7, %p6; @%p7 bra E; ld.shared.u32 %r1, [%d1]; st.global.u32 [%at], %r1; "
          "E: ret;",
          "@%p6 bra B; ld.shared.u32 %r1, [%d1]; st.global.u32 [%at], %r1; bra.uni E; B: st.global.u32 [%at+4096], %t; E: "
          "ret;"})
      both("setp.ge.u32 %p6, %i, %n; " + (kFill + halving()) + end, {4, 1, 1}, {128, 1, 1}, n);
}

// Values beside the data: kept over barriers, changed by some lanes, of 64 bits, under guards.
TEST_F(Engines, AgreeOnValuesBesideUnrolledBlocks) {
  both("mov.u32 %r13, 5; mov.u32 %r14, %i; " + (kFill + halving("add.u32 %r14, %r14, %r3; mul.lo.u32 %r13, %r2, %i;")) +
           "ld.shared.u32 %r7, [%d1]; add.u32 %r7, %r7, %r14; add.u32 %r7, %r7, %r13; st.global.u32 [%at], %r7; ret;",
       {2, 1, 1}, {128, 1, 1}, 256);
  both(
      "mul.wide.u32 %d1, %t, 8; mov.u64 %d2, tile; add.s64 %d1, %d1, %d2; cvt.u64.u32 %d4, %i; mul.lo.u64 %d4, %d4, "
      "12345678901; st.shared.u64 [%d1], %d4; bar.sync 0; shr.u32 %r2, %s, 1; L: setp.lt.u32 %p1, %t, %r2; @%p1 bra S; "
      "bra R; S: mul.wide.u32 %d3, %r2, 8; add.s64 %d3, %d3, %d1; ld.shared.u64 %d5, [%d3]; ld.shared.u64 %d6, [%d1]; "
      "add.u64 %d6, %d6, %d5; st.shared.u64 [%d1], %d6; R: bar.sync 0; shr.u32 %r2, %r2, 1; setp.ne.u32 %p2, %r2, 0; "
      "@%p2 bra L; ld.shared.u64 %d7, [tile]; shr.u64 %d7, %d7, 7; cvt.u32.u64 %r7, %d7; st.global.u32 [%at], %r7; ret;",
      {3, 1, 1}, {256, 1, 1}, 0);
  both(std::string(kFill) +
           "mov.u32 %r2, 4; L: xor.b32 %r5, %t, %r2; mul.wide.u32 %d3, %r5, 4; add.s64 %d3, %d3, %d2; ld.shared.u32 %r6, "
           "[%d3]; ld.shared.u32 %r7, [%d1]; and.b32 %r8, %t, %r2; setp.ne.u32 %p1, %r8, 0; min.u32 %r9, %r6, %r7; @%p1 "
           "max.u32 %r9, %r6, %r7; bar.sync 0; st.shared.u32 [%d1], %r9; bar.sync 0; shr.u32 %r2, %r2, 1; setp.ne.u32 "
           "%p2, %r2, 0; @%p2 bra L; " +
           kDrain,
       {2, 1, 1}, {128, 1, 1}, 250);
}

// Loads behind stores to the same memory, places outside of it, and blocks of two dimensions.
TEST_F(Engines, AgreeOnGlobalMemoryInUnrolledBlocks) {
  both(kFill + halving() +
           "st.global.u32 [%at], %r1; ld.global.u32 %r7, [%out+128]; add.u32 %r7, %r7, %t; bar.sync 0; "
           "ld.global.u32 %r8, [%at]; add.u32 %r8, %r8, %r7; st.global.u32 [%at], %r8; ret;",
       {1, 1, 1}, {32, 1, 1}, 32);
  both(kFill + halving() + "add.s64 %at, %at, 16320; st.global.u32 [%at], %r1; ret;", {1, 1, 1}, {32, 1, 1}, 32);
  both(
      "mov.u32 %r10, %tid.y; mad.lo.u32 %t, %r10, 16, %t; mov.u32 %s, 128; mad.lo.u32 %i, %c, 128, %t; mul.wide.s32 %o, "
      "%i, 4; add.s64 %at, %out, %o; " +
          (kFill + halving()) + kDrain,
      {3, 1, 1}, {16, 8, 1}, 300);
  both(kFill + halving() + "st.shared.u32 [%d1+4000], %r1; ret;", {1, 1, 1}, {32, 1, 1}, 32);
}

// Stores of every second element, two of which leave nothing between them, and those that only look like it.
TEST_F(Engines, AgreeOnUnrolledStoresOfPairs) {
  const std::string sum = std::string(kFill) + halving();
  const char* where =
      "add.u32 %r10, %i, 0; mul.wide.u32 %d5, %r10, 8; add.s64 %d5, %out, %d5; ld.shared.u32 %r1, [%d1]; mad.lo.u32 %r2, %r1, 3, %t; ";
  for (const char* stores :
       {"st.global.u32 [%d5+8192], %r1; st.global.u32 [%d5+8196], %r2;", "st.global.u32 [%d5+8196], %r1; st.global.u32 [%d5+8192], %r2;",
        "st.global.u32 [%d5+8192], %r1; st.global.u32 [%d5+8192], %r2;",
        "st.global.u32 [%d5+8192], %r1; mov.u32 %r1, %t; st.global.u32 [%d5+8196], %r1;",
        "st.global.u16 [%d5+8192], %r1; st.global.u16 [%d5+8196], %r2;",
        "st.global.f32 [%d5+8192], 0fFFC12345; st.global.u32 [%d5+8196], %n;",
        "setp.lt.u32 %p3, %t, 40; @%p3 st.global.u32 [%d5+8192], %r1; st.global.u32 [%d5+8196], %r2;",
        "setp.ge.u32 %p3, %i, %n; @%p3 bra A; st.global.u32 [%d5+8192], %r1;\nA: @%p3 bra B; st.global.u32 [%d5+8196], %r2;\nB: "})
    for (const uint32_t threads : {32u, 64u, 256u})
      for (const uint32_t n : {4 * threads, 2 * threads + 7}) both(sum + where + stores + " ret;", {4, 1, 1}, {threads, 1, 1}, n);
  for (const char* stores :
       {"st.global.u32 [%d5+8192], %r1; st.global.u32 [%d5+8200], %r2;",
        "st.global.u32 [%d5+8192], %r1; add.s64 %d5, %d5, 4; st.global.u32 [%d5+8192], %r2; st.global.u32 [%d5+8196], %r1;"})
    both(sum + where + stores + " ret;", {1, 1, 1}, {32, 1, 1}, 32);
  for (const auto& [bytes, type] : {std::pair{1, "u8"}, {2, "u16"}, {8, "u64"}})
    both(
        sum +
            fmt::format(
                "mul.lo.u32 %r10, %i, {1}; cvt.u64.u32 %d5, %r10; add.s64 %d5, %out, %d5; ld.shared.u32 %r1, [%d1]; mul.wide.u32 %d6, %r1, %r1; mov.b16 %h1, 7; cvt.u16.u32 "
                "%h2, %r1; st.global.{0} [%d5+8192], {2}; st.global.{0} [%d5+{3}], {4}; ret;",
                type, 2 * bytes, bytes == 8 ? "%d6" : "%h2", 8192 + bytes, bytes == 8 ? "%d5" : "%h1"),
        {2, 1, 1}, {128, 1, 1}, 256);
}

}  // namespace
}  // namespace warpbeam::vm
