#include "observe/profiler/traffic.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "model/atomic_turns.h"
#include "model/bank_words.h"
#include "model/transactions.h"
#include "observe/profiler/fragments.h"
#include "vm/access.h"
#include "vm/spans.h"

namespace warpbeam::observe {
namespace {

using isa::Space;
using model::GlobalRule;
using model::GlobalTraffic;
using model::WarpAccess;

WarpAccess to_model(const vm::Access& access) {
  WarpAccess out;
  out.address = access.address;
  out.active = access.mask;
  out.bytes_per_lane = static_cast<int>(access.bytes);
  out.store = access.kind == vm::AccessKind::Write;
  return out;
}

model::LoadPath load_path(const vm::Insn& insn) {
  const isa::Mods& mods = insn.mods();
  if (mods.nc) return model::LoadPath::ReadOnly;
  switch (mods.cache) {
    case isa::Cache::Ca: return model::LoadPath::L1;
    case isa::Cache::Cg:
    case isa::Cache::Cs:
    case isa::Cache::Cv: return model::LoadPath::L2;
    default: return model::LoadPath::Default;
  }
}

template <class T>
using Lanes __attribute__((ext_vector_type(32))) = T;

// Most accesses lie close together: then a bit for each place tells how many places there are.
struct Near {
  const std::array<uint64_t, 32>& at;  // lanes that take no part repeat one that does
  Lanes<uint64_t> lanes;
  uint64_t low, high;

  explicit Near(const vm::Access& access) : at(access.address) {
    std::memcpy(&lanes, at.data(), sizeof lanes);
    low = __builtin_reduce_min(lanes);
    high = __builtin_reduce_max(lanes);
  }
  // Whether all lie in 64 pieces of 2^shift bytes, counted from the one that holds the lowest.
  bool within(int shift) const { return (high >> shift) - (low >> shift) < 64; }
  uint64_t places(int shift) const {
    uint64_t bits = 0;
    for (uint32_t l = 0; l < 32; ++l) bits |= uint64_t(1) << ((at[l] >> shift) - (low >> shift));
    return bits;
  }
  // How many different addresses there are, if they never fall from lane to lane; else 0.
  unsigned runs() const {
    uint32_t steps = 0, falls = 0;
    for (uint32_t l = 1; l < 32; ++l) {
      steps += at[l] != at[l - 1];
      falls += at[l] < at[l - 1];
    }
    return falls ? 0 : steps + 1;
  }
  unsigned count(int shift) const { return static_cast<unsigned>(std::popcount(places(shift))); }
};

// One request by the rule of sectors: how many are moved, counting those that are moved again, and how many are different.
void add(Traffic& t, const vm::Access& access, unsigned moved, unsigned sectors, unsigned lines, unsigned addresses) {
  const unsigned packed = (static_cast<unsigned>(std::popcount(access.mask)) * access.bytes + 31) / 32;
  t.requests += 1;
  t.transactions += moved;
  t.sectors += sectors;
  t.ideal += std::min(sectors, packed);
  t.lines += lines;
  t.bytes += uint64_t(addresses) * access.bytes;
  t.bytes_moved += 32 * moved;
}

// By the rule of sectors. False: too far apart, or lanes that are not aligned.
bool count_near(const vm::Access& access, const Near& near, Traffic& t) {
  const int size = std::countr_zero(access.bytes);
  if (!near.within(5)) return false;
  const unsigned different = near.within(size) ? near.count(size) : near.runs();
  if (!different) return false;
  const unsigned sectors = near.count(5);
  add(t, access, sectors, sectors, near.count(7), different);
  return true;
}

// Each lane's number is the one that the lane so far behind it had.
template <int By, class T, size_t... L>
Lanes<T> turned(const Lanes<T>& keys, std::index_sequence<L...>) {
  return __builtin_shufflevector(keys, keys, (L + By) % 32 ...);
}

template <class T, size_t... By>
bool all_differ(const Lanes<T>& keys, std::index_sequence<By...>) {
  Lanes<T> same{};
  ((same |= __builtin_convertvector(keys == turned<By + 1>(keys, std::make_index_sequence<32>()), Lanes<T>)), ...);
  return __builtin_reduce_or(same) == 0;
}

// How many different numbers there are among them; none is the highest there is.
template <class T>
unsigned count_different(const Lanes<T>& keys) {
  if (all_differ(keys, std::make_index_sequence<16>())) return 32;
  T row[64];
  std::fill_n(row + 32, 32, static_cast<T>(~0u));
  std::memcpy(row, &keys, sizeof keys);
  Lanes<T> again{};  // there is the same one further on
  for (uint32_t by = 1; by < 32; ++by) {
    Lanes<T> later;
    std::memcpy(&later, row + by, sizeof later);
    again |= __builtin_convertvector(keys == later, Lanes<T>);
  }
  return static_cast<uint16_t>(32 + __builtin_reduce_add(again));  // each of them is -1
}

// Of pieces of 2^shift bytes, the last of which is `range` bytes after the first.
unsigned count_pieces(const Lanes<uint32_t>& at, int shift, uint64_t range) {
  if (range >> shift < 0xffff) return count_different<uint16_t>(__builtin_convertvector(at >> shift, Lanes<uint16_t>));
  return count_different<uint32_t>(at >> shift);
}

// The same for lanes that are anywhere within 4 GiB. False: further apart, or not aligned.
bool count_far(const vm::Access& access, const Near& near, Traffic& t) {
  const uint64_t base = near.low & ~uint64_t{127}, range = near.high - base;
  if ((__builtin_reduce_or(near.lanes) & (access.bytes - 1)) || range >= ~0u) return false;
  const auto at = __builtin_convertvector(near.lanes - base, Lanes<uint32_t>);
  const unsigned lines = count_pieces(at, 7, range);
  const unsigned sectors = lines == 32 ? 32 : count_pieces(at, 5, range);
  const unsigned different = sectors == 32 ? 32 : count_pieces(at, 0, range);
  add(t, access, sectors, sectors, lines, different);
  return true;
}

// Lanes whose lines' tags meet in no bank take a turn for each time that a place is wanted.
struct Places {
  uint32_t piece[4] = {};                  // by bank: a line or half of one
  std::array<uint8_t, 512> wanted{};       // how often, by bank and offset
  std::array<uint8_t, 16> most{};          // of a sector
  unsigned moved = 0, sectors = 0, addresses = 0, lines = 0;

