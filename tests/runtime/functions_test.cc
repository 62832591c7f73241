// functions.inc against the library and against its page.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "kernels.h"

namespace {

struct Row {
  const char* name;
  bool works;
};

const Row kRows[] = {
#define WB_Works true
#define WB_Partly true
#define WB_NotYet false
#define WB_RUNTIME(name, chapter, state, note) {#name, WB_##state},
#define WB_ENTRY(name, chapter, state, note) {#name, WB_##state},
#define WB_DRIVER(name, chapter, state, note) {#name, WB_##state},
#include "cuda/functions.inc"
};

TEST(Functions, each_is_listed_once_and_exported) {
  std::set<std::string> names;
  for (const Row& row : kRows) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " is listed twice";
    EXPECT_NE(dlsym(RTLD_DEFAULT, row.name), nullptr) << row.name;
  }
  EXPECT_GT(names.size(), 1000u);
}

TEST(Functions, what_does_not_work_yet_says_so) {
  for (const Row& row : kRows) {
    if (row.works) continue;
    auto function = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, row.name));
    ASSERT_NE(function, nullptr);
    EXPECT_EQ(function(), cudaErrorNotSupported) << row.name;
  }
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Functions, the_coverage_page_is_current) {
  std::string fresh = testing::TempDir() + "/coverage.md";
  ASSERT_EQ(std::system((std::string(WARPBEAM_COVERAGE_WRITER) + " " + fresh).c_str()), 0);
  EXPECT_EQ(read(WARPBEAM_DOCS "/coverage.md"), read(fresh)) << "build the target coverage_page";
}

}  // namespace
