// Liveness, the classic way: backward over blocks until nothing changes. Most registers live inside one block only, so
// just those that cross a block boundary take part in the iteration.
#include "ptx/pressure.h"

#include <algorithm>
#include <bit>

#include "ptx/blocks.h"

namespace warpbeam::ptx {

namespace {

// Beyond this the answer is "as many as there are" anyway, and the tables would be large.
constexpr uint64_t kMostBits = uint64_t(1) << 28;
constexpr uint32_t kWholeFile = 255;

struct Uses {
  std::vector<int> read, written;
};

void add_registers(const Operand& o, std::vector<int>& out) {
  if (o.reg >= 0) out.push_back(o.reg);
  for (const Operand& e : o.list) add_registers(e, out);
}

void collect(const Instruction& i, Uses& uses) {
  uses.read.clear();
  uses.written.clear();
  const bool writes = i.form.row->operands.list[0].written;
  for (size_t k = 0; k < i.operands.size(); ++k) {
    const Operand& o = i.operands[k];
    const bool written = k == 0 && writes;
    add_registers(o, written ? uses.written : uses.read);
    if (o.pair >= 0) uses.written.push_back(o.pair);
  }
  if (i.guard >= 0) {
    uses.read.push_back(i.guard);
    // Lanes that the guard leaves out keep the old value.
    uses.read.insert(uses.read.end(), uses.written.begin(), uses.written.end());
  }
}

// Registers per lane in 32-bit units; nothing for those an assembler keeps elsewhere.
std::vector<uint8_t> weights(const Function& f) {
  std::vector<uint8_t> weight(f.registers.size());
  for (size_t r = 0; r < f.registers.size(); ++r) {
    const isa::Type t = f.registers[r].type;
    weight[r] = t == isa::Type::Pred ? 0 : static_cast<uint8_t>(std::max(1, isa::bits_of(t) / 32));
  }
  std::vector<uint8_t> writes(f.registers.size());
  Uses uses;
  for (const Instruction& i : f.body) {
    collect(i, uses);
    for (int r : uses.written) writes[r] = static_cast<uint8_t>(std::min(2, writes[r] + 1));
  }
  // Copies and address conversions of such values are such values.
  for (const Instruction& i : f.body) {
    if (i.operands.size() < 2 || i.operands[0].kind != OperandKind::Register || i.guard >= 0 || writes[i.operands[0].reg] != 1) continue;
    const Operand& from = i.operands[1];
    const bool free_source =
        from.kind == OperandKind::Immediate || from.kind == OperandKind::Symbol ||
        (from.kind == OperandKind::Register && !from.address && weight[from.reg] == 0 && f.registers[from.reg].type != isa::Type::Pred);
    const bool parameter = f.entry && i.form.row->cls == isa::Class::Load && from.kind == OperandKind::Symbol &&
                           (i.form.mods.space == isa::Space::Param || i.form.mods.space == isa::Space::ParamEntry);
    const bool copies = i.form.row->kind == isa::Kind::Move || i.form.row->kind == isa::Kind::Address;
    if (parameter || (copies && free_source)) weight[i.operands[0].reg] = 0;
  }
  return weight;
}

class Liveness {
 public:
  explicit Liveness(const Function& f) : f_(f), blocks_(split_blocks(f)), weight_(weights(f)) { number_crossing(); }

  uint32_t most() {
    if (uint64_t(crosses_.size()) * blocks_.size() > kMostBits) return kWholeFile;
    live_.resize(f_.registers.size());
    words_ = static_cast<uint32_t>((crosses_.size() + 63) / 64);
    in_.assign(blocks_.size() * words_, 0);
    summarise();
    iterate();
    uint32_t most = 0;
    for (uint32_t b = 0; b < blocks_.size(); ++b) most = std::max(most, most_in(b));
    return most;
  }

 private:
  using Word = uint64_t;

  // A register that a block reads before writing it comes from another block.
  void number_crossing() {
    number_.assign(f_.registers.size(), -1);
    std::vector<uint32_t> written_in(f_.registers.size(), ~0u);
    Uses uses;
    for (uint32_t b = 0; b < blocks_.size(); ++b)
      for (uint32_t k = blocks_[b].begin; k < blocks_[b].end; ++k) {
        collect(f_.body[k], uses);
        for (int r : uses.read)
          if (weight_[r] && written_in[r] != b && number_[r] < 0) {
            number_[r] = static_cast<int>(crosses_.size());
            crosses_.push_back(r);
          }
        for (int r : uses.written) written_in[r] = b;
      }
  }

