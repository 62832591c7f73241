// Compute capability 1.x: two operands for most instructions, a multiplier for halves of words, addresses of 32 bits whatever the PTX says, an
// operand out of shared memory. What is told of that machine code (envytools; Mesa's nv50 compiler) and of its compiler (the programming guides
// of CUDA 1.0 to 4.2) rests on published work.
#include <algorithm>
#include <bit>
#include <utility>

#include "assembly/selector.h"

namespace warpbeam::assembly {

using isa::Type;
using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;

namespace {

// Of addresses and whole numbers, what makes an address of others: its lower half needs no upper ones.
bool passes_lower_half(const Instruction& i) {
  static constexpr std::string_view kOpcodes[] = {"add", "sub", "mul", "mad", "shl", "mov", "cvta", "cvt"};
  return std::ranges::find(kOpcodes, i.form.row->opcode) != std::end(kOpcodes) && !isa::is_float(i.form.type) && !i.form.mods.cc &&
         !i.form.mods.sat && i.guard < 0 && half_of(i) != isa::Half::Hi && !(i.form.row->opcode == "cvt" && isa::is_float(i.form.atype));
}

bool loads_parameter(const Instruction& i) {
  const isa::Space space = i.form.mods.space;
  return i.form.row->opcode == "ld" && (space == isa::Space::Param || space == isa::Space::ParamEntry) &&
         i.operands[0].kind == OperandKind::Register && i.operands[1].kind == OperandKind::Symbol;
}

}  // namespace

void Selector::find_short_addresses() {
  const size_t n = f_.registers.size();
  std::vector<char> whole(n, 0);
  for (size_t r = 0; r < n; ++r) whole[r] = isa::is_float(f_.registers[r].type) || isa::bits_of(f_.registers[r].type) != 64;
  for (const auto& [name, reg] : f_.register_params) whole[static_cast<size_t>(reg)] = 1;
  for (const auto& [name, reg] : f_.register_returns) whole[static_cast<size_t>(reg)] = 1;
  bool grew = true;
  const auto want = [&](const Operand& o, const auto& again) -> void {
    if (o.kind == OperandKind::Register && o.reg >= 0 && !o.address && !whole[static_cast<size_t>(o.reg)])
      whole[static_cast<size_t>(o.reg)] = grew = true;
    for (const Operand& e : o.list) again(e, again);
  };
  while (std::exchange(grew, false))
    for (const Instruction& i : f_.body) {
      if (loads_parameter(i) && f_.entry) continue;
      const bool passes = passes_lower_half(i) && !i.operands.empty() && i.operands[0].kind == OperandKind::Register &&
                          i.operands[0].reg >= 0 && i.operands[0].pair < 0;
      if (passes &&
          (isa::bits_of(f_.registers[static_cast<size_t>(i.operands[0].reg)].type) != 64 ||
           !whole[static_cast<size_t>(i.operands[0].reg)]) &&
          !isa::is_float(f_.registers[static_cast<size_t>(i.operands[0].reg)].type))
        continue;
      for (const Operand& o : i.operands) want(o, want);
    }
  short_address_.resize(n);
  for (size_t r = 0; r < n; ++r) short_address_[r] = !whole[r];
}

// Of registers, what is known to have 16 bits goes through the multiplier at once; else it takes the products of halves, those of the upper with
// the other's lower ones shifted.
void Selector::multiply_halves(Part to, const Source& a, const Source& b, const Source& c, bool small_a, bool small_b) {
  using enum Operation;
  if (small_a && small_b) return void(emit(IntMul, c.kind == Source::Nothing ? "IMUL.U16" : "IMAD.U16", {to}, {a, b, c}));
  const Part upper = temporary(), shifted = temporary();
  emit(IntMul, "IMUL.U16", {upper}, {a, b});
  if (!small_a && !small_b) emit(IntMul, "IMAD.U16", {upper}, {a, b, of(upper)});
  emit(Shift, "SHL", {shifted}, {of(upper)});
  if (c.kind == Source::Nothing) return void(emit(IntMul, "IMAD.U16", {to}, {a, b, of(shifted)}));
  const Part sum = temporary();
  emit(IntMul, "IMAD.U16", {sum}, {a, b, of(shifted)});
  emit(IntAdd, "IADD", {to}, {of(sum), c});
}

// A quotient of floats, of what it leaves another one, and a correction; products of whole words are four instructions each.
void Selector::divide_by_floats(const Instruction& i) {
  using enum Operation;
  const bool remainder = i.form.row->opcode == "rem", sign = isa::is_signed(i.form.type);
  const Source a = source(i.operands[1]), b = source(i.operands[2]);
  const auto step = [&](Operation operation, std::string_view mnemonic, std::initializer_list<Source> reads) {
    const Part t = temporary();
    emit(operation, mnemonic, {t}, reads);
    return of(t);
  };
  const auto product = [&](const Source& x) {
    const Part t = temporary();
    multiply_halves(t, x, b, {}, false, false);
    return of(t);
  };
  const Source over = step(Convert, "I2F", {a}), under = step(Convert, "I2F", {b});
  Source dividend = a;
  if (sign) dividend = step(Absolute, "IABS", {a}), step(Absolute, "IABS", {b});
  const Source reciprocal = step(IntAdd, "IADD", {step(Special, "RCP", {under})});
  const Source first = step(Convert, "F2I", {step(FloatMul, "FMUL", {over, reciprocal})});
  const Source left = step(Convert, "I2F", {step(IntAdd, "IADD", {dividend, product(first)})});
  const Source more = step(Convert, "F2I", {step(FloatMul, "FMUL", {left, reciprocal})});
  const Source both = step(IntAdd, "IADD", {first, more});
  const Source rest = step(IntAdd, "IADD", {dividend, product(both)});
  const Source too_few = step(Compare, "ISET", {rest, b});
  const Part to = destination(i.operands[0]);
  Part quotient = temporary();
  emit(IntAdd, "IADD", {quotient}, {both, too_few});
  if (remainder) {
    const Source all = product(of(quotient));
    quotient = temporary();
    emit(IntAdd, "IADD", {quotient}, {dividend, all});
  }
  // By zero: all ones.
  const Part ones = quotient;
  quotient = sign ? temporary() : to;
  emit(Logic, "LOP", {quotient}, {of(ones), step(Compare, "ISET", {b})});
  if (sign) chain(to, {of(quotient), a}, {{Logic, "LOP"}, {Compare, "ISET"}, {Logic, "LOP"}, {IntAdd, "IADD"}});
}

// As an assembler can tell: numbers of threads and blocks, parts of words, small numbers.
bool Selector::has_16_bits(const Operand& o) const {
  constexpr uint64_t kMost = 0xffff;
  if (o.kind == OperandKind::Immediate) return o.imm <= kMost;
  if (o.kind == OperandKind::Special)
    return o.special->id == isa::Special::Tid || o.special->id == isa::Special::Ntid || o.special->id == isa::Special::Ctaid ||
           o.special->id == isa::Special::Nctaid;
  if (o.kind != OperandKind::Register) return false;
  // What was written last, of what this block writes.
  const auto r = static_cast<size_t>(o.reg);
  const uint32_t last = single(o.reg) ? definition_[r] : latest_[r];
  if (last == ~0u || (!single(o.reg) && block_of_[last] != block_)) return false;
  const Instruction& by = f_.body[last];
  const std::string_view op = by.form.row->opcode;
  if (op == "mov") return by.operands[1].kind != OperandKind::Register && has_16_bits(by.operands[1]);
  if (op == "and") return has_16_bits(by.operands[2]) && by.operands[2].kind == OperandKind::Immediate;
  return op == "ld" && isa::bits_of(by.form.type) <= 16 && !isa::is_signed(by.form.type) && by.operands[0].kind == OperandKind::Register;
}

// base + (x + number) * size is so far beyond base + x * size, where that is there: sums of 32 bits wrap around together.
bool Selector::add_to_known_address(const Instruction& i) {
  if (i.guard >= 0) return false;
  for (size_t k : {size_t(1), size_t(2)}) {
    const Instruction* const product = producer(i.operands[k], "mul", false);
    const Operand& base = i.operands[3 - k];
    if (!product || product->operands[2].kind != OperandKind::Immediate || product->operands[1].kind != OperandKind::Register ||
        base.kind != OperandKind::Register)
      continue;
    const uint64_t size = product->operands[2].imm;
    const auto key_of = [&](int index) {
      return std::tuple{static_cast<int>(OperandKind::Register), base.reg, static_cast<int32_t>(index), size};
    };
    const Operand& index = product->operands[1];
    const Part to = destination(i.operands[0]);
    if (const Instruction* const sum = producer(index, "add", false);
        sum && sum->operands[2].kind == OperandKind::Immediate && sum->operands[1].kind == OperandKind::Register)
      if (const auto known = addresses_.find(key_of(sum->operands[1].reg));
          known != addresses_.end() && known->second.block == block_ &&
          known->second.since == latest_[static_cast<size_t>(sum->operands[1].reg)]) {
        emit(Operation::IntAdd, "IADD", {to}, {of(known->second.part), number(sum->operands[2].imm * size)});
        return true;
      }
    addresses_[key_of(index.reg)] = {block_, latest_[static_cast<size_t>(index.reg)], to};
  }
  return false;
}

bool Selector::choose_first(const Instruction& i) {
  using enum Operation;
  const std::string_view op = i.form.row->opcode;
  if (i.operands.size() < 2 || i.operands[0].kind != OperandKind::Register || i.operands[0].reg < 0 || isa::is_float(i.form.type))
    return false;
  const Operand& to = i.operands[0];
  const auto r = static_cast<size_t>(to.reg);
  const bool address = short_address_[r];
  if (op == "ld") {
    return address && make_same(to.reg, constant(Fixed::Parameter, i.operands[1].name, i.operands[1].offset, 1));
  }
  if (isa::bits_of(f_.registers[r].type) > 32 && !address) return false;
  if (i.form.mods.cc || i.form.mods.sat) return false;
  const auto at = [&](size_t k) { return low(source(i.operands[k], 2)); };
  if (op == "mov" || op == "cvta" || op == "cvt") {
    if (!address) return false;
    const Source s = at(1);
    if (steady(i.operands[1], to.reg) && make_same(to.reg, s)) return true;
    copy_to(destination(to), s);
    return true;
  }
  if (i.operands.size() < 3) return false;
  if (op == "add")  // the place of a variable in shared memory goes into the access
    for (size_t k : {size_t(1), size_t(2)}) {
      const Instruction* const place = producer(i.operands[k], "mov", false);
      if (place && place->operands[1].kind == OperandKind::Symbol && source(place->operands[1]).kind == Source::Number &&
          steady(i.operands[3 - k], to.reg) && make_same(to.reg, at(3 - k)))
        return true;
    }
  if (op == "add" && address && add_to_known_address(i)) return true;
  if (op == "add" || op == "sub") {
    emit(IntAdd, "IADD", {destination(to)}, {at(1), at(2)});
    return true;
  }
  if (op == "shl" || op == "shr") {
    const bool count = i.operands[2].kind == OperandKind::Immediate;  // beside an operand of any kind
    emit(Shift, op == "shl" ? "SHL" : "SHR", {destination(to)}, {at(1), count ? Source{} : at(2)});
    return true;
  }
  if ((op == "and" || op == "or" || op == "xor") && i.form.type != Type::Pred) {
    emit(Logic, "LOP", {destination(to)}, {at(1), at(2)});
    return true;
  }
  if ((op == "div" || op == "rem") && isa::bits_of(i.form.type) == 32 && i.guard < 0) {
    divide_by_floats(i);
    return true;
  }
  const bool multiplies = op == "mul" || op == "mad" || op == "mul24" || op == "mad24";
  if (!multiplies || half_of(i) == isa::Half::Hi || i.guard >= 0) return false;
  const bool adds = op.starts_with("mad");
  const Source sum = adds ? at(3) : Source{};
  const auto small = [&](size_t k) { return op.ends_with("24") || isa::bits_of(i.form.type) <= 16 || has_16_bits(i.operands[k]); };
  for (size_t k : {size_t(1), size_t(2)}) {
    const Operand& by = i.operands[k];
    if (by.kind != OperandKind::Immediate || !std::has_single_bit(static_cast<uint32_t>(by.imm))) continue;
    const Part shifted = adds ? temporary() : destination(to);
    emit(Shift, "SHL", {shifted}, {at(3 - k)});
    if (adds) emit(IntAdd, "IADD", {destination(to)}, {of(shifted), sum});
    return true;
  }
  multiply_halves(destination(to), at(1), at(2), sum, small(1), small(2));
  return true;
}

// A loop's variable whose next value is there before the old one is compared for the last time: where the comparison comes first, one register
// is enough for both, and the copy at the turn's end is none.
void compare_before_change(DraftCode& code) {
  struct Place {
    uint32_t block = 0;
    size_t at = 0;
    int count = 0;
  };
  for (uint32_t turn = 0; turn < code.blocks.size(); ++turn)
    for (const std::vector<Draft> before = code.blocks[turn].text; const Draft& copy : before) {
      if (!copy.copy || !copy.reads[0] || !copy.writes[0] || copy.guarded) continue;
      const int32_t old = copy.writes[0].value, next = copy.reads[0].value;
      Place change;
      for (uint32_t b = 0; b < code.blocks.size(); ++b)
        for (size_t k = 0; k < code.blocks[b].text.size(); ++k)
          if (std::ranges::any_of(code.blocks[b].text[k].writes, [&](Part p) { return p.value == next; }))
            change = {b, k, change.count + 1};
      if (change.count != 1 ||
          !std::ranges::any_of(code.blocks[change.block].text[change.at].reads, [&](Part p) { return p.value == old; }))
        continue;
      const auto compares = [&](const Draft& d) {
        return d.operation == Operation::Compare && !d.guarded && d.reads[0].value == old && !d.reads[1] && d.writes[0] && !d.writes[1] &&
               code.values[static_cast<size_t>(d.writes[0].value)].bank == Bank::Predicate;
      };
      std::vector<Draft>& text = code.blocks[turn].text;
      const auto found = std::ranges::find_if(text, compares);
      if (found == text.end() || (turn == change.block && static_cast<size_t>(found - text.begin()) < change.at)) continue;
      Draft moved = *found;
      moved.ptx = code.blocks[change.block].text[change.at].ptx;
      text.erase(found);
      std::vector<Draft>& there = code.blocks[change.block].text;
      there.insert(there.begin() + static_cast<ptrdiff_t>(change.at), moved);
    }
}

// Text in which who jumps to a block that nobody comes to otherwise stands before it, without the jump.
void place_behind(DraftCode& code) {
  std::vector<char> entered(code.blocks.size());
  const auto goes_on = [](const DraftBlock& b) { return b.text.empty() || !b.text.back().last || b.text.back().guarded; };
  uint32_t before = 0;
  for (uint32_t b = 1; b < code.blocks.size(); ++b) {
    if (code.blocks[b].folded_into >= 0) continue;
    entered[b] = goes_on(code.blocks[before]);
    before = b;
  }
  for (DraftBlock& b : code.blocks) {
    if (b.text.empty() || b.text.back().operation != Operation::Branch || b.text.back().guarded || b.successors.size() != 1) continue;
    char& taken = entered[b.successors[0]];
    if (!std::exchange(taken, 1)) b.text.pop_back();
  }
}

// An instruction that computes may read one word of shared memory, which so takes no instruction of its own.
void read_shared_operands(DraftCode& code) {
  std::vector<uint32_t> readers(code.values.size());
  for (const DraftBlock& b : code.blocks)
    for (const Draft& d : b.text)
      for (Part p : d.reads)
        if (p) ++readers[static_cast<size_t>(p.value)];
  const auto computes = [](const Draft& d) {
    using enum Operation;
    return !d.access && !d.guarded && !d.copy &&
           (d.operation == IntAdd || d.operation == FloatAdd || d.operation == FloatMul || d.operation == FloatFma ||
            d.operation == Logic || d.operation == Compare);
  };
  for (DraftBlock& b : code.blocks)
    for (size_t k = 0; k < b.text.size(); ++k) {
      const Draft load = b.text[k];
      if (load.operation != Operation::LoadShared || !load.access || load.guarded || load.bytes > 4 || load.writes[0].count != 1 ||
          readers[static_cast<size_t>(load.writes[0].value)] != 1)
        continue;
      size_t j = k + 1;
      const auto reads = [&](const Draft& d) {
        return std::ranges::any_of(d.reads, [&](Part p) { return p.value == load.writes[0].value; });
      };
      const auto changes = [&](const Draft& d) {  // what the load reads, or comes after
        return d.order == Order::Store || d.order == Order::Barrier || d.wall ||
               std::ranges::any_of(d.writes, [&](Part p) { return p && p.value == load.reads[0].value; });
      };
      while (j < b.text.size() && !reads(b.text[j]) && !changes(b.text[j])) ++j;
      if (j == b.text.size() || !computes(b.text[j])) continue;
      Draft together = load;
      together.mnemonic = b.text[j].mnemonic;
      together.writes = b.text[j].writes;
      for (Part p : b.text[j].reads)
        if (p && p.value != load.writes[0].value) together.read(p);
      b.text[j] = together;
      b.text.erase(b.text.begin() + static_cast<ptrdiff_t>(k--));
    }
}

}  // namespace warpbeam::assembly
