// What the checker says. Findings that differ only in threads or addresses are folded into one of them with a count: the
// first, or the first that is worse. A read without a value is part of the race that has led to it.
// They are written as a JSON document that the command `warpbeam check` turns into text, since only it can look up host
// lines without disturbing the program.
#pragma once
#include <atomic>
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "findings/kinds.h"

namespace warpbeam::observe::check {

using FindingKind = warpbeam::findings::Kind;

enum class Severity : uint8_t { Error, Warning };

// How far apart the threads of a race are: what orders them differs.
enum class Apart : uint8_t { InWarp, InBlock, InLaunch, InProgram };

// Return addresses of host code, innermost first.
using HostStack = std::vector<uint64_t>;
std::string key_of(const HostStack& stack);  // what tells findings apart: see Findings::add

struct Finding {
  FindingKind kind{};
  Severity severity = Severity::Error;
  Apart apart = Apart::InWarp;
  std::string title;     // "Invalid __global__ write of size 4 bytes"
  std::string kernel;    // of the first side
  std::vector<std::string> locations;  // "file.cu:34" of every side, for programs and for folding
  std::vector<std::string> callers;    // where the functions were called that they are in, if these were inlined
  // Lines of text, and after each perhaps the host code that it speaks of.
  struct Line {
    std::string text;
    HostStack stack;
  };
  std::vector<Line> lines;
  std::string mend;      // one sentence
  std::vector<std::pair<std::string, std::string>> facts;  // address, variable, thread, block … for programs
  uint64_t count = 1;
};

class Findings {
 public:
  // Where the document goes; nothing is written while it is empty.
  void set_file(std::string path) { file_ = std::move(path); }
  // Gives its number, or that of the finding into which it was folded. `more`: what tells findings apart beside kind,
  // kernel and locations.
  size_t add(Finding finding, const std::string& more = "");
  void bump(size_t number, uint64_t by = 1);  // it was found again
  uint64_t errors() const;
  uint64_t told() const { return told_; }  // how often something was found
  void set_note(const std::string& name, std::string value);  // remarks: what was not checked
  // From where memory was given back. Whose code that is, the program's or a library's header, only its lines can tell.
  void set_frees(std::set<uint64_t> return_addresses);
  void write();

 private:
  void write_all() const;
  mutable std::mutex mutex_;
  std::string file_;
  std::vector<Finding> all_;
  std::map<std::string, size_t> by_key_;
  std::atomic<uint64_t> told_{0};
  std::map<std::string, std::string> notes_;
  std::set<uint64_t> frees_;
};

}  // namespace warpbeam::observe::check
