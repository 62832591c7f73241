// Sobol sequences of several dimensions, plain and scrambled.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "curand_kernel.h"
#include "libraries/curand/directions.h"
#include "libraries/curand/source.h"

namespace warpbeam::curand {
namespace {

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

template <class State, class Word, bool scrambled>
class Sobol final : public Source {
 public:
  explicit Sobol(unsigned int dimensions) : states_(dimensions) {}

  size_t multiple(Kind) const override { return states_.size(); }
  bool makes(Kind kind) const override { return kind != (sizeof(Word) == 8 ? Kind::Bits : Kind::LongBits); }

  void seek(unsigned long long, unsigned long long offset) override {
    for (unsigned int d = 0; d < states_.size(); ++d) {
      Word vectors[8 * sizeof(Word)];
      if constexpr (scrambled) {
        make_scrambled_vectors(d, vectors);
        curand_init(vectors, scramble_constant<Word>(d), static_cast<Word>(offset), &states_[d]);
      } else {
        make_vectors(d, vectors);
        curand_init(vectors, static_cast<Word>(offset), &states_[d]);
      }
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
        case Kind::LongBits: static_cast<Word*>(out)[i] = x; break;
        case Kind::Uniform: static_cast<float*>(out)[i] = _curand_uniform(x); break;
        case Kind::UniformDouble: static_cast<double*>(out)[i] = _curand_uniform_double(x); break;
        case Kind::Normal: static_cast<float*>(out)[i] = static_cast<float>(r.mean + r.deviation * normal); break;
        case Kind::LogNormal: static_cast<float*>(out)[i] = static_cast<float>(std::exp(r.mean + r.deviation * normal)); break;
        case Kind::NormalDouble: static_cast<double*>(out)[i] = r.mean + r.deviation * normal; break;
        case Kind::LogNormalDouble: static_cast<double*>(out)[i] = std::exp(r.mean + r.deviation * normal); break;
        case Kind::Poisson:
          static_cast<unsigned int*>(out)[i] = r.mean < 1000 ? warpbeam_curand::poisson_below(warpbeam_curand::below_one(x), r.mean)
                                                             : warpbeam_curand::poisson_large(normal, r.mean);
          break;
      }
    }
  }

 private:
  std::vector<State> states_;
};

// For each dimension what `make` makes. It ends where memory ends: reading on faults instead of giving zeros.
template <class Entry, class Make>
Entry* table(Make&& make) {
  constexpr size_t bytes = kSobolDimensions * sizeof(Entry);
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), whole = (bytes + page - 1) / page * page;
  void* const memory = mmap(nullptr, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* const entries = reinterpret_cast<Entry*>(static_cast<char*>(memory) + whole - bytes);
  for (unsigned int d = 0; d < kSobolDimensions; ++d) make(d, entries[d]);
  mprotect(static_cast<char*>(memory) + whole, page, PROT_NONE);
  return entries;
}

template <class Entry>
curandStatus_t give(Entry** to, Entry* table) {
  if (!table) return CURAND_STATUS_ALLOCATION_FAILED;
  *to = table;
  return CURAND_STATUS_SUCCESS;
}

template <class Vectors>
curandStatus_t give_vectors(Vectors* vectors[], bool plain, bool scrambled) {
  if (!vectors || (!plain && !scrambled)) return CURAND_STATUS_OUT_OF_RANGE;
  if (plain) {
    static Vectors* const all = table<Vectors>([](unsigned int d, Vectors& v) { make_vectors(d, v); });
    return give(vectors, all);
  }
  static Vectors* const all = table<Vectors>([](unsigned int d, Vectors& v) { make_scrambled_vectors(d, v); });
  return give(vectors, all);
}

template <class Word>
curandStatus_t give_constants(Word** constants) {
  if (!constants) return CURAND_STATUS_OUT_OF_RANGE;
  static Word* const all = table<Word>([](unsigned int d, Word& constant) { constant = scramble_constant<Word>(d); });
  return give(constants, all);
}

}  // namespace

std::unique_ptr<Source> sobol(curandRngType_t type, unsigned int dimensions) {
  switch (type) {
    case CURAND_RNG_QUASI_DEFAULT:
    case CURAND_RNG_QUASI_SOBOL32: return std::make_unique<Sobol<curandStateSobol32_t, unsigned int, false>>(dimensions);
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL32: return std::make_unique<Sobol<curandStateScrambledSobol32_t, unsigned int, true>>(dimensions);
    case CURAND_RNG_QUASI_SOBOL64: return std::make_unique<Sobol<curandStateSobol64_t, unsigned long long, false>>(dimensions);
    case CURAND_RNG_QUASI_SCRAMBLED_SOBOL64:
      return std::make_unique<Sobol<curandStateScrambledSobol64_t, unsigned long long, true>>(dimensions);
    default: return nullptr;
  }
}

}  // namespace warpbeam::curand

using namespace warpbeam::curand;

__attribute__((visibility("default"))) curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t* vectors[],
                                                                                  curandDirectionVectorSet_t set) {
  return give_vectors(vectors, set == CURAND_DIRECTION_VECTORS_32_JOEKUO6, set == CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6);
}

__attribute__((visibility("default"))) curandStatus_t curandGetDirectionVectors64(curandDirectionVectors64_t* vectors[],
                                                                                  curandDirectionVectorSet_t set) {
  return give_vectors(vectors, set == CURAND_DIRECTION_VECTORS_64_JOEKUO6, set == CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6);
}

__attribute__((visibility("default"))) curandStatus_t curandGetScrambleConstants32(unsigned int** constants) {
  return give_constants(constants);
}

__attribute__((visibility("default"))) curandStatus_t curandGetScrambleConstants64(unsigned long long** constants) {
  return give_constants(constants);
}
