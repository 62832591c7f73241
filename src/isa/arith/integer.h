// Integer and bit operations whose PTX meaning is more than one C++ operator.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace warpbeam::isa {

// --- multiply, divide ----------------------------------------------------------------------------------------------

template <class T>
using DoubleWidth = std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
                                       std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                                                          std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>>;

template <class T>
inline T mul_lo(T a, T b) {
  using U = std::make_unsigned_t<DoubleWidth<T>>;
  return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
}

template <class T>
inline T mul_hi(T a, T b) {
  return static_cast<T>((static_cast<DoubleWidth<T>>(a) * static_cast<DoubleWidth<T>>(b)) >> (sizeof(T) * 8));
}

// For 16- and 32-bit factors.
template <class T>
inline DoubleWidth<T> mul_wide(T a, T b) {
  return static_cast<DoubleWidth<T>>(a) * static_cast<DoubleWidth<T>>(b);
}

template <class T>
inline T wrapping_add(T a, T b) {
  using U = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
}

template <class T>
inline T wrapping_sub(T a, T b) {
  using U = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<U>(static_cast<U>(a) - static_cast<U>(b)));
}

inline int32_t clamp_s32(int64_t x) { return static_cast<int32_t>(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x); }

inline int32_t add_sat_s32(int32_t a, int32_t b) { return clamp_s32(int64_t{a} + b); }
inline int32_t sub_sat_s32(int32_t a, int32_t b) { return clamp_s32(int64_t{a} - b); }
inline int32_t mad_hi_sat_s32(int32_t a, int32_t b, int32_t c) { return clamp_s32(int64_t{mul_hi(a, b)} + c); }

// mul24 reads the low 24 bits of each operand; .lo keeps product bits 31..0 and .hi bits 47..16.
inline int64_t low_24(int32_t x) { return static_cast<int32_t>(static_cast<uint32_t>(x) << 8) >> 8; }
inline uint64_t low_24(uint32_t x) { return x & 0xffffff; }

template <class T>
inline T mul24_lo(T a, T b) {
  return static_cast<T>(low_24(a) * low_24(b));
}
template <class T>
inline T mul24_hi(T a, T b) {
  return static_cast<T>((low_24(a) * low_24(b)) >> 16);
}
inline int32_t mad24_hi_sat_s32(int32_t a, int32_t b, int32_t c) { return clamp_s32(int64_t{mul24_hi(a, b)} + c); }

template <class T>
inline T sad(T a, T b, T c) {
  using U = std::make_unsigned_t<T>;
  const U difference =
      a < b ? static_cast<U>(static_cast<U>(b) - static_cast<U>(a)) : static_cast<U>(static_cast<U>(a) - static_cast<U>(b));
  return static_cast<T>(static_cast<U>(static_cast<U>(c) + difference));
}

// Dividing by zero and the most negative number by -1 are undefined in PTX; these are the hardware's answers.
template <class T>
inline T div_int(T a, T b) {
  if (b == 0) return static_cast<T>(~T(0));
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return wrapping_sub(T(0), a);
  }
  return static_cast<T>(a / b);
}

template <class T>
inline T rem_int(T a, T b) {
  if (b == 0) return static_cast<T>(~T(0));
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}

template <class T>
inline T abs_int(T a) {
  return a < 0 ? wrapping_sub(T(0), a) : a;
}

// --- dot products --------------------------------------------------------------------------------------------------

// Byte or half `index` of x, extended by the signedness of the type name after it.
inline int32_t byte_of(uint32_t x, int index, bool is_signed) {
  const uint32_t b = x >> (8 * index) & 0xff;
  return is_signed ? static_cast<int8_t>(b) : static_cast<int32_t>(b);
}
inline int32_t half_of(uint32_t x, int index, bool is_signed) {
  const uint32_t h = x >> (16 * index) & 0xffff;
  return is_signed ? static_cast<int16_t>(h) : static_cast<int32_t>(h);
}

inline uint32_t dp4a(uint32_t a, uint32_t b, uint32_t c, bool a_signed, bool b_signed) {
  int32_t sum = 0;
  for (int i = 0; i < 4; ++i) sum += byte_of(a, i, a_signed) * byte_of(b, i, b_signed);
  return c + static_cast<uint32_t>(sum);
}

