#include "observe/clock/far_memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace warpbeam::observe {

namespace {

constexpr uint64_t kLine = 128, kSector = 32;
using model::kMiB;
constexpr double kHostPage = 4096;
constexpr int kFirstWithFaults = 60;   // compute capability
constexpr double kWorthBringing = 0.51;  // of a part of a block that a side has, for the rest to come too
constexpr uint64_t kBlock = 2 << 20;       // within which it does; smaller allocations share one
constexpr uint64_t kGrain = 512;           // of those
constexpr uint64_t kVariables = uint64_t{1} << 60;  // numbers of their blocks and pages begin here
constexpr uint64_t kPagesOfBlock = kBlock / Visits::kPage;
constexpr uint8_t kDense = 4;              // sampled lines of a page, of 32: its words are asked for by many warps
constexpr double kFewWords = 0.7;          // of what a kernel waits for its faults, where it wants words of one place
constexpr double kMoreFaults = 2;          // of a page that many warps want
constexpr double kTogether = 0.5;          // of what a fresh page takes the host, where it comes with others
// Nanoseconds; an H200. Of a prefetch: of what is in its place, for each MiB; of what no device has had before; of fresh pages that go to the host.
constexpr double kThere = 2000, kUnknownToDevice = 90e3, kFreshForHost = 300e3;
constexpr double kEndOfOtherWay = 12e3, kOfOtherWay = 0.22;  // nanoseconds, and a share, of the way over the link that a kernel uses less
constexpr double kTakeBack = 13e3;  // nanoseconds, of a page of 4 KiB that is written to while both sides have copies
constexpr double kLeastRead = 76;  // bytes of the link that a read of a line takes, at least
constexpr double kMapping = 2.2;  // bytes in a nanosecond, of what stays with the host, when a kernel touches it first
constexpr double kMadeByPrefetch = 220;  // bytes in a nanosecond
constexpr double kCallsWork = 32 << 20;  // bytes of these from which on the call does some of the work
constexpr double kOfHost = 0.17, kOfAccess = 0.42;  // of what kMostlyRead takes: kPreferredLocation with the host, kAccessedBy
constexpr int kMostlyRead = 1, kNotMostlyRead = 2, kPreferredLocation = 3, kNoPreferredLocation = 4, kAccessedBy = 5,
              kNotAccessedBy = 6;  // cudaMemoryAdvise

}  // namespace

double LinkUse::nanoseconds(const model::Link& link, double of_kernel, bool faults) const {
  const double latency = read > 0 ? link.zero_copy_latency : 0;
  const double reading = read / link.zero_copy_read, writing = written / link.zero_copy_write;
  const double less = std::min(reading, writing), more = std::max(reading, writing);
  // What goes the other way is hidden but for its end and a part of it.
  const double apart = less > 0 ? std::min(less, kEndOfOtherWay + kOfOtherWay * less * less / more) : 0;
  double all = std::max(of_kernel, more > 0 ? more + apart + latency : 0);
  if (!faults) return all + migrated / link.pinned_to_device;  // pages come before the kernel begins
  all += mapped / kMapping;
  if (migrated > 0) all += (dense || pieces > 1 ? 1 : kFewWords) * link.managed_fault + made * link.managed_new;
  else if (populated > 0) all += link.managed_first_fault;
  all += steps * link.managed_step + pieces * link.managed_piece + migrated / link.managed_migrate;
  all += first_steps * link.managed_first_step + populated / link.managed_populate;
  return all + waited;
}

double HostTouches::nanoseconds(const model::Link& link) const {
  return (faults > 0 ? link.managed_host_begin : 0) + faults * link.managed_host_fault + migrated / link.managed_to_host +
         (fresh + kTogether * together) * link.managed_host_first + made * link.managed_host_new + blocks * link.managed_host_block +
         waited;
}

double Prefetch::call(const model::Link& link, bool to_device) const {
  return link.prefetch_call + (to_device && first > kCallsWork ? first / kMiB * link.prefetch_mib : 0);
}

double Prefetch::nanoseconds(const model::Link& link, bool to_device) const {
  const double all = link.prefetch_start + there / kMiB * kThere;
  const double made = fresh > 0 ? kFreshForHost + kTogether * fresh / kHostPage * link.managed_host_first : 0;
  if (!to_device) return all + moved / link.prefetch_to_host + made;
  return all + (first > 0 ? kUnknownToDevice : 0) + moved / (link.pinned_to_device * link.prefetch_share) + fresh / kMadeByPrefetch;
}

