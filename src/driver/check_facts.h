// What `warpbeam check` asks the compiler beside the program itself: how arrays are divided, where structures have gaps,
// which variables are read before they have a value, and which calls drop an error code.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "driver/options.h"

namespace warpbeam::driver {

struct CheckFacts {
  struct Uninitialised {
    std::string place;     // file.cu:12
    std::string variable;
    bool sometimes = false;
  };
  std::vector<Uninitialised> uninitialised;
  std::set<std::string> unused;  // places of calls
  std::string shapes;            // a file for the checker: `name;element bytes;dimension;…` lines, those of gaps_of, and `^kernel`
  bool complete = false;         // the compiler was asked
};

// Asks the compiler; `directory` is where files are left. All that was found is in the file `facts` there, which the checker
// reads as well.
CheckFacts gather_check_facts(const Options& options, const std::string& directory);
CheckFacts read_check_facts(const std::string& file);

// The lines of shapes for the variables of LLVM's text.
std::string shapes_of(const std::string& ir);

}  // namespace warpbeam::driver
