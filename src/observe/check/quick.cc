// The accesses of compiled code whose outcome the rules of race.cc do not change: words that have a value, that nobody else's
// unordered write touched, and of which the warp's lanes are the next readers or writers. They are looked at as whole
// stretches of cells; whatever is unusual is left to BlockWatch::access, before anything has been changed for its lanes.
#include <algorithm>
#include <cstring>

#include "observe/check/block_watch.h"
#include "observe/check/cells.h"

namespace warpbeam::observe::check {
namespace {

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

// How a stretch of cells changes when its words are read or written by lanes from `lane` on, each word by several of them if
// `by_many`. False: it has to be looked at cell by cell, and nothing has changed. `of_this_warp` says it of an event; -1: nobody
// knows any more. `readers` is set where the words have the same two readers, of two warps, and have had since the bound.
template <int kCells, class Find>
bool see(Cell* cells, uint32_t count, uint32_t lane, uint32_t words_of_lane, bool by_many, const Look& look, Find of_this_warp,
         Readers& readers) {
  using V = Cells<kCells>;
  const EventId first = cells->read_a, first_b = cells->read_b, bound = look.bound;
  const Summary s = sum_up<kCells>(cells, count, look.id);
  if (s.any_bits & kSplit) return false;
  const auto become = [&](auto f) {
    change<kCells>(cells, count, lane, words_of_lane, f);
    return true;
  };
  // Whether `bits` of each cell say that the lane itself did what an event of its warp did.
  const auto by_itself = [&](EventId event, uint32_t bits, int lanes_at) {
    if (by_many || of_this_warp(event) <= 0) return false;
    const V part = each_cell<kCells>(0, 0, 0, bits);
    V others{};
    change<kCells>(cells, count, lane, words_of_lane, [&](V v, V who) {
      others |= (v & part) ^ (who >> (kLaneOfA - lanes_at));
      return v;
    });
    return (fold(others, [](auto x, auto y) { return x | y; })[kRest]) == 0;
  };
  if (s.most_write >= bound && (s.differ_write || !by_itself(cells->write, kWriteLane, 0))) return false;
  if (look.writes) {
    if (s.most_b >= bound) return false;
    if (s.most_a >= bound && (s.differ_a || !by_itself(first, kALane | kAMany, kLaneOfA))) return false;
    const V fresh = each_cell<kCells>(look.id, 0, 0, kWholeValue);
    return become([&](V, V who) { return fresh | who >> 8; });
  }
  if (look.tracks_values && !(s.all_bits & kHasValue)) return false;
  if (s.least_a >= bound && s.least_b >= bound && (s.all_bits & kTwoWarps) && !s.has_id) {
    if (!s.differ_a && !s.differ_b) readers = {first, first_b};
    return true;
  }
  const V reader = each_cell<kCells>(0, look.id, 0, by_many ? kAMany : 0);
  if (s.most_a < bound) {
    const V keep = each_cell<kCells>(~0u, 0, ~0u, ~(kALane | kAMany | kTwoWarps));
    return become([&](V v, V who) { return (v & keep) | reader | who; });
  }
  if (s.differ_a) return false;
  const V lane_bits = each_cell<kCells>(0, 0, 0, kALane), many = each_cell<kCells>(0, 0, 0, kAMany);
  if (first == look.id) {  // another stretch of this access, or the last repetition of it
    return become([&](V v, V who) { return v | reader | (__builtin_convertvector((v & lane_bits) != who, V) & many); });
  }
  const int mine = of_this_warp(first);
  if (mine < 0) return false;
  if (mine) {
    if (!by_itself(first, kALane | kAMany, kLaneOfA)) return false;
    const V keep = each_cell<kCells>(~0u, 0, ~0u, ~0u);
    return become([&](V v, V) { return (v & keep) | reader; });
  }
  // The reader of another warp stays.
  const V keep = each_cell<kCells>(~0u, 0, 0, ~(kALane | kAMany | kBLane | kBMany)),
          fresh = reader | each_cell<kCells>(0, 0, first, kTwoWarps);
  readers = {look.id, first};
  return become([&](V v, V who) { return (v & keep) | fresh | (v & lane_bits) << 8 | (v & many) << 1 | who; });
}

// The same of one cell.
template <class Find>
bool see_cell(Cell& c, uint32_t lane, bool by_many, const Look& look, Find of_this_warp) {
  if (c.split || (c.write >= look.bound && (by_many || c.write_lane != lane || of_this_warp(c.write) <= 0))) return false;
  if (look.writes) {
    if (c.read_b >= look.bound) return false;
    if (c.read_a >= look.bound && (c.a_many || c.a_lane != lane || of_this_warp(c.read_a) <= 0)) return false;
    c = Cell{};
    c.write = look.id;
    c.write_lane = lane & 31;
    c.give_value(0xf);
    return true;
  }
  if (look.tracks_values && !c.init) return false;
  if (c.read_a == look.id) {
    if (by_many || c.a_lane != lane) c.a_many = 1;
    return true;
  }
  if (c.read_a < look.bound) {
    c.two_warps = 0;
  } else {
    if (c.read_b >= look.bound && c.two_warps) return true;
    const int mine = of_this_warp(c.read_a);
    // A reader of another warp stays; one of another lane stays where no other warp's has to.
    const bool other_lane = mine > 0 && (c.a_many || c.a_lane != lane);
    if (mine == 0 || (other_lane && (c.read_b < look.bound || of_this_warp(c.read_b) != 0))) {
      c.read_b = c.read_a;
      c.b_lane = c.a_lane;
      c.b_many = c.a_many;
      c.two_warps = mine == 0;
    }
  }
  c.read_a = look.id;
  c.a_lane = lane & 31;
  c.a_many = by_many;
  return true;
}

// A number of each cell, in all four of its places.
template <int kNumber, class V>
V spread(V v) {
  if constexpr (sizeof(V) == sizeof(Cells<1>)) return __builtin_shufflevector(v, v, kNumber, kNumber, kNumber, kNumber);
  else
    return __builtin_shufflevector(v, v, kNumber, kNumber, kNumber, kNumber, kNumber + 4, kNumber + 4, kNumber + 4, kNumber + 4,
                                   kNumber + 8, kNumber + 8, kNumber + 8, kNumber + 8, kNumber + 12, kNumber + 12, kNumber + 12,
                                   kNumber + 12);
}

// What see_cell does to cells side by side that are read, each with its own readers: nobody, this event, two warps, or this warp in
// the burst that it is in. False: one of them is otherwise, and nothing has changed. `who`: as `change` has it.
template <int kCells>
bool see_readers(Cell* cells, Cells<kCells> who, bool by_many, const Look& look) {
  using V = Cells<kCells>;
  V v;
  std::memcpy(&v, cells, sizeof v);
  const auto where = [](auto condition) { return __builtin_convertvector(condition, V); };
  const V write = spread<kWrite>(v), a = spread<kReadA>(v), b = spread<kReadB>(v), rest = spread<kRest>(v), lane = spread<kRest>(who);
  const uint32_t burst = look.id & ~(vm::kTogether - 1);
  const V again = where(a == look.id), first = where(a < look.bound), late_b = where(b >= look.bound);
  const V quiet = where((rest & kTwoWarps) != 0) & late_b & ~again & ~first;
  const V own = where(a - burst < vm::kTogether) & ~(again | first | quiet);
  V good = (again | first | quiet | (own & (~late_b | where(b - burst < vm::kTogether)))) & where((rest & kSplit) == 0) &
           where(write < look.bound);
  if (look.tracks_values) good &= where((rest & kHasValue) != 0);
  if (__builtin_reduce_and(good) == 0) return false;
  const V differs = where((rest & kALane) != lane) | where((rest & kAMany) != 0), moves = own & differs;
  const V many = V{} + (by_many ? kAMany : 0);
  const V fresh = (rest & ~(kALane | kAMany)) | lane | many;
  V now = (again & (rest | many | (where((rest & kALane) != lane) & kAMany))) | (first & fresh & ~kTwoWarps) | (quiet & rest) |
          (own & ~moves & fresh);
  now |= moves & ((fresh & ~(kTwoWarps | kBLane | kBMany)) | (rest & kALane) << 8 | (rest & kAMany) << 1);
  constexpr uint32_t kAll = ~0u;
  const V reader = (first | own) & look.id, kept = ~(first | own) & a, other = (moves & a) | (~moves & b);
  v = (v & each_cell<kCells>(kAll, 0, 0, 0)) | ((reader | kept) & each_cell<kCells>(0, kAll, 0, 0)) |
      (other & each_cell<kCells>(0, 0, kAll, 0)) | (now & each_cell<kCells>(0, 0, 0, kAll));
  std::memcpy(static_cast<void*>(cells), &v, sizeof v);
  return true;
}

// Words side by side that have different readers, as around a stencil's place. False: one of them is to be looked at closely; looking
// once more at those before it changes nothing.
template <int kCells, class Find>
bool see_each(Cell* cells, uint32_t count, uint32_t lane, uint32_t words_of_lane, bool by_many, const Look& look, Find of_this_warp) {
  for (uint32_t k = 0; k < count; k += kCells) {
    Cells<kCells> who{};
    for (uint32_t n = 0; n < kCells; ++n) who[4 * n + kRest] = (lane + (k + n) / words_of_lane) << kLaneOfA;
    if (!look.writes && see_readers<kCells>(cells + k, who, by_many, look)) continue;
    for (uint32_t n = k; n < k + kCells; ++n)
      if (!see_cell(cells[n], lane + n / words_of_lane, by_many, look, of_this_warp)) return false;
  }
  return true;
}

// Words side by side, each of which is read by the event of the same number in `ids`, by lanes from `lane` on; nobody has read
// them since the bound. False: it is not so, and nothing has changed.
constexpr uint32_t kAtOnce = 4;
bool see_first_readers(Cell* cells, const Cells<1>* ids, uint32_t count, uint32_t lane, bool by_many, const Look& look) {
  using V = Cells<kAtOnce>;
  V most{}, any{}, all = ~V{};
  for (uint32_t k = 0; k < count; k += kAtOnce) {
    V v;
    std::memcpy(&v, cells + k, sizeof v);
    most = __builtin_elementwise_max(most, v);
    any |= v;
    all &= v;
  }
  const Cells<1> high = fold(most, [](auto x, auto y) { return __builtin_elementwise_max(x, y); });
  const Cells<1> some = fold(any, [](auto x, auto y) { return x | y; }), every = fold(all, [](auto x, auto y) { return x & y; });
  if ((some[kRest] & kSplit) || high[kWrite] >= look.bound || high[kReadA] >= look.bound) return false;
  if (look.tracks_values && !(every[kRest] & kHasValue)) return false;
  const V keep = each_cell<kAtOnce>(~0u, 0, ~0u, ~(kALane | kAMany | kTwoWarps)),
          who = each_cell<kAtOnce>(0, 0, 0, lane << 8 | (by_many ? kAMany : 0));
  for (uint32_t k = 0; k < count; k += kAtOnce) {
    V v, readers;
    std::memcpy(&v, cells + k, sizeof v);
    std::memcpy(&readers, ids + k, sizeof readers);
    v = (v & keep) | who | readers;
    std::memcpy(static_cast<void*>(cells + k), &v, sizeof v);
  }
  return true;
}

}  // namespace

// Whether an event is of this warp; -1: nobody knows any more.
int BlockWatch::says_of_warp(const Quick& q, EventId id) const {
  const std::optional<Event> e = c_.log.find(id);
  return !e ? -1 : e->warp == q.warp && e->block == linear_ && e->op == l_.op;
}

// `words` side by side, `words_of_lane` for each lane from `lane` on; each is read by several lanes if `many`.
bool BlockWatch::sees_words(const Quick& q, uint64_t offset, uint32_t words, uint32_t lane, uint32_t words_of_lane, bool many) {
  const bool shared = q.shadow == &shared_;
  if (shared && !q.writes && is_quiet(offset, 4 * words, q.id)) return true;
  // Cells side by side mostly ask for the same event.
  EventId asked = 0;
  int answer = -1;
  const auto of_this_warp = [&](EventId id) {
    if (id != asked) asked = id, answer = says_of_warp(q, id);
    return answer;
  };
  Cell* const cells = &q.shadow->word(offset);
  if (words == 1) return see_cell(*cells, lane, many, q, of_this_warp);
  Readers readers;
  const bool seen = words % 4 ? see<1>(cells, words, lane, words_of_lane, many, q, of_this_warp, readers)
                              : see<4>(cells, words, lane, words_of_lane, many, q, of_this_warp, readers);
  if (shared && readers.b) note_quiet(offset, 4 * words, readers);
  if (seen) return true;
  return words % 4 ? see_each<1>(cells, words, lane, words_of_lane, many, q, of_this_warp)
                   : see_each<4>(cells, words, lane, words_of_lane, many, q, of_this_warp);
}

// --- lines of shared memory -----------------------------------------------------------------------------------------
// Most words that many warps read lie in lines all of whose words have the same two readers. Until a barrier, or an access
// that is looked at more closely, nothing changes in such a line but by those two.

void BlockWatch::note_quiet(uint64_t offset, uint64_t bytes, const Readers& readers) {
  if (lines_.empty()) lines_.resize(shared_.bytes() / kLine + 1);
  for (uint64_t k = (offset + kLine - 1) / kLine; (k + 1) * kLine <= offset + bytes; ++k) lines_[k] = {epoch_, readers};
}

// From now on compiled code looks at such accesses by itself first.
void BlockWatch::remember(uint32_t place, const Quick& q, uint64_t extent) {
  // What needs no looking at is like words that others read long ago.
  struct alignas(64) Quiet {
    std::array<std::array<uint32_t, kNumbers>, 64> words;
    Quiet() { words.fill({0, ~0u, ~0u, kTwoWarps | kWholeValue}); }
  };
  static const Quiet quiet;
  vm::WatchedSite& site = l_.sites[2 * place];
  site.era = c_.era;
  site.low = q.begin;
  site.span = q.end - q.begin - extent;
  site.words = q.shadow ? reinterpret_cast<uint64_t>(q.shadow->words()) - 4 * q.zero : reinterpret_cast<uint64_t>(quiet.words.data());
  site.reach = q.shadow ? ~uint64_t{0} : 0;
  site.required = q.shadow && q.tracks_values ? kHasValue : 0;
}

// --- settled shared memory ------------------------------------------------------------------------------------------

// Whether all words that [begin, end) touches have a value, every byte of them. They keep it.
bool BlockWatch::has_values(const Quick& q, uint64_t begin, uint64_t end) {
  if (!q.tracks_values) return true;
  if (valued_.empty()) valued_.resize(shared_.bytes() / 256 + 1);
  for (uint64_t word = begin / 4, last = (end + 3) / 4; word < last;) {
    const uint64_t at = word % 64, count = std::min(64 - at, last - word), bits = (~uint64_t{0} >> (64 - count)) << at;
    uint64_t& known = valued_[word / 64];
    for (uint64_t left = bits & ~known; left; left &= left - 1) {
      const Cell& c = shared_.word(4 * (word - at + static_cast<uint64_t>(__builtin_ctzll(left))));
      if (c.init != 0xf || c.split) return false;
    }
    known |= bits;
    word += count;
  }
  return true;
}

// Compiled code sees by itself that such a load lies where there are values: from `before` bytes before its address on, `extent`.
void BlockWatch::remember_settled(uint32_t site, const Quick& q, uint64_t begin, uint64_t end, uint64_t before, uint64_t extent) {
  if (begin < valued_begin_ || end > valued_end_) {
    // Whose words have values in many short stretches is not looked at again and again.
    uint64_t first = begin - begin % 4, last = end + -end % 4;
    while (looked_around_ && first >= q.begin + 4 && has_values(q, first - 4, first)) first -= 4, --looked_around_;
    while (looked_around_ && last + 4 <= q.end && has_values(q, last, last + 4)) last += 4, --looked_around_;
    if (!looked_around_) return;
    valued_begin_ = first;
    valued_end_ = last;
  }
  begin = std::max(q.begin, valued_begin_);
  end = std::min(q.end, valued_end_);
  vm::WatchedSite& s = l_.sites[site];
  s.era = own_era_;
  s.low = begin + before;
  s.span = end - begin - extent;
}

bool BlockWatch::sees_settled(const vm::Insn& i, Quick& q, uint32_t mask, const vm::Pattern& p) {
  const uint32_t bytes = static_cast<uint32_t>(isa::bytes_of(i.type())) * i.count;
  const LaunchInfo::Known& known = l_.known_of(i);
  if (!bytes || (bytes & (bytes - 1))) return false;
  if (mask == ~0u && p.runs && p.stride >= 0) {
    const uint64_t run = static_cast<uint64_t>(p.stride) * (32 / p.runs - 1) + bytes,
                   last = p.first + static_cast<uint64_t>(p.gap * (p.runs - 1));
    const uint64_t low = std::min(p.first, last), high = std::max(p.first, last) + run;
    if ((p.first | static_cast<uint64_t>(p.gap) | static_cast<uint64_t>(p.stride)) & (bytes - 1)) return false;
    if (high <= low || !finds(q, i, known, low, high)) return false;
    if (has_values(q, low, high)) {
      warps_[q.warp].accesses(i, mask);
      remember_settled(2 * known.place, q, low, high, 0, run);
      return true;
    }
  }
  std::array<uint64_t, 32> at;
  uint64_t low, high;
  const uint64_t bits = places_of(p, mask, at, low, high);
  if (!mask || (bits & (bytes - 1)) || high + bytes <= low || !finds(q, i, known, low, high + bytes)) return false;
  for (uint32_t left = mask; left; left &= left - 1) {
    const uint64_t a = at[static_cast<size_t>(__builtin_ctz(left))];
    if (!has_values(q, a, a + bytes)) return false;
  }
  warps_[q.warp].accesses(i, mask);
  return true;
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
    const bool never_changes = region->kind == vm::MemoryKind::Constant && !region->cells;
    if (!never_changes && (!region->cells || region->is_of_host() || region->newest_use >= q.bound)) return false;
    q.shadow = region->cells;
    q.tracks_values = q.tracks_values && !region->initialised;
    q.zero = region->zero;
    q.begin = region->base;
    q.end = q.begin + region->size;
  }
  if (!c_.settings.race) q.bound = ~EventId{0};
  return true;
}

