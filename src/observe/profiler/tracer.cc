#include "observe/profiler/tracer.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "model/transactions.h"
#include "observe/profiler/traffic.h"
#include "vm/access.h"
#include "vm/spans.h"

namespace warpbeam::observe {
namespace {

constexpr uint64_t kLine = 128, kSector = 32, kWord = 4;
constexpr uint8_t kDoubles = 2;  // of Visits::Atomics::turns
constexpr uint64_t kOfRequest =
    2;  // turns that a warp's sum of doubles takes beside those of its lanes (measured: 9 cycles for one lane of a word, 112 for 32)
constexpr size_t kMostLines = 255;  // of an access, that are looked at

timing::Kind kind_of(vm::AccessKind kind, bool returns, bool async) {
  switch (kind) {
    case vm::AccessKind::Read: return async ? timing::Kind::Copy : timing::Kind::Load;
    case vm::AccessKind::Write: return timing::Kind::Store;
    case vm::AccessKind::Atomic: break;
  }
  return returns ? timing::Kind::Atomic : timing::Kind::Reduce;
}

// The sectors of a line that [begin, end) touches, both counted from the line's beginning.
uint8_t sectors_of(uint64_t begin, uint64_t end) {
  const uint32_t first = static_cast<uint32_t>(begin / kSector), last = static_cast<uint32_t>((std::min(end, kLine) - 1) / kSector);
  return static_cast<uint8_t>((2u << last) - (1u << first));
}

// Calls tell(line, sectors, bytes) for each line that the lanes touch and that is wanted, those of neighbours together; bytes that several lanes
// touch are counted for each.
template <class Tell, class Wanted>
void each_line(uint32_t mask, const uint64_t* addresses, uint32_t bytes, Wanted wanted, Tell tell) {
  std::array<uint64_t, kMostLines> lines;
  std::array<uint8_t, kMostLines> sectors;
  std::array<uint32_t, kMostLines> wide;
  size_t count = 0;
  for (uint32_t left = mask; left; left &= left - 1) {
    const uint64_t begin = addresses[std::countr_zero(left)], end = begin + bytes;
    for (uint64_t line = begin / kLine; line * kLine < end; ++line) {
      if (!wanted(line)) continue;
      const uint64_t from = std::max(begin, line * kLine) - line * kLine, to = std::min(end - line * kLine, kLine);
      const uint8_t touched = sectors_of(from, to);
      size_t k = count;
      while (k > 0 && lines[k - 1] != line) --k;
      if (k > 0) {
        sectors[k - 1] |= touched, wide[k - 1] += static_cast<uint32_t>(to - from);
      } else if (count < lines.size()) {
        lines[count] = line, sectors[count] = touched, wide[count] = static_cast<uint32_t>(to - from);
        ++count;
      }
    }
  }
  for (size_t k = 0; k < count; ++k) tell(lines[k], sectors[k], wide[k]);
}

bool every(uint64_t) { return true; }

// Loads that must see what other multiprocessors wrote.
bool passes_l1(const isa::Mods& mods) {
  const bool strong = mods.sem == isa::Sem::Volatile || mods.sem == isa::Sem::Mmio ||
                      ((mods.sem == isa::Sem::Relaxed || mods.sem == isa::Sem::Acquire) && mods.scope != isa::Scope::Cta);
  return strong || mods.cache == isa::Cache::Cg || mods.cache == isa::Cache::Cv;
}

// Before 5.0 it depends on the device whether L1 is asked for a plain load, and whether it fetches whole lines.
bool asks_l1(const model::Device& device, const isa::Mods& mods) {
  if (passes_l1(mods)) return false;
  switch (device.global_rule) {
    case model::GlobalRule::HalfWarpStrict:
    case model::GlobalRule::HalfWarpSegments: return false;
    case model::GlobalRule::Segments: return mods.nc || mods.cache == isa::Cache::Ca;
    default: return true;
  }
}

// L1 of compute capability 2.x and 3.0 fetches lines of 128 bytes.
bool fetches_lines(const model::Device& device, timing::Kind kind, const isa::Mods& mods) {
  return device.global_rule == model::GlobalRule::Lines && kind == timing::Kind::Load && asks_l1(device, mods);
}

}  // namespace

uint32_t place_in_ptx(const vm::FunctionCode& function, const vm::Insn& insn) {
  const auto& body = function.function_of(insn).source->body;
  const ptrdiff_t at = insn.source - body.data();
  return at >= 0 && static_cast<size_t>(at) < body.size() ? static_cast<uint32_t>(at) : ~0u;
}

void Visits::append(Visits&& other) {
  const size_t room = kMost - std::min(kMost, kept.size());
  const size_t taken = std::min(room, other.kept.size());
  kept.insert(kept.end(), other.kept.begin(), other.kept.begin() + static_cast<ptrdiff_t>(taken));
  left_out += other.left_out + (other.kept.size() - taken);
  sizes.insert(sizes.end(), other.sizes.begin(), other.sizes.end());
  pages.merge(other.pages);
  for (size_t k = 0; k < meetings.size(); ++k)
    meetings[k].sectors += other.meetings[k].sectors, meetings[k].lanes += other.meetings[k].lanes;
  for (const auto& [part, of] : other.atomics) {
    Atomics& sum = atomics[part];
    sum.sectors += of.sectors;
    sum.sectors_of_doubles += of.sectors_of_doubles;
    sum.lanes += of.lanes;
    for (size_t line = 0; line < sum.turns.size(); ++line)
      for (size_t k = 0; k < sum.turns[line].size(); ++k) sum.turns[line][k] += of.turns[line][k];
  }
}

const VisitLog::Facts& VisitLog::facts_of(const vm::FunctionCode& function, const vm::Insn& insn) {
  if (&function != function_) {
    function_ = &function;
    facts_.assign(function.insns.size(), {});
  }
  Facts& facts = facts_[static_cast<size_t>(&insn - function.insns.data())];
  if (!facts.bytes) {
    const vm::Access access = vm::describe_access(insn);
    facts = {kind_of(access.kind, access.returns, access.async), static_cast<uint8_t>(std::min(255u, std::max(1u, access.bytes))),
             static_cast<uint8_t>(!isa::is_float(insn.type())       ? 0
                                  : isa::bits_of(insn.type()) == 64 ? kDoubles
                                                                    : 1),
             place_in_ptx(function, insn)};
    facts.whole_lines = access.space == isa::Space::Global && fetches_lines(device_, facts.kind, insn.mods());
  }
  return facts;
}

void VisitLog::visit(uint64_t line, uint8_t sectors, uint32_t bytes, const Facts& facts) {
  if (!is_sampled(line)) return;
  if (facts.whole_lines) sectors = 0xf, bytes = kLine;
  const uint32_t touched = static_cast<uint32_t>(std::popcount(sectors));
  const auto each = static_cast<uint8_t>(std::min<uint32_t>(kSector, (bytes + touched - 1) / touched));
  if (visits_.kept.size() < Visits::kMost) visits_.kept.push_back({line, block_, function_->index, facts.ptx, facts.kind, sectors, each});
  else ++visits_.left_out;
}

void VisitLog::count_atomics(uint32_t mask, const uint64_t* addresses, uint8_t number) {
  std::array<uint64_t, 32> sorted;
  size_t count = 0;
  for (uint32_t left = mask; left; left &= left - 1) sorted[count++] = addresses[std::countr_zero(left)];
  std::sort(sorted.begin(), sorted.begin() + static_cast<ptrdiff_t>(count));
  const uint64_t turn = uint64_t{block_} / together_ << 48;
  for (size_t k = 0; k < count;) {
    const uint64_t line = sorted[k] / kLine;
    Visits::Atomics& of = visits_.atomics[turn | (sorted[k] / Visits::kPart & ((uint64_t{1} << 48) - 1))];
    uint64_t most = 0;
    while (k < count && sorted[k] / kLine == line) {
      const uint64_t sector = sorted[k] / kSector;
      ++of.sectors;
      of.sectors_of_doubles += number == kDoubles;
      uint64_t meet = 0;
      while (k < count && sorted[k] / kSector == sector) {
        const uint64_t word = sorted[k] / kWord;
        uint64_t here = 0;
        for (; k < count && sorted[k] / kWord == word; ++k) ++here;
        meet = std::max(meet, here);
      }
      if (meet > 1) ++visits_.meetings[number].sectors, visits_.meetings[number].lanes += meet;
      of.lanes += meet;
      most = std::max(most, meet);
    }
    of.turns[line % of.turns.size()][number] += most + (number == kDoubles ? kOfRequest : 0);
  }
}

void VisitLog::lanes(uint32_t mask, const uint64_t* addresses, uint32_t bytes, const Facts& facts) {
  if (facts.kind == timing::Kind::Atomic || facts.kind == timing::Kind::Reduce) count_atomics(mask, addresses, facts.number);
  if (keeps_pages_)
    for (uint32_t left = mask; left; left &= left - 1) keep_page(addresses[std::countr_zero(left)]);
  each_line(mask, addresses, bytes, is_sampled,
            [&](uint64_t line, uint8_t sectors, uint32_t touched) { visit(line, sectors, touched, facts); });
}

void VisitLog::passed(const vm::FunctionCode& function, const vm::Insn& insn, uint32_t mask, const vm::Pattern& pattern) {
  if (!mask) return;
  const Facts& facts = facts_of(function, insn);
  const bool atomic = facts.kind == timing::Kind::Atomic || facts.kind == timing::Kind::Reduce;
  if (pattern.runs == 1 && !atomic && pattern.stride >= 0 && pattern.stride <= facts.bytes) {  // side by side
    const uint64_t stride = static_cast<uint64_t>(pattern.stride);
    const uint64_t begin = pattern.first + static_cast<uint64_t>(std::countr_zero(mask)) * stride;
    const uint64_t end = pattern.first + static_cast<uint64_t>(31 - std::countl_zero(mask)) * stride + facts.bytes;
    if (keeps_pages_) keep_page(begin), keep_page(end - 1);
    for (uint64_t line = begin / kLine; line * kLine < end; ++line)
      if (is_sampled(line)) {
        const uint64_t from = std::max(begin, line * kLine) - line * kLine, to = std::min(end - line * kLine, kLine);
        visit(line, sectors_of(from, to), static_cast<uint32_t>(to - from), facts);
      }
    return;
  }
  if (pattern.addresses) return lanes(mask, pattern.addresses, facts.bytes, facts);
  std::array<uint64_t, 32> addresses;
  for (uint64_t l = 0; l < 32; ++l) addresses[l] = pattern.first + l * static_cast<uint64_t>(pattern.stride);
  lanes(mask, addresses.data(), facts.bytes, facts);
}

void VisitLog::access(const vm::FunctionCode& function, const vm::Insn& insn, const vm::Access& access, uint32_t mask) {
  if (access.space != isa::Space::Global || !mask) return;
  Facts facts = facts_of(function, insn);
  facts.kind = kind_of(access.kind, access.returns, access.async);
  lanes(mask, access.address.data(), access.bytes, facts);
}

std::shared_ptr<const assembly::MachineCode> MachineCodes::of(const vm::FunctionCode& function, const model::Device& device) {
  std::lock_guard lock(mutex_);
  auto& code = known_[{function.serial, device.cc()}];
  if (!code) {
    const assembly::Target target = assembly::target_of(*function.source, device.cc(), static_cast<uint32_t>(device.max_regs_per_thread),
                                                        static_cast<uint32_t>(device.regs_per_block));
    code = std::make_shared<const assembly::MachineCode>(assembly::assemble(*function.module, *function.source, target));
  }
  return code;
}

MachineCodes& machine_codes() {
  static MachineCodes& all = *new MachineCodes;  // never destroyed: kernels may run while the process ends
  return all;
}

BlockTracer::BlockTracer(LaunchTracer& launch, uint64_t block, uint32_t warps) : launch_(launch), at_(warps), fragments_(warps) {
  trace_.block = block;
  trace_.warps.resize(warps);
}

void BlockTracer::come_to(const vm::FunctionCode& function) {
  if (&function == function_) return;
  function_ = &function;
  function_index_ = launch_.index_of(function, code_);
}

uint32_t BlockTracer::block_of(uint32_t place) const { return place < code_->block_of.size() ? code_->block_of[place] : ~0u; }

bool BlockTracer::begins(const Where& at, const vm::FunctionCode& function, uint32_t block, uint32_t place) const {
  return block != ~0u && (at.function != &function || at.block != block || place == code_->blocks[block].begin);
}

void BlockTracer::instruction(uint32_t warp, const vm::FunctionCode& function, const vm::Insn& insn, uint32_t mask, uint32_t active) {
  if (warp >= at_.size()) return;
  end_fragment(warp);
  const uint32_t place = place_in_ptx(function, insn);
  if (place == ~0u) return;
  come_to(function);
  Where& at = at_[warp];
  timing::WarpTrace& t = trace_.warps[warp];
  const bool waits = at.waits(place);
  if (!at.loops(place)) at.loop_begin = 1, at.loop_end = 0, at.waiting = false;
  if (!waits) {
    ++trace_.executed;
    const uint64_t before = t.executed++;
    const uint32_t block = block_of(place);
    const bool begins = this->begins(at, function, block, place);
    // The last step is kept whole.
    if (block != ~0u && (before < launch_.most_instructions() || (before == t.instructions && !begins))) {
      ++trace_.instructions;
      ++t.instructions;
      if (begins) t.steps.push_back({function_index_, block, active, false, static_cast<uint32_t>(t.accesses.size())});
      at.function = &function, at.block = block;
    }
  }
  if (insn.spin && mask && insn.target != vm::kNoTarget) turn(at, function, insn, place, t);
}

void BlockTracer::turn(Where& at, const vm::FunctionCode& function, const vm::Insn& insn, uint32_t place, timing::WarpTrace& trace) {
  const uint64_t seen = std::exchange(at.turn, 0);
  if (at.loop_end == place) {
    at.waiting = seen == at.turn_before;
  } else {
    at.loop_begin = place_in_ptx(function, function.insns[insn.target]);
    // The target may be a label, which the decoder made an instruction of.
    for (uint32_t k = insn.target; at.loop_begin == ~0u && k < function.insns.size(); ++k)
      at.loop_begin = place_in_ptx(function, function.insns[k]);
    at.loop_end = place;
    at.waiting = false;
    at.began = {};
  }
  at.turn_before = seen;
  if (at.waiting) {
    if (const Where::Mark& m = at.began_before; m.steps && m.steps <= trace.steps.size()) {
      trace.steps.resize(m.steps);
      trace.accesses.resize(m.accesses);
      trace_.instructions -= trace.instructions - m.instructions, trace_.executed -= trace.executed - m.executed;
      trace.instructions = m.instructions, trace.executed = m.executed;
    }
    if (!trace.steps.empty()) trace.steps.back().waits = trace_.waited = true;
  }
  at.began_before = std::exchange(at.began, {trace.steps.size(), trace.accesses.size(), trace.instructions, trace.executed});
}

void BlockTracer::fetch_whole_lines(timing::Access& of) {
  for (uint32_t k = 0; k < of.lines; ++k) trace_.lines[of.first_line + k].sectors = 0xf;
  of.sectors = static_cast<uint16_t>(of.lines * kLine / kSector);
}

void BlockTracer::add_lines(const vm::Access& access, uint32_t warp, timing::Access& to) {
  to.first_line = static_cast<uint32_t>(trace_.lines.size());
  const auto add = [&](uint64_t line, uint8_t sectors, uint32_t bytes) {
    if (to.lines == 255) return;
    to.whole = to.whole && bytes >= static_cast<uint32_t>(std::popcount(sectors)) * kSector;
    trace_.lines.push_back({line, sectors});
    ++to.lines;
    to.sectors = static_cast<uint16_t>(to.sectors + std::popcount(sectors));
  };
  if (access.space == isa::Space::Global) return each_line(access.mask, access.address.data(), access.bytes, every, add);
  // Words of a thread's local memory lie beside the same words of its neighbours.
  std::array<uint64_t, 32> there{};
  for (uint32_t l = 0; l < 32; ++l) there[l] = (access.address[l] / 4 * 32 + l) * 4 + (uint64_t{warp} << 40);
  for (uint32_t word = 0; word < std::max(1u, access.bytes / 4); ++word) {
    each_line(access.mask, there.data(), 4, every, add);
    for (uint64_t& a : there) a += kLine;
  }
}

// Each address that lanes want, and which lanes.
template <class Visit>
static void each_address(const vm::Access& access, Visit visit) {
  for (uint32_t left = access.mask; left;) {
    const uint64_t address = access.address[static_cast<size_t>(std::countr_zero(left))];
    uint32_t lanes = 0;
    for (uint32_t l = 0; l < 32; ++l) lanes |= static_cast<uint32_t>(access.address[l] == address) << l;
    visit(address, lanes & access.mask);
    left &= ~lanes;
  }
}

static uint16_t different_sectors(const vm::Access& access) {
  std::array<uint64_t, 32> sectors;
  auto end = sectors.begin();
  for (uint32_t left = access.mask; left; left &= left - 1) *end++ = access.address[static_cast<size_t>(std::countr_zero(left))] / kSector;
  std::sort(sectors.begin(), end);
  return static_cast<uint16_t>(std::unique(sectors.begin(), end) - sectors.begin());
}

// Which lines a block wants when no more of its way is kept: one of sixteen of them.
void BlockTracer::note_beyond(const vm::Access& access) {
  if (access.space != isa::Space::Global) return;
  each_line(access.mask, access.address.data(), access.bytes, is_sampled, [&](uint64_t line, uint8_t, uint32_t) {
    if (beyond_.size() < kMostBeyond) beyond_.insert(line);
  });
}

void BlockTracer::access(uint32_t warp, const vm::FunctionCode& function, const vm::Insn& insn, const vm::Access& access,
                         const Counts& counts) {
  if (warp >= at_.size() || !access.mask) return;
  constexpr uint64_t kMix = 0x9e3779b97f4a7c15;
  for (uint32_t left = access.mask; left; left &= left - 1)
    at_[warp].turn = (at_[warp].turn ^ access.address[static_cast<size_t>(std::countr_zero(left))]) * kMix;
  if (at_[warp].waits(place_in_ptx(function, insn))) return;
  if (trace_.warps[warp].executed > trace_.warps[warp].instructions) return note_beyond(access);
  timing::WarpTrace& t = trace_.warps[warp];
  if (t.steps.empty()) return;
  timing::Access a;
  a.ptx = place_in_ptx(function, insn);
  a.kind = kind_of(access.kind, access.returns, access.async);
  if (insn.fragment) return gather(warp, insn, a, access);
  switch (access.space) {
    case isa::Space::Global: {
      a.space = timing::Space::Global;
      a.bulk = access.bytes > kMostOfLane;
      a.past_l1 = a.bulk || (a.kind == timing::Kind::Load && !asks_l1(launch_.device, insn.mods()));
      add_lines(access, warp, a);
      if (!a.bulk && fetches_lines(launch_.device, a.kind, insn.mods())) fetch_whole_lines(a);
      // What L1 has lies in banks like those of shared memory.
      if (launch_.device.unified_l1 && std::has_single_bit(access.bytes) && access.bytes <= 16) {
        model::WarpAccess wide{access.address, access.mask, static_cast<int>(access.bytes)};
        a.passes = static_cast<uint16_t>(model::shared_traffic(launch_.device.bank_rule, wide).wavefronts);
      }
      break;
    }
    case isa::Space::Local:
      a.space = timing::Space::Local;
      add_lines(access, warp, a);
      break;
    case isa::Space::Shared:
      a.space = timing::Space::Shared;
      if (to_cluster(access)) {
        a.cluster = true;
        a.lines = static_cast<uint8_t>(std::popcount(access.mask));
        a.sectors = different_sectors(access);
        break;
      }
      a.passes = static_cast<uint16_t>(std::clamp<uint64_t>(counts.shared.wavefronts + counts.loop_loads.wavefronts, 1, 65535));
      a.conflicts = static_cast<uint16_t>(std::min<uint64_t>(counts.shared.conflicts, 65535));
      if (a.kind == timing::Kind::Atomic || a.kind == timing::Kind::Reduce)
        each_address(access, [&](uint64_t word, uint32_t lanes) {
          if (const int n = std::popcount(lanes); n > a.lines)
            a.lines = static_cast<uint8_t>(n), a.first_line = static_cast<uint32_t>(word);
        });
      break;
    case isa::Space::Const:
      a.space = timing::Space::Constant;
      a.passes = 0;  // one for each address
      each_address(access, [&](uint64_t, uint32_t) { ++a.passes; });
      break;
    default: return;
  }
  t.accesses.push_back(a);
}

void BlockTracer::long_way(uint32_t warp, const vm::FunctionCode& function, const vm::Insn& insn, uint16_t instructions) {
  if (warp >= at_.size() || at_[warp].waits(place_in_ptx(function, insn))) return;
  timing::WarpTrace& t = trace_.warps[warp];
  if (t.executed > t.instructions || t.steps.empty()) return;
  t.accesses.push_back({.ptx = place_in_ptx(function, insn), .space = timing::Space::None, .passes = instructions});
}

void BlockTracer::gather(uint32_t warp, const vm::Insn& insn, const timing::Access& as, const vm::Access& access) {
  Fragment& f = fragments_[warp];
  if (f.insn != &insn) {
    end_fragment(warp);
    f = {&insn, as, access, {}};
  }
  for (uint32_t left = access.mask; left; left &= left - 1) {
    const uint64_t from = access.address[static_cast<size_t>(std::countr_zero(left))];
    for (uint64_t word = from / 4; word <= (from + access.bytes - 1) / 4; ++word) f.words.push_back(word * 4);
  }
}

void BlockTracer::end_fragment(uint32_t warp) {
  Fragment& f = fragments_[warp];
  if (!f.insn) return;
  std::ranges::sort(f.words);
  f.words.erase(std::unique(f.words.begin(), f.words.end()), f.words.end());
  // Four words beside each other, by where in their row they lie, then by rows: eight of these are what one instruction moves.
  std::vector<std::pair<uint32_t, uint64_t>> quads;
  uint64_t row = 0;
  for (size_t k = 0; k < f.words.size(); k += 4) {
    if (!k || f.words[k] != f.words[k - 1] + 4) row = f.words[k];
    quads.emplace_back(static_cast<uint32_t>(f.words[k] - row), f.words[k]);
  }
  std::ranges::stable_sort(quads, {}, [](const auto& q) { return q.first; });
  const bool shared = f.like.space == isa::Space::Shared, stores = f.access.kind == timing::Kind::Store;
  // All of it by one instruction (ldmatrix), or pairs of words at once, where the machine has these.
  const bool together = shared && !stores && isa::bits_of(f.insn->type()) == 16;
  const uint32_t words = stores && isa::bits_of(f.insn->type()) == 32 ? 2 : 1;
  timing::Access whole = f.access;
  whole.space = shared ? timing::Space::Shared : timing::Space::Global;
  whole.passes = 0;
  std::vector<timing::Access>& accesses = trace_.warps[warp].accesses;
  for (size_t q = 0; q < quads.size(); q += 8 * words) {
    timing::Access piece = whole;
    f.like.mask = 0;
    f.like.bytes = 4 * words;
    for (size_t k = 0; k < 8 && q + k * words < quads.size(); ++k)
      for (uint32_t l = 0; l < 4; ++l) {
        f.like.address[4 * k + l] = quads[std::min(q + k, quads.size() - 1)].second + uint64_t{l} * 4 * words;
        f.like.mask |= 1u << (4 * k + l);
      }
    const model::WarpAccess wide{f.like.address, f.like.mask, static_cast<int>(f.like.bytes)};
    piece.passes = static_cast<uint16_t>(model::shared_traffic(launch_.device.bank_rule, wide).wavefronts);
    if (!shared) add_lines(f.like, warp, piece);
    if (together) whole.passes = static_cast<uint16_t>(whole.passes + piece.passes);
    else accesses.push_back(piece);
  }
  if (together) accesses.push_back(whole);
  f = {};
}

timing::BlockTrace BlockTracer::take() {
  for (uint32_t w = 0; w < fragments_.size(); ++w) end_fragment(w);
  for (const timing::Line& line : trace_.lines) beyond_.erase(line.number);
  trace_.lines_beyond = beyond_.size() * kLinesPerSample;
  return std::move(trace_);
}

LaunchTracer::LaunchTracer(const vm::Launch& launch, const model::Device& device, MachineCodes& codes, bool follows)
    : device(device),
      grid_blocks(uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2]),
      block_threads(launch.block[0] * launch.block[1] * launch.block[2]),
      resident_blocks(std::max(1u, launch.resident_blocks / static_cast<uint32_t>(std::max(1, device.sm_count)))),
      follows(follows),
      followed_(std::clamp<uint64_t>(grid_blocks, 1, kBlocks)),
      codes_(codes) {}

