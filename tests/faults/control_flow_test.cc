// Divergence and reconvergence: random control flow (loops in loops, irreducible jumps, tables, calls that recurse to
// other depths in every lane) computes what each thread alone would, and lanes are together again where paths meet.
#include <algorithm>
#include <random>

#include "faults/kernel.h"

namespace warpbeam::faults {
namespace {

using vm::TrapKind;

// A flow graph: every node changes the thread's value, spends fuel, and goes on as its value says.
struct Node {
  enum Kind { Jump, Fork, Table, Call, Leave } kind;
  uint32_t multiply, add;
  int shift;                 // which bits of the value decide
  std::vector<int> targets;  // Fork: taken, not taken
};
using Flow = std::vector<Node>;

Flow random_flow(std::mt19937& random, int nodes) {
  auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint32_t>(n)); };
  Flow flow;
  for (int n = 0; n < nodes; ++n) {
    Node node{Node::Jump, static_cast<uint32_t>(random()) | 1, static_cast<uint32_t>(random()), below(28), {}};
    const int kind = below(20);
    node.kind = kind < 3 ? Node::Jump : kind < 14 ? Node::Fork : kind < 16 ? Node::Table : kind < 18 ? Node::Call : Node::Leave;
    const int count = node.kind == Node::Table ? 4 : node.kind == Node::Fork ? 2 : 1;
    // Mostly near targets, backward and forward, so that loops nest and cross.
    for (int t = 0; t < count; ++t) node.targets.push_back(below(3) ? std::clamp(n + below(9) - 3, 0, nodes - 1) : below(nodes));
    flow.push_back(node);
  }
  return flow;
}

struct Thread {
  uint32_t value, fuel;
};

// The scalar reference.
void run(const Flow& flow, Thread& t, int depth) {
  for (int n = 0;;) {
    const Node& node = flow[static_cast<size_t>(n)];
    if (t.fuel == 0) return;
    --t.fuel;
    t.value = t.value * node.multiply + node.add;
    const uint32_t choice = t.value >> node.shift;
    switch (node.kind) {
      case Node::Jump: n = node.targets[0]; break;
      case Node::Fork: n = node.targets[choice % 2 ? 0 : 1]; break;
      case Node::Table: n = node.targets[choice % 4]; break;
      case Node::Call:
        if (choice % 2 && depth < 6) run(flow, t, depth + 1);
        n = node.targets[0];
        break;
      case Node::Leave:
        if (choice % 4 == 0) return;
        n = node.targets[0];
        break;
    }
  }
}

