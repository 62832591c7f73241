#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

#include "model/transactions.h"

namespace warpbeam::model {
namespace {

WarpAccess access_of(int bytes, const std::function<uint64_t(int)>& address, bool store = false) {
  WarpAccess access;
  access.bytes_per_lane = bytes;
  access.store = store;
  for (int lane = 0; lane < 32; ++lane) access.address[lane] = address(lane);
  return access;
}

WarpAccess strided(int bytes, int stride_in_elements, uint64_t base = 0) {
  return access_of(bytes, [=](int lane) { return base + static_cast<uint64_t>(lane) * stride_in_elements * bytes; });
}

std::vector<Segment> segments_of(GlobalRule rule, const WarpAccess& access, LoadPath path = LoadPath::Default) {
  GlobalTraffic traffic = global_traffic(rule, access, path);
  return {traffic.segments().begin(), traffic.segments().end()};
}

std::vector<Segment> thirty_two_byte_pieces(std::initializer_list<std::pair<uint64_t, int>> times) {
  std::vector<Segment> all;
  for (auto [address, count] : times)
    for (int i = 0; i < count; ++i) all.push_back({address, 32});
  return all;
}

// The three patterns of the programming guides' figure, a warp reading 4-byte words from address 128 on.
const WarpAccess kInOrder = strided(4, 1, 128);
const WarpAccess kTwoLanesSwapped = access_of(4, [](int lane) {
  int word = lane % 16 == 2 ? lane + 1 : lane % 16 == 3 ? lane - 1 : lane;
  return 128 + 4 * static_cast<uint64_t>(word);
});
const WarpAccess kShifted = strided(4, 1, 132);

TEST(GlobalTransactions, GuideFigureFor10) {
  auto rule = GlobalRule::HalfWarpStrict;
  EXPECT_EQ(segments_of(rule, kInOrder), (std::vector<Segment>{{128, 64}, {192, 64}}));
  EXPECT_EQ(segments_of(rule, kTwoLanesSwapped), thirty_two_byte_pieces({{128, 8}, {160, 8}, {192, 8}, {224, 8}}));
  EXPECT_EQ(segments_of(rule, kShifted), thirty_two_byte_pieces({{128, 7}, {160, 8}, {192, 8}, {224, 8}, {256, 1}}));
}

TEST(GlobalTransactions, GuideFigureFor12) {
  auto rule = GlobalRule::HalfWarpSegments;
  EXPECT_EQ(segments_of(rule, kInOrder), (std::vector<Segment>{{128, 64}, {192, 64}}));
  EXPECT_EQ(segments_of(rule, kTwoLanesSwapped), (std::vector<Segment>{{128, 64}, {192, 64}}));
  EXPECT_EQ(segments_of(rule, kShifted), (std::vector<Segment>{{128, 128}, {192, 64}, {256, 32}}));
}

TEST(GlobalTransactions, GuideFigureFor20) {
  auto rule = GlobalRule::Lines;
  EXPECT_EQ(segments_of(rule, kInOrder), (std::vector<Segment>{{128, 128}}));
  EXPECT_EQ(segments_of(rule, kTwoLanesSwapped), (std::vector<Segment>{{128, 128}}));
  EXPECT_EQ(segments_of(rule, kShifted), (std::vector<Segment>{{128, 128}, {256, 128}}));
  EXPECT_EQ(segments_of(rule, kInOrder, LoadPath::L2), thirty_two_byte_pieces({{128, 1}, {160, 1}, {192, 1}, {224, 1}}));
  EXPECT_EQ(segments_of(rule, kShifted, LoadPath::L2), thirty_two_byte_pieces({{128, 1}, {160, 1}, {192, 1}, {224, 1}, {256, 1}}));
}

TEST(GlobalTransactions, KeplerLoadsPassL1UnlessAsked) {
  const Device& k40 = *find_device("k40");
  EXPECT_EQ(global_traffic(k40, kShifted).segment_count, 5);
  EXPECT_EQ(global_traffic(k40, kShifted, LoadPath::ReadOnly).segment_count, 5);
  EXPECT_EQ(global_traffic(k40, kShifted, LoadPath::L1).segment_count, 2);
  EXPECT_EQ(global_traffic(*find_device("gtx680"), kShifted).segment_count, 2);
}

TEST(GlobalTransactions, TenIsStrictAboutOrderWidthAndAlignment) {
  auto count = [](const WarpAccess& access) { return global_traffic(GlobalRule::HalfWarpStrict, access).segment_count; };
  EXPECT_EQ(count(strided(8, 1)), 2);      // one 128-byte transaction per half warp
  EXPECT_EQ(count(strided(16, 1)), 4);     // two
  EXPECT_EQ(count(strided(4, 1, 64)), 2);  // 64 bytes suffice for 4-byte words
  EXPECT_EQ(count(strided(8, 1, 64)), 32);
  EXPECT_EQ(count(strided(1, 1)), 32);
  EXPECT_EQ(count(strided(2, 1)), 32);
  EXPECT_EQ(count(strided(4, 2)), 32);
  EXPECT_EQ(count(strided(4, 0)), 32);
  WarpAccess gaps = strided(4, 1);
  gaps.active = 0x0f0ff00fu;
  EXPECT_EQ(count(gaps), 2);
  gaps.active = 0x00001000u;
  EXPECT_EQ(segments_of(GlobalRule::HalfWarpStrict, gaps), (std::vector<Segment>{{0, 64}}));
}

TEST(GlobalTransactions, TwelveShrinksToWhatIsUsed) {
  auto rule = GlobalRule::HalfWarpSegments;
  EXPECT_EQ(segments_of(rule, strided(1, 1)), (std::vector<Segment>{{0, 32}, {0, 32}}));
  EXPECT_EQ(segments_of(rule, strided(2, 1)), (std::vector<Segment>{{0, 32}, {32, 32}}));
  EXPECT_EQ(segments_of(rule, strided(8, 1)), (std::vector<Segment>{{0, 128}, {128, 128}}));
  EXPECT_EQ(segments_of(rule, strided(16, 1)).size(), 4u);
  EXPECT_EQ(segments_of(rule, strided(4, 0, 100)), (std::vector<Segment>{{96, 32}, {96, 32}}));
  EXPECT_EQ(segments_of(rule, strided(4, 2)), (std::vector<Segment>{{0, 128}, {128, 128}}));
  EXPECT_EQ(segments_of(rule, strided(4, 32)).size(), 32u);
}

TEST(GlobalTransactions, FermiSplitsWideWords) {
  GlobalTraffic traffic = global_traffic(GlobalRule::Lines, strided(8, 1));
  EXPECT_EQ(traffic.requests, 2);
  EXPECT_EQ(traffic.segment_count, 2);
  traffic = global_traffic(GlobalRule::Lines, strided(16, 1));
  EXPECT_EQ(traffic.requests, 4);
  EXPECT_EQ(traffic.segment_count, 4);
  EXPECT_EQ(traffic.sectors, 16);
  EXPECT_EQ(global_traffic(GlobalRule::Lines, strided(8, 0)).segment_count, 2);  // both halves ask for the word
}

TEST(GlobalTransactions, FermiStoresInOneTwoOrFourSegments) {
  auto stores = [](uint32_t active, uint64_t base = 0) {
    WarpAccess access = strided(4, 1, base);
    access.store = true;
    access.active = active;
    return segments_of(GlobalRule::Lines, access);
  };
  EXPECT_EQ(stores(~0u), (std::vector<Segment>{{0, 128}}));
  EXPECT_EQ(stores(0x0000ffffu), (std::vector<Segment>{{0, 64}}));
  EXPECT_EQ(stores(0xffff0000u), (std::vector<Segment>{{64, 64}}));
  EXPECT_EQ(stores(0x00ffff00u), (std::vector<Segment>{{32, 32}, {64, 32}}));
  EXPECT_EQ(stores(0x00ffffffu), (std::vector<Segment>{{0, 64}, {64, 32}}));
  EXPECT_EQ(stores(1u << 31), (std::vector<Segment>{{96, 32}}));
  EXPECT_EQ(stores(~0u, 32), (std::vector<Segment>{{32, 32}, {64, 64}, {128, 32}}));
}

// Read from the hardware counters of an H200: one request each.
TEST(GlobalTransactions, SectorsOfAnH200) {
  auto traffic = [](const WarpAccess& access) { return global_traffic(default_device(), access); };
  EXPECT_EQ(traffic(strided(4, 0)).sectors, 1);
  EXPECT_EQ(traffic(strided(4, 1)).sectors, 4);
  EXPECT_EQ(traffic(strided(4, 1, 4)).sectors, 5);
  EXPECT_EQ(traffic(strided(4, 2)).sectors, 8);
  EXPECT_EQ(traffic(strided(4, 3)).sectors, 12);
  EXPECT_EQ(traffic(strided(4, 4)).sectors, 16);
  EXPECT_EQ(traffic(strided(4, 8)).sectors, 32);
  EXPECT_EQ(traffic(strided(4, 100)).sectors, 32);
  EXPECT_EQ(traffic(strided(1, 1)).sectors, 1);
  EXPECT_EQ(traffic(strided(8, 1)).sectors, 8);
  EXPECT_EQ(traffic(strided(16, 1)).sectors, 16);
  EXPECT_EQ(traffic(strided(16, 1)).requests, 1);
  EXPECT_EQ(traffic(strided(4, 3)).bytes_requested, 128);
  EXPECT_EQ(traffic(strided(4, 1, 4)).lines, 2);
  EXPECT_EQ(traffic(strided(4, 100)).lines, 32);
}

TEST(GlobalTransactions, NoActiveLaneIsNoTraffic) {
  for (GlobalRule rule :
       {GlobalRule::HalfWarpStrict, GlobalRule::HalfWarpSegments, GlobalRule::Lines, GlobalRule::Segments, GlobalRule::Sectors}) {
    WarpAccess access = strided(4, 1);
    access.active = 0;
    GlobalTraffic traffic = global_traffic(rule, access);
    EXPECT_EQ(traffic.requests + traffic.lines + traffic.sectors + traffic.segment_count + traffic.bytes_requested, 0);
  }
}

// Whatever the addresses: every byte asked for is moved, segments are aligned and count as many sectors as they hold.
TEST(GlobalTransactions, RandomAccessesAreCovered) {
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    int bytes = 1 << random() % 5;
    uint64_t span = 1ull << (4 + random() % 10);
    WarpAccess access = access_of(bytes, [&](int) { return random() % span * bytes + 4096; }, random() % 2);
    access.active = random() % 3 ? random() : ~0u;
    auto rule = static_cast<GlobalRule>(random() % 5);
    auto path = static_cast<LoadPath>(random() % 4);
    GlobalTraffic traffic = global_traffic(rule, access, path);
    int sectors = 0;
    for (const Segment& segment : traffic.segments()) {
      ASSERT_TRUE(segment.bytes == 32 || segment.bytes == 64 || segment.bytes == 128);
      ASSERT_EQ(segment.address % segment.bytes, 0u);
      sectors += segment.bytes / 32;
    }
    ASSERT_EQ(sectors, traffic.sectors);
    ASSERT_EQ(traffic.bytes_moved(), 32 * sectors);
    for (int lane = 0; lane < 32; ++lane) {
      if (!(access.active >> lane & 1)) continue;
      bool covered = false;
      for (const Segment& segment : traffic.segments())
        covered |= access.address[lane] >= segment.address && access.address[lane] + bytes <= segment.address + segment.bytes;
      ASSERT_TRUE(covered) << "rule " << static_cast<int>(rule) << ", lane " << lane;
    }
  }
}

TEST(MemoryPartitions, TakeTurnsEvery256Bytes) {
  const Device& gtx280 = *find_device("gtx280");
  EXPECT_EQ(memory_partition(gtx280, 255), 0);
  EXPECT_EQ(memory_partition(gtx280, 256), 1);
  EXPECT_EQ(memory_partition(gtx280, 8 * 256), 0);
  // A column of a 2048-word wide matrix stays in one partition: the camping of the transpose example.
  for (int row = 0; row < 16; ++row) EXPECT_EQ(memory_partition(gtx280, row * 2048ull * 4), 0);
  EXPECT_EQ(memory_partition(*find_device("8800gtx"), 6 * 256), 0);
  EXPECT_EQ(memory_partition(default_device(), 12345678), 0);
}

}  // namespace
}  // namespace warpbeam::model
