// The order of pseudorandom results. Many sequences take turns: XORWOW and MRG32k3a give one result (a pair of normal
// numbers) at a time, Philox four results.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "curand_kernel.h"
#include "libraries/curand/source.h"

namespace warpbeam::curand {
namespace {

void next_sequence(curandStateXORWOW_t& s) { skipahead_sequence(1, &s); }
void next_sequence(curandStateMRG32k3a_t& s) { skipahead_subsequence(1, &s); }

template <class State>
class Turns final : public Source {
 public:
  explicit Turns(size_t sequences) : sequences_(sequences) {}

  size_t multiple(Kind kind) const override { return kind >= Kind::Normal && kind <= Kind::LogNormalDouble ? 2 : 1; }
  bool makes(Kind kind) const override { return kind != Kind::LongBits; }

  void seek(unsigned long long seed, unsigned long long offset) override {
    states_.clear();
    seed_ = seed;
    laps_ = offset / sequences_;
    first_ = next_ = offset % sequences_;
  }

  void fill(const Request& r, void* out, size_t count, size_t, size_t) override {
    switch (r.kind) {
      case Kind::Bits: return each<unsigned int>(out, count, [](State* s) { return ::curand(s); });
      case Kind::Uniform: return each<float>(out, count, [](State* s) { return curand_uniform(s); });
      case Kind::UniformDouble: return each<double>(out, count, [](State* s) { return curand_uniform_double(s); });
      case Kind::Poisson: return each<unsigned int>(out, count, [&](State* s) { return curand_poisson(s, r.mean); });
      case Kind::Normal: return pairs<float>(out, count, r, [](State* s) { return curand_normal2(s); }, false);
      case Kind::LogNormal: return pairs<float>(out, count, r, [](State* s) { return curand_normal2(s); }, true);
      case Kind::NormalDouble: return pairs<double>(out, count, r, [](State* s) { return curand_normal2_double(s); }, false);
      case Kind::LogNormalDouble: return pairs<double>(out, count, r, [](State* s) { return curand_normal2_double(s); }, true);
      case Kind::LongBits: return;
    }
  }

 private:
  // States are made when their first turn comes, each out of the one before.
  State* turn() {
    while (states_.size() <= next_) {
      State s = fresh_;
      if (states_.empty()) curand_init(seed_, 0, 0, &s);
      else next_sequence(s);
      fresh_ = s;
      skipahead(laps_ + (states_.size() < first_), &s);
      states_.push_back(s);
    }
    State* const state = &states_[next_];
    next_ = next_ + 1 == sequences_ ? 0 : next_ + 1;
    return state;
  }

  template <class T, class Draw>
  void each(void* out, size_t count, Draw&& draw) {
    T* const to = static_cast<T*>(out);
    for (size_t i = 0; i < count; ++i) to[i] = draw(turn());
  }

  template <class T, class Draw>
  void pairs(void* out, size_t count, const Request& r, Draw&& draw, bool logarithmic) {
    T* const to = static_cast<T*>(out);
    const T mean = static_cast<T>(r.mean), deviation = static_cast<T>(r.deviation);
    for (size_t i = 0; i < count; i += 2) {
      const auto v = draw(turn());
      to[i] = mean + deviation * v.x;
      to[i + 1] = mean + deviation * v.y;
      if (logarithmic) to[i] = std::exp(to[i]), to[i + 1] = std::exp(to[i + 1]);
    }
  }

  const size_t sequences_;
  std::vector<State> states_;
  State fresh_{};  // the last state made, at its sequence's beginning
  unsigned long long seed_ = 0, laps_ = 0;
  size_t first_ = 0, next_ = 0;
};

class Philox final : public Source {
 public:
  size_t multiple(Kind) const override { return 1; }
  bool makes(Kind kind) const override { return kind != Kind::LongBits; }

  void seek(unsigned long long seed, unsigned long long offset) override {
    seed_ = seed;
    next_ = offset;
    const unsigned long long groups = offset / 4, laps = groups / kSequences;
    for (size_t i = 0; i < kSequences; ++i) used_[i] = 4 * (laps + (i < groups % kSequences));
  }

  void fill(const Request& r, void* out, size_t count, size_t, size_t) override {
    const bool wide = r.kind == Kind::UniformDouble || r.kind == Kind::NormalDouble || r.kind == Kind::LogNormalDouble;
    const float mean = static_cast<float>(r.mean), deviation = static_cast<float>(r.deviation);
    curandStatePhilox4_32_10_t state;
    unsigned int w[8] = {};
    for (size_t i = 0; i < count; ++i, ++next_) {
      const size_t sequence = next_ / 4 % kSequences, lane = next_ % 4;
      if (i == 0 || lane == 0) {
        curand_init(seed_, sequence, used_[sequence], &state);
        for (int k = 0; k < (wide ? 8 : 4); ++k) w[k] = ::curand(&state);
      }
      if (lane == 3) used_[sequence] += wide ? 8 : 4;
      const unsigned int* const pair = w + lane / 2 * (wide ? 4 : 2);
      const auto single = [&] {
        const float2 v = _curand_box_muller(pair[0], pair[1]);
        return mean + deviation * (lane % 2 ? v.y : v.x);
      };
      const auto twice = [&] {
        const double2 v = _curand_box_muller_double(pair[0], pair[1], pair[2], pair[3]);
        return r.mean + r.deviation * (lane % 2 ? v.y : v.x);
      };
      switch (r.kind) {
        case Kind::Bits: static_cast<unsigned int*>(out)[i] = w[lane]; break;
        case Kind::Uniform: static_cast<float*>(out)[i] = _curand_uniform(w[lane]); break;
        case Kind::UniformDouble: static_cast<double*>(out)[i] = _curand_uniform_double_hq(w[2 * lane], w[2 * lane + 1]); break;
        case Kind::Normal: static_cast<float*>(out)[i] = single(); break;
        case Kind::LogNormal: static_cast<float*>(out)[i] = std::exp(single()); break;
        case Kind::NormalDouble: static_cast<double*>(out)[i] = twice(); break;
        case Kind::LogNormalDouble: static_cast<double*>(out)[i] = std::exp(twice()); break;
        case Kind::Poisson: {  // an unknown number of words: every lane has sequences of its own for them
          curandStatePhilox4_32_10_t own;
          curand_init(seed_, sequence + kSequences * (1 + lane), 64 * used_[sequence], &own);
          static_cast<unsigned int*>(out)[i] = curand_poisson(&own, r.mean);
          break;
        }
        case Kind::LongBits: break;
      }
    }
  }

 private:
  static constexpr size_t kSequences = 65536;
  unsigned long long seed_ = 0, next_ = 0;
  std::vector<unsigned long long> used_ = std::vector<unsigned long long>(kSequences);  // words of each sequence
};

}  // namespace

std::unique_ptr<Source> pseudorandom(curandRngType_t type, bool legacy_order) {
  switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT:
    case CURAND_RNG_PSEUDO_XORWOW: return std::make_unique<Turns<curandStateXORWOW_t>>(4096);
    case CURAND_RNG_PSEUDO_MRG32K3A: return std::make_unique<Turns<curandStateMRG32k3a_t>>(legacy_order ? 4096 : 81920);
    case CURAND_RNG_PSEUDO_PHILOX4_32_10: return std::make_unique<Philox>();
    case CURAND_RNG_PSEUDO_MT19937:
    case CURAND_RNG_PSEUDO_MTGP32: return mersenne_twister();
    default: return nullptr;
  }
}

}  // namespace warpbeam::curand
