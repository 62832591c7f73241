// A stream of random numbers that remembers where it is.
#pragma once

#include <cstddef>
#include <memory>

#include "curand.h"

namespace warpbeam::curand {

enum class Kind { Bits, LongBits, Uniform, UniformDouble, Normal, NormalDouble, LogNormal, LogNormalDouble, Poisson };

constexpr size_t bytes_of(Kind kind) {
  switch (kind) {
    case Kind::LongBits:
    case Kind::UniformDouble:
    case Kind::NormalDouble:
    case Kind::LogNormalDouble: return 8;
    default: return 4;
  }
}

// What is asked for: `mean` is the rate of Poisson numbers.
struct Request {
  Kind kind;
  double mean = 0, deviation = 1;
};

class Source {
 public:
  virtual ~Source() = default;
  // Results come in multiples of this many.
  virtual size_t multiple(Kind kind) const = 0;
  virtual bool makes(Kind kind) const = 0;
  // The next `count` results of a call that wants `total`, of which `done` are made.
  virtual void fill(const Request& request, void* out, size_t count, size_t done, size_t total) = 0;
  virtual void seek(unsigned long long seed, unsigned long long offset) = 0;
};

// Null: not a type with sequences here.
std::unique_ptr<Source> pseudorandom(curandRngType_t type, bool legacy_order);
std::unique_ptr<Source> mersenne_twister();
std::unique_ptr<Source> sobol(curandRngType_t type, unsigned int dimensions);

}  // namespace warpbeam::curand
