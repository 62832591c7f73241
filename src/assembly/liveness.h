// Which words of which values hold something that is still read, place by place.
//
// A place is an instruction's number in the text; it reads at 2 * number and writes at 2 * number + 1, so that a result may
// take the register of an operand that is read for the last time.
#pragma once
#include <cstdint>
#include <vector>

#include "assembly/draft.h"

namespace warpbeam::assembly {

struct Segment {
  uint32_t begin = 0, end = 0;
};

class Liveness {
 public:
  // What instructions of units beside the pipeline read is taken some instructions later.
  explicit Liveness(const DraftCode& code, uint32_t late_reads = 0);

  // By word, in the order of the text. Words of a value follow each other from first_word on.
  std::vector<std::vector<Segment>> segments;
  std::vector<uint32_t> first_word;    // by value
  std::vector<uint32_t> first_place;   // by block: the number of its first instruction
  uint32_t places = 0;
  std::vector<std::vector<uint32_t>> live_out;  // by block: words

  // Is a word read in a block, or behind it, before it is written?
  bool live_in(const DraftCode& code, uint32_t block, uint32_t word) const;

 private:
  void number_words(const DraftCode& code);
  void solve(const DraftCode& code);
  void walk(const DraftCode& code, uint32_t late_reads);
  template <class Visit>
  void each_word(Part p, const Visit& visit) const {
    if (!p) return;
    for (uint32_t k = 0; k < p.count; ++k) visit(first_word[static_cast<size_t>(p.value)] + p.first + k);
  }
};

}  // namespace warpbeam::assembly
