// Machine instructions while they are being chosen and moved about: their operands are values, of which each gets registers
// at the end (allocate.cc).
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "assembly/machine_code.h"
#include "isa/mods.h"
#include "ptx/blocks.h"
#include "ptx/module.h"

namespace warpbeam::assembly {

enum class Bank : uint8_t { General, Predicate, Uniform };

// Some 32-bit words of a value. A value of several words sits in neighbouring registers.
struct Part {
  int32_t value = -1;
  uint8_t first = 0, count = 0;
  explicit operator bool() const { return value >= 0; }
  bool operator==(const Part&) const = default;
};

struct Value {
  Bank bank{};
  uint8_t words = 1;
};

enum class Order : uint8_t {
  None,
  Load,    // may change places with other loads
  Store,   // and atomics
  Barrier  // no access to memory passes it
};

struct Draft {
  Operation operation{};
  uint8_t bytes = 0;
  bool access = false;
  bool guarded = false;   // the guard is the last of its reads
  bool negated = false;   // the guard is
  bool keeps = false;     // what it writes was written before, and lanes that are left out keep it
  bool copy = false;      // of the only read to the only write
  bool pinned = false;    // does something besides writing values
  bool last = false;      // leaves the block
  bool together = false;  // a branch that all lanes of a warp take alike
  bool wall = false;      // nothing changes places with it: real code has a branch here
  Order order{};
  uint32_t ptx = 0;
  std::array<Part, 5> reads{};
  std::array<Part, 2> writes{};
  std::string_view mnemonic;
  // Where an access goes, to tell which ones cannot meet: a space, a base and a distance from it.
  isa::Space space{};
  bool read_only = false;
  int32_t base = -1;
  int64_t offset = 0;
  uint8_t align = 1, align_rest = 0;  // the base is so many bytes beyond a multiple of that

  Part last_read() const {
    Part last;
    for (Part p : reads)
      if (p) last = p;
    return last;
  }
  void read(Part p) {
    if (!p) return;
    for (Part& r : reads)
      if (!r) {
        r = p;
        return;
      }
  }
};

struct DraftBlock {
  uint32_t begin = 0, end = 0;  // of the PTX
  std::vector<Draft> text;
  std::vector<uint32_t> successors, predecessors;
  int32_t folded_into = -1;
  uint32_t turns = 1;
  bool own_addresses = false;  // each four of its turns
  int32_t repeats = -1;  // not of the PTX: several turns of that block
};

struct DraftCode {
  std::vector<Value> values;
  std::vector<DraftBlock> blocks;

  int32_t new_value(Bank bank, int words) {
    values.push_back({bank, static_cast<uint8_t>(words)});
    return static_cast<int32_t>(values.size() - 1);
  }
  Part whole(int32_t value) const { return {value, 0, values[static_cast<size_t>(value)].words}; }
};

// Compute capability 1.x, whose instructions are of another kind (select_first.cc).
inline bool is_first_generation(const Target& target) { return target.cc < 20; }

// A comparison takes another predicate along for nothing.
inline bool takes_predicate_along(const Draft& d) { return d.operation == Operation::Compare && !d.guarded && !d.reads.back(); }

inline bool is_call(Operation o) { return o == Operation::Call || o == Operation::Print || o == Operation::Allocate; }

// The steps, in their order.
// `near`: what is the same everywhere is made where it is needed, again and again, which takes fewer registers.
DraftCode select(const ptx::Module& module, const ptx::Function& function, const Target& target, bool near);
void join_blocks(DraftCode& code);
void widen_loads(DraftCode& code);
void predicate_choices(DraftCode& code);
void straighten(DraftCode& code);
void remove_unread(DraftCode& code);
void sink_copies(DraftCode& code);
void join_copies(DraftCode& code);
void read_shared_operands(DraftCode& code);
void compare_before_change(DraftCode& code);
void place_behind(DraftCode& code);
void fold_short_branches(DraftCode& code, const Target& target);
void hoist(DraftCode& code, const ptx::Function& function);
void mark_meetings(DraftCode& code, const Target& target);
void unroll(DraftCode& code, const ptx::Function& function);
void move_pointers_later(DraftCode& code);
// What is live between blocks, in whatever order.
class Liveness;
// Down to who needs it, where that takes fewer registers.
void sink(DraftCode& code, const Liveness& live);
// Registers that may be held before the order gives way, and before no more loads are begun; loads that are begun together even then.
// Whether one warp's instructions for a pipe are spaced.
struct Held {
  uint32_t most, most_for_loads, loads_together;
  bool spaced;
};
void schedule(DraftCode& code, const Liveness& live, const Held& held);
void allocate(const DraftCode& code, const Target& target, bool roomy, bool wide_first, MachineCode& out);

}  // namespace warpbeam::assembly
