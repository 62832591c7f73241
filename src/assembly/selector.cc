#include "assembly/selector.h"

#include "assembly/uniform.h"

#include <algorithm>
#include <unordered_map>

namespace warpbeam::assembly {

using isa::Type;
using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;

namespace {

bool is_logic(const Instruction& i) {
  const std::string_view op = i.form.row->opcode;
  return (op == "and" || op == "or" || op == "xor") && i.form.type != Type::Pred;
}

bool writes_first(const Instruction& i) {
  const isa::Row& row = *i.form.row;
  return !i.operands.empty() && (row.operands.list[0].written || row.opcode == "bfi");
}

template <class Visit>
void each_register(const Operand& o, const Visit& visit) {
  if (o.reg >= 0) visit(o.reg);
  for (const Operand& e : o.list) each_register(e, visit);
}

int words_of(Type t) { return t == Type::Pred ? 1 : std::max(1, isa::bits_of(t) / 32); }

// The names that uniform instructions have.
std::string_view uniform_name(std::string_view mnemonic) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"IADD3", "UIADD3"}, {"IMAD", "UIMAD"}, {"LOP3", "ULOP3"}, {"SHF", "USHF"}, {"LEA", "ULEA"},   {"SEL", "USEL"},
      {"MOV", "UMOV"},     {"PRMT", "UPRMT"}, {"POPC", "UPOPC"}, {"FLO", "UFLO"}, {"BREV", "UBREV"}, {"IMAD.WIDE", "UIMAD.WIDE"}};
  for (const auto& [general, uniform] : kNames)
    if (general == mnemonic) return uniform;
  return "";
}

}  // namespace

Selector::Selector(const ptx::Module& module, const ptx::Function& function, const Target& target)
    : module_(module), f_(function), target_(target), cc_(target.cc), blocks_(ptx::split_blocks(function)) {
  Edges edges;
  block_of_.resize(f_.body.size());
  for (uint32_t b = 0; b < blocks_.size(); ++b) {
    edges.push_back(blocks_[b].successors);
    for (uint32_t k = blocks_[b].begin; k < blocks_[b].end; ++k) block_of_[k] = b;
  }
  flow_.emplace(edges);
  code_.blocks.resize(blocks_.size());
  for (uint32_t b = 0; b < blocks_.size(); ++b) {
    DraftBlock& block = code_.blocks[b];
    block.begin = blocks_[b].begin;
    block.end = blocks_[b].end;
    block.successors = blocks_[b].successors;
    block.predecessors = flow_->predecessors()[b];
  }
  count_registers();
  uniform_ = uniform_registers(f_, blocks_, *flow_);
  if (is_first_generation(target)) find_short_addresses();
}

void Selector::count_registers() {
  const size_t n = f_.registers.size();
  definitions_.assign(n, 0);
  uses_.assign(n, 0);
  logic_uses_.assign(n, 0);
  definition_.assign(n, ~0u);
  user_.assign(n, ~0u);
  first_user_.assign(n, ~0u);
  until_.assign(n, ~0u);
  latest_.assign(n, ~0u);
  value_.assign(n, -1);
  same_.resize(n);
  all_definitions_.resize(n);
  rest_.assign(n, {1, 0});
  rest_known_.assign(n, 0);
  bits_.assign(n, 0);
  for (uint32_t k = 0; k < f_.body.size(); ++k) {
    const Instruction& i = f_.body[k];
    const bool writes = writes_first(i), logic = is_logic(i);
    const auto define = [&](int reg) {
      ++definitions_[static_cast<size_t>(reg)];
      definition_[static_cast<size_t>(reg)] = k;
      all_definitions_[static_cast<size_t>(reg)].push_back(k);
    };
    for (size_t o = 0; o < i.operands.size(); ++o) {
      const Operand& operand = i.operands[o];
      if (o == 0 && writes) each_register(operand, define);
      else
        each_register(operand, [&](int reg) {
          ++uses_[static_cast<size_t>(reg)];
          logic_uses_[static_cast<size_t>(reg)] += logic;
          user_[static_cast<size_t>(reg)] = k;
          if (first_user_[static_cast<size_t>(reg)] == ~0u) first_user_[static_cast<size_t>(reg)] = k;
        });
      if (operand.pair >= 0) define(operand.pair);
    }
    // Results of calls.
    if (i.form.row->opcode == "call" && !i.operands.empty() && i.operands[0].kind == OperandKind::List)
      each_register(i.operands[0], define);
    if (i.guard >= 0) ++uses_[static_cast<size_t>(i.guard)];
  }
  for (const auto& [name, reg] : f_.register_params) definitions_[static_cast<size_t>(reg)] += 2;
  for (const auto& [name, reg] : f_.register_returns) definitions_[static_cast<size_t>(reg)] += 2;
}

