// Which loops may wait for another thread: those whose end something decides that another thread can change.
#include <algorithm>

#include "isa/parameters.h"
#include "vm/decoder.h"

namespace warpbeam::vm {

using isa::Kind;
using isa::Space;
using ptx::Operand;
using ptx::OperandKind;

namespace {

// Texts with very many nested loops are not worth more instructions than this: their loops count as ones that wait.
constexpr size_t kMostVisits = 1u << 22;

template <class Visit>
void each_register(const Operand& o, const Visit& visit) {
  if (o.reg >= 0) visit(static_cast<size_t>(o.reg));
  if (o.pair >= 0) visit(static_cast<size_t>(o.pair));
  for (const Operand& e : o.list) each_register(e, visit);
}

bool of_one_thread(Space s) { return s == Space::Local || is_parameter(s); }

// Can a generic address be one of the thread's own memory?
bool passes_own_memory_on(const ptx::Function& f) {
  return !f.entry || std::any_of(f.locals.begin(), f.locals.end(), [](const ptx::Variable& v) { return v.space == Space::Local; }) ||
         std::any_of(f.body.begin(), f.body.end(), [](const ptx::Instruction& i) { return i.form.row->opcode == "alloca"; });
}

}  // namespace

// A function's blocks in the decoder's order, as all of its loops need them.
struct Loops {
  const ptx::Function& function;
  const bool own_is_generic;
  std::vector<const ptx::Block*> blocks;                 // by position
  std::vector<std::vector<uint32_t>> next;               // positions
  std::vector<std::pair<uint32_t, uint32_t>> mentioned;  // by register: the first and last position that names it
  size_t visits = 0;

  Loops(const ptx::Function& f, const std::vector<ptx::Block>& all, const std::vector<uint32_t>& order,
        const std::vector<uint32_t>& position)
      : function(f), own_is_generic(passes_own_memory_on(f)), next(order.size()), mentioned(f.registers.size(), {kNoTarget, 0}) {
    for (uint32_t p = 0; p < order.size(); ++p) {
      blocks.push_back(&all[order[p]]);
      for (uint32_t s : blocks[p]->successors) next[p].push_back(position[s]);
      const auto mention = [&](size_t r) { mentioned[r] = {std::min(mentioned[r].first, p), std::max(mentioned[r].second, p)}; };
      for (uint32_t k = blocks[p]->begin; k < blocks[p]->end; ++k) {
        if (f.body[k].guard >= 0) mention(static_cast<size_t>(f.body[k].guard));
        for (const Operand& o : f.body[k].operands) each_register(o, mention);
      }
    }
  }
};

namespace {

// One loop, from its head to the furthest block that leads back to it. What another thread can change, and what is
// computed from that, is foreign; so is what is written where a foreign decision led, if it is seen elsewhere.
class Loop {
 public:
  Loop(Loops& loops, uint32_t head, uint32_t latch, bool loads_change)
      : loops_(loops),
        head_(head),
        latch_(latch),
        loads_change_(loads_change),
        foreign_(loops.function.registers.size()),
        swayed_(latch + 1 - head),
        spread_(latch + 1 - head) {}

  bool ends_by_others() {
    for (changed_ = true; changed_;) {
      changed_ = false;
      for (uint32_t p = head_; p <= latch_; ++p) {
        const ptx::Block& block = *loops_.blocks[p];
        for (uint32_t k = block.begin; k < block.end; ++k) follow(loops_.function.body[k], p);
        if (leaves_by_others(p) || loops_.visits > kMostVisits) return true;
      }
    }
    return false;
  }

 private:
  bool inside(uint32_t p) const { return p >= head_ && p <= latch_; }

  bool reads_foreign(const ptx::Instruction& i, size_t from = 0) const {
    bool found = i.guard >= 0 && foreign_[static_cast<size_t>(i.guard)];
    for (size_t k = from; k < i.operands.size(); ++k) each_register(i.operands[k], [&](size_t r) { found = found || foreign_[r]; });
    return found;
  }

