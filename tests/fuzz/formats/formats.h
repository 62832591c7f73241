// What reads bytes that come from outside, each as a function that takes any bytes: they may be refused, but never crash, hang or take
// memory out of proportion. format_fuzz.cc gives them to libFuzzer, formats_test.cc mutates seeds for some seconds.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace warpbeam::fuzz {

struct Format {
  std::string_view name;
  bool (*read)(std::string_view bytes);  // whether they were taken
  std::vector<std::string> (*seeds)();
  std::vector<std::string_view> words;  // of which such bytes are made
};

const std::vector<Format>& formats();

}  // namespace warpbeam::fuzz
