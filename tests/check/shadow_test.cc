// What is remembered of memory, and the names of places in it.
#include "observe/check/shadow.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "observe/check/variables.h"

namespace warpbeam::observe::check {
namespace {

TEST(Shadow, words_stay_whole_until_a_byte_is_used) {
  Shadow s(64);
  int calls = 0;
  s.each(8, 8, [&](Cell& c, uint64_t, uint32_t bytes) {
    EXPECT_EQ(bytes, 4u);
    c.write = 7;
    ++calls;
  });
  EXPECT_EQ(calls, 2);
  calls = 0;
  s.each(9, 2, [&](Cell& c, uint64_t at, uint32_t bytes) {
    EXPECT_EQ(bytes, 1u);
    EXPECT_EQ(c.write, 7u);
    EXPECT_EQ(at, 9u + static_cast<uint64_t>(calls));
    c.write = 9;
    ++calls;
  });
  EXPECT_EQ(calls, 2);
  std::vector<EventId> found;
  s.each(8, 4, [&](Cell& c, uint64_t, uint32_t) { found.push_back(c.write); });
  EXPECT_EQ(found, (std::vector<EventId>{7, 9, 9, 7}));
}

TEST(Shadow, initialised_bytes_are_exact) {
  Shadow s(64);
  s.initialise(2, 5);
  for (uint64_t at = 0; at < 12; ++at) s.each(at, 1, [&](Cell& c, uint64_t, uint32_t) { EXPECT_EQ(c.init & 1, at >= 2 && at < 7) << at; });
}

TEST(Shadow, clearing_forgets) {
  Shadow s(64);
  s.each(1, 1, [](Cell& c, uint64_t, uint32_t) { c.write = 3; });
  s.clear();
  s.each(0, 4, [](Cell& c, uint64_t, uint32_t bytes) {
    EXPECT_EQ(bytes, 4u);
    EXPECT_EQ(c.write, 0u);
  });
}

TEST(Shapes, places_have_indices) {
  const std::string file = testing::TempDir() + "shapes";
  std::ofstream(file) << "_ZZ6kernelPiE4tile;4;16;17\ntable;8;10\nopen;2;0\n";
  Shapes s;
  s.read(file);
  EXPECT_EQ(s.place("_ZZ6kernelPiE4tile", 4 * (3 * 17 + 5)), "tile[3][5]");
  EXPECT_EQ(s.place("_ZZ6kernelPiE4tile.2", 4), "tile[0][1]");
  EXPECT_EQ(s.place("table", 20), "table[2]+4");
  EXPECT_EQ(s.place("open", 6), "open[3]");
  EXPECT_EQ(s.place("other", 6), "other+0x6");
  std::remove(file.c_str());
}

TEST(Shapes, plain_names) {
  EXPECT_EQ(plain_name("_ZZ1kILi16EEvPfE4tile"), "tile");
  EXPECT_EQ(plain_name("plain"), "plain");
}

}  // namespace
}  // namespace warpbeam::observe::check