// Instructions for halves take either half of a register.
bool Selector::only_half_arithmetic(int reg) const {
  const size_t r = static_cast<size_t>(reg);
  if (uses_[r] != 1 || user_[r] == ~0u) return false;
  const isa::Matched& form = f_.body[user_[r]].form;
  const Type t = form.row->opcode == "cvt" ? form.atype : form.type;
  return t == Type::F16 || t == Type::BF16;
}

bool Selector::only_logic(int reg) const {
  const size_t r = static_cast<size_t>(reg);
  return definition_[r] != ~0u && block_of_[definition_[r]] == block_ && logic_uses_[r] == uses_[r] && user_[r] < blocks_[block_].end;
}

// Do the registers that an instruction read still hold what they held then?
bool Selector::stable(uint32_t p) const {
  const Instruction& i = f_.body[p];
  bool ok = true;
  const size_t first = writes_first(i) ? 1 : 0;
  for (size_t o = first; o < i.operands.size(); ++o)
    each_register(i.operands[o], [&](int reg) {
      const size_t r = static_cast<size_t>(reg);
      ok = ok && (definitions_[r] <= 1 ? until_[r] >= at_ : block_of_[p] == block_ && (latest_[r] == ~0u || latest_[r] < p));
    });
  return ok;
}

bool Selector::steady(const Operand& from, int to) {
  if (from.reg < 0) return true;
  const size_t f = static_cast<size_t>(from.reg), t = static_cast<size_t>(to);
  uint32_t until = until_[f];
  if (!single(from.reg)) {
    until = blocks_[block_].end;
    const auto next = std::ranges::upper_bound(all_definitions_[f], at_);
    if (next != all_definitions_[f].end()) until = std::min(until, *next);
  }
  if (until == ~0u) return true;
  if (definitions_[t] != 1 || first_user_[t] == ~0u || first_user_[t] <= at_ || user_[t] > until || user_[t] >= blocks_[block_].end)
    return false;
  until_[t] = until;
  return true;
}

const Instruction* Selector::producer(const Operand& o, std::string_view opcode, bool single_use) const {
  if (o.kind != OperandKind::Register || o.address || o.minus || !single(o.reg) || (single_use && uses(o.reg) != 1)) return nullptr;
  const uint32_t p = definition_[static_cast<size_t>(o.reg)];
  const Instruction& i = f_.body[p];
  if (i.form.row->opcode != opcode || i.guard >= 0 || i.form.mods.cc || i.form.mods.sat || !stable(p)) return nullptr;
  // What stands before a loop is not done again in it.
  if (single_use && flow_->loop(block_of_[p]) != flow_->loop(block_)) return nullptr;
  return &i;
}

// --- operands

Source Selector::number(uint64_t n, int words) const {
  Source s;
  s.kind = Source::Number;
  s.number = n;
  s.words = static_cast<uint8_t>(words);
  return s;
}

Source Selector::constant(Fixed what, std::string name, int64_t offset, int words) {
  auto [it, fresh] = keys_by_name_.try_emplace({what, name, offset, words}, static_cast<int32_t>(keys_.size()));
  if (fresh) keys_.push_back({what, std::move(name), offset, static_cast<uint8_t>(words), {-1, -1}, {}});
  Source s;
  s.kind = Source::Constant;
  s.key = it->second;
  s.words = static_cast<uint8_t>(words);
  return s;
}

Source Selector::register_source(int reg) {
  const Source& same = same_[static_cast<size_t>(reg)];
  if (same.kind != Source::Nothing) return same;
  const Part p = destination(reg);
  Source s = of(p);
  if (code_.values[static_cast<size_t>(p.value)].bank == Bank::Uniform) s.kind = Source::Uniform;
  return s;
}

