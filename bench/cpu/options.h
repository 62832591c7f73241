// The options of `warpbeam bench cpu`, and what it measures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cpu/work.h"

namespace bench {

struct Row {
  const char* name;
  double target;  // the least ratio aimed at
  MakeWork* make;
};

struct Result {
  const Row* row;
  double first_ms = 0;  // our first call, which compiles
  double ours_ms = 0, reference_ms = 0, operations = 0;
  std::string difference;
  double ratio() const { return reference_ms / ours_ms; }
};

struct Options {
  std::string json, only;
  std::vector<std::string> ablate;
  int repetitions = 7;
  bool quick = false, ours_only = false, memory = false, by_hand = false, on_request = false, help = false;

  bool has(std::string_view name) const { return name.find(only) != name.npos; }
};

// False after a message when the words make no sense.
bool read_options(int count, char** words, Options& options);

}  // namespace bench
