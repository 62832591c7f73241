// A few lines of PTX in, machine code out.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "assembly/text.h"
#include "ptx/module.h"

namespace warpbeam::assembly {

inline MachineCode assembled(const std::string& body, int cc = 80, uint32_t most = 255) {
  const std::string text =
      ".version 8.3\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .f32 x) {\n"
      ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b64 %d<20>; .reg .f64 %g<9>; .shared .align 16 .b8 s[1024];\n" +
      body + "\n}\n";
  const ptx::ParseResult parsed = ptx::parse(text);
  EXPECT_TRUE(parsed.diagnostics.empty()) << ptx::describe(parsed.diagnostics[0]) << "\n" << text;
  if (!parsed.diagnostics.empty()) return {};
  return assemble(*parsed.module, parsed.module->functions[0], {cc, most});
}

// The mnemonics alone, with blanks between them and a bar between blocks.
inline std::string mnemonics(const MachineCode& code) {
  std::string text;
  for (const MachineBlock& b : code.blocks) {
    if (!text.empty() && !b.text.empty()) text += " |";
    for (const MachineInstruction& i : b.text) {
      if (!text.empty()) text += ' ';
      if (i.guarded) text += '@';
      text += i.mnemonic;
    }
  }
  return text;
}

}  // namespace warpbeam::assembly
