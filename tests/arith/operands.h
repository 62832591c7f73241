// The operands of the recorded vectors: special values of each PTX type, all their combinations, and shaped random
// ones. The recordings were made with exactly these, so nothing here may change without recording anew.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace warpbeam::arith_test {

struct Rng {
  uint64_t s;
  uint64_t next() {
    uint64_t z = (s += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
};
using Ops = std::vector<uint64_t>;
inline uint64_t fb(float f) {
  uint32_t b;
  memcpy(&b, &f, 4);
  return b;
}
inline uint64_t db(double f) {
  uint64_t b;
  memcpy(&b, &f, 8);
  return b;
}
inline Ops both_signs(Ops v, int bit) {
  Ops r;
  for (auto x : v) {
    r.push_back(x);
    r.push_back(x | (1ull << bit));
  }
  return r;
}
// The more operands an instruction has, the fewer special values of each.
inline Ops specials(const std::string& t, int level) {
  if (t == "f32" || t == "tf32") {
    Ops v;
    if (level == 1)
      v = {0,          1,          2,          0x3fffff,   0x400000,   0x7fffff,   0x800000,   0x800001,   0x1000000,  0x33000000,
           0x33000001, 0x33800000, 0x38800000, 0x387fffff, 0x38000000, 0x37800000, 0x38ffe000, 0x38fff000, 0x3eaaaaab, 0x3f000000,
           0x3effffff, 0x3f000001, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x3f801000, 0x3f801001, 0x3f803000, 0x3f808000, 0x3f818000,
           0x3fc00000, 0x40000000, 0x40200000, 0x40600000, 0x40490fdb, 0x42fe0000, 0x42ff0000, 0x42fe8000, 0x43000000, 0x43008000,
           0x437f0000, 0x437f8000, 0x43800000, 0x43e00000, 0x43e80000, 0x46fffe00, 0x46ffff00, 0x47000000, 0x477fe000, 0x477fef00,
           0x477ff000, 0x477fff00, 0x47600000, 0x47700000, 0x4effffff, 0x4f000000, 0x4f7fffff, 0x4f800000, 0x5effffff, 0x5f000000,
           0x5f7fffff, 0x5f800000, 0x7e800000, 0x7e800001, 0x7f000000, 0x7f7f0000, 0x7f7f7fff, 0x7f7f8000, 0x7f7fffff, 0x7f800000,
           0x7f800001, 0x7fa00000, 0x7fc00000, 0x7fc12345, 0x7fffffff, 0x42fc0000, 0x43160000, 0x43150000, 0x42ae0000, 0x4b000000,
           0x4b000001, 0x4b7fffff, 0x4affffff, 0x4a800001};
    else if (level == 2)
      v = {0,          1,          0x7fffff,   0x800000,   0x1ffffffe & 0xff800000,
           0x1f7fffff, 0x1f800000, 0x33800000, 0x3f000000, 0x3f7fffff,
           0x3f800000, 0x3f800001, 0x40400000, 0x7e800001, 0x7f7fffff,
           0x7f800000, 0x7f800001, 0x7fc12345};
    else v = {0, 1, 0x7fffff, 0x800000, 0x3f7fffff, 0x3f800000, 0x7f7fffff, 0x7f800000, 0x7fc12345};
    return both_signs(v, 31);
  }
  if (t == "f64") {
    Ops v;
    if (level == 1)
      v = {0,
           1,
           0x7ffffffffffffull,
           0x8000000000000ull,
           0xfffffffffffffull,
           0x10000000000000ull,
           0x10000000000001ull,
           db(1),
           db(0.5),
           db(1.5),
           db(2.5),
           db(3.5),
           db(0.1),
           db(1.0) + 1,
           db(1.0) - 1,
           db(127.5),
           db(127),
           db(128),
           db(255),
           db(255.5),
           db(256),
           db(32767.5),
           db(32768),
           db(65519.999),
           db(65520),
           db(65535.5),
           db(65536),
           db(2147483647.0),
           db(2147483647.5),
           db(2147483648.0),
           db(4294967295.0),
           db(4294967295.5),
           db(4294967296.0),
           db(9223372036854774784.0),
           db(9223372036854775808.0),
           db(18446744073709549568.0),
           db(18446744073709551616.0),
           db(0x1p-24),
           db(0x1p-25),
           db(0x1.0000001p-25),
           db(0x1p-14),
           db(0x1.ffcp-15),
           db(0x1.fffp-15),
           db(0x1p-149),
           db(0x1p-150),
           db(0x1.8p-150),
           db(0x1.fffffep-127),
           db(0x1.ffffffp-127),
           db(0x1p-126),
           db(0x1p-127),
           db(0x1.fffffep127),
           db(0x1.ffffffp127),
           db(0x1p128),
           db(0x1p1023),
           db(0x1.000001p0),
           db(0x1.0000010000001p0),
           db(0x1.002p0),
           db(0x1.0020000000001p0),
           db(0x1.01p0),
           db(0x1.0100000000001p0),
           db(0x1.0000000100000p0),
           db(0x1.00000ffffffffp0),
           0x7fefffffffffffffull,
           0x7ff0000000000000ull,
           0x7ff0000000000001ull,
           0x7ff4000000012345ull,
           0x7ff8000000000000ull,
           0x7ff8000000054321ull,
           0x7fffffffffffffffull,
           0x7fd0000000000000ull,
           0x7fd0000000000001ull,
           0x7fe0000000000000ull,
           0x3ff0000080000000ull,
           0x3ff00000ffffffffull,
           0x000fffff00000000ull,
           0x0010000012345678ull};
    else if (level == 2)
      v = {0,
           1,
           0xfffffffffffffull,
           0x10000000000000ull,
           0x1ff0000000000000ull,
           0x1fefffffffffffffull,
           db(0.5),
           db(1.0) - 1,
           db(1),
           db(1.0) + 1,
           db(3),
           db(0x1p-53),
           0x7fd0000000000001ull,
           0x7fefffffffffffffull,
           0x7ff0000000000000ull,
           0x7ff0000000000123ull,
           0x7ff8000000054321ull,
           0x7ffc000000000007ull};
    else
      v = {0,
           1,
           0xfffffffffffffull,
           0x10000000000000ull,
           db(1.0) - 1,
           db(1),
           0x7fefffffffffffffull,
           0x7ff0000000000000ull,
           0x7ff0000000000123ull,
           0x7ff8000000054321ull,
           0x7ffc000000000007ull};
    return both_signs(v, 63);
  }
  if (t == "f16") {
    Ops v;
    if (level == 1)
      for (int i = 0; i < 32768; i += 1) v.push_back(i);
    else if (level == 2)
      v = {0,      1,      0x1ff,  0x3ff,  0x400,  0x401,  0x1400, 0x3800, 0x3bff,
           0x3c00, 0x3c01, 0x4200, 0x77ff, 0x7bff, 0x7c00, 0x7c01, 0x7e12, 0x7fff};
    else v = {0, 1, 0x3ff, 0x400, 0x3bff, 0x3c00, 0x7bff, 0x7c00, 0x7d01, 0x7e12};
    return both_signs(v, 15);
  }
  if (t == "bf16") {
    Ops v;
    if (level == 1)
      for (int i = 0; i < 32768; i += 1) v.push_back(i);
    else if (level == 2)
      v = {0, 1, 0x3f, 0x7f, 0x80, 0x81, 0x2000, 0x3380, 0x3f00, 0x3f7f, 0x3f80, 0x3f81, 0x4040, 0x7e80, 0x7f7f, 0x7f80, 0x7f81, 0x7fd2};
    else v = {0, 1, 0x7f, 0x80, 0x3f7f, 0x3f80, 0x7f7f, 0x7f80, 0x7f91, 0x7fd2};
    return both_signs(v, 15);
  }
  if (t == "e4m3x2" || t == "e5m2x2") {
    Ops v;
    for (int i = 0; i < 256; i++) v.push_back(i * 257u ^ (i % 3 ? 0 : 0x5500));
    return v;
  }
  if (t == "cnt") {
    if (level >= 4) return {0, 5, 31, 32, 63, 64, 0xff, 0x105};
    return {0, 1, 5, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 0xe0, 0xff, 0x100, 0x10a, 0x80000000u, 0xfffffff6u, 0xffffffffu};
  }
  bool is64 = t == "u64" || t == "s64" || t == "b64";
  if (is64) {
    if (level >= 3)
      return {
          0, 1, 0x7fffffffull, 0x80000000ull, 0xffffffffull, 0x8000000000000000ull, 0x7fffffffffffffffull, ~0ull, 0x123456789abcdef0ull};
    return {0,
            1,
            2,
            3,
            7,
            10,
            0x7f,
            0x80,
            0xff,
            0x100,
            0x7fff,
            0x8000,
            0xffff,
            0x10000,
            0x7fffffffull,
            0x80000000ull,
            0xffffffffull,
            0x100000000ull,
            0x1000001ull,
            0x1000003ull,
            0x20000000000001ull,
            0x20000000000003ull,
            0x7fffffffffffffffull,
            0x7ffffffffffffc00ull,
            0x7fffffc000000000ull,
            0x7fffffbfffffffffull,
            0x8000000000000000ull,
            0x8000000000000001ull,
            0x8000008000000000ull,
            0xffffff7fffffffffull,
            0xffffff8000000000ull,
            0xfffffffffffff800ull,
            0xffffffffffffff80ull,
            0xffffffffffff8000ull,
            0xffffffff80000000ull,
            0xffffffff7fffffffull,
            ~0ull - 1,
            ~0ull,
            0x123456789abcdef0ull,
            0xfedcba9876543210ull,
            65504,
            65519,
            65520,
            65535,
            2049,
            2051};
  }
  if (level >= 3)
    return {0, 1, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000u, 0xffffffffu, 0x12345678, 0x87a9cbed, 0xff80017f, 0x5a00ff80};
  return {0,           1,           2,           3,           7,           10,          0x7f,        0x80,        0xff,
          0x100,       0x7fff,      0x8000,      0x8001,      0xffff,      0x10000,     0x7fffff,    0x800000,    0xffffff,
          0x1000001,   0x1000003,   0x7fffffff,  0x7fffff80,  0x7fffffbf,  0x80000000u, 0x80000001u, 0x80000080u, 0xff7fffffu,
          0xffff0000u, 0xffff8000u, 0xffff7fffu, 0xffffff80u, 0xffffff7fu, 0xfffffffeu, 0xffffffffu, 0x12345678,  0x87a9cbed,
          0xdeadbeefu, 0x7654,      65504,       65519,       65520,       2049,        2051,        0xff80017f};
}
inline uint64_t shaped(const std::string& t, Rng& g) {
  uint64_t r = g.next(), k = g.next();
  auto flt = [&](int mb, int eb) -> uint64_t {
    int bias = (1 << (eb - 1)) - 1;
    uint64_t m = r & ((1ull << mb) - 1), e = (r >> mb) & ((1ull << eb) - 1), s = k & 1;
    k >>= 1;
    switch (k % 8) {
      case 0: break;
      case 1:
      case 2: e = bias - 6 + (k >> 8) % 14; break;
      case 3: e = (k >> 8) % 4; break;
      case 4:
        e = bias - 1 + (k >> 8) % 3;
        m &= ~0ull << (mb * 3 / 4);
        break;
      case 5:
        e = bias + (k >> 8) % (bias / 2 > 70 ? 70 : bias / 2);
        m &= ~0ull << ((k >> 20) % mb);
        break;
      case 6: e = bias - (k >> 8) % (mb + 4); break;
      case 7:
        if ((k >> 8) % 3 == 0) m = (1ull << mb) - 1 - ((k >> 20) % 4);
        else m = (k >> 20) % 4;
        if ((k >> 30) % 4 == 0) e = (1 << eb) - 1 - ((k >> 40) % 2);
        break;
    }
    return m | e << mb | s << (mb + eb);
  };
  if (t == "f32" || t == "tf32") return flt(23, 8);
  if (t == "f64") return flt(52, 11);
  if (t == "f16" || t == "bf16") return r & 0xffff;
  if (t == "e4m3x2" || t == "e5m2x2") return r & 0xffff;
  if (t == "cnt") return k % 16 == 0 ? (uint32_t)r : r % 70;
  if (t == "u64" || t == "s64" || t == "b64") {
    switch (k % 4) {
      case 0: return r;
      case 1: return r >> ((k >> 8) % 64);
      case 2: return (uint64_t)((int64_t)r >> ((k >> 8) % 64));
      default: {
        auto v = specials(t, 1);
        return v[(k >> 8) % v.size()] + (int64_t)((k >> 40) % 5) - 2;
      }
    }
  }
  switch (k % 4) {
    case 0:
    case 3: return (uint32_t)r;
    case 1: return (uint32_t)r >> ((k >> 8) % 32);
    default: return (uint32_t)((int32_t)(uint32_t)r >> ((k >> 8) % 32));
  }
}
struct Tuples {
  std::vector<uint64_t> v;
  size_t special, total;
};
constexpr size_t kRandom = 1 << 16, kBlock = 1024;
inline Tuples tuples(const std::vector<std::string>& s) {
  Tuples t;
  std::vector<Ops> l;
  for (auto& x : s) l.push_back(specials(x, (int)s.size()));
  size_t n = 1;
  for (auto& x : l) n *= x.size();
  t.special = n;
  t.total = n + kRandom;
  t.v.assign(t.total * 4, 0);
  for (size_t i = 0; i < n; i++) {
    size_t k = i;
    for (size_t j = s.size(); j-- > 0;) {
      t.v[i * 4 + j] = l[j][k % l[j].size()];
      k /= l[j].size();
    }
  }
  Rng g{0x5eed};
  for (size_t i = n; i < t.total; i++)
    for (size_t j = 0; j < s.size(); j++) t.v[i * 4 + j] = shaped(s[j], g);
  return t;
}
inline uint32_t mixhash(uint64_t i, uint64_t r) {
  uint64_t z = (r + 0x9e3779b97f4a7c15ull * (i + 1));
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return (uint32_t)(z >> 32) ^ (uint32_t)z;
}

}  // namespace warpbeam::arith_test
