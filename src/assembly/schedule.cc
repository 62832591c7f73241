// The order of instructions inside of a block: what is waited for longest comes first, as long as there are registers.
#include <algorithm>
#include <array>
#include <queue>

#include "assembly/latency.h"
#include "assembly/liveness.h"

namespace warpbeam::assembly {
namespace {

bool may_meet(const Draft& a, const Draft& b) {
  using isa::Space;
  const auto kind = [](Space s) {
    switch (s) {
      case Space::Shared:
      case Space::SharedCluster: return 1;
      case Space::Local: return 2;
      case Space::Global: return 4;
      case Space::Generic: return 7;
      default: return 8;
    }
  };
  if (!(kind(a.space) & kind(b.space))) return false;
  if (a.read_only || b.read_only) return false;
  if (a.base >= 0 && a.base == b.base)
    return a.offset < b.offset + std::max<int>(b.bytes, 1) && b.offset < a.offset + std::max<int>(a.bytes, 1);
  // Different variables.
  if (a.base < -1 && b.base < -1) return a.base == b.base;
  return true;
}

// Lanes that are together exchange values in any order.
bool exchanges(Operation o) { return o == Operation::Shuffle || o == Operation::Vote || o == Operation::Match || o == Operation::Redux; }

class Scheduler {
 public:
  Scheduler(DraftCode& code, const Liveness& live, const Held& held)
      : code_(code),
        live_(live),
        most_(held.most),
        most_for_loads_(held.most_for_loads),
        loads_(held.loads_together),
        spaced_(held.spaced) {
    last_write_.assign(live_.segments.size(), -1);
    readers_.resize(live_.segments.size());
    value_.assign(live_.segments.size(), {});
    out_.assign(live_.segments.size(), 0);
    held_.assign(live_.segments.size(), 0);
    written_ = uncounted_ = held_;
    for (const Value& v : code_.values) bank_.insert(bank_.end(), v.words, v.bank);
    find_remade();
  }

  void run() {
    for (uint32_t b = 0; b < code_.blocks.size(); ++b) block(b);
  }

 private:
  struct Node {
    std::vector<std::pair<uint32_t, uint32_t>> after;  // who, how many cycles later
    uint32_t waits = 0, height = 0, ready = 0;
  };

  template <class Visit>
  void each_word(Part p, const Visit& visit) const {
    if (!p) return;
    for (uint32_t k = 0; k < p.count; ++k) visit(live_.first_word[static_cast<size_t>(p.value)] + p.first + k);
  }

  // The words that an instruction reads, each once.
  template <class Visit>
  void each_read_word(const Draft& d, const Visit& visit) const {
    std::array<uint32_t, 40> seen;
    size_t count = 0;
    for (Part p : d.reads)
      each_word(p, [&](uint32_t w) {
        if (std::find(seen.begin(), seen.begin() + count, w) != seen.begin() + count) return;
        if (count < seen.size()) seen[count++] = w;
        visit(w);
      });
  }
  template <class Visit>
  void each_written_word(const Draft& d, const Visit& visit) const {
    for (Part p : d.writes) each_word(p, visit);
  }

  // Whole numbers that an instruction or two make from what is there anyway (places, parameters, multiples of a row's length) are made again where
  // registers are short, rather than held through a loop.
  void find_remade() {
    remade_.assign(live_.segments.size(), 1);
    for (const DraftBlock& b : code_.blocks)
      for (const Draft& d : b.text) {
        using enum Operation;
        const bool simple = d.operation == LoadConst || d.operation == SpecialReg || d.operation == Move || d.operation == IntAdd ||
                            d.operation == IntMul || d.operation == IntMulWide || d.operation == Logic || d.operation == Shift;
        if (simple && d.order == Order::None && !d.guarded && !d.keeps && !d.pinned) continue;
        for (Part p : d.writes) each_word(p, [&](uint32_t w) { remade_[w] = 0; });
      }
  }

