// The jobs of the table as a good engineer would write them for a CPU: plain C++ with OpenMP, g++ -O3 -march=native.
#pragma once

#include <cstddef>
#include <cstdint>

namespace reference {

void vector_add(const float* a, const float* b, float* c, size_t n);
void saxpy(float factor, const float* x, float* y, size_t n);
void copy(const float* from, float* to, size_t n);

int sum(const int* data, size_t n);
float sum(const float* data, size_t n);

// Inclusive sums.
void scan(const int* in, int* out, size_t n);
// Keeps the positive ones in their order; gives their number.
size_t compact(const int* in, int* out, size_t n);

void transpose(const float* in, float* out, int rows, int columns);
void matrix_product_16(const float* a, const float* b, float* c, int n);
void matrix_product_32(const float* a, const float* b, float* c, int n);

void histogram(const unsigned char* data, size_t n, unsigned* bins);

void stencil_2d(const float* in, float* out, int width, int height);
// `in` has four more elements on either side.
void stencil_1d(const float* in, float* out, const float* coefficients, size_t n);

struct Bodies {
  const float *x, *y, *z, *mass;
};
void nbody(const Bodies& bodies, int n, float softening, float* ax, float* ay, float* az);
void black_scholes(const float* price, const float* strike, const float* years, float rate, float volatility, float* call, float* put,
                   size_t n);
void mandelbrot(int* iterations, int width, int height, float left, float top, float step, int limit);

// Levels from `source`; -1 where nothing leads.
void bfs(const int* row_begin, const int* columns, int vertices, int source, int* level);
void spmv(const int* row_begin, const int* columns, const float* values, const float* x, float* y, int rows);

void bitonic_sort(int* data, size_t n);
// Sorts `keys`; `other` is as large.
void radix_sort(uint32_t* keys, uint32_t* other, size_t n);

}  // namespace reference
