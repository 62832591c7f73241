// Idea: lanes that read or write words side by side, each at a place of its own (rows of a matrix of which a thread has one, members of a
// structure), do it with one access of the host for each lane and a transposition: a fraction of a gather or scatter for each word.
// Elements of one or two bytes are parts of words.
// Precondition: loads are made where the first of them stands: nothing between them minds, or changes memory. Stores are made where the
// last of them stands: nothing between them reads or changes memory, or what they store, and no lane stores where another does. Where
// that is only known when it runs, or loads stand behind stores, there or at another place, all of them are a record: the lanes and
// places are looked at first.
// Postcondition: memory and registers are as after the accesses one by one.
// Fallback: those, where lanes lie side by side or are not all there, or a place is not good.
#include <algorithm>
#include <cstdlib>
#include <ranges>

#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;
using llvm::FixedVectorType;

namespace {

constexpr size_t kFewest = 8;  // bytes of a piece that are wanted, or of one access kFewestOfOne
constexpr size_t kFewestOfOne = 12;

bool is_plain(const Access& a) {
  const vm::Insn& i = *a.insn;
  const isa::Sem sem = i.mods().sem;
  return !a.shared && i.guard < 0 && i.op[1] >= 0 && i.base_width == 8 && (sem == isa::Sem::None || sem == isa::Sem::Weak);
}

Width word_of(const Access& a) { return std::max(a.memory, kWord); }

uint64_t bytes_of(const vm::Insn& access) { return isa::bytes_of(access.type()) * (access.list ? access.count : 1); }

// Do lanes lie apart, and not at every second or fourth word, which has a form of its own (emit_runtime_stride.cc)?
bool scattered(const Shape& shape, uint64_t bytes) {
  if (!shape.runs) return true;
  const int64_t size = static_cast<int64_t>(bytes), steps = shape.stride / size;
  return shape.runs == 1 && shape.stride % size == 0 && std::abs(steps) > 2 && steps != 4;
}

}  // namespace

// Pieces of 16 bytes of which the loads read most words. None of them reads beyond the words that are wanted if it can be.
std::vector<Piece> Emitter::pieces_of(std::vector<const vm::Insn*> loads) {
  std::ranges::sort(loads, {}, &vm::Insn::imm);
  std::vector<Piece> out;
  const int64_t bytes = loads.empty() ? 0 : static_cast<int64_t>(bytes_of(*loads[0]));
  for (size_t k = 0; k < loads.size();) {
    Piece piece{loads[k]->imm};
    size_t next = k;
    size_t wanted = 0;
    for (; next < loads.size() && loads[next]->imm < piece.from + static_cast<int64_t>(kPiece); ++next) {
      if ((loads[next]->imm - piece.from) % bytes) continue;
      wanted += piece.accesses.empty() || piece.accesses.back()->imm != loads[next]->imm ? static_cast<size_t>(bytes) : 0;
      piece.accesses.push_back(loads[next]);
    }
    if (wanted < (piece.accesses.size() > 1 ? kFewest : kFewestOfOne)) {
      ++k;
      continue;
    }
    const int64_t earlier = std::max(loads[0]->imm, piece.accesses.back()->imm + bytes - static_cast<int64_t>(kPiece));
    if (earlier < piece.from && (piece.from - earlier) % bytes == 0) piece.from = earlier;
    std::ranges::sort(piece.accesses);  // as they are executed
    out.push_back(std::move(piece));
    k = next;
  }
  return out;
}

// Stretches without a gap.
std::vector<Piece> Emitter::stored_pieces_of(std::vector<const vm::Insn*> stores) {
  std::ranges::stable_sort(stores, {}, &vm::Insn::imm);
  std::vector<Piece> out;
  for (const vm::Insn* store : stores) {
    const auto bytes = static_cast<int64_t>(bytes_of(*store));
    const int64_t further = out.empty() ? -1 : store->imm - out.back().from;
    if (further < 0 || further > static_cast<int64_t>(out.back().bytes) || further % bytes) out.push_back({store->imm, {}, 0});
    out.back().accesses.push_back(store);
    out.back().bytes = std::max(out.back().bytes, static_cast<uint64_t>(store->imm - out.back().from + bytes));
  }
  std::erase_if(out, [](const Piece& p) { return p.bytes < kFewestOfOne || p.bytes % sizeof(uint32_t); });
  for (Piece& p : out) std::ranges::sort(p.accesses);
  return out;
}

