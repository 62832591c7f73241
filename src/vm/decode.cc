#include "vm/decode.h"

#include <algorithm>

#include "vm/decoder.h"

namespace warpbeam::vm {

using isa::Kind;

namespace {

Watched watched(const ptx::Instruction& i) {
  const isa::Row& row = *i.form.row;
  if (row.kind == Kind::Image) return Watched::Plain;
  if (row.cls == isa::Class::Load || row.cls == isa::Class::Store || row.cls == isa::Class::Atomic) return Watched::Memory;
  const bool block_barrier = row.kind == Kind::Barrier && !row.syntax.starts_with("bar.warp.sync");
  if (i.form.mods.sync && !block_barrier && row.kind != Kind::Misc) return Watched::WarpSync;
  if (row.kind == Kind::Barrier && !block_barrier) return Watched::WarpSync;
  switch (row.cls) {
    case isa::Class::Branch:
    case isa::Class::Call:
    case isa::Class::Barrier:
    case isa::Class::Fence:
    case isa::Class::Misc:
    case isa::Class::Copy: return Watched::Notable;
    default: return Watched::Plain;
  }
}

}  // namespace

void Decoder::run() {
  place_registers();
  place_locals();
  find_blocks();
  for (uint32_t b : order_) decode_block(b);
  finish();
}

uint32_t Decoder::label_at(const std::string& key) const {
  auto it = f_.labels.find(key);
  return it == f_.labels.end() ? 0 : it->second;
}

void Decoder::find_blocks() {
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
  find_spins();
  starts_.assign(blocks_.size(), kNoTarget);
}

void Decoder::find_meeting_places(const std::vector<std::vector<uint32_t>>& successors) {
  const size_t n = order_.size();
  constexpr size_t kNone = ~size_t(0);
  std::vector<size_t> loop_head(n, kNone);  // of what leads back from here, the furthest
  std::vector<uint32_t> predecessors(blocks_.size(), 0);
  for (uint32_t b : order_)
    for (uint32_t s : successors[b]) {
      ++predecessors[s];
      if (position_[s] <= position_[b]) loop_head[position_[b]] = std::min<size_t>(loop_head[position_[b]], position_[s]);
    }
  // For each place the nearest one from which a way leads back to it or to before it.
  std::vector<size_t> leads_back(n, kNone), open;
  for (size_t k = 0; k < n; ++k) {
    open.push_back(k);
    if (loop_head[k] == kNone) continue;
    for (; !open.empty() && open.back() >= loop_head[k]; open.pop_back()) leads_back[open.back()] = k;
  }
  meets_.assign(blocks_.size(), 0);
  for (size_t k = 0; k < n; ++k)
    for (uint32_t s : successors[order_[k]])
      if (predecessors[s] > 1 || (leads_back[k] != kNone && position_[s] > leads_back[k])) meets_[s] = 1;
  meets_[0] = predecessors[0] > 0;
}

void Decoder::decode_block(uint32_t b) {
  const uint32_t n = static_cast<uint32_t>(f_.body.size());
  const ptx::Block& block = blocks_[b];
  const uint32_t begin = block.begin, end = block.end;
  starts_[b] = static_cast<uint32_t>(code_.insns.size());
  static const ptx::Instruction kNone;
  if (meets_[b]) add(Step::Label, end > begin ? f_.body[begin] : (n ? f_.body[n - 1] : kNone));
  for (uint32_t k = begin; k < end; ++k) decode_instruction(f_.body[k], b);
  if (!block.falls) return;
  const ptx::Instruction* last = end > begin ? &f_.body[end - 1] : nullptr;
  const ptx::Instruction& source = last ? *last : (n ? f_.body[n - 1] : code_.inserted.emplace_back());
  if (end >= n && b + 1 >= blocks_.size()) {
    add(Step::Ret, source);
  } else if (position_[b] + 1 >= order_.size() || order_[position_[b] + 1] != b + 1) {
    Insn& j = add(Step::Jump, source);
    j.target = b + 1;  // a block number until finish()
    j.spin = position_[b + 1] <= position_[b] && spins_[b + 1];
    to_patch_.push_back(static_cast<uint32_t>(code_.insns.size() - 1));
  }
}

void Decoder::finish() {
  if (code_.insns.empty()) add(Step::Ret, code_.inserted.emplace_back());
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

void decode(FunctionCode& code, const Resolve& resolve, std::vector<ptx::Diagnostic>& errors) { Decoder(code, resolve, errors).run(); }

}  // namespace warpbeam::vm
