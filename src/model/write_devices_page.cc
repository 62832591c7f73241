// Writes docs/devices.md from the tables.
#include <cstdio>
#include <fstream>

#include "model/print.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: wb_write_devices_page FILE\n", stderr);
    return 2;
  }
  std::ofstream file(argv[1]);
  file << warpbeam::model::devices_page();
  file.close();
  if (!file) {
    std::fprintf(stderr, "cannot write %s\n", argv[1]);
    return 1;
  }
  return 0;
}
