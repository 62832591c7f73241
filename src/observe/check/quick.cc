// The accesses of compiled code whose outcome the rules of race.cc do not change: words that have a value, that nobody else's
// unordered write touched, and of which the warp's lanes are the next readers or writers. They are looked at as whole
// stretches of cells; whatever is unusual is left to BlockWatch::access, before anything has been changed for its lanes.
#include <algorithm>
#include <cstring>

#include "observe/check/block_watch.h"

namespace warpbeam::observe::check {
namespace {

using namespace vm::words;

bool layout_holds() {
  Cell c, d;
  c.write_lane = c.a_lane = 0x1f;
  c.init = 0xf;
  c.has_value = 1;
  d.split = d.a_many = d.b_many = d.two_warps = 1;
  d.b_lane = 0x1f;
  uint32_t x[4], y[4];
  std::memcpy(x, &c, sizeof x);
  std::memcpy(y, &d, sizeof y);
  return x[kRest] == (kWriteLane | kALane | kWholeValue) && y[kRest] == (kSplit | kAMany | kBMany | kTwoWarps | kBLane);
}

// Some cells side by side, their words in a row.
template <int kCells>
using Cells __attribute__((ext_vector_type(4 * kCells))) = uint32_t;

template <int kCells>
Cells<kCells> each_cell(uint32_t write, uint32_t read_a, uint32_t read_b, uint32_t rest) {
  Cells<kCells> v;
  for (int k = 0; k < kCells; ++k) v[4 * k] = write, v[4 * k + 1] = read_a, v[4 * k + 2] = read_b, v[4 * k + 3] = rest;
  return v;
}

// All cells taken together, word by word.
template <class V, class F>
Cells<1> fold(V v, F f) {
  if constexpr (sizeof(V) == sizeof(Cells<1>)) return v;
  else return fold(f(v.lo, v.hi), f);
}

// What all cells of a stretch have in common.
struct Summary {
  uint32_t most_write = 0, most_a = 0, most_b = 0, least_a = ~0u, least_b = ~0u;
  uint32_t any_bits = 0, all_bits = ~0u;                    // of `rest`
  uint32_t differ = 0;                                      // from the first in read_a
  bool has_id = false;
};

template <int kCells>
Summary sum_up(const Cell* cells, uint32_t count, uint32_t first, EventId id) {
  using V = Cells<kCells>;
  V most{}, least = ~V{}, any{}, all = ~V{}, differ{}, ids{};
  for (uint32_t k = 0; k < count; k += kCells) {
    V v;
    std::memcpy(&v, cells + k, sizeof v);
    most = __builtin_elementwise_max(most, v);
    least = __builtin_elementwise_min(least, v);
    any |= v;
    all &= v;
    differ |= v ^ first;
    ids |= __builtin_convertvector(v == id, V);
  }
  const auto larger = [](auto x, auto y) { return __builtin_elementwise_max(x, y); };
  const auto smaller = [](auto x, auto y) { return __builtin_elementwise_min(x, y); };
  const auto either = [](auto x, auto y) { return x | y; };
  const auto both = [](auto x, auto y) { return x & y; };
  const Cells<1> high = fold(most, larger), low = fold(least, smaller), some = fold(any, either), every = fold(all, both);
  Summary s;
  s.most_write = high[kWrite];
  s.most_a = high[kReadA];
  s.most_b = high[kReadB];
  s.least_a = low[kReadA];
  s.least_b = low[kReadB];
  s.any_bits = some[kRest];
  s.all_bits = every[kRest];
  s.differ = fold(differ, either)[kReadA];
  s.has_id = fold(ids, either)[kReadA] != 0;
  return s;
}

// f(the cells as they are, in each cell's `rest` place the bits of who reads it) gives what they become.
template <int kCells, class F>
void change(Cell* cells, uint32_t count, uint32_t lane, uint32_t words_of_lane, F f) {
  using V = Cells<kCells>;
  V who{};
  for (uint32_t k = 0; k < kCells; ++k) who[4 * k + kRest] = (lane + k / words_of_lane) << 8;
  const V step = each_cell<kCells>(0, 0, 0, kCells / words_of_lane << 8);
  for (uint32_t k = 0; k < count; k += kCells) {
    V v;
    std::memcpy(&v, cells + k, sizeof v);
    v = f(v, who);
    std::memcpy(static_cast<void*>(cells + k), &v, sizeof v);
    who += step;
  }
}

// How a stretch of cells changes when its words are read or written by lanes from `lane` on. False: it has to be looked at
// cell by cell, and nothing has changed. `of_this_warp` says it of an event; -1: nobody knows any more.
template <int kCells, class Find>
bool see(Cell* cells, uint32_t count, uint32_t lane, uint32_t words_of_lane, EventId id, EventId bound, bool writes, bool tracks_values, Find of_this_warp) {
  using V = Cells<kCells>;
  uint32_t first;
  std::memcpy(&first, reinterpret_cast<const std::byte*>(cells) + sizeof first, sizeof first);
  const Summary s = sum_up<kCells>(cells, count, first, id);
  if ((s.any_bits & kSplit) || s.most_write >= bound) return false;
  const auto become = [&](auto f) {
    change<kCells>(cells, count, lane, words_of_lane, f);
    return true;
  };
  if (writes) {
    if (s.most_a >= bound || s.most_b >= bound) return false;
    const V fresh = each_cell<kCells>(id, 0, 0, kWholeValue);
    return become([&](V, V who) { return fresh | who >> 8; });
  }
  if (tracks_values && !(s.all_bits & kHasValue)) return false;
  if (s.least_a >= bound && s.least_b >= bound && (s.all_bits & kTwoWarps) && !s.has_id) return true;
  if (s.most_a < bound) {
    const V keep = each_cell<kCells>(~0u, 0, ~0u, ~(kALane | kAMany | kTwoWarps)), reader = each_cell<kCells>(0, id, 0, 0);
    return become([&](V v, V who) { return (v & keep) | reader | who; });
  }
  if (s.differ) return false;
  const V lane_bits = each_cell<kCells>(0, 0, 0, kALane);
  if (first == id) {  // another stretch of this access, or the last repetition of it
    const V many = each_cell<kCells>(0, 0, 0, kAMany);
    return become([&](V v, V who) { return v | (__builtin_convertvector((v & lane_bits) != who, V) & many); });
  }
  const int mine = of_this_warp(first);
  if (mine < 0) return false;
  if (mine) {
    V others{};
    change<kCells>(cells, count, lane, words_of_lane, [&](V v, V who) {
      others |= (v & lane_bits) ^ who;
      return v;
    });
    uint32_t any = s.any_bits & kAMany;
    for (int k = kRest; k < 4 * kCells; k += 4) any |= others[k];
    if (any) return false;
    const V keep = each_cell<kCells>(~0u, 0, ~0u, ~0u), reader = each_cell<kCells>(0, id, 0, 0);
    return become([&](V v, V) { return (v & keep) | reader; });
  }
  // The reader of another warp stays.
  const V keep = each_cell<kCells>(~0u, 0, 0, ~(kALane | kAMany | kBLane | kBMany)), fresh = each_cell<kCells>(0, id, first, kTwoWarps);
  const V many = each_cell<kCells>(0, 0, 0, kAMany);
  return become([&](V v, V who) { return (v & keep) | fresh | (v & lane_bits) << 8 | (v & many) << 1 | who; });
}

// The same of one cell.
template <class Find>
bool see_cell(Cell& c, uint32_t lane, EventId id, EventId bound, bool writes, bool tracks_values, Find of_this_warp) {
  if (c.split || c.write >= bound) return false;
  if (writes) {
    if (c.read_a >= bound || c.read_b >= bound) return false;
    c = Cell{};
    c.write = id;
    c.write_lane = lane & 31;
    c.give_value(0xf);
    return true;
  }
  if (tracks_values && !c.init) return false;
  if (c.read_a == id) {
    if (c.a_lane != lane) c.a_many = 1;
    return true;
  }
  if (c.read_a < bound) {
    c.two_warps = 0;
  } else {
    if (c.read_b >= bound && c.two_warps) return true;
    const int mine = of_this_warp(c.read_a);
    if (mine < 0 || (mine && (c.a_many || c.a_lane != lane))) return false;
    if (!mine) {
      c.read_b = c.read_a;
      c.b_lane = c.a_lane;
      c.b_many = c.a_many;
      c.two_warps = 1;
    }
  }
  c.read_a = id;
  c.a_lane = lane & 31;
  c.a_many = 0;
  return true;
}

}  // namespace

// `words` side by side, `words_of_lane` for each lane from `lane` on.
bool BlockWatch::sees_words(const Quick& q, uint64_t offset, uint32_t words, uint32_t lane, uint32_t words_of_lane) {
  const auto of_this_warp = [&](EventId id) {
    const std::optional<Event> e = c_.log.find(id);
    return !e ? -1 : e->warp == q.warp && e->block == linear_ && e->op == l_.op;
  };
  Cell* const cells = &q.shadow->word(offset);
  if (words == 1) return see_cell(*cells, lane, q.id, q.bound, q.writes, q.tracks_values, of_this_warp);
  if (words % 4) return see<1>(cells, words, lane, words_of_lane, q.id, q.bound, q.writes, q.tracks_values, of_this_warp);
  return see<4>(cells, words, lane, words_of_lane, q.id, q.bound, q.writes, q.tracks_values, of_this_warp);
}

// The words that the access has just been seen to read are read by several lanes.
void BlockWatch::read_by_many(const Quick& q, uint64_t offset, uint32_t words) {
  for (uint32_t k = 0; k < words; ++k) {
    Cell& c = q.shadow->word(offset + 4 * k);
    c.a_many |= c.read_a == q.id;
  }
}

// The words of one address, which several lanes mean when `many`; `lane` is the first.
bool BlockWatch::sees_one(const Quick& q, uint64_t offset, uint32_t words, uint32_t lane, bool many) {
  if (q.writes && many) return false;
  if (!sees_words(q, offset, words, lane, words)) return false;
  if (many) read_by_many(q, offset, words);
  return true;
}

// From now on compiled code looks at such accesses by itself first.
void BlockWatch::remember(uint32_t place, const Quick& q, uint64_t extent) {
  // What needs no looking at is like words that others read long ago.
  struct alignas(64) Quiet {
    std::array<std::array<uint32_t, kNumbers>, 64> words;
    Quiet() { words.fill({0, ~0u, ~0u, kTwoWarps | kWholeValue}); }
  };
  static const Quiet quiet;
  vm::WatchedSite& site = l_.sites[place];
  site.era = c_.era;
  site.low = q.begin;
  site.span = q.end - q.begin - extent;
  site.words = q.shadow ? reinterpret_cast<uint64_t>(q.shadow->words()) - 4 * q.zero : reinterpret_cast<uint64_t>(quiet.words.data());
  site.reach = q.shadow ? ~uint64_t{0} : 0;
  site.required = q.shadow && q.tracks_values ? kHasValue : 0;
}

// Where [low, high) lies, if it is a place of which nothing but its cells has to be looked at.
bool BlockWatch::finds(Quick& q, const vm::Insn& i, const LaunchInfo::Known& known, uint64_t low, uint64_t high) {
  const isa::Space space = i.mods().space;
  q.tracks_values = c_.settings.init;
  if (space == isa::Space::Shared || space == isa::Space::SharedCluster) {
    if (copies_ || block_.leader->members.size() > 1) return false;
    const auto holds = [&](const LaunchInfo::SharedVariable& v) { return low >= v.offset && high <= uint64_t(v.offset) + v.size; };
    const auto v = std::ranges::find_if(l_.shared, holds);
    if (v == l_.shared.end()) return false;
    q.begin = v->offset;
    q.end = q.begin + v->size;
    q.shadow = &shared_;
    q.bound = base_;
  } else {
    const Region* region = known.regions == c_.regions.version() ? known.region : nullptr;
    q.bound = l_.ordered_below;
    if (!region || low < region->base || high > region->base + region->size) return false;
    const bool constant = region->kind == vm::MemoryKind::Constant;
    if (!constant && (!region->cells || region->kind != vm::MemoryKind::Device || region->newest_use >= q.bound)) return false;
    if (!constant) q.shadow = region->cells;
    q.tracks_values = q.tracks_values && !region->initialised;
    q.zero = region->zero;
    q.begin = region->base;
    q.end = q.begin + region->size;
  }
  if (!c_.settings.race) q.bound = ~EventId{0};
  return true;
}

// Lanes that are looked at one by one.
bool BlockWatch::sees_lanes(const vm::Insn& i, Quick& q, uint32_t active, uint32_t mask, const vm::Pattern& p) {
  const uint32_t bytes = static_cast<uint32_t>(isa::bytes_of(i.type())) * i.count;
  std::array<uint64_t, 32> at;
  const int length = p.runs ? 32 / static_cast<int>(p.runs) : 0;
  for (int l = 0; l < 32; ++l) at[static_cast<size_t>(l)] = p.runs ? p.first + static_cast<uint64_t>(p.stride * (l % length) + p.gap * (l / length)) : p.addresses[l];
  uint64_t low = ~uint64_t{0}, high = 0, bits = 0;
  for (uint32_t left = mask; left; left &= left - 1) {
    const uint64_t a = at[static_cast<size_t>(__builtin_ctz(left))];
    low = std::min(low, a);
    high = std::max(high, a + bytes);
    bits |= a;
  }
  const LaunchInfo::Known& known = l_.known_of(i);
  if (!mask || (bits & (bytes - 1)) || high <= low || !finds(q, i, known, low, high)) return false;
  warps_[q.warp].accesses(i, mask);
  q.id = event_of(q.warp, known.place, active);
  if (!q.shadow) return true;
  const auto of_this_warp = [&](EventId id) {
    const std::optional<Event> e = c_.log.find(id);
    return !e ? -1 : e->warp == q.warp && e->block == linear_ && e->op == l_.op;
  };
  for (uint32_t left = mask; left; left &= left - 1) __builtin_prefetch(&q.shadow->word(at[static_cast<size_t>(__builtin_ctz(left))] - q.zero), 1);
  for (uint32_t left = mask; left; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(left));
    for (uint32_t w = 0; w < bytes; w += 4)
      if (!see_cell(q.shadow->word(at[lane] - q.zero + w), lane, q.id, q.bound, q.writes, q.tracks_values, of_this_warp)) return false;
  }
  return true;
}

