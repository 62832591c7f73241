// functions.inc against the library and against its page.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "kernels.h"

namespace {

struct Row {
  const char* name;
  bool works;
  bool api;  // for programs to call, unlike the entry points of generated code
};

const Row kRows[] = {
#define WB_Works true
#define WB_Partly true
#define WB_NotYet false
#define WB_RUNTIME(name, chapter, state, note) {#name, WB_##state, true},
#define WB_ENTRY(name, chapter, state, note) {#name, WB_##state, false},
#define WB_DRIVER(name, since, chapter, state, note) {#name, WB_##state, true},
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

TEST(Functions, the_vendors_own_tables_are_not_there) {
  const void* table = nullptr;
  const cudaUUID_t id{};
  EXPECT_EQ(cudaGetExportTable(&table, &id), cudaErrorSymbolNotFound);
  EXPECT_EQ(table, nullptr);
}

// Every word of the tests and examples.
std::set<std::string> words_of_tests() {
  std::set<std::string> words;
  for (const char* folder : {"/../tests", "/../examples"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(WARPBEAM_DOCS + std::string(folder))) {
      const std::string kind = entry.path().extension();
      if (kind != ".cc" && kind != ".cu" && kind != ".c" && kind != ".cpp" && kind != ".h" && kind != ".py") continue;
      std::string word;
      for (char c : read(entry.path()) + ' ') {
        if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
          word += c;
        } else if (!word.empty()) {
          words.insert(word);
          word.clear();
        }
      }
    }
  return words;
}

// A program writes cuMemcpy2D; the headers make cuMemcpy2D_v2 of it, or cuMemcpy2D_v2_ptds in those tests that are built
// for a default stream per thread.
TEST(Functions, what_works_is_called_by_a_test_or_an_example) {
  const std::set<std::string> words = words_of_tests();
  for (const Row& row : kRows) {
    if (!row.works || !row.api) continue;
    const std::string symbol = row.name, name = symbol.substr(0, symbol.rfind("_pt")), spelled = name.substr(0, name.rfind("_v"));
    EXPECT_TRUE(words.contains(name) || words.contains(spelled)) << symbol << " has no test";
  }
}

TEST(Functions, the_coverage_page_is_current) {
  std::string fresh = testing::TempDir() + "/coverage.md";
  ASSERT_EQ(std::system((std::string(WARPBEAM_COVERAGE_WRITER) + " " + fresh).c_str()), 0);
  EXPECT_EQ(read(WARPBEAM_DOCS "/coverage.md"), read(fresh)) << "build the target coverage_page";
}

}  // namespace