Source Selector::source(const Operand& o, int words) {
  switch (o.kind) {
    case OperandKind::Register: return register_source(o.reg);
    case OperandKind::Immediate: return number(o.imm, words);
    case OperandKind::Symbol: {
      const auto in_shared = [&](const std::vector<ptx::Variable>& list) -> int {
        for (const ptx::Variable& v : list)
          if (v.name == o.name) return v.space == isa::Space::Shared ? 1 : v.space == isa::Space::Local ? 2 : 0;
        return -1;
      };
      int space = in_shared(f_.locals);
      if (space < 0) space = in_shared(module_.variables);
      if (space == 1) return cc_ >= 90 ? constant(Fixed::SharedAddress, o.name, 0, 1) : number(64, words);
      if (space == 2) return number(64, words);
      return constant(Fixed::Address, o.name, o.offset, words);
    }
    case OperandKind::Special: {
      using isa::Special;
      switch (o.special->id) {
        case Special::Ctaid:  // stands beside the parameters at first
          if (!is_first_generation(target_)) return special_source(o);
          [[fallthrough]];
        case Special::Ntid:
        case Special::Nctaid:
        case Special::NClusterId:
        case Special::DynamicSmem:
        case Special::EnvReg:
        case Special::Gridid: return constant(Fixed::Parameter, std::string(o.special->name), o.component, words_of(o.special->type));
        default: return special_source(o);
      }
    }
    default: return {};
  }
}

Source Selector::special_source(const Operand& o) {
  using isa::Special;
  const bool per_block = o.special->id == Special::Ctaid || o.special->id == Special::ClusterId || o.special->id == Special::ClusterCtaid ||
                         o.special->id == Special::ClusterCtarank;
  if (o.special->varies) {
    const Part to = temporary(words_of(o.special->type));
    Draft& d = emit(Operation::Clock, "CS2R", {to}, {});
    d.pinned = true;
    d.wall = true;
    return of(to);
  }
  Source s = constant(Fixed::Special, std::string(o.special->name), o.component, 1);
  if (per_block) return s;
  return of(fixed_part(s.key, Bank::General));
}

Source Selector::low(const Source& s) {
  Source out = s;
  out.words = 1;
  out.apart = false;
  switch (s.kind) {
    case Source::Register:
    case Source::Uniform:
      if (!s.part) return number(0);
      out.part = word(s.part, 0);
      out.upper = {};
      return out;
    case Source::Number: out.number &= 0xffffffff; return out;
    case Source::Constant: {
      const Key k = keys_[static_cast<size_t>(s.key)];
      if (k.words == 2 && cc_ >= 90) return half_of_constant(s, 0);
      return k.words == 1 ? s : constant(k.what, k.name, k.offset, 1);
    }
    default: return s;
  }
}

Source Selector::high(const Source& s) {
  Source out = s;
  out.words = 1;
  out.apart = false;
  switch (s.kind) {
    case Source::Register:
    case Source::Uniform:
      if (s.apart) {
        if (!s.upper) return number(0);
        out.part = s.upper;
      } else if (s.part.count < 2) {
        return number(0);
      } else {
        out.part = word(s.part, 1);
      }
      out.upper = {};
      return out;
    case Source::Number: return number(s.number >> 32);
    case Source::Constant: {
      const Key k = keys_[static_cast<size_t>(s.key)];
      if (k.words == 2 && cc_ >= 90) return half_of_constant(s, 1);
      return k.words == 1 ? number(0) : constant(k.what, k.name, k.offset + 4, 1);
    }
    default: return s;
  }
}

// Both halves are loaded together.
Source Selector::half_of_constant(const Source& s, int half) {
  Source out;
  out.kind = Source::Uniform;
  out.part = word(fixed_part(s.key, Bank::Uniform), half);
  return out;
}

void Selector::copy_to(Part to, const Source& from) {
  for (int k = 0; k < to.count; ++k) {
    const Source s = k == 0 ? low(from) : high(from);
    if (s.kind == Source::Register) {
      const bool predicate = code_.values[static_cast<size_t>(to.value)].bank == Bank::Predicate;
      Draft& d = emit(predicate ? Operation::Logic : Operation::Move, predicate ? "PLOP3" : "MOV", {word(to, k)}, {s});
      d.copy = now_ == nullptr || now_->guard < 0;
    } else {
      emit(Operation::Move, "MOV", {word(to, k)}, {s});
    }
  }
}

