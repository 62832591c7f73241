#include "model/occupancy.h"

#include <gtest/gtest.h>

#include "test_data.h"

namespace warpbeam::model {
namespace {

struct Launch {
  int block;
  int regs;
  size_t static_shared = 0;
  size_t dynamic_shared = 0;
};

// A kernel that opted in to all the dynamic shared memory its device has, as far as it needs more than the default.
Occupancy occupancy_of(const Device& device, const Launch& launch, const OccupancySettings& settings = {}) {
  KernelResources kernel;
  kernel.regs_per_thread = launch.regs;
  kernel.static_shared = launch.static_shared;
  kernel.max_dynamic_shared = std::max<size_t>(launch.dynamic_shared, device.shared_per_block - launch.static_shared);
  return *occupancy(device, kernel, launch.block, launch.dynamic_shared, settings);
}

int blocks_on(const char* key, const Launch& launch, const OccupancySettings& settings = {}) {
  return occupancy_of(*find_device(key), launch, settings).blocks_per_sm;
}

TEST(Occupancy, GoldenVectors) {
  const Launch launches[] = {{256, 32},      {256, 40},  {256, 64, 8192}, {128, 96},        {1024, 33},
                             {96, 37, 3000}, {192, 255}, {32, 16},        {256, 32, 49152}, {512, 48, 0, 65536}};
  const std::pair<const char*, std::array<int, 10>> golden[] = {
      {"k40", {8, 6, 4, 5, 1, 16, 1, 16, 1, 0}},  {"p100", {8, 6, 4, 5, 1, 16, 1, 32, 1, 0}},
      {"v100", {8, 6, 4, 5, 1, 16, 1, 32, 2, 1}}, {"t4", {4, 4, 4, 5, 1, 10, 1, 16, 1, 1}},
      {"a100", {8, 6, 4, 5, 1, 16, 1, 32, 3, 2}}, {"rtx4070super", {6, 6, 4, 5, 1, 16, 1, 24, 2, 1}},
      {"h100", {8, 6, 4, 5, 1, 16, 1, 32, 4, 2}}};
  for (const auto& [key, blocks] : golden)
    for (size_t i = 0; i < std::size(launches); ++i)
      EXPECT_EQ(blocks_on(key, launches[i]), blocks[i]) << key << ": block " << launches[i].block << ", registers " << launches[i].regs;
}

// G80: 8192 registers, 768 threads. The examples of its programming guide: 10 registers let three blocks of 256 run,
// 11 registers only two.
TEST(Occupancy, G80RegistersPerBlock) {
  EXPECT_EQ(blocks_on("8800gtx", {256, 10}), 3);
  EXPECT_EQ(blocks_on("8800gtx", {256, 11}), 2);
  EXPECT_EQ(blocks_on("8800gtx", {32, 4}), 8);
  EXPECT_EQ(blocks_on("8800gtx", {512, 16}), 1);
  EXPECT_EQ(blocks_on("8800gtx", {512, 17}), 0);
  // Three warps are allocated as four: 4 * 32 * 20 = 2560 registers, three blocks.
  EXPECT_EQ(blocks_on("8800gtx", {96, 20}), 3);
  EXPECT_EQ(occupancy_of(*find_device("8800gtx"), {96, 20}).regs_per_block, 2560);
  EXPECT_EQ(blocks_on("8800gtx", {64, 10, 4000}), 4);
  EXPECT_EQ(blocks_on("8800gtx", {64, 10, 4097}), 3);  // 4608 bytes after rounding to 512
}

TEST(Occupancy, GT200) {
  EXPECT_EQ(blocks_on("gtx280", {256, 16}), 4);
  EXPECT_EQ(blocks_on("gtx280", {256, 17}), 3);
  EXPECT_EQ(blocks_on("gtx280", {512, 10}), 2);
  EXPECT_EQ(blocks_on("gtx280", {1024, 4}), 0);
}

TEST(Occupancy, FermiRegistersPerWarp) {
  EXPECT_EQ(blocks_on("c2050", {256, 20}), 6);
  EXPECT_EQ(blocks_on("c2050", {256, 21}), 5);  // 704 registers a warp, 46 warps
  EXPECT_EQ(blocks_on("c2050", {512, 63}), 1);
  EXPECT_EQ(blocks_on("c2050", {64, 16}), 8);
  EXPECT_EQ(blocks_on("c2050", {256, 16, 20000}), 2);
  OccupancySettings prefer_l1;
  prefer_l1.cache = CachePreference::L1;
  EXPECT_EQ(blocks_on("c2050", {256, 16, 6000}, prefer_l1), 2);
  EXPECT_EQ(blocks_on("c2050", {256, 16, 20000}, prefer_l1), 2);  // too large for 16 KB: the preference is dropped
}

TEST(Occupancy, KeplerCachePreference) {
  OccupancySettings settings;
  Launch launch{128, 16, 8000};
  EXPECT_EQ(blocks_on("k40", launch, settings), 6);
  settings.cache = CachePreference::Equal;
  EXPECT_EQ(blocks_on("k40", launch, settings), 4);
  settings.cache = CachePreference::L1;
  EXPECT_EQ(blocks_on("k40", launch, settings), 2);
  settings.cache = CachePreference::Equal;
  EXPECT_EQ(blocks_on("k80", launch, settings), 12);
}

TEST(Occupancy, LimitingResourcesAreNamed) {
  const Device& a100 = *find_device("a100");
  EXPECT_EQ(occupancy_of(a100, {256, 32}).limited_by, kLimitWarps | kLimitRegisters);
  EXPECT_EQ(occupancy_of(a100, {256, 40}).limited_by, kLimitRegisters);
  EXPECT_EQ(occupancy_of(a100, {32, 16}).limited_by, kLimitBlocks);
  EXPECT_EQ(occupancy_of(a100, {256, 32, 49152}).limited_by, kLimitShared);
  EXPECT_EQ(occupancy_of(a100, {2048, 16}).limited_by & kLimitWarps, kLimitWarps);
  Occupancy found = occupancy_of(a100, {256, 40});
  EXPECT_EQ(found.warps_per_sm(a100, 256), 48);
  EXPECT_DOUBLE_EQ(found.fraction(a100, 256), 0.75);
}

TEST(Occupancy, DynamicSharedNeedsOptingIn) {
  const Device& v100 = *find_device("v100");
  KernelResources kernel;
  kernel.regs_per_thread = 32;
  kernel.max_dynamic_shared = 49152;
  EXPECT_EQ(occupancy(v100, kernel, 256, 65536)->blocks_per_sm, 0);
  kernel.max_dynamic_shared = 65536;
  EXPECT_EQ(occupancy(v100, kernel, 256, 65536)->blocks_per_sm, 1);
  kernel.shared_optin = false;
  EXPECT_EQ(occupancy(v100, kernel, 256, 65536)->blocks_per_sm, 0);
}

TEST(Occupancy, CachingThatHalvesTheSmGivesWayUnlessStrict) {
  const Device& m40 = *find_device("m40");
  Launch large{1024, 40};  // 40 * 1024 registers do not fit in half of 64 K
  OccupancySettings settings;
  settings.global_caching = GlobalCaching::On;
  EXPECT_EQ(occupancy_of(m40, large, settings).blocks_per_sm, 1);
  EXPECT_EQ(occupancy_of(m40, large, settings).global_caching, GlobalCaching::Off);
  settings.global_caching = GlobalCaching::Strict;
  EXPECT_EQ(occupancy_of(m40, large, settings).blocks_per_sm, 0);
  EXPECT_EQ(blocks_on("gtx750ti", large, settings), 1);  // 5.0 has no such caching
}

TEST(Occupancy, MeaninglessArgumentsFail) {
  const Device& device = default_device();
  KernelResources kernel;
  EXPECT_FALSE(occupancy(device, kernel, 0, 0));
  EXPECT_FALSE(occupancy(device, kernel, -32, 0));
  OccupancySettings settings;
  settings.carveout_percent = 101;
  EXPECT_FALSE(occupancy(device, kernel, 32, 0, settings));
  kernel.regs_per_thread = -1;
  EXPECT_FALSE(occupancy(device, kernel, 32, 0));
}

TEST(MaxPotentialBlockSize, TakesTheLargestOfTheBest) {
  const Device& a100 = *find_device("a100");
  KernelResources kernel;
  kernel.regs_per_thread = 32;
  kernel.max_dynamic_shared = 49152;
  auto found = *max_potential_block_size(a100, kernel, 0);
  EXPECT_EQ(found.block_size, 1024);
  EXPECT_EQ(found.min_grid_size, 2 * 108);
  found = *max_potential_block_size(a100, kernel, 0, 200);
  EXPECT_EQ(found.block_size, 128);  // 16 * 128 = 2048 threads; 200 or 192 hold fewer
  kernel.max_threads_per_block = 100;
  found = *max_potential_block_size(a100, kernel, 0);
  EXPECT_EQ(found.block_size, 64);
  // Shared memory per thread: blocks of 1024 need 96 KB.
  kernel.max_threads_per_block = 1024;
  kernel.max_dynamic_shared = a100.shared_per_block_optin;
  found = *max_potential_block_size(a100, kernel, [](int block) { return size_t{96} * block; });
  EXPECT_GT(found.block_size, 0);
  EXPECT_LT(found.block_size, 1024);
}

class RecordedH200 : public ::testing::Test {
 protected:
  const Device& h200_ = *find_device("h200");
  nlohmann::json data_ = read_test_data("h200_occupancy.json");

