#include "timing/program.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "assembly/latency.h"

namespace warpbeam::timing {

using assembly::Operation;

namespace {

// A scheduler's registers lie in two banks, and each gives a warp one of them in a cycle: three that a multiply-add reads take longer than its issue. What the
// multiply-adds before it have read at hand is not read again, and the assembler lets those follow each other that have something in common.
// (H200: chains that share two operands take 1 cycle, that share none 1.5 to 1.7, products of 4x4 to 8x8 numbers 1.06 to 1.37.)
class RegisterReads {
 public:
  // Whether an instruction reads three that are not at hand.
  bool three(const assembly::MachineInstruction& m) {
    std::vector<int> reads;
    for (const assembly::RegisterRange& range : m.reads)
      if (range.first >= 0 && range.first < assembly::kPredicates && std::ranges::find(reads, range.first) == reads.end())
        reads.push_back(range.first);
    const auto held = std::ranges::count_if(reads, [&](int r) {
      return std::ranges::any_of(before_, [&](const std::vector<int>& b) { return std::ranges::find(b, r) != b.end(); });
    });
    before_[next_++ % before_.size()] = reads;
    return static_cast<std::ptrdiff_t>(reads.size()) - held >= 3;
  }
  // It is at hand no longer.
  void writes(const assembly::MachineInstruction& m) {
    for (const assembly::RegisterRange& range : m.writes)
      for (std::vector<int>& b : before_) std::erase_if(b, [&](int r) { return r >= range.first && r < range.first + range.count; });
  }

 private:
  std::array<std::vector<int>, 2> before_;
  size_t next_ = 0;
};

// Sums of two numbers, shifts by known distances and copies are instructions for either pipe: the assembler writes the one of which the block has fewer
// so far, whatever they wait for. (H200, pipes counted in chains of every two operations: a sum behind a comparison is an IMAD, behind a product an
// IADD3, and its result comes a cycle later for it.) Where results are as early in both, whichever is free takes them.
class Pipes {
 public:
  explicit Pipes(const Rates& rates) : apart_(rates.cross_pipe > 0), one_(rates.one_pipe > 0) {}

  void choose(const assembly::MachineInstruction& m, Ready& r) {
    if (!apart_) {
      if (!one_ && m.operation == Operation::IntAdd && m.reads[2].first < 0) r.other = Unit::FmaHeavy;
      return;
    }
    if (of_either(m)) r.unit = r.other = integers_ > floats_ ? Unit::FmaHeavy : Unit::Alu;
    if (m.operation == Operation::Half || m.operation == Operation::HalfToFloat) return;
    if (r.unit == Unit::Alu) r.pipe = Pipe::Integers, ++integers_;
    else if (r.unit == Unit::FmaLite || r.unit == Unit::FmaHeavy) r.pipe = Pipe::Floats, ++floats_;
  }

 private:
  static bool of_either(const assembly::MachineInstruction& m) {
    switch (m.operation) {
      case Operation::Move: return true;
      case Operation::IntAdd:
        if (m.mnemonic == "LEA" && m.reads[1].first < 0) return false;  // by a factor and a number: no product has room for both
        return (m.reads[2].first < 0 && m.writes[1].first < 0) || m.mnemonic == "IADD3.X";
      case Operation::Shift: return m.mnemonic == "IMAD.SHL";
      default: return false;
    }
  }

