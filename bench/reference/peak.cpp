#include "cpu/peak.h"

#include <omp.h>

#include <algorithm>

namespace bench {
namespace {

// Enough chains of the widest vectors to hide the latency of an instruction on both of a core's units.
constexpr int kChains = 12;

#ifdef __AVX512F__
constexpr int kBytes = 64;
#elif defined(__AVX__)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif
typedef float Vector __attribute__((vector_size(kBytes)));

// Gives the operations that it did.
double chains(long rounds, float& result) {
  Vector sum[kChains], factor = Vector{} + 0.999f, term = Vector{} + 1e-3f;
  for (int k = 0; k < kChains; ++k) sum[k] = Vector{} + static_cast<float>(k);
  for (long round = 0; round < rounds; ++round)
#pragma GCC unroll 12
    for (int k = 0; k < kChains; ++k) sum[k] = sum[k] * factor + term;
  Vector all = sum[0];
  for (int k = 1; k < kChains; ++k) all += sum[k];
  result = all[0];
  return 2.0 * kChains * (kBytes / sizeof(float)) * static_cast<double>(rounds);
}

}  // namespace

double fma_peak() {
  double best = 0;
  volatile float sink = 0;
  for (int run = 0; run < 20; ++run) {
    double operations = 0;
    const double begin = omp_get_wtime();
#pragma omp parallel reduction(+ : operations)
    {
      float result;
      operations += chains(1000000, result);
      sink = result;
    }
    best = std::max(best, operations / (omp_get_wtime() - begin));
  }
  return best;
}

}  // namespace bench
