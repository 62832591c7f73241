// Writes docs/coverage.md from functions.inc.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

enum class Api { Runtime, Entry, Driver };
enum class State { Works, Partly, NotYet };

struct Row {
  Api api;
  std::string_view name, chapter;
  State state;
  std::string_view note;
};

constexpr Row kRows[] = {
#define WB_RUNTIME(name, chapter, state, note) {Api::Runtime, #name, #chapter, State::state, note},
#define WB_ENTRY(name, chapter, state, note) {Api::Entry, #name, #chapter, State::state, note},
#define WB_DRIVER(name, since, chapter, state, note) {Api::Driver, #name, #chapter, State::state, note},
#include "cuda/functions.inc"
};

constexpr std::string_view kStateText[] = {"works", "partly", "not yet"};

// The twin for per-thread default streams is told with its function.
bool twin(std::string_view name) { return name.ends_with("_ptsz") || name.ends_with("_ptds"); }

// What has no meaning without a graphics API or another vendor's library beside CUDA.
bool of_others(const Row& row) {
  return row.note == "graphics interop" || row.note == "external memory and semaphores" || row.note == "NvSci";
}

void write_api(std::string& page, Api api, std::string_view title) {
  std::map<State, int> count;
  int others = 0, all = 0;
  for (const Row& row : kRows)
    if (row.api == api && !twin(row.name)) {
      ++count[row.state];
      ++all;
      others += of_others(row);
    }
  page += fmt::format("\n## {}\n\n{} work, {} work partly, {} are not supported yet: {:.1f} % work.", title, count[State::Works],
                      count[State::Partly], count[State::NotYet], 100.0 * count[State::Works] / all);
  if (others)
    page += fmt::format("\n{:.1f} % work without the {} of graphics interop, external memory and semaphores, and NvSci.",
                        100.0 * count[State::Works] / (all - others), others);
  page += '\n';
  std::vector<std::string_view> chapters;
  for (const Row& row : kRows)
    if (row.api == api && (chapters.empty() || chapters.back() != row.chapter)) chapters.push_back(row.chapter);
  for (std::string_view chapter : chapters) {
    page += fmt::format("\n### {}\n\n| function | state | |\n|---|---|---|\n", chapter);
    for (const Row& row : kRows)
      if (row.api == api && row.chapter == chapter && !twin(row.name))
        page += fmt::format("| `{}` | {} | {} |\n", row.name, kStateText[static_cast<int>(row.state)], row.note);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: {} FILE\n", argv[0]);
    return 2;
  }
  std::string page =
      "# API coverage\n\n"
      "Made from `src/cuda/functions.inc` by `cmake --build <dir> --target coverage_page`; do not edit.\n\n"
      "Every function of toolkit 13's runtime and driver APIs is exported. One that is *not yet* supported returns\n"
      "`cudaErrorNotSupported` (801), or `CUDA_ERROR_NOT_SUPPORTED` with the same number. `WARPBEAM_NOTES=1` says so on\n"
      "stderr. The `_ptsz` and `_ptds` twins for per-thread default streams have the state of their function.\n\n"
      "Interfaces that tools are made with are not there: CUPTI and the sanitizer's callbacks (`sanitizer.h`). NVTX's memory\n"
      "registration gives what it gives where no tool listens: null handles.\n";
  write_api(page, Api::Runtime, "Runtime API");
  write_api(page, Api::Entry, "Entry points of generated code");
  write_api(page, Api::Driver, "Driver API");
  std::ofstream file(argv[1], std::ios::binary);
  file << page;
  return file.flush() ? 0 : 1;
}
