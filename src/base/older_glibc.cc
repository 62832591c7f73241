// What glibc has since 2.36 and the C++ library that is linked in was compiled for: with this it runs on 2.34 too.
#include <sys/random.h>

#include <cstdint>

extern "C" uint32_t arc4random() {
  uint32_t bits = 0;
  while (getrandom(&bits, sizeof bits, 0) != sizeof bits) {}
  return bits;
}
