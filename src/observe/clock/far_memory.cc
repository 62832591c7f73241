#include "observe/clock/far_memory.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace warpbeam::observe {

namespace {

constexpr uint64_t kLine = 128, kSector = 32;
constexpr int kFirstWithFaults = 60;   // compute capability
constexpr double kWorthBringing = 0.51;  // of a part of a block that the host has touched, for the rest to come too
constexpr uint64_t kBlock = 2 << 20;       // within which it does
constexpr int kMostlyRead = 1, kNotMostlyRead = 2, kPreferredLocation = 3, kNoPreferredLocation = 4, kAccessedBy = 5,
              kNotAccessedBy = 6;  // cudaMemoryAdvise

}  // namespace

double LinkUse::nanoseconds(const model::Link& link, double of_kernel, bool faults) const {
  const double latency = read > 0 ? link.zero_copy_latency : 0;
  double all = std::max({of_kernel, read / link.zero_copy_read + latency, written / link.zero_copy_write + latency});
  if (!faults) return all + migrated / link.pinned_to_device;  // pages come before the kernel begins
  if (migrated > 0 || populated > 0)
    all += (migrated > 0 ? link.managed_fault : link.managed_first_fault) + migrated / link.managed_migrate +
           populated / link.managed_populate;
  return all;
}

double HostTouches::nanoseconds(const model::Link& link) const {
  return (faults > 0 ? link.managed_host_begin : 0) + faults * link.managed_host_fault + migrated / link.managed_to_host +
         fresh * link.managed_host_first;
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
  if (!allocation.adopted && (managed || (pinned && range.small())))
    range.watched = pages_.replace(allocation.base, (allocation.size + kPart - 1) / kPart * kPart);
  watches_ = watches_ || range.watched;
  ranges_[allocation.base] = std::move(range);
}

