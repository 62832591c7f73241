// Loops of one block are repeated a few times when they are short, so that the loads of several turns are on their way
// together, and what counts turns is done once for all of them. `.pragma "nounroll"` says where not; clang writes it into
// what is left over of loops that it has repeated itself.
//
// How short: found with ptxas 13.0 by the registers that loops take which load and add and do something else besides.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "assembly/liveness.h"

namespace warpbeam::assembly {
namespace {

constexpr uint32_t kTurns = 4, kOne = 4, kLongest = 51 * kOne;

// In quarters of an instruction.
uint32_t weight_of(const Draft& d) {
  if (d.mnemonic.ends_with(".X")) return 0;
  switch (d.operation) {
    case Operation::LoadGlobal:
    case Operation::StoreGlobal:
    case Operation::StoreShared: return 2 * kOne;
    case Operation::LoadShared: return kOne / 4;
    default: return d.guarded && !d.last ? 2 * kOne : kOne;
  }
}

class Unroller {
 public:
  Unroller(DraftCode& code, const ptx::Function& f) : code_(code), f_(f) {}

  void run() {
    const size_t blocks = code_.blocks.size();
    std::vector<uint32_t> loops;
    for (uint32_t b = 0; b < blocks; ++b)
      if (worth_it(b)) loops.push_back(b);
    if (loops.empty()) return;
    const Liveness live(code_);
    crosses_.assign(code_.values.size(), 0);
    std::vector<uint32_t> value_of(live.segments.size());
    for (size_t v = 0; v < live.first_word.size(); ++v)
      for (uint32_t k = 0; k < code_.values[v].words; ++k) value_of[live.first_word[v] + k] = static_cast<uint32_t>(v);
    for (const auto& words : live.live_out)
      for (uint32_t w : words) crosses_[value_of[w]] = 1;
    for (uint32_t b : loops) repeat(b);
  }

 private:
  bool worth_it(uint32_t b) const {
    const DraftBlock& x = code_.blocks[b];
    // Of loops that end in a branch over a jump ptxas leaves those as they are whose branch goes to what stands right behind it. It is clang that
    // writes such loops; nvcc's, whose times are predicted, end in the branch alone and are repeated.
    if (x.text.empty() || std::ranges::find(x.successors, b) == x.successors.end()) return false;
    for (uint32_t at : f_.nounroll)
      if (at >= x.begin && at < std::max(x.end, x.begin + 1)) return false;
    for (const Draft& d : x.text) {
      if (d.wall && !d.last) return false;
      if (is_call(d.operation) || d.operation == Operation::WaitAsync || d.operation == Operation::Mbarrier ||
          (d.guarded && d.operation == Operation::Exit))
        return false;
    }
    return weight_of(x.text) <= kLongest && x.text.back().operation == Operation::Branch;
  }

  static uint32_t weight_of(const std::vector<Draft>& text) {
    uint32_t weight = 0;
    for (const Draft& d : text) weight += assembly::weight_of(d);
    return weight;
  }

  // Four turns that the front end has made of one (what is left over of them is another loop) become sixteen if they are short: without what loads,
  // as that is what it is done for, or at all where nothing does.
  static bool short_enough_again(const std::vector<Draft>& text) {
    constexpr size_t kWithLoads = 32, kWithout = 21;
    const auto loads = static_cast<size_t>(std::ranges::count_if(text, is_load));
    return text.size() - loads <= (loads ? kWithLoads : kWithout);
  }

  static bool is_load(const Draft& d) { return d.operation == Operation::LoadGlobal || d.operation == Operation::LoadShared; }

  // Does a load go by what another one has brought? Four such turns of the front end's are under way together, and then the next four: all sixteen would
  // take more registers than the places that they wait for leave. (Sums over rows of a sparse matrix on an H200: 88 cycles an element.)
  static bool loads_by_loads(const std::vector<Draft>& text) {
    std::vector<int32_t> brought;
    for (const Draft& d : text) {
      const auto is_brought = [&](Part p) { return p && std::ranges::find(brought, p.value) != brought.end(); };
      if (is_load(d) && is_brought(d.reads[0])) return true;
      if (is_load(d) || std::ranges::any_of(d.reads, is_brought))
        for (Part p : d.writes)
          if (p) brought.push_back(p.value);
    }
    return false;
  }

