// Random kernels on the interpreter: the same twice, and mistakes that such kernels have found.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "fuzz/coverage.h"
#include "fuzz/generate.h"
#include "fuzz/run.h"
#include "fuzz/shrink.h"

namespace warpbeam::fuzz {
namespace {

TEST(RandomKernels, AreTakenAndGiveTheSameTwice) {
  const Palette palette(false);
  Bench bench;
  for (const Length length : {Length::Full, Length::Short})
    for (uint64_t seed = 1; seed <= 200; ++seed) {
      const Kernel kernel = generate(seed, palette, length);
      const Outcome first = bench.run(kernel, Engine::Interpreter);
      EXPECT_EQ(first.failure, "") << "seed " << seed;
      EXPECT_EQ(first, bench.run(kernel, Engine::Interpreter)) << "seed " << seed;
      EXPECT_EQ(kernel.text(), generate(seed, palette, length).text()) << "seed " << seed;
    }
}

// Every row that the generator can use comes up, and whole kinds do not get lost on the way.
TEST(RandomKernels, HaveEveryRowThatTheyCan) {
  const Palette palette(false);
  Coverage coverage;
  for (uint64_t seed = 1; seed <= 1000; ++seed) coverage.add(generate(seed, palette));
  EXPECT_GE(coverage.covered(), 270u) << coverage.report();
}

// Over the sets of lanes in this one LLVM's instruction selection went round in circles.
TEST(RandomKernels, CompileToAnEnd) {
  choose_fast_engine();
  Bench bench;
  const Kernel kernel = generate(260000585, Palette(false));
  EXPECT_EQ(bench.run(kernel, Engine::Interpreter), bench.run(kernel, Engine::Jit));
}

// A choice between a value and one with the sign of another, both just loaded, became one instruction with its operands confused.
TEST(RandomKernels, TakeSignsOfOthersInSomeLanes) {
  choose_fast_engine();
  Bench bench;
  const Kernel kernel = generate(1445, Palette(false));
  EXPECT_EQ(bench.run(kernel, Engine::Interpreter), bench.run(kernel, Engine::Jit));
}

TEST(RandomKernels, ShrinkToWhatMatters) {
  const auto branches = [](const Kernel& k) { return k.text().find("bra ELSE") != std::string::npos; };
  const Palette palette(false);
  uint64_t seed = 1;
  while (!branches(generate(seed, palette))) ++seed;
  const Kernel small = shrink(generate(seed, palette), branches);
  EXPECT_EQ(small.threads(), 1u);
  size_t nodes = small.body.size();
  for (const Function& f : small.functions) nodes += f.body.size();
  EXPECT_LE(nodes, 1u) << small.text();
}

// What register `name` of the only thread holds.
uint64_t register_of(const Kernel& kernel, const Outcome& outcome, std::string_view name) {
  uint64_t value = 0;
  for (const DumpedRegister& r : dumped_registers(kernel))
    if (r.name == name) std::memcpy(&value, &outcome.out[r.offset], static_cast<size_t>(r.bytes));
  return value;
}

Kernel single_thread(std::vector<std::string> lines) {
  Kernel kernel;
  kernel.block = {1, 1, 1};
  kernel.body.push_back({NodeKind::Lines, std::move(lines), "", {}});
  return kernel;
}

TEST(VectorAtomics, ReadAllSourcesBeforeTheyWriteADestination) {
  Kernel kernel = single_thread({});
  const std::string place = fmt::format("[%out+{}]", slot_offset(kernel, 3));
  kernel.body[0].lines = {"mov.f32 %f0, 0f3F800000;",
                          "mov.f32 %f1, 0f40000000;",
                          "mov.f32 %f3, 0f42C80000;",
                          "st.global.v2.f32 " + place + ", {%f3, %f3};",
                          "atom.global.add.v2.f32 {%f1, %f2}, " + place + ", {%f0, %f1};",
                          "ld.global.v2.f32 {%f4, %f5}, " + place + ";"};
  const Outcome outcome = Bench().run(kernel, Engine::Interpreter);
  ASSERT_EQ(outcome.failure, "");
  const auto value = [&](std::string_view name) { return std::bit_cast<float>(static_cast<uint32_t>(register_of(kernel, outcome, name))); };
  EXPECT_EQ(value("%f1"), 100);
  EXPECT_EQ(value("%f2"), 100);
  EXPECT_EQ(value("%f4"), 101);
  EXPECT_EQ(value("%f5"), 102);
}

}  // namespace
}  // namespace warpbeam::fuzz
