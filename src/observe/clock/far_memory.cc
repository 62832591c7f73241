#include "observe/clock/far_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace warpbeam::observe {

namespace {

constexpr uint64_t kLine = 128, kSector = 32;
constexpr double kOnTheirWay = 512;    // bytes, of a warp
constexpr int kFirstWithFaults = 60;   // compute capability
constexpr int kPreferredLocation = 3, kNoPreferredLocation = 4, kAccessedBy = 5, kNotAccessedBy = 6;  // cudaMemoryAdvise

}  // namespace

double LinkUse::nanoseconds(const model::Link& link, double of_kernel, double warps, bool faults) const {
  double all = of_kernel;
  if (read > 0 || written > 0) {
    const double by_latency = read / (warps * kOnTheirWay) * link.zero_copy_latency;  // few warps cannot ask for enough
    all = std::max({all, read / link.zero_copy_read, written / link.zero_copy_write, by_latency}) + (read > 0 ? link.zero_copy_latency : 0);
  }
  if (!faults) return all + migrated / link.pinned_to_device;  // pages come before the kernel begins
  if (migrated > 0 || populated > 0) all += link.managed_fault + migrated / link.managed_migrate + populated / link.managed_populate;
  return all;
}

FarMemory::FarMemory(const model::Device& device) : faults_(device.cc() >= kFirstWithFaults) {}

void FarMemory::allocated(const vm::Allocation& allocation) {
  const bool managed = allocation.kind == vm::MemoryKind::Managed;
  if (!managed && allocation.kind != vm::MemoryKind::Pinned && allocation.kind != vm::MemoryKind::Registered) return;
  Range range;
  range.end = allocation.base + allocation.size;
  range.managed = managed;
  if (managed) {
    range.pages.resize((allocation.size + kPage - 1) / kPage);
    // Memory that was used before: nobody has touched it yet for all that matters.
    const std::vector<bool> there = present(allocation.base, range);
    for (size_t k = 0; k < range.pages.size() && allocation.base + (k + 1) * kPage <= range.end; ++k)
      if (there[k]) range.pages[k].known = true, range.pages[k].words = words_of(allocation.base + k * kPage);
  }
  ranges_[allocation.base] = std::move(range);
}

void FarMemory::freed(uint64_t base) { ranges_.erase(base); }

FarMemory::Range* FarMemory::find(uint64_t address, uint64_t* base) {
  auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) return nullptr;
  --after;
  if (address >= after->second.end) return nullptr;
  *base = after->first;
  return &after->second;
}

// Some words of lines that are sampled: a kernel that changes them is seen. The page is part of the process.
uint64_t FarMemory::words_of(uint64_t page) {
  constexpr uint64_t kParts = 4, kLines = kPage / kLine / kParts;
  uint64_t sum = 0;
  for (uint64_t part = 0; part < kParts; ++part)
    for (uint64_t line = page / kLine + part * kLines, k = 0; k < kLines; ++k, ++line) {
      if (!is_sampled(line)) continue;
      uint64_t word;
      std::memcpy(&word, reinterpret_cast<const void*>(line * kLine), sizeof word);
      sum = (sum ^ word) * 0x9e3779b97f4a7c15;
      sum ^= sum >> 29;
      break;
    }
  return sum;
}

// Whether all of a page of ours is part of the process. One that is partly is told so too.
std::vector<bool> FarMemory::present(uint64_t base, const Range& range) {
  static const auto size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  std::vector<bool> there(range.pages.size());
  const uint64_t begin = base / size * size;
  std::vector<unsigned char> resident((range.end - begin + size - 1) / size);
  if (resident.empty() || mincore(reinterpret_cast<void*>(begin), range.end - begin, resident.data())) return there;
  for (size_t k = 0; k < resident.size(); ++k)
    if (resident[k] & 1)
      if (const uint64_t at = begin + k * size; at >= base) there[std::min<size_t>(there.size() - 1, (at - base) / kPage)] = true;
  return there;
}

