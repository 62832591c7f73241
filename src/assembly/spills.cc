#include "assembly/spills.h"

#include <algorithm>
#include <numeric>

namespace warpbeam::assembly {

int Spills::registers_for(size_t values, int limit) {
  constexpr size_t kFew = 24;
  return values > kFew && limit >= 3 * kMost ? kMost : limit >= kMost ? kMost / 2 : 2;
}

Spills::Spills(const DraftCode& code, const std::vector<int32_t>& values, int kept, int limit) : code_(code), count_(kept) {
  first_ = std::max(0, limit - count_) / 4 * 4;
  if (values.empty()) return;
  places_.resize(code.values.size());
  std::vector<int32_t> same(code.values.size());
  std::iota(same.begin(), same.end(), 0);
  const auto first_of = [&](int32_t v) {
    while (same[static_cast<size_t>(v)] != v) v = same[static_cast<size_t>(v)] = same[static_cast<size_t>(same[static_cast<size_t>(v)])];
    return v;
  };
  for (int32_t v : values) places_[static_cast<size_t>(v)].slot = 0;
  for (const DraftBlock& b : code.blocks)
    for (const Draft& d : b.text)
      if (d.copy && has(d.reads[0]) && has(d.writes[0]))
        same[static_cast<size_t>(first_of(d.writes[0].value))] = first_of(d.reads[0].value);
  std::vector<int32_t> slots(code.values.size(), -1);
  for (int32_t v : values) {
    int32_t& slot = slots[static_cast<size_t>(first_of(v))];
    if (slot < 0) slot = static_cast<int32_t>(words_), words_ += code.values[static_cast<size_t>(v)].words;
    places_[static_cast<size_t>(v)].slot = slot;
  }
  stored_before_.resize(words_);
}

void Spills::begin_block() {
  for (int32_t v : holds_)
    if (!places_.empty()) places_[static_cast<size_t>(std::max(v, 0))].now = -1;
  holds_.fill(-1);
  free_from_.fill(0);
  std::ranges::fill(stored_before_, size_t{0});
}

void Spills::take(Part p) {
  Place& place = places_[static_cast<size_t>(p.value)];
  if (place.now >= 0) return;
  const int words = std::min<int>(code_.values[static_cast<size_t>(p.value)].words, count_), align = words == 1 ? 1 : words == 2 ? 2 : 4;
  next_ = (next_ + align - 1) / align * align;
  if (next_ + words > count_) next_ = 0;
  for (int k = next_; k < next_ + words; ++k) {
    int32_t& held = holds_[static_cast<size_t>(k)];
    if (held >= 0) places_[static_cast<size_t>(held)].now = -1;
    held = p.value;
  }
  place.now = static_cast<int16_t>(first_ + next_);
  next_ += words;
}

MachineInstruction Spills::access(Part p, uint32_t ptx, bool stores) const {
  const Place& place = places_[static_cast<size_t>(p.value)];
  MachineInstruction m;
  m.operation = stores ? Operation::StoreLocal : Operation::LoadLocal;
  const uint8_t words = stores ? p.count : code_.values[static_cast<size_t>(p.value)].words;
  const RegisterRange range{static_cast<int16_t>(place.now + (stores ? p.first : 0)), words};
  m.bytes = static_cast<uint8_t>(4 * words);
  m.ptx = ptx;
  m.spilled = static_cast<int32_t>(place.slot + (stores ? p.first : 0));
  m.mnemonic = stores ? (words == 1 ? "STL" : words == 2 ? "STL.64" : "STL.128") : words == 1 ? "LDL" : words == 2 ? "LDL.64" : "LDL.128";
  (stores ? m.reads[0] : m.writes[0]) = range;
  return m;
}

void Spills::load(Part p, uint32_t ptx, MachineText& text) {
  constexpr size_t kAhead = 24;  // instructions: what local memory takes
  const Place& place = places_[static_cast<size_t>(p.value)];
  if (place.now >= 0) return;
  take(p);
  const MachineInstruction loads = access(p, ptx, false);
  const auto words = static_cast<size_t>(loads.writes[0].count);
  size_t at = text.size() - std::min(text.size(), kAhead);
  for (size_t k = 0; k < words; ++k) {
    at = std::max(at, stored_before_[static_cast<size_t>(place.slot) + k]);
    if (const size_t r = static_cast<size_t>(place.now - first_) + k; r < free_from_.size()) at = std::max(at, free_from_[r]);
  }
  text.insert(text.begin() + static_cast<ptrdiff_t>(at), loads);
  for (size_t& from : free_from_) from += from > at;
  for (size_t& before : stored_before_) before += before > at;
  for (size_t k = 0; k < words; ++k)
    if (const size_t r = static_cast<size_t>(place.now - first_) + k; r < free_from_.size()) free_from_[r] = at + 1;
}

void Spills::store(Part p, uint32_t ptx, MachineText& text) {
  text.push_back(access(p, ptx, true));
  for (size_t k = 0; k < p.count; ++k)
    stored_before_[static_cast<size_t>(places_[static_cast<size_t>(p.value)].slot) + p.first + k] = text.size();
}

void Spills::use(Part p, const MachineText& text) {
  const Place& place = places_[static_cast<size_t>(p.value)];
  for (size_t k = 0; k < code_.values[static_cast<size_t>(p.value)].words; ++k)
    if (const size_t r = static_cast<size_t>(place.now - first_) + k; place.now >= 0 && r < free_from_.size()) free_from_[r] = text.size();
}

}  // namespace warpbeam::assembly
