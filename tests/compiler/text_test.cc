// PTX text, compilers' messages, make rules and fat binaries.
#include <gtest/gtest.h>

#include <filesystem>

#include "compiler/check_facts.h"
#include "compiler/concessions.h"
#include "compiler/mended_text.h"
#include "compiler/depfile.h"
#include "compiler/device_link.h"
#include "compiler/diagnostics.h"
#include "fatbin/contents.h"
#include "fatbin/write.h"
#include "compiler/object_file.h"
#include "compiler/ptx_text.h"
#include "compiler/respell.h"

namespace warpbeam::compiler {
namespace {

constexpr std::string_view kHead = ".version 8.5\n.target sm_90\n.address_size 64\n";

std::string adjusted(std::string text, const Options& options) {
  adjust_ptx(text, options);
  return text;
}

TEST(PtxText, RegisterLimitGoesToKernelsWithoutBounds) {
  Options options;
  options.max_registers = 32;
  EXPECT_EQ(adjusted(".visible .entry a(\n)\n{\n\tret;\n}\n", options), ".visible .entry a(\n)\n.maxnreg 32\n{\n\tret;\n}\n");
  std::string bounded = ".visible .entry a(\n)\n.maxntid 256, 1, 1\n{\n\tret;\n}\n";
  EXPECT_EQ(adjusted(bounded, options), bounded);
  std::string function = ".func f(\n)\n{\n\tret;\n}\n";
  EXPECT_EQ(adjusted(function, options), function);
}

TEST(PtxText, CacheOperatorsGoToGlobalAccessesThatHaveNone) {
  Options options;
  options.load_cache = "cg";
  options.store_cache = "wt";
  auto line = [&](const std::string& text) { return adjusted(text + "\n", options); };
  EXPECT_EQ(line("\tld.global.f32 \t%f1, [%rd1];"), "\tld.global.cg.f32 \t%f1, [%rd1];\n");
  EXPECT_EQ(line("\tld.global.v4.f32 \t{%f1}, [%rd1];"), "\tld.global.cg.v4.f32 \t{%f1}, [%rd1];\n");
  EXPECT_EQ(line("\t@%p1 ld.global.u32 \t%r1, [%rd1];"), "\t@%p1 ld.global.cg.u32 \t%r1, [%rd1];\n");
  EXPECT_EQ(line("\tld.u32 \t%r1, [%rd1];"), "\tld.cg.u32 \t%r1, [%rd1];\n");
  EXPECT_EQ(line("\tst.global.u32 \t[%rd1], %r1;"), "\tst.global.wt.u32 \t[%rd1], %r1;\n");
  for (const char* same : {"\tld.volatile.global.u32 \t%r1, [%rd1];", "\tld.global.nc.f32 \t%f1, [%rd1];", "\tld.shared.u32 \t%r1, [x];",
                           "\tld.param.u64 \t%rd1, [p];", "\tld.global.ca.u32 \t%r1, [x];", "\tst.local.u32 \t[x], %r1;",
                           "\tld.acquire.gpu.u32 \t%r1, [x];", "\tstmatrix.x \t[x];"})
    EXPECT_EQ(line(same), std::string(same) + "\n");
}

TEST(PtxText, StaticVariablesHaveOneName) {
  Options options;
  options.rdc = true;
  std::string text =
      ".extern .global .align 4 .u32 _ZL2sv;\n.visible .global .align 4 .u32 _ZL2sv__static__ab12 = 3;\n"
      "\tld.global.u32 \t%r1, [_ZL2sv];\n\tmov.u64 %rd1, _ZL2sv2;\n";
  EXPECT_EQ(adjusted(text, options),
            ".visible .global .align 4 .u32 _ZL2sv__static__ab12 = 3;\n"
            "\tld.global.u32 \t%r1, [_ZL2sv__static__ab12];\n\tmov.u64 %rd1, _ZL2sv2;\n");
}

TEST(PtxText, SymbolsOfRelocatableCode) {
  auto symbols = device_symbols(
      ".extern .func  (.param .b32 func_retval0) _Z3fooi\n(\n)\n;\n.visible .global .align 4 .u32 gv;\n"
      ".extern .global .align 4 .u32 other[4];\n.extern .shared .align 4 .b8 pool[];\n.visible .entry _Z1kPi(\n"
      ".weak .func _Z1tv()\n.func _Z5localv()\n");
  EXPECT_EQ(symbols.defined, (std::set<std::string>{"gv", "_Z1kPi", "_Z1tv"}));
  EXPECT_EQ(symbols.undefined, (std::set<std::string>{"_Z3fooi", "other"}));
}

TEST(PtxText, ResourceLines) {
  std::string text = std::string(kHead) +
                     ".const .align 4 .b8 table[64];\n.shared .align 4 .b8 tile[1024];\n"
                     ".weak .entry k\n(\n\t.param .u64 k_param_0\n)\n;\n.visible .entry k(\n"
                     "\t.param .u64 k_param_0,\n\t.param .align 4 .b8 k_param_1[12]\n)\n{\n"
                     "\t.local .align 16 .b8 \t__local_depot0[32];\n\tmov.u32 \t%r1, tile;\n\tbar.sync \t0;\n\tret;\n}\n";
  EXPECT_EQ(resource_lines(text, CodeTarget{Arch{90}}),
            "ptxas info    : 0 bytes gmem, 64 bytes cmem[3]\n"
            "ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
            "ptxas info    : Function properties for k\n"
            "    32 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
            "ptxas info    : Used 1 barriers, 1024 bytes smem, 20 bytes parameters (PTX names no registers)\n");
}

TEST(Messages, EachIsShownOnce) {
  Diagnostics diagnostics;
  std::string error = "In file included from a.cu:1:\na.h:2:3: error: no such thing\n    2 | x\n      | ^\na.h:1:1: note: here\n";
  EXPECT_EQ(diagnostics.fresh(error + "1 error generated when compiling for sm_90.\n"), error);
  EXPECT_EQ(diagnostics.fresh(error + "1 error generated when compiling for host.\n"), "");
  std::string other = "a.cu:9:1: warning: only here\n";
  EXPECT_EQ(diagnostics.fresh(error + other), other);
  EXPECT_EQ(diagnostics.closing(), "1 warning and 1 error generated.\n");
}

TEST(Messages, FullDiskIsNoCrash) {
  Diagnostics diagnostics;
  const std::string shown = diagnostics.fresh(
      "fatal error: error in backend: IO failure on output stream: No space left on device\n"
      "PLEASE submit a bug report to https://bugs.debian.org/ and include the crash backtrace.\n"
      "1.\t<eof> parser at end of file\n");
  EXPECT_EQ(shown,
            "fatal error: error in backend: IO failure on output stream: No space left on device\n"
            "note: there is no room for temporary files; TMPDIR names another folder for them\n");
}

TEST(Messages, ACrashOfTheCompilerIsTwoLines) {
  const std::string dump =
      "PLEASE submit a bug report to https://example.org and include the crash backtrace.\nStack dump:\n"
      "0.\tProgram arguments: clang++-19 a.cu\n1.\ta.cu:1:2: current parser token 'pragma'\n"
      " #0 0x00007f4d0 llvm::sys::PrintStackTrace (/usr/lib/x.so+0xeb)\n#10 0x00007f4d0 main\n"
      "clang++-19: error: clang frontend command failed with exit code 139 (use -v to see invocation)\n";
  Diagnostics diagnostics;
  EXPECT_EQ(diagnostics.fresh(dump),
            "the compiler crashed; it was at\n  a.cu:1:2: current parser token 'pragma'\n"
            "clang++-19: error: clang frontend command failed with exit code 139 (use -v to see invocation)\n");
  EXPECT_EQ(diagnostics.fresh(dump), "");
}

TEST(Messages, ColoursDoNotMakeADifference) {
  Diagnostics diagnostics;
  std::string coloured = "\033[1ma.cu:1:1: \033[0;1;31merror: \033[0mx\033[0m\n";
  EXPECT_EQ(diagnostics.fresh(coloured), coloured);
  EXPECT_EQ(diagnostics.fresh("a.cu:1:1: error: x\n"), "");
  EXPECT_EQ(diagnostics.closing(), "1 error generated.\n");
}

TEST(Messages, WhatIsMendedIsNotToldOf) {
  const std::string mended = "a.cu:1:2: error: expected expression\n    1 | a << < 1\n", warned = "a.cu:9:1: warning: old\n",
                    wrong = "In file included from a.cu:3:\nb.h:4:5: error: no x\n    4 | y\nb.h:1:1: note: y is here\n",
                    moved = "In file included from a.cu:3:\nb.h:4:3: error: no x\n", other = "c.h:7:1: error: late\n";
  const std::string closing = "3 errors generated when compiling for sm_90.\n";
  EXPECT_EQ(still_wrong(warned + mended + wrong + closing, moved + other + closing), warned + wrong + other);
  EXPECT_EQ(still_wrong(mended, other), other);
  EXPECT_EQ(still_wrong(wrong, "a.cu:8:3: error: the device function f() is called here and defined nowhere\n"), wrong);
  EXPECT_EQ(still_wrong(mended + wrong, "clang++: error: crashed\n"), mended + wrong);
}

TEST(Depfile, NamesWithBlanks) {
  EXPECT_EQ(parse_depfile("a.o: a.cu \\\n  my\\ dir/b.h c\\#d.h $$e.h\n\nb.h:\n"),
            (std::vector<std::string>{"a.cu", "my dir/b.h", "c#d.h", "$e.h"}));
  EXPECT_TRUE(parse_depfile("").empty());
}

TEST(Fatbin, WhatIsWrittenIsRead) {
  std::string bytes = fatbin::write({{70, "abc"}, {90, std::string(100, 'x')}});
  EXPECT_EQ(bytes.size() % 8, 0u);
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x50\xed\x55\xba\x01\x00\x10\x00", 8));
  const std::string section = bytes + std::string(8, '\0') + bytes;
  auto containers = fatbin::read_section(section);
  ASSERT_TRUE(containers) << containers.error().message;
  ASSERT_EQ(containers->size(), 2u);
  for (const auto& container : *containers) {
    ASSERT_EQ(container.ptx.size(), 2u);
    EXPECT_EQ(*fatbin::text_of(container.ptx[0]), "abc");
    EXPECT_EQ(container.ptx[1].cc, 90);
    EXPECT_EQ(fatbin::text_of(container.ptx[1])->size(), 100u);
  }
}

TEST(Fatbin, DamageIsNoticedAtEveryByte) {
  std::string bytes = fatbin::write({{70, "abcdefgh"}});
  for (size_t length = 1; length < bytes.size(); ++length) EXPECT_FALSE(fatbin::read_section(std::string_view(bytes).substr(0, length)));
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0xff);
    (void)fatbin::read_section(changed);  // any answer, but no crash
  }
}

