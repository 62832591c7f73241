#include "jit/operands.h"

#include <bit>

namespace warpbeam::jit {
namespace {

using isa::Kind;
using isa::Type;
using ptx::OperandKind;

Width width_of(Type t) { return t == Type::Pred ? 0 : static_cast<Width>(isa::bytes_of(t)); }

class Collector {
 public:
  Collector(const vm::Insn& insn, const vm::FunctionCode& code) : i_(insn), code_(code) {}

  void reads(int32_t at, int bytes) { add(at, bytes, true, false); }
  void writes(int32_t at, int bytes) { add(at, bytes, false, true); }
  void both(int32_t at, int bytes) { add(at, bytes, true, true); }

  Width register_width(const ptx::Operand& o, Type otherwise) const {
    return o.kind == OperandKind::Register ? width_of(code_.function_of(i_).source->registers[static_cast<size_t>(o.reg)].type)
                                           : width_of(otherwise);
  }

  // Operand k of the text is op[k]; the first `destinations` are written.
  void plain(int destinations) {
    const ptx::Instruction& s = *i_.source;
    const isa::OperandSpecs& specs = s.form.row->operands;
    for (size_t k = 0; k < s.operands.size() && k < 5; ++k) {
      const ptx::Operand& o = s.operands[k];
      const Type want = isa::operand_type(specs.list[k], s.form.type, s.form.atype);
      const bool dest = static_cast<int>(k) < destinations;
      if (o.kind == OperandKind::Vector) {
        for (size_t e = 0; i_.list && e < o.list.size(); ++e) {
          const Width w = register_width(o.list[e], want);
          dest ? writes(i_.list[e], w) : reads(i_.list[e], w);
        }
        continue;
      }
      Width w = register_width(o, want);
      if (o.kind == OperandKind::Special && want == Type::Pred) w = 0;
      dest ? writes(i_.op[k], w) : reads(i_.op[k], w);
    }
  }

  std::vector<Slot> out;

