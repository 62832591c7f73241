#include "observe/check/traits.h"

#include <vector>

namespace warpbeam::observe::check {
namespace {

Trait find(const isa::Row& row) {
  const auto is = [&](std::string_view start) { return row.syntax.starts_with(start); };
  if (row.cls == isa::Class::Fence) return Trait::Fence;
  if (is("cp.async.commit_group")) return Trait::CommitCopies;
  if (is("cp.async.wait_group")) return Trait::WaitCopies;
  if (is("cp.async.wait_all")) return Trait::WaitAllCopies;
  if (is("cp.async.mbarrier.arrive")) return Trait::CopiesArrive;
  if (is("mbarrier.arrive")) return Trait::Arrives;
  if (is("mbarrier.test_wait") || is("mbarrier.try_wait")) return Trait::Waits;
  if (is("cp.async.bulk.commit_group")) return Trait::CommitBulk;
  if (is("cp.async.bulk.wait_group")) return Trait::WaitBulk;
  if (is("wgmma.commit_group")) return Trait::CommitProducts;
  if (is("wgmma.wait_group")) return Trait::WaitProducts;
  if (row.syntax.find("bulk_group") != std::string_view::npos) return Trait::BulkStore;
  // Others arrive at an mbarrier when they are complete.
  if (is("cp.async.bulk") || is("cp.reduce.async.bulk") || is("st.async") || is("red.async")) return Trait::Arrives;
  if (is("barrier.cluster.arrive")) return Trait::ClusterArrive;
  if (is("barrier.cluster.wait")) return Trait::ClusterWait;
  if (row.op == isa::Opcode::Shfl) return Trait::Shuffle;
  return Trait::None;
}

}  // namespace

const Trait* traits() {
  // Never destroyed: kernels may run while the process ends.
  static const auto* traits = [] {
    auto* all = new std::vector<Trait>;
    for (const isa::Row& r : isa::all_rows()) all->push_back(find(r));
    return all;
  }();
  return traits->data();
}

}  // namespace warpbeam::observe::check
