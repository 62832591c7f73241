// What loops compute anew in each turn from what stays the same.
//
// Idea: a division is one instruction of PTX and many of the machine, of which half concern the divisor alone. Where that stays the same
// in a loop, an assembler makes them before it, once for all divisions by it.
// Precondition: the value is written once, in a block that each turn goes through, from what the loop does not write; one block leads to
// the loop. Postcondition: the same values; what was made in the loop stands at the end of that block.
// Fallback: it stays where it is.
#include <algorithm>
#include <functional>

#include "assembly/draft.h"
#include "assembly/flow.h"

namespace warpbeam::assembly {
namespace {

class Hoister {
 public:
  Hoister(DraftCode& code, const ptx::Function& function, const Flow& flow)
      : code_(code), function_(function), flow_(flow), where_(code.values.size()) {
    for (uint32_t b = 0; b < code.blocks.size(); ++b)
      for (const Draft& d : code.blocks[b].text)
        for (Part p : d.writes)
          if (p) where_[static_cast<size_t>(p.value)].push_back(b);
  }

  void run(uint32_t header) {
    uint32_t before = kNoBlock;
    std::vector<uint32_t> latches;
    for (uint32_t p : flow_.predecessors()[header]) {
      if (flow_.in_loop(p, header)) {
        latches.push_back(p);
        continue;
      }
      if (before != kNoBlock) return;
      before = p;
    }
    if (before == kNoBlock || code_.blocks[before].folded_into >= 0) return;
    made_.clear();
    for (uint32_t b = 0; b < code_.blocks.size(); ++b)
      if (flow_.reached(b) && flow_.loop(b) == header && std::ranges::all_of(latches, [&](uint32_t l) { return flow_.dominates(b, l); }))
        take_from(b, before, header);
  }

 private:
  bool written_in(Part p, uint32_t header) const {
    return std::ranges::any_of(where_[static_cast<size_t>(p.value)], [&](uint32_t b) { return flow_.in_loop(b, header); });
  }

  bool moves(const Draft& d, uint32_t header) const {
    if (d.pinned || d.last || d.wall || d.guarded || d.keeps || d.access || d.order != Order::None || !d.writes[0]) return false;
    switch (d.operation) {  // made again for nothing, or not the same twice
      case Operation::Move:
      case Operation::Uniform:
      case Operation::LoadConst:
      case Operation::SpecialReg:
      case Operation::Clock: return false;
      default: break;
    }
    for (Part p : d.writes)
      if (p && where_[static_cast<size_t>(p.value)].size() != 1) return false;
    return std::ranges::none_of(d.reads, [&](Part p) { return p && written_in(p, header); });
  }

  // An earlier division's instruction that computes the same: of PTX that does the same, with the same numbers in its text.
  const Draft* made_already(const Draft& d) const {
    const auto of = [&](const Draft& draft) -> const ptx::Instruction& { return function_.body[draft.ptx]; };
    const auto numbers = [](const ptx::Instruction& i) {
      std::vector<uint64_t> found;
      for (const ptx::Operand& o : i.operands)
        if (o.kind == ptx::OperandKind::Immediate) found.push_back(o.imm);
      return found;
    };
    if (d.writes[1] || d.ptx >= function_.body.size()) return nullptr;
    const auto alike = [&](const Draft& m) {
      return m.operation == d.operation && m.mnemonic == d.mnemonic && m.reads == d.reads && m.writes[0].count == d.writes[0].count &&
             m.ptx != d.ptx && of(m).form.row == of(d).form.row && numbers(of(m)) == numbers(of(d));
    };
    const auto found = std::ranges::find_if(made_, alike);
    return found == made_.end() ? nullptr : &*found;
  }

  void replace(int32_t value, int32_t by) {
    for (DraftBlock& block : code_.blocks)
      for (Draft& d : block.text)
        for (Part& p : d.reads)
          if (p && p.value == value) p.value = by;
  }

  void take_from(uint32_t b, uint32_t before, uint32_t header) {
    std::vector<Draft>&from = code_.blocks[b].text, &to = code_.blocks[before].text;
    std::vector<Draft> stay;
    stay.reserve(from.size());
    for (Draft& d : from) {
      if (!moves(d, header)) {
        stay.push_back(d);
        continue;
      }
      for (Part p : d.writes)
        if (p) where_[static_cast<size_t>(p.value)] = {before};
      if (const Draft* const same = made_already(d)) {
        replace(d.writes[0].value, same->writes[0].value);
        continue;
      }
      made_.push_back(d);
      d.ptx = to.empty() ? code_.blocks[before].begin : to.back().ptx;
      to.insert(to.end() - (!to.empty() && to.back().last ? 1 : 0), d);
    }
    from = std::move(stay);
  }

  DraftCode& code_;
  const ptx::Function& function_;
  const Flow& flow_;
  std::vector<Draft> made_;                   // before the loop
  std::vector<std::vector<uint32_t>> where_;  // the block of each that writes a value
};

}  // namespace

void hoist(DraftCode& code, const ptx::Function& function) {
  Edges edges;
  for (const DraftBlock& b : code.blocks) edges.push_back(b.successors);
  const Flow flow(edges);
  std::vector<uint32_t> headers;
  for (uint32_t b = 0; b < code.blocks.size(); ++b)
    if (flow.reached(b) && flow.loop(b) == b) headers.push_back(b);
  if (headers.empty()) return;
  std::ranges::stable_sort(headers, std::greater<>(), [&](uint32_t h) { return flow.depth(h); });
  Hoister hoister(code, function, flow);
  for (uint32_t h : headers) hoister.run(h);
}

}  // namespace warpbeam::assembly