  // Loops that count by two in long words are those that clang has made two bodies of. nvcc's front end makes four: of these the
  // assembler makes four more if they are short.
  static uint32_t turns_of(const std::vector<Draft>& text, int64_t long_step) {
    if (long_step != 2) return kTurns;
    return 2 * weight_of(text) <= kLongest ? 2 * kTurns : 2;
  }

  // `v = v + number`, once in the block. What it adds in a turn.
  struct Step {
    size_t at;
    int64_t by;
  };

  // Whether it goes on follows from a value to which a number is added each turn, and from nothing else that changes.
  bool counted(const std::vector<Draft>& text, const std::unordered_map<int32_t, Step>& steps,
               const std::unordered_map<int32_t, int>& writes, int64_t& by, int64_t& long_step, isa::Type& type) const {
    bool found = false;
    std::vector<int32_t> asked{text.back().last_read().value};
    for (size_t k = text.size() - 1; k-- > 0;) {
      const Draft& d = text[k];
      if (!d.writes[0] || std::ranges::find(asked, d.writes[0].value) == asked.end()) continue;
      if (d.operation != Operation::Compare || d.mnemonic.starts_with("F") || d.guarded) return false;
      for (Part p : d.reads) {
        if (!p || !writes.contains(p.value)) continue;
        auto s = steps.find(p.value);
        if (s == steps.end())  // the lower half of a longer count
          for (const Draft& copy : text)
            if (copy.operation == Operation::Move && copy.writes[0].value == p.value && copy.reads[0] && !copy.reads[1])
              s = steps.find(copy.reads[0].value);
        if (s != steps.end()) {
          by = s->second.by;
          if (d.ptx < f_.body.size()) type = f_.body[d.ptx].form.type;
          if (code_.values[static_cast<size_t>(s->first)].words == 2) long_step = by;
          if (!by) return false;
          found = true;
        } else if (code_.values[static_cast<size_t>(p.value)].bank == Bank::Predicate) {
          asked.push_back(p.value);
        } else {
          return false;
        }
      }
    }
    return found;
  }

  // What the sum in this block adds, if its second operand has been set to a number on every way to it (`i += warpSize`).
  std::optional<int64_t> number_added(const Draft& sum, uint32_t b) const {
    if (sum.ptx >= f_.body.size()) return std::nullopt;
    const ptx::Instruction& i = f_.body[sum.ptx];
    if (i.form.row->opcode != "add" || i.operands[2].kind != ptx::OperandKind::Register) return std::nullopt;
    return number_in(i.operands[2].reg, b, true);
  }

  // Who sets a register: blocks and places in the PTX, found once.
  const std::vector<std::pair<uint32_t, uint32_t>>& set_by(int reg) const {
    if (set_by_.empty()) {
      set_by_[-1];
      for (uint32_t k = 0; k < code_.blocks.size(); ++k)
        for (uint32_t at = code_.blocks[k].begin; code_.blocks[k].repeats < 0 && at < code_.blocks[k].end; ++at)
          if (const ptx::Instruction& o = f_.body[at]; !o.operands.empty() && o.operands[0].kind == ptx::OperandKind::Register)
            set_by_[o.operands[0].reg].emplace_back(k, at);
    }
    return set_by_[reg];
  }

