// The rules: when two accesses to one place are a race, and when a read finds no value.
//
// A cell keeps the last write and up to two readers since (one of another warp, if there is one), which is enough to see
// at least one hazard wherever there are any.
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "observe/check/block_watch.h"
#include "vm/grid.h"
#include "vm/spans.h"

namespace warpbeam::observe::check {
namespace {

std::string value_text(uint64_t bits, uint32_t bytes) { return fmt::format("{:#0{}x}", bits, 2 + 2 * bytes); }

uint64_t read_bytes(const std::byte* at, uint32_t bytes) {
  uint64_t v = 0;
  std::memcpy(&v, at, bytes < 8 ? bytes : 8);
  return v;
}

// Do other lanes store to the same place? `int v = *p; *p = v + 1;` of a whole warp.
bool several_store(const vm::Access& a, int lane) {
  for (uint32_t left = a.mask & ~(1u << lane); left; left &= left - 1)
    if (a.address[static_cast<size_t>(__builtin_ctz(left))] == a.address[static_cast<size_t>(lane)]) return true;
  return false;
}

}  // namespace

// What the lane is about to store at byte `at` of its access.
uint64_t BlockWatch::stored_value(const Now& n, int lane, uint64_t at, uint32_t bytes) const {
  const isa::Row& row = *n.insn.source->form.row;
  if (n.stores) {
    uint64_t v = 0;
    std::memcpy(&v, n.stores + at, bytes);
    return v;
  }
  if (n.act != Act::Write || n.access.async || row.kind != isa::Kind::Memory) return ~uint64_t(0);
  const uint32_t element = n.access.bytes / n.access.elements;
  const uint32_t k = static_cast<uint32_t>(at) / element;
  if (element > 8) return ~uint64_t(0);
  const int32_t slot = n.insn.list ? n.insn.list[k] : n.insn.op[0];
  if (slot < 0) return ~uint64_t(0);
  // The register may be wider than what is stored.
  const uint32_t width = n.insn.width ? n.insn.width : element;
  uint64_t v = 0;
  std::memcpy(&v, n.warp.regs + slot + static_cast<size_t>(lane) * width, element);
  v >>= 8 * (at % element);
  return bytes >= 8 ? v : v & ((uint64_t(1) << 8 * bytes) - 1);
}

// The copy happens when its thread has waited for it; to that thread it is ordered from then on.
bool BlockWatch::ordered_copy(const Now& n, Event e, uint32_t e_lane, int lane) const {
  const WarpState& theirs = warps_[e.warp];
  const auto& copies = c_.sites[e.site].bulk ? theirs.bulk_copies : theirs.copies;
  const EventId effect = copies ? copies->took_effect(e.id, e_lane) : Copies::kNever;
  if (effect == Copies::kNever) return false;
  e.id = effect;
  e.is_copy = false;
  return ordered(n, e, e_lane, lane);
}

// Who knows that any warp of the group has waited for the product knows that it has read its matrices.
bool BlockWatch::ordered_product(const Now& n, const BlockWatch& home, Event e, int lane) const {
  if (known_complete_.product == e.id && known_complete_.by == n.id && known_complete_.lane == lane) return true;
  const EventId product = e.id;
  const uint64_t group = home.warps_[e.warp].products.group_of(product);
  e.is_copy = false;
  const size_t first = e.warp / 4 * 4;
  for (size_t warp = first; warp < std::min(first + 4, home.warps_.size()); ++warp) {
    e.id = home.warps_[warp].products.complete(group);
    e.warp = static_cast<uint16_t>(warp);
    for (uint32_t l = 0; e.id != Copies::kNever && l < 32; ++l) {
      if (!ordered(n, e, l, lane)) continue;
      known_complete_ = {product, n.id, lane};
      return true;
    }
  }
  return false;
}

bool BlockWatch::ordered(const Now& n, const Event& e, uint32_t e_lane, int lane) const {
  if (e.op != l_.op && c_.order.ordered(e.op, l_.op)) return true;
  if (e.is_copy && e.op == l_.op && c_.sites[e.site].product)
    if (const BlockWatch* home = e.block == linear_ ? this : n.home; home && home->linear_ == e.block)
      return ordered_product(n, *home, e, lane);
  if (e.is_copy && e.op == l_.op && e.block == linear_) return ordered_copy(n, e, e_lane, lane);
  if (e.op == l_.op && e.block == linear_) {
    if (e.id < base_) return true;
    if (e.warp == n.warp.index) {
      if (static_cast<int>(e_lane) == lane || e.id < n.state.base) return true;
      if (n.state.table && e.id < (*n.state.table)[lane][e_lane]) return true;
    }
  }
  if (n.state.lanes && knows(n.state.lanes->came[lane], e, e_lane)) return true;
  return knows(came_, e, e_lane);
}

// The least scope of strong accesses that reaches who did that.
Strength BlockWatch::needed_for(const Event& e) const {
  if (e.op == l_.op) return e.block == linear_ ? Strength::Cta : Strength::Gpu;
  return c_.order.device_of(e.op) == c_.order.device_of(l_.op) ? Strength::Gpu : Strength::Sys;
}

// `p[i] = min(p[i], x)` where the minimum is what is there: all who read the place at the same time are right.
bool BlockWatch::changes_nothing(const Now& n, int lane, uint64_t offset, uint32_t bytes, const std::byte* at) const {
  const uint64_t start = offset - (n.shared ? n.access.address[lane] % vm::kClusterStride : n.access.address[lane] - n.region->zero);
  return bytes <= 8 && stored_value(n, lane, start, bytes) == read_bytes(at, bytes);
}

// Is the last write a plain store of the same thread, which has met nobody since, or of another that this one races with?
bool BlockWatch::meets_plain_store(const Now& n, const Cell& c, int lane) const {
  const std::optional<Event> e = c_.log.find(c.write);
  if (!e || e->act != Act::Write || e->strength != Strength::Weak || e->is_copy || e->op != l_.op || e->block != linear_ || e->id < base_)
    return false;
  if (e->warp == n.warp.index && c.write_lane == lane) return e->id >= n.state.base;
  return !ordered(n, *e, c.write_lane, lane);
}

// `if (first block) *count = 0; __syncthreads(); atomicAdd(count, 1);`: the atomic comes after its own block's store, those of other
// blocks or warps do not. The store stays beside the readers, if nobody is there.
void BlockWatch::keep_plain_store(const Now& n, Cell& c) const {
  if (c.read_b && c.read_b >= n.bound) return;
  const std::optional<Event> e = c_.log.find(c.write);
  if (!e || e->act != Act::Write || e->strength != Strength::Weak || e->is_copy || e->op != l_.op) return;
  c.read_b = c.write;
  c.b_lane = c.write_lane;
  c.b_many = c.two_warps = 0;
}

void BlockWatch::look_at_cell(Now& n, Cell& c, uint64_t offset, uint32_t bytes, int lane) {
  const bool writes = n.act != Act::Read;
  if (n.act == Act::Write && (c.init || (n.region && n.region->initialised)) && c_.sites[n.site].updates &&
      changes_nothing(n, lane, offset, bytes, n.memory + offset))
    return;
  auto hazard = [&](EventId id, uint32_t other_lane, bool many, Hazard h) {
    const std::optional<Event> e = c_.log.find(id);
    if (!e) return;
    if (h == Hazard::WriteAfterRead && e->act == Act::Write) {  // kept beside the readers
      if (n.act != Act::Atomic) return;
      h = Hazard::WriteAfterWrite;
    }
    bool one_of_many = false;
    if (many && e->warp == n.warp.index && e->block == linear_ && e->op == l_.op && static_cast<int>(other_lane) == lane) {
      const uint32_t others = e->mask & ~(1u << lane);  // one of them read it too
      if (!others) return;
      other_lane = static_cast<uint32_t>(__builtin_ctz(others));
      one_of_many = others & (others - 1);
    }
    if (e->id == n.id && static_cast<int>(other_lane) == lane && !e->is_copy) return;
    // Atomics that reach each other never race, nor do flags (see conflict). Whoever waits for a lock would ask again and again
    // whether they are ordered.
    const Strength needed = needed_for(*e);
    const bool meet = e->strength >= needed && n.strength >= needed;
    const bool same_warp = e->warp == n.warp.index && e->block == linear_ && e->op == l_.op;
    const bool lost = h == Hazard::WriteAfterWrite && c_.sites[n.site].rewrites && c_.sites[e->site].rewrites;
    const bool in_tail =
        lost || n.shared || (same_warp && h == Hazard::ReadAfterWrite && e->strength == Strength::Sys && n.strength == Strength::Sys);
    if (meet && ((e->act == Act::Atomic && n.act == Act::Atomic) || !in_tail) && !loose(n, *e)) return;
    if (!ordered(n, *e, other_lane, lane)) conflict(n, h, *e, {other_lane, many, one_of_many}, lane, offset, bytes);
  };
  if (c_.settings.race) {
    if (c.write >= n.bound) hazard(c.write, c.write_lane, false, writes ? Hazard::WriteAfterWrite : Hazard::ReadAfterWrite);
    if (!writes && n.strength == Strength::Weak && n.state.lanes && !n.shared && c.write >= n.bound) look_behind_lock(n, c, lane, offset);
    if (writes) {
      if (c.read_a >= n.bound) hazard(c.read_a, c.a_lane, c.a_many, Hazard::WriteAfterRead);
      if (c.read_b >= n.bound) hazard(c.read_b, c.b_lane, c.b_many, Hazard::WriteAfterRead);
    }
  }
  if (writes) {
    // `if (t == 0) count = 0; atomicAdd(&count, 1);`: it is the store that all the atomics race with, so it stays.
    if (n.act == Act::Atomic && c.write >= n.bound) {
      if (meets_plain_store(n, c, lane)) return;
      keep_plain_store(n, c);
    }
    c.write = n.id;
    c.write_lane = static_cast<uint8_t>(lane);
    c.give_value(0xf);
    if (n.act == Act::Atomic) return;  // it may race with the readers, and so may the next
    c.read_a = c.read_b = 0;
    c.a_many = c.b_many = c.two_warps = 0;
  } else if (c.read_a == n.id) {
    if (c.a_lane != lane) c.a_many = 1;
  } else {
    if (c.read_a >= n.bound) {
      auto of_this_warp = [&](const std::optional<Event>& e) { return e->warp == n.warp.index && e->block == linear_ && e->op == l_.op; };
      const std::optional<Event> e = c_.log.find(c.read_a);
      // A reader of another warp stays; one of another lane stays where no other warp's has to.
      const bool other_warp = e && !of_this_warp(e), other_lane = e && (c.a_lane != lane || c.a_many);
      const std::optional<Event> kept = other_lane && !other_warp && c.read_b >= n.bound ? c_.log.find(c.read_b) : std::nullopt;
      if (other_warp || (other_lane && (!kept || of_this_warp(kept)))) {
        c.read_b = c.read_a;
        c.b_lane = c.a_lane;
        c.b_many = c.a_many;
        c.two_warps = other_warp;
      }
    }
    c.read_a = n.id;
    c.a_lane = static_cast<uint8_t>(lane);
    c.a_many = 0;
  }
}

// The common case: words of a range that holds all of them, where nobody else's work has to be looked at. Cells that need
// more go the long way. False: nothing was done.
bool BlockWatch::look_quickly(Now& n, Shadow& shadow, uint64_t zero, uint64_t begin, uint64_t end, bool tracks_values) {
  const auto& at = n.access.address;
  const uint32_t bytes = n.access.bytes;
  if (bytes % 4 || bytes > 16 || bytes / n.access.elements < 4 || n.act == Act::Atomic) return false;
  uint64_t low = at[0], high = at[0], bits = 0;
  for (size_t l = 0; l < 32; ++l) {
    low = at[l] < low ? at[l] : low;
    high = at[l] > high ? at[l] : high;
    bits |= at[l];
  }
  if (low < begin || high + bytes > end || (bits & (bytes == 12 ? 3 : bytes - 1))) return false;
  const bool writes = n.act == Act::Write;
  if (writes && c_.sites[n.site].updates) return false;
  const EventId bound = c_.settings.race ? n.bound : ~EventId{0}, id = n.id;
  for (uint32_t left = n.access.mask; left; left &= left - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(left));
    const uint64_t offset = at[lane] - zero;
    // All lanes read one word: the second of them says all that there is to say.
    if (low == high && !writes && bytes == 4 && shadow.word(offset).a_many && shadow.word(offset).read_a == id) return true;
    for (uint32_t w = 0; w < bytes; w += 4) {
      Cell& c = shadow.word(offset + w);
      if (!c.split && c.write < bound && (writes || c.init || !tracks_values)) {
        if (writes) {
          if (c.read_a < bound && c.read_b < bound) {
            c = Cell{};
            c.write = id;
            c.write_lane = lane & 31;
            c.give_value(0xf);
            continue;
          }
        } else if (c.read_a == id) {
          if (c.a_lane != lane) c.a_many = 1;
          continue;
        } else if (c.read_a < bound) {
          c.read_a = id;
          c.a_lane = lane & 31;
          c.a_many = c.two_warps = 0;
          continue;
        } else if (c.two_warps && c.read_b >= bound) {
          continue;
        }
      }
      look(n, shadow, offset, static_cast<int>(lane), tracks_values);
      break;
    }
  }
  return true;
}

