// Memory that is not a device's own: pinned memory of the host, which kernels read and write over the link, and managed
// memory, whose pages go where they are touched.
//
// Which pages a kernel touches is known from the lines that the predictor samples. Which the host touches, the system tells
// (touched_pages.h) when it is asked: what a kernel has used is let go once the host may look at it, and what is there again later has been touched.
// That is asked when the program enters the runtime or looks at a clock, as nobody can know before what it took. In which order pages were touched
// is not told: by their addresses. Which side wrote is not told either, but for words by which kernels tell the host of something: what
// is in small allocations is compared.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "model/device.h"
#include "model/link.h"
#include "observe/clock/page_turns.h"
#include "observe/clock/touched_pages.h"
#include "observe/profiler/tracer.h"
#include "vm/memory.h"

namespace warpbeam::observe {

// What a kernel moved over the link.
struct LinkUse {
  double read = 0, written = 0;  // bytes, directly
  double migrated = 0;  // bytes of pages that came because they were touched
  double populated = 0;  // bytes of pages that nobody had touched before
  // Faults, one after the other, each of what one block lacks: with pages that were elsewhere, and of fresh ones alone.
  double steps = 0, first_steps = 0;
  double pieces = 0;  // apart from each other, that came by one fault
  bool dense = false;  // many warps wanted the pages
  double made = 0;  // allocations of which a device has had nothing before
  double mapped = 0;  // bytes that stay with the host, which a kernel has touched first
  double waited = 0;  // nanoseconds, for pages that the other side was to have for a while
  // What the kernel takes then; `of_kernel` knows how long its loads wait, not how many bytes the link can move.
  double nanoseconds(const model::Link& link, double of_kernel, bool faults) const;
};

// What the host has touched that was not there.
struct HostTouches {
  double faults = 0, migrated = 0;  // migrated: bytes
  double made = 0;  // allocations of which nobody had touched anything
  double blocks = 0;  // the same, blocks that small allocations share
  double fresh = 0;  // pages that nobody had touched before
  double together = 0;  // the same, that came with others
  double waited = 0;  // nanoseconds, as a kernel does
  double ours = 0;  // faults that it took here
  std::set<uint64_t> read_of;  // launches whose results the host has looked at
  double nanoseconds(const model::Link& link) const;
};

// What a prefetch has to do, in bytes.
struct Prefetch {
  double moved = 0;  // that were elsewhere
  double first = 0;  // of these, that no device has had before
  double fresh = 0;  // that nobody has touched
  double there = 0;
  // Of the host, which asks for it, and of the stream.
  double call(const model::Link& link, bool to_device) const;
  double nanoseconds(const model::Link& link, bool to_device) const;
};

class FarMemory {
 public:
  explicit FarMemory(const model::Device& device);
  void allocated(const vm::Allocation& allocation);
  // A __managed__ variable. Nobody tells when the host touches it: it is taken to look at what a kernel has written there once it has waited.
  void variable(const vm::Allocation& allocation);
  double freed(uint64_t base);  // bytes of managed memory that somebody had touched
  bool any() const { return !ranges_.empty(); }
  bool any_managed() const;
  bool watches() const { return watches_; }

  void before_launch(uint64_t operation);
  // `visits`: null: nobody knows.
  LinkUse after_launch(uint64_t operation, const Visits* visits, int device, double now);
  // All pages there are wanted on a device, or (-1) with the host.
  Prefetch prefetch(uint64_t base, uint64_t bytes, int device);
  // A copy or a fill by the device uses what is there: the pages come as if a kernel touched them.
  std::optional<LinkUse> copied(uint64_t base, uint64_t bytes, int device, double now);  // nothing: it is no managed memory
  // Bytes that have to be mapped anew, or copied.
  double advise(uint64_t base, uint64_t bytes, int advice, int device);
  // We have read or written something there.
  void used(uint64_t base);

  // The host may have touched pages that are elsewhere.
  bool may_be_touched() { return watches_ && (pages_.any_came() || looks_); }
  // `calls`: it enters the runtime, and has looked at variables before.
  HostTouches touches_of_host(const model::Link& link, double now, bool calls);
  // From here on the host may touch what devices have.
  void let_host_touch();
  // Nanoseconds that bringing a page back takes on this machine.
  double cost_here() const { return pages_.cost(); }

 private:
  static constexpr uint64_t kPage = Visits::kPage, kPart = TouchedPages::kPage;
  static constexpr uint64_t kSmall = 16 << 10;  // bytes of an allocation that is compared
  using Parts = uint16_t;  // of a page, a bit each
  struct Page {
    Parts here = 0, with_host = 0;  // on a device; that the host has; neither: nobody has touched it
    int8_t device = 0;
    bool touched = false;  // by the launch under way
    bool written = false;  // by that
    bool known = false;  // to a device: it has had it
    uint8_t lines = 0;  // of the sampled ones, that the launch under way has touched
    PageTurns turns;
  };
  struct Range {
    uint64_t base = 0, end = 0;
    bool managed = false;
    bool watched = false;  // its pages tell
    bool stays = false;  // with the host, and is read over the link
    bool shared = false;  // both sides have copies of what is only read
    bool open = false;  // we have touched it since the pages that the host has not were let go
    bool known = false;  // to a device: it has had pages of it
    bool variable = false;
    bool written = false, looked_at = false;  // a variable: by a kernel, and then by the host
    uint64_t shares = 0;  // of those that share a block of 2 MiB: which one
    uint64_t shares_page = 0;  // of those that share a page: which one
    std::vector<Page> pages;
    std::vector<BlockTurns> blocks;
    uint64_t launch = 0;  // that wrote what is in it, of small ones
    std::map<uint64_t, std::vector<char>> before;  // by launch
    bool small() const { return end - base <= kSmall; }
  };
  Range* find(uint64_t address);
  static Parts all_of(const Range& range, size_t page);
  static void give(Range& range, size_t page, int device);
  static bool is_here(const Range& range, size_t page, int device);
  void arrive(Range& range, int device, double now, LinkUse& use) const;
  void let_go(Range& range);
  void place_small(Range& range);
  void share_page(Range& range, uint64_t page);
  void take_along(const Range& range);
  void mark_touched(uint64_t page);
  void compare(Range& range, uint64_t operation);
  void bring(Range& range, const std::vector<bool>& touched, const model::Link& link, double now, HostTouches& touches);

  const bool faults_;  // the device can take them
  TouchedPages pages_;
  bool watches_ = false;
  bool looks_ = false;  // the host, at some variable
  uint64_t small_ = 0;  // bytes of allocations that share blocks, so far
  uint64_t small_ranges_ = 0;  // that there are of these
  std::set<uint64_t> begun_;  // blocks of which somebody has touched something
  std::map<uint64_t, Range> ranges_;
  std::unordered_map<uint64_t, std::vector<uint64_t>> on_page_;  // by page that several share: where these begin
};

}  // namespace warpbeam::observe