  bool may_be_own(Space s) const { return of_one_thread(s) || (s == Space::Generic && loops_.own_is_generic); }

  bool loads_foreign(const ptx::Instruction& i) const {
    if (i.form.row->cls != isa::Class::Load) return false;
    const Space space = i.form.mods.space;
    return (may_be_own(space) && own_memory_) || (!of_one_thread(space) && (loads_change_ || memory_));
  }

  void follow(const ptx::Instruction& i, uint32_t p) {
    ++loops_.visits;
    const bool swayed = swayed_[p - head_];
    if (i.form.row->cls == isa::Class::Store) {
      const Space space = i.form.mods.space;
      const bool is_foreign = reads_foreign(i, 1);
      if (may_be_own(space) && (is_foreign || swayed)) set(own_memory_);
      if (!of_one_thread(space) && is_foreign) set(memory_);
      return;
    }
    if (i.form.row->cls == isa::Class::Call && loads_change_) set(own_memory_);  // where its result is handed over
    if (i.operands.empty() || i.operands[0].address) return;
    const bool is_foreign = may_wait(i) || loads_foreign(i) || reads_foreign(i);
    each_register(i.operands[0], [&](size_t r) {
      if (!foreign_[r] && (is_foreign || (swayed && seen_elsewhere(r)))) set(foreign_[r]);
    });
  }

  bool seen_elsewhere(size_t r) const {
    const auto [first, last] = loops_.mentioned[r];
    if (first < head_ || last > latch_) return true;
    for (uint32_t p = first; p <= last; ++p)
      if (!swayed_[p - head_]) return true;
    return false;
  }

  bool leaves_by_others(uint32_t p) {
    const ptx::Block& block = *loops_.blocks[p];
    const std::vector<uint32_t>& next = loops_.next[p];
    const ptx::Instruction* last = block.end > block.begin ? &loops_.function.body[block.end - 1] : nullptr;
    if (last && !ptx::ends_block(*last)) last = nullptr;
    const bool decides = last && reads_foreign(*last);
    const bool ends = last && last->form.row->opcode != "bra" && last->form.row->opcode != "brx";
    const bool leaves = ends || std::any_of(next.begin(), next.end(), [&](uint32_t s) { return !inside(s); });
    if (leaves && (decides || swayed_[p - head_])) return true;
    if (decides && next.size() > 1 && !spread_[p - head_]) {
      spread_[p - head_] = true;
      sway(next);
    }
    return false;
  }

  // Marks the blocks between a branch and the place in the loop where its ways meet again. Without one: all behind it.
  void sway(const std::vector<uint32_t>& ways) {
    std::vector<char> between;
    uint32_t meeting = *std::min_element(ways.begin(), ways.end());
    while (!ways_meet(ways, meeting, between) && meeting != kNoTarget)
      meeting = meeting < latch_ && loops_.visits <= kMostVisits ? meeting + 1 : kNoTarget;
    for (size_t k = 0; k < swayed_.size(); ++k)
      if (between[k] && !swayed_[k]) set(swayed_[k]);
  }

  // Do all ways from `ways` on come to `meeting` before they go round or leave? `between`: where they pass.
  bool ways_meet(const std::vector<uint32_t>& ways, uint32_t meeting, std::vector<char>& between) {
    between.assign(swayed_.size(), 0);
    std::vector<uint32_t> open;
    bool escapes = false;
    const auto go = [&](uint32_t p) {
      if (p == meeting && p != head_) return;
      if (p == head_ || !inside(p)) {
        escapes = true;
      } else if (!between[p - head_]) {
        between[p - head_] = 1;
        open.push_back(p);
      }
    };
    for (uint32_t p : ways) go(p);
    while (!open.empty()) {
      ++loops_.visits;
      const uint32_t p = open.back();
      open.pop_back();
      for (uint32_t s : loops_.next[p]) go(s);
    }
    return !escapes;
  }