  // `further`: a number that another register has been set to counts, too.
  std::optional<int64_t> number_in(int reg, uint32_t b, bool further) const {
    std::optional<int64_t> number;
    uint32_t set = 0;
    std::vector<uint32_t> ways;  // from where it is set to something else
    for (const auto& [k, at] : set_by(reg))
      if (const auto n = number ? std::nullopt : number_of(f_.body[at], k, further)) number = n, set = k;
      else if (!number || k != set) ways.push_back(k);
      else ways.insert(ways.end(), code_.blocks[k].successors.begin(), code_.blocks[k].successors.end());
    if (!number) return std::nullopt;
    std::vector<char> seen(code_.blocks.size());
    while (!ways.empty()) {
      const uint32_t k = ways.back();
      ways.pop_back();
      if (k == b) return std::nullopt;
      if (std::exchange(seen[k], 1) || k == set) continue;
      for (uint32_t next : code_.blocks[k].successors) ways.push_back(next);
    }
    return number;
  }

  // A number that is moved to a register, or the larger of two.
  std::optional<int64_t> number_of(const ptx::Instruction& i, uint32_t b, bool further) const {
    const std::string_view op = i.form.row->opcode;
    if (i.guard >= 0 || (op != "mov" && op != "max")) return std::nullopt;
    if (op == "mov")
      return i.operands[1].kind == ptx::OperandKind::Immediate ? std::optional(static_cast<int64_t>(i.operands[1].imm)) : std::nullopt;
    if (!further || i.operands[1].kind != ptx::OperandKind::Register || i.operands[2].kind != ptx::OperandKind::Immediate ||
        isa::is_float(i.form.type))
      return std::nullopt;
    const auto left = number_in(i.operands[1].reg, b, false);
    return left ? std::optional(std::max(*left, static_cast<int64_t>(i.operands[2].imm))) : std::nullopt;
  }

