// The command line: nvcc's spellings, what they come to, and what is refused.
#include "compiler/options.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "compiler/split.h"

namespace warpbeam::compiler {
namespace {

Options parsed(const std::string& line) {
  auto options = parse_options(split_shell(line), 90);
  EXPECT_TRUE(options) << line << ": " << options.error().message;
  return options ? *options : Options{};
}

std::string refused(const std::string& line) {
  auto options = parse_options(split_shell(line), 90);
  EXPECT_FALSE(options) << line << " was accepted";
  return options ? "" : options.error().message;
}

std::string targets(const std::string& line) {
  std::vector<std::string> names;
  for (const auto& target : parsed(line + " a.cu").targets) names.push_back(target.arch.sm());
  return fmt::format("{}", fmt::join(names, " "));
}

TEST(Options, EveryNameIsThereOnce) {
  std::set<std::string_view> names;
  for (const auto& row : option_table()) {
    EXPECT_TRUE(names.insert(row.long_name).second) << row.long_name;
    if (row.short_name != row.long_name) EXPECT_TRUE(names.insert(row.short_name).second) << row.short_name;
    EXPECT_FALSE(row.help.empty()) << row.long_name;
    if (row.state != State::Works) EXPECT_FALSE(row.how.empty()) << row.long_name << " needs its reason";
  }
}

TEST(Options, EveryRowIsHonouredOrRefusedWithItsReason) {
  for (const auto& row : option_table()) {
    for (auto name : {row.long_name, row.short_name})
      for (auto dashes : {"-", "--"}) {
        std::vector<std::string> words = {fmt::format("{}{}", dashes, name)};
        if (row.state != State::Refused) continue;
        if (row.takes != Takes::Nothing) words.push_back("true");
        auto options = parse_options(words, 90);
        ASSERT_FALSE(options) << name;
        EXPECT_NE(options.error().message.find(row.how), std::string::npos) << options.error().message;
      }
  }
}

TEST(Options, EveryRowThatWorksIsImplemented) {
  for (const auto& row : option_table()) {
    if (row.state == State::Refused || row.id == OptionId::OptionsFile) continue;
    std::vector<std::string> words = {fmt::format("--{}", row.long_name)};
    if (row.takes != Takes::Nothing) words.push_back(row.takes == Takes::Truth ? "true" : "1");
    auto options = parse_options(words, 90);
    if (!options) EXPECT_EQ(options.error().message.find("not implemented"), std::string::npos) << row.long_name;
  }
}

// `run`, `check` and `profile` take their own options out of the line and must leave such words alone.
TEST(Options, SomeTakeTheNextWord) {
  auto takes = [](const std::string& line) { return takes_next_word(split_shell(line), 0); };
  EXPECT_TRUE(takes("-Xptxas -v"));
  EXPECT_TRUE(takes("-Xcompiler -h"));
  EXPECT_TRUE(takes("-I include"));
  EXPECT_TRUE(takes("--std c++14"));
  EXPECT_FALSE(takes("-Xptxas=-v a.cu"));
  EXPECT_FALSE(takes("-Iinclude a.cu"));
  EXPECT_FALSE(takes("-lineinfo -v"));
  EXPECT_FALSE(takes("--unknown a.cu"));
  EXPECT_FALSE(takes("a.cu b.cu"));
  EXPECT_FALSE(takes("-Xptxas"));
}

TEST(Options, ArchitectureSpellings) {
  EXPECT_EQ(targets(""), "sm_90");
  EXPECT_EQ(targets("-arch=sm_70"), "sm_70");
  EXPECT_EQ(targets("-arch sm_70"), "sm_70");
  EXPECT_EQ(targets("--gpu-architecture=compute_35"), "sm_35");
  EXPECT_EQ(targets("--gpu-architecture sm_13"), "sm_13");
  EXPECT_EQ(targets("-arch=sm_90a"), "sm_90a");
  EXPECT_EQ(targets("-arch=native"), "sm_90");
  EXPECT_EQ(targets("-arch=compute_60 -code=sm_60,sm_61,compute_60"), "sm_60");
  EXPECT_EQ(targets("-gencode arch=compute_70,code=sm_70"), "sm_70");
  EXPECT_EQ(targets("-gencode=arch=compute_70,code=[compute_70,sm_70]"), "sm_70");
  EXPECT_EQ(targets("-gencode=arch=compute_70,code='\"sm_70,compute_70\"'"), "sm_70");
  EXPECT_EQ(targets("--generate-code arch=compute_52,code=sm_52 -gencode arch=compute_80,code=compute_80"), "sm_52 sm_80");
  EXPECT_EQ(targets("-arch=all-major"), "sm_50 sm_60 sm_70 sm_80 sm_90");
}

TEST(Options, EveryArchitectureFromTenToNinety) {
  for (const auto& arch : known_archs()) {
    EXPECT_EQ(targets("-arch=" + arch.sm()), arch.sm());
    EXPECT_EQ(targets("-arch=" + arch.compute()), arch.sm());
  }
  CodeTarget old{Arch{13}};
  EXPECT_EQ(old.clang_arch(), "sm_20");
  EXPECT_EQ(old.cuda_arch_macro(), 130);
}

TEST(Options, ArchitecturesThatClangDoesNotKnow) {
  EXPECT_NE(refused("-arch=sm_120 a.cu").find("newer than sm_90a"), std::string::npos);
  EXPECT_NE(refused("-arch=sm_71 a.cu").find("unknown architecture 'sm_71'"), std::string::npos);
  EXPECT_NE(refused("-gencode arch=compute_100,code=sm_100 a.cu").find("newer than sm_90a"), std::string::npos);
  // Makefiles list every architecture of a toolkit: the known ones are compiled for, and the rest is said.
  auto both = parsed("-gencode arch=compute_80,code=sm_80 -gencode arch=compute_120,code=sm_120 a.cu");
  EXPECT_EQ(both.targets.size(), 1u);
  ASSERT_EQ(both.warnings.size(), 1u);
  EXPECT_NE(both.warnings[0].find("compute_120"), std::string::npos);
}

TEST(Options, Phases) {
  EXPECT_EQ(parsed("a.cu").phase, Phase::Executable);
  EXPECT_EQ(parsed("-c a.cu").phase, Phase::Object);
  EXPECT_TRUE(parsed("-dc a.cu").rdc);
  EXPECT_EQ(parsed("-dc a.cu").phase, Phase::Object);
  EXPECT_EQ(parsed("--device-link a.o").phase, Phase::DeviceLink);
  EXPECT_EQ(parsed("-lib a.cu").phase, Phase::Library);
  EXPECT_EQ(parsed("--ptx a.cu").phase, Phase::Ptx);
  EXPECT_EQ(parsed("-E a.cu").phase, Phase::Preprocess);
  EXPECT_EQ(parsed("-MM a.cu").phase, Phase::Dependencies);
  // Of several the first that is reached.
  EXPECT_EQ(parsed("-c -ptx a.cu").phase, Phase::Ptx);
  EXPECT_EQ(parsed("-ptx -MM -c a.cu").phase, Phase::Dependencies);
  EXPECT_EQ(parsed("-lib -link -c a.cu").phase, Phase::Object);
  EXPECT_EQ(parsed("-fdevice-syntax-only -c a.cu").phase, Phase::Object);
  EXPECT_EQ(parsed("-fatbin -cubin a.cu").cubin_suffix, ".cubin");
  EXPECT_NE(refused("-E -MD a.cu").find("-MM"), std::string::npos);
  EXPECT_NE(refused("-c -MF x.d a.cu").find("-MD"), std::string::npos);
}

TEST(Options, WhatChangesNothingHere) {
  for (const char* words : {"-ewp", "-Wmissing-launch-bounds", "-Werror=default-stream-launch,ext-lambda-captures-this", "-Xcicc -v",
                            "-sanitize memcheck", "-nohdinitlist", "-Xptxas --warn-on-spills,--register-usage-level=5",
                            "-Xptxas -suppress-stack-size-warning", "-gencode code=sm_80,arch=compute_80"})
    EXPECT_FALSE(parsed(std::string(words) + " -c a.cu").targets.empty()) << words;
}

TEST(Options, JoinedValues) {
  auto o = parsed("-DX=1 -D Y -UZ -Iinc -I'in c' -isystem sys -include pre.h -O3 -Llib -lm -std=c++14 a.cu");
  std::vector<std::string> expected = {"-DX=1", "-DY", "-UZ", "-Iinc", "-Iin c", "-isystem", "sys", "-include", "pre.h"};
  EXPECT_EQ(o.preprocessor, expected);
  EXPECT_EQ(o.optimise, "3");
  EXPECT_EQ(o.linker, (std::vector<std::string>{"-Llib"}));
  EXPECT_EQ(o.standard, "c++14");
  ASSERT_EQ(o.inputs.size(), 2u);
  EXPECT_EQ(o.inputs[0].path, "-lm");
  EXPECT_EQ(parsed("-lineinfo a.cu").inputs.size(), 1u) << "-lineinfo is not -l ineinfo";
  EXPECT_EQ(parsed("-lcudadevrt a.cu").inputs[0].path, "-lcudadevrt");
  EXPECT_EQ(parsed("-DA,B a.cu").preprocessor, (std::vector<std::string>{"-DA", "-DB"}));
}

TEST(Options, OptionsForOtherTools) {
  EXPECT_EQ(parsed("-Xcompiler -fopenmp,-Wall a.cu").host, (std::vector<std::string>{"-fopenmp", "-Wall"}));
  EXPECT_EQ(parsed("-Xcompiler='-O3 -Wall' a.cu").host, (std::vector<std::string>{"-O3", "-Wall"}));
  EXPECT_EQ(parsed("--compiler-options '\"-Wl,-rpath,x\"' a.cu").host, (std::vector<std::string>{"-Wl,-rpath,x"}));
  EXPECT_EQ(parsed("-Xcompiler '-Wl\\,-rpath\\,x' a.cu").host, (std::vector<std::string>{"-Wl,-rpath,x"}));
  EXPECT_EQ(parsed("-Xlinker -rpath,x a.cu").linker, (std::vector<std::string>{"-Xlinker", "-rpath", "-Xlinker", "x"}));
  EXPECT_TRUE(parsed("-Xptxas -v a.cu").resource_usage);
  EXPECT_TRUE(parsed("--ptxas-options=-v a.cu").resource_usage);
  auto both = parsed("-Xptxas -v,-dlcm=cg,-dscm=wt a.cu");
  EXPECT_EQ(both.load_cache, "cg");
  EXPECT_EQ(both.store_cache, "wt");
  EXPECT_EQ(parsed("-Xptxas --maxrregcount=32 a.cu").max_registers, 32);
  EXPECT_NE(refused("-Xptxas -dlcm=xx a.cu").find("ca, cg, cs, cv"), std::string::npos);
  EXPECT_NE(refused("-Xptxas -foo a.cu").find("Unknown option '-foo'"), std::string::npos);
}

TEST(Options, Precision) {
  auto fast = parsed("--use_fast_math a.cu").precision;
  EXPECT_TRUE(fast.ftz && !fast.prec_div && !fast.prec_sqrt && fast.fmad && fast.fast_math);
  EXPECT_TRUE(parsed("-use_fast_math a.cu").precision.fast_math);
  auto some = parsed("-ftz=true -prec-div=false --prec-sqrt=false --fmad=false a.cu").precision;
  EXPECT_TRUE(some.ftz && !some.prec_div && !some.prec_sqrt && !some.fmad && !some.fast_math);
  EXPECT_NE(refused("-ftz=maybe a.cu").find("expected true or false"), std::string::npos);
}

TEST(Options, Languages) {
  auto o = parsed("a.cu b.cpp c.c d.cc e.cxx f.o g.a h.so i.ptx libx.so.1");
  std::vector<Language> languages;
  for (const auto& input : o.inputs) languages.push_back(input.language);
  EXPECT_EQ(languages, (std::vector<Language>{Language::Cuda, Language::Cxx, Language::C, Language::Cxx, Language::Cxx, Language::Object,
                                              Language::Archive, Language::SharedLibrary, Language::Ptx, Language::SharedLibrary}));
  EXPECT_EQ(parsed("-x cu a.cpp").inputs[0].language, Language::Cuda);
  EXPECT_EQ(parsed("-x cu a.o").inputs[0].language, Language::Object);
  EXPECT_NE(refused("a.foo").find("Don't know what to do with 'a.foo'"), std::string::npos);
  EXPECT_NE(refused("../x.y/plain").find("Don't know"), std::string::npos);
}

TEST(Options, UnknownOptionsAreNamedWithAHint) {
  EXPECT_NE(refused("-foo a.cu").find("Unknown option '-foo'"), std::string::npos);
  EXPECT_NE(refused("-Wall a.cu").find("-Xcompiler -Wall"), std::string::npos);
  EXPECT_NE(refused("-fopenmp a.cu").find("-Xcompiler -fopenmp"), std::string::npos);
  EXPECT_NE(refused("--use-fast-math a.cu").find("did you mean '--use_fast_math'"), std::string::npos);
  EXPECT_EQ(parsed("-forward-unknown-to-host-compiler -fopenmp a.cu").host, (std::vector<std::string>{"-fopenmp"}));
  EXPECT_NE(refused("a.cu -o").find("argument expected after '-o'"), std::string::npos);
  EXPECT_NE(refused("-O -c a.cu").find("expected a number"), std::string::npos);
  EXPECT_NE(refused("-ccbin=/bin/echo a.cu").find("clang-19"), std::string::npos);
  EXPECT_NE(refused("-ccbin=no-such-wrapper a.cu").find("no such program"), std::string::npos);
  parsed("-ccbin=g++-9 a.cu");
  parsed("-ccbin /usr/bin/x86_64-linux-gnu-g++-12 a.cu");
}

TEST(Options, TheReferencePageIsCurrent) {
  std::ifstream in(std::string(WARPBEAM_DOCS) + "/nvcc-options.md");
  std::stringstream text;
  text << in.rdbuf();
  EXPECT_EQ(text.str(), options_markdown()) << "write it again: ./warpbeam nvcc --help=markdown > docs/nvcc-options.md";
}

}  // namespace
}  // namespace warpbeam::compiler
