// Each call's callee is copied to where the call was: its registers get a piece of a larger frame, its parameters and results
// are the call's own, a return is a jump behind the call. The copy stands in one piece, so the order of blocks still says
// which group of lanes is furthest behind: lanes in the callee are before those that have returned, as they are in a call.
//
// A call through a register becomes a choice among the functions whose address is taken:
//
//   again:  pick    choice <- which of them the first lane wants, in all lanes that want the same; others wait
//           brx     choice, {first …, last, call, wait}
//   first:  …       jump behind            (the copies)
//   call:   call    jump behind            (what is none of them, and what recursion leaves)
//   wait:   jump    again
//   behind:
//
// which is the order that exec_call_indirect has.
#include "vm/flatten.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "vm/flow_handlers.h"
#include "vm/warp.h"

namespace warpbeam::vm {
namespace {

constexpr size_t kMostInstructions = 6000, kMostCandidates = 24;
constexpr uint32_t kMostDepth = 16;
constexpr uint32_t kAlwaysRoom = 4096;  // bytes of local memory that every thread has beside its stack
constexpr int32_t kConstantTag = 0x40000000;

class Flattener {
 public:
  Flattener(const FunctionCode& kernel, const Program::Image& image)
      : kernel_(kernel), image_(image), out_(std::make_unique<FunctionCode>()) {}

  std::unique_ptr<FunctionCode> run() {
    out_->name = kernel_.name;
    out_->display_name = kernel_.display_name;
    out_->source = kernel_.source;
    out_->module = kernel_.module;
    out_->index = kernel_.index;
    out_->carry_slot = kernel_.carry_slot;
    out_->local_bytes = kernel_.local_bytes;
    out_->callees = kernel_.callees;
    out_->shared_used = kernel_.shared_used;
    out_->takes_param_address = kernel_.takes_param_address;
    out_->indirect_calls = kernel_.indirect_calls;
    out_->allocates = kernel_.allocates;
    out_->kernel = kernel_.kernel;
    out_->may_wait = kernel_.may_wait;
    copy(kernel_, nullptr, nullptr, 0);
    if (!replaced_) return nullptr;
    finish();
    return std::move(out_);
  }

 private:
  struct Activation {  // one copy of a function
    const FunctionCode* function = nullptr;
    const Activation* caller = nullptr;
    const CallSite* site = nullptr;
    int32_t shift = 0;         // of its registers in the frame
    uint32_t local_base = 0;   // of its local memory
    uint32_t variables = 0;    // its first one in FunctionCode::locals
    uint32_t depth = 0;
    std::map<int32_t, int32_t> special;                          // places of special registers and addresses
    std::map<const int32_t*, const std::vector<int32_t>*> lists;
    std::map<const WideOperand*, const std::vector<WideOperand>*> wide;
  };

  // --- where things are
  LocalPart part(const Activation& a, const LocalPart& p) const {
    const FunctionCode& f = *a.function;
    if (a.site) {
      for (size_t k = 0; k < f.returns.size(); ++k)
        if (f.returns[k].variable == p.variable) return within(part(*a.caller, a.site->returns[k]), f.returns[k], p);
      for (size_t k = 0; k < f.params.size(); ++k)
        if (f.params[k].variable == p.variable) return within(part(*a.caller, a.site->args[k]), f.params[k], p);
    }
    return {p.offset + a.local_base, p.size, p.variable + a.variables};
  }
  static LocalPart within(LocalPart whole, const LocalPart& theirs, const LocalPart& p) {
    whole.offset += p.offset - theirs.offset;
    whole.size = p.size;
    return whole;
  }

  int32_t allocate(uint32_t bytes) {
    frame_ = (frame_ + 63) / 64 * 64;
    const int32_t at = static_cast<int32_t>(frame_);
    frame_ += bytes;
    return at;
  }