  void repeat(uint32_t b) {
    const std::vector<Draft> text = code_.blocks[b].text;
    std::unordered_map<int32_t, int> writes;
    for (const Draft& d : text)
      for (Part p : d.writes)
        if (p) writes[p.value] += p.count;
    std::unordered_map<int32_t, Step> steps;
    std::vector<char> counting(text.size());
    for (size_t k = 0; k < text.size(); ++k) {
      const Draft& d = text[k];
      if (d.mnemonic != "IADD3" && d.mnemonic != "UIADD3") continue;
      if (d.guarded || !d.writes[0] || d.reads[0].value != d.writes[0].value || d.reads[0].first != d.writes[0].first) continue;
      const std::optional<int64_t> number = number_added(d, b);
      if (d.reads[1] && !number) continue;
      if (writes[d.writes[0].value] > code_.values[static_cast<size_t>(d.writes[0].value)].words) continue;
      const ptx::Instruction* i = d.ptx < f_.body.size() ? &f_.body[d.ptx] : nullptr;
      int64_t by = number.value_or(0);
      if (!number && i && i->form.row->opcode == "add" && i->operands[2].kind == ptx::OperandKind::Immediate)
        by = static_cast<int64_t>(i->operands[2].imm);
      steps[d.writes[0].value] = {k, by};
    }
    int64_t by = 0, long_step = 0;
    isa::Type type = isa::Type::S32;
    if (!counted(text, steps, writes, by, long_step, type)) return;
    // Each four of them make their addresses anew (the instructions of a turn, counted on an H200).
    const bool again = !f_.nounroll.empty() && by % kTurns == 0;
    if (again && !short_enough_again(text)) return;
    const uint32_t turns = turns_of(text, long_step);
    // Sums of such variables and of what does not change, as which addresses are made: they differ by a number from turn to turn, too.
    std::vector<char> once(text.size());
    std::unordered_map<int32_t, std::pair<int64_t, std::vector<int32_t>>> sums;  // by how much, and of which variables
    const auto is_sum = [&](int32_t v, std::vector<int32_t>& of) {
      if (crosses_[static_cast<size_t>(v)] || steps.contains(v)) return false;
      for (const Draft& d : text) {
        for (size_t r = 0; r < d.reads.size(); ++r)
          if (d.reads[r].value == v && (d.order == Order::None || r != 0)) return false;
        if (std::ranges::none_of(d.writes, [&](Part p) { return p.value == v; })) continue;
        // (An index of 32 bits may begin again at the other end of its numbers: IMAD.WIDE is made anew.)
        if (d.guarded || !(d.mnemonic == "IADD3" || d.mnemonic == "IADD3.X" || d.mnemonic == "LEA")) return false;
        for (Part p : d.reads)
          if (steps.contains(p.value)) of.push_back(p.value);
          else if (p && writes.contains(p.value) && code_.values[static_cast<size_t>(p.value)].bank != Bank::Predicate) return false;
      }
      return !of.empty();
    };
    for (const Draft& d : text)
      if (!again && d.order != Order::None && d.reads[0] && writes.contains(d.reads[0].value))
        if (std::vector<int32_t> of; is_sum(d.reads[0].value, of)) {
          int64_t by = 0;
          for (int32_t v : of) by = std::max<int64_t>(by, steps.at(v).by);
          sums[d.reads[0].value] = {by, of};
        }
    std::vector<int32_t> fit;
    const auto writes_one = [](const Draft& d, const auto& which) {
      return std::ranges::any_of(d.writes, [&](Part p) { return p && which(p.value); });
    };
    for (const auto& [v, step] : steps) {
      // Everybody else must be able to take the difference into an address, or be the count of turns.
      bool fits = true;
      for (size_t k = 0; k < text.size(); ++k) {
        const Draft& d = text[k];
        if (k == step.at || (d.mnemonic == "IADD3.X" && writes_one(d, [&](int32_t w) { return w == v; }))) continue;
        for (size_t r = 0; r < d.reads.size(); ++r) {
          if (d.reads[r].value != v) continue;
          const bool address = d.order != Order::None && r == 0 && d.operation != Operation::Shuffle;
          const bool count = d.writes[0] && code_.values[static_cast<size_t>(d.writes[0].value)].bank == Bank::Predicate &&
                             !crosses_[static_cast<size_t>(d.writes[0].value)];
          const bool sum = step.by && writes_one(d, [&](int32_t w) { return sums.contains(w); });
          const bool half = d.operation == Operation::Move && !d.guarded && std::ranges::none_of(text, [&](const Draft& o) {
                              return o.operation != Operation::Compare &&
                                     std::ranges::any_of(o.reads, [&](Part p) { return p && p.value == d.writes[0].value; });
                            });
          fits = fits && ((address && !again) || count || sum || half);
        }
      }
      if (!fits) continue;
      fit.push_back(v);
      for (size_t k = 0; k < text.size(); ++k) {
        for (Part p : text[k].writes) counting[k] |= p.value == v;
        if (text[k].operation == Operation::Move && text[k].reads[0].value == v) counting[k] = 1;
      }
    }
    std::erase_if(sums, [&](const auto& sum) {
      return std::ranges::any_of(sum.second.second, [&](int32_t v) { return std::ranges::find(fit, v) == fit.end(); });
    });
    // Numbers are the same in each turn.
    const auto same = [&](int32_t v) {
      return sums.contains(v) || (!crosses_[static_cast<size_t>(v)] && std::ranges::none_of(text, [&](const Draft& d) {
               return (d.reads[0] || d.pinned || d.keeps) && writes_one(d, [&](int32_t w) { return w == v; });
             }));
    };
    std::unordered_map<int32_t, bool> stays;
    for (const auto& [v, times] : writes) stays[v] = same(v);
    for (size_t k = 0; k < text.size(); ++k) once[k] = writes_one(text[k], [&](int32_t w) { return stays[w]; });

    DraftBlock more;
    more.begin = code_.blocks[b].begin;
    more.end = code_.blocks[b].end;
    more.successors = code_.blocks[b].successors;
    more.text.reserve(text.size() * turns);
    std::unordered_map<int32_t, int32_t> renamed, first;
    const bool apart = again && loads_by_loads(text);
    for (uint32_t turn = 0; turn < turns; ++turn) {
      renamed.clear();
      bool begins = apart && turn;
      for (size_t k = 0; k < text.size(); ++k) {
        if ((turn + 1 < turns && (counting[k] || text[k].last)) || (turn && once[k])) continue;
        Draft d = text[k];
        const auto rename = [&](Part& p) {
          if (!p || crosses_[static_cast<size_t>(p.value)]) return;
          auto [it, fresh] = (stays[p.value] ? first : renamed).try_emplace(p.value, 0);
          if (fresh) {
            const Value v = code_.values[static_cast<size_t>(p.value)];
            it->second = code_.new_value(v.bank, v.words);
          }
          p.value = it->second;
        };
        for (Part& p : d.reads) rename(p);
        for (Part& p : d.writes) rename(p);
        if (d.order != Order::None) {
          if (const auto s = steps.find(text[k].reads[0].value); s != steps.end() && counting[s->second.at])
            d.offset += s->second.by * turn;
          else if (const auto sum = sums.find(text[k].reads[0].value); sum != sums.end())
            d.offset += std::max<int64_t>(sum->second.first, d.bytes) * turn;
        }
        if (begins && is_load(d)) d.wall = true, begins = false;
        more.text.push_back(d);
      }
    }
    remove_dead(more.text);
    const uint32_t number = static_cast<uint32_t>(code_.blocks.size());
    // The way in is as to the loop itself, so that what is live is live there too.
    code_.blocks[b].successors.push_back(number);
    more.successors.push_back(number);
    more.repeats = static_cast<int32_t>(b);
    more.own_addresses = again;
    code_.blocks[b].turns = turns;
    count_turns_before(b, type);
    code_.blocks.push_back(std::move(more));
    crosses_.resize(code_.values.size());
  }