std::string text_of(const Flow& flow) {
  std::string t =
      ".func (.param .b64 out) f(.param .b64 in, .param .b32 level) {\n.reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 "
      "%d<3>;\n"
      "ld.param.b64 %d1, [in]; mov.b64 {%r1, %r2}, %d1; ld.param.b32 %r3, [level];\n";
  for (size_t n = 0; n < flow.size(); ++n) {
    const Node& node = flow[n];
    auto label = [](int target) { return "N" + std::to_string(target); };
    t += "N" + std::to_string(n) + ": setp.eq.u32 %p1, %r2, 0; @%p1 bra END; sub.u32 %r2, %r2, 1;\n";
    t += "mad.lo.u32 %r1, %r1, " + std::to_string(node.multiply) + ", " + std::to_string(node.add) + "; shr.u32 %r4, %r1, " +
         std::to_string(node.shift) + ";\n";
    switch (node.kind) {
      case Node::Jump: t += "bra " + label(node.targets[0]) + ";\n"; break;
      case Node::Fork:
        t += "and.b32 %r5, %r4, 1; setp.ne.u32 %p1, %r5, 0; @%p1 bra " + label(node.targets[0]) + "; bra " + label(node.targets[1]) + ";\n";
        break;
      case Node::Table:
        t += "T" + std::to_string(n) + ": .branchtargets " + label(node.targets[0]) + ", " + label(node.targets[1]) + ", " +
             label(node.targets[2]) + ", " + label(node.targets[3]) + ";\nand.b32 %r5, %r4, 3; brx.idx %r5, T" + std::to_string(n) + ";\n";
        break;
      case Node::Call:
        t += "and.b32 %r5, %r4, 1; setp.ne.u32 %p1, %r5, 0; setp.lt.and.u32 %p2, %r3, 6, %p1; @!%p2 bra " + label(node.targets[0]) +
             ";\n{ .param .b64 a; .param .b32 b; .param .b64 c; mov.b64 %d1, {%r1, %r2}; st.param.b64 [a], %d1; "
             "add.u32 %r6, %r3, 1; st.param.b32 [b], %r6; "
             "call.uni (c), f, (a, b); ld.param.b64 %d1, [c]; mov.b64 {%r1, %r2}, %d1; }\nbra " +
             label(node.targets[0]) + ";\n";
        break;
      case Node::Leave: t += "and.b32 %r5, %r4, 3; setp.eq.u32 %p1, %r5, 0; @%p1 bra END; bra " + label(node.targets[0]) + ";\n"; break;
    }
  }
  t += "END: mov.b64 %d1, {%r1, %r2}; st.param.b64 [out], %d1; ret; }\n"
       ".visible .entry k(.param .u64 p) { .reg .b32 %r<6>; .reg .b64 %d<6>; .reg .pred %p;\n"
       "ld.param.u64 %d1, [p]; mov.u32 %r0, %tid.x; mul.wide.u32 %d2, %r0, 8; add.u64 %d1, %d1, %d2; ld.global.b64 "
       "%d3, [%d1];\n"
       "{ .param .b64 a; .param .b32 b; .param .b64 c; st.param.b64 [a], %d3; st.param.b32 [b], 0; call.uni (c), f, "
       "(a, b); ld.param.b64 %d3, [c]; }\n"
       // Lanes that ran ever so differently are one warp again here.
       "activemask.b32 %r1; st.global.b64 [%d1], %d3; st.global.b32 [%d1+768], %r1; ret; }\n";
  return t;
}

TEST(ControlFlow, RandomGraphsComputeWhatEachThreadAloneWould) {
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    std::mt19937 random(seed);
    const Flow flow = random_flow(random, 3 + static_cast<int>(random() % 24));
    Kernel kernel(text_of(flow));
    constexpr uint32_t kThreads = 70;  // the last warp is not full
    const uint64_t memory = kernel.allocate(768 + kThreads * 8);
    std::vector<Thread> expected;
    for (uint32_t k = 0; k < kThreads; ++k) {
      Thread t{static_cast<uint32_t>(random()), 1 + static_cast<uint32_t>(random() % 300)};
      at<Thread>(memory)[k] = t;
      run(flow, t, 0);
      expected.push_back(t);
    }
    const vm::Trap trap = kernel.launch({.threads = kThreads}, {memory}).trap;
    ASSERT_EQ(trap.kind, TrapKind::None) << "seed " << seed << "\n" << trap.paragraph();
    for (uint32_t k = 0; k < kThreads; ++k) {
      ASSERT_EQ(at<Thread>(memory)[k].value, expected[k].value) << "seed " << seed << " thread " << k;
      ASSERT_EQ(at<Thread>(memory)[k].fuel, expected[k].fuel) << "seed " << seed << " thread " << k;
      const uint32_t whole = k < 64 ? ~0u : (1u << (kThreads - 64)) - 1;
      ASSERT_EQ(*at<uint32_t>(memory + 768 + 8 * k), whole) << "seed " << seed << " thread " << k;
    }
  }
}

std::string kernel_text(const std::string& body) {
  return ".visible .entry k(.param .u64 p) {\n.reg .pred %p<6>; .reg .b32 %r<12>; .reg .b64 %d<4>;\n"
         "ld.param.u64 %d1, [p]; mov.u32 %r0, %tid.x; mul.wide.u32 %d2, %r0, 4; add.u64 %d1, %d1, %d2;\n" +
         body + "\nst.global.b32 [%d1], %r1; ret; }\n";
}