FarMemory::FarMemory(const model::Device& device) : faults_(device.cc() >= kFirstWithFaults) {}

void FarMemory::allocated(const vm::Allocation& allocation) {
  const bool managed = allocation.kind == vm::MemoryKind::Managed, pinned = allocation.kind == vm::MemoryKind::Pinned;
  if (!managed && !pinned && allocation.kind != vm::MemoryKind::Registered) return;
  Range range;
  range.base = allocation.base;
  range.end = allocation.base + allocation.size;
  range.managed = managed;
  range.pages.resize(managed ? (allocation.size + kPage - 1) / kPage : 0);
  range.blocks.resize((range.pages.size() + kPagesOfBlock - 1) / kPagesOfBlock);
  if (managed && allocation.size < kBlock) place_small(range);
  if (!allocation.adopted && (managed || (pinned && range.small())))
    range.watched = pages_.replace(allocation.base, (allocation.size + kPart - 1) / kPart * kPart);
  watches_ = watches_ || range.watched;
  ranges_[allocation.base] = std::move(range);
}

void FarMemory::variable(const vm::Allocation& allocation) {
  if (ranges_.contains(allocation.base)) return;
  Range& range = ranges_[allocation.base];
  range.base = allocation.base, range.end = allocation.base + allocation.size;
  range.managed = range.variable = true;
  range.pages.resize((allocation.size + kPage - 1) / kPage);
  range.blocks.resize((range.pages.size() + kPagesOfBlock - 1) / kPagesOfBlock);
  // They lie side by side, and the program's begin has written them.
  range.shares = kVariables + range.base / kBlock;
  if (allocation.size < kPage) share_page(range, kVariables + range.base / kPage);
  for (size_t k = 0; k < range.pages.size(); ++k) range.pages[k].with_host = all_of(range, k);
  watches_ = true;
}

// Small ones lie one behind the other; what is less than a page shares it with others. When all are freed so are their blocks.
void FarMemory::place_small(Range& range) {
  const auto go_on_to = [&](uint64_t grain) { small_ = (small_ + grain - 1) / grain * grain; };
  const uint64_t size = range.end - range.base, bytes = (size + kGrain - 1) / kGrain * kGrain;
  if (small_ranges_++ == 0) go_on_to(kBlock);
  if (small_ % kPage + bytes > kPage) go_on_to(kPage);
  if (small_ % kBlock + bytes > kBlock) go_on_to(kBlock);
  range.shares = 1 + small_ / kBlock;
  if (size < kPage) share_page(range, 1 + small_ / kPage);
  small_ += bytes;
}

void FarMemory::share_page(Range& range, uint64_t page) {
  range.shares_page = page;
  on_page_[page].push_back(range.base);
}

// What shares its page goes where it is.
void FarMemory::take_along(const Range& range) {
  if (!range.shares_page) return;
  const Page& page = range.pages.front();
  for (uint64_t base : on_page_[range.shares_page]) {
    const auto found = ranges_.find(base);
    if (found == ranges_.end() || found->second.shares_page != range.shares_page) continue;
    Range& other = found->second;
    if (&other == &range || other.stays || other.shared) continue;
    Page& too = other.pages.front();
    if (!too.here && !too.with_host) continue;  // nobody has touched it
    give(other, 0, page.here ? page.device : -1);
    other.open = other.open || (page.here && other.watched);
  }
}

double FarMemory::freed(uint64_t base) {
  const auto found = ranges_.find(base);
  if (found == ranges_.end()) return 0;
  double parts = 0;
  for (const Page& page : found->second.pages) parts += std::popcount(Parts(page.here | page.with_host));
  const Range& range = found->second;
  if (range.shares && !range.variable) --small_ranges_;
  if (range.shares_page)
    if (auto& on_page = on_page_[range.shares_page]; std::erase(on_page, base) && on_page.empty()) on_page_.erase(range.shares_page);
  ranges_.erase(found);
  return parts * kPart;
}

FarMemory::Range* FarMemory::find(uint64_t address) {
  auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) return nullptr;
  --after;
  return address < after->second.end ? &after->second : nullptr;
}

