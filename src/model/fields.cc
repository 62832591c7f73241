#include "model/fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace warpbeam::model {
namespace {

using D = Device;
using T = TextureLimits;
using L = Latencies;

const Field kFields[] = {
    {"identity", "name", "name as cudaDeviceProp gives it", &D::name},
    {"identity", "aliases", "further spellings that choose it", &D::aliases},
    {"identity", "chip", "chip", &D::chip},
    {"identity", "generation", "architecture", &D::generation},
    {"identity", "pci_id", "PCI device id (upper half) and vendor id", &D::pci_id},
    {"identity", "pci_subsystem_id", "PCI subsystem id (upper half) and vendor id", &D::pci_subsystem_id},

    {"size and speed", "sm_count", "multiprocessors", &D::sm_count},
    {"size and speed", "clock_khz", "peak SM clock, kHz", &D::clock_khz},
    {"size and speed", "memory_clock_khz", "peak memory clock, kHz", &D::memory_clock_khz},
    {"size and speed", "memory_bus_bits", "memory bus, bits", &D::memory_bus_bits},
    {"size and speed", "memory_bytes", "global memory, bytes", &D::memory_bytes},
    {"size and speed", "l2_bytes", "L2 cache, bytes", &D::l2_bytes},
    {"size and speed", "l1_bytes", "L1 cache per SM, bytes", &D::l1_bytes},
    {"size and speed", "unified_l1", "L1 and shared memory are one array", &D::unified_l1},
    {"size and speed", "constant_bytes", "constant memory, bytes", &D::constant_bytes},
    {"size and speed", "memory_partitions", "memory partitions, 0 = addresses are hashed", &D::memory_partitions},
    {"size and speed", "persisting_l2_bytes", "L2 that can be set aside for persisting accesses", &D::persisting_l2_bytes},
    {"size and speed", "access_policy_window_bytes", "largest access policy window", &D::access_policy_window_bytes},

    {"threads and blocks", "warp_size", "warp size", &D::warp_size},
    {"threads and blocks", "max_threads_per_block", "threads per block", &D::max_threads_per_block},
    {"threads and blocks", "max_threads_per_sm", "threads per SM", &D::max_threads_per_sm},
    {"threads and blocks", "max_blocks_per_sm", "blocks per SM", &D::max_blocks_per_sm},
    {"threads and blocks", "max_block_dim", "largest block", &D::max_block_dim},
    {"threads and blocks", "max_grid_dim", "largest grid", &D::max_grid_dim},

    {"registers", "regs_per_sm", "32-bit registers per SM", &D::regs_per_sm},
    {"registers", "regs_per_block", "registers per block", &D::regs_per_block},
    {"registers", "max_regs_per_thread", "registers per thread", &D::max_regs_per_thread},
    {"registers", "max_regs_per_thread_occupancy", "registers per thread the occupancy rules let pass", &D::max_regs_per_thread_occupancy},
    {"registers", "reg_alloc_unit", "allocation unit", &D::reg_alloc_unit},
    {"registers", "reg_alloc_scope", "allocated per", &D::reg_alloc_scope},
    {"registers", "warp_alloc_granularity", "warps are allocated in groups of", &D::warp_alloc_granularity},
    {"registers", "sm_partitions", "partitions of the register file", &D::sm_partitions},

    {"shared memory", "shared_per_sm", "per SM, bytes", &D::shared_per_sm},
    {"shared memory", "shared_per_block", "per block, bytes", &D::shared_per_block},
    {"shared memory", "shared_per_block_optin", "per block after opting in, bytes", &D::shared_per_block_optin},
    {"shared memory", "shared_reserved_per_block", "reserved per block, bytes", &D::shared_reserved_per_block},
    {"shared memory", "shared_alloc_unit", "allocation unit, bytes", &D::shared_alloc_unit},
    {"shared memory", "shared_configs", "sizes the SM can be set to, bytes", &D::shared_configs},
    {"shared memory", "bank_rule", "bank rule", &D::bank_rule},
    {"shared memory", "global_rule", "global memory rule", &D::global_rule},
    {"shared memory", "partitioned_global_caching", "global caching can halve the SM", &D::partitioned_global_caching},
    {"shared memory", "block_barriers_per_sm", "block barriers per SM, 0 = no limit", &D::block_barriers_per_sm},
    {"shared memory", "virtual_resources_per_sm", "virtual resources per SM, 0 = no limit", &D::virtual_resources_per_sm},

    {"units per SM", "schedulers_per_sm", "warp schedulers", &D::schedulers_per_sm},
    {"units per SM", "issue_per_scheduler", "instructions a scheduler issues per clock", &D::issue_per_scheduler},
    {"units per SM", "fp32_per_sm", "single-precision lanes", &D::fp32_per_sm},
    {"units per SM", "fp64_per_sm", "double-precision lanes", &D::fp64_per_sm},
    {"units per SM", "fp32_fp64_ratio", "single to double precision ratio", &D::fp32_fp64_ratio},
    {"units per SM", "sfu_per_sm", "special function lanes", &D::sfu_per_sm},
    {"units per SM", "lsu_per_sm", "load and store lanes", &D::lsu_per_sm},

    {"latency, cycles", "alu", "dependent arithmetic", &L::alu},
    {"latency, cycles", "shared", "shared memory", &L::shared},
    {"latency, cycles", "l1", "L1 hit", &L::l1},
    {"latency, cycles", "l2", "L2 hit", &L::l2},
    {"latency, cycles", "dram", "device memory", &L::dram},

    {"queues", "copy_engines", "copy engines", &D::copy_engines},
    {"queues", "concurrent_kernels", "kernels resident at once", &D::concurrent_kernels},
    {"queues", "hardware_queues", "hardware work queues", &D::hardware_queues},

    {"clusters", "cluster_groups", "SMs in each group a cluster must fit in", &D::cluster_groups},
    {"clusters", "max_cluster_size", "blocks per cluster", &D::max_cluster_size},
    {"clusters", "max_nonportable_cluster_size", "blocks per cluster, non-portable", &D::max_nonportable_cluster_size},
    {"clusters", "max_cluster_blocks_per_sm", "blocks of clusters per SM", &D::max_cluster_blocks_per_sm},

    {"memory and textures", "max_pitch", "largest pitch of a copy, bytes", &D::max_pitch},
    {"memory and textures", "texture_alignment", "texture alignment, bytes", &D::texture_alignment},
    {"memory and textures", "texture_pitch_alignment", "texture pitch alignment, bytes", &D::texture_pitch_alignment},
    {"memory and textures", "surface_alignment", "surface alignment, bytes", &D::surface_alignment},
    {"memory and textures", "texture_1d", "1D texture", &T::texture_1d},
    {"memory and textures", "texture_1d_linear", "1D texture on linear memory", &T::texture_1d_linear},
    {"memory and textures", "texture_1d_mipmap", "1D mipmapped texture", &T::texture_1d_mipmap},
    {"memory and textures", "texture_2d", "2D texture", &T::texture_2d},
    {"memory and textures", "texture_2d_linear", "2D texture on linear memory: width, height, pitch", &T::texture_2d_linear},
    {"memory and textures", "texture_2d_mipmap", "2D mipmapped texture", &T::texture_2d_mipmap},
    {"memory and textures", "texture_2d_gather", "2D texture for gather", &T::texture_2d_gather},
    {"memory and textures", "texture_3d", "3D texture", &T::texture_3d},
    {"memory and textures", "texture_3d_alt", "3D texture, the other shape", &T::texture_3d_alt},
    {"memory and textures", "texture_cubemap", "cubemap texture", &T::texture_cubemap},
    {"memory and textures", "texture_1d_layered", "1D layered texture: width, layers", &T::texture_1d_layered},
    {"memory and textures", "texture_2d_layered", "2D layered texture: width, height, layers", &T::texture_2d_layered},
    {"memory and textures", "texture_cubemap_layered", "cubemap layered texture: width, layers", &T::texture_cubemap_layered},
    {"memory and textures", "surface_1d", "1D surface", &T::surface_1d},
    {"memory and textures", "surface_2d", "2D surface", &T::surface_2d},
    {"memory and textures", "surface_3d", "3D surface", &T::surface_3d},
    {"memory and textures", "surface_1d_layered", "1D layered surface: width, layers", &T::surface_1d_layered},
    {"memory and textures", "surface_2d_layered", "2D layered surface: width, height, layers", &T::surface_2d_layered},
    {"memory and textures", "surface_cubemap", "cubemap surface", &T::surface_cubemap},
    {"memory and textures", "surface_cubemap_layered", "cubemap layered surface: width, layers", &T::surface_cubemap_layered},

    {"features", "integrated", "shares the host's memory", &D::integrated},
    {"features", "ecc", "error correction is on", &D::ecc},
    {"features", "tcc", "TCC driver", &D::tcc},
    {"features", "can_map_host_memory", "maps host memory", &D::can_map_host_memory},
    {"features", "unified_addressing", "one address space with the host", &D::unified_addressing},
    {"features", "managed_memory", "managed memory", &D::managed_memory},
    {"features", "concurrent_managed_access", "host and device use managed memory at once", &D::concurrent_managed_access},
    {"features", "pageable_memory_access", "reads any host memory", &D::pageable_memory_access},
    {"features", "pageable_memory_access_uses_host_page_tables", "through the host's page tables",
     &D::pageable_memory_access_uses_host_page_tables},
    {"features", "direct_managed_memory_access_from_host", "host reads managed memory in place",
     &D::direct_managed_memory_access_from_host},
    {"features", "host_native_atomics", "atomics over the host link", &D::host_native_atomics},
    {"features", "host_register", "cudaHostRegister", &D::host_register},
    {"features", "host_register_read_only", "read-only cudaHostRegister", &D::host_register_read_only},
    {"features", "can_use_host_pointer_for_registered", "registered memory keeps its host address",
     &D::can_use_host_pointer_for_registered},
    {"features", "can_flush_remote_writes", "flushes remote writes", &D::can_flush_remote_writes},
    {"features", "global_l1_cache", "L1 caches global memory", &D::global_l1_cache},
    {"features", "local_l1_cache", "L1 caches local memory", &D::local_l1_cache},
    {"features", "stream_priorities", "stream priorities", &D::stream_priorities},
    {"features", "compute_preemption", "compute preemption", &D::compute_preemption},
    {"features", "cooperative_launch", "cooperative launch", &D::cooperative_launch},
    {"features", "cluster_launch", "cluster launch", &D::cluster_launch},
    {"features", "memory_pools", "memory pools", &D::memory_pools},
    {"features", "memory_pool_handle_types", "handle types of memory pools (bit mask)", &D::memory_pool_handle_types},
    {"features", "host_memory_pools", "memory pools on the host", &D::host_memory_pools},
    {"features", "host_numa_memory_pools", "memory pools on a host NUMA node", &D::host_numa_memory_pools},
    {"features", "sparse_arrays", "sparse arrays", &D::sparse_arrays},
    {"features", "deferred_mapping_arrays", "arrays mapped later", &D::deferred_mapping_arrays},
    {"features", "timeline_semaphores", "timeline semaphores", &D::timeline_semaphores},
    {"features", "ipc_events", "events between processes", &D::ipc_events},
    {"features", "unified_function_pointers", "unified function pointers", &D::unified_function_pointers},
    {"features", "gpu_direct_rdma", "GPUDirect RDMA", &D::gpu_direct_rdma},
    {"features", "gpu_direct_rdma_flush_options", "GPUDirect RDMA flush options", &D::gpu_direct_rdma_flush_options},
    {"features", "gpu_direct_rdma_write_ordering", "GPUDirect RDMA write ordering", &D::gpu_direct_rdma_write_ordering},
    {"features", "memory_sync_domains", "memory synchronization domains", &D::memory_sync_domains},
    {"features", "dynamic_parallelism_depth", "depth of launches from kernels", &D::dynamic_parallelism_depth},
};

std::string text(int value) { return fmt::to_string(value); }
std::string text(uint64_t value) { return fmt::to_string(value); }
std::string text(bool value) { return value ? "yes" : "no"; }
std::string text(const std::string& value) { return value; }
std::string text(const std::vector<int>& value) { return fmt::format("{}", fmt::join(value, ", ")); }
std::string text(const std::vector<std::string>& value) { return fmt::format("{}", fmt::join(value, ", ")); }
std::string text(const std::optional<int>& value) { return value ? fmt::to_string(*value) : "?"; }
std::string text(const std::optional<uint32_t>& value) { return value ? fmt::format("0x{:08x}", *value) : "?"; }
std::string text(RegisterScope value) { return std::string(spelling(value)); }
std::string text(GlobalRule value) { return std::string(spelling(value)); }
std::string text(BankRule value) { return std::string(spelling(value)); }
template <size_t N>
std::string text(const std::array<int, N>& value) {
  return fmt::format("{}", fmt::join(value, " x "));
}

}  // namespace

std::span<const Field> fields() { return kFields; }

std::string_view spelling(RegisterScope scope) { return scope == RegisterScope::Block ? "block" : "warp"; }

std::string_view spelling(GlobalRule rule) {
  switch (rule) {
    case GlobalRule::HalfWarpStrict: return "half_warp_strict";
    case GlobalRule::HalfWarpSegments: return "half_warp_segments";
    case GlobalRule::Lines: return "lines";
    case GlobalRule::Segments: return "segments";
    case GlobalRule::Sectors: return "sectors";
  }
  return "";
}

std::string_view spelling(BankRule rule) {
  switch (rule) {
    case BankRule::HalfWarp16: return "half_warp_16";
    case BankRule::Banks32: return "banks_32";
    case BankRule::Banks32x8: return "banks_32x8";
    case BankRule::Phases32: return "phases_32";
  }
  return "";
}

std::string format_field(const Field& field, const Device& device) {
  return std::visit([&](auto member) { return text(value_of(device, member)); }, field.member);
}

}  // namespace warpbeam::model
