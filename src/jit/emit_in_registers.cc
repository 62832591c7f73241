// Memory and variables in regions that are unrolled (unrolled_block.h): elements of shared memory are lanes of registers, a
// load is a permutation of what was stored, a store only notes where things are.
#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <set>

#include "jit/emitter.h"

namespace warpbeam::jit {

using isa::Space;

namespace {

constexpr uint64_t kMostShared = 64 << 10;
constexpr size_t kMostSources = 6;    // registers that one load picks its lanes from
constexpr size_t kMostStretches = 4;  // of memory, likewise; from more it gathers them

bool all_lanes(uint32_t mask) { return mask == ~0u; }

}  // namespace

// Loads happen at once, stores wait for the end: a load that comes after one must be of another allocation.
bool Emitter::stores_pass(const Access& load) {
  if (load.insn->mods().space == Space::Const || says(*load.insn->source->form.row, ".nc")) return true;
  std::set<int64_t> others;
  for (const UnrolledStore& s : unrolled_.now->now.stores) {
    if (s.access.root < 0 || load.root < 0 || s.access.root == load.root) return false;
    if (!others.insert(s.access.root).second) continue;
    const V where = lo_of(range_of(load));
    take_for_granted(b_.CreateAnd(b_.CreateICmpNE(where, b_.getInt64(0)), b_.CreateICmpNE(where, lo_of(range_of(s.access)))));
  }
  return true;
}

bool Emitter::unroll_global(const Access& a, uint32_t mask) {
  UnrolledBlock& r = *unrolled_.now;
  const isa::Sem sem = a.insn->mods().sem;
  if (may_be_local(a) || (sem != isa::Sem::None && sem != isa::Sem::Weak) || says(*a.insn->source->form.row, ".volatile")) return false;
  if (a.load && !stores_pass(a)) return false;
  Value address = address_of(a);
  if (!address.runs) return false;
  for (size_t k = 0; k < address.runs; ++k) address.run[k] = folded(address.run[k]);
  const V lanes = b_.getInt32(mask);
  V fit;
  const std::optional<int64_t> pace =
      all_lanes(mask) && address.runs == 1 && a.insn->op[1] >= 0 ? sampled_pace(a.insn->op[1], a.insn->base_width) : std::nullopt;
  if (pace) {
    bool first = false;
    address.run[0] = as_first(*a.insn, address.run[0], *pace, first);
    const int64_t before = *pace * r.warp, after = *pace * static_cast<int64_t>(r.now.values.size() - 1 - r.warp);
    fit = first ? fits_whole(a, address, std::min(-before, after), std::abs(before + after)) : b_.getTrue();
  } else if (all_lanes(mask) || address.runs > 1) fit = fits_whole(a, address);
  else if (address.stride == 0) fit = fits(a, address.run[0], a.total());
  else fit = fits_ends(a, address, lanes);
  take_for_granted(fit);
  if (a.load) {
    look_at_condition();
    touch(a, address, lanes);
    return true;
  }
  UnrolledStore store{a, address, r.warp, mask, r.now.barriers, {}};
  for (const int32_t slot : a.slots)
    if (const Source s = flow_.source(slot, a.reg); s.kind == SourceKind::Variable)
      store.data.emplace_back(s.variable, unrolled_cells(s.variable));
  r.now.stores.push_back(std::move(store));
  return true;
}

// What a value is in this warp if it grows by `pace` from warp to warp. The `first` that asks has to look at all warps.
V Emitter::as_first(const vm::Insn& i, V value, int64_t pace, bool& first) {
  UnrolledBlock& r = *unrolled_.now;
  const auto [known, fresh] = r.firsts.try_emplace({&i, r.step, r.visits[at_.node]}, UnrolledBlock::First{value, r.warp});
  first = fresh;
  if (fresh) return value;
  const int64_t warps = static_cast<int64_t>(r.warp) - static_cast<int64_t>(known->second.warp);
  const V expected = b_.CreateAdd(known->second.value, llvm::ConstantInt::getSigned(value->getType(), pace * warps));
  take_for_granted(b_.CreateICmpEQ(value, expected));
  return expected;
}

bool Emitter::unroll_access(const Access& a, uint32_t mask) {
  UnrolledBlock& r = *unrolled_.now;
  if (r.element && r.element != a.memory) return false;
  r.element = a.memory;
  const Value address = address_of(a);
  const bool one_place = address.uniform();
  const V vector = address.runs ? nullptr : folded(address.lanes);
  std::vector<int64_t> words(kLanes, -1);  // each lane's first
  for (int l = 0; l < kLanes; ++l) {
    if (!(mask >> l & 1) && !one_place) continue;
    V at;
    if (address.runs) {
      at = folded(in_run(address, 8, l * address.runs / kLanes, address.runs));
    } else {
      auto* known = llvm::dyn_cast<llvm::Constant>(vector);
      at = known ? known->getAggregateElement(static_cast<unsigned>(l)) : nullptr;
    }
    auto* known = llvm::dyn_cast_or_null<llvm::ConstantInt>(at);
    if (!known) return false;
    const int64_t further = address.runs ? address.stride * (l % (kLanes / address.runs)) : 0;
    const uint64_t place = known->getZExtValue() + static_cast<uint64_t>(further);
    if (place % a.total() || place > kMostShared - a.total()) return false;
    r.end = std::max(r.end, place + a.total());
    words[static_cast<size_t>(l)] = static_cast<int64_t>(place / a.memory);
  }
  if (r.now.words.size() < r.end / a.memory) r.now.words.resize(r.end / a.memory);
  note_made(a, mask, words);
  for (int k = 0; k < a.count; ++k) {
    const int32_t slot = a.slots[static_cast<size_t>(k)];
    for (int64_t w : words)
      if (w >= 0 && !note_access(static_cast<size_t>(w + k), a.load)) return false;
    for (int l = 0; tells() && l < kLanes; ++l)
      if ((mask >> l & 1) && !note_lane(static_cast<size_t>(words[static_cast<size_t>(l)] + k), l, a.load)) return false;
    if (!a.load) {
      Value v = read(slot, a.reg);
      V data = lanes_of(v, a.reg);
      if (const Source s = flow_.source(slot, a.reg); s.kind == SourceKind::Variable && shapes_.loose[s.variable])
        data = bits_of(canonical(float_of(data, 4)));
      data = folded(data);
      for (int l = 0; l < kLanes; ++l)
        if (mask >> l & 1) {
          UnrolledWord& word = r.now.words[static_cast<size_t>(words[static_cast<size_t>(l)] + k)];
          word.from = data;
          word.lane = static_cast<uint8_t>(l);
          word.changed = true;
        }
      continue;
    }
    Value v;
    if (one_place) {
      uint8_t lane = 0;
      const V from = unrolled_word(static_cast<size_t>(words[0] + k), lane);
      v.runs = 1;
      v.run[0] = b_.CreateExtractElement(from, uint64_t{lane});
    } else {
      std::vector<int64_t> which;
      for (int64_t w : words) which.push_back(w < 0 ? w : w + k);
      v.lanes = gather_words(which);
      if (!v.lanes) return false;
    }
    write(slot, a.reg, v);
  }
  return true;
}

// False: another warp has to do with the element in the same region, and the order would show.
bool Emitter::note_access(size_t index, bool load) {
  UnrolledWord& word = unrolled_.now->now.words[index];
  const int16_t warp = static_cast<int16_t>(unrolled_.now->warp);
  if (word.step != unrolled_.now->step) {
    word.step = unrolled_.now->step;
    word.writer = word.reader = -1;
    word.many_readers = false;
    word.lane_writer = word.lane_reader = -1;
  }
  if (word.writer >= 0 && word.writer != warp) return false;
  if (load) {
    word.many_readers = word.many_readers || (word.reader >= 0 && word.reader != warp);
    word.reader = warp;
    return true;
  }
  word.writer = warp;
  return !word.many_readers && (word.reader < 0 || word.reader == warp);
}

// For an observer of events: false where it might have something to say, of lanes of the warp or of what nobody wrote.
bool Emitter::note_lane(size_t index, int lane, bool load) {
  UnrolledWord& word = unrolled_.now->now.words[index];
  const int8_t me = static_cast<int8_t>(lane);
  if (load && !word.from) return false;
  if (word.lane_writer >= 0 && word.lane_writer != me) return false;
  if (!load && word.lane_reader >= 0 && word.lane_reader != me) return false;
  if (load) word.lane_reader = word.lane_reader < 0 || word.lane_reader == me ? me : kLanes;
  else word.lane_writer = me;
  return true;
}

// A register that has the element, and in which lane.
V Emitter::unrolled_word(size_t index, uint8_t& lane) {
  UnrolledBlock& r = *unrolled_.now;
  const UnrolledWord& word = r.now.words[index];
  lane = word.lane;
  if (word.from) return word.from;
  const size_t part = index / kLanes;
  lane = static_cast<uint8_t>(index % kLanes);
  if (r.before.size() <= part) r.before.resize(part + 1);
  if (!r.before[part]) {  // shared memory has room behind its end for this
    const V shared = context_field(offsetof(Context, shared), b_.getPtrTy(), true);
    const V at = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), shared, part * kLanes * r.element);
    r.before[part] = user(b_.CreateAlignedLoad(type_of(r.element, true), at, llvm::Align(r.element)));
  }
  return r.before[part];
}

