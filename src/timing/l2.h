// One of sixteen of the L2's sets, followed through all launches and copies of a program: which sectors memory has to deliver
// and which it gets.
//
// Memory delivers 64 bytes at a time. A store brings what it writes; where it leaves holes in a sector, memory has to deliver
// that sector once the line must go (measured on an H100: writing each second word costs as much reading).
#pragma once
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "timing/trace.h"

namespace warpbeam::timing {

class SampledL2 {
 public:
  SampledL2(uint64_t bytes, uint64_t lines_per_sample);
  struct Visit {
    uint64_t line = 0;
    uint8_t sectors = 0;
    uint8_t bytes_of_sector = 32;  // of each that are touched
    Kind kind{};
  };
  struct Outcome {
    uint32_t wanted = 0;   // sectors asked for that were not there
    uint32_t read = 0;     // sectors that memory delivered
    uint32_t holes = 0;    // of these: to fill sectors that stores left holes in
    uint32_t written = 0;  // sectors that memory got
    uint32_t bursts = 0;   // of 64 bytes, in which memory moved all that; of sectors, where there is no L2
    uint32_t alone = 0;    // of these: far from what it moved lately, or by themselves
  };
  Outcome visit(const Visit& v);
  bool has(uint64_t line) const;
  // The host writes to memory past the cache.
  void forget(uint64_t line);

 private:
  static constexpr uint32_t kWays = 16;
  struct Way {
    uint64_t line = ~uint64_t{0};
    uint32_t used = 0;       // when it was asked for last
    uint8_t valid = 0, dirty = 0;
    uint8_t filled[4]{};  // bytes of sectors that are dirty and not valid
  };
  Way* find(uint64_t line, bool& there);
  void move(uint64_t line, std::initializer_list<uint8_t> ways, Outcome& out);
  bool neighbours_moved(uint64_t line);
  uint32_t set_of(uint64_t line) const;
  const uint64_t lines_per_sample_;
  uint32_t sets_;
  uint32_t now_ = 0, chance_ = 0;
  std::vector<Way> ways_;
  // Groups of lines of which memory moved some; room for those of all blocks that run at a time.
  struct Moved {
    uint64_t group = ~uint64_t{0}, when = 0;
  };
  std::vector<Moved> lately_ = std::vector<Moved>(size_t{1} << 16);
  uint64_t moved_ = 0;
};

}  // namespace warpbeam::timing
