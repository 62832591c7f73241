// The video instructions: scalar ones on a selected byte or half, and two- and four-way SIMD ones inside a register.
#pragma once
#include "isa/arith/integer.h"

namespace warpbeam::isa {

enum class VideoOp : uint8_t { Add, Sub, AbsDiff, Min, Max, Average, Set };
enum class VideoCompare : uint8_t { Eq, Ne, Lt, Le, Gt, Ge };
// What happens to the result together with operand c.
enum class VideoSecond : uint8_t { None, Add, Min, Max, Merge };
enum class VideoPart : uint8_t { B0, B1, B2, B3, H0, H1, Word };

// A video value lies between -2^33 and 2^33, so 64 bits hold every intermediate.
inline int64_t video_part(uint32_t x, VideoPart part, bool is_signed) {
  switch (part) {
    case VideoPart::B0:
    case VideoPart::B1:
    case VideoPart::B2:
    case VideoPart::B3: return byte_of(x, static_cast<int>(part), is_signed);
    case VideoPart::H0: return half_of(x, 0, is_signed);
    case VideoPart::H1: return half_of(x, 1, is_signed);
    case VideoPart::Word: break;
  }
  return is_signed ? int64_t{static_cast<int32_t>(x)} : int64_t{x};
}

inline int video_part_width(VideoPart part) {
  return part == VideoPart::Word ? 32 : part == VideoPart::H0 || part == VideoPart::H1 ? 16 : 8;
}

inline int64_t video_clamp(int64_t x, int width, bool is_signed) {
  const int64_t low = is_signed ? -(int64_t{1} << (width - 1)) : 0;
  const int64_t high = is_signed ? (int64_t{1} << (width - 1)) - 1 : (int64_t{1} << width) - 1;
  return x < low ? low : x > high ? high : x;
}

inline bool video_compare(int64_t a, int64_t b, VideoCompare compare) {
  switch (compare) {
    case VideoCompare::Eq: return a == b;
    case VideoCompare::Ne: return a != b;
    case VideoCompare::Lt: return a < b;
    case VideoCompare::Le: return a <= b;
    case VideoCompare::Gt: return a > b;
    case VideoCompare::Ge: return a >= b;
  }
  return false;
}

inline int64_t video_apply(VideoOp op, VideoCompare compare, int64_t a, int64_t b) {
  switch (op) {
    case VideoOp::Add: return a + b;
    case VideoOp::Sub: return a - b;
    case VideoOp::AbsDiff: return a < b ? b - a : a - b;
    case VideoOp::Min: return a < b ? a : b;
    case VideoOp::Max: return a > b ? a : b;
    // Rounds up for sums of zero and above, and down below.
    case VideoOp::Average: return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    case VideoOp::Set: return video_compare(a, b, compare);
  }
  return 0;
}

// The last step of a scalar instruction: a second operation with c, or the result put into one part of c.
inline uint32_t video_second(int64_t x, uint32_t c, VideoSecond second, VideoPart d_part, bool c_signed) {
  const uint32_t r = static_cast<uint32_t>(x);
  const bool less = x < (c_signed ? int64_t{static_cast<int32_t>(c)} : int64_t{c});
  switch (second) {
    case VideoSecond::None: return r;
    case VideoSecond::Add: return r + c;
    case VideoSecond::Min: return less ? r : c;
    case VideoSecond::Max: return less ? c : r;
    case VideoSecond::Merge: break;
  }
  if (d_part == VideoPart::Word) return r;
  const int width = video_part_width(d_part);
  const uint32_t at = width == 16 ? (d_part == VideoPart::H1 ? 16 : 0) : 8 * static_cast<uint32_t>(d_part);
  const uint32_t mask = low_mask<uint32_t>(static_cast<uint32_t>(width)) << at;
  return (r << at & mask) | (c & ~mask);
}

struct VideoTypes {
  bool d_signed = false, a_signed = false, b_signed = false;
  VideoPart d_part = VideoPart::Word, a_part = VideoPart::Word, b_part = VideoPart::Word;
  bool sat = false;
  VideoSecond second = VideoSecond::None;
};

// A second .min or .max takes the result as the number that it is, whatever bits that needs; only sums and differences
// have wrapped to the type of d by then. An H200 does so.
inline bool video_wraps(VideoOp op) { return op == VideoOp::Add || op == VideoOp::Sub; }

// vadd, vsub, vabsdiff, vmin, vmax and, with `compare`, vset.
inline uint32_t video_scalar(VideoOp op, VideoTypes t, uint32_t a, uint32_t b, uint32_t c, VideoCompare compare = VideoCompare::Eq) {
  int64_t x = video_apply(op, compare, video_part(a, t.a_part, t.a_signed), video_part(b, t.b_part, t.b_signed));
  if (t.sat) x = video_clamp(x, video_part_width(t.d_part), t.d_signed);
  else if (video_wraps(op)) x = t.d_signed ? int64_t{static_cast<int32_t>(x)} : int64_t{static_cast<uint32_t>(x)};
  return video_second(x, c, t.second, t.d_part, t.d_signed);
}

// vshl and vshr; b always is unsigned. Counts: .clamp stops at 32, .wrap takes the low five bits.
inline uint32_t video_shift(bool left, bool clamp, VideoTypes t, uint32_t a, uint32_t b, uint32_t c) {
  const int64_t value = video_part(a, t.a_part, t.a_signed);
  uint64_t count = static_cast<uint64_t>(video_part(b, t.b_part, false));
  count = clamp ? (count > 32 ? 32 : count) : count & 31;
  // Shifting a 33-bit number by at most 32 stays within 65 bits; the product form wraps exactly like hardware's.
  const __int128 wide = left ? static_cast<__int128>(value) * (static_cast<__int128>(1) << count) : static_cast<__int128>(value >> count);
  int64_t x = static_cast<int64_t>(wide);
  if (t.sat) {
    const __int128 limit = static_cast<__int128>(1) << 62;
    x = wide > limit ? INT64_MAX : wide < -limit ? INT64_MIN : x;
    x = video_clamp(x, video_part_width(t.d_part), t.d_signed);
  }
  return video_second(x, c, t.second, t.d_part, t.d_signed);
}

struct VideoMad {
  bool a_signed = false, b_signed = false;
  VideoPart a_part = VideoPart::Word, b_part = VideoPart::Word;
  bool negate_product = false, negate_c = false, plus_one = false;
  bool sat = false;
  int scale = 0;  // 0, 7 or 15
};

inline uint32_t vmad(VideoMad m, uint32_t a, uint32_t b, uint32_t c) {
  const bool is_signed = m.a_signed || m.b_signed || m.negate_product || m.negate_c;
  __int128 x = static_cast<__int128>(video_part(a, m.a_part, m.a_signed)) * video_part(b, m.b_part, m.b_signed);
  int carry = 0;
  if (m.plus_one) {
    carry = 1;
  } else if (m.negate_product) {
    x = ~x;
    carry = 1;
  } else if (m.negate_c) {
    c = ~c;
    carry = 1;
  }
  x += (is_signed ? static_cast<__int128>(static_cast<int32_t>(c)) : static_cast<__int128>(c)) + carry;
  x >>= m.scale;
  if (m.sat) {
    const __int128 low = is_signed ? INT32_MIN : 0, high = is_signed ? INT32_MAX : UINT32_MAX;
    x = x < low ? low : x > high ? high : x;
  }
  return static_cast<uint32_t>(x);
}

// The SIMD forms. A selector holds one nibble per result element, element 0 lowest, naming an element of b:a;
// `mask` has one bit per element. Elements not in the mask come from c (or add nothing under .add).
struct VideoSimd {
  int elements = 4;  // 2 or 4
  bool d_signed = false, a_signed = false, b_signed = false;
  bool sat = false, accumulate = false;
  uint32_t a_select = 0x3210, b_select = 0x7654;  // 0x10 and 0x32 for two elements
  uint32_t mask = 0xf;
};

inline int64_t video_element(uint64_t ba, uint32_t index, int elements, bool is_signed) {
  const int width = 32 / elements;
  const uint64_t e = ba >> (static_cast<uint32_t>(width) * index) & low_mask<uint64_t>(static_cast<uint32_t>(width));
  if (!is_signed) return static_cast<int64_t>(e);
  return width == 16 ? int64_t{static_cast<int16_t>(e)} : int64_t{static_cast<int8_t>(e)};
}

inline uint32_t video_simd(VideoOp op, VideoSimd s, uint32_t a, uint32_t b, uint32_t c, VideoCompare compare = VideoCompare::Eq) {
  const uint64_t ba = uint64_t{b} << 32 | a;
  const int width = 32 / s.elements;
  const uint32_t element_mask = low_mask<uint32_t>(static_cast<uint32_t>(width));
  const uint32_t index_mask = static_cast<uint32_t>(2 * s.elements - 1);
  uint32_t d = s.accumulate ? c : 0;
  for (int i = 0; i < s.elements; ++i) {
    const uint32_t at = static_cast<uint32_t>(width * i);
    if (!(s.mask >> i & 1)) {
      if (!s.accumulate) d |= c & element_mask << at;
      continue;
    }
    const int64_t x = video_element(ba, s.a_select >> (4 * i) & index_mask, s.elements, s.a_signed);
    const int64_t y = video_element(ba, s.b_select >> (4 * i) & index_mask, s.elements, s.b_signed);
    int64_t t = video_apply(op, compare, x, y);
    if (s.sat) t = video_clamp(t, width, s.d_signed);
    d = s.accumulate ? d + static_cast<uint32_t>(t) : d | (static_cast<uint32_t>(t) & element_mask) << at;
  }
  return d;
}

}  // namespace warpbeam::isa
