#include "reference/by_hand.h"
#include "reference/reference.h"

namespace reference {

int sum(const int* data, size_t n) {
  int total = 0;
#pragma omp parallel for simd reduction(+ : total) schedule(static)
  for (size_t i = 0; i < n; ++i) total += data[i];
  return total;
}

float sum(const float* data, size_t n) {
  if (by_hand::wanted) return by_hand::sum(data, n);
  float total = 0;
#pragma omp parallel for simd reduction(+ : total) schedule(static)
  for (size_t i = 0; i < n; ++i) total += data[i];
  return total;
}

}  // namespace reference
