#include "observe/check/shadow.h"

#include <sys/mman.h>

#include <cstring>
#include <new>
#include <utility>

namespace warpbeam::observe::check {
namespace {

void* reserve(uint64_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

uint64_t cell_bytes(uint64_t bytes) { return (bytes / 4 + 2) * sizeof(Cell); }

}  // namespace

EventLog::EventLog() : ring_(static_cast<vm::WatchedBurst*>(reserve(uint64_t(vm::kBursts) * sizeof(vm::WatchedBurst)))) {
  if (!ring_) throw std::bad_alloc();
}

EventLog::~EventLog() { munmap(ring_, uint64_t(vm::kBursts) * sizeof(vm::WatchedBurst)); }

Shadow::Shadow(uint64_t bytes) : cells_(static_cast<Cell*>(reserve(cell_bytes(bytes)))), bytes_(cells_ ? bytes : 0) {}

Shadow::~Shadow() {
  if (cells_) munmap(cells_, cell_bytes(bytes_));
}

Shadow& Shadow::operator=(Shadow&& other) noexcept {
  std::swap(cells_, other.cells_);
  std::swap(bytes_, other.bytes_);
  std::swap(parts_, other.parts_);
  return *this;
}

Cell* Shadow::split(Cell& w) {
  const uint32_t at = static_cast<uint32_t>(parts_.size());
  for (uint32_t k = 0; k < 4; ++k) {
    Cell c = w;
    c.give_value(w.init >> k & 1);
    parts_.push_back(c);
  }
  w.split = 1;
  w.write = at;
  return &parts_[at];
}

void Shadow::initialise(uint64_t offset, uint64_t bytes) {
  while (bytes) {
    Cell& w = word(offset);
    const uint32_t at = offset % 4;
    const uint32_t n = bytes < 4 - at ? static_cast<uint32_t>(bytes) : 4 - at;
    const uint32_t bits = ((1u << n) - 1) << at;
    if (w.split) {
      for (uint32_t k = 0; k < 4; ++k)
        if (bits >> k & 1) parts_[w.write + k].give_value(1);
    } else {
      w.give_value(w.init | bits);
    }
    offset += n;
    bytes -= n;
  }
}

void Shadow::forget(uint64_t offset, uint64_t bytes) {
  for (uint64_t at = offset / 4; at * 4 < offset + bytes; ++at) cells_[at] = Cell{};
}

void Shadow::clear(uint64_t bytes) {
  parts_.clear();
  if (!cells_) return;
  // Giving pages back costs more than writing a few.
  if (bytes <= (64 << 10)) std::memset(static_cast<void*>(cells_), 0, cell_bytes(bytes));
  else madvise(cells_, cell_bytes(bytes_), MADV_DONTNEED);
}

}  // namespace warpbeam::observe::check
