// wmma.load and wmma.store of a whole fragment at once.
//
// Idea: a register's lanes 4g to 4g + 3 are in most fragments 16 bytes side by side in memory, or, where the matrix lies the other
// way, its rows are columns of a small block that is transposed in registers.
// Precondition: the whole matrix lies in memory that may be accessed, elements have whole bytes, and nobody watches.
// Postcondition: what wmma_memory of exec_matrix_memory.cc leaves.
// Fallback: false, and that one does it element by element, with its faults.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpbeam::vm {

struct Insn;
struct Fragment;

inline constexpr uint64_t kNoStride = ~uint64_t{0};

// `room`: bytes from `memory` on that may be accessed. `registers` lie one behind the other, each of 32 lanes; repetitions are not there.
using MoveMatrix = bool (*)(const Insn& i, std::byte* memory, uint64_t room, uint64_t stride, void* registers);

// Where elements lie in memory: in which line (a row, or a column where columns lie side by side) and at which place of it.
struct FragmentLines {
  std::vector<uint16_t> line, at;     // element x of lane l: [x * 32 + l]
  bool fours = false;                 // lanes of a register lie side by side, each four in the next line
  bool across = false;                // its lanes 4g + t hold place g of the lines that follow t
  bool twos = false;                  // elements 2x and 2x + 1 of a lane lie side by side, and so do four lanes
};
struct FragmentMoves {
  FragmentLines by_rows, by_columns;
  bool stores = false;
  uint64_t element_bytes = 0;         // 0: less than one
};
FragmentMoves find_moves(const Fragment& fragment, bool stores, int element_bits);

bool move_matrix(const Insn& i, std::byte* memory, uint64_t room, uint64_t stride, void* registers);

}  // namespace warpbeam::vm