// .lo takes bytes 0 and 1 of b, .hi bytes 2 and 3.
inline uint32_t dp2a(uint32_t a, uint32_t b, uint32_t c, bool a_signed, bool b_signed, bool high) {
  uint32_t sum = c;
  for (int i = 0; i < 2; ++i) {
    sum += static_cast<uint32_t>(half_of(a, i, a_signed) * byte_of(b, i + (high ? 2 : 0), b_signed));
  }
  return sum;
}

// --- bits ----------------------------------------------------------------------------------------------------------

inline uint32_t popc(uint32_t a) { return static_cast<uint32_t>(std::popcount(a)); }
inline uint32_t popc(uint64_t a) { return static_cast<uint32_t>(std::popcount(a)); }
inline uint32_t clz(uint32_t a) { return static_cast<uint32_t>(std::countl_zero(a)); }
inline uint32_t clz(uint64_t a) { return static_cast<uint32_t>(std::countl_zero(a)); }

inline uint32_t brev(uint32_t a) { return __builtin_bitreverse32(a); }
inline uint64_t brev(uint64_t a) { return __builtin_bitreverse64(a); }

// The most significant bit that differs from the sign (signed) or is one (unsigned); 0xffffffff if there is none.
template <class T>
inline uint32_t bfind(T a, bool shift_amount) {
  using U = std::make_unsigned_t<T>;
  constexpr uint32_t kTop = sizeof(T) * 8 - 1;
  U bits = static_cast<U>(a);
  if constexpr (std::is_signed_v<T>) bits = a < 0 ? static_cast<U>(~bits) : bits;
  if (bits == 0) return 0xffffffff;
  const uint32_t zeros = static_cast<uint32_t>(std::countl_zero(bits));
  return shift_amount ? zeros : kTop - zeros;
}

// Shifts with PTX's clamping: a count past the width gives zero, or the sign everywhere for an arithmetic right shift.
template <class U>
inline U shift_left(U a, uint32_t count) {
  return count >= sizeof(U) * 8 ? U(0) : static_cast<U>(a << count);
}
template <class T>
inline T shift_right(T a, uint32_t count) {
  constexpr uint32_t kTop = sizeof(T) * 8 - 1;
  if constexpr (std::is_signed_v<T>) return static_cast<T>(a >> (count > kTop ? kTop : count));
  return count > kTop ? T(0) : static_cast<T>(a >> count);
}

// The low `width` bits set.
template <class U>
inline U low_mask(uint32_t width) {
  return width >= sizeof(U) * 8 ? U(~U(0)) : U((U(1) << width) - 1);
}

// T is uint32_t, int32_t, uint64_t or int64_t. The 32-bit forms read position and length modulo 256, as the manual
// says; the 64-bit forms, which are sequences of other instructions on the hardware, take the whole register.
template <class U>
inline uint32_t field_operand(uint32_t x) {
  return sizeof(U) == 4 ? x & 0xff : x > 0xff ? 0xff : x;
}

template <class T>
inline T bfe(T a, uint32_t position, uint32_t length) {
  using U = std::make_unsigned_t<T>;
  constexpr uint32_t kTop = sizeof(T) * 8 - 1;
  position = field_operand<U>(position);
  length = field_operand<U>(length);
  const U bits = static_cast<U>(a);
  const U field = shift_right(bits, position) & low_mask<U>(length);
  U fill = 0;
  if constexpr (std::is_signed_v<T>) {
    const uint32_t sign_at = position + length - 1 > kTop ? kTop : position + length - 1;
    // Bits above the field's end, and those past the register, repeat the field's sign.
    const uint32_t present = position > kTop ? 0 : kTop + 1 - position;
    const uint32_t kept = length < present ? length : present;
    if (length != 0 && (bits >> sign_at & 1)) fill = static_cast<U>(~low_mask<U>(kept));
  }
  return static_cast<T>(field | fill);
}

// bfi f, a, b, position, length: the low bits of a over b.
template <class U>
inline U bfi(U a, U b, uint32_t position, uint32_t length) {
  position = field_operand<U>(position);
  length = field_operand<U>(length);
  const U mask = shift_left(low_mask<U>(length), position);
  return (shift_left(a, position) & mask) | (b & ~mask);
}