// What the host has touched is with it.
void FarMemory::look(uint64_t base, Range& range) {
  const std::vector<bool> there = present(base, range);
  for (size_t k = 0; k < range.pages.size(); ++k) {
    Page& page = range.pages[k];
    if (page.where == kHost || !there[k]) continue;
    const uint64_t begin = base + k * kPage;
    if (begin + kPage > range.end) {  // the last one, in part
      if (page.where == kNowhere) page.where = kHost;
      continue;
    }
    const uint64_t words = words_of(begin);
    if (!page.known || words != page.words) page.where = kHost;
  }
}

void FarMemory::before_launch() {
  for (auto& [base, range] : ranges_) {
    if (!range.managed) continue;
    look(base, range);
    for (Page& page : range.pages) page.touched = false;
  }
}

LinkUse FarMemory::after_launch(const Visits& visits, int device) {
  LinkUse use;
  std::set<uint64_t> read;  // what L2 has since
  const double each = kLinesPerSample * (visits.kept.empty() ? 1 : static_cast<double>(visits.kept.size() + visits.left_out) / static_cast<double>(visits.kept.size()));
  Range* range = nullptr;
  uint64_t base = 0;
  for (const Visit& v : visits.kept) {
    const uint64_t address = v.line * kLine;
    if (!range || address < base || address >= range->end) range = find(address, &base);
    if (!range) continue;
    const bool here = range->managed && !range->stays;
    if (here) {
      range->pages[(address - base) / kPage].touched = true;
      continue;
    }
    const double bytes = each * kSector * std::popcount(v.sectors);
    if (v.kind == timing::Kind::Load || v.kind == timing::Kind::Copy) {
      if (read.insert(v.line).second) use.read += bytes;
    } else {
      use.written += each * v.bytes_of_sector * std::popcount(v.sectors);
    }
  }
  for (auto& [begin, each_range] : ranges_) {
    if (!each_range.managed || each_range.stays) continue;
    for (size_t k = 0; k < each_range.pages.size(); ++k) {
      Page& page = each_range.pages[k];
      const uint64_t at = begin + k * kPage;
      const auto bytes = static_cast<double>(std::min(kPage, each_range.end - at));
      // Devices that take no faults get all that the host has touched when a kernel is launched.
      const bool moves = faults_ ? page.touched : page.touched || page.where == kHost;
      if (moves && page.where != device) {
        (page.where == kNowhere ? use.populated : use.migrated) += bytes;
        page.where = static_cast<int8_t>(device);
      }
      if (page.where == device && (page.touched || moves) && at + kPage <= each_range.end) page.known = true, page.words = words_of(at);
    }
  }
  return use;
}

double FarMemory::prefetch(uint64_t address, uint64_t bytes, int device) {
  uint64_t base = 0;
  Range* range = find(address, &base);
  if (!range || !range->managed || bytes == 0) return 0;
  look(base, *range);
  double moved = 0;
  for (size_t k = (address - base) / kPage; k < range->pages.size() && base + k * kPage < address + bytes; ++k) {
    Page& page = range->pages[k];
    const uint64_t at = base + k * kPage;
    if (page.where == device) continue;
    if (page.where != kNowhere) moved += static_cast<double>(std::min(kPage, range->end - at));
    page.where = static_cast<int8_t>(device);
    if (at + kPage <= range->end) page.known = device >= 0, page.words = device >= 0 ? words_of(at) : 0;
  }
  return moved;
}

void FarMemory::placed(uint64_t address, uint64_t bytes, int device) {
  uint64_t base = 0;
  Range* range = find(address, &base);
  if (!range || !range->managed) return;
  for (size_t k = (address - base) / kPage; k < range->pages.size() && base + k * kPage < address + bytes; ++k) {
    Page& page = range->pages[k];
    page.where = static_cast<int8_t>(device);
    page.known = base + (k + 1) * kPage <= range->end;
    if (page.known) page.words = words_of(base + k * kPage);
  }
}

void FarMemory::advise(uint64_t address, uint64_t, int advice, int device) {
  uint64_t base = 0;
  Range* range = find(address, &base);
  if (!range || !range->managed) return;
  // Where another side's pages can be read over the link nothing moves.
  if (advice == kPreferredLocation) range->stays = device < 0 && faults_;
  if (advice == kAccessedBy && device >= 0) range->stays = faults_;
  if (advice == kNoPreferredLocation || advice == kNotAccessedBy) range->stays = false;
}

}  // namespace warpbeam::observe
