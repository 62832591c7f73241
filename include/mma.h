// nvcuda::wmma: matrix products that a warp makes together on fragments spread over its lanes.
#ifndef WARPBEAM_MMA_H
#define WARPBEAM_MMA_H
#include "warpbeam/hide_macros.h"

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "warpbeam/device/mma_instructions.h"

namespace nvcuda {
namespace wmma {

// What a fragment is of a product, and how its matrix lies in memory.
struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

// Elements that no C++ type stands for.
namespace precision {
struct tf32;
}
namespace experimental {
namespace precision {
struct u4;
struct s4;
struct b1;
}  // namespace precision
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}  // namespace experimental

namespace wb {

typedef unsigned int __attribute__((may_alias)) Word;
typedef float __attribute__((may_alias)) Single;
typedef double __attribute__((may_alias)) Double;

template <class T>
struct Element {
  typedef T element;
  typedef T storage;
};
template <>
struct Element<precision::tf32> {
  typedef float element;
  typedef float storage;
};
template <>
struct Element<experimental::precision::u4> {
  typedef unsigned int element;
  typedef unsigned int storage;
};
template <>
struct Element<experimental::precision::s4> {
  typedef int element;
  typedef int storage;
};
template <>
struct Element<experimental::precision::b1> {
  typedef unsigned int element;
  typedef unsigned int storage;
};

// A lane's part of a matrix: `stored` values in `x`, which hold `elements` of the matrix.
template <class T, int elements, int stored>
struct Part {
  typedef typename Element<T>::element element_type;
  typedef typename Element<T>::storage storage_element_type;
  enum { num_elements = elements, num_storage_elements = stored };
  storage_element_type x[stored];
};

}  // namespace wb

template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment;

#define WB_FRAGMENT(use, m, n, k, T, Layout, elements, stored) \
  template <>                                                  \
  class fragment<use, m, n, k, T, Layout> : public wb::Part<T, elements, stored> {};
#define WB_FRAGMENTS(m, n, k, T, in_a, in_b)               \
  WB_FRAGMENT(matrix_a, m, n, k, T, row_major, in_a, in_a) \
  WB_FRAGMENT(matrix_a, m, n, k, T, col_major, in_a, in_a) \
  WB_FRAGMENT(matrix_b, m, n, k, T, row_major, in_b, in_b) \
  WB_FRAGMENT(matrix_b, m, n, k, T, col_major, in_b, in_b)
#define WB_SHAPES(WHAT) WHAT(16, 16, 16) WHAT(32, 8, 16) WHAT(8, 32, 16)
#define WB_FRAGMENTS_16(m, n, k)                        \
  WB_FRAGMENTS(m, n, k, __half, 16, 16)                 \
  WB_FRAGMENTS(m, n, k, __nv_bfloat16, m / 2, n / 2)    \
  WB_FRAGMENTS(m, n, k, unsigned char, m / 2, n / 2)    \
  WB_FRAGMENTS(m, n, k, signed char, m / 2, n / 2)      \
  WB_FRAGMENT(accumulator, m, n, k, __half, void, 8, 8) \
  WB_FRAGMENT(accumulator, m, n, k, float, void, 8, 8)  \
  WB_FRAGMENT(accumulator, m, n, k, int, void, 8, 8)
WB_SHAPES(WB_FRAGMENTS_16)
WB_FRAGMENTS(16, 16, 8, precision::tf32, 4, 4)
WB_FRAGMENT(accumulator, 16, 16, 8, float, void, 8, 8)
WB_FRAGMENTS(8, 8, 4, double, 1, 1)
WB_FRAGMENT(accumulator, 8, 8, 4, double, void, 2, 2)
WB_FRAGMENT(matrix_a, 8, 8, 32, experimental::precision::u4, row_major, 8, 1)
WB_FRAGMENT(matrix_b, 8, 8, 32, experimental::precision::u4, col_major, 8, 1)
WB_FRAGMENT(matrix_a, 8, 8, 32, experimental::precision::s4, row_major, 8, 1)
WB_FRAGMENT(matrix_b, 8, 8, 32, experimental::precision::s4, col_major, 8, 1)
WB_FRAGMENT(accumulator, 8, 8, 32, int, void, 2, 2)
WB_FRAGMENT(matrix_a, 8, 8, 128, experimental::precision::b1, row_major, 32, 1)
WB_FRAGMENT(matrix_b, 8, 8, 128, experimental::precision::b1, col_major, 32, 1)
WB_FRAGMENT(accumulator, 8, 8, 128, int, void, 2, 2)

template <class Use, int m, int n, int k, class T, class Layout, class V>
__forceinline__ __device__ void fill_fragment(fragment<Use, m, n, k, T, Layout>& f, const V& value) {
  for (int i = 0; i < (int)f.num_storage_elements; i++)
    f.x[i] = (typename fragment<Use, m, n, k, T, Layout>::storage_element_type)value;
}

__forceinline__ __device__ float __float_to_tf32(float value) {
  unsigned int bits = 0;
#ifdef __CUDA_ARCH__
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
#endif
  return __uint_as_float(bits);
}

// The bodies are the device's alone: the host's compiler has no such registers.
#ifdef __CUDA_ARCH__
#define WB_DEVICE_ONLY(...) __VA_ARGS__
#else
#define WB_DEVICE_ONLY(...)
#endif
#define WB_SHAPE_NAME(m, n, k) "m" #m "n" #n "k" #k
#define WB_WORDS(x) (wb::Word*)(x)
#define WB_SINGLES(x) (wb::Single*)(x)
#define WB_DOUBLES(x) (wb::Double*)(x)

// --- loads and stores --------------------------------------------------------------------------------------------

#define WB_LOAD(use, letter, m, n, k, T, Memory, Layout, layout, type, LOAD, View)                          \
  __forceinline__ __device__ void load_matrix_sync(fragment<use, m, n, k, T, Layout>& f, const Memory* p,   \
                                                   unsigned int stride) {                                   \
    WB_DEVICE_ONLY(auto* r = View(f.x);                                                                     \
                   LOAD(letter ".sync.aligned." layout "." WB_SHAPE_NAME(m, n, k) "." type, r, p, stride);) \
  }
#define WB_LOADS(m, n, k, T, Memory, type, LOAD_A, LOAD_B, View)                   \
  WB_LOAD(matrix_a, "a", m, n, k, T, Memory, row_major, "row", type, LOAD_A, View) \
  WB_LOAD(matrix_a, "a", m, n, k, T, Memory, col_major, "col", type, LOAD_A, View) \
  WB_LOAD(matrix_b, "b", m, n, k, T, Memory, row_major, "row", type, LOAD_B, View) \
  WB_LOAD(matrix_b, "b", m, n, k, T, Memory, col_major, "col", type, LOAD_B, View)
#define WB_ACCUMULATOR(m, n, k, T, type, LOAD, STORE, View)                                           \
  __forceinline__ __device__ void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const T* p,  \
                                                   unsigned int stride, layout_t layout) {            \
    WB_DEVICE_ONLY(auto* r = View(f.x); if (layout == mem_row_major)                                  \
                       LOAD("c.sync.aligned.row." WB_SHAPE_NAME(m, n, k) "." type, r, p, stride);     \
                   else LOAD("c.sync.aligned.col." WB_SHAPE_NAME(m, n, k) "." type, r, p, stride);)   \
  }                                                                                                   \
  __forceinline__ __device__ void store_matrix_sync(T* p, const fragment<accumulator, m, n, k, T>& f, \
                                                    unsigned int stride, layout_t layout) {           \
    WB_DEVICE_ONLY(const auto* r = View(const_cast<T*>(f.x)); if (layout == mem_row_major)            \
                       STORE("sync.aligned.row." WB_SHAPE_NAME(m, n, k) "." type, r, p, stride);      \
                   else STORE("sync.aligned.col." WB_SHAPE_NAME(m, n, k) "." type, r, p, stride);)    \
  }

#define WB_MEMORY_16(m, n, k)                                                          \
  WB_LOADS(m, n, k, __half, __half, "f16", WB_WMMA_LOAD_r8, WB_WMMA_LOAD_r8, WB_WORDS) \
  WB_ACCUMULATOR(m, n, k, __half, "f16", WB_WMMA_LOAD_r4, WB_WMMA_STORE_r4, WB_WORDS)  \
  WB_ACCUMULATOR(m, n, k, float, "f32", WB_WMMA_LOAD_f8, WB_WMMA_STORE_f8, WB_SINGLES) \
  WB_ACCUMULATOR(m, n, k, int, "s32", WB_WMMA_LOAD_r8, WB_WMMA_STORE_r8, WB_WORDS)
WB_SHAPES(WB_MEMORY_16)
WB_LOADS(16, 16, 16, __nv_bfloat16, __nv_bfloat16, "bf16", WB_WMMA_LOAD_r4, WB_WMMA_LOAD_r4, WB_WORDS)
WB_LOADS(32, 8, 16, __nv_bfloat16, __nv_bfloat16, "bf16", WB_WMMA_LOAD_r8, WB_WMMA_LOAD_r2, WB_WORDS)
WB_LOADS(8, 32, 16, __nv_bfloat16, __nv_bfloat16, "bf16", WB_WMMA_LOAD_r2, WB_WMMA_LOAD_r8, WB_WORDS)
WB_LOADS(16, 16, 16, unsigned char, unsigned char, "u8", WB_WMMA_LOAD_r2, WB_WMMA_LOAD_r2, WB_WORDS)
WB_LOADS(32, 8, 16, unsigned char, unsigned char, "u8", WB_WMMA_LOAD_r4, WB_WMMA_LOAD_r1, WB_WORDS)
WB_LOADS(8, 32, 16, unsigned char, unsigned char, "u8", WB_WMMA_LOAD_r1, WB_WMMA_LOAD_r4, WB_WORDS)
WB_LOADS(16, 16, 16, signed char, signed char, "s8", WB_WMMA_LOAD_r2, WB_WMMA_LOAD_r2, WB_WORDS)
WB_LOADS(32, 8, 16, signed char, signed char, "s8", WB_WMMA_LOAD_r4, WB_WMMA_LOAD_r1, WB_WORDS)
WB_LOADS(8, 32, 16, signed char, signed char, "s8", WB_WMMA_LOAD_r1, WB_WMMA_LOAD_r4, WB_WORDS)
WB_LOADS(16, 16, 8, precision::tf32, float, "tf32", WB_WMMA_LOAD_r4, WB_WMMA_LOAD_r4, WB_WORDS)
WB_ACCUMULATOR(16, 16, 8, float, "f32", WB_WMMA_LOAD_f8, WB_WMMA_STORE_f8, WB_SINGLES)
WB_LOADS(8, 8, 4, double, double, "f64", WB_WMMA_LOAD_d1, WB_WMMA_LOAD_d1, WB_DOUBLES)
WB_ACCUMULATOR(8, 8, 4, double, "f64", WB_WMMA_LOAD_d2, WB_WMMA_STORE_d2, WB_DOUBLES)
WB_LOAD(matrix_a, "a", 8, 8, 32, experimental::precision::u4, void, row_major, "row", "u4", WB_WMMA_LOAD_r1, WB_WORDS)
WB_LOAD(matrix_b, "b", 8, 8, 32, experimental::precision::u4, void, col_major, "col", "u4", WB_WMMA_LOAD_r1, WB_WORDS)
WB_LOAD(matrix_a, "a", 8, 8, 32, experimental::precision::s4, void, row_major, "row", "s4", WB_WMMA_LOAD_r1, WB_WORDS)
WB_LOAD(matrix_b, "b", 8, 8, 32, experimental::precision::s4, void, col_major, "col", "s4", WB_WMMA_LOAD_r1, WB_WORDS)
WB_ACCUMULATOR(8, 8, 32, int, "s32", WB_WMMA_LOAD_r2, WB_WMMA_STORE_r2, WB_WORDS)
WB_LOAD(matrix_a, "a", 8, 8, 128, experimental::precision::b1, void, row_major, "row", "b1", WB_WMMA_LOAD_r1, WB_WORDS)
WB_LOAD(matrix_b, "b", 8, 8, 128, experimental::precision::b1, void, col_major, "col", "b1", WB_WMMA_LOAD_r1, WB_WORDS)
WB_ACCUMULATOR(8, 8, 128, int, "s32", WB_WMMA_LOAD_r2, WB_WMMA_STORE_r2, WB_WORDS)

// --- products ----------------------------------------------------------------------------------------------------

// `saturate` clamps integers to their range; floating-point results know no such limit.
#define WB_MMA(m, n, k, T, La, la, Lb, lb, D, C, types, MMA, MMA_SATURATED, ViewD, ViewAB, ViewC)                      \
  __forceinline__ __device__ void mma_sync(fragment<accumulator, m, n, k, D>& d,                                       \
                                           const fragment<matrix_a, m, n, k, T, La>& a,                                \
                                           const fragment<matrix_b, m, n, k, T, Lb>& b,                                \
                                           const fragment<accumulator, m, n, k, C>& c, bool saturate = false) {        \
    WB_DEVICE_ONLY(auto* rd = ViewD(d.x); auto* ra = ViewAB(a.x); auto* rb = ViewAB(b.x); auto* rc = ViewC(c.x);       \
                   if (saturate)                                                                                       \
                       MMA(".sync.aligned." la "." lb "." WB_SHAPE_NAME(m, n, k) types MMA_SATURATED, rd, ra, rb, rc); \
                   else MMA(".sync.aligned." la "." lb "." WB_SHAPE_NAME(m, n, k) types, rd, ra, rb, rc);)             \
  }
#define WB_MMAS(m, n, k, T, D, C, types, MMA, SATURATED, ViewD, ViewAB, ViewC)                              \
  WB_MMA(m, n, k, T, row_major, "row", row_major, "row", D, C, types, MMA, SATURATED, ViewD, ViewAB, ViewC) \
  WB_MMA(m, n, k, T, row_major, "row", col_major, "col", D, C, types, MMA, SATURATED, ViewD, ViewAB, ViewC) \
  WB_MMA(m, n, k, T, col_major, "col", row_major, "row", D, C, types, MMA, SATURATED, ViewD, ViewAB, ViewC) \
  WB_MMA(m, n, k, T, col_major, "col", col_major, "col", D, C, types, MMA, SATURATED, ViewD, ViewAB, ViewC)
#define WB_MMAS_HALF(m, n, k)                                                                                  \
  WB_MMAS(m, n, k, __half, __half, __half, ".f16.f16", WB_WMMA_r4_r8_r8_r4, "", WB_WORDS, WB_WORDS, WB_WORDS)  \
  WB_MMAS(m, n, k, __half, float, __half, ".f32.f16", WB_WMMA_f8_r8_r8_r4, "", WB_SINGLES, WB_WORDS, WB_WORDS) \
  WB_MMAS(m, n, k, __half, __half, float, ".f16.f32", WB_WMMA_r4_r8_r8_f8, "", WB_WORDS, WB_WORDS, WB_SINGLES) \
  WB_MMAS(m, n, k, __half, float, float, ".f32.f32", WB_WMMA_f8_r8_r8_f8, "", WB_SINGLES, WB_WORDS, WB_SINGLES)
WB_SHAPES(WB_MMAS_HALF)
#define WB_BF16 ".f32.bf16.bf16.f32"
WB_MMAS(16, 16, 16, __nv_bfloat16, float, float, WB_BF16, WB_WMMA_f8_r4_r4_f8, "", WB_SINGLES, WB_WORDS, WB_SINGLES)
WB_MMAS(32, 8, 16, __nv_bfloat16, float, float, WB_BF16, WB_WMMA_f8_r8_r2_f8, "", WB_SINGLES, WB_WORDS, WB_SINGLES)
WB_MMAS(8, 32, 16, __nv_bfloat16, float, float, WB_BF16, WB_WMMA_f8_r2_r8_f8, "", WB_SINGLES, WB_WORDS, WB_SINGLES)
#define WB_MMAS_BYTES(T, types)                                                                            \
  WB_MMAS(16, 16, 16, T, int, int, types, WB_WMMA_r8_r2_r2_r8, ".satfinite", WB_WORDS, WB_WORDS, WB_WORDS) \
  WB_MMAS(32, 8, 16, T, int, int, types, WB_WMMA_r8_r4_r1_r8, ".satfinite", WB_WORDS, WB_WORDS, WB_WORDS)  \
  WB_MMAS(8, 32, 16, T, int, int, types, WB_WMMA_r8_r1_r4_r8, ".satfinite", WB_WORDS, WB_WORDS, WB_WORDS)
WB_MMAS_BYTES(unsigned char, ".s32.u8.u8.s32")
WB_MMAS_BYTES(signed char, ".s32.s8.s8.s32")
WB_MMAS(16, 16, 8, precision::tf32, float, float, ".f32.tf32.tf32.f32", WB_WMMA_f8_r4_r4_f8, "", WB_SINGLES, WB_WORDS,
        WB_SINGLES)
WB_MMAS(8, 8, 4, double, double, double, ".f64.f64.f64.f64", WB_WMMA_d2_d1_d1_d2, "", WB_DOUBLES, WB_DOUBLES,
        WB_DOUBLES)
WB_MMA(8, 8, 32, experimental::precision::u4, row_major, "row", col_major, "col", int, int, ".s32.u4.u4.s32",
       WB_WMMA_r2_r1_r1_r2, ".satfinite", WB_WORDS, WB_WORDS, WB_WORDS)
WB_MMA(8, 8, 32, experimental::precision::s4, row_major, "row", col_major, "col", int, int, ".s32.s4.s4.s32",
       WB_WMMA_r2_r1_r1_r2, ".satfinite", WB_WORDS, WB_WORDS, WB_WORDS)

__forceinline__ __device__ void bmma_sync(
    fragment<accumulator, 8, 8, 128, int>& d,
    const fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major>& a,
    const fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major>& b,
    const fragment<accumulator, 8, 8, 128, int>& c, experimental::bmmaBitOp op = experimental::bmmaBitOpXOR,
    experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC) {
  (void)op;
  WB_DEVICE_ONLY(auto* rd = WB_WORDS(d.x); auto* ra = WB_WORDS(a.x); auto* rb = WB_WORDS(b.x); auto* rc = WB_WORDS(c.x);
                 if (op == experimental::bmmaBitOpAND)
                     WB_WMMA_r2_r1_r1_r2(".and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", rd, ra, rb, rc);
                 else WB_WMMA_r2_r1_r1_r2(".xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", rd, ra, rb, rc);)
}

// The older names of what is no longer experimental.
namespace experimental {
using wmma::accumulator;
using wmma::bmma_sync;
using wmma::col_major;
using wmma::fill_fragment;
using wmma::fragment;
using wmma::layout_t;
using wmma::load_matrix_sync;
using wmma::matrix_a;
using wmma::matrix_b;
using wmma::mem_col_major;
using wmma::mem_row_major;
using wmma::mma_sync;
using wmma::row_major;
using wmma::store_matrix_sync;
namespace precision {
using wmma::precision::tf32;
}
}  // namespace experimental

#undef WB_FRAGMENT
#undef WB_FRAGMENTS
#undef WB_FRAGMENTS_16
#undef WB_SHAPES
#undef WB_DEVICE_ONLY
#undef WB_SHAPE_NAME
#undef WB_WORDS
#undef WB_SINGLES
#undef WB_DOUBLES
#undef WB_LOAD
#undef WB_LOADS
#undef WB_ACCUMULATOR
#undef WB_MEMORY_16
#undef WB_MMA
#undef WB_MMAS
#undef WB_MMAS_HALF
#undef WB_MMAS_BYTES
#undef WB_BF16

}  // namespace wmma
}  // namespace nvcuda

#include "warpbeam/restore_macros.h"
#endif
