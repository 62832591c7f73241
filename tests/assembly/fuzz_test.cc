// Texts that nobody would write: whatever parses is assembled, without a crash and in the end.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "machine_text.h"

namespace warpbeam::assembly {
namespace {

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Lines change places, come twice or not at all; a register becomes its neighbour.
void change(std::vector<std::string>& lines, std::mt19937& random) {
  const auto any = [&] { return std::uniform_int_distribution<size_t>(0, lines.size() - 1)(random); };
  const size_t a = any(), b = any();
  switch (random() % 4) {
    case 0: std::swap(lines[a], lines[b]); break;
    case 1: lines[a] = lines[b]; break;
    case 2: lines[a].clear(); break;
    case 3:
      if (const size_t at = lines[a].find('%'); at != std::string::npos)
        for (size_t k = at; k < lines[a].size(); ++k)
          if (lines[a][k] >= '1' && lines[a][k] <= '9') {
            lines[a][k] = static_cast<char>('1' + random() % 9);
            break;
          }
      break;
  }
}

TEST(Fuzz, whatever_parses_is_assembled) {
  constexpr int kTexts = 60, kChanges = 12;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(WARPBEAM_PTX_CORPUS)) files.push_back(entry.path());
  std::ranges::sort(files);
  size_t assembled = 0;
  for (const auto& file : files) {
    const std::vector<std::string> original = lines_of(file);
    if (original.empty() || original.size() > 1500) continue;
    for (unsigned seed = 0; seed < kTexts; ++seed) {
      std::mt19937 random(seed);
      std::vector<std::string> lines = original;
      for (int k = 0; k < kChanges; ++k) change(lines, random);
      std::string text;
      for (const std::string& line : lines) text += line + "\n";
      const ptx::ParseResult parsed = ptx::parse(text);
      if (!parsed.diagnostics.empty()) continue;
      for (const ptx::Function& f : parsed.module->functions)
        if (f.has_body)
          for (int cc : {52, 80, 90}) {
            SCOPED_TRACE(file.filename().string() + ", seed " + std::to_string(seed));
            EXPECT_EQ(assemble(*parsed.module, f, {cc, 255}).block_of.size(), f.body.size());
            ++assembled;
          }
    }
  }
  EXPECT_GT(assembled, 100u);
}

}  // namespace
}  // namespace warpbeam::assembly