namespace {

bool loads(const vm::Insn* i) { return i->row()->cls == isa::Class::Load; }

std::vector<const vm::Insn*> chosen(const std::vector<const vm::Insn*>& all, bool load) {
  std::vector<const vm::Insn*> out;
  std::ranges::copy_if(all, std::back_inserter(out), [&](const vm::Insn* i) { return loads(i) == load; });
  return out;
}

// Is there a load behind a store?
bool mixed(const std::vector<const vm::Insn*>& all) {
  return !std::ranges::is_sorted(all, {}, [](const vm::Insn* i) { return !loads(i); });
}

// Would loads that are made first, and stores that are made last, come by the other's?
bool cross(const std::vector<const vm::Insn*>& a, const std::vector<const vm::Insn*>& b) {
  const auto stores_a = chosen(a, false), stores_b = chosen(b, false);
  const auto behind = [](const std::vector<const vm::Insn*>& some, const std::vector<const vm::Insn*>& stores) {
    return !some.empty() && !stores.empty() && some.back() > stores.front();
  };
  return behind(chosen(a, true), stores_b) || behind(chosen(b, true), stores_a) ||
         (behind(stores_a, stores_b) && behind(stores_b, stores_a));
}

std::pair<int64_t, int64_t> reach_of(const std::vector<const vm::Insn*>& some) {
  const auto [least, most] = std::ranges::minmax(some, {}, &vm::Insn::imm);
  return {least->imm, most->imm + static_cast<int64_t>(bytes_of(*most))};
}

}  // namespace

void Emitter::keep_pieces(std::vector<Piece> pieces, Record::Part* part) {
  for (Piece& piece : pieces) {
    const auto shared = std::make_shared<const Piece>(std::move(piece));
    for (const vm::Insn* access : shared->accesses) interleaved_.of[access] = shared;
    if (part) part->pieces.push_back(shared);
  }
}

// Accesses around one place.
void Emitter::settle_pieces(const std::vector<const vm::Insn*>& all, const Shape& base) {
  const std::vector<const vm::Insn*> written = chosen(all, false);
  if (mixed(all)) return settle_records({{base, all}});
  keep_pieces(pieces_of(chosen(all, true)), nullptr);
  if (written.empty()) return;
  if (base.runs != 1) return settle_records({{base, written}});
  const auto [from, to] = reach_of(written);
  if (std::abs(base.stride) >= to - from) keep_pieces(stored_pieces_of(written), nullptr);
}

void Emitter::settle_records(const PlacesOfPieces& places) {
  auto record = std::make_shared<Record>();
  for (const auto& [base, all] : places) {
    const auto [from, to] = reach_of(all);
    const bool stores = !chosen(all, false).empty();
    if (stores && base.runs == 1 && std::abs(base.stride) < to - from) return;
    record->parts.push_back({all, from, stores ? static_cast<uint64_t>(to - from) : 0, static_cast<uint64_t>(to - from), {}});
  }
  for (size_t a = 0; a < places.size(); ++a)
    for (size_t b = 0; b < a; ++b)
      if (cross(places[a].second, places[b].second)) record->meet.emplace_back(a, b);
  for (Record::Part& part : record->parts) {
    keep_pieces(stored_pieces_of(chosen(part.accesses, false)), &part);
    // Of a record of stores alone no loads are changed.
    if (part.pieces.empty() && places.size() == 1) return;
    keep_pieces(pieces_of(chosen(part.accesses, true)), &part);
    int64_t end = part.from + static_cast<int64_t>(part.bytes);
    for (const auto& piece : part.pieces) end = std::max(end, piece->from + static_cast<int64_t>(piece->bytes));
    part.bytes = static_cast<uint64_t>(end - part.from);
    for (const vm::Insn* i : part.accesses) interleaved_.records[i] = record;
  }
}

