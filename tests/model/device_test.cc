#include "model/device.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "model/print.h"
#include "test_data.h"

namespace warpbeam::model {
namespace {

using nlohmann::json;

std::string key_of(std::string_view spelling) {
  const Device* device = find_device(spelling);
  return device ? device->key : "nothing";
}

TEST(FindDevice, AcceptsManySpellings) {
  for (const char* spelling : {"h200", "H200", "NVIDIA H200", "nvidia h200", "sm_90", "sm_90a", "compute_90", "9.0"})
    EXPECT_EQ(key_of(spelling), "h200") << spelling;
  for (const char* spelling : {"4070 super", "RTX 4070 SUPER", "NVIDIA GeForce RTX 4070 SUPER", "rtx4070super", "4070S"})
    EXPECT_EQ(key_of(spelling), "rtx4070super") << spelling;
  EXPECT_EQ(key_of("Tesla V100"), "v100");
  EXPECT_EQ(key_of("K40m"), "k40");
  EXPECT_EQ(key_of("a100-40"), "a100-40");
  EXPECT_EQ(key_of("A100-80GB"), "a100");
  EXPECT_EQ(key_of("GeForce 8800 GTX"), "8800gtx");
  EXPECT_EQ(key_of("Tesla C2070"), "m2070");
}

TEST(FindDevice, ArchitectureStandsForItsBestKnownDevice) {
  EXPECT_EQ(key_of("sm_70"), "v100");
  EXPECT_EQ(key_of("sm_75"), "t4");
  EXPECT_EQ(key_of("sm_86"), "rtx3090");
  EXPECT_EQ(key_of("sm_10"), "8800gtx");
  EXPECT_EQ(key_of("sm_20"), "c2050");
  EXPECT_EQ(key_of("12.0"), "rtx5090");
  EXPECT_EQ(key_of("sm_87"), "rtx3090");  // no 8.7 in the table: the nearest below
  EXPECT_EQ(key_of("sm_53"), "m40");
  EXPECT_EQ(key_of("sm_40"), "nothing");
}

TEST(FindDevice, NothingFitsGivesNothing) {
  for (const char* spelling : {"", "   ", "nvidia", "sm_", "sm_9", "sm_1234", "radeon", "90", "h2000"})
    EXPECT_EQ(key_of(spelling), "nothing") << spelling;
}

TEST(NearestDevice, SuggestsForTypingErrors) {
  EXPECT_EQ(nearest_device("h20"), "h200");
  EXPECT_EQ(nearest_device("RTX 4070"), "rtx4070super");
  EXPECT_EQ(nearest_device("tesla v10"), "v100");
  EXPECT_EQ(nearest_device("GTX 1070"), "gtx1080");
  EXPECT_EQ(nearest_device("completely different"), "");
  EXPECT_EQ(nearest_device(""), "");
}

TEST(DeviceTable, KeysAreFoundAndDistinct) {
  std::set<std::string> keys;
  for (const Device& device : all_devices()) {
    EXPECT_TRUE(keys.insert(device.key).second) << device.key;
    EXPECT_EQ(find_device(device.key), &device) << device.key;
    EXPECT_EQ(find_device(device.name), &device) << device.name;
    for (const std::string& alias : device.aliases) EXPECT_EQ(find_device(alias), &device) << alias;
  }
  EXPECT_EQ(default_device().key, "h200");
}

// Every fact that some code divides by, allocates by or indexes by.
TEST(DeviceTable, RowsAreComplete) {
  for (const Device& device : all_devices()) {
    SCOPED_TRACE(device.key);
    EXPECT_GT(device.sm_count, 0);
    EXPECT_GT(device.clock_khz, 100'000);
    EXPECT_GT(device.memory_clock_khz, 100'000);
    EXPECT_GT(device.memory_bus_bits, 0);
    EXPECT_GT(device.memory_bytes, 512ull << 20);
    EXPECT_FALSE(device.sources.empty());
    EXPECT_FALSE(device.chip.empty());
  }
}

TEST(DeviceTable, CapabilitiesAreConsistent) {
  EXPECT_GE(all_compute_capabilities().size(), 25u);
  auto check = [](const Device& row) {
    SCOPED_TRACE(row.key);
    EXPECT_EQ(row.warp_size, 32);
    EXPECT_GT(row.max_threads_per_block, 0);
    EXPECT_GE(row.max_threads_per_sm, row.max_threads_per_block);
    EXPECT_GT(row.max_blocks_per_sm, 0);
    EXPECT_GT(row.regs_per_sm, 0);
    EXPECT_LE(row.regs_per_block, row.regs_per_sm);
    EXPECT_GT(row.reg_alloc_unit, 0);
    EXPECT_GT(row.warp_alloc_granularity, 0);
    EXPECT_GT(row.sm_partitions, 0);
    EXPECT_GT(row.shared_alloc_unit, 0);
    EXPECT_LE(row.shared_per_block, row.shared_per_block_optin);
    EXPECT_LE(row.shared_per_block_optin + row.shared_reserved_per_block, row.shared_per_sm);
    if (!row.shared_configs.empty()) {
      EXPECT_EQ(row.shared_configs.back(), row.shared_per_sm);
      EXPECT_TRUE(std::is_sorted(row.shared_configs.begin(), row.shared_configs.end()));
    }
    EXPECT_GT(row.schedulers_per_sm * row.issue_per_scheduler, 0);
    EXPECT_GT(row.fp32_per_sm, 0);
    EXPECT_GT(row.concurrent_kernels, 0);
    EXPECT_GT(row.hardware_queues, 0);
    EXPECT_GT(row.max_grid_dim[0], 0);
    EXPECT_EQ(row.cluster_launch, row.max_cluster_size > 0);
    int in_groups = 0;
    for (int sms : row.cluster_groups) in_groups += sms;
    if (row.cluster_launch) {
      EXPECT_EQ(in_groups, row.sm_count);
    }
  };
  for (const Device& row : all_compute_capabilities()) check(row);
  for (const Device& row : all_devices()) check(row);
}

TEST(DeviceTable, PeakRatesMatchTheDataSheets) {
  struct Known {
    const char* key;
    double gb_per_s;
    double fp32_gflops;
  };
  // 8800 GTX and GTX 280 count one multiply-add a clock.
  for (const Known& known : {Known{"8800gtx", 86.4, 345.6}, Known{"gtx280", 141.7, 622}, Known{"m2090", 177, 1331}, Known{"k20", 208, 3520},
                             Known{"k40", 288, 4290}, Known{"p100", 732, 10600}, Known{"v100", 898, 15700}, Known{"a100", 2039, 19500},
                             Known{"h100", 3352, 66900}, Known{"rtx4070super", 504, 35480}}) {
    const Device& device = *find_device(known.key);
    EXPECT_NEAR(device.memory_bytes_per_second() / 1e9, known.gb_per_s, 0.005 * known.gb_per_s) << known.key;
    EXPECT_NEAR(device.peak_fp32_flops() / 1e9, known.fp32_gflops, 0.005 * known.fp32_gflops) << known.key;
  }
}

json list(const auto& values) { return json(values); }

TEST(H200, IsWhatTheRuntimeReports) {
  const Device& d = *find_device("h200");
  json properties = read_test_data("h200_attributes.json").at("properties");
  const TextureLimits& t = d.limits;
  const std::pair<const char*, json> expected[] = {
      {"name", d.name},
      {"totalGlobalMem", d.memory_bytes},
      {"sharedMemPerBlock", d.shared_per_block},
      {"regsPerBlock", d.regs_per_block},
      {"warpSize", d.warp_size},
      {"memPitch", d.max_pitch},
      {"maxThreadsPerBlock", d.max_threads_per_block},
      {"maxThreadsDim", list(d.max_block_dim)},
      {"maxGridSize", list(d.max_grid_dim)},
      {"totalConstMem", d.constant_bytes},
      {"major", d.major},
      {"minor", d.minor},
      {"textureAlignment", d.texture_alignment},
      {"texturePitchAlignment", d.texture_pitch_alignment},
      {"multiProcessorCount", d.sm_count},
      {"integrated", d.integrated},
      {"canMapHostMemory", d.can_map_host_memory},
      {"maxTexture1D", t.texture_1d},
      {"maxTexture1DMipmap", t.texture_1d_mipmap},
      {"maxTexture2D", list(t.texture_2d)},
      {"maxTexture2DMipmap", list(t.texture_2d_mipmap)},
      {"maxTexture2DLinear", list(t.texture_2d_linear)},
      {"maxTexture2DGather", list(t.texture_2d_gather)},
      {"maxTexture3D", list(t.texture_3d)},
      {"maxTexture3DAlt", list(t.texture_3d_alt)},
      {"maxTextureCubemap", t.texture_cubemap},
      {"maxTexture1DLayered", list(t.texture_1d_layered)},
      {"maxTexture2DLayered", list(t.texture_2d_layered)},
      {"maxTextureCubemapLayered", list(t.texture_cubemap_layered)},
      {"maxSurface1D", t.surface_1d},
      {"maxSurface2D", list(t.surface_2d)},
      {"maxSurface3D", list(t.surface_3d)},
      {"maxSurface1DLayered", list(t.surface_1d_layered)},
      {"maxSurface2DLayered", list(t.surface_2d_layered)},
      {"maxSurfaceCubemap", t.surface_cubemap},
      {"maxSurfaceCubemapLayered", list(t.surface_cubemap_layered)},
      {"surfaceAlignment", d.surface_alignment},
      {"concurrentKernels", d.concurrent_kernels > 1},
      {"ECCEnabled", d.ecc},
      {"tccDriver", d.tcc},
      {"asyncEngineCount", *d.copy_engines},
      {"unifiedAddressing", d.unified_addressing},
      {"memoryBusWidth", d.memory_bus_bits},
      {"l2CacheSize", d.l2_bytes},
      {"persistingL2CacheMaxSize", d.persisting_l2_bytes},
      {"maxThreadsPerMultiProcessor", d.max_threads_per_sm},
      {"streamPrioritiesSupported", d.stream_priorities},
      {"globalL1CacheSupported", d.global_l1_cache},
      {"localL1CacheSupported", d.local_l1_cache},
      {"sharedMemPerMultiprocessor", d.shared_per_sm},
      {"regsPerMultiprocessor", d.regs_per_sm},
      {"managedMemory", d.managed_memory},
      {"hostNativeAtomicSupported", d.host_native_atomics},
      {"pageableMemoryAccess", d.pageable_memory_access},
      {"concurrentManagedAccess", d.concurrent_managed_access},
      {"computePreemptionSupported", d.compute_preemption},
      {"canUseHostPointerForRegisteredMem", d.can_use_host_pointer_for_registered},
      {"cooperativeLaunch", d.cooperative_launch},
      {"sharedMemPerBlockOptin", d.shared_per_block_optin},
      {"pageableMemoryAccessUsesHostPageTables", d.pageable_memory_access_uses_host_page_tables},
      {"directManagedMemAccessFromHost", d.direct_managed_memory_access_from_host},
      {"maxBlocksPerMultiProcessor", d.max_blocks_per_sm},
      {"accessPolicyMaxWindowSize", d.access_policy_window_bytes},
      {"reservedSharedMemPerBlock", d.shared_reserved_per_block},
      {"hostRegisterSupported", d.host_register},
      {"sparseCudaArraySupported", d.sparse_arrays},
      {"hostRegisterReadOnlySupported", d.host_register_read_only},
      {"timelineSemaphoreInteropSupported", d.timeline_semaphores},
      {"memoryPoolsSupported", d.memory_pools},
      {"gpuDirectRDMASupported", d.gpu_direct_rdma},
      {"gpuDirectRDMAFlushWritesOptions", d.gpu_direct_rdma_flush_options},
      {"gpuDirectRDMAWritesOrdering", d.gpu_direct_rdma_write_ordering},
      {"memoryPoolSupportedHandleTypes", d.memory_pool_handle_types},
      {"deferredMappingCudaArraySupported", d.deferred_mapping_arrays},
      {"ipcEventSupported", d.ipc_events},
      {"clusterLaunch", d.cluster_launch},
      {"unifiedFunctionPointers", d.unified_function_pointers},
      {"gpuPciDeviceID", *d.pci_id},
      {"gpuPciSubsystemID", *d.pci_subsystem_id},
  };
  auto number = [](const json& value) { return value.is_boolean() ? json(value.get<bool>() ? 1 : 0) : value; };
  for (const auto& [name, ours] : expected) EXPECT_EQ(number(ours), properties.at(name)) << name;
}

TEST(H200, AttributesBeyondThePropertiesToo) {
  const Device& d = *find_device("h200");
  json attributes = read_test_data("h200_attributes.json").at("attributes");
  EXPECT_EQ(d.clock_khz, attributes.at("cudaDevAttrClockRate"));
  EXPECT_EQ(d.memory_clock_khz, attributes.at("cudaDevAttrMemoryClockRate"));
  EXPECT_EQ(d.limits.texture_1d_linear, attributes.at("cudaDevAttrMaxTexture1DLinearWidth"));
  EXPECT_EQ(d.fp32_fp64_ratio, attributes.at("cudaDevAttrSingleToDoublePrecisionPerfRatio"));
  EXPECT_EQ(d.can_flush_remote_writes, attributes.at("cudaDevAttrCanFlushRemoteWrites") != 0);
  EXPECT_EQ(d.memory_sync_domains, attributes.at("cudaDevAttrMemSyncDomainCount"));
  EXPECT_EQ(d.host_memory_pools, attributes.at("cudaDevAttrHostMemoryPoolsSupported") != 0);
  EXPECT_EQ(d.host_numa_memory_pools, attributes.at("cudaDevAttrHostNumaMemoryPoolsSupported") != 0);
}

TEST(PrintDevices, ShortListHasALinePerDevice) {
  std::ostringstream out;
  print_devices(out, false);
  std::string text = out.str();
  EXPECT_EQ(static_cast<size_t>(std::count(text.begin(), text.end(), '\n')), all_devices().size() + 1);
  for (const Device& device : all_devices()) EXPECT_NE(text.find(device.name), std::string::npos);
}

TEST(PrintDevices, VerboseTellsUnconfirmedValues) {
  std::ostringstream out;
  print_device(out, *find_device("rtx4070super"));
  std::string text = out.str();
  size_t line = text.find("copy engines ");
  ASSERT_NE(line, std::string::npos);
  EXPECT_NE(text.substr(line, text.find('\n', line) - line).find('?'), std::string::npos);
}

TEST(DevicesPage, IsCurrent) {
  std::ifstream file(std::string(WARPBEAM_DOCS) + "/devices.md");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str() == devices_page()) << "docs/devices.md is old: build the target devices_page";
}

}  // namespace
}  // namespace warpbeam::model