  int32_t place(const Activation& a, int32_t at) {
    if (at < 0) return at;
    if (const auto s = a.special.find(at); s != a.special.end()) return s->second;
    const FunctionCode& f = *a.function;
    const int32_t first = static_cast<int32_t>(f.constants_at);
    if (at < first || at >= first + static_cast<int32_t>(f.constants.size())) return at + a.shift;
    auto [it, fresh] = constants_of_.try_emplace(&f, static_cast<int32_t>(out_->constants.size()));
    if (fresh) {
      out_->constants.insert(out_->constants.end(), f.constants.begin(), f.constants.end());
      out_->constants.resize((out_->constants.size() + 63) / 64 * 64);
    }
    return (it->second + at - first) | kConstantTag;
  }

  void place_special(Activation& a) {
    for (FrameSlot s : a.function->slots) {
      const int32_t before = s.offset;
      if (s.kind == SlotKind::LocalAddress) {
        const LocalVariable& v = a.function->locals[s.variable];
        const LocalPart whole = part(a, {v.offset, v.size, s.variable});
        s.addend = int64_t(whole.offset) + (s.addend - v.offset);
        s.variable = whole.variable;
      }
      auto [it, fresh] = slot_at_.try_emplace(std::make_tuple(s.kind, s.special, s.component, s.width, s.variable, s.addend), 0);
      if (fresh) {
        s.offset = it->second = a.site ? allocate(8 * kWarpSize) : before;
        out_->slots.push_back(s);
      }
      a.special[before] = it->second;
    }
  }

  // --- instructions
  size_t here() const { return out_->insns.size(); }
  Insn& emit(Insn i, const Activation& a, const Insn& origin) {
    out_->insns.push_back(i);
    out_->origins.push_back({a.function, &origin});
    return out_->insns.back();
  }
  Insn& add(Step step, const Activation& a, const Insn& origin) {
    Insn i;
    i.fn = handler_of(step);
    i.step = step;
    i.source = origin.source;
    i.watched = Watched::Extra;
    return emit(i, a, origin);
  }
  const int32_t* keep(std::vector<int32_t> list) {
    out_->lists.push_back(std::move(list));
    return out_->lists.back().data();
  }

  Insn copied(const Activation& a, const Insn& i) {
    Insn c = i;
    for (int32_t& s : c.op) s = place(a, s);
    c.guard = place(a, i.guard);
    if (i.list && i.step != Step::BranchTable) {
      std::vector<int32_t> slots = *a.lists.at(i.list);
      for (int32_t& s : slots) s = place(a, s);
      c.list = keep(std::move(slots));
    }
    if (i.wide) {
      out_->wide.push_back(*a.wide.at(i.wide));
      for (WideOperand& o : out_->wide.back()) {
        o.slot = place(a, o.slot);
        for (int32_t& s : o.parts) s = place(a, s);
      }
      c.wide = out_->wide.back().data();
    }
    if (i.call) {
      CallSite site = *i.call;
      site.target_slot = place(a, site.target_slot);
      for (LocalPart& p : site.args) p = part(a, p);
      for (LocalPart& p : site.returns) p = part(a, p);
      site.below = a.local_base + a.function->local_bytes - kernel_.local_bytes;
      site.depth = a.depth;
      out_->call_sites.push_back(std::move(site));
      c.call = &out_->call_sites.back();
    }
    const isa::Kind kind = i.source && i.source->form.row ? i.source->form.row->kind : isa::Kind::Move;
    if (kind == isa::Kind::Memory || kind == isa::Kind::Atomic || kind == isa::Kind::Async || kind == isa::Kind::Image ||
        kind == isa::Kind::Tensor)
      c.cache = next_cache_++ % 64;
    return c;
  }

