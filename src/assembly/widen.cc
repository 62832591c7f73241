// Loads from shared memory, and of constants, of words that stand beside each other are one wide load, where the address is known to allow it.
#include <algorithm>
#include <map>

#include "assembly/draft.h"

namespace warpbeam::assembly {
namespace {

class Widener {
 public:
  explicit Widener(DraftCode& code) : code_(code), writes_(code.values.size()) {
    for (const DraftBlock& b : code_.blocks)
      for (const Draft& d : b.text)
        for (Part p : d.writes)
          if (p) ++writes_[static_cast<size_t>(p.value)];
  }

  void run() {
    for (DraftBlock& b : code_.blocks) block(b.text);
    if (renamed_.empty()) return;
    for (DraftBlock& b : code_.blocks)
      for (Draft& d : b.text)
        for (Part& p : d.reads)
          if (p)
            if (const auto it = renamed_.find(p.value); it != renamed_.end())
              p = {it->second.value, static_cast<uint8_t>(it->second.first + p.first), p.count};
  }

 private:
  bool fits(const Draft& d) const {
    return (d.operation == Operation::LoadShared || d.operation == Operation::LoadConst) && d.order == Order::Load && !d.guarded &&
           d.base != -1 && (d.bytes == 4 || d.bytes == 8) && d.writes[0] && !d.writes[1] && d.writes[0].first == 0 &&
           d.writes[0].count * 4 == d.bytes && code_.values[static_cast<size_t>(d.writes[0].value)].words == d.writes[0].count &&
           writes_[static_cast<size_t>(d.writes[0].value)] == 1;
  }

  void block(std::vector<Draft>& text) {
    std::vector<char> gone(text.size());
    std::map<std::pair<int32_t, int64_t>, size_t> seen;  // by base and distance
    const auto flush = [&] {
      for (auto it = seen.begin(); it != seen.end();) {
        const auto [base, offset] = it->first;
        const Draft& first = text[it->second];
        const int each = first.bytes, align = first.align, rest = first.align_rest;
        int n = 0;
        for (int want : {16 / each, 8 / each}) {
          if (first.operation == Operation::LoadConst && want * each > 8) continue;
          if (want < 2 || align < want * each || (offset + rest) % (want * each)) continue;
          bool all = true;
          for (int k = 1; all && k < want; ++k) {
            const auto other = seen.find({base, offset + k * each});
            all = other != seen.end() && text[other->second].bytes == each;
          }
          if (all) {
            n = want;
            break;
          }
        }
        if (!n) {
          ++it;
          continue;
        }
        const int32_t wide = code_.new_value(Bank::General, n * each / 4);
        size_t where = it->second;
        for (int k = 0; k < n; ++k) where = std::min(where, seen.find({base, offset + k * each})->second);
        for (int k = 0; k < n; ++k) {
          const size_t at = seen.find({base, offset + k * each})->second;
          renamed_[text[at].writes[0].value] = {wide, static_cast<uint8_t>(k * each / 4), static_cast<uint8_t>(each / 4)};
          if (at != where) gone[at] = 1;
          ++it;
        }
        Draft& d = text[where];
        d.offset = offset;
        d.bytes = static_cast<uint8_t>(n * each);
        d.writes[0] = code_.whole(wide);
      }
      seen.clear();
    };
    for (size_t k = 0; k < text.size(); ++k) {
      const Draft& d = text[k];
      if (d.wall || d.order == Order::Barrier || (d.order == Order::Store && d.space != isa::Space::Global && d.space != isa::Space::Local))
        flush();
      if (fits(d)) seen.try_emplace({d.base, d.offset}, k);
    }
    flush();
    size_t to = 0;
    for (size_t k = 0; k < text.size(); ++k)
      if (!gone[k]) text[to++] = text[k];
    text.resize(to);
  }

  DraftCode& code_;
  std::vector<uint32_t> writes_;
  std::map<int32_t, Part> renamed_;
};

}  // namespace

void widen_loads(DraftCode& code) { Widener(code).run(); }

}  // namespace warpbeam::assembly
