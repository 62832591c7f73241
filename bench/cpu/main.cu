// `warpbeam bench cpu`: kernels on this machine's cores against the same jobs in plain C++ with OpenMP.
//
// Both sides are timed in turn in one process, with all data in place and the code compiled: a repetition calls a side
// as often as fills some milliseconds, after a pause in which the other side's threads stop spinning. The medians
// count. Kernels are timed as a program sees them, from the launch to the end of cudaDeviceSynchronize.
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cpu/ablate.h"
#include "cpu/options.h"
#include "cpu/peak.h"
#include "cpu/work.h"
#include "reference/by_hand.h"

namespace bench {
namespace {

constexpr Row kRows[] = {
    {"vector_add", 0.97, make_vector_add},
    {"saxpy", 0.97, make_saxpy},
    {"copy", 0.97, make_copy},
    {"reduction_tree", 0.5, make_reduce_tree},
    {"reduction_shuffle", 0.9, make_reduce_shuffle},
    {"scan_add", 0.7, make_scan},
    {"scan_add_balanced", 0.7, make_scan_balanced},
    {"compaction", 0.7, make_compaction},
    {"transpose_naive", 0.5, make_transpose_naive},
    {"transpose_padded", 1.0, make_transpose_padded},
    {"matrix_product_16", 1.0, make_matrix_16},
    {"matrix_product_32", 1.0, make_matrix_32},
    {"histogram", 0.6, make_histogram},
    {"stencil_2d", 1.0, make_stencil_2d},
    {"stencil_1d", 1.0, make_stencil_1d},
    {"n_body", 1.5, make_nbody},
    {"black_scholes", 1.5, make_black_scholes},
    {"mandelbrot", 1.2, make_mandelbrot},
    {"bfs", 0.8, make_bfs},
    {"spmv", 0.8, make_spmv},
    {"bitonic_sort", 1.0, make_bitonic},
    {"radix_sort", 0.3, make_radix},
};

// What by_hand.h has.
constexpr double kByHandTarget = 0.9;
constexpr Row kByHandRows[] = {
    {"vector_add", kByHandTarget, make_vector_add},
    {"saxpy", kByHandTarget, make_saxpy},
    {"reduction_shuffle", kByHandTarget, make_reduce_shuffle},
    {"mandelbrot", kByHandTarget, make_mandelbrot},
};

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void call_ours(Work& work) {
  work.ours();
  BENCH_CHECK(cudaGetLastError());
  BENCH_CHECK(cudaDeviceSynchronize());
}

// The mean time of one call over `calls` of them.
template <class Prepare, class Call>
double time_calls(int calls, Prepare prepare, Call call) {
  double total = 0;
  for (int k = 0; k < calls; ++k) {
    prepare();
    const auto begin = Clock::now();
    call();
    total += ms_since(begin);
  }
  return total / calls;
}

// Until the threads of the side that has just run have gone to sleep.
void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }

Result measure(const Row& row, const Options& options) {
  std::unique_ptr<Work> work = row.make(options.quick);
  auto prepare_ours = [&] { work->prepare_ours(); };
  auto prepare_reference = [&] { work->prepare_reference(); };
  auto ours = [&] { call_ours(*work); };
  auto reference = [&] { work->reference(); };

  // The first calls compile, touch memory and start threads; the second ones say how many fill a repetition.
  Result result{&row};
  result.first_ms = time_calls(1, prepare_ours, ours);
  const double enough = options.quick ? 2 : 20;
  auto calls_for = [&](double ms) { return std::clamp(static_cast<int>(enough / std::max(ms, 1e-3)), 1, 1000); };
  const int our_calls = calls_for(time_calls(1, prepare_ours, ours));
  int reference_calls = 0;
  if (!options.ours_only) {
    time_calls(1, prepare_reference, reference);
    reference_calls = calls_for(time_calls(1, prepare_reference, reference));
    result.difference = work->difference();
  }
  std::vector<double> our_times, reference_times;
  for (int k = 0; k < options.repetitions; ++k) {
    pause();
    our_times.push_back(time_calls(our_calls, prepare_ours, ours));
    if (options.ours_only) continue;
    pause();
    reference_times.push_back(time_calls(reference_calls, prepare_reference, reference));
  }
  result.ours_ms = median(our_times);
  if (!options.ours_only) result.reference_ms = median(reference_times);
  result.operations = work->operations();
  return result;
}

void print_result(const Result& result, double peak) {
  std::printf("| %-24s | %10.3f | %10.3f | %6.2f | %6.2f | %s", result.row->name, result.ours_ms, result.reference_ms,
              result.ratio(), result.row->target, result.ratio() >= result.row->target ? "yes" : "no ");
  if (result.operations > 0 && peak > 0)
    std::printf(" %.0f %% of the FMA peak", 100 * result.operations / (result.ours_ms * 1e-3) / peak);
  std::printf("%s%s |\n", result.difference.empty() ? "" : " WRONG: ", result.difference.c_str());
  std::fflush(stdout);
}

bool write_json(const std::string& path, const std::vector<Result>& results) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (!file) {
    std::perror(path.c_str());
    return false;
  }
  std::fprintf(file, "{\"rows\":[");
  const char* separator = "";
  for (const Result& result : results) {
    std::fprintf(file, "%s\n  {\"name\":\"%s\",\"ours_ms\":%.6g,\"reference_ms\":%.6g,\"ratio\":%.4g,\"target\":%g}",
                 separator, result.row->name, result.ours_ms, result.reference_ms, result.ratio(), result.row->target);
    separator = ",";
  }
  std::fprintf(file, "\n]}\n");
  return std::fclose(file) == 0;
}

