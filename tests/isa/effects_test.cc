// The columns that tell what an instruction is and does.
#include <gtest/gtest.h>

#include <set>

#include "isa/row.h"

namespace warpbeam::isa {
namespace {

TEST(Effects, EveryOpcodeHasARowAndEveryRowItsOpcode) {
  std::set<Opcode> seen;
  for (const Row& row : all_rows()) {
    EXPECT_EQ(row.op, opcode_named(row.opcode)) << row.syntax;
    seen.insert(row.op);
  }
#define X(name, word) EXPECT_TRUE(seen.contains(Opcode::name)) << word;
  WB_OPCODES(X)
#undef X
}

TEST(Effects, ArithmeticHasNone) {
  for (const Row& row : all_rows())
    if (row.kind == Kind::Lane || row.kind == Kind::Move || row.kind == Kind::Convert || row.kind == Kind::Compare ||
        row.kind == Kind::Select || row.kind == Kind::Carry || row.kind == Kind::Address || row.kind == Kind::Video)
      EXPECT_TRUE(row.effects.pure()) << row.syntax;
}

TEST(Effects, AccessesReadWriteAndMayFail) {
  for (const Row& row : all_rows()) {
    const bool load = row.cls == Class::Load, store = row.cls == Class::Store;
    if (row.kind == Kind::Memory && (load || store))
      EXPECT_EQ(row.effects, (Effects{.reads = load, .writes = store, .traps = true})) << row.syntax;
    if (row.kind == Kind::Atomic) EXPECT_TRUE(row.effects.reads && row.effects.writes && row.effects.traps) << row.syntax;
    if (row.effects.reads || row.effects.writes) EXPECT_FALSE(row.effects.pure()) << row.syntax;
  }
}

// One of each sort, by name.
TEST(Effects, AreWhatTheManualSays) {
  const auto of = [](std::string_view begin) {
    for (const Row& row : all_rows())
      if (row.syntax.starts_with(begin)) return row.effects;
    ADD_FAILURE() << begin;
    return Effects{};
  };
  EXPECT_TRUE(of("bar{.cta}.sync").waits && of("bar{.cta}.sync").orders && !of("bar{.cta}.sync").meets);
  EXPECT_TRUE(of("bar.warp.sync").meets && !of("bar.warp.sync").waits);
  EXPECT_TRUE(of("fence{").orders && !of("fence{").waits);
  EXPECT_TRUE(of("shfl.sync").meets && of("vote").meets && of("mma.sync").meets);
  EXPECT_TRUE(of("ldmatrix").reads && of("stmatrix").writes && of("wmma.store").writes && !of("wmma.mma").reads);
  EXPECT_TRUE(of("mbarrier.try_wait").waits && of("wgmma.wait_group").waits && of("nanosleep").waits);
  EXPECT_TRUE(of("cp.async.ca").reads && of("cp.async.ca").writes && !of("cp.async.ca").orders);
  EXPECT_TRUE(of("trap").traps && of("bra").leads && of("ret").leads);
  EXPECT_TRUE(of("tex{").reads && of("sust").writes && of("sured").reads && of("sured").writes);
  EXPECT_TRUE(of("prefetch{").pure() && of("mapa").pure() && of("createpolicy").pure() && of("discard").writes);
}

}  // namespace
}  // namespace warpbeam::isa
