// Whatever a text says, something comes out that fits it.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "machine_text.h"

namespace warpbeam::assembly {
namespace {

void expect_sound(const ptx::Function& f, const MachineCode& code) {
  ASSERT_EQ(code.block_of.size(), f.body.size());
  EXPECT_GE(code.registers, 0);
  EXPECT_LE(code.registers, 255);
  uint32_t at = 0;
  for (size_t b = 0; b < code.blocks.size(); ++b) {
    const MachineBlock& block = code.blocks[b];
    EXPECT_EQ(block.begin, at);
    EXPECT_LE(block.begin, block.end);
    at = block.end;
    if (block.folded_into >= 0)
      EXPECT_LT(code.blocks.at(static_cast<size_t>(block.folded_into)).folded_into, 0) << "into one that has a text";
    EXPECT_TRUE(block.folded_into < 0 || block.text.empty());
    for (const MachineInstruction& i : block.text) {
      EXPECT_FALSE(i.mnemonic.empty());
      EXPECT_TRUE(f.body.empty() || i.ptx <= f.body.size());
      for (const RegisterRange& r : i.reads) EXPECT_LE(r.first + r.count, kMachineRegisters);
      for (const RegisterRange& r : i.writes) EXPECT_LE(r.first + r.count, kMachineRegisters);
    }
  }
  EXPECT_EQ(at, f.body.size());
}

TEST(Corpus, every_text_gives_sound_code) {
  size_t functions = 0;
  for (const auto& entry : std::filesystem::directory_iterator(WARPBEAM_PTX_CORPUS)) {
    std::ifstream in(entry.path());
    std::stringstream text;
    text << in.rdbuf();
    const ptx::ParseResult parsed = ptx::parse(text.str());
    if (!parsed.diagnostics.empty()) continue;
    for (const ptx::Function& f : parsed.module->functions) {
      if (!f.has_body) continue;
      ++functions;
      for (int cc : {13, 35, 52, 61, 70, 75, 80, 86, 90})
        for (uint32_t most : {255u, 32u, 16u}) {
          SCOPED_TRACE(entry.path().filename().string() + " " + f.name + " for " + std::to_string(cc));
          expect_sound(f, assemble(*parsed.module, f, {cc, most}));
        }
    }
  }
  EXPECT_GT(functions, 10u);
}

}  // namespace
}  // namespace warpbeam::assembly