Source Selector::together(const Source& s) {
  if (s.kind != Source::Register || !s.apart) return s;
  const Part to = temporary(2);
  copy_to(to, s);
  return of(to);
}

Part Selector::fixed_part(int32_t key, Bank bank) {
  Key& k = keys_[static_cast<size_t>(key)];
  const size_t b = bank == Bank::Uniform ? 1 : 0;
  if (k.value[b] < 0) k.value[b] = code_.new_value(bank, k.words);
  if (k.used_in[b].empty() || k.used_in[b].back() != block_) k.used_in[b].push_back(block_);
  return code_.whole(k.value[b]);
}

Part Selector::general(const Source& s) {
  switch (s.kind) {
    case Source::Register: return together(s).part;
    case Source::Constant: return fixed_part(s.key, Bank::General);
    case Source::Number:
      if (s.number == 0 && s.words == 1) return {};  // RZ
      return fixed_part(constant(Fixed::Number, "", static_cast<int64_t>(s.number), s.words).key, Bank::General);
    case Source::Uniform: {
      Part& known = copies_[{block_, s.part.value, s.part.first, s.apart ? 3 : s.words}];
      if (known && s.words == 2 && !s.apart) return known;
      const Part to = temporary(s.words);
      for (int k = 0; k < s.words; ++k) emit(Operation::Move, "MOV", {word(to, k)}, {k ? high(s) : low(s)});
      return known = to;
    }
    default: return {};
  }
}

Part Selector::uniform(const Source& s) {
  switch (s.kind) {
    case Source::Uniform: {
      if (!s.apart) return s.part;
      Part& known = copies_[{block_, s.part.value, s.part.first, 4}];
      if (known) return known;
      const Part to = temporary(2, Bank::Uniform);
      for (int k = 0; k < 2; ++k) emit_uniform("UMOV", word(to, k), std::array{k ? high(s) : low(s)});
      return known = to;
    }
    case Source::Constant: return fixed_part(s.key, Bank::Uniform);
    case Source::Number:
    default: return {};
  }
}

Part Selector::destination(int reg) {
  const size_t r = static_cast<size_t>(reg);
  if (value_[r] < 0) {
    const Type t = f_.registers[r].type;
    const bool short_address = !short_address_.empty() && short_address_[r];
    value_[r] = code_.new_value(t == Type::Pred ? Bank::Predicate : Bank::General, short_address ? 1 : words_of(t));
  }
  return code_.whole(value_[r]);
}

bool Selector::make_same(int reg, const Source& s) {
  const size_t r = static_cast<size_t>(reg);
  if (definitions_[r] != 1 || value_[r] >= 0 || now_->guard >= 0) return false;
  same_[r] = s;
  return true;
}

// --- instructions

Draft& Selector::emit(Operation operation, std::string_view mnemonic, std::initializer_list<Part> writes,
                      std::initializer_list<Source> reads) {
  return emit(operation, mnemonic, writes, std::span<const Source>(reads.begin(), reads.size()));
}