// What print_ablation reads.
int run_ours(const Options& options) {
  for (const Row& row : kRows) {
    if (!options.has(row.name)) continue;
    const Result result = measure(row, options);
    std::printf("%s %.6g %.6g\n", row.name, result.first_ms, result.ours_ms);
    std::fflush(stdout);
  }
  return 0;
}

double processor_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

// What `bench packages` talks with: a line of its input says how often to call, the answer is the processor time of all those calls, after one that
// brings back into the caches what others have put out. The row's name is whole.
int run_on_request(const Options& options) {
  for (const Row& row : kRows) {
    if (row.name != options.only) continue;
    std::unique_ptr<Work> work = row.make(options.quick);
    int calls = 1;
    do {
      double total = 0;
      for (int k = -1; k < calls; ++k) {
        work->prepare_ours();
        BENCH_CHECK(cudaDeviceSynchronize());
        const double begin = processor_ms();
        call_ours(*work);
        if (k >= 0) total += processor_ms() - begin;
      }
      std::printf("%.6f\n", total);
      std::fflush(stdout);
    } while (std::scanf("%d", &calls) == 1);
    return 0;
  }
  for (const Row& row : kRows) std::printf("%s\n", row.name);
  return 0;
}

// The most memory that has been resident while a row ran, less the program's own arrays. Each row has a process of its own.
int run_for_memory(Options options) {
  options.ours_only = true;
  constexpr double kMega = 1e6, kFactor = 1.3, kFixed = 150;
  std::printf("| %-24s | device MB | resident MB | allowed MB | kept |\n|%s|\n", "work",
              "--------------------------|----------:|------------:|-----------:|------");
  bool all = true;
  for (const Row& row : kRows) {
    if (!options.has(row.name)) continue;
    std::fflush(stdout);
    const pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) {
      measure(row, options);
      rusage used{};
      getrusage(RUSAGE_SELF, &used);
      const double resident = (static_cast<double>(used.ru_maxrss) * 1024 - static_cast<double>(host_held.most)) / kMega;
      const double device = static_cast<double>(device_held.most) / kMega, allowed = kFactor * device + kFixed;
      std::printf("| %-24s | %9.0f | %11.0f | %10.0f | %s |\n", row.name, device, resident, allowed,
                  resident <= allowed ? "yes" : "no ");
      std::fflush(stdout);
      std::_Exit(resident <= allowed ? 0 : 3);
    }
    int status = 0;
    waitpid(child, &status, 0);
    all = all && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return all ? 0 : 1;
}

int run(const Options& options) {
  std::vector<const Row*> rows;
  bool matrix = false;
  reference::by_hand::wanted = options.by_hand;
  for (const Row& row : options.by_hand ? std::span<const Row>(kByHandRows) : std::span<const Row>(kRows)) {
    if (!options.has(row.name)) continue;
    rows.push_back(&row);
    matrix = matrix || std::string_view(row.name).starts_with("matrix");
  }
  if (rows.empty()) {
    std::fprintf(stderr, "warpbeam bench cpu: no row's name contains '%s'\n", options.only.c_str());
    return 2;
  }
  const double peak = matrix ? fma_peak() : 0;
  if (matrix) std::printf("FMA peak of this machine's cores, measured: %.0f GFLOP/s\n", peak * 1e-9);
  std::printf("| %-24s | %10s | %10s | %6s | %6s | reached |\n|%s|\n", "work", "ours ms",
              options.by_hand ? "by hand ms" : "OpenMP ms", "ratio", "target", "--------------------------|-----------:|-----------:|-------:|-------:|---------");
  std::vector<Result> results;
  double logarithms = 0;
  bool right = true;
  for (const Row* row : rows) {
    results.push_back(measure(*row, options));
    print_result(results.back(), peak);
    logarithms += std::log(results.back().ratio());
    right = right && results.back().difference.empty();
  }
  std::printf("geometric mean of the ratios: %.3f\n", std::exp(logarithms / static_cast<double>(results.size())));
  if (!right) std::printf("at least one result is WRONG\n");
  if (!options.json.empty() && !write_json(options.json, results)) return 1;
  if (!options.ablate.empty() && !print_ablation(results, options)) return 1;
  return right ? 0 : 1;
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
  bench::Options options;
  if (!bench::read_options(count, words, options)) return 2;
  if (options.help) return 0;
  if (options.by_hand && !reference::by_hand::possible()) {
    std::fprintf(stderr, "warpbeam bench cpu: this machine has no AVX-512\n");
    return 2;
  }
  if (options.memory) return bench::run_for_memory(options);
  if (options.on_request) return bench::run_on_request(options);
  return options.ours_only ? bench::run_ours(options) : bench::run(options);
}
