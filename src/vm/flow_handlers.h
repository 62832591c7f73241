// Handlers of steps; they live with the chapter they belong to.
#pragma once
#include "vm/code.h"

namespace warpbeam::vm {

void exec_label(Warp&, const Insn&, uint32_t);
void exec_jump(Warp&, const Insn&, uint32_t);
void exec_branch(Warp&, const Insn&, uint32_t);
void exec_branch_table(Warp&, const Insn&, uint32_t);
void exec_call(Warp&, const Insn&, uint32_t);
void exec_call_builtin(Warp&, const Insn&, uint32_t);
void exec_call_indirect(Warp&, const Insn&, uint32_t);
void exec_pick_target(Warp&, const Insn&, uint32_t);
void exec_ret(Warp&, const Insn&, uint32_t);
void exec_exit(Warp&, const Insn&, uint32_t);
void exec_not_pred(Warp&, const Insn&, uint32_t);
void exec_read_special(Warp&, const Insn&, uint32_t);

// The running lanes execute `i` with these masks, one for each lane: a trap where a lane is not in its own, as in a GPU's since Volta.
// Measured on an H100: vote, match, shfl, redux and bar.warp.sync are illegal instructions there. Older ones take no notice.
void refuse_strangers(Warp& w, const Insn& i, const uint32_t* members);

Handler handler_of(Step step);  // null for Step::Row

}  // namespace warpbeam::vm
