// What is wrong in a PTX text is said with its place; no text, however odd, does more harm than that.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "vm/program.h"

namespace warpbeam::vm {
namespace {

// The message of a refused text with its error code in front; "" when it loads.
std::string refusal(std::string_view text) {
  static DeviceMemory memory(uint64_t(1) << 30);
  auto program = Program::load({&text, 1}, memory, {});
  return program ? "" : std::to_string(program.error().code) + " " + program.error().message;
}

constexpr const char* kHead = ".version 8.5\n.target sm_90\n.address_size 64\n";

struct Case {
  const char* name;
  const char* text;  // line 4 on; in a body where it begins with a space
  const char* said;  // the place and a part of the message
};

const Case kCases[] = {
    {"UnknownDirective", ".globl .b32 x;", "ptx:4:1: error: '.globl' is not a directive"},
    {"DirectiveNeeded", "int x;", "ptx:4:1: error: a directive is needed before 'int'"},
    {"TypeNeeded", ".global x;", "ptx:4:9: error: a type is needed for a variable"},
    {"NameNeeded", ".global .b32 7;", "ptx:4:14: error: a name is needed before '7'"},
    {"SizeNeeded", ".global .b32 x[];", "ptx:4:14: error: 'x' needs a size"},
    {"NegativeSize", ".global .b32 x[-4];", "ptx:4:14: error: the size of 'x' is out of range"},
    {"HugeSize", ".global .b64 x[1<<40];", "ptx:4:14: error: the size of 'x' is out of range"},
    {"OddAlignment", ".global .align 3 .b32 x;", "ptx:4:9: error: an alignment is a power of two up to 2^31"},
    {"TooManyValues", ".global .b32 x[2] = {1, 2, 3};", "ptx:4:28: error: too many values for 'x'"},
    {"SharedValue", ".shared .b32 x = 1;", "ptx:4:18: error: only .global and .const variables can have an initialiser"},
    {"ExternValue", ".extern .global .b32 x = 1;", "ptx:4:26: error: 'x' is .extern and cannot have an initialiser"},
    {"DivisionByZero", ".global .b32 x = 1 / 0;", "ptx:4:20: error: division by zero"},
    {"FloatForInteger", ".global .b32 x[1.5];", "ptx:4:16: error: '1.5' is a floating-point literal where an integer is needed"},
    {"ShortFloat", ".global .f32 x = 0f123;", "ptx:4:18: error: '0f123' is not a float literal"},
    {"WideNumber", ".global .b64 x = 0x11111111111111111;", "ptx:4:18: error: '0x11111111111111111' is not a number of at most 64 bits"},
    {"UnknownSymbol", ".global .u64 x = nowhere;", "ptx:4:18: error: 'nowhere' is not defined"},
    {"VariableTwice", ".global .b32 x;\n.global .b32 x;", "ptx:5:14: error: 'x' is defined twice"},
    {"FunctionTwice", ".func f() { ret; }\n.func f() { ret; }", "ptx:5:7: error: 'f' is defined twice"},
    {"BodyNeeded", ".func f() 7", "ptx:4:11: error: a body or ';' is needed after the head of 'f'"},
    {"NoEnd", ".func f() { ret;", "error: the text ends inside the body of 'f'"},
    {"RegisterParameter", ".func f(.reg .b32 a[4]) { ret; }", "ptx:4:19: error: register parameter 'a' must be one value of 8 to 64 bits"},
    {"AliasOfNothing", ".func f(); .alias f, g;", "ptx:4:19: error: 'f' cannot stand for 'g', which is not defined here"},
    {"BigParameter", ".entry f(.param .b8 x[1<<39]) { ret; }", "ptx:4:21: error: the parameters of 'f' need more than 32764 bytes"},
    {"BigShared", ".shared .b8 x[50000]; .entry f() { .reg .b32 a; ld.shared.b32 a, [x]; ret; }",
     "ptx:4:30: error: 'f' uses 50000 bytes of static shared memory"},
    {"BigConstant", ".const .b8 x[70000];", "__constant__ variables need 70000 bytes"},
    {"OpenComment", ".global .b32 x = /* no end", "a constant is needed"},
    {"OpenString", ".file 1 \"a.cu", "ptx:4:7: error: a number and a quoted name are needed after .file"},
    {"OpenSection", ".section .debug_info { .b8 1", "error: the text ends inside a .section"},
    {"DeepExpression", ".global .b32 x = ((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))));",
     "expression nests too deeply"},

    {"Sampler", " tex.2d.v4.u32.s32 {%r1, %r2, %r3, %r1}, [%d1, %d1, {%r1, %r2}];",
     "error: samplers apart from their texture are not supported"},
    {"UnknownInstruction", " frobnicate.u32 %r1, %r2;", "ptx:5:2: error: instruction 'frobnicate.u32' is not supported"},
    {"UnknownModifier", " add.fast.s32 %r1, %r2, %r3;", "ptx:5:2: error: add.fast.s32: '.fast' is not a modifier of 'add' here"},
    {"OperandMissing", " add.s32 %r1, %r2;", "ptx:5:2: error: add.s32: 'add' does not take 2 operands"},
    {"UnknownRegister", " add.s32 %r1, %r2, %r99;", "ptx:5:20: error: '%r99' is not declared"},
    {"WrongWidth", " add.s32 %r1, %r2, %d3;", "ptx:5:2: error: %d3 is .b64 but the instruction needs .s32"},
    {"FloatRegister", " add.s32 %r1, %r2, %f3;", "ptx:5:2: error: %f3 is .f32 but the instruction needs .s32"},
    {"PredicateNeeded", " @%r1 ret;", "ptx:5:3: error: '%r1' is not a predicate register"},
    {"NegatedValue", " add.s32 %r1, !%r2, %r3;", "only a predicate can be negated"},
    {"ConstantDestination", " mov.u32 5, %r1;", "ptx:5:2: error: the destination must be a register"},
    {"SpecialDestination", " mov.u32 %tid.x, %r1;", "ptx:5:2: error: the destination must be a register"},
    {"SymbolDestination", " mov.u32 g, %r1;", "ptx:5:2: error: the destination must be a register"},
    {"ConstantInVector", " ld.global.v2.b32 {%r1, 5}, [%d1];", "ptx:5:2: error: the destination must be a register"},
    {"SinkAsSource", " add.s32 %r1, _, %r2;", "ptx:5:2: error: '_' can only be a destination"},
    {"UnevenVector", " mov.b64 %d1, {%r1, %h1, %h2};", "ptx:5:2: error: %r1 is .b32: 3 of it do not make .b64"},
    {"AddressNeeded", " ld.global.b32 %r1, %d1;", "ptx:5:2: error: operand 2 must be an address in brackets"},
    {"AddressUnwanted", " add.s32 %r1, [%d1], 1;", "ptx:5:2: error: operand 2 cannot be an address"},
    {"VectorTooLong", " ld.global.v2.b32 {%r1, %r2, %r3}, [%d1];", "ptx:5:2: error: operand 1 cannot be a vector of 3"},
    {"NoComponent", " mov.u32 %r1, %tid;", "ptx:5:15: error: '%tid' needs a component"},
    {"NoLabel", " bra NOWHERE;", "ptx:5:2: error: label 'NOWHERE' is not defined"},
    {"LabelTwice", " A: A: ret;", "ptx:5:5: error: label 'A' is defined twice"},
    {"TableNeeded", " brx.idx %r1;", "ptx:5:13: error: ',' is needed before ';'"},
    {"IndexNeeded", " brx.idx T, T;", "ptx:5:10: error: 'T' must be a register with a 32-bit index"},
    {"BranchToRegister", " bra %r1, T;", "ptx:5:9: error: ';' is needed before ','"},
    {"NoFunction", " call nowhere;", "ptx:5:2: error: function 'nowhere' is not defined"},
    {"CallOfAddress", " call [%d1];", "ptx:5:7: error: a function is needed after call"},
    {"CallOfShortRegister", " call %r1;", "ptx:5:7: error: a function address needs a 64-bit register"},
    {"OtherParameters", " call f;", "ptx:5:2: error: this call does not match the parameters of 'f'"},
    {"RegisterArgument", " call f, (%d1);", "ptx:5:2: error: this call does not match the parameters of 'f'"},
    {"NumberArgument", " call nowhere, (5);", "ptx:5:2: error: this call does not match the parameters of 'nowhere'"},
    {"NoSuchParameter", " ld.param.b32 %r1, [nothing];", "ptx:5:2: error: 'nothing' is not a parameter"},
    {"SemicolonMissing", " add.s32 %r1, %r2, %r3\n ret;", "ptx:6:2: error: ';' is needed before 'ret'"},
    {"VectorRegisterPart", " .reg .v2 .b32 v; mov.b32 v.z, 1;", "ptx:5:28: error: 'v' has no part '.z'"},
    {"PartOfAScalar", " mov.b32 %r1.x, 1;", "error: '%r1' is not a vector register"},
    {"ManyRegisters", " .reg .b32 %q<4000000000>;", "ptx:5:12: error: too many registers"},
    {"ManyVariables", " .param .b32 q<4000000000>;", "ptx:5:14: error: too many variables"},
    {"BigLocal", " .local .b8 l[1<<39]; mov.u64 %d1, l;", "ptx:5:13: error: 'k' needs too much local memory"},
    {"DeepBlocks",
     " {{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{"
     "{{{{{{{{{{{{{{{{{{"
     "{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{"
     "{{{{{{{{{{{{{{{{{{{{{",
     "blocks nest too deeply"},
    {"DeepOperand", " add.s32 %r1, {{{{{{%r2}}}}}}, 1;", "operands nest too deeply"},
};

class RefusalTest : public testing::TestWithParam<Case> {};

TEST_P(RefusalTest, SaysWhatAndWhere) {
  std::string text = kHead;
  if (GetParam().text[0] == ' ')
    text += std::string(
                ".global .b32 g; .func f(.param .b32 x) { ret; } .entry k() { .reg .pred %p<4>; .reg .b16 %h<4>; .reg "
                ".b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<4>;\n") +
            GetParam().text + "\nret; }\n";
  else text += GetParam().text;
  const std::string said = refusal(text);
  EXPECT_EQ(said.substr(0, 4), "218 ") << said;
  EXPECT_NE(said.find(GetParam().said), std::string::npos) << said;
}

INSTANTIATE_TEST_SUITE_P(Texts, RefusalTest, testing::ValuesIn(kCases), [](const auto& info) { return std::string(info.param.name); });

TEST(Refusals, OfWhatIsNotPtx) {
  EXPECT_NE(refusal("").find("218 ptx:1:1: error: this is not PTX: the text is empty"), std::string::npos);
  EXPECT_NE(refusal("\x7f"
                    "ELF")
                .find("218 ptx:1:1: error: this is not PTX"),
            std::string::npos);
  EXPECT_NE(refusal(".target sm_90\n").find("218 ptx:1:1: error: a PTX text begins with .version"), std::string::npos);
}

TEST(Refusals, OfVersionsToCome) {
  EXPECT_EQ(refusal(".version 12.0\n.target sm_90\n").substr(0, 48), "222 ptx:1:10: error: PTX version 12.0 is not sup");
}

TEST(Refusals, OfTargetsThatAreNone) {
  const auto refused = [](std::string_view name) { return refusal(fmt::format(".version 8.0\n.target {}\n.address_size 64\n", name)); };
  for (const char* name : {"sm_999", "sm_9", "sm_", "sm_80a", "sm_90f", "sm_90ab", "compute_85"})
    EXPECT_EQ(refused(name).find(fmt::format("218 ptx:2:9: error: '{}' is not a target", name)), 0u) << refused(name);
  for (const char* name : {"sm_20", "sm_90a", "sm_100f", "compute_75"}) EXPECT_EQ(refused(name), "") << name;
}

TEST(Refusals, NameEveryMistake) {
  const std::string said =
      refusal(std::string(kHead) + ".entry k() { .reg .b32 %r<3>;\nadd.s32 %r1, %r9, 1;\nadd.q32 %r1, %r2, 1;\nmul.s32 %r1;\n}\n");
  for (const char* place : {"ptx:5:14:", "ptx:6:1:", "ptx:7:1:"}) EXPECT_NE(said.find(place), std::string::npos) << said;
}

// Everything that once went wrong, and a sample of what the fuzzer found its way with.
TEST(Corpus, LoadsOrIsRefused) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(WARPBEAM_PTX_CORPUS)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    SCOPED_TRACE(entry.path().filename().string());
    const std::string said = refusal(text);
    EXPECT_TRUE(said.empty() || said.starts_with("218 ptx") || said.starts_with("222 ptx") || said.starts_with("2 ")) << said;
    ++files;
  }
  EXPECT_GT(files, 50u);
}

