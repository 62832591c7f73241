// Writes docs/isa.md from the instruction table.
#include <cstdio>
#include <fstream>

#include "isa/reference.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: wb_write_isa_page FILE\n", stderr);
    return 2;
  }
  std::ofstream file(argv[1]);
  file << warpbeam::isa::isa_page();
  file.close();
  if (!file) {
    std::fprintf(stderr, "cannot write %s\n", argv[1]);
    return 1;
  }
  return 0;
}
