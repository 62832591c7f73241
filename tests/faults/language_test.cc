// Forms of PTX that compilers seldom write and people do: vector registers, registers as parameters, aliases, brx.
#include "faults/kernel.h"

namespace warpbeam::faults {
namespace {

std::vector<uint32_t> run(const std::string& text, size_t words, uint32_t threads = 32) {
  Kernel k(text);
  const uint64_t out = k.allocate(words * 4);
  const vm::LaunchResult r = k.launch({1, threads}, {out});
  EXPECT_EQ(r.trap.kind, vm::TrapKind::None) << r.trap.paragraph();
  return {at<uint32_t>(out), at<uint32_t>(out) + words};
}

TEST(Language, VectorRegistersAreTheirParts) {
  const auto v = run(R"(
.visible .entry k(.param .u64 p) {
  .reg .v4 .u32 q, many<3>; .reg .v2 .f32 f; .reg .u64 a; .reg .u32 x;
  ld.param.u64 a, [p];
  mov.u32 q.x, 10; mov.u32 q.y, 11; mov.u32 q.z, 12; mov.u32 q.w, 13;
  st.global.v4.u32 [a], q;
  ld.global.v4.u32 many2, [a];
  add.u32 many1.r, many2.a, q.g;
  mov.f32 f.x, 0f3F800000; mov.f32 f.y, 0f40000000;
  st.global.u32 [a+16], many1.x;
  st.global.v2.f32 [a+24], f;
  ret;
})", 8);
  EXPECT_EQ(v, (std::vector<uint32_t>{10, 11, 12, 13, 24, 0, 0x3f800000, 0x40000000}));
}

// ptxas takes all of these; the first two are Triton's, the indices count elements.
TEST(Language, OperandsInTheirOtherForms) {
  const auto v = run(R"(
.visible .global .align 4 .b32 words[4] = {7, 8, 9, 10};
.visible .global .align 1 .b8 bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
.visible .entry k(.param .u64 p) {
  .shared .align 16 .b32 s[4];
  .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .f32 %f<4>; .reg .b16 %h<2>; .reg .pred %p<2>;
  ld.param.b64 {%rd1}, [p];
  setp.eq.s32 %p1, 0, 0;
  mov.u32 %r1, 0x5;
  @%p1 st.global.b32 [ %rd1 + 0 ], { %r1 };
  @%p1 ld.global.b32 { %r2 }, [ %rd1 + 0 ];
  st.global.b32 [%rd1 + 4], { %r2 };
  st.global.b32 [%rd1 + 8], {3};
  ld.global.b32 %r3, words[2];
  st.global.b32 [%rd1 + 12], %r3;
  mov.u64 %rd2, words[3];
  ld.global.b32 %r3, [%rd2];
  st.global.b32 [%rd1 + 16], %r3;
  ld.global.u8 %r3, bytes[WARP_SZ / 8 - 1];
  st.global.b32 [%rd1 + 20], %r3;
  st.shared.b32 s[1], 77;
  ld.shared.b32 %r3, s[1];
  st.global.b32 [%rd1 + 24], %r3;
  mov.b16 %h1, 9;
  mov.b32 %r3, {%h1, _};
  cvt.u32.u16 %r3, %h1;
  st.global.b32 [%rd1 + 28], %r3;
  mov.f32 %f1, .5;
  add.f32 %f1, %f1, 1.E0 + 2;
  add.f32 %f1, %f1, (1.0 - 0.5) * 4;
  st.global.f32 [%rd1 + 32], %f1;
  mov.v4.u32 {%r3, %r4, _, _}, %ntid;
  st.global.v2.b32 [%rd1 + 40], {%r3, %r4};
  ret;
})", 12);
  EXPECT_EQ(v, (std::vector<uint32_t>{5, 5, 3, 9, 10, 4, 77, 9, 0x40b00000, 0, 32, 1}));
}

TEST(Language, FunctionsTakeAndGiveRegisters) {
  const auto v = run(R"(
.func (.reg .u32 rv) twice_plus (.reg .u32 a, .reg .f64 b) {
  .reg .u32 t; .reg .pred p;
again:
  cvt.rni.u32.f64 t, b;
  mad.lo.u32 rv, a, 2, t;
  setp.gt.u32 p, rv, 100;
  @p ret;
  mov.u32 a, 60;
  setp.eq.u32 p, t, 7;
  @p bra again;
  add.u32 rv, rv, 1000;
}
.visible .entry k(.param .u64 p) {
  .reg .u64 a; .reg .u32 x, y; .reg .f64 d; .reg .pred even;
  ld.param.u64 a, [p];
  mov.u32 y, 3; mov.f64 d, 0d4000000000000000;
  call (x), twice_plus, (y, d);
  st.global.u32 [a], x;
  call (x), twice_plus, (200, 0d4008000000000000);
  st.global.u32 [a+4], x;
  mov.f64 d, 0d401C000000000000;
  call (x), twice_plus, (1, d);
  st.global.u32 [a+8], x;
  setp.ne.u32 even, y, 3;
  mov.u32 x, 5;
  @even call (x), twice_plus, (y, d);
  st.global.u32 [a+12], x;
  ret;
})", 4);
  EXPECT_EQ(v, (std::vector<uint32_t>{1008, 403, 127, 5}));
}

TEST(Language, AnAliasIsItsFunction) {
  const auto v = run(R"(
.visible .func (.param .u32 r) other(.param .u32 a);
.visible .func (.param .u32 r) real(.param .u32 a) { .reg .u32 x; ld.param.u32 x, [a]; add.u32 x, x, 1; st.param.u32 [r], x; ret; }
.alias other, real;
.visible .entry k(.param .u64 p) {
  .reg .u64 a; .reg .u32 x; .param .u32 in, out;
  ld.param.u64 a, [p];
  st.param.u32 [in], 41;
  call (out), other, (in);
  ld.param.u32 x, [out];
  st.global.u32 [a], x;
  ret;
})", 1);
  EXPECT_EQ(v[0], 42u);
}

TEST(Language, StackMemoryComesBackWhenItIsRestored) {
  const auto v = run(R"(
.visible .entry k(.param .u64 p) {
  .reg .u64 a, s, m, n; .reg .u32 x;
  ld.param.u64 a, [p];
  stacksave.u64 s;
  alloca.u64 m, 100, 16;
  mov.u32 x, 7; st.local.u32 [m+96], x;
  stackrestore.u64 s;
  alloca.u64 n, 100, 16;
  sub.u64 m, m, n;
  cvt.u32.u64 x, m; st.global.u32 [a], x;
  and.b64 n, n, 15;
  cvt.u32.u64 x, n; st.global.u32 [a+4], x;
  ret;
})", 2, 1);
  EXPECT_EQ(v, (std::vector<uint32_t>{0, 0}));
}

}  // namespace
}  // namespace warpbeam::faults
