// A page of managed memory that the host and a device want in turn. Once it has moved several times, each soon after the one before, the driver
// lets one side have it for a while and makes the other wait, and where that has not helped the page stays with the host and is read over the link.
// (The rules are those of the open driver's uvm_perf_thrashing.c, which an H200 was seen to follow.)
#pragma once
#include <algorithm>
#include <cstdint>

namespace warpbeam::observe {

constexpr double kSoonAgain = 500e3;  // nanoseconds: what moves again within that is wanted by two

// A block of 2 MiB: its pages are only watched once both sides have wanted some of them, one soon after the other.
class BlockTurns {
 public:
  bool watches(int8_t side, double now) {
    watches_ = watches_ || (moved_ > 0 && side != side_ && now - moved_ <= kSoonAgain);
    moved_ = now, side_ = side;
    return watches_;
  }

 private:
  double moved_ = 0;
  int8_t side_ = 0;
  bool watches_ = false;
};

class PageTurns {
 public:
  static constexpr int8_t kHost = -1;  // devices have their numbers

  bool stays() const { return waits_ >= kMostWaits; }

  // Nanoseconds that a side waits which wants it now.
  double wait(int8_t side, double now) {
    if (moves_ < kMoves || stays()) return 0;
    // The same side is not favoured twice.
    if (now > until_) favoured_ = favoured_ == side ? kNobody : side, until_ = now + kSoonAgain;
    if (favoured_ == side) return 0;
    const double left = until_ - now;
    ++waits_;
    favoured_ = side, until_ += kSoonAgain;  // then it is its turn
    return left;
  }

  void moved(double now) {
    const bool soon = moved_ > 0 && now - moved_ <= kSoonAgain;
    if (!soon && moves_ >= kMoves) {
      moves_ = 0, moved_ = 0;
      return;
    }
    moves_ = static_cast<int8_t>(std::min(moves_ + soon, kMoves));
    moved_ = now;
  }

 private:
  static constexpr int kMoves = 3, kMostWaits = 10;
  static constexpr int8_t kNobody = -2;

  double moved_ = 0, until_ = 0;  // when it did last, and until when one side is favoured
  int8_t moves_ = 0, waits_ = 0, favoured_ = kNobody;
};

}  // namespace warpbeam::observe