std::vector<uint32_t> results(const std::string& body) {
  Kernel kernel(kernel_text(body));
  const uint64_t memory = kernel.allocate(128);
  const vm::Trap trap = kernel.launch({}, {memory}).trap;
  EXPECT_EQ(trap.kind, TrapKind::None) << trap.paragraph();
  return {at<uint32_t>(memory), at<uint32_t>(memory) + 32};
}

TEST(WarpSync, ShuffleAmongTheLanesOfOneSide) {
  const auto r = results(
      "and.b32 %r2, %r0, 1; setp.eq.u32 %p1, %r2, 1; @%p1 bra ODD;\n"
      "shfl.sync.down.b32 %r1, %r0, 2, 31, 0x55555555; bra Z;\nODD: shfl.sync.up.b32 %r1, %r0, 2, 0, 0xaaaaaaaa;\nZ:");
  for (uint32_t l = 0; l < 32; ++l) EXPECT_EQ(r[l], l % 2 ? (l >= 2 ? l - 2 : l) : (l + 2 < 32 ? l + 2 : l)) << l;
}

// Lanes leave a loop after different numbers of rounds and meet for the vote behind it.
TEST(WarpSync, VoteBehindALoopWaitsForAllLanes) {
  const auto r = results(
      "mov.u32 %r2, 0;\nLOOP: setp.ge.u32 %p1, %r2, %r0; @%p1 bra OUT; add.u32 %r2, %r2, 1; bra LOOP;\nOUT: "
      "vote.sync.ballot.b32 %r1, %p1, -1;");
  for (uint32_t l = 0; l < 32; ++l) EXPECT_EQ(r[l], ~0u) << l;
}

TEST(WarpSync, LanesThatLeftAreNotWaitedFor) {
  const auto r = results("mov.u32 %r1, 5; setp.lt.u32 %p1, %r0, 8; @%p1 ret;\nredux.sync.add.u32 %r1, %r0, -1;");
  for (uint32_t l = 8; l < 32; ++l) EXPECT_EQ(r[l], 468u) << l;
  EXPECT_EQ(r[0], 0u);
}

// An early return inside nested loops, then a shuffle among those that stayed.
TEST(WarpSync, ShuffleAfterReturnsInsideLoops) {
  const auto r = results(
      "mov.u32 %r2, 0;\nOUTER: mov.u32 %r3, 0;\nINNER: add.u32 %r4, %r2, %r3; setp.eq.u32 %p1, %r0, 31; "
      "setp.eq.and.u32 %p2, %r4, 5, %p1; @%p2 ret;\n"
      "add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 4; @%p3 bra INNER;\nadd.u32 %r2, %r2, 1; setp.lt.u32 %p4, %r2, 4; "
      "@%p4 bra OUTER;\n"
      "shfl.sync.bfly.b32 %r1, %r0, 1, 31, 0x7fffffff;");
  for (uint32_t l = 0; l < 30; ++l) EXPECT_EQ(r[l], l ^ 1) << l;
  EXPECT_EQ(r[31], 0u);
}

// The two sides of a branch wait for each other at different places of the text.
TEST(WarpSync, BarriersOfAWarpAtDifferentPlaces) {
  const auto r = results(
      "mov.u32 %r1, 1; setp.lt.u32 %p1, %r0, 16; @%p1 bra A;\nbar.warp.sync -1; add.u32 %r1, %r1, 1; bra Z;\nA: "
      "bar.warp.sync -1; add.u32 %r1, %r1, 2;\nZ: bar.warp.sync -1;");
  for (uint32_t l = 0; l < 32; ++l) EXPECT_EQ(r[l], l < 16 ? 3u : 2u) << l;
}

}  // namespace
}  // namespace warpbeam::faults
