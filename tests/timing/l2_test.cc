// L2 against what an H200 does: which lines stay, which wait to be written, who waits for whom.
#include <gtest/gtest.h>

#include "timing/l2.h"

namespace warpbeam::timing {
namespace {

TEST(L2, ReadsSixtyFourBytesAndWritesBackWhatWasStored) {
  SampledL2 l2(1 << 20, 1);
  const auto first = l2.visit({1, 0x1, 32, Kind::Load});
  EXPECT_EQ(first.wanted, 1u);
  EXPECT_EQ(first.read, 2u);
  EXPECT_EQ(l2.visit({1, 0x2, 32, Kind::Load}).wanted, 0u);  // came along
  EXPECT_EQ(l2.visit({1, 0x4, 32, Kind::Load}).wanted, 1u);
  uint32_t written = 0, holes = 0;
  for (uint64_t line = 0; line < 8192; ++line) written += l2.visit({1000 + line, 0xf, 32, Kind::Store}).written;
  for (uint64_t line = 0; line < 40000; ++line) written += l2.visit({100000 + line, 0xf, 32, Kind::Load}).written;
  EXPECT_EQ(written, 4u * 8192u);
  l2.visit({5, 0x1, 8, Kind::Store});  // a quarter of a sector
  for (uint64_t line = 0; line < 40000; ++line) holes += l2.visit({900000 + line, 0xf, 32, Kind::Load}).holes;
  EXPECT_EQ(holes, 1u);
}

TEST(L2, LinesThatManyBlocksReadSideBySideAreNotAlone) {
  constexpr uint64_t kSampled = 16, kBlocks = 1024, kSteps = 16;  // each block walks through lines of its own
  SampledL2 l2(1 << 20, kSampled);
  uint32_t bursts = 0, alone = 0;
  for (uint64_t step = 0; step < kSteps; ++step)
    for (uint64_t block = 0; block < kBlocks; ++block) {
      const SampledL2::Outcome o = l2.visit({(block * kSteps + step) * kSampled, 0x1, 4, Kind::Load});
      bursts += o.bursts, alone += o.alone;
    }
  EXPECT_EQ(bursts, kBlocks * kSteps);
  EXPECT_LE(alone, kBlocks);  // the first of each
}

TEST(L2, KeepsNothingWhereThereIsNone) {
  SampledL2 l2(0, 16);
  for (int times = 0; times < 2; ++times) {
    EXPECT_EQ(l2.visit({7, 0x3, 32, Kind::Load}).read, 2u);
    const SampledL2::Outcome o = l2.visit({7, 0x4, 4, Kind::Store});
    EXPECT_EQ(o.written, 1u);
    EXPECT_EQ(o.read, 0u);  // no holes are filled
    EXPECT_EQ(o.alone, 1u);
  }
}

constexpr uint64_t kSampled = 16;
constexpr uint64_t kBytes = 44'040'192;  // that an H200 uses

struct Sums {
  double asked = 0, wanted = 0, written = 0, far = 0;
};

// All of so many MiB, one line of sixteen.
Sums sweep(SampledL2& l2, uint64_t mebibytes, Kind kind, uint64_t turn = 0) {
  Sums sums;
  for (uint64_t line = 0; line < mebibytes << 13; line += kSampled) {
    const SampledL2::Outcome o = l2.visit({line, 0xf, 32, kind, 0, 0, side_of_gpu(line + turn * 0x2545f4914f6cdd1d)});
    sums.asked += 4, sums.wanted += o.wanted, sums.written += o.written, sums.far += o.far;
  }
  return sums;
}

TEST(L2, WhatIsALittleLargerGoes) {
  const auto missing = [](uint64_t mebibytes) {
    SampledL2 l2(kBytes, kSampled);
    for (int k = 0; k < 2; ++k) sweep(l2, mebibytes, Kind::Load);
    const Sums third = sweep(l2, mebibytes, Kind::Load);
    return third.wanted / third.asked;
  };
  EXPECT_LT(missing(32), 0.02);
  EXPECT_NEAR(missing(36), 0.06, 0.05);  // each measured
  EXPECT_NEAR(missing(42), 0.36, 0.1);
  EXPECT_NEAR(missing(48), 0.9, 0.1);
  EXPECT_GT(missing(54), 0.95);
}

TEST(L2, WritesWhatIsTooMuchToWaitAndKeepsIt) {
  const auto written = [](uint64_t mebibytes) {
    SampledL2 l2(kBytes, kSampled, 0.7);
    for (int k = 0; k < 2; ++k) sweep(l2, mebibytes, Kind::Store);
    const Sums third = sweep(l2, mebibytes, Kind::Store);
    EXPECT_LT(sweep(l2, mebibytes, Kind::Load).wanted, 0.1 * third.asked);
    return third.written / third.asked;
  };
  EXPECT_LT(written(24), 0.1);
  EXPECT_NEAR(written(36), 0.87, 0.1);  // measured
}

TEST(L2, WhatComesFromTheHostIsWrittenLaterAndNotThere) {
  SampledL2 l2(kBytes, kSampled, 0.7);
  for (uint64_t line = 0; line < 64 << 13; line += kSampled) l2.from_host(line);
  const Sums first = sweep(l2, 64, Kind::Load), second = sweep(l2, 64, Kind::Load);
  EXPECT_EQ(first.wanted, first.asked);
  EXPECT_NEAR(first.written * 32 * kSampled, 28e6, 4e6);  // measured
  EXPECT_EQ(second.written, 0);
}

TEST(L2, OthersWaitForWhatOneBlockHasAskedFor) {
  SampledL2 l2(1 << 20, 1);
  EXPECT_EQ(l2.visit({5, 0x3, 32, Kind::Load, 0, 7}).wanted, 2u);
  const SampledL2::Outcome beside = l2.visit({5, 0x3, 32, Kind::Load, 1, 7}), again = l2.visit({5, 0x3, 32, Kind::Load, 1, 7}),
                           later = l2.visit({5, 0x3, 32, Kind::Load, 2, 8});
  EXPECT_EQ(beside.late, 2u);
  EXPECT_EQ(beside.others, 2u);
  EXPECT_EQ(again.others, 0u);  // its own L1 has it
  EXPECT_EQ(later.late, 0u);
  EXPECT_EQ(later.others, 2u);
}

TEST(L2, TheOtherSideHasWhatItAskedFor) {
  SampledL2 l2(kBytes, kSampled);
  sweep(l2, 16, Kind::Load, 1);
  const Sums second = sweep(l2, 16, Kind::Load, 2), third = sweep(l2, 16, Kind::Load, 3);
  EXPECT_NEAR(second.far / second.asked, 0.25, 0.04);
  EXPECT_NEAR(third.far / third.asked, 0.125, 0.03);
  sweep(l2, 16, Kind::Store, 4);
  const Sums changed = sweep(l2, 16, Kind::Load, 5);
  EXPECT_NEAR(changed.far / changed.asked, 0.25, 0.04);
}

}  // namespace
}  // namespace warpbeam::timing