// Where each lane's access begins, and the least and the most of those of `mask`; gives the bits that any of these has.
uint64_t BlockWatch::places_of(const vm::Pattern& p, uint32_t mask, std::array<uint64_t, 32>& at, uint64_t& low, uint64_t& high) {
  using Lanes = uint64_t __attribute__((ext_vector_type(32)));
  constexpr Lanes kLane = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                           16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
  Lanes all;
  if (p.runs) {
    const uint64_t length = 32 / p.runs;
    all = p.first + static_cast<uint64_t>(p.stride) * (kLane & (length - 1)) +
          static_cast<uint64_t>(p.gap) * (kLane >> static_cast<uint64_t>(__builtin_ctzll(length)));
  } else {
    std::memcpy(&all, p.addresses, sizeof all);
  }
  std::memcpy(at.data(), &all, sizeof all);
  const Lanes on = -(((Lanes{} + mask) >> kLane) & 1), taken = all & on;
  low = __builtin_reduce_min(all | ~on);
  high = __builtin_reduce_max(taken);
  const uint64_t bits = __builtin_reduce_or(taken);
  return bits;
}

// Elements that are parts of words.
bool BlockWatch::sees_parts(const vm::Insn& i, const Quick& q, uint32_t mask, const std::array<uint64_t, 32>& at) {
  const auto of_this_warp = [&](EventId id) { return says_of_warp(q, id); };
  const auto element = static_cast<uint32_t>(isa::bytes_of(i.type()));
  if (q.shadow == &shared_) ++epoch_;
  bool good = true;
  for (uint32_t left = mask; left && good; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(left));
    for (uint32_t k = 0; k < i.count; ++k)
      q.shadow->each(at[lane] - q.zero + k * element, element,
                     [&](Cell& c, uint64_t, uint32_t) { good = good && see_cell(c, lane, false, q, of_this_warp); });
  }
  return good;
}