inline uint32_t bmsk(uint32_t position, uint32_t width, bool clamp) {
  position = clamp ? (position > 32 ? 32 : position) : position & 31;
  width = clamp ? (width > 32 ? 32 : width) : width & 31;
  return shift_left(low_mask<uint32_t>(width), position);
}

// Sign- or zero-extends the low `width` bits.
inline uint32_t szext(uint32_t a, uint32_t width, bool is_signed, bool clamp) {
  width = clamp ? (width > 32 ? 32 : width) : width & 31;
  if (width == 0) return 0;
  const uint32_t shift = 32 - width;
  return is_signed ? static_cast<uint32_t>(static_cast<int32_t>(a << shift) >> shift) : a << shift >> shift;
}

// Funnel shifts of hi:lo. .l keeps the upper word, .r the lower one.
inline uint32_t shf_left(uint32_t lo, uint32_t hi, uint32_t count, bool clamp) {
  count = clamp ? (count > 32 ? 32 : count) : count & 31;
  return static_cast<uint32_t>((uint64_t{hi} << 32 | lo) << count >> 32);
}
inline uint32_t shf_right(uint32_t lo, uint32_t hi, uint32_t count, bool clamp) {
  count = clamp ? (count > 32 ? 32 : count) : count & 31;
  return static_cast<uint32_t>((uint64_t{hi} << 32 | lo) >> count);
}

// The position of the |offset|-th set bit from `base`, upward or downward; offset 0 asks about `base` itself.
inline uint32_t fns(uint32_t mask, uint32_t base, int32_t offset) {
  if (offset == INT32_MIN) return 0;  // what the hardware's sequence makes of a distance that has no magnitude
  if (base > 31) return 0xffffffff;
  if (offset == 0) return mask >> base & 1 ? base : 0xffffffff;
  const int step = offset > 0 ? 1 : -1;
  uint32_t left = offset > 0 ? static_cast<uint32_t>(offset) : 0u - static_cast<uint32_t>(offset);
  for (int at = static_cast<int>(base); at >= 0 && at < 32; at += step) {
    if ((mask >> at & 1) && --left == 0) return static_cast<uint32_t>(at);
  }
  return 0xffffffff;
}

// Each of the 8 bits of the table says the result for one combination of bits; a is the most significant.
inline uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t d = 0;
  for (int i = 0; i < 8; ++i) {
    const uint32_t term = (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    d |= table >> i & 1 ? term : 0;
  }
  return d;
}

// --- byte permutation ----------------------------------------------------------------------------------------------

enum class PermuteMode : uint8_t { Index, F4e, B4e, Rc8, Ecl, Ecr, Rc16 };

// The selectors (four nibbles, byte 0 lowest) that a special mode uses for c = 0..3.
inline uint32_t permute_selectors(PermuteMode mode, uint32_t c) {
  constexpr uint16_t kTable[7][4] = {{0, 0, 0, 0},
                                     {0x3210, 0x4321, 0x5432, 0x6543},
                                     {0x5670, 0x6701, 0x7012, 0x0123},
                                     {0x0000, 0x1111, 0x2222, 0x3333},
                                     {0x3210, 0x3211, 0x3222, 0x3333},
                                     {0x0000, 0x1110, 0x2210, 0x3210},
                                     {0x1010, 0x3232, 0x1010, 0x3232}};
  return mode == PermuteMode::Index ? c : kTable[static_cast<int>(mode)][c & 3];
}

inline uint32_t prmt(uint32_t a, uint32_t b, uint32_t c, PermuteMode mode) {
  const uint64_t bytes = uint64_t{b} << 32 | a;
  const uint32_t selectors = permute_selectors(mode, c);
  uint32_t d = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t selector = selectors >> (4 * i);
    uint32_t byte = static_cast<uint32_t>(bytes >> (8 * (selector & 7))) & 0xff;
    // Bit 3 of a selector replicates the byte's sign.
    if (selector & 8) byte = byte & 0x80 ? 0xff : 0;
    d |= byte << (8 * i);
  }
  return d;
}

}  // namespace warpbeam::isa
