#include "observe/check/reachability.h"

#include "vm/code.h"

namespace warpbeam::observe::check {
namespace {

template <class F>
void each_successor(const vm::FunctionCode& f, uint32_t at, F&& go) {
  const vm::Insn& i = f.insns[at];
  const bool ends = i.step == vm::Step::Jump || i.step == vm::Step::BranchTable || i.step == vm::Step::Ret || i.step == vm::Step::Exit;
  if (i.step == vm::Step::Jump || i.step == vm::Step::Branch) go(i.target);
  if (i.step == vm::Step::BranchTable)
    for (int64_t k = 0; k < i.imm; ++k) go(static_cast<uint32_t>(i.list[k]));
  if ((!ends || (i.guard >= 0 && i.step != vm::Step::Jump)) && at + 1 < f.insns.size()) go(at + 1);
}

struct Stretch {  // of instructions: of a function, or of a loop, which stands together
  uint32_t first, last;
};

// Is there a way that begins at `from`, stays within the stretch and comes to `goal`? Ways end where `wall` says so.
template <class Goal, class Wall>
bool leads_to(const vm::FunctionCode& f, uint32_t from, Stretch within, Goal&& goal, Wall&& wall) {
  std::vector<bool> seen(f.insns.size());
  std::vector<uint32_t> open{from};
  while (!open.empty()) {
    const uint32_t at = open.back();
    open.pop_back();
    if (wall(at)) continue;
    bool found = false;
    each_successor(f, at, [&](uint32_t next) {
      found = found || goal(next);
      if (next < within.first || next > within.last || seen[next]) return;
      seen[next] = true;
      open.push_back(next);
    });
    if (found) return true;
  }
  return false;
}

// The innermost loop around an instruction, from its head to its last way back; the whole function if there is none.
Stretch loop_around(const vm::FunctionCode& f, uint32_t inside, bool* is_loop) {
  Stretch loop{0, static_cast<uint32_t>(f.insns.size()) - 1};
  *is_loop = false;
  for (uint32_t k = inside; k < f.insns.size(); ++k)
    each_successor(f, k, [&](uint32_t next) {
      if (next > inside || (*is_loop && next < loop.first)) return;
      *is_loop = true;
      loop = {next, k};
    });
  return loop;
}

}  // namespace

bool same_line(const vm::Insn& a, const vm::Insn& b) {
  return &a == &b || (a.source && b.source && a.source->line != 0 && a.source->line == b.source->line && a.source->file == b.source->file);
}

bool in_one_loop(const vm::FunctionCode& f, const vm::Insn& a, const vm::Insn& b) {
  if (&b < f.insns.data() || &b >= f.insns.data() + f.insns.size()) return false;
  bool is_loop = false;
  const Stretch loop = loop_around(f, static_cast<uint32_t>(&a - f.insns.data()), &is_loop);
  const auto at = static_cast<uint32_t>(&b - f.insns.data());
  return is_loop && at >= loop.first && at <= loop.last;
}

bool may_go_around(const vm::FunctionCode& f, const vm::Insn& barrier, const vm::Insn& last) {
  const auto number = [&](const vm::Insn& i) { return static_cast<uint32_t>(&i - f.insns.data()); };
  const auto is_one = [&](uint32_t k) {
    const vm::Insn& i = f.insns[k];
    return i.source && i.watched != vm::Watched::Extra && i.guard < 0 && i.source->form.row == barrier.source->form.row &&
           same_line(i, barrier);
  };
  bool is_loop = false;
  const Stretch loop = loop_around(f, number(barrier), &is_loop);
  if (is_loop && leads_to(f, loop.first, loop, [&](uint32_t k) { return k == loop.first; }, is_one)) return true;
  // Rounds side by side: whoever goes around this one may still come to another.
  if (&last < f.insns.data() || number(last) >= f.insns.size() || &last == &barrier) return false;
  const Stretch all{0, static_cast<uint32_t>(f.insns.size()) - 1};
  const auto before = [&](uint32_t k) { return k == number(barrier); };
  if (leads_to(f, number(last) + 1, all, [&](uint32_t k) { return k != number(barrier) && k != number(last) && is_one(k); }, before))
    return true;
  if (is_loop) return false;
  // The last of several rounds looks like the others: where one may be gone around on the way to the next, so may this one.
  constexpr size_t kMost = 64;
  std::vector<uint32_t> rounds;
  for (uint32_t k = 0; k < f.insns.size() && rounds.size() <= kMost; ++k)
    if (is_one(k)) rounds.push_back(k);
  for (size_t k = 0; k + 2 < rounds.size() && rounds.size() <= kMost; ++k) {
    const auto skipped = [&](uint32_t at) { return at == rounds[k + 1]; };
    const auto next = [&](uint32_t at) { return at == rounds[k + 2]; };
    if (leads_to(f, rounds[k] + 1, all, next, skipped) && leads_to(f, rounds[k] + 1, all, skipped, next)) return true;
  }
  return false;
}

}  // namespace warpbeam::observe::check