FarMemory::Parts FarMemory::all_of(const Range& range, size_t page) {
  const uint64_t left = (range.end - range.base + kPart - 1) / kPart - page * (kPage / kPart);
  return left >= kPage / kPart ? Parts(~0) : Parts((1u << left) - 1);
}

bool FarMemory::any_managed() const {
  return std::ranges::any_of(ranges_, [](const auto& each) { return each.second.managed; });
}

bool FarMemory::is_here(const Range& range, size_t page, int device) {
  return range.pages[page].here == all_of(range, page) && range.pages[page].device == device;
}

void FarMemory::give(Range& range, size_t page, int device) {
  Page& p = range.pages[page];
  p.known |= device >= 0;
  p.here = device < 0 ? 0 : all_of(range, page);
  p.with_host = device < 0 ? all_of(range, page) : 0;
  p.device = static_cast<int8_t>(std::max(0, device));
}

// --- the host

void FarMemory::let_go(Range& range) {
  range.open = false;
  if (!range.watched) return;
  if (!range.managed) return pages_.let_go(range.base, range.end - range.base);
  const uint64_t parts = (range.end - range.base + kPart - 1) / kPart;
  const auto with_host = [&](uint64_t part) { return range.pages[part / 16].with_host >> part % 16 & 1; };
  for (uint64_t begin = 0; begin < parts;) {
    uint64_t end = begin;
    while (end < parts && !with_host(end)) ++end;
    if (end > begin) pages_.let_go(range.base + begin * kPart, (end - begin) * kPart);
    begin = end + 1;
  }
}

void FarMemory::let_host_touch() {
  if (!watches_) return;
  for (auto& [base, range] : ranges_) {
    if (range.open) let_go(range);
    if (range.variable && range.small() && std::exchange(range.written, false)) range.looked_at = looks_ = true;
  }
}

// A fault brings 64 KiB of what a device has, and with it the largest part of its block (halves of halves) of which the device has less than half by
// then. What nobody has touched comes by pages of 4 KiB.
void FarMemory::bring(Range& range, const std::vector<bool>& touched, const model::Link& link, double now, HostTouches& touches) {
  const auto is_there = [&](uint64_t part) { return range.pages[part / 16].with_host >> part % 16 & 1; };
  const auto is_on_device = [&](uint64_t part) { return range.pages[part / 16].here >> part % 16 & 1; };
  const auto come = [&](uint64_t page, Parts parts) {
    Page& p = range.pages[page];
    touches.migrated += static_cast<double>(std::popcount(Parts(parts & p.here))) * kPart;
    touches.together += std::popcount(Parts(parts & ~p.here & ~p.with_host));
    p.here &= Parts(~parts), p.with_host |= parts;
  };
  const double before = touches.faults;
  const bool untouched = std::ranges::none_of(range.pages, [](const Page& p) { return p.here || p.with_host; });
  if (untouched && std::ranges::find(touched, true) != touched.end())
    range.shares ? touches.blocks += begun_.insert(range.shares).second : ++touches.made;
  for (uint64_t part = 0; part < touched.size(); ++part) {
    if (!touched[part] || is_there(part) || (range.shared && is_on_device(part))) continue;
    // A read has brought the pages around it here. By itself it was of one page.
    const uint64_t window = part / 16 * 16, window_end = std::min<uint64_t>(touched.size(), window + 16);
    const auto whole = [&](uint64_t begin, uint64_t end) {
      for (uint64_t k = begin; k < end; ++k)
        if (k >= touched.size() || !touched[k]) return false;
      return begin < end;
    };
    const bool by_itself = is_on_device(part) && part == window && window_end - window > 1 && whole(window, window_end) &&
                           !(window >= 16 && touched[window - 1]) && !(window_end < touched.size() && touched[window_end]);
    touches.ours += part == window || !whole(window, window_end) ? 1 : 0;
    if (!is_on_device(part)) {
      range.pages[part / 16].with_host |= Parts(1u << part % 16);
      ++touches.fresh;
    } else {
      const size_t page = part / 16;
      PageTurns& turns = range.pages[page].turns;
      touches.waited += turns.wait(PageTurns::kHost, now + touches.nanoseconds(link));
      ++touches.faults;
      come(page, range.pages[page].here);
      const double then = now + touches.nanoseconds(link);
      const bool watched = range.blocks[page / kPagesOfBlock].watches(PageTurns::kHost, then);
      if (watched) turns.moved(then);
      size_t begin = page, end = page + 1;
      for (size_t size = 2; size <= kPagesOfBlock; size *= 2) {
        const size_t low = page / size * size, high = std::min(low + size, range.pages.size());
        const auto gone = std::count_if(&range.pages[low], &range.pages[low] + (high - low), [](const Page& p) { return !p.here; });
        if (static_cast<double>(gone) > kWorthBringing * static_cast<double>(high - low)) begin = low, end = high;
      }
      for (size_t k = begin; k < end; ++k) {
        if (watched && range.pages[k].here) range.pages[k].turns.moved(now + touches.nanoseconds(link));
        come(k, all_of(range, k));
      }
    }
    if (by_itself) part = window_end - 1;
  }
  if (touches.faults > before) take_along(range);
}

