// Cases for moves, loads, stores and atomics. A thread has a cell of 16 bytes of its own in the space that the statement
// names, filled from the input tables; what the statement leaves there is a result like its destination.
#include <fmt/format.h>

#include <algorithm>

#include "isa/vectors.h"

namespace warpbeam::isa_test {

using isa::Kind;
using isa::Row;
using isa::Type;
using namespace fuzz;

namespace {

constexpr uint32_t kElementStep = 37;  // elements of a vector come from cells of the input table this far apart

bool has(const Statement& s, std::string_view word) { return std::find(s.words.begin(), s.words.end(), word) != s.words.end(); }

std::vector<std::string> registers_of(const StatementOperand& o) {
  if (o.text[0] != '{') return {o.text};
  std::vector<std::string> names;
  for (size_t at = 1; at < o.text.size();) {
    const size_t end = o.text.find_first_of(",}", at);
    names.push_back(o.text.substr(at, end - at));
    at = end + 2;
  }
  return names;
}

// %d15 = offset of the thread's number in a table of 8-byte cells, moved on by `element` steps.
std::string table_offset(uint32_t element) {
  return fmt::format("add.u32 %r13, %r15, {}; and.b32 %r13, %r13, {}; mul.wide.u32 %d15, %r13, 8;\n", element * kElementStep, kThreads - 1);
}

std::string load_registers(const StatementOperand& o, int param) {
  std::string t;
  uint32_t element = 0;
  for (const std::string& name : registers_of(o)) {
    t += table_offset(element++);
    t += fmt::format("ld.param.u64 %d14, [p{}]; add.u64 %d14, %d14, %d15; ", param);
    const int bits = isa::bits_of(o.held);
    if (o.held == Type::Pred) t += fmt::format("ld.global.u32 %r13, [%d14]; and.b32 %r13, %r13, 1; setp.ne.u32 {}, %r13, 0;\n", name);
    else if (bits == 128) t += fmt::format("ld.global.b64 %d13, [%d14]; not.b64 %d11, %d13; mov.b128 {}, {{%d13, %d11}};\n", name);
    else if (isa::is_float(o.held) && bits >= 32) t += fmt::format("ld.global.f{} {}, [%d14];\n", bits, name);
    else t += fmt::format("ld.global.b{} {}, [%d14];\n", bits, name);
  }
  return t;
}

// %d11 = %d11 * odd + each register.
std::string fold_registers(const StatementOperand& o) {
  std::string t;
  for (const std::string& name : registers_of(o)) {
    const int bits = isa::bits_of(o.held);
    if (o.held == Type::Pred) t += fmt::format("selp.b64 %d13, 1, 0, {};\n", name);
    else if (bits == 128) t += fmt::format("mov.b128 {{%d13, %d14}}, {}; mad.lo.u64 %d13, %d14, 5, %d13;\n", name);
    else if (bits == 64) t += fmt::format("mov.b64 %d13, {};\n", name);
    else if (bits == 32) t += fmt::format("mov.b32 %r13, {}; cvt.u64.u32 %d13, %r13;\n", name);
    else t += fmt::format("cvt.u64.u{} %d13, {};\n", bits, name);
    t += "mad.lo.u64 %d11, %d11, 1000003, %d13;\n";
  }
  return t;
}

// What is left out: spaces that the kernel cannot fill, cache policies (an operand nobody made), reads that must not see
// this kernel's own writes or must agree in all lanes, memory of other devices.
bool recordable(const Statement& s) {
  if (s.row->kind == Kind::Move) return true;
  for (const char* word :
       {".const", ".param", ".param::entry", ".param::func", ".L2::cache_hint", ".mmio", ".v8"})  // the vendor's assembler crashes on .v8
    if (has(s, word)) return false;
  return s.row->opcode == "ld" || s.row->opcode == "st" || s.row->opcode == "atom" || s.row->opcode == "red";
}

std::string cell_address(const Statement& s) {
  if (has(s, ".nc")) return "ld.param.u64 %d12, [p0]; and.b32 %r13, %r15, 1022; mul.wide.u32 %d15, %r13, 8; add.u64 %d12, %d12, %d15;\n";
  if (has(s, ".shared") || has(s, ".shared::cta") || has(s, ".shared::cluster"))
    return "mov.u64 %d12, shared_cells; mul.wide.u32 %d15, %r14, 16; add.u64 %d12, %d12, %d15;\n";
  if (has(s, ".local")) return "mov.u64 %d12, local_cell;\n";
  std::string t = "mov.u64 %d12, cells; mul.wide.u32 %d15, %r15, 16; add.u64 %d12, %d12, %d15;\n";
  if (!has(s, ".global")) t += "cvta.global.u64 %d12, %d12;\n";
  return t;
}

std::string space_of(const Statement& s) {
  for (const char* word : {".shared", ".shared::cta", ".shared::cluster", ".local", ".global"})
    if (has(s, word)) return std::string_view(word).starts_with(".shared") ? ".shared" : word;
  return "";
}

void build(VectorCase& c, Type element) {
  const Statement& s = c.statement;
  std::string t = fmt::format(
      ".visible .entry {}(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3, .param .u64 p4, .param .u64 p5) {{\n", c.kernel);
  t += register_declarations();
  t += fmt::format(".shared .align 16 .b8 shared_cells[{}]; .local .align 16 .b8 local_cell[16];\n", 32 * 16);
  t += "mov.u32 %r15, %ctaid.x; mov.u32 %r14, %tid.x; mad.lo.u32 %r15, %r15, 32, %r14;\n";
  const bool memory = s.row->kind != Kind::Move;
  if (memory) {
    c.inputs[0] = element;
    t += cell_address(s);
    if (!has(s, ".nc")) {
      const uint64_t bytes = std::max<uint64_t>(1, static_cast<uint64_t>(isa::bytes_of(element)));
      const uint64_t part = std::min<uint64_t>(bytes, 8);
      for (uint32_t k = 0; k * part < 16; ++k) {
        t += table_offset(k);
        t += fmt::format("ld.param.u64 %d14, [p0]; add.u64 %d14, %d14, %d15; ld.global.b{0} {1}, [%d14]; st{2}.b{0} [%d12+{3}], {1};\n",
                         part * 8,
                         register_name(part == 1   ? Type::B8
                                       : part == 2 ? Type::B16
                                       : part == 4 ? Type::B32
                                                   : Type::B64,
                                       13),
                         space_of(s), k * part);
      }
    }
  }
  int address = -1;
  const bool writes = s.row->operands.list[0].written;
  for (size_t k = 0; k < s.operands.size(); ++k) {
    const StatementOperand& o = s.operands[k];
    if (o.address) address = o.reg;
    if (o.address || o.reg < 0 || (k == 0 && writes)) continue;
    c.inputs[k] = o.held;
    t += load_registers(o, static_cast<int>(k));
  }
  if (address >= 0) t += fmt::format("mov.b64 %d{}, %d12;\n", address);
  t += s.text() + "\nmov.b64 %d11, 0;\n";
  if (writes) t += fold_registers(s.operands[0]);
  t += "mul.wide.u32 %d15, %r15, 16; ld.param.u64 %d14, [p5]; add.u64 %d15, %d14, %d15; st.global.b64 [%d15], %d11;\n";
  if (memory)
    t += fmt::format("ld{0}.b64 %d13, [%d12]; ld{0}.b64 %d14, [%d12+8]; mad.lo.u64 %d13, %d14, 1000003, %d13;\n",
                     has(s, ".nc") ? ".global.nc" : space_of(s));
  else t += "mov.b64 %d13, 0;\n";
  t += "st.global.b64 [%d15+8], %d13;\nret;\n}\n";
  c.text = std::move(t);
}

// Packs and unpacks: the table knows only that mov can.
void add_packs(const Row& row, std::vector<VectorCase>& cases) {
  struct Pack {
    const char* word;
    Type whole, part;
    int parts;
  };
  constexpr Pack kPacks[] = {{".b16", Type::B16, Type::B8, 2},    {".b32", Type::B32, Type::B8, 4},   {".b32", Type::B32, Type::B16, 2},
                             {".b64", Type::B64, Type::B16, 4},   {".b64", Type::B64, Type::B32, 2},  {".b64", Type::B64, Type::F32, 2},
                             {".b128", Type::B128, Type::B64, 2}, {".b128", Type::B128, Type::B32, 4}};
  for (const Pack& p : kPacks)
    for (bool pack : {true, false}) {
      VectorCase c;
      c.statement.row = &row;
      c.statement.words = {p.word};
      std::string parts;
      for (int k = 0; k < p.parts; ++k) parts += (k ? ", " : "{") + register_name(p.part, 4 + k);
      StatementOperand whole{register_name(p.whole, 1), p.whole, 1, p.whole, false}, vector{parts + "}", p.part, 4, p.part, false};
      c.statement.operands = pack ? std::vector{whole, vector} : std::vector{vector, whole};
      cases.push_back(std::move(c));
    }
}

}  // namespace

void add_memory_cases(std::vector<VectorCase>& cases) {
  Bounds bounds;
  bounds.per_row = 150;
  for (const isa::RowForm& form : isa::all_forms()) {
    const Kind kind = form.row->kind;
    if ((kind != Kind::Memory && kind != Kind::Atomic && kind != Kind::Move) || form.row->since.sm > 90) continue;
    std::vector<VectorCase> fresh;
    for (Statement& s : legal_statements(form, bounds)) {
      if (!recordable(s)) continue;
      VectorCase c;
      c.statement = std::move(s);
      fresh.push_back(std::move(c));
    }
    if (form.row->opcode == "mov") add_packs(*form.row, fresh);
    for (VectorCase& c : fresh) {
      c.kernel = fmt::format("k{}", cases.size());
      Type element = Type::B64;
      for (const StatementOperand& o : c.statement.operands)
        if (!o.address) element = o.type;
      build(c, element);
      cases.push_back(std::move(c));
    }
  }
}

}  // namespace warpbeam::isa_test
