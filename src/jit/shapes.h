// Idea: what is known of a value before the kernel runs: is it the same in all lanes, does it grow by a constant from lane to lane, or
// neither? Known shapes are kept in host scalars, and an address of known shape is a plain vector access.
//
// A value of `runs` n is n stretches of 32/n lanes each; inside a stretch it grows by `stride` from lane to lane. One run with stride 0 is
// the same in all lanes. threadIdx.x of a 16x16 block is two runs with stride 1, threadIdx.y two with stride 0. Where runs follow each
// other evenly (by 0 and by 1 here), the first one tells the others; runs that continue each other are one.
// Precondition: no sum wraps around, or that is looked at. Postcondition: a shape holds in every warp. Fallback: a vector of lanes.
#pragma once
#include <array>

#include "jit/flow.h"

namespace warpbeam::jit {

enum class Reach : uint8_t { Block, Warp };  // how far a value that is the same in all lanes is the same

struct Shape {
  uint8_t runs = 0;       // 1, 2, 4; 0: nothing is known (a vector), unless `unset`
  bool unset = true;      // no definition seen yet
  Reach reach = Reach::Block;
  uint8_t align = 0;      // each run's first value is a multiple of 2^align
  uint8_t bits = 64;      // values are below 2^bits
  int64_t stride = 0;
  bool even = false;      // each run's first value is `gap` more than that of the run before it
  int64_t gap = 0;
  bool paced = false;     // from warp to warp it grows by `pace`; what is the same in the whole block grows by nothing
  int64_t pace = 0;
  bool known = false;     // it is `number`, always
  uint64_t number = 0;
  bool vector() const { return !unset && runs == 0; }
  bool uniform() const { return runs == 1 && stride == 0; }
  bool one_value() const { return uniform() && reach == Reach::Block; }
  bool operator==(const Shape&) const = default;
};

// What the lowest bits of a value that is the same in the whole block may turn out to be, as many as tell the lanes of a warp.
enum class LowBits : uint8_t { Unknown, Zeros, Ones };

inline Shape vector_shape() { return {0, false, Reach::Warp, 0, 64, 0, false, 0}; }
inline Shape uniform_shape(Reach reach, uint8_t align = 0, uint8_t bits = 64) { return {1, false, reach, align, bits, 0, false, 0}; }

// Does the instruction say the word? What a lane row always says is not among its modifiers.
inline bool says(const isa::Row& row, std::string_view word) {
  const std::string_view line = row.syntax.substr(0, row.syntax.find(' '));
  for (size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool alone = at > 0 && line[at - 1] != '{' && line[at - 1] != '|' && line[at - 1] != '(';
    if (alone && (end == line.size() || line[end] == '.' || line[end] == '{' || line[end] == '(')) return true;
  }
  return false;
}
inline isa::Half half_of(const vm::Insn& i) {
  const isa::Row& row = *i.source->form.row;
  if (i.mods().half != isa::Half::None) return i.mods().half;
  return says(row, ".lo") ? isa::Half::Lo : says(row, ".hi") ? isa::Half::Hi : says(row, ".wide") ? isa::Half::Wide : isa::Half::None;
}

bool has_conversion(const vm::Insn& insn);    // conversions.cc
bool is_approximation(const vm::Insn& insn);  // .approx, .full: the special function unit's
bool arrives_in_shared(const vm::Insn& insn);  // at a barrier in shared memory, without transactions

// What may wrap around of the values of known stride that are widened. The code checks what it counts on and hands over, after which
// less is counted on: clang computes addresses early, as that of `s[t - d]` for lanes below d.
enum class Wraps : uint8_t { Nothing, Differences, Anything };

struct Shapes {
  std::array<uint32_t, 3> block{1, 1, 1};
  uint32_t packed = 1;                 // blocks of the grid's row that a warp runs at once (pack_shapes)
  Wraps wraps = Wraps::Nothing;
  std::vector<char> differences;       // by variable: something was taken off it; empty where that is no matter
  bool warps_wrap = true;              // from warp to warp they may
  std::vector<Shape> variables;
  std::vector<char> divergent;         // by node: lanes may disagree at its end
  std::vector<char> loose;             // by variable: a NaN in it need not be canonical yet
  std::vector<LowBits> guesses;        // by variable (guesses.h); empty: nothing is guessed
  const Flow* flow = nullptr;

  // The block is a single thread: whatever it has is the same in all of its lanes.
  bool lone() const { return block[0] * block[1] * block[2] * packed == 1; }
  Shape special(const vm::FrameSlot& slot) const;
  Shape source(int32_t at, Width bytes) const;
  // The shape of an instruction's result before it is joined with what else its variable holds.
  Shape result(const vm::Insn& insn) const;
  Shape written(const vm::Insn& insn, const Slot& slot) const;  // likewise of any register that it writes
  // A write in the node must keep the old values of the lanes that are not running.
  bool needs_blend(uint32_t node, uint32_t variable) const;
  bool has_ir(const vm::Insn& insn) const;
  // Is it counted on that a value of 32 bits does not wrap where it is widened?
  bool counts_on(int32_t at) const;
  bool is_loose(int32_t at) const {
    const Source s = flow->source(at, 4);
    return s.kind == SourceKind::Variable && loose[s.variable];
  }
  // As long as warps take the same steps through these nodes of a region, from its entry on. What is the same in the block or
  // has a pace in all of them then is so at each place. Counts on it that what is widened does not wrap from warp to warp.
  Shapes in_step(const std::vector<char>& nodes, uint32_t entry) const;
  // The operand of an `and` whose low bits its shape is guessed by; 0: none.
  int guessed_operand(const vm::Insn& insn) const;

 private:
  Shape of_cells(const vm::Insn& insn, const CellAccess& access) const;
};

// `decides[n]`: the whole block goes one way at the end of node n.
Shapes find_shapes(Flow& flow, const std::array<uint32_t, 3>& block, const std::vector<char>& decides, bool barriers, Wraps wraps);
// Finds the shapes of variables that have none yet, and others' again where their definitions say less.
void settle_shapes(Shapes& shapes, Flow& flow, const std::vector<char>& decides, bool barriers);

}  // namespace warpbeam::jit