double FarMemory::freed(uint64_t base) {
  const auto found = ranges_.find(base);
  if (found == ranges_.end()) return 0;
  double parts = 0;
  for (const Page& page : found->second.pages) parts += std::popcount(Parts(page.here | page.with_host));
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

void FarMemory::give(Range& range, size_t page, int device) {
  Page& p = range.pages[page];
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
  for (auto& [base, range] : ranges_)
    if (range.open) let_go(range);
}

// A fault brings a page of 4 KiB, and with it the largest part of its block (halves of halves) of which the host has more than half by then.
void FarMemory::bring(Range& range, const std::vector<bool>& touched, HostTouches& touches) {
  const auto is_there = [&](uint64_t part) { return range.pages[part / 16].with_host >> part % 16 & 1; };
  const auto is_on_device = [&](uint64_t part) { return range.pages[part / 16].here >> part % 16 & 1; };
  const auto come = [&](uint64_t part) {
    Page& page = range.pages[part / 16];
    const Parts bit = Parts(1u << part % 16);
    if (page.here & bit) touches.migrated += kPart;
    page.here &= Parts(~bit), page.with_host |= bit;
  };
  constexpr uint64_t kPartsOfBlock = kBlock / kPart;
  const uint64_t first = range.base / kPart % kPartsOfBlock;  // the range's first part in its block
  for (uint64_t part = 0; part < touched.size(); ++part) {
    if (!touched[part] || is_there(part) || (range.shared && is_on_device(part))) continue;
    // A read has brought the pages around it here. By itself it was of one page.
    const uint64_t window = part / 16 * 16, window_end = std::min<uint64_t>(touched.size(), window + 16);
    const auto whole = [&](uint64_t begin, uint64_t end) {
      for (uint64_t k = begin; k < end; ++k)
        if (k >= touched.size() || !touched[k]) return false;
      return begin < end;
    };
    const bool by_itself = part == window && window_end - window > 1 && whole(window, window_end) &&
                           !(window >= 16 && touched[window - 1]) && !(window_end < touched.size() && touched[window_end]);
    touches.ours += part == window || !whole(window, window_end) ? 1 : 0;
    if (!is_on_device(part)) {
      come(part);
      ++touches.fresh;
    } else {
      ++touches.faults;
      come(part);
      uint64_t begin = part, end = part + 1;
      for (uint64_t size = 2; size <= kPartsOfBlock; size *= 2) {
        const uint64_t from = (first + part) / size * size, low = std::max(from, first) - first,
                       high = std::min<uint64_t>(from + size - first, touched.size());
        uint64_t there = 0;
        for (uint64_t k = low; k < high; ++k) there += is_there(k) ? 1 : 0;
        if (static_cast<double>(there) > kWorthBringing * static_cast<double>(high - low)) begin = low, end = high;
      }
      for (uint64_t k = begin; k < end; ++k)
        if (is_on_device(k)) come(k);
    }
    if (by_itself) part = window_end - 1;
  }
}

HostTouches FarMemory::touches_of_host() {
  HostTouches touches;
  if (!watches_) return touches;
  for (auto& [base, range] : ranges_) {
    if (!range.watched || range.open) continue;
    if (!range.managed && !range.launch) continue;
    if (range.managed && std::ranges::all_of(range.pages, [&](const Page& p) {
          return p.with_host == all_of(range, static_cast<size_t>(&p - range.pages.data()));
        }))
      continue;
    const std::vector<bool> touched = pages_.touched(base, range.end - base);
    if (range.launch && std::ranges::find(touched, true) != touched.end()) touches.read_of.insert(std::exchange(range.launch, 0));
    if (range.managed) bring(range, touched, touches);
  }
  return touches;
}

// --- devices

void FarMemory::before_launch(uint64_t operation) {
  for (auto& [base, range] : ranges_) {
    for (Page& page : range.pages) page.touched = false;
    if (!range.watched || !range.small()) continue;
    range.before[operation].assign(reinterpret_cast<const char*>(base), reinterpret_cast<const char*>(range.end));
    if (range.managed || range.launch) pages_.let_go(base, range.end - base);  // which takes microseconds
  }
}

// Whether a launch has used an allocation that is too small for samples of its lines, and has written there.
void FarMemory::compare(Range& range, uint64_t operation) {
  const auto before = range.before.find(operation);
  if (before == range.before.end()) return;
  if (range.managed) {
    const std::vector<bool> touched = pages_.touched(range.base, range.end - range.base);
    if (std::ranges::find(touched, true) != touched.end()) range.pages.front().touched = true;
  }
  if (std::memcmp(before->second.data(), reinterpret_cast<const void*>(range.base), before->second.size())) range.launch = operation;
  range.before.erase(before);
  range.open = range.managed || range.launch;
}

LinkUse FarMemory::after_launch(uint64_t operation, const Visits* followed, int device) {
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
    const bool here = range->managed && !range->stays;
    if (here) {
      range->pages[(address - range->base) / kPage].touched = true;
      continue;
    }
    const double bytes = each * kSector * std::popcount(v.sectors);
    if (v.kind == timing::Kind::Load || v.kind == timing::Kind::Copy) {
      if (read.insert(v.line).second) use.read += bytes;
    } else {
      use.written += each * v.bytes_of_sector * std::popcount(v.sectors);
    }
  }
  for (auto& [base, each_range] : ranges_) {
    if (!each_range.managed || each_range.stays) continue;
    if (each_range.watched && (!followed || std::ranges::any_of(each_range.pages, &Page::touched))) each_range.open = true;
    for (size_t k = 0; k < each_range.pages.size(); ++k) {
      Page& page = each_range.pages[k];
      // Devices that take no faults get all that the host has touched when a kernel is launched.
      if (!page.touched && (faults_ || !page.with_host)) continue;
      const Parts all = all_of(each_range, k);
      if (page.here == all && page.device == device) continue;
      const Parts elsewhere = page.device == device ? page.with_host : page.with_host | page.here;
      const double bytes = std::min<double>(kPage, static_cast<double>(each_range.end - base - k * kPage)) / std::popcount(all);
      use.migrated += bytes * std::popcount(elsewhere);
      use.populated += bytes * std::popcount(Parts(all & ~(page.with_host | page.here)));
      give(each_range, k, device);
    }
  }
  for (auto& [base, each_range] : ranges_)
    if (each_range.launch == operation) let_go(each_range);  // the host may be waiting for what is written there
  return use;
}

double FarMemory::prefetch(uint64_t address, uint64_t bytes, int device) {
  Range* range = find(address);
  if (!range || !range->managed || bytes == 0) return 0;
  double moved = 0;
  for (size_t k = (address - range->base) / kPage; k < range->pages.size() && range->base + k * kPage < address + bytes; ++k) {
    const Page& page = range->pages[k];
    const bool stays = page.device == device;
    const Parts elsewhere = device < 0 ? page.here : stays ? page.with_host : page.with_host | page.here;
    moved += static_cast<double>(std::popcount(elsewhere)) * kPart;
    give(*range, k, device);
  }
  if (range->watched) range->open = true;
  return moved;
}

void FarMemory::placed(uint64_t address, uint64_t bytes, int device) {
  Range* range = find(address);
  if (!range || !range->managed) return;
  for (size_t k = (address - range->base) / kPage; k < range->pages.size() && range->base + k * kPage < address + bytes; ++k)
    give(*range, k, device);
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
  // Where another side's pages can be read over the link nothing moves.
  if (advice == kPreferredLocation) range->stays = device < 0 && faults_;
  if (advice == kAccessedBy && device >= 0) range->stays = faults_;
  if (advice == kNoPreferredLocation || advice == kNotAccessedBy) range->stays = false;
  return advice == kMostlyRead || advice == kAccessedBy ? with_host : 0;
}

}  // namespace warpbeam::observe
