#include "fuzz/values.h"

#include <span>

namespace warpbeam::fuzz {

using isa::Type;

uint64_t mix(uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

namespace {

constexpr uint64_t kEdges64[] = {0,
                                 1,
                                 2,
                                 0x7fffffffffffffff,
                                 0x8000000000000000,
                                 0x8000000000000001,
                                 0xffffffffffffffff,
                                 0xfffffffffffffffe,
                                 0x7fffffff,
                                 0x80000000,
                                 0xffffffff,
                                 0x100000000,
                                 0xffffffff80000000,
                                 0xffffffff7fffffff,
                                 0x8000,
                                 0xff,
                                 0xffffff8000000000,
                                 0x20000000000001,
                                 0x7fffff4000000000,
                                 63};
constexpr uint64_t kEdges32[] = {0,      1,    2,    0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe, 0xffff,    0x8000,
                                 0x7fff, 0xff, 0x80, 31,         32,         33,         0x80808080, 0xaaaaaaaa, 0x1000001, 0xff800000};
constexpr uint64_t kEdges16[] = {0, 1, 2, 0x7fff, 0x8000, 0x8001, 0xffff, 0xfffe, 0xff, 0x80, 0x7f, 0x100, 15, 16, 17, 0x5555};
constexpr uint64_t kEdgesF32[] = {0,          0x80000000, 1,          0x80000001, 0x7fffff,   0x807fffff, 0x800000,   0x80800000,
                                  0x3f800000, 0xbf800000, 0x3f800001, 0x3f000000, 0xbf000000, 0x3fc00000, 0x40200000, 0x7f7fffff,
                                  0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc12345, 0x4b000001, 0x4f000000,
                                  0xcf000000, 0x477fefff, 0x477ff000, 0x33000000, 0x43e00000, 0x43e80000, 0x5f000000};
constexpr uint64_t kEdgesF64[] = {0,
                                  0x8000000000000000,
                                  1,
                                  0x8000000000000001,
                                  0xfffffffffffff,
                                  0x10000000000000,
                                  0x8010000000000000,
                                  0x3ff0000000000000,
                                  0xbff0000000000000,
                                  0x3ff0000000000001,
                                  0x3fe0000000000000,
                                  0x3ff8000000000000,
                                  0xc004000000000000,
                                  0x7fefffffffffffff,
                                  0xffefffffffffffff,
                                  0x7ff0000000000000,
                                  0xfff0000000000000,
                                  0x7ff8000000000000,
                                  0x7ff0000000000001,
                                  0xfff8123456789abc,
                                  0x4330000000000001,
                                  0x41e0000000000000,
                                  0xc1e0000000000000,
                                  0x43e0000000000000,
                                  0x47efffffe0000000,
                                  0x47efffffefffffff,
                                  0x47effffff0000000,
                                  0x36a0000000000000,
                                  0x3690000000000000,
                                  0x40effdffffffffff};
constexpr uint64_t kEdgesF16[] = {0,      0x8000, 1,      0x8001, 0x3ff,  0x83ff, 0x400,  0x8400, 0x3c00, 0xbc00, 0x3c01, 0x3800,
                                  0x3e00, 0x4100, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0xfe12, 0x6400, 0x7fff, 0xffff};
constexpr uint64_t kEdgesBf16[] = {0,      0x8000, 1,      0x8001, 0x7f,   0x807f, 0x80,   0x8080, 0x3f80, 0xbf80, 0x3f81, 0x3f00,
                                   0x3fc0, 0x4020, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0x7f81, 0xffc1, 0x4b00, 0x7fff, 0xffff};
constexpr uint64_t kEdgesPred[] = {0, 1};

struct Shape {
  std::span<const uint64_t> edges;
  int bits;
  int exponent_bits;  // 0 for integers
};
Shape shape_of(Type t) {
  switch (t) {
    case Type::Pred: return {kEdgesPred, 1, 0};
    case Type::F32:
    case Type::TF32: return {kEdgesF32, 32, 8};
    case Type::F64: return {kEdgesF64, 64, 11};
    case Type::F16:
    case Type::F16x2: return {kEdgesF16, 16, 5};
    case Type::BF16:
    case Type::BF16x2: return {kEdgesBf16, 16, 8};
    default: break;
  }
  const int bits = isa::bits_of(t);
  if (bits >= 64) return {kEdges64, 64, 0};  // a half of 128
  if (bits == 32) return {kEdges32, 32, 0};
  return {kEdges16, bits, 0};
}

uint64_t one_value(const Shape& s, int operand, uint32_t thread, uint64_t salt) {
  const uint64_t mask = s.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << s.bits) - 1;
  const uint64_t n = s.edges.size();
  if (thread < 512) {
    // Pairs of edges: in order while they fit, then at random.
    const uint64_t pair = n * n <= 512 ? thread % (n * n) : mix(thread + salt * 77) % (n * n);
    const uint64_t at = operand == 1 ? pair % n : operand == 2 ? pair / n : mix(thread * 7 + static_cast<uint64_t>(operand)) % n;
    return s.edges[at] & mask;
  }
  const uint64_t r = mix((uint64_t{thread} << 8 | static_cast<uint64_t>(operand)) + (salt << 40));
  const uint64_t shared = mix((uint64_t{thread} << 8) + (salt << 40) + 0xff);  // the same for all operands of the thread
  const uint64_t some_edge = s.edges[r >> 32 & 0xffff ? (r >> 20) % n : 0];
  switch (thread % 8) {
    case 0:
    case 1: return r & mask;
    case 2:  // numbers of about the same size
    case 3:
      if (s.exponent_bits) {
        const int fraction = s.bits - 1 - s.exponent_bits;
        const uint64_t bias = (uint64_t{1} << (s.exponent_bits - 1)) - 1;
        const uint64_t exponent = bias - 6 + (r >> 50) % 13;
        return ((r & ((uint64_t{1} << fraction) - 1)) | exponent << fraction | (r >> 63) << (s.bits - 1)) & mask;
      }
      return thread % 8 == 2 ? (r >> 8) % 80 & mask : (r >> (r >> 58)) & mask;
    case 4:  // neighbours
    case 5: return (shared + (r & 7) - 3) & mask;
    case 6:  // opposites, nearly
      return (s.exponent_bits ? shared ^ (operand & 1 ? uint64_t{1} << (s.bits - 1) : 0) ^ (r & 1) : uint64_t{0} - shared + (r & 3)) & mask;
    default: return (some_edge + (r & 3) - 1) & mask;
  }
}

}  // namespace

uint64_t input_value(Type type, int operand, uint32_t thread) {
  const Shape s = shape_of(type);
  if (type == Type::F16x2 || type == Type::BF16x2) return one_value(s, operand, thread, 1) << 16 | one_value(s, operand, thread, 2);
  return one_value(s, operand, thread, 0);
}

}  // namespace warpbeam::fuzz
