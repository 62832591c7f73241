// Found in what ptxas 13.0 makes of products of tiles for sm_90, and compared with an H100's counters (tests/profile): it
// places variables of shared memory at multiples of 16 bytes, knows which low bits of an address are zero, and puts loads of
// a basic block together unless something that may write to shared memory stands between them.
#include "observe/profiler/merged_accesses.h"

#include <algorithm>
#include <bit>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace warpbeam::observe {
namespace {

using isa::Class;
using isa::Space;
using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;

constexpr int kMost = 4;  // bits: no access asks for more than 16 bytes

// What is known of a number in every lane: so many low bits.
struct LowBits {
  int count = kMost;
  uint64_t value = 0;

  static LowBits of(uint64_t number) { return {kMost, number & 15}; }
  LowBits only(int most) const { return {std::min(count, most), value & ((uint64_t{1} << std::min(count, most)) - 1)}; }
  int zeros() const { return value ? std::countr_zero(value) : count; }
  bool operator==(const LowBits&) const = default;
};
constexpr LowBits kNothing{0, 0};

LowBits plus(LowBits a, LowBits b) { return LowBits{std::min(a.count, b.count), a.value + b.value}.only(kMost); }
LowBits minus(LowBits a, LowBits b) { return LowBits{std::min(a.count, b.count), a.value - b.value}.only(kMost); }
LowBits times(LowBits a, LowBits b) {
  return LowBits{std::min({kMost, a.count + b.zeros(), b.count + a.zeros()}), a.value * b.value}.only(kMost);
}
LowBits either(LowBits a, LowBits b) { return a.only(std::min(b.count, a.value == b.value ? kMost : std::countr_zero(a.value ^ b.value))); }
LowBits masked(LowBits a, LowBits b) {
  const int both = std::min(a.count, b.count);
  return LowBits{std::max({both, b.zeros(), a.zeros()}), a.value & b.value}.only(kMost);
}

// The low bits of each register: those in which all its definitions agree.
class Registers {
 public:
  Registers(const ptx::Function& f, const ptx::Module& module) : known_(f.registers.size()), defined_(f.registers.size()) {
    for (const auto* all : {&module.variables, &f.locals})
      for (const ptx::Variable& v : *all)
        if (v.space == Space::Shared) shared_[v.name] = LowBits{}.only(v.unsized || v.size >= 16 ? kMost : std::countr_zero(v.align));
    for (bool changed = true; changed;) {
      changed = false;
      for (const Instruction& i : f.body) changed = define(i) || changed;
    }
  }

  LowBits operator()(const Operand& o) const {
    const LowBits offset = LowBits::of(static_cast<uint64_t>(o.offset));
    switch (o.kind) {
      case OperandKind::Immediate: return o.float_literal ? kNothing : LowBits::of(o.imm);
      case OperandKind::Register: return plus(known_[static_cast<size_t>(o.reg)], offset);
      case OperandKind::Symbol: {
        const auto it = shared_.find(o.name);
        return it == shared_.end() ? kNothing : plus(it->second, offset);
      }
      default: return kNothing;
    }
  }

 private:
  bool define(const Instruction& i) {
    if (i.operands.empty()) return false;
    switch (i.form.row->cls) {
      case Class::Store:
      case Class::Branch:
      case Class::Call:
      case Class::Barrier:
      case Class::Fence: return false;
      default: break;
    }
    bool changed = false;
    const Operand& to = i.operands[0];
    if (to.reg >= 0 && !to.address) changed = set(to.reg, of_result(i));
    if (to.pair >= 0) changed = set(to.pair, kNothing) || changed;
    for (const Operand& part : to.list)
      if (part.reg >= 0) changed = set(part.reg, kNothing) || changed;
    return changed;
  }
  // Begins with what the first definition says and forgets what the others do not.
  bool set(int reg, LowBits bits) {
    const auto r = static_cast<size_t>(reg);
    const LowBits now = defined_[r] ? either(known_[r], bits) : bits;
    const bool changed = !defined_[r] || now != known_[r];
    defined_[r] = 1;
    known_[r] = now;
    return changed;
  }
  LowBits of_result(const Instruction& i) const {
    const isa::Opcode op = i.form.row->op;
    const auto& o = i.operands;
    const auto at = [&](size_t k) { return k < o.size() ? (*this)(o[k]) : kNothing; };
    if (isa::is_float(i.form.type)) return kNothing;
    if (op == isa::Opcode::Mov || op == isa::Opcode::Cvt || op == isa::Opcode::Cvta) return at(1);
    if (op == isa::Opcode::Add) return plus(at(1), at(2));
    if (op == isa::Opcode::Sub) return minus(at(1), at(2));
    if (op == isa::Opcode::Selp) return either(at(1), at(2));
    if (op == isa::Opcode::And) return masked(at(1), at(2));
    if (op == isa::Opcode::Or) return LowBits{std::min(at(1).count, at(2).count), at(1).value | at(2).value}.only(kMost);
    if (op == isa::Opcode::Xor) return LowBits{std::min(at(1).count, at(2).count), at(1).value ^ at(2).value}.only(kMost);
    if (op == isa::Opcode::Mul) return times(at(1), at(2));
    if (op == isa::Opcode::Mad) return plus(times(at(1), at(2)), at(3));
    if (op == isa::Opcode::Shl && o.size() > 2 && o[2].kind == OperandKind::Immediate)
      return o[2].imm < kMost ? times(at(1), LowBits::of(uint64_t{1} << o[2].imm)) : LowBits{};
    return kNothing;
  }

