// Pages of the process that tell whether somebody has touched them. They lie in shared memory, of which a process can let its
// pages go and gets them back with what was in them: whatever is there again has been touched since, by a program, a system call or us.
#pragma once
#include <cstdint>
#include <vector>

namespace warpbeam::observe {

class TouchedPages {
 public:
  static constexpr uint64_t kPage = 4096;

  TouchedPages();
  ~TouchedPages();
  TouchedPages(const TouchedPages&) = delete;
  TouchedPages& operator=(const TouchedPages&) = delete;

  // Whether this system tells.
  bool can() const { return map_ >= 0; }
  // Puts such pages, which nobody has touched, behind a range of whole pages; what is in it is lost. False: they are what they were.
  // A read brings the pages around it too, those of 64 KiB.
  bool replace(uint64_t base, uint64_t bytes);
  void let_go(uint64_t base, uint64_t bytes);
  // Of each page.
  std::vector<bool> touched(uint64_t base, uint64_t bytes);
  // Whether any page of the process has come since this was asked last.
  bool any_came();
  // Nanoseconds that it takes on this machine until one is there again.
  double cost() const { return cost_ < 0 ? kUsualCost : cost_; }

 private:
  static constexpr double kUsualCost = 500;
  int map_ = -1;      // a file
  double cost_ = -1;  // unknown
  long came_ = -1;
};

}  // namespace warpbeam::observe