  bool apart_, one_;
  int integers_ = 0, floats_ = 0;
};

// `last`: of the function's PTX instructions.
Text make_ready(const assembly::MachineText& text, uint32_t last, const Rates& rates, std::vector<uint16_t>& registers) {
  Text made;
  made.code.reserve(text.size());
  RegisterReads at_hand;
  Pipes pipes(rates);
  for (const assembly::MachineInstruction& m : text) {
    const OperationRate& rate = rates.of(m.operation);
    Ready r;
    r.operation = m.operation;
    r.unit = rate.unit;
    r.other = rate.other;
    pipes.choose(m, r);
    r.access = m.access;
    r.cluster_arrives = m.mnemonic == "UCGABAR_ARV";
    r.cluster_waits = m.mnemonic == "UCGABAR_WAIT";
    r.phase_wait = m.mnemonic.starts_with("SYNCS.PHASECHK");
    r.guarded = m.guarded || r.unit == Unit::Branch || !assembly::takes_predicates(m.operation);
    r.stores = m.operation == Operation::StoreShared || m.operation == Operation::StoreGlobal || m.operation == Operation::StoreLocal;
    r.computes = rates.one_pipe > 0 && (m.operation == Operation::LoadShared || m.operation == Operation::StoreShared);
    r.rejoins = m.mnemonic == "BSYNC";
    r.ptx = std::min(m.ptx, last);
    r.spilled = m.spilled;
    r.latency = static_cast<int32_t>(ticks(rate.latency));
    r.interval = static_cast<int32_t>(ticks(rate.interval));
    r.own_interval = r.unit == Unit::Lsu ? static_cast<int32_t>(ticks(rates.path_own_interval)) : r.interval;
    if (m.operation == Operation::FloatFma && at_hand.three(m)) r.hold = static_cast<int32_t>(ticks(rates.third_register));
    if (m.operation == Operation::IntMulWide) r.hold = static_cast<int32_t>(ticks(rates.wide_product));
    at_hand.writes(m);
    r.first_register = static_cast<uint32_t>(registers.size());
    const auto add = [&](const auto& ranges, uint8_t& count) {
      for (const assembly::RegisterRange& range : ranges)
        for (int k = 0; range.first >= 0 && k < range.count && range.first + k < assembly::kMachineRegisters; ++k) {
          registers.push_back(static_cast<uint16_t>(range.first + k));
          ++count;
        }
    };
    add(m.reads, r.reads);
    add(m.writes, r.writes);
    made.code.push_back(r);
  }
  made.lines.resize(made.code.size() / kInstructionsPerLine + 1);
  return made;
}

}  // namespace

Program make_program(const Work& work, const Rates& rates) {
  Program p;
  for (const FunctionWork& f : work.functions) {
    std::vector<ReadyBlock>& blocks = p.functions.emplace_back();
    const auto last = static_cast<uint32_t>(std::max<size_t>(1, f.code->block_of.size()) - 1);
    for (const assembly::MachineBlock& b : f.code->blocks) {
      blocks.push_back({make_ready(b.text, last, rates, p.registers), make_ready(b.unrolled, last, rates, p.registers),
                        std::max(1u, b.turns), b.folded_into});
      blocks.back().barriers =
          b.folded_into < 0
              ? static_cast<uint32_t>(std::ranges::count(b.text, Operation::Barrier, &assembly::MachineInstruction::operation))
              : 0;
      blocks.back().phase_wait = std::ranges::any_of(blocks.back().once.code, &Ready::phase_wait);
    }
  }
  return p;
}

Source source_of(Operation o) {
  switch (o) {
    case Operation::LoadGlobal:
    case Operation::LoadLocal:
    case Operation::AtomicGlobal:
    case Operation::Texture:
    case Operation::Surface: return Source::Long;
    case Operation::LoadShared:
    case Operation::AtomicShared:
    case Operation::AtomicLoop:
    case Operation::LoadTiles:
    case Operation::Shuffle:
    case Operation::Special:
    case Operation::Convert:
    case Operation::BitCount:
    case Operation::Match:
    case Operation::Redux:
    case Operation::SpecialReg:
    case Operation::LoadConst:
    case Operation::Mbarrier: return Source::Short;
    case Operation::MatrixGroup: return Source::Group;
    default: return Source::Fixed;
  }
}
Stall stall_of(Source s) {
  constexpr Stall kOf[] = {Stall::Wait, Stall::ShortScoreboard, Stall::LongScoreboard, Stall::Gmma};
  return kOf[static_cast<size_t>(s)];
}
Stall throttle_of(const Ready& r) {
  switch (r.unit) {
    case Unit::Lsu:
      return r.operation == Operation::LoadGlobal || r.operation == Operation::StoreGlobal || r.operation == Operation::LoadLocal ||
                     r.operation == Operation::StoreLocal || r.operation == Operation::AtomicGlobal ||
                     r.operation == Operation::ReduceGlobal || r.operation == Operation::CopyAsync
                 ? Stall::LgThrottle
                 : Stall::MioThrottle;
    case Unit::Special: return Stall::MioThrottle;
    case Unit::Texture: return Stall::TexThrottle;
    default: return r.operation == Operation::LoadConst && r.access ? Stall::MioThrottle : Stall::MathPipe;
  }
}

}  // namespace warpbeam::timing