// Lanes that are looked at one by one.
bool BlockWatch::sees_lanes(const vm::Insn& i, Quick& q, uint32_t active, uint32_t mask, const vm::Pattern& p) {
  const uint32_t bytes = static_cast<uint32_t>(isa::bytes_of(i.type())) * i.count;
  std::array<uint64_t, 32> at;
  uint64_t low, high;
  const uint64_t bits = places_of(p, mask, at, low, high);
  high += bytes;
  const LaunchInfo::Known& known = l_.known_of(i);
  if (!mask || (bits & (bytes - 1)) || high <= low || !finds(q, i, known, low, high)) return false;
  warps_[q.warp].accesses(i, mask);
  q.id = event_of(q.warp, known.place, active);
  if (!q.shadow) return true;
  const auto of_this_warp = [&](EventId id) { return says_of_warp(q, id); };
  for (uint32_t left = mask; left; left &= left - 1)
    __builtin_prefetch(&q.shadow->word(at[static_cast<size_t>(__builtin_ctz(left))] - q.zero), 1);
  if (bytes / i.count < 4) return sees_parts(i, q, mask, at);
  for (uint32_t left = mask; left; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(left));
    for (uint32_t w = 0; w < bytes; w += 4)
      if (!see_cell(q.shadow->word(at[lane] - q.zero + w), lane, false, q, of_this_warp)) return false;
  }
  return true;
}

