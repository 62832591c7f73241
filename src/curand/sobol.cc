// Sobol sequences of several dimensions, with the direction numbers of S. Joe and F. Kuo ("Constructing Sobol sequences
// with better two-dimensional projections", 2008; new-joe-kuo-6).
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "curand/source.h"
#include "curand_kernel.h"

namespace warpbeam::curand {
namespace {

// A primitive polynomial (its degree, its inner coefficients) and the first odd numbers.
struct Dimension {
  unsigned int degree, coefficients;
  unsigned int first[7];
};
constexpr Dimension kDimensions[kSobolDimensions] = {
    {0, 0, {}},
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
};

template <class Word>
void make_vectors(unsigned int dimension, Word* v) {
  constexpr unsigned int bits = 8 * sizeof(Word);
  const Dimension& d = kDimensions[dimension];
  for (unsigned int k = 0; k < bits; ++k) {
    if (d.degree == 0) {
      v[k] = Word{1} << (bits - 1 - k);
    } else if (k < d.degree) {
      v[k] = static_cast<Word>(d.first[k]) << (bits - 1 - k);
    } else {
      v[k] = v[k - d.degree] ^ (v[k - d.degree] >> d.degree);
      for (unsigned int j = 1; j < d.degree; ++j)
        if ((d.coefficients >> (d.degree - 1 - j)) & 1) v[k] ^= v[k - j];
    }
  }
}

// The x at which erfc(x / sqrt 2) / 2 = p: a rough start, then Halley's steps.
double upper_quantile(double p) {
  const bool mirrored = p > 0.5;
  const double tail = mirrored ? 1 - p : p, t = std::sqrt(-2 * std::log(tail));
  double x = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  for (int step = 0; step < 3; ++step) {
    const double error = 0.5 * std::erfc(x / std::sqrt(2.0)) - tail;
    const double newton = -error * std::sqrt(CURAND_2PI_DOUBLE) * std::exp(x * x / 2);
    x -= newton / (1 - x * newton / 2);
  }
  return mirrored ? -x : x;
}

double in_open_interval(unsigned int x) { return (x + 0.5) * CURAND_2POW32_INV_DOUBLE; }
double in_open_interval(unsigned long long x) { return ((x >> 11) + 0.5) * CURAND_2POW53_INV_DOUBLE; }

unsigned int upper_half(unsigned int x) { return x; }
unsigned int upper_half(unsigned long long x) { return static_cast<unsigned int>(x >> 32); }

template <class State, class Word>
class Sobol final : public Source {
 public:
  explicit Sobol(unsigned int dimensions) : states_(dimensions) {}

  size_t multiple(Kind) const override { return states_.size(); }
  bool makes(Kind kind) const override { return kind != (sizeof(Word) == 8 ? Kind::Bits : Kind::LongBits); }

  void seek(unsigned long long, unsigned long long offset) override {
    for (unsigned int d = 0; d < states_.size(); ++d) {
      Word vectors[8 * sizeof(Word)];
      make_vectors(d, vectors);
      curand_init(vectors, static_cast<Word>(offset), &states_[d]);
    }
  }

  // All of the first dimension, then all of the second …
  void fill(const Request& r, void* out, size_t count, size_t done, size_t total) override {
    const size_t each = total / states_.size();
    for (size_t i = 0; i < count; ++i) {
      const Word x = ::curand(&states_[(done + i) / each]);
      const bool single = r.kind == Kind::Normal || r.kind == Kind::LogNormal;
      const double normal = single                   ? -upper_quantile(in_open_interval(upper_half(x)))
                            : r.kind >= Kind::Normal ? -upper_quantile(in_open_interval(x))
                                                     : 0;
      switch (r.kind) {
        case Kind::Bits:
        case Kind::LongBits:
          static_cast<Word*>(out)[i] = x;
          break;
        case Kind::Uniform:
          static_cast<float*>(out)[i] = _curand_uniform(x);
          break;
        case Kind::UniformDouble:
          static_cast<double*>(out)[i] = _curand_uniform_double(x);
          break;
        case Kind::Normal:
          static_cast<float*>(out)[i] = static_cast<float>(r.mean + r.deviation * normal);
          break;
        case Kind::LogNormal:
          static_cast<float*>(out)[i] = static_cast<float>(std::exp(r.mean + r.deviation * normal));
          break;
        case Kind::NormalDouble:
          static_cast<double*>(out)[i] = r.mean + r.deviation * normal;
          break;
        case Kind::LogNormalDouble:
          static_cast<double*>(out)[i] = std::exp(r.mean + r.deviation * normal);
          break;
        case Kind::Poisson:
          static_cast<unsigned int*>(out)[i] =
              r.mean < 1000 ? warpbeam_curand::poisson_below(warpbeam_curand::below_one(x), r.mean)
                            : warpbeam_curand::poisson_large(normal, r.mean);
          break;
      }
    }
  }

 private:
  std::vector<State> states_;
};

// The vectors of the dimensions that there are end where memory ends: reading on faults instead of giving zeros.
template <class Vectors>
Vectors* table() {
  constexpr size_t bytes = kSobolDimensions * sizeof(Vectors);
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), whole = (bytes + page - 1) / page * page;
  void* const memory = mmap(nullptr, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const vectors = reinterpret_cast<Vectors*>(static_cast<char*>(memory) + whole - bytes);
  for (unsigned int d = 0; d < kSobolDimensions; ++d) make_vectors(d, vectors[d]);
  mprotect(static_cast<char*>(memory) + whole, page, PROT_NONE);
  return vectors;
}

template <class Vectors>
curandStatus_t give(Vectors* vectors[], bool known) {
  if (!vectors || !known) return CURAND_STATUS_OUT_OF_RANGE;
  static Vectors* const all = table<Vectors>();
  if (!all) return CURAND_STATUS_ALLOCATION_FAILED;
  *vectors = all;
  return CURAND_STATUS_SUCCESS;
}

}  // namespace

std::unique_ptr<Source> sobol(curandRngType_t type, unsigned int dimensions) {
  switch (type) {
    case CURAND_RNG_QUASI_DEFAULT:
    case CURAND_RNG_QUASI_SOBOL32:
      return std::make_unique<Sobol<curandStateSobol32_t, unsigned int>>(dimensions);
    case CURAND_RNG_QUASI_SOBOL64:
      return std::make_unique<Sobol<curandStateSobol64_t, unsigned long long>>(dimensions);
    default:
      return nullptr;
  }
}

}  // namespace warpbeam::curand

using namespace warpbeam::curand;

__attribute__((visibility("default"))) curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t* vectors[],
                                                                                  curandDirectionVectorSet_t set) {
  return give(vectors, set == CURAND_DIRECTION_VECTORS_32_JOEKUO6);
}

__attribute__((visibility("default"))) curandStatus_t curandGetDirectionVectors64(curandDirectionVectors64_t* vectors[],
                                                                                  curandDirectionVectorSet_t set) {
  return give(vectors, set == CURAND_DIRECTION_VECTORS_64_JOEKUO6);
}
