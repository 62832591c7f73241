// Where a fragment's elements lie: in which line (a row, or a column where columns lie side by side) and at which place of it.
#pragma once
#include <cstdint>

#include "vm/matrix_plan.h"

namespace warpbeam::jit {

struct FragmentLines {
  enum class Form : uint8_t {
    Fours,   // lanes 4g to 4g + 3 of a register are side by side
    Twos,    // and so are those of two registers in turn
    Across,  // lanes 4g + t of a register are place g of t's lines, one for each of its elements
    None
  } form = Form::None;
  const vm::Fragment& fragment;
  const bool columns;

  FragmentLines(const vm::Fragment& of, bool by_columns);
  int line(int x, int lane) const { return columns ? cell(x, lane) % fragment.columns : cell(x, lane) / fragment.columns; }
  int at(int x, int lane) const { return columns ? cell(x, lane) / fragment.columns : cell(x, lane) % fragment.columns; }
  int count() const { return columns ? fragment.columns : fragment.rows; }
  int length() const { return columns ? fragment.rows : fragment.columns; }

 private:
  int cell(int x, int lane) const { return fragment.cell[static_cast<size_t>(lane * fragment.per_lane + x)]; }
};

}  // namespace warpbeam::jit