  void copy(const FunctionCode& f, const Activation* caller, const CallSite* site, uint32_t depth) {
    Activation a;
    a.function = &f;
    a.caller = caller;
    a.site = site;
    a.depth = depth;
    if (caller) {
      a.shift = allocate(f.constants_at);
      a.local_base = caller->local_base + caller->function->local_bytes;
    } else {
      frame_ = f.constants_at;
    }
    a.variables = static_cast<uint32_t>(out_->locals.size());
    const uint32_t begin = static_cast<uint32_t>(here());
    for (const LocalVariable& v : f.locals) out_->locals.push_back({v.offset + a.local_base, v.size, begin, kNoTarget});
    for (const auto& list : f.lists) a.lists[list.data()] = &list;
    for (const auto& operands : f.wide) a.wide[operands.data()] = &operands;
    place_special(a);
    left_ += f.insns.size();

    std::vector<uint32_t> starts;
    std::vector<std::pair<size_t, uint32_t>> jumps;             // where to go in terms of the function
    std::vector<std::pair<size_t, const Insn*>> tables;
    std::vector<size_t> leaving;
    for (const Insn& i : f.insns) {
      starts.push_back(static_cast<uint32_t>(here()));
      --left_;
      if (i.step == Step::Ret && caller) {
        leaving.push_back(here());
        Insn c = copied(a, i);
        c.step = i.guard >= 0 ? Step::Branch : Step::Jump;
        c.fn = handler_of(c.step);
        c.watched = Watched::Extra;
        emit(c, a, i);
      } else if (i.step == Step::Call || i.step == Step::CallIndirect) {
        copy_call(a, i);
      } else {
        if (i.target != kNoTarget) jumps.emplace_back(here(), i.target);
        if (i.step == Step::BranchTable) tables.emplace_back(here(), &i);
        emit(copied(a, i), a, i);
      }
    }
    starts.push_back(static_cast<uint32_t>(here()));
    for (const auto& [at, to] : jumps) out_->insns[at].target = starts[to];
    for (const auto& [at, i] : tables) {
      std::vector<int32_t> list = *a.lists.at(i->list);
      for (int32_t& to : list) to = static_cast<int32_t>(starts[static_cast<size_t>(to)]);
      out_->insns[at].list = keep(std::move(list));
    }
    for (const size_t at : leaving) out_->insns[at].target = static_cast<uint32_t>(here());
    if (caller)
      for (size_t v = 0; v < f.locals.size(); ++v) out_->locals[a.variables + v].end = static_cast<uint32_t>(here());
  }

  bool same_parts(const std::vector<LocalPart>& a, const std::vector<LocalPart>& b) const {
    return std::ranges::equal(a, b, [](const LocalPart& x, const LocalPart& y) { return x.size == y.size; });
  }
  bool can_copy(const Activation& a, const FunctionCode& f, const CallSite& site) const {
    for (const Activation* up = &a; up; up = up->caller)
      if (up->function == &f) return false;
    return !f.source->entry && !f.allocates && !f.insns.empty() && a.depth < kMostDepth &&
           here() + left_ + f.insns.size() <= kMostInstructions && same_parts(site.args, f.params) && same_parts(site.returns, f.returns) &&
           a.local_base + a.function->local_bytes + f.local_bytes - kernel_.local_bytes <= kAlwaysRoom;
  }