TEST(ObjectFile, GarbageIsRefused) {
  EXPECT_FALSE(read_object("", "x"));
  EXPECT_FALSE(read_object("not an object", "x"));
  std::string elf("\177ELF\2\1\1", 7);
  elf.resize(64, '\xff');
  elf[18] = 62, elf[19] = 0;
  EXPECT_FALSE(read_object(elf, "x"));
  std::string text = elf;
  EXPECT_FALSE(replace_section(text, ".nv_fatbin", "x"));
}

TEST(Respell, MacrosStandApartFromStrings) {
  EXPECT_EQ(respell(R"(printf("at "__FILE__":%d", "x"PRIu64);)"), R"(printf("at " __FILE__":%d", "x" PRIu64);)");
  EXPECT_EQ(respell(R"(extern "C"__global__ void k();)"), R"(extern "C" __global__ void k();)");
  EXPECT_FALSE(respell(R"(auto a = "x"_id + "y"s; // "z"__FILE__)"));
  EXPECT_FALSE(respell("/* \"a\"__FILE__ */ char c = '\"'; int n = 1'000;"));
}

TEST(Respell, PercentBeforeAPtxName) {
  EXPECT_EQ(respell(R"(asm("{ .reg .pred %p; setp.eq.s32 %p, %1, 34; @%p mov.s32 %0, 1; }" : "+r"(y) : "r"(x));)"),
            R"(asm("{ .reg .pred %%p; setp.eq.s32 %%p, %1, 34; @%%p mov.s32 %0, 1; }" : "+r"(y) : "r"(x));)");
  EXPECT_EQ(respell("asm volatile (\"mov.u32 %0, \"\n  \"%laneid;\" : \"=r\"(r));"),
            "asm volatile (\"mov.u32 %0, \"\n  \"%%laneid;\" : \"=r\"(r));");
  EXPECT_EQ(respell(R"x(asm(R"(mov.u32 %0, %clock;)" : "=r"(r));)x"), R"x(asm(R"(mov.u32 %0, %%clock;)" : "=r"(r));)x");
  // As clang reads it already; without operands nothing is special; host code has its own letters after %.
  EXPECT_FALSE(respell(R"(asm("mov.u32 %0, %%laneid; L%=: bra.uni %[n];" : "=r"(r) : [n] "r"(f("%d")));)"));
  EXPECT_FALSE(respell(R"(asm volatile("mov.u32 %r9, %tid.x;");)"));
  EXPECT_FALSE(respell(R"(asm("movl %k1, %w0" : "=r"(r) : "r"(x)); printf("%d .u32", x ? a : b);)"));
}

