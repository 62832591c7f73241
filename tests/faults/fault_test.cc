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
    ".visible .entry k(.param .u64 p, .param .u64 q) {\n"
    ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<8>;\n"
    "ld.param.u64 %d1, [p]; ld.param.u64 %d2, [q]; mov.u32 %r0, %tid.x;\n";

// Most faults are files in tests/kernels; here are those whose addresses only the host knows, and one of a single lane.
const Fault kFaults[] = {
    {"FreedMemory", TrapKind::IllegalAddress, "read of size 4", "was freed", "ld.global.b32 %r1, [%d2+16];"},
    {"HostMemory", TrapKind::IllegalAddress, "read of size 4", "belongs to the host program", "HOST"},
    {"TrapInstruction", TrapKind::Trap, "trap instruction", "", "setp.eq.u32 %p1, %r0, 7; @%p1 trap;", 7},
};

class FaultTest : public testing::TestWithParam<Fault> {};

TEST_P(FaultTest, IsReportedAndTheHostGoesOn) {
  const Fault& f = GetParam();
  static uint32_t host_word = 0;
  std::string body = f.body;
  if (body == "HOST") body = "mov.u64 %d3, " + std::to_string(reinterpret_cast<uint64_t>(&host_word)) + "; ld.global.b32 %r1, [%d3];";
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

INSTANTIATE_TEST_SUITE_P(Machine, FaultTest, testing::ValuesIn(kFaults), [](const auto& info) { return std::string(info.param.name); });

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
        body += "mov.b" + width + " " + reg + "1, " + least + "; mov.b" + width + " " + reg + "2, " + divisor + "; " + op + "." + type +
                " " + reg + "3, " + reg + "1, " + reg + "2;\n";
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
