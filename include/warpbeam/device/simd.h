// SIMD within a word: two halfwords or four bytes in an unsigned int. The video instructions do most of it.
#ifndef WARPBEAM_DEVICE_SIMD_H
#define WARPBEAM_DEVICE_SIMD_H

#include "attributes.h"

// name, instruction on two halfwords, instruction on four bytes
#define WB_SIMD_2(X)                                  \
  X(__vadd, "vadd", "u32.u32.u32")                    \
  X(__vaddss, "vadd", "s32.s32.s32.sat")              \
  X(__vaddus, "vadd", "u32.u32.u32.sat")              \
  X(__vsub, "vsub", "u32.u32.u32")                    \
  X(__vsubss, "vsub", "s32.s32.s32.sat")              \
  X(__vsubus, "vsub", "u32.u32.u32.sat")              \
  X(__vavgs, "vavrg", "s32.s32.s32")                  \
  X(__vavgu, "vavrg", "u32.u32.u32")                  \
  X(__vmaxs, "vmax", "s32.s32.s32")                   \
  X(__vmaxu, "vmax", "u32.u32.u32")                   \
  X(__vmins, "vmin", "s32.s32.s32")                   \
  X(__vminu, "vmin", "u32.u32.u32")                   \
  X(__vabsdiffs, "vabsdiff", "s32.s32.s32")           \
  X(__vabsdiffu, "vabsdiff", "u32.u32.u32")           \
  X(__vsads, "vabsdiff", "s32.s32.s32.add")           \
  X(__vsadu, "vabsdiff", "u32.u32.u32.add")

#define WB_DEFINE_SIMD_LANES(name, instruction)                                          \
  WB_DEVICE unsigned int name(unsigned int a, unsigned int b) {                          \
    unsigned int result;                                                                 \
    asm(instruction " %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(0));         \
    return result;                                                                       \
  }
#define WB_DEFINE_SIMD(name, instruction, types)               \
  WB_DEFINE_SIMD_LANES(name##2, instruction "2." types)        \
  WB_DEFINE_SIMD_LANES(name##4, instruction "4." types)
WB_SIMD_2(WB_DEFINE_SIMD)

// __vset… gives 1 in each field where the comparison holds, __vcmp… all ones.
#define WB_DEFINE_COMPARE(op, sign, types)                                                         \
  WB_DEFINE_SIMD_LANES(__vset##op##sign##2, "vset2." types "." #op)                                \
  WB_DEFINE_SIMD_LANES(__vset##op##sign##4, "vset4." types "." #op)                                \
  WB_DEVICE unsigned int __vcmp##op##sign##2(unsigned int a, unsigned int b) {                     \
    return __vset##op##sign##2(a, b) * 0xffffu;                                                    \
  }                                                                                                \
  WB_DEVICE unsigned int __vcmp##op##sign##4(unsigned int a, unsigned int b) {                     \
    return __vset##op##sign##4(a, b) * 0xffu;                                                      \
  }
#define WB_DEFINE_ORDER(op) WB_DEFINE_COMPARE(op, s, "s32.s32") WB_DEFINE_COMPARE(op, u, "u32.u32")
WB_DEFINE_COMPARE(eq, , "u32.u32")
WB_DEFINE_COMPARE(ne, , "u32.u32")
WB_DEFINE_ORDER(lt)
WB_DEFINE_ORDER(le)
WB_DEFINE_ORDER(gt)
WB_DEFINE_ORDER(ge)

#define WB_DEFINE_FROM_ZERO(n)                                                         \
  WB_DEVICE unsigned int __vneg##n(unsigned int a) { return __vsub##n(0, a); }         \
  WB_DEVICE unsigned int __vnegss##n(unsigned int a) { return __vsubss##n(0, a); }     \
  WB_DEVICE unsigned int __vabs##n(unsigned int a) { return __vabsdiffs##n(a, 0); }
WB_DEFINE_FROM_ZERO(2)
WB_DEFINE_FROM_ZERO(4)
WB_DEFINE_SIMD_LANES(wb_vabsdiffss2, "vabsdiff2.s32.s32.s32.sat")
WB_DEFINE_SIMD_LANES(wb_vabsdiffss4, "vabsdiff4.s32.s32.s32.sat")
WB_DEVICE unsigned int __vabsss2(unsigned int a) { return wb_vabsdiffss2(a, 0); }
WB_DEVICE unsigned int __vabsss4(unsigned int a) { return wb_vabsdiffss4(a, 0); }
// The mean rounded down: the common bits plus half the others, which must not run into the next field.
WB_DEVICE unsigned int __vhaddu2(unsigned int a, unsigned int b) { return (a & b) + (((a ^ b) >> 1) & 0x7fff7fffu); }
WB_DEVICE unsigned int __vhaddu4(unsigned int a, unsigned int b) { return (a & b) + (((a ^ b) >> 1) & 0x7f7f7f7fu); }

#undef WB_DEFINE_SIMD_LANES
#undef WB_DEFINE_SIMD
#undef WB_DEFINE_COMPARE
#undef WB_DEFINE_ORDER
#undef WB_DEFINE_FROM_ZERO

#endif
