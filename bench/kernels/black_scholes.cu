// European options by the Black-Scholes formula: one thread for each.
#include "cpu/work.h"
#include "reference/reference.h"

__device__ inline float normal(float d) {
  const float a1 = 0.31938153f, a2 = -0.356563782f, a3 = 1.781477937f, a4 = -1.821255978f, a5 = 1.330274429f;
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float tail = 0.39894228040143267794f * expf(-0.5f * d * d) * (k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5)))));
  return d > 0 ? 1.0f - tail : tail;
}

__global__ void black_scholes(const float* price, const float* strike, const float* years, float rate, float volatility,
                              float* call, float* put, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = price[i], x = strike[i], t = years[i];
  float root = sqrtf(t);
  float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
  float d2 = d1 - volatility * root;
  float n1 = normal(d1), n2 = normal(d2);
  float discounted = x * expf(-rate * t);
  call[i] = s * n1 - discounted * n2;
  put[i] = discounted * (1.0f - n2) - s * (1.0f - n1);
}

namespace bench {
namespace {

constexpr float kRate = 0.02f, kVolatility = 0.30f;

struct BlackScholes : Work {
  explicit BlackScholes(bool quick)
      : n(quick ? 1 << 18 : 1 << 22),
        price(n),
        strike(n),
        years(n),
        call(n),
        put(n),
        d_price(n),
        d_strike(n),
        d_years(n),
        d_call(n),
        d_put(n) {
    for (size_t k = 0; k < n; ++k) {
      price[k] = 5 + 25 * unit(3 * k);
      strike[k] = 1 + 99 * unit(3 * k + 1);
      years[k] = 0.25f + 9.75f * unit(3 * k + 2);
    }
    d_price.upload(price);
    d_strike.upload(strike);
    d_years.upload(years);
  }
  void ours() override {
    black_scholes<<<blocks_for(n, 256), 256>>>(d_price.data(), d_strike.data(), d_years.data(), kRate, kVolatility,
                                               d_call.data(), d_put.data(), static_cast<int>(n));
  }
  void reference() override {
    ::reference::black_scholes(price.data(), strike.data(), years.data(), kRate, kVolatility, call.data(), put.data(),
                               n);
  }
  std::string difference() override {
    std::string text = compare_closely(d_call.download(), call.data(), n, 1e-5, 10);
    return text.empty() ? compare_closely(d_put.download(), put.data(), n, 1e-5, 10) : text;
  }

  size_t n;
  HostArray<float> price, strike, years, call, put;
  DeviceArray<float> d_price, d_strike, d_years, d_call, d_put;
};

}  // namespace

std::unique_ptr<Work> make_black_scholes(bool quick) { return std::make_unique<BlackScholes>(quick); }

}  // namespace bench