bool BlockWatch::sees_quickly(const vm::Insn& i, uint32_t warp, uint32_t active, uint32_t mask, const vm::Pattern& p) {
  static const bool layout = layout_holds();
  if (!layout || !vm::loads_or_stores(i)) return false;
  const bool writes = i.source->form.row->cls == isa::Class::Store;
  const uint32_t element = static_cast<uint32_t>(isa::bytes_of(i.type())), bytes = element * i.count;
  if (element < 4 || bytes > 16 || (bytes & (bytes - 1))) return false;
  if (strength_of(i, writes ? vm::AccessKind::Write : vm::AccessKind::Read) != Strength::Weak) return false;
  const LaunchInfo::Known& known = l_.known_of(i);
  if (writes && c_.sites[known.site].updates) return false;
  Quick q;
  q.warp = static_cast<uint16_t>(warp);
  q.writes = writes;
  const bool dense = p.stride == static_cast<int64_t>(bytes);
  if (mask != ~0u || !p.runs || (!dense && (p.stride != 0 || writes))) return sees_lanes(i, q, active, mask, p);
  const int length = 32 / static_cast<int>(p.runs);
  // Where all of it lies.
  const uint64_t last_run = p.first + static_cast<uint64_t>(p.gap * (p.runs - 1));
  const uint64_t extent = static_cast<uint64_t>(p.stride * (length - 1)) + bytes;
  const uint64_t low = std::min(p.first, last_run), high = std::max(p.first, last_run) + extent;
  if ((p.first | static_cast<uint64_t>(p.gap)) & (bytes - 1)) return false;
  if (!finds(q, i, known, low, high)) return false;
  warps_[warp].accesses(i, mask);
  q.id = event_of(warp, known.place, active);
  remember(known.place, q, extent);
  if (!q.shadow) return true;
  const uint64_t zero = q.zero;
  // Where a stretch is left to `access`, those before it are looked at once more, which changes nothing.
  const uint32_t words = bytes / 4;
  if (dense && p.runs > 1 && p.gap == static_cast<int64_t>(bytes) * length) return sees_words(q, low - zero, 32 * words, 0, words);
  if (dense && p.runs > 1 && p.gap == 0 && !writes) {
    const uint32_t all = words * static_cast<uint32_t>(length);
    if (!sees_words(q, low - zero, all, 0, words)) return false;
    if (q.shadow->word(low - zero).read_a == q.id) read_by_many(q, low - zero, all);
    return true;
  }
  for (uint32_t run = 0; run < p.runs; ++run) {
    const uint64_t offset = p.first + static_cast<uint64_t>(p.gap * run) - zero;
    const uint32_t lane = run * static_cast<uint32_t>(length);
    if (!(dense ? sees_words(q, offset, words * static_cast<uint32_t>(length), lane, words) : sees_one(q, offset, words, lane, length > 1))) return false;
  }
  return true;
}

}  // namespace warpbeam::observe::check
