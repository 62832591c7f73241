// What a GPU is: every fact about a device that cudaDeviceProp, occupancy, the transaction and bank rules, the queues
// and the timing read. A fact lives in one place: devices/<key>.json when it belongs to one product,
// compute_capabilities.json when every device of a compute capability shares it. Values that depend on the machine a
// card is plugged into (PCI bus and slot, UUID, NUMA node) are not here; the runtime chooses them.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpbeam::model {

// Who owns a register allocation: cc 1.x rounds a whole block's need, later ones round each warp's.
enum class RegisterScope : uint8_t { Block, Warp };

// Which rule turns a warp's addresses into global memory traffic (transactions.h).
enum class GlobalRule : uint8_t {
  HalfWarpStrict,    // 1.0, 1.1: in order and aligned, or one transaction per lane
  HalfWarpSegments,  // 1.2, 1.3: shrinking segments
  Lines,             // 2.x, 3.0, 3.2: 128-byte L1 lines, or 32-byte segments past L1
  Segments,          // 3.5, 3.7: 32-byte segments unless L1 was asked for
  Sectors,           // 5.0 and later: distinct 32-byte sectors
};

// Which rule turns a warp's shared-memory addresses into bank passes (transactions.h).
enum class BankRule : uint8_t {
  HalfWarp16,  // 1.x: 16 banks, half a warp at a time, one broadcast word per step
  Banks32,     // 2.x: 32 banks of 4 bytes
  Banks32x8,   // 3.x: 32 banks of 8 bytes with a 4-byte and an 8-byte mode
  Phases32,    // 5.0 and later: 32 banks of 4 bytes, wide accesses in phases
};

// Limits of cudaDeviceProp::maxTexture* and maxSurface*. {width}, {width, height}, {width, height, depth},
// {width, layers}, {width, height, layers}.
struct TextureLimits {
  int texture_1d = 0;
  int texture_1d_linear = 0;
  int texture_1d_mipmap = 0;
  std::array<int, 2> texture_2d{};
  std::array<int, 3> texture_2d_linear{};  // width, height, pitch
  std::array<int, 2> texture_2d_mipmap{};
  std::array<int, 2> texture_2d_gather{};
  std::array<int, 3> texture_3d{};
  std::array<int, 3> texture_3d_alt{};
  int texture_cubemap = 0;
  std::array<int, 2> texture_1d_layered{};
  std::array<int, 3> texture_2d_layered{};
  std::array<int, 2> texture_cubemap_layered{};
  int surface_1d = 0;
  std::array<int, 2> surface_2d{};
  std::array<int, 3> surface_3d{};
  std::array<int, 2> surface_1d_layered{};
  std::array<int, 3> surface_2d_layered{};
  int surface_cubemap = 0;
  std::array<int, 2> surface_cubemap_layered{};
};

// Cycles of a dependent access (pointer chase); absent where nobody published a measurement.
struct Latencies {
  std::optional<int> alu;
  std::optional<int> shared;
  std::optional<int> l1;
  std::optional<int> l2;
  std::optional<int> dram;
};

struct Device {
  // Identity.
  std::string key;                   // "h200": the spelling that options and file names use
  std::string name;                  // "NVIDIA H200": cudaDeviceProp::name
  std::vector<std::string> aliases;  // further spellings find_device accepts
  std::string chip;                  // "GH100"
  std::string generation;            // "Hopper"
  std::vector<std::string> sources;  // where the row's values were read
  int major = 0;
  int minor = 0;
  std::optional<uint32_t> pci_id;            // device id in the upper, vendor id in the lower 16 bits
  std::optional<uint32_t> pci_subsystem_id;  // the same of the board

  // Size and speed. Clocks are the peak rates that cudaDeviceGetAttribute reports.
  int sm_count = 0;
  int clock_khz = 0;
  int memory_clock_khz = 0;
  int memory_bus_bits = 0;
  uint64_t memory_bytes = 0;  // cudaDeviceProp::totalGlobalMem
  int l2_bytes = 0;
  int l1_bytes = 0;  // per SM; includes shared memory where both are one array (unified_l1)
  bool unified_l1 = false;
  int constant_bytes = 0;
  int memory_partitions = 0;  // G80 to GT200: 256-byte regions rotate over them; 0 = addresses are hashed
  int persisting_l2_bytes = 0;
  int access_policy_window_bytes = 0;

  // Threads and blocks.
  int warp_size = 32;
  int max_threads_per_block = 0;
  int max_threads_per_sm = 0;
  int max_blocks_per_sm = 0;
  std::array<int, 3> max_block_dim{};
  std::array<int, 3> max_grid_dim{};

  // Registers.
  int regs_per_sm = 0;
  int regs_per_block = 0;
  int max_regs_per_thread = 0;            // what a compiler may use
  int max_regs_per_thread_occupancy = 0;  // what the vendor's occupancy rules let pass (255 or 256)
  int reg_alloc_unit = 0;
  RegisterScope reg_alloc_scope = RegisterScope::Warp;
  int warp_alloc_granularity = 0;
  int sm_partitions = 0;  // parts of an SM that own a slice of the register file each