// `ahead`: instructions that have run before, and give the same in their places.
void Emitter::find_pieces(uint32_t begin, uint32_t end, const std::vector<uint32_t>& ahead) {
  interleaved_.clear();
  static const bool without = left_out("interleaved");
  const bool told = watch_ && watch_->wanted.events;  // of each access in its turn
  if (without || told || as_.alone || as_.slice || as_.few || unrolled_.now || !processor_.avx2) return;
  struct Open {
    std::vector<const vm::Insn*> accesses{};
    Bits touched{0}, stored{0};         // variables that instructions have read or written since the first, and that its stores read
    std::set<int64_t> offsets_stored{};
  };
  struct Key {
    uint32_t base;  // the variable that addresses are made from
    Width memory;   // a word's bytes
    int count;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, Open> open;
  Bits changed(flow_.variables.size());  // since the first access of those
  bool together = false;                 // loads or stores of some may have to come by those of others
  const auto settle = [&](const Key& key, Open& o) {
    if (!o.accesses.empty()) settle_pieces(o.accesses, shapes_.variables[key.base]);
    o = Open{{}, Bits(flow_.variables.size()), Bits(flow_.variables.size()), {}};
  };
  const auto close_all = [&] {
    PlacesOfPieces places;
    bool crosses = false;
    for (const auto& [key, o] : open) {
      if (o.accesses.empty()) continue;
      for (const auto& [base, others] : places) crosses = crosses || cross(o.accesses, others);
      places.emplace_back(shapes_.variables[key.base], o.accesses);
    }
    if (crosses) settle_records(places);
    for (auto& [key, o] : open) {
      if (crosses) o.accesses.clear();
      settle(key, o);
    }
    together = false;
  };
  const auto close = [&](const Key& key, Open& o) { together ? close_all() : settle(key, o); };
  const auto variable_of = [&](int32_t at) -> int64_t {
    const auto v = flow_.variable(at);
    return v ? static_cast<int64_t>(*v) : -1;
  };
  for (uint32_t k = begin; k < end; ++k) {
    const vm::Insn& i = flow_.code->insns[k];
    if (i.silent()) continue;
    const std::optional<Access> a = access_of(i);
    const bool pure = i.effects().pure() && shapes_.has_ir(i);
    std::optional<Key> key;
    if (a && is_plain(*a) && !may_be_local(*a) && (a->load || !watch_)) {
      const Source base = flow_.source(i.op[1], i.base_width);
      if (base.kind == SourceKind::Variable && flow_.variables[base.variable].bytes == 8 &&
          scattered(shapes_.variables[base.variable], a->total()))
        key = Key{base.variable, a->memory, a->count};
    }
    // Other weak loads can stand among loads; nothing else that is accessed among them, or among stores, nor what may hand over.
    const bool leaves = pure && may_wrap(i), passes = a && a->load && is_weak_access(i);
    const auto is_open = [](const auto& some) { return !some.second.accesses.empty(); };
    if (std::ranges::none_of(open, is_open)) changed = Bits(flow_.variables.size());
    const auto known = [&](const Key& one) { return !changed.has(one.base); };  // where it is, when the first of them is made
    for (auto& [other, o] : open) {
      if (o.accesses.empty() || (key && *key == other)) continue;
      if (leaves ? o.offsets_stored.empty() : pure || (passes && o.offsets_stored.empty())) continue;
      if (key && key->base != other.base && known(*key) && known(other)) together = true;
      else close(other, o);
    }
    if (key) {
      const auto [at, fresh] = open.try_emplace(*key);
      Open& o = at->second;
      if (fresh) settle(*key, o);
      const auto needed = [&](int32_t to) {  // what the register holds before, by what comes later than it is written
        const int64_t v = variable_of(to);
        const auto stores = [&](const auto& some) { return some.second.stored.has(static_cast<size_t>(v)); };
        return v < 0 || o.touched.has(static_cast<size_t>(v)) || std::ranges::any_of(open, stores);
      };
      const bool minds = a->load && (o.offsets_stored.contains(i.imm) || std::ranges::any_of(a->slots, needed));
      if (minds) close(*key, o);
      o.accesses.push_back(&i);
      if (!a->load) o.offsets_stored.insert(i.imm);
    }
    const auto touch = [&](int64_t v, bool written) {
      if (v < 0) return;
      if (written) changed.add(static_cast<size_t>(v));
      for (auto& [other, o] : open) {
        if (written && (other.base == v || o.stored.has(static_cast<size_t>(v)))) close(other, o);
        o.touched.add(static_cast<size_t>(v));
        if (key && *key == other && !a->load) o.stored.add(static_cast<size_t>(v));
      }
    };
    const bool early = std::ranges::binary_search(ahead, k);
    for (const Slot& s : flow_.slots[k]) touch(variable_of(s.at), s.written && !early);
    if (i.guard >= 0) touch(variable_of(i.guard), false);
  }
  close_all();
}

// Are all lanes there, their places good and apart, and none of a part's among another's that must not meet it?
V Emitter::record_stands(const Record& r) {
  V good = b_.CreateICmpEQ(at_.active, b_.getInt32(~0u));
  const auto also = [&](V more) { good = b_.CreateAnd(good, more); };
  const auto access = [&](size_t part) { return *access_of(*r.parts[part].accesses[0]); };
  std::vector<Value> bases;
  for (size_t k = 0; k < r.parts.size(); ++k) {
    const Record::Part& part = r.parts[k];
    const Access a = access(k);
    const Value& base = bases.emplace_back(read(a.insn->op[1], 8));
    if (base.runs == 1) {
      also(fits_whole(a, base, part.from, static_cast<int64_t>(part.bytes - a.total())));
      continue;
    }
    const V places = lanes_of(base, 8), steps = b_.CreateSub(lanes_behind(places), places);
    const V apart = b_.CreateOr(mask_bits(b_.CreateICmpSGE(steps, splat(b_.getInt64(part.apart)))), 1u << (kLanes - 1));
    if (part.apart) also(b_.CreateICmpEQ(apart, b_.getInt32(~0u)));
    also(fits_lanes(a, b_.CreateAdd(places, splat(b_.getInt64(static_cast<uint64_t>(part.from)))), b_.getInt32(~0u), part.bytes));
  }
  for (const auto& [x, y] : r.meet) {
    const auto ends = [&](size_t k) {
      const int64_t span = bases[k].stride * (kLanes - 1), first = r.parts[k].from + std::min<int64_t>(span, 0);
      const V begin = b_.CreateAdd(bases[k].run[0], b_.getInt64(static_cast<uint64_t>(first)));
      return std::pair(begin, b_.CreateAdd(begin, b_.getInt64(static_cast<uint64_t>(std::abs(span)) + r.parts[k].bytes)));
    };
    if (bases[x].runs == 1 && bases[y].runs == 1) {
      const auto [begin, end] = ends(x);
      const auto [other_begin, other_end] = ends(y);
      also(b_.CreateOr(b_.CreateICmpULE(end, other_begin), b_.CreateICmpULE(other_end, begin)));
    } else {  // both lie in the allocations that are known of them
      also(b_.CreateICmpNE(lo_of(range_of(access(x))), lo_of(range_of(access(y)))));
    }
  }
  return good;
}

// Each access of a record stands in its place as well, for lanes that are not apart or not all there.
bool Emitter::emit_record(const vm::Insn& i, Record& r) {
  const Access a = *access_of(i);
  const auto first_of = [](const Record::Part& part) { return part.accesses.front(); };
  const Record::Part& part =
      *std::ranges::find_if(r.parts, [&](const Record::Part& p) { return std::ranges::find(p.accesses, &i) != p.accesses.end(); });
  const auto places = [&](int64_t further) -> std::function<V(int)> {
    const Value base = read(i.op[1], 8);
    if (base.runs == 1)
      return [=, this](int lane) { return b_.CreateAdd(base.run[0], b_.getInt64(static_cast<uint64_t>(base.stride * lane + further))); };
    const auto all = lane_memory_.lanes_one_by_one(lanes_of(base, 8));
    return [=, this](int lane) { return b_.CreateAdd(all(lane), b_.getInt64(static_cast<uint64_t>(further))); };
  };
  if (&i == std::ranges::min(r.parts | std::views::transform(first_of))) {
    uses(Technique::Records);
    r.together = scratch(b_.getInt1Ty());
    b_.CreateStore(record_stands(r), r.together);
  }
  const auto reads = [](const auto& piece) { return loads(piece->accesses[0]); };
  if (first_of(part) == &i && std::ranges::any_of(part.pieces, reads)) {
    auto [together, on] = new_blocks("record", "looked");
    go_on_if(b_.CreateLoad(b_.getInt1Ty(), r.together), together, on);
    for (const auto& piece : part.pieces) {
      if (!reads(piece)) continue;
      const std::vector<V> words = lane_memory_.load_piece(places(piece->from), word_of(a), a.memory);
      for (const vm::Insn* load : piece->accesses) write_piece(*load, words, piece->from);
    }
    go_on(on);
  }
  const auto piece = interleaved_.of.find(&i);
  if (piece == interleaved_.of.end()) return false;
  const bool stores = !a.load && piece->second->accesses.back() == &i;
  auto* by_itself = new_block("by_itself");
  auto* store = stores ? new_block("store_record") : nullptr;
  auto* on = new_block("on");
  b_.CreateCondBr(b_.CreateLoad(b_.getInt1Ty(), r.together), stores ? store : on, by_itself);
  if (stores) {
    b_.SetInsertPoint(store);
    store_pieces(*piece->second, places(piece->second->from));
    b_.CreateBr(on);
  }
  b_.SetInsertPoint(by_itself);
  interleaved_.aside = true;
  emit_memory(i);
  interleaved_.aside = false;
  go_on(on);
  return true;
}

void Emitter::write_piece(const vm::Insn& load, const std::vector<V>& words, int64_t from) {
  const Access a = *access_of(load);
  const uint64_t word = word_of(a);
  for (size_t k = 0; k < a.slots.size(); ++k) {
    const uint64_t at = static_cast<uint64_t>(load.imm - from) + k * a.memory;
    V element = words[at / word];
    if (at % word) element = b_.CreateLShr(element, llvm::ConstantInt::get(element->getType(), at % word * 8));
    put_loaded(a, static_cast<int>(k), b_.CreateTrunc(element, type_of(a.memory, true)));
  }
}

// Where lanes lie side by side or are not all there, or a place is not good, the loads are made one by one.
bool Emitter::emit_piece(const vm::Insn& i) {
  if (interleaved_.aside) return false;
  if (const auto record = interleaved_.records.find(&i); record != interleaved_.records.end()) return emit_record(i, *record->second);
  const auto it = interleaved_.of.find(&i);
  if (it == interleaved_.of.end()) return false;
  const std::shared_ptr<const Piece> piece = it->second;
  const Access a = *access_of(i);
  if ((a.load ? piece->accesses.front() : piece->accesses.back()) != &i) return true;
  uses(a.load ? Technique::InterleavedLoads : Technique::InterleavedStores);
  const Value base = read(i.op[1], 8);
  auto [together, each, join] = new_blocks("piece", "one_by_one", "read");
  const V from = b_.getInt64(static_cast<uint64_t>(piece->from));
  V good = b_.CreateICmpEQ(at_.active, b_.getInt32(~0u));
  std::function<V(int)> at;
  V addresses = nullptr;
  if (base.runs == 1) {
    good = b_.CreateAnd(good, fits_whole(a, base, piece->from, static_cast<int64_t>(piece->bytes - a.total())));
    const V first = b_.CreateAdd(base.run[0], from);
    at = [=, this](int lane) { return b_.CreateAdd(first, b_.getInt64(static_cast<uint64_t>(base.stride * lane))); };
  } else {
    const V lanes = lanes_of(base, 8);
    addresses = b_.CreateAdd(lanes, splat(from));
    const V span =
        b_.CreateSub(b_.CreateExtractElement(addresses, uint64_t{kLanes / 2 - 1}), b_.CreateExtractElement(addresses, uint64_t{0}));
    const V apart = b_.CreateICmpNE(span, b_.getInt64(a.total() * (kLanes / 2 - 1)));
    good = b_.CreateAnd(b_.CreateAnd(good, apart), fits_lanes(a, addresses, b_.getInt32(~0u), kPiece));
  }
  go_on_if(good, together, each);
  if (addresses) at = lane_memory_.lanes_one_by_one(addresses);
  const bool counted = watch_ && watch_->wanted.traffic && !base.runs && !flow_.code->takes_param_address;
  if (counted) count_piece(*piece, b_.CreateAdd(lanes_of(base, 8), splat(b_.getInt64(static_cast<uint64_t>(i.imm)))), a.total());
  if (!a.load) store_pieces(*piece, at);
  const std::vector<V> words = a.load ? lane_memory_.load_piece(at, word_of(a), a.memory) : std::vector<V>();
  for (const vm::Insn* load : piece->accesses) {
    if (!a.load) break;
    Value place = base;
    const V further = b_.getInt64(static_cast<uint64_t>(load->imm));
    if (base.runs) place.run[0] = b_.CreateAdd(base.run[0], further);
    else place.lanes = b_.CreateAdd(lanes_of(base, 8), splat(further));
    if (!counted) watch_access(*load, place, b_.getInt32(~0u), a.total());
    else tell_places(*load, place, b_.getInt32(~0u));
    write_piece(*load, words, piece->from);
  }
  b_.CreateBr(join);
  b_.SetInsertPoint(each);
  interleaved_.aside = true;
  for (const vm::Insn* load : piece->accesses) emit_memory(*load);
  interleaved_.aside = false;
  go_on(join);
  return true;
}

// Piece by piece; the last one begins among the words of the one before it where that is all there is.
void Emitter::store_pieces(const Piece& piece, const std::function<V(int)>& at) {
  const Access first = *access_of(*piece.accesses[0]);
  const Width word = word_of(first);
  std::vector<V> elements(piece.bytes / first.memory), words;
  for (const vm::Insn* store : piece.accesses) {
    const Access a = *access_of(*store);
    const auto from = static_cast<size_t>(store->imm - piece.from) / a.memory;
    for (int k = 0; k < a.count; ++k) elements[from + static_cast<size_t>(k)] = stored_lanes(a, k);
  }
  const size_t parts = word / first.memory;  // elements of a word
  for (size_t k = 0; k < elements.size(); ++k) {
    V part = b_.CreateZExt(elements[k], type_of(word, true));
    if (const uint64_t by = k % parts * first.memory * 8) part = b_.CreateShl(part, llvm::ConstantInt::get(part->getType(), by));
    k % parts ? words.back() = b_.CreateOr(words.back(), part) : (words.push_back(part), part);
  }
  const size_t many = std::min<size_t>(kPiece / word, words.size());
  for (size_t next = 0; next < words.size();) {
    const size_t begin = std::min(next, words.size() - many);
    const auto here = [&](int lane) { return b_.CreateAdd(at(lane), b_.getInt64(begin * word)); };
    lane_memory_.store_piece({words.begin() + static_cast<ptrdiff_t>(begin), words.begin() + static_cast<ptrdiff_t>(begin + many)}, here,
                             word, first.memory);
    next = begin + many;
  }
}

}  // namespace warpbeam::jit
