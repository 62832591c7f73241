#include "observe/profiler/gathered.h"

namespace warpbeam::observe {
namespace {

using isa::Class;
using isa::Space;
using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;

bool defines_first_operand(const Instruction& i) {
  switch (i.form.row->cls) {
    case Class::Store:
    case Class::Branch:
    case Class::Call:
    case Class::Barrier:
    case Class::Fence:
    case Class::Misc: return false;
    case Class::Atomic: return i.form.row->op == isa::Opcode::Atom;
    default: return !i.operands.empty();
  }
}

// Which registers hold one value for all lanes of a warp. A register with several definitions counts as varying: which
// of them a lane took depends on its path.
class UniformRegisters {
 public:
  explicit UniformRegisters(const ptx::Function& f) : f_(f), definitions_(f.registers.size()), uniform_(f.registers.size(), 1) {
    for (const Instruction& i : f.body) {
      if (!defines_first_operand(i)) continue;
      count(i.operands[0]);
    }
    for (size_t r = 0; r < uniform_.size(); ++r) uniform_[r] = definitions_[r] == 1;
    // Whatever depends on something varying varies: until nothing changes.
    for (bool changed = true; changed;) {
      changed = false;
      for (const Instruction& i : f.body) {
        if (!defines_first_operand(i) || gives_uniform(i)) continue;
        changed = clear(i.operands[0]) || changed;
      }
    }
  }

  bool operator()(const Operand& o) const {
    switch (o.kind) {
      case OperandKind::Immediate: return true;
      case OperandKind::Symbol: return true;
      case OperandKind::Register: return uniform_[static_cast<size_t>(o.reg)];
      case OperandKind::Special:
        switch (o.special->id) {
          case isa::Special::Ntid:
          case isa::Special::Ctaid:
          case isa::Special::Nctaid:
          case isa::Special::Nsmid: return true;
          default: return false;
        }
      default: return false;
    }
  }

 private:
  void count(const Operand& o) {
    if (o.reg >= 0) ++definitions_[static_cast<size_t>(o.reg)];
    if (o.pair >= 0) definitions_[static_cast<size_t>(o.pair)] += 2;
    for (const Operand& e : o.list)
      if (e.reg >= 0) definitions_[static_cast<size_t>(e.reg)] += 2;
  }
  bool clear(const Operand& o) {
    if (o.reg < 0 || !uniform_[static_cast<size_t>(o.reg)]) return false;
    uniform_[static_cast<size_t>(o.reg)] = 0;
    return true;
  }
  bool gives_uniform(const Instruction& i) const {
    if (i.guard >= 0) return false;
    const isa::Row& row = *i.form.row;
    if (row.cls == Class::Atomic || row.cls == Class::Warp) return false;
    if (row.cls == Class::Load) {
      const Space space = i.form.mods.space;
      if (space == Space::Local || space == Space::ParamFunc) return false;
      if (space == Space::Param && !f_.entry) return false;
      if (i.form.mods.sem == isa::Sem::Volatile || row.kind == isa::Kind::Async) return false;
    }
    for (size_t k = 1; k < i.operands.size(); ++k)
      if (!(*this)(i.operands[k])) return false;
    return true;
  }

  const ptx::Function& f_;
  std::vector<uint32_t> definitions_;
  std::vector<char> uniform_;
};

}  // namespace

std::vector<char> gathered_atomics(const vm::FunctionCode& code, int cc) {
  std::vector<char> out(code.insns.size());
  bool any = false;
  for (const vm::Insn& insn : code.insns) any = any || (insn.watched == vm::Watched::Memory && insn.source->form.row->cls == Class::Atomic);
  if (!any || cc < 70) return out;
  const UniformRegisters uniform(*code.source);
  for (size_t k = 0; k < code.insns.size(); ++k) {
    const vm::Insn& insn = code.insns[k];
    if (insn.watched != vm::Watched::Memory || insn.source->form.row->cls != Class::Atomic) continue;
    const Instruction& i = *insn.source;
    const isa::Mods& mods = i.form.mods;
    const bool shared = mods.space == Space::Shared;
    if (mods.vec || isa::is_float(i.form.type) || (mods.space != Space::Global && mods.space != Space::Generic && !shared)) continue;
    const bool returns = i.form.row->op == isa::Opcode::Atom;
    if (!uniform(i.operands[returns ? 1 : 0])) continue;
    const bool same_value = uniform(i.operands[returns ? 2 : 1]);
    const bool word = isa::bytes_of(i.form.type) == 4;
    const bool sum = mods.op == isa::Op::Add;
    const bool joins = sum || mods.op == isa::Op::Min || mods.op == isa::Op::Max || mods.op == isa::Op::And || mods.op == isa::Op::Or ||
                       mods.op == isa::Op::Xor;
    const bool adds_lanes = cc >= 80 && word;  // REDUX
    if (returns && !insn.drops_result) out[k] = sum && word && (same_value || (shared && adds_lanes));
    else out[k] = joins && ((same_value && sum) || adds_lanes);
  }
  return out;
}

}  // namespace warpbeam::observe