void BlockWatch::look(Now& n, Shadow& shadow, uint64_t offset, int lane, bool tracks_values) {
  const uint32_t element = n.access.bytes / n.access.elements, all = (1u << n.access.elements) - 1;
  uint32_t unset = 0;
  // An exchange whose old value nobody wants is a store.
  const bool only_stores = n.act == Act::Write || (n.act == Act::Atomic && !n.access.returns && n.insn.mods().op == isa::Op::Exch);
  for (uint32_t k = 0; k < n.access.elements; ++k) {
    bool any = false;
    shadow.each(offset, element, [&](Cell& c, uint64_t at, uint32_t bytes) {
      any = any || c.init;
      look_at_cell(n, c, at, bytes, lane);
    });
    // A value of which a part is there is usually a structure with gaps.
    if (tracks_values && !any && !only_stores) unset |= 1u << k;
    offset += element;
  }
  if (!unset) return;
  // So it is where the elements that are missing are only copied.
  if (unset != all) unset &= ~c_.sites.moved(n.insn, *n.warp.frame->function);
  if (unset) uninitialised(n, lane, offset - n.access.bytes + element * static_cast<uint32_t>(__builtin_ctz(unset)), element);
}

void BlockWatch::look_at_ranges(Now& n, uint64_t address, int lane) {
  for (const RangeUse& u : n.region->uses) {
    if (u.id < n.bound || address >= u.end || address + n.access.bytes <= u.begin) continue;
    if (!u.writes && n.act == Act::Read) continue;
    // The host may issue what comes after this kernel while the kernel runs.
    if (c_.order.ordered(u.op, l_.op) || c_.order.ordered(l_.op, u.op)) continue;
    const uint64_t key = uint64_t(n.site) << 32 | uint64_t(u.op & 0xffffff) << 8 | 2;
    if (c_.repeated(key)) continue;
    Finding f = finding(n, lane, FindingKind::RaceStreams,
                        fmt::format("Race reported between {} access at {} in {} and {} in another stream", name(n.act),
                                    c_.sites[n.site].kernel, c_.sites[n.site].location, c_.order.what(u.op)));
    f.lines.erase(f.lines.begin());
    add_place(f, n, address);
    f.lines.push_back({c_.order.what(u.op) + " was issued", u.stack});
    f.lines.push_back({"the kernel was launched", l_.stack});
    f.mend = "put both into one stream, or let one wait for the other with cudaEventRecord and cudaStreamWaitEvent";
    c_.report(key, std::move(f));
  }
}

