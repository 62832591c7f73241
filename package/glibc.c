// libwarpbeam_glibc.so: what files of others in a package ask glibc for and glibc has since 2.36 only (src/base/older_glibc.cc for ours).
#include <stdint.h>
#include <sys/random.h>

uint32_t arc4random(void) {
  uint32_t bits = 0;
  while (getrandom(&bits, sizeof bits, 0) != sizeof bits) {
  }
  return bits;
}