HostTouches FarMemory::touches_of_host(const model::Link& link, double now, bool calls) {
  HostTouches touches;
  if (!watches_) return touches;
  looks_ = looks_ && !calls;
  for (auto& [base, range] : ranges_) {
    if (calls && std::exchange(range.looked_at, false)) {
      const double ours = touches.ours;
      bring(range, {true}, link, now, touches);
      touches.ours = ours;
    }
    if (!range.watched || range.open) continue;
    if (!range.managed && !range.launch) continue;
    if (range.managed && std::ranges::all_of(range.pages, [&](const Page& p) {
          return p.with_host == all_of(range, static_cast<size_t>(&p - range.pages.data()));
        }))
      continue;
    const std::vector<bool> touched = pages_.touched(base, range.end - base);
    if (range.launch && std::ranges::find(touched, true) != touched.end()) touches.read_of.insert(std::exchange(range.launch, 0));
    if (range.managed) bring(range, touched, link, now, touches);
  }
  return touches;
}

// --- devices

void FarMemory::before_launch(uint64_t operation) {
  for (auto& [base, range] : ranges_) {
    for (Page& page : range.pages) page.touched = page.written = false, page.lines = 0;
    if (!(range.watched || range.variable) || !range.small()) continue;
    range.before[operation].assign(reinterpret_cast<const char*>(base), reinterpret_cast<const char*>(range.end));
    if (range.watched && (range.managed || range.launch)) pages_.let_go(base, range.end - base);  // which takes microseconds
  }
}

// Whether a launch has used an allocation that is too small for samples of its lines, and has written there.
void FarMemory::compare(Range& range, uint64_t operation) {
  const auto before = range.before.find(operation);
  if (before == range.before.end()) return;
  if (range.managed && range.watched) {
    const std::vector<bool> touched = pages_.touched(range.base, range.end - range.base);
    if (std::ranges::find(touched, true) != touched.end()) range.pages.front().touched = true;
  }
  if (std::memcmp(before->second.data(), reinterpret_cast<const void*>(range.base), before->second.size())) {
    range.launch = operation;
    if (range.variable) range.written = range.pages.front().touched = true;
  }
  range.before.erase(before);
  range.open = range.managed || range.launch;
}

