// Memory that is not a device's own: pinned memory of the host, which kernels read and write over the link, and managed
// memory, whose pages go where they are touched.
//
// Which pages a kernel touches is known from the lines that the predictor samples. Which the host has touched is not told by
// anybody: a page that nobody but the host can have written to is the host's - one that has become part of the process since
// it was allocated, or whose words have changed since a kernel used it. That the host has only read a page stays unseen.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "model/device.h"
#include "model/link.h"
#include "observe/profiler/tracer.h"
#include "vm/memory.h"

namespace warpbeam::observe {

// What a kernel moved over the link.
struct LinkUse {
  double read = 0, written = 0;  // bytes, directly
  double migrated = 0;           // bytes of pages that came because they were touched
  double populated = 0;          // bytes of pages that nobody had touched before
  // What the kernel takes then, of whose warps so many are on the device at once.
  double nanoseconds(const model::Link& link, double of_kernel, double warps, bool faults) const;
};

class FarMemory {
 public:
  explicit FarMemory(const model::Device& device);
  void allocated(const vm::Allocation& allocation);
  void freed(uint64_t base);
  bool any() const { return !ranges_.empty(); }

  void before_launch();
  LinkUse after_launch(const Visits& visits, int device);
  // Bytes that have to move when all pages there are wanted on a device, or (-1) with the host.
  double prefetch(uint64_t base, uint64_t bytes, int device);
  // A copy, a fill or a library has written there.
  void placed(uint64_t base, uint64_t bytes, int device);
  void advise(uint64_t base, uint64_t bytes, int advice, int device);

 private:
  static constexpr uint64_t kPage = 64 << 10;
  static constexpr int8_t kNowhere = -2, kHost = -1;
  struct Page {
    int8_t where = kNowhere;
    bool known = false;    // what was in it, when it was the host's or a kernel's last
    bool touched = false;  // by the launch under way
    uint64_t words = 0;
  };
  struct Range {
    uint64_t end = 0;
    bool managed = false;
    bool stays = false;   // with the host, and is read over the link
    std::vector<Page> pages;
  };
  Range* find(uint64_t address, uint64_t* base);
  static uint64_t words_of(uint64_t page);
  void look(uint64_t base, Range& range);
  static std::vector<bool> present(uint64_t base, const Range& range);

  const bool faults_;  // the device can take them
  std::map<uint64_t, Range> ranges_;
};

}  // namespace warpbeam::observe
