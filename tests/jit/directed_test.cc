// Arithmetic that rounds toward zero, up or down, the video instructions and division by the special function unit, on values that
// show mistakes: compiled, and the interpreter's bits.
#include <cstdlib>

#include "both_engines.h"

namespace warpbeam::vm {
namespace {

constexpr const char* kFloats[] = {"0x00000000", "0x80000000", "0x00000001", "0x80000003", "0x007fffff", "0x00800000", "0x80800001",
                                   "0x3f800000", "0xbf800000", "0x3f800001", "0x3effffff", "0x33800000", "0xb3800001", "0x4b800000",
                                   "0x7e800000", "0x7e7fffff", "0x7f000001", "0x7f7fffff", "0xff7fffff", "0x7f800000", "0xff800000",
                                   "0x7fc00001", "0xffa00000", "0x40490fdb", "0xc2f60000", "0x1f800001", "0x20000003", "0x60000000",
                                   "0x9f7fffff", "0x2edbe6ff", "0x5f000001", "0x01000002"};

// Each thread's %r1 to %r3 are of the table, by its number and twice two others; 4096 threads see all pairs.
std::string with_values(const std::string& table, const std::string& body) {
  return ".version 8.5\n.target sm_90\n.address_size 64\n.global .align 8 .b32 values[32] = {" + table +
         "};\n.visible .entry k(.param .u64 out, .param .u32 n) {\n"
         ".reg .pred %p<4>; .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .f64 %g<9>; .reg .b64 %d<9>;\n"
         "ld.param.u64 %d1, [out]; mov.u32 %r4, %tid.x; mov.u32 %r5, %ctaid.x; mov.u32 %r6, %ntid.x; mad.lo.u32 %r4, %r5, %r6, %r4; mul.wide.u32 %d2, %r4, 4; add.u64 %d1, %d1, %d2;\n"
         "mov.u64 %d3, values; and.b32 %r7, %r4, 31; mul.wide.u32 %d4, %r7, 4; add.u64 %d4, %d3, %d4; ld.global.u32 %r1, [%d4];\n"
         "shr.u32 %r7, %r4, 5; and.b32 %r7, %r7, 31; mul.wide.u32 %d4, %r7, 4; add.u64 %d4, %d3, %d4; ld.global.u32 %r2, [%d4];\n"
         "shr.u32 %r7, %r4, 2; mad.lo.u32 %r7, %r7, 7, %r4; and.b32 %r7, %r7, 31; mul.wide.u32 %d4, %r7, 4; add.u64 %d4, %d3, %d4; ld.global.u32 %r3, [%d4];\n" +
         body + "\nst.global.u32 [%d1], %r9; ret; }\n";
}

std::string floats() {
  std::string all;
  for (const char* f : kFloats) all += (all.empty() ? "" : ", ") + std::string(f);
  return all;
}

TEST_F(Engines, RoundAsTheInstructionSays) {
  const std::string in = "mov.b32 %f1, %r1; mov.b32 %f2, %r2; mov.b32 %f3, %r3; ", out = "; mov.b32 %r9, %f4;";
  for (const char* direction : {"rz", "rm", "rp"})
    for (const char* more : {"", ".ftz", ".sat", ".ftz.sat"}) {
      for (const char* op : {"add", "sub", "mul"})
        both(with_values(floats(), in + fmt::format("{}.{}{}.f32 %f4, %f1, %f2", op, direction, more) + out), {16, 1, 1}, {256, 1, 1}, 0);
      both(with_values(floats(), in + fmt::format("fma.{}{}.f32 %f4, %f1, %f2, %f3", direction, more) + out), {16, 1, 1}, {256, 1, 1}, 0);
    }
  if (__builtin_cpu_supports("avx512vl") && !std::getenv("WARPBEAM_JIT_CPU")) EXPECT_FALSE(planned("handlers")) << plan_;
  for (const char* direction : {"rz", "rm", "rp"})
    for (const char* more : {"", ".ftz"}) {
      both(with_values(floats(), in + fmt::format("div.{}{}.f32 %f4, %f1, %f2", direction, more) + out), {16, 1, 1}, {256, 1, 1}, 0);
      for (const char* op : {"rcp", "sqrt"})
        both(with_values(floats(), in + fmt::format("{}.{}{}.f32 %f4, %f1", op, direction, more) + out), {16, 1, 1}, {256, 1, 1}, 0);
    }
  if (wide_host()) EXPECT_TRUE(happened("directed rounding"));
}

// NaNs of all kinds beside numbers, as upper words of doubles, so that operands are NaNs with different bits: what comes out has those of one.
TEST_F(Engines, TakeTheBitsOfOneNanAlong) {
  const std::string table =
      "0x7ff80001, 0x3ff00000, 0xfff40000, 0x40090000, 0x7ff00000, 0xfff00000, 0x7ff00001, 0xbff00000, 0xffffffff, 0x00000000, 0x80000000, 0x7fffffff, 0x3fe55555, 0x7fefffff, 0xfff80000, 0x00100000, "
      "0x7ff40007, 0x3ff00000, 0x40000000, 0x7ff80002, 0xc1e00000, 0x20000000, 0x1ff00001, 0xfff80005, 0x60000000, 0x5ff00003, 0x7ff00000, 0x43300000, 0xfff00002, 0x00000007, 0x7fd00000, 0x3ff00000";
  const std::string in = "mov.b64 %g1, {%r3, %r1}; mov.b64 %g2, {%r1, %r2}; mov.b64 %g3, {%r2, %r3}; ",
                    out = " mov.b64 {%r10, %r11}, %g4; mad.lo.u32 %r9, %r11, 31, %r10;";
  for (
      const char* body :
      {"add.f64 %g5, %g1, %g2; mul.f64 %g6, %g5, %g3; fma.rn.f64 %g4, %g6, %g1, %g5;",
       "sub.f64 %g5, %g1, %g2; neg.f64 %g6, %g5; fma.rn.f64 %g7, %g3, %g6, %g2; abs.f64 %g4, %g7;",
       "div.rn.f64 %g5, %g1, %g2; rcp.rn.f64 %g6, %g3; sqrt.rn.f64 %g7, %g2; add.f64 %g5, %g5, %g6; mul.f64 %g4, %g7, %g5;",
       "max.f64 %g5, %g1, %g2; mul.f64 %g6, %g5, %g3; min.f64 %g7, %g6, %g1; add.f64 %g4, %g7, %g6;",
       // their bits leave arithmetic in between
       "add.f64 %g5, %g1, %g2; mov.b64 %d5, %g5; shr.u64 %d6, %d5, 3; xor.b64 %d5, %d5, %d6; mov.b64 %g6, %d5; mul.f64 %g4, %g6, %g3;",
       "mul.f64 %g5, %g1, %g2; mov.b64 {%r12, %r13}, %g5; shfl.sync.bfly.b32 %r12, %r12, 1, 31, -1; mov.b64 %g6, {%r12, %r13}; add.f64 %g4, %g6, %g5;",
       "add.f64 %g5, %g1, %g2; setp.gtu.f64 %p1, %g5, %g3; selp.f64 %g6, %g5, %g1, %p1; mul.f64 %g4, %g6, %g3;",
       "mul.f64 %g5, %g1, %g2; @%p1 bra B; add.f64 %g5, %g5, %g3; B: sub.f64 %g4, %g5, %g1; cvt.rn.f32.f64 %f1, %g4; mov.b32 %r12, %f1; cvt.rzi.s32.f64 %r13, %g5; add.u32 %r12, %r12, %r13; cvt.rn.f64.s32 %g6, %r12; add.f64 %g4, %g4, %g6;",
       // a loop and lanes that leave it
       "mov.f64 %g4, %g1; and.b32 %r12, %r4, 3; L: fma.rn.f64 %g4, %g4, %g2, %g3; mul.f64 %g5, %g4, %g1; add.f64 %g4, %g5, %g4; sub.s32 %r12, %r12, 1; setp.ge.s32 %p2, %r12, 0; @%p2 bra L;",
       "mov.f64 %g4, %g1; mov.u32 %r12, 4; L: fma.rn.f64 %g4, %g2, %g3, %g4; sub.u32 %r12, %r12, 1; setp.ne.u32 %p2, %r12, 0; @%p2 bra L;",
       // scalars
       "mov.u32 %r12, %ctaid.x; and.b32 %r12, %r12, 31; mul.wide.u32 %d5, %r12, 4; add.s64 %d5, %d3, %d5; ld.global.u32 %r13, [%d5]; mov.b64 %g5, {%r12, %r13}; xor.b32 %r12, %r12, 9; mul.wide.u32 %d5, %r12, 4; add.s64 %d5, %d3, %d5; "
       "ld.global.u32 %r14, [%d5]; mov.b64 %g6, {%r13, %r14}; add.f64 %g7, %g5, %g6; fma.rn.f64 %g7, %g7, %g6, %g5; sub.f64 %g4, %g1, %g7;"})
    for (const std::array<uint32_t, 3> block : {std::array<uint32_t, 3>{256, 1, 1}, {250, 1, 1}, {1, 1, 1}})
      both(with_values(table, "setp.gt.u32 %p1, %r3, %r2; " + in + body + out), {16, 1, 1}, block, 0);
  EXPECT_TRUE(happened("NaNs looked for late"));
}

TEST_F(Engines, RoundDoublesAsTheInstructionSays) {
  // Upper words of special doubles beside each other as lower ones.
  const std::string table =
      "0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x000fffff, 0x00100000, 0x80100000, 0x3ff00000, 0xbff00000, 0x3cb00000, 0xbca00000, 0x7fe00000, 0x7fefffff, 0xffefffff, "
      "0x7ff00000, 0xfff00000, 0x7ff80001, 0xfff40000, 0x3fe55555, 0x40090000, 0xc1e00000, 0x20000000, 0x1ff00001, 0x9ff00000, 0x60000000, 0x5ff00003, 0x3ca00000, 0x43300000, 0x00200000, "
      "0x00000007, 0x7fd00000, 0xffffffff";
  const std::string in = "mov.b64 %g1, {%r3, %r1}; mov.b64 %g2, {%r1, %r2}; mov.b64 %g3, {%r2, %r3}; ",
                    out = "; mov.b64 {%r10, %r11}, %g4; mad.lo.u32 %r9, %r11, 31, %r10;";
  for (const char* direction : {"rz", "rm", "rp"}) {
    for (const char* op : {"add", "sub", "mul", "div"})
      both(with_values(table, in + fmt::format("{}.{}.f64 %g4, %g1, %g2", op, direction) + out), {16, 1, 1}, {256, 1, 1}, 0);
    for (const char* op : {"rcp", "sqrt"})
      both(with_values(table, in + fmt::format("{}.{}.f64 %g4, %g1", op, direction) + out), {16, 1, 1}, {256, 1, 1}, 0);
    both(with_values(table, in + fmt::format("fma.{}.f64 %g4, %g1, %g2, %g3", direction) + out), {16, 1, 1}, {256, 1, 1}, 0);
  }
}

TEST_F(Engines, RoundInLoopsAndUnderMasks) {
  both(
      with_values(
          floats(),
          "mov.b32 %f1, %r1; mov.b32 %f2, %r2; and.b32 %r8, %r4, 7; setp.gt.u32 %p1, %r8, 2; mov.f32 %f4, 0f3F800000; L: @%p1 add.rz.f32 %f4, %f4, %f1; mul.rp.f32 %f4, %f4, %f2; sub.u32 %r8, %r8, 1; "
          "setp.lt.s32 %p2, %r8, 0; @!%p2 bra L; mov.b32 %r9, %f4;"),
      {16, 1, 1}, {250, 1, 1}, 0);
}

TEST_F(Engines, DivideByTheSpecialFunctionUnit) {
  for (const char* form : {"approx", "approx.ftz", "full", "full.ftz"})
    both(with_values(floats(), fmt::format("mov.b32 %f1, %r1; mov.b32 %f2, %r2; div.{}.f32 %f4, %f1, %f2; mov.b32 %r9, %f4;", form)),
         {16, 1, 1}, {256, 1, 1}, 0);
  for (const char* form : {"approx", "approx.ftz"})  // of operands that are nothing special
    both(
        fmt::format(
            "ld.global.u32 %r1, [%at]; and.b32 %r2, %r1, 0x03ffffff; add.u32 %r2, %r2, 0x3d000000; mov.b32 %f1, %r1; mov.b32 %f2, %r2; div.{}.f32 %f3, %f1, %f2; mov.b32 %r3, %f3; st.global.u32 [%at], %r3; ret;",
            form),
        {16, 1, 1}, {256, 1, 1}, 0);
}

TEST_F(Engines, ApproximateAsTheUnitDoes) {
  for (const char* op : {"sin", "cos", "lg2", "sqrt", "rsqrt", "ex2", "rcp"})
    for (const char* more : {"", ".ftz"}) {
      const std::string form = fmt::format("{}.approx{}.f32", op, more);
      both(with_values(floats(), "mov.b32 %f1, %r1; " + form + " %f4, %f1; mov.b32 %r9, %f4;"), {1, 1, 1}, {32, 1, 1}, 0);
      for (const uint32_t turned : {0u, 0x80000000u, 0x12345678u, 0x40000001u, 0x7f7fabcdu})  // everything, and what is near to one
        for (const char* near : {"", "and.b32 %r1, %r1, 0x87ffffff; xor.b32 %r1, %r1, 0x38000000; "})
          both(
              fmt::format(
                  "ld.global.u32 %r1, [%at]; xor.b32 %r1, %r1, %n; {}mov.b32 %f1, %r1; {} %f2, %f1; mov.b32 %r2, %f2; st.global.u32 [%at], %r2; ret;",
                  near, form),
              {16, 1, 1}, {256, 1, 1}, turned);
    }
}

TEST_F(Engines, ComputeWithBytesAndHalvesOfWords) {
  std::string table;
  for (int k = 0; k < 32; ++k)
    table += fmt::format(
        "{}{}", k ? ", " : "",
        std::array{0u, ~0u, 0x7f807f80u, 0x80008000u, 0x7fff8001u, 0x01ff00feu, 0x12345678u, 0x807f01ffu}[static_cast<size_t>(k) % 8] ^
            (static_cast<uint32_t>(k / 8) * 0x01010100u));
  for (const char* op : {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"})
    for (const int n : {2, 4})
      for (const char* types : {"u32.u32.u32", "s32.s32.s32", "u32.s32.u32", "s32.u32.s32", "s32.u32.u32", "u32.s32.s32"})
        for (const char* more : {"", ".sat", ".add"}) {
          both(with_values(table, fmt::format("{}{}.{}{} %r9, %r1, %r2, %r3;", op, n, types, more)), {16, 1, 1}, {256, 1, 1}, 0);
          ASSERT_FALSE(planned("handlers")) << plan_;
        }
  for (const int n : {2, 4})
    for (const char* types : {"u32.u32", "s32.s32", "u32.s32", "s32.u32"})
      for (const char* compare : {"eq", "ne", "lt", "le", "gt", "ge"})
        for (const char* more : {"", ".add"})
          both(with_values(table, fmt::format("vset{}.{}.{}{} %r9, %r1, %r2, %r3;", n, types, compare, more)), {16, 1, 1}, {256, 1, 1}, 0);
  // Elements that are moved, and a mask.
  both(with_values(table, "vadd4.u32.u32.u32 %r9.b20, %r1.b7105, %r2, %r3;"), {16, 1, 1}, {256, 1, 1}, 0);
  EXPECT_TRUE(happened("bytes and halves"));
}

}  // namespace
}  // namespace warpbeam::vm
