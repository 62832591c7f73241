#include "machine_text.h"

namespace warpbeam::assembly {
namespace {

// A value that lanes differ in, and an address to leave results at.
const std::string kStart = "mov.u32 %r1, %tid.x; mov.u32 %r2, %laneid; ld.param.u64 %d1, [a]; cvta.to.global.u64 %d2, %d1; mul.wide.u32 %d3, %r1, 4; add.s64 %d4, %d2, %d3;\n";

std::string of(const std::string& body, int cc = 80) { return mnemonics(assembled(kStart + body + "\nret;", cc)); }

TEST(Selection, multiply_and_add_is_one) {
  EXPECT_NE(of("mul.lo.s32 %r3, %r1, %r2; add.s32 %r4, %r3, %r2; st.global.u32 [%d4], %r4;").find("IMAD STG"), std::string::npos);
}

TEST(Selection, three_logic_instructions_are_one) {
  const std::string t = of("and.b32 %r3, %r1, %r2; xor.b32 %r4, %r3, 7; st.global.u32 [%d4], %r4;");
  EXPECT_EQ(t.find("LOP3"), t.rfind("LOP3")) << t;
}

TEST(Selection, an_early_return_is_a_predicate) {
  const std::string t = of("setp.gt.s32 %p1, %r1, 3; @%p1 bra E; st.global.u32 [%d4], %r1; E:");
  EXPECT_NE(t.find("@EXIT"), std::string::npos) << t;
  EXPECT_EQ(t.find("BSSY"), std::string::npos) << t;
}

TEST(Selection, a_short_branch_is_a_predicate) {
  const std::string t = of("mov.u32 %r5, 1; setp.gt.s32 %p1, %r1, 3; @%p1 bra E; add.s32 %r5, %r1, %r2; E: st.global.u32 [%d4], %r5; bar.sync 0; st.global.u32 [%d4+4], %r5;");
  EXPECT_EQ(t.find("BRA"), std::string::npos) << t;
  EXPECT_NE(t.find("@IADD3"), std::string::npos) << t;
}

TEST(Selection, loads_come_before_what_uses_the_first_of_them) {
  const std::string t = of("ld.global.f32 %f1, [%d4]; add.f32 %f2, %f1, 0f3F800000; ld.global.f32 %f3, [%d4+4]; add.f32 %f4, %f3, %f2; st.global.f32 [%d4+8], %f4;");
  EXPECT_NE(t.find("LDG LDG FADD FADD STG"), std::string::npos) << t;
}

TEST(Selection, a_loop_variable_takes_no_moves) {
  const std::string t = of("mov.u32 %r3, 0; L: add.s32 %r4, %r3, 1; setp.lt.s32 %p1, %r4, %r1; mov.u32 %r3, %r4; @%p1 bra L; st.global.u32 [%d4], %r3;");
  EXPECT_EQ(t.find("MOV @BRA"), std::string::npos) << t;
}

}  // namespace
}  // namespace warpbeam::assembly