// Those elements that are as they were before, each in its lane, straight from shared memory.
V Emitter::gather_unchanged(const std::vector<int64_t>& words) {
  const UnrolledBlock& r = *unrolled_.now;
  std::vector<llvm::Constant*> places, wanted;
  for (int64_t w : words) {
    const bool here = w >= 0 && !r.now.words[static_cast<size_t>(w)].from;
    places.push_back(b_.getInt64(here ? static_cast<uint64_t>(w) * r.element : 0));
    wanted.push_back(b_.getInt1(here));
  }
  const V at =
      b_.CreateGEP(b_.getInt8Ty(), context_field(offsetof(Context, shared), b_.getPtrTy(), true), llvm::ConstantVector::get(places));
  llvm::Type* type = type_of(r.element, true);
  return user(
      b_.CreateMaskedGather(type, at, llvm::Align(r.element), llvm::ConstantVector::get(wanted), llvm::Constant::getNullValue(type)));
}

// A register whose lane l is element words[l]; below 0: whatever.
V Emitter::gather_words(const std::vector<int64_t>& words) {
  const auto unchanged = [&](int64_t w) { return w >= 0 && !unrolled_.now->now.words[static_cast<size_t>(w)].from; };
  std::set<int64_t> parts;
  for (int64_t w : words)
    if (unchanged(w)) parts.insert(w / kLanes);
  const V apart = parts.size() > kMostStretches ? gather_unchanged(words) : nullptr;
  std::vector<V> sources;
  std::array<size_t, kLanes> source{};
  std::array<uint8_t, kLanes> lane{};
  for (size_t l = 0; l < kLanes; ++l) {
    if (words[l] < 0) continue;
    V from = apart;
    if (apart && unchanged(words[l])) lane[l] = static_cast<uint8_t>(l);
    else from = unrolled_word(static_cast<size_t>(words[l]), lane[l]);
    source[l] = static_cast<size_t>(std::ranges::find(sources, from) - sources.begin());
    if (source[l] == sources.size()) sources.push_back(from);
  }
  if (sources.empty() || sources.size() > kMostSources) return nullptr;
  const auto has = [&](size_t l, size_t s) { return words[l] >= 0 && source[l] == s; };
  // Lanes that do not matter take what costs nothing, but never something undefined.
  std::vector<int> pick(kLanes);
  bool same = true;
  for (size_t l = 0; l < kLanes; ++l) {
    pick[l] = has(l, 0) ? lane[l] : sources.size() > 1 && has(l, 1) ? kLanes + lane[l] : static_cast<int>(l);
    same = same && pick[l] == static_cast<int>(l);
  }
  V all = sources[0];
  if (!same) all = sources.size() > 1 ? b_.CreateShuffleVector(all, sources[1], pick) : b_.CreateShuffleVector(all, pick);
  for (size_t s = 2; s < sources.size(); ++s) {
    for (size_t l = 0; l < kLanes; ++l) pick[l] = has(l, s) ? kLanes + lane[l] : static_cast<int>(l);
    all = b_.CreateShuffleVector(all, sources[s], pick);
  }
  return all;
}

