#include "observe/check/regions.h"

namespace warpbeam::observe::check {
namespace {

constexpr size_t kGone = 4096;  // freed allocations to remember

}  // namespace

Region* Regions::add(const vm::Allocation& a, HostStack made, bool by_program) {
  ++version_;
  auto region = std::make_unique<Region>();
  region->base = a.base;
  region->size = a.size;
  region->kind = a.kind;
  region->device = a.device;
  region->origin = a.origin;
  region->by_program = by_program;
  region->made = std::move(made);
  // What the host or another process can write has a value as far as anybody can tell.
  region->initialised = a.kind != vm::MemoryKind::Device || a.adopted;
  // What was there before has gone without a word: memory of unloaded programs.
  for (auto it = live_.lower_bound(a.base); it != live_.end() && it->first < a.base + a.size;) it = live_.erase(it);
  if (auto it = live_.lower_bound(a.base); it != live_.begin())
    if (--it; it->second->base + it->second->size > a.base) live_.erase(it);
  const uint64_t cost = (a.size / 4 + 2) * sizeof(Cell);
  if (a.kind != vm::MemoryKind::Constant || region->is_constants()) {
    if (used_ + cost <= budget_) region->shadow = Shadow(a.size);
    if (region->shadow) used_ += cost;
    else unwatched_ += a.size;
  }
  if (region->shadow) region->cells = &region->shadow;
  region->zero = a.base;
  Region* r = region.get();
  live_[a.base] = std::move(region);
  return r;
}

Region* Regions::add_piece(const vm::Allocation& whole, uint64_t address, uint64_t bytes, std::string made_at) {
  ++version_;
  Shadow& cells = heaps_[whole.base];
  const uint64_t cost = (whole.size / 4 + 2) * sizeof(Cell);
  if (cells.bytes() < whole.size && used_ + cost <= budget_) {
    cells = Shadow(whole.size);
    used_ += cost;
  }
  auto piece = std::make_unique<Region>();
  piece->base = address;
  piece->size = bytes;
  piece->kind = whole.kind;
  piece->device = whole.device;
  piece->origin = "malloc in a kernel";
  piece->initialised = false;
  piece->in_heap = true;
  piece->made_at = std::move(made_at);
  piece->zero = whole.base;
  if (cells.bytes() >= whole.size) {
    piece->cells = &cells;
    cells.forget(address - whole.base, bytes);
  }
  for (auto it = live_.lower_bound(address); it != live_.end() && it->first < address + bytes;) it = live_.erase(it);
  Region* r = piece.get();
  live_[address] = std::move(piece);
  return r;
}

void Regions::remove_piece(uint64_t address, std::string freed_at) {
  ++version_;
  auto it = live_.find(address);
  if (it == live_.end()) return;
  it->second->freed_at = std::move(freed_at);
  it->second->freed_by = "free in a kernel";
  it->second->cells = nullptr;
  gone_.push_back(std::move(it->second));
  live_.erase(it);
  if (gone_.size() > kGone) gone_.pop_front();
}

Region* Regions::find(uint64_t address) {
  auto it = live_.upper_bound(address);
  if (it == live_.begin()) return nullptr;
  Region* r = std::prev(it)->second.get();
  return address < r->base + r->size ? r : nullptr;
}

void Regions::remove(uint64_t base, HostStack freed, std::string by) {
  ++version_;
  auto it = live_.find(base);
  if (it == live_.end()) return;
  std::unique_ptr<Region> r = std::move(it->second);
  live_.erase(it);
  if (r->shadow) used_ -= (r->size / 4 + 2) * sizeof(Cell);
  r->shadow = Shadow();
  r->cells = nullptr;
  r->uses.clear();
  r->freed = std::move(freed);
  r->freed_by = std::move(by);
  gone_.push_back(std::move(r));
  if (gone_.size() > kGone) gone_.pop_front();
}

const Region* Regions::freed_at(uint64_t address) const {
  for (auto it = gone_.rbegin(); it != gone_.rend(); ++it)
    if (address >= (*it)->base && address < (*it)->base + (*it)->size) return it->get();
  return nullptr;
}

const Region* Regions::nearest(uint64_t address) const {
  const Region* best = nullptr;
  uint64_t least = ~uint64_t(0);
  auto consider = [&](const Region& r) {
    const uint64_t distance = address < r.base ? r.base - address : address - (r.base + r.size);
    if (distance < least) least = distance, best = &r;
  };
  auto it = live_.upper_bound(address);
  if (it != live_.end()) consider(*it->second);
  if (it != live_.begin()) consider(*std::prev(it)->second);
  return best;
}

void Regions::forget_accesses() {
  for (auto& [base, r] : live_) {
    r->initialised = true;
    r->shadow.clear();
    r->uses.clear();
  }
  for (auto& [base, cells] : heaps_) cells.clear();
}

}  // namespace warpbeam::observe::check
