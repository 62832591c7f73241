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
