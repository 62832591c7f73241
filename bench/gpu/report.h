// Results as a table on standard output and as one JSON object per line in the file named by BENCH_JSON.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace bench {

inline bool all_right = true;

// The sizes between 2^16 and 2^25 that are tried: every third, or with BENCH_STEP=1 every one.
inline int power_step() {
  const char* step = std::getenv("BENCH_STEP");
  return step && std::atoi(step) > 0 ? std::atoi(step) : 3;
}

// Larger is better in every unit but us.
inline void report(const std::string& work, const std::string& unit, double ours, double theirs, const std::string& vendor, bool right) {
  all_right = all_right && right;
  const bool time = unit == "us";
  const double ratio = theirs > 0 ? (time ? theirs / ours : ours / theirs) : 0;
  std::printf("| %-44s | %9.1f | %9.1f | %5.2f | %-8s | %-7s | %s |\n", work.c_str(), ours, theirs, ratio, unit.c_str(), vendor.c_str(),
              right ? "right" : "WRONG");
  std::fflush(stdout);
  if (const char* path = std::getenv("BENCH_JSON")) {
    if (std::FILE* file = std::fopen(path, "a")) {
      std::fprintf(file,
                   "{\"work\": \"%s\", \"unit\": \"%s\", \"ours\": %.3f, \"vendor\": \"%s\", \"theirs\": %.3f, "
                   "\"right\": %s}\n",
                   work.c_str(), unit.c_str(), ours, vendor.c_str(), theirs, right ? "true" : "false");
      std::fclose(file);
    }
  }
}

}  // namespace bench