Draft& Selector::emit(Operation operation, std::string_view mnemonic, std::initializer_list<Part> writes, std::span<const Source> reads) {
  // One operand may be something else than a register.
  std::array<Part, 5> parts{};
  size_t n = 0;
  bool taken = false;
  // A word of the constant bank keeps its place, numbers are put into registers: others need them too.
  bool bank = false, numbers = false;
  for (const Source& s : reads)
    bank = bank || (cc_ < 90 && s.kind == Source::Constant && keys_[static_cast<size_t>(s.key)].what != Fixed::Special);
  if (!bank)
    for (const Source& s : reads) numbers = numbers || (s.kind == Source::Number && s.number != 0 && s.words == 1);
  for (const Source& s : reads) {
    Part p;
    switch (s.kind) {
      case Source::Register: p = together(s).part; break;
      case Source::Number: {
        const bool exact = operation == Operation::DoubleFma || operation == Operation::DoubleAdd;
        const bool fits = s.words == 1 || (s.number & 0xffffffff) == 0 || !exact;
        if (s.number == 0) break;
        if (!taken && fits && !bank) taken = true, numbers = false;
        else if (!taken && !bank && exact && cc_ >= 90)
          p = fixed_part(constant(Fixed::Number, "", static_cast<int64_t>(s.number), s.words).key, Bank::Uniform), taken = true;
        else p = general(s);
        break;
      }
      case Source::Constant: {
        const Key& k = keys_[static_cast<size_t>(s.key)];
        const bool special = k.what == Fixed::Special;
        if (taken || numbers || (special && cc_ < 90)) p = general(s);
        else if (cc_ >= 90 && k.what != Fixed::Constant) p = uniform(s);
        taken = taken || !numbers;
        break;
      }
      case Source::Uniform:
        p = taken || numbers ? general(s) : uniform(s);
        taken = taken || !numbers;
        break;
      default: break;
    }
    if (n < parts.size()) parts[n++] = p;
  }
  Draft d;
  d.operation = operation;
  d.mnemonic = mnemonic;
  d.ptx = at_;
  size_t w = 0;
  for (Part p : writes)
    if (p && w < d.writes.size()) d.writes[w++] = p;
  for (Part p : parts) d.read(p);
  if (now_ && now_->guard >= 0) {
    d.guarded = true;
    d.negated = now_->guard_negated;
    // The guard comes last, and there is always a place for it.
    const Part guard = register_source(now_->guard).part;
    if (d.reads.back()) d.reads.back() = guard;
    else d.read(guard);
    d.keeps = true;
  }
  std::vector<Draft>& text = code_.blocks[block_].text;
  text.push_back(d);
  return text.back();
}

Draft& Selector::emit_uniform(std::string_view mnemonic, Part to, std::span<const Source> reads) {
  Draft d;
  d.operation = Operation::Uniform;
  d.mnemonic = mnemonic;
  d.ptx = at_;
  d.writes[0] = to;
  for (const Source& s : reads) d.read(uniform(s));
  std::vector<Draft>& text = code_.blocks[block_].text;
  text.push_back(d);
  return text.back();
}

bool Selector::to_uniform(const Operand& to, std::span<const Source> reads, bool wide) const {
  if (cc_ < 75 || to.reg < 0 || !single(to.reg) || value_[static_cast<size_t>(to.reg)] >= 0 || now_->guard >= 0) return false;
  bool any = false;
  for (const Source& s : reads) {
    if (!s.is_uniform() || (s.words != 1 && !wide)) return false;
    any |= s.kind != Source::Number;
  }
  return any;
}

Part Selector::wide_uniform(const Operand& to, std::initializer_list<Source> reads) {
  if (!to_uniform(to, std::span<const Source>(reads.begin(), reads.size()), true)) return {};
  const int32_t v = code_.new_value(Bank::Uniform, 2);
  value_[static_cast<size_t>(to.reg)] = v;
  return code_.whole(v);
}

void Selector::integer(const Instruction& i, Operation operation, std::string_view mnemonic, std::initializer_list<Source> reads) {
  const Operand& to = i.operands[0];
  const std::span<const Source> list(reads.begin(), reads.size());
  if (const std::string_view name = uniform_name(mnemonic); !name.empty() && to_uniform(to, list)) {
    const int32_t v = code_.new_value(Bank::Uniform, 1);
    value_[static_cast<size_t>(to.reg)] = v;
    emit_uniform(name, code_.whole(v), list);
    return;
  }
  emit(operation, mnemonic, {destination(to)}, list);
}

void Selector::chain(Part to, std::initializer_list<Source> sources, std::initializer_list<Step> steps) {
  Source last;
  size_t k = 0;
  for (const Step& step : steps) {
    const bool final = ++k == steps.size();
    const bool predicate = step.operation == Operation::Compare && (step.mnemonic.ends_with("SETP") || step.mnemonic == "FCHK");
    const Part result = final ? to : temporary(predicate ? 1 : to ? to.count : 1, predicate ? Bank::Predicate : Bank::General);
    std::vector<Source> reads;
    if (last.kind != Source::Nothing) reads.push_back(last);
    for (const Source& s : sources)
      if (reads.size() < 3) reads.push_back(s);
    const bool control = step.operation == Operation::Converge || step.operation == Operation::Branch || step.operation == Operation::Call;
    if (control) {
      Draft& d = emit(step.operation, step.mnemonic, {}, {});
      d.pinned = true;
      d.wall = step.operation != Operation::Converge || step.mnemonic == "BSYNC";
      if (step.operation == Operation::Branch) d.read(last.part);
      continue;
    }
    emit(step.operation, step.mnemonic, {result}, reads);
    if (result) last = of(result);
  }
}

