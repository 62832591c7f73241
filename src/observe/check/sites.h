// Instructions that accessed memory, by number: events hold the number.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "vm/warp.h"

namespace warpbeam::observe::check {

struct Site {
  std::string kernel;    // or the device function
  std::string location;  // file.cu:34
  std::vector<vm::Warp::Inlined> inlined;  // the functions that it is of, if these were inlined into `kernel`
  bool waits = false;    // in a loop that only waits for memory to change
  bool guesses = false;  // a plain load whose value a later compare-and-swap checks
  bool corrects = false; // such a compare-and-swap, or a minimum and the like
  bool swaps = false;    // it is a compare-and-swap
  bool shuffles_down = false;
  bool is_volatile = false;
  bool decides = false;  // a load whose value is only compared
  bool ordered = false;  // relaxed, acquire …: meant for others to see, as a volatile access may not be
  bool bulk = false;     // a copy that the asynchronous proxy makes
  bool product = false;  // of a warp group, which the asynchronous proxy makes too
  bool library = false;  // in a kernel of CUB's or Thrust's: they look past the end of a run, and have places for what nobody wants
  bool algorithm = false;  // code of theirs, wherever it was inlined: it looks past the end of a run as well
  bool rewrites = false; // a volatile store to an address that the same statement has loaded: ++*p
  bool updates = false;  // a store to an address that the same statement has loaded: p[i] = min(p[i], x)
};

struct Finding;
// Tells of whoever called what was inlined: `inlined` into the function `into`.
void add_inlined(Finding& finding, const std::vector<vm::Warp::Inlined>& inlined, const std::string& into);
// Tells of the finding's first location, which is in its kernel.
void add_where(Finding& finding, const std::vector<vm::Warp::Inlined>& inlined);

// "kernel(int *)", as NVIDIA's tools print it.
std::string spaced(const std::string& name);

class Sites {
 public:
  uint32_t number(const vm::Insn& insn, const vm::FunctionCode& function);
  uint32_t number(const vm::Insn& insn, const vm::Warp& warp) { return number(insn, *warp.frame->function); }
  const Site& operator[](uint32_t n) const { return all_[n]; }
  // Of a load, a bit for each element of which nothing is made but stores: structures are copied with their gaps.
  uint32_t moved(const vm::Insn& insn, const vm::FunctionCode& function);
  void forget_programs();  // their instructions' addresses may come again

 private:
  bool before_cas(const vm::FunctionCode& f, const vm::Insn& insn);
  bool after_load(const vm::FunctionCode& f, const vm::Insn& insn);
  static bool only_compared(const vm::FunctionCode& f, const vm::Insn& insn);
  static bool rewrites_volatile(const vm::FunctionCode& f, const vm::Insn& insn);
  bool in_waiting_loop(const vm::FunctionCode& f, const vm::Insn& insn);
  std::vector<Site> all_{1};
  std::unordered_map<const vm::Insn*, uint32_t> numbers_;
  std::unordered_map<const vm::FunctionCode*, std::vector<bool>> waiting_;
  std::unordered_map<const vm::Insn*, uint32_t> moved_;
};

}  // namespace warpbeam::observe::check
