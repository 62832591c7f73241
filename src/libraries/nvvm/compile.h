// What libnvvm and the linker at run time ask of LLVM, which is in libwarpbeam_jit.so alone.
#pragma once
#include <string>
#include <vector>

namespace warpbeam::nvvm {

struct Input {
  std::string name;
  std::string bytes;  // text or bitcode
  bool lazy = false;  // only what the others need of it, and then for this program alone
};

struct Options {
  std::string arch = "75";  // as in compute_90a
  bool optimize = true;
  bool debug = false;
  bool line_info = false;
  bool flush_denormals = false;
  bool exact_sqrt = true;
  bool exact_division = true;
  bool fuse = true;
  bool whole_program = false;  // nothing is linked with it: functions are its own
  bool bitcode = false;  // for a link later on, instead of PTX
};

enum class Status { Ok, Unreadable, Invalid, WrongVersion };

struct Compiled {
  Status status = Status::Ok;
  std::string code;
  std::string log;
};

// The dialect's version, of the code and of what debuggers are told.
inline constexpr int kIrVersion[] = {2, 0, 3, 2};

__attribute__((visibility("default"))) Compiled compile(const std::vector<Input>& inputs, const Options& options);
__attribute__((visibility("default"))) Compiled verify(const std::vector<Input>& inputs);

// How code for a link later on begins: with the vendor's mark, by which programs know it, and one of its own. The bitcode follows.
inline constexpr char kLinkable[] =
    "\xed"
    "CN\x7f"
    "WARPBEAM";

}  // namespace warpbeam::nvvm