  void set(auto& flag) {
    if (!flag) changed_ = true;
    flag = true;
  }

  Loops& loops_;
  const uint32_t head_, latch_;
  const bool loads_change_;  // plain loads read anew what others may have written
  bool own_memory_ = false, memory_ = false, changed_ = false;
  std::vector<char> foreign_;  // by register
  std::vector<char> swayed_;   // by position in the loop
  std::vector<char> spread_;   // likewise: what the block's decision sways is known
};

}  // namespace

bool may_wait(const ptx::Instruction& i) {
  const isa::Row& row = *i.form.row;
  const isa::Sem sem = i.form.mods.sem;
  if (row.cls == isa::Class::Call) return i.operands[1].kind == OperandKind::Register;
  return row.kind == Kind::Atomic || row.kind == Kind::Misc || row.cls == isa::Class::Fence ||
         (row.kind == Kind::Memory && row.cls == isa::Class::Load && sem != isa::Sem::None && sem != isa::Sem::Weak);
}

bool Decoder::nobody_reads_result(const ptx::Instruction& i) const {
  if (i.form.row->kind != Kind::Atomic) return false;
  const auto unread = [&](const Operand& old) {
    return old.kind == OperandKind::Sink || (old.kind == OperandKind::Register && mentions_[old.reg] == 1);
  };
  const Operand& old = i.operands[0];
  return i.form.row->opcode != "atom" || (old.kind == OperandKind::Vector ? std::ranges::all_of(old.list, unread) : unread(old));
}

void Decoder::find_spins() {
  // Of all blocks before a position: how many instructions there are that
  struct Contents {
    uint32_t reads = 0;    // read what others do, and somebody reads it
    uint32_t changes = 0;  // keep the compiler from reading memory once for all rounds
    uint32_t calls = 0;    // call what may wait in itself
  };
  std::vector<Contents> before(order_.size() + 1);
  for (uint32_t p = 0; p < order_.size(); ++p) {
    const ptx::Block& block = blocks_[order_[p]];
    Contents& count = before[p + 1] = before[p];
    for (uint32_t k = block.begin; k < block.end; ++k) {
      const ptx::Instruction& i = f_.body[k];
      const isa::Row& row = *i.form.row;
      const bool blind = nobody_reads_result(i);
      count.changes += row.cls == isa::Class::Fence || row.kind == Kind::Misc || blind;
      count.reads += may_wait(i) && !blind;
      if (row.cls != isa::Class::Call) continue;
      count.calls += i.operands[1].kind == OperandKind::Register;
      if (i.operands[1].kind != OperandKind::Symbol) continue;
      const Resolved r = resolve_(i.operands[1].name);
      count.calls += r.kind == Resolved::Function && r.function->may_wait;
    }
  }
  std::vector<uint32_t> latch_of(order_.size(), kNoTarget);  // the furthest block that leads back here
  for (uint32_t p = 0; p < order_.size(); ++p)
    for (uint32_t s : blocks_[order_[p]].successors)
      if (position_[s] <= p) latch_of[position_[s]] = p;
  std::optional<Loops> loops;
  spins_.assign(blocks_.size(), 0);
  for (uint32_t head = 0; head < order_.size(); ++head) {
    if (latch_of[head] == kNoTarget) continue;
    const Contents &first = before[head], &end = before[latch_of[head] + 1];
    const bool calls = end.calls != first.calls, changes = end.changes != first.changes;
    if (!calls && !changes && end.reads == first.reads) continue;
    if (!loops) loops.emplace(f_, blocks_, order_, position_);
    spins_[order_[head]] = calls || loops->visits > kMostVisits || Loop(*loops, head, latch_of[head], changes).ends_by_others();
  }
}

}  // namespace warpbeam::vm
