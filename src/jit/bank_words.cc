// How a warp's lanes meet in banks, for code that is watched: a file of its own, as it is compiled for the host's own vectors.
#include "model/bank_words.h"

#include "jit/watch.h"

namespace warpbeam::jit {

extern "C" void wb_count_banks(uint64_t* counters, const uint32_t* places) {
  const model::BankWords words = model::bank_words(places);
  counters[0] += 1;
  counters[1] += words.most;
  counters[2] += words.all;
}

}  // namespace warpbeam::jit
