// What ptxas takes as one instruction and makes several of, written out: operands that are sums or elements of arrays,
// `lop3` with a predicate. The manual has only the last; texts written by hand have all of them. And `multimem`.
#include <algorithm>

#include "ptx/parser.h"

namespace warpbeam::ptx {
namespace {

using isa::Type;

Operand register_operand(int reg) {
  Operand o;
  o.kind = OperandKind::Register;
  o.reg = reg;
  return o;
}

Operand number(uint64_t value) {
  Operand o;
  o.kind = OperandKind::Immediate;
  o.imm = value;
  return o;
}

}  // namespace

int Parser::add_register(Function& f, Type type) {
  const int reg = static_cast<int>(f.registers.size());
  f.registers.push_back({type, -1, static_cast<uint32_t>(f.register_names.size())});
  f.register_names.push_back("%written_out" + std::to_string(unique_++));
  return reg;
}

// An instruction before `like`, under its guard.
void Parser::write_out(Function& f, const Instruction& like, std::string_view op, std::initializer_list<std::string_view> words,
                       std::vector<Operand> operands) {
  Instruction i;
  i.form = *isa::match_row(op, std::span(words.begin(), words.size()), static_cast<int>(operands.size()));
  i.guard = like.guard;
  i.guard_negated = like.guard_negated;
  i.at = like.at;
  i.file = like.file;
  i.line = like.line;
  i.column = like.column;
  i.operands = std::move(operands);
  f.body.push_back(std::move(i));
}

// `%r1 + 4`, of the register's width.
void Parser::write_out_sum(Function& f, const Instruction& i, Operand& o) {
  const Type type = f.registers[o.reg].type;
  const int bits = isa::bits_of(type);
  if (isa::is_float(type) || type == Type::Pred || (bits != 16 && bits != 32 && bits != 64))
    return error(i.at, "{} is {}: only to integers of 16 to 64 bits something can be added", f.register_name(o.reg), isa::name_of(type));
  const int sum = add_register(f, bits == 16 ? Type::B16 : bits == 32 ? Type::B32 : Type::B64);
  write_out(f, i, "add",
            {bits == 16   ? ".s16"
             : bits == 32 ? ".s32"
                          : ".s64"},
            {register_operand(sum), register_operand(o.reg), number(static_cast<uint64_t>(o.offset))});
  o.reg = sum;
  o.offset = 0;
  o.indexed = false;
}

// `table[%r1]`: the low word of the index counts elements, in 32 bits.
void Parser::write_out_index(Function& f, const Instruction& i, Operand& o) {
  const isa::Row& row = *i.form.row;
  if (row.kind != isa::Kind::Move && row.kind != isa::Kind::Memory && row.kind != isa::Kind::Address)
    return error(i.at, "'{}' does not take an index in a register", row.opcode);
  const bool wide = row.kind != isa::Kind::Move || isa::bits_of(i.form.type) == 64;
  if (o.list[0].indexed) write_out_sum(f, i, o.list[0]);
  const int index = o.list[0].reg, bits = isa::bits_of(f.registers[index].type);
  const uint64_t element = static_cast<uint64_t>(o.offset);
  int bytes = index;
  if (bits != 32) {
    bytes = add_register(f, Type::B32);
    write_out(f, i, "cvt", {".u32", bits == 16 ? ".u16" : ".u64"}, {register_operand(bytes), register_operand(index)});
  }
  if (element != 1) {
    const int scaled = add_register(f, Type::B32);
    write_out(f, i, "mul", {".lo", ".u32"}, {register_operand(scaled), register_operand(bytes), number(element)});
    bytes = scaled;
  }
  if (wide) {
    const int widened = add_register(f, Type::B64);
    write_out(f, i, "cvt", {".u64", ".u32"}, {register_operand(widened), register_operand(bytes)});
    bytes = widened;
  }
  const int start = add_register(f, wide ? Type::B64 : Type::B32), place = add_register(f, wide ? Type::B64 : Type::B32);
  Operand array;
  array.kind = OperandKind::Symbol;
  array.name = o.name;
  write_out(f, i, "mov", {wide ? ".u64" : ".u32"}, {register_operand(start), std::move(array)});
  write_out(f, i, "add", {wide ? ".s64" : ".s32"}, {register_operand(place), register_operand(start), register_operand(bytes)});
  const bool address = o.address;
  o = register_operand(place);
  o.address = address;
}

// `mapa.shared::cluster.u32 %r1, sh, %r2;`: the address of a variable, a generic one where no state space is named.
void Parser::write_out_place(Function& f, const Instruction& i, Operand& o) {
  const bool wide = isa::bits_of(i.form.type) == 64;
  const int place = add_register(f, wide ? Type::B64 : Type::B32);
  o.indexed = o.address = false;
  const std::string_view type = wide ? ".u64" : ".u32";
  if (i.form.mods.space == isa::Space::Generic) write_out(f, i, "cvta", {".shared", type}, {register_operand(place), std::move(o)});
  else write_out(f, i, "mov", {type}, {register_operand(place), std::move(o)});
  o = register_operand(place);
}

// Ways to write an operand that mean the same as others.
void Parser::settle_operands(Function& f, Instruction& i) {
  const isa::Row& row = *i.form.row;
  const bool ranks = row.op == isa::Opcode::Mapa || row.op == isa::Opcode::Getctarank;
  const bool accesses = (row.opcode == "ld" || row.opcode == "st" || row.opcode == "ldu") && i.form.mods.vec == 0;
  for (size_t k = 0; k < i.operands.size(); ++k) {
    Operand& o = i.operands[k];
    const bool listed = static_cast<int>(k) < row.operands.count;
    const bool address = listed && row.operands.list[k].address;
    if (o.indexed && o.kind == OperandKind::Register) {
      if (listed && row.operands.list[k].written) return error(i.at, "the destination must be a register");
      write_out_sum(f, i, o);
    }
    if (o.indexed) o.address = address;
    if (o.indexed && !o.list.empty()) write_out_index(f, i, o);
    else if (ranks && k == 1 && o.kind == OperandKind::Symbol && !o.address) write_out_place(f, i, o);
    // `ld.global.b32 {%r1}, [%rd1];`: a vector of one is its element. Triton writes all of its accesses so.
    if (accesses && !address && o.kind == OperandKind::Vector && o.list.size() == 1) {
      Operand only = std::move(o.list.front());
      o = std::move(only);
    }
    // `add.u32 %r1|_, …`: a second result that nobody wants.
    if (listed && row.operands.list[k].written && !row.operands.list[k].pair && o.kind == OperandKind::Register && o.pair == -2)
      o.pair = -1;
    // Of `mov.b32 %r1, {%h1, _};` half has no value.
    if (row.kind == isa::Kind::Move && o.kind == OperandKind::Vector && listed && !row.operands.list[k].written)
      for (Operand& e : o.list)
        if (e.kind == OperandKind::Sink) e.kind = OperandKind::Immediate;
  }
}

// `lop3.or.b32 d|p, a, b, c, table, q`: p says whether d is not zero, or q holds; with `.and`, and q holds.
bool Parser::write_out_lop3(Function& f, Instruction& i, std::vector<std::string_view>& words) {
  const auto joins = std::ranges::find_if(words, [](std::string_view w) { return w == ".or" || w == ".and"; });
  if (joins == words.end()) return false;
  const std::string_view how = *joins;
  words.erase(joins);
  if (i.operands.size() != 6 || i.operands[0].pair == -1) {
    error(i.at, "lop3{} needs d|p, a, b, c, a table and a predicate", how);
    return true;
  }
  Operand joined = std::move(i.operands.back());
  i.operands.pop_back();
  if (i.operands[0].kind == OperandKind::Sink) i.operands[0].kind = OperandKind::Register, i.operands[0].reg = add_register(f, Type::B32);
  const int holds = std::exchange(i.operands[0].pair, -1);
  const auto form = isa::match_row("lop3", words, 5);
  if (!form) {
    error(i.at, "lop3{}: {}", how, form.error().message);
    return true;
  }
  i.form = *form;
  settle_operands(f, i);
  check_operands(f, i);
  const Operand result = i.operands[0];
  const Instruction like = i;
  f.body.push_back(std::move(i));
  if (holds < 0 || !diagnostics_.empty()) return true;
  write_out(f, like, "setp", {".ne", how, ".b32"}, {register_operand(holds), result, number(0), std::move(joined)});
  check_operands(f, f.body.back());
  return true;
}

// These read and write memory of several devices at once, by addresses that only a multicast object gives. The devices here
// say that they have none (CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED): who asks does not come here, and who does not is stopped.
void Parser::write_out_multimem(Function& f, const Instruction& i, const std::vector<std::string_view>& words) {
  constexpr std::string_view kWords[] = {".weak",   ".relaxed", ".acquire", ".release", ".cta",   ".cluster", ".gpu",   ".sys",
                                         ".global", ".add",     ".min",     ".max",     ".and",   ".or",      ".xor",   ".acc::f32",
                                         ".v2",     ".v4",      ".v8",      ".b32",     ".b64",   ".u32",     ".u64",   ".s32",
                                         ".s64",    ".f32",     ".f64",     ".f16",     ".f16x2", ".bf16",    ".bf16x2"};
  const bool loads = !words.empty() && words[0] == ".ld_reduce";
  bool known = loads || (!words.empty() && (words[0] == ".st" || words[0] == ".red"));
  for (size_t k = 1; k < words.size(); ++k) known &= std::ranges::find(kWords, words[k]) != std::end(kWords);
  Operand first, second;
  if (!parse_operand(f, first) || !expect(',') || !parse_operand(f, second) || !expect(';')) return recover();
  const Operand &place = loads ? second : first, &value = loads ? first : second;
  const bool moved =
      value.kind == OperandKind::Register || value.kind == OperandKind::Vector || (!loads && value.kind == OperandKind::Immediate);
  if (!known || !place.address || value.address || !moved) {
    error(i.at, "multimem takes .ld_reduce with a register and an address, .st or .red with an address and a value");
    return;
  }
  write_out(f, i, "trap", {}, {});
}

}  // namespace warpbeam::ptx
