#include "vm/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "isa/image_form.h"
#include "ptx/blocks.h"
#include "vm/matrix_plan.h"

namespace warpbeam::vm {

// Handlers that the decoder places by itself; they live with the chapter they belong to.
void exec_label(Warp&, const Insn&, uint32_t);
void exec_jump(Warp&, const Insn&, uint32_t);
void exec_branch(Warp&, const Insn&, uint32_t);
void exec_branch_table(Warp&, const Insn&, uint32_t);
void exec_call(Warp&, const Insn&, uint32_t);
void exec_call_builtin(Warp&, const Insn&, uint32_t);
void exec_call_indirect(Warp&, const Insn&, uint32_t);
void exec_ret(Warp&, const Insn&, uint32_t);
void exec_exit(Warp&, const Insn&, uint32_t);
void exec_not_pred(Warp&, const Insn&, uint32_t);
void exec_read_special(Warp&, const Insn&, uint32_t);
Handler copy_handler(int bytes);
Handler pack_handler(int part_bytes, int count);
Handler unpack_handler(int part_bytes, int count);
Handler address_handler(const ptx::Instruction&, int register_bytes);
Handler memory_handler(const ptx::Instruction&, int register_bytes, bool entry_param, bool local_param);
Handler async_handler(const ptx::Instruction&);
const Fragment* memory_fragment(const isa::Matched&);

namespace {

using isa::Kind;
using isa::Special;
using isa::Type;
using ptx::Operand;
using ptx::OperandKind;

constexpr int32_t kConstantTag = 0x40000000;  // marks an offset into the constants until their place is known
constexpr uint32_t kMaxFrameBytes = 64u << 20;

Watched watched(const ptx::Instruction& i) {
  const isa::Row& row = *i.form.row;
  if (row.kind == Kind::Image) return Watched::Plain;
  if (row.cls == isa::Class::Load || row.cls == isa::Class::Store || row.cls == isa::Class::Atomic) return Watched::Memory;
  const bool block_barrier = row.kind == Kind::Barrier && !row.syntax.starts_with("bar.warp.sync");
  if (i.form.mods.sync && !block_barrier && row.kind != Kind::Misc) return Watched::WarpSync;
  if (row.kind == Kind::Barrier && !block_barrier) return Watched::WarpSync;
  switch (row.cls) {
    case isa::Class::Branch: case isa::Class::Call: case isa::Class::Barrier: case isa::Class::Fence: case isa::Class::Misc: case isa::Class::Copy:
      return Watched::Notable;
    default: return Watched::Plain;
  }
}

class Decoder {
 public:
  Decoder(FunctionCode& code, const Resolve& resolve, std::vector<ptx::Diagnostic>& errors)
      : code_(code), f_(*code.source), resolve_(resolve), errors_(errors) {}

  void run() {
    place_registers();
    place_locals();
    find_blocks();
    for (uint32_t b : order_) decode_block(b);
    finish();
  }

