// Modifiers: the dotted words of an instruction that are not types. Every word sets one field; the words of a field form
// a group that a syntax line names (`{.rnd}`), so the parser, the printer and the generators share this one list.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace warpbeam::isa {

enum class Rnd : uint8_t { None, Rn, Rz, Rm, Rp, Rna, Rni, Rzi, Rmi, Rpi };
enum class Cmp : uint8_t { None, Eq, Ne, Lt, Le, Gt, Ge, Lo, Ls, Hi, Hs, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };
enum class BoolOp : uint8_t { None, And, Or, Xor };
enum class Half : uint8_t { None, Lo, Hi, Wide };
enum class Space : uint8_t { Generic, Global, Shared, SharedCluster, Local, Const, Param, ParamEntry, ParamFunc };
enum class Sem : uint8_t { None, Weak, Volatile, Relaxed, Acquire, Release, AcqRel, Sc, Mmio };
enum class Scope : uint8_t { None, Cta, Cluster, Gpu, Sys };
enum class Op : uint8_t { None, And, Or, Xor, Cas, Exch, Add, Inc, Dec, Min, Max, Popc };
enum class Shuffle : uint8_t { None, Up, Down, Bfly, Idx };
enum class Vote : uint8_t { None, All, Any, Uni, Ballot };
enum class Direction : uint8_t { None, Left, Right };
enum class Edge : uint8_t { None, Clamp, Wrap };
enum class Permute : uint8_t { None, F4e, B4e, Rc8, Ecl, Ecr, Rc16 };
enum class Cache : uint8_t { None, Ca, Cg, Cs, Lu, Cv, Wb, Wt };
// Rows, columns and depth of a matrix product; `.m16n8k16`.
struct Shape {
  uint16_t m = 0, n = 0, k = 0;
  bool operator==(const Shape&) const = default;
};
// How an asynchronous copy is told to be complete.
enum class Completion : uint8_t { None, BulkGroup, Mbarrier };
// Textures and surfaces: the shape of the image, what happens outside a surface, how the level of detail is given.
enum class Geometry : uint8_t { None, D1, D2, D3, A1, A2, Cube, ACube };
enum class Boundary : uint8_t { None, Trap, Clamp, Zero };
enum class Detail : uint8_t { None, Base, Level, Grad };
enum class TestKind : uint8_t { None, Finite, Infinite, Number, NotANumber, Normal, Subnormal };

struct Mods {
  Rnd rnd{};
  Cmp cmp{};
  BoolOp boolop{};
  Half half{};
  Space space{};
  Sem sem{};
  Scope scope{};
  Op op{};
  Shuffle shuffle{};
  Vote vote{};
  Direction dir{};
  Edge edge{};
  Permute permute{};
  Cache cache{};
  TestKind test{};
  Geometry geometry{};
  Boundary boundary{};
  Detail detail{};
  uint8_t vec = 0;       // 0, 2, 4, 8
  bool ftz = false, sat = false, satfinite = false, relu = false, nan = false, xorsign = false, abs = false;
  bool cc = false, approx = false, full = false, sync = false, aligned = false, nc = false, to = false;
  bool shiftamt = false, noftz = false, po = false, arrive = false, red = false, noinc = false, hint = false;
  uint8_t scale = 0;       // vmad: bits the sum is shifted right by
  int8_t pack = 0;         // cvt.pack to fields of 4 or 2 bits; negative: signed
  bool b_signed = false;   // video, dp4a: the type of the second source
  uint8_t lane_sel = 0;    // chapter-specific: the channel of tld4, what txq and suq ask for, fence kinds …
  Shape shape{};           // of a matrix instruction
  bool a_columns = false, b_columns = false;  // column-major operands; of loads and stores the first
  uint8_t matrices = 0;    // ldmatrix, stmatrix: .x1 .x2 .x4
  uint8_t dimensions = 0;  // of a tensor: 1 to 5
  Completion completion{};
  bool trans = false, im2col = false, multicast = false, parity = false, expect_tx = false, no_complete = false, read = false;
  bool operator==(const Mods&) const = default;
};

struct ModWord {
  std::string_view group;  // name used in syntax lines
  std::string_view word;   // with the dot
  void (*set)(Mods&);      // nullptr: accepted, changes nothing (cache hints)
};

std::span<const ModWord> mod_words();

}  // namespace warpbeam::isa