  // Shared memory, in bytes.
  int shared_per_sm = 0;
  int shared_per_block = 0;
  int shared_per_block_optin = 0;
  int shared_reserved_per_block = 0;
  int shared_alloc_unit = 0;
  std::vector<int> shared_configs;  // sizes the SM can be split to, ascending; empty = fixed
  BankRule bank_rule = BankRule::Phases32;
  GlobalRule global_rule = GlobalRule::Sectors;
  bool partitioned_global_caching = false;  // 5.2, 5.3, 6.1, 6.2: caching halves the SM a block can use
  int block_barriers_per_sm = 0;            // limit from 9.0 on; 0 = does not limit
  int virtual_resources_per_sm = 0;         // limit from 10.0 on; 0 = does not limit

  // Execution units per SM.
  int schedulers_per_sm = 0;
  int issue_per_scheduler = 0;
  int fp32_per_sm = 0;
  int fp64_per_sm = 0;  // 0 = no double precision
  int sfu_per_sm = 0;
  int lsu_per_sm = 0;
  int fp32_fp64_ratio = 0;  // cudaDevAttrSingleToDoublePrecisionPerfRatio
  Latencies latency_cycles;

  // Queues.
  std::optional<int> copy_engines;  // cudaDeviceProp::asyncEngineCount
  int concurrent_kernels = 0;       // kernels resident at once; 1 = cudaDeviceProp::concurrentKernels is 0
  int hardware_queues = 0;          // 1 = one queue into which all streams are merged (before Hyper-Q)

  // Clusters: groups of SMs within which a cluster must fit, one entry per group; empty = no clusters.
  std::vector<int> cluster_groups;
  int max_cluster_size = 0;              // any kernel
  int max_nonportable_cluster_size = 0;  // with cudaFuncAttributeNonPortableClusterSizeAllowed
  int max_cluster_blocks_per_sm = 0;

  // Memory and textures.
  uint64_t max_pitch = 0;
  int texture_alignment = 0;
  int texture_pitch_alignment = 0;
  int surface_alignment = 0;
  TextureLimits limits;

  // Features.
  bool integrated = false;
  bool ecc = false;
  bool tcc = false;  // Windows only
  bool can_map_host_memory = false;
  bool unified_addressing = false;
  bool managed_memory = false;
  bool concurrent_managed_access = false;
  bool pageable_memory_access = false;
  bool pageable_memory_access_uses_host_page_tables = false;
  bool direct_managed_memory_access_from_host = false;
  bool host_native_atomics = false;
  bool host_register = false;
  bool host_register_read_only = false;
  bool can_use_host_pointer_for_registered = false;
  bool can_flush_remote_writes = false;
  bool global_l1_cache = false;
  bool local_l1_cache = false;
  bool stream_priorities = false;
  bool compute_preemption = false;
  bool cooperative_launch = false;
  bool cluster_launch = false;
  bool memory_pools = false;
  int memory_pool_handle_types = 0;
  bool host_memory_pools = false;
  bool host_numa_memory_pools = false;
  bool sparse_arrays = false;
  bool deferred_mapping_arrays = false;
  bool timeline_semaphores = false;
  bool ipc_events = false;
  bool unified_function_pointers = false;
  bool gpu_direct_rdma = false;
  int gpu_direct_rdma_flush_options = 0;
  int gpu_direct_rdma_write_ordering = 0;
  int memory_sync_domains = 0;
  int dynamic_parallelism_depth = 0;  // 0 = a kernel cannot launch kernels

  int cc() const { return major * 10 + minor; }
  int max_warps_per_sm() const { return max_threads_per_sm / warp_size; }
  // Peak DRAM rate: every memory these devices use moves two words a clock.
  double memory_bytes_per_second() const { return 2.0 * memory_clock_khz * 1e3 * memory_bus_bits / 8; }
  double peak_fp32_flops() const { return 2.0 * clock_khz * 1e3 * fp32_per_sm * sm_count; }
};

// Every device, oldest first. Parsed on first use; the rows live as long as the process.
std::span<const Device> all_devices();

// One row per compute capability with the facts its devices share: key "sm_90", one SM, no memory or clock.
std::span<const Device> all_compute_capabilities();
const Device* find_compute_capability(int major, int minor);

// The device a user means: a key, a product name with or without "NVIDIA", "Tesla" or "GeForce", or an architecture
// ("sm_70", "compute_70", "7.0"), which stands for its best-known device. Case, blanks and punctuation do not matter.
// nullptr if nothing fits.
const Device* find_device(std::string_view spelling);

// The key of the device whose spelling is nearest, for "did you mean". Empty if nothing is near.
std::string nearest_device(std::string_view spelling);

// What runs when nobody chooses.
const Device& default_device();

}  // namespace warpbeam::model
