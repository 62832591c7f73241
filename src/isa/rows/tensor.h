// Matrix products and what moves their operands: a row for each line of the manual's tables of shapes and types.
#pragma once
#include "isa/row.h"

namespace warpbeam::isa::rows {

// How many registers of a lane hold `elements` of a matrix. Matrices of f16 in wmma hold every element twice.
constexpr OperandForm matrix_registers(Type t, int elements) {
  if (t == Type::F64) return {Type::F64, elements / 32};
  const int count = elements * bits_of(t) / 1024;
  return {t == Type::F32 ? Type::F32 : Type::B32, count};
}

struct TensorRow : EngineRow<Kind::Tensor, Class::Tensor> {
  static constexpr Since since{70, 80};
};
struct MatrixLoadRow : TensorRow { static constexpr Effects effects{.reads = true, .meets = true, .traps = true}; };
struct MatrixStoreRow : TensorRow { static constexpr Effects effects{.writes = true, .meets = true, .traps = true}; };

// --- mma ---------------------------------------------------------------------------------------------------------

// d, a, b, c[, metadata, selector]. The small product of Volta is made four times, once by each eight lanes.
constexpr OperandForm mma_form(const Matched& m, int operand) {
  const Shape s = m.mods.shape;
  const MatrixTypes t = m.row->matrices(m);
  const int copies = s.m == 8 && s.k == 4 && t.a == Type::F16 ? 4 : 1;
  const bool sparse = m.row->operands.count == 6;
  switch (operand) {
    case 0: return matrix_registers(t.d, s.m * s.n * copies);
    case 1: return matrix_registers(t.a, s.m * s.k * copies / (sparse ? 2 : 1));
    case 2: return matrix_registers(t.b, s.k * s.n * copies);
    case 3: return matrix_registers(t.c, s.m * s.n * copies);
    default: return {};
  }
}
struct MmaRow : TensorRow {
  static constexpr Form form = mma_form;
};

template <Type d, Type ab>
constexpr MatrixTypes same_types(const Matched&) { return {d, ab, ab, d}; }
template <Type d>
constexpr MatrixTypes mixed_types(const Matched& m) { return {d, m.type, m.atype, d}; }
constexpr MatrixTypes f16_types(const Matched& m) { return {m.type, Type::F16, Type::F16, m.atype}; }
constexpr bool same_accumulators(const Matched& m) { return m.type == m.atype; }
constexpr bool no_narrowing(const Matched& m) { return m.type == Type::F32 || m.atype == Type::F16; }
using HalfOrSingle = Types<Type::F16, Type::F32>;
using Bytes = Types<Type::U8, Type::S8>;
using Nibbles = Types<Type::U4, Type::S4>;
using Fp8 = Types<Type::E4M3, Type::E5M2>;

struct MmaQuadPairs : MmaRow {
  static constexpr char syntax[] = "mma.sync.aligned.m8n8k4.alayout.blayout.type.f16.f16.atype d, a, b, c";
  static constexpr Since since{64, 70};
  using T = HalfOrSingle;
  using A = HalfOrSingle;
  static constexpr Matrices matrices = f16_types;
  static constexpr Legal legal = no_narrowing;
};
struct MmaF16 : MmaRow {
  static constexpr char syntax[] = "mma.sync.aligned(.m16n8k8|.m16n8k16).row.col.type.f16.f16.atype d, a, b, c";
  static constexpr Since since{65, 75};
  using T = HalfOrSingle;
  using A = HalfOrSingle;
  static constexpr Matrices matrices = f16_types;
  static constexpr Legal legal = same_accumulators;
};
struct MmaBf16 : MmaRow {
  static constexpr char syntax[] = "mma.sync.aligned(.m16n8k8|.m16n8k16).row.col.f32.bf16.bf16.f32 d, a, b, c";
  static constexpr Matrices matrices = same_types<Type::F32, Type::BF16>;
};
struct MmaTf32 : MmaRow {
  static constexpr char syntax[] = "mma.sync.aligned(.m16n8k4|.m16n8k8).row.col.f32.tf32.tf32.f32 d, a, b, c";
  static constexpr Matrices matrices = same_types<Type::F32, Type::TF32>;
};
struct MmaF64 : MmaRow {
  static constexpr char syntax[] = "mma.sync.aligned.m8n8k4.row.col{.rnd}.f64.f64.f64.f64 d, a, b, c";
  static constexpr Matrices matrices = same_types<Type::F64, Type::F64>;
};
struct MmaF64Large : MmaF64 {
  static constexpr char syntax[] = "mma.sync.aligned(.m16n8k4|.m16n8k8|.m16n8k16).row.col{.rnd}.f64.f64.f64.f64 d, a, b, c";
  static constexpr Since since{78, 90};
};
struct MmaFp8 : MmaRow {
  static constexpr char syntax[] = "mma.sync.aligned(.m16n8k16|.m16n8k32).row.col.f32.type.atype.f32 d, a, b, c";
  static constexpr Since since{84, 89};
  using T = Fp8;
  using A = Fp8;
  static constexpr Matrices matrices = mixed_types<Type::F32>;
};
struct MmaFp8F16 : MmaFp8 {
  static constexpr char syntax[] = "mma.sync.aligned(.m16n8k16|.m16n8k32).row.col.f16.type.atype.f16 d, a, b, c";
  static constexpr Since since{87, 89};
  static constexpr Matrices matrices = mixed_types<Type::F16>;
};
struct MmaBytes : MmaRow {
  static constexpr char syntax[] = "mma.sync.aligned(.m8n8k16|.m16n8k16|.m16n8k32).row.col{.satfinite}.s32.type.atype.s32 d, a, b, c";
  static constexpr Since since{65, 75};
  using T = Bytes;
  using A = Bytes;
  static constexpr Matrices matrices = mixed_types<Type::S32>;
};
struct MmaNibbles : MmaBytes {
  static constexpr char syntax[] = "mma.sync.aligned(.m8n8k32|.m16n8k32|.m16n8k64).row.col{.satfinite}.s32.type.atype.s32 d, a, b, c";
  using T = Nibbles;
  using A = Nibbles;
};
struct MmaBits : MmaRow {
  static constexpr char syntax[] = "mma.sync.aligned(.m8n8k128|.m16n8k128|.m16n8k256).row.col.s32.b1.b1.s32(.xor|.and).popc d, a, b, c";
  static constexpr Since since{70, 75};
  static constexpr Matrices matrices = same_types<Type::S32, Type::B1>;
};

// Of each four elements of a row of A two are stored; the metadata say which. The selector names the lanes that hold them.
struct SparseRow : MmaRow { static constexpr Since since{71, 80}; };
struct MmaSparseF16 : SparseRow {
  static constexpr char syntax[] = "mma(.sp|.sp::ordered_metadata).sync.aligned(.m16n8k16|.m16n8k32).row.col.type.f16.f16.atype d, a, b, c, e:b32, #f:u32";
  using T = HalfOrSingle;
  using A = HalfOrSingle;
  static constexpr Matrices matrices = f16_types;
  static constexpr Legal legal = same_accumulators;
};
struct MmaSparseBf16 : SparseRow {
  static constexpr char syntax[] = "mma(.sp|.sp::ordered_metadata).sync.aligned(.m16n8k16|.m16n8k32).row.col.f32.bf16.bf16.f32 d, a, b, c, e:b32, #f:u32";
  static constexpr Matrices matrices = same_types<Type::F32, Type::BF16>;
};
struct MmaSparseTf32 : SparseRow {
  static constexpr char syntax[] = "mma(.sp|.sp::ordered_metadata).sync.aligned(.m16n8k8|.m16n8k16).row.col.f32.tf32.tf32.f32 d, a, b, c, e:b32, #f:u32";
  static constexpr Matrices matrices = same_types<Type::F32, Type::TF32>;
};
struct MmaSparseBytes : SparseRow {
  static constexpr char syntax[] = "mma(.sp|.sp::ordered_metadata).sync.aligned(.m16n8k32|.m16n8k64).row.col{.satfinite}.s32.type.atype.s32 d, a, b, c, e:b32, #f:u32";
  using T = Bytes;
  using A = Bytes;
  static constexpr Matrices matrices = mixed_types<Type::S32>;
};
struct MmaSparseNibbles : SparseRow {
  static constexpr char syntax[] = "mma(.sp|.sp::ordered_metadata).sync.aligned(.m16n8k64|.m16n8k128).row.col{.satfinite}.s32.type.atype.s32 d, a, b, c, e:b32, #f:u32";
  using T = Nibbles;
  using A = Nibbles;
  static constexpr Matrices matrices = mixed_types<Type::S32>;
};
struct MmaSparseFp8 : SparseRow {
  static constexpr char syntax[] = "mma(.sp|.sp::ordered_metadata).sync.aligned.m16n8k64.row.col.f32.type.atype.f32 d, a, b, c, e:b32, #f:u32";
  static constexpr Since since{84, 89};
  using T = Fp8;
  using A = Fp8;
  static constexpr Matrices matrices = mixed_types<Type::F32>;
};

// --- wmma --------------------------------------------------------------------------------------------------------

enum class Part { A, B, C };
constexpr OperandForm wmma_registers(Type t, Shape s, Part part) {
  if (t == Type::F16 && part != Part::C) return {Type::B32, 8};
  return matrix_registers(t, part == Part::A ? s.m * s.k : part == Part::B ? s.k * s.n : s.m * s.n);
}
// d, a, b, c
constexpr OperandForm wmma_form(const Matched& m, int operand) {
  const MatrixTypes t = m.row->matrices(m);
  switch (operand) {
    case 0: return wmma_registers(t.d, m.mods.shape, Part::C);
    case 1: return wmma_registers(t.a, m.mods.shape, Part::A);
    case 2: return wmma_registers(t.b, m.mods.shape, Part::B);
    default: return wmma_registers(t.c, m.mods.shape, Part::C);
  }
}
template <Part part, int vector_at>
constexpr OperandForm wmma_memory_form(const Matched& m, int operand) {
  return operand == vector_at ? wmma_registers(m.type, m.mods.shape, part) : OperandForm{};
}
struct WmmaLoadA : MatrixLoadRow { static constexpr Form form = wmma_memory_form<Part::A, 0>; static constexpr Since since{60, 70}; };
struct WmmaLoadB : MatrixLoadRow { static constexpr Form form = wmma_memory_form<Part::B, 0>; static constexpr Since since{60, 70}; };
struct WmmaLoadC : MatrixLoadRow { static constexpr Form form = wmma_memory_form<Part::C, 0>; static constexpr Since since{60, 70}; };
struct WmmaStoreD : MatrixStoreRow { static constexpr Form form = wmma_memory_form<Part::C, 1>; static constexpr Since since{60, 70}; };
using WmmaTypes = Types<Type::F16, Type::BF16, Type::U8, Type::S8>;

struct WmmaLoadA16 : WmmaLoadA { static constexpr char syntax[] = "wmma.load.a.sync.aligned.alayout.wmma_shape{.global|.shared|.shared::cta}.type d, [b]{, c:u32}"; using T = WmmaTypes; };
struct WmmaLoadB16 : WmmaLoadB { static constexpr char syntax[] = "wmma.load.b.sync.aligned.alayout.wmma_shape{.global|.shared|.shared::cta}.type d, [b]{, c:u32}"; using T = WmmaTypes; };
struct WmmaLoadC16 : WmmaLoadC { static constexpr char syntax[] = "wmma.load.c.sync.aligned.alayout.wmma_shape{.global|.shared|.shared::cta}.type d, [b]{, c:u32}"; using T = Types<Type::F16, Type::F32, Type::S32>; };
struct WmmaStoreD16 : WmmaStoreD { static constexpr char syntax[] = "wmma.store.d.sync.aligned.alayout.wmma_shape{.global|.shared|.shared::cta}.type [a], b{, c:u32}"; using T = Types<Type::F16, Type::F32, Type::S32>; };
struct WmmaLoadATf32 : WmmaLoadA { static constexpr char syntax[] = "wmma.load.a.sync.aligned.alayout.m16n16k8{.global|.shared|.shared::cta}.type d, [b]{, c:u32}"; static constexpr Since since{70, 80}; using T = Types<Type::TF32>; };
struct WmmaLoadBTf32 : WmmaLoadB { static constexpr char syntax[] = "wmma.load.b.sync.aligned.alayout.m16n16k8{.global|.shared|.shared::cta}.type d, [b]{, c:u32}"; static constexpr Since since{70, 80}; using T = Types<Type::TF32>; };
struct WmmaLoadCTf32 : WmmaLoadC { static constexpr char syntax[] = "wmma.load.c.sync.aligned.alayout.m16n16k8{.global|.shared|.shared::cta}.type d, [b]{, c:u32}"; static constexpr Since since{70, 80}; using T = Types<Type::F32>; };
struct WmmaStoreDTf32 : WmmaStoreD { static constexpr char syntax[] = "wmma.store.d.sync.aligned.alayout.m16n16k8{.global|.shared|.shared::cta}.type [a], b{, c:u32}"; static constexpr Since since{70, 80}; using T = Types<Type::F32>; };
struct WmmaLoadAF64 : WmmaLoadA { static constexpr char syntax[] = "wmma.load.a.sync.aligned.alayout.m8n8k4{.global|.shared|.shared::cta}.type d, [b]{, c:u32}"; static constexpr Since since{70, 80}; using T = Types<Type::F64>; };
struct WmmaLoadBF64 : WmmaLoadB { static constexpr char syntax[] = "wmma.load.b.sync.aligned.alayout.m8n8k4{.global|.shared|.shared::cta}.type d, [b]{, c:u32}"; static constexpr Since since{70, 80}; using T = Types<Type::F64>; };
struct WmmaLoadCF64 : WmmaLoadC { static constexpr char syntax[] = "wmma.load.c.sync.aligned.alayout.m8n8k4{.global|.shared|.shared::cta}.type d, [b]{, c:u32}"; static constexpr Since since{70, 80}; using T = Types<Type::F64>; };
struct WmmaStoreDF64 : WmmaStoreD { static constexpr char syntax[] = "wmma.store.d.sync.aligned.alayout.m8n8k4{.global|.shared|.shared::cta}.type [a], b{, c:u32}"; static constexpr Since since{70, 80}; using T = Types<Type::F64>; };
struct WmmaLoadA4 : WmmaLoadA { static constexpr char syntax[] = "wmma.load.a.sync.aligned.row.m8n8k32{.global|.shared|.shared::cta}.type d, [b]{, c:u32}"; static constexpr Since since{63, 75}; using T = Nibbles; };
struct WmmaLoadB4 : WmmaLoadB { static constexpr char syntax[] = "wmma.load.b.sync.aligned.col.m8n8k32{.global|.shared|.shared::cta}.type d, [b]{, c:u32}"; static constexpr Since since{63, 75}; using T = Nibbles; };
struct WmmaLoadC4 : WmmaLoadC { static constexpr char syntax[] = "wmma.load.c.sync.aligned.alayout(.m8n8k32|.m8n8k128){.global|.shared|.shared::cta}.type d, [b]{, c:u32}"; static constexpr Since since{63, 75}; using T = Types<Type::S32>; };
struct WmmaStoreD4 : WmmaStoreD { static constexpr char syntax[] = "wmma.store.d.sync.aligned.alayout(.m8n8k32|.m8n8k128){.global|.shared|.shared::cta}.type [a], b{, c:u32}"; static constexpr Since since{63, 75}; using T = Types<Type::S32>; };
struct WmmaLoadA1 : WmmaLoadA { static constexpr char syntax[] = "wmma.load.a.sync.aligned.row.m8n8k128{.global|.shared|.shared::cta}.type d, [b]{, c:u32}"; static constexpr Since since{63, 75}; using T = Types<Type::B1>; };
struct WmmaLoadB1 : WmmaLoadB { static constexpr char syntax[] = "wmma.load.b.sync.aligned.col.m8n8k128{.global|.shared|.shared::cta}.type d, [b]{, c:u32}"; static constexpr Since since{63, 75}; using T = Types<Type::B1>; };

struct WmmaRow : TensorRow { static constexpr Form form = wmma_form; };
struct WmmaF16 : WmmaRow {
  static constexpr char syntax[] = "wmma.mma.sync.aligned.alayout.blayout.wmma_shape.type.atype d, a, b, c";
  static constexpr Since since{60, 70};
  using T = HalfOrSingle;
  using A = HalfOrSingle;
  static constexpr Matrices matrices = f16_types;
};
struct WmmaBf16 : WmmaRow {
  static constexpr char syntax[] = "wmma.mma.sync.aligned.alayout.blayout.wmma_shape.f32.bf16.bf16.f32 d, a, b, c";
  static constexpr Matrices matrices = same_types<Type::F32, Type::BF16>;
};
struct WmmaTf32 : WmmaRow {
  static constexpr char syntax[] = "wmma.mma.sync.aligned.alayout.blayout.m16n16k8.f32.tf32.tf32.f32 d, a, b, c";
  static constexpr Matrices matrices = same_types<Type::F32, Type::TF32>;
};
struct WmmaF64 : WmmaRow {
  static constexpr char syntax[] = "wmma.mma.sync.aligned.alayout.blayout.m8n8k4{.rnd}.f64.f64.f64.f64 d, a, b, c";
  static constexpr Matrices matrices = same_types<Type::F64, Type::F64>;
};
struct WmmaBytes : WmmaRow {
  static constexpr char syntax[] = "wmma.mma.sync.aligned.alayout.blayout.wmma_shape.s32.type.atype.s32{.satfinite} d, a, b, c";
  static constexpr Since since{63, 72};
  using T = Bytes;
  using A = Bytes;
  static constexpr Matrices matrices = mixed_types<Type::S32>;
  static constexpr Legal legal = same_accumulators;
};
struct WmmaNibbles : WmmaBytes {
  static constexpr char syntax[] = "wmma.mma.sync.aligned.row.col.m8n8k32.s32.type.atype.s32{.satfinite} d, a, b, c";
  static constexpr Since since{63, 75};
  using T = Nibbles;
  using A = Nibbles;
};
struct WmmaBits : WmmaRow {
  static constexpr char syntax[] = "wmma.mma(.xor|.and).popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 d, a, b, c";
  static constexpr Since since{63, 75};
  static constexpr Matrices matrices = same_types<Type::S32, Type::B1>;
};

// --- matrices between memory and registers -----------------------------------------------------------------------

template <int vector_at>
constexpr OperandForm matrices_form(const Matched& m, int operand) {
  return operand == vector_at ? OperandForm{Type::B32, m.mods.matrices} : OperandForm{};
}
struct LdMatrix : MatrixLoadRow {
  static constexpr char syntax[] = "ldmatrix.sync.aligned.m8n8.matrices{.trans}{.shared|.shared::cta}.b16 d, [a]";
  static constexpr Since since{65, 75};
  static constexpr Form form = matrices_form<0>;
  static constexpr std::string_view about = "Loads 8x8 matrices of 16-bit elements; each eight lanes give the rows' addresses of one.";
};
struct StMatrix : MatrixStoreRow {
  static constexpr char syntax[] = "stmatrix.sync.aligned.m8n8.matrices{.trans}{.shared|.shared::cta}.b16 [a], b";
  static constexpr Since since{78, 90};
  static constexpr Form form = matrices_form<1>;
};
struct MovMatrix : TensorRow {
  static constexpr char syntax[] = "movmatrix.sync.aligned.m8n8.trans.b16 d:b32, a:b32";
  static constexpr Since since{78, 75};
  static constexpr std::string_view about = "Transposes an 8x8 matrix of 16-bit elements among the lanes of a warp.";
};

using TensorRows = RowList<MmaQuadPairs, MmaF16, MmaBf16, MmaTf32, MmaF64, MmaF64Large, MmaFp8, MmaFp8F16, MmaBytes, MmaNibbles, MmaBits,
                           MmaSparseF16, MmaSparseBf16, MmaSparseTf32, MmaSparseBytes, MmaSparseNibbles, MmaSparseFp8,
                           WmmaLoadA16, WmmaLoadB16, WmmaLoadC16, WmmaStoreD16, WmmaLoadATf32, WmmaLoadBTf32, WmmaLoadCTf32, WmmaStoreDTf32,
                           WmmaLoadAF64, WmmaLoadBF64, WmmaLoadCF64, WmmaStoreDF64, WmmaLoadA4, WmmaLoadB4, WmmaLoadC4, WmmaStoreD4,
                           WmmaLoadA1, WmmaLoadB1, WmmaF16, WmmaBf16, WmmaTf32, WmmaF64, WmmaBytes, WmmaNibbles, WmmaBits, LdMatrix,
                           StMatrix, MovMatrix>;

}  // namespace warpbeam::isa::rows
