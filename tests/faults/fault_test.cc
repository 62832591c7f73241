// Every way a kernel can fail ends as a report that names the kernel, the thread and the cause; the host goes on.
#include "faults/kernel.h"

namespace warpbeam::faults {
namespace {

using vm::TrapKind;

struct Fault {
  const char* name;
  TrapKind kind;
  const char* message;  // a part of it
  const char* detail;   // a part of it
  const char* body;     // statements; %d1 holds the address of 256 bytes of device memory, %r0 the thread
  uint32_t thread = 0;  // the one that is reported
};

constexpr const char* kDeclarations =
    ".global .b32 other[4];\n"
    ".shared .align 16 .b8 tile[64];\n"
    ".func (.param .b32 out) deep(.param .b32 in) { .reg .b32 %a; .param .b32 x; .param .b32 y; ld.param.b32 %a, [in]; "
    "st.param.b32 [x], %a; "
    "call.uni (y), deep, (x); ld.param.b32 %a, [y]; st.param.b32 [out], %a; ret; }\n"
    ".func bare() { call.uni bare; ret; }\n"
    ".func (.param .b32 out) two(.param .b32 in, .param .b32 in2) { ret; }\n"
    ".visible .entry k(.param .u64 p, .param .u64 q) {\n"
    ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<8>; .reg .b128 %q<2>;\n"
    ".local .align 16 .b8 depot[32];\n"
    "ld.param.u64 %d1, [p]; ld.param.u64 %d2, [q]; mov.u32 %r0, %tid.x; mul.wide.u32 %d0, %r0, 4;\n";

const Fault kFaults[] = {
    {"NullRead", TrapKind::IllegalAddress, "read of size 4 bytes", "null", "ld.global.b32 %r1, [0];"},
    {"NullGenericWrite", TrapKind::IllegalAddress, "write of size 8 bytes", "null",
     "mov.u64 %d3, 8; st.b64 [%d3], %d1;"},
    {"PastTheEnd", TrapKind::IllegalAddress, "write of size 4 bytes", "after the nearest allocation",
     "add.u64 %d3, %d1, %d0; st.global.b32 [%d3+456], %r0;", 14},
    {"BeforeTheBegin", TrapKind::IllegalAddress, "read of size 1 byte", "before the nearest allocation",
     "ld.global.b8 %h1, [%d1+-1];"},
    {"VectorAcrossTheEnd", TrapKind::MisalignedAddress, "read of size 16 bytes", "multiple of 16",
     "ld.global.v4.b32 {%r1,%r2,%r3,%r4}, [%d1+504];"},
    {"WildAddress", TrapKind::IllegalAddress, "read of size 4", "far from every allocation",
     "mov.u64 %d3, 0x7ffffffffff0; ld.global.b32 %r1, [%d3];"},
    {"HighestAddress", TrapKind::IllegalAddress, "read of size 1", "", "mov.u64 %d3, -1; ld.global.b8 %h1, [%d3];"},
    {"Misaligned", TrapKind::MisalignedAddress, "misaligned read of size 4 bytes", "multiple of 4",
     "setp.eq.u32 %p1, %r0, 3; selp.b32 %r1, 2, 0, %p1; cvt.u64.u32 %d3, %r1; add.u64 %d3, %d3, %d1; ld.global.b32 "
     "%r1, [%d3];",
     3},
    {"MisalignedAtomic", TrapKind::MisalignedAddress, "misaligned atomic operation of size 8", "",
     "atom.global.add.u64 %d3, [%d1+4], 1;"},
    {"AtomicOutside", TrapKind::IllegalAddress, "atomic operation of size 4", "", "atom.add.u32 %r1, [%d1+4096], 1;"},
    {"ReductionOutside", TrapKind::IllegalAddress, "atomic operation of size 4", "",
     "red.global.add.f32 [%d1+4096], %f1;"},
    {"WideAtomicMisaligned", TrapKind::MisalignedAddress, "", "multiple of 16",
     "atom.global.cas.b128 %q0, [%d1+8], %q0, %q1;"},
    {"FreedMemory", TrapKind::IllegalAddress, "read of size 4", "was freed", "ld.global.b32 %r1, [%d2+16];"},
    {"HostMemory", TrapKind::IllegalAddress, "read of size 4", "belongs to the host program", "HOST"},
    {"SharedOutside", TrapKind::SharedOutOfRange, "invalid __shared__ write of size 4", "64 bytes of shared memory",
     "mul.lo.u32 %r1, %r0, 4; mov.u32 %r2, tile; add.u32 %r1, %r1, %r2; st.shared.b32 [%r1], %r0;", 16},
    {"SharedNegative", TrapKind::SharedOutOfRange, "invalid __shared__ read", "",
     "mov.u32 %r1, tile; ld.shared.b32 %r2, [%r1+-4];"},
    {"SharedThroughGeneric", TrapKind::SharedOutOfRange, "invalid __shared__ read", "",
     "mov.u64 %d3, tile; cvta.shared.u64 %d3, %d3; ld.b32 %r1, [%d3+64];"},
    {"SharedMisaligned", TrapKind::MisalignedAddress, "misaligned write", "multiple of 4",
     "st.shared.b32 [tile+2], %r1;"},
    {"SharedAtomicOutside", TrapKind::SharedOutOfRange, "atomic operation", "",
     "atom.shared.add.u32 %r1, [tile+64], 1;"},
    {"LocalOutside", TrapKind::IllegalAddress, "invalid __local__ read", "local memory",
     "mov.u64 %d3, depot; ld.local.b32 %r1, [%d3+1000000];"},
    {"LocalThroughGeneric", TrapKind::IllegalAddress, "invalid __local__ write", "",
     "mov.u64 %d3, depot; cvta.local.u64 %d3, %d3; st.b32 [%d3+1000000], %r1;"},
    {"LocalMisaligned", TrapKind::MisalignedAddress, "misaligned read", "",
     "mov.u64 %d3, depot; ld.local.b32 %r1, [%d3+1];"},
    {"ParameterOutside", TrapKind::IllegalAddress, "past the kernel's parameters", "", "ld.param.u64 %d3, [p+4096];"},
    {"AsyncCopyOutside", TrapKind::IllegalAddress, "read of size 16", "",
     "mov.u32 %r1, tile; add.u64 %d3, %d1, 8192; cp.async.ca.shared.global [%r1], [%d3], 16;"},
    {"Recursion", TrapKind::StackOverflow, "stack overflow in a call of deep", "cudaLimitStackSize",
     "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r0; call.uni (y), deep, (x); }"},
    {"RecursionWithoutParameters", TrapKind::StackOverflow, "stack overflow in a call of bare", "", "call.uni bare;"},
    {"NullFunction", TrapKind::InvalidPc, "not a device function", "",
     "mov.u64 %d3, 0; call.uni %d3, P; P: .callprototype _ ();"},
    {"WildFunction", TrapKind::InvalidPc, "not a device function", "",
     "mov.u64 %d3, 0xffffffffffffffff; call.uni %d3, P; P: .callprototype _ ();"},
    {"DataAsFunction", TrapKind::InvalidPc, "not a device function", "", "call.uni %d1, P; P: .callprototype _ ();"},
    {"FunctionOfOtherShape", TrapKind::InvalidPc, "other parameters", "",
     "mov.u64 %d3, two; call.uni %d3, P; P: .callprototype _ ();"},
    {"BranchTable", TrapKind::IllegalInstruction, "past the 2 targets", "",
     "T: .branchtargets A, B; brx.idx %r0, T; A: B:", 2},
    {"NoSuchBarrier", TrapKind::IllegalInstruction, "barrier 16 does not exist", "", "mov.u32 %r1, 16; bar.sync %r1;"},
    {"OddBarrierCount", TrapKind::IllegalInstruction, "multiple of 32", "", "mov.u32 %r1, 33; bar.sync 1, %r1;"},
    {"EmptyBarrier", TrapKind::IllegalInstruction, "0 threads", "", "mov.u32 %r1, 0; bar.sync 1, %r1;"},
    {"VoteByAStranger", TrapKind::IllegalInstruction, "vote.sync of lane 16 with the mask 0x0000ffff", "before the branch", "vote.sync.ballot.b32 %r1, 1, 0xffff;", 16},
    {"ShuffleByAStranger", TrapKind::IllegalInstruction, "shfl.sync of lane 0 with the mask 0x00000000", "", "shfl.sync.idx.b32 %r1, %r0, 0, 31, 0;"},
    {"MatchByAStranger", TrapKind::IllegalInstruction, "match.sync of lane 1", "", "match.any.sync.b32 %r1, %r0, 0xfffffffd;", 1},
    {"ReductionByAStranger", TrapKind::IllegalInstruction, "redux.sync of lane 9", "", "setp.eq.u32 %p1, %r0, 9; selp.u32 %r1, 1, -1, %p1; redux.sync.add.u32 %r1, %r0, %r1;", 9},
    {"MeetingOfStrangers", TrapKind::IllegalInstruction, "bar.warp.sync of lane 31", "", "bar.warp.sync 0x7fffffff;", 31},
    {"TrapInstruction", TrapKind::Trap, "trap instruction", "", "setp.eq.u32 %p1, %r0, 7; @%p1 trap;", 7},
    {"Breakpoint", TrapKind::Trap, "a breakpoint and no debugger", "", "setp.eq.u32 %p1, %r0, 7; @%p1 brkpt;", 7},
};

class FaultTest : public testing::TestWithParam<Fault> {};

TEST_P(FaultTest, IsReportedAndTheHostGoesOn) {
  const Fault& f = GetParam();
  static uint32_t host_word = 0;
  std::string body = f.body;
  if (body == "HOST")
    body = "mov.u64 %d3, " + std::to_string(reinterpret_cast<uint64_t>(&host_word)) + "; ld.global.b32 %r1, [%d3];";
  Kernel kernel(std::string(kDeclarations) + body +
                "\nret; }\n.visible .entry fine(.param .u64 p) { .reg .b64 %d; ld.param.u64 %d, [p]; st.global.b32 "
                "[%d], 7; ret; }\n");
  const uint64_t memory = kernel.allocate(256);
  const uint64_t freed = kernel.allocate(256);
  kernel.memory().free(freed);

  const vm::Trap t = kernel.launch({.blocks = 2}, {memory, freed}).trap;
  EXPECT_EQ(t.kind, f.kind) << t.paragraph();
  EXPECT_NE(t.message.find(f.message), std::string::npos) << t.paragraph();
  EXPECT_NE(t.detail.find(f.detail), std::string::npos) << t.paragraph();
  EXPECT_EQ(t.kernel, "k");
  EXPECT_EQ(t.thread[0], f.thread) << t.paragraph();
  EXPECT_EQ(t.location.substr(0, 9), "PTX line ") << t.paragraph();

  EXPECT_EQ(kernel.launch({}, {memory}, "fine").trap.kind, TrapKind::None);
  EXPECT_EQ(*at<uint32_t>(memory), 7u);
}

INSTANTIATE_TEST_SUITE_P(Machine, FaultTest, testing::ValuesIn(kFaults),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(FaultReport, NamesTheSourceLine) {
  Kernel kernel(
      ".file 1 \"saxpy.cu\"\n.visible .entry k(.param .u64 p) { .reg .b64 %d<2>; .reg .b32 %r<2>;\n"
      ".loc 1 12 5\nld.param.u64 %d1, [p];\n.loc 1 13 9\nst.global.b32 [%d1+512], %r1;\nret; }\n");
  const vm::Trap t = kernel.launch({}, {kernel.allocate(512)}).trap;
  EXPECT_EQ(t.location, "saxpy.cu:13");
  EXPECT_NE(t.detail.find("1 bytes after the nearest allocation"), std::string::npos) << t.detail;
}

// Integer divisions that would stop the host.
TEST(Arithmetic, DivisionsWithoutAnAnswerDoNotTrap) {
  std::string body = ".visible .entry k(.param .u64 p) { .reg .b16 %h<4>; .reg .b32 %r<4>; .reg .b64 %d<4>;\n";
  for (const char* divisor : {"0", "-1"})
    for (const char* op : {"div", "rem"})
      for (const char* type : {"s16", "u16", "s32", "u32", "s64", "u64"}) {
        const std::string width = std::string(type).substr(1);
        const std::string reg = width == "16" ? "%h" : width == "32" ? "%r" : "%d";
        const char* least = width == "16" ? "-32768" : width == "32" ? "-2147483648" : "-9223372036854775808";
        body += "mov.b" + width + " " + reg + "1, " + least + "; mov.b" + width + " " + reg + "2, " + divisor + "; " +
                op + "." + type + " " + reg + "3, " + reg + "1, " + reg + "2;\n";
      }
  Kernel kernel(body + "ret; }\n");
  EXPECT_EQ(kernel.launch({}, {0}).trap.kind, TrapKind::None);
}

// What is reported does not depend on which of the host's threads was first.
TEST(FaultReport, NamesTheLowestBlock) {
  Kernel kernel(
      ".visible .entry k(.param .u64 p) { .reg .b64 %d<2>; .reg .b32 %r<4>; .reg .pred %p;\n"
      "mov.u32 %r1, %ctaid.x; setp.lt.u32 %p, %r1, 3; @%p ret;\nst.global.b32 [0], %r1; ret; }\n");
  for (int n = 0; n < 5; ++n) EXPECT_EQ(kernel.launch({.blocks = 8}).trap.block[0], 3u);
}

TEST(FaultReport, BlocksAfterAFaultDoNotRun) {
  Kernel kernel(
      ".visible .entry k(.param .u64 p) { .reg .b64 %d<2>; .reg .b32 %r<4>;\n"
      "ld.param.u64 %d1, [p]; atom.global.add.u32 %r1, [%d1], 1; trap; }\n");
  const uint64_t counter = kernel.allocate(4);
  EXPECT_EQ(kernel.launch({.blocks = 1000000, .threads = 1}, {counter}).trap.kind, TrapKind::Trap);
  EXPECT_LE(*at<uint32_t>(counter), 1024u);
}

}  // namespace
}  // namespace warpbeam::faults