  void block(uint32_t b) {
    std::vector<Draft>& text = code_.blocks[b].text;
    if (text.size() < 2) return;
    own_addresses_ = code_.blocks[b].own_addresses;
    for (uint32_t w : live_.live_out[b]) out_[w] = 1;
    // What is held at the block's beginning and the block has to do with: parameters and others that only outlive it can be made again.
    held_now_ = 0;
    std::vector<uint32_t> words;
    {
      for (const Draft& d : text) {
        for (Part p : d.reads) each_word(p, [&](uint32_t w) { words.push_back(w); });
        for (Part p : d.writes) each_word(p, [&](uint32_t w) { words.push_back(w); });
      }
      std::ranges::sort(words);
      words.erase(std::unique(words.begin(), words.end()), words.end());
      // A word has one value after the other: what is there before the block, then what each write leaves. (A write that keeps what was there under a
      // condition goes on with that.)
      for (uint32_t w : words) held_[w] = 0, value_[w] = {};
      for (const Draft& d : text)
        if (!d.keeps) each_written_word(d, [&](uint32_t w) { ++value_[w].last; });
      reads_left_.clear();
      for (uint32_t w : words) {
        const auto first = static_cast<uint32_t>(reads_left_.size());
        reads_left_.resize(first + value_[w].last + 1, 0);
        value_[w] = {first, first, first + value_[w].last};
      }
      for (const Draft& d : text) {
        each_read_word(d, [&](uint32_t w) {
          if (value_[w].now == value_[w].first) held_[w] = 1;
          ++reads_left_[value_[w].now];
        });
        each_written_word(d, [&](uint32_t w) {
          if (!d.keeps) ++value_[w].now;
          else if (value_[w].now == value_[w].first) held_[w] = 1;
        });
      }
      for (uint32_t w : words) value_[w].now = value_[w].first;
      // What only comes through.
      for (const Draft& d : text)
        for (Part p : d.writes) each_word(p, [&](uint32_t w) { written_[w] = 1; });
      // More conditions than there are predicates are made again where they are asked for, or come out of a register.
      const bool too_many = std::ranges::count_if(words, [&](uint32_t w) {
                              return bank_[w] == Bank::Predicate && held_[w] && !written_[w];
                            }) >= kMostPredicates;
      for (uint32_t w : words) uncounted_[w] = !written_[w] && (remade_[w] || (too_many && bank_[w] == Bank::Predicate)), written_[w] = 0;
    }
    held_predicates_ = 0;
    for (uint32_t w : words)
      if (held_[w]) count(w, 1);
    size_t begin = 0;
    std::vector<Draft> result;
    result.reserve(text.size());
    for (size_t k = 0; k < text.size(); ++k)
      if (text[k].wall) {
        region(text, begin, k, result);
        issue_effects(text[k]);
        result.push_back(text[k]);
        begin = k + 1;
      }
    region(text, begin, text.size(), result);
    text = std::move(result);
    for (uint32_t w : words) held_[w] = 0, last_write_[w] = -1, readers_[w].clear();
    for (uint32_t w : live_.live_out[b]) out_[w] = 0;
  }

  void count(uint32_t w, int by) {
    if (uncounted_[w]) return;
    if (bank_[w] == Bank::General) held_now_ += by;
    if (bank_[w] == Bank::Predicate) held_predicates_ += by;
  }

  // Of whichever there are none left, or of general ones.
  int weight(uint32_t w) const {
    constexpr int kPredicate = 4;
    if (uncounted_[w]) return 0;
    return bank_[w] == Bank::General ? 1 : bank_[w] == Bank::Predicate && held_predicates_ >= kMostPredicates ? kPredicate : 0;
  }

  // How many registers more are held after an instruction.
  template <class Weight>
  int grows(const Draft& d, Weight weight) const {
    int by = 0;
    each_read_word(d, [&](uint32_t w) { by -= weight(w) * (held_[w] && reads_left_[value_[w].now] == 1 && !wanted_later(w)); });
    each_written_word(d, [&](uint32_t w) {
      const bool stays = held_[w] && (reads_left_[value_[w].now] > reads(d, w) || wanted_later(w));
      by += weight(w) * !stays;
    });
    return by;
  }
  // The word's value of now, behind the block.
  bool wanted_later(uint32_t w) const { return value_[w].now == value_[w].last && out_[w]; }
  uint32_t reads(const Draft& d, uint32_t w) const {
    uint32_t found = 0;
    each_read_word(d, [&](uint32_t other) { found |= other == w; });
    return found;
  }
  int grows(const Draft& d) const {
    return grows(d, [&](uint32_t w) { return weight(w); });
  }
  int grows_predicates(const Draft& d) const {
    return grows(d, [&](uint32_t w) { return bank_[w] == Bank::Predicate ? 1 : 0; });
  }
  void issue_effects(const Draft& d) {
    each_read_word(d, [&](uint32_t w) {
      if (--reads_left_[value_[w].now] == 0 && !wanted_later(w)) hold(w, false);
    });
    each_written_word(d, [&](uint32_t w) {
      if (!d.keeps) ++value_[w].now;
      hold(w, reads_left_[value_[w].now] || wanted_later(w));
    });
  }
  void hold(uint32_t w, bool yes) {
    if (held_[w] != yes) count(w, yes ? 1 : -1);
    held_[w] = yes;
  }

