// Idea: what of local memory becomes variables: those whose address never gets to where it is not known. It is followed through
// registers, sums with constants, and local memory that has become variables itself, as parameters of calls are. Precondition: none: it
// is assumed of all, and what breaks the assumption spoils a variable, and others whose addresses it holds, until nothing changes any
// more. Postcondition: each access of such a variable names its cells. Fallback: what is spoiled stays in memory (emit_local.cc).
#include <algorithm>
#include <bit>
#include <cstring>
#include <set>
#include <utility>

#include "jit/flow.h"
#include "isa/parameters.h"
#include "jit/runtime.h"

namespace warpbeam::jit {
namespace {

using isa::Kind;
using isa::Space;

class Cells {
 public:
  Cells(Flow& flow, bool watched) : flow_(flow), code_(*flow.code), spoiled_(code_.locals.size()), passed_(code_.locals.size()) {
    std::vector<char> of_library(code_.locals.size());
    each_call([&](const vm::Insn& i, const vm::LocalPart& p, bool) {
      if (flow_.is_library_call(i)) {
        of_library[p.variable] = 1;
      } else if (!flow_.is_left_call(i)) {
        spoiled_[p.variable] = passed_[p.variable] = 1;
      }
    });
    if (watched)  // the observer is told of everything else
      for (size_t v = 0; v < spoiled_.size(); ++v) spoiled_[v] |= !of_library[v];
  }

  void find() {
    do {
      do follow();
      while (spoil());
    } while (!divide());
    leave();
  }

 private:
  // What a register or a cell holds.
  struct Held {
    enum : uint8_t { Nothing, Place, Unknown } state = Nothing;
    LocalPlace place;
    bool operator==(const Held&) const = default;
  };
  struct Touch {
    LocalPlace at;
    int64_t bytes = 0, count = 1;
  };

  template <class F>
  void each_call(F f) const {
    for (const vm::Insn& i : code_.insns) {
      if (!i.call) continue;
      for (const vm::LocalPart& p : i.call->args) f(i, p, false);
      for (const vm::LocalPart& p : i.call->returns) f(i, p, true);
    }
  }

  const isa::Row* row_of(const vm::Insn& i) const { return known_row(i); }

  bool constant(int32_t at, int64_t& value) const {
    const int64_t in = int64_t(at) - code_.constants_at;
    if (at < 0 || in < 0 || in + 8 > static_cast<int64_t>(code_.constants.size())) return false;
    std::memcpy(&value, code_.constants.data() + in, 8);
    return true;
  }

  Held held(int32_t at) const {
    if (at < 0) return {Held::Unknown, {}};
    if (const auto s = flow_.special_at.find(at); s != flow_.special_at.end()) {
      if (s->second->kind != vm::SlotKind::LocalAddress || s->second->width != 8) return {Held::Unknown, {}};
      return {Held::Place, {s->second->variable, s->second->addend, false}};
    }
    int64_t value;
    if (constant(at, value)) return {Held::Unknown, {}};
    const auto it = held_.find(at);
    return it == held_.end() ? Held{} : it->second;
  }

  bool join(Held& now, const Held& more) {
    if (more.state == Held::Nothing || now == more || now.state == Held::Unknown) return false;
    now = now.state == Held::Nothing ? more : Held{Held::Unknown, {}};
    return true;
  }

  // What a load or store touches, where that is known and in local memory.
  std::optional<Touch> touch(const vm::Insn& i) const {
    const isa::Row* row = row_of(i);
    if (!row || row->kind != Kind::Memory || (row->cls != isa::Class::Load && row->cls != isa::Class::Store) || i.op[1] < 0 ||
        i.base_width != 8)
      return std::nullopt;
    const Held h = held(i.op[1]);
    const Space space = i.mods().space;
    if (h.state != Held::Place || !(h.place.generic ? space == Space::Generic : space == Space::Local || is_parameter(space)))
      return std::nullopt;
    Touch t{h.place, isa::bytes_of(i.type()), i.list ? i.count : 1};
    t.at.offset += i.imm;
    return t;
  }
  bool inside(const Touch& t) const {
    const vm::LocalVariable& v = code_.locals[t.at.variable];
    return t.bytes <= 8 && t.at.offset % t.bytes == 0 && t.at.offset % (t.bytes * t.count) == 0 && t.at.offset >= v.offset &&
           t.at.offset + t.bytes * t.count <= int64_t(v.offset) + v.size;
  }
  bool becomes_cells(const std::optional<Touch>& t) const { return t && !spoiled_[t->at.variable]; }

