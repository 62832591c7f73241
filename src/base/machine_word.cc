#include "base/machine_word.h"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

namespace warpbeam {
namespace {

struct Names {
  const char *rank, *count;
};
// Open MPI, MPICH and Intel MPI, MVAPICH, PMIx, Slurm; torchrun.
constexpr Names kNames[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                            {"PMI_RANK", "PMI_SIZE"},
                            {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
                            {"PMIX_RANK", ""},
                            {"SLURM_PROCID", "SLURM_NTASKS"},
                            {"RANK", "WORLD_SIZE"}};

std::optional<int> number(const char* name) {
  const char* text = *name ? std::getenv(name) : nullptr;
  if (!text || !*text) return std::nullopt;
  int value = 0;
  const std::string_view all = text;
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), value);
  return error == std::errc() && end == all.data() + all.size() && value >= 0 ? std::optional(value) : std::nullopt;
}

// When a process began, in ticks since the system did: its number alone may be another one's later.
std::string beginning_of(pid_t id) {
  std::ifstream file(fmt::format("/proc/{}/stat", id));
  std::string all((std::istreambuf_iterator<char>(file)), {});
  std::istringstream rest(all.substr(std::min(all.size(), all.rfind(')') + 1)));
  std::string word;
  for (int k = 0; k < 20; ++k) rest >> word;
  return word;
}

}  // namespace

std::optional<RankOfMany> rank_of_many() {
  for (const Names& names : kNames) {
    const auto rank = number(names.rank);
    const auto count = number(names.count);
    // Slurm tells a batch script's own process too, and RANK alone may be anything.
    if (rank && (count || *names.count == 0) && (!count || *count > 1)) return RankOfMany{*rank, count.value_or(0)};
  }
  return std::nullopt;
}

std::string machine_word() {
  const auto as_word = [](std::string text) {
    std::ranges::replace_if(text, [](unsigned char c) { return !std::isalnum(c) && c != '-'; }, '_');
    return text.substr(0, 100);
  };
  if (const char* set = std::getenv("WARPBEAM_MACHINE"); set && *set) return as_word(set);
  if (rank_of_many()) {
    std::string job;
    for (const char* name : {"PMIX_NAMESPACE", "SLURM_JOB_ID", "SLURM_STEP_ID"})
      if (const char* set = std::getenv(name); set && *set) job += fmt::format("-{}", set);
    return as_word(job.empty() ? fmt::format("ranks-{}-{}", getppid(), beginning_of(getppid())) : "ranks" + job);
  }
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return fmt::format("{}-{}-{}", getpid(), now.tv_sec, now.tv_nsec);
}

}  // namespace warpbeam
