// What is computed only to be chosen or not is computed under the choice's condition.
//
// Idea: of `if (c) sum += x` LLVM makes a sum and a choice between it and what was before. The vendor's assembler computes the sum under a predicate,
// into the place of what was before; of two conditions that both must hold, the later comparison takes the other along for nothing.
// Precondition: nothing else needs the computed value, and what was before is not needed behind the choice. Postcondition: the same values, an instruction
// fewer for each choice (the copy that stands there until copies are joined takes none). Fallback: the choice stays.
#include <algorithm>
#include <utility>

#include "assembly/draft.h"
#include "assembly/liveness.h"

namespace warpbeam::assembly {
namespace {

class Chooser {
 public:
  explicit Chooser(DraftCode& code) : code_(code), live_(code), reads_(code.values.size()), writes_(code.values.size()) {
    for (const DraftBlock& b : code.blocks)
      for (const Draft& d : b.text) {
        for (Part p : d.reads)
          if (p) ++reads_[of(p)];
        for (Part p : d.writes)
          if (p) ++writes_[of(p)];
      }
  }

  void run() {
    for (uint32_t b = 0; b < code_.blocks.size(); ++b) {
      std::vector<Draft>& text = code_.blocks[b].text;
      if (std::ranges::none_of(text, [&](const Draft& d) { return is_choice(d); })) continue;
      gone_.assign(text.size(), 0);
      behind_.clear();
      for (size_t k = 0; k < text.size(); ++k)
        while (is_choice(text[k]) && both_hold(text, k)) {}
      for (size_t k = 0; k < text.size(); ++k)
        if (!gone_[k] && is_choice(text[k])) compute_under_condition(b, text, k);
      std::vector<Draft> made;
      made.reserve(text.size());
      size_t next = 0;
      for (size_t k = 0; k < text.size(); ++k) {
        if (!gone_[k]) made.push_back(text[k]);
        if (next < behind_.size() && behind_[next].first == k) made.push_back(behind_[next++].second);
      }
      text = std::move(made);
    }
  }

 private:
  static size_t of(Part p) { return static_cast<size_t>(p.value); }
  Bank bank(Part p) const { return code_.values[of(p)].bank; }

  // Between two registers.
  bool is_choice(const Draft& d) const {
    return d.operation == Operation::Compare && (d.mnemonic == "FSEL" || d.mnemonic == "SEL") && !d.guarded && d.reads[2] && !d.reads[3] &&
           bank(d.reads[0]) == Bank::General && bank(d.reads[1]) == Bank::General && bank(d.reads[2]) == Bank::Predicate &&
           d.writes[0].count == 1;
  }

  static bool touches(const std::array<Part, 5>& parts, Part p) {
    return std::ranges::any_of(parts, [&](Part q) { return q && q.value == p.value; });
  }

  // The one instruction that writes a value, if it stands in front of the block's `k`th.
  size_t writer(const std::vector<Draft>& text, size_t k, Part p) const {
    if (writes_[of(p)] != 1) return text.size();
    for (size_t w = k; w-- > 0;)
      if (!gone_[w] && (text[w].writes[0].value == p.value || text[w].writes[1].value == p.value)) return w;
    return text.size();
  }

  // p ? (q ? x : y) : y is both ? x : y.
  bool both_hold(std::vector<Draft>& text, size_t k) {
    const Draft outer = text[k];
    const size_t i = writer(text, k, outer.reads[0]);
    if (i == text.size() || !is_choice(text[i]) || reads_[of(outer.reads[0])] != 1 || text[i].reads[1] != outer.reads[1]) return false;
    const Draft inner = text[i];
    size_t first = writer(text, k, outer.reads[2]), second = writer(text, k, inner.reads[2]);
    if (first == text.size() || second == text.size() || first == second) return false;
    if (first > second) std::swap(first, second);
    Draft& later = text[second];
    const auto compares = [](const Draft& d) { return takes_predicate_along(d) && !d.writes[1] && d.mnemonic.ends_with("SETP"); };
    if (!compares(text[first]) || !compares(later) || reads_[of(later.writes[0])] != 1) return false;
    // What is chosen between must be the same in both places.
    for (size_t w = i; w < k; ++w)
      for (Part p : text[w].writes)
        if (p && (p.value == inner.reads[0].value || p.value == inner.reads[1].value)) return false;
    later.read(text[first].writes[0]);
    text[k].reads[0] = inner.reads[0];
    text[k].reads[2] = later.writes[0];
    --reads_[of(inner.reads[1])];
    gone_[i] = 1;
    return true;
  }

  static bool computes(const Draft& d) {
    using enum Operation;
    const bool does = d.operation == FloatAdd || d.operation == FloatMul || d.operation == FloatFma || d.operation == IntAdd ||
                      d.operation == IntMul || d.operation == Logic || d.operation == Shift;
    return does && d.order == Order::None && !d.guarded && !d.keeps && !d.pinned && !d.wall && !d.writes[1] && d.writes[0].count == 1 &&
           !d.reads[3];
  }

  // Whether a value is read behind the block's `k`th instruction as it is there.
  bool needed_behind(uint32_t b, const std::vector<Draft>& text, size_t k, Part p) const {
    for (size_t r = k + 1; r < text.size(); ++r) {
      if (touches(text[r].reads, p)) return true;
      if (text[r].writes[0] == p && !text[r].keeps) return false;
    }
    return std::ranges::find(live_.live_out[b], live_.first_word[of(p)] + p.first) != live_.live_out[b].end();
  }

  void compute_under_condition(uint32_t b, std::vector<Draft>& text, size_t k) {
    const Draft choice = text[k];
    for (int side : {0, 1}) {
      const Part made = choice.reads[static_cast<size_t>(side)], kept = choice.reads[static_cast<size_t>(1 - side)];
      if (made.value == kept.value || reads_[of(made)] != 1) continue;
      const size_t w = writer(text, k, made);
      if (w == text.size() || !computes(text[w]) || touches(text[w].reads, choice.reads[2]) || needed_behind(b, text, k, kept)) continue;
      const auto changed = [&](Part p) {
        for (size_t between = w + 1; between < k; ++between)
          for (Part q : text[between].writes)
            if (p && q && q.value == p.value) return true;
        return false;
      };
      if (std::ranges::any_of(text[w].reads, changed)) continue;
      Draft computed = text[w];
      computed.writes[0] = choice.writes[0];
      for (Part& p : computed.reads)
        if (p == kept) p = choice.writes[0];  // the same, from the copy on
      computed.read(choice.reads[2]);
      computed.guarded = computed.keeps = true;
      computed.negated = side == 1;
      Draft copy;
      copy.operation = Operation::Move;
      copy.mnemonic = "MOV";
      copy.copy = true;
      copy.ptx = choice.ptx;
      copy.reads[0] = kept;
      copy.writes[0] = choice.writes[0];
      ++writes_[of(choice.writes[0])];
      text[k] = copy;
      behind_.emplace_back(k, computed);
      gone_[w] = 1;
      return;
    }
  }

  DraftCode& code_;
  const Liveness live_;
  std::vector<uint32_t> reads_, writes_;  // of each value
  // Of the block at hand: what goes, and what comes behind which instruction.
  std::vector<char> gone_;
  std::vector<std::pair<size_t, Draft>> behind_;
};

}  // namespace

void predicate_choices(DraftCode& code) { Chooser(code).run(); }

}  // namespace warpbeam::assembly
