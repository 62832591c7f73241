// Short branches become predicates: their blocks are executed by all lanes of the block before, under its condition.
#include <algorithm>
#include <span>

#include "assembly/draft.h"
#include "assembly/flow.h"
#include "assembly/liveness.h"

namespace warpbeam::assembly {
namespace {

// How many instructions under a condition are not jumped over. At first four, or seven where lanes probably part (programming guides of CUDA 1.0
// to 4.2; who computes with shared memory's words has fewer of them for the same work); of later devices it is what the vendor's assembler does.
struct Longest {
  size_t all = 14, with_stores = 14;
};
Longest longest_for(const Target& target) {
  return is_first_generation(target) ? Longest{4, 4} : target.cc < 50 ? Longest{7, 7} : Longest{};
}

class Folder {
 public:
  Folder(DraftCode& code, const Target& target) : code_(code), longest_(longest_for(target)) {}

  void run() {
    defined_.assign(code_.values.size(), kNobody);
    for (uint32_t b = 0; b < code_.blocks.size(); ++b)
      for (const Draft& d : code_.blocks[b].text)
        for (Part p : d.writes)
          if (p) {
            uint32_t& who = defined_[static_cast<size_t>(p.value)];
            who = who == kNobody || who == b ? b : kSeveral;
          }
    for (uint32_t b = static_cast<uint32_t>(code_.blocks.size()); b-- > 0;)
      while (fold_at(b)) {}
  }

 private:
  static constexpr uint32_t kNobody = ~0u, kSeveral = ~0u - 1;

  DraftBlock& block(uint32_t b) { return code_.blocks[b]; }

  bool foldable(uint32_t b, uint32_t from) {
    DraftBlock& x = block(b);
    if (b == from || b == 0 || x.predecessors.size() != 1 || x.predecessors[0] != from || x.successors.size() != 1 || x.successors[0] == b)
      return false;
    if (x.text.size() > longest_.all) return false;
    for (const Draft& d : x.text)
      if (d.order == Order::Store && x.text.size() > longest_.with_stores) return false;
    for (const Draft& d : x.text) {
      // Stores under a condition of their own are jumped over where no lane came here (`if (i < n && s[i] > s[i + 1])` around a swap).
      if (d.guarded && !d.wall && d.order != Order::Store && compared_in(x, d.last_read()))
        continue;  // it holds for lanes that came here alone
      if (d.guarded || d.wall || d.order == Order::Barrier || d.reads.back()) {
        if (&d == &x.text.back() && d.operation == Operation::Branch && !d.guarded) continue;
        return false;
      }
      if (d.operation == Operation::AtomicGlobal || d.operation == Operation::Barrier || is_call(d.operation) ||
          d.operation == Operation::Vote || d.operation == Operation::Shuffle || d.operation == Operation::Match ||
          d.operation == Operation::Redux || d.operation == Operation::Converge)
        return false;
    }
    return true;
  }

  static bool compares(const Draft& d, Part predicate) { return takes_predicate_along(d) && d.writes[0].value == predicate.value; }
  static bool compared_in(const DraftBlock& x, Part predicate) {
    return std::ranges::any_of(x.text, [&](const Draft& d) { return compares(d, predicate); });
  }

  void take(uint32_t b, uint32_t into, Part guard, bool negated, const std::vector<Draft>* other_side) {
    DraftBlock &x = block(b), &to = block(into);
    for (Draft d : x.text) {
      if (d.operation == Operation::Branch) continue;
      const bool guards = std::ranges::any_of(x.text, [&](const Draft& o) { return o.guarded && compares(d, o.last_read()); });
      if (d.guarded || guards) {
        if (guards) d.read(guard);
        to.text.push_back(d);
        continue;
      }
      bool keeps = false;
      for (Part p : d.writes)
        if (p) {
          uint32_t& who = defined_[static_cast<size_t>(p.value)];
          keeps = keeps || who != b;
          who = who == b ? b : who;
        }
      // Both sides write it: nothing from before is left.
      if (keeps && other_side)
        for (const Draft& o : *other_side)
          if (o.writes[0] && o.writes[0].value == d.writes[0].value) keeps = false;
      d.guarded = true;
      d.negated = negated;
      d.keeps = keeps;
      d.copy = false;
      d.read(guard);
      to.text.push_back(d);
    }
    x.text.clear();
    x.folded_into = static_cast<int32_t>(into);
    x.predecessors.clear();
  }

