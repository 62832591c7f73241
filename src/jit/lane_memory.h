// Memory that lanes read and write: a vector of elements and where they are, in all the ways in which lanes can lie. Whoever calls has
// checked the places of lanes that take part; `base` or `shared`, where there is one, is what places count from.
#pragma once
#include <array>
#include <functional>
#include <vector>

#include "jit/accesses.h"
#include "jit/writing.h"

namespace warpbeam::jit {

bool wide_host();    // does it have AVX-512 and what belongs to it?
bool ranks_lanes();  // else lanes' ranks cost more than they save
bool compresses(Width bytes);  // elements of a register to its front, behind each other

inline constexpr Width kWord = 4;  // bytes of the least that hosts gather, permute and transpose

class LaneMemory : private Words {
 public:
  explicit LaneMemory(Writing& writing) : Words(writing) {}
  // Elements `step` apart, with what lies between them masked out (AccessFacts::in_steps).
  V load_steps(V pointer, V mask, Width bytes, int step);
  void store_steps(V data, V pointer, V mask, Width bytes, int step);
  V gather(V at, V base, V bits, Width bytes);
  void store_apart(V data, const Line& line, V shared, V mask, Width bytes);
  // Places of 64 elements, as bits.
  V load_places(V pointer, V which, V places);
  void store_places(V data, V pointer, V places, V mask);
  // The first `few` lanes.
  V load_prefix(const Value& address, V shared, Width bytes, int few);
  void store_prefix(V lanes, const Value& address, V shared, Width bytes, int few);
  std::vector<V> load_piece(const std::function<V(int)>& at, Width word, Width align);
  void store_piece(std::vector<V> words, const std::function<V(int)>& at, Width word, Width align);
  std::function<V(int)> lanes_one_by_one(V addresses);
  V interleaved(const std::vector<V>& data, int runs, int run);
  // Addresses of which nothing is known (stretches.cc). `ranks`: lanes that store may be in a row.
  V load_lanes(V at, V mask, Width bytes, V base);
  void store_lanes(V data, V at, V mask, Width bytes, V base, bool ranks);
  V is_ranked(V places, V first, uint64_t step, V mask);
  void compress(V data, V at, V mask);

 private:
  struct Scattered {
    llvm::BasicBlock *stretches = nullptr, *apart = nullptr;
    V base = nullptr, at = nullptr, places = nullptr, first[2]{};
  };
  struct Stepping {
    unsigned lanes = 0;  // of one register
    llvm::FixedVectorType* type = nullptr;
    V taken = nullptr;   // its elements that are the mask's lanes'
  };
  Stepping stepping(Width bytes, int step, V mask, unsigned from);
  std::vector<V> transposed(const std::vector<V>& rows);
  V on_line(const Line& line, V shared, int lane);
  Scattered sort_out(V at, Width bytes, V base);
  V place_of(const Scattered& s, V at, llvm::Type* element);
  V first_of(const Scattered& s, int half);
  V from_window(V pointer, V which);
  V pick_from_window(const std::array<V, 4>& parts, V which);
  void to_window(V data, V pointer, V which, V mask);
  void store_ranked(V data, const Scattered& s, V mask, llvm::BasicBlock* join);
};

}  // namespace warpbeam::jit
