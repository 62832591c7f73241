// The frame of a function, and the places in it that operands stand for.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "vm/decoder.h"

namespace warpbeam::vm {

using isa::Kind;
using isa::Special;
using isa::Type;
using ptx::Operand;
using ptx::OperandKind;

namespace {
constexpr uint32_t kMaxFrameBytes = 64u << 20;
}  // namespace

int32_t Decoder::allocate(uint32_t bytes, uint32_t align) {
  frame_ = (frame_ + align - 1) / align * align;
  int32_t at = static_cast<int32_t>(frame_);
  frame_ += bytes;
  if (frame_ > kMaxFrameBytes) {
    if (!too_large_) errors_.push_back({f_.at, fmt::format("'{}' needs too many registers", f_.name), false});
    too_large_ = true;
    frame_ = 0;
  }
  return at;
}

void Decoder::place_registers() {
  registers_.resize(f_.registers.size());
  for (size_t k = 0; k < f_.registers.size(); ++k)
    if (f_.registers[k].type == Type::Pred) registers_[k] = allocate_lanes(0);
  code_.carry_slot = allocate_lanes(0);
  // Only registers that are used get a place: texts declare generously.
  mentions_.assign(f_.registers.size(), 0);
  auto mark = [&](auto&& self, const Operand& o) -> void {
    if (o.reg >= 0) ++mentions_[o.reg];
    for (const Operand& e : o.list) self(self, e);
  };
  for (const auto& i : f_.body)
    for (const Operand& o : i.operands) mark(mark, o);
  for (size_t k = 0; k < f_.registers.size(); ++k)
    if (f_.registers[k].type != Type::Pred && mentions_[k]) registers_[k] = allocate_lanes(lane_bytes(f_.registers[k].type));
}

void Decoder::place_locals() {
  uint64_t at = 0;
  auto place = [&](const ptx::Variable& v) {
    at = (at + v.align - 1) / v.align * v.align;
    LocalPart part{static_cast<uint32_t>(at), static_cast<uint32_t>(v.size), static_cast<uint32_t>(code_.locals.size())};
    code_.locals.push_back({part.offset, part.size});
    locals_[v.name] = part;
    at += v.size;
    if (at > (64u << 20)) {
      errors_.push_back({v.at, fmt::format("'{}' needs too much local memory", f_.name), false});
      at = 0;
    }
    return part;
  };
  uint32_t param_offset = 0;
  for (const ptx::Variable& v : f_.returns) code_.returns.push_back(place(v));
  for (const ptx::Variable& v : f_.params) {
    if (f_.entry) {
      param_offset = (param_offset + v.align - 1) / v.align * v.align;
      entry_params_[v.name] = param_offset;
      param_offset += static_cast<uint32_t>(v.size);
    } else {
      code_.params.push_back(place(v));
    }
  }
  for (const ptx::Variable& v : f_.locals)
    if (v.space == isa::Space::Local || v.space == isa::Space::Param) place(v);
  code_.local_bytes = static_cast<uint32_t>((at + 15) / 16 * 16);
}

int32_t Decoder::constant(uint64_t bits, int bytes, uint64_t high) {
  auto [it, fresh] = constant_at_.try_emplace({bits, high, bytes}, 0);
  if (fresh) {
    auto& c = code_.constants;
    size_t at = (c.size() + 63) / 64 * 64;
    c.resize(at + static_cast<size_t>(std::max(bytes, 1)) * kWarpSize);
    for (int l = 0; l < kWarpSize; ++l) {
      if (bytes == 16) {
        std::memcpy(&c[at + 16 * l], &bits, 8);
        std::memcpy(&c[at + 16 * l + 8], &high, 8);
      } else if (bytes > 0) {
        std::memcpy(&c[at + static_cast<size_t>(bytes) * l], &bits, bytes);
      }
    }
    if (bytes == 0) {
      uint32_t mask = bits ? ~0u : 0;
      std::memcpy(&c[at], &mask, 4);
    }
    it->second = static_cast<int32_t>(at) | kConstantTag;
  }
  return it->second;
}

int32_t Decoder::frame_slot(FrameSlot slot) {
  const auto key = std::make_tuple(slot.kind, slot.special, slot.component, slot.width, slot.variable, slot.addend);
  if (auto it = slot_at_.find(key); it != slot_at_.end()) return it->second;
  slot.offset = allocate_lanes(slot.special == Special::IsExplicitCluster && slot.kind == SlotKind::Special ? 0 : slot.width);
  code_.slots.push_back(slot);
  slot_at_.emplace(key, slot.offset);
  return slot.offset;
}

uint64_t Decoder::immediate_bits(const Operand& o, Type want) {
  if (!o.float_literal) {
    if (want == Type::F32) return o.imm;  // integer bits in a .b32-like position
    return o.imm;
  }
  double d = o.single_literal ? std::bit_cast<float>(static_cast<uint32_t>(o.imm)) : std::bit_cast<double>(o.imm);
  if (isa::bits_of(want) == 64) return std::bit_cast<uint64_t>(d);
  if (isa::bits_of(want) == 32) return o.single_literal ? o.imm : std::bit_cast<uint32_t>(static_cast<float>(d));
  return o.imm;
}

int32_t Decoder::symbol(const Operand& o, int bytes, const ptx::Instruction& at) {
  if (auto it = locals_.find(o.name); it != locals_.end())
    return frame_slot(
        {SlotKind::LocalAddress, {}, 0, static_cast<uint8_t>(bytes), 0, it->second.variable, int64_t(it->second.offset) + o.offset});
  if (auto it = entry_params_.find(o.name); it != entry_params_.end()) {
    code_.takes_param_address = true;
    return frame_slot({SlotKind::ParamAddress, {}, 0, static_cast<uint8_t>(bytes), 0, 0, int64_t(it->second) + o.offset});
  }
  Resolved r = resolve_(o.name);
  switch (r.kind) {
    case Resolved::Address: return constant(r.address + static_cast<uint64_t>(o.offset), bytes);
    case Resolved::Shared:
      note(code_.shared_used, r.shared);
      return frame_slot({SlotKind::SharedAddress, {}, 0, static_cast<uint8_t>(bytes), 0, r.shared, o.offset});
    case Resolved::Function:
      note(code_.callees, r.function->index);
      note(code_.taken, r.function->index);
      return constant(r.address, bytes);
    default: errors_.push_back({at.at, fmt::format("'{}' is not declared", o.name), false}); return constant(0, bytes);
  }
}

int32_t Decoder::slot(const Operand& o, Type want, const ptx::Instruction& at) {
  const int bytes = lane_bytes(want);
  switch (o.kind) {
    case OperandKind::Register: {
      int32_t s = registers_[o.reg];
      if (!o.negated) return s;
      int32_t fresh = allocate_lanes(0);
      Insn& n = add(Step::NotPred, at);
      n.op[0] = fresh;
      n.op[1] = s;
      return fresh;
    }
    case OperandKind::Immediate: return constant(immediate_bits(o, want), bytes);
    case OperandKind::Special: return special(o, bytes, at);
    case OperandKind::Symbol: return symbol(o, bytes, at);
    case OperandKind::Sink: return allocate_lanes(bytes);
    default: return -1;
  }
}

int32_t Decoder::special(const Operand& o, int bytes, const ptx::Instruction& at) {
  const isa::SpecialRow& row = *o.special;
  if (row.type == Type::Pred && bytes != 0) bytes = 4;
  if (!row.varies) return frame_slot({SlotKind::Special, row.id, o.component, static_cast<uint8_t>(bytes ? bytes : 4), 0, 0, 0});
  int32_t fresh = allocate_lanes(bytes);
  Insn& i = add(Step::ReadSpecial, at);
  i.op[0] = fresh;
  i.imm = static_cast<int64_t>(row.id);
  i.width = static_cast<uint8_t>(bytes);
  return fresh;
}

void Decoder::address(const Operand& o, const ptx::Instruction& at, int32_t& base, int64_t& offset, uint8_t& base_width) {
  base = -1;
  offset = o.offset;
  base_width = 8;
  if (o.kind == OperandKind::Register) {
    base = registers_[o.reg];
    base_width = static_cast<uint8_t>(lane_bytes(f_.registers[o.reg].type));
  } else if (o.kind == OperandKind::Immediate) {
    offset = static_cast<int64_t>(o.imm) + o.offset;
  } else {
    Operand plain = o;
    plain.offset = 0;
    if (auto r = resolve_if_address(o.name)) offset += static_cast<int64_t>(*r);
    else base = symbol(plain, 8, at);
  }
}

std::optional<uint64_t> Decoder::resolve_if_address(const std::string& name) {
  if (locals_.contains(name) || entry_params_.contains(name)) return std::nullopt;
  Resolved r = resolve_(name);
  if (r.kind == Resolved::Address) return r.address;
  return std::nullopt;
}

int Decoder::register_bytes(const Operand& o, Type fallback) const {
  if (o.kind == OperandKind::Register) return lane_bytes(f_.registers[o.reg].type);
  if (o.kind == OperandKind::Vector && !o.list.empty())
    for (const Operand& e : o.list)
      if (e.kind == OperandKind::Register) return lane_bytes(f_.registers[e.reg].type);
  return lane_bytes(fallback);
}

const int32_t* Decoder::list_slots(const Operand& o, Type want, const ptx::Instruction& at) {
  std::vector<int32_t> slots;
  for (const Operand& e : o.list) slots.push_back(slot(e, want, at));
  code_.lists.push_back(std::move(slots));
  return code_.lists.back().data();
}

}  // namespace warpbeam::vm
