// One of sixteen of the L2's sets, followed through all launches and copies of a program: which sectors memory has to deliver
// and which it gets.
//
// Memory delivers 64 bytes at a time. A store brings what it writes; where it leaves holes in a sector, memory has to deliver
// that sector once the line must go (measured on an H100: writing each second word costs as much reading).
//
// Of the two parts of an A100's or H100's L2 a line is at home in one; the other one keeps a copy once its side has asked (H200: of what was read
// once before, a quarter is not where it is wanted, then an eighth, and a quarter of what was changed).
#pragma once
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "timing/trace.h"

namespace warpbeam::timing {

// As good as chance.
inline uint64_t scrambled(uint64_t number) {
  number = (number ^ number >> 31) * 0x9e3779b97f4a7c15;
  number = (number ^ number >> 29) * 0xbf58476d1ce4e5b9;
  return number ^ number >> 32;
}
inline uint8_t side_of_gpu(uint64_t number) { return scrambled(number) & 1; }

class SampledL2 {
 public:
  // `dirty_share`: of its lines, those that may wait to be written to memory.
  SampledL2(uint64_t bytes, uint64_t lines_per_sample, double dirty_share = 1);
  struct Visit {
    uint64_t line = 0;
    uint8_t sectors = 0;
    uint8_t bytes_of_sector = 32;  // of each that are touched
    Kind kind{};
    uint32_t block = 0;
    uint64_t moment = 0;  // those of blocks that run side by side are the same; 0: nobody's
    uint8_t side = 0;  // of the GPU, where the block runs
  };
  struct Outcome {
    uint32_t wanted = 0;  // sectors asked for that were not there
    uint32_t others = 0;  // that were there because of another block
    uint32_t late = 0;  // of these: that one asked for them at the same moment, so that memory has yet to deliver them
    uint32_t far = 0;  // that only the other side's part of L2 had
    uint32_t read = 0;  // sectors that memory delivered
    uint32_t holes = 0;  // of these: to fill sectors that stores left holes in
    uint32_t written = 0;  // sectors that memory got
    uint32_t bursts = 0;  // of 64 bytes, in which memory moved all that; of sectors, where there is no L2
    uint32_t alone = 0;  // of these: far from what it moved lately, or by themselves
  };
  Outcome visit(const Visit& v);
  bool has(uint64_t line) const;
  // What comes from the host waits here to be written, and is read from memory (H200: 28 MB of a copy of 67 MB are written
  // while the next kernel runs, which finds none of it).
  void from_host(uint64_t line);

 private:
  static constexpr uint32_t kWays = 16;
  struct Way {
    uint64_t line = ~uint64_t{0};
    uint64_t came = 0;  // the moment when memory was asked for it last
    uint32_t used = 0;  // when it was asked for last
    uint32_t block = 0;  // by this one
    uint8_t valid = 0, dirty = 0;
    uint8_t sides = 0;  // that have it: where it is at home, and who asked for it since it was changed
    uint8_t filled[4]{};  // bytes of sectors that are dirty and not valid
  };
  Way* find(uint64_t line, bool& there);
  Way* set(uint64_t line) { return &ways_[uint64_t{set_of(line)} * kWays]; }
  void write_back(Way& way, Outcome& out);
  void move(uint64_t line, std::initializer_list<uint8_t> ways, Outcome& out);
  bool neighbours_moved(uint64_t line);
  uint32_t set_of(uint64_t line) const;
  const uint64_t lines_per_sample_;
  const uint32_t most_dirty_;  // ways of a set
  uint32_t sets_;
  uint32_t now_ = 0;
  std::vector<Way> ways_;
  // Groups of lines of which memory moved some; room for those of all blocks that run at a time.
  struct Moved {
    uint64_t group = ~uint64_t{0}, when = 0;
  };
  std::vector<Moved> lately_ = std::vector<Moved>(size_t{1} << 16);
  uint64_t moved_ = 0;
};

}  // namespace warpbeam::timing
