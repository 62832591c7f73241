// Registers: values in the order in which they begin, each in the lowest free ones.
#include <algorithm>
#include <optional>

#include "assembly/liveness.h"
#include "assembly/spills.h"

namespace warpbeam::assembly {
namespace {

// When each register of a bank is taken, as bits by place.
class Registers {
 public:
  Registers(int count, uint32_t places)
      : width_((2 * size_t(places) + 64) / 64 + 1), bits_(static_cast<size_t>(count) * width_), count_(count) {}

  bool free(int r, const std::vector<Segment>& segments) const {
    const uint64_t* bits = &bits_[static_cast<size_t>(r) * width_];
    for (const Segment& s : segments) {
      const size_t a = s.begin / 64, b = (s.end - 1) / 64;
      for (size_t w = a; w <= b; ++w)
        if (bits[w] & mask(s, w)) return false;
    }
    return true;
  }
  void take(int r, const std::vector<Segment>& segments) {
    uint64_t* bits = &bits_[static_cast<size_t>(r) * width_];
    for (const Segment& s : segments)
      for (size_t w = s.begin / 64; w <= (s.end - 1) / 64; ++w) bits[w] |= mask(s, w);
  }
  int count() const { return count_; }

 private:
  static uint64_t mask(const Segment& s, size_t w) {
    uint64_t m = ~uint64_t(0);
    if (w == s.begin / 64) m &= ~uint64_t(0) << (s.begin % 64);
    if (w == (s.end - 1) / 64) m &= ~uint64_t(0) >> (63 - (s.end - 1) % 64);
    return m;
  }
  size_t width_;
  std::vector<uint64_t> bits_;
  int count_;
};

// Small kernels get a few more than they need, in pairs (found with ptxas 13.0): they cost no warps.
int generous(int registers) {
  constexpr int kSmall = 14, kMedium = 24, kLeast = 8;
  const int even = (registers + 1) / 2 * 2;
  if (registers <= 3) return even;
  if (registers <= kSmall) return std::max(kLeast, even + 2);
  return registers < kMedium ? even : registers;
}

// Where each value is: its first register, or nowhere.
struct Places {
  std::vector<int16_t> where;
  std::vector<int32_t> spilled;  // values
  int most = 0;                  // registers
};

// `kept`: of the last registers, for values that live in memory while an instruction has them.
Places place_values(const DraftCode& code, const Target& target, bool roomy, bool wide_first, int kept) {
  // Where there is room, a register that a queued instruction reads is not written soon after: that would have to wait.
  constexpr uint32_t kLate = 8;
  constexpr int kRoomy = 30;
  const Liveness live(code);
  std::optional<Liveness> with_room;
  if (roomy) with_room.emplace(code, kLate);
  const Liveness& relaxed = roomy ? *with_room : live;
  const size_t n = code.values.size();
  std::vector<uint32_t> order;
  std::vector<uint32_t> begins(n, ~0u);
  for (size_t v = 0; v < n; ++v) {
    for (uint32_t k = 0; k < code.values[v].words; ++k)
      if (const auto& s = live.segments[live.first_word[v] + k]; !s.empty()) begins[v] = std::min(begins[v], s.front().begin);
    if (begins[v] != ~0u) order.push_back(static_cast<uint32_t>(v));
  }
  // Where they are many, those of several words come first, as they need neighbours.
  std::ranges::stable_sort(order, {},
                           [&](uint32_t v) { return std::pair{wide_first ? -std::min<int>(code.values[v].words, 4) : 0, begins[v]}; });
  constexpr int kMostBeyond = 32, kStackPointer = 1, kCallersOwn = 16, kWithCalls = 24;
  Registers general(kPredicates + kMostBeyond, live.places), predicates(7, live.places), uniform(63, live.places);
  std::vector<uint32_t> calls;  // places
  for (size_t b = 0; b < code.blocks.size(); ++b)
    for (size_t k = 0; k < code.blocks[b].text.size(); ++k)
      if (code.blocks[b].text[k].mnemonic == "CALL") calls.push_back(2 * (live.first_place[b] + static_cast<uint32_t>(k)) + 1);
  const auto over_call = [&](uint32_t v) {
    for (uint32_t k = 0; !calls.empty() && k < code.values[v].words; ++k)
      for (const Segment& s : live.segments[live.first_word[v] + k]) {
        const auto next = std::ranges::upper_bound(calls, s.begin);
        if (next != calls.end() && *next < s.end) return true;
      }
    return false;
  };
  Places places;
  places.where.assign(n, -1);
  places.most = kStackPointer + 1;
  // The vendor's assembler gets along with a few fewer than this one (docs/timing.md).
  constexpr int kOneMoreOf = 8;
  const int most = static_cast<int>(target.max_registers), general_limit = std::min(general.count(), most + most / kOneMoreOf - kept);
  for (uint32_t v : order) {
    const Value& value = code.values[v];
    Registers& bank = value.bank == Bank::General ? general : value.bank == Bank::Predicate ? predicates : uniform;
    const int words = value.words, align = words == 1 ? 1 : words == 2 ? 2 : 4;
    const uint32_t first = live.first_word[v];
    const int limit = value.bank == Bank::General ? general_limit : bank.count();
    // What a called function may use is not kept over the call.
    const int least = value.bank == Bank::General && over_call(v) ? kCallersOwn : 0;
    int found = -1;
    const auto look = [&](const Liveness& by, int up_to) {
      for (int r = least; r + words <= up_to && found < 0; r += align) {
        if (value.bank == Bank::General && r <= kStackPointer && kStackPointer < r + words) continue;
        bool ok = true;
        for (int k = 0; ok && k < words; ++k) ok = bank.free(r + k, by.segments[first + static_cast<uint32_t>(k)]);
        if (ok) found = r;
      }
    };
    if (value.bank == Bank::General && roomy) look(relaxed, std::min(limit, std::max(kRoomy, places.most)));
    if (found < 0) look(live, limit);
    if (found < 0) {
      if (value.bank == Bank::General) {
        places.spilled.push_back(static_cast<int32_t>(v));
        continue;
      }
      found = std::max(0, limit - words);
    } else {
      for (int k = 0; k < words; ++k)
        bank.take(found + k, (value.bank == Bank::General && roomy ? relaxed : live).segments[first + static_cast<uint32_t>(k)]);
    }
    if (value.bank == Bank::General) places.most = std::max(places.most, found + words);
    // What is beyond the last register shares one with others.
    constexpr int kShared = 2 * kMostBeyond;
    places.where[v] = static_cast<int16_t>(value.bank == Bank::General && found + words > kPredicates - 1 ? found - kShared : found);
  }
  if (!calls.empty()) places.most = std::max(places.most, kWithCalls);
  return places;
}

}  // namespace

void allocate(const DraftCode& code, const Target& target, bool roomy, bool wide_first, MachineCode& out) {
  Places places = place_values(code, target, roomy, wide_first, 0);
  const int limit = static_cast<int>(target.max_registers);
  const int kept = Spills::registers_for(places.spilled.size(), limit);
  if (!places.spilled.empty()) {
    places = place_values(code, target, roomy, wide_first, kept);
    places.most = limit;
  }
  Spills spills(code, places.spilled, kept, limit);
  out.spill_bytes = spills.bytes();
  if (target.cc >= 70) places.most = generous(places.most);
  out.registers = std::min<int>(places.most, static_cast<int>(std::max(target.max_registers, 16u)));

  const auto range = [&](Part p) -> RegisterRange {
    if (!p) return {};
    const Value& v = code.values[static_cast<size_t>(p.value)];
    const int first = spills.has(p) ? spills.place_of(p) : places.where[static_cast<size_t>(p.value)];
    if (first < 0) return {};
    const int base = v.bank == Bank::General ? 0 : v.bank == Bank::Predicate ? kPredicates : kUniform;
    return {static_cast<int16_t>(base + first + p.first), p.count};
  };
  const auto finish = [&](const std::vector<Draft>& text) {
    MachineText result;
    result.reserve(text.size());
    spills.begin_block();
    for (const Draft& d : text) {
      // Both sides got the same register after all, or one place in memory.
      if (d.copy && spills.has(d.reads[0]) && spills.has(d.writes[0])) continue;
      if (d.copy && range(d.reads[0]).first == range(d.writes[0]).first && range(d.reads[0]).first >= 0) continue;
      for (Part p : d.reads)
        if (spills.has(p)) spills.load(p, d.ptx, result);
      for (Part p : d.writes)
        if (spills.has(p)) d.keeps ? spills.load(p, d.ptx, result) : spills.take(p);
      MachineInstruction m;
      m.operation = d.operation;
      m.bytes = d.bytes;
      m.access = d.access;
      m.guarded = d.guarded;
      m.ptx = d.ptx;
      m.mnemonic = d.mnemonic;
      for (size_t k = 0; k < m.reads.size(); ++k) m.reads[k] = range(d.reads[k]);
      for (size_t k = 0; k < m.writes.size(); ++k) m.writes[k] = range(d.writes[k]);
      result.push_back(m);
      for (Part p : d.writes)
        if (spills.has(p)) spills.store(p, d.ptx, result);
      for (Part p : d.reads)
        if (spills.has(p)) spills.use(p, result);
      for (Part p : d.writes)
        if (spills.has(p)) spills.use(p, result);
    }
    return result;
  };
  for (size_t b = 0; b < code.blocks.size(); ++b) {
    const DraftBlock& d = code.blocks[b];
    if (d.repeats >= 0) {
      out.blocks[static_cast<size_t>(d.repeats)].unrolled = finish(d.text);
      continue;
    }
    out.blocks[b].text = finish(d.text);
    out.blocks[b].folded_into = d.folded_into;
    out.blocks[b].turns = d.turns;
  }
}

}  // namespace warpbeam::assembly