// --- variables --------------------------------------------------------------------------------------------------------

// What the warp has in the variable; values that regions keep are loaded when they are first asked for.
const Cells& Emitter::unrolled_cells(uint32_t v) {
  UnrolledBlock& r = *unrolled_.now;
  Cells& cells = r.now.values[r.warp][v];
  if (cells[0]) return cells;
  const Shape& s = shapes_.variables[v];
  const Width bytes = flow_.variables[v].bytes;
  const size_t parts = std::max<size_t>(s.runs, 1);
  if (r.knows_all || r.whole || (!block_level(v) && spills_.at[v] < 0)) {
    for (size_t k = 0; k < parts; ++k) cells[k] = llvm::Constant::getNullValue(type_of(bytes, s.runs == 0));
    return cells;
  }
  if (block_level(v)) {
    const V first = b_.CreateLoad(lane_type(bytes), registers_.in_block[v]);
    cells[0] = bytes ? b_.CreateAdd(first, folded(paced(v))) : first;
    return cells;
  }
  spills_.piece = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), spills_.frame, uint64_t(r.warp) * spills_.stride);
  const V at = spill_place(v);
  if (bytes == 0) {
    const V mask = machine_load(b_.getInt32Ty(), at);
    cells[0] = s.runs ? b_.CreateICmpNE(mask, b_.getInt32(0)) : bool_lanes(mask);
  } else if (s.runs == 0) {
    auto* load = llvm::cast<llvm::LoadInst>(machine_load(type_of(bytes, true), at));
    load->setAlignment(llvm::Align(32));
    cells[0] = load;
  } else {
    for (size_t k = 0; k < parts; ++k)
      cells[k] = machine_load(lane_type(bytes), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), at, k * bytes));
  }
  return cells;
}

