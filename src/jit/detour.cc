// Calls that leave every register of the processor as it was: what compiled code does rarely then costs it no
// registers.
#include <cstring>

#include "jit/runtime.h"

// wb_quiet: calls the function in rax with what the registers of the first six arguments hold. It returns nothing.
#if defined(__x86_64__)
#define WB_TEXT_(x) #x
#define WB_TEXT(x) WB_TEXT_(x)
#define WB_QUIET(name, bytes, keep, give_back, before)                                                   \
  asm(".text\n.p2align 4\n.globl " name "\n.hidden " name "\n.type " name ",@function\n" name            \
      ":\n"                                                                                              \
      ".cfi_startproc\npushq %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\n"                      \
      "movq %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"                                                    \
      "pushq %rax\npushq %rcx\npushq %rdx\npushq %rsi\npushq %rdi\n"                                     \
      "pushq %r8\npushq %r9\npushq %r10\npushq %r11\n"                                                   \
      "andq $-64, %rsp\nsubq $" WB_TEXT(bytes) ", %rsp\n" keep before "callq *%rax\n" give_back          \
                                               "leaq -72(%rbp), %rsp\n"                                  \
                                               "popq %r11\npopq %r10\npopq %r9\npopq %r8\n"              \
                                               "popq %rdi\npopq %rsi\npopq %rdx\npopq %rcx\npopq %rax\n" \
                                               "popq %rbp\n.cfi_def_cfa %rsp, 8\nretq\n.cfi_endproc\n"   \
                                               ".size " name ", . - " name "\n")

#define WB_KEEP_EACH(registers, size, move, kind) ".irp n," registers "\n" move " %" kind "\\n, " size "*\\n(%rsp)\n.endr\n"
#define WB_GIVE_EACH(registers, size, move, kind) ".irp n," registers "\n" move " " size "*\\n(%rsp), %" kind "\\n\n.endr\n"
#define WB_16 "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"
#define WB_32 WB_16 ",16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31"
#define WB_KEEP_MASKS ".irp n,0,1,2,3,4,5,6,7\nkmovq %k\\n, 2048+8*\\n(%rsp)\n.endr\n"
#define WB_GIVE_MASKS ".irp n,0,1,2,3,4,5,6,7\nkmovq 2048+8*\\n(%rsp), %k\\n\n.endr\n"

WB_QUIET("wb_quiet_xmm", 256, WB_KEEP_EACH(WB_16, "16", "movaps", "xmm"), WB_GIVE_EACH(WB_16, "16", "movaps", "xmm"), "");
WB_QUIET("wb_quiet_ymm", 512, WB_KEEP_EACH(WB_16, "32", "vmovaps", "ymm"), WB_GIVE_EACH(WB_16, "32", "vmovaps", "ymm"), "vzeroupper\n");
WB_QUIET("wb_quiet_zmm", 2112, WB_KEEP_EACH(WB_32, "64", "vmovaps", "zmm") WB_KEEP_MASKS,
         WB_GIVE_EACH(WB_32, "64", "vmovaps", "zmm") WB_GIVE_MASKS, "vzeroupper\n");
extern "C" void wb_quiet_xmm();
extern "C" void wb_quiet_ymm();
extern "C" void wb_quiet_zmm();
#endif

namespace warpbeam::jit {

void* quiet_call([[maybe_unused]] const Processor& processor) {
#if defined(__x86_64__)
  if (processor.wide) return reinterpret_cast<void*>(&wb_quiet_zmm);
  if (processor.avx512) return nullptr;  // its masks have 16 bits
  return processor.avx ? reinterpret_cast<void*>(&wb_quiet_ymm) : reinterpret_cast<void*>(&wb_quiet_xmm);
#else
  return nullptr;
#endif
}

void fill_cells(Context& c, const RangeCells& range) {
  const vm::AccessRange r = c.ranges[range.cache];
  const uint64_t size = r.lo < r.hi ? r.hi - r.lo : 0;
  c.cells[range.lo] = r.lo;
  if (range.large) c.cells[range.large] = size >= range.large_bytes;
  for (const RangeCells::Cell& cell : range.cells) {
    // Places are counted from the range's first byte: where that is not aligned, nothing is known to fit.
    const uint64_t enough = size + cell.total;
    c.cells[cell.at] = r.lo % cell.total || enough < cell.extent ? 0 : (enough - cell.extent) / cell.total;
  }
}

extern "C" void wb_detour(Context* c, const Detour* d, uint32_t warp, uint32_t mask, uint32_t active) {
  std::byte* frame = wb_prepare(c, warp);
  for (const Saved& s : d->given) put_lanes(frame + s.at, s, reinterpret_cast<const std::byte*>(c->operands[s.part]));
  if (c->watched.watch) watched_detour(*c, *d, warp, mask, active);
  else wb_handler(c, d->insn, warp, mask, active);
  for (const Saved& s : d->taken) std::memcpy(c->operands[s.part], frame + s.at, s.bytes ? size_t(s.bytes) * 32 : 4);
  if (!d->range) return;
  if (d->insn->cache != d->range->cache) c->ranges[d->range->cache] = c->ranges[d->insn->cache];
  fill_cells(*c, *d->range);
}

}  // namespace warpbeam::jit
