// Stores that go down a column: what warps store right behind each other is put down and written together.
#include "both_engines.h"

namespace warpbeam::vm {
namespace {

// %r1, %r2: x and y in the grid; word x * n + y gets a number of the thread. `who` branches to S what does not store.
std::string columns(const std::string& who = "", const std::string& where = "%n", const std::string& after = "") {
  return fmt::format(
      "mov.u32 %r3, %ntid.y; mov.u32 %r4, %ctaid.y; mov.u32 %r5, %tid.y; mad.lo.s32 %r2, %r4, %r3, %r5; mov.u32 %r1, "
      "%i; "
      "mad.lo.u32 %r6, %r1, 1000, %r2; {} mad.lo.s32 %r7, %r1, {}, %r2; mul.wide.s32 %d1, %r7, 4; add.s64 %d1, %out, "
      "%d1; st.global.u32 [%d1], %r6; {} S: ret;",
      who, where, after);
}

TEST_F(Engines, AgreeOnColumns) {
  for (const uint32_t rows : {1u, 5u, 16u, 20u, 32u})
    for (const uint32_t n : {0u, 1u, 16u, 20u, 64u, 120u}) {
      if (n && n < rows) continue;  // threads would meet
      both(columns(), {1, 1, 1}, {32, rows, 1}, n);
    }
  both(columns(), {2, 2, 1}, {32, 16, 1}, 32);
  both(columns(), {1, 3, 1}, {64, 4, 1}, 12);
  if (wide_host()) EXPECT_TRUE(happened("deferred transposes"));
}

TEST_F(Engines, AgreeOnPartsOfColumns) {
  for (const char* who : {"setp.gt.u32 %p1, %r1, 20; @%p1 bra S;", "setp.eq.u32 %p1, %r2, 3; @%p1 bra S;",
                          "and.b32 %r9, %r6, 5; setp.eq.u32 %p1, %r9, 4; @%p1 bra S;"}) {
    both(columns(who), {1, 1, 1}, {32, 16, 1}, 40);
    both(columns(who), {1, 2, 1}, {32, 10, 1}, 40);
  }
}

// Elements of eight bytes: a line has half as many.
TEST_F(Engines, AgreeOnColumnsOfDoubles) {
  const auto doubles = [](const std::string& who = "") {
    return fmt::format(
        "mov.u32 %r3, %ntid.y; mov.u32 %r4, %ctaid.y; mov.u32 %r5, %tid.y; mad.lo.s32 %r2, %r4, %r3, %r5; mov.u32 %r1, %i; mad.lo.u32 %r6, %r1, 1000, %r2; mul.wide.u32 %d3, %r6, "
        "1234567; {} mad.lo.s32 %r7, %r1, %n, %r2; mul.wide.s32 %d1, %r7, 8; add.s64 %d1, %out, %d1; st.global.u64 [%d1], %d3; S: ret;",
        who);
  };
  for (const uint32_t rows : {1u, 5u, 8u, 16u, 20u, 32u})
    for (const uint32_t n : {0u, 1u, 8u, 16u, 20u, 40u, 60u}) {
      if (n && n < rows) continue;
      both(doubles(), {1, 1, 1}, {32, rows, 1}, n);
    }
  if (wide_host()) EXPECT_TRUE(happened("deferred transposes"));
  both(doubles(), {2, 2, 1}, {32, 8, 1}, 16);
  both(doubles(), {1, 3, 1}, {64, 4, 1}, 12);
  both(doubles("setp.gt.u32 %p1, %r1, 20; @%p1 bra S;"), {1, 1, 1}, {32, 16, 1}, 40);
  both(doubles("xor.b32 %r2, %r2, 3;"), {1, 1, 1}, {32, 16, 1}, 40);
}

// Warps that begin a column elsewhere, go up instead of down, or step between lanes as they like.
TEST_F(Engines, AgreeOnColumnsInDisorder) {
  both(columns("xor.b32 %r2, %r2, 3;"), {1, 1, 1}, {32, 16, 1}, 40);
  both(columns("sub.u32 %r2, 20, %r2;"), {1, 1, 1}, {32, 16, 1}, 40);
  both(columns("and.b32 %r8, %r2, 1; mul.lo.u32 %r8, %r8, 3; add.u32 %r8, %r8, 40;", "%r8"), {1, 1, 1}, {32, 16, 1}, 0);
  both(columns("shl.b32 %r2, %r2, 1;"), {1, 1, 1}, {32, 16, 1}, 40);
}

// What a thread reads after its store, or another allocation's neighbour, or where a warp faults after others have
// stored.
TEST_F(Engines, AgreeOnColumnsWithOtherAccesses) {
  both(columns("", "%n", "ld.global.u32 %r8, [%d1]; st.global.u32 [%d1+64], %r8;"), {1, 1, 1}, {32, 16, 1}, 64);
  both(columns("ld.global.u32 %r8, [%at+64]; add.u32 %r6, %r6, %r8;"), {1, 1, 1}, {32, 16, 1}, 64);
  both(columns("", "130"), {1, 1, 1}, {32, 16, 1}, 0);
  both(columns("setp.eq.u32 %p1, %r2, 9; @%p1 mov.u32 %r1, 9999999;"), {1, 1, 1}, {32, 16, 1}, 64);
}

}  // namespace
}  // namespace warpbeam::vm