TEST(Respell, CommasBetweenOperands) {
  EXPECT_EQ(respell(R"(asm volatile("st.u8 [%1], %0;" ::"r"(v) "l"(p) : "memory");)"),
            R"(asm volatile("st.u8 [%1], %0;" ::"r"(v), "l"(p) : "memory");)");
  EXPECT_EQ(respell(R"x(__asm__ __volatile__("" : [a] "=r" (x[(1)]) [b] "+r"(y), "=r"(z) : "r"(f(")", ',')) "r"((w)) R"(l)"(p));)x"),
            R"x(__asm__ __volatile__("" : [a] "=r" (x[(1)]), [b] "+r"(y), "=r"(z) : "r"(f(")", ',')), "r"((w)), R"(l)"(p));)x");
  EXPECT_EQ(respell("#define S(v, p) asm(\"\" : : \"r\"(v) \\\n /* , */ \"l\"(p)) // \"l\"(p) \"l\"(p)"),
            "#define S(v, p) asm(\"\" : : \"r\"(v), \\\n /* , */ \"l\"(p)) // \"l\"(p) \"l\"(p)");
  EXPECT_FALSE(respell(R"(asm("" : "=r"(x) /* "r"(y) "r"(z) */, "=r"(y) : "r"(f("%d" (x) "%d")) : "memory");)"));
  EXPECT_FALSE(respell("asm(\"\" ::\"r\"(v)\n#ifdef WIDE\n, \"l\"(p)\n#endif\n);"));
  // A macro may bring its own comma.
  EXPECT_FALSE(respell(R"x(asm("" :: IN(v) "l"(p), "r"(v) AND "l"(p)); f("asm(\"\" :: \"r\"(v) \"l\"(p))");)x"));
  EXPECT_FALSE(respell(R"x(// asm("" :: "r"(v) "l"(p)))x"));
}

