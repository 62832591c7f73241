// Replays what a real device answered: every recorded instruction must give the same bits on all its operands.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "evaluate.h"
#include "operands.h"

namespace warpbeam::arith_test {
namespace {

uint64_t fold(uint64_t hash, uint64_t x) {
  hash ^= x;
  hash *= 0x9e3779b97f4a7c15;
  return hash ^ hash >> 29;
}

// Recording made 64 blocks of random operands; the first few are replayed.
constexpr size_t kReplayedBlocks = 4;

// The special operands fold in one by one, the random ones as sums of blocks, as the recorder made them.
uint64_t fingerprint(const std::string& name, const std::string& result, const std::vector<std::string>& sources, const Tuples& t) {
  uint64_t hash = 0;
  for (size_t i = 0; i < t.special; ++i) hash = fold(hash, evaluate(name, result, sources, &t.v[i * 4]).value());
  for (size_t block = 0; block < kReplayedBlocks; ++block) {
    uint32_t sum = 0;
    for (size_t i = 0; i < kBlock; ++i) {
      const uint64_t* operands = &t.v[(t.special + block * kBlock + i) * 4];
      sum += mixhash(i, evaluate(name, result, sources, operands).value());
    }
    hash = fold(hash, sum);
  }
  return hash;
}

TEST(Recorded, EveryInstructionGivesTheBitsOfSm90Slow) {
  std::ifstream file(WARPBEAM_ARITH_DATA "/recorded_sm90.txt");
  ASSERT_TRUE(file);
  std::map<std::string, Tuples> operands;
  std::string line;
  int count = 0;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    uint64_t expected = 0;
    std::string name, result, type, key;
    std::vector<std::string> sources;
    words >> std::hex >> expected >> name >> result;
    while (words >> type) {
      sources.push_back(type);
      key += type + " ";
    }
    auto [at, fresh] = operands.try_emplace(key);
    if (fresh) at->second = tuples(sources);
    EXPECT_EQ(fingerprint(name, result, sources, at->second), expected) << name;
    ++count;
  }
  EXPECT_GT(count, 1900);
}

using Special = float (*)(float, bool);

Special special(const std::string& op) {
  if (op == "rcp") return rcp_approx_f32;
  if (op == "rsqrt") return rsqrt_approx_f32;
  if (op == "sqrt") return sqrt_approx_f32;
  if (op == "ex2") return ex2_approx_f32;
  if (op == "lg2") return lg2_approx_f32;
  if (op == "sin") return sin_approx_f32;
  if (op == "cos") return cos_approx_f32;
  return [](float x, bool) { return tanh_approx_f32(x); };
}

TEST(Recorded, SpecialFunctionsGiveTheBitsOfSm90AcrossAllExponents) {
  std::ifstream file(WARPBEAM_ARITH_DATA "/special_functions_sm90.txt");
  ASSERT_TRUE(file);
  std::string name;
  int count = 0;
  while (file >> name) {
    if (name[0] == '#') {
      std::getline(file, name);
      continue;
    }
    int wrong = 0;
    const Special f = special(name.substr(0, name.find('.')));
    const bool ftz = name.find(".ftz") != std::string::npos;
    for (uint32_t k = 0; k < 512; ++k) {
      uint32_t expected = 0, sum = 0;
      file >> std::hex >> expected;
      const uint32_t block = k * 128 + k * 37 % 128;
      for (uint32_t i = 0; i < 65536; ++i) {
        const uint32_t x = block << 16 | i;
        uint64_t z = bits_of(f(f32_of(x), ftz)) * 0x9e3779b97f4a7c15 ^ x * 0xbf58476d1ce4e5b9;
        z ^= z >> 29;
        sum += static_cast<uint32_t>(z * 0x94d049bb133111eb >> 32);
      }
      wrong += sum != expected;
    }
    EXPECT_EQ(wrong, 0) << name << ": blocks of 65536 operands with another checksum";
    ++count;
  }
  EXPECT_EQ(count, 15);
}

}  // namespace
}  // namespace warpbeam::arith_test
