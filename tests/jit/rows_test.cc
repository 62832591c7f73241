// Blocks whose rows of threads have no power of two: they are laid out in lanes as if they had.
#include "both_engines.h"

namespace warpbeam::vm {
namespace {

constexpr std::array<uint32_t, 3> kBlocks[] = {{10, 10, 1}, {3, 3, 1}, {5, 3, 2}, {20, 3, 1}, {40, 2, 1}, {7, 9, 1},
                                               {33, 5, 1},  {4, 4, 4}, {3, 5, 1}, {24, 4, 2}, {12, 2, 4}};

// The thread's number in the block in %r1, of all threads in %r2; the place of its word in %d1.
constexpr const char* kPlace =
    "mov.u32 %r3, %tid.y; mov.u32 %r4, %ntid.y; mov.u32 %r5, %tid.z; mad.lo.u32 %r1, %r5, %r4, %r3; mad.lo.u32 %r1, %r1, %s, %t; "
    "mov.u32 %r6, %ntid.z; mul.lo.u32 %r6, %r6, %r4; mul.lo.u32 %r6, %r6, %s; mad.lo.u32 %r2, %c, %r6, %r1; mul.wide.u32 %d1, %r2, 4; add.s64 %d1, %out, %d1;";

TEST_F(Engines, AgreeOnFilledRows) {
  for (const auto& block : kBlocks)
    for (
        const char* body :
        {// A picture.
         "mad.lo.u32 %r7, %r3, 40, %t; mul.wide.u32 %d2, %r7, 4; add.s64 %d2, %out, %d2; ld.global.u32 %r8, [%d2+8192]; add.u32 %r8, %r8, %r5; st.global.u32 [%d1], %r8;",
         "mad.lo.u32 %r7, %r3, 60, %t; cvt.u64.u32 %d2, %r7; add.s64 %d2, %out, %d2; ld.global.u8 %r8, [%d2+8192]; st.global.u8 [%d2+12000], %r8;",
          // A tile, whose rows are read by columns.
         "mov.u64 %d3, tile; mul.wide.u32 %d4, %r1, 4; add.s64 %d4, %d3, %d4; st.shared.u32 [%d4], %r2; bar.sync 0; mov.u32 %r7, 0; mov.u32 %r8, 0;\n"
         "L: mad.lo.u32 %r9, %r7, %s, %t; mul.wide.u32 %d5, %r9, 4; add.s64 %d5, %d3, %d5; ld.shared.u32 %r10, [%d5]; mad.lo.u32 %r11, %r3, %s, %r7; mul.wide.u32 %d6, %r11, 4; "
         "add.s64 %d6, %d3, %d6; ld.shared.u32 %r12, [%d6]; mad.lo.u32 %r8, %r10, %r12, %r8; add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 2; @%p1 bra L;\n"
         "bar.sync 0; st.shared.u32 [%d4], %r8; bar.sync 0; ld.shared.u32 %r8, [%d3+4]; add.u32 %r8, %r8, %t; st.global.u32 [%d1], %r8;",
          // Some leave, some go another way, and lanes count.
         "setp.gt.u32 %p1, %t, %n; @%p1 ret; and.b32 %r7, %r3, 1; setp.eq.u32 %p2, %r7, 0; @%p2 bra E; mul.lo.u32 %r7, %r3, 3; E: atom.global.add.u32 %r8, [%out+16000], 1; "
         "add.u32 %r7, %r7, %t; st.global.u32 [%d1], %r7;",
          // An index that wraps around.
         "add.u32 %r7, %n, 0x7ffffffb; add.u32 %r7, %r7, %t; mul.wide.s32 %d3, %r7, 4; cvt.u32.u64 %r8, %d3; mov.u64 %d4, tile; mul.wide.u32 %d5, %r1, 4; add.s64 %d4, %d4, %d5; "
         "st.shared.u32 [%d4], %r8; bar.sync 0; xor.b32 %r9, %r1, 1; min.u32 %r9, %r9, 8; mul.wide.u32 %d5, %r9, 4; mov.u64 %d6, tile; add.s64 %d6, %d6, %d5; ld.shared.u32 %r8, [%d6]; "
         "st.global.u32 [%d1], %r8;"})
      for (const uint32_t n : {2u, 9u}) {
        both(fmt::format("{} {} ret;", kPlace, body), {3, 1, 1}, block, n);
        EXPECT_TRUE(planned("rows filled up")) << body;
      }
}

// A warp that lacks no thread needs no checks of its own for each access of a row of products.
TEST_F(Engines, CheckFilledRowsTogether) {
  std::string body = fmt::format(
      "{} mov.u64 %d3, tile; mul.wide.u32 %d4, %r1, 4; add.s64 %d4, %d3, %d4; st.shared.u32 [%d4], %r2; bar.sync 0; mov.u32 %r8, 0;",
      kPlace);
  body += " mul.wide.u32 %d5, %t, 4; add.s64 %d5, %d3, %d5; mul.lo.u32 %r9, %r3, %s; mul.wide.u32 %d6, %r9, 4; add.s64 %d6, %d3, %d6;\n";
  for (int k = 0; k < 8; ++k)
    body +=
        fmt::format("ld.shared.u32 %r10, [%d5+{}]; ld.shared.u32 %r12, [%d6+{}]; mad.lo.u32 %r8, %r10, %r12, %r8;\n", 4 * 10 * k, 4 * k);
  for (const auto& block : {std::array<uint32_t, 3>{10, 10, 1}, {10, 9, 1}, {12, 8, 1}, {20, 5, 1}, {40, 3, 1}}) {
    both(body + " st.global.u32 [%d1], %r8; ret;", {2, 1, 1}, block, 0);
    EXPECT_TRUE(planned("rows filled up") && planned("straight code")) << block[0];
  }
  // In a loop the warps go side by side, if all of them have as many rows.
  const std::string loop =
      body +
      " mov.u32 %r7, 0; L: ld.shared.u32 %r10, [%d5]; ld.shared.u32 %r12, [%d6]; mad.lo.u32 %r8, %r10, %r12, %r8; add.s64 %d5, %d5, 40; add.s64 %d6, %d6, 4; "
      "add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 9; @%p1 bra L; bar.sync 0; st.global.u32 [%d1], %r8; ret;";
  for (const auto& block : {std::array<uint32_t, 3>{10, 10, 1}, {12, 8, 1}, {20, 5, 1}, {10, 9, 1}}) {
    both(loop, {2, 1, 1}, block, 0);
    if (wide_host()) EXPECT_EQ(planned("warp coarsening"), block[1] != 9) << block[0];
  }
  both(body + " setp.eq.u32 %p1, %t, 4; @%p1 add.u32 %r8, %r8, 1; setp.gt.u32 %p2, %r1, %n; @%p2 ret; st.global.u32 [%d1], %r8; ret;",
       {2, 1, 1}, {10, 10, 1}, 37);
}

// The last row ends where memory does; a thread's place lies beyond it.
TEST_F(Engines, AgreeOnFilledRowsAtTheEnd) {
  for (const uint32_t n : {16384u - 400, 16384u - 396, 16384u - 40})
    both(
        "mov.u32 %r3, %tid.y; mad.lo.u32 %r1, %r3, %s, %t; mul.wide.u32 %d1, %r1, 4; cvt.u64.u32 %d2, %n; add.s64 %d1, %d1, %d2; add.s64 %d1, %out, %d1; ld.global.u32 %r4, [%d1]; "
        "add.u32 %r4, %r4, 5; st.global.u32 [%d1], %r4; ret;",
        {1, 1, 1}, {10, 10, 1}, n);
}

// Each row of threads reads one place; those of the rows that stay away lie far behind the memory's end.
TEST_F(Engines, ReadNothingForRowsThatStayAway) {
  for (const char* wide : {"ld.global.u32 %r4, [%d1];", "ld.global.v2.u32 {%r4, %r5}, [%d1]; add.u32 %r4, %r4, %r5;"})
    for (const uint32_t n : {3000u, 3272u, 40000u})
      both(
          fmt::format(
              "mov.u32 %r3, %tid.y; mov.u32 %r7, 16376; div.u32 %r7, %r7, %n; setp.gt.u32 %p1, %r3, %r7; @%p1 bra E; and.b32 %r6, %n, -8; mul.wide.u32 %d1, %r3, %r6; "
              "add.s64 %d1, %out, %d1; {} mad.lo.u32 %r1, %r3, %s, %t; mul.wide.u32 %d2, %r1, 4; add.s64 %d2, %out, %d2; add.u32 %r4, %r4, %t; st.global.u32 [%d2+64], %r4; E: ret;",
              wide),
          {1, 1, 1}, {8, 8, 1}, n);
}

// Who asks for warps gets those that threads are numbered by.
TEST_F(Engines, LeaveRowsAsTheyAreForWarps) {
  for (const char* body : {"mov.u32 %r7, %laneid; add.u32 %r7, %r7, %r3;", "mov.u32 %r7, %warpid; add.u32 %r7, %r7, %r3;",
                           "shfl.sync.down.b32 %r7, %r2, 1, 31, -1;", "mov.u32 %r8, %lanemask_lt; add.u32 %r7, %r8, %r3;",
                           "bar.warp.sync -1; mov.u32 %r7, %r2;", "activemask.b32 %r7;"}) {
    both(fmt::format("{} {} st.global.u32 [%d1], %r7; ret;", kPlace, body), {2, 1, 1}, {16, 6, 1}, 0);
    both(fmt::format("{} {} st.global.u32 [%d1], %r7; ret;", kPlace, body), {2, 1, 1}, {12, 8, 1}, 0);
    EXPECT_FALSE(planned("rows filled up")) << body;
  }
}

}  // namespace
}  // namespace warpbeam::vm
