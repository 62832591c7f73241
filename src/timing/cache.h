// A cache of lines of 128 bytes in four sectors, least recently used first out, in sets.
#pragma once
#include <cstdint>
#include <vector>

namespace warpbeam::timing {

class Cache {
 public:
  static constexpr uint32_t kWays = 16;
  explicit Cache(uint64_t lines);

  struct Outcome {
    uint8_t hit = 0;        // sectors that were there
    uint8_t written_back = 0;  // sectors of the line that had to go which memory did not have yet
  };
  // Wants sectors of a line; what is not there comes in. Those that are `dirty` differ from memory from now on.
  Outcome access(uint64_t line, uint8_t sectors, uint8_t dirty = 0);
  // Sectors are stored to, all of their bytes if `whole`: what was there keeps up with it, and a line that was not gets a place.
  // Gives the sectors that a load or a store had brought before.
  uint8_t store(uint64_t line, uint8_t sectors, bool whole);
  // Sectors that are no longer what others have.
  void forget(uint64_t line, uint8_t sectors);
  void forget_all() { forgotten_ = now_; }
  uint64_t lines() const { return uint64_t{sets_} * kWays; }

 private:
  struct Way {
    uint64_t line = ~uint64_t{0};
    uint32_t used = 0;
    uint8_t valid = 0, dirty = 0;
    uint8_t stored = 0;  // sectors parts of which were stored to
  };
  uint32_t set_of(uint64_t line) const;
  // The line's way, or the one that has to go for it.
  Way& way_of(uint64_t line);
  uint32_t sets_;
  uint32_t now_ = 0, forgotten_ = 0;
  std::vector<Way> ways_;
};

}  // namespace warpbeam::timing
