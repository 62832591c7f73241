// The statements of the instruction table that random kernels are made of, and how they are fitted into one.
#pragma once
#include <string>
#include <vector>

#include "fuzz/random.h"
#include "fuzz/statements.h"

namespace warpbeam::fuzz {

struct PaletteRow {
  const isa::Row* row = nullptr;
  std::vector<Statement> statements;
};

class Palette {
 public:
  // `portable`: without what is defined on our machine alone (which lanes run together in divergent code), or where a
  // device is known to depart from the manual.
  explicit Palette(bool portable);

  // A statement of a random row of a random instruction.
  const Statement& compute(Random& random) const { return pick(compute_, random); }
  const Statement& warp(Random& random) const { return pick(warp_, random); }
  const Statement& carry(Random& random) const { return pick(carry_, random); }
  const Statement& memory(Random& random) const { return pick(memory_, random); }
  const Statement& atomic(Random& random) const { return pick(atomic_, random); }

  // Whether a guard may stand before it.
  bool guardable(const Statement& s) const;

 private:
  // By instruction, so that cvt with its many rows is no more frequent than add.
  using Rows = std::vector<std::vector<PaletteRow>>;
  static const Statement& pick(const Rows& rows, Random& random);
  bool portable_;
  Rows compute_, warp_, carry_, memory_, atomic_;
};

// The statement with registers chosen at random, and now and then a number for a source. `address` is for [..].
std::string fitted(const Statement& statement, Random& random, const std::string& address = "");
std::string random_register(isa::Type type, Random& random);

}  // namespace warpbeam::fuzz