 private:
  // --- frame ------------------------------------------------------------------------------------------------------
  int32_t allocate(uint32_t bytes, uint32_t align) {
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
  int32_t allocate_lanes(int bytes) {
    return bytes == 0 ? allocate(4, 4) : allocate(static_cast<uint32_t>(bytes) * kWarpSize, 64);
  }
  static int lane_bytes(Type t) { return t == Type::Pred ? 0 : isa::bytes_of(t); }

  void place_registers() {
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

  void place_locals() {
    uint64_t at = 0;
    auto place = [&](const ptx::Variable& v) {
      at = (at + v.align - 1) / v.align * v.align;
      LocalPart part{static_cast<uint32_t>(at), static_cast<uint32_t>(v.size)};
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

  int32_t constant(uint64_t bits, int bytes, uint64_t high = 0) {
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

  int32_t frame_slot(FrameSlot slot) {
    const auto key = std::make_tuple(slot.kind, slot.special, slot.component, slot.width, slot.variable, slot.addend);
    if (auto it = slot_at_.find(key); it != slot_at_.end()) return it->second;
    slot.offset = allocate_lanes(slot.special == Special::IsExplicitCluster && slot.kind == SlotKind::Special ? 0 : slot.width);
    code_.slots.push_back(slot);
    slot_at_.emplace(key, slot.offset);
    return slot.offset;
  }

  // --- operands ---------------------------------------------------------------------------------------------------
  static uint64_t immediate_bits(const Operand& o, Type want) {
    if (!o.float_literal) {
      if (want == Type::F32) return o.imm;  // integer bits in a .b32-like position
      return o.imm;
    }
    double d = o.single_literal ? std::bit_cast<float>(static_cast<uint32_t>(o.imm)) : std::bit_cast<double>(o.imm);
    if (isa::bits_of(want) == 64) return std::bit_cast<uint64_t>(d);
    if (isa::bits_of(want) == 32) return o.single_literal ? o.imm : std::bit_cast<uint32_t>(static_cast<float>(d));
    return o.imm;
  }

  // The value of a symbol used as an operand, `bytes` wide.
  int32_t symbol(const Operand& o, int bytes, const ptx::Instruction& at) {
    if (auto it = locals_.find(o.name); it != locals_.end())
      return frame_slot({SlotKind::LocalAddress, {}, 0, static_cast<uint8_t>(bytes), 0, 0, int64_t(it->second.offset) + o.offset});
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
        return constant(r.address, bytes);
      default:
        errors_.push_back({at.at, fmt::format("'{}' is not declared", o.name), false});
        return constant(0, bytes);
    }
  }
  void note(std::vector<uint32_t>& list, uint32_t v) {
    if (noted_.emplace(&list, v).second) list.push_back(v);
  }

  Insn& emit(Handler fn, const ptx::Instruction& source) {
    Insn i;
    i.fn = fn;
    i.source = &source;
    code_.insns.push_back(i);
    return code_.insns.back();
  }
  // An instruction that the text does not have, beside `source`.
  Insn& add(Handler fn, const ptx::Instruction& source) {
    Insn& i = emit(fn, source);
    i.watched = Watched::Extra;
    return i;
  }
  void guard(Insn& i, const ptx::Instruction& source) {
    if (source.guard < 0) return;
    i.guard = registers_[source.guard];
    i.guard_negated = source.guard_negated;
  }

  int32_t slot(const Operand& o, Type want, const ptx::Instruction& at) {
    const int bytes = lane_bytes(want);
    switch (o.kind) {
      case OperandKind::Register: {
        int32_t s = registers_[o.reg];
        if (!o.negated) return s;
        int32_t fresh = allocate_lanes(0);
        Insn& n = add(exec_not_pred, at);
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
  int32_t special(const Operand& o, int bytes, const ptx::Instruction& at) {
    const isa::SpecialRow& row = *o.special;
    if (row.type == Type::Pred && bytes != 0) bytes = 4;
    if (!row.varies)
      return frame_slot({SlotKind::Special, row.id, o.component, static_cast<uint8_t>(bytes ? bytes : 4), 0, 0, 0});
    int32_t fresh = allocate_lanes(bytes);
    Insn& i = add(exec_read_special, at);
    i.op[0] = fresh;
    i.imm = static_cast<int64_t>(row.id);
    i.width = static_cast<uint8_t>(bytes);
    return fresh;
  }

  // Base slot and offset of an address operand.
  void address(const Operand& o, const ptx::Instruction& at, int32_t& base, int64_t& offset, uint8_t& base_width) {
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
  std::optional<uint64_t> resolve_if_address(const std::string& name) {
    if (locals_.contains(name) || entry_params_.contains(name)) return std::nullopt;
    Resolved r = resolve_(name);
    if (r.kind == Resolved::Address) return r.address;
    return std::nullopt;
  }

  int register_bytes(const Operand& o, Type fallback) const {
    if (o.kind == OperandKind::Register) return lane_bytes(f_.registers[o.reg].type);
    if (o.kind == OperandKind::Vector && !o.list.empty())
      for (const Operand& e : o.list)
        if (e.kind == OperandKind::Register) return lane_bytes(f_.registers[e.reg].type);
    return lane_bytes(fallback);
  }
  const int32_t* list_slots(const Operand& o, Type want, const ptx::Instruction& at) {
    std::vector<int32_t> slots;
    for (const Operand& e : o.list) slots.push_back(slot(e, want, at));
    code_.lists.push_back(std::move(slots));
    return code_.lists.back().data();
  }

  // --- blocks -----------------------------------------------------------------------------------------------------
  uint32_t label_at(const std::string& key) const {
    auto it = f_.labels.find(key);
    return it == f_.labels.end() ? 0 : it->second;
  }

  void find_blocks() {
    blocks_ = ptx::split_blocks(f_);
    block_of_.resize(f_.body.size() + 1);
    for (uint32_t b = 0; b < blocks_.size(); ++b)
      for (uint32_t k = blocks_[b].begin; k <= blocks_[b].end; ++k) block_of_[k] = b;  // the end is overwritten by the next one
    std::vector<std::vector<uint32_t>> successors;
    for (const ptx::Block& block : blocks_) successors.push_back(block.successors);
    order_ = order_blocks(successors);
    position_.assign(blocks_.size(), kNoTarget);
    for (uint32_t k = 0; k < order_.size(); ++k) position_[order_[k]] = k;
    find_meeting_places(successors);
    spins_.assign(blocks_.size(), 0);
    find_spins(successors);
    starts_.assign(blocks_.size(), kNoTarget);
  }

  // Lanes can come to a block at different times where several blocks lead to it, and where a loop does: those that leave
  // the loop early wait there for the rest.
  void find_meeting_places(const std::vector<std::vector<uint32_t>>& successors) {
    const size_t n = order_.size();
    std::vector<uint32_t> loop_end(n, 0), predecessors(blocks_.size(), 0);
    for (uint32_t b : order_)
      for (uint32_t s : successors[b]) {
        ++predecessors[s];
        if (position_[s] <= position_[b]) loop_end[position_[s]] = std::max(loop_end[position_[s]], position_[b] + 1);
      }
    meets_.assign(blocks_.size(), 0);
    std::vector<uint32_t> open;  // ends (exclusive) of the loops around the current block, the innermost last
    for (uint32_t k = 0; k < n; ++k) {
      while (!open.empty() && open.back() <= k) open.pop_back();
      if (loop_end[k]) open.push_back(loop_end[k]);
      for (uint32_t s : successors[order_[k]])
        if (predecessors[s] > 1 || (!open.empty() && position_[s] >= open.back())) meets_[s] = 1;
    }
    meets_[0] = predecessors[0] > 0;
  }

  // A loop may wait for another thread if a block in it reads memory in a way the compiler may not hoist.
  void find_spins(const std::vector<std::vector<uint32_t>>& successors) {
    std::vector<char> waits(blocks_.size());
    for (uint32_t b = 0; b < blocks_.size(); ++b) {
      for (uint32_t k = blocks_[b].begin; k < blocks_[b].end; ++k) {
        const ptx::Instruction& i = f_.body[k];
        bool wait = may_wait(i);
        if (i.form.row->cls == isa::Class::Call && i.operands[1].kind == OperandKind::Symbol) {
          const Resolved r = resolve_(i.operands[1].name);
          wait = r.kind == Resolved::Function && r.function->may_wait;
        }
        if (wait) waits[b] = 1;
      }
    }
    std::vector<uint32_t> before(order_.size() + 1);  // waiting blocks among the first k of the order
    for (size_t k = 0; k < order_.size(); ++k) before[k + 1] = before[k] + static_cast<uint32_t>(waits[order_[k]]);
    for (uint32_t b : order_)
      for (uint32_t s : successors[b])
        if (position_[s] <= position_[b] && before[position_[b] + 1] != before[position_[s]]) spins_[b] = 1;
  }

  void decode_block(uint32_t b) {
    const uint32_t n = static_cast<uint32_t>(f_.body.size());
    const ptx::Block& block = blocks_[b];
    const uint32_t begin = block.begin, end = block.end;
    starts_[b] = static_cast<uint32_t>(code_.insns.size());
    static const ptx::Instruction kNone;
    if (meets_[b]) add(exec_label, end > begin ? f_.body[begin] : (n ? f_.body[n - 1] : kNone));
    for (uint32_t k = begin; k < end; ++k) decode_instruction(f_.body[k], b);
    if (!block.falls) return;
    const ptx::Instruction* last = end > begin ? &f_.body[end - 1] : nullptr;
    const ptx::Instruction& source = last ? *last : (n ? f_.body[n - 1] : code_.inserted.emplace_back());
    if (end >= n && b + 1 >= blocks_.size()) {
      add(exec_ret, source);
    } else if (position_[b] + 1 >= order_.size() || order_[position_[b] + 1] != b + 1) {
      Insn& j = add(exec_jump, source);
      j.target = b + 1;  // a block number until finish()
      j.spin = spins_[b] && position_[b + 1] <= position_[b];
      to_patch_.push_back(static_cast<uint32_t>(code_.insns.size() - 1));
    }
  }

  // --- instructions -----------------------------------------------------------------------------------------------
  void refuse(const ptx::Instruction& i) {
    errors_.push_back({i.at, fmt::format("this form of '{}' is not supported ({})", i.form.row->opcode, i.form.row->syntax), false});
  }

  void decode_instruction(const ptx::Instruction& i, uint32_t block) {
    switch (i.form.row->kind) {
      case Kind::Control: return decode_control(i, block);
      case Kind::Move: return decode_move(i);
      case Kind::Memory: case Kind::Atomic: return decode_memory(i);
      case Kind::Async: return i.form.row->cls == isa::Class::Load ? decode_async(i) : decode_wide(i);
      case Kind::Tensor: return decode_wide(i);
      case Kind::Image: return decode_image(i);
      default: return decode_plain(i);
    }
  }

  void decode_plain(const ptx::Instruction& i) {
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
    code_.allocates |= i.form.row->opcode == "alloca";
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

  void decode_move(const ptx::Instruction& i) {
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

  void decode_memory(const ptx::Instruction& i) {
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
    const bool param_space = space == Space::Param || space == Space::ParamEntry || space == Space::ParamFunc;
    bool entry_param = false, local_param = false;
    if (param_space) {
      if (target.kind == OperandKind::Symbol && entry_params_.contains(target.name)) {
        entry_param = true;
        insn.imm = int64_t(entry_params_[target.name]) + target.offset;
      } else if (target.kind == OperandKind::Symbol && !locals_.contains(target.name)) {
        errors_.push_back({i.at, fmt::format("'{}' is not a parameter", target.name), false});
        return;
      } else {
        local_param = !f_.entry || target.kind == OperandKind::Symbol;
      }
    }
    if (!entry_param) address(target, i, insn.op[1], insn.imm, insn.base_width);
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
      const bool returns = row.opcode == "atom";
      const size_t first = returns ? 2 : 1;
      if (!returns) insn.op[0] = -1;
      const Operand& old = i.operands[0];
      insn.drops_result = returns && (old.kind == ptx::OperandKind::Sink || (old.kind == ptx::OperandKind::Register && mentions_[old.reg] == 1));
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
        insn.op[2] = slot(i.operands[first], i.form.type, i);
        insn.width = static_cast<uint8_t>(lane_bytes(i.form.type));
      }
      if (i.operands.size() > first + 1 && i.form.mods.op == isa::Op::Cas) insn.op[3] = slot(i.operands[first + 1], i.form.type, i);
      if (i.form.mods.op == isa::Op::Cas && insn.op[3] < 0) return refuse(i);
      insn.fn = select_handler(i, f_);
    } else {
      insn.fn = memory_handler(i, insn.width, entry_param, local_param);
    }
    if (!insn.fn) return refuse(i);
    code_.insns.push_back(insn);
    guard(code_.insns.back(), i);
  }

  void decode_async(const ptx::Instruction& i) {
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

  void decode_wide(const ptx::Instruction& i) {
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

  void decode_image(const ptx::Instruction& i) {
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
        for (const Operand& e : o.list) { if (static_cast<int>(slots.size() - before) < most) one(e); }
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

  void decode_control(const ptx::Instruction& i, uint32_t block) {
    const std::string_view op = i.form.row->opcode;
    if (op == "bra") {
      Insn& b = emit(i.guard >= 0 ? exec_branch : exec_jump, i);
      b.target = block_of_[label_at(i.operands[0].name)];
      b.spin = spins_[block] && position_[b.target] <= position_[block];
      to_patch_.push_back(static_cast<uint32_t>(code_.insns.size() - 1));
      if (i.guard >= 0) guard(b, i);
    } else if (op == "brx") {
      std::vector<int32_t> targets;
      if (auto t = f_.branch_targets.find(i.operands[1].name); t != f_.branch_targets.end())
        for (const std::string& label : t->second) targets.push_back(static_cast<int32_t>(block_of_[label_at(label)]));
      code_.lists.push_back(std::move(targets));
      tables_.push_back(code_.lists.size() - 1);
      Insn& b = emit(exec_branch_table, i);
      b.op[0] = registers_[i.operands[0].reg];
      b.list = code_.lists.back().data();
      b.imm = static_cast<int64_t>(code_.lists.back().size());
      guard(b, i);
    } else if (op == "call") {
      decode_call(i);
    } else if (op == "ret") {
      guard(emit(exec_ret, i), i);
    } else if (op == "exit") {
      guard(emit(exec_exit, i), i);
    } else {
      Handler fn = select_handler(i, f_);
      if (!fn) return refuse(i);
      guard(emit(fn, i), i);
    }
  }

  void decode_call(const ptx::Instruction& i) {
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
    Handler fn = exec_call;
    if (target.kind == OperandKind::Register) {
      site.target_slot = registers_[target.reg];
      code_.indirect_calls = true;
      fn = exec_call_indirect;
    } else {
      Resolved r = resolve_(target.name);
      if (r.kind == Resolved::Function) {
        check_call(i, site, *r.function->source, r.builtin);
        if (r.function->source->entry) {
          site.builtin = r.builtin;
          site.builtin_data = r.function;
          site.runtime = true;
          fn = exec_call_builtin;
        } else {
          site.callee = r.function;
          note(code_.callees, r.function->index);
        }
      } else if (r.kind == Resolved::Builtin) {
        site.builtin = r.builtin;
        site.builtin_data = r.builtin_data;
        site.runtime = r.runtime;
        fn = exec_call_builtin;
      } else {
        errors_.push_back({i.at, fmt::format("function '{}' is not defined", target.name), false});
        return;
      }
    }
    code_.call_sites.push_back(std::move(site));
    Insn& c = emit(fn, i);
    c.call = &code_.call_sites.back();
    guard(c, i);
  }
  // A call of a kernel is a launch, as our compiler leaves it; there, small integers are widened to 32 bits.
  void check_call(const ptx::Instruction& i, const CallSite& site, const ptx::Function& callee, Builtin launch) {
    bool ok = site.args.size() == callee.params.size() && site.returns.size() == callee.returns.size() && (!callee.entry || launch);
    for (size_t k = 0; ok && k < site.args.size(); ++k)
      ok = site.args[k].size == callee.params[k].size || (callee.entry && site.args[k].size == 4 && callee.params[k].size < 4);
    for (size_t k = 0; ok && k < site.returns.size(); ++k) ok = site.returns[k].size == callee.returns[k].size;
    if (!ok) errors_.push_back({i.at, fmt::format("this call does not match the parameters of '{}'", callee.name), false});
  }

  void finish() {
    if (code_.insns.empty()) add(exec_ret, code_.inserted.emplace_back());
    code_.constants_at = static_cast<uint32_t>(allocate(static_cast<uint32_t>(code_.constants.size()), 64));
    auto fix = [&](int32_t& slot) {
      if (slot >= kConstantTag) slot = static_cast<int32_t>(code_.constants_at) + (slot & ~kConstantTag);
    };
    for (Insn& i : code_.insns) {
      for (int32_t& s : i.op) fix(s);
      if (i.watched == Watched::Plain) i.watched = watched(*i.source);
    }
    for (auto& operands : code_.wide)
      for (WideOperand& o : operands) {
        fix(o.slot);
        for (int32_t& s : o.parts) fix(s);
      }
    size_t next_table = 0;  // they were noted in order
    for (size_t k = 0; k < code_.lists.size(); ++k) {
      const bool table = next_table < tables_.size() && tables_[next_table] == k;
      next_table += table;
      for (int32_t& s : code_.lists[k]) {
        if (table) s = static_cast<int32_t>(starts_[static_cast<uint32_t>(s)]);
        else fix(s);
      }
    }
    for (uint32_t k : to_patch_) code_.insns[k].target = starts_[code_.insns[k].target];
    code_.frame_bytes = (frame_ + 63) / 64 * 64;
  }

  FunctionCode& code_;
  const ptx::Function& f_;
  const Resolve& resolve_;
  std::vector<ptx::Diagnostic>& errors_;
  uint32_t frame_ = 0;
  bool too_large_ = false;
  std::vector<int32_t> registers_;
  std::vector<uint32_t> mentions_;  // how often the text names a register
  std::unordered_map<std::string, LocalPart> locals_;
  std::unordered_map<std::string, uint32_t> entry_params_;
  std::map<std::tuple<SlotKind, Special, uint8_t, uint8_t, uint32_t, int64_t>, int32_t> slot_at_;
  std::set<std::pair<const std::vector<uint32_t>*, uint32_t>> noted_;
  std::map<std::tuple<uint64_t, uint64_t, int>, int32_t> constant_at_;
  std::vector<ptx::Block> blocks_;
  std::vector<uint32_t> block_of_, order_, position_, starts_, to_patch_;
  std::vector<char> spins_, meets_;
  std::vector<size_t> tables_;
  uint32_t next_cache_ = 0;
};

}  // namespace

bool may_wait(const ptx::Instruction& i) {
  const isa::Row& row = *i.form.row;
  const isa::Sem sem = i.form.mods.sem;
  if (row.cls == isa::Class::Call) return i.operands[1].kind == OperandKind::Register;
  return row.kind == Kind::Atomic || row.kind == Kind::Misc || row.cls == isa::Class::Fence ||
         (row.kind == Kind::Memory && row.cls == isa::Class::Load && sem != isa::Sem::None && sem != isa::Sem::Weak);
}

void decode(FunctionCode& code, const Resolve& resolve, std::vector<ptx::Diagnostic>& errors) {
  Decoder(code, resolve, errors).run();
}

}  // namespace warpbeam::vm
