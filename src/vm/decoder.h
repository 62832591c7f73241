// One function being decoded: decode.cc lays out the blocks, decode_operands.cc the frame and what operands stand for,
// decode_instructions.cc turns statements into instructions.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ptx/blocks.h"
#include "vm/decode.h"
#include "vm/flow_handlers.h"

namespace warpbeam::vm {

// Handlers by form.
Handler copy_handler(int bytes);
Handler pack_handler(int part_bytes, int count);
Handler unpack_handler(int part_bytes, int count);
Handler address_handler(const ptx::Instruction&, int register_bytes);
// Whose parameter is accessed: none, one in the function's local frame, or one of the kernel, by its name or at an address of 32 bits.
enum class ParamPlace : uint8_t { None, Local, Named, Computed };
Handler memory_handler(const ptx::Instruction&, int register_bytes, ParamPlace);
Handler async_handler(const ptx::Instruction&);
const Fragment* memory_fragment(const isa::Matched&);

constexpr int32_t kConstantTag = 0x40000000;  // marks an offset into the constants until their place is known

class Decoder {
 public:
  Decoder(FunctionCode& code, const Resolve& resolve, std::vector<ptx::Diagnostic>& errors)
      : code_(code), f_(*code.source), resolve_(resolve), errors_(errors) {}
  void run();

 private:
  using Operand = ptx::Operand;
  using Type = isa::Type;

  // --- the frame
  // -------------------------------------------------------------------------------------------------------
  int32_t allocate(uint32_t bytes, uint32_t align);
  int32_t allocate_lanes(int bytes) { return bytes == 0 ? allocate(4, 4) : allocate(static_cast<uint32_t>(bytes) * kWarpSize, 64); }
  static int lane_bytes(Type t) { return t == Type::Pred ? 0 : isa::bytes_of(t); }
  void place_registers();
  void place_locals();
  int32_t constant(uint64_t bits, int bytes, uint64_t high = 0);
  int32_t frame_slot(FrameSlot slot);

  // --- operands
  // --------------------------------------------------------------------------------------------------------
  static uint64_t immediate_bits(const Operand& o, Type want);
  // The value of a symbol used as an operand, `bytes` wide.
  int32_t symbol(const Operand& o, int bytes, const ptx::Instruction& at);
  void note(std::vector<uint32_t>& list, uint32_t v) {
    if (noted_.emplace(&list, v).second) list.push_back(v);
  }
  Insn& emit(Step step, const ptx::Instruction& source) {
    Insn i;
    i.fn = handler_of(step);
    i.step = step;
    i.source = &source;
    code_.insns.push_back(i);
    return code_.insns.back();
  }
  // An instruction that the text does not have, beside `source`.
  Insn& add(Step step, const ptx::Instruction& source) {
    Insn& i = emit(step, source);
    i.watched = Watched::Extra;
    return i;
  }
  void guard(Insn& i, const ptx::Instruction& source) {
    if (source.guard < 0) return;
    i.guard = registers_[source.guard];
    i.guard_negated = source.guard_negated;
  }
  int32_t slot(const Operand& o, Type want, const ptx::Instruction& at);
  int32_t special(const Operand& o, int bytes, const ptx::Instruction& at);
  // Base slot and offset of an address operand.
  void address(const Operand& o, const ptx::Instruction& at, int32_t& base, int64_t& offset, uint8_t& base_width);
  std::optional<uint64_t> resolve_if_address(const std::string& name);
  int register_bytes(const Operand& o, Type fallback) const;
  const int32_t* list_slots(const Operand& o, Type want, const ptx::Instruction& at);

  // --- blocks
  // ----------------------------------------------------------------------------------------------------------
  uint32_t label_at(const std::string& key) const;
  void find_blocks();
  // Lanes can come to a block at different times where several blocks lead to it, and where a way leads to it past the
  // end of a loop: lanes that come early wait there while others go round.
  void find_meeting_places(const std::vector<std::vector<uint32_t>>& successors);
  bool nobody_reads_result(const ptx::Instruction& atomic) const;
  // Fills spins_: by a loop's first block, whether it may wait for another thread (waiting_loops.cc).
  void find_spins();
  void decode_block(uint32_t b);

  // --- instructions
  // ----------------------------------------------------------------------------------------------------
  void refuse(const ptx::Instruction& i);
  void decode_instruction(const ptx::Instruction& i, uint32_t block);
  void decode_plain(const ptx::Instruction& i);
  void decode_move(const ptx::Instruction& i);
  void decode_memory(const ptx::Instruction& i);
  void decode_async(const ptx::Instruction& i);
  void decode_wide(const ptx::Instruction& i);
  void decode_image(const ptx::Instruction& i);
  void decode_control(const ptx::Instruction& i, uint32_t block);
  void decode_call(const ptx::Instruction& i);
  // A call of a kernel is a launch, as our compiler leaves it; there, small integers are widened to 32 bits.
  void check_call(const ptx::Instruction& i, const CallSite& site, const ptx::Function& callee, Builtin launch);
  void finish();

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
  std::map<std::tuple<SlotKind, isa::Special, uint8_t, uint8_t, uint32_t, int64_t>, int32_t> slot_at_;
  std::set<std::pair<const std::vector<uint32_t>*, uint32_t>> noted_;
  std::map<std::tuple<uint64_t, uint64_t, int>, int32_t> constant_at_;
  std::vector<ptx::Block> blocks_;
  std::vector<uint32_t> block_of_, order_, position_, starts_, to_patch_;
  std::vector<char> spins_, meets_;
  std::vector<size_t> tables_;
  uint32_t next_cache_ = 0;
};

}  // namespace warpbeam::vm
