// How many registers a kernel is taken to need.
#include <gtest/gtest.h>

#include <string>

#include "ptx/pressure.h"

namespace warpbeam::ptx {
namespace {

constexpr const char* kHead = ".version 8.5\n.target sm_90\n.address_size 64\n";

uint32_t pressure_of(const std::string& body, const std::string& directives = "") {
  const ParseResult r = parse(kHead + (".visible .entry k(.param .u64 p, .param .u32 n) " + directives + "{\n") + body + "\nret; }\n");
  EXPECT_TRUE(r.diagnostics.empty()) << (r.diagnostics.empty() ? "" : r.diagnostics[0].message);
  return register_pressure(r.module->functions[0]);
}

TEST(Pressure, ParametersAndNumbersCostNothing) {
  EXPECT_EQ(
      pressure_of(
          ".reg .b64 %d<3>; .reg .b32 %r<4>; ld.param.u64 %d0, [p]; cvta.to.global.u64 %d1, %d0; mov.u32 %r0, 7; st.global.u32 [%d1], %r0;"),
      0u);
}

TEST(Pressure, WideValuesCountTwice) {
  EXPECT_EQ(
      pressure_of(
          ".reg .b64 %d<4>; .reg .b64 %a; ld.param.u64 %a, [p]; ld.global.u64 %d0, [%a]; ld.global.u64 %d1, [%a+8]; add.u64 %d2, %d0, %d1; st.global.u64 [%a], %d2;"),
      4u);
}

TEST(Pressure, ALoopKeepsItsValues) {
  // %r0 (sum), %r1 (counter) and the loaded value live together; %r3 is read after the loop only.
  EXPECT_EQ(pressure_of(R"(.reg .b64 %a; .reg .b32 %r<8>; .reg .pred %p;
    ld.param.u64 %a, [p];
    ld.global.u32 %r0, [%a]; ld.global.u32 %r1, [%a+4]; ld.global.u32 %r3, [%a+8];
  again:
    ld.global.u32 %r2, [%a+12];
    add.u32 %r0, %r0, %r2;
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p, %r1, 0;
    @%p bra again;
    add.u32 %r0, %r0, %r3;
    st.global.u32 [%a], %r0;)"),
            4u);
}

TEST(Pressure, AGuardedWriteKeepsTheOldValue) {
  // Without the guard %r0's first value would be dead before %r1 is loaded.
  EXPECT_EQ(pressure_of(R"(.reg .b64 %a; .reg .b32 %r<4>; .reg .pred %p;
    ld.param.u64 %a, [p];
    ld.global.u32 %r0, [%a];
    setp.ne.u32 %p, %r0, 0;
    ld.global.u32 %r1, [%a+4];
    @%p ld.global.u32 %r0, [%a+8];
    add.u32 %r0, %r0, %r1;
    st.global.u32 [%a], %r0;)"),
            2u);
}

TEST(Pressure, LaunchBoundsLimitTheEstimate) {
  Function f;
  EXPECT_EQ(estimate_registers(f, 100, false, 255, 65536), 108u);
  f.max_ntid = {1024, 1, 1};
  EXPECT_EQ(estimate_registers(f, 100, false, 255, 65536), 64u);
  f.min_ctas = 2;
  EXPECT_EQ(estimate_registers(f, 100, false, 255, 65536), 32u);
  f = {};
  f.max_regs = 40;
  EXPECT_EQ(estimate_registers(f, 100, false, 255, 65536), 40u);
  EXPECT_EQ(estimate_registers(f, 100, false, 63, 32768), 40u);
}

}  // namespace
}  // namespace warpbeam::ptx