// --- long texts: their time grows with their length --------------------------------------------------------------

template <class Line>
std::string long_kernel(int lines, Line line) {
  std::string text = std::string(kHead) +
                     ".func (.param .b32 o) f(.param .b32 x) { ret; }\n.entry k() { .reg .pred %p<4>; .reg .b32 %r<4>; "
                     ".reg .b64 %d<4>;\n";
  for (int k = 0; k < lines; ++k) text += line(k);
  return text + "ret; }\n";
}

// `kernel(n)` is a text of some n lines. Of the processor's time, four times the lines take four times as much, or sixteen
// times where something is quadratic; what takes less than a second says nothing.
template <class Kernel>
void expect_linear(Kernel kernel) {
  const auto seconds = [&](int lines) {
    const std::string text = kernel(lines);
    const std::clock_t begin = std::clock();
    EXPECT_EQ(refusal(text), "");
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  const double few = seconds(12500), many = seconds(50000);
  EXPECT_LT(many, std::max(1.0, 10 * few));
}

TEST(LongTexts, Calls) {
  expect_linear([](int lines) {
    return long_kernel(lines / 6, [](int) {
      return "{ .param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %r1;\ncall.uni (b), f, (a);\nld.param.b32 %r1, "
             "[b];\n}\n";
    });
  });
}
TEST(LongTexts, Jumps) {
  expect_linear([](int lines) {
    return long_kernel(lines / 2, [=](int k) {
      return "L" + std::to_string(k) + ": add.s32 %r1, %r1, 1;\n@%p1 bra L" + std::to_string(k * 7919LL % (lines / 2)) + ";\n";
    });
  });
}
TEST(LongTexts, Tables) {
  expect_linear([](int lines) {
    return long_kernel(lines / 4, [](int k) {
      const std::string n = std::to_string(k);
      return "T" + n + ": .branchtargets A" + n + ", B" + n + ";\nbrx.idx %r1, T" + n + ";\nA" + n + ": add.u32 %r1, %r1, 1;\nB" + n +
             ":\n";
    });
  });
}
TEST(LongTexts, NestedLoops) {
  expect_linear([](int lines) {
    std::string text = long_kernel(lines / 2, [](int k) { return "L" + std::to_string(k) + ": atom.global.add.u32 %r1, [%d1], 1;\n"; });
    text.resize(text.size() - 7);
    for (int k = lines / 2; k-- > 0;) text += "@%p1 bra L" + std::to_string(k) + ";\n";
    return text + "ret; }\n";
  });
}
TEST(LongTexts, LocalVariables) {
  expect_linear([](int lines) {
    return long_kernel(lines / 2,
                       [](int k) { return ".local .b32 l" + std::to_string(k) + ";\nmov.u64 %d1, l" + std::to_string(k) + ";\n"; });
  });
}

}  // namespace
}  // namespace warpbeam::vm