  void summarise() {
    reads_.assign(in_.size(), 0);
    kills_.assign(in_.size(), 0);
    Uses uses;
    for (uint32_t b = 0; b < blocks_.size(); ++b)
      for (uint32_t k = blocks_[b].begin; k < blocks_[b].end; ++k) {
        collect(f_.body[k], uses);
        for (int r : uses.read)
          if (number_[r] >= 0 && !test(kills_, b, number_[r])) set(reads_, b, number_[r]);
        for (int r : uses.written)
          if (number_[r] >= 0) set(kills_, b, number_[r]);
      }
  }

  void iterate() {
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t b = static_cast<uint32_t>(blocks_.size()); b-- > 0;)
        for (uint32_t w = 0; w < words_; ++w) {
          const Word now = reads_[b * words_ + w] | (live_out(b, w) & ~kills_[b * words_ + w]);
          changed |= now != in_[b * words_ + w];
          in_[b * words_ + w] = now;
        }
    }
  }
  Word live_out(uint32_t b, uint32_t w) const {
    Word out = 0;
    for (uint32_t s : blocks_[b].successors) out |= in_[s * words_ + w];
    return out;
  }

  uint32_t most_in(uint32_t b) {
    uint32_t now = 0, most = 0;
    std::vector<int> touched;
    const auto revive = [&](int r) {
      if (live_[r] || !weight_[r]) return;
      live_[r] = 1;
      now += weight_[r];
      touched.push_back(r);
    };
    for (uint32_t w = 0; w < words_; ++w)
      for (Word left = live_out(b, w); left; left &= left - 1) revive(crosses_[w * 64 + static_cast<uint32_t>(std::countr_zero(left))]);
    most = now;
    Uses uses;
    for (uint32_t k = blocks_[b].end; k-- > blocks_[b].begin;) {
      collect(f_.body[k], uses);
      // A result that nobody reads needs a place all the same.
      uint32_t unread = 0;
      for (int r : uses.written) {
        if (!live_[r]) unread += weight_[r];
        else live_[r] = 0, now -= weight_[r];
      }
      for (int r : uses.read) revive(r);
      most = std::max(most, now + unread);
    }
    for (int r : touched) live_[r] = 0;
    return most;
  }

  bool test(const std::vector<Word>& set, uint32_t b, int n) const {
    return set[b * words_ + static_cast<uint32_t>(n) / 64] >> (n % 64) & 1;
  }
  void set(std::vector<Word>& set, uint32_t b, int n) const { set[b * words_ + static_cast<uint32_t>(n) / 64] |= Word(1) << (n % 64); }

  const Function& f_;
  const std::vector<Block> blocks_;
  const std::vector<uint8_t> weight_;
  std::vector<int> number_;  // of a register that crosses blocks; -1 for the others
  uint32_t words_ = 0;
  std::vector<int> crosses_;  // the registers that do
  std::vector<Word> in_, reads_, kills_;  // by block, `words_` each
  std::vector<char> live_;
};

}  // namespace

uint32_t register_pressure(const Function& f) { return Liveness(f).most(); }

uint32_t estimate_registers(const Function& kernel, uint32_t pressure, bool calls, uint32_t max_per_thread, uint32_t per_block) {
  // Fitted to ptxas 13.0 for sm_90 on 329 kernels: the median difference to the pressure is 8.
  constexpr uint32_t kOwn = 8, kOwnWithCalls = 16, kStep = 2, kUnit = 8;
  uint32_t estimate = pressure + (calls ? kOwnWithCalls : kOwn);
  estimate = (estimate + kStep - 1) / kStep * kStep;
  uint32_t limit = max_per_thread;
  if (kernel.max_regs) limit = std::min(limit, std::max(kernel.max_regs, 16u));
  const uint64_t threads = uint64_t(std::max(1u, kernel.max_ntid[0])) * std::max(1u, kernel.max_ntid[1]) * std::max(1u, kernel.max_ntid[2]);
  if (kernel.max_ntid[0] && threads <= 1024) {
    const uint64_t warps = (threads + 31) / 32;
    const uint64_t fits = per_block / (warps * 32 * std::clamp(kernel.min_ctas, 1u, 32u)) / kUnit * kUnit;
    limit = static_cast<uint32_t>(std::min<uint64_t>(limit, std::max<uint64_t>(fits, 16)));
  }
  return std::min(estimate, limit);
}

}  // namespace warpbeam::ptx
