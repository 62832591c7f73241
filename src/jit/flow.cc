#include "jit/flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "isa/library/library.h"
#include "jit/shapes.h"

namespace warpbeam::jit {

bool is_block_barrier(const vm::Insn& i) { return known_row(i) && i.row()->kind == isa::Kind::Barrier && i.row()->effects.waits; }

namespace {

using isa::Kind;

constexpr size_t kMostNodes = 3000, kMostVariables = 20000;

// Copies and barriers in memory: other threads see what they do, and it is done at once.
bool is_told_to_others(const vm::Insn& i) {
  const isa::Row* row = known_row(i);
  return row &&
         ((row->kind == Kind::Async && (row->cls == isa::Class::Copy || row->cls == isa::Class::Barrier)) || row->op == isa::Opcode::Wgmma);
}
std::string name_variables(Flow& flow) {
  const vm::FunctionCode& code = *flow.code;
  for (size_t k = 0; k < code.insns.size(); ++k) {
    for (const Slot& s : flow.slots[k]) {
      if (s.at < kParamKeys && (flow.special_at.contains(s.at) || (s.at >= static_cast<int32_t>(code.constants_at) &&
                                                                   s.at < static_cast<int32_t>(code.constants_at + code.constants.size()))))
        continue;
      auto [it, fresh] = flow.variable_at.try_emplace(s.at, static_cast<uint32_t>(flow.variables.size()));
      if (fresh) flow.variables.push_back({s.at, s.bytes});
      else if (flow.variables[it->second].bytes != s.bytes)
        return fmt::format("a register is used with {} and {} bytes", flow.variables[it->second].bytes, s.bytes);
    }
  }
  return flow.variables.size() > kMostVariables ? "too many registers" : "";
}

// `cuts`: instructions at which nodes begin beside those that control flow asks for.
std::string make_nodes(Flow& flow, const std::vector<uint32_t>& cuts) {
  const vm::FunctionCode& code = *flow.code;
  const uint32_t n = static_cast<uint32_t>(code.insns.size());
  std::vector<char> leader(n + 1);
  leader[0] = 1;
  for (uint32_t k : cuts) leader[k] = 1;
  auto ends = [&](const vm::Insn& i) {
    return (!i.row() && !i.call && i.effects().leads) || (i.is(isa::Opcode::Trap) && i.guard < 0) || is_block_barrier(i);
  };
  for (uint32_t k = 0; k < n; ++k) {
    const vm::Insn& i = code.insns[k];
    if (is_told_to_others(i)) leader[k] = leader[k + 1] = 1;
    if (i.step == vm::Step::Jump || i.step == vm::Step::Branch) leader[i.target] = 1;
    if (i.step == vm::Step::BranchTable)
      for (int64_t t = 0; t < i.imm; ++t) leader[static_cast<uint32_t>(i.list[t])] = 1;
    if (i.step == vm::Step::Label) leader[k] = 1;
    if (ends(i)) leader[k + 1] = 1;
  }
  flow.nodes.clear();
  flow.node_at.assign(n + 1, -1);
  for (uint32_t k = 0; k < n; ++k) {
    if (!leader[k]) continue;
    flow.node_at[k] = static_cast<int32_t>(flow.nodes.size());
    Node node;
    node.begin = k;
    node.end = k + 1;
    while (node.end < n && !leader[node.end]) ++node.end;
    flow.nodes.push_back(std::move(node));
  }
  if (flow.nodes.size() > kMostNodes) return "too many blocks of code";
  for (Node& node : flow.nodes) {
    const vm::Insn& i = code.insns[node.end - 1];
    auto at = [&](uint32_t insn) { return static_cast<uint32_t>(flow.node_at[insn]); };
    auto fall = [&] {
      if (node.end < n) node.next.push_back(at(node.end));
    };
    if (i.step == vm::Step::Jump) {
      node.next = {at(i.target)};
    } else if (i.step == vm::Step::Branch) {
      node.ends = End::Branch;
      node.next = {at(i.target)};
      fall();
      if (node.next.size() == 2 && node.next[0] == node.next[1]) {
        node.ends = End::Fall;
        node.next.pop_back();
      }
    } else if (i.step == vm::Step::BranchTable) {
      if (i.guard >= 0) return "a guarded brx.idx";
      node.ends = End::Table;
      for (int64_t t = 0; t < i.imm; ++t) node.next.push_back(at(static_cast<uint32_t>(i.list[t])));
    } else if (i.step == vm::Step::Ret || i.step == vm::Step::Exit) {
      node.ends = End::Leave;
      if (i.guard >= 0) fall();
    } else if (ends(i)) {
      node.ends = is_block_barrier(i) ? End::Barrier : End::Trap;
      if (node.ends == End::Barrier) {
        if (i.guard >= 0) return "a guarded barrier";
        fall();
      }
    } else {
      fall();
    }
    if (node.ends != End::Fall) node.last = &i;
  }
  return "";
}

// Programs get away with `x = s[0]; s[thread] = f(x);` without a barrier between the two, since the warps that a barrier
// lets go read at about the same time (warp.h). Here a warp runs to the next barrier before another begins, so the code is
// cut behind such reads: of one place in shared memory, with a store to what may be that place before the next barrier.
class ReadTogether {
 public:
  explicit ReadTogether(const Flow& flow) : flow_(flow) {}

