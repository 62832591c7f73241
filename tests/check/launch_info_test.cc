// What compiled code keeps the address of stays where it is while blocks run.
#include <gtest/gtest.h>

#include <set>

#include "observe/check/checker.h"
#include "vm/code.h"

namespace warpbeam::observe::check {
namespace {

TEST(LaunchInfo, instructions_of_called_functions_move_nothing) {
  vm::FunctionCode own, called;
  own.insns.resize(4);
  called.insns.resize(1000);
  vm::Code code;
  code.function = &own;
  vm::Kernel kernel;
  kernel.code = &code;
  vm::Launch launch;
  launch.kernel = &kernel;
  LaunchInfo info;
  info.launch = &launch;
  info.known.resize(own.insns.size());
  info.next_place = 2 * vm::kTogether;
  info.who.resize(info.next_place);
  info.known[1].place = 3;
  info.who[3].site = 7;
  const Who* const who = info.who.data();
  std::set<uint32_t> places;
  for (const vm::Insn& i : called.insns) places.insert(info.known_of(i).place);
  EXPECT_EQ(places.size(), called.insns.size());
  EXPECT_GE(*places.begin(), 2 * vm::kTogether) << "the kernel's own are before them";
  EXPECT_EQ(info.who.data(), who) << "compiled code reads there";
  EXPECT_EQ(info.known_of(own.insns[1]).place, 3u);
  EXPECT_EQ(info.who_at(3).site, 7u);
  EXPECT_EQ(info.who_at(*places.rbegin()).site, 0u);
}

}  // namespace
}  // namespace warpbeam::observe::check
