// `warpbeam fuzz`: random kernels on two engines, which must leave the same memory behind.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "fuzz/coverage.h"
#include "fuzz/exchange.h"
#include "fuzz/generate.h"
#include "fuzz/run.h"
#include "fuzz/shrink.h"

namespace warpbeam::fuzz {
namespace {

constexpr std::string_view kHelp = R"(Usage: warpbeam fuzz [options]

Random kernels from the instruction table, each run by two engines on the same input. All memory and all registers are
compared; a kernel that differs is made small and printed.

  --cases N         how many kernels (default 1000)
  --minutes N       go on for so long instead
  --seed S          of the first kernel (default 1); kernel k has seed S + k
  --engine-a NAME   interpreter or jit (default interpreter)
  --engine-b NAME   likewise (default jit)
  --no-shrink       only name what differs
  --keep-going      do not stop at the first difference
  --print           print the kernels as well
  --rows            run nothing: say which rows of the instruction table the kernels have, and which not
  --short           kernels of one to six statements: four times as many in the same time
  --portable        the kernels that --emit writes: without what devices are known to do otherwise
  --emit DIR        write the kernels as PTX with their input, for gpu_runner.cu to run on a device
  --compare FILE    compare with what gpu_runner wrote, on engine a
  --raw FILE        its raw output, to show values
)";

struct Options {
  uint64_t cases = 1000, seed = 1;
  double minutes = 0;
  Engine a = Engine::Interpreter, b = Engine::Jit;
  bool keep_going = false, print = false, shrink = true, portable = false, rows = false;
  Length length = Length::Full;
  std::string emit, compare, raw;
};

bool read_options(int count, char** words, Options& options) {
  for (int k = 1; k < count; ++k) {
    const std::string word = words[k];
    const char* value = k + 1 < count ? words[k + 1] : "";
    const auto engine = [&](Engine& e) {
      const auto named = engine_named(value);
      if (!named) fmt::print(stderr, "warpbeam fuzz: {} '{}': interpreter or jit\n", word, value);
      else e = *named;
      return named.has_value();
    };
    if (word == "--keep-going") {
      options.keep_going = true;
      continue;
    }
    if (word == "--no-shrink") {
      options.shrink = false;
      continue;
    }
    if (word == "--print") {
      options.print = true;
      continue;
    }
    if (word == "--rows") {
      options.rows = true;
      continue;
    }
    if (word == "--short") {
      options.length = Length::Short;
      continue;
    }
    if (word == "--portable") {
      options.portable = true;
      continue;
    }
    ++k;
    if (word == "--cases") options.cases = std::strtoull(value, nullptr, 0);
    else if (word == "--minutes") options.minutes = std::atof(value);
    else if (word == "--seed") options.seed = std::strtoull(value, nullptr, 0);
    else if (word == "--emit") options.emit = value;
    else if (word == "--compare") options.compare = value;
    else if (word == "--raw") options.raw = value;
    else if (word == "--engine-a") {
      if (!engine(options.a)) return false;
    } else if (word == "--engine-b") {
      if (!engine(options.b)) return false;
    } else {
      fmt::print(stderr, "warpbeam fuzz: unknown option '{}' (--help lists them)\n", word);
      return false;
    }
  }
  return true;
}

void report(const Kernel& kernel, Bench& bench, const Options& options, const std::string& difference) {
  fmt::print("seed {}: {}\n", kernel.seed, difference);
  std::fflush(stdout);
  if (!options.shrink) return;
  const Kernel small = shrink(kernel, [&](const Kernel& k) {
    const Outcome a = bench.run(k, options.a);
    // A difference must not become a kernel that nobody takes.
    return a.out.size() == out_bytes(k) && a != bench.run(k, options.b);
  });
  const std::string text = small.text();
  fmt::print("{}\nseed {}: grid {}x{}x{}, block {}x{}x{}, first {}, second {}, third {}\n{}\n", text, kernel.seed, small.grid[0],
             small.grid[1], small.grid[2], small.block[0], small.block[1], small.block[2], Parameters{}.first, Parameters{}.second,
             Parameters{}.third, describe_difference(small, text, bench.run(small, options.a), bench.run(small, options.b)));
  std::fflush(stdout);
}

int count_rows(const Options& options) {
  const Palette palette(options.portable);
  Coverage coverage;
  for (uint64_t k = 0; k < options.cases; ++k) coverage.add(generate(options.seed + k, palette, options.length));
  fmt::print("{} kernels from seed {} on have {}", options.cases, options.seed, coverage.report());
  return 0;
}

int run(const Options& options) {
  const Palette palette(options.portable);
  Bench bench;
  const auto begin = std::chrono::steady_clock::now();
  const auto minutes = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / 60; };
  uint64_t done = 0, different = 0, refused = 0, compiled = 0;
  for (; options.minutes > 0 ? minutes() < options.minutes : done < options.cases; ++done) {
    const Kernel kernel = generate(options.seed + done, palette, options.length);
    if (options.print) fmt::print("{}\n", kernel.text());
    const Outcome a = bench.run(kernel, options.a), b = bench.run(kernel, options.b);
    if (!a.failure.empty() && ++refused <= 5) fmt::print("seed {}: {}\n", kernel.seed, a.failure);
    compiled += a.compiled || b.compiled;
    if (a == b) continue;
    ++different;
    report(kernel, bench, options, describe_difference(kernel, kernel.text(), a, b));
    if (!options.keep_going) break;
  }
  fmt::print("{} kernels from seed {} on in {:.1f} minutes: {} differ, {} were refused or trapped, {} were compiled\n", done, options.seed,
             minutes(), different, refused, compiled);
  return different || refused ? 1 : 0;
}

}  // namespace
}  // namespace warpbeam::fuzz

int main(int count, char** words) {
  using namespace warpbeam::fuzz;
  if (count > 1 && (std::string_view(words[1]) == "--help" || std::string_view(words[1]) == "-h")) {
    fmt::print("{}", kHelp);
    return 0;
  }
  Options options;
  if (!read_options(count, words, options)) return 2;
  if (options.rows) return count_rows(options);
  if (options.a == Engine::Jit || options.b == Engine::Jit) choose_fast_engine();
  if (!options.emit.empty()) return emit_cases(options.emit, options.seed, options.cases) ? 0 : 1;
  if (!options.compare.empty()) return compare_cases(options.compare, options.raw, options.a) ? 0 : 1;
  return run(options);
}
