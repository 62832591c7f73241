// What the checker remembers of memory: a Cell for each 4-byte word that was touched, and four of them for a word whose
// bytes are used one by one. 16 bytes a word: four times the memory that a program touches.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "observe/check/events.h"

namespace warpbeam::observe::check {

struct Cell {
  EventId write = 0;            // the last write; of a split word: where its byte cells are
  EventId read_a = 0, read_b = 0;  // the last reader since, and one of another warp (or the store before an atomic)
  uint8_t write_lane : 5 = 0;
  uint8_t split : 1 = 0;
  uint8_t a_many : 1 = 0;       // several lanes of the event read it
  uint8_t b_many : 1 = 0;
  uint8_t a_lane : 5 = 0;
  uint8_t two_warps : 1 = 0;    // the readers are of different warps: a third changes nothing
  uint8_t has_value : 1 = 0;    // init is not zero
  uint8_t spare : 1 = 0;
  uint8_t b_lane : 5 = 0;
  uint8_t host_note : 3 = 0;
  uint8_t init = 0;             // a bit per byte that has a value (of a byte cell: bit 0)
  void give_value(uint32_t bytes) { init = bytes & 0xf, has_value = init != 0; }
};  // as vm/watched_words.h has it
static_assert(sizeof(Cell) == 16);

// The cells of one range of memory. Pages of cells that nobody touches cost nothing.
class Shadow {
 public:
  Shadow() = default;
  explicit Shadow(uint64_t bytes);
  ~Shadow();
  Shadow(Shadow&& other) noexcept { *this = static_cast<Shadow&&>(other); }
  Shadow& operator=(Shadow&& other) noexcept;

  uint64_t bytes() const { return bytes_; }
  explicit operator bool() const { return cells_ != nullptr; }
  Cell& word(uint64_t offset) { return cells_[offset / 4]; }
  const Cell* words() const { return cells_; }

  // Calls f(Cell&, first byte's offset, bytes) for the cells that [offset, offset + bytes) covers, splitting words of which
  // only a part is asked for.
  template <class F>
  void each(uint64_t offset, uint32_t bytes, F&& f) {
    while (bytes) {
      Cell& w = word(offset);
      const uint32_t at = offset % 4, n = bytes < 4 - at ? bytes : 4 - at;
      if (n == 4 && !w.split) {
        f(w, offset, 4u);
      } else {
        Cell* parts = w.split ? &parts_[w.write] : split(w);
        for (uint32_t k = 0; k < n; ++k) f(parts[at + k], offset + k, 1u);
      }
      offset += n;
      bytes -= n;
    }
  }
  // Calls f(Cell&) for every cell of the word.
  template <class F>
  void peek(uint64_t offset, F&& f) {
    Cell& w = word(offset);
    if (!w.split) return f(w);
    for (uint32_t k = 0; k < 4; ++k) f(parts_[w.write + k]);
  }
  // Marks bytes as having a value, without splitting more than the ends.
  void initialise(uint64_t offset, uint64_t bytes);
  // What these bytes held is gone, and who used them.
  void forget(uint64_t offset, uint64_t bytes);
  // Every record is forgotten, and every value.
  void clear() { clear(bytes_); }
  void clear(uint64_t bytes);  // of the first bytes, and of every split word

 private:
  Cell* split(Cell& w);
  Cell* cells_ = nullptr;
  uint64_t bytes_ = 0;
  std::vector<Cell> parts_;
};

}  // namespace warpbeam::observe::check