// --- the whole function

DraftCode Selector::run(bool near) {
  near_ = near;
  std::vector<std::pair<const isa::Row*, Choose>> known(isa::all_rows().size() + 1);
  carry_.assign(blocks_.size(), -1);
  if (f_.entry && cc_ >= 50) {  // the stack pointer
    emit(cc_ >= 90 ? Operation::LoadConst : Operation::Move, cc_ >= 90 ? "LDC" : "MOV", {}, {}).pinned = true;
  }
  for (block_ = 0; block_ < blocks_.size(); ++block_)
    for (at_ = blocks_[block_].begin; at_ < blocks_[block_].end; ++at_) {
      const Instruction& i = f_.body[at_];
      now_ = &i;
      const size_t id = static_cast<size_t>(std::max(i.form.row->id, 0)) % known.size();
      auto& [row, choice] = known[id];
      if (row != i.form.row) known[id] = {i.form.row, choice_for(i.form.row->opcode, i.form.row->kind, i.form.row->cls)};
      if (!is_first_generation(target_) || !choose_first(i)) (this->*choice)(i);
      const auto define = [&](int reg) { latest_[static_cast<size_t>(reg)] = at_; };
      if (writes_first(i)) each_register(i.operands[0], define);
      for (const Operand& o : i.operands)
        if (o.pair >= 0) define(o.pair);
    }
  now_ = nullptr;
  place_fixed(near);
  // What lanes that are left out keep is something only where something was there before.
  std::vector<uint32_t> written(code_.values.size());
  for (const DraftBlock& b : code_.blocks)
    for (const Draft& d : b.text)
      for (Part p : d.writes)
        if (p) ++written[static_cast<size_t>(p.value)];
  for (DraftBlock& b : code_.blocks)
    for (Draft& d : b.text)
      if (d.keeps && d.writes[0] &&
          written[static_cast<size_t>(d.writes[0].value)] <= 1u * code_.values[static_cast<size_t>(d.writes[0].value)].words)
        d.keeps = false;
  return std::move(code_);
}

void Selector::make_fixed(const Key& key, Bank bank, std::vector<Draft>& text) {
  const size_t b = bank == Bank::Uniform ? 1 : 0;
  const Part to = code_.whole(key.value[b]);
  const auto put = [&](Operation operation, std::string_view mnemonic, Part where, Part from = {}) {
    Draft d;
    d.operation = operation;
    d.mnemonic = mnemonic;
    d.ptx = at_;
    d.writes[0] = where;
    d.read(from);
    text.push_back(d);
  };
  const bool uniform = bank == Bank::Uniform;
  switch (key.what) {
    case Fixed::Parameter:
    case Fixed::Constant:
    case Fixed::Address:
    case Fixed::Descriptor:
      if (uniform) put(Operation::Uniform, key.words == 2 ? "ULDC.64" : "ULDC", to);
      else if (cc_ >= 90) put(Operation::LoadConst, key.words == 2 ? "LDC.64" : "LDC", to);
      else
        for (int k = 0; k < key.words; ++k) put(Operation::Move, "MOV", word(to, k));
      break;
    case Fixed::SharedAddress:
      if (uniform) {
        const Part t = {code_.new_value(Bank::Uniform, 1), 0, 1}, base = {code_.new_value(Bank::Uniform, 1), 0, 1};
        put(Operation::Uniform, "UMOV", base);
        put(Operation::SpecialReg, "S2UR", t);
        put(Operation::Uniform, "ULEA", to, t);
        text.back().read(base);
      } else {
        const Part t = {code_.new_value(Bank::General, 1), 0, 1}, base = {code_.new_value(Bank::General, 1), 0, 1};
        put(Operation::Move, "MOV", base);
        put(Operation::SpecialReg, "S2R", t);
        put(Operation::IntAdd, "LEA", to, t);
        text.back().read(base);
      }
      break;
    case Fixed::Special: put(Operation::SpecialReg, uniform ? "S2UR" : "S2R", to); break;
    case Fixed::SharedWindow:
      if (uniform) put(Operation::SpecialReg, "S2UR", to);
      else put(Operation::SpecialReg, "S2R", to);
      break;
    case Fixed::Number:
      if (uniform) {
        for (int k = 0; k < key.words; ++k) put(Operation::Uniform, "UMOV", word(to, k));
      } else if (key.words == 2 && key.offset == 0) {
        put(Operation::Clock, "CS2R", to);
      } else {
        for (int k = 0; k < key.words; ++k) put(Operation::Move, "MOV", word(to, k));
      }
      break;
  }
}

