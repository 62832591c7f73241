// Lanes that read words side by side, each at a place of its own: rows of a matrix of which a thread has one, members of a
// structure. Each lane's words come with one load of the host and the lanes' with a transposition, which takes a fraction of
// what gathers take, one for each word.
//
// The loads are made where the first of them stands: nothing between them minds, or changes memory.
#include <algorithm>
#include <cstdlib>

#include "jit/emitter.h"

namespace warpbeam::jit {

using llvm::BasicBlock;
using llvm::FixedVectorType;

namespace {

constexpr size_t kFewest = 12;  // bytes of a piece that are wanted

bool is_plain_load(const Access& a) {
  const vm::Insn& i = *a.insn;
  const isa::Sem sem = i.mods().sem;
  return a.load && !a.shared && i.guard < 0 && a.memory >= 4 && i.op[1] >= 0 && i.base_width == 8 &&
         (sem == isa::Sem::None || sem == isa::Sem::Weak);
}

uint64_t bytes_of(const vm::Insn& load) { return isa::bytes_of(load.type()) * (load.list ? load.count : 1); }

// Do lanes lie apart, and not at every second or fourth word, which has a form of its own (emit_sloped.cc)?
bool scattered(const Shape& shape, uint64_t bytes) {
  if (!shape.runs) return true;
  const int64_t size = static_cast<int64_t>(bytes), steps = shape.stride / size;
  return shape.runs == 1 && shape.stride % size == 0 && std::abs(steps) > 2 && steps != 4;
}

}  // namespace

// Pieces of 16 bytes of which the loads read most words.
std::vector<Piece> Emitter::pieces_of(std::vector<const vm::Insn*> loads) {
  std::ranges::sort(loads, {}, &vm::Insn::imm);
  std::vector<Piece> out;
  for (size_t k = 0; k < loads.size();) {
    Piece piece{loads[k]->imm, {}};
    size_t next = k;
    const int64_t bytes = static_cast<int64_t>(bytes_of(*loads[k]));
    size_t wanted = 0;
    for (; next < loads.size() && loads[next]->imm < piece.from + static_cast<int64_t>(kPiece); ++next) {
      if ((loads[next]->imm - piece.from) % bytes) continue;
      wanted += piece.loads.empty() || piece.loads.back()->imm != loads[next]->imm ? static_cast<size_t>(bytes) : 0;
      piece.loads.push_back(loads[next]);
    }
    if (wanted < kFewest) {
      ++k;
      continue;
    }
    std::ranges::sort(piece.loads);  // as they are executed
    out.push_back(std::move(piece));
    k = next;
  }
  return out;
}

void Emitter::find_pieces(uint32_t begin, uint32_t end) {
  pieces_.of.clear();
  static const bool without = left_out("pieces");
  const bool told = watch_ && watch_->wanted.events;  // of each access in its turn
  if (without || told || as_.alone || as_.slice || as_.few || rehearsals_.now || !processor_.avx2) return;
  struct Open {
    std::vector<const vm::Insn*> loads;
    Bits touched;  // variables that instructions have read or written since the first
  };
  std::map<std::tuple<uint32_t, Width, int>, Open> open;  // by the variable that addresses are made from, a word's bytes and how many
  const auto close = [&](Open& o) {
    for (Piece& piece : pieces_of(std::exchange(o.loads, {}))) {
      const auto shared = std::make_shared<const Piece>(std::move(piece));
      for (const vm::Insn* load : shared->loads) pieces_.of[load] = shared;
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
    const bool load = a && a->load && is_plain_load(*a) && !may_be_local(*a);
    if (!pure && !load && !(a && a->load)) {
      for (auto& [base, o] : open) close(o);
      open.clear();
      continue;
    }
    if (load) {
      const Source base = flow_.source(i.op[1], i.base_width);
      if (base.kind == SourceKind::Variable && scattered(shapes_.variables[base.variable], a->total()) &&
          flow_.variables[base.variable].bytes == 8) {
        Open& o = open.try_emplace({base.variable, a->memory, a->count}, Open{{}, Bits(flow_.variables.size())}).first->second;
        const bool minds = std::ranges::any_of(
            a->slots, [&](int32_t to) { return variable_of(to) < 0 || o.touched.has(static_cast<size_t>(variable_of(to))); });
        if (!o.loads.empty() && minds) close(o);
        if (o.loads.empty()) o.touched = Bits(flow_.variables.size());
        o.loads.push_back(&i);
      }
    }
    for (const Slot& s : flow_.slots[k]) {
      const int64_t v = variable_of(s.at);
      if (v < 0) continue;
      for (auto& [base, o] : open) {
        if (s.written && std::get<0>(base) == v) close(o);
        o.touched.add(static_cast<size_t>(v));
      }
    }
    if (i.guard >= 0)
      if (const int64_t v = variable_of(i.guard); v >= 0)
        for (auto& [base, o] : open) o.touched.add(static_cast<size_t>(v));
  }
  for (auto& [base, o] : open) close(o);
}

// Where lanes lie side by side or are not all there, or a place is not good, the loads are made one by one.
bool Emitter::emit_piece(const vm::Insn& i) {
  const auto it = pieces_.of.find(&i);
  if (it == pieces_.of.end()) return false;
  const std::shared_ptr<const Piece> piece = it->second;
  if (piece->loads.front() != &i) return true;
  uses(Technique::Pieces);
  const Access a = *access_of(i);
  const Value base = read(i.op[1], 8);
  auto* together = new_block("piece");
  auto* each = new_block("one_by_one");
  auto* join = new_block("read");
  const V from = b_.getInt64(static_cast<uint64_t>(piece->from));
  V good = b_.CreateICmpEQ(at_.active, b_.getInt32(~0u));
  std::function<V(int)> at;
  V addresses = nullptr;
  if (base.runs == 1) {
    good = b_.CreateAnd(good, fits_whole(a, base, piece->from, static_cast<int64_t>(kPiece - a.total())));
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
  const std::vector<V> words = lane_memory_.load_piece(at, a.memory);
  for (const vm::Insn* load : piece->loads) {
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
  for (const vm::Insn* load : piece->loads) emit_memory(*load);
  pieces_.of.swap(pieces_.set_aside);
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
  return true;
}

}  // namespace warpbeam::jit