  // False: two of them meet in a bank.
  bool count(const Lanes<uint32_t>& at, uint64_t base, uint32_t mask, int shift) {
    uint32_t banks = 0, bank = 0, last = ~0u;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
      const uint32_t place = at[static_cast<uint32_t>(std::countr_zero(rest))], own = place >> shift;
      if (own != last) {
        bank = model::tag_bank(base + place);
        if ((banks >> bank & 1) && piece[bank] != own) return false;
        banks |= 1u << bank;
        piece[bank] = last = own;
      }
      const uint8_t times = ++wanted[bank << 7 | (place & 127)];
      uint8_t& of_sector = most[bank << 2 | (place >> 5 & 3)];
      addresses += times == 1;
      sectors += of_sector == 0;
      moved += times > of_sector;
      of_sector = std::max(of_sector, times);
    }
    lines = static_cast<unsigned>(std::popcount(banks));
    return true;
  }
};

// Whether a warp's lanes never go back to an earlier address, or all do: then no turn parts the lanes of a sector.
bool in_order(const Lanes<uint32_t>& at, uint32_t mask) {
  uint32_t last = at[static_cast<uint32_t>(std::countr_zero(mask))];
  bool rises = false, falls = false;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const uint32_t place = at[static_cast<uint32_t>(std::countr_zero(rest))];
    rises |= place > last;
    falls |= place < last;
    last = place;
  }
  return !(rises && falls);
}

// Atomic operations (model/atomic_turns.h). False: too far apart, or not aligned.
bool count_atomic(const vm::Access& access, const Near& near, bool compares, Traffic& t, bool& anywhere) {
  const uint64_t base = near.low & ~uint64_t{127}, range = near.high - base;
  if ((__builtin_reduce_or(near.lanes) & (access.bytes - 1)) || range >= ~0u) return false;
  const auto at = __builtin_convertvector(near.lanes - base, Lanes<uint32_t>);
  if (access.mask == ~0u && all_differ(at >> 5, std::make_index_sequence<16>())) {
    add(t, access, 32, 32, count_pieces(at, 7, range), 32);
    return true;
  }
  Places places;
  if (places.count(at, base, access.mask, model::AtomicTurns::piece_shift(compares))) {
    anywhere = places.lines == 1 || in_order(at, access.mask);
    add(t, access, places.moved, places.sectors, places.lines, places.addresses);
    return true;
  }
  unsigned moved = 0;
  for (model::AtomicTurns turns(near.at, access.mask, compares); !turns.done();) moved += static_cast<unsigned>(turns.next().sectors);
  anywhere = in_order(at, access.mask);
  add(t, access, moved, count_pieces(at, 5, range), count_pieces(at, 7, range), count_pieces(at, 0, range));
  return true;
}

