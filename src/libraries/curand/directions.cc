// The first 21 dimensions have the direction numbers of S. Joe and F. Kuo ("Constructing Sobol sequences with better
// two-dimensional projections", 2008; new-joe-kuo-6). The others go on with their polynomials, the primitive ones in order, and
// with first numbers of our own: any odd ones make a sequence that is even in each dimension.
#include "libraries/curand/directions.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace warpbeam::curand {
namespace {

constexpr unsigned int kMostDegree = 18;

// A primitive polynomial (its degree, its inner coefficients) and the first odd numbers.
struct Dimension {
  unsigned int degree, coefficients;
  std::array<unsigned int, kMostDegree> first;
};
constexpr Dimension kKnown[] = {
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

uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
// Any number that belongs to the two.
uint64_t chosen(unsigned int dimension, unsigned int which) { return mixed(mixed(dimension + 1) + which); }

// The powers of x modulo a polynomial, if they are all of the field: then it is primitive.
std::vector<uint32_t> powers(unsigned int degree, uint32_t polynomial) {
  const uint32_t all = (1u << degree) - 1;
  std::vector<uint32_t> found{1};
  for (uint32_t x = 2; x != 1; x = x << 1 >> degree ? x << 1 ^ polynomial : x << 1) {
    if (found.size() == all) return {};
    found.push_back(x);
  }
  return found.size() == all ? found : std::vector<uint32_t>{};
}

// The inner coefficients of every primitive polynomial: each is the smallest that has a power a^k as its root, and with it
// a^2k, a^4k …, where a is a root of one of them and k has no divisor in common with the length of the cycle.
std::vector<unsigned int> primitive_polynomials(unsigned int degree) {
  const uint32_t all = (1u << degree) - 1;
  std::vector<uint32_t> power;
  for (uint32_t p = (1u << degree) + 1; power.empty(); p += 2) power = powers(degree, p);
  std::vector<uint32_t> logarithm(all + 1);
  for (uint32_t k = 0; k < all; ++k) logarithm[power[k]] = k;
  std::vector<unsigned int> found;
  for (uint32_t k = 1; k < all; ++k) {
    if (std::gcd(k, all) != 1) continue;
    bool smallest = true;
    for (uint64_t j = 2 * uint64_t{k} % all; smallest && j != k; j = 2 * j % all) smallest = j > k;
    if (!smallest) continue;
    std::array<uint32_t, kMostDegree + 1> product{1};  // coefficients are elements of the field, bits of them in the end
    uint64_t root = k;
    for (unsigned int n = 0; n < degree; ++n, root = 2 * root % all)
      for (unsigned int i = n + 2; i-- > 0;) {
        const uint32_t times = product[i] ? power[(logarithm[product[i]] + root) % all] : 0;
        product[i] = times ^ (i ? product[i - 1] : 0);
      }
    unsigned int inner = 0;
    for (unsigned int i = 1; i < degree; ++i) inner |= product[i] << (i - 1);
    found.push_back(inner);
  }
  std::ranges::sort(found);
  return found;
}

std::vector<Dimension> make_dimensions() {
  std::vector<Dimension> all(std::begin(kKnown), std::end(kKnown));
  // As many polynomials of the last degree in the table are in it as come before that one.
  for (unsigned int degree = all.back().degree; all.size() < kSobolDimensions; ++degree)
    for (const unsigned int inner : primitive_polynomials(degree)) {
      if (degree == std::end(kKnown)[-1].degree && inner <= std::end(kKnown)[-1].coefficients) continue;
      if (all.size() == kSobolDimensions) break;
      Dimension next{degree, inner, {}};
      for (unsigned int i = 0; i < degree; ++i)
        next.first[i] = (chosen(static_cast<unsigned int>(all.size()), i) & ((1u << (i + 1)) - 1)) | 1;
      all.push_back(next);
    }
  return all;
}

const Dimension& dimension_of(unsigned int n) {
  if (n < std::size(kKnown)) return kKnown[n];
  static const std::vector<Dimension> all = make_dimensions();
  return all[n];
}

}  // namespace

template <class Word>
void make_vectors(unsigned int dimension, Word* v) {
  constexpr unsigned int bits = 8 * sizeof(Word);
  const Dimension& d = dimension_of(dimension);
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

template <class Word>
void make_scrambled_vectors(unsigned int dimension, Word* v) {
  constexpr unsigned int bits = 8 * sizeof(Word);
  make_vectors(dimension, v);
  Word rows[bits];
  for (unsigned int r = 0; r < bits; ++r) {
    const Word own = Word{1} << (bits - 1 - r);
    rows[r] = (static_cast<Word>(chosen(dimension, 1000 + r)) & ~(2 * own - 1)) | own;
  }
  for (unsigned int k = 0; k < bits; ++k) {
    Word scrambled = 0;
    for (unsigned int r = 0; r < bits; ++r)
      scrambled |= static_cast<Word>(std::popcount(static_cast<Word>(rows[r] & v[k])) & 1) << (bits - 1 - r);
    v[k] = scrambled;
  }
}

template <class Word>
Word scramble_constant(unsigned int dimension) {
  return static_cast<Word>(chosen(dimension, 2000));
}

#define WB_DIRECTIONS(Word)                                        \
  template void make_vectors<Word>(unsigned int, Word*);           \
  template void make_scrambled_vectors<Word>(unsigned int, Word*); \
  template Word scramble_constant<Word>(unsigned int);
WB_DIRECTIONS(unsigned int)
WB_DIRECTIONS(unsigned long long)

}  // namespace warpbeam::curand