  std::vector<LowBits> known_;
  std::vector<char> defined_;
  std::unordered_map<std::string_view, LowBits> shared_;
};

struct Part {
  size_t insn;
  int64_t offset;
  int bytes;
};
// Of one base address, in the order of the text.
struct Parts {
  LowBits base;
  std::vector<Part> all;
};

// Puts together neighbours that fill an aligned piece of 16, else of 8 bytes; two halves of a word that are stored.
void merge(const Parts& parts, std::vector<uint8_t>& out) {
  for (const int piece : {16, 8, 4}) {
    if ((1 << parts.base.count) < piece) continue;
    std::map<int64_t, std::vector<const Part*>> pieces;
    for (const Part& part : parts.all) {
      const int64_t place = static_cast<int64_t>(parts.base.value) + part.offset;
      if (!out[part.insn] && part.bytes < piece && (part.bytes == 2) == (piece == 4)) pieces[place & -int64_t{piece}].push_back(&part);
    }
    for (const auto& [begin, of_piece] : pieces) {
      int wanted = 0;
      for (const Part* part : of_piece)
        wanted |= ((1 << part->bytes) - 1) << (static_cast<int64_t>(parts.base.value) + part->offset - begin);
      // A word of 8 bytes and two of 4 stay apart, as in ptxas's code for an H100.
      const auto as_wide = [&](const Part* part) { return part->bytes == of_piece.front()->bytes; };
      if (wanted != (1 << piece) - 1 || !std::ranges::all_of(of_piece, as_wide)) continue;
      for (const Part* part : of_piece) out[part->insn] = kPartOfOther;
      out[of_piece.front()->insn] = static_cast<uint8_t>(piece);
    }
  }
}

// Accesses of one basic block that nothing stands between.
class Open {
 public:
  Open(const Registers& registers, std::vector<uint8_t>& out) : registers_(registers), out_(out) {}

  void add(size_t insn, const Instruction& i, const Operand& address) {
    Operand base = address;
    const int64_t offset = std::exchange(base.offset, 0);
    Parts& parts = parts_[{base.reg, base.kind == OperandKind::Symbol ? std::string_view(address.name) : std::string_view()}];
    parts.base = registers_(base);
    parts.all.push_back({insn, offset, isa::bytes_of(i.form.type)});
  }
  void close() {
    for (const auto& [base, parts] : parts_) merge(parts, out_);
    parts_.clear();
  }
  bool others(const Operand& address) const { return !parts_.empty() && parts_.begin()->first.first != address.reg; }
  // The register gets another value.
  void forget(int reg) {
    const auto it = parts_.find({reg, {}});
    if (reg < 0 || it == parts_.end()) return;
    merge(it->second, out_);
    parts_.erase(it);
  }

 private:
  const Registers& registers_;
  std::vector<uint8_t>& out_;
  std::map<std::pair<int, std::string_view>, Parts> parts_;
};

bool may_write_shared(const Instruction& i) {
  switch (i.form.row->cls) {
    case Class::Store:
    case Class::Atomic:
      return i.form.mods.space == Space::Shared || i.form.mods.space == Space::SharedCluster || i.form.mods.space == Space::Generic;
    case Class::Call:
    case Class::Barrier:
    case Class::Fence: return true;
    default: return i.form.row->kind == isa::Kind::Async || (i.form.row->kind == isa::Kind::Tensor && i.form.row->effects.writes);
  }
}

bool of_shared(const Instruction& i, Class cls) {
  return i.form.row->cls == cls && i.form.row->kind == isa::Kind::Memory && i.form.mods.space == Space::Shared;
}

// A word or two by themselves: what is written as a vector stays as it is.
bool may_merge(const Instruction& i, const Operand& address) {
  const int bytes = isa::bytes_of(i.form.type);
  const bool half = bytes == 2 && i.form.row->cls == Class::Store;
  return i.guard < 0 && i.form.mods.sem != isa::Sem::Volatile && !i.form.mods.vec && (half || bytes == 4 || bytes == 8) &&
         (address.kind == OperandKind::Register || address.kind == OperandKind::Symbol);
}

}  // namespace

std::vector<uint8_t> merged_accesses(const vm::FunctionCode& code) {
  std::vector<uint8_t> out(code.insns.size());
  const ptx::Function& f = *code.source;
  if (std::ranges::none_of(f.body, [](const Instruction& i) { return of_shared(i, Class::Load) || of_shared(i, Class::Store); }))
    return out;
  const Registers registers(f, *code.module);
  std::vector<char> begins(f.body.size() + 1);
  for (const auto& [label, at] : f.labels) begins[at] = 1;
  Open loads(registers, out), stores(registers, out);
  for (size_t k = 0; k < code.insns.size(); ++k) {
    const Instruction* i = code.insns[k].source;
    if (!i || i < f.body.data() || i >= f.body.data() + f.body.size()) continue;
    const bool load = of_shared(*i, Class::Load) && i->operands.size() > 1, store = of_shared(*i, Class::Store) && !i->operands.empty();
    const bool parts = begins[static_cast<size_t>(i - f.body.data())] || i->form.row->cls == Class::Branch, writes = may_write_shared(*i);
    if (parts || writes) loads.close();
    if (parts || load || (writes && !store) || (store && stores.others(i->operands[0]))) stores.close();
    if (load && may_merge(*i, i->operands[1])) loads.add(k, *i, i->operands[1]);
    if (store && may_merge(*i, i->operands[0])) stores.add(k, *i, i->operands[0]);
    if (i->operands.empty() || i->operands[0].address) continue;
    for (Open* open : {&loads, &stores}) {
      open->forget(i->operands[0].reg);
      for (const Operand& part : i->operands[0].list) open->forget(part.reg);
    }
  }
  loads.close();
  stores.close();
  return out;
}

}  // namespace warpbeam::observe