void add(Traffic& t, const WarpAccess& access, const GlobalTraffic& traffic, int distinct_sectors) {
  t.requests += static_cast<uint64_t>(traffic.requests);
  t.transactions += static_cast<uint64_t>(traffic.segment_count);
  t.sectors += static_cast<uint64_t>(distinct_sectors);
  t.ideal += static_cast<uint64_t>(std::min((traffic.bytes_requested + 31) / 32, distinct_sectors));
  t.lines += static_cast<uint64_t>(traffic.lines);
  t.bytes += static_cast<uint64_t>(model::distinct_bytes(access));
  t.bytes_moved += static_cast<uint64_t>(traffic.bytes_moved());
}

bool count_global(const model::Device& device, const vm::Insn& insn, const vm::Access& access, Traffic& t) {
  bool anywhere = true;
  const bool atomic = access.kind == vm::AccessKind::Atomic, compares = atomic && insn.mods().op == isa::Op::Cas;
  if (device.global_rule == GlobalRule::Sectors && std::has_single_bit(access.bytes) && access.bytes <= 32) {
    const Near near(access);
    if (atomic ? count_atomic(access, near, compares, t, anywhere) : count_near(access, near, t) || count_far(access, near, t))
      return anywhere;
  }
  WarpAccess warp = to_model(access);
  warp.compares = compares;
  const int distinct = model::global_traffic(GlobalRule::Sectors, warp).sectors;
  if (atomic) add(t, warp, model::global_atomic_traffic(device.global_rule, warp), distinct);
  else add(t, warp, model::global_traffic(device, warp, load_path(insn)), distinct);
  return !atomic;
}

// The words of local memory that lanes have at one offset stand side by side, 128 bytes for a warp.
void count_local(const vm::Access& access, Traffic& t) {
  const uint64_t words = std::max<uint32_t>(access.bytes / 4, 1);
  WarpAccess warp = to_model(access);
  warp.bytes_per_lane = static_cast<int>(std::min<uint32_t>(access.bytes, 4));
  t.requests += words;  // one for each, as measured
  for (uint64_t word = 0; word < words; ++word) {
    for (uint64_t l = 0; l < 32; ++l) {
      const uint64_t offset = access.address[l] + 4 * word;
      warp.address[l] = offset / 4 * 128 + 4 * l + offset % 4;
    }
    const GlobalTraffic traffic = model::global_traffic(GlobalRule::Sectors, warp);
    t.transactions += static_cast<uint64_t>(traffic.sectors);
    t.sectors += static_cast<uint64_t>(traffic.sectors);
    t.ideal += static_cast<uint64_t>(model::ideal_sectors(traffic));
    t.lines += static_cast<uint64_t>(traffic.lines);
    t.bytes += static_cast<uint64_t>(model::distinct_bytes(warp));
    t.bytes_moved += static_cast<uint64_t>(traffic.bytes_moved());
  }
}

model::SharedAtomic atomic_form(const vm::Insn& insn) {
  if (insn.mods().op == isa::Op::Cas) return model::SharedAtomic::CompareSwap;
  return insn.adds_one ? model::SharedAtomic::Increment : model::SharedAtomic::Plain;
}

void add(SharedPasses& s, const model::SharedTraffic& traffic) {
  s.wavefronts += static_cast<uint64_t>(traffic.wavefronts);
  s.conflicts += static_cast<uint64_t>(traffic.conflicts());
}

