// Device memory as the checker sees it: every allocation with its exact size, who made it and who freed it, and its
// shadow. Freed ones are remembered for messages.
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "observe/check/findings.h"
#include "observe/check/order.h"
#include "observe/check/shadow.h"
#include "vm/memory.h"

namespace warpbeam::observe::check {

// A copy or fill touched a range; kernels' accesses are in the cells.
struct RangeUse {
  uint64_t begin = 0, end = 0;
  EventId id = 0;
  OpId op = 0;
  bool writes = false;
  HostStack stack;
};

struct Region {
  uint64_t base = 0, size = 0;
  vm::MemoryKind kind{};
  int device = 0;
  std::string origin;        // cudaMalloc, __device__ table
  bool by_program = false;   // made by a call of the program, so that it should be freed
  bool is_of_host() const {
    return kind == vm::MemoryKind::Pinned || kind == vm::MemoryKind::Registered || kind == vm::MemoryKind::Managed;
  }
  bool is_constants() const {
    return kind == vm::MemoryKind::Constant && origin.starts_with("__constant__");
  }  // others are the runtime's own
  bool is_managed_variable() const { return kind == vm::MemoryKind::Managed && !by_program; }
  bool initialised = true;   // every byte has a value, or nobody can tell
  HostStack made, freed;
  std::string freed_by;
  Shadow shadow;             // empty: too large to be watched, or part of the kernels' heap
  Shadow* cells = nullptr;   // its shadow, or that of the heap; null: too large to be watched
  uint64_t zero = 0;         // the address that offset 0 of the cells means
  // A piece of the kernels' heap: who asked for it, and gave it back.
  bool in_heap = false;
  std::string made_at, freed_at;
  std::vector<RangeUse> uses;
  EventId newest_use = 0;
  void use(RangeUse u) {
    newest_use = u.id;
    uses.push_back(std::move(u));
  }
  std::vector<OpId> kernels; // that touched it, of memory that the host sees, until the host has waited for them
  bool holds(uint64_t address, uint64_t bytes) const {
    return address >= base && address + bytes <= base + size && address + bytes > address;
  }
};

class Regions {
 public:
  void set_budget(uint64_t most_shadow_bytes) { budget_ = most_shadow_bytes; }
  Region* add(const vm::Allocation& a, HostStack made, bool by_program);
  // A piece of the kernels' heap `whole`.
  Region* add_piece(const vm::Allocation& whole, uint64_t address, uint64_t bytes, std::string made_at);
  void remove_piece(uint64_t address, std::string freed_at);
  Region* find(uint64_t address);  // any offset inside
  // Keeps what is needed to speak of it.
  void remove(uint64_t base, HostStack freed, std::string by);
  const Region* freed_at(uint64_t address) const;  // the latest one that held it
  const Region* nearest(uint64_t address) const;
  const std::map<uint64_t, std::unique_ptr<Region>>& live() const { return live_; }
  uint64_t version() const { return version_; }  // another one when a region has gone
  uint64_t unwatched() const { return unwatched_; }  // bytes
  void forget_accesses();

 private:
  uint64_t budget_ = 0, used_ = 0, unwatched_ = 0, version_ = 1;
  std::map<uint64_t, std::unique_ptr<Region>> live_;
  std::map<uint64_t, Shadow> heaps_;  // by address
  std::deque<std::unique_ptr<Region>> gone_;
};

}  // namespace warpbeam::observe::check
