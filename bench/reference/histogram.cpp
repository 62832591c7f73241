// Every thread counts into bins of its own. Four sets of them in turn: equal bytes in a row would wait for the counter
// that the one before has just written.
#include "reference/reference.h"

namespace reference {

void histogram(const unsigned char* data, size_t n, unsigned* bins) {
  for (int k = 0; k < 256; ++k) bins[k] = 0;
#pragma omp parallel
  {
    unsigned own[4][256] = {};
    const size_t whole = n / 4 * 4;
#pragma omp for schedule(static) nowait
    for (size_t i = 0; i < whole; i += 4) {
      ++own[0][data[i]];
      ++own[1][data[i + 1]];
      ++own[2][data[i + 2]];
      ++own[3][data[i + 3]];
    }
#pragma omp single nowait
    for (size_t i = whole; i < n; ++i) ++own[0][data[i]];
#pragma omp critical
    for (int k = 0; k < 256; ++k) bins[k] += own[0][k] + own[1][k] + own[2][k] + own[3][k];
  }
}

}  // namespace reference