  std::vector<uint32_t> cuts() const {
    std::vector<uint32_t> out;
    for (const Node& node : flow_.nodes) {
      std::vector<const vm::Insn*> read;
      uint32_t behind = 0;
      for (uint32_t k = node.begin; k < node.end; ++k) {
        const vm::Insn& i = flow_.code->insns[k];
        if (reads_one_place(i)) {
          read.push_back(&i);
          behind = k + 1;
        } else if (behind && changes(i, read)) {
          out.push_back(behind);
          behind = 0;
          read.clear();
        }
      }
      if (behind && behind < node.end && changed_after(node, read)) out.push_back(behind);
    }
    return out;
  }

 private:
  const isa::Row* shared_row(const vm::Insn& i) const { return i.row() && i.mods().space == isa::Space::Shared ? i.row() : nullptr; }

  // Which shared variable, where the address is that of a variable and a constant; -1.
  int64_t variable(const vm::Insn& i) const {
    const Source s = flow_.source(i.op[1], static_cast<Width>(i.base_width));
    return s.kind == SourceKind::Special && s.special->kind == vm::SlotKind::SharedAddress ? int64_t{s.special->variable} : -1;
  }

  bool reads_one_place(const vm::Insn& i) const {
    const isa::Row* row = shared_row(i);
    return row && row->kind == Kind::Memory && row->cls == isa::Class::Load && variable(i) >= 0;
  }

  bool changes(const vm::Insn& i, const std::vector<const vm::Insn*>& read) const {
    const isa::Row* row = shared_row(i);
    if (!row || row->kind != Kind::Memory || row->cls != isa::Class::Store) return false;
    const int64_t to = variable(i);
    const auto size = [](const vm::Insn& a) { return int64_t{isa::bytes_of(a.type())} * a.count; };
    return to < 0 || std::any_of(
                         read.begin(), read.end(),
                         [&](const vm::Insn* r) { return variable(*r) == to && r->imm < i.imm + size(i) && i.imm < r->imm + size(*r); });
  }

  bool changed_after(const Node& node, const std::vector<const vm::Insn*>& read) const {
    if (node.ends == End::Barrier) return false;
    std::vector<char> seen(flow_.nodes.size());
    std::vector<uint32_t> work = node.next;
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      if (seen[b]) continue;
      seen[b] = 1;
      const Node& at = flow_.nodes[b];
      for (uint32_t k = at.begin; k < at.end; ++k)
        if (changes(flow_.code->insns[k], read)) return true;
      if (at.ends != End::Barrier) work.insert(work.end(), at.next.begin(), at.next.end());
    }
    return false;
  }

  const Flow& flow_;
};

void find_live(Flow& flow) {
  const size_t n = flow.variables.size();
  std::vector<Bits> use(flow.nodes.size(), Bits(n)), kill(flow.nodes.size(), Bits(n));
  for (size_t b = 0; b < flow.nodes.size(); ++b) {
    Node& node = flow.nodes[b];
    node.live_in = node.live_out = Bits(n);
    for (uint32_t k = node.begin; k < node.end; ++k) {
      const bool guarded = flow.code->insns[k].guard >= 0;
      for (const Slot& s : flow.slots[k])
        if (const auto v = flow.variable(s.at); v && (s.read || guarded) && !kill[b].has(*v)) use[b].add(*v);
      if (guarded) continue;
      for (const Slot& s : flow.slots[k])
        if (const auto v = flow.variable(s.at); v && s.written && !s.read) kill[b].add(*v);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = flow.nodes.size(); b-- > 0;) {
      Node& node = flow.nodes[b];
      for (uint32_t s : node.next) node.live_out.add(flow.nodes[s].live_in);
      Bits in = node.live_out;
      in.remove(kill[b]);
      in.add(use[b]);
      if (!(in == node.live_in)) {
        node.live_in = std::move(in);
        changed = true;
      }
    }
  }
}

}  // namespace

