// A statement of the text becomes an instruction: operands in their places, the handler of its form.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "isa/image_form.h"
#include "isa/parameters.h"
#include "vm/decoder.h"
#include "vm/matrix_plan.h"

namespace warpbeam::vm {

using isa::Kind;
using isa::Type;
using ptx::Operand;
using ptx::OperandKind;

void Decoder::refuse(const ptx::Instruction& i) {
  errors_.push_back({i.at, fmt::format("this form of '{}' is not supported ({})", i.form.row->opcode, i.form.row->syntax), false});
}

void Decoder::decode_instruction(const ptx::Instruction& i, uint32_t block) {
  switch (i.form.row->kind) {
    case Kind::Control: return decode_control(i, block);
    case Kind::Move: return decode_move(i);
    case Kind::Memory:
    case Kind::Atomic: return decode_memory(i);
    case Kind::Async: return i.form.row->cls == isa::Class::Load ? decode_async(i) : decode_wide(i);
    case Kind::Tensor: return decode_wide(i);
    case Kind::Image: return decode_image(i);
    default: return decode_plain(i);
  }
}

void Decoder::decode_plain(const ptx::Instruction& i) {
  const isa::OperandSpecs& specs = i.form.row->operands;
  Insn insn;
  insn.source = &i;
  for (size_t k = 0; k < i.operands.size() && k < 5; ++k) {
    const Operand& o = i.operands[k];
    Type want = isa::operand_type(specs.list[k], i.form.type, i.form.atype);
    if (o.kind == OperandKind::Vector) {
      insn.list = list_slots(o, want, i);
      insn.count = static_cast<uint8_t>(o.list.size());
      continue;
    }
    if (o.kind == OperandKind::Register) {
      insn.op[k] = slot(o, f_.registers[o.reg].type, i);
    } else {
      insn.op[k] = slot(o, want, i);
    }
    if (o.pair >= 0) insn.op[5] = registers_[o.pair];
  }
  code_.allocates |= i.form.row->op == isa::Opcode::Alloca;
  Handler fn = nullptr;
  if (i.form.row->kind == Kind::Address) {
    fn = address_handler(i, register_bytes(i.operands[0], i.form.type));
  } else {
    fn = select_handler(i, f_);
  }
  if (!fn) return refuse(i);
  if (i.form.row->kind == Kind::Convert) {
    insn.width = static_cast<uint8_t>(register_bytes(i.operands[0], i.form.type));
    insn.count = static_cast<uint8_t>(register_bytes(i.operands[1], i.form.atype));
  }
  if (i.form.row->kind == Kind::Carry) insn.op[5] = code_.carry_slot;
  if (i.form.row->kind == Kind::Address) insn.width = static_cast<uint8_t>(register_bytes(i.operands[0], i.form.type));
  insn.fn = fn;
  code_.insns.push_back(insn);
  guard(code_.insns.back(), i);
}

void Decoder::decode_move(const ptx::Instruction& i) {
  const Operand& d = i.operands[0];
  const Operand& a = i.operands[1];
  const int bytes = lane_bytes(i.form.type);
  Insn insn;
  insn.source = &i;
  if (d.kind == OperandKind::Vector || a.kind == OperandKind::Vector) {
    const bool pack = a.kind == OperandKind::Vector;
    const Operand& v = pack ? a : d;
    const Operand& whole = pack ? d : a;
    if (whole.kind == OperandKind::Vector) return refuse(i);
    const int part = bytes / static_cast<int>(v.list.size());
    Type part_type = part == 1 ? Type::B8 : part == 2 ? Type::B16 : part == 4 ? Type::B32 : Type::B64;
    insn.list = list_slots(v, part_type, i);
    insn.count = static_cast<uint8_t>(v.list.size());
    insn.op[0] = slot(whole, i.form.type, i);
    insn.fn = pack ? pack_handler(part, insn.count) : unpack_handler(part, insn.count);
    if (!insn.fn) return refuse(i);
  } else {
    insn.op[0] = slot(d, i.form.type, i);
    insn.op[1] = slot(a, i.form.type, i);
    insn.fn = copy_handler(bytes);
  }
  code_.insns.push_back(insn);
  guard(code_.insns.back(), i);
}

void Decoder::decode_memory(const ptx::Instruction& i) {
  const isa::Row& row = *i.form.row;
  Insn insn;
  insn.source = &i;
  insn.cache = next_cache_++ % 64;
  int address_at = -1, data_at = -1;
  for (int k = 0; k < row.operands.count && k < static_cast<int>(i.operands.size()); ++k) {
    if (row.operands.list[k].address) address_at = k;
    else if (data_at < 0) data_at = k;
  }
  if (address_at < 0) return refuse(i);
  const Operand& target = i.operands[static_cast<size_t>(address_at)];
  // Parameters: those of a kernel are the launch's, those of calls live in the function's local frame.
  using isa::Space;
  const Space space = i.form.mods.space;
  const bool param_space = is_parameter(space);
  ParamPlace place = ParamPlace::None;
  if (param_space) {
    if (target.kind == OperandKind::Symbol && entry_params_.contains(target.name)) {
      place = ParamPlace::Named;
      insn.imm = int64_t(entry_params_[target.name]) + target.offset;
    } else if (target.kind == OperandKind::Symbol && !locals_.contains(target.name)) {
      errors_.push_back({i.at, fmt::format("'{}' is not a parameter", target.name), false});
      return;
    } else {
      if (!f_.entry || target.kind == OperandKind::Symbol) place = ParamPlace::Local;
    }
  }
  if (place != ParamPlace::Named) address(target, i, insn.op[1], insn.imm, insn.base_width);
  if (param_space && place == ParamPlace::None && insn.op[1] >= 0 && insn.base_width == 4) place = ParamPlace::Computed;
  if (data_at >= 0) {
    const Operand& data = i.operands[static_cast<size_t>(data_at)];
    insn.width = static_cast<uint8_t>(register_bytes(data, i.form.type));
    if (data.kind == OperandKind::Vector) {
      insn.list = list_slots(data, i.form.type, i);
      insn.count = static_cast<uint8_t>(data.list.size());
    } else {
      insn.op[0] = slot(data, i.form.type, i);
      if (data.kind != OperandKind::Register) insn.width = static_cast<uint8_t>(lane_bytes(i.form.type));
    }
  }
  if (row.kind == Kind::Atomic) {
    // atom d, [a], b, c and red [a], b: op[0] d, op[1] address, op[2] b, op[3] c.
    const bool returns = row.op == isa::Opcode::Atom;
    const size_t first = returns ? 2 : 1;
    if (!returns) insn.op[0] = -1;
    insn.drops_result = returns && nobody_reads_result(i);
    if (i.operands[first].kind == OperandKind::Vector) {
      if (!returns) insn.list = nullptr;
      const Operand& b = i.operands[first];
      std::vector<int32_t> slots;
      if (returns && i.operands[0].kind == OperandKind::Vector)
        for (const Operand& e : i.operands[0].list) slots.push_back(slot(e, i.form.type, i));
      for (const Operand& e : b.list) slots.push_back(slot(e, i.form.type, i));
      code_.lists.push_back(std::move(slots));
      insn.list = code_.lists.back().data();
      insn.count = static_cast<uint8_t>(b.list.size());
    } else {
      const Operand& b = i.operands[first];
      insn.op[2] = slot(b, i.form.type, i);
      insn.width = static_cast<uint8_t>(lane_bytes(i.form.type));
      insn.adds_one = (!returns || insn.drops_result) && i.form.mods.op == isa::Op::Add && insn.width == 4 && !isa::is_float(i.form.type) &&
                      b.kind == OperandKind::Immediate && b.imm == 1 && !b.float_literal;
    }
    if (i.operands.size() > first + 1 && i.form.mods.op == isa::Op::Cas) insn.op[3] = slot(i.operands[first + 1], i.form.type, i);
    if (i.form.mods.op == isa::Op::Cas && insn.op[3] < 0) return refuse(i);
    insn.fn = select_handler(i, f_);
  } else {
    insn.fn = memory_handler(i, insn.width, place);
  }
  if (!insn.fn) return refuse(i);
  code_.insns.push_back(insn);
  guard(code_.insns.back(), i);
}

void Decoder::decode_async(const ptx::Instruction& i) {
  Insn insn;
  insn.source = &i;
  insn.cache = next_cache_++ % 64;
  insn.fn = async_handler(i);
  if (!insn.fn) return refuse(i);
  if (i.operands.size() >= 3) {  // cp.async [dst], [src], size, [source size]
    uint8_t width_a, width_b;
    address(i.operands[0], i, insn.op[0], insn.imm, width_a);
    address(i.operands[1], i, insn.op[1], insn.imm2, width_b);
    insn.base_width = width_a;
    insn.width = width_b;
    insn.op[2] = slot(i.operands[2], Type::U32, i);
    const bool sized = i.operands.size() > (i.form.mods.hint ? 4u : 3u);  // the last one may be a cache policy
    if (sized) {
      const Operand& o = i.operands[3];
      const bool ignore = o.kind == OperandKind::Register && f_.registers[o.reg].type == Type::Pred;
      insn.op[ignore ? 4 : 3] = slot(o, ignore ? Type::Pred : Type::U32, i);
    }
  }
  code_.insns.push_back(insn);
  guard(code_.insns.back(), i);
}

void Decoder::decode_wide(const ptx::Instruction& i) {
  const isa::Row& row = *i.form.row;
  std::vector<WideOperand> operands;
  for (size_t k = 0; k < i.operands.size(); ++k) {
    const Operand& o = i.operands[k];
    const isa::OperandForm form = row.form ? row.form(i.form, static_cast<int>(k)) : isa::OperandForm{};
    const bool typed = form.type != Type::None && !(form.or_plain && o.kind != OperandKind::Vector);
    const Type want = typed ? form.type : isa::operand_type(row.operands.list[k], i.form.type, i.form.atype);
    WideOperand w;
    w.width = static_cast<uint8_t>(lane_bytes(want));
    if (o.address) {
      address(o, i, w.slot, w.offset, w.width);
      for (const Operand& e : o.list) w.parts.push_back(slot(e, Type::S32, i));
    } else if (o.kind == OperandKind::Vector) {
      for (const Operand& e : o.list) w.parts.push_back(slot(e, want, i));
    } else {
      w.slot = slot(o, o.kind == OperandKind::Register ? f_.registers[o.reg].type : want, i);
      if (o.kind == OperandKind::Register) w.width = static_cast<uint8_t>(lane_bytes(f_.registers[o.reg].type));
      w.immediate = o.kind == OperandKind::Immediate;
      w.offset = static_cast<int64_t>(o.imm);
    }
    operands.push_back(std::move(w));
  }
  Insn insn;
  insn.source = &i;
  insn.cache = next_cache_++ % 64;
  insn.count = static_cast<uint8_t>(operands.size());
  insn.fn = select_handler(i, f_);
  if (!insn.fn) return refuse(i);
  if (row.matrices) insn.plan = matrix_plan(i.form);
  insn.fragment = memory_fragment(i.form);
  code_.wide.push_back(std::move(operands));
  insn.wide = code_.wide.back().data();
  code_.insns.push_back(insn);
  guard(code_.insns.back(), i);
}

void Decoder::decode_image(const ptx::Instruction& i) {
  const isa::ImageForm form = isa::image_form(i.form);
  Insn insn;
  insn.source = &i;
  insn.fn = select_handler(i, f_);
  if (!insn.fn) return refuse(i);
  ImageOperands counts;
  std::vector<int32_t> slots;
  size_t at = 0;
  auto take = [&](Type type, int most) {
    const Operand& o = i.operands[at++];
    const size_t before = slots.size();
    auto one = [&](const Operand& e) { slots.push_back(slot(e, e.kind == OperandKind::Register ? f_.registers[e.reg].type : type, i)); };
    if (o.kind == OperandKind::Vector)
      for (const Operand& e : o.list) {
        if (static_cast<int>(slots.size() - before) < most) one(e);
      }
    else one(o);
    insn.width = static_cast<uint8_t>(register_bytes(o, type));
    return static_cast<uint8_t>(slots.size() - before);
  };
  if (form.results) {
    insn.op[5] = i.operands[0].pair >= 0 ? registers_[i.operands[0].pair] : -1;
    counts.results = take(form.result, 4);
  }
  const uint8_t data_width = insn.width;
  insn.op[1] = slot(i.operands[at++], Type::B64, i);
  if (form.coordinates) counts.coordinates = take(form.coordinate, form.used);
  if (form.values) counts.values = take(form.value, 4);
  insn.width = form.values ? insn.width : data_width;
  const uint8_t width = insn.width;
  if (form.level) counts.level = take(Type::B32, 1);
  for (int k = 0; form.gradient && k < 2; ++k) counts.gradient = take(Type::F32, std::min(form.gradient, 3));
  if (at < i.operands.size()) counts.offset = take(Type::S32, std::min(form.offset, 3));
  insn.width = width;
  std::memcpy(&insn.imm, &counts, sizeof insn.imm);
  code_.lists.push_back(std::move(slots));
  insn.list = code_.lists.back().data();
  code_.insns.push_back(insn);
  guard(code_.insns.back(), i);
}

void Decoder::decode_control(const ptx::Instruction& i, uint32_t block) {
  const isa::Opcode op = i.form.row->op;
  if (op == isa::Opcode::Bra) {
    Insn& b = emit(i.guard >= 0 ? Step::Branch : Step::Jump, i);
    b.target = block_of_[label_at(i.operands[0].name)];
    b.spin = position_[b.target] <= position_[block] && spins_[b.target];
    to_patch_.push_back(static_cast<uint32_t>(code_.insns.size() - 1));
    if (i.guard >= 0) guard(b, i);
  } else if (op == isa::Opcode::Brx) {
    std::vector<int32_t> targets;
    if (auto t = f_.branch_targets.find(i.operands[1].name); t != f_.branch_targets.end())
      for (const std::string& label : t->second) targets.push_back(static_cast<int32_t>(block_of_[label_at(label)]));
    code_.lists.push_back(std::move(targets));
    tables_.push_back(code_.lists.size() - 1);
    Insn& b = emit(Step::BranchTable, i);
    b.op[0] = registers_[i.operands[0].reg];
    b.list = code_.lists.back().data();
    b.imm = static_cast<int64_t>(code_.lists.back().size());
    guard(b, i);
  } else if (op == isa::Opcode::Call) {
    decode_call(i);
  } else if (op == isa::Opcode::Ret) {
    guard(emit(Step::Ret, i), i);
  } else if (op == isa::Opcode::Exit) {
    guard(emit(Step::Exit, i), i);
  } else {
    Handler fn = select_handler(i, f_);
    if (!fn) return refuse(i);
    Insn& insn = emit(Step::Row, i);
    insn.fn = fn;
    guard(insn, i);
  }
}

void Decoder::decode_call(const ptx::Instruction& i) {
  CallSite site;
  const Operand& target = i.operands[1];
  auto parts = [&](const Operand& list, std::vector<LocalPart>& out) {
    for (const Operand& o : list.list) {
      auto it = o.kind == OperandKind::Symbol ? locals_.find(o.name) : locals_.end();
      if (it == locals_.end()) {
        errors_.push_back({i.at, "arguments and results of a call must be .param variables", false});
        return;
      }
      out.push_back(it->second);
    }
  };
  parts(i.operands[0], site.returns);
  parts(i.operands[2], site.args);
  Step step = Step::Call;
  if (target.kind == OperandKind::Register) {
    site.target_slot = registers_[target.reg];
    code_.indirect_calls = true;
    step = Step::CallIndirect;
  } else {
    Resolved r = resolve_(target.name);
    if (r.kind == Resolved::Function) {
      check_call(i, site, *r.function->source, r.builtin);
      if (r.function->source->entry) {
        site.builtin = r.builtin;
        site.builtin_data = r.function;
        site.runtime = true;
        step = Step::CallBuiltin;
      } else {
        site.callee = r.function;
        note(code_.callees, r.function->index);
      }
    } else if (r.kind == Resolved::Builtin) {
      site.builtin = r.builtin;
      site.builtin_data = r.builtin_data;
      site.runtime = r.runtime;
      step = Step::CallBuiltin;
    } else {
      errors_.push_back({i.at, fmt::format("function '{}' is not defined", target.name), false});
      return;
    }
  }
  code_.call_sites.push_back(std::move(site));
  Insn& c = emit(step, i);
  c.call = &code_.call_sites.back();
  guard(c, i);
}

void Decoder::check_call(const ptx::Instruction& i, const CallSite& site, const ptx::Function& callee, Builtin launch) {
  bool ok = site.args.size() == callee.params.size() && site.returns.size() == callee.returns.size() && (!callee.entry || launch);
  for (size_t k = 0; ok && k < site.args.size(); ++k)
    ok = site.args[k].size == callee.params[k].size || (callee.entry && site.args[k].size == 4 && callee.params[k].size < 4);
  for (size_t k = 0; ok && k < site.returns.size(); ++k) ok = site.returns[k].size == callee.returns[k].size;
  if (!ok) errors_.push_back({i.at, fmt::format("this call does not match the parameters of '{}'", callee.name), false});
}

}  // namespace warpbeam::vm