TEST(DeviceLink, RegistrationIsAJump) {
  DeviceLink link{{"__cudaRegisterLinkedBinary__nv_1"}, {"__fatbinwrap__nv_2"}};
  std::string text = registration_assembly(link);
  EXPECT_NE(text.find("__cudaRegisterLinkedBinary__nv_1:\n\tjmp __warpbeamRegisterLinked@PLT\n"), std::string::npos) << text;
  EXPECT_NE(text.find(".quad __fatbinwrap__nv_2"), std::string::npos);
}

TEST(Concessions, BranchesThatAreNeverTakenAreSetAside) {
  const std::string head = "{ auto __warpbeam_dead = [&] __attribute__((host)) () { ", tail = " }; (void)__warpbeam_dead; }";
  EXPECT_EQ(set_dead_branches_aside("if (0) return f(\";\");\nif(false) {\n a; b(); }\nelse g();"),
            "if (0) " + head + "return f(\";\");" + tail + "\nif(false) " + head + "{\n a; b(); }" + tail + "\nelse g();");
  const auto list = set_dead_branches_aside("if (0) { return {a, b}; } return c;");
  ASSERT_TRUE(list);
  EXPECT_TRUE(list->starts_with("struct __warpbeam_any {")) << *list;
  EXPECT_NE(list->find("() -> __warpbeam_any { { return {a, b}; }" + tail + " return c;"), std::string::npos) << *list;
  for (const char* same : {"if (x) f();", "if (0x1) f();", "if (0 + n) f();", "\"if (0) f();\"", "// if (0) f();\n", "elseif (0) f();",
                           "if (0) for (;;) f();", "#if (0)\n#endif\n"})
    EXPECT_EQ(set_dead_branches_aside(same), std::nullopt) << same;
}

