#include <algorithm>
#include <bit>

#include "base/check.h"
#include "model/atomic_turns.h"
#include "model/transactions.h"

namespace warpbeam::model {
namespace {

constexpr int kSectorBytes = 32;
constexpr int kLineBytes = 128;

// A run of lanes that is looked at together: [first, first + count).
struct Lanes {
  int first;
  int count;
};

uint32_t mask_of(Lanes lanes) { return (lanes.count == 32 ? ~0u : (1u << lanes.count) - 1) << lanes.first; }

// Calls f(lane) for the active lanes of a part.
template <class F>
void for_active(const WarpAccess& access, Lanes part, F f) {
  for (uint32_t left = access.active & mask_of(part); left; left &= left - 1) f(std::countr_zero(left));
}

// A set of aligned addresses, in the order they were met. Neighbouring lanes mostly meet the newest one again; the
// small hash table keeps scattered accesses from comparing everything with everything.
class AddressSet {
 public:
  int count = 0;
  uint64_t operator[](int i) const { return value_[i]; }

  void insert(uint64_t address) {
    if (count > 0 && value_[count - 1] == address) return;
    uint32_t slot = static_cast<uint32_t>(address * 0x9e3779b97f4a7c15u >> 57);
    for (; slots_[slot] != 0; slot = (slot + 1) % 128)
      if (value_[slots_[slot] - 1] == address) return;
    WB_ASSERT(count < 64);
    value_[count++] = address;
    slots_[slot] = static_cast<uint8_t>(count);
  }

