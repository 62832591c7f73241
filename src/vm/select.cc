// Which handler executes an instruction, by the kind of its row or by its step.
#include "vm/exec_lane.h"
#include "vm/flow_handlers.h"
#include "vm/lane_chapters.h"

namespace warpbeam::vm {

Handler select_atomic(const ptx::Instruction&);
Handler select_control(const ptx::Instruction&);
Handler select_barrier(const ptx::Instruction&);
Handler select_warp(const ptx::Instruction&);
Handler select_misc(const ptx::Instruction&);
Handler select_tensor(const ptx::Instruction&);
Handler select_async(const ptx::Instruction&);
Handler select_image(const ptx::Instruction&);

std::vector<std::vector<LaneHandler>>& lane_handlers() {
  // Never destroyed: kernels may run while the process ends.
  static auto* handlers = new std::vector<std::vector<LaneHandler>>(isa::all_rows().size());
  return *handlers;
}

namespace {

Handler select_lane(const ptx::Instruction& i) {
  static const bool filled = [] {
    add_integer_handlers();
    add_logic_handlers();
    add_float_handlers();
    add_half_handlers();
    add_approx_handlers();
    add_dot_handlers();
    return true;
  }();
  (void)filled;
  isa::Mods mods = i.form.mods;
  if (mods.rnd == isa::Rnd::Rn) mods.rnd = isa::Rnd::None;
  Handler any = nullptr;
  for (const LaneHandler& h : lane_handlers()[static_cast<size_t>(i.form.row->id)]) {
    if (h.type != i.form.type) continue;
    if (h.any) any = h.fn;
    else if (h.mods == mods) return h.fn;
  }
  return any;
}

}  // namespace

Handler select_handler(const ptx::Instruction& i, const ptx::Function& f) {
  using isa::Kind;
  switch (i.form.row->kind) {
    case Kind::Lane: return select_lane(i);
    case Kind::Convert: return select_convert(i, f);
    case Kind::Compare: return select_compare(i, f);
    case Kind::Select: return select_select(i, f);
    case Kind::Carry: return select_carry(i, f);
    case Kind::Video: return select_video(i, f);
    case Kind::Atomic: return select_atomic(i);
    case Kind::Control: return select_control(i);
    case Kind::Barrier: return select_barrier(i);
    case Kind::Warp: return select_warp(i);
    case Kind::Misc: return select_misc(i);
    case Kind::Tensor: return select_tensor(i);
    case Kind::Async: return select_async(i);
    case Kind::Image: return select_image(i);
    default: return nullptr;
  }
}

Handler handler_of(Step step) {
  switch (step) {
    case Step::Row: return nullptr;
    case Step::Label: return exec_label;
    case Step::Jump: return exec_jump;
    case Step::Branch: return exec_branch;
    case Step::BranchTable: return exec_branch_table;
    case Step::Ret: return exec_ret;
    case Step::Exit: return exec_exit;
    case Step::Call: return exec_call;
    case Step::CallBuiltin: return exec_call_builtin;
    case Step::CallIndirect: return exec_call_indirect;
    case Step::PickTarget: return exec_pick_target;
    case Step::NotPred: return exec_not_pred;
    case Step::ReadSpecial: return exec_read_special;
  }
  return nullptr;
}

}  // namespace warpbeam::vm
