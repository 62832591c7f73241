// What `warpbeam check` asks the compiler beside the program itself. The plugin of src/lowering writes it while the program is
// made, and it is kept beside the program; a line each:
//
//   tile;4;16;16                           how an array is divided: the bytes of an element, and its dimensions
//   ~_Z4copyP4Item;16;4-8                  a structure of so many bytes that a kernel is given, and the gaps in it
//   ^_Z4copyP4Item;12                      the line of a kernel's last return before its end; 0 if there is none
//   !uninitialised<tab>a.cu:7<tab>best<tab>1   a variable that is read before it has a value, 1 if only sometimes
//   !unused<tab>a.cu:12                    a call that drops an error code
//
// Lines that begin with `!` are for the command, the others for the checker.
#pragma once
#include <set>
#include <string>
#include <vector>

namespace warpbeam::compiler {

struct CheckFacts {
  struct Uninitialised {
    std::string place;     // file.cu:12
    std::string variable;
    bool sometimes = false;
  };
  std::vector<Uninitialised> uninitialised;
  std::set<std::string> unused;  // places of calls
  std::string file;              // for the checker
};

// Of the passes over all sources. Each fact stands there once, and paths inside the working directory are as the user typed them.
std::string joined_facts(const std::vector<std::string>& texts);

std::string facts_file_of(const std::string& program);
CheckFacts read_check_facts(const std::string& file);

}  // namespace warpbeam::compiler