  bool fold_at(uint32_t b) {
    DraftBlock& x = block(b);
    if (x.folded_into >= 0 || x.text.empty() || x.successors.size() != 2) return false;
    const Draft branch = x.text.back();
    if (branch.operation != Operation::Branch || !branch.guarded || branch.mnemonic != "BRA") return false;
    const uint32_t next = x.successors[0], target = x.successors[1];
    if (next == target) return false;
    const Part guard = branch.last_read();
    if (!guard) return false;
    // Leaving needs no jump.
    const auto leaves = [&](uint32_t e) {
      return block(e).text.size() == 1 && block(e).text[0].operation == Operation::Exit && !block(e).text[0].guarded && e != b;
    };
    if (leaves(target)) {
      x.text.back().operation = Operation::Exit;
      x.text.back().mnemonic = "EXIT";
      return false;
    }
    if (foldable(next, b) && block(next).successors[0] == target) {
      const std::vector<uint32_t> successors{target};
      x.text.pop_back();
      take(next, b, guard, !branch.negated, nullptr);
      x.successors = successors;
      std::erase(block(target).predecessors, next);
      return true;
    }
    if (foldable(target, b) && block(target).successors[0] == next) {
      x.text.pop_back();
      take(target, b, guard, branch.negated, nullptr);
      x.successors = {next};
      std::erase(block(next).predecessors, target);
      return true;
    }
    if (foldable(next, b) && foldable(target, b) && block(next).successors[0] == block(target).successors[0] &&
        block(next).text.size() + block(target).text.size() <= longest_.all + 2) {
      const uint32_t join = block(next).successors[0];
      x.text.pop_back();
      take(next, b, guard, !branch.negated, &block(target).text);
      take(target, b, guard, branch.negated, nullptr);
      x.successors = {join};
      std::erase(block(join).predecessors, next);
      std::erase(block(join).predecessors, target);
      block(join).predecessors.push_back(b);
      return true;
    }
    return false;
  }

