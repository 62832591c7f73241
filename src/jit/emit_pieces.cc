// Lanes that read or write words side by side, each at a place of its own: rows of a matrix of which a thread has one, members of a
// structure. Each lane's words come or go with one access of the host, and the lanes' with a transposition, which takes a fraction of
// what gathers and scatters take, one for each word.
//
// Loads are made where the first of them stands: nothing between them minds, or changes memory. Stores are made where the last of
// them stands: nothing between them reads or changes memory, or what they store, and no lane stores where another does.
#include <algorithm>
#include <cstdlib>

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
  return !a.shared && i.guard < 0 && a.memory >= 4 && i.op[1] >= 0 && i.base_width == 8 && (sem == isa::Sem::None || sem == isa::Sem::Weak);
}

uint64_t bytes_of(const vm::Insn& access) { return isa::bytes_of(access.type()) * (access.list ? access.count : 1); }

// Do lanes lie apart, and not at every second or fourth word, which has a form of its own (emit_sloped.cc)?
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

// Stretches without a gap, of lanes whose places lie `stride` apart.
std::vector<Piece> Emitter::stored_pieces_of(std::vector<const vm::Insn*> stores, int64_t stride) {
  std::ranges::stable_sort(stores, {}, &vm::Insn::imm);
  std::vector<Piece> out;
  const auto bytes = static_cast<int64_t>(bytes_of(*stores[0]));
  if (std::abs(stride) < stores.back()->imm + bytes - stores[0]->imm) return out;
  for (const vm::Insn* store : stores) {
    const int64_t further = out.empty() ? -1 : store->imm - out.back().from;
    if (further < 0 || further > static_cast<int64_t>(out.back().bytes) || further % bytes) out.push_back({store->imm, {}, 0});
    out.back().accesses.push_back(store);
    out.back().bytes = std::max(out.back().bytes, static_cast<uint64_t>(store->imm - out.back().from + bytes));
  }
  std::erase_if(out, [](const Piece& p) { return p.bytes < kFewestOfOne || p.bytes % sizeof(uint32_t); });
  for (Piece& p : out) std::ranges::sort(p.accesses);
  return out;
}

void Emitter::find_pieces(uint32_t begin, uint32_t end) {
  pieces_.of.clear();
  static const bool without = left_out("pieces");
  const bool told = watch_ && watch_->wanted.events;  // of each access in its turn
  if (without || told || as_.alone || as_.slice || as_.few || rehearsals_.now || !processor_.avx2) return;
  struct Open {
    std::vector<const vm::Insn*> accesses;
    Bits touched;  // variables that instructions have read or written since the first load, or that are stored
  };
  struct Key {
    bool load;
    uint32_t base;  // the variable that addresses are made from
    Width memory;   // a word's bytes
    int count;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, Open> open;
  const auto close = [&](const Key& key, Open& o) {
    const std::vector<const vm::Insn*> all = std::exchange(o.accesses, {});
    if (all.empty()) return;
    for (Piece& piece : key.load ? pieces_of(all) : stored_pieces_of(all, shapes_.variables[key.base].stride)) {
      const auto shared = std::make_shared<const Piece>(std::move(piece));
      for (const vm::Insn* access : shared->accesses) pieces_.of[access] = shared;
    }
  };
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
      const bool suits = base.kind == SourceKind::Variable && flow_.variables[base.variable].bytes == 8 &&
                         scattered(shapes_.variables[base.variable], a->total()) && (a->load || shapes_.variables[base.variable].runs == 1);
      if (suits) key = Key{a->load, base.variable, a->memory, a->count};
    }
    // A load can stand among loads; nothing that is accessed among stores.
    for (auto& [other, o] : open)
      if (!pure && !(a && a->load && other.load) && !(key && !key->load && *key == other)) close(other, o);
    if (key) {
      Open& o = open.try_emplace(*key, Open{{}, Bits(flow_.variables.size())}).first->second;
      const bool minds = a->load && std::ranges::any_of(a->slots, [&](int32_t to) {
                           return variable_of(to) < 0 || o.touched.has(static_cast<size_t>(variable_of(to)));
                         });
      if (minds) close(*key, o);
      if (o.accesses.empty()) o.touched = Bits(flow_.variables.size());
      o.accesses.push_back(&i);
    }
    const auto touch = [&](int64_t v, bool written) {
      if (v < 0) return;
      for (auto& [other, o] : open) {
        const bool stored = !other.load && o.touched.has(static_cast<size_t>(v));
        if (written && (other.base == v || stored)) close(other, o);
        if (other.load || (key && *key == other)) o.touched.add(static_cast<size_t>(v));
      }
    };
    for (const Slot& s : flow_.slots[k]) touch(variable_of(s.at), s.written);
    if (i.guard >= 0) touch(variable_of(i.guard), false);
  }
  for (auto& [key, o] : open) close(key, o);
}