void BlockWatch::conflict(Now& n, Hazard hazard, const Event& other, Other who, int lane, uint64_t offset, uint32_t bytes) {
  const auto [other_lane, many, one_of_many] = who;
  const bool same_op = other.op == l_.op, same_block = same_op && other.block == linear_,
             same_warp = same_block && other.warp == n.warp.index;
  const bool other_device = !same_op && c_.order.device_of(other.op) != c_.order.device_of(l_.op);
  const Site& mine = c_.sites[n.site];
  const Site& theirs = c_.sites[other.site];
  // Strong accesses may meet, if the scope of both reaches the other.
  const Strength needed = needed_for(other);
  const bool copies = other.is_copy || (n.access.async && n.insn.source->form.row->kind == isa::Kind::Async);
  const bool both_strong = other.strength != Strength::Weak && n.strength != Strength::Weak;
  const bool atomics = other.act == Act::Atomic || n.act == Act::Atomic;
  const bool flag = atomics || mine.waits || theirs.waits;
  // Lanes that were together at the earlier access: where a warp runs in lockstep it came first.
  const bool together = same_warp && (other.mask >> lane & 1) && other.id != n.id;
  // `++*counter` of several threads, volatile or not, counts some of them once.
  const bool lost_update = hazard == Hazard::WriteAfterWrite && mine.rewrites && theirs.rewrites;
  bool scope_too_small = false;
  const bool in_no_order = both_strong && !lost_update && loose(n, other);
  if (in_no_order && l_.flags->contains(n.access.address[static_cast<size_t>(lane)])) return;
  if (both_strong && !lost_update && !in_no_order) {
    scope_too_small = other.strength < needed || n.strength < needed;
    // Volatile accesses to shared memory stand in for barriers more often than they are flags, and so they do in a warp that
    // reads from global memory what its other lanes have just stored there.
    const bool tail =
        !(mine.ordered && theirs.ordered) &&
        (n.shared || (together && hazard == Hazard::ReadAfterWrite && other.strength == Strength::Sys && n.strength == Strength::Sys));
    if (!scope_too_small && (!tail || flag)) return;
  }
  // The first guess of a loop of compare-and-swaps is how CUDA's guide writes it. `if (*p < v) atomicMax(p, v)` is right as long as the
  // load is one of a whole word that somebody has stored.
  const bool guess = (theirs.corrects && mine.guesses) || (mine.corrects && theirs.guesses);
  if (guess && (theirs.swaps || mine.swaps)) return;
  const auto place_in_access = [&](uint32_t of) {  // beyond its bytes: it is not this place that the lane accesses now
    return offset - (n.shared ? n.access.address[of] % vm::kClusterStride : n.access.address[of] - n.region->zero);
  };
  const uint64_t start = place_in_access(static_cast<uint32_t>(lane));
  uint64_t new_value = 0, old_value = read_bytes(n.memory + offset, bytes);
  if (hazard == Hazard::WriteAfterWrite && n.act == Act::Write) {
    new_value = stored_value(n, lane, start, bytes);
    // An instruction in a loop keeps its number: the other lane may have stored here in an earlier round.
    if (other.id == n.id && (n.access.mask >> other_lane & 1) && place_in_access(other_lane) < n.access.bytes)
      old_value = stored_value(n, static_cast<int>(other_lane), place_in_access(other_lane), bytes);
    // Writing what is there already, as many threads do that raise one flag, is harmless.
    if (new_value == old_value && other.act == Act::Write && !lost_update) return;
    // One place takes what is to be dropped, from all lanes of a warp.
    if (n.shared && same_warp && mine.library) return;
  }

  // `s[t] += s[t + 16]`: the load and the store of one statement, in a place that only one other lane read.
  const bool one_statement = together && hazard == Hazard::WriteAfterRead && !many && mine.location == theirs.location;
  const bool lockstep = together && !copies && (both_strong || one_statement || l_.cc < 70);
  const bool by_shuffle = same_warp && !copies && other.id < n.state.soft_base;
  const Severity severity = !lost_update && (lockstep || by_shuffle || guess || in_no_order) ? Severity::Warning : Severity::Error;

  const uint64_t key = uint64_t(n.site) << 34 | uint64_t(other.site & 0xffffff) << 10 | uint64_t(severity) << 9 | uint64_t(hazard) << 7 |
                       uint64_t(same_warp) << 6 | uint64_t(same_block) << 5 | uint64_t(same_op) << 4 | uint64_t(scope_too_small) << 3 | 3;
  if (c_.repeated(key)) return;
  static constexpr FindingKind kKinds[] = {FindingKind::RaceRaw, FindingKind::RaceWar, FindingKind::RaceWaw};
  Finding f = finding(n, lane, lost_update || in_no_order ? FindingKind::RaceVolatile : kKinds[static_cast<int>(hazard)], "");
  f.severity = severity;
  f.apart = same_warp ? Apart::InWarp : same_block ? Apart::InBlock : same_op ? Apart::InLaunch : Apart::InProgram;
  f.title = fmt::format("Race reported between {} access at {} in {}", name(other.act), theirs.kernel, theirs.location);
  f.locations.push_back(theirs.location);
  f.lines.clear();
  f.callers.clear();
  add_inlined(f, theirs.inlined, theirs.kernel);
  f.lines.push_back({fmt::format("and {} access at {} in {}", name(n.act), mine.kernel, mine.location), {}});
  add_inlined(f, mine.inlined, mine.kernel);
  add_callers(f, n.warp);
  std::string first =
      fmt::format("{} {}", name(other.act), one_of_many ? "by another thread of this warp" : c_.thread_text(other, other_lane));
  if (!same_op) first += " of " + c_.order.what(other.op);
  if (other_device) first += fmt::format(" on device {}", c_.order.device_of(other.op));
  std::string second = fmt::format("{} {}", name(n.act), thread_text(n.warp, lane));
  if (other_device) second += fmt::format(" on device {}", c_.order.device_of(l_.op));
  if (hazard == Hazard::ReadAfterWrite) {
    first += ", value " + value_text(old_value, bytes);
  } else if (hazard == Hazard::WriteAfterWrite) {
    first += ", value " + value_text(old_value, bytes);
    if (n.act == Act::Write && !n.access.async) second += ", value " + value_text(new_value, bytes);
  } else if (n.act == Act::Write) {
    first += ", value " + value_text(old_value, bytes);
    if (!n.access.async) second += ", value " + value_text(stored_value(n, lane, start, bytes), bytes);
  }
  f.lines.push_back({std::move(first), {}});
  f.lines.push_back({std::move(second), {}});
  add_place(f, n, n.shared ? offset : n.region->zero + offset);
  f.lines.push_back({"the kernel was launched", l_.stack});
  if (!same_op) f.lines.push_back({"and the other one", c_.ops_[other.op].stack});

  const char* space = n.shared ? "shared" : "global";
  if (!same_op && c_.order.in_graph(other.op) && c_.order.in_graph(l_.op))
    f.mend = "nothing in the graph orders the two nodes: add an edge between them";
  else if (scope_too_small && needed == Strength::Sys)
    f.mend = "an atomic of device scope does not reach other devices: use the function with _system, or cuda::thread_scope_system";
  else if (other_device)
    f.mend =
        "let one device's stream wait for the other's with cudaEventRecord and cudaStreamWaitEvent; grids that are launched together meet in this_multi_grid().sync()";
  else if (!same_op) f.mend = "let one stream wait for the other with cudaEventRecord and cudaStreamWaitEvent, or use one stream";
  else if (scope_too_small) f.mend = "an atomic of block scope does not reach other blocks: use the function without _block";
  else if (theirs.product)
    f.mend =
        "a product of a warp group has read its matrices only after wgmma.wait_group, for other threads also after a barrier that comes behind it";
  else if (other.is_copy && theirs.bulk)
    f.mend =
        "a bulk copy has read its source only after its group has been waited for (cp.async.bulk.wait_group.read), for other threads also after a __syncthreads()";
  else if (copies)
    f.mend =
        "an asynchronous copy is complete only after its group has been waited for (cp.async.wait_group, __pipeline_wait_prior, cg::wait), for other threads also after a __syncthreads()";
  else if (hazard == Hazard::WriteAfterWrite && !atomics && !same_warp && theirs.location == mine.location)
    f.mend =
        same_block
            ? "threads store different values to one place: let one of them store, or give each a place of its own"
            : "blocks store different values to one place: is blockIdx missing in the index? Otherwise let one of them store, or use an atomic";
  else if (other.id != n.id && !atomics && !same_block && theirs.location == mine.location)
    f.mend = "blocks are not ordered: use an atomic operation where all of them count or add up, or write into a second buffer";
  else if (other.id != n.id && !atomics &&
           (theirs.location == mine.location || (hazard == Hazard::WriteAfterRead && several_store(n.access, lane))))
    f.mend =
        "threads read and write one place in turn: use an atomic operation such as atomicAdd, or a barrier between reading and writing";
  else if (same_warp && other.id == n.id)
    f.mend = "lanes of a warp store different values to one place: let one of them store, or use an atomic";
  else if (same_warp) f.mend = "the lanes are not ordered: put __syncwarp() between the two accesses";
  else if (same_block && atomics && !both_strong)
    f.mend = "one side is atomic and the other is not: make both atomic, or put __syncthreads() between them";
  else if (same_block) f.mend = "put __syncthreads() between the two accesses";
  else if (both_strong || atomics) f.mend = "both sides must be atomic (with device scope), or one must come in a later kernel";
  else if (n.shared) f.mend = "put cluster.sync() between the two accesses: __syncthreads() is a barrier of one block";
  else if (block_.grid->workspace) f.mend = "put grid.sync() between the two accesses: __syncthreads() is a barrier of one block";
  else f.mend = "blocks are not ordered: use atomics, a flag with __threadfence() before it is set, or a second kernel";
  f.facts.emplace_back("space", space);
  std::string one = fmt::format("{} {}", name(other.act), theirs.location), two = fmt::format("{} {}", name(n.act), mine.location);
  if (two < one) std::swap(one, two);
  f.facts.emplace_back("accesses", one + " and " + two);  // whichever came first
  static constexpr const char* kBetween[] = {"lanes", "warps", "blocks", "launches"};
  f.facts.emplace_back("between", kBetween[static_cast<int>(f.apart)]);
  f.facts.emplace_back("other_thread", same_op ? c_.thread_text(other, other_lane) : c_.order.what(other.op));
  if (lost_update)
    f.mend =
        "each thread stores what it loaded before, and what another has stored in between is lost: use an atomic operation such as atomicAdd";
  else if (guess)
    f.mend =
        "the plain read promises nothing while others change the place: read with __ldcg, a volatile access or an atomic load, or leave the look away";
  else if (in_no_order)
    f.mend =
        "volatile makes each access happen and orders none of them: let a fence and a flag, a barrier or a kernel's end come between them, or use an atomic";
  else if (severity == Severity::Warning)
    f.mend = "correct only where a warp runs in lockstep (before Volta): put __syncwarp() between the two accesses";
  c_.report(key, std::move(f));
}

}  // namespace warpbeam::observe::check