bool BlockWatch::sees_quickly(const vm::Insn& i, uint32_t warp, uint32_t active, uint32_t mask, const vm::Pattern& p) {
  static const bool layout = layout_holds();
  if (!layout) return false;
  if (!vm::loads_or_stores(i)) return sees_atomic(i, warp, active, mask, p);
  const bool writes = i.source->form.row->cls == isa::Class::Store;
  const uint32_t element = static_cast<uint32_t>(isa::bytes_of(i.type())), bytes = element * i.count;
  if (bytes > 16 || (bytes & (bytes - 1))) return false;
  if (strength_of(i, writes ? vm::AccessKind::Write : vm::AccessKind::Read) != Strength::Weak) return false;
  const LaunchInfo::Known& known = l_.known_of(i);
  if (writes && c_.sites[known.site].updates) return false;
  Quick q;
  q.warp = static_cast<uint16_t>(warp);
  q.writes = writes;
  if (p.settled) return sees_settled(i, q, mask, p);
  const bool dense = p.stride == static_cast<int64_t>(bytes);
  if (mask != ~0u || element < 4 || !p.runs || (!dense && (p.stride != 0 || writes))) return sees_lanes(i, q, active, mask, p);
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
  return !q.shadow || sees_runs(q, p, bytes);
}

// All lanes, `bytes` side by side or the same for all lanes of a run. Where a stretch is left to `access`, those before it are
// looked at once more, which changes nothing.
bool BlockWatch::sees_runs(const Quick& q, const vm::Pattern& p, uint32_t bytes) {
  const uint32_t words = bytes / 4, length = 32 / p.runs;
  const bool dense = p.stride != 0;
  const uint64_t first = p.first - q.zero;
  if (dense && p.runs > 1 && p.gap == static_cast<int64_t>(bytes) * length) return sees_words(q, first, 32 * words, 0, words, false);
  if (dense && p.runs > 1 && p.gap == 0 && !q.writes) return sees_words(q, first, words * length, 0, words, true);
  for (uint32_t run = 0; run < p.runs; ++run) {
    const uint64_t offset = first + static_cast<uint64_t>(p.gap * run);
    const bool many = !dense && length > 1;
    if ((q.writes && many) || !sees_words(q, offset, dense ? words * length : words, run * length, words, many)) return false;
  }
  return true;
}

