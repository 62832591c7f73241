// What of the system the compiler is told to take.
#include "compiler/toolchain.h"

#include <gtest/gtest.h>

#include <fstream>

namespace warpbeam::compiler {
namespace {

namespace fs = std::filesystem;

struct GccOfTheSystem : testing::Test {
  fs::path system = fs::path(testing::TempDir()) / "gcc_of_the_system";

  void SetUp() override { fs::remove_all(system); }
  void add(const fs::path& file) {
    fs::create_directories((system / file).parent_path());
    std::ofstream(system / file) << "x";
  }
  void add_c(const std::string& version, const std::string& triple = "x86_64-linux-gnu") {
    add(fs::path("usr/lib/gcc") / triple / version / "crtbegin.o");
  }
  void add_cpp(const std::string& version) { add(fs::path("usr/include/c++") / version / "iostream"); }
  fs::path of(const std::string& version) { return system / "usr/lib/gcc/x86_64-linux-gnu" / version; }
};

TEST_F(GccOfTheSystem, IsTheNewest) {
  add_c("9"), add_cpp("9"), add_c("12"), add_cpp("12");
  EXPECT_EQ(gcc_of(system).newest, of("12"));
  EXPECT_EQ(gcc_of(system).with_cpp, of("12"));
}

TEST_F(GccOfTheSystem, IsTheNewestWithCppWhereTheNewestHasCOnly) {
  add_c("9"), add_cpp("9"), add_c("11"), add_cpp("11"), add_c("12");
  EXPECT_EQ(gcc_of(system).newest, of("12"));
  EXPECT_EQ(gcc_of(system).with_cpp, of("11"));
  add_c("13.2.0"), add_c("13.10.0"), add_cpp("13.2.0");
  EXPECT_EQ(gcc_of(system).newest, of("13.10.0"));
  EXPECT_EQ(gcc_of(system).with_cpp, of("13.2.0"));
}

TEST_F(GccOfTheSystem, IsNoneWithoutCppOrWithoutACompiler) {
  EXPECT_EQ(gcc_of(system).newest, "");
  add_c("12"), add_cpp("11"), add("usr/include/c++/v1/iostream");
  fs::create_directories(system / "usr/lib/gcc/x86_64-linux-gnu/11/plugin");
  EXPECT_EQ(gcc_of(system).newest, of("12"));
  EXPECT_EQ(gcc_of(system).with_cpp, "");
}

}  // namespace
}  // namespace warpbeam::compiler
