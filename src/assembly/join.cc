// Copies whose two sides never hold different things at the same time become nothing: both get the same registers. It is
// how the moves at the ends of blocks vanish with which PTX says what a loop's variables are next, and how the parts of a
// vector come to stand beside each other.
#include <algorithm>

#include "assembly/liveness.h"

namespace warpbeam::assembly {
namespace {

bool overlap(const std::vector<Segment>& a, const std::vector<Segment>& b) {
  for (size_t x = 0, y = 0; x < a.size() && y < b.size();) {
    if (a[x].end <= b[y].begin) ++x;
    else if (b[y].end <= a[x].begin) ++y;
    else return true;
  }
  return false;
}

void merge(std::vector<Segment>& into, std::vector<Segment>& from) {
  std::vector<Segment> all;
  all.reserve(into.size() + from.size());
  std::ranges::merge(into, from, std::back_inserter(all), {}, &Segment::begin, &Segment::begin);
  size_t n = 0;
  for (size_t k = 0; k < all.size(); ++k) {
    if (n && all[n - 1].end >= all[k].begin) all[n - 1].end = std::max(all[n - 1].end, all[k].end);
    else all[n++] = all[k];
  }
  all.resize(n);
  into = std::move(all);
  from.clear();
}

class Joiner {
 public:
  explicit Joiner(DraftCode& code) : code_(code), live_(code), home_(code.values.size()) {
    for (size_t v = 0; v < home_.size(); ++v) home_[v] = {static_cast<int32_t>(v), 0};
  }
  void run() {
    for (DraftBlock& b : code_.blocks)
      for (Draft& d : b.text)
        if (d.copy && d.reads[0] && d.writes[0] && d.reads[0].count == 1 && d.writes[0].count == 1) join(d.reads[0], d.writes[0]);
    for (DraftBlock& b : code_.blocks) {
      for (Draft& d : b.text) {
        for (Part& p : d.reads) p = moved(p);
        for (Part& p : d.writes) p = moved(p);
      }
      std::erase_if(b.text, [](const Draft& d) {
        return d.copy && d.reads[0].value == d.writes[0].value && d.reads[0].first == d.writes[0].first && d.reads[0].value >= 0;
      });
    }
  }

 private:
  struct Home {
    int32_t value;
    int offset;
  };
  Home home(int32_t v) {
    Home h = home_[static_cast<size_t>(v)];
    if (h.value == v) return h;
    const Home up = home(h.value);
    return home_[static_cast<size_t>(v)] = {up.value, up.offset + h.offset};
  }
  Part moved(Part p) {
    if (!p) return p;
    const Home h = home(p.value);
    return {h.value, static_cast<uint8_t>(h.offset + p.first), p.count};
  }

  void join(Part from, Part to) {
    Home a = home(from.value), b = home(to.value);
    if (a.value == b.value) return;
    const Value &va = code_.values[static_cast<size_t>(a.value)], &vb = code_.values[static_cast<size_t>(b.value)];
    if (va.bank != vb.bank) return;
    int shift = b.offset + to.first - a.offset - from.first;  // where a's first word goes in b
    Home small = a, large = b;
    if (va.words > vb.words) {
      std::swap(small, large);
      shift = -shift;
    }
    const int n = code_.values[static_cast<size_t>(small.value)].words;
    if (shift < 0 || shift + n > code_.values[static_cast<size_t>(large.value)].words) return;
    if ((n == 2 && shift % 2) || (n > 2 && shift % 4)) return;
    const uint32_t s = live_.first_word[static_cast<size_t>(small.value)], l = live_.first_word[static_cast<size_t>(large.value)] + static_cast<uint32_t>(shift);
    for (int k = 0; k < n; ++k)
      if (overlap(live_.segments[s + static_cast<uint32_t>(k)], live_.segments[l + static_cast<uint32_t>(k)])) return;
    for (int k = 0; k < n; ++k) merge(live_.segments[l + static_cast<uint32_t>(k)], live_.segments[s + static_cast<uint32_t>(k)]);
    home_[static_cast<size_t>(small.value)] = {large.value, shift};
  }

  DraftCode& code_;
  Liveness live_;
  std::vector<Home> home_;
};

}  // namespace

void join_copies(DraftCode& code) { Joiner(code).run(); }

// Instructions of which nobody reads what they write.
void remove_unread(DraftCode& code) {
  std::vector<uint32_t> first(code.values.size());
  uint32_t n = 0;
  for (size_t v = 0; v < first.size(); ++v) {
    first[v] = n;
    n += code.values[v].words;
  }
  std::vector<uint32_t> reads(n);
  const auto each = [&](Part p, const auto& visit) {
    if (!p) return;
    for (uint32_t k = 0; k < p.count; ++k) visit(first[static_cast<size_t>(p.value)] + p.first + k);
  };
  for (const DraftBlock& b : code.blocks)
    for (const Draft& d : b.text)
      for (Part p : d.reads) each(p, [&](uint32_t w) { ++reads[w]; });
  // Of a wide product only the lower half: a narrow one does, with the lower half of what is added.
  const auto narrow = [&](Draft& d) {
    if (d.operation != Operation::IntMulWide || d.mnemonic != "IMAD.WIDE" || d.writes[0].count != 2 || d.writes[1]) return;
    if (reads[first[static_cast<size_t>(d.writes[0].value)] + d.writes[0].first + 1u]) return;
    d.operation = Operation::IntMul;
    d.mnemonic = "IMAD";
    d.writes[0].count = 1;
    for (Part& p : d.reads)
      if (p && p.count == 2) {
        --reads[first[static_cast<size_t>(p.value)] + p.first + 1u];
        p.count = 1;
      }
  };
  for (bool again = true; again;) {
    again = false;
    for (size_t b = code.blocks.size(); b-- > 0;) {
      std::vector<Draft>& text = code.blocks[b].text;
      std::vector<char> gone(text.size());
      bool any = false;
      for (size_t k = text.size(); k-- > 0;) {
        const Draft& d = text[k];
        if (d.pinned || !d.writes[0]) continue;
        bool read = false;
        for (Part p : d.writes) each(p, [&](uint32_t w) { read = read || reads[w]; });
        if (read) {
          narrow(text[k]);
          continue;
        }
        gone[k] = any = true;
        for (Part p : d.reads) each(p, [&](uint32_t w) { --reads[w]; });
      }
      if (!any) continue;
      again = true;
      size_t to = 0;
      for (size_t k = 0; k < text.size(); ++k)
        if (!gone[k]) text[to++] = text[k];
      text.resize(to);
    }
  }
}

}  // namespace warpbeam::assembly
