// A page of managed memory that the host and a device want in turn. Once it has moved several times, each soon after the one before, the driver
// lets one side have it for a while and makes the other wait, and where that has not helped the page stays with the host and is read over the link.
// (The rules are those of the open driver's uvm_perf_thrashing.c, which an H200 was seen to follow.)
#pragma once
#include <algorithm>
#include <cstdint>

namespace warpbeam::observe {

class PageTurns {
 public:
  static constexpr int8_t kHost = -1;  // devices have their numbers

  bool stays() const { return waits_ >= kMostWaits; }

  // Nanoseconds that a side waits which wants it now.
  double wait(int8_t side, double now) {
    if (moves_ < kMoves || stays()) return 0;
    // The same side is not favoured twice.
    if (now > until_) favoured_ = favoured_ == side ? kNobody : side, until_ = now + kSoon;
    if (favoured_ == side) return 0;
    const double left = until_ - now;
    ++waits_;
    favoured_ = side, until_ += kSoon;  // then it is its turn
    return left;
  }

  void moved(double now) {
    const bool soon = moved_ > 0 && now - moved_ <= kSoon;
    if (!soon && moves_ >= kMoves) {
      moves_ = 0, moved_ = 0;
      return;
    }
    moves_ = static_cast<int8_t>(std::min(moves_ + soon, kMoves));
    moved_ = now;
  }

 private:
  static constexpr double kSoon = 500e3;
  static constexpr int kMoves = 3, kMostWaits = 10;
  static constexpr int8_t kNobody = -2;

  double moved_ = 0, until_ = 0;  // when it did last, and until when one side is favoured
  int8_t moves_ = 0, waits_ = 0, favoured_ = kNobody;
};

}  // namespace warpbeam::observe