// Passes over several sources see one header; paths are as they were typed.
TEST(CheckFacts, EachStandsOnceAndIsReadAgain) {
  const std::string here = std::filesystem::current_path().string(), file = ::testing::TempDir() + "/program.facts";
  const std::string all = joined_facts(
      {"tile;4;8\n!uninitialised\t" + here + "/a.cuh:7\tbest\t1\n", "!uninitialised\ta.cuh:7\tbest\t1\n!unused\t/b.cu:3\n^_Z1kv;0\n"});
  EXPECT_EQ(all, "tile;4;8\n!uninitialised\ta.cuh:7\tbest\t1\n!unused\t/b.cu:3\n^_Z1kv;0\n");
  ASSERT_TRUE(write_file(file, all));
  const CheckFacts facts = read_check_facts(file);
  ASSERT_EQ(facts.uninitialised.size(), 1u);
  EXPECT_EQ(facts.uninitialised[0].place, "a.cuh:7");
  EXPECT_EQ(facts.uninitialised[0].variable, "best");
  EXPECT_TRUE(facts.uninitialised[0].sometimes);
  EXPECT_EQ(facts.unused, std::set<std::string>{"/b.cu:3"});
}

TEST(MendedText, SharedVariablesAreNotConstructed) {
  const std::string text = "# 1 \"a.cu\"\nvoid f() {\n static __attribute__((shared)) Vec a[2][N], b; g(a); }\n";
  EXPECT_EQ(with_own_lines(text, "f"), "# 2 \"f\"\n" + text.substr(text.find('\n') + 1));
  const std::string error = ": error: initialization is not supported for __shared__ variables\n";
  const auto mended = mend_text(text, "f", "f:3:37" + error + "f:3:46" + error);
  ASSERT_TRUE(mended);
  EXPECT_NE(mended->find("void f() {\n typedef  Vec a__warpbeam_t[2][N], b__warpbeam_t; static __attribute__((shared)) "),
            std::string::npos)
      << *mended;
  EXPECT_NE(mended->find("; static constexpr a__warpbeam_t& a = a__warpbeam_u.value; static "), std::string::npos) << *mended;
  EXPECT_TRUE(mended->ends_with("; static constexpr b__warpbeam_t& b = b__warpbeam_u.value; g(a); }\n")) << *mended;
  EXPECT_EQ(mend_text("__attribute__((shared)) Vec a(1);", "f", "f:1:29" + error), std::nullopt);
}

TEST(MendedText, VoidPointersCountInBytes) {
  const std::string error = ": error: arithmetic on a pointer to void\n";
  EXPECT_EQ(mend_text("q = s.p + 1; ++r;", "f", "f:1:9:{1:5-1:8}" + error + "f:1:14:{1:16-1:17}" + error),
            "q = __warpbeam_bytes(s.p) + 1; ++__warpbeam_bytes(r);");
}

TEST(MendedText, MacrosBehindStringsAreWordsOfTheirOwn) {
  const std::string text =
      "# 1 \"a.cu\"\nint x;\n# 40 \"b.h\" 1\nputs(\"in \"__FILE__\":\"__LINE__);\nputs(\"\"__LINE__, \"\"__UNKNOWN__);\n";
  auto error = [](const char* at, const char* name) {
    return std::string("f:") + at + ": error: no matching literal operator for call to 'operator\"\"" + name + "'\n";
  };
  EXPECT_EQ(
      mend_text(text, "f", error("4:11", "__FILE__") + error("4:22", "__LINE__") + error("5:8", "__LINE__") + error("5:20", "__UNKNOWN__")),
      "# 1 \"a.cu\"\nint x;\n# 40 \"b.h\" 1\nputs(\"in \" \"b.h\"\":\" 40);\nputs(\"\" 41, \"\"__UNKNOWN__);\n");
}

TEST(MendedText, HostFunctionsTrapOnTheDevice) {
  auto mend = [](const std::string& text, const std::string& note) {
    return mend_text(text, "f", "f:9:9: error: reference to __host__ function 'exit' in __host__ __device__ function\n" + note)
        .value_or("");
  };
  const std::string body = " { __builtin_trap(); } ";
  EXPECT_EQ(mend("\nextern void exit (int) noexcept (true);", ""),
            "\n__attribute__((device)) inline extern void exit (int) noexcept (true)" + body + "extern void exit (int) noexcept (true);");
  EXPECT_EQ(mend("struct S { S(int n) : n(n) {} };", "f:1:12: note: 'S' declared here\n"),
            "struct S { __attribute__((device)) inline S(int n)" + body + "S(int n) : n(n) {} };");
  EXPECT_EQ(mend("public: template <class T>\n# 7 \"g\"\nstatic inline T g(T x) const { }", "f:3:17: note: 'g' declared here\n"),
            "public: template <class T> __attribute__((device)) static inline T g(T x) const" + body +
                "template <class T>\n# 7 \"g\"\nstatic inline T g(T x) const { }");
  EXPECT_FALSE(can_be_mended("error: reference to __host__ function 'f' in __global__ function"));
}

