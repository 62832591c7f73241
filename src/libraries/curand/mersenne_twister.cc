// MT19937 and MTGP32 of the host's calls: the Mersenne Twister of C++'s library. A GPU deals out many of its sequences, and MTGP32
// has parameters of a toolkit's; here they are one sequence, whose numbers have the distribution but not cuRAND's order.
#include <cmath>
#include <random>

#include "curand_kernel.h"
#include "libraries/curand/source.h"

namespace warpbeam::curand {
namespace {

class Twister final : public Source {
 public:
  size_t multiple(Kind) const override { return 1; }
  bool makes(Kind kind) const override { return kind != Kind::LongBits; }

  void seek(unsigned long long seed, unsigned long long offset) override {
    std::seed_seq words{static_cast<unsigned int>(seed), static_cast<unsigned int>(seed >> 32)};
    twister_.seed(words);
    twister_.discard(offset);
  }

  void fill(const Request& r, void* out, size_t count, size_t, size_t) override {
    switch (r.kind) {
      case Kind::Bits: return each<unsigned int>(out, count, [&] { return word(); });
      case Kind::Uniform: return each<float>(out, count, [&] { return _curand_uniform(word()); });
      case Kind::UniformDouble: return each<double>(out, count, [&] { return fraction(); });
      case Kind::Normal: return pairs<float>(out, count, r, false);
      case Kind::LogNormal: return pairs<float>(out, count, r, true);
      case Kind::NormalDouble: return pairs<double>(out, count, r, false);
      case Kind::LogNormalDouble: return pairs<double>(out, count, r, true);
      case Kind::Poisson:
        return each<unsigned int>(out, count, [&] {
          return r.mean < 1000 ? warpbeam_curand::poisson_below(warpbeam_curand::below_one(word()), r.mean)
                               : warpbeam_curand::poisson_large(normals().x, r.mean);
        });
      case Kind::LongBits: return;
    }
  }

 private:
  unsigned int word() { return static_cast<unsigned int>(twister_()); }
  double fraction() {
    const unsigned int first = word(), second = word();
    return _curand_uniform_double_hq(first, second);
  }
  double2 normals() {
    const unsigned int a = word(), b = word(), c = word(), d = word();
    return _curand_box_muller_double(a, b, c, d);
  }

  template <class T, class Draw>
  void each(void* out, size_t count, Draw&& draw) {
    T* const to = static_cast<T*>(out);
    for (size_t i = 0; i < count; ++i) to[i] = draw();
  }
  template <class T>
  void pairs(void* out, size_t count, const Request& r, bool logarithmic) {
    T* const to = static_cast<T*>(out);
    for (size_t i = 0; i < count; i += 2) {
      const double2 v = normals();
      const double x = r.mean + r.deviation * v.x, y = r.mean + r.deviation * v.y;
      to[i] = static_cast<T>(logarithmic ? std::exp(x) : x);
      if (i + 1 < count) to[i + 1] = static_cast<T>(logarithmic ? std::exp(y) : y);
    }
  }

  std::mt19937 twister_;
};

}  // namespace

std::unique_ptr<Source> mersenne_twister() { return std::make_unique<Twister>(); }

}  // namespace warpbeam::curand