  void copy_call(const Activation& a, const Insn& i) {
    std::vector<const FunctionCode*> candidates;
    if (i.step == Step::Call) {
      if (can_copy(a, *i.call->callee, *i.call)) candidates.push_back(i.call->callee);
    } else {
      for (const auto& f : image_.functions)
        if (f->address_taken && candidates.size() < kMostCandidates && can_copy(a, *f, *i.call)) candidates.push_back(f.get());
    }
    std::vector<size_t> leaving;
    const auto leave = [&] {
      leaving.push_back(here());
      add(Step::Jump, a, i);
    };
    if (i.guard >= 0) {
      leaving.push_back(here());
      Insn& around = add(Step::Branch, a, i);
      around.guard = place(a, i.guard);
      around.guard_negated = !i.guard_negated;
    }
    if (candidates.empty()) {
      Insn call = copied(a, i);
      call.guard = -1;
      emit(call, a, i);
    } else if (i.step == Step::Call) {
      copy(*candidates[0], &a, i.call, a.depth + 1);
    } else {
      const uint32_t again = static_cast<uint32_t>(here());
      add(Step::Label, a, i);
      std::vector<int32_t> wanted, ways;
      for (const FunctionCode* f : candidates) wanted.push_back(static_cast<int32_t>(f->index));
      const int32_t choice = allocate(4 * kWarpSize);
      Insn& pick = add(Step::PickTarget, a, i);
      pick.op[0] = choice;
      pick.op[1] = place(a, i.call->target_slot);
      pick.list = keep(wanted);
      pick.imm = static_cast<int64_t>(wanted.size());
      const size_t table = here();
      Insn& choose = add(Step::BranchTable, a, i);
      choose.op[0] = choice;
      choose.imm = static_cast<int64_t>(wanted.size()) + 2;
      for (const FunctionCode* f : candidates) {
        ways.push_back(static_cast<int32_t>(here()));
        copy(*f, &a, i.call, a.depth + 1);
        leave();
      }
      ways.push_back(static_cast<int32_t>(here()));
      Insn call = copied(a, i);
      call.guard = -1;
      emit(call, a, i);
      leave();
      ways.push_back(static_cast<int32_t>(here()));
      add(Step::Jump, a, i).target = again;
      out_->insns[table].list = keep(std::move(ways));
    }
    replaced_ = replaced_ || !candidates.empty();
    for (const size_t at : leaving) out_->insns[at].target = static_cast<uint32_t>(here());
    if (!leaving.empty() || !candidates.empty()) add(Step::Label, a, i);
  }

  void finish() {
    out_->constants_at = static_cast<uint32_t>(allocate(static_cast<uint32_t>(out_->constants.size())));
    const auto fix = [&](int32_t& s) {
      if (s >= kConstantTag) s = static_cast<int32_t>(out_->constants_at) + (s & ~kConstantTag);
    };
    for (Insn& i : out_->insns) {
      for (int32_t& s : i.op) fix(s);
      fix(i.guard);
    }
    for (auto& list : out_->lists)
      for (int32_t& s : list) fix(s);
    for (auto& operands : out_->wide)
      for (WideOperand& o : operands) {
        fix(o.slot);
        for (int32_t& s : o.parts) fix(s);
      }
    for (CallSite& site : out_->call_sites) fix(site.target_slot);
    out_->frame_bytes = (frame_ + 63) / 64 * 64;
  }

  const FunctionCode& kernel_;
  const Program::Image& image_;
  std::unique_ptr<FunctionCode> out_;
  uint32_t frame_ = 0, next_cache_ = 0;
  size_t left_ = 0;  // instructions of active copies that are yet to come
  bool replaced_ = false;
  std::map<const FunctionCode*, int32_t> constants_of_;
  std::map<std::tuple<SlotKind, isa::Special, uint8_t, uint8_t, uint32_t, int64_t>, int32_t> slot_at_;
};

}  // namespace

std::unique_ptr<FunctionCode> flatten(const FunctionCode& kernel, const Program::Image& image) { return Flattener(kernel, image).run(); }

// Which of the functions in the list the first lane wants, in all lanes that want the same: its number; one past the last
// number where it is none of them, and one more in lanes that want another than the first one does.
void exec_pick_target(Warp& w, const Insn& i, uint32_t mask) {
  const uint64_t* targets = w.lanes<uint64_t>(i.op[1]);
  uint32_t* choice = w.lanes<uint32_t>(i.op[0]);
  const uint64_t first = targets[__builtin_ctz(mask)];
  uint32_t which = 0;
  while (which < i.imm && first != code_address(static_cast<uint32_t>(i.list[which]))) ++which;
  for (int l = 0; l < kWarpSize; ++l)
    if (mask >> l & 1) choice[l] = targets[l] == first ? which : static_cast<uint32_t>(i.imm) + 1;
}

}  // namespace warpbeam::vm
