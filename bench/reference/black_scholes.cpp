// exp and log are calls: g++ knows vector versions of them only under -ffast-math, whose answers are others.
#include <cmath>

#include "reference/reference.h"

namespace reference {
namespace {

// The cumulative normal distribution, by the polynomial of Abramowitz and Stegun, 26.2.17.
inline float normal(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * std::fabs(d));
  const float poly =
      k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  const float tail = 0.39894228040143267794f * std::exp(-0.5f * d * d) * poly;
  return d > 0 ? 1.0f - tail : tail;
}

}  // namespace

void black_scholes(const float* __restrict price, const float* __restrict strike, const float* __restrict years,
                   float rate, float volatility, float* __restrict call, float* __restrict put, size_t n) {
#pragma omp parallel for simd schedule(static)
  for (size_t i = 0; i < n; ++i) {
    const float s = price[i], x = strike[i], t = years[i];
    const float root = std::sqrt(t);
    const float d1 = (std::log(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
    const float d2 = d1 - volatility * root;
    const float n1 = normal(d1), n2 = normal(d2);
    const float discounted = x * std::exp(-rate * t);
    call[i] = s * n1 - discounted * n2;
    put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
  }
}

}  // namespace reference
