#include "isa/reference.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace warpbeam::isa {
namespace {

TEST(Reference, PageIsCurrent) {
  std::ifstream file(std::string(WARPBEAM_DOCS) + "/isa.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str() == isa_page()) << "docs/isa.md is old: build the target isa_page";
}

TEST(Reference, OneOpcode) {
  const std::string text = isa_reference("fma.rn.f32");
  EXPECT_NE(text.find("fma.rnd{.ftz}{.sat}.f32 d, a, b, c\n"), std::string::npos) << text;
  EXPECT_NE(text.find(".rnd  .rn .rz .rm .rp\n"), std::string::npos) << text;
}

TEST(Reference, UnknownOpcodeNamesItsNeighbours) {
  EXPECT_EQ(isa_reference("fmaa").find("there is no instruction 'fmaa'; near to it: 'fma'"), 0u);
  EXPECT_EQ(isa_reference("quux"), "there is no instruction 'quux'\n");
}

}  // namespace
}  // namespace warpbeam::isa
