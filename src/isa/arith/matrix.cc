#include "isa/arith/matrix.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "isa/arith/convert.h"
#include "isa/arith/round.h"

namespace warpbeam::isa {
namespace {

constexpr int kColumns = 8;  // of the result at a time: a vector of the host

struct ElementFormat {
  int mantissa = 0, bias = 0, top = 0;  // top: the exponent field of infinities and NaNs
  bool finite_only = false;             // e4m3: only all ones is a NaN
};

ElementFormat format_of(Type t) {
  switch (t) {
    case Type::F16:
      return {10, 15, 31, false};
    case Type::BF16:
      return {7, 127, 255, false};
    case Type::TF32:
      return {10, 127, 255, false};
    case Type::E4M3:
      return {3, 7, 15, true};
    case Type::E5M2:
      return {2, 15, 31, false};
    default:
      return {23, 127, 255, false};
  }
}

constexpr int32_t kUnused = -100000;  // the exponent of an element that takes no part

enum class Special : uint8_t { None, Infinity, Nan };

struct Element {
  int32_t significand = 0;  // signed, with the hidden bit; the value is significand * 2^(exponent - mantissa)
  int32_t exponent = 0;
  Special special = Special::None;
};

Element unpack(uint32_t bits, const ElementFormat& f, Type t) {
  if (t == Type::TF32) bits >>= 13;  // the lower bits are not looked at
  const int width = t == Type::BF16 ? 15 : t == Type::F16 ? 15 : t == Type::TF32 ? 18 : t == Type::F32 ? 31 : 7;
  const bool negative = bits >> width & 1;
  const int field = static_cast<int>(bits >> f.mantissa & ((1u << (width - f.mantissa)) - 1));
  const int32_t fraction = static_cast<int32_t>(bits & ((1u << f.mantissa) - 1));
  Element e;
  if (field == f.top) {
    if (f.finite_only ? fraction == (1 << f.mantissa) - 1 : fraction != 0)
      e.special = Special::Nan;
    else if (!f.finite_only)
      e.special = Special::Infinity;
  }
  e.significand = field ? fraction | 1 << f.mantissa : fraction;
  e.exponent = (field ? field : 1) - f.bias;
  if (negative) e.significand = -e.significand;
  return e;
}

// (sum * 2^exponent) in f32 with `significand` bits, cut off.
uint32_t cut_to_f32(int64_t sum, int exponent, int significand) {
  if (sum == 0) return 0;
  const uint32_t sign = sum < 0 ? 0x80000000u : 0;
  uint64_t magnitude = sum < 0 ? static_cast<uint64_t>(-sum) : static_cast<uint64_t>(sum);
  const int top = 63 - std::countl_zero(magnitude);
  int e = exponent + top;  // of the leading bit
  if (e > 127) return sign | 0x7f800000u;
  if (top > 23)
    magnitude >>= top - 23;
  else
    magnitude <<= 23 - top;
  magnitude &= ~((uint64_t{1} << (24 - significand)) - 1);
  if (e < -126) {
    const int drop = -126 - e;
    return sign | static_cast<uint32_t>(drop > 24 ? 0 : magnitude >> drop);
  }
  return sign | static_cast<uint32_t>(e + 127) << 23 | (static_cast<uint32_t>(magnitude) & 0x7fffffu);
}

uint32_t round_to_f16(int64_t sum, int exponent) {
  if (sum == 0) return 0;
  const bool negative = sum < 0;
  return static_cast<uint32_t>(round_and_pack(kFormatF16, negative, exponent,
                                              negative ? static_cast<uint64_t>(-sum) : static_cast<uint64_t>(sum),
                                              Rounding::NearestEven));
}

// What infinities and NaNs among the operands make of an element of the result; `sum` if there are none after all.
uint32_t special_result(const Element* a, const Element* b, size_t first, size_t last, size_t stride, const Element& c,
                        bool half, uint32_t sum) {
  bool nan = c.special == Special::Nan, plus = c.special == Special::Infinity && c.significand > 0,
       minus = c.special == Special::Infinity && c.significand < 0;
  for (size_t k = first; k < last; ++k) {
    const Element &x = a[k], &y = b[k * stride];
    if (x.exponent == kUnused || (x.special == Special::None && y.special == Special::None)) continue;
    const bool zero =
        (x.special == Special::None && x.significand == 0) || (y.special == Special::None && y.significand == 0);
    if (x.special == Special::Nan || y.special == Special::Nan || zero)
      nan = true;
    else
      ((x.significand < 0) != (y.significand < 0) ? minus : plus) = true;
  }
  if (nan || (plus && minus)) return half ? kNanF16 : kNanF32;
  if (!plus && !minus) return sum;
  const uint32_t infinity = half ? 0x7c00u : 0x7f800000u;
  return minus ? infinity | (half ? 0x8000u : 0x80000000u) : infinity;
}

}  // namespace

AddingModel adding_model(Type a) {
  switch (a) {
    case Type::TF32:
      return {8, 25, 24};
    default:
      return {16, 25, 24};
  }
}

namespace {

// The operands of a product taken apart.
struct Operands {
  std::vector<Element> a, b;
  std::vector<int32_t> b_significand, b_exponent;
  std::vector<uint8_t> a_special, b_special;  // of rows and columns

