#include "cpu/options.h"

#include <algorithm>
#include <cstdlib>

#include "cpu/ablate.h"

namespace bench {
namespace {

constexpr char kHelp[] = R"(Usage: warpbeam bench cpu [options]

CUDA kernels on this machine's cores against the same jobs in plain C++ with OpenMP (g++ -O3 -march=native), in one run:
medians of several repetitions of both in turn. Ratio = OpenMP's time / ours.

  --only NAME         only rows whose name contains NAME
  --quick             small sizes and few repetitions: for a look, not for figures
  --repetitions N     how many of each side (7)
  --engine NAME       interpreter, jit or auto (default auto); sets WARPBEAM_ENGINE
  --json FILE         also write {"rows":[{"name","ours_ms","reference_ms","ratio","target"},…]}
  --ablate NAMES      then measure again without a technique of the fast engine: shapes, uniform, atomics, cache (several
                      with commas between them, or all)
  --by-hand           a few rows against the same jobs written for AVX-512 by hand
  --memory            instead of times, how much memory is resident for the device data of each row
)";

bool add_techniques(std::string_view names, Options& options) {
  while (!names.empty()) {
    const std::string name(names.substr(0, names.find(',')));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    if (name == "all") {
      options.ablate.assign(std::begin(kTechniques), std::end(kTechniques));
    } else if (std::find(std::begin(kTechniques), std::end(kTechniques), name) != std::end(kTechniques)) {
      options.ablate.push_back(name);
    } else {
      std::fprintf(stderr, "warpbeam bench cpu: --ablate '%s': shapes, uniform, atomics, cache or all\n", name.c_str());
      return false;
    }
  }
  return true;
}

}  // namespace

bool read_options(int count, char** words, Options& options) {
  bool repetitions_given = false;
  for (int at = 1; at < count; ++at) {
    std::string word = words[at], value;
    const bool joined = word.starts_with("--") && word.find('=') != word.npos;
    if (joined) {
      value = word.substr(word.find('=') + 1);
      word.resize(word.find('='));
    }
    auto takes_value = [&](const char* name) {
      if (word != name) return false;
      if (!joined && at + 1 < count) value = words[++at];
      return true;
    };
    if (word == "-h" || word == "--help") {
      std::fputs(kHelp, stdout);
      options.help = true;
      return true;
    } else if (word == "--quick") {
      options.quick = true;
    } else if (word == "--ours-only") {
      options.ours_only = true;
    } else if (word == "--on-request") {
      options.on_request = true;
    } else if (word == "--by-hand") {
      options.by_hand = true;
    } else if (word == "--memory") {
      options.memory = true;
    } else if (takes_value("--only")) {
      options.only = value;
    } else if (takes_value("--json")) {
      options.json = value;
    } else if (takes_value("--engine")) {
      setenv("WARPBEAM_ENGINE", value.c_str(), 1);
    } else if (takes_value("--repetitions")) {
      options.repetitions = std::max(1, std::atoi(value.c_str()));
      repetitions_given = true;
    } else if (takes_value("--ablate")) {
      if (!add_techniques(value, options)) return false;
    } else {
      std::fprintf(stderr, "warpbeam bench cpu: unknown option '%s' (--help lists them)\n", word.c_str());
      return false;
    }
  }
  if (options.quick && !repetitions_given) options.repetitions = 3;
  return true;
}

}  // namespace bench