 private:
  void add(int32_t at, int bytes, bool read, bool written) {
    if (at >= 0) out.push_back({at, static_cast<Width>(bytes), written, read});
  }
  const vm::Insn& i_;
  const vm::FunctionCode& code_;
};

void wide_operands(Collector& c, const vm::Insn& i) {
  const isa::Row& row = *i.source->form.row;
  const bool adds = row.op == isa::Opcode::Wgmma;  // to what its result holds
  for (int k = 0; k < i.count; ++k) {
    const vm::WideOperand& o = i.wide[k];
    const bool written = row.operands.list[static_cast<size_t>(k)].written;
    const auto touch = [&](int32_t at, Width bytes) { written ? adds ? c.both(at, bytes) : c.writes(at, bytes) : c.reads(at, bytes); };
    touch(o.slot, o.width);
    for (const int32_t part : o.parts) touch(part, row.operands.list[static_cast<size_t>(k)].address ? Width{4} : o.width);
  }
}

}  // namespace

bool is_weak_access(const vm::Insn& i) {
  const isa::Row* row = known_row(i);
  if (!row || row->kind != Kind::Memory || (row->cls != isa::Class::Load && row->cls != isa::Class::Store)) return false;
  return i.mods().sem == isa::Sem::None || i.mods().sem == isa::Sem::Weak;
}

std::vector<Slot> slots_of(const vm::Insn& i, const vm::FunctionCode& code) {
  Collector c(i, code);
  if (i.guard >= 0) c.reads(i.guard, 0);
  using vm::Step;
  switch (i.step) {
    case Step::Row: break;
    case Step::Label:
    case Step::Jump:
    case Step::Branch:
    case Step::Ret:
    case Step::Exit: return c.out;
    case Step::Call:
    case Step::CallBuiltin:
    case Step::CallIndirect:
      if (i.call->target_slot >= 0) c.reads(i.call->target_slot, 8);
      return c.out;
    case Step::NotPred:
      c.writes(i.op[0], 0);
      c.reads(i.op[1], 0);
      return c.out;
    case Step::ReadSpecial: c.writes(i.op[0], i.width); return c.out;
    case Step::PickTarget:
      c.writes(i.op[0], 4);
      c.reads(i.op[1], 8);
      return c.out;
    case Step::BranchTable: c.reads(i.op[0], 4); return c.out;
  }
  const ptx::Instruction& s = *i.source;
  const isa::Row& row = *s.form.row;
  const int bytes = width_of(s.form.type);
  switch (row.kind) {
    case Kind::Control: break;
    case Kind::Move:
      if (i.list) {
        const bool pack = s.operands[1].kind == OperandKind::Vector;
        for (int k = 0; k < i.count; ++k) pack ? c.reads(i.list[k], bytes / i.count) : c.writes(i.list[k], bytes / i.count);
        pack ? c.writes(i.op[0], bytes) : c.reads(i.op[0], bytes);
      } else {
        c.writes(i.op[0], bytes);
        c.reads(i.op[1], bytes);
      }
      break;
    case Kind::Memory: {
      if (row.cls == isa::Class::Misc) break;
      const bool load = row.cls == isa::Class::Load;
      c.reads(i.op[1], i.base_width);
      for (int k = 0; k < (i.list ? i.count : 1); ++k) {
        const int32_t at = i.list ? i.list[k] : i.op[0];
        load ? c.writes(at, i.width) : c.reads(at, i.width);
      }
      break;
    }
    case Kind::Atomic:
      c.reads(i.op[1], i.base_width);
      if (i.list) {
        const int destinations = row.op == isa::Opcode::Atom ? i.count : 0;
        for (int k = 0; k < destinations; ++k) c.writes(i.list[k], bytes);
        for (int k = 0; k < i.count; ++k) c.reads(i.list[destinations + k], bytes);
      } else {
        c.writes(i.op[0], bytes);
        c.reads(i.op[2], bytes);
        c.reads(i.op[3], bytes);
      }
      break;
    case Kind::Async:
      if (i.wide) {
        wide_operands(c, i);
        break;
      }
      c.reads(i.op[0], i.base_width);
      c.reads(i.op[1], i.width);
      c.reads(i.op[2], 4);
      c.reads(i.op[3], 4);
      c.reads(i.op[4], 0);  // of copies: do not read the source
      break;
    case Kind::Tensor: wide_operands(c, i); break;
    case Kind::Image: {
      const auto n = std::bit_cast<vm::ImageOperands>(i.imm);
      const int result = row.op == isa::Opcode::Istypep ? 0 : row.op == isa::Opcode::Suld ? i.width : 4;
      const int32_t* at = i.list;
      for (int k = 0; k < n.results; ++k) c.writes(*at++, result);
      for (int k = 0; k < n.coordinates; ++k) c.reads(*at++, 4);
      for (int k = 0; k < n.values; ++k) c.reads(*at++, i.width);
      for (int k = 0; k < n.level + 2 * n.gradient + n.offset; ++k) c.reads(*at++, 4);
      c.reads(i.op[1], 8);
      c.both(i.op[5], 0);
      break;
    }
    case Kind::Convert:
      c.writes(i.op[0], i.width);
      c.reads(i.op[1], i.count);
      for (size_t k = 2; k < s.operands.size() && k < 5; ++k)
        c.reads(i.op[k], c.register_width(s.operands[k], isa::operand_type(row.operands.list[k], s.form.type, s.form.atype)));
      break;
    case Kind::Lane:
    case Kind::Compare:
    case Kind::Select:
    case Kind::Video:
    case Kind::Warp:
    case Kind::Address:
      c.plain(1);
      c.writes(i.op[5], 0);
      break;
    case Kind::Carry:
      c.plain(1);
      c.both(i.op[5], 0);
      break;
    case Kind::Barrier: c.plain(i.source->form.mods.red ? 1 : 0); break;
    default:  // kinds this engine does not know: every register may be either
      c.plain(0);
      c.reads(i.op[5], 0);
      for (Slot& slot : c.out) slot.written = true;
      break;
  }
  return c.out;
}

}  // namespace warpbeam::jit
