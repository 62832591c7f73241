#include "cpu/ablate.h"

#include <unistd.h>

#include <map>

namespace bench {
namespace {

struct Times {
  double first_ms = 0, ours_ms = 0;
};

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

// The times of every row without `technique`.
bool run_without(const std::string& technique, const Options& options, std::map<std::string, Times>& times) {
  char program[4096];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length < 0) return false;
  program[length] = 0;
  std::string command = "WARPBEAM_JIT_WITHOUT=" + technique + " " + quoted(program) + " --ours-only --repetitions " +
                        std::to_string(options.repetitions) + (options.quick ? " --quick" : "");
  if (!options.only.empty()) command += " --only " + quoted(options.only);
  std::FILE* output = popen(command.c_str(), "r");
  if (!output) return false;
  char name[64];
  Times row;
  while (std::fscanf(output, "%63s %lf %lf", name, &row.first_ms, &row.ours_ms) == 3) times[name] = row;
  return pclose(output) == 0;
}

}  // namespace

bool print_ablation(const std::vector<Result>& results, const Options& options) {
  std::map<std::string, std::map<std::string, Times>> without;
  for (const std::string& technique : options.ablate)
    if (!run_without(technique, options, without[technique])) {
      std::fprintf(stderr, "warpbeam bench cpu: the run without %s failed\n", technique.c_str());
      return false;
    }
  std::printf(
      "\nTimes without a technique, as multiples of the time with all of them. Without the cache of compiled code the "
      "first\ncall is compared; for the others, warm calls.\n| %-24s",
      "work");
  for (const std::string& technique : options.ablate) std::printf(" | %8s", technique.c_str());
  std::printf(" |\n|--------------------------");
  for (size_t k = 0; k < options.ablate.size(); ++k) std::printf("|---------:");
  std::printf("|\n");
  for (const Result& result : results) {
    std::printf("| %-24s", result.row->name);
    for (const std::string& technique : options.ablate) {
      const Times& times = without[technique][result.row->name];
      std::printf(" | %8.2f", technique == "cache" ? times.first_ms / result.first_ms : times.ours_ms / result.ours_ms);
    }
    std::printf(" |\n");
  }
  return true;
}

}  // namespace bench