// Rounds of a loop of which each lane does as many as it needs: all load, and in each bank the first of them exchanges what it
// has loaded; of 8 bytes in each half of the warp, unless the first half has just changed what the second one's lane has
// loaded. Measured on an H100 (tests/profile/h100/shared_loops.csv).
void count_shared_loop(const model::Device& device, model::BankMode mode, const vm::Access& access, Counts& counts) {
  WarpAccess warp = to_model(access);
  const uint32_t half = access.bytes == 8 ? 16 : 32, banks = 128 / access.bytes;
  counts.shared.bytes += static_cast<uint64_t>(model::distinct_bytes(warp));
  while (warp.active) {
    ++counts.to_shared;
    const model::SharedTraffic loads = model::shared_traffic(device, warp, mode);
    add(counts.loop_loads, loads);
    counts.loop_loads.ideal += static_cast<uint64_t>(loads.ideal);
    counts.loop_loads.bytes += static_cast<uint64_t>(model::distinct_bytes(warp));
    std::array<uint64_t, 32> changed{};
    size_t through = 0;
    for (uint32_t first = 0; first < 32; first += half) {
      const uint32_t lanes = warp.active & (~0u >> (32 - half)) << first;
      if (!lanes) continue;
      counts.shared.wavefronts += 2;
      counts.shared.ideal += 2;
      const size_t before = through;
      uint32_t taken = 0;
      for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const auto lane = static_cast<size_t>(std::countr_zero(rest));
        const uint64_t address = access.address[lane], bank = address / access.bytes % banks;
        if (taken >> bank & 1) continue;
        taken |= 1u << bank;
        if (std::find(changed.begin(), changed.begin() + static_cast<long>(before), address) != changed.begin() + static_cast<long>(before))
          continue;
        changed[through++] = address;
        warp.active &= ~(1u << lane);
      }
    }
  }
}

void count_shared(const model::Device& device, model::BankMode mode, const vm::Insn& insn, const vm::Access& access, SharedPasses& s) {
  const bool atomic = access.kind == vm::AccessKind::Atomic;
  if (access.bytes == 4 && device.bank_rule == model::BankRule::Phases32 &&
      (!atomic || atomic_form(insn) == model::SharedAtomic::Increment)) {
    const model::BankWords words = model::bank_words(access.address.data());
    s += passes_of_words(1, words.most, words.all);
    return;
  }
  WarpAccess warp = to_model(access);
  warp.rows = loads_tiles(insn);
  const uint64_t lanes = static_cast<uint64_t>(std::popcount(access.mask));
  model::SharedTraffic traffic;
  if (atomic) {
    traffic = model::shared_atomic_traffic(device.bank_rule, warp, atomic_form(insn));
    s.ideal += (insn.mods().op == isa::Op::Cas ? 2 : 1) * std::max<uint64_t>((lanes * access.bytes + 127) / 128, 1);
  } else {
    traffic = model::shared_traffic(device, warp, mode);
    const uint64_t wavefronts = static_cast<uint64_t>(traffic.wavefronts);
    const uint64_t packed = (lanes * access.bytes + 127) / 128;
    s.ideal += device.bank_rule == model::BankRule::Phases32 ? std::min(wavefronts, packed) : static_cast<uint64_t>(traffic.ideal);
  }
  add(s, traffic);
  s.bytes += static_cast<uint64_t>(model::distinct_bytes(warp));
}

// How many different pairs of pieces, of 2^from_shift bytes and 2^to_shift bytes, the lanes copy between.
unsigned pairs(const vm::Access& from, const vm::Access& to, int from_shift, int to_shift) {
  std::array<std::pair<uint64_t, uint64_t>, 32> all;
  size_t count = 0;
  for (uint32_t rest = to.mask; rest; rest &= rest - 1) {
    const auto l = static_cast<size_t>(std::countr_zero(rest));
    all[count++] = {from.address[l] >> from_shift, to.address[l] >> to_shift};
  }
  std::sort(all.begin(), all.begin() + static_cast<long>(count));
  return static_cast<unsigned>(std::unique(all.begin(), all.begin() + static_cast<long>(count)) - all.begin());
}

// What passes L1 by is written as it comes: a sector again for each line of 128 bytes that a part of it is read from. Whole
// sectors that stay whole go by lines, others lane by lane.
void count_past_l1(const vm::Access& from, const vm::Access& to, Counts& counts) {
  const unsigned sectors = pairs(from, to, 5, 5), moved = pairs(from, to, 7, 5);
  const auto lanes = static_cast<unsigned>(std::popcount(to.mask));
  Traffic& t = counts.global;
  t.transactions = moved;
  t.bytes_moved = 32 * moved;
  t.sectors = sectors;
  t.ideal = std::min(sectors, (lanes * to.bytes + 31) / 32);
  counts.shared.wavefronts = 2 * sectors == lanes ? pairs(from, to, 7, 7) : lanes;
}

}  // namespace

