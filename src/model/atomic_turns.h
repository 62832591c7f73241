// How a GPU of compute capability 9.0 takes an atomic operation of a warp on global memory apart into turns.
//
// Measured on an H100 and an H200, with single warps at 11,000 sets of places, most of them at random. The rule gives every
// number of sectors and of turns (l1tex__t_output_wavefronts) of additions, exchanges, minima, reductions and
// compare-and-swaps of 4, 8 and 16 bytes.
//
// The tags of lines lie in four banks. A turn takes one line from each bank - that of the first lane that wants one - and of
// every place in a bank's line the first lane that wants it. A place is told by its bank and its offset in the line alone:
// a lane behind another that wants the same place of another line in the bank waits, although its own line's turn it is. So
// lanes of one sector may be served by several turns, each of which moves the sector. A compare-and-swap, which brings two
// values, has half a line of each bank in a turn.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace warpbeam::model {

// The bank of a line's tag: two sums over bits of the address, of which 7 to 34 were measured.
inline uint32_t tag_bank(uint64_t address) {
  constexpr uint64_t kLow = 0x2f7bd5a80, kHigh = 0x75d6aed00;
  return static_cast<uint32_t>((std::popcount(address & kLow) & 1) | (std::popcount(address & kHigh) & 1) << 1);
}

class AtomicTurns {
 public:
  struct Turn {
    uint32_t lanes = 0;  // that are served
    int sectors = 0;     // that are moved
  };

  AtomicTurns(const std::array<uint64_t, 32>& address, uint32_t lanes, bool compares)
      : address_(address), waiting_(lanes), shift_(piece_shift(compares)) {
    for (uint32_t left = lanes; left; left &= left - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(left));
      place_[lane] = static_cast<uint16_t>(tag_bank(address[lane]) << 7 | (address[lane] & 127));
    }
  }

  // Each bank has one piece of 2^shift bytes in a turn.
  static int piece_shift(bool compares) { return compares ? 6 : 7; }

  bool done() const { return !waiting_; }

  Turn next() {
    Turn turn;
    uint64_t wanted[8] = {};  // a bit for each place
    uint64_t piece[4] = {};
    uint32_t banks = 0, sectors = 0;
    for (uint32_t left = waiting_; left; left &= left - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(left));
      const uint32_t place = place_[lane], bank = place >> 7;
      const uint64_t bit = uint64_t{1} << (place & 63);
      if (wanted[place >> 6] & bit) continue;
      wanted[place >> 6] |= bit;
      if (!(banks >> bank & 1)) {
        banks |= 1u << bank;
        piece[bank] = address_[lane] >> shift_;
      } else if (piece[bank] != address_[lane] >> shift_) {
        continue;
      }
      turn.lanes |= left & -left;
      sectors |= 1u << (place >> 5);
    }
    waiting_ &= ~turn.lanes;
    turn.sectors = std::popcount(sectors);
    return turn;
  }

 private:
  const std::array<uint64_t, 32>& address_;
  uint32_t waiting_;
  int shift_;
  std::array<uint16_t, 32> place_;
};

}  // namespace warpbeam::model