// Where a word of the parameters lies among them.
int64_t Selector::parameter_at(const Key& key) const {
  uint64_t at = 0;
  for (const ptx::Variable& v : f_.params) {
    at = (at + v.align - 1) / v.align * v.align;
    if (v.name == key.name) break;
    at += v.size;
  }
  return static_cast<int64_t>(at) + key.offset;
}

// Fixed values go to the block that comes before all their readers on every way, and out of loops; or before their first reader in each block.
void Selector::place_fixed(bool near) {
  std::vector<std::vector<Draft>> front(blocks_.size());
  std::vector<std::vector<std::pair<int32_t, size_t>>> wanted(blocks_.size());  // values, whose keys
  // Two parameters beside each other are loaded at once: by block and eight bytes, which instruction loads one.
  std::map<std::pair<uint32_t, int64_t>, size_t> halves;
  for (size_t k = 0; k < keys_.size(); ++k)
    for (Bank bank : {Bank::General, Bank::Uniform}) {
      const Key key = keys_[k];
      const size_t b = bank == Bank::Uniform ? 1 : 0;
      if (key.value[b] < 0) continue;
      // Numbers in uniform registers are made each time anyway.
      const bool again = bank == Bank::Uniform ? key.what == Fixed::Number
                                               : near && (key.what == Fixed::Parameter || key.what == Fixed::Constant ||
                                                          key.what == Fixed::Address || key.what == Fixed::Number);
      if (again) {
        for (uint32_t u : key.used_in[b]) wanted[u].push_back({key.value[b], k});
        continue;
      }
      uint32_t where = kNoBlock;
      for (uint32_t u : key.used_in[b]) {
        if (!flow_->reached(u)) continue;
        where = where == kNoBlock ? u : flow_->common_dominator(where, u);
      }
      if (where == kNoBlock) continue;
      while (flow_->loop(where) != kNoBlock) {
        uint32_t header = flow_->loop(where);
        const uint32_t before = flow_->dominator(header);
        if (before == kNoBlock) break;
        where = before;
      }
      at_ = blocks_[where].begin;
      if (bank == Bank::Uniform && key.what == Fixed::Parameter && key.words == 1 && cc_ >= 90) {
        const int64_t pair = parameter_at(key) / 8;
        const auto known = halves.find({where, pair});
        if (known != halves.end()) {
          Draft& both = front[where][known->second];
          both.mnemonic = "ULDC.64";
          both.writes[1] = code_.whole(key.value[b]);
          continue;
        }
        halves[{where, pair}] = front[where].size();
      }
      make_fixed(key, bank, front[where]);
    }
  for (uint32_t b = 0; b < blocks_.size(); ++b) {
    std::vector<Draft>& text = code_.blocks[b].text;
    if (!front[b].empty()) text.insert(text.begin(), front[b].begin(), front[b].end());
    if (wanted[b].empty()) continue;
    std::vector<Draft> made;
    for (const Draft& d : text) {
      for (Part p : d.reads)
        if (const auto it = std::ranges::find(wanted[b], p.value, &std::pair<int32_t, size_t>::first); p && it != wanted[b].end()) {
          at_ = d.ptx;
          make_fixed(keys_[it->second], code_.values[static_cast<size_t>(p.value)].bank, made);
          wanted[b].erase(it);
        }
      made.push_back(d);
    }
    text = std::move(made);
  }
}

DraftCode select(const ptx::Module& module, const ptx::Function& function, const Target& target, bool near) {
  return Selector(module, function, target).run(near);
}