 private:
  uint64_t value_[64];
  uint8_t slots_[128] = {};  // index into value_ plus one; 0 = free
};

void add_segment(GlobalTraffic& traffic, uint64_t address, int bytes) {
  WB_ASSERT(traffic.segment_count < 64);
  traffic.segment[traffic.segment_count++] = {address, bytes};
  traffic.sectors += bytes / kSectorBytes;
}

// Aligned pieces of `size` bytes that the lanes of a part touch.
void collect(const WarpAccess& access, Lanes part, uint64_t size, AddressSet& pieces) {
  for_active(access, part, [&](int lane) {
    uint64_t begin = access.address[lane] / size * size;
    uint64_t end = access.address[lane] + access.bytes_per_lane;
    for (uint64_t piece = begin; piece < end; piece += size) pieces.insert(piece);
  });
}

// 1.0, 1.1. The k-th lane has to use the k-th word of an aligned segment; otherwise every lane pays for itself.
void strict_half_warp(const WarpAccess& access, Lanes half, GlobalTraffic& traffic) {
  int size = access.bytes_per_lane;
  bool in_order = size >= 4;
  bool any = false;
  uint64_t base = 0;
  for_active(access, half, [&](int lane) {
    uint64_t start = access.address[lane] - static_cast<uint64_t>(lane - half.first) * size;
    if (!any) base = start;
    any = true;
    in_order = in_order && start == base;
  });
  if (!any) return;
  ++traffic.requests;
  int segment = size == 4 ? 64 : 128;
  if (in_order && base % segment == 0) {
    int segments = 16 * size / segment;
    for (int i = 0; i < segments; ++i) add_segment(traffic, base + static_cast<uint64_t>(i) * segment, segment);
    return;
  }
  for_active(access, half, [&](int lane) { add_segment(traffic, access.address[lane] / kSectorBytes * kSectorBytes, kSectorBytes); });
}

// 1.2, 1.3. Segments are taken around the lowest lane not served yet and then shrunk to the half that is used.
void shrinking_half_warp(const WarpAccess& access, Lanes half, GlobalTraffic& traffic) {
  uint32_t left = access.active & mask_of(half);
  if (left) ++traffic.requests;
  const uint64_t bytes = access.bytes_per_lane;
  const uint64_t largest = bytes == 1 ? 32 : bytes == 2 ? 64 : 128;
  while (left) {
    uint64_t size = largest;
    uint64_t start = access.address[std::countr_zero(left)] / size * size;
    uint64_t low = start + size, high = start;  // the bytes really used
    for (uint32_t rest = left; rest; rest &= rest - 1) {
      int lane = std::countr_zero(rest);
      uint64_t address = access.address[lane];
      if (address < start || address >= start + size) continue;
      low = std::min(low, address);
      high = std::max(high, address + bytes);
      left &= ~(1u << lane);
    }
    while (size > kSectorBytes) {
      uint64_t middle = start + size / 2;
      if (low < middle && high > middle) break;
      if (low >= middle) start = middle;
      size /= 2;
    }
    add_segment(traffic, start, static_cast<int>(size));
  }
}

// 2.x and 3.x: words of 8 bytes are asked for by half warps, of 16 bytes by quarters.
template <class F>
void for_requests(const WarpAccess& access, GlobalTraffic& traffic, F serve) {
  int lanes = access.bytes_per_lane <= 4 ? 32 : access.bytes_per_lane == 8 ? 16 : 8;
  for (int first = 0; first < 32; first += lanes) {
    Lanes part{first, lanes};
    if (!(access.active & mask_of(part))) continue;
    ++traffic.requests;
    serve(part);
  }
}

void load_pieces(const WarpAccess& access, Lanes part, int size, GlobalTraffic& traffic) {
  AddressSet pieces;
  collect(access, part, size, pieces);
  for (int i = 0; i < pieces.count; ++i) add_segment(traffic, pieces[i], size);
}

// Stores go to L2 in transactions of one, two or four sectors of a line; two only within an aligned half of it.
void store_pieces(const WarpAccess& access, Lanes part, GlobalTraffic& traffic) {
  AddressSet sectors, lines;
  collect(access, part, kSectorBytes, sectors);
  for (int i = 0; i < sectors.count; ++i) lines.insert(sectors[i] / kLineBytes * kLineBytes);
  for (int i = 0; i < lines.count; ++i) {
    uint64_t line = lines[i];
    bool used[4] = {};
    for (int s = 0; s < sectors.count; ++s)
      if (sectors[s] / kLineBytes * kLineBytes == line) used[(sectors[s] - line) / kSectorBytes] = true;
    if (used[0] && used[1] && used[2] && used[3]) {
      add_segment(traffic, line, 128);
      continue;
    }
    for (int half = 0; half < 4; half += 2) {
      uint64_t address = line + static_cast<uint64_t>(half) * kSectorBytes;
      if (used[half] && used[half + 1]) {
        add_segment(traffic, address, 64);
      } else if (used[half] || used[half + 1]) {
        add_segment(traffic, address + (used[half] ? 0 : kSectorBytes), kSectorBytes);
      }
    }
  }
}

bool through_l1(GlobalRule rule, LoadPath path) { return path == LoadPath::L1 || (path == LoadPath::Default && rule == GlobalRule::Lines); }

}  // namespace

GlobalTraffic global_traffic(GlobalRule rule, const WarpAccess& access, LoadPath path) {
  GlobalTraffic traffic;
  traffic.bytes_requested = std::popcount(access.active) * access.bytes_per_lane;
  AddressSet lines;
  collect(access, {0, 32}, kLineBytes, lines);
  traffic.lines = lines.count;

  switch (rule) {
    case GlobalRule::HalfWarpStrict:
      for (int first : {0, 16}) strict_half_warp(access, {first, 16}, traffic);
      break;
    case GlobalRule::HalfWarpSegments:
      for (int first : {0, 16}) shrinking_half_warp(access, {first, 16}, traffic);
      break;
    case GlobalRule::Lines:
    case GlobalRule::Segments:
      for_requests(access, traffic, [&](Lanes part) {
        if (access.store) store_pieces(access, part, traffic);
        else load_pieces(access, part, through_l1(rule, path) ? kLineBytes : kSectorBytes, traffic);
      });
      break;
    case GlobalRule::Sectors:
      if (!access.active) break;
      traffic.requests = 1;
      load_pieces(access, {0, 32}, kSectorBytes, traffic);
      break;
  }
  return traffic;
}

GlobalTraffic global_atomic_traffic(GlobalRule, const WarpAccess& access) {
  GlobalTraffic traffic;
  traffic.bytes_requested = std::popcount(access.active) * access.bytes_per_lane;
  if (!access.active) return traffic;
  AddressSet lines;
  collect(access, {0, 32}, kLineBytes, lines);
  traffic.lines = lines.count;
  traffic.requests = 1;
  for (AtomicTurns turns(access.address, access.active, access.compares); !turns.done();) {
    WarpAccess served = access;
    served.active = turns.next().lanes;
    AddressSet sectors;
    collect(served, {0, 32}, kSectorBytes, sectors);
    for (int i = 0; i < sectors.count; ++i) add_segment(traffic, sectors[i], kSectorBytes);
  }
  return traffic;
}

int distinct_bytes(const WarpAccess& access) {
  AddressSet starts;
  for_active(access, {0, 32}, [&](int lane) { starts.insert(access.address[lane]); });
  return starts.count * access.bytes_per_lane;
}

}  // namespace warpbeam::model
