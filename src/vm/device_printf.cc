#include "vm/device_printf.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "vm/access.h"

namespace warpbeam::vm {
namespace {

void read_bytes(Warp& w, const Insn& i, int lane, uint64_t address, void* to, uint32_t bytes) {
  Addresses a;
  for (uint64_t& at : a.at) at = address;
  std::byte* p[kWarpSize];
  for (uint32_t k = 0; k < bytes; k += 4) {  // arguments are at least four-byte aligned
    const uint32_t n = bytes - k < 4 ? 1 : 4;
    for (uint64_t& at : a.at) at = address + k;
    resolve(w, i, 1u << lane, isa::Space::Generic, a, n, AccessKind::Read, p);
    std::memcpy(static_cast<char*>(to) + k, p[lane], n);
  }
}

template <class T>
T read_value(Warp& w, const Insn& i, int lane, uint64_t& at) {
  at = (at + sizeof(T) - 1) / sizeof(T) * sizeof(T);
  T v;
  read_bytes(w, i, lane, at, &v, sizeof v);
  at += sizeof(T);
  return v;
}

template <class T>
void append(std::string& out, const std::string& spec, int width, bool has_width, int precision, bool has_precision, T value) {
  char small[512];
  auto print = [&](char* to, size_t room) {
    if (has_width && has_precision) return std::snprintf(to, room, spec.c_str(), width, precision, value);
    if (has_width) return std::snprintf(to, room, spec.c_str(), width, value);
    if (has_precision) return std::snprintf(to, room, spec.c_str(), precision, value);
    return std::snprintf(to, room, spec.c_str(), value);
  };
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"
  int n = print(small, sizeof small);
#pragma clang diagnostic pop
  if (n < 0) return;
  if (static_cast<size_t>(n) < sizeof small) {
    out.append(small, static_cast<size_t>(n));
  } else {
    std::string big(static_cast<size_t>(n) + 1, '\0');
    print(big.data(), big.size());
    out.append(big.data(), static_cast<size_t>(n));
  }
}

}  // namespace

std::string read_string(Warp& w, const Insn& i, int lane, uint64_t address) {
  std::string text;
  Addresses a;
  std::byte* p[kWarpSize];
  for (uint64_t k = 0; k < (1u << 16); ++k) {
    for (uint64_t& at : a.at) at = address + k;
    resolve(w, i, 1u << lane, isa::Space::Generic, a, 1, AccessKind::Read, p);
    if (*p[lane] == std::byte{0}) break;
    text += static_cast<char>(*p[lane]);
  }
  return text;
}

std::string format_device_printf(Warp& w, const Insn& i, int lane, uint64_t format, uint64_t arguments, int* count) {
  const std::string f = read_string(w, i, lane, format);
  std::string out;
  uint64_t at = arguments;
  *count = 0;
  for (size_t k = 0; k < f.size();) {
    if (f[k] != '%') {
      out += f[k++];
      continue;
    }
    if (k + 1 < f.size() && f[k + 1] == '%') {
      out += '%';
      k += 2;
      continue;
    }
    size_t end = k + 1;
    std::string spec = "%";
    bool has_width = false, has_precision = false;
    int width = 0, precision = 0;
    auto number_or_star = [&](bool& has, int& value) {
      if (end < f.size() && f[end] == '*') {
        value = std::clamp(read_value<int32_t>(w, i, lane, at), -65536, 65536);  // more is a mistake, and memory
        ++*count;
        has = true;
        spec += '*';
        ++end;
      } else {
        std::string digits;
        while (end < f.size() && f[end] >= '0' && f[end] <= '9') digits += f[end++];
        spec += digits.substr(0, 6);
      }
    };
    while (end < f.size() && std::strchr("-+ #0", f[end])) spec += f[end++];
    number_or_star(has_width, width);
    if (end < f.size() && f[end] == '.') {
      spec += f[end++];
      number_or_star(has_precision, precision);
    }
    int longs = 0;
    while (end < f.size() && std::strchr("hlLqjzt", f[end])) {
      if (f[end] == 'l') ++longs;
      else if (f[end] == 'h') --longs;
      else longs = 2;
      ++end;
    }
    if (end >= f.size()) {
      out.append(f, k);
      break;
    }
    const char c = f[end++];
    switch (c) {
      case 'd':
      case 'i':
      case 'u':
      case 'o':
      case 'x':
      case 'X':
        ++*count;
        if (longs > 0) {
          append(out, spec + "ll" + c, width, has_width, precision, has_precision, read_value<long long>(w, i, lane, at));
        } else {
          append(out,
                 spec +
                     (longs == -1  ? "h"
                      : longs < -1 ? "hh"
                                   : "") +
                     c,
                 width, has_width, precision, has_precision, read_value<int>(w, i, lane, at));
        }
        break;
      case 'c':
        ++*count;
        append(out, spec + c, width, has_width, precision, has_precision, read_value<int>(w, i, lane, at));
        break;
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
      case 'a':
      case 'A':
        ++*count;
        append(out, spec + c, width, has_width, precision, has_precision, read_value<double>(w, i, lane, at));
        break;
      case 'p':
        ++*count;
        append(out, spec + c, width, has_width, precision, has_precision, reinterpret_cast<void*>(read_value<uint64_t>(w, i, lane, at)));
        break;
      case 's': {
        ++*count;
        const uint64_t address = read_value<uint64_t>(w, i, lane, at);
        const std::string s = address ? read_string(w, i, lane, address) : "(null)";
        append(out, spec + c, width, has_width, precision, has_precision, s.c_str());
        break;
      }
      default:  // not a conversion: printed as it stands
        out.append(f, k, end - k);
    }
    k = end;
  }
  return out;
}

}  // namespace warpbeam::vm
