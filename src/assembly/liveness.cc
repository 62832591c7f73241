#include "assembly/liveness.h"

#include <algorithm>
#include <bit>

#include "assembly/latency.h"

namespace warpbeam::assembly {

Liveness::Liveness(const DraftCode& code, uint32_t late_reads) {
  number_words(code);
  solve(code);
  walk(code, late_reads);
}

void Liveness::number_words(const DraftCode& code) {
  first_word.resize(code.values.size());
  uint32_t n = 0;
  for (size_t v = 0; v < code.values.size(); ++v) {
    first_word[v] = n;
    n += code.values[v].words;
  }
  segments.resize(n);
  first_place.resize(code.blocks.size());
  for (size_t b = 0; b < code.blocks.size(); ++b) {
    first_place[b] = places;
    places += static_cast<uint32_t>(code.blocks[b].text.size());
  }
}

bool Liveness::live_in(const DraftCode& code, uint32_t block, uint32_t word) const {
  bool read = false, written = false;
  for (const Draft& d : code.blocks[block].text) {
    for (Part p : d.reads) each_word(p, [&](uint32_t w) { read = read || w == word; });
    if (read) return true;
    for (Part p : d.writes) each_word(p, [&](uint32_t w) { written = written || (w == word && !d.keeps); });
    if (written) return false;
  }
  return std::ranges::find(live_out[block], word) != live_out[block].end();
}

void Liveness::solve(const DraftCode& code) {
  const size_t blocks = code.blocks.size();
  live_out.resize(blocks);
  // Only words that are read before they are written in some block come from another one; most do not.
  std::vector<uint32_t> written_in(segments.size(), ~0u);
  std::vector<int32_t> number(segments.size(), -1);
  std::vector<uint32_t> crossing;
  const auto visit_reads = [&](const Draft& d, const auto& visit) {
    for (Part p : d.reads) each_word(p, visit);
    if (d.keeps)
      for (Part p : d.writes) each_word(p, visit);
  };
  for (uint32_t b = 0; b < blocks; ++b)
    for (const Draft& d : code.blocks[b].text) {
      visit_reads(d, [&](uint32_t w) {
        if (written_in[w] != b && number[w] < 0) {
          number[w] = static_cast<int32_t>(crossing.size());
          crossing.push_back(w);
        }
      });
      for (Part p : d.writes) each_word(p, [&](uint32_t w) { written_in[w] = b; });
    }
  const size_t width = (crossing.size() + 63) / 64;
  std::vector<uint64_t> in(blocks * width), reads(blocks * width), kills(blocks * width);
  for (uint32_t b = 0; b < blocks; ++b)
    for (const Draft& d : code.blocks[b].text) {
      visit_reads(d, [&](uint32_t w) {
        const int32_t n = number[w];
        if (n >= 0 && !(kills[b * width + static_cast<size_t>(n) / 64] >> (n % 64) & 1))
          reads[b * width + static_cast<size_t>(n) / 64] |= uint64_t(1) << (n % 64);
      });
      if (!d.keeps)
        for (Part p : d.writes)
          each_word(p, [&](uint32_t w) {
            if (const int32_t n = number[w]; n >= 0) kills[b * width + static_cast<size_t>(n) / 64] |= uint64_t(1) << (n % 64);
          });
    }
  const auto out = [&](size_t b, size_t w) {
    uint64_t o = 0;
    for (uint32_t s : code.blocks[b].successors) o |= in[s * width + w];
    return o;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = blocks; b-- > 0;)
      for (size_t w = 0; w < width; ++w) {
        const uint64_t now = reads[b * width + w] | (out(b, w) & ~kills[b * width + w]);
        changed |= now != in[b * width + w];
        in[b * width + w] = now;
      }
  }
  for (size_t b = 0; b < blocks; ++b)
    for (size_t w = 0; w < width; ++w)
      for (uint64_t left = out(b, w); left; left &= left - 1)
        live_out[b].push_back(crossing[w * 64 + static_cast<size_t>(std::countr_zero(left))]);
}

void Liveness::walk(const DraftCode& code, uint32_t late_reads) {
  std::vector<uint32_t> open(segments.size(), 0);  // where the segment ends that a word is in; 0: in none
  for (size_t b = code.blocks.size(); b-- > 0;) {
    const std::vector<Draft>& text = code.blocks[b].text;
    const uint32_t begin = 2 * first_place[b], end = begin + 2 * static_cast<uint32_t>(text.size());
    std::vector<uint32_t> touched;
    if (begin != end)
      for (uint32_t w : live_out[b]) {
        open[w] = end;
        touched.push_back(w);
      }
    for (size_t k = text.size(); k-- > 0;) {
      const Draft& d = text[k];
      const uint32_t reads_at = begin + 2 * static_cast<uint32_t>(k), writes_at = reads_at + 1;
      for (Part p : d.writes)
        each_word(p, [&](uint32_t w) {
          const uint32_t until = open[w] ? open[w] : writes_at + 1;
          if (d.keeps) {
            if (!open[w]) touched.push_back(w);
            open[w] = until;
          } else {
            segments[w].push_back({writes_at, until});
            open[w] = 0;
          }
        });
      const uint32_t read_until = late_reads && is_queued(d.operation) ? std::min(end, reads_at + 2 + 2 * late_reads) : reads_at + 1;
      for (Part p : d.reads)
        each_word(p, [&](uint32_t w) {
          if (open[w]) return;
          open[w] = read_until;
          touched.push_back(w);
        });
    }
    for (uint32_t w : touched)
      if (open[w]) {
        segments[w].push_back({begin, open[w]});
        open[w] = 0;
      }
  }
  for (std::vector<Segment>& s : segments) {
    std::ranges::reverse(s);
    // Neighbours become one.
    size_t n = 0;
    for (size_t k = 0; k < s.size(); ++k) {
      if (n && s[n - 1].end >= s[k].begin) s[n - 1].end = std::max(s[n - 1].end, s[k].end);
      else s[n++] = s[k];
    }
    s.resize(n);
  }
}

}  // namespace warpbeam::assembly
