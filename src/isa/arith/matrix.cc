#include "isa/arith/matrix.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "isa/arith/convert.h"
#include "isa/arith/round.h"

namespace warpbeam::isa {
namespace {

struct ElementFormat {
  int mantissa = 0, bias = 0, top = 0;  // top: the exponent field of infinities and NaNs
  bool finite_only = false;             // e4m3: only all ones is a NaN
  int width = 0;                        // without the sign
  int ignored = 0;                      // lower bits that are not looked at
  uint32_t fields = (1u << (width - mantissa)) - 1;
};

ElementFormat format_of(Type t) {
  switch (t) {
    case Type::F16: return {10, 15, 31, false, 15};
    case Type::BF16: return {7, 127, 255, false, 15};
    case Type::TF32: return {10, 127, 255, false, 18, 13};
    case Type::E4M3: return {3, 7, 15, true, 7};
    case Type::E5M2: return {2, 15, 31, false, 7};
    default: return {23, 127, 255, false, 31};
  }
}

constexpr int32_t kUnused = -100000;  // the exponent of an element that takes no part

// An element, or a vector of them, taken apart: the value is magnitude * 2^(exponent - mantissa).
template <class V>
struct Parts {
  V magnitude;  // with the hidden bit
  V sign;       // 0 or -1
  V exponent;
  V special;    // infinities and NaNs: not 0
};

inline Parts<int32_t> unpack(uint32_t bits, const ElementFormat& f) {
  bits >>= f.ignored;
  const int32_t field = static_cast<int32_t>(bits >> f.mantissa & f.fields),
                fraction = static_cast<int32_t>(bits & ((1u << f.mantissa) - 1));
  Parts<int32_t> e;
  e.magnitude = fraction | (field ? 1 << f.mantissa : 0);
  e.sign = -static_cast<int32_t>(bits >> f.width & 1);
  e.exponent = (field ? field : 1) - f.bias;
  e.special = (field == f.top) & (!f.finite_only | (fraction == (1 << f.mantissa) - 1));
  return e;
}
bool is_nan(uint32_t bits, const ElementFormat& f) {
  return f.finite_only || (bits >> f.ignored & ((1u << f.mantissa) - 1)) != 0;
}  // of a special one

// (sum * 2^exponent) in f32 with `significand` bits, cut off.
uint32_t cut_to_f32(int64_t sum, int exponent, int significand) {
  if (sum == 0) return 0;
  const uint32_t sign = sum < 0 ? 0x80000000u : 0;
  uint64_t magnitude = sum < 0 ? static_cast<uint64_t>(-sum) : static_cast<uint64_t>(sum);
  const int top = 63 - std::countl_zero(magnitude);
  int e = exponent + top;  // of the leading bit
  if (e > 127) return sign | 0x7f800000u;
  if (top > 23) magnitude >>= top - 23;
  else magnitude <<= 23 - top;
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
                                              negative ? static_cast<uint64_t>(-sum) : static_cast<uint64_t>(sum), Rounding::NearestEven));
}

}  // namespace

AddingModel adding_model(Type a) {
  switch (a) {
    case Type::TF32: return {8, 25, 24};
    default: return {16, 25, 24};
  }
}

namespace {

size_t size(int x, int y) { return static_cast<size_t>(x) * static_cast<size_t>(y); }

Parts<std::vector<int32_t>> take_apart(const uint32_t* cells, size_t count, const ElementFormat& f) {
  Parts<std::vector<int32_t>> out;
  for (auto* v : {&out.magnitude, &out.sign, &out.exponent, &out.special}) v->resize(count);
  int32_t *magnitude = out.magnitude.data(), *sign = out.sign.data(), *exponent = out.exponent.data(), *special = out.special.data();
  for (size_t x = 0; x < count; ++x) {
    const Parts<int32_t> e = unpack(cells[x], f);
    magnitude[x] = e.magnitude;
    sign[x] = e.sign;
    exponent[x] = e.exponent;
    special[x] = e.special;
  }
  return out;
}

// The operands of a product taken apart.
struct Operands {
  const MatrixProduct& p;
  ElementFormat fa = format_of(p.at), fb = format_of(p.bt);
  Parts<std::vector<int32_t>> a = take_apart(p.a, size(p.m, p.k), fa), b = take_apart(p.b, size(p.k, p.n), fb);
  std::vector<uint8_t> special_rows, special_columns;  // empty: none