// Faults of a kernel bring 64 KiB each, and the largest part of the block of which more than half is there then. Where few words are wanted those of a
// block come by one fault; where many warps want all they go on to the next pages before the next fault.
void FarMemory::arrive(Range& range, int device, double now, LinkUse& use) const {
  double waited = 0;
  for (size_t first = 0; first < range.pages.size(); first += kPagesOfBlock) {
    const size_t last = std::min(first + kPagesOfBlock, range.pages.size());
    std::array<bool, kPagesOfBlock> comes{};
    const auto bring_around = [&](size_t page) {
      size_t begin = page, end = page + 1;
      for (size_t size = 2; size <= kPagesOfBlock; size *= 2) {
        const size_t low = page / size * size, high = std::min(low + size, last);
        size_t there = 0;
        for (size_t k = low; k < high; ++k) there += comes[k - first] || is_here(range, k, device);
        if (static_cast<double>(there) > kWorthBringing * static_cast<double>(high - low)) begin = low, end = high;
      }
      for (size_t k = begin; k < end; ++k) comes[k - first] = true;
    };
    size_t touched = 0, lines = 0;
    for (size_t k = first; k < last; ++k) touched += range.pages[k].touched, lines += range.pages[k].lines;
    const bool dense = lines >= kDense * touched;
    double faults = 0;
    for (size_t k = first; k < last; ++k) {
      Page& page = range.pages[k];
      if (!page.touched || comes[k - first] || is_here(range, k, device) || (page.turns.stays() && page.with_host)) continue;
      if (faults_) waited = std::max(waited, page.turns.wait(static_cast<int8_t>(device), now));
      comes[k - first] = true;
      if (dense || faults == 0) ++faults;
      if (dense) bring_around(k);
    }
    if (faults == 0) continue;
    use.dense |= dense;
    if (dense) faults += kMoreFaults;
    for (size_t k = first; k < last && !dense; ++k)
      if (comes[k - first]) bring_around(k);
    bool old = false, before = false;
    std::optional<bool> watched;  // once a page comes that was elsewhere
    for (size_t k = first; k < last; ++k) {
      Page& page = range.pages[k];
      const bool goes_on = std::exchange(before, page.touched);
      if (!comes[k - first] || is_here(range, k, device) || (page.turns.stays() && page.with_host)) continue;
      const Parts all = all_of(range, k), elsewhere = page.device == device ? page.with_host : page.with_host | page.here;
      const double bytes = std::min<double>(kPage, static_cast<double>(range.end - range.base - k * kPage)) / std::popcount(all);
      use.migrated += bytes * std::popcount(elsewhere);
      use.populated += bytes * std::popcount(Parts(all & ~(page.with_host | page.here)));
      if (elsewhere && page.touched && !dense && !goes_on) ++use.pieces;
      old |= elsewhere != 0;
      if (elsewhere && !watched) watched = range.blocks[first / kPagesOfBlock].watches(static_cast<int8_t>(device), now + waited);
      if (elsewhere && *watched) page.turns.moved(now + waited);
      give(range, k, device);
    }
    if (dense || !old) (old ? use.steps : use.first_steps) += faults;
    if (old && !dense && !range.known && !range.shares) ++use.made;
    range.known = true;
  }
  use.waited += waited;
}

std::optional<LinkUse> FarMemory::copied(uint64_t address, uint64_t bytes, int device, double now) {
  LinkUse use;
  Range* range = find(address);
  if (!range || !range->managed || bytes == 0) return std::nullopt;
  if (range->stays) return use;
  const size_t first = (address - range->base) / kPage;
  for (size_t k = 0; k < range->pages.size(); ++k) {
    range->pages[k].touched = k >= first && range->base + k * kPage < address + bytes;
    range->pages[k].lines = range->pages[k].touched ? kDense : 0;
  }
  arrive(*range, device, now, use);
  take_along(*range);
  return use;
}

// Whose pages begin where they like.
void FarMemory::mark_touched(uint64_t page) {
  const uint64_t begin = page * kPage, end = begin + kPage;
  auto at = ranges_.upper_bound(begin);
  if (at != ranges_.begin()) --at;
  for (; at != ranges_.end() && at->first < end; ++at) {
    Range& range = at->second;
    if (!range.managed || range.end <= begin) continue;
    for (uint64_t address : {std::max(begin, range.base), std::min(end, range.end) - 1})
      range.pages[(address - range.base) / kPage].touched = true;
  }
}