Source Flow::source(int32_t at, Width bytes) const {
  Source s;
  if (at < 0) return s;
  if (const auto v = variable(at)) return {SourceKind::Variable, *v, 0, nullptr};
  if (const auto f = special_at.find(at); f != special_at.end()) {
    const vm::FrameSlot& special = *f->second;
    if (special.kind != vm::SlotKind::Special || special.special != isa::Special::Ntid) return {SourceKind::Special, 0, 0, &special};
    return {SourceKind::Constant, 0, special.component < 3 ? block[special.component] : 1, nullptr};
  }
  s.kind = SourceKind::Constant;
  std::memcpy(&s.bits, code->constants.data() + (at - static_cast<int32_t>(code->constants_at)),
              bytes == 0 ? 4 : std::min<size_t>(bytes, 8));
  if (bytes == 0) s.bits &= 1;
  return s;
}

bool Flow::is_library_call(const vm::Insn& i) const {
  if (!i.call || i.step != vm::Step::CallBuiltin || i.call->builtin != services->library_call) return false;
  const std::string_view signature = static_cast<const isa::LibraryFunction*>(i.call->builtin_data)->signature;
  for (char c : signature)
    if (isa::library_type_is_pointer(c) || (c != 'f' && c != 'd' && c != 'i' && c != 'u' && c != 'l' && c != '(' && c != ')')) return false;
  for (const auto& list : {i.call->args, i.call->returns})
    for (const vm::LocalPart& p : list)
      if (p.size != 4 && p.size != 8) return false;
  size_t k = 0;
  for (char c : signature.substr(2, signature.size() - 3)) {
    if (k >= i.call->args.size() || static_cast<int>(i.call->args[k].size) != isa::library_type_bytes(c)) return false;
    ++k;
  }
  return k == i.call->args.size() && i.call->returns.size() == 1 &&
         static_cast<int>(i.call->returns[0].size) == isa::library_type_bytes(signature[0]);
}

bool waits_for_some(const vm::Insn& i) {
  if (!known_row(i) || !i.row()->effects.waits) return false;
  const isa::Row& row = *i.row();
  if (row.op == isa::Opcode::Wgmma) return says(row, ".wait_group");
  if (row.kind == Kind::Async) return row.op == isa::Opcode::Mbarrier && (says(row, ".test_wait") || says(row, ".try_wait"));
  if (!is_block_barrier(i)) return false;
  const bool red = i.mods().red;
  const ptx::Operand& id = i.source->operands[red ? 1 : 0];
  return says(row, ".arrive") || i.source->operands.size() != (red ? 3 : 1) || id.kind != ptx::OperandKind::Immediate || id.imm != 0;
}

void find_awaited(Flow& flow) {
  const auto waits = [&](uint32_t k) { return waits_for_some(flow.code->insns[k]); };
  const auto plain = [&](const vm::Insn& i) {
    return i.silent() || i.step == vm::Step::Branch || i.step == vm::Step::NotPred || (i.row() && i.effects().pure());
  };
  // To itself, or by way of nodes that do nothing else.
  const auto leads_back = [&](uint32_t s, uint32_t n) {
    const auto does_nothing = [&](const Node& node) {
      return node.next.size() == 1 && std::all_of(flow.code->insns.begin() + node.begin, flow.code->insns.begin() + node.end,
                                                  [](const vm::Insn& i) { return i.silent(); });
    };
    for (size_t k = 0; s != n && k < flow.nodes.size() && does_nothing(flow.nodes[s]); ++k) s = flow.nodes[s].next[0];
    return s == n;
  };
  std::vector<uint32_t> found;
  size_t all = 0;
  for (uint32_t k = 0; k < flow.code->insns.size(); ++k) all += waits(k);
  for (uint32_t n = 0; n < flow.nodes.size(); ++n) {
    const Node& node = flow.nodes[n];
    const vm::Insn& look = flow.code->insns[node.begin];
    if (!waits(node.begin) || look.guard >= 0 || look.row()->op != isa::Opcode::Mbarrier || node.end != node.begin + 1 ||
        node.next.size() != 1)
      continue;
    const Node& decides = flow.nodes[node.next[0]];
    if (decides.ends != End::Branch || leads_back(decides.next[0], n) == leads_back(decides.next[1], n)) continue;
    if (std::all_of(flow.code->insns.begin() + decides.begin, flow.code->insns.begin() + decides.end, plain)) found.push_back(n);
  }
  if (found.empty() || found.size() != all) return;
  flow.awaits = true;
  for (uint32_t n : found) {
    Node& node = flow.nodes[n];
    node.awaited = true;
    Node& decides = flow.nodes[node.next[0]];
    const uint32_t on = decides.next[leads_back(decides.next[0], n)];
    decides.next = {on, on};
  }
}

void take_turns(Flow& flow, bool plain) {
  flow.in_turns = true;
  flow.stops = plain;
  for (const ImplicitSync& m : flow.implicit_syncs) flow.nodes[m.to].gives_way = true;
  for (Node& node : flow.nodes) {
    node.gives_way = node.gives_way || node.apart;
    flow.stops = flow.stops && !node.gives_way;
    if (node.ends != End::Barrier) continue;
    flow.stops = flow.stops && node.last->guard < 0 && !node.last->mods().red;
    node.ends = End::Fall;
    node.last = nullptr;
  }
}

