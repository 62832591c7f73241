#include "observe/clock/touched_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "observe/clock/host_clock.h"

namespace warpbeam::observe {

namespace {

constexpr uint64_t kPresent = uint64_t{1} << 63, kSwapped = uint64_t{1} << 62;

constexpr uint64_t kMostAtOnce = 256 << 20;  // bytes that are made when they are asked for, as that takes longer than bringing them back
constexpr uint64_t kSample = 64;              // pages, to learn what that takes

}  // namespace

TouchedPages::TouchedPages() : map_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}

TouchedPages::~TouchedPages() {
  if (map_ >= 0) close(map_);
}

bool TouchedPages::replace(uint64_t base, uint64_t bytes) {
  constexpr int kFlags = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (!can() || base % kPage || mmap(reinterpret_cast<void*>(base), bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0) == MAP_FAILED)
    return false;
  if (bytes <= kMostAtOnce && !madvise(reinterpret_cast<void*>(base), bytes, MADV_POPULATE_WRITE)) let_go(base, bytes);
  if (const uint64_t sample = kSample; cost_ < 0 && bytes >= sample * kPage) {
    const int64_t begun = HostClock::real();
    for (uint64_t k = 0; k < sample; ++k) *reinterpret_cast<volatile char*>(base + k * kPage) = 0;
    cost_ = static_cast<double>(HostClock::real() - begun) / static_cast<double>(sample);
    let_go(base, bytes);
  }
  return true;
}

void TouchedPages::let_go(uint64_t base, uint64_t bytes) { madvise(reinterpret_cast<void*>(base), bytes, MADV_DONTNEED); }

std::vector<bool> TouchedPages::touched(uint64_t base, uint64_t bytes) {
  constexpr size_t kAtOnce = 4096;
  std::vector<bool> all((bytes + kPage - 1) / kPage);
  std::vector<uint64_t> part(std::min(kAtOnce, all.size()));
  for (size_t k = 0; k < all.size();) {
    const size_t wanted = std::min(part.size(), all.size() - k);
    const ssize_t got = pread(map_, part.data(), wanted * sizeof(uint64_t), static_cast<off_t>((base / kPage + k) * sizeof(uint64_t)));
    if (got < static_cast<ssize_t>(sizeof(uint64_t))) break;
    for (size_t i = 0; i < static_cast<size_t>(got) / sizeof(uint64_t); ++i) all[k++] = part[i] & (kPresent | kSwapped);
  }
  return all;
}

bool TouchedPages::any_came() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage)) return true;
  const long now = usage.ru_minflt + usage.ru_majflt;
  return now != std::exchange(came_, now);
}

}  // namespace warpbeam::observe