  Held result(const vm::Insn& i) const {
    const isa::Row* row = row_of(i);
    if (!row || i.list) return {Held::Unknown, {}};
    if (row->kind == Kind::Move) return held(i.op[1]);
    if (row->kind == Kind::Address && row->op == isa::Opcode::Cvta && i.mods().space == Space::Local && i.width == 8) {
      Held h = held(i.op[1]);
      if (h.state == Held::Place && h.place.generic != i.mods().to) return {Held::Unknown, {}};
      h.place.generic = h.state == Held::Place && !i.mods().to;
      return h;
    }
    if (row->kind == Kind::Lane && isa::bytes_of(i.type()) == 8 && !isa::is_float(i.type()) &&
        (row->op == isa::Opcode::Add || row->op == isa::Opcode::Sub || row->op == isa::Opcode::Or)) {
      int64_t by;
      const bool sum = row->op == isa::Opcode::Add;
      for (const auto& [from, other] : {std::pair{i.op[1], i.op[2]}, std::pair{i.op[2], i.op[1]}}) {
        if (from == i.op[2] && row->op == isa::Opcode::Sub) break;
        if (!constant(other, by)) continue;
        Held h = held(from);
        if (h.state == Held::Place)
          h.place.offset = row->op == isa::Opcode::Or ? h.place.offset | by : sum ? h.place.offset + by : h.place.offset - by;
        return h;
      }
      return {Held::Unknown, {}};
    }
    if (const auto t = touch(i); becomes_cells(t) && row->cls == isa::Class::Load) {
      if (t->bytes != 8 || i.width != 8) return {Held::Unknown, {}};
      const auto it = in_cells_.find({t->at.variable, t->at.offset});
      return it == in_cells_.end() ? Held{} : it->second;
    }
    return {Held::Unknown, {}};
  }

  bool overwrite(uint32_t variable, int64_t offset, int64_t bytes) {
    bool changed = false;
    for (auto it = in_cells_.lower_bound({variable, offset - 7});
         it != in_cells_.end() && it->first.first == variable && it->first.second < offset + bytes; ++it)
      changed = join(it->second, {Held::Unknown, {}}) || changed;
    return changed;
  }

  void follow() {
    held_.clear();
    in_cells_.clear();
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t k = 0; k < code_.insns.size(); ++k) {
        const vm::Insn& i = code_.insns[k];
        for (const Slot& s : flow_.slots[k])
          if (s.written && !flow_.special_at.contains(s.at))
            changed = join(held_[s.at], s.at == i.op[0] && s.bytes == 8 ? result(i) : Held{Held::Unknown, {}}) || changed;
        if (i.call)
          for (const vm::LocalPart& p : i.call->returns) changed = overwrite(p.variable, p.offset, p.size) || changed;
        const auto t = touch(i);
        if (!becomes_cells(t) || i.source->form.row->cls != isa::Class::Store) continue;
        for (int64_t e = 0; e < t->count; ++e) {
          const int64_t offset = t->at.offset + e * t->bytes;
          const Held h = t->bytes == 8 && i.width == 8 ? held(i.list ? i.list[e] : i.op[0]) : Held{Held::Unknown, {}};
          if (h.state == Held::Place) changed = join(in_cells_[{t->at.variable, offset}], h) || changed;
          // What overlaps it otherwise, and holds an address.
          if (h.state == Held::Unknown) {
            changed = overwrite(t->at.variable, offset, t->bytes) || changed;
          } else {
            changed = overwrite(t->at.variable, offset - 7, 7) || changed;
            changed = overwrite(t->at.variable, offset + 1, 7) || changed;
          }
        }
      }
    }
  }

  // An address goes where it is not followed.
  bool escape(const LocalPlace& place, bool to_handler) {
    if (place.generic && !to_handler) flow_.local_escapes = true;
    return !std::exchange(spoiled_[place.variable], 1);
  }