std::string build_flow(Flow& flow, const vm::FunctionCode& code, const vm::EngineServices& services, const std::array<uint32_t, 3>& block,
                       const EarlyLeaves& early, bool watched, bool in_turns) {
  flow.code = &code;
  flow.services = &services;
  flow.block = block;
  for (const vm::FrameSlot& s : code.slots) flow.special_at[s.offset] = &s;
  for (const vm::Insn& i : code.insns) flow.slots.push_back(slots_of(i, code));
  find_local_cells(flow, watched);
  if (std::string why = name_variables(flow); !why.empty()) return why;
  if (std::string why = make_nodes(flow, {}); !why.empty()) return why;
  if (const auto cuts = ReadTogether(flow).cuts(); !cuts.empty()) {
    if (std::string why = make_nodes(flow, cuts); !why.empty()) return why;
    for (uint32_t k : cuts) flow.nodes[static_cast<size_t>(flow.node_at[k])].apart = true;
  }
  static const bool without = left_out("leaving"), without_awaited = left_out("awaited");
  if (!watched && !in_turns && !without_awaited) find_awaited(flow);
  if (!watched && !without) {  // watched, what comes apart is told of in the interpreter's order
    forget_reads_of_one_warp(flow, block);
    if (!early.empty()) split_early_leaves(flow, early);
  }
  find_live(flow);
  return "";
}

void find_waits(Flow& flow, const std::vector<char>& divergent) {
  const size_t n = flow.nodes.size();
  for (Node& node : flow.nodes) node.waits = Bits(n);
  std::vector<char> seen(n);
  std::vector<uint32_t> work;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t a = 0; a < n; ++a) {
      const Node& from = flow.nodes[a];
      for (size_t e = 0; e < from.next.size(); ++e) {
        const uint32_t to = from.next[e];
        // Lanes are at `to`. Which blocks before it may other lanes still run?
        std::fill(seen.begin(), seen.end(), 0);
        work.clear();
        auto start = [&](uint32_t b) {
          if (b < to && !seen[b]) {
            seen[b] = 1;
            work.push_back(b);
          }
        };
        if (divergent[a])
          for (uint32_t other : from.next)
            if (other != to) start(other);
        from.waits.each([&](size_t w) { start(static_cast<uint32_t>(w)); });
        while (!work.empty()) {
          const uint32_t b = work.back();
          work.pop_back();
          if (!flow.nodes[b].waits.has(to)) {
            flow.nodes[b].waits.add(to);
            changed = true;
          }
          for (uint32_t s : flow.nodes[b].next) start(s);
        }
      }
    }
  }
}

namespace {

// What can be reached from `starts` without passing `wall` (kNoWall: everything).
constexpr uint32_t kNoWall = ~0u;
Bits reach(const Flow& flow, const std::vector<uint32_t>& starts, uint32_t wall) {
  Bits all(flow.nodes.size());
  std::vector<uint32_t> work;
  auto visit = [&](uint32_t b) {
    if (b == wall || all.has(b)) return;
    all.add(b);
    work.push_back(b);
  };
  for (uint32_t s : starts) visit(s);
  while (!work.empty()) {
    const uint32_t b = work.back();
    work.pop_back();
    for (uint32_t s : flow.nodes[b].next) visit(s);
  }
  return all;
}

size_t count(const Bits& bits) {
  size_t n = 0;
  bits.each([&](size_t) { ++n; });
  return n;
}

}  // namespace

Bits influence(const Flow& flow, uint32_t node) {
  // The ways meet at a block that can be reached from all of them; the nearest such block is the one with the least before
  // it. Ways on which lanes leave the kernel need not come there.
  constexpr size_t kWorthLooking = 300;
  const std::vector<uint32_t>& ways = flow.nodes[node].next;
  Bits best = reach(flow, ways, kNoWall);
  if (flow.nodes.size() > kWorthLooking) return best;
  std::vector<Bits> from;
  for (uint32_t s : ways) from.push_back(reach(flow, {s}, kNoWall));
  const Bits all = best;
  size_t most_ways = 0, least = count(best) + 1;
  all.each([&](size_t meeting) {
    size_t passing = 0;
    for (const Bits& f : from) passing += f.has(meeting);
    if (passing < most_ways) return;
    const Bits before = reach(flow, ways, static_cast<uint32_t>(meeting));
    const size_t size = count(before);
    if (passing == most_ways && size >= least) return;
    most_ways = passing;
    least = size;
    best = before;
  });
  return best;
}

}  // namespace warpbeam::jit