LinkUse FarMemory::after_launch(uint64_t operation, const Visits* followed, int device, double now) {
  static const Visits kNone;
  const Visits& visits = followed ? *followed : kNone;
  for (auto& [base, range] : ranges_) compare(range, operation);
  LinkUse use;
  std::set<uint64_t> read;  // what L2 has since
  const double each =
      kLinesPerSample *
      (visits.kept.empty() ? 1 : static_cast<double>(visits.kept.size() + visits.left_out) / static_cast<double>(visits.kept.size()));
  Range* range = nullptr;
  for (const Visit& v : visits.kept) {
    const uint64_t address = v.line * kLine;
    if (!range || address < range->base || address >= range->end) range = find(address);
    if (!range) continue;
    if (range->managed && !range->stays) {
      Page& page = range->pages[(address - range->base) / kPage];
      page.lines = static_cast<uint8_t>(std::min(page.lines + 1, 255));
      page.written |= v.kind != timing::Kind::Load && v.kind != timing::Kind::Copy;
      continue;
    }
    const double bytes = each * std::max<double>(kLeastRead, static_cast<double>(kSector) * std::popcount(v.sectors));
    if (v.kind == timing::Kind::Load || v.kind == timing::Kind::Copy) {
      if (read.insert(v.line).second) use.read += bytes;
    } else {
      use.written += each * v.bytes_of_sector * std::popcount(v.sectors);
    }
  }
  for (uint64_t page : visits.pages) mark_touched(page);
  std::map<uint64_t, std::array<double, 3>> shared;  // by block: the faults that have brought it
  for (auto& [base, each_range] : ranges_) {
    if (!each_range.managed) continue;
    if (each_range.stays) {
      for (Page& page : each_range.pages)
        if (page.touched && !std::exchange(page.known, true)) use.mapped += kPage;
      continue;
    }
    if (each_range.watched && (!followed || std::ranges::any_of(each_range.pages, &Page::touched))) each_range.open = true;
    // Copies of what is written to have to go, page by page.
    if (each_range.shared)
      for (const Page& page : each_range.pages) use.waited += page.written ? kTakeBack * kPage / kPart : 0;
    // Devices that take no faults get all that the host has touched when a kernel is launched.
    if (!faults_)
      for (Page& page : each_range.pages) page.touched |= page.with_host != 0;
    const LinkUse before = use;
    arrive(each_range, device, now, use);
    if (!each_range.shares) continue;
    if (use.migrated > before.migrated) take_along(each_range);
    if (std::ranges::any_of(each_range.pages, &Page::touched)) begun_.insert(each_range.shares);
    // What lies in one block comes by the same faults.
    const auto once = [](double& of_launch, double was, double& most) {
      const double here = std::exchange(of_launch, was) - was;
      of_launch += std::max(0.0, here - most);
      most = std::max(most, here);
    };
    auto& most = shared[each_range.shares];
    once(use.steps, before.steps, most[0]), once(use.first_steps, before.first_steps, most[1]), once(use.pieces, before.pieces, most[2]);
  }
  for (auto& [base, each_range] : ranges_)
    if (each_range.launch == operation) let_go(each_range);  // the host may be waiting for what is written there
  return use;
}

Prefetch FarMemory::prefetch(uint64_t address, uint64_t bytes, int device) {
  Prefetch all;
  Range* range = find(address);
  if (!range || !range->managed || bytes == 0) return all;
  for (size_t k = (address - range->base) / kPage; k < range->pages.size() && range->base + k * kPage < address + bytes; ++k) {
    const Page& page = range->pages[k];
    const bool stays = page.device == device;
    const Parts elsewhere = device < 0 ? page.here : stays ? page.with_host : page.with_host | page.here;
    const Parts fresh = all_of(*range, k) & ~(page.with_host | page.here);
    const double moved = static_cast<double>(std::popcount(elsewhere)) * kPart;
    all.moved += moved;
    if (!page.known) all.first += moved;
    all.fresh += static_cast<double>(std::popcount(fresh)) * kPart;
    all.there += static_cast<double>(std::popcount(Parts(all_of(*range, k) & ~(elsewhere | fresh)))) * kPart;
    give(*range, k, device);
  }
  if (range->watched) range->open = true;
  take_along(*range);
  return all;
}

void FarMemory::used(uint64_t address) {
  Range* range = find(address);
  if (!range || !range->watched) return;
  range->open = range->open || range->managed;
  if (range->launch) let_go(*range);
}

double FarMemory::advise(uint64_t address, uint64_t bytes, int advice, int device) {
  Range* range = find(address);
  if (!range || !range->managed) return 0;
  double with_host = 0;
  for (size_t k = (address - range->base) / kPage; k < range->pages.size() && range->base + k * kPage < address + bytes; ++k)
    with_host += static_cast<double>(std::popcount(range->pages[k].with_host)) * kPart;
  if (advice == kMostlyRead || advice == kNotMostlyRead) range->shared = advice == kMostlyRead;
  // Where another side's pages can be read over the link nothing moves; but kernels do not yet have them mapped.
  if (advice == kPreferredLocation) range->stays = device < 0 && faults_;
  if (advice == kAccessedBy && device >= 0) range->stays = faults_;
  if (advice == kNoPreferredLocation || advice == kNotAccessedBy) range->stays = false;
  if (range->stays)
    for (Page& page : range->pages) page.known = advice == kAccessedBy;
  switch (advice) {
    case kMostlyRead: return with_host;
    case kPreferredLocation: return device < 0 ? kOfHost * with_host : 0;
    case kAccessedBy: return kOfAccess * with_host;
    default: return 0;
  }
}

}  // namespace warpbeam::observe