  static KernelResources kernel_of(const nlohmann::json& row) {
    KernelResources kernel;
    kernel.regs_per_thread = row.at("regs");
    kernel.static_shared = row.at("static");
    kernel.max_dynamic_shared = row.at("max_dynamic");
    kernel.max_threads_per_block = row.at("max_threads");
    kernel.block_barriers = row.at("barriers");
    return kernel;
  }
  static OccupancySettings settings_of(const nlohmann::json& row) {
    OccupancySettings settings;
    settings.carveout_percent = row.at("carveout");
    return settings;
  }
};

TEST_F(RecordedH200, ActiveBlocks) {
  for (const auto& row : data_.at("rows")) {
    size_t i = 0;
    for (int block : data_.at("block_sizes"))
      for (size_t dynamic : data_.at("dynamic")) {
        auto found = occupancy(h200_, kernel_of(row), block, dynamic, settings_of(row));
        ASSERT_TRUE(found);
        EXPECT_EQ(found->blocks_per_sm, row.at("blocks").at(i++))
            << row.at("kernel") << ", carveout " << row.at("carveout") << ", block " << block << ", dynamic " << dynamic;
      }
  }
}

TEST_F(RecordedH200, AvailableDynamicShared) {
  for (const auto& row : data_.at("rows")) {
    size_t i = 0;
    for (int blocks : data_.at("available_blocks"))
      for (int block : data_.at("available_sizes")) {
        auto found = available_dynamic_shared(h200_, kernel_of(row), blocks, block, settings_of(row));
        EXPECT_EQ(found ? static_cast<int64_t>(*found) : -1, row.at("available").at(i++))
            << row.at("kernel") << ", carveout " << row.at("carveout") << ", " << blocks << " blocks of " << block;
      }
  }
}

TEST_F(RecordedH200, PotentialBlockSize) {
  for (const auto& row : data_.at("rows")) {
    size_t i = 0;
    for (size_t dynamic : data_.at("potential_dynamic")) {
      auto found = *max_potential_block_size(h200_, kernel_of(row), dynamic, 0, settings_of(row));
      const auto& expected = row.at("potential").at(i++);
      EXPECT_EQ(found.min_grid_size, expected.at(0)) << row.at("kernel") << ", dynamic " << dynamic;
      EXPECT_EQ(found.block_size, expected.at(1)) << row.at("kernel") << ", dynamic " << dynamic;
    }
  }
}

TEST_F(RecordedH200, Clusters) {
  auto data = read_test_data("h200_clusters.json");
  for (const auto& row : data.at("rows")) {
    KernelResources kernel;
    kernel.regs_per_thread = row.at(0);
    kernel.static_shared = row.at(1);
    kernel.max_dynamic_shared = row.at(2);
    kernel.block_barriers = row.at(3);
    int block = row.at(4);
    size_t dynamic = row.at(5);
    EXPECT_EQ(*max_potential_cluster_size(h200_, kernel, block, dynamic, true), row.at(6)) << row;
    size_t i = 7;
    for (int size : data.at("cluster_sizes"))
      EXPECT_EQ(*max_active_clusters(h200_, kernel, block, dynamic, size, true), row.at(i++)) << row << ", " << size;
  }
}

TEST(Clusters, SizesOutOfReachFail) {
  KernelResources kernel;
  kernel.regs_per_thread = 32;
  EXPECT_TRUE(max_active_clusters(default_device(), kernel, 128, 0, 8, false));
  EXPECT_FALSE(max_active_clusters(default_device(), kernel, 128, 0, 16, false));
  EXPECT_FALSE(max_active_clusters(default_device(), kernel, 128, 0, 32, true));
  EXPECT_FALSE(max_active_clusters(*find_device("a100"), kernel, 128, 0, 1, true));
  EXPECT_FALSE(max_potential_cluster_size(*find_device("a100"), kernel, 128, 0, true));
  EXPECT_EQ(*max_potential_cluster_size(default_device(), kernel, 128, 0, false), 8);
}

}  // namespace
}  // namespace warpbeam::model
