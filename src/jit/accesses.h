// What accesses of memory that are done together know of each other.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "jit/unrolled_block.h"
#include "jit/runtime.h"
#include "jit/writing.h"

namespace warpbeam::jit {

// An address that a picked store's lanes make of one register (emit_compressed.cc).
struct Indexed {
  V base = nullptr, index = nullptr;
  bool is_signed = false;
};

// A stretch of memory that several loads read (emit_windows.cc).
struct Windows {
  int64_t low = 0;         // the least offset from their register
  int more = 0;            // elements beyond a warp's
  std::vector<V> parts;    // registers full of it, once it is loaded
};

inline constexpr uint64_t kPiece = 16;  // bytes that are loaded or stored for a lane at once

// Loads or stores of words that lie side by side in each lane (emit_interleaved.cc).
struct Piece {
  int64_t from = 0;                         // the first word's offset
  std::vector<const vm::Insn*> accesses{};  // as they are executed
  uint64_t bytes = kPiece;                  // more, or fewer, of stores
};

// Loads and stores around one place in each lane, or a few of them, whose order may change where no lane comes to another's and no two
// of the places meet: the loads are made first and the stores last.
struct Record {
  struct Part {                                // around one place
    std::vector<const vm::Insn*> accesses{};   // as they are executed
    int64_t from = 0;                          // the first word's offset
    uint64_t apart = 0, bytes = 0;             // how far lanes must be, and what of memory a lane looks at
    std::vector<std::shared_ptr<const Piece>> pieces{};
  };
  std::vector<Part> parts{};
  std::vector<std::pair<size_t, size_t>> meet{};  // parts that must not
  V together = nullptr;                        // in the code that is being written: they are
};

struct Interleaved {
  std::map<const vm::Insn*, std::shared_ptr<const Piece>> of;
  std::map<const vm::Insn*, std::shared_ptr<Record>> records;
  bool aside = false;  // each access is made by itself
  void clear() { of.clear(), records.clear(); }
};

// Code without branches (emit_straight.cc).
struct Straight {  // instructions [begin, end)
  uint32_t begin = 0, first = 0, end = 0;  // where the first access is
  std::vector<Access> accesses;            // whose addresses are known once `ahead` has run
  std::vector<Access> few;                 // those that a few lanes can do by themselves
  std::vector<uint32_t> ahead;             // what makes addresses and may run before everything else
};

// By what is known of their roots: the allocation that accesses touched last.
struct KnownRanges {
  std::map<int64_t, RangeCells*> of_root;
  uint32_t cells = 1;
};

struct NamedMemory {
  std::map<const vm::Insn*, std::shared_ptr<Windows>> windows;  // of checked accesses
  NamedLines lines;                                             // that hosts were told of
  std::map<const vm::Insn*, V> turns_ahead;                     // how far the team's first warp has named what the access reads
};

// A store that waits until it fills lines (columns.h).
struct LateStore {
  const vm::Insn* store = nullptr;
  V rows = nullptr;
};

}  // namespace warpbeam::jit