  // Cycles from an instruction to one that reads part of what it writes.
  uint32_t until_read(const Draft& from, const Draft& reader, Part part) const {
    const bool guards =
        code_.values[static_cast<size_t>(part.value)].bank == Bank::Predicate && (reader.guarded || !takes_predicates(reader.operation));
    return guards ? kGuardLatency : latency_of(from.operation);
  }

  Spacing spacing(const Draft& d) const { return spaced_ ? spacing_of(d.operation) : Spacing{}; }

  // From one wall to the next; what that reads is waited for.
  void region(const std::vector<Draft>& text, size_t begin, size_t end, std::vector<Draft>& result) {
    const size_t n = end - begin;
    if (n < 2) {
      for (size_t k = begin; k < end; ++k) {
        issue_effects(text[k]);
        result.push_back(text[k]);
      }
      return;
    }
    std::vector<Node> nodes(n);
    const auto edge = [&](uint32_t from, uint32_t to, uint32_t cycles) {
      if (from == to) return;
      nodes[from].after.push_back({to, cycles});
      ++nodes[to].waits;
    };
    std::vector<uint32_t> loads, stores, used;
    int32_t fence = -1, pinned = -1;
    for (uint32_t k = 0; k < n; ++k) {
      const Draft& d = text[begin + k];
      for (Part p : d.reads)
        each_word(p, [&](uint32_t w) {
          if (last_write_[w] >= 0)
            edge(static_cast<uint32_t>(last_write_[w]), k, until_read(text[begin + static_cast<size_t>(last_write_[w])], d, p));
          readers_[w].push_back(k);
          used.push_back(w);
        });
      for (Part p : d.writes)
        each_word(p, [&](uint32_t w) {
          if (last_write_[w] >= 0) edge(static_cast<uint32_t>(last_write_[w]), k, 1);
          for (uint32_t r : readers_[w]) edge(r, k, 0);
          readers_[w].clear();
          last_write_[w] = static_cast<int32_t>(k);
          used.push_back(w);
        });
      if (d.last)
        for (uint32_t p = 0; p < k; ++p) edge(p, k, 0);
      if (d.order == Order::Load || d.order == Order::Store) {
        if (fence >= 0) edge(static_cast<uint32_t>(fence), k, 1);
        for (uint32_t s : stores)
          if (may_meet(text[begin + s], d)) edge(s, k, 1);
        if (d.order == Order::Store) {
          for (uint32_t l : loads)
            if (may_meet(text[begin + l], d)) edge(l, k, 0);
          stores.push_back(k);
          if (stores.size() > 96) stores.erase(stores.begin(), stores.begin() + 48);
        } else {
          loads.push_back(k);
        }
      } else if (d.order == Order::Barrier) {
        if (fence >= 0) edge(static_cast<uint32_t>(fence), k, 1);
        for (uint32_t s : stores) edge(s, k, 0);
        for (uint32_t l : loads) edge(l, k, 0);
        stores.clear();
        loads.clear();
        fence = static_cast<int32_t>(k);
      }
      if (d.pinned && d.order == Order::None && !exchanges(d.operation)) {
        if (pinned >= 0) edge(static_cast<uint32_t>(pinned), k, 0);
        pinned = static_cast<int32_t>(k);
      }
    }
    if (end < text.size())
      for (Part p : text[end].reads)
        each_word(p, [&](uint32_t w) {
          if (last_write_[w] < 0) return;
          uint32_t& height = nodes[static_cast<size_t>(last_write_[w])].height;
          height = std::max(height, until_read(text[begin + static_cast<size_t>(last_write_[w])], text[end], p));
        });
    for (uint32_t w : used) last_write_[w] = -1, readers_[w].clear();
    for (size_t k = n; k-- > 0;)
      for (auto [to, cycles] : nodes[k].after) nodes[k].height = std::max(nodes[k].height, nodes[to].height + std::max(cycles, 1u));

    // Those whose operands are there, the longest way to the end first, loads a little before others, so that their addresses are not held; the others by
    // when theirs will be.
    const auto from_memory = [&](uint32_t k) {
      return text[begin + k].operation == Operation::LoadGlobal || text[begin + k].operation == Operation::LoadShared;
    };
    constexpr uint32_t kBefore = 12;  // cycles that an address takes
    const auto way = [&](uint32_t k) { return nodes[k].height + (from_memory(k) ? kBefore : 0); };
    const auto lower = [&](uint32_t a, uint32_t b) { return way(a) != way(b) ? way(a) < way(b) : a > b; };
    const auto later = [&](uint32_t a, uint32_t b) {
      return nodes[a].ready != nodes[b].ready ? nodes[a].ready > nodes[b].ready : lower(a, b);
    };
    std::priority_queue<uint32_t, std::vector<uint32_t>, decltype(lower)> available(lower);
    std::priority_queue<uint32_t, std::vector<uint32_t>, decltype(later)> pending(later);
    std::vector<char> done(n);
    for (uint32_t k = 0; k < n; ++k)
      if (!nodes[k].waits) pending.push(k);
    std::vector<uint32_t> seen;
    // Loads from memory that nothing read yet, and what was made for the addresses of such that are to come.
    std::vector<uint32_t> on_their_way, addresses;
    const auto reads = [&](uint32_t k, uint32_t from) {
      return std::ranges::any_of(text[begin + k].reads, [&](Part p) {
        return p && std::ranges::any_of(text[begin + from].writes, [&](Part w) { return w.value == p.value; });
      });
    };
    std::vector<char> leads(n), is_address(n);  // to a load, at last or at once
    for (size_t k = n; k-- > 0;) {
      if (text[begin + k].order != Order::None) continue;
      for (const auto& after : nodes[k].after) {
        if (!reads(after.first, static_cast<uint32_t>(k))) continue;
        is_address[k] |= from_memory(after.first);
        leads[k] |= from_memory(after.first) || leads[after.first];
      }
    }
    // Shows a queue's first ones, in their order, until one will do.
    const auto from_top = [&](auto& queue, auto will_do) {
      seen.clear();
      while (!queue.empty() && seen.size() < kLooks) {
        const uint32_t k = queue.top();
        queue.pop();
        if (done[k]) continue;
        seen.push_back(k);
        if (will_do(k)) break;
      }
      for (uint32_t k : seen) queue.push(k);
    };
    const auto a_load = [&] {
      uint32_t found = ~0u;
      if (on_their_way.size() >= loads_) return found;
      const bool room = on_their_way.size() + addresses.size() < loads_;
      from_top(available, [&](uint32_t k) {
        if (from_memory(k) || (leads[k] && room)) found = k;
        return found == k;
      });
      return found;
    };
    const uint32_t for_loads = own_addresses_ ? most_for_loads_ - std::min(most_for_loads_, kOwnAddresses) : most_for_loads_;
    std::array<uint32_t, kSpacedPipes> pipe_free{};
    uint32_t now = 0, first = 0;
    for (size_t issued = 0; issued < n; ++issued) {
      while (first < n && done[first]) ++first;
      while (!pending.empty() && nodes[pending.top()].ready <= now) {
        available.push(pending.top());
        pending.pop();
      }
      const auto drop = [&](auto& queue) {
        while (!queue.empty() && done[queue.top()]) queue.pop();
      };
      drop(available);
      drop(pending);
      uint32_t pick = ~0u;
      const auto held = static_cast<uint32_t>(std::max(held_now_, 0));
      const bool full = held >= most_, no_predicates = held_predicates_ >= kMostPredicates;
      if (!full && !no_predicates && held >= for_loads) {
        const auto no_more_loads = [&](uint32_t k) {
          if (!((from_memory(k) || leads[k]) && grows(text[begin + k]) > 0)) pick = k;
          return pick == k;
        };
        from_top(available, no_more_loads);
        if (pick == ~0u) pick = a_load();
        if (pick == ~0u) from_top(pending, no_more_loads);
      }
      if (pick == ~0u && !full && no_predicates) {
        // Predicates alone are short: the order is as always, without what needs one more, unless all the others wait for memory. (One that is made
        // again later costs an instruction or two.)
        const auto needs_none = [&](uint32_t k) {
          if (grows_predicates(text[begin + k]) <= 0 && nodes[k].ready <= now + kGuardLatency) pick = k;
          return pick == k;
        };
        from_top(available, needs_none);
        if (pick == ~0u) from_top(pending, needs_none);
        if (pick == ~0u) pick = available.empty() ? pending.top() : available.top();
      }
      if (pick == ~0u && (full || no_predicates)) {
        // No registers left: whatever frees some, else what needs none and waits for nothing (addresses that move on in their
        // place, so that their loads come before what waits for the first ones), else what the text has next.
        int best = 0;
        uint32_t neutral = ~0u;
        // One load is always on its way: else who needs it waits for it with nothing to do.
        if (full && !no_predicates && on_their_way.empty()) pick = a_load();
        const auto compare = [&](uint32_t k) {
          const int by = grows(text[begin + k]);
          if (by == 0 && neutral == ~0u) neutral = k;
          if (by < best || (by == best && by < 0 && k < pick)) best = by, pick = k;
          return false;
        };
        if (pick == ~0u) from_top(available, compare);
        // A few loads are on their way together at any price.
        if (pick == ~0u && full && !no_predicates) pick = a_load();
        if (pick == ~0u) pick = neutral;
        if (pick == ~0u) from_top(pending, compare);
        if (pick == ~0u) pick = neutral;
        if (pick == ~0u) pick = first;
      }
      if (pick == ~0u)
        from_top(available, [&](uint32_t k) {
          if (pipe_free[spacing(text[begin + k]).pipe] <= now) pick = k;
          return pick == k;
        });
      if (pick == ~0u) pick = available.empty() ? pending.top() : available.top();
      const Spacing apart = spacing(text[begin + pick]);
      now = std::max({now, nodes[pick].ready, pipe_free[apart.pipe]});
      if (apart.pipe) pipe_free[apart.pipe] = now + apart.cycles;
      done[pick] = 1;
      std::erase_if(on_their_way, [&](uint32_t l) { return reads(pick, l); });
      std::erase_if(addresses, [&](uint32_t a) { return reads(pick, a); });
      if (from_memory(pick)) on_their_way.push_back(pick);
      if (is_address[pick]) addresses.push_back(pick);
      issue_effects(text[begin + pick]);
      result.push_back(text[begin + pick]);
      for (auto [to, cycles] : nodes[pick].after) {
        nodes[to].ready = std::max(nodes[to].ready, now + cycles);
        if (--nodes[to].waits == 0) pending.push(to);
      }
      ++now;
    }
  }

  static constexpr size_t kLooks = 32;
  DraftCode& code_;
  const Liveness& live_;
  const uint32_t most_, most_for_loads_, loads_;
  const bool spaced_;
  int held_now_ = 0, held_predicates_ = 0;
  bool own_addresses_ = false;  // of the block at hand
  static constexpr uint32_t kOwnAddresses = 4;  // registers that these take and that are not seen here
  static constexpr int kMostPredicates = 5;  // of seven
  std::vector<Bank> bank_;  // by word
  std::vector<int32_t> last_write_;
  std::vector<std::vector<uint32_t>> readers_;
  // By word: where reads_left_ has what is still to read its values, the one that the block begins with, that of now, and the one that it ends with.
  struct Values {
    uint32_t first = 0, now = 0, last = 0;
  };
  std::vector<Values> value_;
  std::vector<uint32_t> reads_left_;
  std::vector<char> out_, held_, remade_, written_, uncounted_;
};

}  // namespace

void schedule(DraftCode& code, const Liveness& live, const Held& held) { Scheduler(code, live, held).run(); }

}  // namespace warpbeam::assembly
