// What an H100's counters said about atomic operations of single warps (data/atomic_turns.txt).
#include "model/atomic_turns.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "model/transactions.h"

namespace warpbeam::model {
namespace {

TEST(AtomicTurns, AsOnTheHardware) {
  std::ifstream file(std::string(WARPBEAM_TEST_DATA) + "/atomic_turns.txt");
  int cases = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream text(line);
    std::string operation;
    WarpAccess access;
    int sectors = 0, turns = 0;
    text >> operation >> access.bytes_per_lane >> sectors >> turns >> std::hex >> access.active;
    for (size_t lane = 0; lane < 32; ++lane)
      if (access.active >> lane & 1) text >> access.address[lane];
    ASSERT_TRUE(text) << line;
    access.compares = operation == "cas";
    EXPECT_EQ(global_atomic_traffic(GlobalRule::Sectors, access).sectors, sectors) << line;
    for (AtomicTurns left(access.address, access.active, access.compares); !left.done(); --turns) left.next();
    EXPECT_EQ(turns, 0) << line;
    ++cases;
  }
  EXPECT_GE(cases, 200);
}

TEST(AtomicTurns, LinesMeetInBanks) {
  // Of the first eight lines 0 and 5, 1 and 4, 2 and 7, 3 and 6.
  const uint32_t banks[] = {0, 1, 2, 3, 1, 0, 3, 2};
  for (uint64_t line = 0; line < 8; ++line) EXPECT_EQ(tag_bank(line * 128 + 64), banks[line]);
}

}  // namespace
}  // namespace warpbeam::model
