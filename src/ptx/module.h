// A PTX text after parsing: names are resolved, operands typed, nothing is placed in memory yet.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "isa/row.h"
#include "isa/special.h"

namespace warpbeam::ptx {

struct Position {
  uint32_t line = 0, column = 0;
};

struct Diagnostic {
  Position at;
  std::string message;
  bool unsupported_version = false;
};

// A register of a function. Texts declare tens of thousands as `%r<40000>`: each keeps its number, and they share a name.
struct Register {
  isa::Type type{};
  int32_t number = -1;  // -1: declared one by one
  uint32_t name = 0;    // index into Function::register_names
};

enum class Linkage : uint8_t { Internal, Visible, Extern, Weak, Common };

struct Relocation {  // the address of a symbol inside an initialiser
  uint64_t offset = 0;
  uint8_t bytes = 8;
  std::string symbol;
  int64_t addend = 0;
  bool generic = false;
  uint8_t shift = 0;  // `0xFF00(sym)` takes one byte of the address
  Position at;
};

// A variable that stands for a texture, a sampler or a surface which the host binds.
enum class Reference : uint8_t { None, Texture, Sampler, Surface };

struct Variable {
  std::string name;
  Reference reference{};
  isa::Space space{};
  isa::Type type{};
  Linkage linkage{};
  uint32_t align = 1;
  uint32_t element = 0;   // bytes
  uint64_t size = 0;      // bytes; 0 with unsized for `extern .shared x[]`
  bool unsized = false;
  bool managed = false;
  std::vector<std::byte> init;  // empty: zeros
  std::vector<Relocation> relocations;
  Position at;
};

// The parts of a register that a video instruction picks: `.b2`, `.h1`, `.h32`, `.b7610`; one hexadecimal digit each.
struct Selector {
  char unit = 0;  // 'b', 'h' or none
  uint8_t count = 0;
  uint16_t digits = 0;
};

enum class OperandKind : uint8_t { None, Register, Immediate, Special, Symbol, Vector, Label, Sink, List };

struct Operand {
  OperandKind kind = OperandKind::None;
  bool negated = false;        // `!p`
  bool minus = false;          // `-x` before a register
  bool address = false;        // written in brackets
  bool indexed = false;        // `table[3]`: an address to what accesses memory, a value elsewhere
  bool float_literal = false;  // imm holds the bits of a double (or of a float, with single_literal)
  bool single_literal = false;
  uint8_t component = 0;       // of a special register
  Selector selector;
  int reg = -1;                // Register; also the base of an address
  uint64_t imm = 0;            // Immediate
  int64_t offset = 0;          // added to an address or a symbol
  const isa::SpecialRow* special = nullptr;
  std::string name;            // Symbol, Label
  std::vector<Operand> list;   // Vector, List
  int pair = -1;               // the register after `|`; -2 a sink
};

constexpr uint32_t kOfAlgorithm = 0x8000;  // in a column: the code is CUB's or Thrust's (src/lowering/inlined_calls.cc)

struct Instruction {
  isa::Matched form;
  int guard = -1;              // predicate register
  bool guard_negated = false;
  std::vector<Operand> operands;
  Position at;
  uint32_t file = 0, line = 0;         // of the source, by .loc; 0 when unknown
  uint32_t column = 0;                 // only in texts with inlined calls, of which it is a number
};

// Code that came from a function which was inlined (src/lowering/inlined_calls.cc).
struct InlinedCall {
  std::string function, file;  // of the code; where it is called
  uint32_t line = 0, outer = 0;  // the call itself may have been inlined
};

// A label, a table of branch targets or a prototype.
struct Prototype {
  std::vector<Variable> returns, params;
};

struct Function {
  std::string name;
  bool entry = false;
  bool has_body = false;
  bool noreturn = false;
  Linkage linkage{};
  std::vector<Variable> returns, params;
  std::vector<Register> registers;  // of all blocks of the body
  std::vector<std::string> register_names;
  std::vector<Variable> locals;  // .local, .shared, .param, .const and .global declared inside, renamed apart
  std::vector<Instruction> body;
  std::unordered_map<std::string, uint32_t> labels;              // to an index into body
  std::vector<uint32_t> nounroll;                                // indexes into body where `.pragma "nounroll"` stands
  std::unordered_map<std::string, std::vector<std::string>> branch_targets;
  std::unordered_map<std::string, Prototype> prototypes;
  std::array<uint32_t, 3> max_ntid{0, 0, 0};
  bool required_ntid = false;
  uint32_t min_ctas = 0, max_regs = 0;
  std::array<uint32_t, 3> cluster{0, 0, 0};  // .reqnctapercluster; zeros when absent
  // Parameters declared as registers, by name: they are .param variables here, and registers that mirror them.
  std::vector<std::pair<std::string, int>> register_params, register_returns;
  Position at;

  std::string register_name(int index) const {
    const Register& r = registers[static_cast<size_t>(index)];
    return r.number < 0 ? register_names[r.name] : register_names[r.name] + std::to_string(r.number);
  }
};

struct Alias {  // `.alias name, target;`
  std::string name, target;
  Position at;
};

struct Module {
  int version = 0;        // 85 for 8.5
  int target_sm = 0;      // 90 for sm_90
  bool address64 = true;
  bool debug = false;
  std::vector<std::string> files;  // by .file number; [0] unused
  std::vector<InlinedCall> inlined;  // by number; [0] unused; in texts for the checker
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<Alias> aliases;
  std::string target_text;
  std::string text;  // as it was parsed, for those who show instructions to people
};

struct ParseResult {
  std::unique_ptr<Module> module;       // always there; unusable when diagnostics are not empty
  std::vector<Diagnostic> diagnostics;
};

// Parses and checks one PTX text. Never throws and never reads past the text, whatever is in it.
ParseResult parse(std::string_view text);

std::string describe(const Diagnostic& d);  // "line 7, column 3: …"

}  // namespace warpbeam::ptx
