// Kernels with addresses made up at random, in every space and for every kind of access: each launch ends with an
// answer or a report, and the host lives on.
#include <random>

#include "faults/kernel.h"

namespace warpbeam::faults {
namespace {

using vm::TrapKind;

// %d1 holds the lane's address, %r1 its low half.
const char* const kAccesses[] = {
    "ld.global.b8 %h1, [%d1];",
    "ld.global.b16 %h1, [%d1+6];",
    "ld.global.b32 %r2, [%d1];",
    "ld.global.nc.b64 %d2, [%d1+-8];",
    "ld.global.v2.b64 {%d2, %d3}, [%d1];",
    "ld.global.v4.b32 {%r2, %r3, %r4, %r5}, [%d1+16];",
    "ld.b32 %r2, [%d1];",
    "ld.v4.b16 {%h1, %h2, %h3, %h4}, [%d1];",
    "ld.volatile.b64 %d2, [%d1];",
    "ld.const.b32 %r2, [%d1];",
    "ld.shared.b8 %h1, [%d1];",
    "ld.shared.b32 %r2, [%r1];",
    "ld.shared.v4.b32 {%r2, %r3, %r4, %r5}, [%r1+-16];",
    "ld.local.b32 %r2, [%d1];",
    "ld.local.v2.b32 {%r2, %r3}, [%r1];",
    "ld.param.b32 %r2, [%d1];",
    "st.global.b8 [%d1], %h1;",
    "st.global.b64 [%d1+8], %d0;",
    "st.global.v4.b32 [%d1], {%r2, %r3, %r4, %r5};",
    "st.b32 [%d1], %r2;",
    "st.v2.b64 [%d1], {%d2, %d3};",
    "st.shared.b16 [%d1], %h1;",
    "st.shared.v2.b64 [%r1], {%d2, %d3};",
    "st.local.b8 [%d1], %h1;",
    "st.local.v4.b32 [%r1], {%r2, %r3, %r4, %r5};",
    "atom.add.u32 %r2, [%d1], 1;",
    "atom.global.exch.b64 %d2, [%d1], %d3;",
    "atom.shared.max.s32 %r2, [%r1], 7;",
    "atom.global.add.f64 %d2, [%d1], 0d3FF0000000000000;",
    "red.global.add.u64 [%d1], 1;",
    "red.shared.and.b32 [%r1], 7;",
    "prefetch.global.L2 [%d1];",
    "cp.async.ca.shared.global [%r1], [%d1], 8;",
    "cp.async.cg.shared.global [%r1], [%d2], 16;",
    "cvta.to.shared.u64 %d1, %d1; ld.shared.b32 %r2, [%d1];",
    "@%p1 ld.global.b32 %r2, [%d1];",
    "@!%p1 st.shared.b32 [%r1], %r2;",
    "call.uni %d1, P; P: .callprototype _ ();",
    "T: .branchtargets A, B, C; brx.idx %r1, T; A: B: C:",
    "shfl.sync.idx.b32 %r2, %r0, %r1, %r3, %r4;",
    "bar.sync %r1, %r2;",
    "nanosleep.u32 1;",
};

std::string kernel_text(const char* access) {
  return std::string(
             ".global .b8 data[100]; .const .b32 table[5]; .shared .align 16 .b8 tile[300];\n"
             ".func other() { ret; }\n"
             ".visible .entry k(.param .u64 p) { .local .align 16 .b8 depot[80];\n"
             ".reg .pred %p<3>; .reg .b16 %h<6>; .reg .b32 %r<8>; .reg .b64 %d<6>;\n"
             "mov.u64 %d2, data; mov.u64 %d2, table; mov.u32 %r2, tile; mov.u64 %d3, depot; mov.u64 %d3, other;\n"
             "mov.u32 %r0, %tid.x; and.b32 %r2, %r0, 1; setp.eq.u32 %p1, %r2, 0; mul.wide.u32 %d0, %r0, 8; "
             "ld.param.u64 %d1, [p]; add.u64 %d1, %d1, %d0; ld.global.b64 %d1, [%d1]; cvt.u32.u64 %r1, %d1;\n") +
         access + "\nret; }\n";
}

uint64_t made_up(std::mt19937_64& random, uint64_t memory, uint64_t freed) {
  static const uint64_t kPlaces[] = {0,
                                     uint64_t(1) << 40,
                                     uint64_t(2) << 40,
                                     uint64_t(3) << 40,
                                     uint64_t(4) << 40,
                                     uint64_t(1) << 31,
                                     uint64_t(1) << 32,
                                     uint64_t(1) << 47,
                                     uint64_t(1) << 63};
  switch (random() % 8) {
    case 0: return random();
    case 1: return memory + random() % 4200;
    case 2: return freed + random() % 600 - 40;
    case 3: return random() % 700;
    case 4: return reinterpret_cast<uint64_t>(kPlaces) + random() % 64;
    case 5: return 0 - random() % 64;
    default: return kPlaces[random() % std::size(kPlaces)] + random() % 700 - 20;
  }
}

TEST(Hostile, AddressesMadeUp) {
  std::mt19937_64 random(7);
  for (const char* access : kAccesses) {
    SCOPED_TRACE(access);
    Kernel kernel(kernel_text(access));
    const uint64_t memory = kernel.allocate(4096), lanes = kernel.allocate(64 * 8), freed = kernel.allocate(512);
    kernel.memory().free(freed);
    for (int launch = 0; launch < 40; ++launch) {
      const bool one = random() % 2;  // all lanes alike, or each its own
      const uint64_t all = made_up(random, memory, freed);
      const uint64_t step = random() % 3 ? random() % 33 : 0;
      for (uint64_t t = 0; t < 64; ++t) at<uint64_t>(lanes)[t] = one ? all + t * step : made_up(random, memory, freed);
      const vm::Trap trap = kernel.launch({.blocks = 2, .threads = 40}, {lanes}).trap;
      if (trap.kind != TrapKind::None) {
        EXPECT_FALSE(trap.message.empty());
        EXPECT_FALSE(trap.location.empty()) << trap.paragraph();
        EXPECT_LT(trap.thread[0], 40u);
      }
    }
  }
}

// Thousands of registers in a function that calls itself: the report comes before the host's memory ends.
TEST(Hostile, RecursionWithManyRegisters) {
  std::string body = ".func wide() { .reg .b64 %d<3000>;\n";
  for (int k = 1; k < 3000; ++k) body += "add.u64 %d" + std::to_string(k) + ", %d" + std::to_string(k - 1) + ", 1;\n";
  Kernel kernel(body + "call.uni wide; ret; }\n.visible .entry k() { call.uni wide; ret; }\n");
  EXPECT_EQ(kernel.launch({.blocks = 4, .threads = 64}).trap.kind, TrapKind::StackOverflow);
}

}  // namespace
}  // namespace warpbeam::faults