// --- which function chooses for which instruction

Selector::Choose Selector::choice_for(std::string_view opcode, isa::Kind kind, isa::Class cls) {
  using S = Selector;
  static const std::unordered_map<std::string_view, S::Choose> kByOpcode = {{"add", &S::add},
                                                                            {"sub", &S::add},
                                                                            {"neg", &S::absolute},
                                                                            {"abs", &S::absolute},
                                                                            {"addc", &S::carry_add},
                                                                            {"subc", &S::carry_add},
                                                                            {"madc", &S::carry_mad},
                                                                            {"mul", &S::multiply},
                                                                            {"mul24", &S::multiply},
                                                                            {"mad", &S::multiply_add},
                                                                            {"mad24", &S::multiply_add},
                                                                            {"fma", &S::multiply_add},
                                                                            {"div", &S::divide},
                                                                            {"rem", &S::divide},
                                                                            {"sad", &S::absolute},
                                                                            {"min", &S::order},
                                                                            {"max", &S::order},
                                                                            {"and", &S::logic},
                                                                            {"or", &S::logic},
                                                                            {"xor", &S::logic},
                                                                            {"not", &S::logic},
                                                                            {"cnot", &S::logic},
                                                                            {"lop3", &S::lop3},
                                                                            {"shl", &S::shift},
                                                                            {"shr", &S::shift},
                                                                            {"shf", &S::funnel},
                                                                            {"prmt", &S::permute},
                                                                            {"bfe", &S::fields},
                                                                            {"bfi", &S::fields},
                                                                            {"szext", &S::fields},
                                                                            {"bmsk", &S::fields},
                                                                            {"popc", &S::bits},
                                                                            {"clz", &S::bits},
                                                                            {"bfind", &S::bits},
                                                                            {"brev", &S::bits},
                                                                            {"fns", &S::bits},
                                                                            {"dp4a", &S::dot},
                                                                            {"dp2a", &S::dot},
                                                                            {"set", &S::set},
                                                                            {"setp", &S::compare},
                                                                            {"selp", &S::choose},
                                                                            {"slct", &S::choose},
                                                                            {"mov", &S::move},
                                                                            {"cvt", &S::convert},
                                                                            {"rcp", &S::float_divide},
                                                                            {"sqrt", &S::float_divide},
                                                                            {"rsqrt", &S::approximate},
                                                                            {"sin", &S::approximate},
                                                                            {"cos", &S::approximate},
                                                                            {"lg2", &S::approximate},
                                                                            {"ex2", &S::approximate},
                                                                            {"tanh", &S::approximate},
                                                                            {"copysign", &S::float_sign},
                                                                            {"testp", &S::test_property},
                                                                            {"ld", &S::load},
                                                                            {"ldu", &S::load},
                                                                            {"st", &S::store},
                                                                            {"atom", &S::atomic},
                                                                            {"red", &S::atomic},
                                                                            {"bra", &S::branch},
                                                                            {"brx", &S::branch},
                                                                            {"ret", &S::leave},
                                                                            {"exit", &S::leave},
                                                                            {"trap", &S::leave},
                                                                            {"call", &S::call},
                                                                            {"membar", &S::fence},
                                                                            {"fence", &S::fence},
                                                                            {"wgmma", &S::group_matrix},
                                                                            {"ldmatrix", &S::tiles},
                                                                            {"stmatrix", &S::tiles},
                                                                            {"movmatrix", &S::tiles},
                                                                            {"mma", &S::matrix},
                                                                            {"wmma", &S::matrix},
                                                                            {"prefetch", &S::prefetch},
                                                                            {"prefetchu", &S::prefetch},
                                                                            {"bar", &S::barrier},
                                                                            {"barrier", &S::barrier}};
  if (kind == isa::Kind::Async && opcode != "fence") return &S::asynchronous;
  if (const auto it = kByOpcode.find(opcode); it != kByOpcode.end()) return it->second;
  switch (kind) {
    case isa::Kind::Address: return &S::address_space;
    case isa::Kind::Warp: return &S::warp;
    case isa::Kind::Image: return &S::image;
    case isa::Kind::Video: return &S::video;
    default: return &S::other;
  }
}

}  // namespace warpbeam::assembly
