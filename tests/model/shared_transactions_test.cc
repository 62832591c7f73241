#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <numeric>
#include <random>

#include "model/transactions.h"
#include "test_data.h"

namespace warpbeam::model {
namespace {

WarpAccess access_of(int bytes, const std::function<int(int)>& element, bool store = false) {
  WarpAccess access;
  access.bytes_per_lane = bytes;
  access.store = store;
  for (int lane = 0; lane < 32; ++lane) access.address[lane] = static_cast<uint64_t>(element(lane)) * bytes;
  return access;
}

WarpAccess strided(int bytes, int stride) {
  return access_of(bytes, [=](int lane) { return lane * stride; });
}

SharedTraffic on(const char* key, const WarpAccess& access, BankMode mode = BankMode::FourBytes) {
  return shared_traffic(*find_device(key), access, mode);
}

// A stride meets gcd(stride, banks) words in each bank it uses.
TEST(SharedBanks, StrideOfWords) {
  for (int stride = 1; stride <= 64; ++stride) {
    SCOPED_TRACE(stride);
    EXPECT_EQ(on("c2050", strided(4, stride)).wavefronts, std::gcd(stride, 32));
    EXPECT_EQ(on("h200", strided(4, stride)).wavefronts, std::gcd(stride, 32));
    EXPECT_EQ(on("8800gtx", strided(4, stride)).wavefronts, 2 * std::gcd(stride, 16));
  }
}

TEST(SharedBanks, BroadcastIsFree) {
  for (const char* key : {"c2050", "k40", "m40", "v100", "h200"}) EXPECT_EQ(on(key, strided(4, 0)).wavefronts, 1) << key;
  EXPECT_EQ(on("gtx280", strided(4, 0)).wavefronts, 2);  // one per half warp
  EXPECT_EQ(on("gtx280", strided(4, 0)).conflicts(), 0);
}

TEST(SharedBanks, ColumnOfATile) {
  EXPECT_EQ(on("h200", strided(4, 32)).conflicts(), 31);
  EXPECT_EQ(on("h200", strided(4, 33)).conflicts(), 0);  // one column of padding
  EXPECT_EQ(on("8800gtx", strided(4, 16)).wavefronts, 32);
  EXPECT_EQ(on("8800gtx", strided(4, 17)).conflicts(), 0);
  EXPECT_EQ(on("k40", strided(4, 32)).wavefronts, 16);  // two words share one of Kepler's wide banks
  EXPECT_EQ(on("k40", strided(4, 33)).wavefronts, 1);
}

TEST(SharedBanks, OldestDevicesBroadcastOneWordAStep) {
  auto two_words = access_of(4, [](int lane) { return lane % 2; });
  EXPECT_EQ(on("8800gtx", two_words).wavefronts, 4);
  EXPECT_EQ(on("c2050", two_words).wavefronts, 1);  // several words may be broadcast at once
  auto one_pair = access_of(4, [](int lane) { return lane % 16 == 1 ? 0 : lane % 16; });
  EXPECT_EQ(on("8800gtx", one_pair).conflicts(), 0);
  // Bytes: four lanes on each of four words, and only one of the words is broadcast in a step.
  EXPECT_EQ(on("8800gtx", strided(1, 1)).wavefronts, 8);
  EXPECT_EQ(on("c2050", strided(1, 1)).wavefronts, 1);
  // Doubles go as two requests whose words are two apart: twofold conflicts in each.
  EXPECT_EQ(on("gtx280", strided(8, 1)).wavefronts, 8);
  EXPECT_EQ(on("gtx280", strided(8, 1)).conflicts(), 4);
}

TEST(SharedBanks, WideWordsGoByHalfAndQuarterWarps) {
  for (const char* key : {"c2050", "m40", "p100", "v100", "h200"}) {
    SCOPED_TRACE(key);
    EXPECT_EQ(on(key, strided(8, 1)).wavefronts, 2);
    EXPECT_EQ(on(key, strided(8, 1)).conflicts(), 0);
    EXPECT_EQ(on(key, strided(8, 2)).wavefronts, 4);
    EXPECT_EQ(on(key, strided(16, 1)).wavefronts, 4);
    EXPECT_EQ(on(key, strided(16, 1)).conflicts(), 0);
    EXPECT_EQ(on(key, strided(16, 2)).wavefronts, 8);
  }
}

TEST(SharedBanks, KeplerModes) {
  auto four = BankMode::FourBytes, eight = BankMode::EightBytes;
  EXPECT_EQ(on("k40", strided(8, 1), eight).wavefronts, 1);
  EXPECT_EQ(on("k40", strided(8, 1), four).wavefronts, 1);
  EXPECT_EQ(on("k40", strided(4, 2), eight).wavefronts, 1);
  EXPECT_EQ(on("k40", strided(4, 2), four).wavefronts, 1);
  EXPECT_EQ(on("k40", strided(16, 1), eight).wavefronts, 2);
  // Words 32 apart share a bank's row in the 4-byte mode only inside an aligned run of 64 words.
  auto pairs = [](int first, int distance) {
    return access_of(4, [=](int lane) { return lane == 0 ? first : lane == 1 ? first + distance : 200 + lane; });
  };
  WarpAccess inside = pairs(0, 32), across = pairs(32, 32);
  inside.active = across.active = 3;
  EXPECT_EQ(on("k40", inside, four).wavefronts, 1);
  EXPECT_EQ(on("k40", across, four).wavefronts, 2);
  EXPECT_EQ(on("k40", inside, eight).wavefronts, 1);
  // In the 8-byte mode words 64 apart meet in a bank.
  WarpAccess far = pairs(0, 64);
  far.active = 3;
  EXPECT_EQ(on("k40", far, eight).wavefronts, 2);
}

TEST(SharedBanks, TwoWordsOfOneBankAreOneConflict) {
  auto access = access_of(4, [](int lane) { return lane == 31 ? 32 : lane; });
  EXPECT_EQ(on("h200", access).wavefronts, 2);
  EXPECT_EQ(on("h200", access).conflicts(), 1);
}

TEST(SharedBanks, SubwordsOfOneWordNeverConflict) {
  EXPECT_EQ(on("h200", strided(1, 1)).wavefronts, 1);
  EXPECT_EQ(on("h200", strided(2, 1)).wavefronts, 1);
  EXPECT_EQ(on("h200", strided(1, 128)).wavefronts, 32);
}

TEST(SharedBanks, EqualNeighboursLetPhasesOfALoadMerge) {
  auto neighbours = [](int bytes, bool store) { return access_of(bytes, [](int lane) { return lane / 2; }, store); };
  auto next_but_one = [](int bytes) { return access_of(bytes, [](int lane) { return lane & ~2; }); };
  EXPECT_EQ(on("v100", strided(8, 0)).wavefronts, 1);
  EXPECT_EQ(on("v100", neighbours(8, false)).wavefronts, 1);
  EXPECT_EQ(on("v100", next_but_one(8)).wavefronts, 2);  // merged, with two words in each bank
  EXPECT_EQ(on("v100", neighbours(16, false)).wavefronts, 2);
  EXPECT_EQ(on("m40", neighbours(8, false)).wavefronts, 2);  // older devices do not merge
  EXPECT_EQ(on("v100", neighbours(8, true)).wavefronts, 2);  // nor do stores
  WarpAccess odd_lanes_off = strided(8, 1);
  odd_lanes_off.active = 0x55555555u;
  EXPECT_EQ(on("v100", odd_lanes_off).wavefronts, 2);  // merged, with two words in each bank
}

TEST(SharedBanks, InactiveLanesCostNothing) {
  WarpAccess access = strided(4, 32);
  access.active = 0;
  for (const char* key : {"8800gtx", "c2050", "k40", "h200"}) EXPECT_EQ(on(key, access).wavefronts, 0) << key;
  access.active = 0x80000001u;
  EXPECT_EQ(on("h200", access).wavefronts, 2);
  access = strided(8, 1);
  access.active = 0x0000ffffu;
  EXPECT_EQ(on("h200", access).wavefronts, 1);
}

// Store cycles of a real H200: exactly the wavefronts, but for the least a store takes.
TEST(SharedBanks, StoreCyclesOfAnH200) {
  auto data = read_test_data("h200_shared_stores.json");
  for (const auto& row : data.at("rows")) {
    WarpAccess access = access_of(row.at(0), [&](int lane) { return row.at(3 + lane).get<int>(); }, true);
    access.active = row.at(1);
    double cycles = row.at(2);
    int least = access.bytes_per_lane == 16 ? 4 : 2;
    int expected = std::max(least, on("h200", access).wavefronts);
    EXPECT_NEAR(cycles, expected, 0.25 + 0.05 * expected) << row;
  }
}

// The smallest number of passes can be no less than the words wanted over the words a pass gives, nor more than lanes.
TEST(SharedBanks, RandomAccessesStayInBounds) {
  std::mt19937 random(11);
  for (int round = 0; round < 20'000; ++round) {
    int bytes = 1 << random() % 5;
    int span = 1 << (1 + random() % 10);
    WarpAccess access = access_of(bytes, [&](int) { return static_cast<int>(random() % span); });
    access.active = random() | 1;
    for (BankRule rule : {BankRule::HalfWarp16, BankRule::Banks32, BankRule::Banks32x8, BankRule::Phases32}) {
      SharedTraffic traffic = shared_traffic(rule, access, BankMode::EightBytes, true);
      int words = std::max(1, bytes / 4);
      ASSERT_GE(traffic.wavefronts, traffic.ideal);
      ASSERT_GE(traffic.ideal, 1);
      ASSERT_LE(traffic.wavefronts, std::popcount(access.active) * words);
    }
    // Merging phases only ever helps, and so do wide banks that keep the old mapping of words to banks.
    ASSERT_LE(shared_traffic(BankRule::Phases32, access, {}, true).wavefronts,
              shared_traffic(BankRule::Phases32, access, {}, false).wavefronts);
    ASSERT_LE(shared_traffic(BankRule::Banks32x8, access, BankMode::FourBytes).wavefronts,
              shared_traffic(BankRule::Banks32, access).wavefronts);
  }
}

}  // namespace
}  // namespace warpbeam::model