bool BlockWatch::sees_batch(const vm::LoadBatch& batch, uint32_t warp, const vm::Pattern& p) {
  static const bool layout = layout_holds();
  const uint32_t bytes = batch.bytes, length = 32 / p.runs;
  if (!layout || (p.stride != 0 && p.stride != static_cast<int64_t>(bytes))) return false;
  const SettledBatch now{&batch, p.first, p.gap};
  SettledBatch* last = nullptr;
  if (batch.pattern.settled && !settled_.empty()) {
    last = &settled_[(batch.loads[0].place * 33 + warp) % settled_.size()];
    if (*last == now && words_.own_era == own_era_) return true;
  }
  if ((p.first | static_cast<uint64_t>(p.gap)) & (bytes - 1)) return false;
  const uint64_t last_run = p.first + static_cast<uint64_t>(p.gap * (p.runs - 1)),
                 extent = static_cast<uint64_t>(p.stride * (length - 1)) + bytes;
  const uint64_t low = std::min(p.first, last_run) + static_cast<uint64_t>(batch.least),
                 high = std::max(p.first, last_run) + static_cast<uint64_t>(batch.most) + extent;
  const vm::Insn& leader = *batch.loads[0].insn;
  Quick q;
  if (high <= low || !finds(q, leader, l_.known_of(leader), low, high)) return false;
  q.warp = static_cast<uint16_t>(warp);
  warps_[warp].accesses(*batch.loads.back().insn, ~0u);
  if (batch.pattern.settled) {
    if (has_values(q, low, high)) {
      remember_settled(2 * batch.loads[0].place + 1, q, low, high, static_cast<uint64_t>(-batch.least),
                       extent + static_cast<uint64_t>(batch.most - batch.least));
      return true;
    }
    for (const vm::LoadBatch::Load& load : batch.loads)
      for (uint32_t run = 0; run < p.runs; ++run) {
        const uint64_t at = p.first + static_cast<uint64_t>(load.offset + p.gap * run);
        if (!has_values(q, at, at + extent)) return false;
      }
    if (last) *last = now;
    else settled_.resize(1024);
    return true;
  }
  Cells<1> ids[vm::LoadBatch::kMost];
  const auto count = static_cast<uint32_t>(batch.loads.size());
  for (uint32_t k = 0, group = ~0u, first = 0; k < count; ++k) {
    const uint32_t place = batch.loads[k].place, inside = place % vm::kTogether;
    if (place - inside != group) {
      group = place - inside;
      first = event_of(warp, group, ~0u);
    }
    ids[k] = Cells<1>{0, first + inside, 0, 0};
  }
  if (!q.shadow) return true;
  uint32_t done = 0;
  if (batch.row && p.stride == 0 && bytes == 4) {
    const uint32_t all = count / kAtOnce * kAtOnce;
    uint32_t run = 0;
    while (run < p.runs &&
           see_first_readers(&q.shadow->word(p.first - q.zero + static_cast<uint64_t>(p.gap * run)), ids, all, run * length, length > 1, q))
      ++run;
    if (run == p.runs) done = all;
  }
  const uint64_t whole =
      q.shadow == &shared_ ? high - low - static_cast<uint64_t>(batch.most - batch.least) : 0;  // that a load reaches over
  for (uint32_t k = done; k < count; ++k) {
    const uint64_t offset = static_cast<uint64_t>(batch.loads[k].offset);
    q.id = ids[k][kReadA];
    if (whole && is_quiet(low - static_cast<uint64_t>(batch.least) + offset, whole, q.id)) continue;
    vm::Pattern one = p;
    one.first += offset;
    if (!sees_runs(q, one, bytes)) return false;
  }
  return true;
}

}  // namespace warpbeam::observe::check
