// Between parsing and the finished options: what is collected until all options are known.
#pragma once
#include <string>
#include <vector>

#include "compiler/options.h"

namespace warpbeam::compiler {

// Everything that options leave behind until all of them are known.
struct Collected {
  Options options;
  std::string arch;
  std::vector<std::string> code;
  std::vector<std::string> gencode;
  std::vector<std::string> ptxas;
  std::string language;
  std::vector<std::string> paths;
  int phase = -1;  // how early the phase that was given comes
  bool forward_compiler = false;
  bool forward_linker = false;
};

// Takes one option into account.
Result<void> apply(Collected& all, const OptionRow& row, const std::string& value);

Result<int> read_number(std::string_view text, std::string_view option);

}  // namespace warpbeam::compiler
