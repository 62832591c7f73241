// Products of matrices in the registers of a warp, without taking them out of their lanes.
//
// Idea: lane 4g + t holds places of row g of A, of column g of B and of row g of C. Two registers, of rows g and g + 8, are by a
// few shuffles columns of sixteen rows, and B's elements lie as they are multiplied, one number for a column of A. Sums are made as
// isa/arith/matrix.h says: a product is exact in f32, times a power of two it has its point where the largest one's exponent puts
// it, and the conversion to an integer cuts off the rest.
// Precondition: all lanes are there; no infinities or NaNs, exponents not near the ends of f32's; products of 8- and 4-bit
// floating-point numbers, of bits and of sparse matrices have none of this.
// Postcondition: the same bits as isa::multiply_floats, multiply_integers and multiply_doubles.
// Fallback: false, and those have to do it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace warpbeam::vm {

struct Insn;
struct MatrixPlan;

// Registers one behind the other, each of 32 lanes; a warp's part of wgmma has its matrices in them too. Whether d has the result.
using MultiplyLanes = bool (*)(const Insn& i, void* d, const void* a, const void* b, const void* c);

// Registers one behind the other, each with eight rows of eight elements of 16 bits, which become columns.
void transpose_registers(std::byte* registers, size_t count);

// ldmatrix and stmatrix: a register for each matrix, whose eight rows of 16 bytes are each at an address of its own.
void load_rows(std::byte* const* rows, bool transposed, int matrices, std::byte* registers);
void store_rows(std::byte* const* rows, bool transposed, int matrices, const std::byte* registers);

// Null: there is none for this form.
MultiplyLanes multiply_lanes(const MatrixPlan& plan);

}  // namespace warpbeam::vm
