// A row: one syntax line of the PTX manual with everything the project knows about it. Chapters of rows are in rows/.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "isa/mods.h"
#include "isa/opcode.h"
#include "isa/syntax.h"
#include "isa/types.h"

namespace warpbeam::isa {

// What kind of machinery executes the row.
enum class Kind : uint8_t {
  Lane,     // each lane computes by itself: the row's `lane` function is the whole meaning
  Move,     // mov, with vectors, addresses of symbols, special registers
  Convert,  // cvt
  Compare,  // setp, set
  Select,   // selp
  Carry,    // add.cc … madc
  Memory,   // ld, st, prefetch
  Atomic,   // atom, red
  Address,  // cvta, isspacep, mapa
  Control,  // bra, brx.idx, call, ret, exit, trap …
  Barrier,  // bar, barrier, fence, membar
  Warp,     // shfl, vote, match, redux, activemask, elect
  Async,    // cp.async, mbarrier: copies beside the threads and what tells of their end
  Tensor,   // wmma, mma, wgmma, ldmatrix: matrices spread over the lanes of a warp
  Image,    // tex, tld4, txq, suld, sust, sured, suq, istypep: operands as image_form.h says
  Video,    // vadd … vset4: operands with byte selectors
  Misc,     // nanosleep, pmevent …
};

// The profiler's instruction classes (named as in the vendor's instruction statistics).
enum class Class : uint8_t {
  IntAlu,
  IntMul,
  Logic,
  Shift,
  Compare,
  Select,
  Move,
  Convert,
  F16,
  F32Add,
  F32Mul,
  F32Fma,
  F64Add,
  F64Mul,
  F64Fma,
  Special,
  Video,
  Load,
  Store,
  Atomic,
  Branch,
  Call,
  Barrier,
  Warp,
  Fence,
  Misc,
  Tensor,
  Copy,
};
std::string_view name_of(Class c);

// What an instruction does beside making its results from its operands. Of memory, Mods::space says which.
struct Effects {
  bool reads = false, writes = false;  // memory
  bool orders = false;                 // when others see its thread's accesses
  bool meets = false;                  // with other lanes of its warp: what comes out depends on which of them are there
  bool waits = false;                  // for other threads, or for what goes on beside them
  bool leads = false;                  // to another instruction than the next one
  bool traps = false;                  // it may end the grid with an error
  bool varies = false;                 // what it gives, or what it does to its thread, depends on when it is executed
  constexpr bool pure() const { return *this == Effects{}; }
  constexpr bool operator==(const Effects&) const = default;
};
// Of the rows of a kind and class that do not say it themselves.
constexpr Effects usual_effects(Kind kind, Class cls) {
  const bool load = cls == Class::Load, store = cls == Class::Store, atomic = cls == Class::Atomic;
  switch (kind) {
    case Kind::Lane:
    case Kind::Move:
    case Kind::Convert:
    case Kind::Compare:
    case Kind::Select:
    case Kind::Carry:
    case Kind::Address:
    case Kind::Video: return {};
    case Kind::Memory:  // prefetches do nothing that shows
      return {.reads = load, .writes = store, .traps = load || store};
    case Kind::Atomic: return {.reads = true, .writes = true, .traps = true};
    case Kind::Image: return {.reads = load || atomic, .writes = store || atomic, .traps = load || store || atomic};
    case Kind::Control: return {.leads = true};
    case Kind::Barrier: return {.orders = true, .waits = cls == Class::Barrier};
    case Kind::Warp: return {.meets = true};
    case Kind::Tensor: return {.meets = true};
    case Kind::Async:
      if (cls == Class::IntAlu) return {};
      if (cls == Class::Misc) return {.waits = true};
      return {.reads = true, .writes = true, .orders = !load, .waits = cls == Class::Barrier, .traps = true};
    case Kind::Misc: return {.varies = true};
  }
  return {};
}

struct Since {
  int ptx = 10;  // 85 for 8.5
  int sm = 10;
};

using TypeSet = std::span<const Type>;
struct Matched;
// What a syntax line cannot say: which of its combinations of types and words exist.
using Legal = bool (*)(const Matched&);
// An operand that is a vector, or whose type follows from the words.
struct OperandForm {
  Type type = Type::None;   // None: as the syntax line says
  int count = 0;            // registers in braces; 0: a plain operand
  bool or_plain = false;    // may also be a plain operand of the line's type
  int coordinates = 0;      // of an address into a tensor: `[map, {x, y}]`
  bool or_pred = false;     // may be a predicate instead
};
using Form = OperandForm (*)(const Matched&, int operand);
// The element types of a matrix product.
struct MatrixTypes {
  Type d = Type::None, a = Type::None, b = Type::None, c = Type::None;
};
using Matrices = MatrixTypes (*)(const Matched&);

struct Row {
  int id = -1;               // position in all_rows()
  std::string_view syntax;
  std::string_view opcode;   // the first word of the syntax line, and `op` for it
  Opcode op{};
  TypeSet types, atypes;     // what .type and .atype may be
  Kind kind{};
  Class cls{};
  Effects effects{};
  Since since{};
  std::string_view about;    // one sentence for the reference page
  OperandSpecs operands;
  Legal legal = nullptr;     // null: all of them
  Form form = nullptr;       // null: no operand needs it
  Matrices matrices = nullptr;
};

// One word position of a syntax line.
struct Slot {
  bool optional = false;
  int type_slot = -1;                   // 0: .type, 1: .atype
  Type literal_type = Type::None;       // .f32 written in the line
  std::vector<const ModWord*> words;    // alternatives
  std::vector<std::string_view> plain;  // words that only this row knows
};

struct RowForm {  // a row with its syntax line taken apart
  const Row* row = nullptr;
  std::vector<Slot> slots;
};

std::span<const Row> all_rows();
std::span<const RowForm> all_forms();
bool known_opcode(std::string_view opcode);

struct Matched {
  const Row* row = nullptr;
  Mods mods;
  Type type = Type::None, atype = Type::None;
  int operand_count = -1;  // -1: not known
};

// Finds the row for an opcode and its dotted words (each with the dot). Words may stand in any order, as ptxas has it;
// types keep theirs. `sense` reports whether a row's operand list can take `operand_count` operands.
Result<Matched> match_row(std::string_view opcode, std::span<const std::string_view> words, int operand_count);

// --- how chapters write rows -------------------------------------------------------------------------------------

template <Type... ts>
struct Types {
  static constexpr std::array<Type, sizeof...(ts)> list{ts...};
};
template <class... Rows>
struct RowList {
  static constexpr int size = sizeof...(Rows);
};

// Defaults that a row struct may shadow.
struct RowBase {
  using T = Types<>;
  using A = Types<>;
  static constexpr Kind kind = Kind::Lane;
  static constexpr std::optional<Effects> effects{};  // none: the usual ones of its kind and class
  static constexpr Since since{};
  static constexpr std::string_view about = "";
  static constexpr Legal legal = nullptr;
  static constexpr Form form = nullptr;
  static constexpr Matrices matrices = nullptr;
};

// Rows whose meaning is in the engines.
template <Kind k, Class c>
struct EngineRow : RowBase {
  static constexpr Kind kind = k;
  static constexpr Class cls = c;
};

constexpr std::string_view first_word(std::string_view syntax) { return syntax.substr(0, syntax.find_first_of(".{( ")); }

template <class R>
constexpr Row describe() {
  static_assert(opcode_named(first_word(R::syntax)) != Opcode::None, "isa/opcode.h lacks the opcode of this row");
  Row row;
  row.syntax = R::syntax;
  row.opcode = first_word(row.syntax);
  row.op = opcode_named(row.opcode);
  row.types = R::T::list;
  row.atypes = R::A::list;
  row.kind = R::kind;
  row.cls = R::cls;
  row.effects = std::optional<Effects>(R::effects).value_or(usual_effects(R::kind, R::cls));
  row.since = R::since;
  row.about = R::about;
  row.operands = operand_specs(row.syntax);
  row.legal = R::legal;
  row.form = R::form;
  row.matrices = R::matrices;
  return row;
}

}  // namespace warpbeam::isa