TEST(MendedText, ArraysOfVariableSizeTakeTheirItemsAfterwards) {
  const std::string error = ": error: variable-sized object may not be initialized\n";
  auto filled = [](const std::string& name, const std::string& list) {
    return "; { const __typeof__(" + name + "[0]) " + name + "__warpbeam_items" + list + "; __warpbeam_initialize(&" + name +
           "[0], sizeof(" + name + ") / sizeof(" + name + "[0]), " + name + "__warpbeam_items); }";
  };
  EXPECT_EQ(mend_text("const int a [n + f(1)][2] = {{1, 2}}, b = 3;", "f", "f:1:14:{1:14-1:15}" + error),
            "int a [n + f(1)][2] " + filled("a", "[] = {{1, 2}}") + " __typeof__(a[0])  b = 3;");
  EXPECT_EQ(mend_text("{ int x = 1, b[n] = { }; char s[n] = \"a,;\"; }", "f", "f:1:16" + error + "f:1:31:{1:38-1:43}" + error),
            "{ int x = 1, b[n] " + filled("b", "[1] = { }") + "; char s[n] " + filled("s", "[] = \"a,;\"") + "; }");
}

TEST(MendedText, KernelsTakeOverloadedFunctionsOfTheDevice) {
  const std::string device = "__attribute__((device)) ", host = "__attribute__((host)) inline ";
  const std::string messages =
      "f:4:1: error: no matching function for call to 'k'\nf:9:9: note: candidate template ignored: invalid explicitly-specified "
      "argument for template parameter 'F'\n";
  EXPECT_TRUE(can_be_mended(messages));
  EXPECT_EQ(mend_text(device + "float op(float a) { return op2(a); }\n" + device +
                          "double op (double);\nfloat op();\nk<3, &n::op><<<1, 2>>>(op(1));",
                      "f", messages),
            host + device + "float op(float a) { return op2(a); }\n" + host + device +
                "double op (double);\nfloat op();\nk<3, &n::op><<<1, 2>>>(op(1));");
}

TEST(MendedText, JumpsGoPastAssignments) {
  const std::string note = ": note: jump bypasses variable initialization\n";
  EXPECT_EQ(mend_text("case 0: const int a = f(1, 2), b = a; g();", "f", "f:1:32" + note + "f:1:19" + note),
            "case 0: int a , b ; a = f(1, 2); b = a; g();");
  EXPECT_EQ(mend_text("case 0: T a(1);", "f", "f:1:11" + note), std::nullopt);
}

TEST(MendedText, DeclarationsAgreeForWhomTheyAre) {
  const std::string both = "__attribute__((host)) __attribute__((device)) ";
  EXPECT_EQ(mend_text("struct S { " + both + "int f(); };\nint S::f() {}", "f",
                      "f:2:8: error: __host__ function 'f' cannot overload __host__ __device__ function 'f'\n"
                      "f:1:62: note: previous declaration is here\n"),
            "struct S { " + both + "int f(); };\n" + both + "int S::f() {}");
  EXPECT_EQ(mend_text("float f(float);\n" + both + "float f(float x) {}", "f",
                      "f:2:53: error: __host__ __device__ function 'f' cannot overload __host__ function 'f'\n"
                      "f:1:7: note: previous declaration is here\n"),
            both + "float f(float);\n" + both + "float f(float x) {}");
  EXPECT_EQ(mend_text("template <class T> __attribute__((device)) T z(T);\ntemplate <> int z<int>(int) {}", "f",
                      "f:2:17: error: no function template matches function template specialization 'z'\n"
                      "f:1:46: note: candidate template ignored: target attributes do not match\n"),
            "template <class T> __attribute__((device)) T z(T);\ntemplate <> __attribute__((device)) int z<int>(int) {}");
}

}  // namespace
}  // namespace warpbeam::compiler
