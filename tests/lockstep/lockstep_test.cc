// Two runs of a launch, one of which is led astray, and what is said about it.
#include "vm/lockstep.h"

#include <gtest/gtest.h>

#include <cstring>

#include "vm/machine.h"

namespace warpbeam::vm {
namespace {

// Adds `term` to its thread's number, goes round a loop as often, and sums up in shared memory.
constexpr std::string_view kText = R"(.version 8.5
.target sm_90
.address_size 64
.global .u32 total = 7;
.visible .entry k(.param .u64 out, .param .u32 term) {
  .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %d<4>; .reg .f32 %f<3>;
  .shared .u32 sum;
  ld.param.u64 %d1, [out];
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  @!%p1 st.shared.u32 [sum], 0;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r3, %r2, 64, %r1;
  mul.lo.u32 %r4, %r1, 3;
  LOOP: add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, 40;
  @%p2 bra LOOP;
  setp.eq.u32 %p2, %r3, 70; ld.param.u32 %r5, [term];
  cvt.rn.f32.u32 %f1, %r4;
  @%p2 add.u32 %r4, %r4, %r5;
  bar.sync 0;
  atom.shared.add.u32 %r6, [sum], %r4;
  bar.sync 0;
  ld.shared.u32 %r7, [sum];
  mul.wide.u32 %d2, %r3, 4;
  add.s64 %d3, %d1, %d2;
  st.global.u32 [%d3], %r7;
  red.global.add.u32 [total], 1;
  ret;
}
)";

struct Lockstep : testing::Test {
  void SetUp() override {
    const std::string_view texts[] = {kText};
    auto loaded = Program::load(texts, memory, {});
    ASSERT_TRUE(loaded) << loaded.error().message;
    program = std::move(*loaded);
    out = memory.allocate(4 * 192, 256, MemoryKind::Device, "out")->base;
    launch.program = program.get();
    launch.kernel = program->find_kernel("k");
    launch.grid = {3, 1, 1};
    launch.block = {64, 1, 1};
    launch.memory = &memory;
    launch.one_block_at_a_time = true;
    launch.params.resize(12);
    std::memcpy(launch.params.data(), &out, 8);
  }
  static LaunchResult interpret(Launch l) {
    l.interpret = true;
    return Machine::instance().run(std::move(l));
  }
  uint32_t total() const { return *reinterpret_cast<const uint32_t*>(program->find_variable("total")->address); }

  DeviceMemory memory{uint64_t{1} << 32};
  std::unique_ptr<Program> program;
  uint64_t out = 0;
  Launch launch;
};

TEST_F(Lockstep, EqualRunsCountOnce) {
  const LockstepResult both = run_in_lockstep(launch, interpret, interpret);
  EXPECT_EQ(both.difference, "");
  EXPECT_EQ(both.result.trap.kind, TrapKind::None);
  EXPECT_EQ(total(), 7u + 192u);
}

TEST_F(Lockstep, NamesTheFirstDifferingRegister) {
  const LockstepResult both = run_in_lockstep(launch, interpret, [](Launch l) {
    l.params[8] = std::byte{2};  // term
    return interpret(std::move(l));
  });
  EXPECT_NE(both.difference.find("first differing register: %r5 of thread (0,0,0) in block (0,0,0): 0x0 and 0x2"), std::string::npos)
      << both.difference;
  EXPECT_NE(both.difference.find("PTX line 17: ld.param.u32 %r5, [term];"), std::string::npos) << both.difference;
  // The second run's memory stays.
  EXPECT_EQ(total(), 7u + 192u);
  EXPECT_EQ(reinterpret_cast<const uint32_t*>(out)[64] - reinterpret_cast<const uint32_t*>(out)[0], 2u);
}

TEST_F(Lockstep, SaysThatOnlyOneFaults) {
  const LockstepResult both = run_in_lockstep(launch, interpret, [](Launch l) {
    l.params[0] = std::byte{1};
    return interpret(std::move(l));
  });
  EXPECT_NE(both.difference.find("faults"), std::string::npos) << both.difference;
}

}  // namespace
}  // namespace warpbeam::vm
