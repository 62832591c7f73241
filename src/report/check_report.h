// What the checker found: read from its recording, sorted out, and written as text like compute-sanitizer's or as JSON.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace warpbeam::report {

// A place in host code: "main in saxpy.cu:34".
struct HostFrame {
  std::string function, file;
  uint32_t line = 0;
  std::string text() const;
};

struct CheckFinding {
  std::string check, kind, title, kernel, mend;
  bool is_error = true;
  uint64_t count = 1;
  std::vector<std::string> locations;
  std::vector<std::string> callers;  // of functions that were inlined, as places
  std::vector<std::string> other_callers;  // of what was folded into this
  struct Line {
    std::string text;
    std::vector<std::string> stack;   // module+offset, the innermost first
    std::vector<HostFrame> frames;    // of the program's own code, once looked up
  };
  std::vector<Line> lines;
  std::map<std::string, std::string> facts;
  // Of several that are one mistake: all their kinds, kernels and pairs of accesses; `locations` are those of all, too.
  std::vector<std::string> kinds, kernels, accesses;
  bool folded = false;             // several places
  std::string elsewhere() const;  // in which kernels but `kernel`, in words
};

struct CheckReport {
  std::vector<CheckFinding> findings;
  std::map<std::string, std::string> notes;
  std::vector<std::string> frees;  // module+offset: from where memory was given back
  bool freed_by_library = false;   // by nobody but Thrust and CUB, once looked up

  Result<void> read(const std::string& file);  // adds what the file holds
  void fold();                                 // what is one mistake becomes one finding
  uint64_t errors() const;                     // those that make the program fail, repeats folded
  uint64_t warnings() const;

  std::string text() const;
  std::string json() const;
};

// Findings that a file of rules suppresses are removed; gives how many. A rule is a line of `name=pattern` words, all of
// which must fit: check, kind, kernel, file, line, title, variable; `*` in a pattern stands for anything, `#` begins a remark.
Result<uint64_t> suppress(CheckReport& report, const std::string& rules);

}  // namespace warpbeam::report