// Where lanes lie side by side or are not all there, or a place is not good, the loads are made one by one.
bool Emitter::emit_piece(const vm::Insn& i) {
  const auto it = pieces_.of.find(&i);
  if (it == pieces_.of.end()) return false;
  const std::shared_ptr<const Piece> piece = it->second;
  const Access a = *access_of(i);
  if ((a.load ? piece->accesses.front() : piece->accesses.back()) != &i) return true;
  uses(a.load ? Technique::Pieces : Technique::StoredPieces);
  const Value base = read(i.op[1], 8);
  auto* together = new_block("piece");
  auto* each = new_block("one_by_one");
  auto* join = new_block("read");
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
  b_.CreateCondBr(good, together, each);
  b_.SetInsertPoint(together);
  if (addresses) at = lane_memory_.lanes_one_by_one(addresses);
  const bool counted = watch_ && watch_->wanted.traffic && !base.runs && !flow_.code->takes_param_address;
  if (counted) count_piece(*piece, b_.CreateAdd(lanes_of(base, 8), splat(b_.getInt64(static_cast<uint64_t>(i.imm)))), a.total());
  if (!a.load) store_pieces(*piece, at, a.memory);
  const std::vector<V> words = a.load ? lane_memory_.load_piece(at, a.memory) : std::vector<V>();
  for (const vm::Insn* load : piece->accesses) {
    if (!a.load) break;
    Value place = base;
    const V further = b_.getInt64(static_cast<uint64_t>(load->imm));
    if (base.runs) place.run[0] = b_.CreateAdd(base.run[0], further);
    else place.lanes = b_.CreateAdd(lanes_of(base, 8), splat(further));
    if (!counted) watch_access(*load, place, b_.getInt32(~0u), a.total());
    else tell_places(*load, place, b_.getInt32(~0u));
    const size_t first = static_cast<size_t>(load->imm - piece->from) / a.memory;
    for (size_t k = 0; k < a.slots.size(); ++k) {
      const int32_t to = load->list ? load->list[k] : load->op[0];
      llvm::Type* type = type_of(load->width, true);
      Value v;
      v.lanes = isa::is_signed(load->type()) ? b_.CreateSExtOrTrunc(words[first + k], type) : b_.CreateZExtOrTrunc(words[first + k], type);
      write(to, load->width, v);
    }
  }
  b_.CreateBr(join);
  b_.SetInsertPoint(each);
  pieces_.of.swap(pieces_.set_aside);
  for (const vm::Insn* load : piece->accesses) emit_memory(*load);
  pieces_.of.swap(pieces_.set_aside);
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
  return true;
}

// Piece by piece; the last one begins among the words of the one before it where that is all there is.
void Emitter::store_pieces(const Piece& piece, const std::function<V(int)>& at, Width word) {
  std::vector<V> words(piece.bytes / word);
  for (const vm::Insn* store : piece.accesses) {
    const Access a = *access_of(*store);
    const auto first = static_cast<size_t>(store->imm - piece.from) / word;
    for (int k = 0; k < a.count; ++k) words[first + static_cast<size_t>(k)] = stored_lanes(a, k);
  }
  const size_t many = std::min<size_t>(kPiece / word, words.size());
  for (size_t next = 0; next < words.size();) {
    const size_t first = std::min(next, words.size() - many);
    const auto here = [&](int lane) { return b_.CreateAdd(at(lane), b_.getInt64(first * word)); };
    lane_memory_.store_piece({words.begin() + static_cast<ptrdiff_t>(first), words.begin() + static_cast<ptrdiff_t>(first + many)}, here,
                             word);
    next = first + many;
  }
}

}  // namespace warpbeam::jit
