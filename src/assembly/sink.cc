// Instructions go down to who needs what they write, where that takes fewer registers: what they read for the last time would be
// held longer, so it must be less than what they write.
#include <algorithm>

#include "assembly/liveness.h"

namespace warpbeam::assembly {
namespace {

class Sinker {
 public:
  Sinker(DraftCode& code, const Liveness& live) : code_(code), live_(live), read_below_(live.segments.size()) {}

  void run() {
    std::vector<uint32_t> touched;
    for (uint32_t b = 0; b < code_.blocks.size(); ++b) {
      std::vector<Draft>& text = code_.blocks[b].text;
      if (text.size() < 3) continue;
      for (uint32_t w : live_.live_out[b]) touched.push_back(w), read_below_[w] = 1;
      std::vector<uint32_t> up;  // the new order, from the last one on
      up.reserve(text.size());
      for (size_t k = text.size(); k-- > 0;) {
        const Draft& d = text[k];
        size_t at = up.size();
        if (may_move(d))
          for (size_t steps = 0; at > 0 && steps < kFar && !holds(d, text[up[at - 1]]); ++steps) --at;
        up.insert(up.begin() + static_cast<ptrdiff_t>(at), static_cast<uint32_t>(k));
        for (Part p : d.reads)
          each_word(p, [&](uint32_t w) {
            read_below_[w] = 1;
            touched.push_back(w);
          });
      }
      std::vector<Draft> made;
      made.reserve(text.size());
      for (size_t k = up.size(); k-- > 0;) made.push_back(text[up[k]]);
      text = std::move(made);
      for (uint32_t w : touched) read_below_[w] = 0;
      touched.clear();
    }
  }

 private:
  static constexpr size_t kFar = 1000;

  template <class Visit>
  void each_word(Part p, const Visit& visit) const {
    if (!p) return;
    for (uint32_t k = 0; k < p.count; ++k) visit(live_.first_word[static_cast<size_t>(p.value)] + p.first + k);
  }

  bool may_move(const Draft& d) const {
    if (d.pinned || d.last || d.wall || d.keeps || d.order == Order::Store || d.order == Order::Barrier || !d.writes[0]) return false;
    int made = 0, freed = 0;
    for (Part p : d.writes)
      if (p && code_.values[static_cast<size_t>(p.value)].bank == Bank::General) made += p.count;
    for (Part p : d.reads)
      if (p && code_.values[static_cast<size_t>(p.value)].bank == Bank::General)
        each_word(p, [&](uint32_t w) { freed += !read_below_[w]; });
    return made > freed;
  }

  static bool meet(Part a, Part b) { return a && b && a.value == b.value && a.first < b.first + b.count && b.first < a.first + a.count; }

  // Must `d` stay above `below`?
  static bool holds(const Draft& d, const Draft& below) {
    if (below.wall || below.last) return true;
    if (d.order == Order::Load && (below.order == Order::Store || below.order == Order::Barrier)) return true;
    for (Part w : d.writes) {
      for (Part p : below.reads)
        if (meet(w, p)) return true;
      for (Part p : below.writes)
        if (meet(w, p)) return true;
    }
    for (Part r : d.reads)
      for (Part p : below.writes)
        if (meet(r, p)) return true;
    return false;
  }

  DraftCode& code_;
  const Liveness& live_;
  std::vector<char> read_below_;
};

}  // namespace

void sink(DraftCode& code, const Liveness& live) { Sinker(code, live).run(); }

}  // namespace warpbeam::assembly
