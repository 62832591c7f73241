// What is known of the code before anything is written: questions that are answered by the plan alone.
#pragma once
#include <optional>
#include <vector>

#include "jit/accesses.h"
#include "jit/plan.h"

namespace warpbeam::jit {

class Facts {
 protected:
  Facts(const KernelPlan& plan, WatchTables* watch, const Processor& processor)
      : plan_(plan), flow_(plan.flow), shapes_(plan.shapes), watch_(watch), processor_(processor) {}
  uint32_t number_of(const vm::Insn& insn) const { return static_cast<uint32_t>(&insn - flow_.code->insns.data()); }
  const vm::Insn* made_before(const Node& node, int32_t at, uint32_t end) const;
  const vm::Insn* compared(const Node& node, int32_t predicate, bool& wanted) const;
  bool compares_steps(const Node& node, int32_t predicate, uint32_t end) const;
  bool only_computes(const vm::Insn& insn) const;
  bool may_wrap(const vm::Insn& insn) const;        // so that the code that looks for it goes elsewhere
  bool leaves_nothing(const vm::Insn& insn) const;  // no results, and no effects
  std::vector<uint32_t> early(uint32_t begin, uint32_t end, const std::vector<Access>& accesses) const;
  Straight straight(uint32_t begin, uint32_t end) const;
  size_t special_functions(const std::vector<uint32_t>& nodes) const, vectors_made(const std::vector<uint32_t>& nodes) const;
  bool suits_subwarp(const vm::Insn& insn) const;
  // Regions.
  const vm::Insn* exit_insn(const Region& region) const;
  Bits written_in(const Region& region) const;
  bool leaves_at_end(const Region& region, const Node& node) const;
  bool touches_shared(const Region& region) const;
  const vm::Insn* some_barrier() const;
  // Accesses that compiled code knows how to do.
  std::optional<Access> access_of(const vm::Insn& insn) const;
  std::optional<Access> local_access_of(const vm::Insn& insn) const;
  bool may_be_local(const Access& a) const;
  bool looks_for_stretches() const;
  bool looks_for_window(const Access& a, const Value& address) const;
  bool counts(const vm::Insn& insn) const;
  bool only_counts(const Region& region) const;
  bool counts_places(const vm::Insn& insn) const;
  bool may_lie_apart(const vm::Insn& i) const;

  const KernelPlan& plan_;
  const Flow& flow_;
  const Shapes& shapes_;
  WatchTables* const watch_;    // null: nobody watches
  const Processor& processor_;
};

}  // namespace warpbeam::jit