  bool spoil() {
    bool more = false;
    flow_.local_escapes = false;
    for (size_t k = 0; k < code_.insns.size(); ++k) {
      const vm::Insn& i = code_.insns[k];
      const isa::Row* row = row_of(i);
      const std::optional<Touch> t = touch(i);
      if (t && !inside(*t)) more = escape({t->at.variable, 0, false}, true) || more;
      if (row && row->kind == Kind::Address && row->op == isa::Opcode::Cvta && i.mods().space == Space::Local && !i.mods().to &&
          held(i.op[1]).state != Held::Place)
        flow_.local_escapes = true;
      // A register that holds something else at other times.
      if (const Held made = row ? result(i) : Held{}; made.state == Held::Place && !(held(i.op[0]) == made))
        more = escape(made.place, false) || more;
      const auto uses = [&](int32_t at) {
        const auto special = flow_.special_at.find(at);
        const bool narrow =
            special != flow_.special_at.end() && special->second->kind == vm::SlotKind::LocalAddress && special->second->width != 8;
        const Held h = narrow ? Held{Held::Place, {special->second->variable, 0, true}} : held(at);
        if (h.state != Held::Place) return;
        if (row && (row->kind == Kind::Compare || (row->kind == Kind::Address && row->op == isa::Opcode::Isspacep))) return;
        const bool memory = row && row->kind == Kind::Memory;
        if (!narrow && memory && t && at == i.op[1]) {
          bool data = false;
          if (row->cls == isa::Class::Store)
            for (int e = 0; e < t->count; ++e) data = data || (i.list ? i.list[e] : i.op[0]) == at;
          if (!data) return;
        }
        if (!narrow && memory && row->cls == isa::Class::Store && t && at != i.op[1]) {
          bool followed = !spoiled_[t->at.variable] && t->bytes == 8 && i.width == 8;
          for (int64_t e = 0; e < t->count && followed; ++e)
            if ((i.list ? i.list[e] : i.op[0]) == at) {
              const auto cell = in_cells_.find({t->at.variable, t->at.offset + e * 8});
              followed = cell != in_cells_.end() && cell->second == h;
            }
          if (followed) return;
          more = escape(h.place, passed_[t->at.variable]) || more;
          return;
        }
        if (!narrow && !memory && result(i).state == Held::Place) return;
        more = escape(h.place, false) || more;
      };
      for (const Slot& s : flow_.slots[k])
        if (s.read) uses(s.at);
    }
    return more;
  }

  // Cuts variables where accesses begin and end. False: some were spoiled.
  bool divide() {
    std::vector<std::set<int64_t>> cuts(code_.locals.size());
    std::vector<std::vector<std::pair<int64_t, int64_t>>> used(code_.locals.size());
    const auto use = [&](uint32_t v, int64_t from, int64_t bytes) {
      cuts[v].insert({from, from + bytes});
      used[v].emplace_back(from, from + bytes);
    };
    for (const vm::Insn& i : code_.insns)
      if (const auto t = touch(i); becomes_cells(t))
        for (int64_t e = 0; e < t->count; ++e) use(t->at.variable, t->at.offset + e * t->bytes, t->bytes);
    each_call([&](const vm::Insn& i, const vm::LocalPart& p, bool) {
      if (flow_.is_library_call(i)) use(p.variable, p.offset, p.size);
    });
    flow_.cells.clear();
    cell_at_.clear();
    bool fine = true;
    for (uint32_t v = 0; v < code_.locals.size(); ++v) {
      if (spoiled_[v] || used[v].empty()) continue;
      const size_t before = flow_.cells.size();
      std::ranges::sort(used[v]);
      int64_t reach = 0;
      size_t next = 0;
      for (auto it = cuts[v].begin(); std::next(it) != cuts[v].end(); ++it) {
        const int64_t end = *std::next(it);
        for (; next < used[v].size() && used[v][next].first <= *it; ++next) reach = std::max(reach, used[v][next].second);
        for (int64_t at = *it; at < std::min(end, reach);) {
          int64_t bytes = 8;
          while (at % bytes || at + bytes > end) bytes /= 2;
          cell_at_[{v, at}] = static_cast<int32_t>(flow_.cells.size());
          flow_.cells.push_back({v, static_cast<uint32_t>(at), static_cast<Width>(bytes)});
          at += bytes;
        }
      }
      if (flow_.cells.size() <= kMostParts) continue;
      spoiled_[v] = 1;
      fine = false;
      for (size_t c = before; c < flow_.cells.size(); ++c) cell_at_.erase({v, flow_.cells[c].offset});
      flow_.cells.resize(before);
    }
    each_call([&](const vm::Insn& i, const vm::LocalPart& p, bool) {
      if (!flow_.is_library_call(i) || spoiled_[p.variable]) return;
      const auto cell = cell_at_.find({p.variable, p.offset});
      if (cell != cell_at_.end() && flow_.cells[static_cast<size_t>(cell->second)].bytes == p.size) return;
      spoiled_[p.variable] = 1;
      fine = false;
    });
    return fine;
  }

