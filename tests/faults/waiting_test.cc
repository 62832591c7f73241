// Threads that wait for each other: what can make progress does, and what cannot is reported with who waits where.
#include <atomic>
#include <cstdlib>
#include <thread>

#include "faults/kernel.h"
#include "vm/progress.h"

namespace warpbeam::faults {
namespace {

using vm::TrapKind;

// Before the machine reads it: grids that wait in vain are given up soon.
const bool kShortPatience = setenv("WARPBEAM_HANG_SECONDS", "1", 0) == 0;

std::string kernel_text(const std::string& body) {
  return ".shared .align 8 .b32 s[64];\n.visible .entry k(.param .u64 p) {\n"
         ".reg .pred %p<6>; .reg .b32 %r<12>; .reg .b64 %d<8>;\n"
         "ld.param.u64 %d1, [p]; mov.u32 %r0, %tid.x; mov.u32 %r9, %ctaid.x; mul.wide.u32 %d0, %r0, 4; add.u64 %d2, "
         "%d1, %d0;\n" +
         body + "\nret; }\n";
}

struct Deadlock {
  const char* name;
  const char* body;
  const char* who;  // a part of the report
};

const Deadlock kDeadlocks[] = {
    {"DifferentNamedBarriers",
     "setp.lt.u32 %p1, %r0, 32; @%p1 bra A;\nbar.sync 1, 64;\nbra Z;\nA:\nbar.sync 2, 64;\nZ:", "for barrier 2 of 64 threads"},
    {"MissingArrive", "bar.sync 3, 128;", "for barrier 3 of 128 threads"},
    {"ConsumerWithoutProducer", "setp.ge.u32 %p1, %r0, 32; @%p1 ret;\nbar.sync 4, 64;",
     "32 threads of warp 0 (first: thread (0,0,0)) wait at PTX line 9"},
    {"BarrierBehindAWarpBarrier", "setp.lt.u32 %p1, %r0, 32; @%p1 bra A;\nbar.sync 1, 96;\nA:", "for barrier 1 of 96 threads"},
};

class DeadlockTest : public testing::TestWithParam<Deadlock> {};

TEST_P(DeadlockTest, IsReported) {
  Kernel kernel(kernel_text(GetParam().body));
  const uint64_t memory = kernel.allocate(4096);
  const vm::Trap t = kernel.launch({.threads = 64}, {memory}).trap;
  EXPECT_EQ(t.kind, TrapKind::Deadlock) << t.paragraph();
  EXPECT_NE(t.detail.find(GetParam().who), std::string::npos) << t.paragraph();
  EXPECT_NE(t.message.find("deadlock"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Machine, DeadlockTest, testing::ValuesIn(kDeadlocks),
                         [](const auto& info) { return std::string(info.param.name); });

// Another thread's block ends between two looks at the time, if there are two.
struct SetBackAfterOneRead {
  int64_t time;
  mutable int reads = 0;
  operator int64_t() const { return reads++ ? 0 : time; }
};

TEST(Progress, IsLookedAtOnce) {
  const int64_t now = 1'000'000'000'000;
  EXPECT_EQ(vm::without_progress(SetBackAfterOneRead{now - 7}, now), 7);
  EXPECT_EQ(vm::without_progress(SetBackAfterOneRead{0}, now), std::nullopt);
}

TEST(Progress, IsUnderWayInATurnThatLasts) {
  int grid = 0, other = 0;
  vm::TurnsOfOthers turns;
  const vm::Turn own(&grid);  // whoever asks does not wait for itself
  EXPECT_TRUE(turns.have_ended(&grid, 1, 10));
  std::atomic<int> done{0}, begun{0};
  std::thread computes([&] {
    for (const int* at : {&grid, &grid, &other}) {
      const vm::Turn turn(at);
      ++begun;
      while (done < begun) std::this_thread::yield();
    }
  });
  const auto until = [&](int turn) {
    while (begun < turn) std::this_thread::yield();
  };
  until(1);
  int64_t now = 1'000'000'000;
  for (int k = 0; k < 3; ++k, now += 1'000'000'000) EXPECT_FALSE(turns.have_ended(&grid, 100, now));
  done = 1;
  until(2);
  EXPECT_TRUE(turns.have_ended(&grid, 100, now));
  EXPECT_FALSE(turns.have_ended(&grid, now, now + 1'000'000'000)) << "there was progress: the turn that is under way counts";
  done = 2;
  until(3);
  EXPECT_TRUE(turns.have_ended(&grid, now, now + 2'000'000'000));
  done = 3;
  computes.join();
}

// Longer than grids may wait in vain, without a store.
TEST(Progress, ABlockComputesForLong) {
  Kernel kernel(kernel_text(
      "setp.eq.u32 %p1, %r9, 1; @%p1 bra COMPUTES;\nWAIT: ld.acquire.gpu.global.b32 %r1, [%d1]; setp.eq.u32 %p2, %r1, 0; @%p2 bra WAIT;\nbra Z;\n"
      "COMPUTES: mov.u64 %d3, %globaltimer;\nMORE: mov.u64 %d4, %globaltimer; sub.u64 %d4, %d4, %d3; setp.lt.u64 %p3, %d4, 2500000000; @%p3 bra MORE;\n"
      "st.release.gpu.global.b32 [%d1], 1;\nZ:"));
  EXPECT_EQ(kernel.launch({.blocks = 2, .threads = 32}, {kernel.allocate(64)}).trap.kind, TrapKind::None);
}

// Exited threads are not waited for, and barriers count threads wherever in the text they wait.
TEST(Barriers, CompleteWithoutThreadsThatLeft) {
  Kernel kernel(kernel_text("setp.lt.u32 %p1, %r0, 40; @%p1 ret;\nbar.sync 0;\nst.global.b32 [%d2], 1;"));
  const uint64_t memory = kernel.allocate(4096);
  ASSERT_EQ(kernel.launch({.threads = 100}, {memory}).trap.kind, TrapKind::None);
  for (uint32_t t = 0; t < 100; ++t) EXPECT_EQ(at<uint32_t>(memory)[t], t >= 40 ? 1u : 0u);
}

TEST(Barriers, MeetFromBothSidesOfABranch) {
  Kernel kernel(
      kernel_text("and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra A;\nbar.sync 0;\nst.global.b32 [%d2], "
                  "1;\nbra Z;\nA:\nbar.sync 0;\nst.global.b32 [%d2], 2;\nZ:"));
  const uint64_t memory = kernel.allocate(4096);
  ASSERT_EQ(kernel.launch({.threads = 64}, {memory}).trap.kind, TrapKind::None);
  for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(at<uint32_t>(memory)[t], t % 2 ? 1u : 2u);
}

TEST(Barriers, ArriveLetsAnotherWarpGoOn) {
  Kernel kernel(
      kernel_text("setp.lt.u32 %p1, %r0, 32; @%p1 bra CONSUMER;\nst.shared.b32 [s], 77;\nbar.arrive 1, 64;\nbra "
                  "Z;\nCONSUMER:\nbar.sync 1, 64;\nld.shared.b32 %r1, [s];\nst.global.b32 [%d2], %r1;\nZ:"));
  const uint64_t memory = kernel.allocate(4096);
  ASSERT_EQ(kernel.launch({.threads = 64}, {memory}).trap.kind, TrapKind::None);
  EXPECT_EQ(at<uint32_t>(memory)[31], 77u);
}

// --- progress ----------------------------------------------------------------------------------------------------

// Every lane of a warp takes the same lock in turn.
TEST(Progress, LanesOfOneWarpTakeALock) {
  Kernel kernel(
      kernel_text("TRY: atom.global.cas.b32 %r1, [%d1], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra TRY;\n"
                  "ld.volatile.global.b32 %r2, [%d1+4]; add.u32 %r2, %r2, 1; st.volatile.global.b32 [%d1+4], %r2; "
                  "fence.acq_rel.gpu;\natom.global.exch.b32 %r3, [%d1], 0;"));
  const uint64_t memory = kernel.allocate(64);
  ASSERT_EQ(kernel.launch({.blocks = 3, .threads = 64}, {memory}).trap.kind, TrapKind::None);
  EXPECT_EQ(at<uint32_t>(memory)[1], 192u);
}

// The lane that must let the others go stands behind them in the text.
TEST(Progress, ALaneWaitsForALaterOne) {
  Kernel kernel(
      kernel_text("setp.eq.u32 %p1, %r0, 31; @%p1 bra LAST;\nWAIT: ld.volatile.global.b32 %r1, [%d1]; setp.eq.u32 %p2, "
                  "%r1, 0; @%p2 bra WAIT;\nbra Z;\nLAST: st.volatile.global.b32 [%d1], 5;\nZ:"));
  EXPECT_EQ(kernel.launch({.threads = 32}, {kernel.allocate(64)}).trap.kind, TrapKind::None);
}

TEST(Progress, AWarpWaitsForAnother) {
  Kernel kernel(
      kernel_text("setp.lt.u32 %p1, %r0, 32; @!%p1 bra LAST;\nWAIT: ld.volatile.shared.b32 %r1, [s]; setp.ne.u32 %p2, "
                  "%r1, 9; @%p2 bra WAIT;\nbra Z;\nLAST: st.volatile.shared.b32 [s], 9;\nZ:"));
  EXPECT_EQ(kernel.launch({.threads = 64}, {kernel.allocate(64)}).trap.kind, TrapKind::None);
}

TEST(Progress, BlocksThatLiveTogetherExchangeValues) {
  Kernel kernel(
      kernel_text("xor.b32 %r1, %r9, 1; mul.wide.u32 %d3, %r9, 4; add.u64 %d3, %d3, %d1; mul.wide.u32 %d4, %r1, 4; "
                  "add.u64 %d4, %d4, %d1;\n"
                  "st.release.gpu.global.b32 [%d3], 1;\nWAIT: ld.acquire.gpu.global.b32 %r2, [%d4]; setp.eq.u32 %p2, "
                  "%r2, 0; @%p2 bra WAIT;"));
  for (uint32_t resident : {2u, 3u, 64u})
    EXPECT_EQ(kernel.launch({.blocks = 32, .resident = resident}, {kernel.allocate(256)}).trap.kind, TrapKind::None);
}

// Decoupled look-back: each block waits for the one before it, which has begun earlier.
TEST(Progress, EachBlockWaitsForTheOneBefore) {
  Kernel kernel(
      kernel_text("setp.ne.u32 %p1, %r0, 0; @%p1 ret; mul.wide.u32 %d3, %r9, 4; add.u64 %d3, %d3, %d1; mov.u32 %r2, 0; "
                  "setp.eq.u32 %p2, %r9, 0; @%p2 bra GO;\n"
                  "WAIT: ld.acquire.gpu.global.b32 %r2, [%d3+-4]; setp.eq.u32 %p3, %r2, 0; @%p3 bra WAIT;\nGO: add.u32 "
                  "%r2, %r2, 1; st.release.gpu.global.b32 [%d3], %r2;"));
  for (uint32_t resident : {1u, 2u, 64u}) {
    const uint64_t memory = kernel.allocate(2000);
    ASSERT_EQ(kernel.launch({.blocks = 500, .resident = resident}, {memory}).trap.kind, TrapKind::None);
    EXPECT_EQ(at<uint32_t>(memory)[499], 500u);
  }
}

// A grid-wide barrier needs all blocks at once; where they do not fit, the report says so.
TEST(Progress, AGridBarrierOfTooManyBlocksIsADeadlock) {
  Kernel kernel(
      kernel_text("setp.ne.u32 %p1, %r0, 0; @%p1 ret; mov.u32 %r3, %nctaid.x; atom.global.add.u32 %r1, [%d1], 1;\n"
                  "WAIT: ld.acquire.gpu.global.b32 %r2, [%d1]; setp.lt.u32 %p3, %r2, %r3; @%p3 bra WAIT;"));
  EXPECT_EQ(kernel.launch({.blocks = 8, .resident = 8}, {kernel.allocate(64)}).trap.kind, TrapKind::None);
  const vm::Trap t = kernel.launch({.blocks = 8, .resident = 4}, {kernel.allocate(64)}).trap;
  EXPECT_EQ(t.kind, TrapKind::Deadlock) << t.paragraph();
  EXPECT_NE(t.detail.find("4 of 8 blocks have not begun"), std::string::npos) << t.paragraph();
}

}  // namespace
}  // namespace warpbeam::faults