  explicit Operands(const MatrixProduct& product) : p(product) {
    if (p.used)
      for (size_t x = 0; x < a.exponent.size(); ++x)
        if (!p.used[x]) a.exponent[x] = kUnused;
    const auto any = [](const std::vector<int32_t>& v) {
      int32_t found = 0;
      for (int32_t x : v) found |= x;
      return found != 0;
    };
    if (any(a.special)) {
      special_rows.resize(size(p.m, 1));
      for (size_t x = 0; x < a.special.size(); ++x) special_rows[x / size(p.k, 1)] |= a.special[x] != 0;
    }
    if (any(b.special)) {
      special_columns.resize(size(p.n, 1));
      for (size_t x = 0; x < b.special.size(); ++x) special_columns[x % size(p.n, 1)] |= b.special[x] != 0;
    }
  }
};

// What infinities and NaNs among the operands make of an element of the result; `sum` if there are none after all.
uint32_t special_result(const Operands& o, size_t row, size_t column, size_t first, size_t last, const Parts<int32_t>& c, bool nan,
                        bool half, uint32_t sum) {
  const size_t k = size(o.p.k, 1), n = size(o.p.n, 1);
  bool plus = c.special && !nan && !c.sign, minus = c.special && !nan && c.sign;
  for (size_t x = row * k + first, y = first * n + column; x < row * k + last; ++x, y += n) {
    if (o.a.exponent[x] == kUnused || !(o.a.special[x] | o.b.special[y])) continue;
    const bool zero = (!o.a.special[x] && o.a.magnitude[x] == 0) || (!o.b.special[y] && o.b.magnitude[y] == 0);
    if (zero || (o.a.special[x] && is_nan(o.p.a[x], o.fa)) || (o.b.special[y] && is_nan(o.p.b[y], o.fb))) nan = true;
    else (o.a.sign[x] != o.b.sign[y] ? minus : plus) = true;
  }
  if (nan || (plus && minus)) return half ? kNanF16 : kNanF32;
  if (!plus && !minus) return sum;
  const uint32_t infinity = half ? 0x7c00u : 0x7f800000u;
  return minus ? infinity | (half ? 0x8000u : 0x80000000u) : infinity;
}

// d = c + the products of k in [first, last), as many columns of the result at a time as a vector of the host holds. A product
// is less than 4, so that with its fraction it has 27 bits, and sixteen of them stay below 31.
template <size_t kColumns>
void add_chunk(const Operands& o, AddingModel model, size_t first, size_t last, const uint32_t* c_cells, Type ct, uint32_t* d_cells,
               Type dt) {
  constexpr size_t kProducts = 16;
  const size_t m = size(o.p.m, 1), n = size(o.p.n, 1), k = size(o.p.k, 1);
  const ElementFormat fc = format_of(ct);
  const bool half = dt == Type::F16;
  // Products have this many bits behind the point before they are aligned.
  const int product_bits = o.fa.mantissa + o.fb.mantissa;
  const int up = std::max(0, model.fraction - product_bits), down = std::max(0, product_bits - model.fraction);
  const int c_up = std::max(0, model.fraction - fc.mantissa), c_down = std::max(0, fc.mantissa - model.fraction);
  for (size_t row = 0; row < m; ++row)
    for (size_t column = 0; column < n; column += kColumns) {
      const uint32_t* c_row = &c_cells[row * n + column];
      int64_t sum[kColumns];
      int32_t largest[kColumns], c_special = 0;
      for (size_t j = 0; j < kColumns; ++j) largest[j] = unpack(c_row[j], fc).exponent;
      for (size_t x = first; x < last; ++x) {
        const int32_t e = o.a.exponent[row * k + x];
        const int32_t* be = &o.b.exponent[x * n + column];
        for (size_t j = 0; j < kColumns; ++j) largest[j] = std::max(largest[j], e + be[j]);
      }
      for (size_t j = 0; j < kColumns; ++j) {
        const Parts<int32_t> c = unpack(c_row[j], fc);
        const int32_t kept = (c.magnitude << c_up) >> std::min(31, largest[j] - c.exponent + c_down);
        sum[j] = (kept ^ c.sign) - c.sign;
        c_special |= c.special;
      }
      for (size_t begin = first; begin < last; begin += kProducts) {
        int32_t products[kColumns] = {};
        for (size_t x = begin; x < std::min(last, begin + kProducts); ++x) {
          const int32_t e = o.a.exponent[row * k + x] - down, magnitude = o.a.magnitude[row * k + x] << up, sign = o.a.sign[row * k + x];
          const int32_t *be = &o.b.exponent[x * n + column], *bm = &o.b.magnitude[x * n + column], *bs = &o.b.sign[x * n + column];
          for (size_t j = 0; j < kColumns; ++j) {
            const int32_t kept = (magnitude * bm[j]) >> std::min(31, largest[j] - e - be[j]), minus = sign ^ bs[j];
            products[j] += (kept ^ minus) - minus;
          }
        }
        for (size_t j = 0; j < kColumns; ++j) sum[j] += products[j];
      }
      const bool special_row = !o.special_rows.empty() && o.special_rows[row];
      for (size_t j = 0; j < kColumns; ++j) {
        const int exponent = largest[j] - model.fraction;
        uint32_t result = half ? round_to_f16(sum[j], exponent) : cut_to_f32(sum[j], exponent, model.significand);
        if (special_row || c_special || (!o.special_columns.empty() && o.special_columns[column + j])) {
          const Parts<int32_t> c = unpack(c_row[j], fc);
          result = special_result(o, row, column + j, first, last, c, c.special && is_nan(c_row[j], fc), half, result);
        }
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
  std::vector<uint32_t> between(k > chunk ? size(p.m, p.n) : 0);
  const auto add = p.n % 16 == 0 ? add_chunk<16> : add_chunk<8>;
  for (size_t first = 0; first < k; first += chunk) {
    const bool done = first + chunk >= k;
    add(operands, model, first, std::min(k, first + chunk), c, ct, done ? p.d : between.data(), done ? p.dt : model.between);
    c = between.data();
    ct = model.between;
  }
}

void multiply_fp8(const MatrixProduct& p) {
  std::vector<uint32_t> a(size(p.m, p.k)), b(size(p.k, p.n)), c(size(p.m, p.n));
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
      p.d[x] = f32_to_f16(add_f32(f16_to_f32(static_cast<uint16_t>(p.d[x])), f16_to_f32(static_cast<uint16_t>(p.c[x])), {}),
                          Rounding::NearestEven);
    else p.d[x] = bits_of(add_f32(f32_of(p.d[x]), f32_of(p.c[x]), {}));
  }
}

void multiply_in_steps(const MatrixProduct& p) {
  const auto single = [](uint32_t cell, Type t) { return t == Type::F16 ? f16_to_f32(static_cast<uint16_t>(cell)) : f32_of(cell); };
  for (int i = 0; i < p.m; ++i)
    for (int j = 0; j < p.n; ++j) {
      const float c = single(p.c[i * p.n + j], p.ct);
      const auto step = [&](int x, float sum) { return fma_f32(single(p.a[i * p.k + x], p.at), single(p.b[x * p.n + j], p.bt), sum, {}); };
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
      case Type::S8: return static_cast<int8_t>(cell);
      case Type::U8: return static_cast<uint8_t>(cell);
      case Type::S4: return static_cast<int32_t>(cell << 28) >> 28;
      default: return cell & 15;
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