// Both sides of a cp.async. Measured on an H100, but for places in shared memory that several lanes write.
void count_copy(const model::Device& device, const vm::Insn& insn, const vm::Access& from, const vm::Access& to, Counts& counts) {
  count_access(device, model::BankMode::FourBytes, insn, from, counts);
  ++counts.to_shared;
  const WarpAccess written = to_model(to);
  const model::SharedTraffic traffic = model::shared_copy_traffic(to_model(from), written);
  counts.shared.bytes = static_cast<uint64_t>(model::distinct_bytes(written));
  counts.shared.ideal = (static_cast<uint64_t>(std::popcount(to.mask)) * to.bytes + 127) / 128;
  if (insn.mods().cache == isa::Cache::Cg) return count_past_l1(from, to, counts);
  counts.shared.wavefronts = static_cast<uint64_t>(traffic.wavefronts);
  counts.shared.conflicts = static_cast<uint64_t>(traffic.conflicts());
}

uint64_t bank_bytes(const model::Device& device) {
  switch (device.bank_rule) {
    case model::BankRule::HalfWarp16: return 64;
    case model::BankRule::Banks32x8: return 256;
    default: return 128;
  }
}

SharedPasses passes_of_words(uint64_t times, uint64_t most, uint64_t words) {
  return {.wavefronts = most, .conflicts = most - times, .ideal = times, .bytes = 4 * words};
}

bool is_shared_loop(const vm::Insn& insn, int cc) {
  if (insn.source->form.row->cls != isa::Class::Atomic || insn.mods().space != Space::Shared || insn.mods().vec || cc < 70) return false;
  const isa::Op op = insn.mods().op;
  const uint64_t bytes = isa::bytes_of(insn.type());
  if (bytes == 4) return op == isa::Op::Add && insn.type() == isa::Type::F32;
  return bytes == 8 && op != isa::Op::Cas && op != isa::Op::Exch;
}

bool to_cluster(const vm::Access& access) {
  return access.space == Space::Shared && access.address[static_cast<size_t>(std::countr_zero(access.mask))] >= vm::kClusterStride;
}

namespace {

// What lanes ask for whole: a bulk copy, in pieces side by side.
void count_bulk(const vm::Access& access, Counts& counts) {
  for (uint32_t left = access.mask; left; left &= left - 1) {
    const uint64_t begin = access.address[static_cast<size_t>(std::countr_zero(left))], end = begin + access.bytes;
    const auto pieces = [&](uint64_t size) { return (end + size - 1) / size - begin / size; };
    if (access.space == Space::Shared) {
      counts.shared += SharedPasses{.wavefronts = pieces(128), .ideal = (access.bytes + 127) / 128, .bytes = access.bytes};
    } else {
      const uint64_t sectors = pieces(32);
      counts.global += Traffic{.requests = 1,
                               .transactions = sectors,
                               .sectors = sectors,
                               .ideal = (access.bytes + 31) / 32,
                               .lines = pieces(128),
                               .bytes = access.bytes,
                               .bytes_moved = 32 * sectors};
    }
  }
  ++(access.space == Space::Shared ? counts.to_shared : counts.to_global);
}

}  // namespace

bool count_access(const model::Device& device, model::BankMode mode, const vm::Insn& insn, const vm::Access& access, Counts& counts) {
  if (access.bytes > kMostOfLane && (access.space == Space::Global || (access.space == Space::Shared && !to_cluster(access)))) {
    count_bulk(access, counts);
    return true;
  }
  switch (access.space) {
    case Space::Global: ++counts.to_global; return count_global(device, insn, access, counts.global);
    case Space::Local:
      ++counts.to_local;
      count_local(access, counts.local);
      return true;
    case Space::Shared:
      // Another block's, over the network of the cluster: this multiprocessor's banks see none of it.
      if (to_cluster(access)) {
        ++counts.to_cluster;
        return true;
      }
      if (access.kind == vm::AccessKind::Atomic && is_shared_loop(insn, device.cc())) {
        count_shared_loop(device, mode, access, counts);
        return true;
      }
      ++counts.to_shared;
      count_shared(device, mode, insn, access, counts.shared);
      return true;
    default: return true;  // constants, parameters and arguments have paths of their own
  }
}

}  // namespace warpbeam::observe