uint64_t LaunchTracer::together() const {
  return static_cast<uint64_t>(device.sm_count) *
         std::max(1u, static_cast<uint32_t>(device.max_threads_per_sm) / std::max(1u, block_threads));
}

bool LaunchTracer::to_follow(uint64_t block) const {
  if (!follows) return false;
  // One of each of `followed_` equal parts of the grid, not always at the same place, as what blocks do may repeat with the rows
  // of the grid.
  const auto begin_of = [&](uint64_t part) { return (part * grid_blocks + followed_ - 1) / followed_; };
  const uint64_t part = block * followed_ / grid_blocks, begin = begin_of(part), size = begin_of(part + 1) - begin;
  return block == begin + (part * 0x9e3779b97f4a7c15 >> 33) % size;
}

std::unique_ptr<BlockTracer> LaunchTracer::begin(uint64_t block) {
  if (!to_follow(block)) return nullptr;
  return std::make_unique<BlockTracer>(*this, block, (block_threads + 31) / 32);
}

void LaunchTracer::end(BlockTracer& block) {
  timing::BlockTrace trace = block.take();
  std::lock_guard lock(mutex_);
  blocks.push_back(std::move(trace));
}

void LaunchTracer::add(Visits&& more) {
  std::lock_guard lock(mutex_);
  visits.append(std::move(more));
}

uint32_t LaunchTracer::index_of(const vm::FunctionCode& function, const assembly::MachineCode*& code) {
  std::lock_guard lock(mutex_);
  for (size_t k = 0; k < functions.size(); ++k)
    if (functions[k].function == &function) {
      code = functions[k].code.get();
      return static_cast<uint32_t>(k);
    }
  functions.push_back({&function, codes_.of(function, device)});
  code = functions.back().code.get();
  return static_cast<uint32_t>(functions.size() - 1);
}

}  // namespace warpbeam::observe
