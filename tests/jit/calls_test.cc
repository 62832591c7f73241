// Local memory and calls on both engines. A function's text follows the kernel's: the body ends the one and begins the other.
#include "both_engines.h"

namespace warpbeam::vm {
namespace {

TEST_F(Engines, AgreeOnLocalArrays) {
  both(
      ".local .align 8 .b8 a[128]; mov.u64 %d1, a; and.b32 %r1, %t, 31; mul.wide.u32 %d2, %r1, 4; add.s64 %d2, %d1, %d2; mov.u32 %r2, 0;\n"
      "I: mul.wide.u32 %d3, %r2, 4; add.s64 %d3, %d1, %d3; mad.lo.u32 %r3, %r2, %i, 7; st.local.u32 [%d3], %r3; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 32; @%p1 bra I;\n"
      "ld.local.u32 %r4, [%d2]; ld.local.v2.u32 {%r5, %r6}, [%d1+8]; ld.local.s8 %r7, [%d2+1]; st.local.u8 [%d2+2], %r6; ld.local.u16 %h1, [%d2+2]; cvt.u32.u16 %r8, %h1;\n"
      "add.u32 %r4, %r4, %r5; add.u32 %r4, %r4, %r7; mad.lo.u32 %r4, %r4, 3, %r8; setp.lt.u32 %p2, %t, 9; @%p2 ld.local.u32 %r4, [%d2]; st.global.u32 [%at], %r4; ret;",
      {2, 1, 1}, {77, 1, 1}, 0);
  EXPECT_TRUE(happened("local arrays"));
}

// Elements of one to sixteen bytes at places that all lanes share, that each has for itself, and known ones; a lane beyond the array, and
// a block that is handed over between the stores and the loads, by an index that wraps around.
TEST_F(Engines, AgreeOnLocalArraysOfAllSizes) {
  struct Element {
    int bytes;
    const char *store, *load;
  };
  for (const auto& [bytes, store, load] :
       {Element{1, "st.local.u8 [{}], %r3;", "ld.local.s8 %r4, [{}];"},
        {2, "st.local.u16 [{}], %r3;", "ld.local.u16 %r4, [{}];"},
        {4, "st.local.u32 [{}], %r3;", "ld.local.u32 %r4, [{}];"},
        {8, "cvt.u64.u32 %d7, %r3; mul.lo.u64 %d7, %d7, 0x100000003; st.local.u64 [{}], %d7;",
         "ld.local.u64 %d7, [{}]; shr.u64 %d8, %d7, 32; xor.b64 %d7, %d7, %d8; cvt.u32.u64 %r4, %d7;"},
        {8, "st.local.v2.u32 [{}], {{%r3, %t}};", "ld.local.v2.u32 {{%r4, %r5}}, [{}]; add.u32 %r4, %r4, %r5;"},
        {16, "cvt.u64.u32 %d7, %r3; st.local.v2.u64 [{}], {{%d7, %d1}};", "ld.local.v2.u64 {{%d7, %d8}}, [{}]; cvt.u32.u64 %r4, %d7;"},
        {16, "st.local.v4.u32 [{}], {{%r3, %t, %i, %r3}};",
         "ld.local.v4.u32 {{%r4, %r5, %r6, %r7}}, [{}]; mad.lo.u32 %r4, %r4, 3, %r6; add.u32 %r4, %r4, %r7;"}})
    for (const char* index : {"mov.u32 %r8, %r2;", "add.u32 %r8, %t, %r2; and.b32 %r8, %r8, 15;",
                              "sub.u32 %r8, %n, %r2; max.s32 %r8, %r8, 0; min.u32 %r8, %r8, 15;"})
      for (const char* between : {"", "setp.lt.u32 %p2, %t, 9; @%p2 mov.u32 %r3, 5;",
                                  "add.u32 %r9, %n, 0x7fffffd0; add.u32 %r9, %r9, %t; mul.wide.s32 %d3, %r9, 4; cvt.u32.u64 %r10, %d3;"})
        for (const uint32_t n : {3u, 20u}) {
          const auto at = [&](const char* what, const char* where) { return fmt::format(fmt::runtime(what), where); };
          both(
              fmt::format(
                  ".local .align 16 .b8 a[256]; mov.u64 %d1, a; mov.u32 %r2, 0; mov.u32 %r10, 0; mov.u32 %r11, 0;\n"
                  "I: {0} mad.lo.u32 %r3, %r2, %i, 7; mul.wide.u32 %d2, %r8, {1}; add.s64 %d2, %d1, %d2; {2} add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 16; @%p1 bra I;\n"
                  "{3} setp.lt.u32 %p3, %t, 40; @!%p3 bra E; {4} mov.u32 %r2, 0;\n"
                  "J: {0} mul.wide.u32 %d2, %r8, {1}; add.s64 %d2, %d1, %d2; {5} mad.lo.u32 %r11, %r11, 31, %r4; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 16; @%p1 bra J;\n"
                  "{6} xor.b32 %r11, %r11, %r4; E: add.u32 %r11, %r11, %r10; st.global.u32 [%at], %r11; ret;",
                  index, bytes, at(store, "%d2"), between, at(store, "%d1+32"), at(load, "%d2"), at(load, "%d1+32")),
              {2, 1, 1}, {77, 1, 1}, n);
        }
  EXPECT_TRUE(happened("local arrays"));
  for (const uint32_t n : {3u, 31u, 32u, 40u})
    both(
        ".local .align 8 .b8 a[128]; mov.u64 %d1, a; st.local.u32 [%d1+4], %t; add.u32 %r1, %t, %n; shl.b32 %r1, %r1, 12; mul.wide.u32 %d2, %r1, 4; add.s64 %d2, %d1, %d2; "
        "setp.lt.u32 %p1, %t, 31; selp.b64 %d2, %d1, %d2, %p1; ld.local.u32 %r2, [%d2]; st.global.u32 [%at], %r2; ret;",
        {1, 1, 1}, {32, 1, 1}, n);
}

TEST_F(Engines, AgreeOnGenericAddressesOfLocalArrays) {
  both(
      ".local .align 8 .b8 a[64]; .local .align 8 .b8 b[64]; mov.u64 %d1, a; cvta.local.u64 %d1, %d1; mov.u64 %d2, b; cvta.local.u64 %d2, %d2; st.u32 [%d1], %i; st.u32 [%d2], %t;\n"
      "and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 0; selp.b64 %d3, %d1, %d2, %p1; ld.u32 %r2, [%d3]; setp.gt.u32 %p2, %t, 20; selp.b64 %d4, %at, %d3, %p2; ld.u32 %r3, [%d4];\n"
      "add.u32 %r2, %r2, %r3; st.u32 [%d3+4], %r2; ld.u32 %r4, [%d1+4]; ld.u32 %r5, [%d2+4]; @%p1 mov.u32 %r5, %r4; st.global.u32 [%at], %r5; ret;",
      {2, 1, 1}, {64, 1, 1}, 0);
}

TEST_F(Engines, AgreeOnPartsOfDifferentSizes) {
  both(
      ".local .align 8 .b8 a[32]; mov.u64 %d1, a; cvta.local.u64 %d2, %d1; cvt.u64.u32 %d3, %i; mul.lo.u64 %d3, %d3, 81985529216486895; st.u64 [%d2+8], %d3; ld.local.u32 %r1, [%d1+12];\n"
      "setp.lt.u32 %p1, %t, 11; @%p1 st.local.u16 [%d1+8], %t; ld.u64 %d4, [%d2+8]; shr.u64 %d5, %d4, 32; cvt.u32.u64 %r2, %d4; cvt.u32.u64 %r3, %d5; ld.local.s8 %r4, [%d1+9];\n"
      "xor.b32 %r2, %r2, %r3; mad.lo.u32 %r2, %r2, 5, %r1; add.u32 %r2, %r2, %r4; st.global.u32 [%at], %r2; ret;",
      {2, 1, 1}, {50, 1, 1}, 0);
}

TEST_F(Engines, AgreeWhereARegisterHoldsAnAddressForATime) {
  both(
      ".local .align 8 .b8 a[64]; mov.u64 %d1, a; st.local.u32 [%d1+4], %i; and.b32 %r1, %t, 7; mad.wide.u32 %d1, %r1, 8, %d1; st.local.u32 [%d1], %t; mov.u64 %d2, a;\n"
      "ld.local.u32 %r2, [%d2+4]; ld.local.u32 %r3, [%d1]; add.u32 %r2, %r2, %r3; mov.u64 %d1, a; ld.local.u32 %r4, [%d1]; setp.eq.u32 %p1, %r1, 0; @!%p1 mov.u32 %r4, 5; xor.b32 %r2, %r2, %r4;\n"
      "st.global.u32 [%at], %r2; ret;",
      {2, 1, 1}, {50, 1, 1}, 0);
}

TEST_F(Engines, AgreeOnFaultsInLocalMemory) {
  const std::string begin =
      ".local .align 8 .b8 a[128]; mov.u64 %d1, a; mul.wide.u32 %d2, %t, 4; add.s64 %d2, %d1, %d2; st.local.u32 [%d2], %i; setp.eq.u32 %p1, %t, 13;\n";
  const Outcome far = both(begin + "@%p1 add.s64 %d2, %d2, 99999999; st.local.u32 [%d2], %i; ret;", {1, 1, 1}, {32, 1, 1}, 0);
  EXPECT_NE(far.failure.find("__local__"), std::string::npos) << far.failure;
  const Outcome odd =
      both(begin + "@%p1 add.s64 %d2, %d2, 2; ld.local.u32 %r1, [%d2]; st.global.u32 [%at], %r1; ret;", {1, 1, 1}, {32, 1, 1}, 0);
  EXPECT_NE(odd.failure.find("misaligned"), std::string::npos) << odd.failure;
}

const char* const kCallee =
    " }\n.func (.param .b32 r) f(.param .b32 a, .param .b64 p) { .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %d<4>; .local .align 8 .b8 own[32]; ld.param.u32 %r1, [a]; ld.param.u64 %d1, [p];\n"
    "and.b32 %r2, %r1, 3; setp.eq.u32 %p1, %r2, 1; @%p1 bra Z; ld.u32 %r3, [%d1]; mad.lo.u32 %r3, %r3, 5, %r1; st.param.b32 [r], %r3; setp.eq.u32 %p2, %r2, 2; @%p2 ret; st.u32 [%d1], %r1; ret;\n"
    "Z: st.local.u32 [own+4], %r1; ld.local.u32 %r4, [own+4]; st.param.b32 [r], %r4; ret;";

TEST_F(Engines, AgreeOnCalls) {
  const std::string call = "{ .param .b32 a0; .param .b64 a1; .param .b32 r0; st.param.b32 [a0], %i; st.param.b64 [a1], %at; ";
  const std::string result = " ld.param.b32 %r1, [r0]; } ";
  both(call + "call (r0), f, (a0, a1);" + result + "st.global.u32 [%at+2048], %r1; ret;" + kCallee, {2, 1, 1}, {70, 1, 1}, 0);
  both("mov.u32 %r1, 9; setp.gt.u32 %p1, %t, 12; mov.u32 %r2, 0; L: " + call + "@%p1 call (r0), f, (a0, a1); @%p1" + result +
           "add.u32 %r2, %r2, %r1; add.u32 %i, %i, 1; setp.lt.u32 %p2, %i, 90; @%p2 bra L; st.global.u32 [%at+2048], %r2; ret;" + kCallee,
       {1, 1, 1}, {64, 1, 1}, 0);
  EXPECT_TRUE(happened("cells"));
}

TEST_F(Engines, GiveTheSameReportOfAFaultInACalledFunction) {
  const Outcome o = both(
      "{ .param .b32 a0; .param .b64 a1; .param .b32 r0; setp.eq.u32 %p1, %t, 40; @%p1 mov.u64 %at, 64; st.param.b32 [a0], %t; st.param.b64 [a1], %at; call (r0), f, (a0, a1); } ret;" +
          std::string(kCallee),
      {1, 1, 1}, {64, 1, 1}, 0);
  EXPECT_FALSE(o.failure.empty());
}

// The order in which lanes go to functions is seen in what an atomic operation gives them.
TEST_F(Engines, AgreeOnCallsThroughRegisters) {
  const auto function = [](const char* name, const char* does) {
    return std::string(" }\n.func (.param .b32 r) ") + name +
           "(.param .b32 a, .param .b64 p) { .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %d<4>; ld.param.u32 %r1, [a]; ld.param.u64 %d1, [p]; atom.global.add.u32 %r2, [%d1], 1; " +
           does + " st.param.b32 [r], %r2; ret;";
  };
  const std::string call =
      "{ .param .b32 a0; .param .b64 a1; .param .b32 r0; st.param.b32 [a0], %i; st.param.b64 [a1], %d4; call (r0), %d3, (a0, a1), proto; ld.param.b32 %r1, [r0]; } st.global.u32 [%at], %r1; ret;";
  const std::string proto = "proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);\n";
  const std::string choose =
      proto +
      "mov.u64 %d1, f; mov.u64 %d2, g; add.s64 %d4, %out, 8192; shr.u32 %r5, 6442451, %t; and.b32 %r5, %r5, 1; setp.eq.u32 %p1, %r5, 0; selp.b64 %d3, %d1, %d2, %p1; ";
  const std::string functions =
      function("f", "mul.lo.u32 %r2, %r2, 3;") + function("g", "setp.gt.u32 %p1, %r1, 17; @%p1 mul.lo.u32 %r2, %r2, 7;");
  both(choose + call + functions, {1, 1, 1}, {90, 1, 1}, 0);
  both(choose + "and.b32 %r6, %t, 7; setp.eq.u32 %p2, %r6, 3; @%p2 bra E; " + call + " E: ret;" + functions, {1, 1, 1}, {90, 1, 1}, 0);
  const Outcome wrong = both(choose + "setp.eq.u32 %p2, %t, 33; @%p2 mov.u64 %d3, 12345; " + call + functions, {1, 1, 1}, {60, 1, 1}, 0);
  EXPECT_NE(wrong.failure.find("pointer"), std::string::npos) << wrong.failure;
  EXPECT_TRUE(happened("chosen calls"));
}

// What a function does that compiled code leaves to the interpreter, with variables of its own and its callers' in use.
TEST_F(Engines, AgreeWhereACalledFunctionCallsItself) {
  const std::string g =
      " }\n.func (.param .b32 r) g(.param .b32 a, .param .b64 p) { .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %d<8>; .local .align 8 .b8 own[16];\n"
      "proto2: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);\n"
      "ld.param.u32 %r1, [a]; ld.param.u64 %d1, [p]; mov.u64 %d2, own; cvta.local.u64 %d2, %d2; mad.lo.u32 %r2, %r1, 9, 1; st.u32 [%d2+4], %r2; ld.u32 %r5, [%d1]; st.u32 [%d2], %r5; setp.lt.u32 %p1, %r1, 5; @%p1 bra E;\n"
      "mov.u64 %d3, g; sub.u32 %r3, %r1, 5; { .param .b32 a0; .param .b64 a1; .param .b32 r0; st.param.b32 [a0], %r3; st.param.b64 [a1], %d2; call (r0), %d3, (a0, a1), proto2; ld.param.b32 %r4, [r0]; }\n"
      "add.u32 %r2, %r2, %r4; E: ld.u32 %r6, [%d2]; ld.u32 %r7, [%d2+4]; add.u32 %r7, %r7, %r6; st.u32 [%d1], %r7; add.u32 %r2, %r2, %r6; st.param.b32 [r], %r2; ret;";
  both(
      "proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);\n.local .align 8 .b8 mine[16]; mov.u64 %d1, mine; cvta.local.u64 %d1, %d1; st.u32 [%d1], %i; mul.lo.u32 %r9, %i, 3; st.u32 [%d1+4], %r9; mov.u64 %d3, g;\n"
      "{ .param .b32 a0; .param .b64 a1; .param .b32 r0; and.b32 %r2, %t, 15; st.param.b32 [a0], %r2; st.param.b64 [a1], %d1; call (r0), %d3, (a0, a1), proto; ld.param.b32 %r1, [r0]; }\n"
      "ld.u32 %r3, [%d1]; ld.u32 %r4, [%d1+4]; xor.b32 %r1, %r1, %r3; add.u32 %r1, %r1, %r4; st.global.u32 [%at], %r1; ret;" +
          g,
      {2, 1, 1}, {64, 1, 1}, 0);
}

TEST_F(Engines, AgreeOnTheDeviceLibrary) {
  const auto call = [](const char* name, const char* type, const char* value, const char* result) {
    return fmt::format("{{ .param .{1} a0; .param .{1} r0; st.param.{1} [a0], {2}; call (r0), {0}, (a0); ld.param.{1} {3}, [r0]; }} ", name,
                       type, value, result);
  };
  const std::string declared =
      " }\n.extern .func (.param .b32 r) __nv_sinf(.param .b32 a);\n.extern .func (.param .b64 r) __nv_exp(.param .b64 a);\n.func last() { ret;";
  for (const char* who : {"", "setp.gt.u32 %p1, %t, 40; @%p1 bra E; "})
    both("cvt.rn.f32.u32 %f1, %i; mul.f32 %f1, %f1, 0f3DCCCCCD; mov.f32 %f2, %f1; cvt.f64.f32 %g1, %f1; mov.f64 %g2, %g1; " +
             std::string(who) + call("__nv_sinf", "b32", "%f1", "%f2") + call("__nv_exp", "b64", "%g1", "%g2") +
             "E: cvt.rn.f32.f64 %f3, %g2; mov.b32 %r1, %f2; mov.b32 %r2, %f3; mad.lo.u32 %r1, %r1, 3, %r2; st.global.u32 [%at], %r1; ret;" +
             declared,
         {2, 1, 1}, {70, 1, 1}, 0);
  EXPECT_TRUE(happened("library calls"));
}

}  // namespace
}  // namespace warpbeam::vm
