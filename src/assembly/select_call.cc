// Calls. Arguments and results are copies to and from where the other side looks for them, which often are no instructions.
#include <algorithm>
#include <utility>

#include "assembly/selector.h"

namespace warpbeam::assembly {

using ptx::Instruction;
using ptx::Operand;
using ptx::OperandKind;

namespace {

struct LibraryRow {
  std::string_view name;
  int integers, special, floats, doubles, others, branches, cycles;
};
constexpr LibraryRow kLibrary[] = {
#define WB_FUNCTION(name, integers, special, floats, doubles, others, branches, cycles) \
  {#name, integers, special, floats, doubles, others, branches, cycles},
#include "assembly/library.inc"
#undef WB_FUNCTION
};
constexpr LibraryRow kSingle{"", 10, 1, 18, 0, 1, 1, 110}, kDouble{"", 12, 2, 14, 28, 28, 1, 300};

// What a call executes: some functions of the device's run time take their time elsewhere.
Operation operation_of(std::string_view callee) {
  if (callee == "vprintf") return Operation::Print;
  if (callee == "malloc" || callee == "free" || callee == "__cuda_syscall_aligned_malloc") return Operation::Allocate;
  return Operation::Call;
}

const LibraryRow& row_of(std::string_view name) {
  for (const LibraryRow& r : kLibrary)
    if (r.name == name) return r;
  return name.ends_with("f") ? kSingle : kDouble;
}

}  // namespace

void Selector::give_argument(const std::string& name, int64_t offset, const Operand& from, isa::Type type) {
  const Part data = gather(from, type);
  Source s = of(data);
  if (!data) s = number(0);
  arguments_[name].push_back({offset, s});
}

// What a function of the device library takes where a toolkit has inlined it: a chain that is as long as the row says, and the rest beside it.
void Selector::library_call(std::string_view name, const std::vector<Source>& arguments, Part to) {
  using enum Operation;
  const LibraryRow& row = row_of(name);
  std::vector<Step> steps;
  const auto put = [&](int n, Step step) {
    for (int k = 0; k < n; ++k) steps.push_back(step);
  };
  const bool wide = row.doubles > 0;
  put(row.integers / 2, {IntAdd, "IADD3"});
  put(row.floats / 2, {FloatFma, "FFMA"});
  put(row.special, {Special, "MUFU"});
  put(row.floats - row.floats / 2, {FloatFma, "FFMA"});
  for (int k = 0, moved = 0; k < row.doubles; ++k) {  // most have constants among their operands, which are moved there
    for (; moved < (k + 1) * row.others / row.doubles; ++moved) put(1, moved % 2 ? Step{Move, "MOV"} : Step{Uniform, "UMOV"});
    put(1, {DoubleFma, "DFMA"});
  }
  if (!wide) put(row.others, {Move, "MOV"});
  put(row.integers - row.integers / 2, {Compare, "FSEL"});
  const auto cycles_of = [](const Step& step) {
    constexpr double kFixed = 4.2, kSpecial = 20, kDouble = 9.3;
    return step.operation == Special ? kSpecial : step.operation == DoubleFma ? kDouble : step.operation == Uniform ? 0 : kFixed;
  };
  double all = 0, in_chain = 0, passed = 0;
  for (const Step& step : steps) all += cycles_of(step);
  Source last;
  std::vector<Source> beside;
  Part constant;  // of the next step
  for (size_t k = 0; k < steps.size(); ++k) {
    const Step& step = steps[k];
    if (row.branches && k == steps.size() / 2) {
      if (cc_ >= 70) emit(Converge, "BSSY", {}, {}).pinned = true;
      for (int n = 0; n < row.branches; ++n) {
        Draft& d = emit(Branch, "BRA", {}, {});
        d.pinned = d.wall = true;
      }
      if (cc_ >= 70) {
        Draft& d = emit(Converge, "BSYNC", {}, {});
        d.pinned = d.wall = true;
      }
    }
    if (step.operation == Uniform) {
      constant = temporary(1, cc_ >= 75 ? Bank::Uniform : Bank::General);
      if (cc_ >= 75) emit_uniform(step.mnemonic, constant, {});
      else emit(Move, "MOV", {constant}, {});
      continue;
    }
    passed += cycles_of(step);
    // The chain is behind where it should be, or this is its end.
    const bool chained = k + 1 == steps.size() || in_chain * all < passed * row.cycles;
    if (chained) in_chain += cycles_of(step);
    const Part result = k + 1 == steps.size() && to ? to : temporary(wide ? 2 : 1);
    std::vector<Source> reads;
    if (chained && last.kind != Source::Nothing) reads.push_back(last);
    if (constant) {
      Source s = of(constant);
      if (cc_ >= 75) s.kind = Source::Uniform;
      reads.push_back(s);
      constant = {};
    }
    // All that is made is read in the end, which has room for two beside the chain.
    for (; (chained || beside.size() > 1) && !beside.empty() && reads.size() < 3; beside.erase(beside.begin()))
      reads.push_back(beside.front());
    for (const Source& s : arguments)
      if (reads.size() < 3) reads.push_back(s);
    Draft& d = emit(step.operation, step.mnemonic, {result}, std::span<const Source>(reads));
    d.pinned = !to && k + 1 == steps.size();  // results that go to memory are not seen here
    if (chained) last = of(result);
    else beside.push_back(of(result));
  }
}

void Selector::call(const Instruction& i) {
  std::string callee;
  std::vector<std::string> names, results;
  bool first_list = true, seen_callee = false;
  for (const Operand& o : i.operands) {
    if (o.kind == OperandKind::List) {
      for (const Operand& e : o.list) (seen_callee || !first_list ? names : results).push_back(e.name);
      first_list = false;
    } else if (o.kind == OperandKind::Symbol || o.kind == OperandKind::Label) {
      callee = o.name;
      seen_callee = true;
    } else if (o.kind == OperandKind::Register) {
      seen_callee = true;
    }
  }
  std::vector<Source> arguments;
  for (const std::string& n : names)
    if (auto it = arguments_.find(n); it != arguments_.end()) {
      for (const auto& [offset, s] : it->second) arguments.push_back(s);
      arguments_.erase(it);
    }
  bool defined = false;
  for (const ptx::Function& f : module_.functions) defined = defined || (f.name == callee && f.has_body);
  const auto result_part = [&](const std::string& name) {
    uint64_t bytes = 4;
    for (const ptx::Variable& v : f_.locals)
      if (v.name == name) bytes = v.size;
    const Part p = temporary(static_cast<int>(std::clamp<uint64_t>((bytes + 3) / 4, 1, 16)));
    results_[name] = p;
    return p;
  };
  constexpr std::string_view kLibraryPrefix = "__nv_";
  if (callee.starts_with(kLibraryPrefix) && !defined) {
    const Part to = results.empty() ? Part{} : result_part(results[0]);
    return library_call(std::string_view(callee).substr(kLibraryPrefix.size()), arguments, to);
  }
  calls_ = true;
  std::vector<Part> placed;
  for (const Source& s : arguments) {
    const Part there = temporary(s.words);
    copy_to(there, s);
    placed.push_back(there);
  }
  for (int k = 0; k < 2; ++k) emit(Operation::Move, "MOV", {temporary()}, {}).pinned = true;  // where to return to
  Part to;
  if (!results.empty() && !results[0].empty()) to = result_part(results[0]);
  Draft& d = emit(defined ? Operation::Call : operation_of(callee), "CALL", {to}, {});
  d.pinned = d.wall = true;
  constexpr size_t kReads = 4;
  for (size_t k = 0; k < placed.size() && k < kReads; ++k) d.read(placed[k]);
  for (const Operand& o : i.operands) {
    if (o.kind == OperandKind::Register) d.read(register_source(o.reg).part);
  }
  if (!i.operands.empty() && i.operands[0].kind == OperandKind::List)
    for (const Operand& o : i.operands[0].list)
      if (o.reg >= 0) emit(Operation::Move, "MOV", {destination(o.reg)}, {});
}

}  // namespace warpbeam::assembly
