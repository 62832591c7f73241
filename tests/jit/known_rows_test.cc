// Rows that compiled code is not written for, as one that is new to the table would be: each costs a call of its handler, and nothing else.
#include "jit/known_rows.h"

#include <gtest/gtest.h>

#include "both_engines.h"

namespace warpbeam::vm {
namespace {

const isa::Row& row_of(std::string_view opcode, std::string_view part) {
  for (const isa::Row& row : isa::all_rows())
    if (row.opcode == opcode && row.syntax.find(part) != std::string_view::npos) return row;
  ADD_FAILURE() << opcode << part;
  return isa::all_rows()[0];
}

TEST(KnownRows, AreThoseWhoseOpcodeAndWordsAreKnown) {
  for (const auto& [opcode, part] : {std::pair{"add", ".f32"}, {"ld", ".weak"}, {"shfl", ".sync"}, {"atom", ".cas"}, {"bar", ".sync"}})
    EXPECT_TRUE(jit::is_written_for(row_of(opcode, part))) << opcode << part;
  for (const auto& [opcode, part] : {std::pair{"slct", ".type"}, {"fns", ".b32"}, {"tensormap", ".replace"}})
    EXPECT_FALSE(jit::is_written_for(row_of(opcode, part))) << opcode << part;
  isa::Row added = row_of("add", ".f32");
  for (const char* syntax : {"add{.rnd}{.ftz}{.sat}{.frob}.f32 d, a, b", "add.frob.type d, a, b", "add(.lo|.frob).type d, a, b"}) {
    added.syntax = syntax;
    EXPECT_FALSE(jit::is_written_for(added)) << syntax;
  }
}

TEST_F(Engines, AgreeOnRowsThatAreForeign) {
  // In loops, under guards and where lanes part; what goes along with them stays as it is.
  both(
      "mov.u32 %r1, 0; mov.u32 %r2, %i; L: slct.u32.s32 %r3, %r2, %r1, %r2; bmsk.clamp.b32 %r4, %r1, %r3; and.b32 %r5, %r2, 3; setp.eq.u32 %p1, %r5, 0;\n"
      "@%p1 fns.b32 %r4, %r2, %r1, 1; @!%p1 bra N; szext.wrap.s32 %r2, %r2, %r1; N: xor.b32 %r2, %r2, %r4; mad.lo.u32 %r2, %r2, 5, %r1; add.u32 %r1, %r1, 1;\n"
      "setp.lt.u32 %p2, %r1, %n; @%p2 bra L; st.global.u32 [%at], %r2; ret;",
      {3, 1, 1}, {100, 1, 1}, 9);
  EXPECT_TRUE(plan_.find("handlers: bmsk fns slct szext") != std::string::npos) << plan_;
}

}  // namespace
}  // namespace warpbeam::vm
