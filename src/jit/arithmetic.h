// What an instruction makes of its operands, as isa/arith says: results that depend on nothing else. One piece of code serves
// scalars and vectors of lanes. What is not listed in Shapes::has_ir is left to the interpreter's handlers.
#pragma once
#include <array>
#include <vector>

#include "jit/runtime.h"
#include "jit/shapes.h"
#include "jit/writing.h"

namespace warpbeam::jit {

struct SpecialTables;
struct WordTable;

class Arithmetic : private Words {
 public:
  Arithmetic(Writing& writing, const Shapes& shapes, const Processor& processor) : Words(writing), shapes_(shapes), processor_(processor) {}
  V compute(const vm::Insn& insn, const std::vector<V>& operands);
  V compare(const vm::Insn& insn, V a, V c);
  V join_predicates(const vm::Insn& insn, V a, V c);  // what a comparison's own predicate makes of it
  // Rounded as the instruction says, which is not to the nearest; for 32 lanes. Null: there is no code for it (directed.cc).
  V directed(const vm::Insn& insn, const std::vector<V>& operands);
  // The special function unit's (special.cc). Null: the function has no code here. `unusual`: lanes that it does not serve.
  V special_function(isa::Opcode op, V x, V* unusual);
  V product_of_floats(V a, V b, bool ftz);            // as mul.f32

 private:
  V compute_integer(const vm::Insn& insn, const std::vector<V>& o);
  V compute_float(const vm::Insn& insn, const std::vector<V>& o);
  V compute_convert(const vm::Insn& insn, V a);      // conversions.cc
  V rounded(isa::Opcode op, V a, V b = nullptr, V c = nullptr);  // as direction_ says
  V with_nan(V result, std::vector<V> operands, const std::vector<unsigned>& order);
  V clamped(V x, bool is_signed, unsigned bits, bool to_signed);
  V saturated(V x, unsigned bits, bool is_signed);
  V saturated_64(V x, bool is_signed);
  V table_lookup(const std::vector<uint32_t>& table, V source, uint32_t shift, uint32_t flip);
  V look_up_bytes(const std::vector<uint32_t>& table, V source, uint32_t shift, uint32_t flip);
  V look_up_words(const std::vector<uint32_t>& table, V source, uint32_t shift, uint32_t flip);
  V truncated_square(V x);
  V products_in_pairs(unsigned bits, V a, V c);  // interpolated.cc
  std::pair<V, V> entries_of(const WordTable& table, V source);
  V upper_square(V x);
  V interpolated(const WordTable& table, V source, V squared);

  const Shapes& shapes_;
  const Processor& processor_;
  uint32_t direction_ = 0;         // of rounding, as AVX-512's instructions have it; 0: to the nearest
  std::array<V, 4> byte_masks_{};  // every fourth byte
};

// How a double operation's result is rounded; 0: to the nearest, or it is not one of those that can be rounded otherwise.
int directed_operands(const vm::Insn& insn);

}  // namespace warpbeam::jit
