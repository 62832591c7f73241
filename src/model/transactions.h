// What the memory system makes of one warp's access: global memory transactions and shared-memory passes, by the rules
// of each generation. Pure functions of the addresses; caches' contents do not matter here.
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "model/device.h"

namespace warpbeam::model {

// One instruction of one warp. Addresses are byte addresses (global) or byte offsets into the block's shared memory,
// naturally aligned; those of inactive lanes are not looked at.
struct WarpAccess {
  std::array<uint64_t, 32> address{};
  uint32_t active = 0xffffffffu;
  int bytes_per_lane = 4;  // 1, 2, 4, 8, 16 (32 for global memory on the devices that have it)
  bool store = false;
  bool compares = false;  // compare-and-swap
  bool rows = false;      // of tiles (ldmatrix): phases stay apart
};

// Which cache a global load asks for.
enum class LoadPath : uint8_t {
  Default,   // what the device does with a plain ld.global
  L1,        // ld.global.ca, -dlcm=ca
  L2,        // ld.global.cg, -dlcm=cg
  ReadOnly,  // ld.global.nc
};

struct Segment {
  uint64_t address;
  int bytes;  // 32, 64 or 128
  bool operator==(const Segment&) const = default;
};

struct GlobalTraffic {
  int requests = 0;                 // parts the instruction is split into before addresses are looked at
  int lines = 0;                    // distinct 128-byte lines: tag look-ups
  int sectors = 0;                  // 32-byte pieces moved
  int bytes_requested = 0;          // what the active lanes asked for
  int segment_count = 0;            // transactions
  std::array<Segment, 64> segment;  // the first segment_count of them

  std::span<const Segment> segments() const { return {segment.data(), static_cast<size_t>(segment_count)}; }
  int bytes_moved() const { return 32 * sectors; }
};

GlobalTraffic global_traffic(GlobalRule rule, const WarpAccess& access, LoadPath path = LoadPath::Default);

// An atomic operation on global memory. Lanes that share an address take turns, and so do lanes whose lines' tags meet in a
// bank (atomic_turns.h); each turn moves its sectors again.
GlobalTraffic global_atomic_traffic(GlobalRule rule, const WarpAccess& access);

// Bytes that at least one lane wants.
int distinct_bytes(const WarpAccess& access);

// The fewest sectors that as many bytes as the lanes want can lie in, if they lie side by side; no more than were moved.
inline int ideal_sectors(const GlobalTraffic& traffic) {
  const int packed = (traffic.bytes_requested + 31) / 32;
  return packed < traffic.sectors ? packed : traffic.sectors;
}

// Word size of Kepler's banks (cudaDeviceSetSharedMemConfig); other devices have one size.
enum class BankMode : uint8_t { FourBytes, EightBytes };

struct SharedTraffic {
  int wavefronts = 0;  // passes over the banks
  int ideal = 0;       // passes had no two words met in a bank
  int conflicts() const { return wavefronts - ideal; }
};

// `merges_phases`: loads of 8 and 16 bytes may share a phase (7.0 and later), see merges_load_phases.
SharedTraffic shared_traffic(BankRule rule, const WarpAccess& access, BankMode mode = BankMode::FourBytes, bool merges_phases = false);

// How a GPU executes an atomic operation on shared memory.
enum class SharedAtomic : uint8_t {
  Plain,
  Increment,    // adds the constant 1 and drops the result: lanes that want one word are counted together
  CompareSwap,  // two wavefronts for each turn
};

// Measured on an H200 (tests/profile); words of 8 bytes, which go by half-warps, on an H100. `ideal` is that of lanes that
// meet in no bank.
SharedTraffic shared_atomic_traffic(BankRule rule, const WarpAccess& access, SharedAtomic form);

// cp.async that L1 keeps, as measured on an H100: lanes take turns at the banks that they read in L1 and at those that they
// write, whichever takes more; one word for two lanes is two turns.
SharedTraffic shared_copy_traffic(const WarpAccess& from, const WarpAccess& to);

inline bool merges_load_phases(const Device& device) { return device.major >= 7; }

inline GlobalTraffic global_traffic(const Device& device, const WarpAccess& access, LoadPath path = LoadPath::Default) {
  return global_traffic(device.global_rule, access, path);
}
inline SharedTraffic shared_traffic(const Device& device, const WarpAccess& access, BankMode mode = BankMode::FourBytes) {
  return shared_traffic(device.bank_rule, access, mode, merges_load_phases(device));
}

// The memory partition of an address on devices whose partitions take turns every 256 bytes ("partition camping");
// 0 on the others.
inline int memory_partition(const Device& device, uint64_t address) {
  return device.memory_partitions ? static_cast<int>(address / 256 % device.memory_partitions) : 0;
}

}  // namespace warpbeam::model
