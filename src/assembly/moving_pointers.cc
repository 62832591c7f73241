// Pointers that a loop moves along.
//
// Idea: `p += n` at a turn's end writes the registers by which its accesses still go. Where there are several, or one that takes long to read them, the
// vendor's assembler makes the sum elsewhere and brings it back when they are under way, or has stores go by a copy: two instructions a turn.
// (Counted on an H200: loops of one pointer and one load of 8 bytes or less take none; of two loads, of a store, of a load of 16 bytes two.)
// Precondition: a loop of one block, a pointer of 64 bits that one sum in its place moves, all accesses by it before that.
// Postcondition: the same values.
// Fallback: the sum stays in its place.
#include <algorithm>
#include <array>
#include <vector>

#include "assembly/draft.h"

namespace warpbeam::assembly {
namespace {

constexpr uint8_t kLongest = 8;  // bytes of a lane that a load reads at once

bool reads(const Draft& d, Part p) {
  return std::ranges::any_of(d.reads, [&](Part r) { return r && r.value == p.value && r.first == p.first && r.count == p.count; });
}
bool writes(const Draft& d, int32_t value) {
  return std::ranges::any_of(d.writes, [&](Part w) { return w && w.value == value; });
}
// Moves one half of the value on, in its place.
bool moves(const Draft& d, Part half) { return d.operation == Operation::IntAdd && !d.guarded && d.writes[0] == half && reads(d, half); }
bool goes_by(const Draft& d, Part pointer) {
  return (d.order == Order::Load || d.order == Order::Store) && d.operation != Operation::LoadShared && reads(d, pointer);
}

class Mover {
 public:
  Mover(DraftCode& code, std::vector<Draft>& text) : code_(code), text_(text) {}

  void run() {
    std::vector<int32_t> moved;
    for (const Draft& d : text_)
      if (const Part w = d.writes[0];
          w && w.first == 0 && w.count == 1 && code_.values[static_cast<size_t>(w.value)].words == 2 && moves(d, w))
        moved.push_back(w.value);
    for (int32_t value : moved) move_later(value);
  }

 private:
  void move_later(int32_t value) {
    const Part pointer = code_.whole(value);
    size_t end = 0;  // where it begins to move
    while (end < text_.size() && !writes(text_[end], value)) ++end;
    if (std::count_if(text_.begin(), text_.end(), [&](const Draft& d) { return writes(d, value); }) != 2) return;
    size_t accesses = 0;
    bool long_one = false, stores = false;
    for (size_t k = 0; k < end; ++k)
      if (goes_by(text_[k], pointer)) {
        ++accesses;
        stores |= text_[k].order == Order::Store;
        long_one |= text_[k].bytes > kLongest;
      }
    if (accesses < 2 && !(accesses && (long_one || stores))) return;
    const auto touches = [&](const Draft& d) { return std::ranges::any_of(d.reads, [&](Part r) { return r && r.value == value; }); };
    if (std::count_if(text_.begin() + static_cast<ptrdiff_t>(end), text_.end(), touches) != 2) return;
    const int32_t other = code_.new_value(Bank::General, 2);
    if (stores) {  // go by a copy: they read it late
      for (size_t k = 0; k < end; ++k)
        if (goes_by(text_[k], pointer))
          for (Part& r : text_[k].reads)
            if (r && r.value == value) r.value = other;
      return insert_moves(text_.begin(), value, other);
    }
    for (size_t k = end; k < text_.size(); ++k)
      for (Part& w : text_[k].writes)
        if (w && w.value == value) w.value = other;
    auto behind = text_.end();
    while (behind != text_.begin() && std::prev(behind)->last) --behind;
    insert_moves(behind, other, value);
  }

  void insert_moves(std::vector<Draft>::iterator at, int32_t from, int32_t to) {
    std::array<Draft, 2> moves;
    for (uint8_t half = 0; half < 2; ++half) {
      Draft& d = moves[half];
      d.operation = Operation::Move;
      d.mnemonic = "MOV";
      d.ptx = (at != text_.end() ? *at : text_.back()).ptx;
      d.reads[0] = {from, half, 1};
      d.writes[0] = {to, half, 1};
    }
    text_.insert(at, moves.begin(), moves.end());
  }

  DraftCode& code_;
  std::vector<Draft>& text_;
};

}  // namespace

void move_pointers_later(DraftCode& code) {
  const auto is_loop = [&](const DraftBlock& b, int32_t number) {
    return std::ranges::find(b.successors, static_cast<uint32_t>(number)) != b.successors.end();
  };
  for (size_t b = 0; b < code.blocks.size(); ++b) {
    const int32_t number = code.blocks[b].repeats >= 0 ? code.blocks[b].repeats : static_cast<int32_t>(b);
    if (is_loop(code.blocks[static_cast<size_t>(number)], number)) Mover(code, code.blocks[b].text).run();
  }
}

}  // namespace warpbeam::assembly
