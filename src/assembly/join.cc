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
    const uint32_t s = live_.first_word[static_cast<size_t>(small.value)],
                   l = live_.first_word[static_cast<size_t>(large.value)] + static_cast<uint32_t>(shift);
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

// Instructions of which nobody needs what they write; a loop's variable that only its own next value is made from is not needed.
void remove_unread(DraftCode& code) {
  std::vector<uint32_t> first(code.values.size());
  uint32_t words = 0;
  for (size_t v = 0; v < first.size(); ++v) {
    first[v] = words;
    words += code.values[v].words;
  }
  const auto each = [&](Part p, const auto& visit) {
    if (!p) return;
    for (uint32_t k = 0; k < p.count; ++k) visit(first[static_cast<size_t>(p.value)] + p.first + k);
  };
  std::vector<Draft*> drafts;
  for (DraftBlock& b : code.blocks)
    for (Draft& d : b.text) drafts.push_back(&d);
  // Who writes a word.
  std::vector<uint32_t> begin(words + 1), writers;
  for (const Draft* d : drafts)
    for (Part p : d->writes) each(p, [&](uint32_t w) { ++begin[w + 1]; });
  for (uint32_t w = 0; w < words; ++w) begin[w + 1] += begin[w];
  writers.resize(begin[words]);
  std::vector<uint32_t> at(begin.begin(), begin.end() - 1);
  for (uint32_t k = 0; k < drafts.size(); ++k)
    for (Part p : drafts[k]->writes) each(p, [&](uint32_t w) { writers[at[w]++] = k; });

  // The lower half of a wide product needs the lower half of what is added.
  const auto narrows = [](const Draft& d) {
    return d.operation == Operation::IntMulWide && d.mnemonic == "IMAD.WIDE" && d.writes[0].count == 2 && !d.writes[1];
  };
  std::vector<char> needed(words), stays(drafts.size()), whole(drafts.size());
  std::vector<uint32_t> work;
  const auto need = [&](uint32_t w) {
    if (!needed[w]) {
      needed[w] = 1;
      work.push_back(w);
    }
  };
  const auto keep = [&](uint32_t k, bool all) {
    Draft& d = *drafts[k];
    if (stays[k] && (whole[k] || !all)) return;
    stays[k] = 1;
    whole[k] = whole[k] || all;
    for (const Part& p : d.reads) each(!all && p.count == 2 ? Part{p.value, p.first, 1} : p, need);
    if (d.keeps)
      for (Part p : d.writes) each(p, need);
  };
  for (uint32_t k = 0; k < drafts.size(); ++k)
    if (drafts[k]->pinned || !drafts[k]->writes[0]) keep(k, true);
  while (!work.empty()) {
    const uint32_t w = work.back();
    work.pop_back();
    for (uint32_t n = begin[w]; n < begin[w + 1]; ++n) {
      const Draft& d = *drafts[writers[n]];
      const bool lower = narrows(d) && w == first[static_cast<size_t>(d.writes[0].value)] + d.writes[0].first;
      keep(writers[n], !lower);
    }
  }
  for (uint32_t k = 0; k < drafts.size(); ++k) {
    Draft& d = *drafts[k];
    if (!stays[k] || whole[k]) continue;
    d.operation = Operation::IntMul;
    d.mnemonic = "IMAD";
    d.writes[0].count = 1;
    for (Part& p : d.reads)
      if (p && p.count == 2) p.count = 1;
  }
  size_t k = 0;
  for (DraftBlock& b : code.blocks) {
    size_t to = 0;
    for (size_t n = 0; n < b.text.size(); ++n, ++k)
      if (stays[k]) b.text[to++] = b.text[n];
    b.text.resize(to);
  }
}

}  // namespace warpbeam::assembly
