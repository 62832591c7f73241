#include "isa/vectors.h"

#include <fmt/format.h>

namespace warpbeam::isa_test {

using isa::Kind;
using isa::Row;
using isa::Type;
using namespace fuzz;

namespace {

// Loads a register of `held` from the 8-byte cell at %d14.
std::string load(const StatementOperand& o) {
  if (o.held == Type::Pred) return fmt::format("ld.global.u32 %r13, [%d14]; and.b32 %r13, %r13, 1; setp.ne.u32 %p{}, %r13, 0;\n", o.reg);
  const std::string reg = register_name(o.held, o.reg);
  if (o.held == Type::F32 || o.held == Type::F64) return fmt::format("ld.global{} {}, [%d14];\n", isa::name_of(o.held), reg);
  return fmt::format("ld.global.b{} {}, [%d14];\n", isa::bits_of(o.held), reg);
}

// Widens the destination into %d13.
std::string widen(const StatementOperand& o) {
  const std::string reg = register_name(o.held, o.reg);
  switch (o.held) {
    case Type::Pred: return fmt::format("selp.b64 %d13, 1, 0, {};\n", reg);
    case Type::F32: return fmt::format("mov.b32 %r13, {}; cvt.u64.u32 %d13, %r13;\n", reg);
    case Type::F64: return fmt::format("mov.b64 %d13, {};\n", reg);
    default: break;
  }
  const int bits = isa::bits_of(o.held);
  return bits == 64 ? fmt::format("mov.b64 %d13, {};\n", reg) : fmt::format("cvt.u64.u{} %d13, {};\n", bits, reg);
}

void build(VectorCase& c) {
  const Statement& s = c.statement;
  const Row& row = *s.row;
  std::string t = fmt::format(
      ".visible .entry {}(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3, .param .u64 p4, .param .u64 p5) {{\n", c.kernel);
  t += register_declarations();
  t += "mov.u32 %r15, %ctaid.x; mov.u32 %r14, %tid.x; mad.lo.u32 %r15, %r15, 32, %r14; mul.wide.u32 %d15, %r15, 8;\n";
  for (size_t k = 1; k < s.operands.size(); ++k) {
    if (s.operands[k].reg < 0) continue;
    c.inputs[k] = s.operands[k].held == s.operands[k].type ? s.operands[k].type : s.operands[k].held;
    t += fmt::format("ld.param.u64 %d14, [p{}]; add.u64 %d14, %d14, %d15; {}", k, load(s.operands[k]));
  }
  const bool carry = row.kind == Kind::Carry;
  if (carry) {  // the flag in: 0xffffffff + (0 or 1)
    c.inputs[0] = Type::Pred;
    t += "ld.param.u64 %d14, [p0]; add.u64 %d14, %d14, %d15; ld.global.u32 %r13, [%d14]; and.b32 %r13, %r13, 1;\n";
    t += "add.cc.u32 %r12, %r13, 0xffffffff;\n";
  }
  t += s.text() + "\n";
  if (carry) t += "addc.u32 %r12, 0, 0;\n";
  t += widen(s.operands[0]);
  t += "ld.param.u64 %d14, [p5]; shl.b64 %d15, %d15, 1; add.u64 %d14, %d14, %d15; st.global.b64 [%d14], %d13;\n";
  if (carry) t += "cvt.u64.u32 %d13, %r12;\n";
  else if (s.pair_reg >= 0) t += fmt::format("selp.b64 %d13, 1, 0, %p{};\n", s.pair_reg);
  else t += "mov.b64 %d13, 0;\n";
  t += "st.global.b64 [%d14+8], %d13;\nret;\n}\n";
  c.text = std::move(t);
}

bool recorded(const Row& row) {
  switch (row.kind) {
    case Kind::Lane:
    case Kind::Convert:
    case Kind::Compare:
    case Kind::Select:
    case Kind::Carry:
    case Kind::Video: return true;
    // Without .sync these do not exist on current devices.
    case Kind::Warp: return row.syntax.find(".sync") != std::string_view::npos || row.opcode == "activemask";
    default: return false;
  }
}

}  // namespace

uint64_t digest(const std::vector<uint64_t>& outputs) {
  uint64_t h = 0;
  for (uint64_t v : outputs) h = mix(h ^ v);
  return h;
}

std::vector<VectorCase> vector_cases() {
  std::vector<VectorCase> cases;
  Bounds bounds;
  bounds.per_row = 120;
  for (const isa::RowForm& form : isa::all_forms()) {
    if (!recorded(*form.row)) continue;
    for (Statement& s : legal_statements(form, bounds)) {
      if (form.row->since.sm > 90) continue;
      // mad without a rounding is for the first devices only.
      if (form.row->syntax.starts_with("mad{.rnd}") && s.words[0][1] != 'r') continue;
      if (form.row->kind == Kind::Warp) {
        // All lanes take part.
        StatementOperand& members = s.operands.back();
        if (form.row->opcode != "activemask") {
          members.text = "0xffffffff";
          members.reg = -1;
        }
      }
      VectorCase c;
      c.statement = std::move(s);
      c.kernel = fmt::format("k{}", cases.size());
      build(c);
      cases.push_back(std::move(c));
    }
  }
  add_memory_cases(cases);
  return cases;
}

}  // namespace warpbeam::isa_test
