// Where shared memory is settled: between two barriers of the block nothing writes it. Who reads it there needs not be known,
// because the next to write it does so behind a barrier.
#include "jit/flow.h"

namespace warpbeam::jit {
namespace {

bool may_write_shared(const Flow& flow, const vm::Insn& i) {
  if (i.call) return !flow.is_library_call(i);
  if (i.watched != vm::Watched::Memory || !i.source || flow.cell_access(i) || flow.fixed_local.contains(&i)) return false;
  const isa::Row& row = *i.source->form.row;
  if (row.kind == isa::Kind::Memory && row.cls == isa::Class::Load) return false;
  switch (i.mods().space) {
    case isa::Space::Global:
    case isa::Space::Const:
    case isa::Space::Local: return row.kind != isa::Kind::Memory && row.kind != isa::Kind::Atomic;
    case isa::Space::Param:
    case isa::Space::ParamEntry:
    case isa::Space::ParamFunc: return false;
    default: return true;
  }
}

}  // namespace

std::vector<char> find_settled(const Flow& flow) {
  const size_t n = flow.nodes.size();
  std::vector<char> writes(n), begins(n), settled(n, 1);
  begins[0] = 1;
  for (uint32_t b = 0; b < n; ++b) {
    for (uint32_t k = flow.nodes[b].begin; k < flow.nodes[b].end; ++k) writes[b] = writes[b] || may_write_shared(flow, flow.code->insns[k]);
    if (flow.nodes[b].ends == End::Barrier)
      for (uint32_t s : flow.nodes[b].next) begins[s] = 1;
  }
  for (uint32_t from = 0; from < n; ++from) {
    if (!begins[from]) continue;
    std::vector<char> seen(n);
    std::vector<uint32_t> work{from};
    seen[from] = 1;
    bool written = false;
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      written = written || writes[b];
      if (flow.nodes[b].ends == End::Barrier) continue;
      for (uint32_t s : flow.nodes[b].next)
        if (!seen[s]) seen[s] = 1, work.push_back(s);
    }
    if (!written) continue;
    for (uint32_t b = 0; b < n; ++b) settled[b] = settled[b] && !seen[b];
  }
  return settled;
}

}  // namespace warpbeam::jit