void Emitter::write_unrolled(uint32_t v, Value value) {
  UnrolledBlock& r = *unrolled_.now;
  if (!r.knows_all && value.runs == 0 && (at_.forced || shapes_.needs_blend(at_.node, v))) {
    const V old = unrolled_cells(v)[0], lanes = folded(bool_lanes(at_.active));
    value.lanes = b_.CreateSelect(lanes, value.lanes, old);
  }
  Cells& cells = r.now.values[r.warp][v];
  cells = {};
  if (value.runs == 0) cells[0] = folded(value.lanes);
  for (size_t k = 0; k < value.runs; ++k) cells[k] = folded(value.run[k]);
  r.now.written[r.warp].add(v);
}

// What the region that comes next takes over.
void Emitter::keep_unrolled(uint32_t to) {
  UnrolledBlock& r = *unrolled_.now;
  flow_.nodes[to].live_in.each([&](size_t variable) {
    const uint32_t v = static_cast<uint32_t>(variable);
    const Width bytes = flow_.variables[v].bytes;
    const Shape& s = shapes_.variables[v];
    for (r.warp = 0; r.warp < r.now.values.size(); ++r.warp) {
      if (!r.now.written[r.warp].has(v) && !r.whole) continue;
      at_.warp = b_.getInt32(r.warp);
      const Cells& cells = unrolled_cells(v);
      if (block_level(v)) {
        b_.CreateStore(bytes ? b_.CreateSub(cells[0], folded(paced(v))) : cells[0], registers_.in_block[v]);
        break;
      }
      if (spills_.at[v] < 0) continue;
      spills_.piece = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), spills_.frame, uint64_t(r.warp) * spills_.stride);
      const V at = spill_place(v);
      if (bytes == 0) machine_store(s.runs ? b_.CreateSExt(cells[0], b_.getInt32Ty()) : mask_bits(cells[0]), at);
      else if (s.runs == 0) machine_store(cells[0], at);
      else
        for (size_t k = 0; k < s.runs; ++k)
          machine_store(k > 0 && s.even ? b_.CreateAdd(cells[0], llvm::ConstantInt::get(lane_type(bytes), static_cast<uint64_t>(s.gap) * k))
                                        : cells[k],
                        b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), at, k * bytes));
    }
  });
}

// What has changed in shared memory.
void Emitter::store_unrolled() {
  UnrolledBlock& r = *unrolled_.now;
  const std::vector<UnrolledWord>& words = r.now.words;
  for (size_t first = 0; first < words.size(); first += kLanes) {
    std::vector<int64_t> all(kLanes, -1);
    uint32_t changed = 0, there = 0;
    const bool loaded = first / kLanes < r.before.size() && r.before[first / kLanes];
    for (size_t l = 0; l < kLanes && first + l < words.size(); ++l) {
      const UnrolledWord& word = words[first + l];
      if (word.changed) changed |= 1u << l;
      if (!word.changed && !loaded) continue;
      there |= 1u << l;
      all[l] = static_cast<int64_t>(first + l);
    }
    if (!changed) continue;
    V value = nullptr;
    std::vector<V> done;
    // However many registers they are in.
    for (size_t l = 0; l < kLanes; ++l) {
      if (all[l] < 0) continue;
      uint8_t lane = 0;
      const V from = unrolled_word(static_cast<size_t>(all[l]), lane);
      if (std::ranges::find(done, from) != done.end()) continue;
      done.push_back(from);
      std::vector<int> pick(kLanes);
      for (size_t o = 0; o < kLanes; ++o) {
        uint8_t which = 0;
        const bool mine = all[o] >= 0 && unrolled_word(static_cast<size_t>(all[o]), which) == from;
        pick[o] = mine ? (value ? kLanes : 0) + which : static_cast<int>(o);
      }
      value = value ? b_.CreateShuffleVector(value, from, pick) : b_.CreateShuffleVector(from, pick);
    }
    const V shared = context_field(offsetof(Context, shared), b_.getPtrTy(), true);
    const V at = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), shared, first * r.element);
    if (all_lanes(there)) user(b_.CreateAlignedStore(value, at, llvm::Align(r.element)));
    else user(b_.CreateMaskedStore(value, at, llvm::Align(r.element), bool_lanes(b_.getInt32(changed))));
  }
}

}  // namespace warpbeam::jit
