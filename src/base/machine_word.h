// Which processes are on one machine, where that is to be known (docs/clock.md).
#pragma once
#include <optional>
#include <string>

namespace warpbeam {

// A word that processes of one machine have in common: that of WARPBEAM_MACHINE, or of those whom one mpirun or srun has started, or a new one.
std::string machine_word();

// Which of several this process is, as mpirun, srun and others tell those that they start, and how many there are.
struct RankOfMany {
  int rank = 0, count = 0;  // count 0: it was not told
};
std::optional<RankOfMany> rank_of_many();

}  // namespace warpbeam
