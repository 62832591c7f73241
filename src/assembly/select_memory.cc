// Accesses to memory.
#include <algorithm>

#include "assembly/selector.h"
#include "isa/parameters.h"

namespace warpbeam::assembly {

using isa::Space;
using isa::Type;
using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;

namespace {

int words_of(Type t) { return std::max(1, isa::bits_of(t) / 32); }
int bytes_of(const Instruction& i) { return std::max(1, isa::bits_of(i.form.type) / 8) * std::max<int>(1, i.form.mods.vec); }

}  // namespace

namespace {

using Rest = Selector::Rest;
constexpr unsigned kMost = 16;

unsigned lowest_bit(unsigned n) { return n ? n & (~n + 1) : kMost; }
Rest rest_of(uint64_t n, unsigned modulus) { return {static_cast<uint8_t>(modulus), static_cast<uint8_t>(n % modulus)}; }
// Surely a multiple of this.
unsigned factor(Rest a) { return a.rest ? lowest_bit(a.rest) : a.modulus; }

// What holds for either; what nothing is known of yet stands back.
Rest either(Rest a, Rest b) {
  if (!a.modulus || !b.modulus) return a.modulus ? a : b;
  unsigned m = std::min(a.modulus, b.modulus);
  while (a.rest % m != b.rest % m) m /= 2;
  return rest_of(a.rest, m);
}
Rest product(Rest a, Rest b) {
  const unsigned m = std::min({kMost, lowest_bit(a.rest) * b.modulus, lowest_bit(b.rest) * a.modulus, unsigned{a.modulus} * b.modulus});
  return rest_of(unsigned{a.rest} * b.rest, m);
}

}  // namespace

// What a value leaves when divided by a power of two, at most 16. Variables stand where the assembler puts them. Of what a loop changes this is
// assumed of what comes from before, and asked again of what it makes of that, until nothing changes.
Selector::Rest Selector::rest(const Operand& o, int depth) {
  constexpr int kDeepest = 12, kRounds = 6, kMostSteps = 2000;
  if (o.kind == OperandKind::Immediate) return rest_of(o.imm, kMost);
  if (o.kind == OperandKind::Symbol) return rest_of(static_cast<uint64_t>(o.offset), kMost);
  if (depth == 0) rest_steps_ = 0;
  if (o.kind != OperandKind::Register || depth > kDeepest || ++rest_steps_ > kMostSteps) return {1, 0};
  const size_t r = static_cast<size_t>(o.reg);
  if (rest_known_[r]) return rest_[r];
  if (all_definitions_[r].empty()) return {1, 0};
  rest_known_[r] = true;  // as long as it is being found out
  rest_[r] = {0, 0};
  ++rests_open_;
  for (int round = 0; round < kRounds; ++round) {
    Rest now{0, 0};
    for (uint32_t d : all_definitions_[r]) now = either(now, rest_of_result(f_.body[d], depth));
    now = either(now, rest_[r]);
    if (now.modulus == rest_[r].modulus && now.rest == rest_[r].rest) break;
    rest_[r] = round + 1 < kRounds ? now : Rest{1, 0};
  }
  const Rest found = rest_[r].modulus ? rest_[r] : Rest{1, 0};
  if (--rests_open_) rest_known_[r] = false;  // it may have been made of what is only assumed
  else rest_[r] = found;
  return found;
}

Selector::Rest Selector::rest_of_result(const Instruction& i, int depth) {
  const std::string_view op = i.form.row->opcode;
  const auto part = [&](size_t k) { return k < i.operands.size() ? rest(i.operands[k], depth + 1) : Rest{1, 0}; };
  const auto sum = [](Rest a, Rest b, int sign) {
    if (!a.modulus || !b.modulus) return Rest{0, 0};
    const unsigned m = std::min(a.modulus, b.modulus);
    return rest_of(static_cast<unsigned>(a.rest + sign * b.rest) + kMost * kMost, m);
  };
  if (isa::is_float(i.form.type) || (op == "cvt" && isa::is_float(i.form.atype))) return {1, 0};
  if (op == "mov" || op == "cvt" || op == "cvta") return part(1);
  if (op == "add") return sum(part(1), part(2), 1);
  if (op == "sub") return sum(part(1), part(2), -1);
  if (op == "or" || op == "and") {
    const Rest a = part(1), b = part(2);
    if (!a.modulus || !b.modulus) return {0, 0};
    const unsigned m = std::min(a.modulus, b.modulus);
    if (op == "or") return rest_of(a.rest | b.rest, m);
    const unsigned zeros = std::max(factor(a), factor(b));
    return zeros > m ? Rest{static_cast<uint8_t>(zeros), 0} : rest_of(a.rest & b.rest, m);
  }
  if (op == "mul" || op == "mad") {
    const Rest a = part(1), b = part(2);
    if (!a.modulus || !b.modulus) return {0, 0};
    return op == "mul" ? product(a, b) : sum(product(a, b), part(3), 1);
  }
  if (op == "shl" && i.operands[2].kind == OperandKind::Immediate) {
    const Rest a = part(1);
    if (!a.modulus) return a;
    return i.operands[2].imm > 4 ? Rest{kMost, 0} : product(a, rest_of(1u << i.operands[2].imm, 2 * kMost));
  }
  return {1, 0};
}

// A number that was added to an address goes into the access, and so does a uniform register.
Selector::Place Selector::address(const Operand& o, Space space) {
  Place place;
  place.space = space;
  place.offset = o.offset;
  const bool wide = space == Space::Generic || space == Space::Global;
  if (o.kind == OperandKind::Immediate) {
    place.offset += static_cast<int64_t>(o.imm);
    return place;
  }
  if (o.kind == OperandKind::Symbol) {
    const Source s = source(o, wide ? 2 : 1);
    if (s.kind == Source::Number) {
      for (char c : o.name)
        place.identity = static_cast<int32_t>((static_cast<uint32_t>(place.identity) * 31 + static_cast<uint8_t>(c)) & 0x7fffffff);
      place.identity = -2 - place.identity % 1000000;
      place.align = {16, 0};
      return place;
    }
    if (!wide && cc_ >= 75) place.uniform = s;
    else place.base = s;
    place.identity = s.kind == Source::Constant ? 1000000000 + s.key : -1;
    place.align = {16, 0};
    return place;
  }
  if (o.kind != OperandKind::Register) return place;
  Operand base = o;
  base.address = false;
  for (int steps = 0; steps < 4; ++steps) {
    const Instruction* p = producer(base, "add", false);
    if (!p || p->operands[2].kind != OperandKind::Immediate || p->operands[1].kind != OperandKind::Register) break;
    const int64_t by =
        isa::bits_of(p->form.type) == 32 ? static_cast<int32_t>(p->operands[2].imm) : static_cast<int64_t>(p->operands[2].imm);
    if (place.offset + by >= (1 << 23) || place.offset + by < -(1 << 23)) break;
    place.offset += by;
    base = p->operands[1];
  }
  place.identity = base.reg;
  if (space == Space::Shared || space == Space::Const) place.align = rest(base);
  if (!wide)
    if (const auto again = remade_.find(base.reg); again != remade_.end()) {
      const Part there = temporary();
      emit(Operation::IntAdd, "LEA", {there}, {again->second.first, again->second.second});
      place.base = of(there);
      return place;
    }
  if (!wide) {
    // The place of a variable is a number, or uniform.
    for (const Instruction* p = producer(base, "add", false); p; p = nullptr) {
      for (size_t k : {size_t(1), size_t(2)}) {
        const Source s = source(p->operands[k]);
        if (p->operands[k].kind != OperandKind::Register || p->operands[3 - k].kind != OperandKind::Register) continue;
        if (s.kind == Source::Number) {
          base = p->operands[3 - k];
          break;
        }
      }
    }
    if (cc_ >= 70 && cc_ < 90 && space == Space::Shared)
      if (const Instruction* p = producer(base, "shl", false);
          p && p->operands[2].kind == OperandKind::Immediate && p->operands[2].imm >= 2 && p->operands[2].imm <= 4 &&
          isa::bits_of(p->form.type) == 32 && p->operands[1].kind == OperandKind::Register)
        base = p->operands[1];
  }
  // Addresses of other spaces have 32 bits, whatever the register has.
  const Source s = wide ? source(base, 2) : low(source(base, 2));
  if (s.kind == Source::Number) return place;
  if (!wide && cc_ >= 75 && (s.kind == Source::Uniform || s.kind == Source::Constant)) place.uniform = s;
  else place.base = s;
  return place;
}

Draft& Selector::access(const Instruction& i, Operation operation, std::string_view mnemonic, Order order, const Place& place, Part to,
                        std::initializer_list<Part> data, int bytes) {
  std::vector<Source> reads;
  const bool wide = place.space == Space::Generic || place.space == Space::Global;
  if (place.base.kind != Source::Nothing) {
    Source base = place.base;
    if (base.kind != Source::Register) base = of(general(base));
    if (base.kind == Source::Register && base.apart) base = together(base);
    reads.push_back(base);
  }
  if (place.uniform.kind != Source::Nothing) {
    Source u;
    u.kind = Source::Uniform;
    u.part = uniform(place.uniform);
    reads.push_back(u);
  }
  for (Part p : data) reads.push_back(of(p));
  if (wide && cc_ >= 80) {
    const Source descriptor = constant(Fixed::Descriptor, "", 0, 2);
    Source u;
    u.kind = Source::Uniform;
    u.part = fixed_part(descriptor.key, Bank::Uniform);
    reads.push_back(u);
  }
  Draft& d = emit(operation, mnemonic, {to}, std::span<const Source>(reads));
  d.access = true;
  d.pinned = order != Order::Load;
  d.order = order;
  d.bytes = static_cast<uint8_t>(std::min(bytes, 255));
  d.space = place.space;
  d.base = place.identity;
  d.offset = place.offset;
  d.align = place.align.modulus;
  d.align_rest = place.align.rest;
  d.read_only = i.form.mods.nc;
  return d;
}

// --- vectors

// What several read of the same registers is put together once, for who does not write it.
Part Selector::gather_once(const Operand& o, Type type) {
  std::vector<int> registers;
  if (o.kind == OperandKind::Vector)
    for (const Operand& e : o.list) registers.push_back(e.reg);
  const bool known = registers.size() > 1 && std::ranges::none_of(registers, [](int reg) { return reg < 0; });
  if (!known) return gather(o, type);
  if (gathered_in_ != block_) gathered_.clear();
  gathered_in_ = block_;
  for (const Gathered& g : gathered_)
    if (g.registers == registers && std::ranges::none_of(registers, [&](int reg) {
          const uint32_t written = latest_[static_cast<size_t>(reg)];
          return written != ~0u && written >= g.at;
        }))
      return g.part;
  gathered_.push_back({std::move(registers), at_, gather(o, type)});
  return gathered_.back().part;
}

Part Selector::gather(const Operand& o, Type type) {
  const int each = words_of(type);
  if (o.kind != OperandKind::Vector) {
    const Source s = source(o, each);
    return s.kind == Source::Register ? together(s).part : general(s);
  }
  const int n = static_cast<int>(o.list.size());
  if (n == 1) return gather(o.list[0], type);
  const bool packed = isa::bits_of(type) < 32;
  const int per_word = packed ? 32 / std::max(8, isa::bits_of(type)) : 1;
  const int words = packed ? std::max(1, n / per_word) : n * each;
  // Neighbours already?
  if (!packed) {
    bool together = true;
    Part first;
    for (int k = 0; k < n && together; ++k) {
      const Operand& e = o.list[static_cast<size_t>(k)];
      const Source s = source(e, each);
      if (s.kind != Source::Register || s.apart) {
        together = false;
        break;
      }
      if (k == 0) first = s.part;
      else together = s.part.value == first.value && s.part.first == first.first + k * each;
    }
    if (together && first && first.first % std::max(1, words) == 0) {
      first.count = static_cast<uint8_t>(words);
      return first;
    }
  }
  if (!packed && each == 1) {  // numbers alone are put together once
    std::string numbers;
    bool others = false;
    for (const Operand& e : o.list)
      if (const Source s = source(e, 1); s.kind == Source::Number) numbers += std::to_string(s.number) + " ";
      else others = true;
    if (!others) return fixed_part(constant(Fixed::Number, numbers, 1, words).key, Bank::General);
  }
  const Part to = temporary(words);
  for (int k = 0; k < n; ++k) {
    const Operand& e = o.list[static_cast<size_t>(k)];
    if (packed) {
      if (k % per_word) continue;
      if (per_word > 1 && k + 1 < n)
        emit(Operation::Logic, "PRMT", {word(to, k / per_word)}, {source(e), source(o.list[static_cast<size_t>(k) + 1])});
      else copy_to(word(to, k / per_word), source(e));
    } else {
      copy_to(Part{to.value, static_cast<uint8_t>(k * each), static_cast<uint8_t>(each)}, source(e, each));
    }
  }
  return to;
}

Part Selector::scatter_place(const Operand& o, Type type) {
  if (o.kind != OperandKind::Vector) return o.reg >= 0 ? destination(o.reg) : temporary(words_of(type));
  const int n = static_cast<int>(o.list.size());
  const bool packed = isa::bits_of(type) < 32;
  const int per_word = packed ? 32 / std::max(8, isa::bits_of(type)) : 1;
  return temporary(packed ? std::max(1, n / per_word) : n * words_of(type));
}

void Selector::scatter(const Operand& o, Type type, Part from) {
  if (o.kind != OperandKind::Vector) return;
  const int each = words_of(type), n = static_cast<int>(o.list.size());
  const bool packed = isa::bits_of(type) < 32;
  const int per_word = packed ? 32 / std::max(8, isa::bits_of(type)) : 1;
  for (int k = 0; k < n; ++k) {
    const int reg = o.list[static_cast<size_t>(k)].reg;
    if (reg < 0) continue;
    if (packed) {
      const Source s = of(word(from, k / per_word));
      if (k % per_word == 0 && make_same(reg, s)) continue;
      emit(Operation::Logic, "PRMT", {destination(reg)}, {s});
      continue;
    }
    const Part piece{from.value, static_cast<uint8_t>(from.first + k * each), static_cast<uint8_t>(each)};
    if (make_same(reg, of(piece))) continue;
    copy_to(destination(reg), of(piece));
  }
}

// --- loads and stores

// Parameters are words of the constant bank, which most instructions can read themselves.
void Selector::load_parameter(const Instruction& i, const std::string& name, int64_t start) {
  const Operand& to = i.operands[0];
  const int each = words_of(i.form.type);
  const auto take = [&](int reg, int64_t offset) {
    const Source s = constant(Fixed::Parameter, name, offset, each);
    if (!make_same(reg, s)) copy_to(destination(reg), s);
  };
  if (to.kind == OperandKind::Vector) {
    int64_t offset = start;
    for (const Operand& e : to.list) {
      if (e.reg >= 0) take(e.reg, offset);
      offset += std::max(1, isa::bits_of(i.form.type) / 8);
    }
  } else if (to.reg >= 0) {
    take(to.reg, start);
  }
}

void Selector::load(const Instruction& i) {
  const Space space = i.form.mods.space;
  const Operand &to = i.operands[0], &from = i.operands[1];
  const bool parameter = is_parameter(space);
  if (parameter && from.kind == OperandKind::Symbol) {
    bool local = false;
    for (const ptx::Variable& v : f_.locals) local = local || v.name == from.name;
    if (f_.entry && !local && space != Space::ParamFunc) return load_parameter(i, from.name, from.offset);
    // Arguments and results of functions are in registers.
    if (const auto r = results_.find(from.name); r != results_.end()) {
      const int at = static_cast<int>(from.offset / 4), each = words_of(i.form.type);
      const auto take = [&](int reg, int word_at) {
        if (reg < 0) return;
        const Part all = r->second;
        if (word_at + each > all.count) return void(emit(Operation::Move, "MOV", {destination(reg)}, {}));
        const Part piece{all.value, static_cast<uint8_t>(word_at), static_cast<uint8_t>(each)};
        for (int k = 0; k < each; ++k) copy_to(word(destination(reg), k), of(word(piece, k)));
      };
      if (to.kind != OperandKind::Vector) return take(to.reg, at);
      for (size_t k = 0; k < to.list.size(); ++k) take(to.list[k].reg, at + static_cast<int>(k) * each);
      return;
    }
    const Part piece = scatter_place(to, i.form.type);
    Draft& d = emit(Operation::Move, "MOV", {piece}, {});
    d.pinned = false;
    return scatter(to, i.form.type, piece);
  }
  if (parameter && f_.entry && from.kind == OperandKind::Register)
    if (const Source& s = same_[static_cast<size_t>(from.reg)]; s.kind == Source::Constant) {
      const Key& k = keys_[static_cast<size_t>(s.key)];
      for (const ptx::Variable& v : f_.params)
        if (k.what == Fixed::Address && v.name == k.name) return load_parameter(i, v.name, k.offset + from.offset);
    }
  // A constant at a known place is an operand like any other.
  if (space == Space::Const && from.kind == OperandKind::Symbol && to.kind != OperandKind::Vector && to.reg >= 0 &&
      isa::bits_of(i.form.type) >= 32 && i.form.mods.sem != isa::Sem::Volatile) {
    const bool pairs = cc_ >= 90 && words_of(i.form.type) == 1;  // loaded two at a time, into uniform registers
    const Source s = pairs ? half_of_constant(constant(Fixed::Constant, from.name, from.offset & ~int64_t(7), 2), from.offset & 4 ? 1 : 0)
                           : constant(Fixed::Constant, from.name, from.offset, words_of(i.form.type));
    if (make_same(to.reg, s)) return;
  }
  const Place place = address(from, space);
  const Part value = scatter_place(to, i.form.type);
  const bool strong = i.form.mods.sem == isa::Sem::Acquire;
  Operation operation = Operation::LoadGlobal;
  std::string_view mnemonic = space == Space::Generic ? "LD" : "LDG";
  if (space == Space::Shared || space == Space::SharedCluster) operation = Operation::LoadShared, mnemonic = "LDS";
  if (space == Space::Local) operation = Operation::LoadLocal, mnemonic = "LDL";
  if (space == Space::Const || parameter) operation = Operation::LoadConst, mnemonic = "LDC";
  Draft& d = access(i, operation, mnemonic, Order::Load, place, value, {}, bytes_of(i));
  if (i.form.mods.sem == isa::Sem::Volatile || i.form.mods.sem >= isa::Sem::Relaxed) {
    d.order = is_first_generation(target_) ? Order::Barrier : Order::Store;
    d.pinned = true;
  }
  if (strong) {
    Draft& f = emit(Operation::None, "CCTL.IVALL", {}, {});
    f.pinned = f.wall = true;
  }
  scatter(to, i.form.type, value);
}

void Selector::store(const Instruction& i) {
  const Space space = i.form.mods.space;
  const Operand &to = i.operands[0], &from = i.operands[1];
  if (is_parameter(space)) {
    // An argument, or the result: moved to where the callee or the caller looks for it.
    bool local = false;
    for (const ptx::Variable& v : f_.locals) local = local || v.name == to.name;
    if (local && to.kind == OperandKind::Symbol) return give_argument(to.name, to.offset, from, i.form.type);
    const Part data = gather(from, i.form.type);
    for (int k = 0; k < std::max<int>(1, data.count); ++k) {
      Draft& d = emit(Operation::Move, "MOV", {}, {of(data ? word(data, k) : data)});
      d.pinned = true;
    }
    return;
  }
  const Part data = gather(from, i.form.type);
  if (i.form.mods.sem == isa::Sem::Release) {
    for (const char* m : {"MEMBAR", "ERRBAR"}) {
      Draft& f = emit(m == std::string_view("MEMBAR") ? Operation::Fence : Operation::None, m, {}, {});
      f.pinned = f.wall = true;
    }
  }
  Operation operation = Operation::StoreGlobal;
  std::string_view mnemonic = space == Space::Generic ? "ST" : "STG";
  if (space == Space::Shared || space == Space::SharedCluster) operation = Operation::StoreShared, mnemonic = "STS";
  if (space == Space::Local) operation = Operation::StoreLocal, mnemonic = "STL";
  // The first compilers left what is volatile where it stands.
  const bool stays = is_first_generation(target_) && i.form.mods.sem == isa::Sem::Volatile;
  access(i, operation, mnemonic, stays ? Order::Barrier : Order::Store, address(to, space), {}, {data}, bytes_of(i));
}

void Selector::prefetch(const Instruction& i) {
  if (i.operands.empty() || !i.operands[0].address) return other(i);
  access(i, Operation::LoadGlobal, "CCTL", Order::Store,
         address(i.operands[0], i.form.mods.space == Space::Local ? Space::Local : Space::Global), {}, {}, 1)
      .access = false;
}

// --- atomics

void Selector::atomic(const Instruction& i) {
  const isa::Mods& mods = i.form.mods;
  const Type t = i.form.type;
  const bool returns = i.form.row->opcode == "atom";
  const size_t first = returns ? 1 : 0;
  const bool dropped = returns && (i.operands[0].reg < 0 && i.operands[0].kind != OperandKind::Vector);
  const bool unread = returns && i.operands[0].reg >= 0 && uses(i.operands[0].reg) == 0;
  const bool shared = mods.space == Space::Shared || mods.space == Space::SharedCluster;
  const Place place = address(i.operands[first], mods.space);
  const Part data = gather(i.operands[first + 1], t),
             swap = i.operands.size() > first + 2 && mods.op == isa::Op::Cas ? gather(i.operands[first + 2], t) : Part{};
  Part to = returns && !dropped && !unread ? scatter_place(i.operands[0], t) : Part{};
  using enum Operation;
  if (mods.sem == isa::Sem::Release || mods.sem == isa::Sem::AcqRel) {
    for (const char* m : {"MEMBAR", "ERRBAR"}) {
      Draft& f = emit(m == std::string_view("MEMBAR") ? Fence : None, m, {}, {});
      f.pinned = f.wall = true;
    }
  }
  const bool loop =
      shared && (isa::is_float(t) || (isa::bits_of(t) == 64 && mods.op != isa::Op::Cas && mods.op != isa::Op::Exch)) && cc_ >= 50;
  if (loop) {
    // Read, compute, exchange if unchanged; again for lanes that lost.
    const Part old = temporary(words_of(t)), sum = temporary(words_of(t)), p = temporary(1, Bank::Predicate);
    if (cc_ >= 70) emit(Converge, "BSSY", {}, {}).pinned = true;
    Draft& l = access(i, LoadShared, "LDS", Order::Store, place, old, {}, bytes_of(i));
    l.access = false;
    l.wall = true;
    emit(t == Type::F64                       ? DoubleAdd
         : isa::is_float(t) && t != Type::F32 ? Half
         : t == Type::F32                     ? FloatAdd
                                              : IntAdd,
         t == Type::F32   ? "FADD"
         : t == Type::F64 ? "DADD"
                          : "IADD3",
         {sum}, {of(old), of(data)});
    access(i, AtomicLoop, "ATOMS.CAS", Order::Store, place, p, {old, sum}, bytes_of(i));
    Draft& b = emit(Branch, "BRA", {}, {of(p)});
    b.pinned = b.wall = true;
    if (cc_ >= 70) {
      Draft& s = emit(Converge, "BSYNC", {}, {});
      s.pinned = s.wall = true;
    }
    if (to) {
      for (int k = 0; k < to.count && k < old.count; ++k) copy_to(word(to, k), of(word(old, k)));
      scatter(i.operands[0], t, to);
    }
    return;
  }
  // One lane does it for those that ask for the same word.
  const Source base = place.base;
  const bool same_place = (base.kind == Source::Constant || base.kind == Source::Uniform || base.kind == Source::Nothing) &&
                          !isa::is_float(t) && cc_ >= 70 && !mods.vec;
  const Source operand = source(i.operands[first + 1], words_of(t));
  const bool same_value = operand.is_uniform();
  const bool word_sized = isa::bits_of(t) == 32, sum = mods.op == isa::Op::Add;
  const bool joins = sum || mods.op == isa::Op::Min || mods.op == isa::Op::Max || mods.op == isa::Op::And || mods.op == isa::Op::Or ||
                     mods.op == isa::Op::Xor;
  const bool adds_lanes = cc_ >= 80 && word_sized;
  const bool joined =
      same_place && (to ? sum && word_sized && (same_value || (shared && adds_lanes)) : joins && ((same_value && sum) || adds_lanes));
  Part value = data;
  Part elected;
  if (joined) {
    const Part mask{code_.new_value(Bank::Uniform, 1), 0, 1}, leader{code_.new_value(Bank::Uniform, 1), 0, 1},
        p = temporary(1, Bank::Predicate);
    emit(Vote, "VOTEU", {mask}, {});
    const Source lane = of(fixed_part(constant(Fixed::Special, "%laneid", 0, 1).key, Bank::General));
    Source m;
    m.kind = Source::Uniform;
    m.part = mask;
    emit(Uniform, "UFLO", {leader}, {m});
    if (same_value && sum) {
      const Part count{code_.new_value(Bank::Uniform, 1), 0, 1};
      emit(Uniform, "UPOPC", {count}, {m});
      Source c = m;
      c.part = count;
      value = temporary();
      emit(IntMul, "IMAD", {value}, {c, operand});
    } else {
      const Part total{code_.new_value(Bank::Uniform, 1), 0, 1};
      emit(Redux, "REDUX", {total}, {of(data)});
      Source c = m;
      c.part = total;
      value = temporary();
      emit(Move, "MOV", {value}, {c});
    }
    Source l = m;
    l.part = leader;
    emit(Compare, "ISETP", {p}, {l, lane});
    elected = p;
  }
  const bool reduces = !to && mods.op != isa::Op::Cas && mods.op != isa::Op::Exch;
  const Operation operation = shared ? AtomicShared : reduces ? ReduceGlobal : AtomicGlobal;
  const Part got = joined && to ? temporary(to.count) : to;
  Draft& d = access(i, operation,
                    shared                         ? "ATOMS"
                    : reduces                      ? "RED"
                    : mods.space == Space::Generic ? "ATOM"
                                                   : "ATOMG",
                    Order::Store, place, got, {value, swap}, bytes_of(i));
  if (joined) {
    d.guarded = true;
    if (d.reads.back()) d.reads.back() = elected;
    else d.read(elected);
  }
  if (joined && to) {
    const Part before = temporary(), first_value = temporary(), bits = temporary();
    const Source lanes = of(fixed_part(constant(Fixed::Special, "%lanemask_lt", 0, 1).key, Bank::General));
    emit(Logic, "LOP3", {bits}, {lanes});
    emit(BitCount, "POPC", {before}, {of(bits)});
    emit(Shuffle, "SHFL", {first_value}, {of(got)});
    emit(IntMul, "IMAD", {to}, {of(before), operand, of(first_value)});
  }
  if (mods.sem == isa::Sem::Acquire || mods.sem == isa::Sem::AcqRel) {
    Draft& f = emit(None, "CCTL.IVALL", {}, {});
    f.pinned = f.wall = true;
  }
  if (to) scatter(i.operands[0], t, to);
}

}  // namespace warpbeam::assembly