  DraftCode& code_;
  const Longest longest_;
  std::vector<uint32_t> defined_;
};

}  // namespace

void fold_short_branches(DraftCode& code, const Target& target) { Folder(code, target).run(); }

// Blocks that always follow each other are one: texts have labels that nobody jumps to.
void join_blocks(DraftCode& code) {
  for (uint32_t b = 0; b < code.blocks.size(); ++b) {
    DraftBlock& x = code.blocks[b];
    if (x.folded_into >= 0) continue;
    while (x.successors.size() == 1) {
      const uint32_t next = x.successors[0];
      DraftBlock& y = code.blocks[next];
      if (next == b || next == 0 || y.predecessors.size() != 1 || y.folded_into >= 0) break;
      if (!x.text.empty() && x.text.back().last) {
        if (x.text.back().operation != Operation::Branch || x.text.back().guarded) break;
        x.text.pop_back();
      }
      x.text.insert(x.text.end(), y.text.begin(), y.text.end());
      y.text.clear();
      y.folded_into = static_cast<int32_t>(b);
      x.successors = std::move(y.successors);
      y.successors.clear();
      y.predecessors.clear();
      for (uint32_t s : x.successors) std::ranges::replace(code.blocks[s].predecessors, next, b);
    }
  }
}

// A branch over a jump is the opposite branch.
void straighten(DraftCode& code) {
  for (uint32_t b = 0; b < code.blocks.size(); ++b) {
    DraftBlock& x = code.blocks[b];
    if (x.successors.size() != 2 || x.text.empty() || x.text.back().operation != Operation::Branch || !x.text.back().guarded ||
        x.folded_into >= 0)
      continue;
    const uint32_t next = x.successors[0];
    DraftBlock& y = code.blocks[next];
    const bool only_jumps = y.text.empty() || (y.text.size() == 1 && y.text[0].operation == Operation::Branch && !y.text[0].guarded);
    if (next == b || !only_jumps || y.successors.size() != 1 || y.predecessors.size() != 1) continue;
    const uint32_t to = y.successors[0];
    if (to == x.successors[1] || to == next) continue;
    x.text.back().negated = !x.text.back().negated;
    x.successors = {x.successors[1], to};
    y.text.clear();
    y.folded_into = static_cast<int32_t>(b);
    y.successors.clear();
    y.predecessors.clear();
    std::ranges::replace(code.blocks[to].predecessors, next, b);
  }
}

// What a loop only leaves behind is written where it is left, not each turn.
void sink_copies(DraftCode& code) {
  Edges edges;
  for (const DraftBlock& b : code.blocks) edges.push_back(b.successors);
  const Flow flow(edges);
  bool any = false;
  for (uint32_t b = 0; b < code.blocks.size(); ++b) any = any || flow.depth(b) > 0;
  if (!any) return;
  const Liveness live(code);
  std::vector<std::vector<Draft>> fronts(code.blocks.size());
  for (uint32_t b = 0; b < code.blocks.size(); ++b) {
    DraftBlock& x = code.blocks[b];
    const uint32_t loop = flow.loop(b);
    if (loop == kNoBlock || x.successors.size() != 2 || !flow.reached(b)) continue;
    const bool first_leaves = !flow.in_loop(x.successors[0], loop), second_leaves = !flow.in_loop(x.successors[1], loop);
    if (first_leaves == second_leaves) continue;
    const uint32_t out = x.successors[first_leaves ? 0 : 1], in = x.successors[first_leaves ? 1 : 0];
    for (size_t k = x.text.size(); k-- > 0;) {
      const Draft d = x.text[k];
      if (d.operation != Operation::Move || d.guarded || d.pinned || !d.writes[0] || d.writes[0].count != 1 || d.mnemonic != "MOV")
        continue;
      const uint32_t w = live.first_word[static_cast<size_t>(d.writes[0].value)] + d.writes[0].first;
      bool known = false;
      for (const Draft& o : fronts[out])
        known = known || (o.writes[0].value == d.writes[0].value && o.writes[0].first == d.writes[0].first);
      bool moves = known || !live.live_in(code, in, w);
      for (size_t later = k + 1; moves && later < x.text.size(); ++later)
        for (const auto& parts : {std::span<const Part>(x.text[later].reads), std::span<const Part>(x.text[later].writes)})
          for (Part p : parts)
            moves = moves && p.value != d.writes[0].value &&
                    (!d.reads[0] || p.value != d.reads[0].value || parts.size() == x.text[later].reads.size());
      if (!moves) continue;
      if (!known) fronts[out].push_back(d);
      x.text.erase(x.text.begin() + static_cast<long>(k));
    }
  }
  for (uint32_t b = 0; b < code.blocks.size(); ++b)
    code.blocks[b].text.insert(code.blocks[b].text.begin(), fronts[b].begin(), fronts[b].end());
}

// Lanes that part at a branch meet again: the branch is announced (BSSY) and the meeting point waits (BSYNC); on Fermi and Kepler what stands
// there is marked instead. Lanes that meet only to leave need neither.
void mark_meetings(DraftCode& code, const Target& target) {
  const bool waits = target.cc >= 70;
  if (is_first_generation(target) || (!waits && target.cc >= 50)) return;
  Edges edges;
  for (const DraftBlock& b : code.blocks) edges.push_back(b.successors);
  const Flow flow(edges);
  std::vector<char> meets(code.blocks.size());
  const auto leaves = [&](uint32_t b) {
    for (int steps = 0; steps < 4; ++steps) {
      const DraftBlock& x = code.blocks[b];
      if (x.successors.empty()) return x.text.size() <= 1;
      if (x.successors.size() > 1 || !x.text.empty()) return false;
      b = x.successors[0];
    }
    return false;
  };
  for (uint32_t b = 0; b < code.blocks.size(); ++b) {
    const std::vector<Draft>& text = code.blocks[b].text;
    if (code.blocks[b].successors.size() < 2 || text.empty() || !flow.reached(b)) continue;
    const Draft& branch = text.back();
    if (branch.operation != Operation::Branch || !branch.guarded || branch.together) continue;
    const uint32_t meeting = flow.post_dominator(b);
    if (meeting == kNoBlock || leaves(meeting)) continue;
    const uint32_t loop = flow.loop(b);
    const bool leaves_loop = loop != kNoBlock && !flow.in_loop(meeting, loop);
    const uint32_t announce = leaves_loop ? flow.dominator(loop) : b;
    if (announce == kNoBlock || meets[meeting]) continue;
    meets[meeting] = 1;
    Draft d;
    d.operation = Operation::Converge;
    d.mnemonic = waits ? "BSSY" : "SSY";
    d.pinned = true;
    DraftBlock& there = code.blocks[announce];
    d.ptx = there.end > there.begin ? there.end - 1 : there.begin;
    there.text.insert(there.text.end() - (there.text.empty() || !there.text.back().last ? 0 : 1), d);
    if (!waits) continue;
    d.mnemonic = "BSYNC";
    d.wall = true;
    d.ptx = code.blocks[meeting].begin;
    code.blocks[meeting].text.insert(code.blocks[meeting].text.begin(), d);
  }
}

}  // namespace warpbeam::assembly