  // What follows from it for instructions.
  void leave() {
    std::set<uint32_t> known;  // variables whose address some register or cell holds as a generic one
    for (const auto& [at, h] : in_cells_)
      if (h.state == Held::Place) known.insert(h.place.variable);
    for (size_t k = 0; k < code_.insns.size(); ++k) {
      const vm::Insn& i = code_.insns[k];
      std::vector<Slot>& slots = flow_.slots[k];
      const auto add = [&](int32_t cell, bool written) {
        slots.push_back({kParamKeys + cell, flow_.cells[static_cast<size_t>(cell)].bytes, written, !written});
      };
      if (const auto t = touch(i); becomes_cells(t)) {
        CellAccess& access = flow_.cell_accesses[&i];
        for (int64_t e = 0; e < t->count; ++e) {
          auto& keys = access.elements.emplace_back();
          const int64_t begin = t->at.offset + e * t->bytes;
          for (int64_t at = begin; at < begin + t->bytes;) {
            const int32_t cell = cell_at_.at({t->at.variable, at});
            keys.push_back(kParamKeys + cell);
            add(cell, i.source->form.row->cls == isa::Class::Store);
            at += flow_.cells[static_cast<size_t>(cell)].bytes;
          }
        }
      } else if (t && inside(*t)) {
        flow_.fixed_local[&i] = t->at.offset;
      }
      if (!i.call) continue;
      if (flow_.is_library_call(i)) {
        for (const vm::LocalPart& p : i.call->args)
          if (const int32_t key = flow_.cell_of(p); key >= 0) add(key - kParamKeys, false);
        for (const vm::LocalPart& p : i.call->returns)
          if (const int32_t key = flow_.cell_of(p); key >= 0) add(key - kParamKeys, true);
      } else if (flow_.is_left_call(i)) {
        // The interpreter goes on from here: the callee sees its parameters and whatever it has addresses of.
        std::set<uint32_t> seen = known;
        for (const vm::LocalPart& p : i.call->args) seen.insert(p.variable);
        for (size_t c = 0; c < flow_.cells.size(); ++c) {
          const vm::LocalVariable& v = code_.locals[flow_.cells[c].variable];
          if (seen.contains(flow_.cells[c].variable) && k >= v.begin && k < v.end) add(static_cast<int32_t>(c), false);
        }
      }
    }
  }

  Flow& flow_;
  const vm::FunctionCode& code_;
  std::vector<char> spoiled_;  // by variable: it stays in memory
  std::vector<char> passed_;   // parameters and results of what handlers call
  std::unordered_map<int32_t, Held> held_;                     // by slot
  std::map<std::pair<uint32_t, int64_t>, Held> in_cells_;      // addresses in cells, by variable and place
  std::map<std::pair<uint32_t, int64_t>, int32_t> cell_at_;
};

}  // namespace

void find_local_cells(Flow& flow, bool watched) { Cells(flow, watched).find(); }

const CellAccess* Flow::cell_access(const vm::Insn& i) const {
  const auto it = cell_accesses.find(&i);
  return it == cell_accesses.end() ? nullptr : &it->second;
}

bool Flow::is_local_access(const vm::Insn& i) const {
  const isa::Row* row = known_row(i);
  if (!row || row->kind != Kind::Memory || (row->cls != isa::Class::Load && row->cls != isa::Class::Store) || left_out("local"))
    return false;
  const auto element = static_cast<unsigned>(isa::bytes_of(i.type())), total = element * (i.list ? static_cast<unsigned>(i.count) : 1);
  return (fixed_local.contains(&i) || i.mods().space == Space::Local) && element <= 8 && total <= 16 && std::has_single_bit(total);
}

int32_t Flow::cell_of(const vm::LocalPart& part) const {
  const auto same = [&](const LocalCell& c) { return c.variable == part.variable && c.offset == part.offset && c.bytes == part.size; };
  const auto it = std::ranges::find_if(cells, same);
  return it == cells.end() ? -1 : kParamKeys + static_cast<int32_t>(it - cells.begin());
}

}  // namespace warpbeam::jit
