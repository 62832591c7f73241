#include "observe/check/sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "observe/check/findings.h"

namespace warpbeam::observe::check {
namespace {

// Whether a function of this name is CUB's or Thrust's, which programs may put into a namespace of their own.
bool of_library(std::string_view name) {
  name = name.substr(0, name.find_first_of("<("));  // what stands before its parameters
  name = name.substr(name.rfind(' ') + 1);          // … and behind what it returns
  for (const std::string_view space : {"cub::", "thrust::"})
    if (const size_t at = name.find(space); at == 0 || (at != name.npos && name[at - 1] == ':')) return true;
  return false;
}

bool checks_old_value(isa::Op op) {
  return op == isa::Op::Cas || op == isa::Op::Min || op == isa::Op::Max || op == isa::Op::And || op == isa::Op::Or;
}

}  // namespace

void add_inlined(Finding& finding, const std::vector<vm::Warp::Inlined>& inlined, const std::string& into) {
  for (size_t k = 0; k < inlined.size(); ++k) {
    const std::string who = k + 1 < inlined.size() ? spaced(inlined[k + 1].function) : into;
    const std::string called = fmt::format("called by {} in {}", who, inlined[k].called_at);
    finding.lines.push_back({k == 0 ? fmt::format("in {}, {}", spaced(inlined[0].function), called) : called, {}});
    finding.callers.push_back(inlined[k].called_at);
  }
}

void add_where(Finding& finding, const std::vector<vm::Warp::Inlined>& inlined) {
  finding.lines.push_back({fmt::format("at {} in {}", finding.kernel, finding.locations[0]), {}});
  add_inlined(finding, inlined, finding.kernel);
}

// A loop that stores nothing and meets nobody, and reads what other threads write, waits for them.
bool Sites::in_waiting_loop(const vm::FunctionCode& f, const vm::Insn& insn) {
  auto [it, fresh] = waiting_.try_emplace(&f);
  std::vector<bool>& waits = it->second;
  if (fresh) {
    waits.resize(f.insns.size());
    for (uint32_t k = 0; k < f.insns.size(); ++k) {
      const vm::Insn& b = f.insns[k];
      if (!b.spin || b.target > k) continue;
      bool only_reads = true;
      for (uint32_t n = b.target; n <= k && only_reads; ++n) {
        const ptx::Instruction* s = f.insns[n].source;
        if (!s || !s->form.row || f.insns[n].watched == vm::Watched::Extra) continue;
        const isa::Class c = s->form.row->cls;
        only_reads = c != isa::Class::Store && c != isa::Class::Barrier;
      }
      if (only_reads)
        for (uint32_t n = b.target; n <= k; ++n) waits[n] = true;
    }
  }
  const auto at = static_cast<size_t>(&insn - f.insns.data());
  return at < waits.size() && waits[at];
}

// Before a compare-and-swap, a minimum or a maximum the old value may be read plainly, to see whether the atomic is worth its
// while: a value that is out of date costs another round.
bool Sites::before_cas(const vm::FunctionCode& f, const vm::Insn& insn) {
  if (insn.source->form.row->cls != isa::Class::Load) return false;
  const auto bytes = isa::bytes_of(insn.type());
  for (size_t k = static_cast<size_t>(&insn - f.insns.data()) + 1; k < f.insns.size(); ++k) {
    const vm::Insn& i = f.insns[k];
    if (i.watched == vm::Watched::Memory && i.source->form.row->cls == isa::Class::Atomic && checks_old_value(i.mods().op) &&
        isa::bytes_of(i.type()) == bytes)
      return true;
  }
  return false;
}

uint32_t Sites::moved(const vm::Insn& insn, const vm::FunctionCode& f) {
  const auto [it, fresh] = moved_.try_emplace(&insn, 0);
  if (!fresh || insn.source->form.row->cls != isa::Class::Load) return it->second;
  const uint32_t count = insn.list ? insn.count : 1;
  uint32_t moved = (1u << count) - 1;
  for (const vm::Insn& i : f.insns) {
    if (&i == &insn || !i.source || !i.source->form.row) continue;
    const bool stores = i.source->form.row->cls == isa::Class::Store;
    for (uint32_t k = 0; k < count; ++k) {
      const int32_t slot = insn.list ? insn.list[k] : insn.op[0];
      for (size_t o = stores && !i.list; o < std::size(i.op); ++o)
        if (i.op[o] == slot) moved &= ~(1u << k);
    }
  }
  return it->second = moved;
}

bool Sites::after_load(const vm::FunctionCode& f, const vm::Insn& insn) {
  if (insn.source->form.row->cls != isa::Class::Store) return false;
  // The stored value chooses between what was there and something else; a sum that happens to be the same does not.
  const size_t at = static_cast<size_t>(&insn - f.insns.data());
  std::string_view value;
  for (size_t k = at; k-- > 0 && value.empty();) {
    const vm::Insn& i = f.insns[k];
    const isa::Row* row = i.source ? i.source->form.row : nullptr;
    if (row && row->cls != isa::Class::Store && i.op[0] == insn.op[0]) value = row->opcode;
  }
  if (value != "min" && value != "max" && value != "selp" && value != "and" && value != "or") return false;
  for (size_t k = at; k-- > 0;) {
    const vm::Insn& i = f.insns[k];
    if (i.watched == vm::Watched::Extra) continue;
    if (i.source->line != insn.source->line || i.source->file != insn.source->file) continue;
    if (i.watched == vm::Watched::Memory && i.source->form.row->cls == isa::Class::Load && i.op[1] == insn.op[1] && i.imm == insn.imm &&
        isa::bytes_of(i.type()) == isa::bytes_of(insn.type()))
      return true;
  }
  return false;
}

// Nothing is made of its value but a decision.
bool Sites::only_compared(const vm::FunctionCode& f, const vm::Insn& insn) {
  if (insn.source->form.row->cls != isa::Class::Load || insn.list) return false;
  bool compared = false;
  for (const vm::Insn& i : f.insns) {
    if (&i == &insn || !i.source || !i.source->form.row) continue;
    const isa::Class cls = i.source->form.row->cls;
    const bool stores = cls == isa::Class::Store && !i.list;
    for (size_t o = stores ? 0 : 1; o < std::size(i.op); ++o) {
      if (i.op[o] != insn.op[0]) continue;
      if (cls != isa::Class::Compare) return false;
      compared = true;
    }
  }
  return compared;
}

bool Sites::rewrites_volatile(const vm::FunctionCode& f, const vm::Insn& insn) {
  if (insn.source->form.row->cls != isa::Class::Store || insn.mods().sem != isa::Sem::Volatile) return false;
  const auto at = static_cast<size_t>(&insn - f.insns.data());
  size_t load = at;
  for (size_t k = at; k-- > 0 && load == at;) {
    const vm::Insn& i = f.insns[k];
    if (i.watched != vm::Watched::Memory || i.source->line != insn.source->line || i.source->file != insn.source->file) continue;
    if (i.source->form.row->cls == isa::Class::Load && i.mods().sem == isa::Sem::Volatile && i.op[1] == insn.op[1] && i.imm == insn.imm)
      load = k;
  }
  if (load == at) return false;
  // What is stored has been made of what was loaded; a flag that is raised if it is not up has not.
  std::vector<int32_t> made{f.insns[load].op[0]};
  const auto is_made = [&](int32_t slot) { return slot >= 0 && std::ranges::find(made, slot) != made.end(); };
  for (size_t k = load + 1; k < at; ++k) {
    const vm::Insn& i = f.insns[k];
    if (!i.source || !i.source->form.row || i.source->form.row->cls == isa::Class::Store) continue;
    if (std::any_of(std::begin(i.op) + 1, std::end(i.op), is_made)) made.push_back(i.op[0]);
  }
  return is_made(insn.op[0]);
}

uint32_t Sites::number(const vm::Insn& insn, const vm::FunctionCode& f) {
  auto [it, fresh] = numbers_.try_emplace(&insn, static_cast<uint32_t>(all_.size()));
  if (fresh) {
    Site s;
    s.kernel = spaced(f.display_name);
    s.location = vm::Warp::location(insn, f);
    s.inlined = vm::Warp::inlined(insn, f);
    s.waits = in_waiting_loop(f, insn);
    s.guesses = before_cas(f, insn);
    s.corrects = insn.source->form.row->cls == isa::Class::Atomic && checks_old_value(insn.mods().op);
    s.swaps = s.corrects && insn.mods().op == isa::Op::Cas;
    s.shuffles_down = insn.source->form.row->op == isa::Opcode::Shfl && insn.mods().shuffle == isa::Shuffle::Down;
    const isa::Sem sem = insn.mods().sem;
    s.is_volatile = sem == isa::Sem::Volatile;
    s.decides = s.is_volatile && only_compared(f, insn);
    s.ordered = sem != isa::Sem::Weak && sem != isa::Sem::Volatile && sem != isa::Sem::Mmio;
    s.updates = after_load(f, insn);
    s.rewrites = rewrites_volatile(f, insn);
    s.library = of_library(s.kernel);
    s.algorithm = s.library || vm::Warp::of_algorithm(insn, f);
    const std::string_view syntax = insn.source->form.row->syntax;
    s.bulk = syntax.starts_with("cp.async.bulk") || syntax.starts_with("cp.reduce.async.bulk");
    s.product = syntax.starts_with("wgmma.mma_async");
    all_.push_back(std::move(s));
  }
  return it->second;
}

void Sites::forget_programs() {
  numbers_.clear();
  moved_.clear();
  waiting_.clear();
}

}  // namespace warpbeam::observe::check
