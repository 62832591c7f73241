// The arithmetic of tensor cores, bit for bit as an H200 computes it.
//
// Products of floating-point elements are exact. The products of a chunk and the accumulator are brought to the
// exponent of the largest of them, where `fraction` bits remain below the binary point and the rest is cut off towards
// zero; then they are added exactly, and the sum is cut to the result's format (rounded to nearest for f16). The next
// chunk begins with that result. Exponents count before products are normalised, so 1.5 * 1.5 aligns like 1 * 1. The
// scheme is the one published for Volta to Hopper (Fasi et al. 2021; Khattak and Mikaitis 2025); the numbers are fitted
// to tests/vectors/tensor.txt.
#pragma once
#include <cstdint>

#include "isa/mods.h"
#include "isa/types.h"

namespace warpbeam::isa {

struct AddingModel {
  int chunk = 16;            // products added at once
  int fraction = 25;         // bits kept below the largest exponent
  int significand = 24;      // of an f32 result; fewer where the unit keeps less
  Type between = Type::F32;  // what a chunk hands to the next
};

// Row-major matrices of elements in 32-bit cells: a is m by k, b is k by n, c and d are m by n.
struct MatrixProduct {
  int m = 0, n = 0, k = 0;
  const uint32_t* a = nullptr;
  const uint32_t* b = nullptr;
  const uint32_t* c = nullptr;
  uint32_t* d = nullptr;
  Type at{}, bt{}, ct{}, dt{};
  const uint8_t* used = nullptr;  // of a sparse matrix a: which cells are stored; null: all
  bool saturate = false;          // of integers
  bool both_bits = false;         // b1: and instead of exclusive or
};

AddingModel adding_model(Type a);
void multiply_floats(const MatrixProduct& p, AddingModel model);
// mma of 8-bit floating-point numbers: two sums in f32, of every other two (in sparse products four) elements along k,
// the second on top of the first; the accumulator is added to them rounded to nearest.
void multiply_fp8(const MatrixProduct& p);
// The small products of sm_70, which later devices make of fused multiply-adds in f32: for f16 (c + p0 + p1) + (p2 +
// p3), for f32 ((p0 + p1) + p2) + p3 + c.
void multiply_in_steps(const MatrixProduct& p);
void multiply_integers(const MatrixProduct& p);
void multiply_bits(const MatrixProduct& p);
// One fused multiply-add after the other along k.
void multiply_doubles(int m, int n, int k, const double* a, const double* b, const double* c, double* d, Rnd rounding);

}  // namespace warpbeam::isa