  explicit Operands(const MatrixProduct& p)
      : a(size(p.m, p.k)),
        b(size(p.k, p.n)),
        b_significand(b.size()),
        b_exponent(b.size()),
        a_special(size(p.m, 1)),
        b_special(size(p.n, 1)) {
    const ElementFormat fa = format_of(p.at), fb = format_of(p.bt);
    for (size_t x = 0; x < a.size(); ++x) {
      a[x] = unpack(p.a[x], fa, p.at);
      if (p.used && !p.used[x]) a[x].exponent = kUnused;
      a_special[x / size(p.k, 1)] |= a[x].special != Special::None;
    }
    for (size_t x = 0; x < b.size(); ++x) {
      b[x] = unpack(p.b[x], fb, p.bt);
      b_significand[x] = b[x].significand;
      b_exponent[x] = b[x].exponent;
      b_special[x % size(p.n, 1)] |= b[x].special != Special::None;
    }
  }
  static size_t size(int x, int y) { return static_cast<size_t>(x) * static_cast<size_t>(y); }
};

// d = c + the products of k in [first, last).
void add_chunk(const MatrixProduct& p, const Operands& o, AddingModel model, size_t first, size_t last,
               const uint32_t* c_cells, Type ct, uint32_t* d_cells, Type dt) {
  const size_t m = static_cast<size_t>(p.m), n = static_cast<size_t>(p.n), k = static_cast<size_t>(p.k);
  const ElementFormat fc = format_of(ct);
  const bool half = dt == Type::F16;
  // Products have this many bits behind the point before they are aligned.
  const int product_bits = format_of(p.at).mantissa + format_of(p.bt).mantissa;
  const int up = std::max(0, model.fraction - product_bits), down = std::max(0, product_bits - model.fraction);
  const int c_up = std::max(0, model.fraction - fc.mantissa), c_down = std::max(0, fc.mantissa - model.fraction);
  for (size_t row = 0; row < m; ++row)
    for (size_t column = 0; column < n; column += kColumns) {
      Element c[kColumns];
      int64_t sum[kColumns];
      int32_t largest[kColumns];
      for (size_t j = 0; j < kColumns; ++j) {
        c[j] = unpack(c_cells[row * n + column + j], fc, ct);
        largest[j] = c[j].exponent;
      }
      for (size_t x = first; x < last; ++x) {
        const int32_t e = o.a[row * k + x].exponent;
        const int32_t* be = &o.b_exponent[x * n + column];
        for (size_t j = 0; j < kColumns; ++j) largest[j] = std::max(largest[j], e + be[j]);
      }
      for (size_t j = 0; j < kColumns; ++j) {
        const int64_t s = c[j].significand;
        const int shift = std::min(63, largest[j] - c[j].exponent + c_down);
        const int64_t kept = ((s < 0 ? -s : s) << c_up) >> shift;
        sum[j] = s < 0 ? -kept : kept;
      }
      for (size_t x = first; x < last; ++x) {
        const Element& e = o.a[row * k + x];
        const int32_t* be = &o.b_exponent[x * n + column];
        const int32_t* bs = &o.b_significand[x * n + column];
        for (size_t j = 0; j < kColumns; ++j) {
          const int64_t s = static_cast<int64_t>(e.significand) * bs[j];
          const int shift = std::min(63, largest[j] - e.exponent - be[j] + down);
          const int64_t kept = ((s < 0 ? -s : s) << up) >> shift;
          sum[j] += s < 0 ? -kept : kept;
        }
      }
      for (size_t j = 0; j < kColumns; ++j) {
        const int exponent = largest[j] - model.fraction;
        uint32_t result = half ? round_to_f16(sum[j], exponent) : cut_to_f32(sum[j], exponent, model.significand);
        if (o.a_special[row] || o.b_special[column + j] || c[j].special != Special::None)
          result = special_result(&o.a[row * k], &o.b[column + j], first, last, n, c[j], half, result);
        d_cells[row * n + column + j] = result;
      }
    }
}

}  // namespace

void multiply_floats(const MatrixProduct& p, AddingModel model) {
  const Operands operands(p);
  const size_t k = static_cast<size_t>(p.k), chunk = static_cast<size_t>(model.chunk);
  const uint32_t* c = p.c;
  Type ct = p.ct;
  std::vector<uint32_t> between(k > chunk ? operands.a_special.size() * operands.b_special.size() : 0);
  for (size_t first = 0; first < k; first += chunk) {
    const bool done = first + chunk >= k;
    add_chunk(p, operands, model, first, std::min(k, first + chunk), c, ct, done ? p.d : between.data(),
              done ? p.dt : model.between);
    c = between.data();
    ct = model.between;
  }
}

void multiply_fp8(const MatrixProduct& p) {
  std::vector<uint32_t> a(Operands::size(p.m, p.k)), b(Operands::size(p.k, p.n)), c(Operands::size(p.m, p.n));
  std::vector<uint8_t> used(p.used ? a.size() : 0);
  int to = 0;
  for (int half = 0; half < 2; ++half)
    for (int x = 0; x < p.k; ++x) {
      if ((p.used ? x / 4 % 2 : x / 2 % 2) != half) continue;
      for (int i = 0; i < p.m; ++i) a[static_cast<size_t>(i * p.k + to)] = p.a[i * p.k + x];
      if (p.used)
        for (int i = 0; i < p.m; ++i) used[static_cast<size_t>(i * p.k + to)] = p.used[i * p.k + x];
      for (int j = 0; j < p.n; ++j) b[static_cast<size_t>(to * p.n + j)] = p.b[x * p.n + j];
      ++to;
    }
  MatrixProduct sums = p;
  sums.a = a.data();
  sums.b = b.data();
  sums.c = c.data();
  sums.ct = sums.dt = p.dt;
  sums.used = p.used ? used.data() : nullptr;
  multiply_floats(sums, {p.k / 2, 25, 24, p.dt});
  for (size_t x = 0; x < c.size(); ++x) {
    if (p.dt == Type::F16)
      p.d[x] =
          f32_to_f16(add_f32(f16_to_f32(static_cast<uint16_t>(p.d[x])), f16_to_f32(static_cast<uint16_t>(p.c[x])), {}),
                     Rounding::NearestEven);
    else
      p.d[x] = bits_of(add_f32(f32_of(p.d[x]), f32_of(p.c[x]), {}));
  }
}

void multiply_in_steps(const MatrixProduct& p) {
  const auto single = [](uint32_t cell, Type t) {
    return t == Type::F16 ? f16_to_f32(static_cast<uint16_t>(cell)) : f32_of(cell);
  };
  for (int i = 0; i < p.m; ++i)
    for (int j = 0; j < p.n; ++j) {
      const float c = single(p.c[i * p.n + j], p.ct);
      const auto step = [&](int x, float sum) {
        return fma_f32(single(p.a[i * p.k + x], p.at), single(p.b[x * p.n + j], p.bt), sum, {});
      };
      if (p.dt == Type::F16) {
        const float upper = step(3, single(p.a[i * p.k + 2], p.at) * single(p.b[2 * p.n + j], p.bt));
        p.d[i * p.n + j] = f32_to_f16(add_f32(step(1, step(0, c)), upper, {}), Rounding::NearestEven);
      } else {
        float sum = 0;
        for (int x = 0; x < p.k; ++x) sum = step(x, sum);
        p.d[i * p.n + j] = bits_of(add_f32(sum, c, {}));
      }
    }
}

void multiply_integers(const MatrixProduct& p) {
  const auto value = [](uint32_t cell, Type t) -> int64_t {
    switch (t) {
      case Type::S8:
        return static_cast<int8_t>(cell);
      case Type::U8:
        return static_cast<uint8_t>(cell);
      case Type::S4:
        return static_cast<int32_t>(cell << 28) >> 28;
      default:
        return cell & 15;
    }
  };
  for (int i = 0; i < p.m; ++i)
    for (int j = 0; j < p.n; ++j) {
      int64_t sum = static_cast<int32_t>(p.c[i * p.n + j]);
      for (int x = 0; x < p.k; ++x) sum += value(p.a[i * p.k + x], p.at) * value(p.b[x * p.n + j], p.bt);
      if (p.saturate) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
      p.d[i * p.n + j] = static_cast<uint32_t>(sum);
    }
}

// Elements of b1 come in cells of 32 along k: k counts cells.
void multiply_bits(const MatrixProduct& p) {
  for (int i = 0; i < p.m; ++i)
    for (int j = 0; j < p.n; ++j) {
      uint32_t sum = p.c[i * p.n + j];
      for (int x = 0; x < p.k; ++x) {
        const uint32_t a = p.a[i * p.k + x], b = p.b[x * p.n + j];
        sum += static_cast<uint32_t>(std::popcount(p.both_bits ? a & b : a ^ b));
      }
      p.d[i * p.n + j] = sum;
    }
}

void multiply_doubles(int m, int n, int k, const double* a, const double* b, const double* c, double* d, Rnd rounding) {
  const Rounding r = rounding == Rnd::Rz   ? Rounding::Zero
                     : rounding == Rnd::Rm ? Rounding::Down
                     : rounding == Rnd::Rp ? Rounding::Up
                                           : Rounding::NearestEven;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = c[i * n + j];
      for (int x = 0; x < k; ++x) sum = fma_f64(a[i * k + x], b[x * n + j], sum, r);
      d[i * n + j] = sum;
    }
}

}  // namespace warpbeam::isa