  // Before the first turn it is found out how many there are of them. What that takes beyond the loop's own comparison was counted on an H200, by
  // loops of 1 to 64 turns.
  void count_turns_before(uint32_t b, isa::Type type) {
    const bool is_long = isa::bits_of(type) == 64, is_signed = isa::is_signed(type);
    const int count = is_long ? (is_signed ? 16 : 28) : is_signed ? 0 : 16;
    DraftBlock* before = nullptr;
    for (uint32_t k = 0; k < code_.blocks.size(); ++k) {
      DraftBlock& x = code_.blocks[k];
      if (k == b || x.repeats >= 0 || std::ranges::find(x.successors, b) == x.successors.end()) continue;
      if (before) return;
      before = &x;
    }
    if (!before) return;
    auto at = before->text.end();
    if (at != before->text.begin() && std::prev(at)->last) --at;
    Part last;
    std::vector<Draft> text;
    for (int k = 0; k < count; ++k) {
      Draft d;
      d.operation = Operation::IntAdd, d.mnemonic = "IADD3", d.pinned = true, d.ptx = code_.blocks[b].begin;
      d.read(last);
      d.writes[0] = last = code_.whole(code_.new_value(Bank::General, 1));
      text.push_back(d);
    }
    before->text.insert(at, text.begin(), text.end());
  }

  void remove_dead(std::vector<Draft>& text) const {
    std::unordered_map<int32_t, int> read;
    size_t to = text.size();
    for (size_t k = text.size(); k-- > 0;) {
      const Draft& d = text[k];
      bool needed = d.pinned || !d.writes[0];
      for (Part p : d.writes)
        if (p) needed = needed || static_cast<size_t>(p.value) >= crosses_.size() ? read[p.value] > 0 || needed : true;
      if (!needed) continue;
      for (Part p : d.reads)
        if (p) ++read[p.value];
      text[--to] = d;
    }
    text.erase(text.begin(), text.begin() + static_cast<long>(to));
  }

  DraftCode& code_;
  const ptx::Function& f_;
  std::vector<char> crosses_;
  mutable std::unordered_map<int, std::vector<std::pair<uint32_t, uint32_t>>> set_by_;
};

}  // namespace

void unroll(DraftCode& code, const ptx::Function& function) { Unroller(code, function).run(); }

}  // namespace warpbeam::assembly
