#include "fuzz/coverage.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/row.h"
#include "ptx/module.h"

namespace warpbeam::fuzz {
namespace {

using isa::Kind;

// Where rows are tested that random kernels cannot have: their result depends on more than registers and a few places in memory.
const char* tested_by(Kind kind) {
  switch (kind) {
    case Kind::Image: return "textures and surfaces: tests/texture, tests/vectors";
    case Kind::Tensor: return "fragments of a warp: tests/tensor";
    case Kind::Async: return "copies that end later: tests/tensor, tests/jit/copies_test.cc";
    case Kind::Control: return "the kernel's own frame: every kernel, tests/faults";
    case Kind::Memory: return "forms that need other places or turns: tests/isa, tests/kernels";
    default: return "results that depend on time, place or other warps: tests/isa, tests/jit, tests/kernels";
  }
}

}  // namespace

Coverage::Coverage() : times_(isa::all_rows().size()) {}

void Coverage::add(const Kernel& kernel) {
  const ptx::ParseResult parsed = ptx::parse(kernel.text());
  for (const ptx::Function& f : parsed.module->functions)
    for (const ptx::Instruction& i : f.body) ++times_[static_cast<size_t>(i.form.row->id)];
}

size_t Coverage::covered() const {
  return static_cast<size_t>(std::ranges::count_if(times_, [](uint64_t n) { return n > 0; }));
}

std::string Coverage::report() const {
  std::string out = fmt::format("{} of {} rows of the instruction table\n", covered(), times_.size());
  for (const isa::Row& row : isa::all_rows())
    if (!times_[static_cast<size_t>(row.id)]) out += fmt::format("  not: {}    ({})\n", row.syntax, tested_by(row.kind));
  return out;
}

}  // namespace warpbeam::fuzz
